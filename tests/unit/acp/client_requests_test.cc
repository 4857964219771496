// What an agent asks of its host, and tool calls put together.
#include "client_fixture.hpp"

namespace watchbill::acp {
namespace {

struct Host : Fixture {
  Host() {
    InitializeRequest request;
    request.capabilities.fs.read_text_file = true;
    request.capabilities.terminal = true;
    request.capabilities.elicitation.emplace().form.emplace();
    REQUIRE(client.Initialize(request, now).ok());
    Line(kHello);
    (void)Expect<HandshakeDone>();
    (void)Written();
    client.Adopt("s", {});
  }
  void Ask(const std::string& id, const std::string& method, const std::string& members) {
    Line(R"({"id":)" + id + R"(,"method":")" + method + R"(","params":{)" + members + "}}");
  }
  std::string Error(const std::string& id, int code, const std::string& message) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":)" + std::to_string(code) +
           R"(,"message":")" + message + "\"}}\n";
  }
};

const std::string kForm =
    R"("message":"Who?","mode":"form","requestedSchema":{"properties":{"name":{"type":"string"}}})";

TEST_CASE("A5 a host is asked for what it offered alone") {
  Host f;
  f.Ask("1", "fs/read_text_file", R"("sessionId":"s","path":"/a","line":3)");
  const auto asked = f.Expect<HostAsked>();
  const auto& read = std::get<ReadTextFileRequest>(asked.what);
  CHECK(read.path == "/a");
  CHECK(read.line == 3);
  CHECK(read.limit == std::nullopt);
  CHECK(f.client.Respond(asked.request, EmptyResponse{}).code() == absl::StatusCode::kInvalidArgument);
  CHECK(f.client.AnswerPermission(asked.request, "y").code() == absl::StatusCode::kNotFound);
  REQUIRE(f.client.Respond(asked.request, ReadTextFileResponse{"text", {}}).ok());
  CHECK(f.client.Respond(asked.request, ReadTextFileResponse{"text", {}}).code() ==
        absl::StatusCode::kNotFound);
  CHECK(f.Written() == R"({"jsonrpc":"2.0","id":1,"result":{"content":"text"}})"
                       "\n");
  f.Ask("2", "fs/write_text_file", R"("sessionId":"s","path":"/a","content":"")");
  CHECK(f.Expect<Skipped>().why == "it asked for fs/write_text_file, which is not offered");
  CHECK(f.Written() == f.Error("2", -32601, "Method not found: fs/write_text_file"));
}

TEST_CASE("A5 each request has its answer") {
  Host f;
  const std::string terminal = R"("sessionId":"s","terminalId":"t")";
  const auto answer = [&](const std::string& method, const std::string& params, const auto& response) {
    f.Ask("\"x\"", method, params);
    const absl::Status status = f.client.Respond(f.Expect<HostAsked>().request, response);
    CHECK(status.ok());
    const std::string all = f.Written(), head = R"({"jsonrpc":"2.0","id":"x","result":)";
    REQUIRE(all.starts_with(head));
    return all.substr(head.size(), all.size() - head.size() - 2);
  };
  CHECK(answer("terminal/create", R"("sessionId":"s","command":"ls")", CreateTerminalResponse{"t", {}}) ==
        R"({"terminalId":"t"})");
  CHECK(answer("terminal/output", terminal,
               TerminalOutputResponse{"o", true, TerminalExitStatus{1, {}, {}}, {}}) ==
        R"({"output":"o","truncated":true,"exitStatus":{"exitCode":1}})");
  CHECK(answer("terminal/wait_for_exit", terminal, WaitForTerminalExitResponse{{}, "SIGTERM", {}}) ==
        R"({"signal":"SIGTERM"})");
  CHECK(answer("terminal/kill", terminal, EmptyResponse{}) == "{}");
  CHECK(answer("terminal/release", terminal, EmptyResponse{}) == "{}");
  CreateElicitationResponse yes;
  yes.action = "accept";
  yes.content = {{"name", Text("Ann")},
                 {"age", int64_t{7}},
                 {"pi", 3.5},
                 {"ok", true},
                 {"tags", std::vector<Text>{"a"}}};
  CHECK(answer("elicitation/create", R"("sessionId":"s",)" + kForm, yes) ==
        R"({"action":"accept","content":{"name":"Ann","age":7,"pi":3.5,"ok":true,"tags":["a"]}})");
  f.Ask("5", "terminal/output", terminal);
  REQUIRE(f.client.RefuseHost(f.Expect<HostAsked>().request, kResourceNotFound, "no such terminal").ok());
  CHECK(f.Written() == f.Error("5", -32002, "no such terminal"));
}

