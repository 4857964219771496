#include "channels/channels.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "watchbill/base/status.hpp"

using namespace watchbill;
using namespace watchbill::channels;

namespace {

// A world in which everything that is kept is remembered, and actions are gathered.
struct World : Past {
  World() : channels(*this, 7) { channels.Load({"codex", "gemini"}, {}); }

  std::vector<history::Message> Last(std::string_view channel, size_t limit) const override {
    std::vector<history::Message> out;
    for (const history::Message& m : kept) {
      if (m.channel == channel) out.push_back(m);
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    if (out.size() > limit) out.erase(out.begin(), out.end() - static_cast<ptrdiff_t>(limit));
    return out;
  }

  template <typename Change>
  void Do(const Change& change) {
    Outcome out;
    change(out);
    for (const history::Message& m : out.messages) kept.push_back(m);
    for (Action& a : out.actions) {
      if (const auto* emit = std::get_if<Emit>(&a)) events.emplace_back(emit->event, emit->params);
      actions.push_back(std::move(a));
    }
  }

  Now Tick() { return {now.mono_ns += kSecond, now.wall_ms += 1000}; }

  template <typename T>
  std::vector<T> Of() const {
    std::vector<T> out;
    for (const Action& a : actions) {
      if (const auto* one = std::get_if<T>(&a)) out.push_back(*one);
    }
    return out;
  }
  std::vector<std::string> EventNames() const {
    std::vector<std::string> out;
    for (const auto& [name, params] : events) out.push_back(name);
    return out;
  }
  void Forget() {
    actions.clear();
    events.clear();
  }

  std::string Direct(std::string_view agent) {
    std::string id;
    Do([&](Outcome& out) { id = channels.Direct(agent, Tick(), out)->id; });
    return id;
  }
  std::string Say(const std::string& channel, std::string_view text) {
    std::string id;
    Do([&](Outcome& out) { id = channels.Send(channel, text, Tick(), out).value_or(""); });
    return id;
  }
  void Ready(std::string_view agent) {
    Do([&](Outcome& out) { channels.AgentReady(agent, Tick(), out); });
  }
  void Opened(std::string_view agent, const std::string& channel, std::string_view session) {
    Do([&](Outcome& out) { channels.SessionOpened(agent, channel, session, Tick(), out); });
  }
  void Chunk(std::string_view agent, std::string_view session, std::string_view text,
             acp::ContentChunk::From from = acp::ContentChunk::From::kAgent) {
    acp::Updated update;
    update.session = session;
    acp::ContentChunk chunk;
    chunk.from = from;
    chunk.content = acp::TextContent{text, std::nullopt, {}};
    update.update = chunk;
    Do([&](Outcome& out) { channels.Updated(agent, update, Tick(), out); });
  }
  void Flush() {
    Do([&](Outcome& out) { channels.Flush(out); });
  }
  void Ended(std::string_view agent, std::string_view session, std::string_view reason,
             std::string_view why = "") {
    Do([&](Outcome& out) { channels.PromptEnded(agent, session, reason, why, Tick(), out); });
  }

  Now now{kSecond, 1'790'000'000'000};
  Channels channels;
  std::vector<history::Message> kept;
  std::vector<Action> actions;
  std::vector<std::pair<std::string, std::string>> events;
};

// One that is answering already.
struct Answering : World {
  Answering() {
    channel = Direct("codex");
    asked = Say(channel, "hello");
    Ready("codex");
    Opened("codex", channel, "s1");
  }
  std::string channel, asked;
};

history::Message KeptWith(const World& w, std::string_view id) {
  for (const history::Message& m : w.kept) {
    if (m.id == id) return m;
  }
  return {};
}

}  // namespace

TEST_CASE("S18 a direct conversation is made once, and only with an agent that is configured") {
  World w;
  const std::string id = w.Direct("codex");
  CHECK(w.Direct("codex") == id);
  CHECK(w.Direct("gemini") != id);
  CHECK(w.channels.List().size() == 2);
  CHECK(w.channels.List()[0].direct == "codex");
  CHECK(w.channels.List()[0].members == std::vector<std::string>{"codex"});
  CHECK(w.EventNames() == std::vector<std::string>{"channels:changed", "channels:changed"});
  Outcome out;
  const auto missing = w.channels.Direct("codx", w.Tick(), out);
  CHECK(absl::IsNotFound(missing.status()));
  CHECK(out.actions.empty());
}

TEST_CASE("S18 nothing, too much, and an unknown channel are refused and change nothing") {
  World w;
  const std::string id = w.Direct("codex");
  w.Forget();
  Outcome out;
  CHECK(absl::IsInvalidArgument(w.channels.Send(id, " \n\t", w.Tick(), out).status()));
  CHECK(absl::IsNotFound(w.channels.Send("01J", "x", w.Tick(), out).status()));
  CHECK(absl::IsOutOfRange(w.channels.Send(id, std::string((1 << 20) + 1, 'x'), w.Tick(), out).status()));
  CHECK(out.actions.empty());
  CHECK(out.messages.empty());
  CHECK_FALSE(w.channels.LiveOf(id)->busy);
}

TEST_CASE("S17 a message is kept before its agent is needed, and its answer when it is whole") {
  World w;
  const std::string channel = w.Direct("codex");
  w.Forget();
  const std::string asked = w.Say(channel, "hello");
  CHECK(KeptWith(w, asked).role == history::Role::kUser);
  CHECK(w.EventNames() == std::vector<std::string>{"message:updated", "turn:changed"});
  REQUIRE(w.Of<NeedAgent>().size() == 1);
  w.Ready("codex");
  REQUIRE(w.Of<OpenSession>().size() == 1);
  CHECK(w.Of<Prompt>().empty());
  w.Opened("codex", channel, "s1");
  REQUIRE(w.Of<Prompt>().size() == 1);
  CHECK(w.Of<Prompt>()[0].texts == std::vector<std::string>{"hello"});
  w.Chunk("codex", "s1", "thinking", acp::ContentChunk::From::kThought);
  w.Chunk("codex", "s1", "Good ");
  w.Chunk("codex", "s1", "morning");
  CHECK(w.kept.size() == 1);  // what streams is not kept
  const auto live = w.channels.LiveOf(channel);
  REQUIRE(live->messages.size() == 1);
  CHECK_FALSE(live->messages[0]->done);
  CHECK(live->messages[0]->parts.size() == 2);
  w.Forget();
  w.Ended("codex", "s1", "end_turn");
  CHECK(w.EventNames() == std::vector<std::string>{"message:delta", "message:updated", "turn:changed"});
  REQUIRE(w.kept.size() == 2);
  CHECK(w.kept[1].done);
  CHECK(w.kept[1].stop_reason == "end_turn");
  CHECK(w.kept[1].agent == "codex");
  CHECK(std::get<history::TextPart>(w.kept[1].parts[1]).text == "Good morning");
  CHECK(w.Of<ReleaseAgent>().size() == 1);
  CHECK_FALSE(w.channels.LiveOf(channel)->busy);
}

TEST_CASE("S19 words that arrive together go out as one event, in order with what else happens") {
  Answering w;
  w.Forget();
  w.Chunk("codex", "s1", "one ");
  w.Chunk("codex", "s1", "two ");
  CHECK(w.events.empty());
  acp::Updated update;
  update.session = "s1";
  acp::ToolCallUpdate tool;
  tool.tool_call_id = "t";
  tool.title = "Read";
  update.update = tool;
  w.Do([&](Outcome& out) { w.channels.Updated("codex", update, w.Tick(), out); });
  w.Chunk("codex", "s1", "three");
  w.Flush();
  w.Flush();
  REQUIRE(w.EventNames() == std::vector<std::string>{"message:delta", "message:delta", "message:delta"});
  CHECK(w.events[0].second.find("\"index\":0,\"kind\":\"text\",\"text\":\"one two \"") != std::string::npos);
  CHECK(w.events[1].second.find("\"index\":1,\"kind\":\"tool\",\"part\":") != std::string::npos);
  CHECK(w.events[2].second.find("\"index\":2,\"kind\":\"text\",\"text\":\"three\"") != std::string::npos);
}

TEST_CASE("S16 what is sent meanwhile waits, is not kept, and has its turn") {
  Answering w;
  w.Forget();
  const std::string second = w.Say(w.channel, "and then?");
  CHECK(KeptWith(w, second).id.empty());
  CHECK(w.channels.LiveOf(w.channel)->queued == 1);
  CHECK(w.Of<NeedAgent>().empty());
  w.Ended("codex", "s1", "end_turn");
  CHECK(KeptWith(w, second).id == second);
  CHECK_FALSE(KeptWith(w, second).queued);
  CHECK(w.channels.LiveOf(w.channel)->queued == 0);
  REQUIRE(w.Of<NeedAgent>().size() == 1);
  w.Ready("codex");
  REQUIRE(w.Of<Prompt>().size() == 1);
  CHECK(w.Of<OpenSession>().empty());  // the session is there
  CHECK(w.Of<Prompt>()[0].texts == std::vector<std::string>{"and then?"});
}

TEST_CASE("S21 a new session is told what was said before; one that goes on is not") {
  Answering w;
  w.Chunk("codex", "s1", "Good morning");
  w.Ended("codex", "s1", "end_turn");
  w.Do([&](Outcome& out) { w.channels.AgentGone("codex", "exit code 0", w.Tick(), out); });
  w.Forget();
  w.Say(w.channel, "what did I say?");
  w.Ready("codex");
  REQUIRE(w.Of<OpenSession>().size() == 1);
  w.Opened("codex", w.channel, "s2");
  REQUIRE(w.Of<Prompt>().size() == 1);
  REQUIRE(w.Of<Prompt>()[0].texts.size() == 2);
  CHECK(w.Of<Prompt>()[0].texts[0].find("user: hello\n\ncodex: Good morning\n") != std::string::npos);
  CHECK(w.Of<Prompt>()[0].texts[1] == "what did I say?");
}

TEST_CASE("S21 a new session is told the last twenty, each cut") {
  World w;
  const std::string channel = w.Direct("codex");
  for (int i = 0; i < 30; ++i) {
    history::Message m;
    m.channel = channel;
    m.id = UlidGenerator(1).Next(1'700'000'000'000 + i);
    m.parts.push_back(history::TextPart{"number " + std::to_string(i) + " " + std::string(2000, 'x')});
    w.kept.push_back(m);
  }
  w.Say(channel, "go on");
  w.Ready("codex");
  w.Opened("codex", channel, "s1");
  REQUIRE(w.Of<Prompt>().size() == 1);
  const std::string told = w.Of<Prompt>()[0].texts[0];
  CHECK(told.find("number 9 ") == std::string::npos);
  CHECK(told.find("number 10 ") != std::string::npos);
  CHECK(told.size() < 20 * 1600);
}

TEST_CASE("S15 a command is sent alone") {
  Answering w;
  w.Ended("codex", "s1", "end_turn");
  w.Do([&](Outcome& out) { w.channels.AgentGone("codex", "exit code 0", w.Tick(), out); });
  w.Forget();
  w.Say(w.channel, "/codex:plan a party");
  w.Ready("codex");
  w.Opened("codex", w.channel, "s2");
  CHECK(w.Of<Prompt>()[0].texts == std::vector<std::string>{"/plan a party"});
}

TEST_CASE("S22 a permission is asked for, answered once, counted, and closed by what ends it") {
  Answering w;
  acp::RequestPermissionRequest asked;
  asked.session_id = "s1";
  asked.tool_call.tool_call_id = "call_2";
  asked.tool_call.title = "Change config.json";
  asked.options = {{"yes", "Allow", "allow_once", {}}, {"no", "Skip", "reject_once", {}}};
  w.Forget();
  w.Do([&](Outcome& out) { w.channels.PermissionAsked("codex", 1, asked, w.Tick(), out); });
  CHECK(w.EventNames() == std::vector<std::string>{"message:delta", "permission:requested"});
  REQUIRE(w.channels.LiveOf(w.channel)->permissions.size() == 1);
  const std::string id = w.channels.LiveOf(w.channel)->permissions[0]->id;
  Outcome nothing;
  CHECK(absl::IsInvalidArgument(w.channels.Answer(id, "maybe", w.Tick(), nothing)));
  CHECK(absl::IsNotFound(w.channels.Answer("other", "yes", w.Tick(), nothing)));
  w.Do([&](Outcome& out) { CHECK(w.channels.Answer(id, "no", w.Tick(), out).ok()); });
  REQUIRE(w.Of<AnswerPermission>().size() == 1);
  CHECK(w.Of<AnswerPermission>()[0].option == "no");
  CHECK(absl::IsNotFound(w.channels.Answer(id, "yes", w.Tick(), nothing)));
  w.Do([&](Outcome& out) { w.channels.PermissionAsked("codex", 2, asked, w.Tick(), out); });
  CHECK(w.channels.LiveOf(w.channel)->permissions[0]->rejections == 1);
  w.Forget();
  w.Do([&](Outcome& out) { w.channels.PermissionClosed("codex", 2, out); });
  CHECK(w.EventNames() == std::vector<std::string>{"permission:resolved"});
  CHECK(w.channels.LiveOf(w.channel)->permissions.empty());
}

TEST_CASE("S22 a permission that is open when its turn ends is refused, and closed for everybody") {
  Answering w;
  acp::RequestPermissionRequest asked;
  asked.session_id = "s1";
  asked.tool_call.tool_call_id = "t";
  asked.options = {{"yes", "Allow", "allow_once", {}}};
  w.Do([&](Outcome& out) { w.channels.PermissionAsked("codex", 4, asked, w.Tick(), out); });
  w.Forget();
  w.Ended("codex", "s1", "end_turn");
  REQUIRE(w.Of<AnswerPermission>().size() == 1);
  CHECK(w.Of<AnswerPermission>()[0].request == 4);
  CHECK_FALSE(w.Of<AnswerPermission>()[0].option.has_value());
  CHECK(w.EventNames()[0] == "permission:resolved");
}

TEST_CASE("S22 a permission that belongs to no turn is refused at once") {
  Answering w;
  w.Ended("codex", "s1", "end_turn");
  w.Forget();
  acp::RequestPermissionRequest asked;
  asked.session_id = "s1";
  asked.tool_call.tool_call_id = "late";
  w.Do([&](Outcome& out) { w.channels.PermissionAsked("codex", 9, asked, w.Tick(), out); });
  REQUIRE(w.Of<AnswerPermission>().size() == 1);
  CHECK_FALSE(w.Of<AnswerPermission>()[0].option.has_value());
  CHECK(w.events.empty());
}

TEST_CASE(
    "S18 Cancel drops what waits, closes what is open and stops the turn; the turn ends when the agent says "
    "so") {
  Answering w;
  acp::RequestPermissionRequest asked;
  asked.session_id = "s1";
  asked.tool_call.tool_call_id = "t";
  asked.options = {{"yes", "Allow", "allow_once", {}}};
  w.Do([&](Outcome& out) { w.channels.PermissionAsked("codex", 1, asked, w.Tick(), out); });
  const std::string waiting = w.Say(w.channel, "more");
  w.Forget();
  w.Do([&](Outcome& out) { CHECK(w.channels.Cancel(w.channel, w.Tick(), out).ok()); });
  REQUIRE(w.Of<CancelTurn>().size() == 1);
  CHECK(KeptWith(w, waiting).error == "cancelled");
  CHECK(w.channels.LiveOf(w.channel)->permissions.empty());
  CHECK(w.channels.LiveOf(w.channel)->busy);
  w.Ended("codex", "s1", "cancelled");
  CHECK_FALSE(w.channels.LiveOf(w.channel)->busy);
  CHECK(w.kept.back().stop_reason == "cancelled");
  // The tool call that nobody will finish does not look as if it went on.
  CHECK(std::get<history::ToolPart>(w.kept.back().parts[0]).tool.status == "failed");
}

TEST_CASE("S18 Cancel while the agent starts leaves nothing waiting, and its start answers nobody") {
  World w;
  const std::string channel = w.Direct("codex");
  w.Say(channel, "hello");
  w.Do([&](Outcome& out) { CHECK(w.channels.Cancel(channel, w.Tick(), out).ok()); });
  CHECK_FALSE(w.channels.LiveOf(channel)->busy);
  w.Forget();
  w.Ready("codex");
  CHECK(w.actions.empty());
}

TEST_CASE("S17 an agent that cannot be started is a message that says why, and nothing goes on waiting") {
  World w;
  const std::string channel = w.Direct("codex");
  w.Say(channel, "hello");
  const std::string second = w.Say(channel, "again");
  w.Do([&](Outcome& out) { w.channels.StartFailed("codex", "no such program", w.Tick(), out); });
  const history::Message& last = w.kept[1];
  CHECK(last.role == history::Role::kSystem);
  CHECK(last.code == "agent-unavailable");
  CHECK(last.error == "no such program");
  CHECK(KeptWith(w, second).error == "cancelled");
  CHECK_FALSE(w.channels.LiveOf(channel)->busy);
}

TEST_CASE("S7 an agent that goes in the middle of its answer leaves what it said, with the reason") {
  Answering w;
  w.Chunk("codex", "s1", "half of");
  w.Do([&](Outcome& out) { w.channels.AgentGone("codex", "signal 9 (Killed)", w.Tick(), out); });
  CHECK(w.kept.back().done);
  CHECK(w.kept.back().error == "signal 9 (Killed)");
  CHECK(std::get<history::TextPart>(w.kept.back().parts[0]).text == "half of");
  CHECK_FALSE(w.channels.LiveOf(w.channel)->busy);
}

TEST_CASE("S23 usage and commands are told; commands are kept") {
  Answering w;
  w.Forget();
  acp::Updated usage;
  usage.session = "s1";
  usage.update = acp::UsageUpdate{1200, 200'000, std::nullopt, {}};
  w.Do([&](Outcome& out) { w.channels.Updated("codex", usage, w.Tick(), out); });
  acp::Updated commands;
  commands.session = "s1";
  const acp::AvailableCommand plan{"plan", "Makes a plan", acp::UnstructuredCommandInput{"what", {}}, {}};
  commands.update = acp::AvailableCommandsUpdate{{plan}, {}};
  std::vector<std::pair<std::string, std::string>> kept;
  w.Do([&](Outcome& out) {
    w.channels.Updated("codex", commands, w.Tick(), out);
    kept = out.commands;
    CHECK_FALSE(out.keep.empty());
  });
  REQUIRE(w.EventNames() == std::vector<std::string>{"usage:changed", "commands:changed"});
  CHECK(w.events[0].second ==
        "{\"channel\":\"" + w.channel + "\",\"agent\":\"codex\",\"usage\":{\"used\":1200,\"size\":200000}}");
  CHECK(kept[0].second == R"([{"name":"plan","description":"Makes a plan","hint":"what"}])");
  CHECK(w.channels.LiveOf(w.channel)->usage.at("codex").used == 1200);
}

TEST_CASE("S17 a plan replaces the one before; updates of a tool call meet their call") {
  Answering w;
  const auto update = [&](auto body) {
    acp::Updated u;
    u.session = "s1";
    u.update = std::move(body);
    w.Do([&](Outcome& out) { w.channels.Updated("codex", u, w.Tick(), out); });
  };
  update(acp::Plan{{{"first", "high", "pending", {}}, {"second", "low", "pending", {}}}, {}});
  acp::ToolCallUpdate tool;
  tool.tool_call_id = "t1";
  tool.status = "completed";
  update(tool);  // before its call
  tool.status = std::nullopt;
  tool.title = "Read";
  tool.is_new = true;
  update(tool);
  update(acp::Plan{{{"first", "high", "completed", {}}}, {}});
  w.Ended("codex", "s1", "end_turn");
  const history::Message& m = w.kept.back();
  REQUIRE(m.parts.size() == 2);
  CHECK(std::get<history::PlanPart>(m.parts[0]).entries.size() == 1);
  CHECK(std::get<history::ToolPart>(m.parts[1]).tool.title == "Read");
  CHECK(std::get<history::ToolPart>(m.parts[1]).tool.status == "completed");
}

TEST_CASE("an answer has a bound, and says that it was reached") {
  struct Small : World {
    Small()
        : tight(*this, 3, [] {
            Channels::Limits limits;
            limits.message_bytes = 1 << 20;
            return limits;
          }()) {
      tight.Load({"codex"}, {});
    }
    Channels tight;
  } w;
  Outcome out;
  const std::string channel = w.tight.Direct("codex", w.Tick(), out)->id;
  REQUIRE(w.tight.Send(channel, "x", w.Tick(), out).ok());
  w.tight.AgentReady("codex", w.Tick(), out);
  w.tight.SessionOpened("codex", channel, "s", w.Tick(), out);
  const std::string megabyte(900'000, 'x');
  acp::Updated update;
  update.session = "s";
  acp::ContentChunk chunk;
  chunk.content = acp::TextContent{megabyte, std::nullopt, {}};
  update.update = chunk;
  for (int i = 0; i < 5; ++i) w.tight.Updated("codex", update, w.Tick(), out);
  Outcome last;
  w.tight.PromptEnded("codex", "s", "end_turn", "", w.Tick(), last);
  REQUIRE(last.messages.size() == 1);
  REQUIRE(last.messages[0].parts.size() == 2);
  CHECK(std::get<history::TextPart>(last.messages[0].parts[0]).text.size() == 900'000);
  CHECK(std::get<history::TextPart>(last.messages[0].parts[1]).text.find("1 MiB") != std::string::npos);
}

TEST_CASE("what is about no turn is let go") {
  World w;
  w.Direct("codex");
  w.Forget();
  w.Chunk("codex", "nobody's", "text");
  w.Ended("codex", "nobody's", "end_turn");
  w.Opened("codex", "01J", "s");
  w.Do([&](Outcome& out) { w.channels.SessionFailed("codex", "01J", "why", w.Tick(), out); });
  w.Do([&](Outcome& out) { w.channels.AgentGone("gemini", "why", w.Tick(), out); });
  CHECK(w.actions.empty());
  CHECK(w.kept.empty());
}
