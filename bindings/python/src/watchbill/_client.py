"""The client's end of a connection to one agent: bytes in, events and bytes out. It does nothing itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._library import ffi, lib

_NEVER = 2**63 - 1


class CallError(Exception):
    """The library refused a call. `code` is one of its WB_ codes."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened; which of the members are filled depends on the kind: see watchbill/acp.h."""

    kind: int
    call: int
    session: str
    word: str
    text: str | None
    json: bytes
    code: int


def _taken(text: Any) -> bytes:
    return bytes(ffi.buffer(text.data, text.size)) if text.size else b""


def _word(text: Any) -> str:
    return _taken(text).decode("utf-8", "replace")


def _now() -> Any:
    return ffi.new("wb_now*", (time.monotonic_ns(), time.time_ns() // 1_000_000))[0]


class Client:
    """Not for two threads at once."""

    def __init__(self, handshake_seconds: float = 30.0) -> None:
        options = ffi.new("wb_acp_client_options*")
        lib.wb_acp_client_options_init(options)
        options.handshake_ms = max(1, round(handshake_seconds * 1000))
        out = ffi.new("wb_acp_client**")
        self._error = ffi.new("wb_error*")
        self._event = ffi.new("wb_acp_event*")
        self._event.struct_size = ffi.sizeof("wb_acp_event")
        self._check(lib.wb_acp_client_new(options, out, self._error))
        self._client = ffi.gc(out[0], lib.wb_acp_client_free)

    def _check(self, result: int) -> int:
        if result < 0:
            raise CallError(-result, ffi.string(self._error.text).decode("utf-8", "replace"))
        return result

    def feed(self, data: bytes) -> None:
        pinned = ffi.from_buffer("char[]", data)
        self._check(lib.wb_acp_client_feed(self._client, (pinned, len(data)), self._error))

    def end(self, why: str) -> None:
        """The agent will write no more, for this reason, a phrase such as "exit code 3"."""
        self._with_text(lib.wb_acp_client_end, why)

    def events(self) -> Iterator[Event]:
        """What has happened since. Any method may be called between two of them."""
        event = self._event
        while self._check(lib.wb_acp_client_next(self._client, event, self._error)) == 0:
            yield Event(
                event.kind,
                event.call,
                _word(event.session),
                _word(event.word),
                None if event.text.data == ffi.NULL else _word(event.text),
                _taken(event.json),
                event.code,
            )

    def take_output(self) -> bytes:
        """What is to be written to the agent."""
        output = _taken(lib.wb_acp_client_output(self._client))
        if output:
            lib.wb_acp_client_consume(self._client, len(output))
        return output

    def deadline(self) -> float | None:
        """When tick has something to do, in seconds of time.monotonic; None: never."""
        deadline: int = lib.wb_acp_client_deadline(self._client)
        return None if deadline == _NEVER else deadline / 1e9

    def tick(self) -> None:
        self._check(lib.wb_acp_client_tick(self._client, _now(), self._error))

    def initialize(self, name: str, version: str) -> None:
        with_name, with_version = name.encode("utf-8", "replace"), version.encode()
        pinned = ffi.from_buffer("char[]", with_name), ffi.from_buffer("char[]", with_version)
        self._check(
            lib.wb_acp_client_initialize(
                self._client, (pinned[0], len(with_name)), (pinned[1], len(with_version)), _now(), self._error
            )
        )

    def session_new(self, cwd: str) -> int:
        call = ffi.new("uint64_t*")
        self._with_text(lib.wb_acp_client_session_new, cwd, _now(), call)
        return int(call[0])

    def prompt(self, session: str, text: str) -> int:
        call = ffi.new("uint64_t*")
        data = text.encode("utf-8", "replace")
        pinned = ffi.from_buffer("char[]", data)
        self._with_text(lib.wb_acp_client_prompt, session, (pinned, len(data)), call)
        return int(call[0])

    def adopt(self, session: str) -> None:
        """A session that was opened by other ways: what is told of it comes."""
        self._with_text(lib.wb_acp_client_adopt, session, (ffi.NULL, 0))

    def cancel(self, session: str) -> None:
        self._with_text(lib.wb_acp_client_cancel, session)

    def answer(self, request: int, option: str) -> None:
        data = option.encode("utf-8", "replace")
        pinned = ffi.from_buffer("char[]", data)
        self._check(lib.wb_acp_client_answer(self._client, request, (pinned, len(data)), self._error))

    def refuse(self, request: int) -> None:
        self._check(lib.wb_acp_client_refuse(self._client, request, self._error))

    def _with_text(self, function: Any, text: str, *rest: Any) -> None:
        data = text.encode("utf-8", "replace")
        pinned = ffi.from_buffer("char[]", data)
        self._check(function(self._client, (pinned, len(data)), *rest, self._error))
