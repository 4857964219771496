#include "acp_agent.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <vector>

#include "json_document.hpp"

namespace watchbill::example {
namespace {

// A client that writes lines and reads them, and a clock that is moved by hand.
struct Wire {
  explicit Wire(int64_t word_ms = 0) : agent(Options(word_ms)) {}

  static AcpOptions Options(int64_t word_ms) {
    AcpOptions options;
    options.version = "9.8";
    options.word_ms = word_ms;
    return options;
  }

  void Say(const std::string& line) { agent.Feed(line + "\n", now); }
  void Request(int id, const std::string& method, const std::string& params) {
    Say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method, params));
  }
  void Notify(const std::string& method, const std::string& params) {
    Say(fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params));
  }
  // The lines that it has said since, taken.
  std::vector<std::string> Lines() {
    std::vector<std::string> out;
    std::string_view rest = agent.Output();
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      REQUIRE(end != std::string_view::npos);
      out.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    agent.Consume(agent.Output().size());
    return out;
  }
  std::string Line() {
    const auto lines = Lines();
    REQUIRE(lines.size() == 1);
    return lines[0];
  }
  std::string Open(int id) {
    Request(id, "session/new", R"({"cwd":"/srv","mcpServers":[]})");
    const auto lines = Lines();
    REQUIRE(lines.size() == 2);
    json::Document document;
    REQUIRE(document.Parse(lines[0]).ok());
    return std::string(document.root()["result"]["sessionId"].AsString().value_or(""));
  }
  void Begin() {
    Request(0, "initialize", R"({"protocolVersion":1})");
    Lines();
  }
  void Prompt(int id, const std::string& session, const std::string& text) {
    Request(id, "session/prompt",
            fmt::format(R"({{"sessionId":"{}","prompt":[{{"type":"text","text":"{}"}}]}})", session, text));
  }
  // Ticks until it waits, for a client or for the time.
  std::vector<std::string> Run() {
    std::vector<std::string> out;
    while (agent.Deadline() <= now.mono_ns) {
      agent.Tick(now);
      for (std::string& line : Lines()) out.push_back(std::move(line));
    }
    return out;
  }

  Now now{kSecond, 0};
  AcpAgent agent;
};

bool Has(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

size_t Count(const std::vector<std::string>& lines, std::string_view part) {
  size_t count = 0;
  for (const std::string& line : lines) count += Has(line, part) ? 1 : 0;
  return count;
}

const std::string kAllow =
    R"({"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"allow-once"}}})";

TEST_CASE("it says who it is, in version 1, whatever was asked for") {
  Wire wire;
  wire.Request(7, "initialize", R"({"protocolVersion":2})");
  CHECK(
      wire.Line() ==
      R"({"jsonrpc":"2.0","id":7,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":false,)"
      R"("promptCapabilities":{"image":false,"audio":false,"embeddedContext":false},)"
      R"("mcpCapabilities":{"http":false,"sse":false},"sessionCapabilities":{},"auth":{}},"authMethods":[],)"
      R"("agentInfo":{"name":"watchbill-example-agent","title":"Example agent","version":"9.8"}}})");
}

TEST_CASE("nothing comes before initialize") {
  Wire wire;
  wire.Request(1, "session/new", R"({"cwd":"/srv","mcpServers":[]})");
  CHECK(Has(wire.Line(), R"("error":{"code":-32600,)"));
  wire.Request(2, "nothing", "{}");
  CHECK(Has(wire.Line(), R"("error":{"code":-32600,)"));
  wire.Request(3, "initialize", R"({"protocolVersion":"x"})");
  CHECK(Has(wire.Line(), R"("error":{"code":-32602,)"));
  wire.Request(4, "session/new", R"({"cwd":"/srv","mcpServers":[]})");
  CHECK(Has(wire.Line(), R"("error":{"code":-32600,)"));
}

TEST_CASE("what cannot be done is refused in a sentence") {
  Wire wire;
  wire.Begin();
  const auto refused = [&](const char* method, const std::string& params, int code, const char* says) {
    wire.Request(5, method, params);
    const std::string line = wire.Line();
    CAPTURE(line);
    CHECK(Has(line, fmt::format(R"("id":5,"error":{{"code":{},)", code)));
    CHECK(Has(line, says));
  };
  refused("session/new", R"({"cwd":"srv","mcpServers":[]})", -32602, "absolute path");
  refused("session/new", R"({"cwd":5})", -32602, "cwd");
  refused("session/prompt", R"({"sessionId":"none","prompt":[]})", -32002, "there is no session");
  refused("session/load", "{}", -32601, "session/load");
  const std::string session = wire.Open(6);
  refused("session/prompt", fmt::format(R"({{"sessionId":"{}"}})", session), -32602, "prompt");
  refused(
      "session/prompt",
      fmt::format(R"({{"sessionId":"{}","prompt":[{{"type":"image","data":"","mimeType":"image/png"}}]}})",
                  session),
      -32602, "no image");
  wire.Prompt(7, session, "/tale");
  refused("session/prompt", fmt::format(R"({{"sessionId":"{}","prompt":[]}})", session), -32600,
          "another prompt");
  wire.Notify("no/such", "{}");
  wire.Notify("session/cancel", "{}");
  wire.Notify("session/cancel", R"({"sessionId":"none"})");
  wire.Notify("$/cancel_request", R"({"requestId":99})");
  CHECK(wire.Lines().empty());
}

