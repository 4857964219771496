/* A7 B2 B5: a board driven by frames, in C, against the shared library. */
#include "watchbill/watchbill.h"

#include "check.h"

static wb_now now = {1000000000000, 1790000000000};

static void advance_ms(int64_t ms) {
  now.mono_ns += ms * 1000000;
  now.wall_ms += ms;
}

/* The last push to the watcher; what came before it is passed over. */
static int last_push(wb_board* board, uint64_t watcher, char* out, size_t size) {
  wb_board_action action = {0};
  int pushes = 0;
  action.struct_size = sizeof action;
  while (wb_board_next_action(board, &action) == WB_OK) {
    if (action.kind != WB_BOARD_PUSH) continue;
    for (size_t i = 0; i < action.watcher_count; ++i) {
      if (action.watchers[i] != watcher) continue;
      CHECK(action.bytes.size < size);
      memcpy(out, action.bytes.data, action.bytes.size);
      out[action.bytes.size] = '\0';
      ++pushes;
    }
  }
  return pushes;
}

int main(void) {
  static char frame[65536];
  wb_board_options options;
  wb_board* board = NULL;
  wb_mp_decoder* decoder = NULL;
  wb_mp_frame read = {0};
  wb_error err = {0};
  wb_str whole;
  const char* hello =
      "{\"type\":\"register\",\"agent\":{\"type\":\"agent\",\"id\":\"bbed7a48-0000-4000-8000-000000000001\","
      "\"name\":\"Israeli News\","
      "\"host\":\"ODETA-PC\",\"cwd\":\"/srv/"
      "news\",\"pid\":1,\"port\":2,\"protocol\":\"0.19\",\"capabilities\":[\"runs\"]}}";
  const char* entry = "{\"type\":\"log\",\"entry\":{\"id\":41,\"kind\":\"run\",\"tokens\":{\"total\":812}}}";

  wb_board_options_init(&options);
  options.here = str("ODETA-PC");
  CHECK(wb_board_new(&options, now, &board, &err) == WB_OK);
  CHECK(wb_mp_decoder_new(NULL, &decoder, &err) == WB_OK);
  CHECK(wb_board_watcher_joined(board, 7, now, &err) == WB_OK);
  CHECK(last_push(board, 7, frame, sizeof frame) == 1);
  CHECK(strstr(frame, "\"agents\":[]") != NULL);
  CHECK(wb_board_watcher_drained(board, 7, now, &err) == WB_OK);

  read.struct_size = sizeof read;
  CHECK(wb_board_take_agent_frame(board, decoder, 1, str(hello), now, &read, &err) == WB_OK);
  CHECK(read.kind == WB_MP_REGISTER);
  CHECK(str_is(read.host, "ODETA-PC"));
  CHECK(wb_board_rows(board) == 1);
  for (int i = 0; i < 5; ++i)
    CHECK(wb_board_take_agent_frame(board, decoder, 1, str(entry), now, NULL, &err) == WB_OK);
  CHECK(wb_board_frame(board, now, &whole, &err) == WB_OK);
  CHECK(str_has(whole, "\"state\":\"running\""));
  CHECK(str_has(whole, "\"tokens\":812,\"rate\""));

  /* What is no frame changes nothing, and says why. */
  CHECK(wb_board_take_agent_frame(board, decoder, 1, str("{\"type\":"), now, NULL, &err) ==
        -WB_INVALID_ARGUMENT);
  CHECK(strstr(err.text, "not JSON") != NULL);

  CHECK(wb_board_take_runner_frame(
            board, decoder, 9, str("{\"type\":\"register\",\"runner\":{\"host\":\"ODETA-PC\",\"pid\":5}}"),
            now, NULL, &err) == WB_OK);
  CHECK(wb_board_take_runner_frame(board, decoder, 9, str("{\"type\":\"ok\",\"ask\":\"a\"}"), now, NULL,
                                   &err) == 1);
  CHECK(wb_board_agent_closed(board, 1, now, &err) == WB_OK);
  /* A board that is on its way is followed by the newest one, once it has left. */
  CHECK(last_push(board, 7, frame, sizeof frame) >= 1);
  CHECK(wb_board_watcher_drained(board, 7, now, &err) == WB_OK);
  advance_ms(200);
  CHECK(wb_board_deadline(board) <= now.mono_ns);
  CHECK(wb_board_tick(board, now, &err) == WB_OK);
  CHECK(last_push(board, 7, frame, sizeof frame) >= 1);
  CHECK(strstr(frame, "\"state\":\"stopped\"") != NULL);
  CHECK(strstr(frame, "\"canRun\":true") != NULL);
  CHECK(wb_board_runner_closed(board, 9, now, &err) == WB_OK);

  CHECK(wb_board_agent_registered(board, 0, NULL, now, &err) == -WB_INVALID_ARGUMENT);
  wb_board_free(board);
  wb_board_free(NULL);
  wb_mp_decoder_free(decoder);
  puts("ok");
  return 0;
}
