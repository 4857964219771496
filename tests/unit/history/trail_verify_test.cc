#include <algorithm>
#include <limits>
#include <set>

#include "damaged_engine.hpp"
#include "ledger_fixture.hpp"
#include "temp_folder.hpp"
#include "trail_head.hpp"
#include "watchbill/history/retention.hpp"

namespace watchbill::history {
namespace {

using Kind = TrailFault::Kind;

// What Verify says about a trail with some of its keys otherwise; then it is as it was.
struct Tampering {
  MemoryStore& store;
  std::map<std::string, std::string> before = Everything(*store.engine);

  template <typename Change>
  TrailFault Fault(const Change& change) const {
    change();
    const TrailReport report = Verified(*store);
    Writes back;
    for (const auto& [key, value] : Everything(*store.engine)) back.Delete(key);
    for (const auto& [key, value] : before) back.Put(key, value);
    REQUIRE(store.engine->Commit(back, Sync::kNow).ok());
    REQUIRE(report.fault.has_value());
    return *report.fault;
  }
};

TEST_CASE("a trail that is as it was written holds, from its beginning to its end, over openings") {
  const TempFolder folder;
  TrailEnd kept;
  for (int opening = 0; opening < 3; ++opening) {
    const auto store = MustOpen(folder.path);
    const TrailReport report =
        Verified(*store, {.kept = kept.hash.empty() ? std::optional<TrailEnd>() : kept});
    CHECK(!report.fault);
    CHECK(report.end == *Trail(*store).End());
    CHECK(report.entries == 7 * static_cast<uint64_t>(opening));
    CHECK(report.first == 1);
    CHECK(report.kept_is_there == (opening == 0 ? std::nullopt : std::optional(true)));
    Append(*store, 3);
    Append(*store, 4);
    kept = *Trail(*store).End();
    CHECK(kept.number == 7 * static_cast<uint64_t>(opening + 1));
    CHECK(kept.hash.size() == 64);
    CHECK(!Verified(*store, {.kept = kept}).fault);
  }
}

TEST_CASE("each single wrong bit of an entry and of what says where the trail begins and ends is found") {
  MemoryStore store;
  Append(*store, 8);
  REQUIRE(*PruneTrail(*store, 4, std::numeric_limits<int64_t>::max(), 100));
  CHECK(!Verified(*store).fault);
  const Tampering tampering{store};
  size_t found = 0;
  for (const auto& [key, value] : tampering.before) {
    if (!key.starts_with("L") && key != "H" && key != "G") continue;
    for (size_t bit = 0; bit < value.size() * 8; ++bit) {
      CAPTURE(key);
      CAPTURE(bit);
      std::string wrong = value;
      wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ 1 << bit % 8);
      const TrailFault fault = tampering.Fault([&] { PutRaw(*store.engine, key, wrong); });
      if (const auto number = NumberOfTrailKey(key)) {
        CHECK(fault.first == *number);
        CHECK((fault.kind == Kind::kChanged || fault.kind == Kind::kUnreadable));
      }
      ++found;
    }
    // Cut at any byte as well.
    for (size_t size = 0; size < value.size(); ++size)
      tampering.Fault([&] { PutRaw(*store.engine, key, value.substr(0, size)); });
  }
  CHECK(found > 6 * 40 * 8);
  CHECK(!Verified(*store).fault);
}

TEST_CASE("entries that are missing are found and named, wherever they stood") {
  MemoryStore store;
  Append(*store, 12);
  REQUIRE(*PruneTrail(*store, 10, std::numeric_limits<int64_t>::max(), 100));
  const Tampering tampering{store};
  for (uint64_t first = 3; first <= 12; ++first) {
    for (uint64_t last = first; last <= 12; ++last) {
      CAPTURE(first);
      CAPTURE(last);
      const TrailFault fault = tampering.Fault([&] {
        for (uint64_t number = first; number <= last; ++number) DeleteRaw(*store.engine, TrailKey(number));
      });
      CHECK(fault.first == first);
      CHECK(fault.last == last);
      CHECK(fault.kind == (last == 12 ? Kind::kEndMissing : Kind::kMissing));
      if (last == 12) {
        CHECK(fault.says == fmt::format("the end of the trail is missing: 12 entries were confirmed, {} are "
                                        "there",
                                        first - 1));
      } else if (first == last) {
        CHECK(fault.says == fmt::format("entry {} is missing", first));
      } else {
        CHECK(fault.says == fmt::format("entries {} to {} are missing", first, last));
      }
    }
  }
  // Of several holes the first is told.
  const TrailFault fault = tampering.Fault([&] {
    for (const uint64_t number : {5, 8, 12}) DeleteRaw(*store.engine, TrailKey(number));
  });
  CHECK(fault.says == "entry 5 is missing");
}

TEST_CASE("entries that have changed places are found, and so are those that stand twice") {
  MemoryStore store;
  Append(*store, 9);
  const Tampering tampering{store};
  const auto at = [&](uint64_t number) { return tampering.before.at(TrailKey(number)); };
  for (uint64_t a = 1; a <= 9; ++a) {
    for (uint64_t b = a + 1; b <= 9; ++b) {
      CAPTURE(a);
      CAPTURE(b);
      const TrailFault fault = tampering.Fault([&] {
        PutRaw(*store.engine, TrailKey(a), at(b));
        PutRaw(*store.engine, TrailKey(b), at(a));
      });
      CHECK(fault.kind == Kind::kMoved);
      CHECK(fault.says == fmt::format("entry {} stands in the place of entry {}", b, a));
      CHECK(tampering.Fault([&] { PutRaw(*store.engine, TrailKey(a), at(b)); }).first == a);
      CHECK(tampering.Fault([&] { PutRaw(*store.engine, TrailKey(b), at(a)); }).first == b);
    }
  }
  const TrailFault fault = tampering.Fault([&] {
    for (uint64_t number = 3; number < 7; ++number) PutRaw(*store.engine, TrailKey(number), at(number + 1));
    PutRaw(*store.engine, TrailKey(7), at(3));
  });
  CHECK(fault.says == "entry 4 stands in the place of entry 3");
}

TEST_CASE("what was written anew, added and taken away at the ends is found") {
  MemoryStore store;
  Append(*store, 8);
  REQUIRE(*PruneTrail(*store, 5, std::numeric_limits<int64_t>::max(), 100));
  const Tampering tampering{store};
  const auto head = [&](const char* key) { return *ParseTrailHead(tampering.before.at(key)); };
  // An entry with a hash that fits what is before it.
  TrailHead made{4, ParseEntry(tampering.before.at(TrailKey(4)))->hash};
  Writes anew;
  AppendEntry("{}", made, anew);
  TrailFault fault = tampering.Fault([&] { REQUIRE(store.engine->Commit(anew, Sync::kNow).ok()); });
  CHECK(fault.says == "entry 6 was changed, or entry 5 with its hash");
  // The last of all, and one more.
  made = {7, ParseEntry(tampering.before.at(TrailKey(7)))->hash};
  Writes last;
  AppendEntry("{}", made, last);
  fault = tampering.Fault([&] { REQUIRE(store.engine->Commit(last, Sync::kNow).ok()); });
  CHECK(fault.kind == Kind::kEnd);
  CHECK(fault.first == 8);
  made = head("H");
  Writes more;
  AppendEntry("{}", made, more);
  AppendEntry("{}", made, more);
  fault = tampering.Fault([&] { REQUIRE(store.engine->Commit(more, Sync::kNow).ok()); });
  CHECK(fault.says == "entries 9 to 10 stand behind the end that was confirmed");
  CHECK(tampering.Fault([&] { DeleteRaw(*store.engine, "H"); }).kind == Kind::kEnd);
  CHECK(tampering.Fault([&] { DeleteRaw(*store.engine, "G"); }).says == "entries 1 to 3 are missing");
  CHECK(tampering.Fault([&] { PutRaw(*store.engine, "Lx", ""); }).kind == Kind::kForeign);
  CHECK(tampering.Fault([&] { PutRaw(*store.engine, TrailKey(0), ""); }).kind == Kind::kForeign);
  CHECK(tampering.Fault([&] { PutRaw(*store.engine, TrailKey(2), tampering.before.at(TrailKey(4))); }).kind ==
        Kind::kBegin);
  // All of it at once.
  fault = tampering.Fault([&] {
    for (uint64_t number = 4; number <= 8; ++number) DeleteRaw(*store.engine, TrailKey(number));
  });
  CHECK(fault.says == "the end of the trail is missing: 8 entries were confirmed, 3 are there");
  fault = tampering.Fault([&] {
    for (uint64_t number = 4; number <= 8; ++number) DeleteRaw(*store.engine, TrailKey(number));
    DeleteRaw(*store.engine, "H");
  });
  CHECK(fault.kind == Kind::kEnd);
}

TEST_CASE("a trail that was written anew, or cut with its end, is found by an end that was kept elsewhere") {
  MemoryStore store;
  Append(*store, 6);
  const TrailEnd kept = *Trail(*store).End();
  Append(*store, 4);
  CHECK(*Verified(*store, {.kept = kept}).kept_is_there);
  CHECK(*Verified(*store, {.kept = Trail(*store).End().value()}).kept_is_there);

  // Another trail of as many entries holds in itself.
  const MemoryStore other;
  Append(*other, 6);
  Append(*other, 4);
  CHECK(!Verified(*other, {.kept = kept}).fault);
  const MemoryStore another;
  Append(*another, 10, 2);
  TrailReport report = Verified(*another, {.kept = kept});
  CHECK(report.kept_is_there == false);
  CHECK(report.fault->kind == Kind::kOther);
  CHECK(report.fault->says == "entry 6 is not the one whose hash was kept: the trail is another one");
  CHECK(!Verified(*another).fault);

  // Cut, with an end that fits.
  const MemoryStore shorter;
  Append(*shorter, 5);
  report = Verified(*shorter, {.kept = kept});
  CHECK(report.kept_is_there == false);
  CHECK(report.fault->kind == Kind::kOther);
  CHECK(Says(absl::DataLossError(report.fault->says),
             "ends with entry 5, and the end that was kept is that of "
             "entry 6"));
  const MemoryStore empty;
  CHECK(Verified(*empty, {.kept = kept}).fault->kind == Kind::kOther);
  CHECK(*Verified(*empty, {.kept = Trail(*empty).End().value()}).kept_is_there);

  // What was taken off in good order says nothing about it any more.
  REQUIRE(*PruneTrail(*store, 4, std::numeric_limits<int64_t>::max(), 100));
  CHECK(*Verified(*store, {.kept = kept}).kept_is_there);
  TrailEnd wrong = kept;
  wrong.hash[5] = wrong.hash[5] == '0' ? '1' : '0';
  CHECK(Verified(*store, {.kept = wrong}).kept_is_there == false);
  CHECK(Verified(*store, {.kept = wrong}).fault->kind == Kind::kOther);
  REQUIRE(*PruneTrail(*store, 3, std::numeric_limits<int64_t>::max(), 100));
  report = Verified(*store, {.kept = kept});
  CHECK(!report.kept_is_there.has_value());
  CHECK(!report.fault);

  for (const std::string& hash :
       {std::string(), std::string(63, '0'), std::string(65, '0'), std::string(64, 'g'),
        "+" + std::string(63, '0'), "-1" + std::string(62, '0')}) {
    CHECK(Trail(*store).Verify({.kept = TrailEnd{1, hash}}).status().code() ==
          absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("damaged blocks are told from entries that are missing") {
  auto made = std::make_unique<DamagedEngine>();
  DamagedEngine& engine = *made;
  const MemoryStore store(std::move(made));
  Append(*store, 9);
  REQUIRE(*PruneTrail(*store, 7, std::numeric_limits<int64_t>::max(), 100));
  const auto says = [&](std::set<std::string, std::less<>> damaged) {
    engine.damaged = std::move(damaged);
    const TrailReport report = Verified(*store);
    REQUIRE(report.fault.has_value());
    return report.fault->says;
  };
  CHECK(says({TrailKey(5), TrailKey(6)}) == "entries 5 to 6 cannot be read: they are damaged");
  CHECK(says({TrailKey(9)}) == "entry 9 cannot be read: it is damaged");
  CHECK(says({TrailKey(3)}) == "entry 3 cannot be read: it is damaged");
  CHECK(says({"H"}) == "what says where the trail ends cannot be read");
  CHECK(says({"G"}) == "what says where the trail begins cannot be read");
  engine.damaged = {TrailKey(5)};
  CHECK(Numbers(Trail(*store).Page({})) == N{9, 8, 7, 6, 4, 3});
  CHECK(Trail(*store).Page({})->unreadable == 1);
}

TEST_CASE("a verification says how far it is, and stops where it is told to") {
  const MemoryStore store;
  Append(*store, 1'000);
  std::vector<uint64_t> done;
  const auto report = Trail(*store).Verify({.progress = [&](uint64_t so_far, uint64_t of) {
    CHECK(of == 1'000);
    done.push_back(so_far);
    return true;
  }});
  CHECK(report->entries == 1'000);
  REQUIRE(done.size() > 3);
  CHECK(std::is_sorted(done.begin(), done.end()));
  CHECK(done.front() == 0);
  CHECK(done.back() == 1'000);
  const auto stopped =
      Trail(*store).Verify({.progress = [](uint64_t so_far, uint64_t) { return so_far < 500; }});
  CHECK(stopped.status().code() == absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace watchbill::history
