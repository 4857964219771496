#include "watchbill/acp/agent_pool.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace watchbill::acp {
namespace {

using S = AgentState;
using E = AgentEvent;

// Every transition there is. (Reference, "Transitions")
constexpr struct {
  S from;
  E event;
  S to;
} kTransitions[] = {
    {S::kStopped, E::kStartRequested, S::kStarting},
    {S::kError, E::kStartRequested, S::kStarting},
    {S::kStarting, E::kHandshakeDone, S::kReady},
    {S::kStarting, E::kStartFailed, S::kError},
    {S::kStarting, E::kStopped, S::kStopped},
    {S::kReady, E::kUsed, S::kBusy},
    {S::kBusy, E::kLastUserDone, S::kReady},
    {S::kReady, E::kStopped, S::kStopped},
    {S::kBusy, E::kStopped, S::kStopped},
    {S::kReady, E::kExited, S::kError},
    {S::kBusy, E::kExited, S::kError},
};

absl::Status NoSuchAgent(std::string_view agent) {
  return absl::NotFoundError(fmt::format("There is no agent named \"{}\".", agent));
}

}  // namespace

std::string_view Word(AgentState state) {
  switch (state) {
    case S::kStopped:
      return "stopped";
    case S::kStarting:
      return "starting";
    case S::kReady:
      return "ready";
    case S::kBusy:
      return "busy";
    case S::kError:
      break;
  }
  return "error";
}

std::optional<AgentState> Next(AgentState from, AgentEvent event) {
  for (const auto& row : kTransitions) {
    if (row.from == from && row.event == event) return row.to;
  }
  return std::nullopt;
}

void AgentPool::Add(std::string_view agent) { agents_.try_emplace(std::string(agent)); }

AgentPool::Agent* AgentPool::Find(std::string_view agent) {
  const auto it = agents_.find(agent);
  return it == agents_.end() ? nullptr : &it->second;
}

absl::Status AgentPool::Become(const std::string& name, Agent& agent, AgentEvent event,
                               std::string_view error, PoolActions& actions) {
  const auto to = acp::Next(agent.state, event);
  if (!to) {
    return absl::FailedPreconditionError(
        fmt::format("{} is {}: that cannot happen now", name, Word(agent.state)));
  }
  agent.state = *to;
  agent.error = error;
  if (*to == S::kStopped || *to == S::kError) agent.users = 0;
  actions.push_back(AgentChanged{name, agent.state, agent.error});
  return absl::OkStatus();
}

absl::Status AgentPool::Start(std::string_view name, Now, PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (agent->process && agent->ending != Ending::kNo) {
    agent->start_after = true;
    return absl::OkStatus();
  }
  if (!acp::Next(agent->state, E::kStartRequested)) return absl::OkStatus();  // it runs, or is about to
  const std::string owned(name);
  const absl::Status status = Become(owned, *agent, E::kStartRequested, "", actions);
  if (!status.ok()) return status;
  agent->process = true;
  agent->asked_to = false;
  actions.push_back(SpawnAgent{owned});
  return absl::OkStatus();
}

void AgentPool::BeginEnd(const std::string& name, Agent& agent, Now now, PoolActions& actions) {
  if (agent.ending != Ending::kNo) return;
  agent.ending = Ending::kInputClosed;
  agent.deadline_ns = now.mono_ns + ladder_.input_closed_ns;
  actions.push_back(CloseAgentInput{name});
}

absl::Status AgentPool::Stop(std::string_view name, Now now, PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  agent->start_after = false;
  if (!agent->process) return absl::OkStatus();
  agent->asked_to = true;
  BeginEnd(std::string(name), *agent, now, actions);
  return absl::OkStatus();
}

absl::Status AgentPool::Restart(std::string_view name, Now now, PoolActions& actions) {
  if (absl::Status status = Stop(name, now, actions); !status.ok()) return status;
  return Start(name, now, actions);
}

void AgentPool::StopAll(Now now, PoolActions& actions) {
  for (const auto& [name, agent] : agents_) (void)Stop(name, now, actions);
}

absl::Status AgentPool::HandshakeDone(std::string_view name, Now, PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  // A stop that was asked for meanwhile: it is `stopped` once its process has gone.
  if (agent->state == S::kStarting && agent->ending != Ending::kNo) return absl::OkStatus();
  return Become(std::string(name), *agent, E::kHandshakeDone, "", actions);
}

