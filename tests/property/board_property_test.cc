// Whatever happens, in whatever order: what holds of a board.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "board_fixture.hpp"
#include "seeded.hpp"

namespace watchbill::board {
namespace {

// A watcher that does what a page does: replaces rows by id, forgets those that are gone.
class Page {
 public:
  void Take(const std::string& frame) {
    REQUIRE(document_.Parse(frame).ok());
    const json::Value root = document_.root();
    const auto type = root["type"].AsString();
    if (type == "board") {
      rows.clear();
      Put(root["agents"]);
    } else if (type == "rows") {
      Put(root["changed"]);
      for (json::Value id = root["gone"].First(); !id.absent(); id = id.Next())
        rows.erase(std::string(*id.AsString()));
    } else if (type == "run") {
      runs[std::string(*root["id"].AsString()) + "/" + std::string(*root["run"]["runId"].AsString())] =
          root["run"].text().text();
    }
  }
  std::map<std::string, std::string> rows, runs;

 private:
  void Put(const json::Value& list) {
    for (json::Value row = list.First(); !row.absent(); row = row.Next())
      rows[std::string(*row["id"].AsString())] = row.text().text();
  }
  json::Document document_{{.bytes = SIZE_MAX, .depth = 64}};
};

struct Play {
  explicit Play(uint64_t seed) : random(seed) {
    f.Apply(WatcherJoined{1});
    f.Apply(WatcherJoined{2});
    f.Apply(WatcherNamed{2, true});
    drained[1] = drained[2] = false;
  }

  ConnectionId SomeConnection() { return 1 + random.Below(12); }

  void Step() {
    static const std::vector<std::string> kRuns = {"r1", "r2", "r3", "r4", "r5"};
    static const std::vector<std::string> kOutcomes = {"done", "error", "stopped", "waiting: form", ""};
    const ConnectionId c = SomeConnection();
    switch (random.Below(14)) {
      case 0:
      case 1: {
        const std::string id = "id-" + std::to_string(random.Below(6));
        f.Register(c, random.OneIn(6) ? nullptr : id.c_str(), random.OneIn(2) ? "Name" : "Other",
                   random.OneIn(3) ? "box" : "here");
        break;
      }
      case 2:
        f.Apply(AgentClosed{c});
        break;
      case 3:
        f.Apply(AgentLeft{c});
        break;
      case 4:
        f.Apply(AgentHeard{c});
        break;
      case 5: {
        const std::string parent = random.Of(kRuns);
        f.Enter(c, random.Of(kRuns).c_str(), random.OneIn(2) ? OptText(parent) : OptText());
        break;
      }
      case 6:
        f.Exit(c, random.Of(kRuns).c_str(), random.Of(kOutcomes).c_str());
        break;
      case 7:
      case 8: {
        const std::string run = random.Of(kRuns);
        f.Entry(c, std::to_string(random.Below(40)).c_str(), static_cast<int64_t>(random.Below(500)),
                random.OneIn(3) ? OptText() : OptText(run), random.OneIn(2) ? "llm" : "tool");
        break;
      }
      case 9:
        f.Apply(RunnerRegistered{20 + random.Below(3), random.OneIn(2) ? "here" : "box", 1});
        break;
      case 10:
        f.Apply(RunnerClosed{20 + random.Below(3)});
        break;
      case 11:
        f.Apply(FolderStarted{20 + random.Below(3), "/srv/agent", random.OneIn(2), {}});
        break;
      case 12: {
        std::vector<KeyedAgent> list;
        for (int i = 0; i < 6; ++i) {
          if (random.OneIn(2)) list.push_back({"id-" + std::to_string(i), "Keyed", "/srv/agent", "", ""});
        }
        f.List(std::move(list));
        break;
      }
      case 13:
        f.Wait(static_cast<int64_t>(random.Below(8) == 0 ? 25 * kSecond : random.Below(300) * kMillisecond));
        break;
    }
    for (auto& [watcher, is_drained] : drained) {
      for (const std::string& frame : f.Take(watcher)) {
        pages[watcher].Take(frame);
        is_drained = false;
      }
      if (!is_drained && random.OneIn(5)) {
        f.Apply(WatcherDrained{watcher});
        is_drained = true;
      }
    }
  }

