"""A child process that is talked to over pipes, and ended with whatever it started."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

_LONGEST_LINE = 8 << 10
_LINES = 200
# What a process that it started holds open is waited for no longer than this once it has ended itself.
_LAST_WORDS = 0.2
# What not even SIGKILL ends, a process in the middle of a broken disk's read, is waited for no longer than this.
_AFTER_KILL = 2.0
_PAUSE = 0.02

_SEQUENCES = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    "|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?"  # titles, links
    "|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """One line from outside as it may be shown: without terminal sequences and control characters."""
    return _CONTROLS.sub("", _SEQUENCES.sub("", text))


class LogTail:
    """The last 200 lines of bytes that come in pieces; of a line longer than 8 KiB its beginning."""

    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=_LINES)
        self._open = b""

    def feed(self, data: bytes) -> None:
        first, *others = data.split(b"\n")
        self._open += first[: _LONGEST_LINE - len(self._open)]
        if others:
            self.add(self._open)
            for line in others[:-1][-_LINES:]:
                self.add(line[:_LONGEST_LINE])
            self._open = others[-1][:_LONGEST_LINE]

    def end(self) -> None:
        if self._open:
            self.add(self._open)
        self._open = b""

    def add(self, line: bytes | str) -> None:
        text = line if isinstance(line, str) else line.decode("utf-8", "replace")
        self.lines.append(printable(text.rstrip("\r")))


def describe_exit(code: int) -> str:
    """As in "exit code 3", "signal 9 (Killed)"."""
    if code >= 0:
        return f"exit code {code}"
    return f"signal {-code} ({signal.strsignal(-code) or 'unknown'})"


@dataclass(frozen=True, slots=True)
class _Seen:
    pid: int
    started: int
    parent: int
    group: int
    session: int


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""  # it has ended, or is somebody else's


def _look_at(pid: int) -> _Seen | None:
    # The name, in brackets, may hold anything; the state is what follows it.
    words = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(words) < 20 or words[0] in (b"Z", b"X"):
        return None
    return _Seen(pid, int(words[19]), int(words[1]), int(words[2]), int(words[3]))


_numbers = itertools.count(1)


def _new_marks() -> dict[str, str]:
    """What the processes of one child are known by, as watchbill's programs write it: it stays with whatever they
    start, and the sweep of a supervisor finds those whose owner was killed."""
    if not sys.platform.startswith("linux"):
        return {}
    own = _look_at(os.getpid())
    boot = _read("/proc/sys/kernel/random/boot_id").decode("ascii", "replace").strip() or "unknown"
    try:
        space = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        space = 0
    started = own.started if own else 0
    return {
        "WATCHBILL_OWNER": f"{os.getpid()}:{started}:{boot}:{space}",
        "WATCHBILL_CHILD": f"{next(_numbers)}",
    }


class Child(asyncio.SubprocessProtocol):
    """In a session and group of its own. `output` is called with what it writes; `ended` once, with how it ended,
    when all that it wrote was delivered, or when it has closed its output for good."""

    def __init__(self, output: Callable[[bytes], None], ended: Callable[[str], None]) -> None:
        self.log = LogTail()
        self.returncode: int | None = None
        self._output = output
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.SubprocessTransport | None = None
        self._exited = asyncio.Event()
        self._closed = asyncio.Event()
        self._open = {1, 2}
        self._paused = False
        self._told = False
        self._marks: frozenset[bytes] = frozenset()
        self._began = 0  # in the kernel's ticks: none of its tree is older
        self._known: dict[int, int] = {}  # pids and start times of what was seen of its tree

    async def start(self, command: Sequence[str], environment: Mapping[str, str], folder: str) -> None:
        marks = _new_marks()
        self._marks = frozenset(f"{name}={value}".encode() for name, value in marks.items())
        await self._loop.subprocess_exec(
            lambda: self,
            *command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**environment, **marks},
            start_new_session=True,
        )
        assert self.pid is not None
        leader = _look_at(self.pid)
        self._began = leader.started if leader is not None else 0

    @property
    def pid(self) -> int | None:
        return None if self._transport is None else self._transport.get_pid()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.log.feed(data)
        elif not self._told:
            self._output(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 2:
            self.log.end()
        self._open.discard(fd)
        if self.returncode is not None and not self._open:
            self._tell()
        elif fd == 1:
            # It can say nothing more; how it ends is worth a moment.
            self._loop.call_later(1.0, self._tell)

    def process_exited(self) -> None:
        assert self._transport is not None
        self.returncode = self._transport.get_returncode()
        self._exited.set()
        if self._open:
            self._loop.call_later(_LAST_WORDS, self._tell_unless_paused)
        else:
            self._tell()

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed.set()

    def _tell_unless_paused(self) -> None:
        if self._paused:
            self._loop.call_later(_LAST_WORDS, self._tell_unless_paused)
        else:
            self._tell()

    def _tell(self) -> None:
        if self._told:
            return
        self._told = True
        self.log.end()
        if self.returncode is None:
            self._ended("it closed its standard output")
        else:
            self._ended(describe_exit(self.returncode))

    # Talking to it.

    def _pipe(self, fd: int) -> asyncio.BaseTransport | None:
        return None if self._transport is None else self._transport.get_pipe_transport(fd)

    def _input(self) -> asyncio.WriteTransport | None:
        pipe = cast("asyncio.WriteTransport | None", self._pipe(0))
        return None if pipe is None or pipe.is_closing() else pipe

    def write(self, data: bytes) -> None:
        """Queued; a child that has closed its input loses it without harm."""
        if (pipe := self._input()) is not None:
            pipe.write(data)

    def unwritten(self) -> int:
        """How many bytes are queued."""
        pipe = self._input()
        return 0 if pipe is None else pipe.get_write_buffer_size()

    def pause_reading(self) -> None:
        pipe = cast("asyncio.ReadTransport | None", self._pipe(1))
        if pipe is not None and not pipe.is_closing() and not self._paused:
            self._paused = True
            pipe.pause_reading()

    def resume_reading(self) -> None:
        pipe = cast("asyncio.ReadTransport | None", self._pipe(1))
        if pipe is not None and self._paused:
            self._paused = False
            pipe.resume_reading()

    # Ending it.

    async def stop(self, patience: tuple[float, float]) -> None:
        """Closes its input, then SIGTERM to it and whatever it started, then SIGKILL, with these waits between.
        Cancelled, it goes to SIGKILL at once."""
        if self._transport is None:
            return  # it never ran
        gone = False
        try:
            if (pipe := self._pipe(0)) is not None:
                pipe.close()
            self.resume_reading()  # one that blocks in a write would not see its input end
            gone = await self._has_exited(patience[0]) and not self._tree()
            if not gone:
                gone = await self._signal_until_gone(signal.SIGTERM, patience[1])
        finally:
            if not gone:
                await self._kill()
            self._transport.close()
        try:
            async with asyncio.timeout(_AFTER_KILL):
                await self._closed.wait()
        except TimeoutError:
            pass  # not even SIGKILL has ended it

    async def _kill(self) -> None:
        self._signal_tree(signal.SIGKILL, set())  # whatever happens to the waiting
        await self._signal_until_gone(signal.SIGKILL, _AFTER_KILL)

    async def _has_exited(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        except TimeoutError:
            return False
        return True

    async def _signal_until_gone(self, number: signal.Signals, seconds: float) -> bool:
        until = self._loop.time() + seconds
        signalled: set[tuple[int, int]] = set()
        while True:
            begun = self._loop.time()
            tree = self._signal_tree(number, signalled)
            now = self._loop.time()
            if not tree and self.returncode is not None:
                return True
            if now >= until:
                return False
            # Looking takes longer where there are many processes: most of the time is left to others.
            await asyncio.sleep(max(_PAUSE, 4 * (now - begun)))

    def _signal_tree(self, number: signal.Signals, signalled: set[tuple[int, int]]) -> list[_Seen]:
        """Gives what there is of the tree. Each gets the signal once: some take a second one for impatience."""
        tree = self._tree()
        leader = self.pid
        if leader is not None and self.returncode is None and not signalled:
            # At once, so that none of the group can start another meanwhile.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, number)
            signalled.add((leader, 0))
            signalled.update((one.pid, one.started) for one in tree if one.group == leader)
        for one in tree:
            if (one.pid, one.started) not in signalled:
                signalled.add((one.pid, one.started))
                _signal(one.pid, one.started, number)
        return tree

    def _tree(self) -> list[_Seen]:
        """The processes, but zombies, that carry its marks, are of its session, were known before, or descend from
        such a one. Nothing where the system has no /proc."""
        table: dict[int, _Seen] = {}
        try:
            pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        except OSError:
            return []
        for pid in pids:
            seen = None if pid == os.getpid() else _look_at(pid)
            if seen is not None and seen.started >= self._began:
                table[pid] = seen
        # A number that its owner has left may be another's.
        session = self.pid if self.returncode is None else None
        found = {
            pid
            for pid, seen in table.items()
            if self._known.get(pid) == seen.started or seen.session == session or self._marked(pid)
        }
        while more := {pid for pid, seen in table.items() if pid not in found and seen.parent in found}:
            found |= more
        self._known = {pid: table[pid].started for pid in found}
        return [table[pid] for pid in sorted(found)]

    def _marked(self, pid: int) -> bool:
        return bool(self._marks) and self._marks <= set(_read(f"/proc/{pid}/environ").split(b"\0"))


def _signal(pid: int, started: int, number: signal.Signals) -> None:
    """To exactly that process: nothing happens where its pid has become another's."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return
    try:
        seen = _look_at(pid)
        if seen is not None and seen.started == started:
            signal.pidfd_send_signal(descriptor, number)
    except OSError:
        pass  # it has ended meanwhile
    finally:
        os.close(descriptor)
