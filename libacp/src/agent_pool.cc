#include "watchbill/acp/agent_pool.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace watchbill::acp {
namespace {

using S = AgentState;
using E = AgentEvent;

absl::Status NoSuchAgent(std::string_view agent) {
  return absl::NotFoundError(fmt::format("There is no agent named \"{}\".", agent));
}

}  // namespace

const AgentPool::Agent* AgentPool::Find(std::string_view agent) const {
  const auto it =
      std::find_if(agents_.begin(), agents_.end(), [agent](const Agent& a) { return a.name == agent; });
  return it == agents_.end() ? nullptr : &*it;
}
AgentPool::Agent* AgentPool::Find(std::string_view agent) {
  return const_cast<Agent*>(std::as_const(*this).Find(agent));
}
AgentPool::Agent* AgentPool::Configured(std::string_view agent) {
  Agent* found = Find(agent);
  return found == nullptr || found->removed ? nullptr : found;
}

void AgentPool::Add(std::string_view name) {
  Agent* agent = Find(name);
  if (agent == nullptr) {
    agents_.emplace_back().name = name;
    return;
  }
  if (std::exchange(agent->removed, false) && agent->state == S::kError) {
    // Of the agent that this one follows; no row of the table leads from there.
    agent->state = S::kStopped;
    agent->error.clear();
  }
  const auto at = agents_.begin() + (agent - agents_.data());
  std::rotate(at, at + 1, agents_.end());
}

