// Limits of the pool, and idle stops. (src/agent_pool.cc)
#include <doctest/doctest.h>

#include "agent_pool_fixture.hpp"

namespace watchbill::acp {
namespace {

using List = std::vector<std::string>;
using S = AgentState;
using Limits = AgentPool::Limits;
using Fixture = PoolFixture;

TEST_CASE("S4 no limit, and a limit that is not reached") {
  for (const uint32_t limit : {0u, 5u}) {
    Fixture f(Limits{.max_running = limit});
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      REQUIRE(f.Start(name).ok());
      CHECK(f.Said() == List{std::string(name) + " is starting", std::string("spawn ") + name});
      CHECK_FALSE(f.pool.waiting(name));
    }
    CHECK(f.pool.Deadline() == kNever);
  }
}

TEST_CASE("S4 all places are taken by agents that do not give way: a start is refused, with their names") {
  Fixture f(Limits{.max_running = 2});
  f.Busy({"a", "b"});
  f.Refused("c", "too many agents running: 2 agent(s) busy (b, a), the limit is 2");
  // Those that run already are as welcome as ever.
  CHECK(f.Start("a").ok());
  CHECK(f.Said().empty());
  f.pool.SetLimits(Limits{.max_running = 1}, f.now, f.actions);
  f.Refused("c", "too many agents running: 2 agent(s) busy (b, a), the limit is 1");
  CHECK(f.Said().empty());
}

TEST_CASE("S4 one that starts has a place and does not give way") {
  Fixture f(Limits{.max_running = 1});
  REQUIRE(f.Start("d").ok());
  f.Quiet();
  f.Refused("c", "too many agents running: 1 agent(s) busy (d), the limit is 1");
  CHECK(f.pool.Restart("c", f.now, f.actions).code() == absl::StatusCode::kFailedPrecondition);
  REQUIRE(f.pool.StartFailed("d", "why", false, f.now, f.actions).ok());
  f.Quiet();
  CHECK(f.Start("c").ok());
  CHECK(f.Said() == List{"c is starting", "spawn c"});
}

TEST_CASE("S4 the least recently used idle agent gives way, and the start waits until it is gone") {
  Fixture f(Limits{.max_running = 3});
  f.Ready({"a"});
  f.After(1);
  f.Ready({"b"});
  f.After(1);
  f.Ready({"c"});
  f.After(1);
  const auto gives_way = [&f](const char* name) {
    REQUIRE(f.Start("e").ok());
    CHECK(f.Said() == List{std::string("close ") + name});
    CHECK(f.pool.waiting("e"));
    CHECK(f.pool.state("e") == S::kStopped);
    CHECK(f.pool.state(name) == S::kReady);
    CHECK(f.pool.Use(name, f.now, f.actions).code() == absl::StatusCode::kFailedPrecondition);
    CHECK(f.Start("e").ok());  // it waits already
    CHECK(f.Said().empty());
  };
  SUBCASE("ready longest") { gives_way("a"); }
  SUBCASE("used since") {
    REQUIRE(f.pool.Use("a", f.now, f.actions).ok());
    f.Release("a");
    f.Quiet();
    gives_way("b");
  }
  SUBCASE("in use") {
    REQUIRE(f.pool.Use("a", f.now, f.actions).ok());
    REQUIRE(f.pool.Use("b", f.now, f.actions).ok());
    f.Quiet();
    gives_way("c");
  }
  SUBCASE("equally long: the first of the configuration") {
    for (const char* name : {"a", "b", "c"}) {
      REQUIRE(f.pool.Use(name, f.now, f.actions).ok());
      f.Release(name);
    }
    f.Quiet();
    gives_way("c");
  }
}

TEST_CASE("S4 a waiting start begins when the whole of the other is gone, and why it went is said") {
  Fixture f(Limits{.max_running = 1});
  f.Ready({"a"});
  REQUIRE(f.Start("b").ok());
  CHECK(f.Said() == List{"close a"});
  SUBCASE("at once") { f.Exited("a"); }
  SUBCASE("with what it started") {
    REQUIRE(f.pool.Exited("a", "exit code 0", true, f.now, f.actions).ok());
    CHECK(f.Said() == List{"terminate a"});
    CHECK(f.pool.waiting("b"));
    REQUIRE(f.pool.TreeGone("a", f.now, f.actions).ok());
  }
  SUBCASE("at the end of the ladder") {
    f.After(5 * kSecond);
    f.After(3 * kSecond);
    CHECK(f.Said() == List{"terminate a", "kill a"});
    CHECK(f.pool.waiting("b"));
    f.Exited("a");
  }
  REQUIRE_FALSE(f.actions.empty());
  CHECK(std::get<AgentChanged>(f.actions[0]).event == AgentEvent::kMadeRoom);
  CHECK(f.Said() == List{"a is stopped", "b is starting", "spawn b"});
  CHECK_FALSE(f.pool.waiting("b"));
}

TEST_CASE("S4 a stop under way frees a place, for one start") {
  Fixture f(Limits{.max_running = 2});
  f.Busy({"a"});
  f.Ready({"b"});
  f.Stop("a");
  CHECK(f.Said() == List{"close a"});
  REQUIRE(f.Start("c").ok());
  CHECK(f.Said().empty());  // b need not go
  CHECK(f.pool.waiting("c"));
  REQUIRE(f.Start("d").ok());
  CHECK(f.Said() == List{"close b"});
  SUBCASE("nobody is left who could go") {
    f.Refused("e", "too many agents running: 2 agent(s) busy (d, c), the limit is 2");
    // Nor is there a place for those that go: both are promised away.
    f.Refused("a", "too many agents running: 2 agent(s) busy (d, c), the limit is 2");
  }
  SUBCASE("they start in the order in which they asked") {
    f.Exited("b");
    CHECK(f.Said() == List{"b is stopped", "c is starting", "spawn c"});
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "d is starting", "spawn d"});
  }
  SUBCASE("one takes its wait back, and another may have it") {
    f.Stop("c");
    CHECK_FALSE(f.pool.waiting("c"));
    CHECK(f.pool.state("c") == S::kStopped);
    REQUIRE(f.Start("e").ok());
    CHECK(f.Said().empty());
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "d is starting", "spawn d"});
    f.Exited("b");
    CHECK(f.Said() == List{"b is stopped", "e is starting", "spawn e"});
  }
  SUBCASE("a restart of one that waits is its start") {
    f.Restart("c");
    CHECK(f.Said().empty());
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "c is starting", "spawn c"});
  }
  SUBCASE("one that waits is removed") {
    REQUIRE(f.pool.Remove("c", f.now, f.actions).ok());
    CHECK(f.Said() == List{"c is removed"});
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "d is starting", "spawn d"});
    f.Exited("b");
    CHECK(f.Said() == List{"b is stopped"});
  }
  SUBCASE("all are stopped") {
    f.pool.StopAll(f.now, f.actions);
    f.Exited("a");
    f.Exited("b");
    CHECK(f.Said() == List{"a is stopped", "b is stopped"});
    CHECK(f.pool.idle());
    CHECK_FALSE(f.pool.waiting("c"));
  }
}

