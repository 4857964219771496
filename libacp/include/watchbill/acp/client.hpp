// The client's end of a connection to one agent: handshake, sessions, prompts, permissions.
//
//   client.Initialize(request, now);                 // then move bytes: Output to the agent, its bytes to
//   Feed while (auto event = client.Next()) …             // views of an event: good until the next call that
//   is not const
//
// Nothing is done here: bytes and times come in, bytes and events go out. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/acp/messages.hpp"
#include "watchbill/acp/peer.hpp"
#include "watchbill/base/now.hpp"

namespace watchbill::acp {

// The agent speaks ACP v1: sessions can be opened.
struct HandshakeDone {
  InitializeResponse agent;
};
// It will not work, and why, in a sentence that goes on from the agent's name ("speaks ACP version 2 alone,
// …").
struct HandshakeFailed {
  enum class Why { kVersion, kRefused, kTimeout, kNotAcp, kEnded };
  Why why = Why::kRefused;
  Text says;
};
struct SessionMade {
  uint64_t call = 0;
  NewSessionResponse session;
};
// The turn is over, and every update of it has been told. Either `stop_reason` or `failure` is empty.
struct PromptEnded {
  uint64_t call = 0;
  Text session;
  Text stop_reason;
  Text failure;      // the agent's own explanation, or why the connection ended
  int32_t code = 0;  // of a failure: an ErrorCode; 0 where the agent did not answer
};
// What else was asked of the agent and came to nothing.
struct CallFailed {
  uint64_t call = 0;
  Text method;
  int32_t code = 0;  // an ErrorCode; 0 where the agent did not answer
  Text failure;
};
struct Updated {
  SessionUpdate update;
};
// The agent waits for AnswerPermission or RefusePermission.
struct PermissionAsked {
  uint64_t request = 0;
  PermissionRequest permission;
};
// An open one was closed without an answer of ours: the agent took it back, or is gone.
struct PermissionClosed {
  uint64_t request = 0;
  Text session;
};
// Something the agent sent was let go; `why` is a sentence without the line.
struct Skipped {
  Text why;
  Text line;  // its beginning; empty where it was a well-formed message
};
using ClientEvent = std::variant<HandshakeDone, HandshakeFailed, SessionMade, PromptEnded, CallFailed,
                                 Updated, PermissionAsked, PermissionClosed, Skipped>;

class Client {
 public:
  struct Limits {
    Peer::Limits peer;
    int64_t handshake_ns = 30 * kSecond;  // (reference, "Transitions": timeout 30 s)
    int64_t session_ns = 120 * kSecond;   // for session/new: agents start servers and sign in here
    // How much that is no message may come before the handshake is done: a program that floods is no agent.
    size_t stray_bytes = 4 << 20;
    uint64_t stray_lines = 10'000;
  };
  Client();
  explicit Client(Limits limits);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  void Feed(std::string_view bytes);
  // The agent will send no more: whatever is open fails with this reason, a phrase such as "exit code 3".
  void End(std::string_view why);
  std::optional<ClientEvent> Next();

  std::string_view Output() const;
  void Consume(size_t bytes);
  int64_t Deadline() const;
  void Tick(Now now);

  // First of all, once. FailedPrecondition: it was called before.
  absl::Status Initialize(const InitializeRequest& request, Now now);
  // Gives the number that SessionMade or CallFailed will carry. FailedPrecondition: the handshake is not
  // done.
  absl::StatusOr<uint64_t> NewSession(const NewSessionRequest& request, Now now);
  // The same, for PromptEnded. FailedPrecondition: the session has a prompt that is not ended.
  absl::StatusOr<uint64_t> Prompt(const PromptRequest& request);
  // Ends the turn of a session: tells the agent, then answers its open permission requests `cancelled`, which
  // are given back, in that order, as all agents take it. Nothing happens where no turn runs. The turn goes
  // on until PromptEnded; an agent that answers a cancelled prompt with an error is taken to have cancelled
  // it, and what it asks for permission until then is answered `cancelled` without a question.
  std::vector<uint64_t> Cancel(std::string_view session);
  // NotFound: no such request is open. InvalidArgument: no such option was offered.
  absl::Status AnswerPermission(uint64_t request, std::string_view option);
  // Chooses what refuses once, else what refuses always, else cancels. Gives the option chosen, nothing where
  // it was cancelled.
  absl::StatusOr<std::optional<std::string>> RefusePermission(uint64_t request);

  bool ready() const;  // the handshake is done, and the agent is not gone
  bool prompting(std::string_view session) const;
  uint64_t stray_lines() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace watchbill::acp
