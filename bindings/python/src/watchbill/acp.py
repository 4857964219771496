"""Agents of the Agent Client Protocol, version 1, scripted with asyncio.

    async with watchbill.acp.Agent(["node", "agent.js"]) as agent:
        async for update in agent.prompt("hello"):
            if update.kind == "agent_message_chunk":
                print(update.text, end="")

Everything here belongs to the event loop in which the agent was entered. Text and data that an update holds come from
the agent: they are data, to be escaped by whoever shows them.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Union

from . import __version__
from ._client import CallError, Client, Event
from ._errors import (
    AgentEnded,
    AgentError,
    AgentNotFound,
    Busy,
    HandshakeFailed,
    PromptFailed,
    PromptRefused,
    SessionFailed,
)
from ._library import lib
from ._process import Child, printable
from ._turn import Reader, Recent, Turn

__all__ = [
    "Agent",
    "AgentEnded",
    "AgentError",
    "AgentNotFound",
    "Busy",
    "HandshakeFailed",
    "Permission",
    "PermissionOption",
    "Prompt",
    "PromptFailed",
    "PromptRefused",
    "Session",
    "SessionFailed",
    "Update",
]

# How much may wait for a reader before the agent is not read from any more, and for the agent before it is ended.
_MOST_UNREAD = 16 << 20
_MOST_UNSENT = 64 << 20
# What an update that waits costs beside its bytes.
_UPDATE_COST = 512


@dataclass(frozen=True, slots=True)
class Update:
    """Something an agent says while it works. `kind` is the protocol's word, such as "agent_message_chunk", "tool_call"
    or "plan"; unknown ones come too. `text` is there for chunks; `data` is the whole update, as it came."""

    kind: str
    text: str | None
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """`kind` says what choosing it means: "allow_once", "allow_always", "reject_once" or "reject_always"."""

    id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Permission:
    """What the agent asks leave for: `tool` is the tool call, as it came."""

    session_id: str
    tool: dict[str, Any]
    options: list[PermissionOption]


Choice = Union[PermissionOption, str, None]
PermissionRule = Union[Literal["allow"], Callable[[Permission], Union[Choice, Awaitable[Choice]]], None]


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:  # Python takes integers of so many digits only
        value = json.loads(text, parse_int=float)
    return value if isinstance(value, dict) else {}


class Prompt:
    """A text for an agent, and the turn that answers it. It is sent when the iteration begins, and read once.

    Leaving the iteration early, also by an exception or because the task was cancelled, cancels the turn; the agent is
    ended where it does not say within ten seconds that it has stopped."""

    def __init__(self, agent: Agent, session: Session | None, text: str) -> None:
        self._agent = agent
        self._session = session
        self._text = text
        self._begun = False
        self._turn: Turn | None = None

    def __aiter__(self) -> AsyncIterator[Update]:
        if self._begun:
            raise RuntimeError("a prompt is read once")
        self._begun = True
        return Reader(self)

    @property
    def stop_reason(self) -> str | None:
        """Once the turn is over: the protocol's word, such as "end_turn", "cancelled", "max_tokens" or "refusal"."""
        return None if self._turn is None else self._turn.stop_reason

    async def aclose(self) -> None:
        """Cancels the turn where it is not over, and waits until it is."""
        self._begun = True
        if self._turn is not None and not self._turn.over.is_set():
            self._turn.abandon()
            await self._turn.over.wait()

    async def _send(self) -> Turn:
        if self._session is None:
            self._session = await self._agent._default_session()
        return await self._session._begin(self._text)


def _reason(failure: OSError | ValueError) -> str:
    if not isinstance(failure, OSError) or failure.strerror is None:
        return str(failure)
    missing = isinstance(failure, FileNotFoundError)
    return failure.strerror + (" (the program that its first line names, it may be)" if missing else "")


