#include "watchbill/history/ledger.hpp"

#include <algorithm>
#include <limits>
#include <thread>

#include "damaged_engine.hpp"
#include "ledger_fixture.hpp"
#include "ledger_record.hpp"
#include "store_impl.hpp"
#include "temp_folder.hpp"

namespace watchbill::history {
namespace {

TEST_CASE("times sort as they are, newest or oldest first, whatever the clock said") {
  const std::vector<int64_t> times = {
      std::numeric_limits<int64_t>::min(), -1'790'000'000'000, -256, -1, 0, 1, 255, 1'790'000'000'000,
      std::numeric_limits<int64_t>::max()};
  for (size_t i = 0; i + 1 < times.size(); ++i) {
    CAPTURE(times[i]);
    CHECK(OldestFirst(times[i]) < OldestFirst(times[i + 1]));
    CHECK(NewestFirst(times[i]) > NewestFirst(times[i + 1]));
    CHECK(OldestFirst(times[i]).size() == 8);
    CHECK(NewestFirst(times[i]).size() == 8);
  }
}

TEST_CASE("a name before a time takes in no other name's range, and names keep their order") {
  const std::string zero(1, '\0');
  Names names = {"",
                 zero,
                 zero + zero,
                 zero + "\x01",
                 zero + "\xFF",
                 "\x01",
                 "a",
                 "a" + zero,
                 "a" + zero + zero,
                 "a" + zero + "\x01",
                 "a" + zero + "\xFF",
                 "a\x01",
                 "aa",
                 "b",
                 "\xFF",
                 "\xFF\xFF"};
  std::sort(names.begin(), names.end());
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t j = 0; j < names.size(); ++j) {
      if (i == j) continue;
      CHECK((Then(names[i]) < Then(names[j])) == (i < j));
      for (const int64_t ms : {std::numeric_limits<int64_t>::min(), int64_t{0}, int64_t{-1}}) {
        CHECK(!(Then(names[j]) + NewestFirst(ms)).starts_with(Then(names[i])));
        CHECK((Then(names[i]) + NewestFirst(ms) < Then(names[j])) == (i < j));
      }
    }
  }
}

TEST_CASE("a record is read by its key as it was put, and is gone once it was deleted") {
  const MemoryStore store;
  const std::string key("\0k\xFF", 3), order("\0\0\x01", 3);
  KeepPolicy(*store, key, order, R"({"n":1.50})");
  const auto record = Ledger(*store).Get(kPolicies, key);
  REQUIRE(record.ok());
  REQUIRE(record->has_value());
  CHECK((*record)->key == key);
  CHECK((*record)->order == order);
  CHECK((*record)->value.text() == R"({"n":1.50})");
  CHECK(!Ledger(*store).Get(Collection::kPrices, key)->has_value());
  CHECK(!Ledger(*store).Get(kPolicies, "k")->has_value());
  CHECK(!Ledger(*store).Get(kPolicies, "")->has_value());
  Batch batch;
  REQUIRE(batch.Delete(kPolicies, key).ok());
  REQUIRE(batch.Delete(kPolicies, "never there").ok());
  MustCommit(*store, batch);
  CHECK(!Ledger(*store).Get(kPolicies, key)->has_value());
  CHECK(InOrder(*store).empty());
  CHECK(Everything(*store.engine).size() == 1);  // the format
}

TEST_CASE("pages in the order of keys say exactly whether there is more") {
  const MemoryStore store;
  for (const char* key : {"b", "a1", "a2", "a", "c"}) KeepPolicy(*store, key, "same");
  CHECK(ByKey(*store) == Names{"a", "a1", "a2", "b", "c"});
  CHECK(ByKey(*store, {.prefix = "a"}) == Names{"a", "a1", "a2"});
  CHECK(ByKey(*store, {.after = "a1"}) == Names{"a2", "b", "c"});
  CHECK(ByKey(*store, {.after = "a11"}) == Names{"a2", "b", "c"});
  CHECK(ByKey(*store, {.prefix = "b", .after = "a"}) == Names{"b"});
  CHECK(ByKey(*store, {.prefix = "a", .after = "b"}).empty());
  CHECK(ByKey(*store, {.prefix = "z"}).empty());
  const Ledger ledger(*store);
  CHECK(ledger.ByKey(kPolicies, {}, 4)->more);
  CHECK(!ledger.ByKey(kPolicies, {}, 5)->more);
  CHECK(!ledger.ByKey(kPolicies, {.prefix = "a"}, 3)->more);
  CHECK(ledger.ByKey(kPolicies, {}, 0)->more);
  CHECK(ledger.ByKey(kPolicies, {}, 0)->records.empty());
  CHECK(!ledger.ByKey(Collection::kPrices, {}, 5)->more);
}

