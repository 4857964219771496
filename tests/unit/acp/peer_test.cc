#include "watchbill/acp/peer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace watchbill::acp {
namespace {

std::string Taken(Peer& peer) {
  std::string out(peer.Output());
  peer.Consume(out.size());
  return out;
}

template <typename T>
T Expect(Peer& peer) {
  auto event = peer.Next();
  REQUIRE(event.has_value());
  REQUIRE(std::holds_alternative<T>(*event));
  return std::get<T>(*event);
}

TEST_CASE("A2 a call and its answer") {
  Peer peer;
  const uint64_t call = peer.Call("session/new", R"({"cwd":"/"})");
  CHECK(Taken(peer) == R"({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}})"
                       "\n");
  CHECK(peer.open_calls() == 1);
  peer.Feed(R"({"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}})"
            "\n");
  const auto ended = Expect<CallEnded>(peer);
  CHECK(ended.call == call);
  CHECK(ended.method == "session/new");
  CHECK(ended.result.text() == R"({"sessionId":"s"})");
  CHECK_FALSE(ended.error.has_value());
  CHECK(ended.failure.empty());
  CHECK(peer.open_calls() == 0);
  CHECK_FALSE(peer.Next().has_value());
  CHECK(peer.stray_lines() == 0);
}

TEST_CASE("A2 answers come in any order; one that comes twice or for nobody is reported") {
  Peer peer;
  const uint64_t first = peer.Call("a", "{}"), second = peer.Call("b", "{}"), third = peer.Call("c", "{}");
  peer.Feed(
      "{\"id\":3,\"result\":3}\n{\"result\":1,\"id\":1}\n{\"id\":1,\"result\":1}\n{\"id\":99,\"result\":1}"
      "\n");
  CHECK(Expect<CallEnded>(peer).call == third);
  CHECK(Expect<CallEnded>(peer).call == first);
  CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kUnknownAnswer);
  const auto stray = Expect<StrayLine>(peer);
  CHECK(stray.why == StrayLine::Why::kUnknownAnswer);
  CHECK(stray.line == "{\"id\":99,\"result\":1}");
  CHECK(peer.open_calls() == 1);
  CHECK(peer.stray_lines() == 2);
  peer.Feed("{\"id\":2,\"result\":null}\n");
  const auto ended = Expect<CallEnded>(peer);
  CHECK(ended.call == second);
  CHECK(ended.result.is_null());
}

TEST_CASE("A2 whole numbers of any spelling are the same id; others are nobody's") {
  Peer peer;
  (void)peer.Call("a", "{}");
  for (const char* id : {"-1", "1.5", "18446744073709551617", "-9223372036854775808", "1e300", "\"1\"",
                         "null", "[1]", "{\"id\":1}", "true"}) {
    CAPTURE(id);
    peer.Feed(std::string("{\"id\":") + id + ",\"result\":{}}\n");
    CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kUnknownAnswer);
  }
  CHECK(peer.open_calls() == 1);
  peer.Feed("{\"id\":1.0,\"result\":{}}\n");
  CHECK(Expect<CallEnded>(peer).call == 1);
}

TEST_CASE("A2 an error: beside a result it counts, where it is null it is none") {
  Peer peer;
  for (int i = 0; i < 5; ++i) (void)peer.Call("m", "{}");
  peer.Feed(R"({"id":1,"error":{"code":-32601,"message":"Method not found","data":"m"}})"
            "\n");
  auto ended = Expect<CallEnded>(peer);
  REQUIRE(ended.error.has_value());
  CHECK(ended.error->code == kMethodNotFound);
  CHECK(ended.error->message == "Method not found");
  CHECK(ended.error->data.text() == "\"m\"");
  CHECK(ended.result.absent());
  peer.Feed(R"({"id":2,"result":{},"error":{"code":1e99}})"
            "\n");
  ended = Expect<CallEnded>(peer);
  REQUIRE(ended.error.has_value());
  CHECK(ended.error->code == kInternalError);
  CHECK(ended.error->message.empty());
  peer.Feed(R"({"id":3,"result":{"a":1},"error":null})"
            "\n");
  ended = Expect<CallEnded>(peer);
  CHECK_FALSE(ended.error.has_value());
  CHECK(ended.result.text() == R"({"a":1})");
  peer.Feed(R"({"id":4,"error":"it broke"})"
            "\n");
  ended = Expect<CallEnded>(peer);
  REQUIRE(ended.error.has_value());
  CHECK(ended.error->message == "it broke");
  peer.Feed("{\"id\":5,\"error\":null,\"result\":null}\n");
  ended = Expect<CallEnded>(peer);
  CHECK_FALSE(ended.error.has_value());
  CHECK(ended.result.is_null());
}

