"""How an agent is ended, with whatever it started."""
import asyncio
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from support import MISBEHAVING, PATIENCE, AsyncTestCase, marked, misbehaving, until
from watchbill._process import LogTail, describe_exit, printable

SCRIPT = f"""
import asyncio, sys, watchbill.acp
async def main():
    command = [sys.executable, {str(MISBEHAVING)!r}, sys.argv[1]]
    async with watchbill.acp.Agent(command, patience=(float(sys.argv[2]), 0.2)) as agent:
        async for update in agent.prompt("hi"):
            pass
        print("ready", agent.pid, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


class Ladder(AsyncTestCase):
    async def test_its_input_is_closed_first(self):
        async with misbehaving("answers", patience=(3600, 3600)) as agent:
            pass
        self.assertEqual(agent._child.returncode, 0)

    async def test_then_it_is_asked_once_with_its_children(self):
        async with misbehaving("polite", patience=(0.1, 3600)) as agent:
            await until("its child", lambda: len(marked(self.mark)) == 2)
        self.assertEqual((agent._child.returncode, agent.log), (0, ["asked to end"] * 2))

    async def test_then_it_is_killed_with_what_left_its_group(self):
        async with misbehaving("stubborn", patience=(0.1, 0.1)) as agent:
            self.assertEqual(len(marked(self.mark)), 2)
        self.assertEqual(agent._child.returncode, -signal.SIGKILL)

    async def test_what_it_leaves_is_ended(self):
        async with misbehaving("leaves-child", patience=(3600, 3600)) as agent:
            mark = next(iter(m for m in agent._child._marks if m.startswith(b"WATCHBILL_OWNER"))).decode()
            await until("its child", lambda: len(marked(mark)) == 2)
        self.assertEqual(marked(mark), [])
        self.assertEqual(agent._child.returncode, 0)

    async def test_cancelled_while_it_is_left_it_is_killed(self):
        agent = misbehaving("stubborn", patience=(3600, 3600))
        await agent.__aenter__()
        task = asyncio.create_task(agent.__aexit__(None, None, None))
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task

    async def test_its_mark_names_this_process(self):
        async with misbehaving("answers") as agent:
            environment = dict(
                entry.split("=", 1) for entry in Path(f"/proc/{agent.pid}/environ").read_text().split("\0") if entry
            )
            stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            space = os.stat("/proc/self/ns/pid").st_ino
            self.assertEqual(environment["WATCHBILL_OWNER"], f"{os.getpid()}:{stat[19]}:{boot}:{space}")
            self.assertGreater(int(environment["WATCHBILL_CHILD"]), 0)
            self.assertEqual(os.getsid(agent.pid), agent.pid)
            self.assertEqual(sorted(os.listdir(f"/proc/{agent.pid}/fd"))[:3], ["0", "1", "2"])
            self.assertEqual(len(os.listdir(f"/proc/{agent.pid}/fd")), 3)


class Scripts(AsyncTestCase):
    """A script of its own, that is interrupted."""

    async def script(self, mode, patience):
        child = subprocess.Popen([sys.executable, "-c", SCRIPT, mode, str(patience)], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        word, pid = (await asyncio.to_thread(child.stdout.readline)).split()
        self.assertEqual(word, "ready")
        return child, int(pid)

    async def ended(self, child):
        return await asyncio.wait_for(asyncio.to_thread(child.wait), PATIENCE)

    async def test_interrupted_once(self):
        child, _ = await self.script("answers", 3600)
        child.send_signal(signal.SIGINT)
        await self.ended(child)
        self.assertIn("KeyboardInterrupt", child.stderr.read())

    async def test_interrupted_again(self):
        child, pid = await self.script("stubborn", 3600)
        child.send_signal(signal.SIGINT)
        # Its input is closed: the first interrupt was taken.
        await until("the first interrupt", lambda: not has_reader_of_its_input(child.pid, pid))
        child.send_signal(signal.SIGINT)
        await self.ended(child)
        self.assertNotIn("Exception ignored", child.stderr.read())

    async def test_killed(self):
        child, pid = await self.script("answers", 3600)
        child.kill()
        await self.ended(child)
        await until("its end", lambda: not marked(self.mark))  # its input has ended


def has_reader_of_its_input(writer, reader):
    """Whether `writer` holds the other end of the pipe that is `reader`'s standard input."""
    try:
        pipe = os.readlink(f"/proc/{reader}/fd/0")
        return pipe in [os.readlink(f"/proc/{writer}/fd/{fd}") for fd in os.listdir(f"/proc/{writer}/fd")]
    except FileNotFoundError:
        return True


class Logs(unittest.TestCase):
    def test_lines_in_any_pieces(self):
        text = "one\r\n\ntwo \N{ship}\nrest".encode()
        for size in range(1, len(text) + 1):
            log = LogTail()
            for at in range(0, len(text), size):
                log.feed(text[at : at + size])
            self.assertEqual(list(log.lines), ["one", "", "two \N{ship}"])
            log.end()
            self.assertEqual(list(log.lines)[-1], "rest")

    def test_bounds(self):
        log = LogTail()
        for _ in range(100):
            log.feed(b"x" * 1000)
        log.feed(b"\n" + b"".join(b"%d\n" % n for n in range(1000)) + b"y" * 20_000 + b"\n\xff\xfe")
        log.end()
        self.assertEqual(len(log.lines), 200)
        self.assertEqual(list(log.lines)[-3:], ["999", "y" * 8192, "\ufffd\ufffd"])
        log = LogTail()
        log.feed(b"x" * 5000)
        log.feed(b"x" * 5000 + b"\nz\n")
        self.assertEqual(list(log.lines), ["x" * 8192, "z"])

    def test_what_may_be_shown(self):
        for text, shown in (
            ("plain\ttext é", "plain\ttext é"),
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("\x1b]0;title\x07after", "after"),
            ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1b(Bset \x1bcreset", "set reset"),
            ("a\x00b\x08c\x9b31m\x7f", "abc31m"),
            ("\x1b", ""),
            ("\x1b[31", "31"),
        ):
            self.assertEqual(printable(text), shown)

    def test_exits(self):
        self.assertEqual(describe_exit(3), "exit code 3")
        self.assertEqual(describe_exit(-9), "signal 9 (Killed)")
        self.assertEqual(describe_exit(-63), "signal 63 (Real-time signal 29)")


if __name__ == "__main__":
    unittest.main()
