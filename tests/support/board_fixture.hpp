// A board with a clock of the test's own, and what came out of it.
#pragma once

#include <string>
#include <vector>

#include "json_document.hpp"
#include "watchbill/board/board.hpp"

namespace watchbill::board {

inline constexpr const char* kIdA = "aaaaaaaa-0000-4000-8000-000000000001";
inline constexpr const char* kIdB = "bbbbbbbb-0000-4000-8000-000000000002";

class BoardFixture {
 public:
  explicit BoardFixture(BoardOptions options = WithHere()) : board(std::move(options), now) {}

  static BoardOptions WithHere() {
    BoardOptions options;
    options.here = "here";
    return options;
  }

  void Apply(const Event& event) {
    board.Apply(event, now, actions);
    Collect();
  }
  // Moves on by steps no longer than the board asks for, as a loop would.
  void Wait(int64_t ns) {
    const int64_t until = now.mono_ns + ns;
    while (now.mono_ns < until) {
      const int64_t next = std::max(now.mono_ns + kMillisecond, std::min(until, board.Deadline()));
      Advance(std::min(next, until) - now.mono_ns);
      board.Tick(now, actions);
      Collect();
    }
  }
  void Advance(int64_t ns) {
    now.mono_ns += ns;
    now.wall_ms += ns / kMillisecond;
  }

  void Register(ConnectionId connection, const char* id, const char* name = "Agent",
                const char* host = "here", const char* cwd = "/srv/agent") {
    AgentRegistered e;
    e.connection = connection;
    if (id != nullptr) e.id = id;
    e.name = name;
    e.host = host;
    e.cwd = cwd;
    Apply(e);
  }
  void Enter(ConnectionId connection, const char* run, OptText parent = {}) {
    RunEntered e;
    e.connection = connection;
    e.run_id = run;
    e.parent_run_id = parent;
    Apply(e);
  }
  void Exit(ConnectionId connection, const char* run, const char* outcome, OptText failure = {}) {
    RunExited e;
    e.connection = connection;
    e.run_id = run;
    e.outcome = outcome;
    e.ok = std::string_view(outcome) == "done";
    e.failure = failure;
    Apply(e);
  }
  void Entry(ConnectionId connection, const char* id, std::optional<int64_t> tokens, OptText run = {},
             OptText kind = "llm") {
    LogArrived e;
    e.connection = connection;
    e.entry = JsonView::Trusted("{\"id\":1}");
    e.id = JsonView::Trusted(id);
    e.kind = kind;
    e.tokens = tokens;
    e.run_id = run;
    Apply(e);
  }
  void List(std::vector<KeyedAgent> agents) { Apply(ListChanged{agents}); }

  // The row of that id, as the whole frame has it.
  json::Value Row(std::string_view id) {
    frame = board.Frame(now);
    REQUIRE(document.Parse(frame).ok());
    const json::Value agents = document.root()["agents"];
    for (json::Value row = agents.First(); !row.absent(); row = row.Next()) {
      if (row["id"].AsString() == id) return row;
    }
    return {};
  }
  std::string StateOf(std::string_view id) {
    return std::string(Row(id)["state"].AsString().value_or("no row"));
  }

  // What this watcher was sent, oldest first, and no longer is here.
  std::vector<std::string> Take(WatcherId watcher) {
    std::vector<std::string> out;
    std::vector<Push> kept;
    for (Push& push : pushes) {
      if (std::find(push.to.begin(), push.to.end(), watcher) != push.to.end()) out.push_back(*push.bytes);
    }
    std::erase_if(pushes, [&](const Push& p) { return p.to.size() == 1 && p.to[0] == watcher; });
    for (Push& push : pushes) std::erase(push.to, watcher);
    return out;
  }
  static std::string TypeOf(const std::string& frame_text) {
    json::Document d({.bytes = SIZE_MAX, .depth = 64});
    return d.Parse(frame_text).ok() ? std::string(d.root()["type"].AsString().value_or("")) : "not JSON";
  }

  template <typename Kind>
  std::vector<Kind> Taken() {
    std::vector<Kind> out;
    std::erase_if(other, [&](const Action& a) {
      const auto* kind = std::get_if<Kind>(&a);
      if (kind != nullptr) out.push_back(*kind);
      return kind != nullptr;
    });
    return out;
  }

  Now now{1'000 * kSecond, 1'790'000'000'000};
  Board board;
  std::vector<Push> pushes;
  std::vector<Action> other;

 private:
  void Collect() {
    for (Action& action : actions) {
      if (auto* push = std::get_if<Push>(&action)) {
        pushes.push_back(std::move(*push));
      } else {
        other.push_back(std::move(action));
      }
    }
    actions.clear();
  }

  Actions actions;
  std::string frame;
  json::Document document{{.bytes = SIZE_MAX, .depth = 64}};
};

}  // namespace watchbill::board