TEST_CASE("A5 what cannot be asked is refused, and says why") {
  Host f;
  f.Ask("1", "fs/read_text_file", R"("sessionId":"s","path":"a")");
  CHECK(f.Written().empty());
  CHECK(f.Expect<Skipped>().why == "it asked for fs/read_text_file with a path that is not absolute");
  CHECK(f.Written() == f.Error("1", -32602, "paths are absolute, and begin with a slash"));
  f.Ask("2", "fs/read_text_file", R"("sessionId":"x","path":"/a")");
  CHECK(f.Expect<Skipped>().why == "it asked for fs/read_text_file in session x, which is not open");
  CHECK(f.Written() == f.Error("2", -32002, "no such session is open here"));
  f.Ask("3", "terminal/create", R"("sessionId":"s")");
  CHECK(f.Expect<Skipped>().why == "terminal/create needs `command`: a text");
  CHECK(f.Written() == f.Error("3", -32602, "terminal/create needs `command`: a text"));
  f.Ask("4", "elicitation/create",
        R"("sessionId":"s","message":"m","mode":"url","elicitationId":"e","url":"http://x")");
  CHECK(f.Expect<Skipped>().why == "it asked for a mode of elicitation that is not offered");
  CHECK(f.Written() == f.Error("4", -32602, "that mode of elicitation is not offered"));
  f.Ask("5", "session/request_permission", R"("sessionId":"x","toolCall":{"toolCallId":"c"},"options":[])");
  CHECK(f.Expect<Skipped>().why == "it asked for permission in session x, which is not open");
  CHECK(f.Written() == f.Error("5", -32002, "no such session is open here"));
}

TEST_CASE("A5 requests that are taken back, cancelled with their turn, or left when the agent goes") {
  Host f;
  (void)f.Prompting();
  f.Ask("1", "terminal/wait_for_exit", R"("sessionId":"s","terminalId":"t")");
  const uint64_t wait = f.Expect<HostAsked>().request;
  f.Ask("2", "elicitation/create", R"("sessionId":"s",)" + kForm);
  const uint64_t question = f.Expect<HostAsked>().request;
  SUBCASE("taken back") {
    f.Line(R"({"method":"$/cancel_request","params":{"requestId":1}})");
    CHECK(f.Expect<HostClosed>().request == wait);
    CHECK(f.Written() == f.Error("1", -32800, "the request was cancelled"));
    f.Line(R"({"method":"$/cancel_request","params":{"requestId":2}})");
    CHECK(f.Expect<HostClosed>().request == question);
    CHECK(f.Written() == R"({"jsonrpc":"2.0","id":2,"result":{"action":"cancel"}})"
                         "\n");
  }
  SUBCASE("cancelled: the person is not asked any more, the terminal goes on") {
    CHECK(f.client.Cancel("s") == std::vector<uint64_t>{question});
    CHECK(f.Written() == R"({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}})"
                         "\n"
                         R"({"jsonrpc":"2.0","id":2,"result":{"action":"cancel"}})"
                         "\n");
    f.Ask("3", "elicitation/create", R"("sessionId":"s",)" + kForm);
    CHECK(f.Expect<Skipped>().why == "it asked a person something in a turn that was cancelled");
    CHECK(f.client.Respond(wait, TerminalExitStatus{0, {}, {}}).ok());
  }
  SUBCASE("the turn ends with a question open: that is closed first") {
    const uint64_t permission = f.Asked("9");
    (void)f.Written();
    f.Line(R"({"id":2,"result":{"stopReason":"end_turn"}})");
    CHECK(f.Expect<HostClosed>().request == question);
    const auto closed = f.Expect<PermissionClosed>();
    CHECK(closed.request == permission);
    CHECK(closed.session == "s");
    const auto over = f.Expect<PromptEnded>();
    CHECK(over.session == "s");
    CHECK(over.stop_reason == "end_turn");
    f.Quiet();
    CHECK(f.client.Respond(wait, TerminalExitStatus{0, {}, {}}).ok());
  }
  SUBCASE("gone") {
    f.client.End("exit code 1");
    (void)f.Expect<PromptEnded>();
    CHECK(f.Expect<HostClosed>().request == wait);
    CHECK(f.Expect<HostClosed>().request == question);
    CHECK(f.client.RefuseHost(wait, 1, "").code() == absl::StatusCode::kNotFound);
  }
  f.Quiet();
}

std::string Tool(const std::string& members) {
  return R"({"method":"session/update","params":{"sessionId":"s","update":{)" + members + "}}}";
}

TEST_CASE("A1 a tool call is what was told of it, put together") {
  Fixture f;
  f.Ready();
  (void)f.Prompting();
  f.Line(Tool(
      R"("sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"one"}}])"));
  const ToolCallUpdate* now = f.Expect<Updated>().tool_call;
  REQUIRE(now != nullptr);
  CHECK(now->title == "");
  CHECK(now->kind == "other");
  CHECK(now->status == "in_progress");
  f.Line(Tool(
      R"("sessionUpdate":"tool_call","toolCallId":"c","title":"Look","kind":"read","rawInput":{"a":1})"));
  now = f.Expect<Updated>().tool_call;
  CHECK(now->title == "Look");
  CHECK(now->status == "in_progress");
  REQUIRE(now->content->size() == 1);
  CHECK(now->raw_input.text() == R"({"a":1})");
  f.Line(Tool(
      R"("sessionUpdate":"tool_call_update","toolCallId":"c","content":[],"locations":[{"path":"/a","line":2}])"));
  now = f.Expect<Updated>().tool_call;
  CHECK(now->content->empty());
  CHECK(now->locations->size() == 1);
  CHECK(now->kind == "read");
  // A request for permission says more of it, or is the first that is heard.
  f.Line(
      R"({"id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"d","title":"Write","kind":"edit"},"options":[]}})");
  CHECK(f.Expect<PermissionAsked>().tool_call->title == "Write");
  CHECK(f.client.tool_call("s", "d")->kind == "edit");
  CHECK(f.client.tool_call("s", "e") == nullptr);
  CHECK(f.client.tool_call("x", "d") == nullptr);
  f.Line(Tool(R"("sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed")"));
  (void)f.Expect<Updated>();
  f.Line(R"({"id":2,"result":{"stopReason":"end_turn"}})");
  (void)f.Expect<PermissionClosed>();
  (void)f.Expect<PromptEnded>();
  CHECK(f.client.tool_call("s", "c") != nullptr);  // updates may follow
  (void)f.Prompting();
  CHECK(f.client.tool_call("s", "c") == nullptr);
  CHECK(f.client.tool_call("s", "d") != nullptr);
}

