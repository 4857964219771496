// Agents that enter and leave the configuration. (src/agent_pool.cc)
#include <doctest/doctest.h>

#include "agent_pool_fixture.hpp"

namespace watchbill::acp {
namespace {

using List = std::vector<std::string>;
using S = AgentState;
using Limits = AgentPool::Limits;
using Fixture = PoolFixture;

TEST_CASE("S2 names are in the configuration's order, which adding again changes") {
  Fixture f({});
  CHECK(f.pool.names() == List{"e", "d", "c", "b", "a"});
  f.Busy({"c"});
  for (const char* name : {"a", "b", "c", "f", "d"}) f.pool.Add(name);
  REQUIRE(f.pool.Remove("e", f.now, f.actions).ok());
  CHECK(f.Said() == List{"e is removed"});
  CHECK_FALSE(f.pool.Has("e"));
  CHECK(f.pool.names() == List{"a", "b", "c", "f", "d"});
  CHECK(f.pool.state("c") == S::kBusy);
  f.pool.SetLimits(Limits{.max_running = 2}, f.now, f.actions);
  REQUIRE(f.Start("a").ok());
  f.Quiet();
  f.Refused("b", "too many agents running: 2 agent(s) busy (a, c), the limit is 2");
}

TEST_CASE("S2 S6 an agent that leaves the configuration is stopped, and gone when its process is") {
  Fixture f({});
  f.Busy({"a"});
  const auto not_there = [&f](const absl::Status& status) {
    CHECK(status.code() == absl::StatusCode::kNotFound);
    CHECK(f.actions.empty());
  };
  REQUIRE(f.pool.Remove("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"close a"});
  CHECK(f.pool.removed("a"));
  CHECK(f.pool.Has("a"));
  CHECK(f.pool.state("a") == S::kBusy);
  not_there(f.Start("a"));
  not_there(f.pool.Stop("a", f.now, f.actions));
  not_there(f.pool.Restart("a", f.now, f.actions));
  not_there(f.pool.Use("a", f.now, f.actions));
  not_there(f.pool.Remove("a", f.now, f.actions));
  f.pool.StopAll(f.now, f.actions);
  CHECK(f.Said().empty());
  f.Release("a");
  CHECK(f.Said() == List{"a is ready"});
  f.After(5 * kSecond);
  CHECK(f.Said() == List{"terminate a"});
  SUBCASE("gone") {
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "a is removed"});
    CHECK_FALSE(f.pool.Has("a"));
    CHECK(f.pool.names() == List{"e", "d", "c", "b"});
    not_there(f.pool.Exited("a", "", false, f.now, f.actions));
    f.pool.Add("a");
    CHECK(f.pool.state("a") == S::kStopped);
  }
  SUBCASE("added again meanwhile, and not started") {
    f.pool.Add("a");
    CHECK_FALSE(f.pool.removed("a"));
    CHECK(f.pool.stopping("a"));
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped"});
    CHECK(f.pool.Has("a"));
  }
  SUBCASE("added again meanwhile, and started") {
    f.pool.Add("a");
    REQUIRE(f.Start("a").ok());
    CHECK(f.Said().empty());
    CHECK(f.pool.waiting("a"));
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "a is starting", "spawn a"});
  }
  SUBCASE("added again and removed again") {
    f.pool.Add("a");
    REQUIRE(f.Start("a").ok());
    REQUIRE(f.pool.Remove("a", f.now, f.actions).ok());
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "a is removed"});
  }
}

TEST_CASE("S2 one that is starting, being restarted or in error is removed") {
  Fixture f({});
  SUBCASE("starting") {
    REQUIRE(f.Start("a").ok());
    REQUIRE(f.pool.Remove("a", f.now, f.actions).ok());
    f.Quiet();
    REQUIRE(f.pool.HandshakeDone("a", f.now, f.actions).ok());
    CHECK(f.Said().empty());
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "a is removed"});
  }
  SUBCASE("being restarted") {
    f.Ready({"a"});
    f.Restart("a");
    REQUIRE(f.pool.Remove("a", f.now, f.actions).ok());
    f.Exited("a");
    CHECK(f.Said() == List{"close a", "a is stopped", "a is removed"});
  }
  SUBCASE("in error") {
    REQUIRE(f.Start("a").ok());
    REQUIRE(f.pool.StartFailed("a", "why", false, f.now, f.actions).ok());
    f.Quiet();
    REQUIRE(f.pool.Remove("a", f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is removed"});
    f.pool.Add("a");
    CHECK(f.pool.state("a") == S::kStopped);
    CHECK(f.pool.error("a").empty());
  }
  SUBCASE("in error, with something left of it") {
    f.Ready({"a"});
    REQUIRE(f.pool.Exited("a", "signal 11", true, f.now, f.actions).ok());
    REQUIRE(f.pool.Remove("a", f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is error: signal 11", "terminate a"});
    SUBCASE("gone") {
      REQUIRE(f.pool.TreeGone("a", f.now, f.actions).ok());
      CHECK(f.Said() == List{"a is removed"});
    }
    SUBCASE("added again: a new one, which may start when that is gone") {
      f.pool.Add("a");
      CHECK(f.pool.state("a") == S::kStopped);
      CHECK(f.pool.error("a").empty());
      REQUIRE(f.Start("a").ok());
      CHECK(f.Said().empty());
      REQUIRE(f.pool.TreeGone("a", f.now, f.actions).ok());
      CHECK(f.Said() == List{"a is starting", "spawn a"});
    }
  }
}

TEST_CASE("S4 a removed agent has its place until it is gone, and frees it") {
  Fixture f(Limits{.max_running = 1});
  f.Busy({"a"});
  REQUIRE(f.pool.Remove("a", f.now, f.actions).ok());
  REQUIRE(f.Start("b").ok());
  CHECK(f.Said() == List{"close a"});
  CHECK(f.pool.waiting("b"));
  f.Exited("a");
  CHECK(f.Said() == List{"a is stopped", "a is removed", "b is starting", "spawn b"});
}

}  // namespace
}  // namespace watchbill::acp
