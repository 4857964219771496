// Two ends, a pool, a client and an agent that a random number plays.
#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <set>
#include <string>

#include "seeded.hpp"
#include "watchbill/acp/agent_pool.hpp"
#include "watchbill/acp/client.hpp"
#include "watchbill/acp/encode.hpp"
#include "watchbill/acp/peer.hpp"

namespace watchbill::acp {
namespace {

// Moves a random part of what `from` wants to send.
template <typename From, typename To>
void Move(Seeded& random, From& from, To& to) {
  const size_t all = from.Output().size();
  if (all == 0) return;
  const size_t n = random.OneIn(3) ? all : 1 + random.Below(all);
  to.Feed(std::string(from.Output().substr(0, n)));
  from.Consume(n);
}

TEST_CASE("A2 two ends back to back: every call is answered once, with its own answer, in whatever pieces") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  struct End {
    Peer peer;
    std::map<uint64_t, std::string> open;  // calls and the answers they must get
    std::vector<std::pair<JsonText, std::string>> owed;
    uint64_t told = 0, heard = 0, answered = 0;
  };
  End ends[2];
  const std::vector<std::string> pieces = {"é", "\\n", "\"", "\n", "{}", "😀", "x"};
  const auto text = [&] {
    std::string out;
    for (size_t n = random.Below(6); n > 0; --n) out.append(random.Of(pieces));
    return Encode(PromptResponse{out});
  };
  uint64_t calls = 0;
  const auto under_way = [&] { return !ends[0].open.empty() || !ends[1].open.empty(); };
  for (int step = 0; step < 50'000 || (under_way() && step < 1'000'000); ++step) {
    const bool last = step >= 50'000;  // only what is under way is brought to its end
    End& end = ends[random.Below(2)];
    End& other = &end == &ends[0] ? ends[1] : ends[0];
    switch (random.Below(last ? 3 : 6)) {
      case 0:
        Move(random, end.peer, other.peer);
        break;
      case 1:
        while (const auto event = end.peer.Next()) {
          if (const auto* asked = std::get_if<IncomingRequest>(&*event)) {
            end.owed.emplace_back(JsonText(asked->id), std::string(asked->params.text()));
          } else if (const auto* ended = std::get_if<CallEnded>(&*event)) {
            const auto it = end.open.find(ended->call);
            REQUIRE(it != end.open.end());
            if (ended->error) {
              CHECK(Encode(PromptResponse{ended->error->message}) == it->second);
            } else {
              CHECK(ended->result.text() == it->second);
            }
            end.open.erase(it);
            ++end.answered;
          } else {
            REQUIRE(std::holds_alternative<IncomingNotification>(*event));
            ++end.heard;
          }
          if (random.OneIn(4)) break;
        }
        break;
      case 2:
        if (!end.owed.empty()) {
          const size_t which = random.Below(end.owed.size());
          const auto [id, params] = end.owed[which];
          end.owed.erase(end.owed.begin() + static_cast<std::ptrdiff_t>(which));
          end.peer.Respond(id.view(), params);  // gives back what it was asked with
        }
        break;
      case 3:
        end.peer.Notify("told", text());
        ++end.told;
        break;
      default: {
        const std::string params = text();
        end.open.emplace(end.peer.Call("ask \"that\"", params), params);
        ++calls;
      }
    }
  }
  CHECK(calls > 10'000);
  // What is told needs no answer: it may still be on its way.
  for (int i = 0; i < 2; ++i) {
    ends[1 - i].peer.Feed(ends[i].peer.Output());
    while (const auto event = ends[1 - i].peer.Next()) {
      REQUIRE(std::holds_alternative<IncomingNotification>(*event));
      ++ends[1 - i].heard;
    }
  }
  for (int i = 0; i < 2; ++i) {
    CHECK(ends[i].open.empty());
    CHECK(ends[i].peer.open_calls() == 0);
    CHECK(ends[i].peer.stray_lines() == 0);
    CHECK(ends[i].heard == ends[1 - i].told);
  }
  CHECK(ends[0].answered + ends[1].answered == calls);
}

TEST_CASE(
    "S2 S6 S7 agents that anything happens to never leave the table, and every process is ended or said "
    "gone") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  using S = AgentState;
  static const std::set<std::pair<S, S>> kSteps = {
      {S::kStopped, S::kStarting}, {S::kError, S::kStarting},   {S::kStarting, S::kReady},
      {S::kStarting, S::kError},   {S::kStarting, S::kStopped}, {S::kReady, S::kBusy},
      {S::kBusy, S::kReady},       {S::kReady, S::kStopped},    {S::kBusy, S::kStopped},
      {S::kReady, S::kError},      {S::kBusy, S::kError}};
  // What there is outside: a process, and what it started.
  struct Outside {
    S state = S::kStopped;
    bool process = false, tree = false, closed = false;
    int signals = 0;
  };
  const std::vector<std::string> names = {"a", "b", "c"};
  std::map<std::string, Outside> outside;
  AgentPool pool;
  for (const std::string& name : names) pool.Add(name);
  Now now{1, 0};
  PoolActions actions;
  uint64_t changes = 0, spawned = 0, ended = 0;
  const auto act = [&] {
    for (const PoolAction& action : actions) {
      if (const auto* spawn = std::get_if<SpawnAgent>(&action)) {
        Outside& o = outside[spawn->agent];
        CHECK_FALSE(o.process);
        CHECK_FALSE(o.tree);
        o = Outside{S::kStarting, true, !random.OneIn(3), false, 0};
        ++spawned;
      } else if (const auto* close = std::get_if<CloseAgentInput>(&action)) {
        Outside& o = outside[close->agent];
        CHECK(o.process);
        CHECK_FALSE(o.closed);
        o.closed = true;
      } else if (const auto* signal = std::get_if<SignalAgent>(&action)) {
        Outside& o = outside[signal->agent];
        CHECK((o.process || o.tree));
        if (signal->kill) CHECK(o.signals > 0);
        ++o.signals;
      } else {
        const auto& changed = std::get<AgentChanged>(action);
        Outside& o = outside[changed.agent];
        CHECK(kSteps.count({o.state, changed.state}) == 1);
        CHECK(changed.error.empty() == (changed.state != S::kError));
        o.state = changed.state;
        ++changes;
      }
    }
    actions.clear();
  };
  const auto step = [&](bool closing) {
    const std::string& name = random.Of(names);
    Outside& o = outside[name];
    switch (random.Below(12)) {
      case 0:
      case 1:
        if (!closing) CHECK(pool.Start(name, now, actions).ok());
        break;
      case 2:
        CHECK(pool.Stop(name, now, actions).ok());
        break;
      case 3:
        if (!closing) CHECK(pool.Restart(name, now, actions).ok());
        break;
      case 4:
      case 5:
        if (o.process) (void)pool.HandshakeDone(name, now, actions);
        break;
      case 6:
        if (o.process && o.state == S::kStarting && random.OneIn(2)) {
          const bool running = random.OneIn(2);
          o.process = running;
          if (!running) o.tree = false, ++ended;
          CHECK(pool.StartFailed(name, "it failed", running, now, actions).ok());
        } else if (o.state != S::kStarting) {
          CHECK_FALSE(pool.StartFailed(name, "it failed", random.OneIn(2), now, actions).ok());
          CHECK(actions.empty());
        }
        break;
      case 7:
        if (o.process && (closing || random.OneIn(4))) {
          o.process = false;
          if (!o.tree) ++ended;
          CHECK(pool.Exited(name, "it ended", o.tree, now, actions).ok());
        } else if (!o.process && !o.tree) {
          CHECK_FALSE(pool.Exited(name, "it ended", random.OneIn(2), now, actions).ok());
          CHECK(actions.empty());
        }
        break;
      case 8:
        if (!o.process && o.tree) {
          o.tree = false;
          ++ended;
          CHECK(pool.TreeGone(name, now, actions).ok());
        } else if (o.process && !o.closed) {
          CHECK_FALSE(pool.TreeGone(name, now, actions).ok());
        }
        break;
      case 9:
        if (!closing) (void)pool.Use(name, now, actions);
        break;
      case 10:
        (void)pool.Release(name, now, actions);
        break;
      default:
        now.mono_ns = random.OneIn(2) && pool.Deadline() != kNever
                          ? pool.Deadline()
                          : now.mono_ns + static_cast<int64_t>(random.Below(kSecond));
        pool.Tick(now, actions);
        CHECK(pool.Deadline() > now.mono_ns);
    }
    act();
    for (const std::string& one : names) {
      CHECK(pool.state(one) == outside[one].state);
      const bool there = outside[one].process || outside[one].tree;
      // Something that is there runs, or is being ended.
      if (there) CHECK((pool.stopping(one) || outside[one].process));
      if (!there) CHECK_FALSE(pool.stopping(one));
      if (outside[one].state == S::kReady || outside[one].state == S::kBusy) CHECK(there);
    }
  };
  for (int i = 0; i < 100'000; ++i) step(false);
  CHECK(changes > 5'000);
  CHECK(spawned > 1'000);
  pool.StopAll(now, actions);
  act();
  for (int i = 0; i < 100'000 && !pool.idle(); ++i) step(true);
  CHECK(pool.idle());
  CHECK(ended == spawned);
  CHECK(pool.Deadline() == kNever);
  for (const std::string& name : names) {
    CHECK((pool.state(name) == S::kStopped || pool.state(name) == S::kError));
  }
}

TEST_CASE("A1 a client and an agent that behaves, and one that does not, in random pieces") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  const std::vector<std::string> noise = {
      "hello",
      "{",
      "[]",
      "{}",
      R"({"id":99,"result":1})",
      R"({"id":null,"error":{}})",
      R"({"method":"x"})",
      R"({"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[1,{"content":"c"}]}}})",
      R"({"method":"$/cancel_request","params":{"requestId":5}})",
      R"({"id":"q","method":"craft/drain"})"};
  size_t turns = 0, permissions = 0, updates = 0, gone = 0;
  for (int run = 0; run < 400; ++run) {
    CAPTURE(run);
    Client client;
    Peer agent;
    Now now{1, 0};
    REQUIRE(client.Initialize({}, now).ok());
    std::string session;
    uint64_t prompt = 0, next_chunk = 0, heard_chunk = 0;
    std::set<uint64_t> asked;
    std::optional<JsonText> turn;  // the prompt that the agent works on
    bool ended = false;
    const auto move = [&](bool whole) {
      const size_t all = agent.Output().size();
      if (all > 0) {
        const size_t n = whole ? all : 1 + random.Below(all);
        client.Feed(std::string(agent.Output().substr(0, n)));
        agent.Consume(n);
      }
      Move(random, client, agent);
    };
    for (int step = 0; step < 300; ++step) {
      if (!ended && step > 250 && random.OneIn(20)) {
        ended = true;
        move(true);
        client.End("exit code 0");
      }
      if (!ended) move(false);
      while (const auto event = client.Next()) {
        if (std::holds_alternative<HandshakeDone>(*event)) {
          REQUIRE(client.NewSession({"/", {}}, now).ok());
        } else if (const auto* made = std::get_if<SessionMade>(&*event)) {
          session = made->session.session;
        } else if (const auto* update = std::get_if<Updated>(&*event)) {
          ++updates;
          if (const auto* chunk = std::get_if<Chunk>(&update->update.update)) {
            CHECK(chunk->content.text == std::to_string(heard_chunk++));
          }
        } else if (const auto* permission = std::get_if<PermissionAsked>(&*event)) {
          CHECK(asked.insert(permission->request).second);
          ++permissions;
        } else if (const auto* closed = std::get_if<PermissionClosed>(&*event)) {
          CHECK(asked.erase(closed->request) == 1);
        } else if (const auto* over = std::get_if<PromptEnded>(&*event)) {
          CHECK(over->call == prompt);
          CHECK(over->session == session);
          CHECK(over->stop_reason.empty() != over->failure.empty());
          // Every update of the turn was told before.
          if (!ended) CHECK(heard_chunk == next_chunk);
          prompt = 0;
          ++turns;
        } else {
          CHECK_FALSE(std::holds_alternative<HandshakeFailed>(*event));
        }
      }
      while (const auto event = agent.Next()) {
        if (const auto* request = std::get_if<IncomingRequest>(&*event)) {
          if (request->method == "initialize") agent.Respond(request->id, R"({"protocolVersion":1})");
          if (request->method == "session/new") agent.Respond(request->id, R"({"sessionId":"s"})");
          if (request->method == "session/prompt") turn.emplace(request->id);
        } else if (const auto* answer = std::get_if<CallEnded>(&*event)) {
          CHECK_FALSE(answer->error.has_value());
        }
      }
      if (turn && random.OneIn(8)) {
        agent.Respond(turn->view(), Encode(PromptResponse{"end_turn"}));
        turn.reset();
      }
      if (turn && random.OneIn(2)) {
        SessionUpdate update;
        update.session = "s";
        const std::string number = std::to_string(next_chunk++);
        Chunk chunk;
        chunk.content.text = number;
        update.update = chunk;
        agent.Notify("session/update", Encode(update));
      }
      if (turn && random.OneIn(6)) {
        PermissionRequest request;
        request.session = "s";
        request.tool.id = "c";
        request.options = {{"y", "Yes", "allow_once"}, {"n", "No", "reject_once"}};
        (void)agent.Call("session/request_permission", Encode(request));
      }
      // Whole lines, where nothing of the agent's is half on its way.
      if (!ended && random.OneIn(5)) {
        move(true);
        client.Feed(random.Of(noise) + "\n");
      }
      if (!ended && !session.empty() && prompt == 0) {
        const auto call = client.Prompt({session, {}});
        REQUIRE(call.ok());
        prompt = *call;
      }
      if (!asked.empty() && random.OneIn(3)) {
        const uint64_t request = *asked.begin();
        const bool allow = random.OneIn(2);
        const absl::Status status =
            allow ? client.AnswerPermission(request, "y") : client.RefusePermission(request).status();
        CHECK(status.ok() != ended);
        if (status.ok()) asked.erase(request);
      }
      if (prompt != 0 && random.OneIn(30)) {
        for (const uint64_t request : client.Cancel(session)) CHECK(asked.erase(request) == 1);
      }
    }
    if (!ended) continue;
    ++gone;
    CHECK(prompt == 0);
    CHECK(asked.empty());
    CHECK_FALSE(client.prompting(session));
    CHECK_FALSE(client.ready());
  }
  CHECK(turns > 400);
  CHECK(permissions > 400);
  CHECK(updates > 4'000);
  CHECK(gone > 100);
}

}  // namespace
}  // namespace watchbill::acp