TEST_CASE("A1 what a person was sent to an address for is done") {
  Fixture f;
  f.Ready();
  f.Line(R"({"method":"elicitation/complete","params":{"elicitationId":"e"}})");
  CHECK(f.Expect<ElicitationCompleted>().elicitation_id == "e");
  f.Line(R"({"method":"elicitation/complete","params":{}})");
  CHECK(f.Expect<Skipped>().why == "elicitation/complete needs `elicitationId`: a text");
}

TEST_CASE("A3 a line that cannot be read fails the call it answers, and its request is refused") {
  Client::Limits limits;
  limits.peer = {1000, 8};
  Fixture f(limits);
  f.Ready();
  const uint64_t call = f.Prompting();
  const std::string id = std::to_string(call), much(2000, 'x');
  const std::string deep = std::string(20, '[') + std::string(20, ']');
  std::string says;
  SUBCASE("too long, the id first") {
    f.Line(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"x":")" + much + "\"}}");
    says = " bytes long, and 1000 are the most";
  }
  SUBCASE("too long, the id last") {
    f.Line(R"({"jsonrpc":"2.0","result":{"x":")" + much + R"("},"id":)" + id + "}");
    says = " bytes long, and 1000 are the most";
  }
  SUBCASE("too deep") {
    f.Line(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + deep + "}");
    says = "its answer cannot be read: ";
  }
  SUBCASE("broken") {
    f.Line(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"stopReason":end_turn}})");
    says = "its answer cannot be read: ";
  }
  const auto over = f.Expect<PromptEnded>();
  CHECK(over.failure.find(says) != std::string::npos);
  (void)f.Expect<Skipped>();
  f.Line(R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":]}})");
  CHECK(f.Expect<Skipped>().why.starts_with("a message cannot be read: not JSON: "));
  f.Line(R"({"jsonrpc":"2.0","method":"session/request_permission","params":{"x":")" + much +
         R"("},"id":"q"})");
  (void)f.Expect<Skipped>();
  CHECK(f.Written().starts_with(R"({"jsonrpc":"2.0","id":"q","error":{"code":-32600,)"));
  f.Line(Chunk("s", "goes on"));
  CHECK(f.Expect<Updated>().session == "s");
}

TEST_CASE("A3 an answer that breaks off where the agent ends says why that ended") {
  Fixture f;
  f.Ready();
  (void)f.Prompting();
  f.client.Feed(R"({"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_t)");
  f.client.End("exit code 9");
  CHECK(f.Expect<PromptEnded>().failure.ends_with("(exit code 9)"));
}

TEST_CASE("A3 bytes that are no UTF-8 and half pairs become U+FFFD, and the text around them stays") {
  Fixture f;
  f.Ready();
  f.Line(Chunk("s",
               "a\xff"
               "b\\ud83dc\xe2\x82"));
  CHECK(WordsOf(std::get<ContentChunk>(f.Expect<Updated>().update).content) ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD"
        "c\xEF\xBF\xBD");
}

TEST_CASE("S3 a limit that is no whole number of seconds is said in milliseconds") {
  Client::Limits limits;
  limits.handshake_ns = 1500 * kMillisecond;
  Fixture f(limits);
  f.Initialize();
  f.client.Tick(Now{f.now.mono_ns + 2 * kSecond, 0});
  CHECK(f.Expect<HandshakeFailed>().says == "did not answer `initialize` within 1500 milliseconds");
}

}  // namespace
}  // namespace watchbill::acp