TEST_CASE("S4 one that waits and is in error stays so, with its reason") {
  Fixture f(Limits{.max_running = 1});
  f.Ready({"a"});
  REQUIRE(f.pool.Exited("a", "signal 11", false, f.now, f.actions).ok());
  f.Ready({"b"});
  REQUIRE(f.Start("a").ok());
  CHECK(f.Said() == List{"close b"});
  CHECK(f.pool.waiting("a"));
  CHECK(f.pool.state("a") == S::kError);
  CHECK(f.pool.error("a") == "signal 11");
  SUBCASE("it starts") {
    f.Exited("b");
    CHECK(f.Said() == List{"b is stopped", "a is starting", "spawn a"});
  }
  SUBCASE("it is taken back") {
    f.Stop("a");
    f.Exited("b");
    CHECK(f.Said() == List{"b is stopped"});
    CHECK(f.pool.error("a") == "signal 11");
  }
}

TEST_CASE("S4 one that makes room is wanted again: it queues behind whom it makes room for") {
  Fixture f(Limits{.max_running = 2});
  f.Ready({"a"});
  f.After(1);
  f.Ready({"b"});
  REQUIRE(f.Start("c").ok());
  CHECK(f.Said() == List{"close a"});
  REQUIRE(f.Start("a").ok());
  CHECK(f.Said() == List{"close b"});
  CHECK(f.pool.waiting("a"));
  SUBCASE("its own place is not its own any more") {
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "c is starting", "spawn c"});
    CHECK(f.pool.waiting("a"));
    f.Exited("b");
    CHECK(f.Said() == List{"b is stopped", "a is starting", "spawn a"});
  }
  SUBCASE("the other place is there before it can use it") {
    REQUIRE(f.Start("d").code() == absl::StatusCode::kFailedPrecondition);
    f.Exited("b");
    CHECK(f.Said() == List{"b is stopped", "c is starting", "spawn c"});
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "a is starting", "spawn a"});
  }
}

