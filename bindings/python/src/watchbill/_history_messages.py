"""Messages of this moment, and their ids."""

from __future__ import annotations

import secrets
import threading
import time
from datetime import datetime, timezone
from typing import Any

from ._library import ffi, lib

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_last_id = 0
_last_id_lock = threading.Lock()


def new_id() -> str:
    """A ULID of this moment: 26 characters whose order is that of time, and of the calls in this process."""
    global _last_id
    number = time.time_ns() // 1_000_000 << 80 | secrets.randbits(80)
    with _last_id_lock:
        if number <= _last_id or number >> 80 == _last_id >> 80:
            number = _last_id + 1
        _last_id = number
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def first_id_at(ms: int) -> str:
    """The least id that a message of that time (milliseconds since 1970, UTC) can have."""
    out = ffi.new("char[27]")
    lib.wb_history_first_id_at(ms, out)
    return str(ffi.string(out).decode())


def message(channel: str, text: str, *, role: str = "user", agent: str = "") -> dict[str, Any]:
    """One of this moment, with an id of its own, to be put. `agent` is who wrote it, or whom it is about; empty for a
    user's."""
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "id": new_id(),
        "channel": channel,
        "createdAt": now,
        "agent": agent,
        "role": role,
        "parts": [{"kind": "text", "text": text}],
    }
