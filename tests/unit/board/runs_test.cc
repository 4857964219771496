#include "runs.hpp"

#include <doctest/doctest.h>

namespace watchbill::board {
namespace {

constexpr Now kNow{1000 * kSecond, 1'790'000'000'000};

void Enter(Runs& runs, const char* id, OptText parent = {}, OptText agent = {}) {
  RunEntered e;
  e.run_id = id;
  e.parent_run_id = parent;
  e.agent = agent;
  runs.Enter(e, kNow);
}

void Exit(Runs& runs, const char* id, const char* outcome, OptText failure = {}) {
  RunExited e;
  e.run_id = id;
  e.outcome = outcome;
  e.failure = failure;
  runs.Exit(e, kNow);
}

void File(Runs& runs, const char* run, const char* kind, int64_t tokens, OptText parent = {},
          std::optional<double> cost = {}, bool room = true) {
  LogArrived e;
  e.run_id = run;
  e.parent_run_id = parent;
  e.kind = kind;
  e.name = "step";
  e.tokens = tokens;
  e.cost = cost;
  runs.File(e, kNow, 200, room);
}

TEST_CASE("B3 what a delegation spent is the delegated run's, and its parent's total") {
  Runs runs;
  Enter(runs, "p");
  File(runs, "p", "llm", 740);
  Enter(runs, "c", "p", "SQL Agent");
  File(runs, "c", "llm", 500);
  File(runs, "c", "tool", 30, {}, 0.25);
  const RunRecord& p = *runs.Find("p");
  CHECK(p.tokens == 740);
  CHECK(p.total_tokens == 1270);
  CHECK(p.llm_calls == 1);
  CHECK(p.total_llm_calls == 2);
  CHECK(p.total_tool_calls == 1);
  CHECK_FALSE(p.cost.has_value());
  CHECK(p.total_cost == 0.25);
  CHECK(runs.Find("c")->parent == &p);
  CHECK(runs.roots().size() == 1);
}

TEST_CASE("B3 a child that comes before its parent finds it later, totals and all") {
  Runs runs;
  File(runs, "c", "llm", 500, "p");
  CHECK(runs.roots().size() == 1);
  CHECK(runs.Count().running == 0);  // it is somebody's child, not a thing of its own
  Enter(runs, "p");
  CHECK(runs.roots().size() == 1);
  CHECK(runs.Find("p")->total_tokens == 500);
  CHECK(runs.Count().running == 1);
}

TEST_CASE("B3 a circle of parents is not a tree, and ends nothing") {
  Runs runs;
  Enter(runs, "a", "b");
  Enter(runs, "b", "a");
  Enter(runs, "s", "s");
  File(runs, "a", "llm", 5);
  File(runs, "b", "llm", 7);
  CHECK(runs.Find("a")->total_tokens + runs.Find("b")->total_tokens <= 5 + 7 + 12);
  runs.Interrupt(kNow);
  CHECK(runs.Bound(1, 1) >= 1);
}

TEST_CASE("B3 states come from outcomes") {
  Runs runs;
  const auto state = [&](const char* outcome) {
    Exit(runs, outcome, outcome);
    return std::string(WordFor(runs.Find(outcome)->state));
  };
  CHECK(state("done") == "ok");
  CHECK(state("error") == "failed");
  CHECK(state("stopped") == "failed");
  CHECK(state("waiting: question") == "waiting");
  CHECK(runs.Find("stopped")->failure.empty());
  CHECK(runs.Find("error")->failure == "unknown");
}

TEST_CASE("B3 what has ended stays ended; what waited goes on") {
  Runs runs;
  Exit(runs, "r", "done");
  Enter(runs, "r");
  CHECK(runs.Find("r")->state == RunState::kOk);
  Exit(runs, "w", "waiting: approval");
  Enter(runs, "w");
  CHECK(runs.Find("w")->state == RunState::kRunning);
  CHECK(runs.Find("w")->outcome.empty());
}

TEST_CASE("B3 the cause of a failed delegation is what broke in it") {
  Runs runs;
  Enter(runs, "p");
  Enter(runs, "c", "p");
  Enter(runs, "g", "c");
  Exit(runs, "g", "error", "tool");
  Exit(runs, "c", "error", "agent");
  Exit(runs, "p", "error", "agent");
  CHECK(Runs::CauseOf(*runs.Find("p")) == "tool");
  Exit(runs, "x", "error", "agent");
  CHECK(Runs::CauseOf(*runs.Find("x")) == "agent");
}

TEST_CASE("B6 where says how far into the delegation execution has got") {
  Runs runs;
  Enter(runs, "p");
  Enter(runs, "c1", "p", "Mail Agent");
  Exit(runs, "c1", "done");
  Enter(runs, "c2", "p", "SQL Agent");
  Enter(runs, "g", "c2", "Schema Agent");
  std::vector<std::string_view> where;
  Runs::WhereOf(*runs.Find("p"), where);
  CHECK(where == std::vector<std::string_view>{"SQL Agent", "Schema Agent"});
}

TEST_CASE("B3 steps are the newest two hundred, and runs the newest; ended ones go first") {
  Runs runs;
  for (int i = 0; i < 250; ++i) File(runs, "r", "tool", 1);
  CHECK(runs.Find("r")->steps.size() == 200);
  CHECK(runs.Find("r")->dropped_steps == 50);
  CHECK(runs.Find("r")->tool_calls == 250);
  for (int i = 0; i < 10; ++i) {
    const std::string id = "e" + std::to_string(i);
    Exit(runs, id.c_str(), "done");
    Enter(runs, ("child-of-" + id).c_str(), id.c_str());
  }
  CHECK(runs.Bound(4, 100) == 14);
  CHECK(runs.Find("r") != nullptr);  // the oldest, and still in flight
  CHECK(runs.Find("e6") == nullptr);
  CHECK(runs.Find("child-of-e6") == nullptr);
  CHECK(runs.Find("e7") != nullptr);
  // What was let go is not among those that are to be pushed.
  for (const RunRecord* run : runs.TakeDirty()) CHECK(runs.Find(run->id) == run);
  CHECK(runs.TakeDirty().empty());
}

TEST_CASE(
    "B3 where the board holds no more steps, a run's oldest makes room, and a run without any keeps none") {
  Runs runs;
  File(runs, "old", "tool", 1);
  File(runs, "old", "tool", 1);
  CHECK(runs.steps() == 2);
  File(runs, "old", "tool", 1, {}, {}, false);
  File(runs, "new", "tool", 1, {}, {}, false);
  CHECK(runs.steps() == 2);
  CHECK(runs.Find("old")->dropped_steps == 1);
  CHECK(runs.Find("new")->dropped_steps == 1);
  CHECK(runs.Find("new")->tool_calls == 1);
  Exit(runs, "old", "done");
  Enter(runs, "newest");
  CHECK(runs.Bound(2, 10) == 1);
  CHECK(runs.steps() == 0);
}

TEST_CASE("a run's own lines are no steps of it") {
  Runs runs;
  File(runs, "r", "run", 812);
  File(runs, "r", "turn", 0);
  CHECK(runs.Find("r")->steps.empty());
  CHECK(runs.Find("r")->tokens == 812);
}

}  // namespace
}  // namespace watchbill::board
