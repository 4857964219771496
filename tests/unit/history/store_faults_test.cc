// The disk fails at one operation after the other, with and without a power cut behind it.
#include "failing_env.hpp"
#include "history_fixture.hpp"
#include "level_db.hpp"

namespace watchbill::history {
namespace {

using Then = FailingEnv::Then;

// The least that LevelDB takes, so that a few messages fill it and tables are written as well.
constexpr size_t kSmallBuffer = 64 << 10;
constexpr size_t kMessages = 60;

absl::StatusOr<std::unique_ptr<Store>> OpenIn(FailingEnv& env) { return OpenOver(env, kSmallBuffer); }

Message Nth(size_t n) {
  return TextMessage(kChannelA, NthId(n), fmt::format("{} {}", n, std::string(4'000, 'x')));
}

// True once nothing failed any more.
bool Play(size_t n, Then then, bool power_cut) {
  CAPTURE(n);
  FailingEnv env;
  env.FailAfter(n, then);
  size_t confirmed = 0;
  bool refused = false;
  {
    auto store = OpenIn(env);
    if (!store.ok()) {
      CHECK(Says(store.status(), "/db"));
    } else {
      while (confirmed < kMessages && !refused) {
        Batch batch;
        REQUIRE(batch.Put(Nth(confirmed)).ok());
        REQUIRE(batch.Put(kChannelA, {"codex", "", NthId(confirmed)}).ok());
        const absl::Status status = (*store)->Commit(batch);
        refused = !status.ok();
        if (!refused) ++confirmed;
        if (refused) {
          CHECK(status.code() == absl::StatusCode::kUnavailable);
          CHECK(Says(status, "/db"));
          env.Heal();
          // Once the disk works, so does this.
          const absl::Status again = (*store)->Commit(batch);
          REQUIRE_MESSAGE(again.ok(), again.ToString());
          ++confirmed;
          const auto page = (*store)->Last(kChannelA, kMessages);
          REQUIRE(page.ok());
          CHECK(page->messages.size() == confirmed);
        }
      }
    }
  }
  const bool failed = env.failed();
  env.Heal();
  if (power_cut) env.CutPower();

  auto store = OpenIn(env);
  REQUIRE_MESSAGE(store.ok(), store.status().ToString());
  const auto page = (*store)->Last(kChannelA, kMessages);
  REQUIRE(page.ok());
  CHECK(page->unreadable == 0);
  // The one that failed may be there whole: it was in the log, and not known to be.
  REQUIRE(page->messages.size() >= confirmed);
  REQUIRE(page->messages.size() <= confirmed + (refused ? 1 : 0));
  for (size_t i = 0; i < page->messages.size(); ++i) REQUIRE(page->messages[i] == Nth(i));
  const auto members = (*store)->Members(kChannelA);
  REQUIRE(members.ok());
  REQUIRE(members->size() == (page->messages.empty() ? 0 : 1));
  if (!members->empty()) CHECK((*members)[0].last_seen == page->messages.back().id);
  Batch more;
  REQUIRE(more.Put(Nth(kMessages)).ok());
  CHECK((*store)->Commit(more).ok());
  return !failed;
}

void PlayAll(Then then, bool power_cut) {
  size_t n = 0;
  while (!Play(n, then, power_cut)) ++n;
  // An opening, sixty appends of several operations each, and some tables.
  CHECK(n > 200);
}

TEST_CASE("nothing confirmed is lost when one operation of the disk fails") {
  PlayAll(Then::kWorksAgain, false);
}
TEST_CASE("nothing confirmed is lost when the disk fails from then on") {
  PlayAll(Then::kStaysBroken, false);
}
TEST_CASE("nothing confirmed is lost when the power fails behind a failure of the disk") {
  PlayAll(Then::kWorksAgain, true);
  PlayAll(Then::kStaysBroken, true);
}

}  // namespace
}  // namespace watchbill::history
