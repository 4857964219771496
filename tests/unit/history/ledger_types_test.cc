#include <cmath>
#include <limits>

#include "ledger_fixture.hpp"

namespace watchbill::history {
namespace {

template <typename T>
std::string Written(const T& record) {
  std::string text;
  JsonWriter w(text);
  Write(w, record);
  return text;
}

TEST_CASE("money is counted in billionths, and no digit is lost") {
  const auto text = [](const char* from) { return Amount::Parse(from)->Text(); };
  CHECK(text("0") == "0");
  CHECK(text("-0") == "0");
  CHECK(text("12.5") == "12.5");
  CHECK(text("007.10") == "7.1");
  CHECK(text("0.000000001") == "0.000000001");
  CHECK(text("-0.000000001") == "-0.000000001");
  CHECK(text("1.1234567890000") == "1.123456789");
  CHECK(text("9223372036.854775807") == "9223372036.854775807");
  CHECK(text("-9223372036.854775808") == "-9223372036.854775808");
  for (const char* none :
       {"", "-", ".5", "5.", "1,5", "+1", "1e3", " 1", "1.0000000001", "9223372036.854775808",
        "-9223372036.854775809", "99999999999999999999", "0x1", "--1", "1.-5", "nan"})
    CHECK_MESSAGE(!Amount::Parse(none), none);
  CHECK(Amount::Of(0.0021) == Amount::Parse("0.0021"));
  CHECK(Amount::Of(-12.5) == Amount::Parse("-12.5"));
  CHECK(Amount::Of(0.1 + 0.2) == Amount::Parse("0.3"));
  CHECK(!Amount::Of(std::nan("")));
  CHECK(!Amount::Of(std::numeric_limits<double>::infinity()));
  CHECK(!Amount::Of(1e10));
  CHECK(!Amount::Of(-1e300));
  Amount sum;
  for (int i = 0; i < 10; ++i) sum += *Amount::Of(0.1);
  CHECK(sum.Text() == "1");
  sum = {std::numeric_limits<int64_t>::max()};
  sum += Amount{1};
  CHECK(sum.billionths == std::numeric_limits<int64_t>::max());
  sum = {std::numeric_limits<int64_t>::min()};
  sum += Amount{-1};
  CHECK(sum.billionths == std::numeric_limits<int64_t>::min());
}

TEST_CASE("how a run ended is read as it was written, and three answers stay three") {
  RunOutcome outcome;
  outcome.agent = "a\"b";
  outcome.run = "r1";
  outcome.ended_ms = -5;
  outcome.outcome = "waiting: question";
  const auto again = [&] {
    const auto read = ReadRunOutcome(Written(outcome));
    REQUIRE(read.ok());
    return *read;
  };
  CHECK(again() == outcome);
  CHECK(!again().answered.has_value());
  for (const bool yes : {false, true}) {
    outcome.answered = outcome.ok = yes;
    CHECK(again() == outcome);
  }
  outcome.started_ms = 0;
  outcome.tokens = 0;
  outcome.cost = Amount();
  CHECK(again() == outcome);
  CHECK(Written(outcome) ==
        R"({"agent":"a\"b","run":"r1","startedMs":0,"endedMs":-5,"outcome":"waiting: question","ok":true,)"
        R"("answered":true,"failure":"","tokens":0,"cost":"0"})");