TEST_CASE("lines that are no JSON are complained of once a second") {
  Wire wire;
  const std::string complaint = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,)";
  wire.Say("hello");
  wire.Say("{");
  wire.Say("[]");
  CHECK(Has(wire.Line(), complaint));
  wire.now.mono_ns += kSecond - 1;
  wire.Say("hello");
  CHECK(wire.Lines().empty());
  ++wire.now.mono_ns;
  wire.Say("hello");
  CHECK(Has(wire.Line(), complaint));
  wire.now.mono_ns += kSecond;
  // What looks like an answer is never answered.
  wire.Say(complaint + R"("message":"x"}})");
  wire.Say(R"({"jsonrpc":"2.0"})");
  CHECK(wire.Lines().empty());
}

TEST_CASE("a word comes when its time has come") {
  Wire wire(30);
  wire.Begin();
  const std::string session = wire.Open(1);
  CHECK(wire.agent.Deadline() == kNever);
  wire.Prompt(2, session, "/tale 3");
  CHECK(wire.Run().size() == 1);
  CHECK(wire.agent.Deadline() == wire.now.mono_ns + 30 * kMillisecond);
  wire.now.mono_ns += 30 * kMillisecond - 1;
  CHECK(wire.Run().empty());
  ++wire.now.mono_ns;
  CHECK(wire.Run().size() == 1);
  wire.now.mono_ns += 30 * kMillisecond;
  CHECK(wire.Run().size() == 1);
  wire.now.mono_ns += 30 * kMillisecond;
  CHECK(wire.Run() ==
        std::vector<std::string>{R"({"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}})"});
  CHECK(wire.agent.Deadline() == kNever);
}

TEST_CASE("it pauses while too much waits, and loses no word") {
  Wire wire;
  wire.Begin();
  const std::string session = wire.Open(1);
  wire.Prompt(2, session, "/tale 20000");
  while (wire.agent.Deadline() != kNever) wire.agent.Tick(wire.now);
  CHECK(wire.agent.Output().size() > AcpAgent::kMostWaiting);
  CHECK(wire.agent.Output().size() < AcpAgent::kMostWaiting + 1024);
  // Until all of it is taken; and others are answered meanwhile.
  const size_t waiting = wire.agent.Output().size();
  wire.agent.Tick(wire.now);
  CHECK(wire.agent.Output().size() == waiting);
  wire.Request(3, "nothing", "{}");
  std::vector<std::string> lines;
  while (wire.agent.Deadline() == kNever) {
    for (std::string& line : wire.Lines()) lines.push_back(std::move(line));
  }
  for (std::string& line : wire.Run()) lines.push_back(std::move(line));
  CHECK(Count(lines, "agent_message_chunk") == 20'000);
  CHECK(Count(lines, R"("id":3,"error")") == 1);
  CHECK(lines.back() == R"({"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}})");
}

TEST_CASE("sessions speak in turns") {
  Wire wire;
  wire.Begin();
  const std::string first = wire.Open(1), second = wire.Open(2);
  CHECK(first != second);
  wire.Prompt(3, first, "/tale 5");
  wire.Prompt(4, second, "/tale 5");
  for (int word = 0; word < 5; ++word) {
    wire.agent.Tick(wire.now);
    const auto lines = wire.Lines();
    CHECK(lines.size() == 2);
    CHECK(Count(lines, first) == 1);
    CHECK(Count(lines, second) == 1);
  }
  CHECK(Count(wire.Run(), "end_turn") == 2);
}

TEST_CASE("a cancelled answer is over at once") {
  Wire wire;
  wire.Begin();
  const std::string session = wire.Open(1);
  const std::string cancelled = R"({"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}})";
  wire.Prompt(2, session, "/tale 100");
  wire.agent.Tick(wire.now);
  CHECK(wire.Lines().size() == 1);
  SUBCASE("by session/cancel") {
    wire.Notify("session/cancel", fmt::format(R"({{"sessionId":"{}"}})", session));
  }
  SUBCASE("by $/cancel_request") { wire.Notify("$/cancel_request", R"({"requestId":2})"); }
  SUBCASE("by the end") { wire.agent.End(wire.now); }
  CHECK(wire.Line() == cancelled);
  CHECK(wire.Run().empty());
}

