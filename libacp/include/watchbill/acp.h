/* The client of the Agent Client Protocol, version 1, in C. The rules of every header hold here: see
 * watchbill/base.h.
 *
 * The caller owns the agent's process and pipes: it gives what the agent wrote to wb_acp_client_feed, takes
 * wb_acp_client_output to the agent, and asks wb_acp_client_next what happened until there is nothing more.
 */
#ifndef WATCHBILL_ACP_H_
#define WATCHBILL_ACP_H_

#include "watchbill/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The connection to one agent. */
typedef struct wb_acp_client wb_acp_client;

typedef struct wb_acp_client_options {
  uint32_t struct_size;
  uint32_t max_depth;      /* 64 */
  uint64_t max_line_bytes; /* 32 MiB */
  int64_t handshake_ms;    /* 30,000: for `initialize` */
  int64_t session_ms;      /* 120,000: for `session/new` */
} wb_acp_client_options;

typedef enum wb_acp_kind {
  WB_ACP_HANDSHAKE_DONE = 1,    /* json: the agent's answer */
  WB_ACP_HANDSHAKE_FAILED = 2,  /* text: why, going on from the agent's name; code: wb_acp_handshake */
  WB_ACP_SESSION_MADE = 3,      /* call, session; json: the agent's answer */
  WB_ACP_PROMPT_ENDED = 4,      /* call, session; word: the stop reason, or text and code as below */
  WB_ACP_CALL_FAILED = 5,       /* call; word: the method; text: why; code: of the error, 0: no answer */
  WB_ACP_UPDATED = 6,           /* session; word: the kind of update; text: of a chunk; json: the update */
  WB_ACP_PERMISSION_ASKED = 7,  /* call: the request's number; session; json: its params */
  WB_ACP_PERMISSION_CLOSED = 8, /* call: the request's number; session */
  WB_ACP_SKIPPED = 9            /* text: why something was let go; word: the beginning of the line */
} wb_acp_kind;

typedef enum wb_acp_handshake {
  WB_ACP_VERSION = 1, /* it speaks another version alone */
  WB_ACP_REFUSED = 2,
  WB_ACP_TIMEOUT = 3,
  WB_ACP_NOT_ACP = 4,
  WB_ACP_ENDED = 5
} wb_acp_handshake;

/* Something that happened. Every wb_str is borrowed from the client until its next call that is not const;
 * one whose data is NULL is not of this kind. */
typedef struct wb_acp_event {
  uint32_t struct_size; /* set by the caller */
  int32_t kind;         /* wb_acp_kind */
  uint64_t call;
  wb_str session;
  wb_str word;
  wb_str text;
  wb_str json;
  int32_t code;
  int32_t reserved;
} wb_acp_event;

WB_API void wb_acp_client_options_init(wb_acp_client_options* options);
/* `options` may be NULL; it is copied. */
WB_API int32_t wb_acp_client_new(const wb_acp_client_options* options, wb_acp_client** out, wb_error* err);
WB_API void wb_acp_client_free(wb_acp_client* client);

/* Bytes that the agent wrote, in any pieces; they are copied. */
WB_API int32_t wb_acp_client_feed(wb_acp_client* client, wb_str bytes, wb_error* err);
/* The agent will write no more; `why` is a phrase such as "exit code 3". Whatever is open fails with it. */
WB_API int32_t wb_acp_client_end(wb_acp_client* client, wb_str why, wb_error* err);
/* 0: *out is filled with the next thing that happened. 1: nothing more for now. */
WB_API int32_t wb_acp_client_next(wb_acp_client* client, wb_acp_event* out, wb_error* err);

/* What is to be written to the agent: borrowed until the next call that is not const. */
WB_API wb_str wb_acp_client_output(const wb_acp_client* client);
/* So many bytes of it were written. */
WB_API void wb_acp_client_consume(wb_acp_client* client, size_t bytes);

/* When wb_acp_client_tick has something to do, on the monotonic clock; INT64_MAX: never. */
WB_API int64_t wb_acp_client_deadline(const wb_acp_client* client);
WB_API int32_t wb_acp_client_tick(wb_acp_client* client, wb_now now, wb_error* err);

/* Says who the client is and asks the agent who it is: first of all, once. */
WB_API int32_t wb_acp_client_initialize(wb_acp_client* client, wb_str name, wb_str version, wb_now now,
                                        wb_error* err);
/* Opens a session in an absolute folder; *call is the number that the answer will carry. */
WB_API int32_t wb_acp_client_session_new(wb_acp_client* client, wb_str cwd, wb_now now, uint64_t* call,
                                         wb_error* err);
/* Sends a text. WB_FAILED_PRECONDITION (negated): the session has a prompt that is not ended. */
WB_API int32_t wb_acp_client_prompt(wb_acp_client* client, wb_str session, wb_str text, uint64_t* call,
                                    wb_error* err);
/* Ends the turn of a session and answers its open permission requests `cancelled`. The turn goes on until
 * WB_ACP_PROMPT_ENDED. Nothing happens where none runs. */
WB_API int32_t wb_acp_client_cancel(wb_acp_client* client, wb_str session, wb_error* err);
/* WB_NOT_FOUND (negated): no such request is open. WB_INVALID_ARGUMENT: no such option was offered. */
WB_API int32_t wb_acp_client_answer(wb_acp_client* client, uint64_t request, wb_str option, wb_error* err);
/* Chooses what refuses once, else what refuses always, else cancels. */
WB_API int32_t wb_acp_client_refuse(wb_acp_client* client, uint64_t request, wb_error* err);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_ACP_H_ */
