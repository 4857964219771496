// A pool of agents that a random number plays: those who want things of it, its limits, and the outside that
// does what it says. What it must do is worked out here a second time, from what was said to it.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "seeded.hpp"
#include "watchbill/acp/agent_pool.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {
namespace {

using S = AgentState;

constexpr int64_t kNot = -1;  // a time that has not come

// An agent as the outside knows it.
struct Outside {
  S state = S::kStopped;
  bool process = false, tree = false;  // what is there of it, and of what it started
  bool asked = false;                  // its end was: nobody has to find a reason for it
  bool left = false;                   // it has ended before what it started
  bool restart = false, removed = false;
  int64_t closed = kNot, terminated = kNot, killed = kNot;
  int64_t idle_since = 0;
  uint32_t users = 0;

  bool there() const { return process || tree; }
  bool ending() const { return there() && (closed != kNot || terminated != kNot); }
  bool idle() const { return state == S::kReady && !ending(); }
};

struct World {
  Seeded& random;
  std::vector<std::string> all, order;  // every name there is, and those in the pool
  std::map<std::string, Outside> outside;
  std::vector<std::string> queue;  // starts that wait, in the order they were asked for
  AgentPool::Limits limits;
  AgentPool pool;
  PoolActions actions;
  Now now{1, 0};
  int64_t last_tick = 0, limits_set = 0;
  uint64_t spawned = 0, ended = 0, waited = 0, refused = 0, idle_stops = 0, made_room = 0, kills = 0;

  World(Seeded& r, size_t agents)
      : random(r), limits{static_cast<uint32_t>(r.Below(agents + 1)), Idle(r)}, pool(limits) {
    for (size_t i = 0; i < agents; ++i) all.push_back(std::string(1, static_cast<char>('a' + i)));
    for (const std::string& name : all) Add(name);
    now.mono_ns += static_cast<int64_t>(random.Below(100)) * kSecond;
    last_tick = now.mono_ns;
  }
  static int64_t Idle(Seeded& r) {
    return r.OneIn(2) ? 0 : static_cast<int64_t>(1 + r.Below(90)) * kSecond - kSecond / 2;
  }

  bool In(const std::string& name) const { return outside.count(name) != 0; }
  bool Configured(const std::string& name) const { return In(name) && !outside.at(name).removed; }
  bool Queued(const std::string& name) const {
    return std::find(queue.begin(), queue.end(), name) != queue.end();
  }
  bool Holds(const std::string& name) const {
    const Outside& o = outside.at(name);
    return Queued(name) || (o.there() && (!o.ending() || o.restart));
  }
  size_t Running() const {
    return static_cast<size_t>(
        std::count_if(outside.begin(), outside.end(), [](const auto& o) { return o.second.there(); }));
  }
  size_t Held() const {
    return static_cast<size_t>(
        std::count_if(order.begin(), order.end(), [this](const std::string& name) { return Holds(name); }));
  }

  void Unqueue(const std::string& name) {
    queue.erase(std::remove(queue.begin(), queue.end(), name), queue.end());
  }

  void Add(const std::string& name) {
    pool.Add(name);
    order.erase(std::remove(order.begin(), order.end(), name), order.end());
    order.push_back(name);
    Outside& o = outside[name];
    if (o.removed && o.state == S::kError) o.state = S::kStopped;
    o.removed = false;
  }

