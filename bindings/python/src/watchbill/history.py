"""Conversations that last, in a folder; a search over them; records and a trail beside them.

    with watchbill.history.History("/var/lib/notes") as history:
        history.put(channel={"id": channel, "name": "Bridge"})
        history.put(message=watchbill.history.message(channel, "The berth is free."))
        for hit in history.search("berth"):
            print(hit.snippet)

What a call has put is on the disk when it returns, whatever happens to the process or the machine afterwards. Messages
and channels are the JSON of docs/protocols/rpc.md; what of one would be lost, as its name, kind or value is not known,
is refused with InvalidInput. Of text that is no Unicode, two surrogates that make a character are kept as that
character, and others as U+FFFD.

Every method may be called from any thread, several at once; a batch, and what is iterated over, belongs to one thread
at a time. One process at a time has a folder, and none that was forked from it can use what it opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO

from ._history_calls import (
    Damaged,
    DiskFull,
    HistoryError,
    InUse,
    InvalidInput,
    NotFound,
    Refused,
    Stopped,
    call,
    json_of,
    key_of,
    made,
    page_of,
    parsed,
    path_of,
    report_of,
    text_of,
    told,
    word,
)
from ._history_files import written
from ._history_ledger import (
    Collection,
    Ledger,
    Record,
    Trail,
    TrailEnd,
    TrailEntry,
    TrailFault,
    TrailReport,
    collection_of,
    entry_of,
    newest_first,
    oldest_first,
    then,
)
from ._history_messages import first_id_at, message, new_id
from ._history_search import Hit, Hits
from ._library import ffi, lib

__all__ = [
    "Batch",
    "Collection",
    "Damaged",
    "DiskFull",
    "History",
    "HistoryError",
    "Hit",
    "Hits",
    "InUse",
    "InvalidInput",
    "Ledger",
    "NotFound",
    "Page",
    "Record",
    "Refused",
    "Sizes",
    "Stopped",
    "Trail",
    "TrailEnd",
    "TrailEntry",
    "TrailFault",
    "TrailReport",
    "first_id_at",
    "inspect",
    "message",
    "new_id",
    "newest_first",
    "oldest_first",
    "repair",
    "salvage",
    "then",
]

_PIECE = 1000
_CHUNK = 1 << 20

Path = str | os.PathLike[str]
JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """Messages, oldest first. `more`: there are older ones. `unreadable`: what could not be read on the way."""

    messages: list[dict[str, Any]]
    more: bool
    unreadable: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """About the bytes on the disk."""

    conversations: int
    index: int
    ledger: int
    trail: int


class Batch:
    """What is written together or not at all.

        with history.batch() as batch:
            batch.put(channel=bridge)
            batch.put(message=first)

    Leaving `with` keeps it, and an exception lets it go. What fails has added nothing. One thread at a time."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._batch = made("_batch", lib.wb_history_batch_new)

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()

    def put(
        self,
        *,
        message: JsonObject | None = None,
        channel: JsonObject | None = None,
        member: JsonObject | None = None,
    ) -> None:
        """Any of them. What is there already is replaced. A member is what an agent knows of a channel: {"channel",
        "agent", "session", "lastSeen"}."""
        if message is None and channel is None and member is None:
            raise TypeError("a message, a channel or a member is to be put, and there is none of them")
        if channel is not None:
            call(lib.wb_history_batch_put_channel, self._batch, json_of(channel))
        if member is not None:
            known = dict(member)
            of = known.pop("channel", "")
            if not isinstance(of, str):
                raise TypeError('"channel" of a member is the id of its channel')
            call(lib.wb_history_batch_put_member, self._batch, text_of(of), json_of(known))
        if message is not None:
            call(lib.wb_history_batch_put_message, self._batch, json_of(message))

    def put_commands(self, agent: str, commands: Any) -> None:
        """The slash commands that an agent announced last."""
        call(lib.wb_history_batch_put_commands, self._batch, text_of(agent), json_of(commands))

    def record(
        self, collection: Collection | int | str, key: str | bytes, value: Any, order: str | bytes = b""
    ) -> None:
        """A record of the ledger, and where it stands in the second order of its collection."""
        call(
            lib.wb_history_batch_put_record,
            self._batch,
            collection_of(collection),
            key_of(key),
            key_of(order),
            json_of(value),
        )

    def forget(self, collection: Collection | int | str, key: str | bytes) -> None:
        """A record, also where there is none."""
        call(lib.wb_history_batch_delete_record, self._batch, collection_of(collection), key_of(key))

    def trail(
        self, who: str, what: str, about: str = "", detail: Any = None, at_ms: int | None = None
    ) -> None:
        """An entry of the trail, behind all that there are. `at_ms` is now where it is not said."""
        call(lib.wb_history_batch_append_trail, self._batch, entry_of(who, what, about, detail, at_ms))

    @property
    def size(self) -> int:
        """About what it takes on the disk; 0: it is empty."""
        return int(lib.wb_history_batch_bytes(self._batch))

    def commit(self) -> None:
        """On the disk when it returns, and no longer in the batch. Where it fails the batch is as it was, and may be
        committed again."""
        call(lib.wb_history_commit, self._history._handle, self._batch)
        call(lib.wb_history_batch_clear, self._batch)


