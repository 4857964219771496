"""What the tests of the Python package share."""
import asyncio
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import watchbill.acp

ROOT = Path(__file__).resolve().parents[2]
MISBEHAVING = Path(__file__).resolve().parent / "agents" / "misbehaving.py"
SDK_AGENT = ROOT / "tests/node_modules/@agentclientprotocol/sdk/dist/examples/agent.js"
# A test that waits longer than this for something has failed.
PATIENCE = 240.0


def misbehaving(mode, **options):
    """With little patience: most of these do not end when they are asked to."""
    return watchbill.acp.Agent([sys.executable, str(MISBEHAVING), mode], **{"patience": (5.0, 0.2), **options})


def needed(path_or_none, what):
    """A test without its peer is skipped, or fails where everything has to be there."""
    if path_or_none is not None and Path(path_or_none).exists():
        return str(path_or_none)
    if os.environ.get("CI") == "true":
        raise AssertionError(f"{what} is not there")
    print(f"SKIPPED: {what} is not there", file=sys.stderr)
    raise unittest.SkipTest(f"{what} is not there")


def node():
    return needed(shutil.which("node"), "node")


def program(name):
    folder = os.environ.get("WATCHBILL_BIN_DIR")
    return needed(folder and Path(folder, name), f"{name} (in WATCHBILL_BIN_DIR)")


async def until(what, condition):
    for _ in range(int(PATIENCE / 0.01)):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"in {PATIENCE:g} seconds there was not {what}")


def marked(mark):
    """The processes, but zombies, whose environment holds this."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if mark.encode() in environment and state != b"Z":
            found.append(int(entry.name))
    return found


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=8 * 60, **options)


class AsyncTestCase(unittest.IsolatedAsyncioTestCase):
    """Fails where a process of an agent is left, or where the loop was told of an error that nobody awaited."""

    async def asyncSetUp(self):
        self.mark = f"WATCHBILL_TEST={self.id()}-{os.getpid()}"
        os.environ["WATCHBILL_TEST"] = self.mark.partition("=")[2]
        self.loop_errors = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: self.loop_errors.append(context))
        loop.slow_callback_duration = 3600.0  # how long something takes is not what is tested

    async def asyncTearDown(self):
        os.environ.pop("WATCHBILL_TEST")
        self.assertEqual(marked(self.mark), [])
        self.assertEqual(self.loop_errors, [])
