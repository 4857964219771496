#include "runs.hpp"

#include <algorithm>
#include <utility>

#include "clip.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::board {
namespace {

std::string Kept(OptText text, size_t bytes) { return std::string(Clip(text.value_or(""), bytes)); }

void KeepIfSaid(std::string& kept, OptText said, size_t bytes) {
  if (said && !said->empty()) kept = Clip(*said, bytes);
}

RunState StateFor(const RunExited& e) {
  const std::string_view outcome = e.outcome.value_or("");
  if (outcome == "done") return RunState::kOk;
  if (outcome.starts_with("waiting")) return RunState::kWaiting;
  if (outcome.empty() && e.ok == true) return RunState::kOk;
  return RunState::kFailed;
}

}  // namespace

std::string_view WordFor(RunState state) {
  switch (state) {
    case RunState::kRunning:
      return "running";
    case RunState::kOk:
      return "ok";
    case RunState::kFailed:
      return "failed";
    case RunState::kWaiting:
      return "waiting";
  }
  return "";
}

RunRecord* Runs::Find(std::string_view id) {
  const auto it = runs_.find(ToAbsl(id));
  return it == runs_.end() ? nullptr : it->second.get();
}

RunRecord& Runs::Open(std::string_view full_id, OptText parent_id, Now now) {
  const std::string id(Clip(full_id, kMaxId));
  auto& slot = runs_[id];
  if (slot == nullptr) {
    slot = std::make_unique<RunRecord>();
    slot->id = id;
    slot->started_wall_ms = now.wall_ms;
    slot->started_mono_ns = now.mono_ns;
    roots_.push_back(slot.get());
    // Those that came before who delegated to them.
    std::vector<RunRecord*> waiting;
    for (RunRecord* root : roots_) {
      if (root->parent_id == id) waiting.push_back(root);
    }
    for (RunRecord* child : waiting) Adopt(*child, *slot);
  }
  RunRecord& run = *slot;
  if (parent_id && !parent_id->empty() && run.parent_id.empty()) {
    run.parent_id = Clip(*parent_id, kMaxId);
    if (RunRecord* parent = Find(run.parent_id)) Adopt(run, *parent);
  }
  return run;
}

void Runs::Adopt(RunRecord& run, RunRecord& parent) {
  if (run.parent != nullptr) return;
  for (const RunRecord* up = &parent; up != nullptr; up = up->parent) {
    if (up == &run) return;  // a circle is not a tree: both stay where they are
  }
  run.parent = &parent;
  parent.children.push_back(&run);
  std::erase(roots_, &run);
  for (RunRecord* up = &parent; up != nullptr; up = up->parent) {
    up->total_tokens += run.total_tokens;
    up->total_llm_calls += run.total_llm_calls;
    up->total_tool_calls += run.total_tool_calls;
    if (run.total_cost) up->total_cost = up->total_cost.value_or(0) + *run.total_cost;
  }
}

void Runs::Touch(RunRecord& run) {
  for (RunRecord* up = &run; up != nullptr; up = up->parent) {
    if (!up->dirty) dirty_.push_back(up);
    up->dirty = true;
  }
}

std::vector<RunRecord*> Runs::TakeDirty() {
  for (RunRecord* run : dirty_) run->dirty = false;
  return std::exchange(dirty_, {});
}

RunRecord& Runs::Describe(const RunEntered& e, Now now) {
  RunRecord& run = Open(e.run_id, e.parent_run_id, now);
  KeepIfSaid(run.agent, e.agent, kMaxName);
  KeepIfSaid(run.started_by, e.started_by, kMaxWord);
  KeepIfSaid(run.trigger_id, e.trigger_id, kMaxId);
  KeepIfSaid(run.thread, e.thread, kMaxId);
  return run;
}

void Runs::Enter(const RunEntered& e, Now now) {
  RunRecord& run = Describe(e, now);
  // What has ended stays ended; a run that waited goes on, and one announced again after its agent was away
  // is in flight after all.
  if (run.live()) {
    run.state = RunState::kRunning;
    run.outcome.clear();
    run.ended_wall_ms.reset();
    run.duration_ms.reset();
    run.interrupted_wall_ms.reset();
    if (const auto at = WallMsFromIso(e.at.value_or(""))) run.started_wall_ms = std::min(*at, now.wall_ms);
  }
  Touch(run);
}

void Runs::Exit(const RunExited& e, Now now) {
  RunRecord& run = Describe(e, now);
  run.state = StateFor(e);
  run.outcome = Kept(e.outcome, kMaxWord);
  run.error = Kept(e.error, kMaxSentence);
  run.node = Kept(e.node, kMaxName);
  run.failure = Kept(e.failure, kMaxWord);
  if (run.state == RunState::kFailed && run.failure.empty() && run.outcome != "stopped")
    run.failure = "unknown";
  run.duration_ms = e.duration_ms && *e.duration_ms >= 0 ? e.duration_ms : std::nullopt;
  run.answered = e.answered;
  run.interrupted_wall_ms.reset();
  run.ended_wall_ms = run.live() ? std::nullopt : std::optional(now.wall_ms);
  Touch(run);
}

