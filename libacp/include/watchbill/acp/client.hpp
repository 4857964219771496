// The client's end of a connection to one agent: handshake, sign-in, sessions, prompts, permissions, and what
// an agent asks of its host.
//
//   client.Initialize(request, now);
//   then move bytes: Output to the agent, what it writes to Feed, and
//   while (auto event = client.Next()) …    // an event's views are good until the next call that is not
//   const
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
  JsonView raw;  // as it came
};
// It will not work, and why, in a sentence that goes on from the agent's name ("speaks ACP version 2 alone,
// …").
struct HandshakeFailed {
  enum class Why { kVersion, kRefused, kTimeout, kNotAcp, kEnded };
  Why why = Why::kRefused;
  Text says;
};
// A session can be prompted. Of one that was loaded, all that was told before this was its past.
struct SessionOpened {
  enum class How { kNew, kLoaded, kResumed };
  uint64_t call = 0;
  How how = How::kNew;
  Text session;
  LoadSessionResponse says;  // modes, options, models
  JsonView raw;              // the answer; absent where it was null
};
// The turn is over, and every update of it has been told. Either `stop_reason` or `failure` is empty.
struct PromptEnded {
  uint64_t call = 0;
  Text session;
  Text stop_reason;
  Text failure;      // the agent's own explanation, or why the connection ended
  int32_t code = 0;  // of a failure: an ErrorCode; 0 where the agent did not answer
  JsonView usage;    // tokens of the turn, where it said so
};
// Anything else that was asked of the agent is done: authenticate, logout, list, delete, close, the setting
// of a session, or a request of the caller's own.
struct CallDone {
  uint64_t call = 0;
  Text method;
  Text session;  // empty where it is not about one
  std::variant<EmptyResponse, ListSessionsResponse, SetSessionConfigOptionResponse> says;
  JsonView result;  // as it came; absent where it was null
};
// It came to nothing.
struct CallFailed {
  uint64_t call = 0;
  Text method;
  Text session;
  int32_t code = 0;  // an ErrorCode; 0 where the agent did not answer. kAuthenticationRequired: Authenticate
  Text failure;
  JsonView data;  // what the agent says beside its error
};
struct Updated {
  Updated() {}  // so that all of its room is not zeroed first: one is made for every piece of every answer
  Text session;
  SessionUpdate update;
  Meta meta;          // of the notification
  JsonView raw;       // the update as it came
  bool past = false;  // told while the session is being loaded: nothing new
  // Of a tool call: what is known of it by now, all that was told put together. Else nullptr.
  const ToolCallUpdate* tool_call = nullptr;
};
// The agent waits for AnswerPermission or RefusePermission.
struct PermissionAsked {
  uint64_t request = 0;
  RequestPermissionRequest permission;
  const ToolCallUpdate* tool_call = nullptr;  // as above; never nullptr
  JsonView raw;                               // the params as they came
};
// An open one was closed without an answer of ours: the agent took it back, ended the turn, or is gone.
struct PermissionClosed {
  uint64_t request = 0;
  Text session;
};
// The agent waits for Respond or RefuseHost. Only what Initialize offered comes here.
struct HostAsked {
  uint64_t request = 0;
  HostRequest what;
  JsonView raw;  // the params as they came
};
// The same: no answer is wanted any more.
struct HostClosed {
  uint64_t request = 0;
};
// "elicitation/complete": what a person was sent to an address for is done.
struct ElicitationCompleted {
  Text elicitation_id;
};
// A notification of the agent's own, or one that is not stable.
struct Notified {
  Text method;
  JsonView params;
};
// Something the agent sent was let go; `why` is a sentence without the line.
struct Skipped {
  Text why;
  Text line;  // its beginning; empty where it was a well-formed message
};
using ClientEvent = std::variant<HandshakeDone, HandshakeFailed, SessionOpened, PromptEnded, CallDone,
                                 CallFailed, Updated, PermissionAsked, PermissionClosed, HostAsked,
                                 HostClosed, ElicitationCompleted, Notified, Skipped>;

class Client {
 public:
  struct Limits {
    Peer::Limits peer;
    int64_t handshake_ns = 30 * kSecond;  // (reference, "Transitions": timeout 30 s)
    int64_t session_ns = 120 * kSecond;   // to open a session: agents start servers and tell a past here
    int64_t call_ns = 60 * kSecond;       // for what is neither a prompt nor a sign-in, which have no limit
    // How much that is no message may come before the handshake is done: a program that floods is no agent.
    size_t stray_bytes = 4 << 20;
    uint64_t stray_lines = 10'000;
    // What is told of a session that is being opened, before the answer says which it is.
    size_t early_updates = 1'000;
    size_t early_bytes = 4 << 20;
    size_t open_requests = 1'000;  // of the agent's, that wait for an answer
    size_t tool_calls = 1'000;     // that are kept of a session
    size_t tool_bytes = 8 << 20;   // of those, while its turn runs
    size_t tool_bytes_at_rest = 256 << 10;
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
  // Call it when Next has nothing more: an answer that was fed is in time.
  void Tick(Now now);

