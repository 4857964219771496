/* One end of a conversation in JSON-RPC 2.0, newline framed, either end, in C: for an agent, or for a client
 * that wants nothing but messages. The rules of every header hold here: see watchbill/base.h.
 */
#ifndef WATCHBILL_ACP_PEER_H_
#define WATCHBILL_ACP_PEER_H_

#include "watchbill/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_acp_peer wb_acp_peer;

typedef struct wb_acp_peer_options {
  uint32_t struct_size;
  uint32_t max_depth;      /* 64 */
  uint64_t max_line_bytes; /* 32 MiB: a longer line is dropped and reported, and reading goes on behind it */
} wb_acp_peer_options;

typedef enum wb_acp_peer_kind {
  WB_ACP_PEER_REQUEST = 1,      /* id, method; json: the params. To be answered with respond or refuse */
  WB_ACP_PEER_NOTIFICATION = 2, /* method; json: the params */
  WB_ACP_PEER_CALL_ENDED = 3,   /* call, method; json: the result. Or text: why it failed; code: of the error,
                                 * 0: there was no answer; json: the error's data */
  WB_ACP_PEER_STRAY = 4         /* text: why a line was let go; line: its beginning; call: its length */
} wb_acp_peer_kind;

/* Every wb_str is borrowed until the peer's next call that is not const; one whose data is NULL is not of
 * this kind. */
typedef struct wb_acp_peer_event {
  uint32_t struct_size; /* set by the caller */
  int32_t kind;         /* wb_acp_peer_kind */
  uint64_t call;
  wb_str id; /* JSON, as it came: a number, a string or null */
  wb_str method;
  wb_str json;
  wb_str text;
  wb_str line;
  int32_t code;
  int32_t reserved;
} wb_acp_peer_event;

WB_API void wb_acp_peer_options_init(wb_acp_peer_options* options);
/* `options` may be NULL; it is copied. */
WB_API int32_t wb_acp_peer_new(const wb_acp_peer_options* options, wb_acp_peer** out, wb_error* err);
WB_API void wb_acp_peer_free(wb_acp_peer* peer);

/* Bytes of the other end, in any pieces; they are copied. */
WB_API int32_t wb_acp_peer_feed(wb_acp_peer* peer, wb_str bytes, wb_error* err);
/* It will send no more; every call that is open fails with this reason. */
WB_API int32_t wb_acp_peer_end(wb_acp_peer* peer, wb_str why, wb_error* err);
/* 0: *out is filled. 1: nothing more for now. */
WB_API int32_t wb_acp_peer_next(wb_acp_peer* peer, wb_acp_peer_event* out, wb_error* err);

/* What is to be sent: borrowed until the next call that is not const. */
WB_API wb_str wb_acp_peer_output(const wb_acp_peer* peer);
WB_API void wb_acp_peer_consume(wb_acp_peer* peer, size_t bytes);

/* `params`, `result` and `id` are JSON; it is checked. Empty params: there are none. `deadline_ns` is on the
 * monotonic clock; INT64_MAX: none. */
WB_API int32_t wb_acp_peer_call(wb_acp_peer* peer, wb_str method, wb_str params, int64_t deadline_ns,
                                uint64_t* call, wb_error* err);
/* Sends $/cancel_request for a call of ours; it ends all the same, when the other end answers. */
WB_API int32_t wb_acp_peer_cancel(wb_acp_peer* peer, uint64_t call, wb_error* err);
WB_API int32_t wb_acp_peer_notify(wb_acp_peer* peer, wb_str method, wb_str params, wb_error* err);
WB_API int32_t wb_acp_peer_respond(wb_acp_peer* peer, wb_str id, wb_str result, wb_error* err);
WB_API int32_t wb_acp_peer_refuse(wb_acp_peer* peer, wb_str id, int32_t code, wb_str message, wb_error* err);

/* When wb_acp_peer_tick has something to do, on the monotonic clock; INT64_MAX: never. */
WB_API int64_t wb_acp_peer_deadline(const wb_acp_peer* peer);
WB_API int32_t wb_acp_peer_tick(wb_acp_peer* peer, wb_now now, wb_error* err);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_ACP_PEER_H_ */