  // Everything is delivered.
  void Settle() {
    for (int i = 0; i < 6; ++i) {
      for (auto& [watcher, is_drained] : drained) {
        for (const std::string& frame : f.Take(watcher)) pages[watcher].Take(frame);
        f.Apply(WatcherDrained{watcher});
      }
      // Not by moving the clock past a deadline that would change the board again.
      f.Advance(100 * kMillisecond);
      f.Wait(kMillisecond);
    }
    for (auto& [watcher, is_drained] : drained) {
      for (const std::string& frame : f.Take(watcher)) pages[watcher].Take(frame);
    }
  }

  Seeded random;
  BoardFixture f;
  std::map<WatcherId, bool> drained;
  std::map<WatcherId, Page> pages;
};

TEST_CASE("B2 whatever happens, a page that follows the differences shows the board") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  for (uint64_t round = 0; round < 60; ++round) {
    CAPTURE(round);
    Play play(seed + round);
    for (int i = 0; i < 400; ++i) play.Step();
    play.Settle();
    Page whole;
    whole.Take(play.f.board.Frame(play.f.now));
    // Of the figures of a log line alone the page learns from the line itself.
    const auto ids = [](const Page& page) {
      std::set<std::string> out;
      for (const auto& [id, row] : page.rows) out.insert(id);
      return out;
    };
    CHECK(ids(play.pages[2]) == ids(whole));
    CHECK(ids(play.pages[1]) == ids(whole));
    json::Document a, b;
    for (const auto& [id, row] : whole.rows) {
      CAPTURE(id);
      REQUIRE(a.Parse(row).ok());
      REQUIRE(b.Parse(play.pages[2].rows[id]).ok());
      for (const char* key : {"state", "name", "host", "since", "lastRun", "current", "canRun",
                              "canTerminate", "runners", "keyed"}) {
        CAPTURE(key);
        CHECK(a.root()[key].text().text() == b.root()[key].text().text());
      }
    }
    CHECK(play.pages[1].runs == play.pages[2].runs);
  }
}

TEST_CASE("B5 whatever happens, the total is the sum of the rows") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  for (uint64_t round = 0; round < 40; ++round) {
    CAPTURE(round);
    Play play(seed * 31 + round);
    for (int i = 0; i < 300; ++i) play.Step();
    json::Document document({.bytes = SIZE_MAX, .depth = 64});
    const std::string frame = play.f.board.Frame(play.f.now);
    REQUIRE(document.Parse(frame).ok());
    int64_t sum = 0, said = 0, rows = 0;
    for (json::Value row = document.root()["agents"].First(); !row.absent(); row = row.Next()) {
      ++rows;
      sum += row["tokens"].AsInt().value_or(0);
      said += row["tokens"].AsInt().has_value();
    }
    CHECK(document.root()["spend"]["tokens"].AsInt() == sum);
    CHECK(document.root()["spend"]["agents"].AsInt() == said);
    CHECK(document.root()["spend"]["of"].AsInt() == rows);
  }
}

TEST_CASE("whatever happens, the deadline is never in the past once the board was woken at it") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  for (uint64_t round = 0; round < 40; ++round) {
    CAPTURE(round);
    Play play(seed * 17 + round);
    for (int i = 0; i < 300; ++i) {
      play.Step();
      Actions actions;
      play.f.board.Tick(play.f.now, actions);
      REQUIRE(play.f.board.Deadline() > play.f.now.mono_ns);
    }
  }
}

}  // namespace
}  // namespace watchbill::board
