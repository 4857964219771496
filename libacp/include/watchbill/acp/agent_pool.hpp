// The states of agents, and what has to be done about their processes. (docs/protocols/agent-states.md)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "watchbill/base/now.hpp"

namespace watchbill::acp {

enum class AgentState { kStopped, kStarting, kReady, kBusy, kError };
// "stopped", "starting", "ready", "busy", "error"
std::string_view Word(AgentState state);

// What changes a state. The three stops happen when all of it is gone.
enum class AgentEvent {
  kStartRequested,
  kHandshakeDone,
  kStartFailed,
  kUsed,
  kLastUserDone,
  kStopped,   // it was asked to
  kIdle,      // nobody had used it for too long
  kMadeRoom,  // another was to run in its place
  kExited     // on its own
};
// A phrase such as "start requested", without ':' or ';'.
std::string_view Word(AgentEvent event);

struct Transition {
  AgentState from;
  AgentEvent event;
  AgentState to;
};
// Every transition there is: the table of src/agent_states.cc, in the order in which a life goes. For ever.
std::span<const Transition> Transitions();
// The state that follows, or nothing: such an event does not happen in that state.
std::optional<AgentState> Next(AgentState from, AgentEvent event);

// What the outside must do.
struct SpawnAgent {  // then say Handshake…, StartFailed or Exited
  std::string agent;
};
struct CloseAgentInput {
  std::string agent;
};
struct SignalAgent {  // the agent and all it started
  std::string agent;
  bool kill = false;  // SIGKILL, else SIGTERM
};
struct AgentChanged {
  std::string agent;
  AgentState state = AgentState::kStopped;
  std::string error;  // of kError: the reason, over several lines
  AgentEvent event = AgentEvent::kStopped;
};
// It was removed, its process is gone, and so is it: what the outside keeps of it may go too.
struct AgentRemoved {
  std::string agent;
};
using PoolAction = std::variant<SpawnAgent, CloseAgentInput, SignalAgent, AgentChanged, AgentRemoved>;
using PoolActions = std::vector<PoolAction>;

// The agents of a configuration and where each stands. Told what happened and what time it is; says what to
// do. A call about an agent that is not there is NotFound; one that makes no sense in its state is
// FailedPrecondition; either changes nothing. One thread.
//
// An agent runs, and takes one of the places that `max_running` gives, from SpawnAgent until all of it is
// gone. A start that finds no place
//  - waits, where a stop under way will free one that nobody waits for yet; else
//  - has the least recently used idle agent stopped (ready, and not being stopped) and waits; else
//  - is refused: FailedPrecondition, "too many agents running: 2 agent(s) busy (a, b), the limit is 2", which
//    names those that have the places, or are promised one, in the configuration's order.
// A start that waits leaves the state as it is; those that wait start in the order in which they asked, each
// as soon as there is a place and nothing is left of its own last process.
class AgentPool {
 public:
  struct Ladder {                           // of a stop
    int64_t input_closed_ns = 5 * kSecond;  // from closing the input to SIGTERM
    int64_t terminated_ns = 3 * kSecond;    // from there to SIGKILL
  };
  struct Limits {
    uint32_t max_running = 0;  // 0: none
    // An agent that is ready and unused for so long, since it became ready or was last let go, is stopped at
    // the next look. 0 or less: never.
    int64_t stop_idle_after_ns = 0;
  };
  // Looks are at the multiples of this on `mono_ns`.
  static constexpr int64_t kLookNs = 30 * kSecond;

  AgentPool() : AgentPool(Limits{}, Ladder{}) {}
  explicit AgentPool(Ladder ladder) : AgentPool(Limits{}, ladder) {}
  explicit AgentPool(Limits limits) : AgentPool(limits, Ladder{}) {}
  AgentPool(Limits limits, Ladder ladder) : limits_(limits), ladder_(ladder) {}

  // It is in the configuration: `stopped`, at the end of the order. One that is there keeps all but its place
  // in the order, so that adding all of a configuration that has changed gives its order. One that was
  // removed and is still being ended is no longer removed: it is `stopped` when that is over, if not before.
  void Add(std::string_view agent);
  // It is in the configuration no more: stopped, and out of the pool, which AgentRemoved says, when nothing
  // of it is left. Until then it hears the outside's answers and Release; for every other call it is not
  // there.
  absl::Status Remove(std::string_view agent, Now now, PoolActions& actions);
  // Ends nobody at once: where fewer may run than do, the idle ones that are too many are stopped at the next
  // look, or when the next start needs it. Where more may, those that wait start.
  void SetLimits(Limits limits, Now now, PoolActions& actions);

