/* The agents of a configuration, where each of them stands, and what has to be done about their processes, in
 * C. The rules of every header hold here: see watchbill/base.h. The states and the rules of the limits are in
 * docs/protocols/agent-states.md.
 *
 * The caller owns the processes: it tells the pool what happened, and then does what wb_acp_pool_next_action
 * says until there is nothing more.
 *
 * Names of agents are copied. A call about an agent that is not there gives WB_NOT_FOUND (negated), one that
 * makes no sense in its state WB_FAILED_PRECONDITION (negated); either changes nothing.
 */
#ifndef WATCHBILL_ACP_POOL_H_
#define WATCHBILL_ACP_POOL_H_

#include "watchbill/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_acp_pool wb_acp_pool;

typedef enum wb_acp_agent_state {
  WB_ACP_AGENT_STOPPED = 1,
  WB_ACP_AGENT_STARTING = 2,
  WB_ACP_AGENT_READY = 3,
  WB_ACP_AGENT_BUSY = 4,
  WB_ACP_AGENT_ERROR = 5
} wb_acp_agent_state;

/* "stopped", "starting", "ready", "busy", "error": static. `data` is NULL for a number that is no state. */
WB_API wb_str wb_acp_agent_state_word(int32_t state);

typedef struct wb_acp_pool_options {
  uint32_t struct_size;
  uint32_t max_running;       /* 0: no limit */
  int64_t stop_idle_after_ms; /* 0: never */
  int64_t input_closed_ms;    /* 5,000: of a stop, from closing the input to SIGTERM */
  int64_t terminated_ms;      /* 3,000: from there to SIGKILL */
} wb_acp_pool_options;

typedef enum wb_acp_pool_kind {
  WB_ACP_POOL_SPAWN = 1,       /* start it, then say handshake_done, start_failed or exited */
  WB_ACP_POOL_CLOSE_INPUT = 2, /* close its standard input */
  WB_ACP_POOL_TERMINATE = 3,   /* SIGTERM to it and all that it started */
  WB_ACP_POOL_KILL = 4,        /* SIGKILL to it and all that it started */
  WB_ACP_POOL_CHANGED = 5,     /* state; error: of WB_ACP_AGENT_ERROR, the reason */
  WB_ACP_POOL_REMOVED = 6      /* it is out of the pool */
} wb_acp_pool_kind;

/* What is to be done, or to be shown. Every wb_str is borrowed from the pool until the next
 * wb_acp_pool_next_action: it may be given to the calls between. One whose data is NULL is not of this kind.
 */
typedef struct wb_acp_pool_action {
  uint32_t struct_size; /* set by the caller */
  int32_t kind;         /* wb_acp_pool_kind */
  wb_str agent;
  wb_str error;
  int32_t state; /* wb_acp_agent_state; 0: not of this kind */
  int32_t reserved;
} wb_acp_pool_action;

WB_API void wb_acp_pool_options_init(wb_acp_pool_options* options);
/* `options` may be NULL; it is copied. WB_INVALID_ARGUMENT (negated): a time is negative, or longer than a
 * century. */
WB_API int32_t wb_acp_pool_new(const wb_acp_pool_options* options, wb_acp_pool** out, wb_error* err);
WB_API void wb_acp_pool_free(wb_acp_pool* pool);

/* 0: *out is filled with the next thing to do. 1: nothing more for now. */
WB_API int32_t wb_acp_pool_next_action(wb_acp_pool* pool, wb_acp_pool_action* out, wb_error* err);

/* It is in the configuration, at the end of the order. One that is there keeps all but its place in the
 * order; one that was removed and is still being ended is no longer removed. */
WB_API int32_t wb_acp_pool_add(wb_acp_pool* pool, wb_str agent, wb_error* err);
/* It is in the configuration no more: stopped, and out of the pool when nothing of it is left. */
WB_API int32_t wb_acp_pool_remove(wb_acp_pool* pool, wb_str agent, wb_now now, wb_error* err);
/* Ends nobody at once: the idle ones that are too many are stopped at the next look, which comes every 30 s,
 * or when a start needs it. WB_INVALID_ARGUMENT (negated): the time is negative, or longer than a century. */
WB_API int32_t wb_acp_pool_set_limits(wb_acp_pool* pool, uint32_t max_running, int64_t stop_idle_after_ms,
                                      wb_now now, wb_error* err);

/* Somebody wants it to run. 0 also where it does, is about to, or waits: for a place, or for its own end.
 * WB_FAILED_PRECONDITION (negated): there is no place, and nobody is idle who could give way. */
WB_API int32_t wb_acp_pool_start(wb_acp_pool* pool, wb_str agent, wb_now now, wb_error* err);
/* It is to end. 0 also where it is stopped already. A start that waits is taken back. */
WB_API int32_t wb_acp_pool_stop(wb_acp_pool* pool, wb_str agent, wb_now now, wb_error* err);
/* Stops one that runs and starts it again in its own place; else as wb_acp_pool_start. */
WB_API int32_t wb_acp_pool_restart(wb_acp_pool* pool, wb_str agent, wb_now now, wb_error* err);
WB_API int32_t wb_acp_pool_stop_all(wb_acp_pool* pool, wb_now now, wb_error* err);

WB_API int32_t wb_acp_pool_handshake_done(wb_acp_pool* pool, wb_str agent, wb_now now, wb_error* err);
/* It could not be spawned, or spoke no ACP; `why` is copied. `running`, 1 or 0: its process is still there,
 * and is to be ended. */
WB_API int32_t wb_acp_pool_start_failed(wb_acp_pool* pool, wb_str agent, wb_str why, int32_t running,
                                        wb_now now, wb_error* err);
/* Its process has ended; `why` is copied. `left`, 1 or 0: something that it started still runs. */
WB_API int32_t wb_acp_pool_exited(wb_acp_pool* pool, wb_str agent, wb_str why, int32_t left, wb_now now,
                                  wb_error* err);
/* What it started has ended too. */
WB_API int32_t wb_acp_pool_tree_gone(wb_acp_pool* pool, wb_str agent, wb_now now, wb_error* err);

/* Use is counted: it is busy while somebody uses it. One that is being stopped takes no more users. */
WB_API int32_t wb_acp_pool_use(wb_acp_pool* pool, wb_str agent, wb_now now, wb_error* err);
WB_API int32_t wb_acp_pool_release(wb_acp_pool* pool, wb_str agent, wb_now now, wb_error* err);

/* When wb_acp_pool_tick has something to do, on the monotonic clock; INT64_MAX: never. */
WB_API int64_t wb_acp_pool_deadline(const wb_acp_pool* pool);
WB_API int32_t wb_acp_pool_tick(wb_acp_pool* pool, wb_now now, wb_error* err);

/* wb_acp_agent_state, or WB_NOT_FOUND (negated). */
WB_API int32_t wb_acp_pool_state(const wb_acp_pool* pool, wb_str agent);
/* Why it is WB_ACP_AGENT_ERROR, else empty: borrowed until the next call that is not const. */
WB_API wb_str wb_acp_pool_error(const wb_acp_pool* pool, wb_str agent);
/* 1: a start of it waits, for a place or for its own end. 0: none does. */
WB_API int32_t wb_acp_pool_waiting(const wb_acp_pool* pool, wb_str agent);
/* 1: no process is left of any of them. */
WB_API int32_t wb_acp_pool_idle(const wb_acp_pool* pool);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_ACP_POOL_H_ */
