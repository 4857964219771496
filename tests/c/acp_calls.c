/* A7 A1 A2: everything that an agent can be asked and can ask, through the C API: sessions that are loaded,
 * listed and closed, settings, what a host is asked for; messages by the names of their types; and either end
 * of JSON-RPC. */
#include "watchbill/watchbill.h"

#include "check.h"

static const wb_now kStart = {1000000000, 0};
static char written[1 << 16];

static wb_acp_client* client;
static uint64_t calls; /* so far, with the handshake */

static void take(void) {
  const wb_str out = wb_acp_client_output(client);
  CHECK(out.size < sizeof written);
  memcpy(written, out.data, out.size);
  written[out.size] = '\0';
  wb_acp_client_consume(client, out.size);
}

static void feed(const char* text) { CHECK(wb_acp_client_feed(client, str(text), NULL) == WB_OK); }

static wb_acp_event expect(int32_t kind) {
  wb_acp_event event = {0};
  event.struct_size = sizeof event;
  CHECK(wb_acp_client_next(client, &event, NULL) == 0);
  if (event.kind != kind) fprintf(stderr, "%d where %d was expected\n", event.kind, kind);
  CHECK(event.kind == kind);
  return event;
}

static void quiet(void) {
  wb_acp_event event = {0};
  event.struct_size = sizeof event;
  CHECK(wb_acp_client_next(client, &event, NULL) == 1);
}

/* Asks, and checks what went out. */
static uint64_t ask(const char* method, const char* params, const char* sent) {
  uint64_t call = 0;
  wb_error err = {0};
  const int32_t result = wb_acp_client_call(client, str(method), str(params), kStart, &call, &err);
  if (result != WB_OK) fprintf(stderr, "%s: %s\n", method, err.text);
  CHECK(result == WB_OK);
  CHECK(call == ++calls);
  take();
  CHECK(strstr(written, method) != NULL);
  if (strstr(written, sent) == NULL) fprintf(stderr, "%s\n", written);
  CHECK(strstr(written, sent) != NULL);
  return call;
}

static void refused(const char* method, const char* params, int32_t code, const char* why) {
  wb_error err = {0};
  CHECK(wb_acp_client_call(client, str(method), str(params), kStart, NULL, &err) == -code);
  if (strstr(err.text, why) == NULL) fprintf(stderr, "%s\n", err.text);
  CHECK(strstr(err.text, why) != NULL);
  CHECK(wb_acp_client_output(client).size == 0);
}

