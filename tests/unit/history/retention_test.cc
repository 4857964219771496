#include "watchbill/history/retention.hpp"

#include <limits>

#include "ledger_fixture.hpp"
#include "ledger_record.hpp"
#include "store_impl.hpp"
#include "watchbill/base/ulid.hpp"

namespace watchbill::history {
namespace {

// As many calls as it takes.
size_t PruneAll(Store& store, const std::string& prefix, size_t keep, const std::string& behind,
                size_t most) {
  for (size_t calls = 1;; ++calls) {
    REQUIRE(calls < 1'000);
    const auto all = Prune(store, kPolicies, prefix, keep, behind, most);
    REQUIRE_MESSAGE(all.ok(), all.status().ToString());
    if (*all) return calls;
  }
}

TEST_CASE("old records go in pieces, and what either bound keeps stays") {
  for (const size_t most : {1u, 3u, 100u}) {
    CAPTURE(most);
    const MemoryStore store;
    for (int i = 0; i < 10; ++i) KeepPolicy(*store, fmt::format("k{}", i), NewestFirst(i * 100 - 500));
    // Ten of another beginning of the order.
    for (int i = 0; i < 10; ++i) KeepPolicy(*store, fmt::format("x{}", i), "\xFFx" + NewestFirst(i));
    CHECK(PruneAll(*store, "", 25, "", most) == 1);
    CHECK(InOrder(*store).size() == 20);
    // What is from before -200 goes, but for the first four.
    PruneAll(*store, std::string(1, '\x7F'), 4, NewestFirst(-200), most);
    CHECK(InOrder(*store, {.to = "\xFF"}) ==
          Names{"k9", "k8", "k7", "k6", "k5", "k4", "k3", "k2", "k1", "k0"});
    PruneAll(*store, std::string(1, '\x80'), 2, NewestFirst(-200) + '\0', most);
    CHECK(InOrder(*store, {.to = "\xFF"}) == Names{"k9", "k8", "k7", "k6", "k5", "k4", "k3"});
    PruneAll(*store, "\xFFx", 3, "", most);
    CHECK(InOrder(*store, {.prefix = "\xFFx"}) == Names{"x9", "x8", "x7"});
    PruneAll(*store, "", 0, "", most);
    CHECK(Everything(*store.engine).size() == 1);
  }
  const MemoryStore store;
  CHECK(Prune(*store, kPolicies, "", 0, "", 0).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(*Prune(*store, kPolicies, "", 0, "", 1));
}

TEST_CASE("retention takes off no record that cannot be read, and none for a place it has left") {
  const MemoryStore store;
  for (const char* key : {"a", "b", "c", "d"}) KeepPolicy(*store, key, key);
  PutRaw(*store.engine, OrderKey(kPoliciesNumber, "A", "d"), "");
  PutRaw(*store.engine, OrderKey(kPoliciesNumber, "x", "a"), "");
  PutRaw(*store.engine, OrderKey(kPoliciesNumber, "y", "none"), "");
  const std::string newer = "\x02" + WriteRecord("c", "{}");
  PutRaw(*store.engine, RecordKey(kPoliciesNumber, "c"), newer);
  // The first two are a and b, whatever is left behind elsewhere.
  PruneAll(*store, "", 2, "", 1);
  CHECK(InOrder(*store) == Names{"a", "b"});
  const auto all = Everything(*store.engine);
  CHECK(all.at(RecordKey(kPoliciesNumber, "c")) == newer);
  CHECK(all.contains(OrderKey(kPoliciesNumber, "c", "c")));
  CHECK(!all.contains(OrderKey(kPoliciesNumber, "x", "a")));
  CHECK(!all.contains(OrderKey(kPoliciesNumber, "y", "none")));
  PruneAll(*store, "", 0, "", 1);
  CHECK(InOrder(*store).empty());
  CHECK(Everything(*store.engine).at(RecordKey(kPoliciesNumber, "c")) == newer);
}

TEST_CASE("what was put elsewhere since retention looked stays") {
  const MemoryStore store;
  for (const char* key : {"a", "b", "c"}) KeepPolicy(*store, key, "old");
  Batch batch;
  auto& changes = Inside::Of(batch).records;
  for (const char* key : {"a", "b", "c"})
    changes.push_back({RecordChange::What::kDeleteAt, kPolicies, key, "old", {}});
  KeepPolicy(*store, "b", "new");
  MustCommit(*store, batch);
  CHECK(InOrder(*store) == Names{"b"});
  CHECK(Everything(*store.engine).size() == 3);
}

std::string TextId(const Page& page) {
  std::string ids;
  for (const Message& message : page.messages) ids += message.id.substr(24) + " ";
  return ids;
}

TEST_CASE("messages of a channel go by their number and by their age, in pieces") {
  for (const size_t most : {1u, 4u, 100u}) {
    const MemoryStore store;
    Batch batch;
    for (size_t i = 0; i < 12; ++i) REQUIRE(batch.Put(TextMessage(kChannelA, NthId(i), "a")).ok());
    REQUIRE(batch.Put(TextMessage(kChannelB, NthId(0), "b")).ok());
    REQUIRE(batch.Put(kChannelA, {"codex", "", NthId(0)}).ok());
    MustCommit(*store, batch);
    PutRaw(*store.engine, MessageKey(*ParseUlid(kChannelA), *ParseUlid(NthId(3))), "\x02?");
    const auto prune = [&](size_t keep, const std::string& before) {
      for (int calls = 0;; ++calls) {
        REQUIRE(calls < 100);
        const auto all = PruneChannel(*store, kChannelA, keep, before, most);
        REQUIRE_MESSAGE(all.ok(), all.status().ToString());
        if (*all) return;
      }
    };
    prune(100, "");
    CHECK(store->Last(kChannelA, 100)->messages.size() == 11);
    prune(0, NthId(2));
    CHECK(TextId(*store->Last(kChannelA, 100)) == "02 04 05 06 07 08 09 10 11 ");
    prune(7, NthId(11));
    CHECK(TextId(*store->Last(kChannelA, 100)) == "05 06 07 08 09 10 11 ");
    prune(3, "");
    CHECK(TextId(*store->Last(kChannelA, 100)) == "09 10 11 ");
    CHECK(!store->Last(kChannelA, 3)->more);
    CHECK((*store->Members(kChannelA))[0].last_seen == NthId(0));
    CHECK(store->Last(kChannelB, 10)->messages.size() == 1);
    prune(0, "");
    CHECK(store->Last(kChannelA, 10)->messages.empty());
    CHECK(store->unreadable() > 0);
  }
}

TEST_CASE("what is no channel, no id and no piece is said, and a deleted channel has nothing to go") {
  const MemoryStore store;
  for (const absl::Status& status :
       {PruneChannel(*store, "no", 1, "", 1).status(), PruneChannel(*store, kChannelA, 1, "no", 1).status(),
        PruneChannel(*store, kChannelA, 1, "", 0).status()})
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  CHECK(*PruneChannel(*store, kChannelA, 0, "", 1));
  Batch batch;
  REQUIRE(batch.Put(TextMessage(kChannelA, NthId(1), "a")).ok());
  REQUIRE(batch.Put(TextMessage(kChannelA, NthId(2), "a")).ok());
  MustCommit(*store, batch);
  CHECK(!*store->DeleteChannel(kChannelA, 1));
  CHECK(*PruneChannel(*store, kChannelA, 0, "", 1));
}

TEST_CASE("the first id of a time is not greater than any of that time, and greater than all before it") {
  CHECK(FirstIdAt(std::numeric_limits<int64_t>::min()) == "00000000000000000000000000");
  CHECK(FirstIdAt(0) == "00000000000000000000000000");
  CHECK(FirstIdAt(std::numeric_limits<int64_t>::max()) == "7ZZZZZZZZZ0000000000000000");
  UlidGenerator ids(7);
  for (const int64_t ms : {int64_t{0}, int64_t{1}, int64_t{1'790'000'000'000}}) {
    const std::string id = ids.Next(ms);
    CHECK(FirstIdAt(ms) <= id);
    CHECK(FirstIdAt(ms + 1) > id);
  }
}

TEST_CASE("the old end of the trail goes by number and by time, in pieces, and the rest can be verified") {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  for (const size_t most : {1u, 3u, 100u}) {
    CAPTURE(most);
    const MemoryStore store;
    Append(*store, 12);
    const auto prune = [&](uint64_t keep, int64_t before_ms) {
      for (int calls = 0;; ++calls) {
        REQUIRE(calls < 100);
        const auto all = PruneTrail(*store, keep, before_ms, most);
        REQUIRE_MESSAGE(all.ok(), all.status().ToString());
        const TrailReport report = Verified(*store);
        CHECK(!report.fault);
        CHECK(report.entries == 12 - report.first + 1);
        if (*all) return report.first;
      }
    };
    CHECK(prune(20, kAny) == 1);
    CHECK(prune(12, kAny) == 1);
    CHECK(prune(0, -1) == 1);
    CHECK(prune(0, 1) == 1);
    CHECK(prune(0, 3) == 3);
    CHECK(prune(8, 10) == 5);  // what either keeps stays
    CHECK(prune(8, kAny) == 5);
    CHECK(prune(0, 9) == 9);
    CHECK(prune(1, 1'000) == 12);
    CHECK(prune(0, kAny) == 13);
    CHECK(prune(0, kAny) == 13);
    CHECK(Trail(*store).End()->number == 12);
    Append(*store, 2);
    CHECK(Numbers(Trail(*store).Page({})) == N{14, 13});
    CHECK(Verified(*store).first == 13);
    CHECK(!Verified(*store).fault);
  }
  const MemoryStore store;
  CHECK(*PruneTrail(*store, 0, kAny, 1));
  CHECK(PruneTrail(*store, 0, kAny, 0).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("entries stay behind the first that is not old enough, or says no time") {
  const MemoryStore store;
  Batch batch;
  for (const int64_t at : {-10, 5, 100, 3, 4}) REQUIRE(AppendToTrail(batch, Entry(at, "Ann")).ok());
  MustCommit(*store, batch);
  CHECK(*PruneTrail(*store, 0, 50, 100));
  CHECK(Verified(*store).first == 3);
  const MemoryStore silent;
  Batch other;
  REQUIRE(AppendToTrail(other, Entry(1, "Ann")).ok());
  REQUIRE(other.AppendToTrail(JsonView::Trusted(R"({"did":"it"})")).ok());
  REQUIRE(AppendToTrail(other, Entry(2, "Ann")).ok());
  MustCommit(*silent, other);
  CHECK(*PruneTrail(*silent, 0, 50, 100));
  CHECK(Verified(*silent).first == 2);
  CHECK(*PruneTrail(*silent, 0, std::numeric_limits<int64_t>::max(), 100));
  CHECK(Verified(*silent).first == 4);
}

TEST_CASE("nothing is taken off a trail whose old end is not as it was") {
  MemoryStore store;
  Append(*store, 8);
  const auto before = Everything(*store.engine);
  const auto prune = [&](uint64_t keep) {
    return PruneTrail(*store, keep, std::numeric_limits<int64_t>::max(), 100).status().code();
  };
  const auto put_back = [&] {
    Writes back;
    for (const auto& [key, value] : before) back.Put(key, value);
    REQUIRE(store.engine->Commit(back, Sync::kNow).ok());
  };
  for (const uint64_t number : {1, 3, 5}) {
    CAPTURE(number);
    std::string wrong = before.at(TrailKey(number));
    wrong[40] ^= 1;
    PutRaw(*store.engine, TrailKey(number), wrong);
    CHECK(prune(3) == absl::StatusCode::kDataLoss);
    DeleteRaw(*store.engine, TrailKey(number));
    CHECK(prune(3) == absl::StatusCode::kDataLoss);
    PutRaw(*store.engine, TrailKey(number), "\x01");
    CHECK(prune(3) == absl::StatusCode::kDataLoss);
    put_back();
  }
  // What would stay is not looked at.
  PutRaw(*store.engine, TrailKey(7), "\x01");
  CHECK(prune(3) == absl::StatusCode::kOk);
  CHECK(Verified(*store).fault->first == 7);
}

}  // namespace
}  // namespace watchbill::history
