/* A7 A1: the client of the Agent Client Protocol through the C API. The agent's side is the golden
 * conversation. */
#include "watchbill/watchbill.h"

#include "check.h"

static const wb_now kStart = {1000000000, 0};

/* What was written so far, taken. */
static size_t taken(wb_acp_client* client, char* text, size_t size) {
  const wb_str out = wb_acp_client_output(client);
  CHECK(out.size < size);
  memcpy(text, out.data, out.size);
  text[out.size] = '\0';
  wb_acp_client_consume(client, out.size);
  CHECK(wb_acp_client_output(client).size == 0);
  return out.size;
}

static void feed(wb_acp_client* client, const char* text) {
  CHECK(wb_acp_client_feed(client, str(text), NULL) == WB_OK);
}

static wb_acp_event expect(wb_acp_client* client, int32_t kind) {
  wb_acp_event event = {0};
  wb_error err = {0};
  event.struct_size = sizeof event;
  CHECK(wb_acp_client_next(client, &event, &err) == 0);
  if (event.kind != kind) fprintf(stderr, "%d where %d was expected\n", event.kind, kind);
  CHECK(event.kind == kind);
  return event;
}

static void quiet(wb_acp_client* client) {
  wb_acp_event event = {0};
  event.struct_size = sizeof event;
  CHECK(wb_acp_client_next(client, &event, NULL) == 1);
}

/* The text of the JSON string at `at`, which begins with its quote; gives what is behind it. */
static const char* unescaped(const char* at, char* text) {
  CHECK(*at == '"');
  for (++at; *at != '"'; ++at) {
    CHECK(*at != '\0');
    if (*at != '\\') {
      *text++ = *at;
      continue;
    }
    switch (*++at) {
      case 'n':
        *text++ = '\n';
        break;
      case 'r':
        *text++ = '\r';
        break;
      default: /* a quote or a backslash: the files have no others */
        CHECK(*at == '"' || *at == '\\');
        *text++ = *at;
    }
  }
  *text = '\0';
  return at + 1;
}

static int32_t kind_of(const char* word) {
  static const struct {
    const char* word;
    int32_t kind;
  } kinds[] = {{"handshake ", WB_ACP_HANDSHAKE_DONE},    {"session ", WB_ACP_SESSION_OPENED},
               {"prompt ", WB_ACP_PROMPT_ENDED},         {"update ", WB_ACP_UPDATED},
               {"permission ", WB_ACP_PERMISSION_ASKED}, {"closed ", WB_ACP_PERMISSION_CLOSED},
               {"notified ", WB_ACP_NOTIFIED},           {"skipped", WB_ACP_SKIPPED}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (strncmp(word, kinds[i].word, strlen(kinds[i].word)) == 0) return kinds[i].kind;
  }
  return 0;
}

static void run_conversation(void) {
  char path[512], line[16384], in[16384], reads[16384], written[16384];
  wb_acp_client* client = NULL;
  FILE* file;
  int seen = 0;
  snprintf(path, sizeof path, "%s/acp/conversation.ndjson", WATCHBILL_GOLDEN_DIR);
  file = fopen(path, "rb");
  CHECK(file != NULL);
  CHECK(wb_acp_client_new(NULL, &client, NULL) == WB_OK);
  CHECK(wb_acp_client_initialize(client, str("test"), str("1"), kStart, NULL) == WB_OK);
  while (fgets(line, sizeof line, file) != NULL) {
    const char* at = line;
    CHECK(strncmp(at, "{\"in\":", 6) == 0);
    at = unescaped(at + 6, in);
    feed(client, in);
    quiet(client); /* its newline is still to come */
    feed(client, "\n");
    CHECK(strncmp(at, ",\"reads\":[", 10) == 0);
    for (at += 10; *at != ']';) {
      wb_acp_event event;
      at = unescaped(at, reads);
      event = expect(client, kind_of(reads));
      if (*at == ',') ++at;
      ++seen;
      if (event.kind == WB_ACP_SKIPPED) CHECK(str_is(event.text, reads + strlen("skipped: ")));
      if (event.kind == WB_ACP_UPDATED) CHECK(event.json.data[0] == '{' && str_is(event.session, "s1"));
      if (event.kind == WB_ACP_HANDSHAKE_DONE) {
        CHECK(wb_acp_client_session_new(client, str("/project"), kStart, NULL, NULL) == WB_OK);
      } else if (event.kind == WB_ACP_SESSION_OPENED) {
        CHECK(str_is(event.session, "s1"));
        CHECK(wb_acp_client_prompt(client, str("s1"), str("hi"), NULL, NULL) == WB_OK);
      } else if (event.kind == WB_ACP_PROMPT_ENDED) {
        CHECK(str_is(event.word, "end_turn") && event.text.data == NULL);
      }
    }
    quiet(client);
    taken(client, written, sizeof written);
  }
  fclose(file);
  CHECK(seen > 10);
  wb_acp_client_free(client);
}

