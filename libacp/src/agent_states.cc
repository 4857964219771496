// The table of the states, with its words. The picture in docs/protocols/agent-states.md is drawn from it.
#include "watchbill/acp/agent_pool.hpp"

namespace watchbill::acp {
namespace {

using S = AgentState;
using E = AgentEvent;

// (Reference, "Transitions")
constexpr Transition kTransitions[] = {
    {S::kStopped, E::kStartRequested, S::kStarting},
    {S::kError, E::kStartRequested, S::kStarting},
    {S::kStarting, E::kHandshakeDone, S::kReady},
    {S::kStarting, E::kStartFailed, S::kError},
    {S::kStarting, E::kStopped, S::kStopped},
    {S::kReady, E::kUsed, S::kBusy},
    {S::kBusy, E::kLastUserDone, S::kReady},
    {S::kReady, E::kStopped, S::kStopped},
    {S::kBusy, E::kStopped, S::kStopped},
    {S::kReady, E::kIdle, S::kStopped},
    {S::kReady, E::kMadeRoom, S::kStopped},
    {S::kReady, E::kExited, S::kError},
    {S::kBusy, E::kExited, S::kError},
};

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

std::string_view Word(AgentEvent event) {
  switch (event) {
    case E::kStartRequested:
      return "start requested";
    case E::kHandshakeDone:
      return "handshake succeeds";
    case E::kStartFailed:
      return "start fails (handshake, other protocol, time-out)";
    case E::kUsed:
      return "used";
    case E::kLastUserDone:
      return "last user done";
    case E::kStopped:
      return "stopped as asked";
    case E::kIdle:
      return "stopped as idle for too long";
    case E::kMadeRoom:
      return "stopped to make room";
    case E::kExited:
      break;
  }
  return "exited on its own";
}

std::span<const Transition> Transitions() { return kTransitions; }

std::optional<AgentState> Next(AgentState from, AgentEvent event) {
  for (const Transition& row : kTransitions) {
    if (row.from == from && row.event == event) return row.to;
  }
  return std::nullopt;
}

}  // namespace watchbill::acp