class Session:
    """A conversation with an agent. Several of one agent may be answering at the same time."""

    def __init__(self, agent: Agent, id: str, info: dict[str, Any]) -> None:
        self.id = id
        self.info = info  # the agent's answer to session/new
        self._agent = agent
        self._turn: Turn | None = None
        self._unprompted = Recent()

    def prompt(self, text: str) -> Prompt:
        return Prompt(self._agent, self, text)

    async def ask(self, text: str) -> str:
        """The whole of what the agent says to it. PromptRefused: it refused to go on."""
        prompt = self.prompt(text)
        return await self._agent._collect(prompt)

    def cancel(self) -> None:
        """Asks the agent to stop; the iteration over its prompt goes on until it has. Nothing happens where none
        runs."""
        self._agent._cancel(self.id)

    @property
    def unprompted(self) -> list[Update]:
        """The last updates that came outside of a turn, such as the commands that it offers: 200 at most."""
        return self._unprompted.updates()

    async def _begin(self, text: str) -> Turn:
        while self._turn is not None:
            if not self._turn.abandoned:
                raise Busy(f"session {self.id} is answering: one prompt at a time")
            await self._turn.over.wait()
        self._agent._check_running()
        call = self._agent._client.prompt(self.id, text)
        self._turn = self._agent._turns[call] = Turn(self._agent, self, call)
        self._agent._pump()
        return self._turn