class History:
    """The history in a folder, from the call to close or the end of `with`. It is made where there is none, with the
    folders above it, for their user alone; where `create` is False that raises NotFound. `None` as the folder: one
    that is nowhere but in memory.

    InUse: another process has it, or this one has. Damaged: it is damaged, of a newer format, or no history; it is
    never repaired by itself. Every error names the folder and says what to do."""

    def __init__(self, folder: Path | None, create: bool = True) -> None:
        if folder is None:
            self._handle = made("", lib.wb_history_new_in_memory)
            return
        options = ffi.new("wb_history_options*")
        lib.wb_history_options_init(options)
        options.create = 1 if create else 0
        try:
            self._handle = made("", lib.wb_history_open, path_of(folder), options)
        except Refused as failure:
            raise _named(failure, folder) from None

    def __enter__(self) -> History:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Waits for the calls of other threads, then closes: the folder can be opened again. Every later call raises
        Refused. To close it again does nothing."""
        call(lib.wb_history_close, self._handle)

    # What is written.

    def batch(self) -> Batch:
        return Batch(self)

    def put(
        self,
        *,
        message: JsonObject | None = None,
        channel: JsonObject | None = None,
        member: JsonObject | None = None,
    ) -> None:
        """As Batch.put has it; on the disk when it returns. What several threads put at once goes there together."""
        with self.batch() as batch:
            batch.put(message=message, channel=channel, member=member)

    def put_commands(self, agent: str, commands: Any) -> None:
        with self.batch() as batch:
            batch.put_commands(agent, commands)

    def delete(self, channel: str) -> None:
        """Deletes a channel with its members and messages, in pieces: others are not kept waiting. From the first on it
        is as if it had never been, and takes nothing any more. Broken off, it is gone on with by another call."""
        while call(lib.wb_history_channel_delete, self._handle, text_of(channel), _PIECE):
            pass

    def half_deleted(self) -> list[str]:
        """The ids of channels whose deletion was begun and not ended."""
        page = made("_page", lib.wb_history_half_deleted, self._handle)
        return [word(lib.wb_history_page_at(page, n)) for n in range(lib.wb_history_page_count(page))]

    def prune(self, channel: str, keep: int = 0, before: str = "") -> None:
        """Deletes messages of a channel, but for the newest `keep` and those whose ids are not less than `before`,
        where that is said: see first_id_at."""
        of, until = text_of(channel), text_of(before)
        while call(lib.wb_history_channel_prune, self._handle, of, keep, until, _PIECE):
            pass

    # What is read.

    def channels(self) -> list[dict[str, Any]]:
        """Oldest first. One whose record cannot be read has its id alone, and its messages can still be asked for."""
        return page_of(made("_page", lib.wb_history_channels, self._handle))

    def members(self, channel: str) -> list[dict[str, Any]]:
        """As they were put, in the order of their names."""
        members = page_of(made("_page", lib.wb_history_members, self._handle, text_of(channel)))
        return [{"channel": channel, **member} for member in members]

    def commands(self, agent: str) -> Any:
        """None where it never announced any, or they cannot be read."""
        commands = made("_text", lib.wb_history_commands, self._handle, text_of(agent))
        return None if commands is None else parsed(lib.wb_history_text_get(commands))

    def last(self, channel: str, limit: int = 100) -> Page:
        """The last messages. A channel without any, or that is not known, is empty."""
        return _page(made("_page", lib.wb_history_last, self._handle, text_of(channel), limit))

    def before(self, channel: str, id: str, limit: int = 100) -> Page:
        """The last of those before the message `id`, which need not be there."""
        return _page(made("_page", lib.wb_history_before, self._handle, text_of(channel), text_of(id), limit))

    def messages(self, channel: str, newest_first: bool = False) -> Iterator[dict[str, Any]]:
        """All messages of a channel, in little memory however many there are. What is put or deleted meanwhile may be
        met or not; nothing is met twice. One that cannot be read is passed over; `unreadable` counts it."""
        order = 1 if newest_first else 0
        return _walk(made("_cursor", lib.wb_history_cursor_new, self._handle, text_of(channel), order))

    def search(
        self, text: str, channel: str | None = None, limit: int | None = 20, *, index: bool = True
    ) -> Hits:
        """The messages that have all these words, best first, `limit` of them, None: all. A word with a * behind it
        stands for all that begin with it; words in "quotes" stand one behind the other. Case and accents make no
        difference. The index is brought up to date first, which writes, and the first time may take a minute for a
        million messages; without `index` what it has not got yet may be missing, and Hits.partial says so.
        InvalidInput: there is no word in the text."""
        if index:
            self.index()
        return Hits(self, text, channel, limit)

    def index(self) -> int:
        """Makes the index of the search follow what was put. Gives how many messages it has got by that."""
        step = ffi.new("wb_history_indexed*")
        step.struct_size = ffi.sizeof("wb_history_indexed")
        messages = 0
        more = 1
        while more:
            more = call(lib.wb_history_index_step, self._handle, _PIECE, 0, step)
            messages += step.messages
        return messages

    def rebuild_index(self) -> None:
        """Makes it anew: `index`, or the next search, does the work."""
        call(lib.wb_history_index_rebuild, self._handle)

    def ledger(self, collection: Collection | int | str) -> Ledger:
        return Ledger(self, collection_of(collection))

    @property
    def trail(self) -> Trail:
        return Trail(self)

    # The whole of it.

    def export(
        self,
        target: Path | BinaryIO,
        *,
        channel: str | None = None,
        ledger: bool | None = None,
        trail: bool | None = None,
    ) -> dict[str, Any]:
        """Writes lines of JSON, as all is at this moment, into a file that is there whole or not at all, or into what
        has a `write` for bytes. One channel alone, or all there is; then `ledger` and `trail` say whether they come
        too, which they do. Gives {"written": {"channels", …}, "unreadable"}. NotFound: there is no such channel."""
        whole = channel is None
        options = ffi.new("wb_history_export_options*")
        lib.wb_history_export_options_init(options)
        options.ledger = int(whole if ledger is None else ledger)
        options.trail = int(whole if trail is None else trail)
        of = text_of(channel or "")
        pinned = ffi.from_buffer("char[]", of)
        options.channel = (pinned, len(of))
        return written(target, lambda *sink: (lib.wb_history_export, self._handle, options, *sink))

    def export_markdown(
        self,
        target: Path | BinaryIO,
        channel: str,
        *,
        thoughts: bool = False,
        words: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Writes a channel for people, where export writes it for programs. `words` are those of the page, where they
        are not the English ones: watchbill/history_transfer.h has their names."""
        options = ffi.new("wb_history_markdown_options*")
        lib.wb_history_markdown_options_init(options)
        options.thoughts = int(thoughts)
        said = b"" if words is None else json_of(dict(words))
        pinned = ffi.from_buffer("char[]", said)
        options.words = (pinned, len(said))
        of = text_of(channel)
        return written(target, lambda *sink: (lib.wb_history_export_markdown, self._handle, of, options, *sink))

    def import_(
        self,
        source: Path | BinaryIO,
        *,
        strict: bool = False,
        replace: bool = False,
        progress: Callable[[int, int], object] | None = None,
    ) -> dict[str, Any]:
        """Takes what export wrote. What is here under the same id stays, or is replaced; a bad line is passed over, or
        ends it where `strict`. `progress` is told the lines and bytes so far, and False from it stops. Gives {"kept",
        "replaced", "already", "refused", "bad", "badLines", "cut"}; what is raised has it as its `report`. Importing a
        file again changes nothing, so that one that was broken off is begun anew. InvalidInput: it is no exported
        history."""
        if isinstance(source, (str, os.PathLike)):
            with open(source, "rb") as file:
                return self.import_(file, strict=strict, replace=replace, progress=progress)
        options = ffi.new("wb_history_import_options*")
        lib.wb_history_import_options_init(options)
        options.strict, options.replace = int(strict), int(replace)
        importing = made("_import", lib.wb_history_import_new, self._handle, options)
        lines, bytes_ = ffi.new("uint64_t*"), ffi.new("uint64_t*")
        try:
            while piece := source.read(_CHUNK):
                if not isinstance(piece, bytes):
                    raise TypeError("what is imported is read as bytes: open the file with \"rb\"")
                call(lib.wb_history_import_feed, importing, piece)
                lib.wb_history_import_progress(importing, lines, bytes_)
                if progress is not None and progress(lines[0], bytes_[0]) is False:
                    raise Stopped("the import was stopped", lib.WB_CANCELLED)
            call(lib.wb_history_import_end, importing)
        except HistoryError as failure:
            failure.report = report_of(made("_text", lib.wb_history_import_report, importing))
            raise
        return report_of(made("_text", lib.wb_history_import_report, importing))

    def backup(self, folder: Path, progress: Callable[[int, int], object] | None = None) -> dict[str, Any]:
        """Copies all of it, as it is at this moment, into a folder of its own that is not there or empty, and can be
        opened as a history; what others put meanwhile is put, and is not in it. The folder is there whole or not at
        all. `progress` is told bytes done and about how many there are; False from it stops, with Stopped. Gives
        {"keys", "bytes", "damaged"}."""
        callback = told(progress)
        out = ffi.new("wb_history_text**")
        callback.call(lib.wb_history_backup, self._handle, path_of(folder), callback.pointer, ffi.NULL, out)
        return report_of(ffi.gc(out[0], lib.wb_history_text_free))

    def sizes(self) -> Sizes:
        sizes = ffi.new("wb_history_sizes*")
        sizes.struct_size = ffi.sizeof("wb_history_sizes")
        call(lib.wb_history_measure, self._handle, sizes)
        return Sizes(sizes.conversations, sizes.index, sizes.ledger, sizes.trail)

    def channel_bytes(self, channel: str) -> int:
        """About the bytes on the disk of a channel's messages."""
        out = ffi.new("uint64_t*")
        call(lib.wb_history_channel_bytes, self._handle, text_of(channel), out)
        return int(out[0])

    def compact(self) -> None:
        """Gives back the room of what was deleted or replaced. May take long; all else goes on."""
        call(lib.wb_history_compact, self._handle)

    @property
    def unreadable(self) -> int:
        """How often something could not be read since it was opened."""
        return int(lib.wb_history_unreadable(self._handle))


