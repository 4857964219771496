#include "watchbill/acp/agent_pool.hpp"

#include <doctest/doctest.h>

#include "agent_pool_fixture.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {
namespace {

struct Fixture {
  AgentPool pool;
  PoolActions actions;
  Now now{1'000 * kSecond, 0};

  Fixture() { pool.Add("a"); }
  std::vector<std::string> Said() { return Words(actions); }
  void After(int64_t ns) {
    now.mono_ns += ns;
    pool.Tick(now, actions);
  }
  void Ready() {
    REQUIRE(pool.Start("a", now, actions).ok());
    REQUIRE(pool.HandshakeDone("a", now, actions).ok());
    actions.clear();
  }
  void Busy() {
    Ready();
    REQUIRE(pool.Use("a", now, actions).ok());
    actions.clear();
  }
};

using List = std::vector<std::string>;
using S = AgentState;

TEST_CASE("S2 a life: started, used, let go, stopped") {
  Fixture f;
  CHECK(f.pool.state("a") == S::kStopped);
  CHECK(f.pool.idle());
  CHECK(f.pool.Start("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is starting", "spawn a"});
  CHECK(f.pool.HandshakeDone("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is ready"});
  CHECK(f.pool.Use("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is busy"});
  CHECK(f.pool.Use("a", f.now, f.actions).ok());
  CHECK(f.pool.Release("a", f.now, f.actions).ok());
  CHECK(f.Said().empty());
  CHECK(f.pool.Release("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is ready"});
  CHECK(f.pool.Stop("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"close a"});
  CHECK(f.pool.stopping("a"));
  CHECK(f.pool.state("a") == S::kReady);
  CHECK_FALSE(f.pool.idle());
  CHECK(f.pool.Exited("a", "exit code 0", false, f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is stopped"});
  CHECK_FALSE(f.pool.stopping("a"));
  CHECK(f.pool.idle());
  CHECK(f.pool.Deadline() == kNever);
}

TEST_CASE("S2 what is wanted already is no error, and what makes no sense changes nothing") {
  Fixture f;
  const auto refused = [&](const absl::Status& status) {
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK_FALSE(MessageOf(status).empty());
    CHECK(f.actions.empty());
  };
  SUBCASE("stopped") {
    CHECK(f.pool.Stop("a", f.now, f.actions).ok());
    CHECK(f.pool.TreeGone("a", f.now, f.actions).ok());
    CHECK(f.actions.empty());
    refused(f.pool.HandshakeDone("a", f.now, f.actions));
    refused(f.pool.StartFailed("a", "why", false, f.now, f.actions));
    refused(f.pool.StartFailed("a", "why", true, f.now, f.actions));
    refused(f.pool.Exited("a", "why", false, f.now, f.actions));
    refused(f.pool.Exited("a", "why", true, f.now, f.actions));
    refused(f.pool.Use("a", f.now, f.actions));
    refused(f.pool.Release("a", f.now, f.actions));
    CHECK(f.pool.state("a") == S::kStopped);
  }
  SUBCASE("starting") {
    REQUIRE(f.pool.Start("a", f.now, f.actions).ok());
    f.actions.clear();
    CHECK(f.pool.Start("a", f.now, f.actions).ok());
    CHECK(f.actions.empty());
    refused(f.pool.Use("a", f.now, f.actions));
    refused(f.pool.Release("a", f.now, f.actions));
    refused(f.pool.TreeGone("a", f.now, f.actions));
    CHECK(f.pool.state("a") == S::kStarting);
  }
  SUBCASE("ready") {
    f.Ready();
    CHECK(f.pool.Start("a", f.now, f.actions).ok());
    CHECK(f.actions.empty());
    refused(f.pool.HandshakeDone("a", f.now, f.actions));
    refused(f.pool.StartFailed("a", "why", true, f.now, f.actions));
    refused(f.pool.Release("a", f.now, f.actions));
    refused(f.pool.TreeGone("a", f.now, f.actions));
    CHECK(f.pool.state("a") == S::kReady);
    CHECK_FALSE(f.pool.idle());
  }
  SUBCASE("busy") {
    f.Busy();
    CHECK(f.pool.Start("a", f.now, f.actions).ok());
    CHECK(f.actions.empty());
    refused(f.pool.HandshakeDone("a", f.now, f.actions));
    refused(f.pool.StartFailed("a", "why", false, f.now, f.actions));
    refused(f.pool.TreeGone("a", f.now, f.actions));
    CHECK(f.pool.state("a") == S::kBusy);
  }
  SUBCASE("error") {
    f.Ready();
    REQUIRE(f.pool.Exited("a", "exit code 3", false, f.now, f.actions).ok());
    f.actions.clear();
    CHECK(f.pool.Stop("a", f.now, f.actions).ok());
    CHECK(f.actions.empty());
    refused(f.pool.HandshakeDone("a", f.now, f.actions));
    refused(f.pool.StartFailed("a", "why", false, f.now, f.actions));
    refused(f.pool.Exited("a", "why", false, f.now, f.actions));
    refused(f.pool.Use("a", f.now, f.actions));
    refused(f.pool.Release("a", f.now, f.actions));
    CHECK(f.pool.state("a") == S::kError);
    CHECK(f.pool.error("a") == "exit code 3");
  }
  SUBCASE("being stopped") {
    f.Ready();
    REQUIRE(f.pool.Stop("a", f.now, f.actions).ok());
    f.actions.clear();
    CHECK(f.pool.Stop("a", f.now, f.actions).ok());
    CHECK(f.actions.empty());
    refused(f.pool.HandshakeDone("a", f.now, f.actions));
    refused(f.pool.StartFailed("a", "why", false, f.now, f.actions));
    const absl::Status use = f.pool.Use("a", f.now, f.actions);
    refused(use);
    CHECK(MessageOf(use) == "a is being stopped");
    CHECK(f.pool.state("a") == S::kReady);
    CHECK_FALSE(f.pool.idle());
  }
  SUBCASE("being stopped, and busy") {
    f.Busy();
    REQUIRE(f.pool.Stop("a", f.now, f.actions).ok());
    f.actions.clear();
    refused(f.pool.Use("a", f.now, f.actions));
  }
  SUBCASE("not there") {
    const auto unknown = [&](const absl::Status& status) {
      CHECK(status.code() == absl::StatusCode::kNotFound);
      CHECK(MessageOf(status) == "There is no agent named \"b\".");
      CHECK(f.actions.empty());
    };
    unknown(f.pool.Start("b", f.now, f.actions));
    unknown(f.pool.Stop("b", f.now, f.actions));
    unknown(f.pool.Restart("b", f.now, f.actions));
    unknown(f.pool.HandshakeDone("b", f.now, f.actions));
    unknown(f.pool.StartFailed("b", "", true, f.now, f.actions));
    unknown(f.pool.Exited("b", "", true, f.now, f.actions));
    unknown(f.pool.TreeGone("b", f.now, f.actions));
    unknown(f.pool.Use("b", f.now, f.actions));
    unknown(f.pool.Release("b", f.now, f.actions));
    unknown(f.pool.Remove("b", f.now, f.actions));
    CHECK_FALSE(f.pool.waiting("b"));
    CHECK_FALSE(f.pool.removed("b"));
    CHECK(f.pool.state("b") == S::kStopped);
    CHECK(f.pool.error("b").empty());
    CHECK_FALSE(f.pool.stopping("b"));
    CHECK_FALSE(f.pool.Has("b"));
    CHECK(f.pool.Has("a"));
  }
}

TEST_CASE("S6 the ladder: input closed, 5 s, SIGTERM, 3 s, SIGKILL until nothing is left") {
  Fixture f;
  f.Busy();
  REQUIRE(f.pool.Stop("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"close a"});
  CHECK(f.pool.Deadline() == f.now.mono_ns + 5 * kSecond);
  f.After(5 * kSecond - 1);
  CHECK(f.Said().empty());
  f.After(1);
  CHECK(f.Said() == List{"terminate a"});
  CHECK(f.pool.Deadline() == f.now.mono_ns + 3 * kSecond);
  f.After(3 * kSecond - 1);
  CHECK(f.Said().empty());
  f.After(1);
  CHECK(f.Said() == List{"kill a"});
  f.After(kSecond);
  CHECK(f.Said() == List{"kill a"});
  CHECK(f.pool.state("a") == S::kBusy);
  REQUIRE(f.pool.Exited("a", "signal 9", false, f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is stopped"});
  CHECK(f.pool.Deadline() == kNever);
  f.After(100 * kSecond);
  CHECK(f.Said().empty());
}

TEST_CASE("S6 what the agent started gets the rest of the ladder, and no more time than it had") {
  Fixture f;
  f.Ready();
  REQUIRE(f.pool.Stop("a", f.now, f.actions).ok());
  f.actions.clear();
  SUBCASE("it ends when its input is closed") {
    f.After(kSecond);
    REQUIRE(f.pool.Exited("a", "exit code 0", true, f.now, f.actions).ok());
    CHECK(f.Said() == List{"terminate a"});
    CHECK(f.pool.state("a") == S::kReady);
    CHECK(f.pool.Deadline() == f.now.mono_ns + 3 * kSecond);
    f.After(3 * kSecond);
    CHECK(f.Said() == List{"kill a"});
  }
  SUBCASE("it ends with SIGTERM") {
    f.After(5 * kSecond);
    const int64_t deadline = f.pool.Deadline();
    f.After(2 * kSecond);
    f.actions.clear();
    REQUIRE(f.pool.Exited("a", "signal 15", true, f.now, f.actions).ok());
    CHECK(f.Said().empty());
    CHECK(f.pool.Deadline() == deadline);
    f.After(kSecond);
    CHECK(f.Said() == List{"kill a"});
  }
  SUBCASE("it ends with SIGKILL") {
    f.After(5 * kSecond);
    f.After(3 * kSecond);
    f.actions.clear();
    REQUIRE(f.pool.Exited("a", "signal 9", true, f.now, f.actions).ok());
    CHECK(f.Said().empty());
    f.After(kSecond);
    CHECK(f.Said() == List{"kill a"});
  }
  CHECK_FALSE(f.pool.idle());
  REQUIRE(f.pool.TreeGone("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is stopped"});
  CHECK(f.pool.idle());
}

TEST_CASE("S6 a ladder of one's own") {
  AgentPool pool(AgentPool::Ladder{.input_closed_ns = 10, .terminated_ns = 20});
  pool.Add("a");
  PoolActions actions;
  REQUIRE(pool.Start("a", Now{}, actions).ok());
  REQUIRE(pool.Stop("a", Now{}, actions).ok());
  CHECK(pool.Deadline() == 10);
  pool.Tick(Now{10, 0}, actions);
  CHECK(pool.Deadline() == 30);
}

TEST_CASE("S3 a start that fails") {
  Fixture f;
  REQUIRE(f.pool.Start("a", f.now, f.actions).ok());
  f.actions.clear();
  SUBCASE("nothing could be spawned") {
    REQUIRE(f.pool.StartFailed("a", "no such program\n  line", false, f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is error: no such program\n  line"});
    CHECK(f.pool.idle());
  }
  SUBCASE("it exits in the handshake") {
    REQUIRE(f.pool.Exited("a", "exit code 127", false, f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is error: exit code 127"});
    CHECK(f.pool.idle());
  }
  SUBCASE("it speaks another version, and is ended") {
    REQUIRE(f.pool.StartFailed("a", "speaks ACP version 2", true, f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is error: speaks ACP version 2", "close a"});
    CHECK(f.pool.stopping("a"));
    CHECK(f.pool.StartFailed("a", "again", true, f.now, f.actions).code() ==
          absl::StatusCode::kFailedPrecondition);
    f.After(5 * kSecond);
    f.After(3 * kSecond);
    CHECK(f.Said() == List{"terminate a", "kill a"});
    REQUIRE(f.pool.Exited("a", "signal 9", false, f.now, f.actions).ok());
    CHECK(f.Said().empty());
    CHECK(f.pool.error("a") == "speaks ACP version 2");
    CHECK(f.pool.idle());
  }
  SUBCASE("it is stopped while it is being ended: it stays error, with its reason") {
    REQUIRE(f.pool.StartFailed("a", "speaks ACP version 2", true, f.now, f.actions).ok());
    REQUIRE(f.pool.Stop("a", f.now, f.actions).ok());
    REQUIRE(f.pool.Exited("a", "exit code 0", false, f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is error: speaks ACP version 2", "close a"});
    CHECK(f.pool.error("a") == "speaks ACP version 2");
  }
  CHECK(f.pool.state("a") == S::kError);
  REQUIRE(f.pool.Start("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is starting", "spawn a"});
  CHECK(f.pool.error("a").empty());
}

TEST_CASE("S8 a stop while it starts: stopped once the start has ended") {
  Fixture f;
  REQUIRE(f.pool.Start("a", f.now, f.actions).ok());
  f.actions.clear();
  REQUIRE(f.pool.Stop("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"close a"});
  CHECK(f.pool.state("a") == S::kStarting);
  SUBCASE("the handshake still succeeds, and the ladder goes on") {
    REQUIRE(f.pool.HandshakeDone("a", f.now, f.actions).ok());
    CHECK(f.Said().empty());
    CHECK(f.pool.state("a") == S::kStarting);
    f.After(5 * kSecond);
    CHECK(f.Said() == List{"terminate a"});
    REQUIRE(f.pool.Exited("a", "signal 15", false, f.now, f.actions).ok());
  }
  SUBCASE("the handshake fails, and the process is there") {
    REQUIRE(f.pool.StartFailed("a", "timeout", true, f.now, f.actions).ok());
    CHECK(f.Said().empty());
    CHECK(f.pool.state("a") == S::kStarting);
    f.After(5 * kSecond);
    CHECK(f.Said() == List{"terminate a"});
    REQUIRE(f.pool.Exited("a", "signal 15", false, f.now, f.actions).ok());
  }
  SUBCASE("nothing was spawned") {
    REQUIRE(f.pool.StartFailed("a", "no such program", false, f.now, f.actions).ok());
  }
  SUBCASE("it exits") { REQUIRE(f.pool.Exited("a", "exit code 1", false, f.now, f.actions).ok()); }
  CHECK(f.Said() == List{"a is stopped"});
  CHECK(f.pool.error("a").empty());
  CHECK(f.pool.idle());
}

TEST_CASE("S7 a process that ends on its own: error, and never started again by itself") {
  Fixture f;
  SUBCASE("ready") { f.Ready(); }
  SUBCASE("busy") { f.Busy(); }
  REQUIRE(f.pool.Exited("a", "signal 11", false, f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is error: signal 11"});
  f.After(3600 * kSecond);
  CHECK(f.Said().empty());
  CHECK(f.pool.idle());
  // Those who used it are forgotten with it.
  CHECK(f.pool.Release("a", f.now, f.actions).code() == absl::StatusCode::kFailedPrecondition);
  f.Ready();
  CHECK(f.pool.Release("a", f.now, f.actions).code() == absl::StatusCode::kFailedPrecondition);
  REQUIRE(f.pool.Use("a", f.now, f.actions).ok());
  REQUIRE(f.pool.Release("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is busy", "a is ready"});
}

TEST_CASE("S7 S6 a crash that leaves something behind: that is ended, and a start waits for it") {
  Fixture f;
  f.Busy();
  REQUIRE(f.pool.Exited("a", "signal 11", true, f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is error: signal 11", "terminate a"});
  CHECK_FALSE(f.pool.idle());
  REQUIRE(f.pool.Start("a", f.now, f.actions).ok());
  CHECK(f.Said().empty());
  CHECK(f.pool.state("a") == S::kError);
  f.After(3 * kSecond);
  CHECK(f.Said() == List{"kill a"});
  SUBCASE("it is gone") {
    REQUIRE(f.pool.TreeGone("a", f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is starting", "spawn a"});
    REQUIRE(f.pool.HandshakeDone("a", f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is ready"});
  }
  SUBCASE("the start is taken back") {
    REQUIRE(f.pool.Stop("a", f.now, f.actions).ok());
    REQUIRE(f.pool.TreeGone("a", f.now, f.actions).ok());
    CHECK(f.Said().empty());
    CHECK(f.pool.error("a") == "signal 11");
  }
}

TEST_CASE("S10 restart, and start while a stop is under way") {
  Fixture f;
  SUBCASE("ready") {
    f.Ready();
    REQUIRE(f.pool.Restart("a", f.now, f.actions).ok());
    CHECK(f.Said() == List{"close a"});
    REQUIRE(f.pool.Exited("a", "exit code 0", false, f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is stopped", "a is starting", "spawn a"});
  }
  SUBCASE("busy: its users are those of the process that ends") {
    f.Busy();
    REQUIRE(f.pool.Restart("a", f.now, f.actions).ok());
    f.actions.clear();
    REQUIRE(f.pool.Exited("a", "exit code 0", false, f.now, f.actions).ok());
    REQUIRE(f.pool.HandshakeDone("a", f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is stopped", "a is starting", "spawn a", "a is ready"});
    CHECK(f.pool.Release("a", f.now, f.actions).code() == absl::StatusCode::kFailedPrecondition);
  }
  SUBCASE("starting") {
    REQUIRE(f.pool.Start("a", f.now, f.actions).ok());
    REQUIRE(f.pool.Restart("a", f.now, f.actions).ok());
    f.actions.clear();
    REQUIRE(f.pool.Exited("a", "exit code 0", false, f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is stopped", "a is starting", "spawn a"});
  }
  SUBCASE("stopped or in error it starts at once") {
    REQUIRE(f.pool.Restart("a", f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is starting", "spawn a"});
    REQUIRE(f.pool.StartFailed("a", "why", false, f.now, f.actions).ok());
    f.actions.clear();
    REQUIRE(f.pool.Restart("a", f.now, f.actions).ok());
    CHECK(f.Said() == List{"a is starting", "spawn a"});
  }
  SUBCASE("a stop takes the start back") {
    f.Ready();
    REQUIRE(f.pool.Restart("a", f.now, f.actions).ok());
    REQUIRE(f.pool.Start("a", f.now, f.actions).ok());
    REQUIRE(f.pool.Stop("a", f.now, f.actions).ok());
    REQUIRE(f.pool.Exited("a", "exit code 0", false, f.now, f.actions).ok());
    CHECK(f.Said() == List{"close a", "a is stopped"});
  }
}

TEST_CASE("S2 a use that is let go while it is being stopped") {
  Fixture f;
  f.Busy();
  REQUIRE(f.pool.Stop("a", f.now, f.actions).ok());
  f.actions.clear();
  REQUIRE(f.pool.Release("a", f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is ready"});
  REQUIRE(f.pool.Exited("a", "exit code 0", false, f.now, f.actions).ok());
  CHECK(f.Said() == List{"a is stopped"});
}

TEST_CASE("S6 all of them are stopped in the configuration's order") {
  AgentPool pool;
  PoolActions actions;
  for (const char* name : {"z", "m", "a"}) {
    pool.Add(name);
    REQUIRE(pool.Start(name, Now{}, actions).ok());
  }
  actions.clear();
  pool.StopAll(Now{}, actions);
  CHECK(Words(actions) == List{"close z", "close m", "close a"});
}

TEST_CASE("S6 all of them are stopped at the end, and none starts again") {
  AgentPool pool;
  PoolActions actions;
  Now now{5, 0};
  for (const char* name : {"a", "b", "c", "d"}) pool.Add(name);
  pool.Add("a");
  REQUIRE(pool.Start("a", now, actions).ok());
  REQUIRE(pool.Start("b", now, actions).ok());
  REQUIRE(pool.HandshakeDone("b", now, actions).ok());
  REQUIRE(pool.Restart("b", now, actions).ok());
  REQUIRE(pool.Start("c", now, actions).ok());
  REQUIRE(pool.Exited("c", "exit code 1", true, now, actions).ok());
  REQUIRE(pool.Start("c", now, actions).ok());
  actions.clear();
  pool.StopAll(now, actions);
  CHECK(Words(actions) == List{"close a"});
  REQUIRE(pool.Exited("a", "exit code 0", false, now, actions).ok());
  REQUIRE(pool.Exited("b", "exit code 0", false, now, actions).ok());
  REQUIRE(pool.TreeGone("c", now, actions).ok());
  CHECK(Words(actions) == List{"a is stopped", "b is stopped"});
  CHECK(pool.idle());
  CHECK(pool.state("c") == S::kError);
}

TEST_CASE("S2 two agents are two agents") {
  AgentPool pool;
  PoolActions actions;
  pool.Add("a");
  pool.Add("b");
  REQUIRE(pool.Start("a", Now{}, actions).ok());
  REQUIRE(pool.Start("b", Now{10, 0}, actions).ok());
  REQUIRE(pool.Stop("b", Now{10, 0}, actions).ok());
  REQUIRE(pool.Stop("a", Now{20, 0}, actions).ok());
  actions.clear();
  CHECK(pool.Deadline() == 10 + 5 * kSecond);
  pool.Tick(Now{10 + 5 * kSecond, 0}, actions);
  CHECK(Words(actions) == List{"terminate b"});
  CHECK(pool.Deadline() == 20 + 5 * kSecond);
}

}  // namespace
}  // namespace watchbill::acp
