// Two ends, a client and an agent that a random number plays.
#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <set>
#include <string>

#include "seeded.hpp"
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
    return Encode(PromptResponse{out, {}, {}});
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
              CHECK(Encode(PromptResponse{ended->error->message, {}, {}}) == it->second);
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
          NewSessionRequest request;
          request.cwd = "/";
          REQUIRE(client.NewSession(request, now).ok());
        } else if (const auto* made = std::get_if<SessionOpened>(&*event)) {
          session = made->session;
        } else if (const auto* update = std::get_if<Updated>(&*event)) {
          ++updates;
          if (const auto* chunk = std::get_if<ContentChunk>(&update->update)) {
            CHECK(WordsOf(chunk->content) == std::to_string(heard_chunk++));
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
        agent.Respond(turn->view(), Encode(PromptResponse{"end_turn", {}, {}}));
        turn.reset();
      }
      if (turn && random.OneIn(2)) {
        SessionNotification update;
        update.session_id = "s";
        const std::string number = std::to_string(next_chunk++);
        ContentChunk chunk;
        chunk.content = TextContent{number, std::nullopt, {}};
        update.update = chunk;
        agent.Notify("session/update", Encode(update));
      }
      if (turn && random.OneIn(6)) {
        RequestPermissionRequest request;
        request.session_id = "s";
        request.tool_call.tool_call_id = "c";
        request.options = {{"y", "Yes", "allow_once", {}}, {"n", "No", "reject_once", {}}};
        (void)agent.Call("session/request_permission", Encode(request));
      }
      // Whole lines, where nothing of the agent's is half on its way.
      if (!ended && random.OneIn(5)) {
        move(true);
        client.Feed(random.Of(noise) + "\n");
      }
      if (!ended && !session.empty() && prompt == 0) {
        const auto call = client.Prompt({session, {}, {}});
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