def _page(page: Any) -> Page:
    return Page(page_of(page), lib.wb_history_page_more(page) != 0, int(lib.wb_history_page_unreadable(page)))


def _walk(cursor: Any) -> Iterator[dict[str, Any]]:
    text = ffi.new("wb_str*")
    while call(lib.wb_history_cursor_next, cursor, text) == 0:
        yield parsed(text)


def _named(failure: Refused, folder: Path) -> Refused:
    """InUse, where that is why it was refused."""
    try:
        holder = inspect(folder)["holder"]
    except HistoryError:
        holder = None
    return failure if holder is None else InUse(str(failure), failure.code, holder or None)


# Folders that nobody has open.


def inspect(folder: Path, read_all: bool = False) -> dict[str, Any]:
    """Looks at a folder without changing a byte of it: {"there", "history", "files", "bytes", "holder", "opens":
    {"code", "text"}, …} as watchbill/history_transfer.h has it, and with `read_all` how much of each kind can be
    read."""
    return report_of(made("_text", lib.wb_history_inspect, path_of(folder), int(read_all)))


def salvage(folder: Path, into: Path) -> dict[str, Any]:
    """Makes a new history, in a folder that is not there or empty, of what can be read of a damaged one, which is only
    read."""
    return report_of(made("_text", lib.wb_history_salvage, path_of(folder), path_of(into)))


def repair(folder: Path) -> dict[str, Any]:
    """Puts in the place of a damaged history what can be made of it; it is copied aside first. Gives {"needed", "why",
    "copy", "salvage"}; where it was not needed, nothing was done. Broken off, it is gone on with by another call."""
    out = ffi.new("wb_history_text**")
    call(lib.wb_history_repair, path_of(folder), out)
    return report_of(ffi.gc(out[0], lib.wb_history_text_free))