void Runs::File(const LogArrived& e, Now now, size_t max_steps, bool room) {
  if (!e.run_id || e.run_id->empty()) return;
  RunRecord& run = Open(*e.run_id, e.parent_run_id, now);
  KeepIfSaid(run.agent, e.agent, kMaxName);
  if (run.started_by.empty()) KeepIfSaid(run.started_by, e.started_by, kMaxWord);
  const bool llm = e.kind == "llm";
  const bool tool = e.kind == "tool";
  run.tokens += e.tokens.value_or(0);
  run.llm_calls += llm;
  run.tool_calls += tool;
  if (e.cost) run.cost = run.cost.value_or(0) + *e.cost;
  for (RunRecord* up = &run; up != nullptr; up = up->parent) {
    up->total_tokens += e.tokens.value_or(0);
    up->total_llm_calls += llm;
    up->total_tool_calls += tool;
    if (e.cost) up->total_cost = up->total_cost.value_or(0) + *e.cost;
  }
  // `run` and `turn` are the run's own lines, and no step within it.
  if (e.kind != "run" && e.kind != "turn") {
    if (run.steps.size() >= max_steps || !room) {
      // The oldest makes room; where there is none, this one is not kept.
      ++run.dropped_steps;
      room = !run.steps.empty();
      if (room) run.steps.pop_front();
      steps_ -= room;
    }
    if (room) {
      run.steps.push_back(
          {Kept(e.name, kMaxName), Kept(e.kind, kMaxWord), Kept(e.at, kMaxWord), e.duration_ms, e.ok});
      ++steps_;
    }
  }
  Touch(run);
}

void Runs::Interrupt(Now now) {
  ForEach([&](RunRecord& run) {
    if (run.state != RunState::kRunning || run.interrupted_wall_ms) return;
    run.interrupted_wall_ms = now.wall_ms;
    Touch(run);
  });
}

size_t Runs::Bound(size_t max_roots, size_t max_runs) {
  size_t before = runs_.size();
  while (roots_.size() > 1 && (roots_.size() > max_roots || runs_.size() > max_runs)) {
    auto ended = std::find_if(roots_.begin(), roots_.end(), [](const RunRecord* r) { return !r->live(); });
    Forget(ended == roots_.end() ? roots_.front() : *ended);
  }
  return before - runs_.size();
}

void Runs::Forget(RunRecord* root) {
  std::erase(roots_, root);
  std::vector<RunRecord*> stack{root};
  while (!stack.empty()) {
    RunRecord* run = stack.back();
    stack.pop_back();
    stack.insert(stack.end(), run->children.begin(), run->children.end());
    if (run->dirty) std::erase(dirty_, run);
    steps_ -= run->steps.size();
    runs_.erase(std::string(run->id));
  }
}

Runs::Current Runs::Count() const {
  Current current;
  for (const RunRecord* run : roots_) {
    if (!run->parent_id.empty() || run->interrupted_wall_ms) continue;
    current.running += run->state == RunState::kRunning;
    current.waiting += run->state == RunState::kWaiting;
  }
  return current;
}

std::string_view Runs::CauseOf(const RunRecord& run) {
  const RunRecord* at = &run;
  while (at->failure == "agent") {
    const RunRecord* failed = nullptr;
    for (const RunRecord* child : at->children) {
      if (child->state == RunState::kFailed) failed = child;
    }
    if (failed == nullptr) break;
    at = failed;
  }
  return at->failure;
}

void Runs::WhereOf(const RunRecord& run, std::vector<std::string_view>& where) {
  for (const RunRecord* at = &run; at != nullptr;) {
    const RunRecord* deeper = nullptr;
    for (const RunRecord* child : at->children) {
      if (child->state == RunState::kRunning) deeper = child;
    }
    if (deeper != nullptr && !deeper->agent.empty()) where.push_back(deeper->agent);
    at = deeper;
  }
}

const Step* Runs::LastStepOf(const RunRecord& root) {
  const Step* last = root.steps.empty() ? nullptr : &root.steps.back();
  std::vector<const RunRecord*> stack(root.children.begin(), root.children.end());
  while (!stack.empty()) {
    const RunRecord* run = stack.back();
    stack.pop_back();
    stack.insert(stack.end(), run->children.begin(), run->children.end());
    if (run->steps.empty()) continue;
    if (last == nullptr || run->steps.back().at > last->at) last = &run->steps.back();
  }
  return last;
}

}  // namespace watchbill::board