TEST_CASE("S4 whoever can use a place has it, where the first in the queue is not gone yet") {
  Fixture f(Limits{.max_running = 2});
  f.Busy({"a", "b"});
  f.Stop("a");
  REQUIRE(f.Start("a").ok());  // waits for its own end
  f.Stop("b");
  REQUIRE(f.Start("c").ok());
  f.Quiet();
  f.Exited("b");
  CHECK(f.Said() == List{"b is stopped", "c is starting", "spawn c"});
  f.Exited("a");
  CHECK(f.Said() == List{"a is stopped", "a is starting", "spawn a"});
}

TEST_CASE("S4 S10 a restart keeps its own place") {
  Fixture f(Limits{.max_running = 2});
  f.Busy({"a", "b"});
  f.Restart("a");
  CHECK(f.Said() == List{"close a"});
  CHECK(f.pool.waiting("a"));
  f.Refused("c", "too many agents running: 2 agent(s) busy (b, a), the limit is 2");
  SUBCASE("before one that waits") {
    f.Stop("b");
    REQUIRE(f.Start("c").ok());
    f.Quiet();
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "a is starting", "spawn a"});
    CHECK(f.pool.waiting("c"));
    CHECK_FALSE(f.pool.waiting("a"));
  }
  SUBCASE("also where fewer may run meanwhile") {
    f.pool.SetLimits(Limits{.max_running = 1}, f.now, f.actions);
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "a is starting", "spawn a"});
  }
  SUBCASE("and gives it up when it is stopped") {
    f.Stop("a");
    REQUIRE(f.Start("c").ok());
    CHECK(f.Said().empty());
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "c is starting", "spawn c"});
  }
}

TEST_CASE("S4 S7 a crash and a failed start free their places") {
  Fixture f(Limits{.max_running = 2});
  f.Busy({"a", "b"});
  f.Stop("a");
  REQUIRE(f.Start("c").ok());
  f.Quiet();
  REQUIRE(f.pool.Exited("b", "signal 11", true, f.now, f.actions).ok());
  REQUIRE(f.Start("d").ok());  // what is left of b is being ended
  CHECK(f.Said() == List{"b is error: signal 11", "terminate b"});
  REQUIRE(f.pool.TreeGone("b", f.now, f.actions).ok());
  CHECK(f.Said() == List{"c is starting", "spawn c"});
  f.Exited("a");
  CHECK(f.Said() == List{"a is stopped", "d is starting", "spawn d"});
  REQUIRE(f.pool.StartFailed("c", "speaks ACP version 2", true, f.now, f.actions).ok());
  REQUIRE(f.Start("e").ok());
  CHECK(f.Said() == List{"c is error: speaks ACP version 2", "close c"});
  f.Exited("c");
  CHECK(f.Said() == List{"e is starting", "spawn e"});
}

TEST_CASE("S4 more may run: those that wait start at once") {
  for (const uint32_t limit : {2u, 0u}) {
    Fixture f(Limits{.max_running = 1});
    f.Busy({"a"});
    f.Stop("a");
    REQUIRE(f.Start("c").ok());
    f.Quiet();
    f.pool.SetLimits(Limits{.max_running = limit}, f.now, f.actions);
    CHECK(f.Said() == List{"c is starting", "spawn c"});
    CHECK(f.pool.limits().max_running == limit);
  }
}

