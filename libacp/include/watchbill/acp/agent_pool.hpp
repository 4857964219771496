// The states of agents, and what has to be done about their processes. (Reference, "Agent states",
// "Transitions", "Stopping an agent".)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

// What changes a state. The table is in agent_pool.cc.
enum class AgentEvent {
  kStartRequested,
  kHandshakeDone,
  kStartFailed,
  kUsed,
  kLastUserDone,
  kStopped,  // after it was asked to, when all of it is gone
  kExited    // on its own
};
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
};
using PoolAction = std::variant<SpawnAgent, CloseAgentInput, SignalAgent, AgentChanged>;
using PoolActions = std::vector<PoolAction>;

// The agents of a configuration and where each stands. Told what happened and what time it is; says what to
// do. A call about an agent that is not there is NotFound; one that makes no sense in its state is
// FailedPrecondition and changes nothing. One thread.
class AgentPool {
 public:
  struct Ladder {                           // of a stop
    int64_t input_closed_ns = 5 * kSecond;  // from closing the input to SIGTERM
    int64_t terminated_ns = 3 * kSecond;    // from there to SIGKILL
  };
  AgentPool() : AgentPool(Ladder{}) {}
  explicit AgentPool(Ladder ladder) : ladder_(ladder) {}

  void Add(std::string_view agent);
  bool Has(std::string_view agent) const { return agents_.find(agent) != agents_.end(); }

  // Somebody wants it to run. OK also where it does or is about to; while a stop is under way it starts once
  // that is over.
  absl::Status Start(std::string_view agent, Now now, PoolActions& actions);
  // It is to end: its input is closed, then SIGTERM, then SIGKILL. OK also where it is stopped already.
  absl::Status Stop(std::string_view agent, Now now, PoolActions& actions);
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

  // Use is counted: it is busy while somebody uses it.
  absl::Status Use(std::string_view agent, Now now, PoolActions& actions);
  absl::Status Release(std::string_view agent, Now now, PoolActions& actions);

  int64_t Deadline() const;
  void Tick(Now now, PoolActions& actions);

  AgentState state(std::string_view agent) const;          // kStopped for one that is not there
  const std::string& error(std::string_view agent) const;  // "" where there is none
  bool stopping(std::string_view agent) const;             // a stop is under way
  bool idle() const;                                       // no process is left of any of them

 private:
  enum class Ending { kNo, kInputClosed, kTerminated, kKilled };
  struct Agent {
    AgentState state = AgentState::kStopped;
    Ending ending = Ending::kNo;
    bool process = false;      // it, or what it started, still runs
    bool asked_to = false;     // the end under way was asked for
    bool start_after = false;  // a start waits for that end
    int64_t deadline_ns = kNever;
    uint32_t users = 0;
    std::string error;
  };
  Agent* Find(std::string_view agent);
  absl::Status Become(const std::string& name, Agent& agent, AgentEvent event, std::string_view error,
                      PoolActions& actions);
  void BeginEnd(const std::string& name, Agent& agent, Now now, PoolActions& actions);
  void Gone(const std::string& name, Agent& agent, Now now, PoolActions& actions);

  Ladder ladder_;
  std::map<std::string, Agent, std::less<>> agents_;
};

}  // namespace watchbill::acp