TEST_CASE("a question that is open ends with its turn") {
  Wire wire;
  wire.Begin();
  const std::string session = wire.Open(1);
  wire.Prompt(2, session, "/ask");
  auto lines = wire.Run();
  REQUIRE(lines.size() == 2);
  CHECK(Has(lines[0], R"("status":"pending")"));
  CHECK(Has(lines[1], R"("id":1,"method":"session/request_permission")"));
  CHECK(wire.agent.Deadline() == kNever);
  SUBCASE("by session/cancel, with the answer behind it") {
    wire.Notify("session/cancel", fmt::format(R"({{"sessionId":"{}"}})", session));
    lines = wire.Lines();
    wire.Say(R"({"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"cancelled"}}})");
    CHECK(wire.Lines().empty());
  }
  SUBCASE("by the answer alone") {
    wire.Say(R"({"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"cancelled"}}})");
    lines = wire.Lines();
  }
  SUBCASE("by $/cancel_request, which takes the question back") {
    wire.Notify("$/cancel_request", R"({"requestId":2})");
    lines = wire.Lines();
    CHECK(lines.front() == R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}})");
    lines.erase(lines.begin());
    wire.Say(kAllow);
    CHECK(wire.Lines().empty());
  }
  REQUIRE(lines.size() == 2);
  CHECK(Has(lines[0], R"("status":"failed")"));
  CHECK(lines[1] == R"({"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}})");
  CHECK(wire.Run().empty());
}

TEST_CASE("only an answer that allows does") {
  Wire wire;
  wire.Begin();
  const std::string session = wire.Open(1);
  wire.Prompt(2, session, "/ask");
  wire.Run();
  bool allowed = false;
  SUBCASE("allowed") {
    wire.Say(kAllow);
    allowed = true;
  }
  SUBCASE("rejected") {
    wire.Say(
        R"({"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"reject-once"}}})");
  }
  SUBCASE("an option that is not there") {
    wire.Say(
        R"({"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}})");
  }
  SUBCASE("an error") { wire.Say(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})"); }
  SUBCASE("no answer that can be read") { wire.Say(R"({"jsonrpc":"2.0","id":1,"result":{}})"); }
  const auto ended = wire.Lines();
  CHECK(Count(ended, R"("status":"completed")") == (allowed ? 1 : 0));
  CHECK(Count(ended, R"("status":"failed")") == (allowed ? 0 : 1));
  const auto rest = wire.Run();
  CHECK(Count(rest, "end_turn") == 1);
  // Once is once.
  wire.Prompt(3, session, "/ask");
  CHECK(Count(wire.Run(), "session/request_permission") == 1);
}

TEST_CASE("always is for this session") {
  Wire wire;
  wire.Begin();
  const std::string session = wire.Open(1), other = wire.Open(2);
  for (const bool allowed : {true, false}) {
    const std::string& in = allowed ? session : other;
    const int question = allowed ? 1 : 2;
    wire.Prompt(3, in, "/ask");
    CHECK(Count(wire.Run(), "session/request_permission") == 1);
    wire.Say(fmt::format(
        R"({{"jsonrpc":"2.0","id":{},"result":{{"outcome":{{"outcome":"selected","optionId":"{}"}}}}}})",
        question, allowed ? "allow-always" : "reject-always"));
    wire.Lines();
    wire.Run();
    wire.Prompt(4, in, "/ask");
    const auto lines = wire.Run();
    CHECK(Count(lines, "session/request_permission") == 0);
    CHECK(Count(lines, allowed ? R"("status":"completed")" : R"("status":"failed")") == 1);
  }
}

TEST_CASE("use grows with the session") {
  Wire wire;
  wire.Begin();
  const std::string session = wire.Open(1);
  int64_t before = 0;
  for (int turn = 0; turn < 3; ++turn) {
    wire.Prompt(2, session, "hello");
    wire.Run();
    wire.Say(fmt::format(
        R"({{"jsonrpc":"2.0","id":{},"result":{{"outcome":{{"outcome":"selected","optionId":"reject-once"}}}}}})",
        turn + 1));
    wire.Lines();
    const auto lines = wire.Run();
    REQUIRE(lines.size() > 2);
    json::Document document;
    REQUIRE(document.Parse(lines[lines.size() - 2]).ok());
    const auto update = document.root()["params"]["update"];
    CHECK(update["sessionUpdate"].AsString() == "usage_update");
    CHECK(update["size"].AsInt() == 200'000);
    CHECK(update["used"].AsInt().value_or(0) > before);
    CHECK(update["cost"]["currency"].AsString() == "USD");
    CHECK(update["cost"]["amount"].AsDouble().value_or(0) > 0);
    before = update["used"].AsInt().value_or(0);
  }
}

TEST_CASE("sessions are bounded") {
  Wire wire;
  wire.Begin();
  for (size_t i = 0; i < AcpAgent::kMostSessions; ++i) {
    wire.Request(1, "session/new", R"({"cwd":"/"})");
    wire.agent.Consume(wire.agent.Output().size());
  }
  wire.Request(2, "session/new", R"({"cwd":"/"})");
  CHECK(Has(wire.Line(), R"("id":2,"error":{"code":-32600,)"));
}

}  // namespace
}  // namespace watchbill::example
