/* The sizes of the structures of the C API, on a machine with 64-bit pointers. A size that grows needs a new
 * WB_ABI_VERSION only where the structure has no struct_size; one that shrinks or moves a member always does.
 */
#include <stddef.h>
#include <stdio.h>

#include "watchbill/watchbill.h"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "the size of " #type " has changed")
#define PLACE(type, member, bytes) \
  _Static_assert(offsetof(type, member) == (bytes), #type "." #member " has moved")

SIZE(wb_str, 16);
SIZE(wb_error, 256);
SIZE(wb_now, 16);
SIZE(wb_acp_client_options, 40);
SIZE(wb_acp_event, 88);
PLACE(wb_acp_event, session, 16);
PLACE(wb_acp_event, code, 80);
SIZE(wb_acp_peer_options, 16);
SIZE(wb_acp_peer_event, 104);
PLACE(wb_acp_peer_event, id, 16);
PLACE(wb_acp_peer_event, code, 96);
SIZE(wb_acp_pool_options, 32);
SIZE(wb_acp_pool_action, 48);
SIZE(wb_acp_rules_context, 72);
SIZE(wb_acp_extent, 24);
SIZE(wb_acp_decision, 48);
PLACE(wb_acp_decision, option_id, 16);
SIZE(wb_history_options, 24);
SIZE(wb_history_sizes, 40);
SIZE(wb_history_record, 56);
PLACE(wb_history_record, value, 40);
SIZE(wb_history_key_range, 40);
SIZE(wb_history_order_range, 88);
PLACE(wb_history_order_range, prefix, 40);
SIZE(wb_history_trail_place, 88);
PLACE(wb_history_trail_place, hash, 16);
SIZE(wb_history_trail_query, 96);
PLACE(wb_history_trail_query, from_ms, 80);
SIZE(wb_history_indexed, 24);
SIZE(wb_history_query, 56);
SIZE(wb_history_mark, 16);
SIZE(wb_history_hit, 112);
PLACE(wb_history_hit, snippet, 72);
PLACE(wb_history_hit, cut_after, 108);
SIZE(wb_history_found, 56);
PLACE(wb_history_found, unreadable, 32);
SIZE(wb_history_export_options, 32);
SIZE(wb_history_markdown_options, 24);
SIZE(wb_history_import_options, 16);
SIZE(wb_mp_decoder_options, 16);
SIZE(wb_mp_frame, 128);
PLACE(wb_mp_frame, ask, 8);
PLACE(wb_mp_frame, text, 104);
PLACE(wb_mp_frame, tokens, 120);
SIZE(wb_board_options, 32);
PLACE(wb_board_options, here, 8);
SIZE(wb_board_agent, 120);
PLACE(wb_board_agent, id, 8);
PLACE(wb_board_agent, port, 112);
SIZE(wb_board_action, 48);
PLACE(wb_board_action, bytes, 32);

int main(void) {
  puts("ok");
  return wb_abi_version() == WB_ABI_VERSION ? 0 : 1;
}