class Agent:
    """An agent's process, from `async with` to its end.

    `command` is the program and its arguments; no shell reads them. The program is looked up in PATH where it holds no
    slash, else from `cwd`, which is this process's folder where it is not said. `env` is added to this process's
    environment.

    `permission` decides what the agent asks leave for: None refuses, "allow" allows once (or always, where that is all
    that is offered), and a function, plain or async, is given a Permission and returns one of its options, the id of
    one, or None to refuse. What it raises refuses, and is raised where the prompt is read.

    On leaving, its input is closed; after `patience[0]` seconds it and whatever it started get SIGTERM, after
    `patience[1]` more SIGKILL. Cancelled meanwhile, SIGKILL comes at once. Nothing of it is left then."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        permission: PermissionRule = None,
        handshake_timeout: float = 30.0,
        patience: tuple[float, float] = (5.0, 3.0),
        name: str = "watchbill-python",
    ) -> None:
        if isinstance(command, (str, bytes)) or not command:
            raise TypeError('command is a list of the program and its arguments, such as ["node", "agent.js"]')
        if not (permission is None or permission == "allow" or callable(permission)):
            raise TypeError(f'permission is None, "allow" or a function, and not {permission!r}')
        if handshake_timeout <= 0 or min(patience) < 0:
            raise ValueError("handshake_timeout is above 0, and neither of patience is below it")
        self.info: dict[str, Any] = {}  # the agent's answer to initialize
        self._command = [os.fspath(word) for word in command]
        self._folder = os.path.abspath(cwd if cwd is not None else os.getcwd())
        self._environment = {**os.environ, **(env or {})}
        self._permission = permission
        self._handshake_timeout = handshake_timeout
        self._patience = patience
        self._name = name
        self._client = Client(handshake_timeout)
        self._child: Child | None = None
        self._loop: asyncio.AbstractEventLoop
        self._ready: asyncio.Future[None]
        self._ended: str | None = None  # why nothing more can be asked of it, going on from its name
        self._stopping: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._calls: dict[int, asyncio.Future[Session]] = {}
        self._turns: dict[int, Turn] = {}
        self._sessions: dict[str, Session] = {}
        self._early: dict[str, Recent] = {}  # updates of sessions that are being opened
        self._asked: dict[int, tuple[str, asyncio.Task[None]]] = {}  # permission requests: session, who decides
        self._unread = 0
        self._default: Session | None = None
        self._default_lock = asyncio.Lock()

    async def __aenter__(self) -> Agent:
        if self._child is not None:
            raise RuntimeError("an Agent is entered once; make another")
        self._loop = asyncio.get_running_loop()
        self._command[0] = self._program()
        # Both are there before it runs: it may end before the start of it returns.
        self._ready = self._loop.create_future()
        self._child = Child(self._on_output, self._on_ended)
        try:
            await self._child.start(self._command, self._environment, self._folder)
            self._client.initialize(self._name, __version__)
            self._pump()
            await self._ready
        except (OSError, ValueError) as failure:
            self._child = None
            raise AgentNotFound(self._describe(f"could not be run: {_reason(failure)}")) from failure
        except BaseException:
            await self._finish()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._finish()

    @property
    def log(self) -> list[str]:
        """The last 200 lines that it wrote to its standard error, and in square brackets what else it wrote that could
        not be used. Without terminal sequences; a line longer than 8 KiB is cut."""
        return [] if self._child is None else list(self._child.log.lines)

    @property
    def pid(self) -> int | None:
        return None if self._child is None else self._child.pid

    async def session(self, cwd: str | os.PathLike[str] | None = None) -> Session:
        """Opens a conversation in a folder, the agent's own where none is said."""
        self._check_running()
        folder = self._folder if cwd is None else os.path.join(self._folder, cwd)
        call = self._client.session_new(os.path.normpath(folder))
        made: asyncio.Future[Session] = self._loop.create_future()
        self._calls[call] = made
        try:
            self._pump()
            return await made
        finally:
            self._calls.pop(call, None)

    def prompt(self, text: str) -> Prompt:
        """Sends a text in a session of the agent's own, which is opened for the first one."""
        return Prompt(self, None, text)

    async def ask(self, text: str) -> str:
        """The whole of what the agent says to it. PromptRefused: it refused to go on."""
        return await self._collect(self.prompt(text))

    async def _collect(self, prompt: Prompt) -> str:
        said = []
        async for update in prompt:
            if update.kind == "agent_message_chunk" and update.text:
                said.append(update.text)
        if prompt.stop_reason == "refusal":
            told = printable("".join(said))
            raise PromptRefused(self._describe(f"refused to answer{': ' + told if told else ''}"))
        return "".join(said)

    async def _default_session(self) -> Session:
        async with self._default_lock:
            if self._default is None:
                self._default = await self.session()
            return self._default

    # The process.

    def _program(self) -> str:
        program = self._command[0]
        if not os.path.isdir(self._folder):
            raise AgentNotFound(self._describe(f"was not run: there is no folder {self._folder}"))
        if os.sep not in program:
            found = shutil.which(program, path=self._environment.get("PATH", os.defpath))
            if found is None:
                raise AgentNotFound(self._describe("is in none of PATH's folders, or may not be run"))
            return os.path.join(self._folder, found)
        path = os.path.join(self._folder, program)
        if not os.path.isfile(path):
            raise AgentNotFound(self._describe(f"is not there: there is no file {path}"))
        if not os.access(path, os.X_OK):
            raise AgentNotFound(self._describe(f"may not be run: {path} is not executable"))
        return path

    def _describe(self, problem: str) -> str:
        lines = [
            f"{self._command[0]} {printable(' '.join(problem.splitlines()))}",
            f"  command: {printable(' '.join(self._command))}",
            f"  folder: {self._folder}",
            f"  PATH: {self._environment.get('PATH', '(not set)')}",
        ]
        if self.log:
            lines.append("  it last wrote:")
            lines += [f"    {line}" for line in self.log[-10:]]
        return "\n".join(lines)

    def _on_output(self, data: bytes) -> None:
        if self._ended is None:
            self._client.feed(data)
            self._pump()

    def _on_ended(self, why: str) -> None:
        self._end(f"ended: {why}", why)

    def _end(self, problem: str, why: str) -> None:
        if self._ended is None:
            self._ended = problem
        self._client.end(why)
        self._pump()
        for _, task in self._asked.values():
            task.cancel()

    def _abort(self, problem: str) -> None:
        """Ends an agent that cannot be talked to any more."""
        self._end(problem, problem)
        self._stop()

    def _stop(self) -> asyncio.Task[None]:
        assert self._child is not None
        if self._stopping is None:
            self._stopping = self._loop.create_task(self._child.stop(self._patience))
        return self._stopping

    async def _finish(self) -> None:
        cancelled: asyncio.CancelledError | None = None
        stopping = self._stop()
        self._end("was stopped", "it was stopped")
        while not stopping.done():
            try:
                await asyncio.wait({stopping})
            except asyncio.CancelledError as again:
                cancelled = again
                stopping.cancel()
        if self._timer is not None:
            self._timer.cancel()
        if cancelled is not None:
            raise cancelled
        if not stopping.cancelled():
            stopping.result()

    def _check_running(self) -> None:
        if self._child is None:
            raise RuntimeError("the agent is not running: use it inside of `async with`")
        if self._ended is not None:
            raise self._over()

    def _over(self) -> AgentEnded:
        assert self._child is not None and self._ended is not None
        return AgentEnded(self._describe(self._ended), self._child.returncode)

    # The connection.

    def _pump(self) -> None:
        """After whatever may have moved the session: tells what happened, sends what is to be sent."""
        for event in self._client.events():
            self._on_event(event)
        assert self._child is not None
        output = self._client.take_output()
        if output:
            full = self._child.unwritten() > _MOST_UNSENT
            self._child.write(output)
            if full and self._stopping is None:
                self._abort("does not read its standard input")
        if self._timer is not None:
            self._timer.cancel()
        deadline = self._client.deadline()
        # A little later than that: the loop's clock is not as fine.
        self._timer = None if deadline is None else self._loop.call_at(deadline + 0.001, self._tick)

    def _tick(self) -> None:
        self._client.tick()
        self._pump()

    def _on_event(self, event: Event) -> None:
        kind = event.kind
        if kind == lib.WB_ACP_UPDATED:
            self._on_update(event)
        elif kind == lib.WB_ACP_PROMPT_ENDED:
            self._on_prompt_ended(event)
        elif kind == lib.WB_ACP_PERMISSION_ASKED:
            task = self._loop.create_task(self._decide(event.call, event.session, event.json))
            self._asked[event.call] = (event.session, task)
        elif kind == lib.WB_ACP_PERMISSION_CLOSED:
            if (asked := self._asked.get(event.call)) is not None:
                asked[1].cancel()
        elif kind == lib.WB_ACP_SESSION_OPENED:
            self._on_session_made(event)
        elif kind == lib.WB_ACP_CALL_FAILED:
            made = self._calls.pop(event.call, None)
            if made is not None and not made.done():
                problem = f"did not open a session: {event.text}"
                made.set_exception(
                    self._over() if self._ended is not None else SessionFailed(self._describe(problem), event.code)
                )
        elif kind == lib.WB_ACP_HANDSHAKE_DONE:
            self.info = _parsed(event.json)
            if not self._ready.done():
                self._ready.set_result(None)
        elif kind == lib.WB_ACP_HANDSHAKE_FAILED:
            self._on_handshake_failed(event)
        elif kind == lib.WB_ACP_SKIPPED:
            assert self._child is not None
            self._child.log.add(f"[{event.text}: {event.word}]" if event.word else f"[{event.text}]")

    def _on_handshake_failed(self, event: Event) -> None:
        if self._ready.done():
            return
        if event.code == lib.WB_ACP_ENDED:
            assert self._child is not None
            self._ready.set_exception(AgentEnded(self._describe(event.text or ""), self._child.returncode))
            return
        problem, reason = event.text or "", "refused"
        if event.code == lib.WB_ACP_TIMEOUT:
            problem = f"did not answer `initialize` within {self._handshake_timeout:g} seconds"
            reason = "timeout"
        elif event.code == lib.WB_ACP_VERSION:
            reason = "version"
        elif event.code == lib.WB_ACP_NOT_ACP:
            reason = "not_acp"
        self._ready.set_exception(HandshakeFailed(self._describe(problem), reason))

    def _on_session_made(self, event: Event) -> None:
        made = self._calls.pop(event.call, None)
        session = self._sessions[event.session] = Session(self, event.session, _parsed(event.json))
        early = self._early.pop(event.session, None)
        if early is not None:
            session._unprompted = early
        if made is not None and not made.done():
            made.set_result(session)

    def _on_update(self, event: Event) -> None:
        size = len(event.json) + _UPDATE_COST
        session = self._sessions.get(event.session)
        turn = None if session is None else session._turn
        if turn is not None and turn.abandoned:
            return
        update = Update(event.word, event.text, _parsed(event.json))
        if turn is not None:
            turn.add(update, size)
        elif session is not None:
            session._unprompted.add(update, size)
        elif self._calls and (event.session in self._early or len(self._early) < 16):
            self._early.setdefault(event.session, Recent()).add(update, size)

    def _on_prompt_ended(self, event: Event) -> None:
        turn = self._turns.pop(event.call)
        failure: AgentError | None = None
        if not event.word:
            over = self._ended is not None
            failure = self._over() if over else PromptFailed(self._describe(f"failed to answer: {event.text}"))
        turn.end(event.word or None, failure)

    def _count_unread(self, size: int) -> None:
        self._unread += size
        if self._child is None or self._stopping is not None:
            return
        if self._unread > _MOST_UNREAD:
            self._child.pause_reading()
        elif self._unread < _MOST_UNREAD // 2:
            self._child.resume_reading()

    def _cancel(self, session: str) -> None:
        self._client.cancel(session)
        for asked_in, task in self._asked.values():
            if asked_in == session:
                task.cancel()
        self._pump()

    # Permissions.

    async def _decide(self, request: int, session: str, asked: bytes) -> None:
        option: str | None = None
        try:
            option = await self._choose(session, _parsed(asked))
        except Exception as failure:
            self._blame(session, failure)
        finally:
            self._asked.pop(request, None)
            self._answer(request, option)

    async def _choose(self, session: str, asked: dict[str, Any]) -> str | None:
        options = [
            PermissionOption(str(o["optionId"]), str(o.get("name", "")), str(o.get("kind", "")))
            for o in asked.get("options", [])
            if isinstance(o, dict) and "optionId" in o
        ]
        rule = self._permission
        if rule is None:
            return None
        if isinstance(rule, str):
            ranked = [o for kind in ("allow_once", "allow_always") for o in options if o.kind == kind]
            return ranked[0].id if ranked else None
        chosen: Any = rule(Permission(session, asked.get("toolCall") or {}, options))
        if inspect.isawaitable(chosen):
            chosen = await chosen
        if chosen is None:
            return None
        id = chosen.id if isinstance(chosen, PermissionOption) else chosen
        if id not in [o.id for o in options]:
            offered = ", ".join(o.id for o in options)
            raise ValueError(f"the permission function chose {chosen!r}; these were offered: {offered}")
        return str(id)

    def _answer(self, request: int, option: str | None) -> None:
        try:
            if option is None:
                self._client.refuse(request)
            else:
                self._client.answer(request, option)
        except CallError as failure:
            # Closed meanwhile: the turn was cancelled, or the agent is gone.
            if failure.code != lib.WB_NOT_FOUND:
                raise
        self._pump()

    def _blame(self, session: str, failure: Exception) -> None:
        known = self._sessions.get(session)
        if known is not None and known._turn is not None:
            known._turn.add(failure)
            return
        self._loop.call_exception_handler(
            {"message": "the permission function failed, and no prompt was being read", "exception": failure}
        )