TEST_CASE("pages in the second order begin and end where they are told to") {
  const MemoryStore store;
  const std::string zero(1, '\0');
  // Orders in their order, two records of one of them.
  const std::vector<std::pair<std::string, std::string>> all = {
      {"", "k9"},   {zero, "k8"},       {zero + zero, "k7"},      {zero + "\xFF", "k6"}, {"a", "k5"},
      {"a", "k6a"}, {"a" + zero, "k4"}, {"a" + zero + "b", "k3"}, {"ab", "k2"},          {"\xFF", "k1"}};
  for (auto it = all.rbegin(); it != all.rend(); ++it) KeepPolicy(*store, it->second, it->first);
  Names sorted;
  for (const auto& [order, key] : all) sorted.push_back(key);
  CHECK(InOrder(*store) == sorted);
  CHECK(InOrder(*store, {.prefix = "a"}) == Names{"k5", "k6a", "k4", "k3", "k2"});
  CHECK(InOrder(*store, {.prefix = "a" + zero}) == Names{"k4", "k3"});
  CHECK(InOrder(*store, {.from = "a"}) == Names{"k5", "k6a", "k4", "k3", "k2", "k1"});
  CHECK(InOrder(*store, {.to = "a"}) == Names{"k9", "k8", "k7", "k6"});
  CHECK(InOrder(*store, {.from = zero, .to = "a" + zero}) == Names{"k8", "k7", "k6", "k5", "k6a"});
  CHECK(InOrder(*store, {.prefix = "a", .from = "ab", .to = "b"}) == Names{"k2"});
  CHECK(InOrder(*store, {.from = "b", .to = "a"}).empty());
  const Ledger ledger(*store);
  for (size_t limit = 0; limit <= all.size() + 1; ++limit) {
    CAPTURE(limit);
    Names walked;
    OrderRange range;
    for (size_t pages = 0; pages <= all.size() + 1; ++pages) {
      const auto page = ledger.InOrder(kPolicies, range, limit);
      REQUIRE(page.ok());
      CHECK(page->records.size() <= limit);
      for (const Record& record : page->records) walked.push_back(record.key);
      if (!page->more || limit == 0) break;
      REQUIRE(!page->records.empty());
      range.after = {page->records.back().order, page->records.back().key};
    }
    CHECK(walked == (limit == 0 ? Names{} : sorted));
  }
  CHECK(ledger.InOrder(kPolicies, {}, 0)->more);
  CHECK(!ledger.InOrder(kPolicies, {.prefix = "nothing"}, 0)->more);
  // Where nothing stands it is gone on from as well.
  CHECK(InOrder(*store, {.after = OrderRange::Place{"a", "k55"}}) == Names{"k6a", "k4", "k3", "k2", "k1"});
}

TEST_CASE("more records than are looked up at once come in their order all the same") {
  const MemoryStore store;
  Batch batch;
  Names keys;
  for (int i = 0; i < 700; ++i) {
    keys.push_back(fmt::format("{:03}", i));
    REQUIRE(batch.Put(kPolicies, keys.back(), NewestFirst(-i), JsonView::Trusted("1")).ok());
  }
  MustCommit(*store, batch);
  CHECK(InOrder(*store, {}, 700) == keys);
  CHECK(InOrder(*store, {}, std::numeric_limits<size_t>::max()) == keys);
  CHECK(!Ledger(*store).InOrder(kPolicies, {}, 700)->more);
  CHECK(Ledger(*store).InOrder(kPolicies, {}, 699)->more);
}

