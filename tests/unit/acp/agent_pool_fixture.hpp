// A pool of five agents whose clock stands still until it is moved, and what a pool says to do, as words.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "watchbill/acp/agent_pool.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {

inline std::vector<std::string> Words(PoolActions& actions) {
  struct Say {
    std::string operator()(const SpawnAgent& a) const { return "spawn " + a.agent; }
    std::string operator()(const CloseAgentInput& a) const { return "close " + a.agent; }
    std::string operator()(const SignalAgent& a) const { return (a.kill ? "kill " : "terminate ") + a.agent; }
    std::string operator()(const AgentChanged& a) const {
      return a.agent + " is " + std::string(Word(a.state)) + (a.error.empty() ? "" : ": " + a.error);
    }
    std::string operator()(const AgentRemoved& a) const { return a.agent + " is removed"; }
  };
  std::vector<std::string> words;
  for (const PoolAction& action : actions) words.push_back(std::visit(Say{}, action));
  actions.clear();
  return words;
}

// Agents a, b, c, d, e: added in another order, which is the configuration's.
struct PoolFixture {
  AgentPool pool;
  PoolActions actions;
  Now now{AgentPool::kLookNs * 100, 0};

  explicit PoolFixture(AgentPool::Limits limits) : pool(limits) {
    for (const char* name : {"e", "d", "c", "b", "a"}) pool.Add(name);
  }
  std::vector<std::string> Said() { return Words(actions); }
  void Quiet() { actions.clear(); }
  void After(int64_t ns) {
    now.mono_ns += ns;
    pool.Tick(now, actions);
  }
  absl::Status Start(const std::string& name) { return pool.Start(name, now, actions); }
  void Ready(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      REQUIRE(Start(name).ok());
      REQUIRE(pool.HandshakeDone(name, now, actions).ok());
    }
    Quiet();
  }
  void Busy(std::initializer_list<const char*> names) {
    Ready(names);
    for (const char* name : names) REQUIRE(pool.Use(name, now, actions).ok());
    Quiet();
  }
  void Stop(const std::string& name) { REQUIRE(pool.Stop(name, now, actions).ok()); }
  void Restart(const std::string& name) { REQUIRE(pool.Restart(name, now, actions).ok()); }
  void Exited(const std::string& name) {
    REQUIRE(pool.Exited(name, "exit code 0", false, now, actions).ok());
  }
  void Release(const std::string& name) { REQUIRE(pool.Release(name, now, actions).ok()); }
  void Refused(const std::string& name, const std::string& sentence) {
    const AgentState before = pool.state(name);
    const absl::Status status = Start(name);
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK(MessageOf(status) == sentence);
    CHECK(actions.empty());
    CHECK(pool.state(name) == before);
    CHECK_FALSE(pool.waiting(name));
  }
};

}  // namespace watchbill::acp