static wb_acp_client* prompting(uint64_t* prompt) {
  wb_acp_client* client = NULL;
  char written[4096];
  uint64_t call = 0;
  CHECK(wb_acp_client_new(NULL, &client, NULL) == WB_OK);
  CHECK(wb_acp_client_initialize(client, str("test"), str("1"), kStart, NULL) == WB_OK);
  CHECK(wb_acp_client_deadline(client) == kStart.mono_ns + 30000000000);
  feed(client, "{\"id\":1,\"result\":{\"protocolVersion\":1}}\n");
  CHECK(str_is(expect(client, WB_ACP_HANDSHAKE_DONE).json, "{\"protocolVersion\":1}"));
  CHECK(wb_acp_client_session_new(client, str("/x"), kStart, &call, NULL) == WB_OK);
  feed(client, "{\"id\":2,\"result\":{\"sessionId\":\"s\"}}\n");
  CHECK(expect(client, WB_ACP_SESSION_OPENED).call == call);
  taken(client, written, sizeof written);
  CHECK(wb_acp_client_prompt(client, str("s"), str("say \"hi\"\n"), prompt, NULL) == WB_OK);
  CHECK(taken(client, written, sizeof written) > 0);
  CHECK(strcmp(written,
               "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\","
               "\"prompt\":[{\"type\":\"text\",\"text\":\"say \\\"hi\\\"\\n\"}]}}\n") == 0);
  return client;
}

static uint64_t asked(wb_acp_client* client) {
  feed(
      client,
      "{\"id\":\"p\",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s\",\"toolCall\":{"
      "\"toolCallId\":\"c\"},\"options\":[{\"optionId\":\"y\",\"name\":\"Yes\",\"kind\":\"allow_once\"},{"
      "\"optionId\":\"n\",\"name\":\"No\",\"kind\":\"reject_once\"}]}}\n");
  return expect(client, WB_ACP_PERMISSION_ASKED).call;
}