TEST_CASE("a record stands where it was put last: in one batch, over commits, and over another opening") {
  const TempFolder folder;
  for (int opening = 0; opening < 2; ++opening) {
    const auto store = MustOpen(folder.path);
    KeepPolicy(*store, "a", "3");
    KeepPolicy(*store, "b", "2");
    CHECK(InOrder(*store) == Names{"b", "a"});
    KeepPolicy(*store, "a", "1");
    CHECK(InOrder(*store) == Names{"a", "b"});
    Batch batch;
    REQUIRE(batch.Put(kPolicies, "a", "4", JsonView::Trusted("1")).ok());
    REQUIRE(batch.Put(kPolicies, "b", "5", JsonView::Trusted("1")).ok());
    REQUIRE(batch.Put(kPolicies, "a", "6", JsonView::Trusted("2")).ok());
    REQUIRE(batch.Delete(kPolicies, "b").ok());
    REQUIRE(batch.Put(kPolicies, "c", "0", JsonView::Trusted("1")).ok());
    REQUIRE(batch.Delete(kPolicies, "c").ok());
    REQUIRE(batch.Put(kPolicies, "c", "7", JsonView::Trusted("1")).ok());
    MustCommit(*store, batch);
    CHECK(InOrder(*store) == Names{"a", "c"});
    CHECK((*Ledger(*store).Get(kPolicies, "a"))->value.text() == "2");
    const Engine& engine = *Inside::Of(*store).engine;
    size_t places = 0;
    for (const auto& [key, value] : Everything(engine))
      places += key.starts_with(OrderPrefix(kPoliciesNumber));
    CHECK(places == 2);
    KeepPolicy(*store, "c", "7", "3");
    CHECK(InOrder(*store) == Names{"a", "c"});
    Batch end;
    REQUIRE(end.Delete(kPolicies, "c").ok());
    MustCommit(*store, end);
  }
}

TEST_CASE("what several threads put at once stands where it was put last") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 40; ++i) {
        Batch batch;
        CHECK(batch.Put(kPolicies, "shared", fmt::format("{} {}", i, writer), JsonView::Trusted("1")).ok());
        CHECK(batch
                  .Put(kPolicies, fmt::format("own {}", writer), fmt::format("{:02}", i),
                       JsonView::Trusted("1"))
                  .ok());
        CHECK(store->Commit(batch).ok());
      }
    });
  }
  // A look meanwhile meets each once.
  for (int look = 0; look < 40; ++look) {
    Names keys = InOrder(*store);
    std::sort(keys.begin(), keys.end());
    CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(InOrder(*store).size() == 5);
  size_t places = 0;
  for (const auto& [key, value] : Everything(*Inside::Of(*store).engine))
    places += key.starts_with(OrderPrefix(kPoliciesNumber));
  CHECK(places == 5);
}

TEST_CASE("a place without its record is passed over, and hides and doubles nothing") {
  const MemoryStore store;
  const Names all = {"a", "b", "c"};
  for (const std::string& key : all) KeepPolicy(*store, key, key);
  PutRaw(*store.engine, OrderKey(kPoliciesNumber, "aa", "c"), "");      // it stands elsewhere
  PutRaw(*store.engine, OrderKey(kPoliciesNumber, "bb", "none"), "");   // it is not there
  PutRaw(*store.engine, OrderKey(kPoliciesNumber, "z", "a"), "later");  // whatever is in it
  for (size_t limit = 1; limit <= 3; ++limit) {
    const auto page = Ledger(*store).InOrder(kPolicies, {}, limit);
    CHECK(Keys(page) == Names(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(limit)));
    CHECK(page->unreadable == 0);
    // None but places without records is behind the third.
    CHECK(page->more == (limit < 3));
  }
  CHECK(InOrder(*store) == all);
}

TEST_CASE("records and places that cannot be read are counted, and hide no others") {
  const MemoryStore store;
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) KeepPolicy(*store, key, key);
  PutRaw(*store.engine, RecordKey(kPoliciesNumber, "a"), WriteRecord("a", "{"));            // no JSON
  PutRaw(*store.engine, RecordKey(kPoliciesNumber, "b"), "");                               // nothing
  PutRaw(*store.engine, RecordKey(kPoliciesNumber, "c"), std::string("\x01\xFF\xFF", 3));   // cut
  PutRaw(*store.engine, RecordKey(kPoliciesNumber, "e"), "\x02" + WriteRecord("e", "{}"));  // newer
  PutRaw(*store.engine, OrderKey(kPoliciesNumber, "", "").substr(0, 2) + "x", "");          // no place
  const Ledger ledger(*store);
  CHECK(Keys(ledger.ByKey(kPolicies, {}, 100)) == Names{"d", "f"});
  CHECK(ledger.ByKey(kPolicies, {}, 100)->unreadable == 4);
  CHECK(Keys(ledger.InOrder(kPolicies, {}, 100)) == Names{"d", "f"});
  CHECK(ledger.InOrder(kPolicies, {}, 100)->unreadable == 5);
  // A page counts what is before its end alone.
  CHECK(ledger.InOrder(kPolicies, {}, 1)->unreadable == 3);
  CHECK(ledger.InOrder(kPolicies, {.after = OrderRange::Place{"d", "d"}}, 1)->unreadable == 1);
  const size_t before = store->unreadable();
  for (const char* key : {"a", "b", "c", "e"}) {
    const auto record = ledger.Get(kPolicies, key);
    CHECK(record.status().code() == absl::StatusCode::kDataLoss);
    CHECK(Says(record.status(), fmt::format("record \"{}\" of collection 1", key)));
    CHECK(Says(record.status(), "newer version") == (std::string(key) == "e"));
  }
  CHECK(store->unreadable() == before + 4);
}