TEST_CASE("S4 fewer may run: nobody is ended at once, the idle ones that are too many at the next look") {
  Fixture f(Limits{.max_running = 4});
  f.Ready({"a"});
  f.After(1);
  f.Ready({"b", "c"});
  f.Busy({"d"});
  CHECK(f.pool.Deadline() == kNever);
  f.pool.SetLimits(Limits{.max_running = 2}, f.now, f.actions);
  CHECK(f.Said().empty());
  CHECK(f.pool.Deadline() == AgentPool::kLookNs * 101);
  SUBCASE("a look") {
    f.now.mono_ns = f.pool.Deadline();
    f.After(0);
    CHECK(f.Said() == List{"close a", "close c"});
    CHECK_FALSE(f.pool.stopping("b"));
    f.Exited("a");
    f.Exited("c");
    CHECK(f.Said() == List{"a is stopped", "c is stopped"});
    CHECK(f.pool.Deadline() == kNever);
  }
  SUBCASE("a start, which ends as many as are too many with it") {
    REQUIRE(f.Start("e").ok());
    CHECK(f.Said() == List{"close a", "close c", "close b"});
    f.Exited("a");
    f.Exited("b");
    CHECK(f.Said() == List{"a is stopped", "b is stopped"});  // c and d run still
    f.Exited("c");
    CHECK(f.Said() == List{"c is stopped", "e is starting", "spawn e"});
  }
  SUBCASE("a start that is refused ends nobody, and names none that is idle") {
    REQUIRE(f.pool.Use("c", f.now, f.actions).ok());
    f.Quiet();
    f.Refused("e", "too many agents running: 2 agent(s) busy (d, c), the limit is 2");
  }
  SUBCASE("all of them are busy: there is nothing to look at until one is let go") {
    for (const char* name : {"a", "b", "c"}) REQUIRE(f.pool.Use(name, f.now, f.actions).ok());
    f.Quiet();
    CHECK(f.pool.Deadline() == kNever);
    f.Release("b");
    CHECK(f.Said() == List{"b is ready"});
    f.now.mono_ns = f.pool.Deadline();
    f.After(0);
    CHECK(f.Said() == List{"close b"});
  }
  SUBCASE("it was a slip") {
    f.pool.SetLimits(Limits{.max_running = 4}, f.now, f.actions);
    CHECK(f.pool.Deadline() == kNever);
  }
}

TEST_CASE("S4 fewer may run, and one of them ends by itself: nothing is left to look at") {
  Fixture f(Limits{.max_running = 2});
  f.Ready({"a"});
  REQUIRE(f.Start("b").ok());
  f.now.mono_ns += AgentPool::kLookNs - kSecond;
  f.pool.SetLimits(Limits{.max_running = 1}, f.now, f.actions);
  CHECK(f.pool.Deadline() == f.now.mono_ns + kSecond);
  SUBCASE("its start fails") {
    REQUIRE(f.pool.StartFailed("b", "why", true, f.now, f.actions).ok());
    CHECK(f.pool.Deadline() == f.now.mono_ns + 5 * kSecond);
  }
  SUBCASE("it leaves something behind") {
    REQUIRE(f.pool.Exited("b", "why", true, f.now, f.actions).ok());
    CHECK(f.pool.Deadline() == f.now.mono_ns + 3 * kSecond);
  }
  SUBCASE("it is gone") {
    REQUIRE(f.pool.Exited("b", "why", false, f.now, f.actions).ok());
    CHECK(f.pool.Deadline() == kNever);
  }
}

TEST_CASE("S4 fewer may run than were promised: the start waits for the next that can give way") {
  Fixture f(Limits{.max_running = 2});
  f.Busy({"a", "b"});
  f.Stop("b");
  REQUIRE(f.Start("c").ok());
  f.pool.SetLimits(Limits{.max_running = 1}, f.now, f.actions);
  f.Quiet();
  f.Exited("b");
  CHECK(f.Said() == List{"b is stopped"});
  CHECK(f.pool.waiting("c"));
  f.Release("a");
  CHECK(f.Said() == List{"a is ready", "close a"});
  f.Exited("a");
  CHECK(f.Said() == List{"a is stopped", "c is starting", "spawn c"});
}

