#include "translate.hpp"

#include <doctest/doctest.h>

#include "watchbill/monitorproto/decoder.hpp"

namespace watchbill::monitor {
namespace {

TEST_CASE("an agent's frames become the board's events, without a copy") {
  monitorproto::Decoder decoder;
  const auto log = decoder.ReadAgent(
      R"({"type":"log","entry":{"id":"e","kind":"tool","tool":"sql","runId":"r","tokens":{"total":5},"cost":0.5,"ms":55},"dropped":2})");
  REQUIRE(log.ok());
  const board::Event event = EventFor(3, *log);
  const auto& e = std::get<board::LogArrived>(event);
  CHECK(e.connection == 3);
  CHECK(e.id.text() == "\"e\"");
  CHECK(e.name == "sql");
  CHECK(e.run_id == "r");
  CHECK(e.tokens == 5);
  CHECK(e.cost == 0.5);
  CHECK(e.duration_ms == 55);
  CHECK(e.dropped == 2);
  CHECK(e.entry.text().data() == std::get<monitorproto::Log>(*log).entry.text().data());

  const auto exit = decoder.ReadAgent(
      R"({"type":"run","phase":"exit","runId":"r","outcome":"done","ok":true,"answered":false,"durationMs":3})");
  REQUIRE(exit.ok());
  const board::Event ended = EventFor(3, *exit);
  CHECK(std::get<board::RunExited>(ended).answered == false);
  CHECK(std::get<board::RunExited>(ended).duration_ms == 3);
}

TEST_CASE("whatever else it says, it lives") {
  monitorproto::Decoder decoder;
  for (const char* text : {R"({"type":"ok","ask":"a"})", R"({"type":"error","ask":"a","error":"x"})",
                           R"({"type":"conversations","conversations":[]})"}) {
    const auto frame = decoder.ReadAgent(text);
    REQUIRE(frame.ok());
    CHECK(std::holds_alternative<board::AgentHeard>(EventFor(1, *frame)));
  }
  const auto leaving = decoder.ReadAgent(R"({"type":"leaving"})");
  CHECK(std::holds_alternative<board::AgentLeft>(EventFor(1, *leaving)));
}

TEST_CASE("a runner's answers are nothing to the board") {
  monitorproto::Decoder decoder;
  const auto ok = decoder.ReadRunner(R"({"type":"ok","ask":"a","of":"start"})");
  CHECK_FALSE(EventFor(1, *ok).has_value());
  const auto started = decoder.ReadRunner(R"({"type":"started","folder":"/x","again":true})");
  const auto event = EventFor(1, *started);
  REQUIRE(event.has_value());
  CHECK(std::get<board::FolderStarted>(*event).again);
}

}  // namespace
}  // namespace watchbill::monitor