TEST_CASE("a record that cannot be read is put again, and its old place is passed over") {
  const MemoryStore store;
  KeepPolicy(*store, "a", "1");
  KeepPolicy(*store, "b", "2");
  PutRaw(*store.engine, RecordKey(kPoliciesNumber, "a"), std::string("\x01\xFF", 2));
  KeepPolicy(*store, "a", "3");
  CHECK(InOrder(*store) == Names{"b", "a"});
  CHECK(Ledger(*store).InOrder(kPolicies, {}, 2)->unreadable == 0);
  KeepPolicy(*store, "a", "1");
  CHECK(InOrder(*store) == Names{"a", "b"});
}

TEST_CASE("nothing is written over a record of a newer version, and other commits go on") {
  const MemoryStore store;
  KeepPolicy(*store, "a", "1");
  const std::string newer = "\x02 whatever it is";
  PutRaw(*store.engine, RecordKey(kPoliciesNumber, "a"), newer);
  const auto before = Everything(*store.engine);
  Batch put, del;
  REQUIRE(put.Put(kPolicies, "b", "2", JsonView::Trusted("1")).ok());
  REQUIRE(put.Put(kPolicies, "a", "2", JsonView::Trusted("1")).ok());
  REQUIRE(del.Delete(kPolicies, "a").ok());
  for (const Batch* batch : {&put, &del}) {
    const absl::Status status = store->Commit(*batch);
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK(Says(status, "record \"a\" of collection 1 was written by a newer program"));
    CHECK(Everything(*store.engine) == before);
  }
  KeepPolicy(*store, "b", "2");
  CHECK(InOrder(*store) == Names{"b"});
}

TEST_CASE("damaged blocks hide what is in them alone, and a look says so") {
  auto made = std::make_unique<DamagedEngine>();
  DamagedEngine& engine = *made;
  const MemoryStore store(std::move(made));
  for (const char* key : {"a", "b", "c", "d"}) KeepPolicy(*store, key, key);
  engine.damaged = {RecordKey(kPoliciesNumber, "b")};
  const Ledger ledger(*store);
  CHECK(Keys(ledger.InOrder(kPolicies, {}, 10)) == Names{"a", "c", "d"});
  CHECK(ledger.InOrder(kPolicies, {}, 10)->unreadable == 1);
  CHECK(ledger.ByKey(kPolicies, {}, 10)->unreadable == 1);
  CHECK(ledger.Get(kPolicies, "b").status().code() == absl::StatusCode::kDataLoss);
  engine.damaged = {OrderKey(kPoliciesNumber, "b", "b")};
  CHECK(Keys(ledger.InOrder(kPolicies, {}, 10)) == Names{"a", "c", "d"});
  CHECK(ledger.InOrder(kPolicies, {}, 10)->unreadable == 1);
  CHECK(ByKey(*store) == Names{"a", "b", "c", "d"});
  // A record in a damaged block, and a place that was left: one can be read and the other is not there.
  engine.damaged = {RecordKey(kPoliciesNumber, "b")};
  PutRaw(engine, OrderKey(kPoliciesNumber, "x", "none"), "");
  CHECK(ledger.InOrder(kPolicies, {}, 10)->unreadable == 1);
  // Put again it is whole.
  KeepPolicy(*store, "b", "bb");
  CHECK(InOrder(*store) == Names{"a", "b", "c", "d"});
}

}  // namespace
}  // namespace watchbill::history
