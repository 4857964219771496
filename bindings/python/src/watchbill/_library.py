"""The shared library, libwatchbill.so.0, and the part of its C API that is used here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ._history_declarations import HISTORY

try:
    import cffi
except ImportError as missing:
    raise ImportError(
        "watchbill needs cffi: install python3-cffi with apt, or cffi with pip"
    ) from missing

FILE_NAME = "libwatchbill.so.0"
ABI_VERSION = 1

# As the headers have it, without comments and in their order; the tests compare the two.
DECLARATIONS = """
typedef struct wb_str {
  const char* data;
  size_t size;
} wb_str;

typedef enum wb_code {
  WB_OK = 0,
  WB_CANCELLED = 1,
  WB_UNKNOWN = 2,
  WB_INVALID_ARGUMENT = 3,
  WB_NOT_FOUND = 5,
  WB_PERMISSION_DENIED = 7,
  WB_RESOURCE_EXHAUSTED = 8,
  WB_FAILED_PRECONDITION = 9,
  WB_ABORTED = 10,
  WB_OUT_OF_RANGE = 11,
  WB_UNIMPLEMENTED = 12,
  WB_INTERNAL = 13,
  WB_UNAVAILABLE = 14,
  WB_DATA_LOSS = 15
} wb_code;

typedef struct wb_error {
  int32_t code;
  char text[252];
} wb_error;

typedef struct wb_now {
  int64_t mono_ns;
  int64_t wall_ms;
} wb_now;

int32_t wb_abi_version(void);
wb_str wb_version(void);

typedef struct wb_acp_client wb_acp_client;

typedef struct wb_acp_client_options {
  uint32_t struct_size;
  uint32_t max_depth;
  uint64_t max_line_bytes;
  int64_t handshake_ms;
  int64_t session_ms;
  int64_t call_ms;
} wb_acp_client_options;

typedef enum wb_acp_kind {
  WB_ACP_HANDSHAKE_DONE = 1,
  WB_ACP_HANDSHAKE_FAILED = 2,
  WB_ACP_SESSION_OPENED = 3,
  WB_ACP_PROMPT_ENDED = 4,
  WB_ACP_CALL_FAILED = 5,
  WB_ACP_UPDATED = 6,
  WB_ACP_PERMISSION_ASKED = 7,
  WB_ACP_PERMISSION_CLOSED = 8,
  WB_ACP_SKIPPED = 9,
  WB_ACP_CALL_DONE = 10,
  WB_ACP_HOST_ASKED = 11,
  WB_ACP_HOST_CLOSED = 12,
  WB_ACP_ELICITATION_COMPLETED = 13,
  WB_ACP_NOTIFIED = 14
} wb_acp_kind;

typedef enum wb_acp_handshake {
  WB_ACP_VERSION = 1,
  WB_ACP_REFUSED = 2,
  WB_ACP_TIMEOUT = 3,
  WB_ACP_NOT_ACP = 4,
  WB_ACP_ENDED = 5
} wb_acp_handshake;

typedef enum wb_acp_how { WB_ACP_NEW = 1, WB_ACP_LOADED = 2, WB_ACP_RESUMED = 3 } wb_acp_how;

typedef struct wb_acp_event {
  uint32_t struct_size;
  int32_t kind;
  uint64_t call;
  wb_str session;
  wb_str word;
  wb_str text;
  wb_str json;
  int32_t code;
  int32_t reserved;
} wb_acp_event;

void wb_acp_client_options_init(wb_acp_client_options* options);
int32_t wb_acp_client_new(const wb_acp_client_options* options, wb_acp_client** out, wb_error* err);
void wb_acp_client_free(wb_acp_client* client);
int32_t wb_acp_client_feed(wb_acp_client* client, wb_str bytes, wb_error* err);
int32_t wb_acp_client_end(wb_acp_client* client, wb_str why, wb_error* err);
int32_t wb_acp_client_next(wb_acp_client* client, wb_acp_event* out, wb_error* err);
wb_str wb_acp_client_output(const wb_acp_client* client);
void wb_acp_client_consume(wb_acp_client* client, size_t bytes);
int64_t wb_acp_client_deadline(const wb_acp_client* client);
int32_t wb_acp_client_tick(wb_acp_client* client, wb_now now, wb_error* err);
int32_t wb_acp_client_initialize(wb_acp_client* client, wb_str name, wb_str version, wb_now now,
                                 wb_error* err);
int32_t wb_acp_client_session_new(wb_acp_client* client, wb_str cwd, wb_now now, uint64_t* call,
                                  wb_error* err);
int32_t wb_acp_client_prompt(wb_acp_client* client, wb_str session, wb_str text, uint64_t* call,
                             wb_error* err);
int32_t wb_acp_client_cancel(wb_acp_client* client, wb_str session, wb_error* err);
int32_t wb_acp_client_answer(wb_acp_client* client, uint64_t request, wb_str option, wb_error* err);
int32_t wb_acp_client_refuse(wb_acp_client* client, uint64_t request, wb_error* err);
int32_t wb_acp_client_initialize_with(wb_acp_client* client, wb_str params, wb_now now, wb_error* err);
int32_t wb_acp_client_call(wb_acp_client* client, wb_str method, wb_str params, wb_now now,
                           uint64_t* call, wb_error* err);
int32_t wb_acp_client_cancel_call(wb_acp_client* client, uint64_t call, wb_error* err);
int32_t wb_acp_client_notify(wb_acp_client* client, wb_str method, wb_str params, wb_error* err);
int32_t wb_acp_client_adopt(wb_acp_client* client, wb_str session, wb_str says, wb_error* err);
int32_t wb_acp_client_respond(wb_acp_client* client, uint64_t request, wb_str result, wb_error* err);
int32_t wb_acp_client_refuse_host(wb_acp_client* client, uint64_t request, int32_t code, wb_str message,
                                  wb_error* err);
""" + HISTORY


def _places() -> list[str]:
    """Where the library may be. One that was named is the only one: another would be a surprise."""
    named = os.environ.get("WATCHBILL_LIBRARY")
    if named:
        return [named]
    beside = Path(__file__).resolve().parent / FILE_NAME
    return [str(beside), FILE_NAME] if beside.exists() else [FILE_NAME]


def _load(ffi: Any) -> Any:
    tried = []
    for place in _places():
        try:
            library = ffi.dlopen(place)
            version = library.wb_abi_version()
        except (OSError, AttributeError) as failure:
            tried.append(f"  {place}: {failure}")
            continue
        if version == ABI_VERSION:
            return library
        tried.append(f"  {place}: its ABI version is {version}, and {ABI_VERSION} is needed here")
    if not os.environ.get("WATCHBILL_LIBRARY"):
        beside = Path(__file__).resolve().parent
        tried.append(f"  ({FILE_NAME} was looked for in {beside}, then where the system keeps its libraries)")
    raise ImportError(
        "watchbill's shared library could not be loaded:\n"
        + "\n".join(tried)
        + f"\nInstall or build {FILE_NAME} of the same version, and name the file in WATCHBILL_LIBRARY where it"
        " is in neither place."
    )


# cffi has no types of its own: whatever comes out of the two is Any.
ffi: Any = cffi.FFI()
ffi.cdef(DECLARATIONS)
lib: Any = _load(ffi)
