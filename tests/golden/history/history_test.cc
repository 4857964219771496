// A database that was made when its format was new can be read for ever, and so can its records.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "temp_folder.hpp"
#include "watchbill/history/ledger.hpp"
#include "watchbill/history/search.hpp"
#include "watchbill/history/store.hpp"
#include "watchbill/history/trail.hpp"

namespace watchbill::history {
namespace {

const std::string kFolder = std::string(WATCHBILL_GOLDEN_DIR) + "/history/";

std::vector<std::string> Lines(const std::string& name) {
  std::ifstream in(kFolder + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  REQUIRE(lines.size() >= 5);
  return lines;
}

std::string Written(const Message& message) {
  std::string out;
  JsonWriter w(out);
  Write(w, message);
  return out;
}

constexpr const char* kChannel = "01ARYZ6S41TSV4RRFFQ69G5FAV";
constexpr const char* kDirect = "01ARYZ6S41TSV4RRFFQ69G5FAW";

// What both have.
void CheckConversations(const Store& store, const std::vector<std::string>& lines, size_t more) {
  const auto page = store.Last(kChannel, 100);
  REQUIRE(page.ok());
  CHECK(page->unreadable == 0);
  CHECK(!page->more);
  REQUIRE(page->messages.size() == lines.size() + more);
  for (size_t i = 0; i < lines.size(); ++i) CHECK(Written(page->messages[i]) == lines[i]);
  CHECK(*store.Channels() == std::vector<Channel>{{kChannel, "ops", "what goes on", "", {"codex", "claude"}},
                                                  {kDirect, "", "", "codex", {"codex"}}});
  CHECK(
      *store.Members(kChannel) ==
      std::vector<Member>{{"claude", "session-2", ""}, {"codex", "session-1", "01BX5ZZKBKACTAV9WEVGE00003"}});
  CHECK(store.Commands("codex")->text() == R"([{"name":"plan","description":"Plan it","hint":""}])");
  CHECK(store.unreadable() == 0);
}

void KeepOneMore(Store& store) {
  Message more;
  more.id = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ";
  more.channel = kChannel;
  more.parts.push_back(TextPart{"a newcomer"});
  Batch batch;
  REQUIRE(batch.Put(more).ok());
  REQUIRE(store.Commit(batch).ok());
}

size_t Hits(const Store& store, const char* text) {
  const auto page = Search(store).Find({.text = text, .channel = {}, .limit = 20, .after = {}});
  REQUIRE_MESSAGE(page.ok(), page.status().ToString());
  CHECK(page->unreadable == 0);
  return page->hits.size();
}

TEST_CASE("a message's JSON of each version is read and written again as it is") {
  for (const char* name : {"v1.ndjson", "v2.ndjson"}) {
    for (const std::string& line : Lines(name)) {
      const auto message = ReadMessage(line);
      REQUIRE_MESSAGE(message.ok(), message.status().ToString());
      CHECK(Written(*message) == line);
    }
  }
}

TEST_CASE("a database of version 1 has all that was kept in it, and takes more") {
  const TempFolder folder;
  const std::string path = folder.path + "/db";
  // LevelDB writes where it opens.
  std::filesystem::copy(kFolder + "v1", path);
  const std::vector<std::string> lines = Lines("v1.ndjson");
  for (size_t opening = 0; opening < 2; ++opening) {
    const auto store = Store::Open(path);
    REQUIRE_MESSAGE(store.ok(), store.status().ToString());
    CheckConversations(**store, lines, opening);
    KeepOneMore(**store);
  }
  // It had no index. It gets one.
  const auto store = Store::Open(path);
  REQUIRE(store.ok());
  Index index(**store);
  for (;;) {
    const auto step = index.Step();
    REQUIRE(step.ok());
    if (step->done) break;
  }
  CHECK(Hits(**store, "later ") == 1);
  CHECK(Hits(**store, "newcomer ") == 1);
}

TEST_CASE("a database of version 2 has its ledger, its trail, its index and what was deleted as well") {
  const TempFolder folder;
  const std::string path = folder.path + "/db";
  std::filesystem::copy(kFolder + "v2", path);
  const std::vector<std::string> lines = Lines("v2.ndjson");
  for (size_t opening = 0; opening < 2; ++opening) {
    const auto opened = Store::Open(path);
    REQUIRE_MESSAGE(opened.ok(), opened.status().ToString());
    Store& store = **opened;
    CheckConversations(store, lines, opening);
    // One of them is in the index, the other among what it has not got yet.
    CHECK(Hits(store, "txt ") >= 1);
    CHECK(Hits(store, "later ") == 1);
    CHECK(Hits(store, "newcomer ") == opening);

    const Ledger ledger(store);
    const auto policies = ledger.InOrder(Collection::kPolicies, {}, 10);
    REQUIRE(policies.ok());
    CHECK(policies->unreadable == 0);
    REQUIRE(policies->records.size() == 5);
    CHECK(policies->records[0].key == "policy 6");
    CHECK(policies->records[4].order == NewestFirst(1));
    CHECK(policies->records[4].value.text() == R"({"id":1,"limit":10.50})");
    const auto outcome = ledger.Get(Collection::kOutcomes, OutcomeKey("codex", "r1"));
    REQUIRE((outcome.ok() && outcome->has_value()));
    const auto run = ReadRunOutcome((*outcome)->value.text());
    REQUIRE(run.ok());
    CHECK(run->started_ms == -5);
    CHECK(run->ok == true);
    CHECK(run->answered == std::nullopt);
    CHECK(run->tokens == 812);
    CHECK(run->cost == Amount{12'500'000'001});
    auto window = GetWindow(ledger, "team", 1'790'000'000'000, "codex");
    REQUIRE((window.ok() && window->has_value()));
    CHECK((*window)->tokens == 600);
    CHECK((*window)->cost == Amount{300});
    CHECK((*window)->counted.total() == 300);
    CHECK(!(*window)->Count("e299", 2, std::nullopt));
    CHECK((*window)->Count("e300", 2, std::nullopt));

    const auto trail = Trail(store).Verify();
    REQUIRE(trail.ok());
    CHECK(!trail->fault);
    CHECK(trail->first == 3);
    CHECK(trail->end.number == 6);
    CHECK(trail->end.hash == "d3d43ead9c7f4a2d0af4a3a2c4e8b9d140879128140a75e6a498141728730084");
    const auto entries = Trail(store).Page({.filter = {.about = "policy 5"}});
    REQUIRE(entries.ok());
    REQUIRE(entries->entries.size() == 1);
    CHECK(entries->entries[0].detail.text() == R"({"id":5,"limit":50.50})");

    // A channel that was deleted stays so.
    Batch late;
    Message message;
    message.id = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ";
    message.channel = "01ARYZ6S41TSV4RRFFQ69G5FAX";
    REQUIRE(late.Put(message).ok());
    CHECK(!store.Commit(late).ok());
    KeepOneMore(store);
  }
}

}  // namespace
}  // namespace watchbill::history
