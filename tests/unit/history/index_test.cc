// How the index is made: of what there was before it, through failures and damage.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "failing_env.hpp"
#include "index_codec.hpp"
#include "index_reading.hpp"
#include "keys.hpp"
#include "search_fixture.hpp"
#include "seeded.hpp"
#include "store_impl.hpp"
#include "temp_folder.hpp"

namespace watchbill::history {
namespace {

using Strings = std::vector<std::string>;

std::unique_ptr<Store> InMemory() {
  auto store = Store::Open(NewMemoryEngine(), "memory");
  REQUIRE(store.ok());
  return *std::move(store);
}

Engine& EngineOf(const Store& store) { return *Inside::Of(store).engine; }

std::vector<std::pair<std::string, std::string>> KeysOf(const Store& store, std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> keys;
  const auto cursor = EngineOf(store).Scan(prefix);
  for (; cursor->Valid() && cursor->key().starts_with(prefix); cursor->Next())
    keys.emplace_back(cursor->key(), cursor->value());
  return keys;
}

// How many documents all segments have together: of each message there is to be one.
size_t Documents(const Store& store) {
  size_t count = 0;
  for (const auto& [key, value] : KeysOf(store, kSegmentsPrefix)) {
    if (key.back() != kHeadPart) continue;
    const auto head = SegmentHead::Read(value);
    REQUIRE(head);
    count += head->size();
  }
  return count;
}

void PutRaw(Store& store, const std::string& key, const std::string& value) {
  Writes writes;
  writes.Put(key, value);
  REQUIRE(EngineOf(store).Commit(writes, Sync::kNow).ok());
}

void Keep(Store& store, size_t from, size_t to) {
  Batch batch;
  for (size_t n = from; n < to; ++n)
    REQUIRE(
        batch.Put(TextMessage(n % 3 == 0 ? kChannelA : kChannelB, NthId(n), fmt::format("all w{}", n))).ok());
  REQUIRE(store.Commit(batch).ok());
}

// As many as were kept, each by its own word too; and each is in the index once.
void CheckWhole(Store& store, size_t count) {
  CHECK(Found(store, "all ").size() == count);
  for (size_t n = 0; n < count; ++n) REQUIRE(Found(store, fmt::format("w{} ", n)) == Strings{NthId(n)});
  const SearchPage page = MustFind(store, {.text = "all ", .channel = {}, .limit = 1, .after = {}});
  CHECK(page.tail == 0);
  CHECK(page.unreadable == 0);
  CHECK(!page.partial);
  CHECK(Documents(store) == count);
  CHECK(KeysOf(store, kArrivalsPrefix).empty());
}

// As a program left it that knew nothing of an index.
void ForgetArrivals(Store& store) {
  Writes writes;
  for (const auto& [key, value] : KeysOf(store, kArrivalsPrefix)) writes.Delete(key);
  REQUIRE(EngineOf(store).Commit(writes, Sync::kNow).ok());
}

TEST_CASE("a database of format 1 is walked over, in steps of any size") {
  for (const size_t most : {size_t{1}, size_t{2}, size_t{1000}}) {
    CAPTURE(most);
    const TempFolder folder;
    const std::string path = folder.path + "/db";
    std::filesystem::copy(std::string(WATCHBILL_GOLDEN_DIR) + "/history/v1", path);
    size_t found = 0;
    for (int opening = 0; opening < 2; ++opening) {
      auto store = MustOpen(path);
      const SearchPage before = MustFind(*store, {.text = "a", .channel = {}, .limit = 20, .after = {}});
      CHECK(before.partial == (opening == 0));
      if (opening == 0) CHECK(before.hits.empty());
      const size_t messages = store->Last(kChannelA, 100)->messages.size();
      CHECK(IndexAll(*store, most) == (opening == 0 ? messages : 0));
      CHECK(Documents(*store) == messages);
      const Strings hits = Found(*store, "deja vu ");
      CHECK(std::find(hits.begin(), hits.end(), NthId(1)) != hits.end());
      if (opening == 0) found = Found(*store, "a").size();
      CHECK(Found(*store, "a").size() == found);
      CHECK(found > 1);
      CHECK(!MustFind(*store, {.text = "a", .channel = {}, .limit = 20, .after = {}}).partial);
    }
  }
}

TEST_CASE("while what there was is walked over, what comes is neither missed nor taken twice") {
  for (const size_t most : {size_t{1}, size_t{3}, size_t{7}, size_t{40}}) {
    for (const bool arrivals : {false, true}) {
      CAPTURE(most);
      CAPTURE(arrivals);
      const auto store = InMemory();
      Keep(*store, 0, 50);
      if (!arrivals) ForgetArrivals(*store);
      CHECK(MustFind(*store, {.text = "all ", .channel = {}, .limit = 1, .after = {}}).partial);
      // In both channels, before the walk and behind it.
      size_t next = 50, taken = 0;
      for (bool done = false; !done;) {
        const IndexStep step = MustStep(*store, most);
        taken += step.messages;
        done = step.done && next == 80;
        if (next < 80) Keep(*store, next, next + 2);
        next = std::min<size_t>(next + 2, 80);
      }
      CHECK(taken == 80);
      CheckWhole(*store, 80);
    }
  }
}

TEST_CASE(
    "a step that fails at any operation loses nothing and takes nothing twice, however it is gone on with") {
  for (const auto then : {FailingEnv::Then::kWorksAgain, FailingEnv::Then::kStaysBroken}) {
    for (const bool walks : {false, true}) {
      bool failed = true;
      for (size_t n = 0; failed; ++n) {
        CAPTURE(n);
        CAPTURE(walks);
        FailingEnv env;
        auto store = OpenOver(env, 64 << 10);
        REQUIRE(store.ok());
        if (!walks) MustStep(**store);
        Keep(**store, 0, 24);
        env.FailAfter(n, then);
        size_t most = 20;
        for (int step = 0; step < 3; ++step) {
          if (!Index(**store).Step(most, true).ok()) break;
        }
        failed = env.failed();
        env.Heal();
        // By another opening, or at once and in pieces of another size: what failed may be there or not.
        if (n % 2 == 0) {
          store->reset();
          store = OpenOver(env, 64 << 10);
          REQUIRE_MESSAGE(store.ok(), store.status().ToString());
        }
        most = 3;
        while (!MustStep(**store, most).done) {
        }
        Keep(**store, 24, 26);
        IndexAll(**store, most);
        CheckWhole(**store, 26);
      }
    }
  }
}

TEST_CASE("numbers of arrivals go on behind those that the index has, also after another opening") {
  const TempFolder folder;
  {
    const auto store = MustOpen(folder.path);
    Keep(*store, 0, 10);
    IndexAll(*store);
  }
  const auto store = MustOpen(folder.path);
  Keep(*store, 10, 11);
  const auto arrivals = KeysOf(*store, kArrivalsPrefix);
  REQUIRE(arrivals.size() == 1);
  CHECK(NumberOfArrivalKey(arrivals[0].first) == 11);
  CHECK(Found(*store, "all ").size() == 11);
  IndexAll(*store);
  CheckWhole(*store, 11);
}

TEST_CASE("an index of another version, or one that cannot be read, goes and is made again") {
  const auto store = InMemory();
  Keep(*store, 0, 60);
  IndexAll(*store, 7);
  const std::string state = KeysOf(*store, kIndexKey)[0].second;
  std::string other = state;
  other[1] = static_cast<char>(kIndexVersion + 1);
  for (const std::string& value : {std::string(), std::string("\x02"), other, std::string(40, '\x01')}) {
    PutRaw(*store, std::string(kIndexKey), value);
    PutRaw(*store, WordKey("stale", 999), "of another version");
    CHECK(MustFind(*store, {.text = "all ", .channel = {}, .limit = 1, .after = {}}).partial);
    Keep(*store, 60, 61);
    // So small that it takes many to drop what there is.
    size_t steps = 0;
    for (; !MustStep(*store, 2).done; ++steps) {
      // While it is made no hit is a wrong one.
      for (const std::string& id : Found(*store, "w7 ")) CHECK(id == NthId(7));
    }
    CHECK(steps > 30);
    CHECK(KeysOf(*store, WordPrefix("stale")).empty());
    CheckWhole(*store, 61);
  }
}

TEST_CASE("an index is made again when it is asked for") {
  const auto store = InMemory();
  Keep(*store, 0, 30);
  IndexAll(*store, 4);
  // A segment and a word are lost.
  Writes writes;
  writes.Delete(SegmentKey(2, kHeadPart));
  writes.Delete(WordKey("w0", 1));
  REQUIRE(EngineOf(*store).Commit(writes, Sync::kNow).ok());
  CHECK(Found(*store, "all ").size() < 30);
  REQUIRE(Index(*store).Rebuild().ok());
  REQUIRE(Index(*store).Rebuild().ok());
  IndexAll(*store, 9);
  CheckWhole(*store, 30);
}

TEST_CASE("what cannot be read is counted, and the others are in the index") {
  const auto store = InMemory();
  for (const bool walks : {true, false}) {
    Keep(*store, 0, 20);
    const std::string key = MessageKey(*ParseUlid(kChannelA), *ParseUlid(NthId(3)));
    PutRaw(*store, key, "\x01{}");
    PutRaw(*store, MessageKey(*ParseUlid(kChannelA), *ParseUlid(NthId(6))), "\x02newer");
    const SearchPage tail = MustFind(*store, {.text = "all ", .channel = {}, .limit = 200, .after = {}});
    CHECK(tail.hits.size() == 18);
    CHECK(tail.unreadable == 2);
    if (!walks) {
      // An arrival of a newer version stays as it is.
      PutRaw(*store, ArrivalKey(1'000'000), std::string("\x02") + std::string(32, 'x'));
    }
    size_t unreadable = 0;
    for (;;) {
      const IndexStep step = MustStep(*store, 50);
      unreadable += step.unreadable;
      if (step.done) break;
    }
    CHECK(unreadable == (walks ? 2 : 3));
    CHECK(Found(*store, "all ").size() == 18);
    CHECK(KeysOf(*store, kArrivalsPrefix).size() == (walks ? 0 : 1));
  }
  // It was in the index, and is unreadable now.
  PutRaw(*store, MessageKey(*ParseUlid(kChannelA), *ParseUlid(NthId(9))), "no message");
  const SearchPage page = MustFind(*store, {.text = "w9 ", .channel = {}, .limit = 200, .after = {}});
  CHECK(page.hits.empty());
  CHECK(page.unreadable == 1);
}

TEST_CASE("what stands among the arrivals and is none keeps no step waiting") {
  const auto store = InMemory();
  MustStep(*store);
  Keep(*store, 0, 5);
  for (const char* key : {"", "x", "\xFF", "12345678x"})
    PutRaw(*store, std::string(kArrivalsPrefix) + key, "\x01");
  PutRaw(*store, ArrivalKey(std::numeric_limits<uint64_t>::max()), "\x01");
  size_t steps = 0;
  for (IndexStep step = MustStep(*store, 2, true); !step.done; step = MustStep(*store, 2, true))
    REQUIRE(++steps < 100);
  CHECK(Found(*store, "all ").size() == 5);
  Keep(*store, 5, 9);
  IndexAll(*store, 2);
  CHECK(Found(*store, "all ").size() == 9);
}

TEST_CASE("messages that are gone from the store without a word are no hits") {
  const auto store = InMemory();
  Keep(*store, 0, 40);
  IndexAll(*store, 6);
  Writes writes;
  for (size_t n = 10; n < 40; ++n) {
    const char* const channel = n % 3 == 0 ? kChannelA : kChannelB;
    writes.Delete(MessageKey(*ParseUlid(channel), *ParseUlid(NthId(n))));
  }
  REQUIRE(EngineOf(*store).Commit(writes, Sync::kNow).ok());
  const SearchPage page = MustFind(*store, {.text = "all ", .channel = {}, .limit = 5, .after = {}});
  // The next best take their places.
  CHECK(IdsOf(page.hits) == Strings{NthId(9), NthId(8), NthId(7), NthId(6), NthId(5)});
  CHECK(page.more);
  CHECK(page.unreadable == 0);
  CHECK(Found(*store, "all ").size() == 10);
}

TEST_CASE("random bytes in values of the index hide nothing of the segments beside them, and harm nothing") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  const auto store = InMemory();
  Keep(*store, 0, 60);
  IndexAll(*store, 10);
  Keep(*store, 60, 65);
  std::vector<std::pair<std::string, std::string>> index;
  for (const std::string_view prefix : {kIndexKey, kSegmentsPrefix, kWordsPrefix}) {
    for (auto& key : KeysOf(*store, prefix)) index.push_back(std::move(key));
  }
  // Which messages a segment has.
  std::map<uint64_t, std::set<std::string>> messages;
  for (const auto& [key, value] : KeysOf(*store, kSegmentsPrefix)) {
    if (key.back() != kIdsPart) continue;
    const auto ids = SegmentIds::Read(value, (value.size() - 1) / 16);
    for (size_t i = 0; i < (value.size() - 1) / 16; ++i)
      messages[~NumberAt(key, 1)].insert(UlidText((*ids)[i]));
  }
  REQUIRE(messages.size() == 6);
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const auto& [key, value] = index[random.Below(index.size())];
    std::string wrong = value;
    switch (random.Below(4)) {
      case 0:
        wrong.clear();
        for (size_t n = random.Below(60); n > 0; --n) wrong.push_back(static_cast<char>(random.Below(256)));
        break;
      case 1:
        wrong.resize(random.Below(value.size() + 1));
        break;
      case 2:
        wrong.push_back(static_cast<char>(random.Below(256)));
        break;
      default:
        for (size_t n = 1 + random.Below(3); n > 0; --n)
          wrong[random.Below(wrong.size())] = static_cast<char>(random.Below(256));
    }
    PutRaw(*store, key, wrong);
    std::set<std::string> beside;
    const uint64_t damaged = key == kIndexKey ? 0 : ~NumberAt(key, key[0] == 'D' ? 1 : key.size() - 8);
    for (const auto& [segment, ids] : messages) {
      if (segment != damaged) beside.insert(ids.begin(), ids.end());
    }
    for (size_t n = 60; n < 65; ++n) beside.insert(NthId(n));
    for (const char* query : {"all ", "al", "all w1"}) {
      const Strings found = Found(*store, query);
      const std::set<std::string> hits(found.begin(), found.end());
      for (const std::string& id : beside) {
        if (query[0] == 'a' && std::string_view(query) == "all w1") {
          const bool wanted = id == NthId(1) || (id >= NthId(10) && id <= NthId(19));
          REQUIRE(hits.contains(id) == wanted);
        } else {
          REQUIRE_MESSAGE(hits.contains(id), id);
        }
      }
    }
    // What cannot be read at all is counted by some search of its word.
    if (key[0] == 'D' && wrong.empty())
      CHECK(MustFind(*store, {.text = "all ", .channel = {}, .limit = 200, .after = {}}).unreadable == 1);
    PutRaw(*store, key, value);
  }
  // Steps over damage end as well, with all that is there.
  for (int round = 0; round < 30; ++round) {
    const auto& [key, value] = index[random.Below(index.size())];
    PutRaw(*store, key, std::string(random.Below(20), static_cast<char>(random.Below(256))));
    PutRaw(*store, std::string(kIndexKey),
           std::string(random.Below(40), static_cast<char>(random.Below(256))));
    IndexAll(*store, 1 + random.Below(30));
    CheckWhole(*store, 65);
  }
}

TEST_CASE("a step cannot be made on a disk that cannot be read, and says so") {
  FailingEnv env;
  auto store = OpenOver(env, 64 << 10);
  REQUIRE(store.ok());
  Keep(**store, 0, 5);
  env.FailAfter(0, FailingEnv::Then::kStaysBroken);
  for (int round = 0; round < 2; ++round) {
    CHECK(absl::IsUnavailable(Index(**store).Step(10, true).status()));
    CHECK(absl::IsUnavailable(Index(**store).Rebuild()));
  }
  env.Heal();
  IndexAll(**store, 10);
  CheckWhole(**store, 5);
}

}  // namespace
}  // namespace watchbill::history
