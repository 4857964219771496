/* Everything of watchbill's C API, and what joins its parts: frames as they come off a socket, into a board.
 * The rules of every header hold here: see watchbill/base.h. */
#ifndef WATCHBILL_WATCHBILL_H_
#define WATCHBILL_WATCHBILL_H_

#include "watchbill/acp.h"
#include "watchbill/acp_peer.h"
#include "watchbill/acp_pool.h"
#include "watchbill/acp_rules.h"
#include "watchbill/board.h"
#include "watchbill/history.h"
#include "watchbill/history_ledger.h"
#include "watchbill/history_search.h"
#include "watchbill/history_transfer.h"
#include "watchbill/monitorproto.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a frame that an agent sent on `connection` and lets the board know of it. 0: done, also where the
 * frame told the board no more than that its agent lives. WB_INVALID_ARGUMENT (negated): it is no frame; the
 * board has not changed. *frame, which may be NULL, is filled as wb_mp_decode fills it. */
WB_API int32_t wb_board_take_agent_frame(wb_board* board, wb_mp_decoder* decoder, uint64_t connection,
                                         wb_str text, wb_now now, wb_mp_frame* frame, wb_error* err);

/* The same for what a runner sent. 1: read, and nothing to the board (an answer to whoever asked). */
WB_API int32_t wb_board_take_runner_frame(wb_board* board, wb_mp_decoder* decoder, uint64_t connection,
                                          wb_str text, wb_now now, wb_mp_frame* frame, wb_error* err);

/* A runner's socket is gone. */
WB_API int32_t wb_board_runner_closed(wb_board* board, uint64_t connection, wb_now now, wb_error* err);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_WATCHBILL_H_ */
