/* A7 P1: the golden frames, read and written again through the C API. */
#include "watchbill/watchbill.h"

#include "check.h"

static void run_file(wb_mp_decoder* decoder, const char* name, int32_t speaker) {
  char path[512], line[65536];
  int lines = 0;
  FILE* file;
  snprintf(path, sizeof path, "%s/frames/%s.ndjson", WATCHBILL_GOLDEN_DIR, name);
  file = fopen(path, "rb");
  CHECK(file != NULL);
  while (fgets(line, sizeof line, file) != NULL) {
    wb_mp_frame frame = {0};
    wb_error err = {0};
    line[strcspn(line, "\n")] = '\0';
    frame.struct_size = sizeof frame;
    if (wb_mp_decode(decoder, speaker, str(line), &frame, &err) != WB_OK) {
      fprintf(stderr, "%s: %s\n", line, err.text);
      exit(1);
    }
    CHECK(str_is(frame.text, line));
    ++lines;
  }
  fclose(file);
  CHECK(lines >= 3);
}

int main(void) {
  wb_mp_decoder_options options;
  wb_mp_decoder* decoder = NULL;
  wb_mp_frame frame = {0};
  wb_error err = {0};

  CHECK(wb_abi_version() == WB_ABI_VERSION);
  CHECK(str_is(wb_mp_protocol(), "0.19"));
  CHECK(wb_mp_decoder_new(NULL, &decoder, &err) == WB_OK);
  run_file(decoder, "agent", WB_MP_AGENT);
  run_file(decoder, "monitor-to-agent", WB_MP_MONITOR_TO_AGENT);
  run_file(decoder, "runner", WB_MP_RUNNER);
  run_file(decoder, "monitor-to-runner", WB_MP_MONITOR_TO_RUNNER);
  run_file(decoder, "dashboard", WB_MP_DASHBOARD);

  frame.struct_size = sizeof frame;
  CHECK(
      wb_mp_decode(decoder, WB_MP_AGENT,
                   str("{\"type\":\"log\",\"entry\":{\"id\":1,\"tool\":\"sql\",\"tokens\":{\"total\":812}}}"),
                   &frame, &err) == WB_OK);
  CHECK(frame.kind == WB_MP_LOG);
  CHECK(frame.tokens == 812);
  CHECK(str_is(frame.name, "sql"));
  CHECK(frame.run_id.data == NULL); /* not said is not empty */

  CHECK(wb_mp_decode(decoder, WB_MP_AGENT, str("not JSON"), &frame, &err) == -WB_INVALID_ARGUMENT);
  CHECK(err.code == WB_INVALID_ARGUMENT);
  CHECK(strlen(err.text) > 0);
  CHECK(wb_mp_decode(decoder, WB_MP_AGENT, str("{}"), &frame, NULL) == -WB_INVALID_ARGUMENT);
  CHECK(wb_mp_decode(decoder, 99, str("{}"), &frame, &err) == -WB_INVALID_ARGUMENT);
  wb_mp_decoder_free(decoder);
  wb_mp_decoder_free(NULL);

  /* An older caller's structure is filled as far as it goes. */
  wb_mp_decoder_options_init(&options);
  options.max_bytes = 20;
  CHECK(wb_mp_decoder_new(&options, &decoder, &err) == WB_OK);
  CHECK(wb_mp_decode(decoder, WB_MP_AGENT, str("{\"type\":\"leaving\",\"x\":1}"), &frame, &err) < 0);
  CHECK(strstr(err.text, "20 are the most") != NULL);
  frame.struct_size = 8;
  frame.tokens = 77;
  CHECK(wb_mp_decode(decoder, WB_MP_AGENT, str("{\"type\":\"leaving\"}"), &frame, &err) == WB_OK);
  CHECK(frame.kind == WB_MP_LEAVING && frame.tokens == 77);
  wb_mp_decoder_free(decoder);
  options.max_depth = 0;
  CHECK(wb_mp_decoder_new(&options, &decoder, &err) == -WB_INVALID_ARGUMENT);
  puts("ok");
  return 0;
}
