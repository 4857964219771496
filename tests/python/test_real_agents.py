"""Agents that are not made for these tests: the SDK's example agent, and watchbill-example-agent."""
import asyncio
import contextlib
import io
import unittest

import watchbill.acp as acp
from support import SDK_AGENT, AsyncTestCase, needed, node, program

SDK_BEGINNING = (
    "I'll help you with that. Let me start by reading some files to understand the current situation."
    " Now I understand the project structure. I need to make some changes to improve it."
)
SDK_ALLOWED = " Perfect! I've successfully updated the configuration. The changes have been applied."
SDK_REFUSED = " I understand you prefer not to make that change. I'll skip the configuration update."


class SdkAgent(AsyncTestCase):
    def agent(self, **options):
        # Without the option, Node 18 has no global `crypto`, which the agent uses.
        agent = needed(SDK_AGENT, "the SDK's example agent")
        return acp.Agent([node(), "--experimental-global-webcrypto", agent], **options)

    async def test_allowed(self):
        out = io.StringIO()
        async with self.agent(permission="allow") as agent:
            with contextlib.redirect_stdout(out):
                async for update in agent.prompt("hello"):
                    if update.kind == "agent_message_chunk":
                        print(update.text, end="")
        self.assertEqual(out.getvalue(), SDK_BEGINNING + SDK_ALLOWED)

    async def test_refused(self):
        async with self.agent() as agent:
            prompt = agent.prompt("hello")
            kinds, said = [], ""
            async for update in prompt:
                kinds.append(update.kind)
                said += update.text or ""
            self.assertEqual(said, SDK_BEGINNING + SDK_REFUSED)
            self.assertEqual(kinds, ["agent_message_chunk", "tool_call", "tool_call_update", "agent_message_chunk",
                                     "tool_call", "agent_message_chunk"])
            self.assertEqual(prompt.stop_reason, "end_turn")

    async def test_cancelled_while_it_asks(self):
        async with self.agent(permission=lambda _: asyncio.Event().wait()) as agent:
            prompt = agent.prompt("hello")
            async for update in prompt:
                if update.data.get("toolCallId") == "call_2":
                    agent._default.cancel()
            # This agent ends so, where others say "cancelled".
            self.assertEqual(prompt.stop_reason, "end_turn")

    async def test_several_sessions_at_once(self):
        async with self.agent(permission="allow") as agent:
            sessions = [await agent.session() for _ in range(3)]
            said = await asyncio.gather(*(session.ask("hello") for session in sessions))
            self.assertEqual(said, [SDK_BEGINNING + SDK_ALLOWED] * 3)


class ExampleAgent(AsyncTestCase):
    def agent(self, word_ms=0, **options):
        return acp.Agent([program("watchbill-example-agent"), "--acp", "--word-ms", str(word_ms)], **options)

    async def test_a_whole_turn(self):
        async with self.agent(permission="allow") as agent:
            kinds, said = set(), ""
            prompt = agent.prompt("which berth is free?")
            async for update in prompt:
                kinds.add(update.kind)
                if update.kind == "agent_message_chunk":
                    said += update.text
            for kind in ("agent_thought_chunk", "plan", "tool_call", "tool_call_update", "usage_update"):
                self.assertIn(kind, kinds)
            self.assertTrue(said.startswith("# The berth list\n"), said)
            self.assertIn("> which berth is free?", said)
            self.assertIn("The line of berth 3 is corrected.", said)
            self.assertEqual(prompt.stop_reason, "end_turn")

    async def test_permissions(self):
        async with self.agent() as agent:
            self.assertEqual(await agent.ask("/ask"), "It is not allowed: the file is left as it is.\n")
        kinds = []

        def rule(permission):
            kinds.extend(option.kind for option in permission.options)
            return next(option for option in permission.options if option.kind == "allow_once")

        async with self.agent(permission=rule) as agent:
            self.assertEqual(await agent.ask("/ask"), "It is allowed: the line of berth 3 is corrected.\n")
        self.assertIn("reject_once", kinds)

    async def test_a_long_answer_and_one_that_is_left(self):
        async with self.agent() as agent:
            self.assertEqual(len((await agent.ask("/tale 5000")).split()), 5000)
            prompt = agent.prompt("/tale 20000")
            async for _ in prompt:
                break
            await prompt.aclose()
            self.assertEqual(prompt.stop_reason, "cancelled")
            self.assertEqual(len((await agent.ask("/tale 3")).split()), 3)


if __name__ == "__main__":
    unittest.main()