static void open_client(void) {
  wb_error err = {0};
  CHECK(wb_acp_client_new(NULL, &client, &err) == WB_OK);
  CHECK(wb_acp_client_initialize_with(client, str("{\"clientInfo\":{}}"), kStart, &err) ==
        -WB_INVALID_ARGUMENT);
  CHECK(strstr(err.text, "protocolVersion") != NULL);
  CHECK(wb_acp_client_initialize_with(client,
                                      str("{\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":{"
                                          "\"readTextFile\":true},\"terminal\":true}}"),
                                      kStart, &err) == WB_OK);
  calls = 1;
  take();
  CHECK(strstr(written, "\"readTextFile\":true,\"writeTextFile\":false") != NULL);
  feed(
      "{\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true,"
      "\"sessionCapabilities\":{\"list\":{},\"close\":{}}},\"authMethods\":[{\"id\":\"key\",\"name\":\"Key\"}"
      ","
      "{\"type\":\"terminal\",\"id\":\"tty\",\"name\":\"Terminal\"}]}}\n");
  expect(WB_ACP_HANDSHAKE_DONE);
}

static void sessions(void) {
  wb_acp_event event;
  wb_str json = {NULL, 0};
  wb_error err = {0};
  uint64_t call = ask("authenticate", "{\"methodId\":\"key\"}", "{\"methodId\":\"key\"}");
  feed("{\"id\":2,\"result\":{}}\n");
  event = expect(WB_ACP_CALL_DONE);
  CHECK(event.call == call && str_is(event.word, "authenticate"));
  refused("authenticate", "{\"methodId\":\"tty\"}", WB_INVALID_ARGUMENT, "terminal");
  refused("authenticate", "{\"methodId\":\"x\"}", WB_INVALID_ARGUMENT, "key, tty");
  refused("logout", "{}", WB_FAILED_PRECONDITION, "does not offer logout");
  refused("session/resume", "{\"sessionId\":\"s\",\"cwd\":\"/\"}", WB_FAILED_PRECONDITION, "session/resume");
  refused("session/load", "{\"cwd\":\"/\"}", WB_INVALID_ARGUMENT, "sessionId");
  refused("session/load", "{", WB_INVALID_ARGUMENT, "not JSON");
  refused("initialize", "{}", WB_INVALID_ARGUMENT, "function of its own");

  ask("session/load", "{\"sessionId\":\"old\",\"cwd\":\"/x\"}",
      "{\"sessionId\":\"old\",\"cwd\":\"/x\",\"mcpServers\":[]}");
  CHECK(wb_acp_client_has(client, str("old")) == 0);
  feed(
      "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"old\",\"update\":{\"sessionUpdate\":"
      "\"user_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"before\"}}}}\n"
      "{\"id\":3,\"result\":null}\n");
  event = expect(WB_ACP_UPDATED);
  CHECK(event.code == 1 && str_is(event.text, "before"));
  event = expect(WB_ACP_SESSION_OPENED);
  CHECK(event.code == WB_ACP_LOADED && str_is(event.session, "old") && event.json.data == NULL);
  CHECK(wb_acp_client_has(client, str("old")) == 1);
  CHECK(wb_acp_client_mode(client, str("old")).size == 0);
  refused("session/set_mode", "{\"sessionId\":\"old\",\"modeId\":\"m\"}", WB_FAILED_PRECONDITION, "no modes");

  ask("session/new", "{\"cwd\":\"/y\"}", "{\"cwd\":\"/y\",\"mcpServers\":[]}");
  feed(
      "{\"id\":4,\"result\":{\"sessionId\":\"s\",\"modes\":{\"currentModeId\":\"calm\",\"availableModes\":["
      "{\"id\":\"calm\",\"name\":\"Calm\"},{\"id\":\"wild\",\"name\":\"Wild\"}]}}}\n");
  event = expect(WB_ACP_SESSION_OPENED);
  CHECK(event.code == WB_ACP_NEW && str_is(wb_acp_client_mode(client, str("s")), "calm"));
  refused("session/set_mode", "{\"sessionId\":\"s\",\"modeId\":\"x\"}", WB_INVALID_ARGUMENT, "calm, wild");
  ask("session/set_mode", "{\"sessionId\":\"s\",\"modeId\":\"wild\"}", "\"modeId\":\"wild\"");
  feed("{\"id\":5,\"result\":{}}\n");
  expect(WB_ACP_CALL_DONE);
  CHECK(str_is(wb_acp_client_mode(client, str("s")), "wild"));

  ask("session/list", "{\"cursor\":\"c\"}", "{\"cursor\":\"c\"}");
  feed("{\"id\":6,\"result\":{\"sessions\":[{\"sessionId\":\"old\",\"cwd\":\"/x\"}]}}\n");
  event = expect(WB_ACP_CALL_DONE);
  CHECK(str_has(event.json, "\"sessions\":[{"));
  ask("fleet/orders", "{ \"of\": 1 }", "\"params\":{\"of\":1}}");
  feed("{\"id\":7,\"error\":{\"code\":-32601,\"message\":\"no\",\"data\":[1]}}\n");
  event = expect(WB_ACP_CALL_FAILED);
  CHECK(event.code == -32601 && str_is(event.json, "[1]") && str_is(event.word, "fleet/orders"));

  ask("session/prompt", "{\"sessionId\":\"s\",\"prompt\":[{\"type\":\"text\",\"text\":\"hi\"}]}",
      "\"text\":\"hi\"");
  CHECK(wb_acp_client_prompting(client, str("s")) == 1);
  refused("session/prompt",
          "{\"sessionId\":\"old\",\"prompt\":[{\"type\":\"image\",\"data\":\"\",\"mimeType\":"
          "\"image/png\"}]}",
          WB_FAILED_PRECONDITION, "image");
  feed(
      "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":"
      "\"tool_call_update\",\"toolCallId\":\"t\",\"status\":\"in_progress\"}}}\n"
      "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":"
      "\"tool_call\",\"toolCallId\":\"t\",\"title\":\"Look\",\"kind\":\"read\"}}}\n");
  expect(WB_ACP_UPDATED);
  expect(WB_ACP_UPDATED);
  CHECK(wb_acp_client_tool_call(client, str("s"), str("t"), &json, &err) == WB_OK);
  CHECK(str_has(json, "\"title\":\"Look\",\"kind\":\"read\",\"status\":\"in_progress\""));
  CHECK(wb_acp_client_tool_call(client, str("s"), str("u"), &json, &err) == -WB_NOT_FOUND);
  CHECK(wb_acp_client_cancel_call(client, calls, &err) == WB_OK);
  take();
  CHECK(strstr(written, "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":8}") != NULL);
  ask("session/close", "{\"sessionId\":\"s\"}", "{\"sessionId\":\"s\"}");
  CHECK(strstr(written, "session/cancel") != NULL &&
        strstr(written, "session/cancel") < strstr(written, "session/close"));
  feed("{\"id\":9,\"result\":{}}\n");
  expect(WB_ACP_CALL_DONE);
  event = expect(WB_ACP_PROMPT_ENDED);
  CHECK(str_is(event.word, "cancelled"));
  CHECK(wb_acp_client_has(client, str("s")) == 0);
  feed("{\"id\":8,\"result\":{\"stopReason\":\"cancelled\"}}\n");
  quiet();
}

static void host(void) {
  wb_error err = {0};
  wb_acp_event event;
  uint64_t request = 0;
  feed(
      "{\"id\":\"r\",\"method\":\"fs/read_text_file\",\"params\":{\"sessionId\":\"old\",\"path\":\"/a\"}}\n");
  event = expect(WB_ACP_HOST_ASKED);
  request = event.call;
  CHECK(str_is(event.word, "fs/read_text_file") && str_is(event.session, "old"));
  CHECK(wb_acp_client_respond(client, request, str("{}"), &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_acp_client_respond(client, request, str("{\"content\":\"x\",\"more\":1}"), &err) == WB_OK);
  CHECK(wb_acp_client_respond(client, request, str("{\"content\":\"x\"}"), &err) == -WB_NOT_FOUND);
  take();
  CHECK(strcmp(written, "{\"jsonrpc\":\"2.0\",\"id\":\"r\",\"result\":{\"content\":\"x\"}}\n") == 0);
  feed(
      "{\"id\":7,\"method\":\"terminal/"
      "wait_for_exit\",\"params\":{\"sessionId\":\"old\",\"terminalId\":\"t\"}}\n");
  request = expect(WB_ACP_HOST_ASKED).call;
  CHECK(wb_acp_client_refuse_host(client, request, -32002, str("no such terminal"), &err) == WB_OK);
  take();
  CHECK(strstr(written, "\"error\":{\"code\":-32002,\"message\":\"no such terminal\"}") != NULL);
  feed(
      "{\"id\":8,\"method\":\"terminal/output\",\"params\":{\"sessionId\":\"old\",\"terminalId\":\"t\"}}\n"
      "{\"method\":\"$/cancel_request\",\"params\":{\"requestId\":8}}\n");
  request = expect(WB_ACP_HOST_ASKED).call;
  CHECK(expect(WB_ACP_HOST_CLOSED).call == request);
  take();
  CHECK(strstr(written, "\"code\":-32800") != NULL);
  /* Not offered. */
  feed(
      "{\"id\":9,\"method\":\"fs/write_text_file\",\"params\":{\"sessionId\":\"old\",\"path\":\"/"
      "a\",\"content\":\"\"}}\n");
  expect(WB_ACP_SKIPPED);
  take();
  CHECK(strstr(written, "-32601") != NULL);
  feed(
      "{\"method\":\"_fleet/wind\",\"params\":{\"knots\":12}}\n"
      "{\"method\":\"elicitation/complete\",\"params\":{\"elicitationId\":\"e\"}}\n");
  event = expect(WB_ACP_NOTIFIED);
  CHECK(str_is(event.word, "_fleet/wind") && str_is(event.json, "{\"knots\":12}"));
  CHECK(str_is(expect(WB_ACP_ELICITATION_COMPLETED).word, "e"));
  CHECK(wb_acp_client_notify(client, str("_fleet/tide"), str("[1, 2]"), &err) == WB_OK);
  CHECK(wb_acp_client_notify(client, str("_fleet/tide"), str("[1, 2"), &err) == -WB_INVALID_ARGUMENT);
  take();
  CHECK(strcmp(written, "{\"jsonrpc\":\"2.0\",\"method\":\"_fleet/tide\",\"params\":[1,2]}\n") == 0);
  CHECK(wb_acp_client_adopt(client, str("child"), str(""), &err) == WB_OK);
  CHECK(wb_acp_client_has(client, str("child")) == 1);
  quiet();
}

static void messages(void) {
  wb_acp_reader* reader = NULL;
  wb_error err = {0};
  wb_str out = {NULL, 0};
  CHECK(wb_acp_reader_new(&reader, &err) == WB_OK);
  CHECK(wb_acp_reader_read(
            reader, str("SessionNotification"),
            str("{ \"extra\": 1, \"sessionId\": \"s\", \"update\": {\"sessionUpdate\": \"plan\", "
                "\"entries\": [{\"content\": \"a\", \"priority\": \"loud\"}, 7]}}"),
            &out, &err) == WB_OK);
  CHECK(str_is(out,
               "{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":\"a\","
               "\"priority\":\"medium\",\"status\":\"pending\"}]}}"));
  CHECK(wb_acp_reader_read(reader, str("PromptRequest"), str("{\"prompt\":[]}"), &out, &err) ==
        -WB_INVALID_ARGUMENT);
  CHECK(strstr(err.text, "sessionId") != NULL);
  CHECK(wb_acp_reader_read(reader, str("ResumeSessionResponse"), str("null"), &out, &err) == WB_OK);
  CHECK(str_is(out, "{}"));
  CHECK(wb_acp_reader_read(reader, str("Nonsense"), str("{}"), &out, &err) == -WB_NOT_FOUND);
  wb_acp_reader_free(reader);
  wb_acp_reader_free(NULL);
}

/* Two of them, back to back. */
static void carry(wb_acp_peer* from, wb_acp_peer* to) {
  const wb_str out = wb_acp_peer_output(from);
  CHECK(wb_acp_peer_feed(to, out, NULL) == WB_OK);
  wb_acp_peer_consume(from, out.size);
}

static wb_acp_peer_event heard(wb_acp_peer* peer, int32_t kind) {
  wb_acp_peer_event event = {0};
  event.struct_size = sizeof event;
  CHECK(wb_acp_peer_next(peer, &event, NULL) == 0);
  CHECK(event.kind == kind);
  return event;
}

static void peers(void) {
  wb_acp_peer *a = NULL, *b = NULL;
  wb_acp_peer_options options;
  wb_acp_peer_event event;
  wb_error err = {0};
  wb_now late = kStart;
  uint64_t call = 0;
  wb_acp_peer_options_init(&options);
  options.max_line_bytes = 200;
  CHECK(wb_acp_peer_new(NULL, &a, &err) == WB_OK);
  CHECK(wb_acp_peer_new(&options, &b, &err) == WB_OK);
  CHECK(wb_acp_peer_call(a, str("sum"), str("[1, 2]"), kStart.mono_ns + 5, &call, &err) == WB_OK);
  CHECK(wb_acp_peer_call(a, str("sum"), str("[1, 2"), INT64_MAX, &call, &err) == -WB_INVALID_ARGUMENT);
  carry(a, b);
  event = heard(b, WB_ACP_PEER_REQUEST);
  CHECK(str_is(event.method, "sum") && str_is(event.json, "[1,2]") && str_is(event.id, "1"));
  CHECK(wb_acp_peer_respond(b, event.id, str("3"), &err) == WB_OK);
  CHECK(wb_acp_peer_respond(b, str("{}"), str("3"), &err) == -WB_INVALID_ARGUMENT);
  carry(b, a);
  event = heard(a, WB_ACP_PEER_CALL_ENDED);
  CHECK(event.call == call && str_is(event.json, "3") && event.text.data == NULL);
  CHECK(wb_acp_peer_notify(a, str("wind"), str(""), &err) == WB_OK);
  carry(a, b);
  CHECK(heard(b, WB_ACP_PEER_NOTIFICATION).json.data == NULL);
  CHECK(wb_acp_peer_call(b, str("slow"), str(""), kStart.mono_ns + 5, &call, &err) == WB_OK);
  CHECK(wb_acp_peer_deadline(b) == kStart.mono_ns + 5);
  late.mono_ns += 5;
  CHECK(wb_acp_peer_tick(b, late, &err) == WB_OK);
  event = heard(b, WB_ACP_PEER_CALL_ENDED);
  CHECK(event.code == 0 && str_has(event.text, "in time"));
  carry(b, a);
  event = heard(a, WB_ACP_PEER_REQUEST);
  CHECK(wb_acp_peer_refuse(a, event.id, -32601, str("no"), &err) == WB_OK);
  CHECK(str_is(heard(a, WB_ACP_PEER_NOTIFICATION).method, "$/cancel_request"));
  carry(a, b);
  event = heard(b, WB_ACP_PEER_STRAY);
  CHECK(str_has(event.text, "nobody waits") && event.line.size == event.call);
  CHECK(wb_acp_peer_call(b, str("x"), str(""), INT64_MAX, &call, &err) == WB_OK);
  CHECK(wb_acp_peer_cancel(b, call, &err) == WB_OK);
  CHECK(wb_acp_peer_end(b, str("exit code 3"), &err) == WB_OK);
  CHECK(str_is(heard(b, WB_ACP_PEER_CALL_ENDED).text, "exit code 3"));
  options.max_depth = 0;
  CHECK(wb_acp_peer_new(&options, &b, &err) == -WB_INVALID_ARGUMENT);
  wb_acp_peer_free(a);
  wb_acp_peer_free(b);
  wb_acp_peer_free(NULL);
}

int main(void) {
  open_client();
  sessions();
  host();
  wb_acp_client_free(client);
  messages();
  peers();
  puts("ok");
  return 0;
}
