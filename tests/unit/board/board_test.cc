#include <doctest/doctest.h>

#include "board_fixture.hpp"

namespace watchbill::board {
namespace {

TEST_CASE("B5 an entry's tokens are counted once, however often it is repeated") {
  BoardFixture f;
  f.Register(1, kIdA);
  CHECK(f.Row(kIdA)["tokens"].kind() == json::Kind::kNull);
  for (int i = 0; i < 5; ++i) f.Entry(1, "41", 812);
  CHECK(f.Row(kIdA)["tokens"].AsInt() == 812);
  f.Entry(1, "\"41\"", 100);  // a text is another id than a number
  CHECK(f.Row(kIdA)["tokens"].AsInt() == 912);
  CHECK(f.board.counters().entries_seen_again == 4);
}

TEST_CASE("B5 the same small id in another run, or of another agent, is another entry") {
  BoardFixture f;
  f.Register(1, kIdA);
  f.Register(2, kIdB);
  f.Entry(1, "1", 10, "run-1");
  f.Entry(1, "1", 10, "run-2");
  f.Entry(2, "1", 10, "run-1");
  CHECK(f.Row(kIdA)["tokens"].AsInt() == 20);
  CHECK(f.Row(kIdB)["tokens"].AsInt() == 10);
}

TEST_CASE("B5 nought was reported is not the same as nothing was") {
  BoardFixture f;
  f.Register(1, kIdA);
  f.Entry(1, "1", std::nullopt);
  CHECK(f.Row(kIdA)["tokens"].kind() == json::Kind::kNull);
  f.Entry(1, "2", 0);
  CHECK(f.Row(kIdA)["tokens"].AsInt() == 0);
}

TEST_CASE("B5 the total says how many agents it is of") {
  BoardFixture f;
  f.Register(1, kIdA);
  f.Register(2, kIdB);
  f.List({{"cccccccc-0000-4000-8000-000000000003", "C", "", "", ""}});
  f.Entry(1, "1", 10);
  f.Entry(2, "1", 32);
  json::Document document;
  const std::string frame = f.board.Frame(f.now);
  REQUIRE(document.Parse(frame).ok());
  CHECK(document.root()["spend"].text().text() == R"({"tokens":42,"agents":2,"of":3})");
}

TEST_CASE("B5 the rate trails by five minutes and is fed by new spending alone") {
  BoardFixture f;
  f.Register(1, kIdA);
  f.Entry(1, "1", 1500);
  f.Entry(1, "1", 1500);
  CHECK(f.Row(kIdA)["rate"].AsInt() == 300);
  for (int i = 0; i < 29; ++i) {
    f.Wait(10 * kSecond);
    f.Apply(AgentHeard{1});
  }
  CHECK(f.Row(kIdA)["rate"].AsInt() == 300);
  f.Wait(20 * kSecond);
  CHECK(f.Row(kIdA)["rate"].AsInt() == 0);
  CHECK(f.Row(kIdA)["tokens"].AsInt() == 1500);
}

TEST_CASE("B3 steps are bounded over the whole board, and what went makes room again") {
  BoardOptions options = BoardFixture::WithHere();
  options.steps_per_board = 3;
  BoardFixture f(options);
  f.Apply(WatcherJoined{1});
  f.Register(1, nullptr, "A", "h", "/a");
  f.Register(2, kIdB);
  for (int i = 0; i < 5; ++i) f.Entry(1, std::to_string(i).c_str(), 1, "r1");
  f.Entry(2, "1", 1, "r2");
  const auto steps_of_b = [&] {
    int steps = -1;
    f.Apply(WatcherDrained{1});
    f.Wait(kSecond);
    for (const std::string& frame : f.Take(1)) {
      json::Document document;
      REQUIRE(document.Parse(frame).ok());
      if (document.root()["id"].AsString() != kIdB || document.root()["type"].AsString() != "run") continue;
      steps = 0;
      const json::Value list = document.root()["run"]["steps"];
      for (json::Value step = list.First(); !step.absent(); step = step.Next()) ++steps;
    }
    return steps;
  };
  CHECK(steps_of_b() == 0);
  f.Apply(AgentClosed{1});
  f.Entry(2, "2", 1, "r2");
  CHECK(steps_of_b() == 1);
}

TEST_CASE("frames before register are ignored, and counted") {
  BoardFixture f;
  f.Entry(1, "1", 10);
  f.Enter(1, "r");
  CHECK(f.board.rows() == 0);
  CHECK(f.board.counters().frames_before_register == 2);
}

TEST_CASE("B3 the row counts root runs in flight, and its last run is the last that ended") {
  BoardFixture f;
  f.Register(1, kIdA);
  CHECK(f.Row(kIdA)["lastRun"].kind() == json::Kind::kNull);
  f.Enter(1, "r1");
  f.Enter(1, "r2");
  f.Enter(1, "child", "r1");
  CHECK(f.Row(kIdA)["current"].text().text() == R"({"running":2,"waiting":0})");
  f.Exit(1, "r2", "waiting: form");
  CHECK(f.Row(kIdA)["current"].text().text() == R"({"running":1,"waiting":1})");
  CHECK(f.Row(kIdA)["lastRun"].kind() == json::Kind::kNull);
  f.Exit(1, "child", "error", "tool");
  CHECK(f.Row(kIdA)["lastRun"].kind() == json::Kind::kNull);
  f.Exit(1, "r1", "done");
  CHECK(f.Row(kIdA)["lastRun"]["ok"].AsBool() == true);
  f.Exit(1, "r2", "error", "llm");
  CHECK(f.Row(kIdA)["lastRun"]["ok"].AsBool() == false);
  CHECK(f.Row(kIdA)["current"].text().text() == R"({"running":0,"waiting":0})");
}

TEST_CASE("B6 a run whose agent went away is interrupted, and no outcome is invented") {
  BoardFixture f;
  f.Apply(WatcherJoined{1});
  f.Apply(WatcherDrained{1});
  f.Register(1, kIdA);
  f.Enter(1, "r1");
  f.Wait(kSecond);
  f.Take(1);
  f.Apply(WatcherDrained{1});
  f.Apply(AgentClosed{1});
  f.Wait(kSecond);
  std::string run;
  for (const std::string& frame : f.Take(1)) {
    if (BoardFixture::TypeOf(frame) == "run") run = frame;
  }
  json::Document document;
  REQUIRE(document.Parse(run).ok());
  CHECK(document.root()["run"]["state"].AsString() == "running");
  CHECK(document.root()["run"]["outcome"].kind() == json::Kind::kNull);
  CHECK(document.root()["run"]["interrupted"].kind() == json::Kind::kString);
  CHECK(document.root()["activity"]["running"].AsInt() == 0);
  CHECK(f.Row(kIdA)["current"]["running"].AsInt() == 0);
  // Announced again after a reconnect, it is in flight after all.
  f.Register(2, kIdA);
  f.Enter(2, "r1");
  CHECK(f.Row(kIdA)["current"]["running"].AsInt() == 1);
}

}  // namespace
}  // namespace watchbill::board
