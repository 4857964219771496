// A client and the agent's side of it, as lines.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "watchbill/acp/client.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {

inline constexpr const char* kHello =
    R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"}}})";
inline constexpr const char* kAsk =
    R"("method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"na","name":"Never","kind":"reject_always"},{"optionId":"n","name":"No","kind":"reject_once"}]})";

struct Fixture {
  Client client;
  Now now{1'000 * kSecond, 0};

  Fixture() : Fixture(Client::Limits{}) {}
  explicit Fixture(Client::Limits limits) : client(limits) {}

  void Line(const std::string& line) { client.Feed(line + "\n"); }
  // What it wrote since it was asked last.
  std::string Written() {
    std::string out(client.Output());
    client.Consume(out.size());
    return out;
  }
  template <typename T>
  T Expect() {
    auto event = client.Next();
    REQUIRE(event.has_value());
    CAPTURE(event->index());
    REQUIRE(std::holds_alternative<T>(*event));
    return std::get<T>(*event);
  }
  void Quiet() { CHECK_FALSE(client.Next().has_value()); }
  void Initialize() {
    InitializeRequest request;
    request.client = Implementation{"test", "1", std::nullopt, {}};
    REQUIRE(client.Initialize(request, now).ok());
  }
  void Ready() {
    Initialize();
    Line(kHello);
    (void)Expect<HandshakeDone>();
    (void)Written();
    client.Adopt("s", {});
  }
  absl::StatusOr<uint64_t> NewSession(Text cwd = "/x") {
    NewSessionRequest request;
    request.cwd = cwd;
    return client.NewSession(request, now);
  }
  // A session with a prompt that runs; its call.
  uint64_t Prompting(Text session = "s") {
    client.Adopt(session, {});
    PromptRequest request;
    request.session_id = session;
    request.prompt.push_back(TextContent{"hi", std::nullopt, {}});
    const auto call = client.Prompt(request);
    REQUIRE(call.ok());
    (void)Written();
    return *call;
  }
  uint64_t Asked(const std::string& id = "0") {
    Line(R"({"jsonrpc":"2.0","id":)" + id + "," + kAsk + "}");
    return Expect<PermissionAsked>().request;
  }
};

inline std::string Chunk(std::string_view session, std::string_view text) {
  return R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":")" + std::string(session) +
         R"(","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":")" +
         std::string(text) + R"("}}}})";
}

}  // namespace watchbill::acp