  // Does what the pool said, and holds each of it against what is known..
  void Act(bool tick = false) {
    std::string to_spawn;
    for (const PoolAction& action : actions) {
      if (!to_spawn.empty()) REQUIRE(std::holds_alternative<SpawnAgent>(action));
      std::visit([this, &to_spawn, tick](const auto& a) { Do(a, to_spawn, tick); }, action);
    }
    CHECK(to_spawn.empty());
    actions.clear();
  }
  void Do(const SpawnAgent& spawn, std::string& to_spawn, bool) {
    REQUIRE(spawn.agent == to_spawn);
    to_spawn.clear();
    Outside& o = outside.at(spawn.agent);
    CHECK_FALSE(o.there());
    CHECK_FALSE(o.removed);
    if (o.restart) {
      CHECK_FALSE(Queued(spawn.agent));
    } else {
      // The first of those that can start.
      const auto first = std::find_if(queue.begin(), queue.end(),
                                      [this](const std::string& name) { return !outside.at(name).there(); });
      REQUIRE(first != queue.end());
      CHECK(*first == spawn.agent);
      Unqueue(spawn.agent);
    }
    o = Outside{};
    o.state = S::kStarting;
    o.process = true;
    o.tree = !random.OneIn(3);
    ++spawned;
  }
  void Do(const CloseAgentInput& close, std::string&, bool tick) {
    Outside& o = outside.at(close.agent);
    CHECK(o.there());
    CHECK_FALSE(o.ending());
    if (!o.asked) {
      CHECK(o.idle());
      const bool long_enough =
          limits.stop_idle_after_ns > 0 && now.mono_ns - o.idle_since >= limits.stop_idle_after_ns;
      if (tick) CHECK(LookBetween(last_tick));
      if (tick && long_enough) {
        ++idle_stops;
      } else {
        // It makes room: nobody is idle for longer, and there are too many.
        CHECK(limits.max_running != 0);
        CHECK(Held() > limits.max_running);
        const auto used_least =
            std::min_element(order.begin(), order.end(), [this](const std::string& a, const std::string& b) {
              const Outside &one = outside.at(a), &two = outside.at(b);
              return one.idle() && (!two.idle() || one.idle_since < two.idle_since);
            });
        CHECK(*used_least == close.agent);
        ++made_room;
      }
    }
    o.closed = now.mono_ns;
  }
  void Do(const SignalAgent& signal, std::string&, bool) {
    Outside& o = outside.at(signal.agent);
    CHECK(o.there());
    if (!signal.kill) {
      CHECK(o.terminated == kNot);
      CHECK((o.left || (o.closed != kNot && now.mono_ns >= o.closed + 5 * kSecond)));
      o.terminated = now.mono_ns;
    } else {
      CHECK(o.terminated != kNot);
      CHECK(now.mono_ns >= (o.killed == kNot ? o.terminated + 3 * kSecond : o.killed + kSecond));
      o.killed = now.mono_ns;
      ++kills;
    }
  }
  void Do(const AgentChanged& changed, std::string& to_spawn, bool) {
    Outside& o = outside.at(changed.agent);
    const auto to = Next(o.state, changed.event);
    REQUIRE(to.has_value());
    CHECK(*to == changed.state);
    CHECK(changed.error.empty() == (changed.state != S::kError));
    CHECK((changed.state != S::kStopped || !o.there()));
    o.state = changed.state;
    if (changed.state == S::kStarting) to_spawn = changed.agent;
    if (changed.state == S::kReady) o.idle_since = now.mono_ns;
    if (changed.state == S::kStopped || changed.state == S::kError) o.users = 0;
  }
  void Do(const AgentRemoved& gone, std::string&, bool) {
    REQUIRE(In(gone.agent));
    CHECK(outside.at(gone.agent).removed);
    CHECK_FALSE(outside.at(gone.agent).there());
    CHECK_FALSE(Queued(gone.agent));
    outside.erase(gone.agent);
    order.erase(std::remove(order.begin(), order.end(), gone.agent), order.end());
  }
  bool LookBetween(int64_t after) const {
    return now.mono_ns / AgentPool::kLookNs > after / AgentPool::kLookNs;
  }

  // A call that is one of the outside's or a wisher's mistakes changes nothing; another is done.
  void Mind(const absl::Status& status, bool wanted) {
    CHECK(status.ok() == wanted);
    if (status.ok()) return;
    CHECK(actions.empty());
    CHECK_FALSE(MessageOf(status).empty());
  }

