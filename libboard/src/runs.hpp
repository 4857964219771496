// The runs of one agent, gathered by id into a tree by parent ("Run correlation"), and nothing else: not by
// time, not by nearness.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "watchbill/base/now.hpp"
#include "watchbill/board/board.hpp"

namespace watchbill::board {

enum class RunState { kRunning, kOk, kFailed, kWaiting };
std::string_view WordFor(RunState state);

struct Step {
  std::string name, kind, at;
  std::optional<int64_t> ms;
  std::optional<bool> ok;
};

struct RunRecord {
  std::string id;
  std::string parent_id, agent, started_by, trigger_id, thread;  // empty: not said
  RunState state = RunState::kRunning;
  std::string outcome, error, failure, node;
  std::optional<bool> answered;
  int64_t started_wall_ms = 0;
  std::optional<int64_t> ended_wall_ms, duration_ms, interrupted_wall_ms;
  int64_t started_mono_ns = 0;

  // What its own calls spent, and with those of all it delegated.
  int64_t tokens = 0, total_tokens = 0;
  int64_t llm_calls = 0, tool_calls = 0, total_llm_calls = 0, total_tool_calls = 0;
  std::optional<double> cost, total_cost;

  std::deque<Step> steps;
  int64_t dropped_steps = 0;

  RunRecord* parent = nullptr;
  std::vector<RunRecord*> children;
  uint64_t changed = 0;  // the push that last had it
  bool dirty = false;

  bool live() const { return state == RunState::kRunning || state == RunState::kWaiting; }
};

class Runs {
 public:
  void Enter(const RunEntered& e, Now now);
  void Exit(const RunExited& e, Now now);
  // Files an entry that is counted for the first time. Without room for one more step, the run's oldest makes
  // it.
  void File(const LogArrived& e, Now now, size_t max_steps, bool room);
  // The agent is gone: what is in flight has no outcome, and none is invented.
  void Interrupt(Now now);
  // The runs that changed since the last time, and those that delegated to them, whose totals moved.
  std::vector<RunRecord*> TakeDirty();
  bool dirty() const { return !dirty_.empty(); }
  // Lets the oldest go, ended ones first. Gives how many runs went.
  size_t Bound(size_t max_roots, size_t max_runs);

  // Root runs in flight, the interrupted ones left out.
  struct Current {
    int64_t running = 0, waiting = 0;
  };
  Current Count() const;

  // The failure that a failed delegation goes back to.
  static std::string_view CauseOf(const RunRecord& run);
  // How far into the delegation chain execution has got.
  static void WhereOf(const RunRecord& run, std::vector<std::string_view>& where);
  static const Step* LastStepOf(const RunRecord& run);

  const std::deque<RunRecord*>& roots() const { return roots_; }
  RunRecord* Find(std::string_view id);
  // Of all runs together.
  size_t steps() const { return steps_; }
  // Every run, in the order they came.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    std::vector<RunRecord*> stack;
    for (RunRecord* root : roots_) {
      stack.push_back(root);
      while (!stack.empty()) {
        RunRecord* run = stack.back();
        stack.pop_back();
        visit(*run);
        stack.insert(stack.end(), run->children.begin(), run->children.end());
      }
    }
  }

 private:
  // The run that an edge is about, with what the edge says of it.
  RunRecord& Describe(const RunEntered& e, Now now);
  RunRecord& Open(std::string_view id, OptText parent, Now now);
  void Adopt(RunRecord& run, RunRecord& parent);
  void Forget(RunRecord* root);
  void Touch(RunRecord& run);

  absl::flat_hash_map<std::string, std::unique_ptr<RunRecord>> runs_;
  // Runs that nobody here has delegated: true roots, and those whose parent has not been heard of (yet).
  std::deque<RunRecord*> roots_;
  std::vector<RunRecord*> dirty_;
  size_t steps_ = 0;
};

}  // namespace watchbill::board
