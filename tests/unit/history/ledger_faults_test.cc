// The disk fails at one operation after the other, under records that move and a trail that grows.
#include <limits>
#include <set>

#include "failing_env.hpp"
#include "ledger_fixture.hpp"
#include "ledger_record.hpp"
#include "store_impl.hpp"
#include "watchbill/history/retention.hpp"

namespace watchbill::history {
namespace {

// Every record has its place and every place its record; the trail is whole.
void CheckWhole(const Store& store) {
  size_t records = 0, places = 0;
  const auto all = Everything(*Inside::Of(store).engine);
  for (const auto& [key, value] : all) {
    if (key[0] == 'R') {
      ++records;
      const auto kept = ReadRecord(value);
      REQUIRE(kept.has_value());
      REQUIRE(all.contains(OrderKey(static_cast<uint8_t>(key[1]), kept->order, key.substr(2))));
    }
    places += key[0] == 'Q';
  }
  CHECK(places == records);
  const TrailReport report = Verified(store);
  CHECK_MESSAGE(!report.fault, report.fault->says);
  CHECK(report.entries == report.end.number - report.first + 1);
}

// What a disk that fails may leave: what was there before, or what a batch that failed would have made of it.
struct Kept {
  std::map<std::string, std::string> records;
  uint64_t end = 0, begin = 0;
  friend bool operator==(const Kept&, const Kept&) = default;
};
Kept KeptIn(const Store& store) {
  Kept kept;
  const auto page = Ledger(store).InOrder(Collection::kPolicies, {}, 100);
  REQUIRE(page.ok());
  for (const Record& record : page->records) kept.records[record.key] = record.order;
  const TrailReport report = Verified(store);
  kept.end = report.end.number;
  kept.begin = report.first - 1;
  return kept;
}

struct Step {
  // Records that move, come and go, and entries of the trail.
  static Step Nth(size_t n, size_t entries) {
    Step step;
    const auto name = [](size_t i) { return fmt::format("record {}", i % 5); };
    const std::string order = fmt::format("{} {}", n * 7 % 11, n);
    const std::string padding = fmt::format("\"{}\"", std::string(3'000, 'x'));
    CHECK(step.batch.Put(Collection::kPolicies, name(n), order, JsonView::Trusted(padding)).ok());
    step.put[name(n)] = order;
    if (n % 3 == 0) {
      CHECK(step.batch.Put(Collection::kPolicies, name(n), order + "b", JsonView::Trusted("1")).ok());
      step.put[name(n)] = order + "b";
    }
    if (n % 4 == 0) {
      CHECK(step.batch.Delete(Collection::kPolicies, name(n + 2)).ok());
      step.gone.insert(name(n + 2));
    }
    for (size_t i = 0; i < entries; ++i)
      CHECK(AppendToTrail(step.batch, Entry(static_cast<int64_t>(n), fmt::format("{}", i))).ok());
    step.entries = entries;
    return step;
  }
  Kept Behind(Kept kept) const {
    for (const auto& [key, order] : put) kept.records[key] = order;
    for (const std::string& key : gone) kept.records.erase(key);
    kept.end += entries;
    return kept;
  }
  Batch batch;
  std::map<std::string, std::string> put;
  std::set<std::string> gone;
  size_t entries = 0;
};

constexpr size_t kSteps = 30;

// True once nothing failed any more.
bool Play(size_t n, FailingEnv::Then then, bool power_cut) {
  CAPTURE(n);
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  FailingEnv env;
  Kept confirmed;
  env.FailAfter(n, then);
  {
    auto store = OpenOver(env, 64 << 10);
    for (size_t i = 0; store.ok() && i < kSteps && !env.failed(); ++i) {
      const Step step = Step::Nth(i, 1 + i % 3);
      const Kept behind = step.Behind(confirmed);
      std::vector<Kept> may_be;
      if (const absl::Status status = (*store)->Commit(step.batch); status.ok()) {
        confirmed = behind;
      } else {
        may_be = {confirmed, behind};
      }
      if (i % 4 == 3 && may_be.empty()) {
        Kept cut = confirmed;
        cut.begin = std::min(cut.begin + 5, std::max(cut.begin, cut.end - std::min<uint64_t>(cut.end, 3)));
        if (PruneTrail(**store, 3, kAny, 5).ok()) {
          confirmed = cut;
        } else {
          may_be = {confirmed, cut};
        }
      }
      if (may_be.empty()) continue;
      // Another one, with fewer entries, once the disk works again.
      env.Heal();
      const Step other = Step::Nth(i + 3, 1);
      const absl::Status status = (*store)->Commit(other.batch);
      REQUIRE_MESSAGE(status.ok(), status.ToString());
      for (Kept& kept : may_be) kept = other.Behind(kept);
      const Kept kept = KeptIn(**store);
      REQUIRE((kept == may_be[0] || kept == may_be[1]));
      confirmed = kept;
      CHECK(PruneTrail(**store, 3, kAny, 2).ok());
      confirmed.begin = KeptIn(**store).begin;
      CheckWhole(**store);
    }
  }
  const bool failed = env.failed();
  env.Heal();
  if (power_cut) env.CutPower();
  auto store = OpenOver(env, 64 << 10);
  REQUIRE_MESSAGE(store.ok(), store.status().ToString());
  CHECK(KeptIn(**store) == confirmed);
  CheckWhole(**store);
  const Step more = Step::Nth(kSteps, 2);
  REQUIRE((*store)->Commit(more.batch).ok());
  CHECK(KeptIn(**store) == more.Behind(confirmed));
  CheckWhole(**store);
  return !failed;
}

TEST_CASE("records, their order and the trail stay whole whatever operation of the disk fails") {
  for (const auto then : {FailingEnv::Then::kWorksAgain, FailingEnv::Then::kStaysBroken}) {
    for (const bool power_cut : {false, true}) {
      size_t n = 0;
      while (!Play(n, then, power_cut)) ++n;
      CHECK(n > 60);
    }
  }
}

// Takes a commit whole and says that it failed, as a disk may whose answer was lost; and answers until the
// next one as if nothing of it were there.
class LateEngine final : public Engine {
 public:
  bool late = false;

  absl::Status Get(std::string_view key, std::string& value) const override {
    return memory_->Get(key, value);
  }
  std::unique_ptr<Cursor> Scan(std::string_view from) const override { return memory_->Scan(from); }
  absl::Status Commit(const Writes& writes, Sync sync) override {
    if (late) {
      late = false;
      held_.Append(writes);
      return absl::UnavailableError("no answer");
    }
    Writes all = held_;
    held_.Clear();
    all.Append(writes);
    return memory_->Commit(all, sync);
  }
  uint64_t Bytes(std::string_view from, std::string_view to) const override {
    return memory_->Bytes(from, to);
  }
  absl::Status Compact() override { return memory_->Compact(); }

 private:
  std::unique_ptr<Engine> memory_ = NewMemoryEngine();
  Writes held_;
};

TEST_CASE("what comes back of a commit that failed is gone on from, not written over") {
  auto made = std::make_unique<LateEngine>();
  LateEngine& engine = *made;
  const MemoryStore store(std::move(made));
  Kept kept;
  for (size_t i = 0; i < 20; ++i) {
    const Step step = Step::Nth(i, 3);
    engine.late = i % 2 == 1;
    CHECK(store->Commit(step.batch).ok() == (i % 2 == 0));
    kept = step.Behind(kept);
    if (i % 2 == 1) continue;
    CHECK(KeptIn(*store) == kept);
    CheckWhole(*store);
    engine.late = i % 4 == 2;
    const bool late = engine.late;
    CHECK(PruneTrail(*store, 2, std::numeric_limits<int64_t>::max(), 7).ok() != late);
    // Another piece, of what the one before may have taken.
    CHECK(PruneTrail(*store, 2, std::numeric_limits<int64_t>::max(), 2).ok());
    kept.begin = KeptIn(*store).begin;
    CheckWhole(*store);
  }
}

TEST_CASE("a channel whose deletion comes back takes nothing any more") {
  auto made = std::make_unique<LateEngine>();
  LateEngine& engine = *made;
  const MemoryStore store(std::move(made));
  Keep(*store, TextMessage(kChannelA, NthId(1), "one"));
  engine.late = true;
  CHECK(!store->DeleteChannel(kChannelA, 10).ok());
  Batch batch;
  REQUIRE(batch.Put(TextMessage(kChannelA, NthId(2), "two")).ok());
  // What would be confirmed and then be behind the mark of its channel's end would be lost.
  CHECK(store->Commit(batch).code() == absl::StatusCode::kFailedPrecondition);
  CHECK(store->HalfDeleted() == std::vector<std::string>{kChannelA});
  CHECK(*store->DeleteChannel(kChannelA, 10));
}

}  // namespace
}  // namespace watchbill::history
