#include <doctest/doctest.h>

#include "board_fixture.hpp"

namespace watchbill::board {
namespace {

std::string Keys(const json::Value& object) {
  std::string out;
  for (json::Value member = object.First(); !member.absent(); member = member.Next())
    out.append(member.Key()).append(" ");
  return out;
}

TEST_CASE("B2 the board frame has every key of the protocol, also with nobody on it") {
  BoardFixture f;
  json::Document document;
  const std::string frame = f.board.Frame(f.now);
  REQUIRE(document.Parse(frame).ok());
  CHECK(Keys(document.root()) ==
        "at type here since protocol runners spend rates alerts alerting cleared thresholds collections "
        "databases agents ");
  CHECK(document.root()["protocol"].AsString() == "0.19");
  CHECK(Keys(document.root()["alerting"]) == "active critical warning info needing acked ");
  CHECK(document.root()["thresholds"].text().text() ==
        R"({"durationMs":900000,"tokens":200000,"llmCalls":100,"toolCalls":200,"tokensPerMinute":null})");
}

TEST_CASE("B2 a row has every key of the protocol, whoever it is") {
  BoardFixture f;
  f.List({{kIdA, "Keyed", "/srv/a", "", "a note"}});
  f.Register(1, kIdB);
  const std::string keys =
      "id name state says host folder port pid version protocol can since startedAt stoppedAt lastRun tokens "
      "rate health "
      "current alerts canRun canTerminate runners keyed note ";
  CHECK(Keys(f.Row(kIdA)) == keys);
  CHECK(Keys(f.Row(kIdB)) == keys);
  CHECK(f.Row(kIdA)["note"].AsString() == "a note");
  CHECK(f.Row(kIdB)["note"].kind() == json::Kind::kNull);
}

TEST_CASE("rows come by name, then id") {
  BoardFixture f;
  f.Register(1, "id-3", "Beta");
  f.Register(2, "id-2", "Alpha");
  f.Register(3, "id-1", "Beta");
  json::Document document;
  const std::string frame = f.board.Frame(f.now);
  REQUIRE(document.Parse(frame).ok());
  std::string ids;
  for (json::Value row = document.root()["agents"].First(); !row.absent(); row = row.Next())
    ids.append(*row["id"].AsString()).append(" ");
  CHECK(ids == "id-2 id-1 id-3 ");
}

TEST_CASE("a name is a text, whatever is in it") {
  BoardFixture f;
  f.Register(1, kIdA, "\"},{\"id\":\"forged\"\x1b[31m<b>\xff");
  CHECK(f.Row(kIdA)["name"].AsString() == "\"},{\"id\":\"forged\"\x1b[31m<b>\xEF\xBF\xBD");
  CHECK(f.StateOf("forged") == "no row");
}

TEST_CASE("the same events at the same times give the same bytes") {
  const auto play = [] {
    BoardFixture f;
    f.Apply(WatcherJoined{1});
    f.Apply(WatcherDrained{1});
    f.Apply(WatcherNamed{1, true});
    for (ConnectionId c = 1; c <= 50; ++c) {
      f.Register(c, ("id-" + std::to_string(c * 7919 % 50)).c_str());
      f.Enter(c, "r");
      f.Entry(c, "1", static_cast<int64_t>(c), "r");
    }
    f.Wait(kSecond);
    f.Apply(WatcherDrained{1});
    for (ConnectionId c = 1; c <= 50; ++c) f.Apply(AgentClosed{c});
    f.Wait(kSecond);
    std::string all;
    for (const Push& push : f.pushes) all.append(*push.bytes).append("\n");
    return all;
  };
  CHECK(play() == play());
}

}  // namespace
}  // namespace watchbill::board