static void run_turn(void) {
  char written[4096];
  wb_error err = {0};
  uint64_t prompt = 0, request = 0;
  wb_acp_event event;
  wb_acp_client* client = prompting(&prompt);
  CHECK(wb_acp_client_prompt(client, str("s"), str("more"), NULL, &err) == -WB_FAILED_PRECONDITION);
  CHECK(strstr(err.text, "one prompt at a time") != NULL);
  feed(client,
       "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":"
       "\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"hel\\u006co\"}}}}\n");
  event = expect(client, WB_ACP_UPDATED);
  CHECK(str_is(event.word, "agent_message_chunk") && str_is(event.text, "hello"));

  request = asked(client);
  CHECK(wb_acp_client_answer(client, request, str("maybe"), &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_acp_client_answer(client, request, str("y"), &err) == WB_OK);
  CHECK(wb_acp_client_answer(client, request, str("y"), &err) == -WB_NOT_FOUND);
  taken(client, written, sizeof written);
  CHECK(strstr(written,
               "\"id\":\"p\",\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"y\"}}") !=
        NULL);
  CHECK(wb_acp_client_refuse(client, asked(client), &err) == WB_OK);
  taken(client, written, sizeof written);
  CHECK(strstr(written, "\"optionId\":\"n\"") != NULL);

  request = asked(client);
  CHECK(wb_acp_client_cancel(client, str("s"), &err) == WB_OK);
  taken(client, written, sizeof written);
  CHECK(strstr(written, "session/cancel") != NULL);
  CHECK(strstr(strstr(written, "session/cancel"), "{\"outcome\":\"cancelled\"}") != NULL);
  CHECK(wb_acp_client_refuse(client, request, &err) == -WB_NOT_FOUND);
  feed(client, "{\"id\":3,\"error\":{\"code\":-32603,\"message\":\"aborted\"}}\n");
  event = expect(client, WB_ACP_PROMPT_ENDED);
  CHECK(event.call == prompt && str_is(event.word, "cancelled") && event.text.data == NULL);

  CHECK(wb_acp_client_prompt(client, str("s"), str("more"), &prompt, &err) == WB_OK);
  request = asked(client);
  CHECK(wb_acp_client_end(client, str("exit code 3"), &err) == WB_OK);
  event = expect(client, WB_ACP_PROMPT_ENDED);
  CHECK(event.call == prompt && event.word.data == NULL && str_is(event.text, "exit code 3"));
  CHECK(expect(client, WB_ACP_PERMISSION_CLOSED).call == request);
  quiet(client);
  wb_acp_client_free(client);
  wb_acp_client_free(NULL);
}

static void run_failures(void) {
  wb_acp_client_options options;
  wb_acp_client* client = NULL;
  wb_acp_event event = {0};
  wb_error err = {0};
  wb_now late = kStart;
  wb_acp_client_options_init(&options);
  CHECK(options.max_depth == 64 && options.max_line_bytes == 32u << 20);
  CHECK(options.handshake_ms == 30000 && options.session_ms == 120000);
  options.max_depth = 0;
  CHECK(wb_acp_client_new(&options, &client, &err) == -WB_INVALID_ARGUMENT);
  options.max_depth = 64;
  options.handshake_ms = 50;
  CHECK(wb_acp_client_new(&options, &client, &err) == WB_OK);
  CHECK(wb_acp_client_session_new(client, str("/"), kStart, NULL, &err) == -WB_FAILED_PRECONDITION);
  CHECK(wb_acp_client_initialize(client, str("test"), str("1"), kStart, &err) == WB_OK);
  CHECK(wb_acp_client_initialize(client, str("test"), str("1"), kStart, &err) == -WB_FAILED_PRECONDITION);
  CHECK(wb_acp_client_deadline(client) == kStart.mono_ns + 50000000);
  late.mono_ns = wb_acp_client_deadline(client);
  CHECK(wb_acp_client_tick(client, late, &err) == WB_OK);
  CHECK(expect(client, WB_ACP_HANDSHAKE_FAILED).code == WB_ACP_TIMEOUT);
  CHECK(wb_acp_client_deadline(client) == INT64_MAX);
  /* An older caller's structure is filled as far as it goes. */
  feed(client, "a banner\n");
  event.struct_size = 8;
  event.call = 77;
  CHECK(wb_acp_client_next(client, &event, &err) == 0);
  CHECK(event.kind == WB_ACP_SKIPPED && event.call == 77 && event.word.data == NULL);
  wb_acp_client_free(client);

  CHECK(wb_acp_client_new(NULL, &client, &err) == WB_OK);
  CHECK(wb_acp_client_initialize(client, str("test"), str("1"), kStart, &err) == WB_OK);
  feed(client, "{\"id\":1,\"result\":{\"protocolVersion\":2}}\n");
  event = expect(client, WB_ACP_HANDSHAKE_FAILED);
  CHECK(event.code == WB_ACP_VERSION && str_has(event.text, "version 2"));
  wb_acp_client_free(client);
}

int main(void) {
  run_conversation();
  run_turn();
  run_failures();
  puts("ok");
  return 0;
}
