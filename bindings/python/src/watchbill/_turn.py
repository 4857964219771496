"""A prompt that was sent, and the iteration over what the agent says to it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._errors import AgentError
    from .acp import Agent, Prompt, Session, Update

_CANCEL_SECONDS = 10.0


class Recent:
    """The last 200 updates, of 4 MiB together at most."""

    def __init__(self) -> None:
        self._updates: deque[tuple[Update, int]] = deque()
        self._bytes = 0

    def add(self, update: Update, size: int) -> None:
        self._updates.append((update, size))
        self._bytes += size
        while self._updates and (len(self._updates) > 200 or self._bytes > 4 << 20):
            self._bytes -= self._updates.popleft()[1]

    def updates(self) -> list[Update]:
        return [update for update, _ in self._updates]


class Turn:
    """A prompt that was sent: what waits for its reader, and how it ended."""

    def __init__(self, agent: Agent, session: Session, call: int) -> None:
        self.agent = agent
        self.session = session
        self.call = call
        self.stop_reason: str | None = None
        self.over = asyncio.Event()
        self.abandoned = False
        self._waiting: deque[tuple[Update | BaseException, int]] = deque()
        self._reader: asyncio.Future[None] | None = None
        self._limit: asyncio.TimerHandle | None = None

    def add(self, item: Update | BaseException, size: int = 0) -> None:
        if self.abandoned:
            return
        self._waiting.append((item, size))
        self.agent._count_unread(size)
        self._wake()

    def end(self, stop_reason: str | None, failure: AgentError | None) -> None:
        if self._limit is not None:
            self._limit.cancel()
        self.stop_reason = stop_reason
        if failure is not None:
            self.add(failure)
        self.over.set()
        if self.session._turn is self:
            self.session._turn = None
        self._wake()

    async def next(self) -> Update:
        while not self._waiting:
            if self.over.is_set():
                raise StopAsyncIteration
            self._reader = self.agent._loop.create_future()
            await self._reader
        item, size = self._waiting.popleft()
        self.agent._count_unread(-size)
        if isinstance(item, BaseException):
            raise item
        return item

    def is_read(self) -> bool:
        return self.over.is_set() and not self._waiting

    def abandon(self) -> None:
        """Nobody reads it any more: the agent is told to cancel it, and has ten seconds to say that it has."""
        self.abandoned = True
        while self._waiting:
            self.agent._count_unread(-self._waiting.popleft()[1])
        if self.over.is_set() or self._limit is not None:
            return
        self._limit = self.agent._loop.call_later(_CANCEL_SECONDS, self._give_up)
        self.agent._cancel(self.session.id)

    def _give_up(self) -> None:
        self.agent._abort(f"did not end a turn within {_CANCEL_SECONDS:g} seconds of its being cancelled")

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class Reader(AsyncIterator["Update"]):
    """The iteration over a prompt. Letting go of it before its end, as `break` does, cancels the turn."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._turn: Turn | None = None

    async def __anext__(self) -> Update:
        turn = self._turn
        if turn is None:
            self._turn = turn = self._prompt._turn = await self._prompt._send()
        try:
            return await turn.next()
        except StopAsyncIteration:
            raise
        except BaseException:
            turn.abandon()  # what is raised may keep this from being let go
            raise

    def __del__(self) -> None:
        turn = self._turn
        if turn is None or turn.abandoned or turn.is_read():
            return
        # May be called anywhere, in another thread too: it is only noted here, so that the session's next prompt waits.
        turn.abandoned = True
        loop = turn.agent._loop
        if not loop.is_closed():
            loop.call_soon_threadsafe(turn.abandon)
