#include <doctest/doctest.h>

#include "board_fixture.hpp"

namespace watchbill::board {
namespace {

TEST_CASE("B1 waiting until the monitor has settled, then never seen; the change is pushed, not polled") {
  BoardFixture f;
  f.List({{kIdA, "A", "/srv/a", "", ""}});
  f.Apply(WatcherJoined{1});
  f.Apply(WatcherDrained{1});
  f.Take(1);
  CHECK(f.StateOf(kIdA) == "waiting");
  f.Wait(35 * kSecond - kMillisecond);
  CHECK(f.StateOf(kIdA) == "waiting");
  CHECK(f.Take(1).empty());
  f.Wait(2 * kMillisecond);
  CHECK(f.StateOf(kIdA) == "unseen");
  CHECK(f.Take(1).size() == 1);
}

TEST_CASE("B1 running, then stopped when the socket closes or it says that it leaves") {
  BoardFixture f;
  f.Register(1, kIdA);
  CHECK(f.StateOf(kIdA) == "running");
  CHECK(f.Row(kIdA)["stoppedAt"].kind() == json::Kind::kNull);
  f.Apply(AgentClosed{1});
  CHECK(f.StateOf(kIdA) == "stopped");
  CHECK(f.Row(kIdA)["stoppedAt"].kind() == json::Kind::kString);
  f.Register(2, kIdA);
  CHECK(f.StateOf(kIdA) == "running");
  CHECK(f.Row(kIdA)["stoppedAt"].kind() == json::Kind::kNull);
  f.Apply(AgentLeft{2});
  CHECK(f.StateOf(kIdA) == "stopped");
  f.Apply(AgentClosed{2});
  CHECK(f.StateOf(kIdA) == "stopped");
}

TEST_CASE("B1 an agent that the monitor watched stop says stopped, however new the monitor is") {
  BoardFixture f;
  f.Register(1, kIdA);
  f.Apply(AgentClosed{1});
  CHECK(f.StateOf(kIdA) == "stopped");
}

TEST_CASE("B1 pinged after 20 s of silence, not answering after 30, dropped after two missed pings") {
  BoardFixture f;
  f.Register(1, kIdA);
  f.Wait(19 * kSecond);
  CHECK(f.Taken<PingAgent>().empty());
  f.Wait(2 * kSecond);
  CHECK(f.Taken<PingAgent>().size() == 1);
  f.Wait(8 * kSecond);
  CHECK(f.StateOf(kIdA) == "running");
  f.Wait(3 * kSecond);
  CHECK(f.StateOf(kIdA) == "not-answering");
  f.Apply(AgentHeard{1});
  CHECK(f.StateOf(kIdA) == "running");
  f.Wait(59 * kSecond);
  CHECK(f.StateOf(kIdA) == "not-answering");
  CHECK(f.Taken<PingAgent>().size() == 2);
  CHECK(f.Taken<DropAgent>().empty());
  f.Wait(3 * kSecond);
  CHECK(f.Taken<DropAgent>().size() == 1);
  CHECK(f.StateOf(kIdA) == "stopped");
}

TEST_CASE("B1 whoever speaks needs no ping") {
  BoardFixture f;
  f.Register(1, kIdA);
  for (int i = 0; i < 60; ++i) {
    f.Wait(2 * kSecond);
    f.Apply(AgentHeard{1});
  }
  CHECK(f.Taken<PingAgent>().empty());
  CHECK(f.StateOf(kIdA) == "running");
}

TEST_CASE("B1 an agent without an id is shown for as long as it is there, and is nobody's row") {
  BoardFixture f;
  f.Register(1, nullptr, "X", "box", "/srv/x");
  CHECK(f.StateOf("no-id:box:/srv/x") == "unidentified");
  f.Apply(AgentClosed{1});
  CHECK(f.StateOf("no-id:box:/srv/x") == "no row");
  CHECK(f.board.rows() == 0);
}

TEST_CASE("B1 started and silent is not the same as never started") {
  BoardFixture f;
  f.List({{kIdA, "A", "C:/Dev/Apps/X", "", ""}, {kIdB, "B", "/srv/b", "", ""}});
  f.Apply(RunnerRegistered{9, "HERE", 1});
  f.Apply(FolderStarted{9, "c:\\dev\\apps\\x\\", false, {}});
  CHECK(f.StateOf(kIdA) == "silent");
  CHECK(f.StateOf(kIdB) == "waiting");
  CHECK(f.Row(kIdA)["startedAt"].kind() == json::Kind::kString);
  f.Wait(kSecond);
  f.Register(1, kIdA, "A", "here", "C:\\Dev\\Apps\\X");
  CHECK(f.StateOf(kIdA) == "running");
  f.Wait(kSecond);
  f.Apply(AgentClosed{1});
  // Not "started, not reporting" for ever: the launch is older than what was heard.
  CHECK(f.StateOf(kIdA) == "stopped");
}

TEST_CASE("B1 what a runner says again after a reconnect does not make a stopped agent a silent one") {
  BoardFixture f;
  f.List({{kIdA, "A", "/srv/a", "", ""}, {kIdB, "B", "/srv/b", "", ""}});
  f.Register(1, kIdA);
  f.Apply(RunnerRegistered{9, "here", 1});
  f.Apply(FolderStarted{9, "/srv/a", true, "2020-01-01T00:00:00.000Z"});
  f.Apply(FolderStarted{9, "/srv/b", true, "2020-01-01T00:00:00.000Z"});
  f.Apply(AgentClosed{1});
  CHECK(f.StateOf(kIdA) == "stopped");
  CHECK(f.StateOf(kIdB) == "silent");
  CHECK(f.Row(kIdB)["startedAt"].AsString() == "2020-01-01T00:00:00.000Z");
}

TEST_CASE("folders are compared, not matched") {
  CHECK(NormalFolder("C:\\Dev\\Apps\\x") == NormalFolder("c:/dev/apps/X/"));
  CHECK(NormalFolder("/") == "/");
  CHECK(NormalFolder("") == "");
}

TEST_CASE("B2 a row can be run where a runner is on its machine, and says why where not") {
  BoardFixture f;
  f.List({{kIdA, "A", "/srv/a", "box", ""}, {kIdB, "B", "", "", ""}});
  const auto refusal = [&](std::string_view id) { return std::get<Sentence>(f.board.PlanRun(id)); };
  CHECK(refusal(kIdA).text == "No runner is connected on box.");
  CHECK(refusal(kIdA).code == "no-runner");
  CHECK(refusal(kIdB).code == "no-folder");
  CHECK(refusal("nobody").code == "unknown-agent");
  CHECK(f.Row(kIdA)["canRun"].AsBool() == false);
  f.Apply(RunnerRegistered{9, "Box", 1});
  CHECK(f.Row(kIdA)["canRun"].AsBool() == true);
  const auto plan = std::get<AskRunner>(f.board.PlanRun(kIdA));
  CHECK(plan.connection == 9);
  CHECK(plan.folder == "/srv/a");
  // A second runner on the machine replaces the first, and the first is back when it goes.
  f.Apply(RunnerRegistered{10, "box", 2});
  CHECK(std::get<AskRunner>(f.board.PlanRun(kIdA)).connection == 10);
  f.Apply(RunnerClosed{10});
  CHECK(std::get<AskRunner>(f.board.PlanRun(kIdA)).connection == 9);
  f.Apply(RunnerClosed{9});
  CHECK(f.Row(kIdA)["canRun"].AsBool() == false);
}

TEST_CASE("B2 the machine that a person keyed in goes before the one that the agent says") {
  BoardFixture f;
  f.List({{kIdA, "A", "/srv/a", "box", ""}});
  f.Register(1, kIdA, "A", "vm-17");
  CHECK(f.Row(kIdA)["host"].AsString() == "box");
  f.Apply(RunnerRegistered{9, "box", 1});
  CHECK(f.Row(kIdA)["runners"].AsInt() == 1);
}

TEST_CASE("B2 terminate goes to the agent, else to the runner that may have started it") {
  BoardFixture f;
  f.List({{kIdA, "A", "/srv/a", "", ""}});
  CHECK(std::get<Sentence>(f.board.PlanTerminate(kIdA)).text ==
        "That agent is not connected, and no runner here started it.");
  f.Register(1, kIdA);
  CHECK(std::get<AskAgent>(f.board.PlanTerminate(kIdA)).connection == 1);
  CHECK(std::get<Sentence>(f.board.PlanRun(kIdA)).code == "already-running");
  f.Apply(AgentClosed{1});
  f.Apply(RunnerRegistered{9, "here", 1});
  CHECK(std::get<AskRunner>(f.board.PlanTerminate(kIdA)).folder == "/srv/a");
}

TEST_CASE("a row off the list stays only while it is connected") {
  BoardFixture f;
  f.List({{kIdA, "A", "/srv/a", "", ""}, {kIdB, "B", "/srv/b", "", ""}});
  f.Register(1, kIdA);
  f.List({});
  CHECK(f.StateOf(kIdA) == "running");
  CHECK(f.Row(kIdA)["keyed"].AsBool() == false);
  CHECK(f.StateOf(kIdB) == "no row");
}

TEST_CASE("P12 a second copy stands down while the holder lives, and returns when it is gone") {
  BoardFixture f;
  f.Register(1, kIdA);
  f.Wait(kSecond);
  f.Register(2, kIdA, "Copy");
  f.Register(3, kIdA, "Third");
  CHECK(f.Taken<PingAgent>().size() == 1);
  f.Wait(kSecond);
  f.Apply(AgentHeard{1});
  const auto told = f.Taken<TellDuplicate>();
  REQUIRE(told.size() == 2);
  CHECK(told[0].connection == 2);
  CHECK(f.Row(kIdA)["name"].AsString() == "Agent");
  // What a copy says is nobody's.
  f.Entry(2, "1", 100);
  CHECK(f.Row(kIdA)["tokens"].kind() == json::Kind::kNull);
  f.Apply(AgentClosed{1});
  const auto back = f.Taken<TellMayReturn>();
  REQUIRE(back.size() == 1);
  CHECK(back[0].connection == 2);
  CHECK(f.StateOf(kIdA) == "stopped");
  f.Register(2, kIdA, "Copy");
  CHECK(f.StateOf(kIdA) == "running");
  CHECK(f.Row(kIdA)["name"].AsString() == "Copy");
}

TEST_CASE("P12 a copy that asks again waits once, and is not told to return to what it holds") {
  BoardFixture f;
  f.Register(1, kIdA);
  for (int i = 0; i < 3; ++i) {
    f.Wait(kSecond);
    f.Register(2, kIdA);
    f.Wait(kSecond);
    f.Apply(AgentHeard{1});
  }
  CHECK(f.Taken<TellDuplicate>().size() == 3);
  f.Apply(AgentClosed{1});
  CHECK(f.Taken<TellMayReturn>().size() == 1);
  f.Register(2, kIdA);
  f.Apply(AgentClosed{2});
  CHECK(f.Taken<TellMayReturn>().empty());
}

TEST_CASE("P12 a second copy takes over where the holder does not answer in two seconds") {
  BoardFixture f;
  f.Register(1, kIdA);
  f.Wait(kSecond);
  f.Register(2, kIdA, "Newcomer");
  f.Wait(2 * kSecond + kMillisecond);
  const auto dropped = f.Taken<DropAgent>();
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].connection == 1);
  CHECK(f.StateOf(kIdA) == "running");
  CHECK(f.Row(kIdA)["name"].AsString() == "Newcomer");
  f.Apply(AgentClosed{1});
  CHECK(f.StateOf(kIdA) == "running");
}

TEST_CASE("a socket that registers as somebody else is no longer who it was") {
  BoardFixture f;
  f.Register(1, kIdA);
  f.Register(1, kIdB);
  CHECK(f.StateOf(kIdA) == "stopped");
  CHECK(f.StateOf(kIdB) == "running");
}

TEST_CASE("what strangers send is cut, and rows are bounded") {
  BoardOptions options = BoardFixture::WithHere();
  options.max_rows = 3;
  BoardFixture f(options);
  const std::string long_name(100'000, 'x');
  f.Register(1, kIdA, long_name.c_str());
  CHECK(f.Row(kIdA)["name"].AsString()->size() == 200);
  f.Apply(AgentClosed{1});
  f.Wait(kSecond);
  for (ConnectionId c = 2; c < 10; ++c) {
    const std::string id = "id-" + std::to_string(c);
    f.Register(c, id.c_str());
    f.Apply(AgentClosed{c});
  }
  CHECK(f.board.rows() == 3);
  CHECK(f.StateOf("id-9") == "stopped");
  CHECK(f.StateOf(kIdA) == "no row");
}

}  // namespace
}  // namespace watchbill::board
