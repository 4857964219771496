// The table of the states, by itself and as the pool goes by it. (src/agent_states.cc)
#include <doctest/doctest.h>

#include <set>
#include <utility>

#include "watchbill/acp/agent_pool.hpp"

namespace watchbill::acp {
namespace {

using S = AgentState;
using E = AgentEvent;

constexpr S kStates[] = {S::kStopped, S::kStarting, S::kReady, S::kBusy, S::kError};
constexpr E kEvents[] = {E::kStartRequested, E::kHandshakeDone, E::kStartFailed, E::kUsed,  E::kLastUserDone,
                         E::kStopped,        E::kIdle,          E::kMadeRoom,    E::kExited};

TEST_CASE("S1 the words of the states") {
  CHECK(Word(S::kStopped) == "stopped");
  CHECK(Word(S::kStarting) == "starting");
  CHECK(Word(S::kReady) == "ready");
  CHECK(Word(S::kBusy) == "busy");
  CHECK(Word(S::kError) == "error");
}

TEST_CASE("S2 every row of the table, and no other") {
  const std::set<std::pair<std::pair<S, E>, S>> rows = {{{S::kStopped, E::kStartRequested}, S::kStarting},
                                                        {{S::kError, E::kStartRequested}, S::kStarting},
                                                        {{S::kStarting, E::kHandshakeDone}, S::kReady},
                                                        {{S::kStarting, E::kStartFailed}, S::kError},
                                                        {{S::kStarting, E::kStopped}, S::kStopped},
                                                        {{S::kReady, E::kUsed}, S::kBusy},
                                                        {{S::kBusy, E::kLastUserDone}, S::kReady},
                                                        {{S::kReady, E::kStopped}, S::kStopped},
                                                        {{S::kBusy, E::kStopped}, S::kStopped},
                                                        {{S::kReady, E::kIdle}, S::kStopped},
                                                        {{S::kReady, E::kMadeRoom}, S::kStopped},
                                                        {{S::kReady, E::kExited}, S::kError},
                                                        {{S::kBusy, E::kExited}, S::kError}};
  size_t found = 0;
  for (const S from : kStates) {
    for (const E event : kEvents) {
      const auto to = Next(from, event);
      CAPTURE(Word(from));
      CAPTURE(Word(event));
      if (to) {
        ++found;
        CHECK(rows.count({{from, event}, *to}) == 1);
      } else {
        for (const auto& [row, wanted] : rows) CHECK_FALSE((row == std::pair{from, event}));
      }
    }
  }
  CHECK(found == rows.size());
  CHECK(Transitions().size() == rows.size());
  for (const Transition& row : Transitions()) CHECK(rows.count({{row.from, row.event}, row.to}) == 1);
}

TEST_CASE("S2 every event has a word of its own") {
  std::set<std::string_view> words;
  for (const E event : kEvents) {
    CHECK(words.insert(Word(event)).second);
    CHECK(Word(event).find_first_of(":;\n") == std::string_view::npos);
  }
  CHECK(words.count("start requested") == 1);
  CHECK(words.count("exited on its own") == 1);
}

// Brings about each event in each state through the pool's calls: what is a row of the table changes the
// state accordingly, and says why; what is none changes it not.
TEST_CASE("S2 the pool goes by the table, in every state and for every event") {
  for (const S from : kStates) {
    for (const E event : kEvents) {
      CAPTURE(Word(from));
      CAPTURE(Word(event));
      AgentPool pool(AgentPool::Limits{.max_running = 1, .stop_idle_after_ns = 1});
      PoolActions actions;
      Now now{1, 0};
      pool.Add("a");
      pool.Add("b");
      if (from != S::kStopped) REQUIRE(pool.Start("a", now, actions).ok());
      if (from == S::kError) REQUIRE(pool.StartFailed("a", "why", false, now, actions).ok());
      if (from == S::kReady || from == S::kBusy) REQUIRE(pool.HandshakeDone("a", now, actions).ok());
      if (from == S::kBusy) REQUIRE(pool.Use("a", now, actions).ok());
      REQUIRE(pool.state("a") == from);
      actions.clear();
      const auto ended = [&] {
        if (pool.stopping("a")) REQUIRE(pool.Exited("a", "exit code 0", false, now, actions).ok());
      };
      switch (event) {
        case E::kStartRequested:
          CHECK(pool.Start("a", now, actions).ok());
          break;
        case E::kHandshakeDone:
          CHECK(pool.HandshakeDone("a", now, actions).ok() == Next(from, event).has_value());
          break;
        case E::kStartFailed:
          CHECK(pool.StartFailed("a", "why", false, now, actions).ok() == Next(from, event).has_value());
          break;
        case E::kUsed:
          CHECK(pool.Use("a", now, actions).ok() == (from == S::kReady || from == S::kBusy));
          break;
        case E::kLastUserDone:
          CHECK(pool.Release("a", now, actions).ok() == Next(from, event).has_value());
          break;
        case E::kStopped:
          CHECK(pool.Stop("a", now, actions).ok());
          ended();
          break;
        case E::kIdle:
          now.mono_ns = AgentPool::kLookNs;
          pool.Tick(now, actions);
          CHECK(pool.stopping("a") == Next(from, event).has_value());
          ended();
          break;
        case E::kMadeRoom: {
          const absl::Status status = pool.Start("b", now, actions);
          CHECK(status.ok() == (from != S::kStarting && from != S::kBusy));
          CHECK(pool.stopping("a") == Next(from, event).has_value());
          ended();
          break;
        }
        case E::kExited:
          // While it starts, its end is a start that fails: another row.
          if (from == S::kStarting) continue;
          CHECK(pool.Exited("a", "why", false, now, actions).ok() == Next(from, event).has_value());
      }
      std::vector<std::pair<E, S>> seen, wanted;
      for (const PoolAction& action : actions) {
        const auto* changed = std::get_if<AgentChanged>(&action);
        if (changed != nullptr && changed->agent == "a") seen.emplace_back(changed->event, changed->state);
      }
      if (const auto to = Next(from, event)) wanted.emplace_back(event, *to);
      CHECK(pool.state("a") == Next(from, event).value_or(from));
      CHECK((seen == wanted));
    }
  }
}

}  // namespace
}  // namespace watchbill::acp
