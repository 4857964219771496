"""What an export writes, into a file that is there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any, BinaryIO

from ._history_calls import Callback, report_of
from ._library import ffi, lib


def written(target: str | os.PathLike[str] | BinaryIO, calling: Callable[..., tuple[Any, ...]]) -> dict[str, Any]:
    """Gives what the library writes, which `calling` makes the call for, to a file, by way of another beside it."""
    if not isinstance(target, (str, os.PathLike)):
        return _poured(target, calling)
    path = os.path.abspath(os.fspath(target))
    folder, name = os.path.split(path)
    file = tempfile.NamedTemporaryFile(dir=folder, prefix=f"{name}.", suffix=".part", delete=False)
    try:
        with file:
            report = _poured(file, calling)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, path)
    except BaseException:
        os.unlink(file.name)
        raise
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return report


def _poured(file: Any, calling: Callable[..., tuple[Any, ...]]) -> dict[str, Any]:
    def take(_: Any, data: Any, size: int) -> bool:
        rest = bytes(ffi.buffer(data, size))
        while rest:  # a raw file may take less
            rest = rest[file.write(rest) :]
        return True

    sink = Callback("int32_t(void*, const char*, size_t)", take)
    out = ffi.new("wb_history_text**")
    sink.call(*calling(sink.pointer, ffi.NULL), out)
    return report_of(ffi.gc(out[0], lib.wb_history_text_free))