  // First of all, once. What the request offers decides what comes as HostAsked. FailedPrecondition: it was
  // called before.
  absl::Status Initialize(const InitializeRequest& request, Now now);

  // Each of these asks the agent and gives the number that the event of its end will carry.
  // FailedPrecondition, for all: the handshake is not done, or the agent is gone; the agent does not offer it
  // (ACP v1: what is not offered is not called). InvalidArgument: what was asked for is not among what the
  // agent said there is. NotFound: no such session is open here.

  // Ends in CallDone; may take as long as a person does. InvalidArgument also for a method of type
  // "terminal", which is a command to run.
  absl::StatusOr<uint64_t> Authenticate(std::string_view method_id);
  absl::StatusOr<uint64_t> Logout(Now now);

  // End in SessionOpened.
  absl::StatusOr<uint64_t> NewSession(const NewSessionRequest& request, Now now);
  absl::StatusOr<uint64_t> LoadSession(const LoadSessionRequest& request, Now now);
  absl::StatusOr<uint64_t> ResumeSession(const ResumeSessionRequest& request, Now now);
  // A session that was opened by a request of the caller's own.
  void Adopt(std::string_view session, const LoadSessionResponse& says);

  // End in CallDone. Closing or deleting one whose turn runs cancels that first.
  absl::StatusOr<uint64_t> ListSessions(const ListSessionsRequest& request, Now now);
  absl::StatusOr<uint64_t> CloseSession(std::string_view session, Now now);
  absl::StatusOr<uint64_t> DeleteSession(std::string_view session, Now now);  // need not be open
  absl::StatusOr<uint64_t> SetMode(std::string_view session, std::string_view mode_id, Now now);
  absl::StatusOr<uint64_t> SetConfigOption(std::string_view session, std::string_view config_id,
                                           const std::variant<Text, bool>& value, Now now);
  // For agents that offer models and no config option for them.
  absl::StatusOr<uint64_t> SetModel(std::string_view session, std::string_view model_id, Now now);

  // Ends in PromptEnded, without a time limit. FailedPrecondition: the session has a prompt that is not
  // ended, or a block is of a type that the agent does not take.
  absl::StatusOr<uint64_t> Prompt(const PromptRequest& request);
  // Ends the turn of a session: tells the agent, then answers its open requests (permissions and
  // elicitations `cancelled`), which are given back, in that order, as all agents take it. Nothing happens
  // where no turn runs. The turn goes on until PromptEnded; an agent that answers a cancelled prompt with an
  // error is taken to have cancelled it, and what it asks for permission until then is answered `cancelled`
  // without a question.
  std::vector<uint64_t> Cancel(std::string_view session);

  // What has no method here, such as what is not stable; `params` is JSON. Ends in CallDone.
  absl::StatusOr<uint64_t> Request(std::string_view method, std::string_view params, int64_t limit_ns,
                                   Now now);
  absl::Status Notify(std::string_view method, std::string_view params);
  // Says that the answer to a call is not wanted; it ends all the same, when the agent answers.
  void CancelCall(uint64_t call);

  // NotFound: no such request is open. InvalidArgument: no such option was offered.
  absl::Status AnswerPermission(uint64_t request, std::string_view option_id);
  // Chooses what refuses once, else what refuses always, else cancels. Gives the option chosen, nothing where
  // it was cancelled.
  absl::StatusOr<std::optional<std::string>> RefusePermission(uint64_t request);

  // The answer to a HostAsked, of the type that goes with it (EmptyResponse where nothing is said).
  // NotFound: no such request is open. InvalidArgument: another answer goes with that request.
  template <typename Response>
  absl::Status Respond(uint64_t request, const Response& response);
  absl::Status RefuseHost(uint64_t request, int32_t code, std::string_view message);

  bool ready() const;                        // the handshake is done, and the agent is not gone
  bool has(std::string_view session) const;  // it is open
  bool prompting(std::string_view session) const;
  // The one that is set now; empty where the agent did not say.
  std::string_view mode(std::string_view session) const;
  // As it stands; nullptr where it was not heard of. Finished ones are forgotten when the next turn begins.
  const ToolCallUpdate* tool_call(std::string_view session, std::string_view tool_call_id) const;
  uint64_t stray_lines() const;

 private:
  struct Impl;
  absl::Status RespondWith(uint64_t request, std::string_view json, int kind);
  std::unique_ptr<Impl> impl_;
};

}  // namespace watchbill::acp
