#include "watchbill/monitorproto/decoder.hpp"

#include <doctest/doctest.h>

#include "watchbill/base/status.hpp"

namespace watchbill::monitorproto {
namespace {

TEST_CASE("P1 register: what was not said is not there, and what was said empty is") {
  Decoder decoder;
  const auto bare = decoder.ReadAgent(R"({"type":"register","agent":{"id":null}})");
  REQUIRE(bare.ok());
  const auto& nothing = std::get<Register>(*bare);
  CHECK_FALSE(nothing.id.has_value());
  CHECK_FALSE(nothing.capabilities.has_value());
  CHECK(nothing.outputs.absent());
  const auto full = decoder.ReadAgent(
      R"({"at":"2026-10-01T18:12:00.000Z","type":"register","agent":{"type":"agent","id":"bbed7a48-1","name":"Israeli News","version":"0.21","inputs":[],"outputs":["headlines"],"pid":10364,"port":50610,"host":"ODETA-PC","cwd":"C:\\Dev\\Apps\\israelinews","protocol":"0.7","capabilities":[]}})");
  REQUIRE(full.ok());
  const auto& said = std::get<Register>(*full);
  CHECK(said.id == "bbed7a48-1");
  CHECK(said.cwd == "C:\\Dev\\Apps\\israelinews");
  CHECK(said.port == 50610);
  CHECK(said.outputs.text() == R"(["headlines"])");
  REQUIRE(said.capabilities.has_value());
  CHECK(said.capabilities->empty());
  CHECK(decoder.at() == "2026-10-01T18:12:00.000Z");
}

TEST_CASE("P3 capabilities are names; what is no text is none") {
  Decoder decoder;
  const auto frame = decoder.ReadAgent(
      R"({"type":"register","agent":{"id":"x","capabilities":["runs",7,null,"__proto__"]}})");
  REQUIRE(frame.ok());
  CHECK(*std::get<Register>(*frame).capabilities == std::vector<Text>{"runs", "__proto__"});
}

TEST_CASE("P1 run: both phases, and a question is not a failure") {
  Decoder decoder;
  const auto enter = decoder.ReadAgent(
      R"({"type":"run","phase":"enter","runId":"6f2c","startedBy":"manual","thread":"9ae9","at":"…"})");
  REQUIRE(enter.ok());
  CHECK(std::get<Run>(*enter).phase == Run::Phase::kEnter);
  CHECK(std::get<Run>(*enter).started_by == "manual");
  const auto exit = decoder.ReadAgent(
      R"({"type":"run","phase":"exit","runId":"6f2c","durationMs":90.7,"outcome":"error","ok":false,"error":"…","failure":"delegation","node":"delegate","chain":["orders","billing","orders"]})");
  REQUIRE(exit.ok());
  const auto& run = std::get<Run>(*exit);
  CHECK(run.duration_ms == 90);
  CHECK(run.failure == "delegation");
  CHECK(run.chain.text() == R"(["orders","billing","orders"])");
  CHECK_FALSE(run.answered.has_value());
}

TEST_CASE("P1 log: the entry goes on as it came, and its tokens are read in every shape") {
  Decoder decoder;
  const auto tokens = [&](const char* shape) {
    const std::string text = std::string(R"({"type":"log","entry":{"id":41,"kind":"run","tokens":)") + shape +
                             R"(,"cost":0.0021,"withheld":["input"]}})";
    const auto frame = decoder.ReadAgent(text);
    REQUIRE(frame.ok());
    const auto& log = std::get<Log>(*frame);
    CHECK(log.entry.text() == std::string(R"({"id":41,"kind":"run","tokens":)") + shape +
                                  R"(,"cost":0.0021,"withheld":["input"]})");
    return log.facts.tokens;
  };
  CHECK(tokens(R"({"total":812})") == 812);
  CHECK(tokens(R"({"input":120,"output":3})") == 123);
  CHECK(tokens(R"({"input":120,"output":3,"total":200})") == 200);
  CHECK(tokens("812") == 812);
  CHECK(tokens("0") == 0);
  CHECK_FALSE(tokens("null").has_value());
  CHECK_FALSE(tokens("\"812\"").has_value());
  CHECK_FALSE(tokens("{}").has_value());
  CHECK_FALSE(tokens(R"({"total":-5})").has_value());
  CHECK_FALSE(tokens(R"({"total":1e300})").has_value());
}

TEST_CASE("P1 log: a gap is told by number, with or without a line") {
  Decoder decoder;
  const auto gap = decoder.ReadAgent(R"({"type":"log","dropped":17})");
  REQUIRE(gap.ok());
  CHECK(std::get<Log>(*gap).dropped == 17);
  CHECK(std::get<Log>(*gap).entry.absent());
  CHECK_FALSE(decoder.ReadAgent(R"({"type":"log"})").ok());
  CHECK_FALSE(decoder.ReadAgent(R"({"type":"log","entry":[1]})").ok());
}

TEST_CASE("only the words of the protocol are starters: anything else there says who wrote the line") {
  Decoder decoder;
  const auto starter = [&](const char* word) {
    const auto frame =
        decoder.ReadAgent(std::string(R"({"type":"log","entry":{"id":1,"startedBy":")") + word + "\"}}");
    REQUIRE(frame.ok());
    return std::get<Log>(*frame).facts.started_by.has_value();
  };
  for (const char* word : {"manual", "schedule", "event", "webhook", "agent", "trigger"})
    CHECK(starter(word));
  CHECK_FALSE(starter("israelinews"));
}

TEST_CASE("P4 what is no frame is refused, and says why") {
  Decoder decoder;
  for (const char* text :
       {"", "not JSON", "[]", "null", "7", "{}", R"({"type":7})", R"({"type":"run"})",
        R"({"type":"run","phase":"middle","runId":"x"})", R"({"type":"run","phase":"enter"})",
        R"({"type":"register"})", R"({"type":"ok"})", R"({"type":"error","error":"x"})"}) {
    CAPTURE(text);
    const auto frame = decoder.ReadAgent(text);
    REQUIRE_FALSE(frame.ok());
    CHECK(frame.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK_FALSE(MessageOf(frame.status()).empty());
  }
}

TEST_CASE("P4 keys of a prototype are only data, on every socket") {
  Decoder decoder;
  for (const char* word : {"constructor", "__proto__", "toString", "hasOwnProperty"}) {
    const std::string text = std::string(R"({"type":")") + word + R"(","ask":"a-1"})";
    const auto agent = decoder.ReadAgent(text);
    REQUIRE(agent.ok());
    CHECK(std::get<UnknownFrame>(*agent).type == word);
    CHECK(std::get<UnknownFrame>(*agent).ask == "a-1");
    CHECK(std::holds_alternative<UnknownFrame>(*decoder.ReadAgentCommand(text)));
    CHECK(std::holds_alternative<UnknownFrame>(*decoder.ReadRunnerCommand(text)));
    CHECK(std::get<DashboardCommand>(*decoder.ReadDashboard(text)).type == word);
  }
}

TEST_CASE("P5 an answer keeps its ask and whatever else it holds") {
  Decoder decoder;
  const auto frame =
      decoder.ReadAgent(R"({"type":"ok","of":"journal","ask":"ask-7","entries":[{"id":1.50}],"at":"…"})");
  REQUIRE(frame.ok());
  const auto& ok = std::get<Ok>(*frame);
  CHECK(ok.ask == "ask-7");
  CHECK(ok.of == "journal");
  CHECK(ok.rest.text() == R"({"entries":[{"id":1.50}]})");
  const auto silent = decoder.ReadRunner(R"({"type":"error","ask":"ask-3"})");
  REQUIRE(silent.ok());
  CHECK_FALSE(std::get<Error>(*silent).error.empty());
}

TEST_CASE("P2 a runner's frames, and what it hears") {
  Decoder decoder;
  const auto hello =
      decoder.ReadRunner(R"({"type":"register","runner":{"host":"ODETA-PC","pid":8124,"node":"v24.19.0"}})");
  REQUIRE(hello.ok());
  CHECK(std::get<RunnerRegister>(*hello).host == "ODETA-PC");
  CHECK_FALSE(decoder.ReadRunner(R"({"type":"register","runner":{"pid":1}})").ok());
  const auto started = decoder.ReadRunner(R"({"type":"started","folder":"C:\\Dev\\Apps\\israelinews"})");
  REQUIRE(started.ok());
  CHECK_FALSE(std::get<RunnerStarted>(*started).again);
  CHECK_FALSE(decoder.ReadRunner(R"({"type":"started"})").ok());
  CHECK(std::get<RunnerStart>(*decoder.ReadRunnerCommand(R"({"type":"start","ask":"a","folder":"/x"})"))
            .folder == "/x");
  // A start that names no folder is a question all the same: it is to be refused, not ignored.
  CHECK(std::get<RunnerStart>(*decoder.ReadRunnerCommand(R"({"type":"start","ask":"a"})")).folder.empty());
  CHECK(
      std::holds_alternative<UnknownFrame>(*decoder.ReadRunnerCommand(R"({"type":"start","folder":"/x"})")));
}

TEST_CASE("a dashboard's ask comes back as it was written, whatever it is") {
  Decoder decoder;
  const auto number = decoder.ReadDashboard(R"({"type":"run","id":"x","ask":7})");
  CHECK(std::get<DashboardCommand>(*number).ask.text() == "7");
  CHECK(std::get<DashboardCommand>(*decoder.ReadDashboard(R"({"type":"run"})")).ask.absent());
  const auto watch = decoder.ReadDashboard(R"({"type":"watch","capabilities":["rows",1]})");
  CHECK(std::get<Watch>(*watch).capabilities == std::vector<Text>{"rows"});
  CHECK(std::get<Watch>(*decoder.ReadDashboard(R"({"type":"watch"})")).capabilities.empty());
}

TEST_CASE("depth and length are bounded at construction") {
  Decoder small({.bytes = 40, .depth = 3});
  CHECK(small.ReadAgent(R"({"type":"leaving"})").ok());
  CHECK_FALSE(small.ReadAgent(R"({"type":"leaving","x":[[[1]]]})").ok());
  CHECK_FALSE(small.ReadAgent(R"({"type":"leaving","x":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})").ok());
}

}  // namespace
}  // namespace watchbill::monitorproto
