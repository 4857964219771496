"""Agents right and wrong, over real pipes."""
import asyncio
import gc
import os
import tempfile
import unittest
from unittest import mock

import watchbill.acp as acp
from support import PATIENCE, AsyncTestCase, misbehaving, until


async def texts(prompt):
    return [update.text async for update in prompt if update.kind == "agent_message_chunk"]


class Starting(AsyncTestCase):
    async def start(self, agent):
        """What comes of an agent that does not start."""
        with self.assertRaises(acp.AgentError) as raised:
            async with asyncio.timeout(PATIENCE), agent:
                self.fail("it started")
        return raised.exception

    async def test_a_program_that_is_not_there(self):
        error = await self.start(acp.Agent(["no-such-program", "--acp"], env={"PATH": "/usr/bin:/bin"}))
        self.assertIsInstance(error, acp.AgentNotFound)
        for part in ("no-such-program", "PATH: /usr/bin:/bin", f"folder: {os.getcwd()}"):
            self.assertIn(part, str(error))

    async def test_files_that_cannot_be_run(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text, mode in (("plain", "", 0o644), ("lost", "#!/no/such/interpreter\n", 0o755)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(file.name, mode)
            for name in ("missing", "plain", "lost"):
                error = await self.start(acp.Agent([f"./{name}"], cwd=folder))
                self.assertIsInstance(error, acp.AgentNotFound)
                self.assertIn(name, str(error))
                self.assertIn(folder, str(error))
            error = await self.start(acp.Agent(["sh"], cwd=os.path.join(folder, "gone")))
            self.assertIn(f"there is no folder {folder}/gone", str(error))
            with self.assertRaises(TypeError):
                acp.Agent("sh -c true")

    async def test_one_that_ends_at_once(self):
        error = await self.start(misbehaving("ends", handshake_timeout=3600))
        self.assertIsInstance(error, acp.AgentEnded)
        self.assertEqual(error.returncode, 3)
        self.assertIn("ended before it answered: exit code 3", str(error))
        self.assertIn("\n    cannot find the model", str(error))
        self.assertNotIn("\x1b", str(error))

    async def test_one_that_ends_before_it_was_written_to(self):
        for _ in range(20):
            error = await self.start(acp.Agent(["true"]))
            self.assertEqual((type(error), error.returncode), (acp.AgentEnded, 0))
            self.assertIn("ended before it answered: exit code 0", str(error))

    async def test_one_that_speaks_something_else(self):
        error = await self.start(misbehaving("not-acp"))
        self.assertIsInstance(error, acp.HandshakeFailed)
        self.assertEqual(error.reason, "refused")
        self.assertIn("what?", str(error))
        self.assertIn("Welcome! Type a command.", str(error))

    async def test_another_version(self):
        error = await self.start(misbehaving("version-two"))
        self.assertEqual((type(error), error.reason), (acp.HandshakeFailed, "version"))
        self.assertIn("version 2 alone", str(error))

    async def test_one_that_says_nothing(self):
        error = await self.start(misbehaving("silent", handshake_timeout=0.3))
        self.assertEqual((type(error), error.reason), (acp.HandshakeFailed, "timeout"))
        self.assertIn("within 0.3 seconds", str(error))

    async def test_cancelled_while_it_starts(self):
        for what, begun in (
            ("a process", lambda agent: agent._child is not None),
            ("a question", lambda agent: agent._client.deadline() is not None),
        ):
            agent = misbehaving("silent")
            task = asyncio.create_task(agent.__aenter__())
            await until(what, lambda: begun(agent))
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

    async def test_it_is_entered_once(self):
        agent = misbehaving("answers")
        with self.assertRaisesRegex(RuntimeError, "async with"):
            await agent.session()
        async with agent:
            with self.assertRaisesRegex(RuntimeError, "entered once"):
                await agent.__aenter__()
        with self.assertRaises(acp.AgentEnded):
            await agent.ask("too late")


class Prompts(AsyncTestCase):
    async def test_updates_and_the_end(self):
        async with misbehaving("answers") as agent:
            self.assertEqual(agent.info["agentInfo"]["name"], "bad")
            prompt = agent.prompt("hi")
            self.assertIsNone(prompt.stop_reason)
            updates = [update async for update in prompt]
            self.assertEqual([(u.kind, u.text) for u in updates], [("agent_message_chunk", "you said hi")])
            self.assertEqual(updates[0].data["content"], {"type": "text", "text": "you said hi"})
            self.assertEqual(prompt.stop_reason, "end_turn")
            with self.assertRaisesRegex(RuntimeError, "read once"):
                await texts(prompt)
            self.assertEqual(await agent.ask("é\N{ship}"), "you said é\N{ship}")

    async def test_sessions(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "below"))
            async with misbehaving("answers", cwd=folder) as agent:
                one, two = await asyncio.gather(agent.session(), agent.session("below"))
                self.assertEqual((one.info["folder"], two.info["folder"]), (folder, f"{folder}/below"))
                self.assertNotEqual(one.id, two.id)
                self.assertEqual(await asyncio.gather(one.ask("1"), two.ask("2")), ["you said 1", "you said 2"])
                # Both in the agent's own session, which is opened once.
                first, second = await asyncio.gather(agent.ask("3"), agent.ask("4"), return_exceptions=True)
                self.assertEqual((first, type(second)), ("you said 3", acp.Busy))
                self.assertEqual([u.kind for u in one.unprompted], ["available_commands_update"])

    async def test_one_prompt_at_a_time(self):
        async with misbehaving("slow") as agent:
            session, other = await agent.session(), await agent.session()
            async for _ in session.prompt("talk"):
                with self.assertRaises(acp.Busy) as raised:
                    await session.ask("more")
                self.assertIsInstance(raised.exception, RuntimeError)
                async for _ in other.prompt("meanwhile"):
                    break
                break

    async def test_cancel(self):
        async with misbehaving("slow") as agent:
            session = await agent.session()
            session.cancel()  # nothing runs
            prompt = session.prompt("talk")
            async for _ in prompt:
                session.cancel()
            self.assertEqual(prompt.stop_reason, "cancelled")

    async def test_break_cancels_the_turn(self):
        async with misbehaving("slow") as agent:
            session = await agent.session()
            for _ in range(3):
                prompt = session.prompt("talk")
                async for _ in prompt:
                    break
                await prompt.aclose()
                self.assertEqual(prompt.stop_reason, "cancelled")
            prompt = session.prompt("never sent")
            await prompt.aclose()
            self.assertIsNone(prompt.stop_reason)

    async def test_an_exception_cancels_the_turn(self):
        async with misbehaving("slow") as agent:
            session = await agent.session()
            prompt = session.prompt("talk")
            with self.assertRaises(ZeroDivisionError):
                async for _ in prompt:
                    1 / 0
            gc.collect()  # the exception may have kept the iteration
            await until("its end", lambda: prompt.stop_reason == "cancelled")

    async def test_a_cancelled_task_cancels_the_turn(self):
        async with misbehaving("slow") as agent:
            session = await agent.session()
            prompt = session.prompt("talk")
            task = asyncio.create_task(texts(prompt))
            await until("its turn", lambda: session._turn is not None)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            # The next one waits until that has ended.
            async for _ in session.prompt("more"):
                self.assertEqual(prompt.stop_reason, "cancelled")
                break

    async def test_a_cancel_that_is_ignored_ends_the_agent(self):
        with mock.patch("watchbill._turn._CANCEL_SECONDS", 0.2):
            async with misbehaving("ignores-cancel", patience=(0.2, 0.2)) as agent:
                prompt = agent.prompt("talk")
                async for _ in prompt:
                    break
                await prompt.aclose()
                with self.assertRaisesRegex(acp.AgentEnded, "did not end a turn within 0.2 seconds"):
                    await agent.ask("more")

    async def test_it_dies(self):
        async with misbehaving("dies") as agent:
            said = []
            with self.assertRaises(acp.AgentEnded) as raised:
                async for update in agent.prompt("hi"):
                    said.append(update.text)
            self.assertEqual(said, ["before"])
            self.assertEqual(raised.exception.returncode, -9)
            self.assertIn("ended: signal 9 (Killed)", str(raised.exception))
            self.assertIn("Segmentation fault", str(raised.exception))
            with self.assertRaises(acp.AgentEnded):
                await agent.session()

    async def test_failures(self):
        async with misbehaving("fails") as agent:
            with self.assertRaisesRegex(acp.PromptFailed, r"Internal error: the model is down \(code -32603\)"):
                await agent.ask("hi")
        async with misbehaving("refuses") as agent:
            with self.assertRaisesRegex(acp.PromptRefused, "refused to answer: not that"):
                await agent.ask("hi")
            prompt = agent.prompt("hi")
            self.assertEqual((await texts(prompt), prompt.stop_reason), (["not that"], "refusal"))
        async with misbehaving("no-sessions") as agent:
            with self.assertRaisesRegex(acp.SessionFailed, "signed in first") as raised:
                await agent.ask("hi")
            self.assertEqual(raised.exception.code, -32000)

    async def test_left_while_another_task_reads(self):
        async with misbehaving("slow") as agent:
            task = asyncio.create_task(texts(agent.prompt("talk")))
            await until("a turn", lambda: agent._turns)
        with self.assertRaisesRegex(acp.AgentEnded, "was stopped"):
            await task

    async def test_numbers_beyond_what_python_reads(self):
        async with misbehaving("big-number") as agent:
            updates = [update async for update in agent.prompt("hi")]
            self.assertEqual(updates[0].data["more"], int("1" * 300))
            self.assertEqual(updates[-1].text, "you said hi")


class Floods(AsyncTestCase):
    async def test_a_slow_reader_holds_the_agent_back(self):
        async with misbehaving("floods-output") as agent:
            most, count = 0, 0
            async for update in agent.prompt("3000"):  # 30 MB
                self.assertTrue(update.text.startswith(f"{count} "))
                if count == 0:
                    await until("a full queue", lambda: agent._child._paused)
                most, count = max(most, agent._unread), count + 1
            self.assertEqual(count, 3000)
            self.assertLess(most, acp._MOST_UNREAD + (4 << 20))
            self.assertEqual(agent._unread, 0)
            # What was left unread of an answer that is over does not hold it back either.
            session = await agent.session()
            async for _ in session.prompt("100"):
                await until("its end", lambda: session._turn is None)
                self.assertGreater(agent._unread, 0)
                break
            await until("nothing unread", lambda: agent._unread == 0)

    async def test_leaving_while_it_floods(self):
        async with misbehaving("floods-output") as agent:
            async for _ in agent.prompt("100000"):
                await until("a full queue", lambda: agent._child._paused)
                break
            agent._patience = (0.2, 0.2)

    async def test_what_was_said_before_it_ended_is_read(self):
        async with misbehaving("answers-and-ends") as agent:
            prompt = agent.prompt("hi")
            count = 0
            async for _ in prompt:
                if count == 0:
                    await until("a full queue", lambda: agent._child._paused)
                count += 1
            self.assertEqual((count, prompt.stop_reason), (2000, "end_turn"))

    async def test_errors_are_drained(self):
        async with misbehaving("floods-errors") as agent:
            self.assertEqual(await agent.ask("hi"), "you said hi")
            await until("the last line", lambda: agent.log[-1:] == ["the last line"])
            self.assertEqual(len(agent.log), 200)
            self.assertEqual(agent.log[0], "e" * 99)

    async def test_a_prompt_that_is_not_read(self):
        async with misbehaving("closes-input") as agent:
            session = await agent.session()
            self.assertEqual(await session.ask("hi"), "deaf")
            await until("more", lambda: session.unprompted[-1].text == "still here")
            prompt = session.prompt("x" * 1_000_000)  # it goes nowhere, and harms nothing
            task = asyncio.create_task(texts(prompt))
            await until("its turn", lambda: agent._turns)
            agent._patience = (0.1, 0.1)
        with self.assertRaises(acp.AgentEnded):
            await task

    async def test_more_than_may_wait_for_the_agent(self):
        with mock.patch.object(acp, "_MOST_UNSENT", 1 << 20):
            async with misbehaving("answers") as agent:
                os.kill(agent.pid, 19)  # SIGSTOP: it reads no more
                agent._patience = (0.1, 0.1)
                with self.assertRaisesRegex(acp.AgentEnded, "does not read its standard input"):
                    sessions = [asyncio.create_task(agent.session("/" + "x" * 400_000)) for _ in range(5)]
                    await asyncio.gather(*sessions)
            await asyncio.gather(*sessions, return_exceptions=True)


class Permissions(AsyncTestCase):
    BOTH = "reject_always reject_once allow_always allow_once"

    async def chosen(self, permission, kinds=BOTH):
        async with misbehaving("asks", permission=permission) as agent:
            return await agent.ask(kinds)

    async def test_by_default_it_is_refused(self):
        self.assertEqual(await self.chosen(None), "id-reject_once")
        self.assertEqual(await self.chosen(None, "allow_once reject_always"), "id-reject_always")
        self.assertEqual(await self.chosen(None, "allow_once"), "cancelled")

    async def test_allow(self):
        self.assertEqual(await self.chosen("allow"), "id-allow_once")
        self.assertEqual(await self.chosen("allow", "reject_once allow_always"), "id-allow_always")
        self.assertEqual(await self.chosen("allow", "reject_once other"), "id-reject_once")
        with self.assertRaises(TypeError):
            misbehaving("asks", permission="yes")

    async def test_functions(self):
        asked = []

        def plain(permission):
            asked.append(permission)
            return permission.options[2]

        async def later(permission):
            await asyncio.sleep(0)
            return permission.options[0].id

        self.assertEqual(await self.chosen(plain), "id-allow_always")
        self.assertEqual(asked[0].tool["title"], "Remove it")
        self.assertEqual(asked[0].options[3], acp.PermissionOption("id-allow_once", "allow once", "allow_once"))
        self.assertEqual(await self.chosen(later), "id-reject_always")
        self.assertEqual(await self.chosen(lambda _: None), "id-reject_once")

    async def test_what_a_function_raises(self):
        def fail(_):
            raise ZeroDivisionError("in the rule")

        with self.assertRaisesRegex(ZeroDivisionError, "in the rule"):
            await self.chosen(fail)
        with self.assertRaisesRegex(ValueError, "chose 'all'; these were offered: id-allow_once"):
            await self.chosen(lambda _: "all", "allow_once")
        with self.assertRaisesRegex(ValueError, "chose True"):
            await self.chosen(lambda _: True)

    async def test_one_that_is_cancelled_meanwhile(self):
        waiting, ended = asyncio.Event(), []

        async def forever(_):
            waiting.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)

        async with misbehaving("asks", permission=forever) as agent:
            session = await agent.session()
            task = asyncio.create_task(texts(session.prompt(self.BOTH)))
            await waiting.wait()
            session.cancel()
            await task
            self.assertEqual(ended, [True])
            waiting.clear()
            task = asyncio.create_task(texts(session.prompt(self.BOTH)))
            await waiting.wait()
        with self.assertRaises(acp.AgentEnded):
            await task
        self.assertEqual(ended, [True, True])

    async def test_outside_of_a_prompt(self):
        def fail(_):
            raise ZeroDivisionError("in the rule")

        async with misbehaving("asks-alone", permission=fail) as agent:
            await agent.session()
            await until("an answer", lambda: agent.log == ["outside: id-reject_once"])
        self.assertEqual([type(e["exception"]) for e in self.loop_errors], [ZeroDivisionError])
        self.loop_errors.clear()


if __name__ == "__main__":
    unittest.main()
