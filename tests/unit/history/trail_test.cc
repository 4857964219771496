#include "watchbill/history/trail.hpp"

#include <atomic>
#include <limits>
#include <thread>

#include "ledger_fixture.hpp"
#include "temp_folder.hpp"
#include "watchbill/history/retention.hpp"

namespace watchbill::history {
namespace {

TEST_CASE("an entry is read as it was written, and what is not known is kept out") {
  TrailEntry entry = Entry(-5, "Ann \"A\"", "paused", "agent-1");
  const auto written = [&] {
    std::string text;
    JsonWriter w(text);
    Write(w, entry);
    return text;
  };
  CHECK(written() == R"({"atMs":-5,"who":"Ann \"A\"","what":"paused","about":"agent-1"})");
  CHECK(*ReadTrailEntry(written()) == entry);
  entry.detail = JsonText::Trusted(R"({"why":["x",1.50]})");
  CHECK(*ReadTrailEntry(written()) == entry);
  CHECK(*ReadTrailEntry(R"({"more":1,"who":7})") == TrailEntry());
  for (const char* none : {"", "[]", "{", "1"})
    CHECK(ReadTrailEntry(none).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("pages of the trail are newest first, and go on where the one before ended") {
  const MemoryStore store;
  const Trail trail(*store);
  CHECK(Numbers(trail.Page({})).empty());
  CHECK(trail.Page({})->next == 0);
  Append(*store, 10);
  CHECK(Numbers(trail.Page({.limit = 4})) == N{10, 9, 8, 7});
  CHECK(trail.Page({.limit = 4})->next == 7);
  CHECK(Numbers(trail.Page({.before = 7, .limit = 4})) == N{6, 5, 4, 3});
  CHECK(Numbers(trail.Page({.before = 3, .limit = 4})) == N{2, 1});
  CHECK(trail.Page({.before = 3, .limit = 2})->next == 0);
  CHECK(Numbers(trail.Page({.before = 1})).empty());
  CHECK(Numbers(trail.Page({.before = 1'000, .limit = 1})) == N{10});
  const auto none = trail.Page({.limit = 0});
  CHECK(none->entries.empty());
  CHECK(Numbers(trail.Page({.before = none->next, .limit = 1})) == N{10});
  CHECK(trail.Page({.limit = 1})->entries[0] == [] {
    TrailEntry entry = Entry(10, "person 1");
    entry.number = 10;
    return entry;
  }());
}

TEST_CASE("entries are looked for by who, what, about and time, with bounded work for each page") {
  const MemoryStore store;
  Batch batch;
  // The clock was set back in between, once to before 1970.
  for (const int64_t at : {100, 200, -300, 150, 400})
    REQUIRE(AppendToTrail(batch, Entry(at, at % 200 == 0 ? "Ann" : "Bob", at > 0 ? "ran" : "stopped",
                                       fmt::format("agent {}", at)))
                .ok());
  MustCommit(*store, batch);
  const Trail trail(*store);
  const auto numbers = [&](const TrailFilter& filter) { return Numbers(trail.Page({.filter = filter})); };
  CHECK(numbers({.who = "Ann"}) == N{5, 2});
  CHECK(numbers({.what = "stopped"}) == N{3});
  CHECK(numbers({.about = "agent 150"}) == N{4});
  CHECK(numbers({.who = "Ann", .what = "stopped"}).empty());
  CHECK(numbers({.from_ms = 150}) == N{5, 4, 2});
  CHECK(numbers({.before_ms = 150}) == N{3, 1});
  CHECK(numbers({.from_ms = 0, .before_ms = 200}) == N{4, 1});
  CHECK(numbers({.who = ""}).empty());

  TrailQuery query{.limit = 1, .filter = {.who = "Ann"}, .most_looked_at = 2};
  std::vector<N> pages;
  for (uint64_t next = 1; next != 0;) {
    const auto page = trail.Page(query);
    pages.push_back(Numbers(page));
    query.before = next = page->next;
    REQUIRE(pages.size() < 10);
  }
  CHECK(pages == std::vector<N>{{5}, {}, {2}, {}});
}

TEST_CASE("entries that cannot be read are counted, and hide no others") {
  const MemoryStore store;
  Append(*store, 5);
  PutRaw(*store.engine, TrailKey(2), "\x01 short");
  std::string newer = RawAt(*store.engine, TrailKey(3));
  newer[0] = 2;
  PutRaw(*store.engine, TrailKey(3), newer);
  PutRaw(*store.engine, TrailKey(4), RawAt(*store.engine, TrailKey(4)).substr(0, 33) + "[1]");
  PutRaw(*store.engine, "Lx", "?");
  const auto page = Trail(*store).Page({});
  CHECK(Numbers(page) == N{5, 1});
  CHECK(page->unreadable == 4);
  CHECK(store->unreadable() == 4);
}

TEST_CASE("threads that append at once leave no hole, and each its own entries in their order") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path);
  constexpr int kEach = 60;
  std::vector<std::thread> writers;
  std::atomic<int> left = 2;
  for (int writer = 0; writer < 2; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kEach; ++i) {
        Batch batch;
        CHECK(AppendToTrail(batch, Entry(i, fmt::format("{}", writer))).ok());
        CHECK(store->Commit(batch).ok());
      }
      --left;
    });
  }
  // Whoever verifies meanwhile sees a whole one, and so does whoever takes off its old end.
  while (left > 0) {
    CHECK(!Verified(*store).fault);
    CHECK(PruneTrail(*store, 2 * kEach - 20, std::numeric_limits<int64_t>::max(), 3).ok());
  }
  for (std::thread& writer : writers) writer.join();
  const TrailReport report = Verified(*store);
  CHECK(!report.fault);
  CHECK(report.end.number == 2 * kEach);
  const auto page = Trail(*store).Page({.limit = 2 * kEach});
  for (int writer = 0; writer < 2; ++writer) {
    int64_t next = kEach;
    for (const TrailEntry& entry : page->entries) {
      if (entry.who != fmt::format("{}", writer)) continue;
      CHECK(entry.at_ms < next);
      next = entry.at_ms;
    }
  }
}

TEST_CASE("no entry is ever written over, whatever has become of the record of the end") {
  for (const bool lost : {false, true}) {
    MemoryStore first;
    Append(*first, 5);
    const std::string old = RawAt(*first.engine, "H");
    Append(*first, 3);
    const auto entries = Everything(*first.engine);
    auto engine = NewMemoryEngine();
    Writes all;
    for (const auto& [key, value] : entries) all.Put(key, value);
    if (lost) all.Delete("H");
    if (!lost) all.Put("H", old);
    REQUIRE(engine->Commit(all, Sync::kNow).ok());
    const MemoryStore store(std::move(engine));
    CHECK(Trail(*store).End()->number == 8);
    Append(*store, 1);
    CHECK(!Verified(*store).fault);
    CHECK(Verified(*store).end.number == 9);
    for (uint64_t number = 1; number <= 8; ++number)
      CHECK(RawAt(*store.engine, TrailKey(number)) == entries.at(TrailKey(number)));
  }
  // An end that is missing stays missing: the next entry goes behind what was confirmed.
  MemoryStore cut;
  Append(*cut, 5);
  auto engine = NewMemoryEngine();
  Writes all;
  for (const auto& [key, value] : Everything(*cut.engine)) {
    if (key != TrailKey(5)) all.Put(key, value);
  }
  REQUIRE(engine->Commit(all, Sync::kNow).ok());
  const MemoryStore store(std::move(engine));
  Append(*store, 1);
  CHECK(Verified(*store).fault->says == "entry 5 is missing");
}

TEST_CASE("a trail of which the end cannot be read is not gone on with") {
  for (const bool end : {false, true}) {
    MemoryStore store;
    Append(*store, 3);
    if (end) {
      PutRaw(*store.engine, "H", "\x02whatever");
    } else {
      DeleteRaw(*store.engine, "H");
      PutRaw(*store.engine, TrailKey(3), "\x02whatever");
    }
    // It is read again behind another opening.
    auto engine = NewMemoryEngine();
    Writes all;
    for (const auto& [key, value] : Everything(*store.engine)) all.Put(key, value);
    REQUIRE(engine->Commit(all, Sync::kNow).ok());
    const MemoryStore again(std::move(engine));
    Batch batch;
    REQUIRE(AppendToTrail(batch, Entry(1, "Ann")).ok());
    CHECK(again->Commit(batch).code() == absl::StatusCode::kDataLoss);
    CHECK(Trail(*again).End().status().code() == absl::StatusCode::kDataLoss);
    CHECK(Everything(*again.engine) == Everything(*store.engine));
    Keep(*again, TextMessage(kChannelA, NthId(1), "goes on"));
  }
}

}  // namespace
}  // namespace watchbill::history