TEST_CASE("S5 an idle agent is stopped at the first look that finds it unused for so long") {
  Fixture f(Limits{.stop_idle_after_ns = 45 * kSecond});
  CHECK(f.pool.Deadline() == kNever);
  f.now.mono_ns += 10 * kSecond;
  const int64_t grid = AgentPool::kLookNs * 101;
  REQUIRE(f.Start("a").ok());
  CHECK(f.pool.Deadline() == kNever);
  REQUIRE(f.pool.HandshakeDone("a", f.now, f.actions).ok());
  f.Quiet();
  CHECK(f.pool.Deadline() == grid);
  SUBCASE("unused since it was ready") {
    f.After(20 * kSecond);
    CHECK(f.now.mono_ns == grid);
    CHECK(f.Said().empty());
    CHECK(f.pool.Deadline() == grid + 30 * kSecond);
    f.After(25 * kSecond);  // long enough, but this is no look
    CHECK(f.Said().empty());
    CHECK(f.pool.Deadline() == grid + 30 * kSecond);
    f.After(5 * kSecond);
    CHECK(f.Said() == List{"close a"});
    f.Exited("a");
    REQUIRE(f.actions.size() == 1);
    CHECK(std::get<AgentChanged>(f.actions[0]).event == AgentEvent::kIdle);
    CHECK(f.Said() == List{"a is stopped"});
    CHECK(f.pool.Deadline() == kNever);
  }
  SUBCASE("unused since it was let go") {
    f.After(20 * kSecond);
    REQUIRE(f.pool.Use("a", f.now, f.actions).ok());
    REQUIRE(f.pool.Use("a", f.now, f.actions).ok());
    f.Quiet();
    CHECK(f.pool.Deadline() == kNever);
    f.After(100 * kSecond);
    f.Release("a");
    CHECK(f.Said().empty());
    f.now.mono_ns = grid + 105 * kSecond;  // 45 s before a look, exactly
    f.Release("a");
    CHECK(f.Said() == List{"a is ready"});
    CHECK(f.pool.Deadline() == grid + 120 * kSecond);
    f.After(15 * kSecond);
    CHECK(f.Said().empty());
    CHECK(f.pool.Deadline() == grid + 150 * kSecond);
    f.After(30 * kSecond);
    CHECK(f.Said() == List{"close a"});
  }
  SUBCASE("a nanosecond too short") {
    f.After(20 * kSecond);
    REQUIRE(f.pool.Use("a", f.now, f.actions).ok());
    f.now.mono_ns = grid + 15 * kSecond + 1;
    f.Release("a");
    f.Quiet();
    f.now.mono_ns = grid + 60 * kSecond;
    f.After(0);
    CHECK(f.Said().empty());
    f.After(30 * kSecond);
    CHECK(f.Said() == List{"close a"});
  }
  SUBCASE("a look that comes late") {
    f.After(100 * kSecond);
    CHECK(f.Said() == List{"close a"});
  }
  SUBCASE("it is being stopped already") {
    f.Stop("a");
    f.Quiet();
    CHECK(f.pool.Deadline() == f.now.mono_ns + 5 * kSecond);
    f.After(200 * kSecond);
    CHECK(f.Said() == List{"terminate a"});
  }
  SUBCASE("it is asked to stop while it is stopped as idle") {
    f.After(100 * kSecond);
    f.Stop("a");
    CHECK(f.Said() == List{"close a"});
    f.Exited("a");
    CHECK(std::get<AgentChanged>(f.actions[0]).event == AgentEvent::kStopped);
  }
  SUBCASE("a start while it is stopped as idle") {
    f.After(100 * kSecond);
    REQUIRE(f.Start("a").ok());
    CHECK(f.Said() == List{"close a"});
    f.Exited("a");
    CHECK(f.Said() == List{"a is stopped", "a is starting", "spawn a"});
  }
  SUBCASE("a limit that is taken away, and one that is given") {
    f.pool.SetLimits({}, f.now, f.actions);
    CHECK(f.pool.Deadline() == kNever);
    f.After(1000 * kSecond);
    CHECK(f.Said().empty());
    f.pool.SetLimits(Limits{.stop_idle_after_ns = kSecond}, f.now, f.actions);
    CHECK(f.Said().empty());
    const int64_t look = f.pool.Deadline();
    CHECK(look > f.now.mono_ns);
    CHECK(look <= f.now.mono_ns + AgentPool::kLookNs);
    CHECK(look % AgentPool::kLookNs == 0);
    f.now.mono_ns = look - 1;
    f.After(0);
    CHECK(f.Said().empty());
    f.After(1);
    CHECK(f.Said() == List{"close a"});
  }
}

TEST_CASE("S5 busy and starting agents are never stopped as idle, nor is any without the limit") {
  Fixture f(Limits{.stop_idle_after_ns = 1});
  f.Busy({"a"});
  REQUIRE(f.Start("b").ok());
  f.Quiet();
  CHECK(f.pool.Deadline() == kNever);
  for (int i = 0; i < 10; ++i) f.After(AgentPool::kLookNs);
  CHECK(f.Said().empty());
  Fixture none(Limits{.max_running = 1});
  none.Ready({"a"});
  CHECK(none.pool.Deadline() == kNever);
  none.After(3'600'000 * kSecond);
  CHECK(none.Said().empty());
}

}  // namespace
}  // namespace watchbill::acp