TEST_CASE("A2 an answer that holds neither a result nor an error still ends its call, in words") {
  Peer peer;
  (void)peer.Call("m", "{}");
  (void)peer.Call("m", "{}");
  peer.Feed("{\"id\":2,\"error\":null}\n{\"jsonrpc\":\"2.0\",\"id\":1}\n{\"id\":1}\n");
  auto ended = Expect<CallEnded>(peer);
  CHECK(ended.call == 2);
  CHECK(ended.result.absent());
  CHECK_FALSE(ended.error.has_value());
  CHECK(ended.failure == "its answer holds neither a result nor an error");
  CHECK(Expect<CallEnded>(peer).call == 1);
  CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kNotMessage);
}

TEST_CASE("A2 an error for nobody is reported, not fatal") {
  Peer peer;
  (void)peer.Call("m", "{}");
  peer.Feed(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}})"
            "\n");
  peer.Feed(R"({"error":{"code":-32700,"message":"Parse error"}})"
            "\n");
  CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kUnknownAnswer);
  CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kUnknownAnswer);
  CHECK(peer.open_calls() == 1);
}

TEST_CASE("A2 the other end's ids go back as they came, in any order") {
  Peer peer;
  const std::vector<std::string> ids = {"0",    "-7",  "9223372036854775808", "1.50", "1e2", "\"a\\\"b\"",
                                        "\"\"", "null"};
  for (const std::string& id : ids) {
    peer.Feed("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[1],\"id\":" + id + "}\n");
    const auto request = Expect<IncomingRequest>(peer);
    CHECK(request.id.text() == id);
    CHECK(request.method == "x");
    CHECK(request.params.text() == "[1]");
    peer.Respond(request.id, "{}");
    CHECK(Taken(peer) == "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{}}\n");
    peer.Refuse(request.id, kMethodNotFound, "no \"x\"\n");
    CHECK(Taken(peer) == "{\"jsonrpc\":\"2.0\",\"id\":" + id +
                             ",\"error\":{\"code\":-32601,\"message\":\"no \\\"x\\\"\\n\"}}\n");
  }
  for (const char* id : {"{}", "[0]", "true"}) {
    peer.Feed(std::string("{\"method\":\"x\",\"id\":") + id + "}\n");
    CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kNotMessage);
  }
}

TEST_CASE("A2 notifications, with and without params") {
  Peer peer;
  peer.Feed("{\"method\":\"a\"}\n{\"method\":\"b\",\"params\":{ \"x\" : 1 },\"unknown\":[]}\n");
  auto told = Expect<IncomingNotification>(peer);
  CHECK(told.method == "a");
  CHECK(told.params.absent());
  told = Expect<IncomingNotification>(peer);
  CHECK(told.method == "b");
  CHECK(told.params.text() == "{\"x\":1}");
  peer.Notify("we \"say\"", "{}");
  CHECK(Taken(peer) == R"({"jsonrpc":"2.0","method":"we \"say\"","params":{}})"
                       "\n");
}

TEST_CASE("A2 what is written is one line, whatever is asked to be written") {
  Peer peer;
  (void)peer.Call("a\nb", "{\n\t\"x\": [1,\r\n2]\n}\n");
  CHECK(Taken(peer) ==
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\nb\",\"params\":{ \t\"x\": [1,  2] } }\n");
  peer.Notify("n", "");
  CHECK(Taken(peer) == "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n");
  (void)peer.Call("c", "");
  CHECK(Taken(peer) == "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"c\"}\n");
  peer.Respond(JsonView::Trusted("7"), "[\n]");
  CHECK(Taken(peer) == "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":[ ]}\n");
  peer.Respond(JsonView(), "");
  CHECK(Taken(peer) == "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":null}\n");
  peer.Refuse(JsonView(), -1, "");
  CHECK(Taken(peer) == "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"\"}}\n");
}

TEST_CASE("A3 what is no message is reported with its beginning, and the next line is read") {
  Peer peer;
  const std::string banner = "\x1B[1mWelcome\x1B[m to the agent";
  peer.Feed(banner + "\n\n{\"level\":\"info\",\"msg\":\"up\"}\n[1,2]\n{\"broken\":\n{\"method\":\"ok\"}\n");
  auto stray = Expect<StrayLine>(peer);
  CHECK(stray.why == StrayLine::Why::kNotJson);
  CHECK(stray.line == banner);
  CHECK(stray.bytes == banner.size());
  CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kNotMessage);
  CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kNotJson);
  CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kNotJson);
  CHECK(Expect<IncomingNotification>(peer).method == "ok");
  CHECK(peer.stray_lines() == 4);
}

