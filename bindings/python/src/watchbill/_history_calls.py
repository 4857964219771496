"""Calls of libhistory's C API: what goes in and out of them, and what they raise."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from ._library import ffi, lib


class HistoryError(Exception):
    """What a history could not do; the message says why, and what can be done. `code` is one of the library's
    WB_ codes."""

    code: int
    # What an import had kept by then; None for everything else.
    report: dict[str, Any] | None = None

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class InvalidInput(HistoryError, ValueError):
    """What was given cannot be kept or looked for. Nothing has changed."""


class NotFound(HistoryError, LookupError):
    """There is no such history, or no such channel."""


class Refused(HistoryError):
    """It cannot be done as things are: the history is closed, the channel was deleted, something is in the way."""


class InUse(Refused):
    """Another process has the history, or this one has. `pid` is its process, None where that is not told."""

    def __init__(self, message: str, code: int, pid: int | None) -> None:
        super().__init__(message, code)
        self.pid = pid


class Damaged(HistoryError):
    """It is there and cannot be read: damaged, of a newer format, or no history. See inspect, salvage and repair."""


class DiskFull(HistoryError):
    """There is no room. What was to be kept may be there or not; the same may be tried again, once there is room."""


class Stopped(HistoryError):
    """It was stopped by what it told how far it is."""


_KINDS: dict[int, type[HistoryError]] = {
    lib.WB_CANCELLED: Stopped,
    lib.WB_INVALID_ARGUMENT: InvalidInput,
    lib.WB_NOT_FOUND: NotFound,
    lib.WB_RESOURCE_EXHAUSTED: DiskFull,
    lib.WB_FAILED_PRECONDITION: Refused,
    lib.WB_DATA_LOSS: Damaged,
}


def call(function: Callable[..., int], *arguments: Any) -> int:
    """What a function of the library answers; what it fails with is raised. Bytes go in as wb_str."""
    error = ffi.new("wb_error*")
    ready = [(ffi.from_buffer("char[]", one), len(one)) if isinstance(one, bytes) else one for one in arguments]
    result = function(*ready, error)
    if result < 0:
        text = ffi.string(error.text).decode("utf-8", "replace")
        raise _KINDS.get(-result, HistoryError)(text, -result)
    return result


def made(kind: str, function: Callable[..., int], *arguments: Any) -> Any:
    """The handle that a function makes, as the one but last of its parameters; None where it answers that there is
    none. It is freed with what holds it."""
    out = ffi.new(f"wb_history{kind}**")
    if call(function, *arguments, out) != 0:
        return None
    return ffi.gc(out[0], getattr(lib, f"wb_history{kind}_free"))


def text_of(given: str | bytes) -> bytes:
    """UTF-8. Two surrogates that make a character are that character, others are U+FFFD."""
    if isinstance(given, bytes):
        return given
    try:
        return given.encode()
    except UnicodeEncodeError:
        return given.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def key_of(given: str | bytes) -> bytes:
    """The same, but that bytes which are not UTF-8 come back from what shown_key made of them."""
    if isinstance(given, bytes):
        return given
    try:
        return given.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text_of(given)


def shown_key(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")


def path_of(given: str | os.PathLike[str]) -> bytes:
    return os.fsencode(given)


def json_of(value: Any) -> bytes:
    return text_of(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def taken(text: Any) -> bytes:
    """A copy of what the library lends."""
    return bytes(ffi.buffer(text.data, text.size)) if text.size else b""


def word(text: Any) -> str:
    return taken(text).decode("utf-8", "replace")


def parsed(text: Any) -> Any:
    return json.loads(taken(text))


def report_of(text: Any) -> dict[str, Any]:
    """Of a wb_history_text."""
    return dict(parsed(lib.wb_history_text_get(text)))


def page_of(page: Any) -> list[Any]:
    return [parsed(lib.wb_history_page_at(page, n)) for n in range(lib.wb_history_page_count(page))]


class Callback:
    """A function of Python's for the library to call. What it raises stops the call, and is raised where that was
    made; so is Ctrl-C meanwhile."""

    def __init__(self, signature: str, function: Callable[..., bool]) -> None:
        self._raised: BaseException | None = None
        self.pointer = ffi.callback(
            signature, lambda *arguments: 0 if function(*arguments) else -1, error=-1, onerror=self._on_error
        )

    def _on_error(self, kind: Any, raised: BaseException, traceback: Any) -> None:
        self._raised = raised

    def call(self, function: Callable[..., int], *arguments: Any) -> int:
        try:
            return call(function, *arguments)
        except Stopped:
            if self._raised is not None:
                raise self._raised from None
            raise


def told(progress: Callable[[int, int], object] | None) -> Callback:
    """For wb_history_progress: where the function answers False, and nothing else, the call stops."""

    def go_on(_: Any, done: int, of: int) -> bool:
        return progress is None or progress(done, of) is not False

    return Callback("int32_t(void*, uint64_t, uint64_t)", go_on)
