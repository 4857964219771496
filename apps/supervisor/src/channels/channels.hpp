// Conversations with agents: who answers, what is told to whom, what is kept. (Reference "agents, channels
// and events", "Channels".)
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/acp/client.hpp"
#include "watchbill/base/now.hpp"
#include "watchbill/base/ulid.hpp"
#include "watchbill/history/message.hpp"
#include "watchbill/history/store.hpp"

namespace watchbill::channels {

// What was said before, as far as it is kept. Asked, never told.
class Past {
 public:
  virtual ~Past() = default;
  // The last `limit` messages of a channel, oldest first.
  virtual std::vector<history::Message> Last(std::string_view channel, size_t limit) const = 0;
};

// What the outside must do, in this order.
struct NeedAgent {  // start it where it does not run, then say AgentReady or StartFailed
  std::string agent;
};
struct OpenSession {  // then say SessionOpened or SessionFailed
  std::string agent, channel;
};
struct Prompt {  // then say Updated …, and PromptEnded in the end
  std::string agent, session;
  std::vector<std::string> texts;  // one block each
};
struct CancelTurn {
  std::string agent, session;
};
struct ReleaseAgent {  // a turn with it is over
  std::string agent;
};
struct AnswerPermission {
  std::string agent;
  uint64_t request = 0;
  std::optional<std::string> option;  // nothing: it is refused
};
struct Emit {  // to every page: an event of docs/protocols/rpc.md
  std::string_view event;
  std::string params;  // JSON
};
using Action = std::variant<NeedAgent, OpenSession, Prompt, CancelTurn, ReleaseAgent, AnswerPermission, Emit>;

// What one call brought about. What is kept goes to the disk before anything else is done.
struct Outcome {
  history::Batch keep;
  std::vector<history::Message> messages;  // those that `keep` holds, for a past in memory
  std::vector<history::Channel> channels;
  std::vector<std::pair<std::string, std::string>> commands;  // of an agent, as JSON
  std::vector<Action> actions;
};

// A permission that waits for a person.
struct OpenPermission {
  std::string id, channel, agent, message;
  uint64_t request = 0;  // the connection's number for it
  history::ToolCall tool;
  struct Option {
    std::string id, name, kind;
  };
  std::vector<Option> options;
  int64_t rejections = 0;  // given in this turn already
};

struct Usage {
  int64_t used = 0, size = 0;
};

// Told what happened and what time it is; says what to do. An unknown channel or agent is NotFound and
// changes nothing. One thread.
class Channels {
 public:
  struct Limits {
    size_t text_bytes = 1 << 20;      // of a message that is sent
    size_t message_bytes = 16 << 20;  // of an answer: what comes behind it is let go, and that is said
    size_t queued = 100;              // messages that wait in a channel
    size_t told = 20;                 // messages that a prompt carries because the agent has not seen them
    size_t told_characters = 1500;    // of each of them
  };
  // `past` is borrowed. `seed`: of the ids.
  Channels(const Past& past, uint64_t seed) : Channels(past, seed, Limits{}) {}
  Channels(const Past& past, uint64_t seed, Limits limits);
  ~Channels();
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;

  // Before anything else: what is configured, and what was kept.
  void Load(std::vector<std::string> agents, std::vector<history::Channel> kept);
  void LoadMember(std::string_view channel, history::Member member);

  // What people ask. (The methods of ChannelService.)
  std::vector<history::Channel> List() const;  // oldest first
  absl::StatusOr<history::Channel> Direct(std::string_view agent, Now now, Outcome& out);
  // The id of the message. InvalidArgument: there is no text, or too much. ResourceExhausted: too many wait.
  absl::StatusOr<std::string> Send(std::string_view channel, std::string_view text, Now now, Outcome& out);
  absl::Status Cancel(std::string_view channel, Now now, Outcome& out);
  // NotFound: no such request is open. InvalidArgument: no such option.
  absl::Status Answer(std::string_view permission, std::string_view option, Now now, Outcome& out);

  // What became of actions. What is about no turn is let go.
  void AgentReady(std::string_view agent, Now now, Outcome& out);
  // It cannot be started: what waits for it has no answer.
  void StartFailed(std::string_view agent, std::string_view why, Now now, Outcome& out);
  // It has ended: every session with it is gone. What waits for its start goes on waiting.
  void AgentGone(std::string_view agent, std::string_view why, Now now, Outcome& out);
  void SessionOpened(std::string_view agent, std::string_view channel, std::string_view session, Now now,
                     Outcome& out);
  void SessionFailed(std::string_view agent, std::string_view channel, std::string_view why, Now now,
                     Outcome& out);
  void Updated(std::string_view agent, const acp::Updated& told, Now now, Outcome& out);
  void PermissionAsked(std::string_view agent, uint64_t request, const acp::RequestPermissionRequest& asked,
                       Now now, Outcome& out);
  void PermissionClosed(std::string_view agent, uint64_t request, Outcome& out);
  void PromptEnded(std::string_view agent, std::string_view session, std::string_view stop_reason,
                   std::string_view failure, Now now, Outcome& out);
  // At the end of a turn of the loop: text that was gathered goes out as one event.
  void Flush(Outcome& out);

  // What is not on the disk: for Conversation.
  struct Live {
    const history::Channel* channel = nullptr;
    std::vector<const history::Message*> messages;  // that stream, and that wait
    bool busy = false;
    int64_t queued = 0;
    std::string answering;
    std::map<std::string, Usage> usage;
    std::vector<const OpenPermission*> permissions;
  };
  // Borrowed until the next call that is not const.
  absl::StatusOr<Live> LiveOf(std::string_view channel) const;

 private:
  struct Turn;
  struct State;
  struct Pending;
  State* Find(std::string_view channel);
  State* OfSession(std::string_view agent, std::string_view session);
  void Begin(State& state, history::Message message, Now now, Outcome& out);
  void SendPrompt(State& state, Now now, Outcome& out);
  void Finish(State& state, std::string_view stop_reason, std::string_view error, Now now, Outcome& out);
  void Over(State& state, Now now, Outcome& out);
  void Unavailable(State& state, std::string_view why, Now now, Outcome& out);
  void Keep(const history::Message& message, Outcome& out);
  void Show(const history::Message& message, Outcome& out);
  void ShowTurn(const State& state, Outcome& out);
  void ShowPart(State& state, size_t index, Outcome& out);
  void ShowChannels(Outcome& out);
  void Send(std::string_view event, std::string params, Outcome& out);
  void Append(State& state, bool thought, std::string_view text, Outcome& out);
  size_t MergeTool(State& state, const acp::ToolCallUpdate& update);
  void Resolve(std::string_view id, Outcome& out);
  bool Room(State& state, size_t bytes);
  history::Message Make(std::string_view channel, history::Role role, Now now);

  const Past& past_;
  Limits limits_;
  UlidGenerator ids_;
  std::vector<std::string> agents_;
  std::map<std::string, std::unique_ptr<State>, std::less<>> channels_;
  std::map<std::string, OpenPermission, std::less<>> permissions_;
  std::unique_ptr<Pending> pending_;  // text that was not told yet
};

// The JSON of docs/protocols/rpc.md.
void Write(JsonWriter& w, const OpenPermission& permission);

}  // namespace watchbill::channels