  CHECK(*ReadRunOutcome("{}") == RunOutcome());
  const auto odd = ReadRunOutcome(
      R"({"agent":7,"run":null,"ok":"yes","answered":null,"endedMs":"x","cost":0.25,"more":{"x":[1]}})");
  RunOutcome expected;
  expected.cost = Amount::Parse("0.25");
  CHECK(*odd == expected);
  CHECK(ReadRunOutcome(R"({"cost":25e-2})")->cost == expected.cost);
  CHECK(!ReadRunOutcome(R"({"cost":1e99})")->cost.has_value());
  for (const char* none : {"", "[]", "1", "{", "null"})
    CHECK(ReadRunOutcome(none).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("outcomes are newest first, and one agent's are found by its name") {
  const MemoryStore store;
  Batch batch;
  const auto put = [&](const char* agent, const char* run, int64_t ended) {
    RunOutcome outcome;
    outcome.agent = agent;
    outcome.run = run;
    outcome.ended_ms = ended;
    REQUIRE(Put(batch, outcome).ok());
  };
  put("a", "r2", 300);
  put("a", "r1", -100);
  put("ab", "r1", 200);
  put("a", "r1", 100);  // again
  MustCommit(*store, batch);
  const auto runs = [](const absl::StatusOr<RecordPage>& page) {
    REQUIRE(page.ok());
    Names names;
    for (const Record& record : page->records) {
      const auto outcome = ReadRunOutcome(record.value.text());
      REQUIRE(outcome.ok());
      names.push_back(outcome->agent + " " + outcome->run);
    }
    return names;
  };
  const Ledger ledger(*store);
  CHECK(runs(ledger.InOrder(Collection::kOutcomes, {}, 10)) == Names{"a r2", "ab r1", "a r1"});
  CHECK(runs(ledger.InOrder(Collection::kOutcomes, {.from = NewestFirst(200)}, 10)) ==
        Names{"ab r1", "a r1"});
  CHECK(runs(ledger.ByKey(Collection::kOutcomes, {.prefix = Then("a")}, 10)) == Names{"a r1", "a r2"});
  RunOutcome nameless;
  nameless.run = std::string(kMaxKeyBytes, 'r');
  CHECK(Put(batch, nameless).code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("an entry is counted once, also after its window was kept and read again") {
  const MemoryStore store;
  SpendingWindow window;
  window.scope = "agent-1";
  window.source = "journal";
  window.start_ms = -3'600'000;
  window.length_ms = 86'400'000;
  CHECK(window.Count("1", 100, Amount::Parse("0.1")));
  CHECK(!window.Count("1", 100, Amount::Parse("0.1")));
  CHECK(window.Count("2", 50, std::nullopt));
  CHECK(window.Count("3", std::nullopt, Amount()));
  CHECK(window.tokens == 150);
  CHECK(window.cost.Text() == "0.1");
  CHECK(window.with_cost == 2);
  CHECK(window.counted.total() == 3);
  Batch batch;
  REQUIRE(Put(batch, window).ok());
  MustCommit(*store, batch);
  const Ledger ledger(*store);
  auto read = GetWindow(ledger, "agent-1", window.start_ms, "journal");
  REQUIRE(read.ok());
  REQUIRE(read->has_value());
  CHECK(**read == window);
  CHECK(!(*read)->Count("2", 50, std::nullopt));
  CHECK((*read)->Count("4", 1, std::nullopt));
  CHECK(!GetWindow(ledger, "agent-1", 0, "journal")->has_value());
  CHECK(!GetWindow(ledger, "agent-1", window.start_ms, "")->has_value());
  CHECK(ledger.ByKey(Collection::kWindows, {.prefix = WindowKey("agent-1", window.start_ms, "")}, 9)
            ->records.size() == 1);
  CHECK(ledger.InOrder(Collection::kWindows, {.prefix = NewestFirst(window.start_ms)}, 9)->records.size() ==
        1);
  window.tokens = std::numeric_limits<int64_t>::max() - 1;
  CHECK(window.Count("5", 7, std::nullopt));
  CHECK(window.tokens == std::numeric_limits<int64_t>::max());
  CHECK(ReadSpendingWindow("[]").status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(*ReadSpendingWindow("{}") == SpendingWindow());
  CHECK(ReadSpendingWindow(R"({"tokens":5,"counted":18446744073709551615,"more":1})")->tokens == 5);
}

TEST_CASE("the ids that a window has counted are bounded, and kept in pieces of which few are written") {
  const MemoryStore store;
  SpendingWindow window, neighbour;
  window.scope = neighbour.scope = "s";
  window.source = "a";
  neighbour.source = "ab";
  neighbour.Count("n", 1, std::nullopt);
  Batch first;
  REQUIRE(Put(first, neighbour).ok());
  MustCommit(*store, first);
  uint64_t kept = 0;
  constexpr uint64_t kMost = CountedEntries::kMost, kPiece = CountedEntries::kPiece;
  for (uint64_t n = 0; n < 3 * kMost; ++n) {
    REQUIRE(window.Count(fmt::format("entry {}", n), 1, std::nullopt));
    if (n % 100 != 0) continue;
    Batch batch;
    REQUIRE(Put(batch, window, kept).ok());
    CHECK(batch.bytes() < 3 * 5'000);
    MustCommit(*store, batch);
    kept = window.counted.total();
  }
  const auto last = [&](uint64_t back) { return fmt::format("entry {}", 3 * kMost - 1 - back); };
  for (const uint64_t back : {uint64_t{0}, kPiece, kMost - kPiece - 1}) CHECK(window.counted.Has(last(back)));
  CHECK(!window.counted.Has(last(kMost)));
  Batch batch;
  REQUIRE(Put(batch, window, kept).ok());
  MustCommit(*store, batch);
  const Ledger ledger(*store);
  CHECK(**GetWindow(ledger, "s", 0, "a") == window);
  CHECK(**GetWindow(ledger, "s", 0, "ab") == neighbour);
  // Those that were pushed out are gone, and what is kept at once is the same.
  const auto pieces = ledger.ByKey(Collection::kCountedEntries, {}, 1000);
  CHECK(pieces->records.size() == kMost / kPiece + 1);
  const MemoryStore other;
  Batch whole;
  REQUIRE(Put(whole, window).ok());
  MustCommit(*other, whole);
  CHECK(**GetWindow(Ledger(*other), "s", 0, "a") == window);
  // A piece that is lost takes its own ids with it.
  Batch lost;
  REQUIRE(lost.Delete(Collection::kCountedEntries, pieces->records[3].key).ok());
  REQUIRE(lost.Put(Collection::kCountedEntries, pieces->records[5].key, "", JsonView::Trusted("[7]")).ok());
  MustCommit(*store, lost);
  auto read = *GetWindow(ledger, "s", 0, "a");
  REQUIRE(read.has_value());
  size_t known = 0;
  for (uint64_t n = 0; n < 3 * kMost; ++n) known += read->counted.Has(fmt::format("entry {}", n));
  CHECK(known == kMost - 2 * kPiece);
  CHECK(read->counted.total() == window.counted.total());
}

}  // namespace
}  // namespace watchbill::history
