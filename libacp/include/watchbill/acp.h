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
  int64_t session_ms;      /* 120,000: to open a session */
  int64_t call_ms;         /* 60,000: for what is neither a prompt nor a sign-in, which have no limit */
} wb_acp_client_options;

typedef enum wb_acp_kind {
  WB_ACP_HANDSHAKE_DONE = 1,    /* json: the agent's answer */
  WB_ACP_HANDSHAKE_FAILED = 2,  /* text: why, going on from the agent's name; code: wb_acp_handshake */
  WB_ACP_SESSION_OPENED = 3,    /* call, session; code: wb_acp_how; json: the agent's answer */
  WB_ACP_PROMPT_ENDED = 4,      /* call, session; word: the stop reason, or text and code as below */
  WB_ACP_CALL_FAILED = 5,       /* call, session; word: the method; text: why; code: of the error, 0: no
                                 * answer; json: its data */
  WB_ACP_UPDATED = 6,           /* session; word: the kind of update; text: of a chunk; json: the update;
                                 * code: 1 where it was told while the session is being loaded */
  WB_ACP_PERMISSION_ASKED = 7,  /* call: the request's number; session; json: its params */
  WB_ACP_PERMISSION_CLOSED = 8, /* call: the request's number; session */
  WB_ACP_SKIPPED = 9,           /* text: why something was let go; word: the beginning of the line */
  WB_ACP_CALL_DONE = 10,        /* call, session; word: the method; json: the agent's answer */
  WB_ACP_HOST_ASKED = 11,       /* call: the request's number; word: the method; session; json: its params */
  WB_ACP_HOST_CLOSED = 12,      /* call: the request's number */
  WB_ACP_ELICITATION_COMPLETED = 13, /* word: the elicitation */
  WB_ACP_NOTIFIED = 14               /* word: the method; json: its params */
} wb_acp_kind;

typedef enum wb_acp_handshake {
  WB_ACP_VERSION = 1, /* it speaks another version alone */
  WB_ACP_REFUSED = 2,
  WB_ACP_TIMEOUT = 3,
  WB_ACP_NOT_ACP = 4,
  WB_ACP_ENDED = 5
} wb_acp_handshake;

typedef enum wb_acp_how { WB_ACP_NEW = 1, WB_ACP_LOADED = 2, WB_ACP_RESUMED = 3 } wb_acp_how;

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

/* Says who the client is and asks the agent who it is: first of all, once. Nothing is offered to the agent.
 */
WB_API int32_t wb_acp_client_initialize(wb_acp_client* client, wb_str name, wb_str version, wb_now now,
                                        wb_error* err);
/* The same with the whole of the params as JSON: what `clientCapabilities` offers comes as WB_ACP_HOST_ASKED.
 */
WB_API int32_t wb_acp_client_initialize_with(wb_acp_client* client, wb_str params, wb_now now, wb_error* err);
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

/* Asks the agent for anything by the name of the method, with its params as JSON, and gives the number that
 * the event of its end carries. A request of ACP v1 is read, checked and written anew, and has the rules and
 * the end of its own: session/new, load and resume end in WB_ACP_SESSION_OPENED, session/prompt in
 * WB_ACP_PROMPT_ENDED, all others in WB_ACP_CALL_DONE, or all in WB_ACP_CALL_FAILED. What the agent does not
 * offer is WB_FAILED_PRECONDITION (negated), what it does not have WB_INVALID_ARGUMENT or WB_NOT_FOUND. Any
 * other method goes out as it is, with the time limit of the options. */
WB_API int32_t wb_acp_client_call(wb_acp_client* client, wb_str method, wb_str params, wb_now now,
                                  uint64_t* call, wb_error* err);
/* Says that the answer to a call is not wanted; it ends all the same, when the agent answers. */
WB_API int32_t wb_acp_client_cancel_call(wb_acp_client* client, uint64_t call, wb_error* err);
/* A notification, with its params as JSON. */
WB_API int32_t wb_acp_client_notify(wb_acp_client* client, wb_str method, wb_str params, wb_error* err);
/* A session that was opened by a method that is not of ACP v1; `says` is the answer's JSON, or empty. */
WB_API int32_t wb_acp_client_adopt(wb_acp_client* client, wb_str session, wb_str says, wb_error* err);
/* The answer to a WB_ACP_HOST_ASKED, as JSON; it is checked. WB_NOT_FOUND (negated): it is not open. */
WB_API int32_t wb_acp_client_respond(wb_acp_client* client, uint64_t request, wb_str result, wb_error* err);
WB_API int32_t wb_acp_client_refuse_host(wb_acp_client* client, uint64_t request, int32_t code,
                                         wb_str message, wb_error* err);
/* 1: the session is open. */
WB_API int32_t wb_acp_client_has(const wb_acp_client* client, wb_str session);
/* 1: its turn runs. */
WB_API int32_t wb_acp_client_prompting(const wb_acp_client* client, wb_str session);
/* The mode that is set now, borrowed until the next call that is not const; empty where nothing was said. */
WB_API wb_str wb_acp_client_mode(const wb_acp_client* client, wb_str session);
/* A tool call as it stands, as the JSON of a `tool_call`, borrowed until the next call that is not const.
 * WB_NOT_FOUND (negated): it was not heard of. */
WB_API int32_t wb_acp_client_tool_call(wb_acp_client* client, wb_str session, wb_str tool_call_id,
                                       wb_str* out, wb_error* err);

/* Reads messages of ACP v1 and writes them anew. */
typedef struct wb_acp_reader wb_acp_reader;
WB_API int32_t wb_acp_reader_new(wb_acp_reader** out, wb_error* err);
WB_API void wb_acp_reader_free(wb_acp_reader* reader);
/* `type` is the name of a type of the schema, such as "SessionNotification"; `json` a message of it, read as
 * leniently as the schema asks. *out is what was understood, valid against the schema, borrowed until the
 * next call. WB_INVALID_ARGUMENT (negated) says what is missing; WB_NOT_FOUND: there is no such type. */
WB_API int32_t wb_acp_reader_read(wb_acp_reader* reader, wb_str type, wb_str json, wb_str* out,
                                  wb_error* err);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_ACP_H_ */
