// Whatever stands behind the interface does the same.
#include "watchbill/history/engine.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "history_fixture.hpp"
#include "seeded.hpp"
#include "temp_folder.hpp"

namespace watchbill::history {
namespace {

using Model = std::map<std::string, std::string>;

Model All(const Engine& engine, std::string_view from = {}) {
  Model all;
  const std::unique_ptr<Cursor> it = engine.Scan(from);
  std::string before;
  for (; it->Valid(); it->Next()) {
    REQUIRE((all.empty() || before < it->key()));
    before = it->key();
    all.emplace(it->key(), it->value());
  }
  REQUIRE(it->status().ok());
  return all;
}

std::string RandomKey(Seeded& random) {
  static const std::vector<std::string> kPieces = {std::string(1, '\0'), "\xFF", "a", "b", "M",
                                                   "long enough"};
  std::string key = "k";
  for (size_t n = random.Below(4); n > 0; --n) key += random.Of(kPieces);
  return key;
}

void DoesAsAMap(const std::function<std::unique_ptr<Engine>()>& open, bool lasts) {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  Model model;
  std::unique_ptr<Engine> engine = open();
  for (int round = 0; round < 300; ++round) {
    const Model before = model;
    std::unique_ptr<Cursor> earlier = engine->Scan({});
    Writes writes;
    for (size_t n = random.Below(6); n > 0; --n) {
      const std::string key = RandomKey(random);
      if (random.OneIn(3)) {
        writes.Delete(key);
        model.erase(key);
      } else {
        const std::string value(random.Below(300), static_cast<char>(random.Below(256)));
        writes.Put(key, value);
        model[key] = value;
      }
    }
    REQUIRE(engine->Commit(writes, random.OneIn(4) ? Sync::kNow : Sync::kLater).ok());
    REQUIRE(All(*engine) == model);
    const std::string from = RandomKey(random);
    REQUIRE(All(*engine, from) == Model(model.lower_bound(from), model.end()));
    std::string value;
    const absl::Status got = engine->Get(from, value);
    REQUIRE(got.ok() == model.contains(from));
    if (got.ok()) REQUIRE(value == model[from]);
    if (!got.ok()) REQUIRE(absl::IsNotFound(got));
    // A cursor sees what there was when it was made.
    Model seen;
    for (; earlier->Valid(); earlier->Next()) seen.emplace(earlier->key(), earlier->value());
    REQUIRE(seen == before);
    earlier->Seek(from);
    REQUIRE(earlier->Valid() == (before.lower_bound(from) != before.end()));
    if (random.OneIn(60)) REQUIRE(engine->Compact().ok());
    if (lasts && random.OneIn(40)) {
      // Cursors go first.
      earlier.reset();
      engine.reset();
      engine = open();
      REQUIRE(All(*engine) == model);
    }
  }
}

TEST_CASE("an engine in memory does as a map does, and a cursor stays with what it was made over") {
  DoesAsAMap([] { return NewMemoryEngine(); }, false);
}

TEST_CASE("LevelDB does as a map does, and what was written is there after another opening") {
  const TempFolder folder;
  DoesAsAMap(
      [&] {
        auto engine = OpenLevelDb(folder.path + "/db", {.write_buffer_bytes = 64 << 10});
        REQUIRE(engine.ok());
        return *std::move(engine);
      },
      true);
}

TEST_CASE("a list of writes tells them in their order, whatever bytes they are of") {
  Writes writes, more;
  CHECK(writes.empty());
  writes.Put("", "");
  writes.Delete(std::string_view("\0\xFF", 2));
  more.Put("key", std::string(100'000, 'D'));
  writes.Append(more);
  CHECK(writes.bytes() > 100'000);
  std::vector<std::string> told;
  writes.Each([&](std::string_view key,
                  std::string_view value) { told.push_back(fmt::format("put {} {}", key, value.size())); },
              [&](std::string_view key) { told.push_back(fmt::format("delete {}", key.size())); });
  CHECK(told == std::vector<std::string>{"put  0", "delete 2", "put key 100000"});
  writes.Clear();
  CHECK(writes.empty());
}

TEST_CASE("a store stands on any engine") {
  auto store = Store::Open(NewMemoryEngine(), "memory");
  REQUIRE(store.ok());
  Keep(**store, FullMessage(kChannelA, NthId(1)));
  CHECK((*store)->Last(kChannelA, 1)->messages[0] == FullMessage(kChannelA, NthId(1)));
}

TEST_CASE("what several threads commit at once is all there, and each sees its own at once") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path + "/db");
  constexpr size_t kThreads = 8, kEach = 60;
  std::vector<std::thread> threads;
  std::atomic<size_t> wrong = 0;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t n = 0; n < kEach; ++n) {
        Batch batch;
        const std::string id = NthId(t * kEach + n);
        if (!batch.Put(TextMessage(kChannelA, id, "text")).ok() || !store->Commit(batch).ok()) ++wrong;
        const auto page = store->Before(kChannelA, NthId(t * kEach + n + 1), 1);
        if (!page.ok() || page->messages.size() != 1 || page->messages[0].id != id) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(store->Last(kChannelA, 10'000)->messages.size() == kThreads * kEach);
}

TEST_CASE("one bad batch among those that are committed together fails by itself") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path + "/db");
  REQUIRE(*store->DeleteChannel(kChannelB, 10));
  std::vector<std::thread> threads;
  std::atomic<size_t> kept = 0, refused = 0;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (size_t n = 0; n < 40; ++n) {
        Batch batch;
        const bool bad = (t + n) % 3 == 0;
        if (!batch.Put(TextMessage(bad ? kChannelB : kChannelA, NthId(t * 100 + n), "text")).ok()) return;
        const absl::Status status = store->Commit(batch);
        if (bad && absl::IsFailedPrecondition(status)) ++refused;
        if (!bad && status.ok()) ++kept;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(kept + refused == 320);
  CHECK(store->Last(kChannelA, 1'000)->messages.size() == kept);
  CHECK(store->Last(kChannelB, 1'000)->messages.empty());
}

}  // namespace
}  // namespace watchbill::history
