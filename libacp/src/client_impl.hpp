// What the two halves of Client share: client.cc asks, client_events.cc hears.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "decode.hpp"
#include "peer_impl.hpp"
#include "watchbill/acp/client.hpp"
#include "watchbill/acp/tool_calls.hpp"

namespace watchbill::acp {

// What answers a request of the agent's.
enum class Answer {
  kPermission,
  kContent,
  kEmpty,
  kTerminal,
  kOutput,
  kExit,
  kElicitation,
};

struct Client::Impl {
  using Message = Peer::Impl::Message;

  explicit Impl(Limits l) : limits(l), peer(l.peer) {}

  enum class Stage { kNew, kHandshake, kReady, kFailed };
  // What kind of call it is, for what its answer means.
  enum class Asked { kPrompt, kNew, kLoad, kResume, kList, kClose, kDelete, kSet, kOther };
  struct Call {
    Asked what = Asked::kOther;
    std::string session;
    std::string value;  // of a setting: what it will be
  };
  struct Option {
    std::string id;
    bool boolean = false;
    std::vector<std::string> values;
  };
  struct Session {
    bool open = false;     // false: being opened
    bool loading = false;  // what is told is its past
    uint64_t prompt = 0;   // the call of its turn
    bool cancelled = false, closing = false;
    std::optional<std::vector<std::string>> modes, models;
    std::optional<std::vector<Option>> options;
    bool model_option = false;  // there is one for the model
    std::string mode;
    ToolCalls tools;
  };
  using Sessions = std::map<std::string, Session, std::less<>>;
  struct Open {      // a request of the agent's
    std::string id;  // JSON, as it came
    std::string session;
    Answer kind = Answer::kPermission;
    std::vector<std::pair<std::string, std::string>> options;  // ids and kinds, of a permission
  };
  struct Early {
    std::string session;
    std::string update;  // the params
  };

  // client.cc
  absl::Status MayAsk() const;
  absl::Status MayAsk(bool offered, std::string_view method) const;
  absl::StatusOr<Session*> OpenOne(std::string_view session);
  Session NewOne() const;
  absl::Status MayPrompt(const PromptRequest& request) const;
  uint64_t Ask(std::string_view method, std::string_view params, int64_t deadline_ns, Call call);
  void Set(Session& session, const std::optional<SessionModeState>& modes,
           const std::optional<SessionModelState>& models);
  void Set(Session& session, const std::vector<SessionConfigOption>& options);
  // Its open requests that wait for a person are answered, and go to `answered`.
  void CancelTurn(Sessions::iterator session, std::deque<std::pair<uint64_t, Open>>& answered);

  // client_events.cc
  std::optional<ClientEvent> Next();
  std::optional<ClientEvent> On(const Message& m);
  std::optional<ClientEvent> OnRequest(const Message& m);
  std::optional<ClientEvent> OnPermission(const Message& m);
  std::optional<ClientEvent> OnHost(const Message& m);
  std::optional<ClientEvent> OnNotification(const Message& m);
  // Into `event`; false: there is none.
  bool OnUpdate(const json::Value& params, bool held, std::optional<ClientEvent>& event);
  std::optional<ClientEvent> OnEnded(const Message& m);
  std::optional<ClientEvent> OnPromptEnded(const Message& m, Call call);
  std::optional<ClientEvent> OnOpened(const Message& m, Call call);
  std::optional<ClientEvent> OnDone(const Message& m, const Call& call);
  std::optional<ClientEvent> Failed(const Message& m, const Call& call);
  std::optional<ClientEvent> Handshaken(const Message& m);
  std::optional<ClientEvent> OnStray(const Message& m);
  std::optional<ClientEvent> NextEarly();
  HandshakeFailed Fail(HandshakeFailed::Why why, std::string says);
  Skipped Skip(std::string why);
  // What an answer says of its failure, as one sentence.
  std::string Failure(const Message& m) const;
  uint64_t OpenRequest(const Message& m, std::string_view session, Answer kind);
  // Answers it as one that is not wanted any more.
  void CloseCancelled(const Open& request);
  void Forget(Sessions::iterator session);
  bool opening() const;  // a call that will tell the id of a session is open

  Limits limits;
  Peer peer;
  Stage stage = Stage::kNew;
  uint64_t handshake = 0, last_request = 0, stray_bytes = 0;
  uint64_t open_line = 0;  // bytes behind the last newline
  bool ended = false;

  // Yes and no alone: what their views were of is gone.
  ClientCapabilities offered;
  AgentCapabilities agent;
  std::vector<std::pair<std::string, std::string>> auth_methods;  // ids and types

  std::map<uint64_t, Call> calls;  // without the handshake
  Sessions sessions;
  std::map<uint64_t, Open> requests;

  std::deque<Early> early;  // of sessions whose id is not known yet
  size_t early_bytes = 0, early_lost = 0;
  const std::optional<ClientEvent> nothing;
  json::Document held_document{{.bytes = LineFramer::kLongestLine, .depth = 64}};

  // Told before anything else: requests that closed, then the turn whose end closed them.
  std::deque<std::pair<uint64_t, Open>> closed;
  std::optional<PromptEnded> over;

  // What the event that was given last has views of.
  std::string text, session_text, over_session, word, usage;
};

inline int64_t After(Now now, int64_t ns) { return ns >= kNever - now.mono_ns ? kNever : now.mono_ns + ns; }

}  // namespace watchbill::acp
