#include "watchbill/board/board.hpp"

#include <algorithm>

#include "clip.hpp"
#include "state.hpp"

namespace watchbill::board {
namespace {

constexpr int64_t kDecayEveryNs = 10 * kSecond;

}  // namespace

Board::Board(BoardOptions options, Now start) : state_(std::make_unique<State>(std::move(options), start)) {}
Board::~Board() = default;

void Board::Apply(const Event& event, Now now, Actions& actions) {
  std::visit([&](const auto& e) { state_->On(e, now, actions); }, event);
  if (state_->FlushAt() <= now.mono_ns) state_->Flush(now, actions);
}

void Board::Tick(Now now, Actions& actions) {
  State& s = *state_;
  // The one moment at which the board changes its mind by itself: without it, a board with nobody connected
  // would say "waiting to hear" for as long as it stayed open.
  if (!s.settled && now.mono_ns >= s.settle_at_ns) {
    s.settled = true;
    for (Agent* agent : s.Ordered()) s.Judge(*agent, now);
  }
  if (now.mono_ns >= s.look_at_ns) s.CheckLiveness(now, actions);
  if (now.mono_ns >= s.decay_at_ns) s.DecayRates(now);
  if (s.FlushAt() <= now.mono_ns) s.Flush(now, actions);
}

int64_t Board::Deadline() const {
  const State& s = *state_;
  const int64_t settle = s.settled ? kNever : s.settle_at_ns;
  return std::min({settle, s.look_at_ns, s.decay_at_ns, s.FlushAt()});
}

void Board::State::DecayRates(Now now) {
  bool any = rate.Advance(now.mono_ns);
  decay_at_ns = rate.idle() ? kNever : now.mono_ns + kDecayEveryNs;
  for (Agent* agent : Ordered()) {
    if (agent->rate.Advance(now.mono_ns)) {
      Touch(*agent, Urgency::kRows);
      any = true;
    }
  }
  if (any) want_rows = true;
}

// Whose words these are; nothing, and counted, before a register.
Agent* Board::State::Speaker(ConnectionId connection, Now now, Actions& actions) {
  Agent* agent = AgentAt(connection);
  if (agent == nullptr) {
    ++counters.frames_before_register;
  } else {
    ReachedBy(*agent, now, actions);
  }
  return agent;
}

void Board::State::KeepBounds(Agent& agent) {
  counters.runs_forgotten += agent.runs.Bound(options.root_runs_per_agent, options.runs_per_agent);
  steps_held += agent.runs.steps() - agent.steps_counted;
  agent.steps_counted = agent.runs.steps();
}

void Board::State::On(const RunEntered& e, Now now, Actions& actions) {
  Agent* agent = Speaker(e.connection, now, actions);
  if (agent == nullptr) return;
  agent->runs.Enter(e, now);
  KeepBounds(*agent);
  Touch(*agent, Urgency::kEverybody);
}

void Board::State::On(const RunExited& e, Now now, Actions& actions) {
  Agent* agent = Speaker(e.connection, now, actions);
  if (agent == nullptr) return;
  agent->runs.Exit(e, now);
  if (const RunRecord* run = agent->runs.Find(Clip(e.run_id, kMaxId));
      run != nullptr && run->parent_id.empty() && !run->live()) {
    agent->any_run_ended = true;
    agent->last_run_ok = run->state == RunState::kOk;
    agent->last_run_outcome = run->outcome;
    agent->last_run_wall_ms = now.wall_ms;
  }
  KeepBounds(*agent);
  Touch(*agent, Urgency::kEverybody);
}

void Board::State::On(const LogArrived& e, Now now, Actions& actions) {
  Agent* agent = Speaker(e.connection, now, actions);
  if (agent == nullptr) return;
  const bool counted =
      !e.entry.absent() && (e.id.absent() || agent->seen.Insert(e.id.text(), e.run_id.value_or("")));
  if (!e.entry.absent() && !counted) ++counters.entries_seen_again;
  if (counted) {
    if (e.tokens) {
      if (!agent->tokens) ++agents_spending;
      agent->tokens = agent->tokens.value_or(0) + *e.tokens;
      spent_tokens += *e.tokens;
      if (*e.tokens > 0) {
        agent->rate.Add(*e.tokens, now.mono_ns);
        rate.Add(*e.tokens, now.mono_ns);
        decay_at_ns = std::min(decay_at_ns, now.mono_ns + kDecayEveryNs);
      }
    }
    const bool filed = e.run_id && !e.run_id->empty();
    if (filed) {
      agent->runs.File(e, now, options.steps_per_run, steps_held < options.steps_per_board);
      KeepBounds(*agent);
    }
    // The figures travel with the line itself, which is no change of state: a whole board does not go out for
    // it.
    Touch(*agent, filed ? Urgency::kRows : Urgency::kWithNext);
  }
  ForwardLog(*agent, e, now, actions);
}

Plan Board::PlanRun(std::string_view id) const { return state_->PlanRun(id); }
Plan Board::PlanTerminate(std::string_view id) const { return state_->PlanTerminate(id); }

std::string Board::Frame(Now now) const {
  state_->MakeRows();
  return state_->WholeFrame(now);
}

bool Board::HasFolder(std::string_view folder) const {
  const std::string normal = NormalFolder(folder);
  return std::any_of(state_->agents.begin(), state_->agents.end(), [&](const auto& entry) {
    const auto& keyed = entry.second->keyed;
    return keyed && !keyed->folder.empty() && NormalFolder(keyed->folder) == normal;
  });
}

size_t Board::rows() const { return state_->agents.size(); }
size_t Board::watchers() const { return state_->watchers.size(); }
const BoardCounters& Board::counters() const { return state_->counters; }

}  // namespace watchbill::board
