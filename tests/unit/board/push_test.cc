#include <doctest/doctest.h>

#include "board_fixture.hpp"

namespace watchbill::board {
namespace {

std::vector<std::string> Types(const std::vector<std::string>& frames) {
  std::vector<std::string> out;
  for (const std::string& frame : frames) out.push_back(BoardFixture::TypeOf(frame));
  return out;
}

using Strings = std::vector<std::string>;

struct Watching : BoardFixture {
  Watching() {
    Register(1, kIdA);
    Register(2, kIdB);
    Wait(kSecond);
    Apply(WatcherJoined{7});
    CHECK(Types(Take(7)) == Strings{"board"});
    Apply(WatcherDrained{7});
    Apply(WatcherNamed{7, true});
    Wait(kSecond);
    CHECK(Types(Take(7)) == Strings{"board"});
    Apply(WatcherDrained{7});
  }
};

TEST_CASE("a watcher of rows is sent what changed, and nothing else") {
  Watching f;
  f.Enter(1, "r1");
  const auto frames = f.Take(7);
  CHECK(Types(frames) == Strings{"rows", "run"});
  json::Document document;
  REQUIRE(document.Parse(frames[0]).ok());
  const json::Value changed = document.root()["changed"];
  CHECK(changed.First()["id"].AsString() == kIdA);
  CHECK(changed.First().Next().absent());
  CHECK(document.root()["gone"].text().text() == "[]");
  CHECK(document.root()["runners"].absent());
  CHECK_FALSE(document.root()["spend"].absent());
}

TEST_CASE("a push goes out at once where the last was long ago, else at the end of 100 ms") {
  Watching f;
  f.Enter(1, "r1");
  CHECK(f.Take(7).size() == 2);
  f.Apply(WatcherDrained{7});
  f.Advance(10 * kMillisecond);
  f.Enter(1, "r2");
  f.Enter(2, "r3");
  CHECK(f.Take(7).empty());
  CHECK(f.board.Deadline() == f.now.mono_ns + 90 * kMillisecond);
  f.Wait(90 * kMillisecond);
  CHECK(Types(f.Take(7)) == Strings{"rows", "run", "run"});
}

TEST_CASE("a watcher that has not drained is sent one newer difference later, not every one") {
  Watching f;
  f.Enter(1, "r1");
  CHECK(Types(f.Take(7)) == Strings{"rows", "run"});
  for (int i = 0; i < 20; ++i) {
    f.Wait(200 * kMillisecond);
    f.Exit(1, "r1", i % 2 == 0 ? "waiting: form" : "done");
    f.Enter(2, "r1");
  }
  for (const std::string& type : Types(f.Take(7)))
    CHECK(type == "run");  // each run as it came, but no rows yet
  f.Apply(WatcherDrained{7});
  f.Wait(kSecond);
  const auto late = f.Take(7);
  REQUIRE(late.size() >= 1);
  CHECK(BoardFixture::TypeOf(late[0]) == "rows");
  json::Document document;
  REQUIRE(document.Parse(late[0]).ok());
  int rows = 0;
  for (json::Value v = document.root()["changed"].First(); !v.absent(); v = v.Next()) ++rows;
  CHECK(rows == 2);
}

TEST_CASE("without rows the whole board comes again, and not for a log line") {
  Watching f;
  f.Apply(WatcherJoined{8});
  f.Take(8);
  f.Apply(WatcherDrained{8});
  f.Wait(kSecond);
  f.Entry(1, "1", 50);
  f.Wait(kSecond);
  CHECK(Types(f.Take(8)) == Strings{"log"});
  f.Apply(AgentClosed{2});
  f.Wait(kSecond);
  CHECK(Types(f.Take(8)) == Strings{"board"});
}

TEST_CASE("a log line carries the running totals") {
  Watching f;
  f.Entry(1, "1", 50);
  const auto frames = f.Take(7);
  REQUIRE(frames.size() == 1);
  json::Document document;
  REQUIRE(document.Parse(frames[0]).ok());
  CHECK(document.root()["tokens"].AsInt() == 50);
  CHECK(document.root()["spend"]["tokens"].AsInt() == 50);
  CHECK(document.root()["entry"].text().text() == "{\"id\":1}");
  CHECK(document.root()["dropped"].kind() == json::Kind::kNull);
}

TEST_CASE("M4 lines for a slow watcher are dropped, counted, and told with the next one it gets") {
  BoardOptions options = BoardFixture::WithHere();
  options.log_backlog_bytes = 2000;
  BoardFixture f(options);
  f.Register(1, kIdA);
  f.Apply(WatcherJoined{7});
  f.Take(7);
  for (int i = 0; i < 100; ++i) f.Entry(1, std::to_string(i).c_str(), 1);
  const size_t sent = f.Take(7).size();
  CHECK(sent > 3);
  CHECK(sent < 30);
  f.Apply(WatcherDrained{7});
  f.Entry(1, "1000", 1);
  std::string log;
  for (const std::string& frame : f.Take(7)) {
    if (BoardFixture::TypeOf(frame) == "log") log = frame;
  }
  json::Document document;
  REQUIRE(document.Parse(log).ok());
  CHECK(document.root()["dropped"].AsInt() == static_cast<int64_t>(100 - sent));
  CHECK(f.board.counters().log_lines_dropped == 100 - sent);
}

TEST_CASE("M4 a slow watcher misses no run: it gets each as it is, once it has drained") {
  BoardOptions options = BoardFixture::WithHere();
  options.log_backlog_bytes = 10;
  BoardFixture f(options);
  f.Register(1, kIdA);
  f.Apply(WatcherJoined{7});
  f.Take(7);
  f.Enter(1, "r1");
  f.Wait(kSecond);
  f.Take(7);
  f.Enter(1, "r2");
  f.Wait(kSecond);
  f.Exit(1, "r1", "done");
  f.Wait(kSecond);
  CHECK(Types(f.Take(7)).empty());
  f.Apply(WatcherDrained{7});
  f.Wait(kSecond);
  std::string runs;
  for (const std::string& frame : f.Take(7)) {
    json::Document document;
    REQUIRE(document.Parse(frame).ok());
    if (document.root()["type"].AsString() != "run") continue;
    runs.append(*document.root()["run"]["runId"].AsString())
        .append(" ")
        .append(*document.root()["run"]["state"].AsString())
        .append(";");
  }
  CHECK(runs == "r1 ok;r2 running;");
}

TEST_CASE("rows that went are told, also when they come and go between two pushes") {
  Watching f;
  f.Register(3, nullptr, "X", "h", "/x");
  f.Take(7);
  f.Apply(WatcherDrained{7});
  f.Wait(kSecond);
  f.Apply(AgentClosed{3});
  f.Wait(kSecond);
  const auto frames = f.Take(7);
  REQUIRE(frames.size() == 1);
  json::Document document;
  REQUIRE(document.Parse(frames[0]).ok());
  CHECK(document.root()["gone"].text().text() == R"(["no-id:h:/x"])");
}

TEST_CASE("runners are told when they change") {
  Watching f;
  f.Apply(RunnerRegistered{9, "here", 5});
  const auto frames = f.Take(7);
  REQUIRE(Types(frames) == Strings{"rows"});
  json::Document document;
  REQUIRE(document.Parse(frames[0]).ok());
  CHECK(document.root()["runners"].First()["host"].AsString() == "here");
}

TEST_CASE("watchers in step share the same bytes") {
  Watching f;
  f.Apply(WatcherJoined{8});
  f.Apply(WatcherDrained{8});
  f.Apply(WatcherNamed{8, true});
  f.Wait(kSecond);
  f.Apply(WatcherDrained{8});
  f.pushes.clear();
  f.Enter(1, "r1");
  REQUIRE(f.pushes.size() == 2);
  CHECK(f.pushes[0].to == std::vector<WatcherId>{7, 8});
  CHECK(f.pushes[1].to == std::vector<WatcherId>{7, 8});
}

TEST_CASE("a board that nobody watches and nobody dials asks to be woken for nothing") {
  BoardFixture f;
  f.Wait(36 * kSecond);
  CHECK(f.board.Deadline() == kNever);
  f.Register(1, kIdA);
  f.Apply(AgentClosed{1});
  f.Wait(10 * kSecond);
  CHECK(f.board.Deadline() == kNever);
}

}  // namespace
}  // namespace watchbill::board
