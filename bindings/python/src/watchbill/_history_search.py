"""What a search finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._history_calls import made, taken, text_of, word
from ._library import ffi, lib

if TYPE_CHECKING:
    from .history import History

_MOST_HITS = 200
_ROLES = ("user", "agent", "system")


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that was found. `snippet` is a piece of its text, and `marks` are where the words stand in it, as
    snippet[begin:end]. `cut_before` and `cut_after`: there is more of the text. Of two scores the higher is better."""

    channel: str
    id: str
    created_ms: int
    agent: str
    role: str
    score: float
    snippet: str
    marks: list[tuple[int, int]]
    cut_before: bool
    cut_after: bool


class Hits(Iterator[Hit]):
    """What a search finds, best first. `partial`: the index is not made yet. `bounded`: not all was looked at, as the
    text says too little. `unreadable`: what could not be read on the way. All so far."""

    def __init__(self, history: History, text: str, channel: str | None, limit: int | None) -> None:
        self.partial = False
        self.bounded = False
        self.unreadable = 0
        self._left = limit
        # Before the first hit is asked for: what is wrong with the text is said at once.
        self._more = True
        self._history = history
        self._text, self._channel, self._after = text_of(text), text_of(channel or ""), b""
        self._page: list[Hit] = self._next_page()

    def __next__(self) -> Hit:
        while not self._page and self._more:
            self._page = self._next_page()
        if not self._page:
            raise StopIteration
        return self._page.pop()

    def _next_page(self) -> list[Hit]:
        if self._left is not None and self._left <= 0:
            self._more = False
            return []
        texts = self._text, self._channel, self._after
        pinned = [ffi.from_buffer("char[]", text) for text in texts]
        query = ffi.new("wb_history_query*")
        lib.wb_history_query_init(query)
        query.limit = _MOST_HITS if self._left is None else min(self._left, _MOST_HITS)
        query.text, query.channel, query.after = ((at, len(text)) for at, text in zip(pinned, texts))
        page = made("_hits", lib.wb_history_search, self._history._handle, query)
        about = ffi.new("wb_history_found*")
        about.struct_size = ffi.sizeof("wb_history_found")
        lib.wb_history_hits_about(page, about)
        self.partial |= about.partial != 0
        self.bounded |= about.bounded != 0
        self.unreadable += about.unreadable
        self._more, self._after = about.more != 0, taken(about.next)
        hits = [_hit(page, n) for n in range(lib.wb_history_hits_count(page))]
        if self._left is not None:
            self._left -= len(hits)
        return hits[::-1]


def _hit(page: Any, n: int) -> Hit:
    hit = ffi.new("wb_history_hit*")
    hit.struct_size = ffi.sizeof("wb_history_hit")
    lib.wb_history_hits_at(page, n, hit)
    snippet = taken(hit.snippet)
    marks = []
    at = characters = 0
    for mark in ffi.unpack(hit.marks, hit.mark_count) if hit.mark_count else []:
        begin = characters + len(snippet[at : mark.begin].decode())
        characters = begin + len(snippet[mark.begin : mark.end].decode())
        marks.append((begin, characters))
        at = mark.end
    return Hit(
        word(hit.channel),
        word(hit.id),
        hit.created_ms,
        word(hit.agent),
        _ROLES[hit.role],
        hit.score,
        snippet.decode(),
        marks,
        hit.cut_before != 0,
        hit.cut_after != 0,
    )