  void Start(const std::string& name, bool restart) {
    if (!Configured(name)) {
      return Mind(restart ? pool.Restart(name, now, actions) : pool.Start(name, now, actions), false);
    }
    Outside& o = outside.at(name);
    if (restart && o.there() && !o.ending()) {
      o.restart = o.asked = true;
      CHECK(pool.Restart(name, now, actions).ok());
      return Act();
    }
    size_t busy = 0;
    std::string who;
    for (const std::string& other : order) {
      if (!Holds(other) || outside.at(other).idle()) continue;
      who += (busy++ == 0 ? "" : ", ") + other;
    }
    const bool holds = Holds(name);
    const bool full = !holds && limits.max_running != 0 && busy >= limits.max_running;
    if (!holds && !full) queue.push_back(name);
    const absl::Status status = restart ? pool.Restart(name, now, actions) : pool.Start(name, now, actions);
    Mind(status, !full);
    if (full) {
      CHECK(MessageOf(status) == "too many agents running: " + std::to_string(busy) + " agent(s) busy (" +
                                     who + "), the limit is " + std::to_string(limits.max_running));
      ++refused;
    }
    Act();
    if (!holds && Queued(name)) ++waited;
  }
  void TakeBack(const std::string& name) {
    Outside& o = outside.at(name);
    Unqueue(name);
    o.restart = false;
    if (o.there()) o.asked = true;
  }
  void Stop(const std::string& name) {
    const bool configured = Configured(name);
    if (configured) TakeBack(name);
    Mind(pool.Stop(name, now, actions), configured);
    Act();
  }
  void StopAll() {
    for (const std::string& name : order) {
      if (Configured(name)) TakeBack(name);
    }
    pool.StopAll(now, actions);
    Act();
  }
  void Remove(const std::string& name) {
    const bool configured = Configured(name);
    if (configured) {
      TakeBack(name);
      outside.at(name).removed = true;
    }
    Mind(pool.Remove(name, now, actions), configured);
    Act();
  }
  void SetLimits() {
    limits = {static_cast<uint32_t>(random.Below(all.size() + 1)), Idle(random)};
    limits_set = now.mono_ns;
    pool.SetLimits(limits, now, actions);
    Act();
  }
  void Use(const std::string& name) {
    bool can = Configured(name);
    if (can) {
      const Outside& o = outside.at(name);
      can = !o.ending() && (o.state == S::kReady || o.state == S::kBusy);
    }
    if (can) ++outside.at(name).users;
    Mind(pool.Use(name, now, actions), can);
    Act();
  }
  void Release(const std::string& name) {
    const bool can = In(name) && outside.at(name).users > 0;
    if (can) --outside.at(name).users;
    Mind(pool.Release(name, now, actions), can);
    Act();
  }

  void HandshakeDone(const std::string& name) {
    Mind(pool.HandshakeDone(name, now, actions), In(name) && outside.at(name).state == S::kStarting);
    Act();
  }
  void StartFailed(const std::string& name) {
    const bool can = In(name) && outside.at(name).state == S::kStarting;
    bool running = random.OneIn(2);
    if (can) {
      Outside& o = outside.at(name);
      running = running && o.there();
      if (!running) Gone(o);
      if (!o.ending()) o.asked = true;  // by its failure
    }
    Mind(pool.StartFailed(name, "it failed", running, now, actions), can);
    Act();
  }
  // Ends, or says that it did where there is nothing.
  void Exit(const std::string& name) {
    if (In(name) && outside.at(name).there()) {
      Outside& o = outside.at(name);
      if (!o.process) return;
      o.process = false;
      o.left = o.tree;
      if (!o.left) Gone(o);
      CHECK(pool.Exited(name, "it ended", o.left, now, actions).ok());
      return Act();
    }
    Mind(pool.Exited(name, "it ended", random.OneIn(2), now, actions), false);
  }
  void TreeGone(const std::string& name) {
    if (!In(name)) return Mind(pool.TreeGone(name, now, actions), false);
    Outside& o = outside.at(name);
    if (!o.process && o.tree) {
      Gone(o);
      CHECK(pool.TreeGone(name, now, actions).ok());
      Act();
    } else if (o.process && !o.ending()) {
      Mind(pool.TreeGone(name, now, actions), false);
    }
  }
  void Gone(Outside& o) {
    o.process = o.tree = o.left = o.asked = false;
    o.closed = o.terminated = o.killed = kNot;
    ++ended;
  }

  void Tick() {
    const int64_t deadline = pool.Deadline();
    switch (random.Below(4)) {
      case 0:
        now.mono_ns += static_cast<int64_t>(random.Below(40 * kSecond));
        break;
      case 1:
        now.mono_ns += static_cast<int64_t>(random.Below(kSecond));
        break;
      default:
        if (deadline != kNever) now.mono_ns = std::max(now.mono_ns, deadline);
    }
    pool.Tick(now, actions);
    Act(true);
    CHECK(pool.Deadline() > now.mono_ns);
    for (const auto& [name, o] : outside) {
      if (!o.there()) continue;
      CAPTURE(name);
      if (o.closed != kNot && now.mono_ns >= o.closed + 5 * kSecond) CHECK(o.terminated != kNot);
      if (o.terminated != kNot && now.mono_ns >= o.terminated + 3 * kSecond) CHECK(o.killed != kNot);
      if (o.killed != kNot) CHECK(now.mono_ns < o.killed + kSecond);
      // Whoever was idle when a look came due has been looked at.
      if (!o.idle() || !LookBetween(std::max({last_tick, limits_set, o.idle_since}))) continue;
      if (limits.stop_idle_after_ns > 0) CHECK(now.mono_ns - o.idle_since < limits.stop_idle_after_ns);
      if (limits.max_running != 0) CHECK(Held() <= limits.max_running);
    }
    last_tick = now.mono_ns;
  }