absl::Status AgentPool::StartFailed(std::string_view name, std::string_view why, bool running, Now now,
                                    PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  const std::string owned(name);
  if (!agent->asked_to || agent->state != S::kStarting) {
    if (absl::Status status = Become(owned, *agent, E::kStartFailed, why, actions); !status.ok())
      return status;
  }
  if (running) {
    BeginEnd(owned, *agent, now, actions);
  } else {
    Gone(owned, *agent, now, actions);
  }
  return absl::OkStatus();
}

absl::Status AgentPool::Exited(std::string_view name, std::string_view why, bool left, Now now,
                               PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (!agent->process) return absl::FailedPreconditionError(fmt::format("{} has no process", name));
  const std::string owned(name);
  if (!agent->asked_to && agent->state != S::kError) {
    const E event = agent->state == S::kStarting ? E::kStartFailed : E::kExited;
    if (absl::Status status = Become(owned, *agent, event, why, actions); !status.ok()) return status;
  }
  if (left) {
    // Its own end was the hint to what it started; those get the rest of the ladder, which a signal that went
    // out already has begun.
    if (agent->ending == Ending::kNo || agent->ending == Ending::kInputClosed) {
      agent->ending = Ending::kTerminated;
      agent->deadline_ns = now.mono_ns + ladder_.terminated_ns;
      actions.push_back(SignalAgent{owned, false});
    }
  } else {
    Gone(owned, *agent, now, actions);
  }
  return absl::OkStatus();
}

absl::Status AgentPool::TreeGone(std::string_view name, Now now, PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (!agent->process) return absl::OkStatus();
  if (agent->ending == Ending::kNo) {
    return absl::FailedPreconditionError(fmt::format("{} is {}: its process runs", name, Word(agent->state)));
  }
  Gone(std::string(name), *agent, now, actions);
  return absl::OkStatus();
}

void AgentPool::Gone(const std::string& name, Agent& agent, Now now, PoolActions& actions) {
  agent.process = false;
  agent.ending = Ending::kNo;
  agent.deadline_ns = kNever;
  const bool asked_to = std::exchange(agent.asked_to, false);
  // One that failed by itself and was then asked to stop stays `error`, with its reason.
  if (asked_to && acp::Next(agent.state, E::kStopped)) {
    (void)Become(name, agent, E::kStopped, "", actions);
  }
  if (std::exchange(agent.start_after, false)) (void)Start(name, now, actions);
}

absl::Status AgentPool::Use(std::string_view name, Now, PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (agent->ending != Ending::kNo || (agent->state != S::kReady && agent->state != S::kBusy)) {
    return absl::FailedPreconditionError(fmt::format("{} is {}", name, Word(agent->state)));
  }
  if (agent->users++ > 0) return absl::OkStatus();
  return Become(std::string(name), *agent, E::kUsed, "", actions);
}

absl::Status AgentPool::Release(std::string_view name, Now, PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (agent->users == 0) return absl::FailedPreconditionError(fmt::format("nobody uses {}", name));
  if (--agent->users > 0) return absl::OkStatus();
  return Become(std::string(name), *agent, E::kLastUserDone, "", actions);
}

int64_t AgentPool::Deadline() const {
  int64_t first = kNever;
  for (const auto& [name, agent] : agents_) first = std::min(first, agent.deadline_ns);
  return first;
}

void AgentPool::Tick(Now now, PoolActions& actions) {
  for (auto& [name, agent] : agents_) {
    if (agent.deadline_ns > now.mono_ns) continue;
    if (agent.ending == Ending::kInputClosed) {
      agent.ending = Ending::kTerminated;
      agent.deadline_ns = now.mono_ns + ladder_.terminated_ns;
      actions.push_back(SignalAgent{name, false});
    } else if (agent.ending == Ending::kTerminated || agent.ending == Ending::kKilled) {
      // Again for as long as something is there: what was being started meanwhile got away from the one
      // before.
      agent.ending = Ending::kKilled;
      agent.deadline_ns = now.mono_ns + kSecond;
      actions.push_back(SignalAgent{name, true});
    } else {
      agent.deadline_ns = kNever;
    }
  }
}

AgentState AgentPool::state(std::string_view agent) const {
  const auto it = agents_.find(agent);
  return it == agents_.end() ? S::kStopped : it->second.state;
}
const std::string& AgentPool::error(std::string_view agent) const {
  static const std::string kNone;
  const auto it = agents_.find(agent);
  return it == agents_.end() ? kNone : it->second.error;
}
bool AgentPool::stopping(std::string_view agent) const {
  const auto it = agents_.find(agent);
  return it != agents_.end() && it->second.ending != Ending::kNo;
}
bool AgentPool::idle() const {
  return std::none_of(agents_.begin(), agents_.end(), [](const auto& a) { return a.second.process; });
}

}  // namespace watchbill::acp