  // Somebody wants it to run. OK also where it does or is about to, and where it waits: for a place, or for
  // its own end.
  absl::Status Start(std::string_view agent, Now now, PoolActions& actions);
  // It is to end: its input is closed, then SIGTERM, then SIGKILL. OK also where it is stopped already. A
  // start that waits is taken back.
  absl::Status Stop(std::string_view agent, Now now, PoolActions& actions);
  // Stops one that runs and starts it in its own place, which nobody else gets; else as Start.
  absl::Status Restart(std::string_view agent, Now now, PoolActions& actions);
  void StopAll(Now now, PoolActions& actions);

  // The outside's answers to SpawnAgent.
  absl::Status HandshakeDone(std::string_view agent, Now now, PoolActions& actions);
  // It could not be spawned, or spoke no ACP. `running`: its process is still there, and is to be ended.
  absl::Status StartFailed(std::string_view agent, std::string_view why, bool running, Now now,
                           PoolActions& actions);
  // Its process has ended, for this reason. `left`: something that it started still runs.
  absl::Status Exited(std::string_view agent, std::string_view why, bool left, Now now, PoolActions& actions);
  // What it started has ended too.
  absl::Status TreeGone(std::string_view agent, Now now, PoolActions& actions);

  // Use is counted: it is busy while somebody uses it. One that is being stopped takes no more users.
  absl::Status Use(std::string_view agent, Now now, PoolActions& actions);
  absl::Status Release(std::string_view agent, Now now, PoolActions& actions);

  // kNever: Tick has nothing to do. A look is waited for only while somebody is idle whom it may stop.
  int64_t Deadline() const;
  void Tick(Now now, PoolActions& actions);

  bool Has(std::string_view agent) const { return Find(agent) != nullptr; }
  std::vector<std::string> names() const;                  // in the configuration's order, removed ones too
  AgentState state(std::string_view agent) const;          // kStopped for one that is not there
  const std::string& error(std::string_view agent) const;  // "" where there is none; until the next call
  bool stopping(std::string_view agent) const;             // an end is under way
  bool waiting(std::string_view agent) const;              // a start waits: for a place, or for its own end
  bool removed(std::string_view agent) const;              // and not gone yet
  bool idle() const;                                       // no process is left of any of them
  const Limits& limits() const { return limits_; }

 private:
  enum class Ending { kNo, kInputClosed, kTerminated, kKilled };
  struct Agent {
    std::string name;
    AgentState state = AgentState::kStopped;
    Ending ending = Ending::kNo;
    bool process = false;             // it, or what it started, still runs
    std::optional<AgentEvent> asked;  // why the end under way was asked for: kStopped, kIdle, kMadeRoom
    bool again = false;               // a restart: it starts in its own place after that end
    bool removed = false;
    uint64_t waits = 0;  // a start waits for a place; the smallest asked first. 0: none
    int64_t deadline_ns = kNever;
    int64_t idle_since_ns = 0;  // of one that is ready
    uint32_t users = 0;
    std::string error;

    bool idle() const { return state == AgentState::kReady && ending == Ending::kNo; }
    // It has a place that it does not give up, or is promised one.
    bool holds_place() const { return waits != 0 || (process && (ending == Ending::kNo || again)); }
  };
  const Agent* Find(std::string_view agent) const;
  Agent* Find(std::string_view agent);
  Agent* Configured(std::string_view agent);  // and not removed
  absl::Status Become(Agent& agent, AgentEvent event, std::string_view error, PoolActions& actions);
  void Spawn(Agent& agent, PoolActions& actions);
  void BeginEnd(Agent& agent, Now now, PoolActions& actions);
  void Gone(Agent& agent, Now now, PoolActions& actions);  // the reference may be no good afterwards
  bool TooMany() const;
  void MakeRoom(Now now, PoolActions& actions);
  void Look(Now now, PoolActions& actions);
  void Settle(Now now, PoolActions& actions);

  Limits limits_;
  Ladder ladder_;
  std::vector<Agent> agents_;  // in the configuration's order
  uint64_t asked_ = 0;         // the last `waits` that was given
  int64_t look_ns_ = kNever;
};

}  // namespace watchbill::acp
