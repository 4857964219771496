"""What is kept beside conversations: records of named collections, and the trail."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._history_calls import (
    call,
    json_of,
    key_of,
    made,
    page_of,
    parsed,
    report_of,
    shown_key,
    taken,
    text_of,
    told,
)
from ._library import ffi, lib

if TYPE_CHECKING:
    from .history import History

_PAGE = 256
_PIECE = 1000
_ANY_FROM, _ANY_BEFORE = -(2**63), 2**63 - 1


class Collection(enum.IntEnum):
    """What the ledger keeps. The number is part of what is on the disk."""

    POLICIES = 1
    PRICES = 2
    WINDOWS = 3
    OUTCOMES = 4
    PEOPLE = 5
    ROLES = 6
    CATALOGUES = 7
    SUBSCRIPTIONS = 8
    KNOWLEDGE = 9
    SEEN = 10
    APPROVALS = 11
    ACKNOWLEDGEMENTS = 12
    ENGINE = 13
    SETTINGS = 14
    COUNTED_ENTRIES = 15


def collection_of(given: Collection | int | str) -> Collection:
    """By its number, or by its name, such as "settings"."""
    try:
        return Collection[given.upper()] if isinstance(given, str) else Collection(given)
    except (KeyError, ValueError):
        names = ", ".join(one.name.lower() for one in Collection)
        raise ValueError(f"there is no collection {given!r}; there are {names}") from None


def newest_first(ms: int) -> bytes:
    """An order, or the end of a key: later times (milliseconds since 1970, UTC) stand before earlier ones."""
    out = ffi.new("char[8]")
    lib.wb_history_order_newest_first(ms, out)
    return bytes(ffi.buffer(out))


def oldest_first(ms: int) -> bytes:
    out = ffi.new("char[8]")
    lib.wb_history_order_oldest_first(ms, out)
    return bytes(ffi.buffer(out))


def then(text: str | bytes) -> bytes:
    """A part of a key or an order with something behind it, which may be anything: then("codex") + newest_first(ms).
    Compares as the texts do, and no text's range takes in another's."""
    return taken(lib.wb_history_text_get(made("_text", lib.wb_history_order_then, key_of(text))))


@dataclass(frozen=True, slots=True)
class Record:
    """`key` has bytes that are not UTF-8 as lone surrogates, and finds the record as it is. `order` is where it
    stands in the second order of its collection."""

    key: str
    value: Any
    order: bytes


class Ledger(MutableMapping[str, Any]):
    """A collection as a mapping from keys, 1 to 4,096 bytes of text, to anything that JSON can say. Each change is on
    the disk when it is done, by itself; several together are a batch's. It iterates in the order of the keys' bytes,
    a few hundred at a time, and what is changed meanwhile may be met or not. Any thread."""

    def __init__(self, history: History, collection: Collection) -> None:
        self.collection = collection
        self._history = history

    def __getitem__(self, key: str | bytes) -> Any:
        """KeyError: there is none. Damaged: there is one that cannot be read."""
        return self.record(key).value

    def record(self, key: str | bytes) -> Record:
        """With its order. Raises as [] does."""
        found = made(
            "_records", lib.wb_history_record_get, self._history._handle, self.collection, key_of(key)
        )
        if found is None:
            raise KeyError(key)
        return _records(found)[0]

    def __setitem__(self, key: str | bytes, value: Any) -> None:
        self.put(key, value)

    def put(self, key: str | bytes, value: Any, order: str | bytes = b"") -> None:
        """As [] does, and says where it stands in the second order; [] puts it at the order ""."""
        with self._history.batch() as batch:
            batch.record(self.collection, key, value, order)

    def __delitem__(self, key: str | bytes) -> None:
        self.record(key)
        with self._history.batch() as batch:
            batch.forget(self.collection, key)

    def __iter__(self) -> Iterator[str]:
        return (record.key for record in self.records())

    def __len__(self) -> int:
        """Counts them: all are read."""
        return sum(1 for _ in self.records())

    def records(self, prefix: str | bytes = b"", after: str | bytes = b"") -> Iterator[Record]:
        """Those whose keys begin with `prefix`, behind the key `after`, in the order of their keys. One that cannot be
        read is passed over; History.unreadable counts it."""
        within, behind = key_of(prefix), key_of(after)
        while True:
            pinned = ffi.from_buffer("char[]", within), ffi.from_buffer("char[]", behind)
            keys = ffi.new("wb_history_key_range*")
            lib.wb_history_key_range_init(keys)
            keys.prefix, keys.after = (pinned[0], len(within)), (pinned[1], len(behind))
            page = made(
                "_records", lib.wb_history_records_by_key, self._history._handle, self.collection, keys, _PAGE
            )
            records = _records(page)
            yield from records
            if not records or not lib.wb_history_records_more(page):
                return
            behind = key_of(records[-1].key)

    def in_order(
        self, prefix: str | bytes = b"", start: str | bytes = b"", end: str | bytes = b""
    ) -> Iterator[Record]:
        """In the second order, those of one order in the order of their keys: orders that begin with `prefix`, from
        `start` to before `end`; an empty one sets no bound."""
        within, first, last = key_of(prefix), key_of(start), key_of(end)
        behind: Record | None = None
        while True:
            place = (b"", b"") if behind is None else (behind.order, key_of(behind.key))
            texts = [place[0], place[1], within, first, last]
            pinned = [ffi.from_buffer("char[]", text) for text in texts]
            orders = ffi.new("wb_history_order_range*")
            lib.wb_history_order_range_init(orders)
            orders.behind = 0 if behind is None else 1
            for name, at, text in zip(("after_order", "after_key", "prefix", "from", "to"), pinned, texts):
                setattr(orders, name, (at, len(text)))
            page = made(
                "_records", lib.wb_history_records_in_order, self._history._handle, self.collection, orders, _PAGE
            )
            records = _records(page)
            yield from records
            if not records or not lib.wb_history_records_more(page):
                return
            behind = records[-1]

    def prune(self, keep: int = 0, behind: str | bytes = b"", prefix: str | bytes = b"") -> None:
        """Deletes records whose order begins with `prefix`, but for the first `keep` of them in that order and those
        before the order `behind`: where orders are newest_first, those stay that are newer. In pieces: others are not
        kept waiting."""
        while call(
            lib.wb_history_records_prune,
            self._history._handle,
            self.collection,
            key_of(prefix),
            keep,
            key_of(behind),
            _PIECE,
        ):
            pass


def _records(handle: Any) -> list[Record]:
    records = []
    out = ffi.new("wb_history_record*")
    out.struct_size = ffi.sizeof("wb_history_record")
    for n in range(lib.wb_history_records_count(handle)):
        lib.wb_history_records_at(handle, n, out)
        records.append(Record(shown_key(taken(out.key)), parsed(out.value), taken(out.order)))
    return records


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """`number` is from 1; `at_ms` is milliseconds since 1970, UTC; `detail` is None where there is none."""

    number: int
    at_ms: int
    who: str
    what: str
    about: str
    detail: Any


@dataclass(frozen=True, slots=True)
class TrailEnd:
    """The last entry, by its number and the hash that takes in all before it. Who can write the whole database can
    write a whole new trail: against that, keep this somewhere else, and hand it to verify."""

    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class TrailFault:
    """`kind`: missing changed moved unreadable endMissing end begin foreign other; `first` and `last` are the numbers
    of the entries that it is about."""

    kind: str
    first: int
    last: int
    says: str


@dataclass(frozen=True, slots=True)
class TrailReport:
    """`fault` is the one of the least number, None: all is as it was. `first` is the first entry that is there,
    `entries` how many were looked at. `kept_is_there` is None where no end was handed in, or it was taken off."""

    fault: TrailFault | None
    first: int
    end: TrailEnd
    entries: int
    kept_is_there: bool | None


class Trail:
    """Who did what: entries that are numbered without a hole, each with a hash of all before it. Any thread."""

    def __init__(self, history: History) -> None:
        self._history = history

    def append(
        self, who: str, what: str, about: str = "", detail: Any = None, at_ms: int | None = None
    ) -> None:
        """Behind all that there are; on the disk when it returns. `at_ms` is now where it is not said."""
        with self._history.batch() as batch:
            batch.trail(who, what, about, detail, at_ms)

    def entries(
        self,
        *,
        who: str | None = None,
        what: str | None = None,
        about: str | None = None,
        from_ms: int | None = None,
        before_ms: int | None = None,
    ) -> Iterator[TrailEntry]:
        """Newest first, those for which all that is said fits."""
        texts = [None if text is None else text_of(text) for text in (who, what, about)]
        pinned = [None if text is None else ffi.from_buffer("char[]", text) for text in texts]
        query = ffi.new("wb_history_trail_query*")
        lib.wb_history_trail_query_init(query)
        for name, at, text in zip(("who", "what", "about"), pinned, texts):
            if text is not None:
                setattr(query, name, (at, len(text)))
        query.from_ms = _ANY_FROM if from_ms is None else from_ms
        query.before_ms = _ANY_BEFORE if before_ms is None else before_ms
        following = ffi.new("uint64_t*")
        while True:
            out = ffi.new("wb_history_page**")
            call(lib.wb_history_trail_page, self._history._handle, query, out, following)
            page = ffi.gc(out[0], lib.wb_history_page_free)
            for entry in page_of(page):
                yield TrailEntry(
                    entry["number"],
                    entry["atMs"],
                    entry["who"],
                    entry["what"],
                    entry["about"],
                    entry.get("detail"),
                )
            if following[0] == 0:
                return
            query.before = following[0]

    def end(self) -> TrailEnd:
        """Number 0: there never was an entry."""
        place = ffi.new("wb_history_trail_place*")
        place.struct_size = ffi.sizeof("wb_history_trail_place")
        call(lib.wb_history_trail_end, self._history._handle, place)
        return TrailEnd(place.number, ffi.string(place.hash).decode())

    def verify(
        self, kept: TrailEnd | None = None, progress: Callable[[int, int], object] | None = None
    ) -> TrailReport:
        """Looks at all of it. `kept` is what end said at some time. `progress` is told the entries done and how many
        there are; False from it stops, with Stopped."""
        place = ffi.NULL
        if kept is not None:
            place = ffi.new("wb_history_trail_place*")
            place.struct_size = ffi.sizeof("wb_history_trail_place")
            place.number = kept.number
            place.hash = text_of(kept.hash)[: ffi.sizeof(place.hash) - 1]
        callback = told(progress)
        out = ffi.new("wb_history_text**")
        callback.call(
            lib.wb_history_trail_verify, self._history._handle, place, callback.pointer, ffi.NULL, out
        )
        report = report_of(ffi.gc(out[0], lib.wb_history_text_free))
        fault = report["fault"]
        return TrailReport(
            None if fault is None else TrailFault(fault["kind"], fault["first"], fault["last"], fault["says"]),
            report["first"],
            TrailEnd(report["end"]["number"], report["end"]["hash"]),
            report["entries"],
            report["keptIsThere"],
        )

    def prune(self, keep: int = 0, before_ms: int | None = None) -> None:
        """Takes entries off its old end: the newest `keep` stay, and those that are not from before `before_ms`, where
        that is said. It can be verified from there on."""
        until = _ANY_BEFORE if before_ms is None else before_ms
        while call(lib.wb_history_trail_prune, self._history._handle, keep, until, _PIECE):
            pass


def entry_of(who: str, what: str, about: str, detail: Any, at_ms: int | None) -> bytes:
    at = time.time_ns() // 1_000_000 if at_ms is None else at_ms
    entry = {"atMs": at, "who": who, "what": what, "about": about}
    return json_of(entry if detail is None else {**entry, "detail": detail})