  void Check(size_t running_before) {
    CHECK(pool.names() == order);
    size_t promised = 0;
    for (const std::string& name : order) {
      CAPTURE(name);
      const Outside& o = outside.at(name);
      CHECK(pool.state(name) == o.state);
      CHECK(pool.stopping(name) == o.ending());
      CHECK(pool.waiting(name) == (Queued(name) || o.restart));
      CHECK(pool.removed(name) == o.removed);
      CHECK((o.state == S::kBusy) == (o.users > 0));
      CHECK((o.there() || o.state == S::kStopped || o.state == S::kError));
      if (o.ending() && !o.restart) ++promised;
    }
    for (const std::string& name : all) CHECK(pool.Has(name) == In(name));
    CHECK(pool.idle() == (Running() == 0));
    if (limits.max_running != 0) {
      // Where fewer may run than do, at least no more do.
      CHECK(Running() <= std::max<size_t>(limits.max_running, running_before));
    }
    // A place that is free is nobody's who could use it; and there is a place to come for all that wait, but
    // where there are fewer now than were promised.
    if (limits.max_running == 0 || Running() < limits.max_running) {
      for (const std::string& name : queue) CHECK(outside.at(name).there());
    }
    if (limits.max_running != 0 && Held() <= limits.max_running) CHECK(queue.size() <= promised);
  }

  void Step(bool wishes) {
    const size_t before = Running();
    const std::string& name = random.Of(all);
    switch (random.Below(wishes ? 24 : 12)) {
      case 0:
      case 1:
      case 2:
        HandshakeDone(name);
        break;
      case 3:
        if (random.OneIn(3)) StartFailed(name);
        break;
      case 4:
        // On its own it ends less often.
        if (!In(name) || outside.at(name).ending() || random.OneIn(4)) Exit(name);
        break;
      case 5:
      case 6:
        TreeGone(name);
        break;
      case 7:
      case 8:
        Release(name);
        break;
      case 9:
      case 10:
      case 11:
        Tick();
        break;
      case 12:
      case 13:
      case 14:
      case 15:
        Start(name, false);
        break;
      case 16:
        Start(name, true);
        break;
      case 17:
        if (random.OneIn(2)) Stop(name);
        break;
      case 18:
        Use(name);
        break;
      case 19:
      case 20:
        Release(name);
        break;
      case 21:
        if (random.OneIn(8)) Remove(name);
        break;
      case 22:
        if (random.OneIn(2)) Add(name);
        break;
      default:
        if (random.OneIn(30)) SetLimits();
        if (random.OneIn(200)) StopAll();
    }
    Check(before);
  }
};

TEST_CASE(
    "S2 S4 S5 S6 S7 S8 whatever happens, agents go by the table, no more run than may, whoever waits is "
    "started, and every process is ended") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  uint64_t spawned = 0, waited = 0, refused = 0, idle_stops = 0, made_room = 0, kills = 0;
  for (int run = 0; run < 300; ++run) {
    CAPTURE(run);
    World world(random, 1 + random.Below(6));
    for (int i = 0; i < 1'000; ++i) world.Step(true);
    // Nobody wants anything more, and the outside goes on: those that wait get their places.
    for (int i = 0; i < 20'000 && !world.queue.empty(); ++i) world.Step(false);
    CHECK(world.queue.empty());
    world.StopAll();
    for (int i = 0; i < 20'000 && !world.pool.idle(); ++i) world.Step(false);
    CHECK(world.pool.idle());
    CHECK(world.ended == world.spawned);
    CHECK(world.pool.Deadline() == kNever);
    for (const auto& [name, o] : world.outside) {
      CHECK_FALSE(o.removed);
      CHECK((o.state == S::kStopped || o.state == S::kError));
    }
    spawned += world.spawned;
    waited += world.waited;
    refused += world.refused;
    idle_stops += world.idle_stops;
    made_room += world.made_room;
    kills += world.kills;
  }
  // All of it was there to be seen.
  CHECK(spawned > 3'000);
  CHECK(waited > 500);
  CHECK(refused > 1'000);
  CHECK(idle_stops > 100);
  CHECK(made_room > 200);
  CHECK(kills > 500);
}

}  // namespace
}  // namespace watchbill::acp
