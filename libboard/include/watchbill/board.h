/* The board in C. The rules of every header hold here: see watchbill/base.h.
 *
 * Events and the time go in; actions are taken out with wb_board_next_action until there are none; the caller
 * then arranges for wb_board_tick at wb_board_deadline.
 */
#ifndef WATCHBILL_BOARD_H_
#define WATCHBILL_BOARD_H_

#include "watchbill/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_board wb_board;

typedef struct wb_board_options {
  uint32_t struct_size;
  uint32_t push_every_ms; /* 100 */
  wb_str here;            /* the monitor's own machine; copied */
  int64_t settling_ms;    /* 35000 */
} wb_board_options;

/* Absent texts have data NULL, absent numbers are -1. Everything is copied. */
typedef struct wb_board_agent {
  uint32_t struct_size;
  uint32_t reserved;
  wb_str id, name, version, host, cwd, protocol;
  int64_t pid, port;
} wb_board_agent;

typedef enum wb_board_action_kind {
  WB_BOARD_PUSH = 1,      /* send `bytes` to the watchers */
  WB_BOARD_PING = 2,      /* a ping frame to the agent's connection */
  WB_BOARD_DROP = 3,      /* close the agent's connection */
  WB_BOARD_DUPLICATE = 4, /* tell it that another copy holds its id */
  WB_BOARD_MAY_RETURN = 5 /* tell it that it may register again */
} wb_board_action_kind;

/* Borrowed from the board until the next call on it that is not const. */
typedef struct wb_board_action {
  uint32_t struct_size; /* set by the caller */
  int32_t kind;
  uint64_t connection;      /* of all but WB_BOARD_PUSH */
  const uint64_t* watchers; /* of WB_BOARD_PUSH */
  size_t watcher_count;
  wb_str bytes;
} wb_board_action;

WB_API void wb_board_options_init(wb_board_options* options);
WB_API void wb_board_agent_init(wb_board_agent* agent);

/* `options` may be NULL. */
WB_API int32_t wb_board_new(const wb_board_options* options, wb_now start, wb_board** out, wb_error* err);
WB_API void wb_board_free(wb_board* board);

/* Connections and watchers are the caller's numbers, never 0 and never used again. */
WB_API int32_t wb_board_agent_registered(wb_board* board, uint64_t connection, const wb_board_agent* agent,
                                         wb_now now, wb_error* err);
WB_API int32_t wb_board_agent_heard(wb_board* board, uint64_t connection, wb_now now, wb_error* err);
WB_API int32_t wb_board_agent_closed(wb_board* board, uint64_t connection, wb_now now, wb_error* err);
WB_API int32_t wb_board_watcher_joined(wb_board* board, uint64_t watcher, wb_now now, wb_error* err);
/* rows: not 0 for differences from now on. */
WB_API int32_t wb_board_watcher_named(wb_board* board, uint64_t watcher, int32_t rows, wb_now now,
                                      wb_error* err);
WB_API int32_t wb_board_watcher_drained(wb_board* board, uint64_t watcher, wb_now now, wb_error* err);
WB_API int32_t wb_board_watcher_left(wb_board* board, uint64_t watcher, wb_now now, wb_error* err);
WB_API int32_t wb_board_tick(wb_board* board, wb_now now, wb_error* err);

/* When it wants wb_board_tick (wb_now's mono_ns); INT64_MAX: never. */
WB_API int64_t wb_board_deadline(const wb_board* board);

/* 0: *out is the next action, in the order they are to be carried out; 1: there is none. */
WB_API int32_t wb_board_next_action(wb_board* board, wb_board_action* out);

/* The whole board as one frame, borrowed until the next call that is not const. */
WB_API int32_t wb_board_frame(wb_board* board, wb_now now, wb_str* out, wb_error* err);
WB_API size_t wb_board_rows(const wb_board* board);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_BOARD_H_ */