absl::Status AgentPool::Remove(std::string_view name, Now now, PoolActions& actions) {
  Agent* agent = Configured(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (absl::Status status = Stop(name, now, actions); !status.ok()) return status;
  agent->removed = true;
  if (!agent->process) Gone(*agent, now, actions);
  return absl::OkStatus();
}

void AgentPool::SetLimits(Limits limits, Now now, PoolActions& actions) {
  limits_ = limits;
  Settle(now, actions);
}

absl::Status AgentPool::Become(Agent& agent, E event, std::string_view error, PoolActions& actions) {
  const auto to = acp::Next(agent.state, event);
  if (!to) {
    return absl::FailedPreconditionError(
        fmt::format("{} is {}: that cannot happen now", agent.name, Word(agent.state)));
  }
  agent.state = *to;
  agent.error = error;
  if (*to == S::kStopped || *to == S::kError) agent.users = 0;
  actions.push_back(AgentChanged{agent.name, agent.state, agent.error, event});
  return absl::OkStatus();
}

void AgentPool::Spawn(Agent& agent, PoolActions& actions) {
  agent.waits = 0;
  (void)Become(agent, E::kStartRequested, "", actions);
  agent.process = true;
  actions.push_back(SpawnAgent{agent.name});
}

absl::Status AgentPool::Start(std::string_view name, Now now, PoolActions& actions) {
  Agent* agent = Configured(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (agent->holds_place()) return absl::OkStatus();
  if (limits_.max_running != 0) {
    size_t busy = 0;
    std::string who;
    for (const Agent& other : agents_) {
      if (!other.holds_place() || other.idle()) continue;
      who += (busy++ == 0 ? "" : ", ") + other.name;
    }
    if (busy >= limits_.max_running) {
      return absl::FailedPreconditionError(fmt::format(
          "too many agents running: {} agent(s) busy ({}), the limit is {}", busy, who, limits_.max_running));
    }
  }
  agent->waits = ++asked_;
  MakeRoom(now, actions);
  Settle(now, actions);
  return absl::OkStatus();
}

void AgentPool::BeginEnd(Agent& agent, Now now, PoolActions& actions) {
  if (agent.ending != Ending::kNo) return;
  agent.ending = Ending::kInputClosed;
  agent.deadline_ns = now.mono_ns + ladder_.input_closed_ns;
  actions.push_back(CloseAgentInput{agent.name});
}

absl::Status AgentPool::Stop(std::string_view name, Now now, PoolActions& actions) {
  Agent* agent = Configured(name);
  if (agent == nullptr) return NoSuchAgent(name);
  agent->waits = 0;
  agent->again = false;
  if (agent->process) {
    agent->asked = E::kStopped;
    BeginEnd(*agent, now, actions);
  }
  Settle(now, actions);
  return absl::OkStatus();
}

absl::Status AgentPool::Restart(std::string_view name, Now now, PoolActions& actions) {
  Agent* agent = Configured(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (!agent->process || agent->ending != Ending::kNo) return Start(name, now, actions);
  agent->again = true;
  agent->asked = E::kStopped;
  BeginEnd(*agent, now, actions);
  Settle(now, actions);
  return absl::OkStatus();
}

void AgentPool::StopAll(Now now, PoolActions& actions) {
  for (const Agent& agent : agents_) (void)Stop(agent.name, now, actions);  // removed ones are ending already
}

absl::Status AgentPool::HandshakeDone(std::string_view name, Now now, PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  // A stop that was asked for meanwhile: it is `stopped` once its process has gone.
  if (agent->state == S::kStarting && agent->ending != Ending::kNo) return absl::OkStatus();
  if (absl::Status status = Become(*agent, E::kHandshakeDone, "", actions); !status.ok()) return status;
  agent->idle_since_ns = now.mono_ns;
  // It is there for whoever started it: it does not give way before the next look or start.
  Settle(now, actions);
  return absl::OkStatus();
}

absl::Status AgentPool::StartFailed(std::string_view name, std::string_view why, bool running, Now now,
                                    PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (!agent->asked || agent->state != S::kStarting) {
    if (absl::Status status = Become(*agent, E::kStartFailed, why, actions); !status.ok()) return status;
  }
  if (!running) {
    Gone(*agent, now, actions);
    return absl::OkStatus();
  }
  BeginEnd(*agent, now, actions);
  Settle(now, actions);
  return absl::OkStatus();
}

absl::Status AgentPool::Exited(std::string_view name, std::string_view why, bool left, Now now,
                               PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (!agent->process) return absl::FailedPreconditionError(fmt::format("{} has no process", name));
  if (!agent->asked && agent->state != S::kError) {
    const E event = agent->state == S::kStarting ? E::kStartFailed : E::kExited;
    if (absl::Status status = Become(*agent, event, why, actions); !status.ok()) return status;
  }
  if (!left) {
    Gone(*agent, now, actions);
    return absl::OkStatus();
  }
  // Its own end was the hint to what it started; those get the rest of the ladder, which a signal that went
  // out already has begun.
  if (agent->ending == Ending::kNo || agent->ending == Ending::kInputClosed) {
    agent->ending = Ending::kTerminated;
    agent->deadline_ns = now.mono_ns + ladder_.terminated_ns;
    actions.push_back(SignalAgent{agent->name, false});
  }
  Settle(now, actions);
  return absl::OkStatus();
}

absl::Status AgentPool::TreeGone(std::string_view name, Now now, PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (!agent->process) return absl::OkStatus();
  if (agent->ending == Ending::kNo) {
    return absl::FailedPreconditionError(fmt::format("{} is {}: its process runs", name, Word(agent->state)));
  }
  Gone(*agent, now, actions);
  return absl::OkStatus();
}

void AgentPool::Gone(Agent& agent, Now now, PoolActions& actions) {
  agent.process = false;
  agent.ending = Ending::kNo;
  agent.deadline_ns = kNever;
  // One that failed by itself and was then asked to stop stays `error`, with its reason.
  if (const auto asked = std::exchange(agent.asked, std::nullopt); asked && acp::Next(agent.state, *asked)) {
    (void)Become(agent, *asked, "", actions);
  }
  if (agent.removed) {
    actions.push_back(AgentRemoved{std::move(agent.name)});
    agents_.erase(agents_.begin() + (&agent - agents_.data()));
  } else if (std::exchange(agent.again, false)) {
    Spawn(agent, actions);
  }
  Settle(now, actions);
}

absl::Status AgentPool::Use(std::string_view name, Now now, PoolActions& actions) {
  Agent* agent = Configured(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (agent->ending != Ending::kNo) {
    return absl::FailedPreconditionError(fmt::format("{} is being stopped", name));
  }
  if (agent->state != S::kReady && agent->state != S::kBusy) {
    return absl::FailedPreconditionError(fmt::format("{} is {}", name, Word(agent->state)));
  }
  if (agent->users++ > 0) return absl::OkStatus();
  (void)Become(*agent, E::kUsed, "", actions);
  Settle(now, actions);
  return absl::OkStatus();
}

absl::Status AgentPool::Release(std::string_view name, Now now, PoolActions& actions) {
  Agent* agent = Find(name);
  if (agent == nullptr) return NoSuchAgent(name);
  if (agent->users == 0) return absl::FailedPreconditionError(fmt::format("nobody uses {}", name));
  if (--agent->users > 0) return absl::OkStatus();
  (void)Become(*agent, E::kLastUserDone, "", actions);
  agent->idle_since_ns = now.mono_ns;
  // A limit that was lowered may have left a start without the place that it was promised.
  if (std::any_of(agents_.begin(), agents_.end(), [](const Agent& a) { return a.waits != 0; })) {
    MakeRoom(now, actions);
  }
  Settle(now, actions);
  return absl::OkStatus();
}

bool AgentPool::TooMany() const {
  const auto held =
      std::count_if(agents_.begin(), agents_.end(), [](const Agent& a) { return a.holds_place(); });
  return limits_.max_running != 0 && static_cast<size_t>(held) > limits_.max_running;
}

// Ends the least recently used of those that are idle, while places are held or promised that are not there.
void AgentPool::MakeRoom(Now now, PoolActions& actions) {
  while (TooMany()) {
    Agent* first = nullptr;
    for (Agent& agent : agents_) {
      if (agent.idle() && (first == nullptr || agent.idle_since_ns < first->idle_since_ns)) first = &agent;
    }
    if (first == nullptr) return;
    first->asked = E::kMadeRoom;
    BeginEnd(*first, now, actions);
  }
}

void AgentPool::Look(Now now, PoolActions& actions) {
  if (limits_.stop_idle_after_ns > 0) {
    for (Agent& agent : agents_) {
      if (!agent.idle() || now.mono_ns - agent.idle_since_ns < limits_.stop_idle_after_ns) continue;
      agent.asked = E::kIdle;
      BeginEnd(agent, now, actions);
    }
  }
  MakeRoom(now, actions);
}

// What follows from any change: starts that waited, and when to look.
void AgentPool::Settle(Now now, PoolActions& actions) {
  auto running = static_cast<size_t>(
      std::count_if(agents_.begin(), agents_.end(), [](const Agent& a) { return a.process; }));
  for (; limits_.max_running == 0 || running < limits_.max_running; ++running) {
    Agent* next = nullptr;
    for (Agent& agent : agents_) {
      if (agent.waits == 0 || agent.process) continue;
      if (next == nullptr || agent.waits < next->waits) next = &agent;
    }
    if (next == nullptr) break;
    Spawn(*next, actions);
  }
  const bool to_look = (limits_.stop_idle_after_ns > 0 || TooMany()) &&
                       std::any_of(agents_.begin(), agents_.end(), [](const Agent& a) { return a.idle(); });
  if (!to_look) {
    look_ns_ = kNever;
  } else if (look_ns_ == kNever) {
    look_ns_ = (now.mono_ns / kLookNs + 1) * kLookNs;
  }
}

int64_t AgentPool::Deadline() const {
  int64_t first = look_ns_;
  for (const Agent& agent : agents_) first = std::min(first, agent.deadline_ns);
  return first;
}

void AgentPool::Tick(Now now, PoolActions& actions) {
  for (Agent& agent : agents_) {
    if (agent.deadline_ns > now.mono_ns) continue;
    // Killed again for as long as something is there: what was being started meanwhile got away from the one
    // before.
    const bool kill = agent.ending != Ending::kInputClosed;
    agent.ending = kill ? Ending::kKilled : Ending::kTerminated;
    agent.deadline_ns = now.mono_ns + (kill ? kSecond : ladder_.terminated_ns);
    actions.push_back(SignalAgent{agent.name, kill});
  }
  if (look_ns_ <= now.mono_ns) {
    look_ns_ = kNever;
    Look(now, actions);
  }
  Settle(now, actions);
}

std::vector<std::string> AgentPool::names() const {
  std::vector<std::string> names;
  names.reserve(agents_.size());
  for (const Agent& agent : agents_) names.push_back(agent.name);
  return names;
}

AgentState AgentPool::state(std::string_view agent) const {
  const Agent* found = Find(agent);
  return found == nullptr ? S::kStopped : found->state;
}
const std::string& AgentPool::error(std::string_view agent) const {
  static const std::string kNone;
  const Agent* found = Find(agent);
  return found == nullptr ? kNone : found->error;
}
bool AgentPool::stopping(std::string_view agent) const {
  const Agent* found = Find(agent);
  return found != nullptr && found->ending != Ending::kNo;
}
bool AgentPool::waiting(std::string_view agent) const {
  const Agent* found = Find(agent);
  return found != nullptr && (found->waits != 0 || found->again);
}
bool AgentPool::removed(std::string_view agent) const {
  const Agent* found = Find(agent);
  return found != nullptr && found->removed;
}
bool AgentPool::idle() const {
  return std::none_of(agents_.begin(), agents_.end(), [](const Agent& a) { return a.process; });
}

}  // namespace watchbill::acp