TEST_CASE("A3 the beginning of a line is cut between characters") {
  for (size_t n = 1018; n <= 1026; ++n) {
    for (const std::string_view tail : {"é", "€", "\xF0\x9F\x98\x80"}) {
      CAPTURE(n);
      CAPTURE(tail.size());
      Peer peer;
      std::string line(n, 'x');
      for (int i = 0; i < 10; ++i) line.append(tail);
      peer.Feed(line + "\n");
      const auto stray = Expect<StrayLine>(peer);
      CHECK(stray.bytes == line.size());
      CHECK(stray.line == line.substr(0, stray.line.size()));
      CHECK(stray.line.size() <= 1024);
      CHECK(stray.line.size() > 1020);
      const size_t behind = stray.line.size() - std::min(n, stray.line.size());
      CHECK(behind % tail.size() == 0);
    }
  }
  Peer small(Peer::Limits{.line_bytes = 2000, .depth = 64});
  small.Feed(std::string(1023, 'x') + "é" + std::string(2000, 'y') + "\n");
  const auto stray = Expect<StrayLine>(small);
  CHECK(stray.why == StrayLine::Why::kTooLong);
  CHECK(stray.bytes == 3025);
  CHECK(stray.line == std::string(1023, 'x'));
}

TEST_CASE("A3 a line too long, and JSON too deep, are let go alone") {
  Peer peer(Peer::Limits{.line_bytes = 200, .depth = 8});
  peer.Feed("{\"method\":\"" + std::string(300, 'm') + "\"}\n{\"method\":\"ok\"}\n");
  CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kTooLong);
  CHECK(Expect<IncomingNotification>(peer).method == "ok");
  peer.Feed("{\"method\":\"deep\",\"params\":" + std::string(8, '[') + std::string(8, ']') +
            "}\n{\"method\":\"ok\"}\n");
  CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kNotJson);
  CHECK(Expect<IncomingNotification>(peer).method == "ok");
}

TEST_CASE("A2 a call whose time is up fails, and its late answer is nobody's") {
  Peer peer;
  const uint64_t slow = peer.Call("slow", "{}", 300), quick = peer.Call("quick", "{}", 100);
  (void)peer.Call("patient", "{}");
  CHECK(peer.Deadline() == 100);
  peer.Tick(Now{99, 0});
  CHECK_FALSE(peer.Next().has_value());
  peer.Tick(Now{100, 0});
  CHECK(peer.Deadline() == 300);
  CHECK(peer.open_calls() == 3);
  auto ended = Expect<CallEnded>(peer);
  CHECK(ended.call == quick);
  CHECK(ended.method == "quick");
  CHECK(ended.failure == "it did not answer in time");
  CHECK(ended.result.absent());
  CHECK(peer.open_calls() == 2);
  peer.Feed("{\"id\":2,\"result\":{}}\n{\"id\":1,\"result\":{}}\n");
  CHECK(Expect<StrayLine>(peer).why == StrayLine::Why::kUnknownAnswer);
  CHECK(Expect<CallEnded>(peer).call == slow);
  CHECK(peer.Deadline() == kNever);
  peer.Tick(Now{kNever - 1, 0});
  CHECK_FALSE(peer.Next().has_value());
}

TEST_CASE("A2 the end: a last line without a newline counts, then what is open fails, oldest first") {
  Peer peer;
  for (const char* method : {"a", "b", "c"}) (void)peer.Call(method, "{}");
  (void)Taken(peer);
  peer.Feed("{\"id\":2,\"result\":true}");
  CHECK_FALSE(peer.Next().has_value());
  peer.End("exit code 3");
  peer.End("something else");
  peer.Feed("{\"id\":1,\"result\":true}\n");
  CHECK(Expect<CallEnded>(peer).result.text() == "true");
  auto ended = Expect<CallEnded>(peer);
  CHECK(ended.call == 1);
  CHECK(ended.method == "a");
  CHECK(ended.failure == "exit code 3");
  ended = Expect<CallEnded>(peer);
  CHECK(ended.call == 3);
  CHECK(ended.failure == "exit code 3");
  CHECK_FALSE(peer.Next().has_value());
  const uint64_t late = peer.Call("d", "{}");
  peer.Notify("e", "{}");
  CHECK(peer.Output().empty());
  CHECK(Expect<CallEnded>(peer).call == late);
  CHECK(peer.open_calls() == 0);
}

TEST_CASE("A2 an end without a reason has one all the same") {
  Peer peer;
  (void)peer.Call("a", "{}");
  peer.End("");
  CHECK(Expect<CallEnded>(peer).failure == "the connection ended");
}

TEST_CASE("A2 what is to be sent is taken in any pieces") {
  Peer peer;
  std::string sent, wanted;
  for (int i = 1; i <= 200; ++i) {
    const std::string params = "{\"n\":" + std::to_string(i) + "}";
    wanted.append("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":").append(params).append("}\n");
    peer.Notify("m", params);
    const size_t n = std::min<size_t>(peer.Output().size(), static_cast<size_t>(i) % 90);
    sent.append(peer.Output().substr(0, n));
    peer.Consume(n);
  }
  sent.append(peer.Output());
  peer.Consume(SIZE_MAX);
  CHECK(peer.Output().empty());
  CHECK(sent == wanted);
}

}  // namespace
}  // namespace watchbill::acp
