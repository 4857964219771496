// An index and a search in it, over whole stores.
#include "watchbill/history/search.hpp"

#include <algorithm>
#include <memory>
#include <thread>

#include "failing_env.hpp"
#include "keys.hpp"
#include "search_fixture.hpp"
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

Message At(size_t n, const std::string& text, const std::string& channel = kChannelA) {
  Message message = TextMessage(channel, NthId(n), text);
  message.created_ms += static_cast<int64_t>(n) * 1000;
  return message;
}

// Messages 0 to before `count` say "all", every third "third", and its own number.
void Fill(Store& store, size_t count) {
  Batch batch;
  for (size_t n = 0; n < count; ++n) {
    const std::string text = fmt::format("all of them: w{} {}", n, n % 3 == 0 ? "third" : "other");
    REQUIRE(batch.Put(At(n, text, n % 2 == 0 ? kChannelA : kChannelB)).ok());
  }
  REQUIRE(store.Commit(batch).ok());
}

Strings Numbers(size_t count, size_t each) {
  Strings ids;
  for (size_t n = 0; n < count; n += each) ids.push_back(NthId(n));
  std::reverse(ids.begin(), ids.end());
  return ids;
}

size_t KeysOf(Store& store, std::string_view prefix) {
  size_t count = 0;
  const auto cursor = Inside::Of(store).engine->Scan(prefix);
  for (; cursor->Valid() && cursor->key().starts_with(prefix); cursor->Next()) ++count;
  return count;
}

TEST_CASE("hits are the same in the tail, in the index and in both") {
  for (const size_t indexed : {size_t{0}, size_t{1}, size_t{37}, size_t{99}, size_t{100}}) {
    for (const size_t most : {size_t{1}, size_t{10}, size_t{1000}}) {
      CAPTURE(indexed);
      CAPTURE(most);
      const auto store = InMemory();
      MustStep(*store);
      Fill(*store, 100);
      for (size_t left = indexed; left > 0;) left -= MustStep(*store, std::min(most, left)).messages;
      const SearchPage page = MustFind(*store, {.text = "third ", .channel = {}, .limit = 200, .after = {}});
      CHECK(page.tail == 100 - indexed);
      CHECK(page.tail_left_out == 0);
      CHECK(!page.partial);
      CHECK(!page.bounded);
      CHECK(page.unreadable == 0);
      CHECK(!page.more);
      CHECK(IdsOf(page.hits) == Numbers(100, 3));
      CHECK(Found(*store, "third ") == Numbers(100, 3));
      CHECK(Found(*store, "all") == Numbers(100, 1));
      CHECK(Found(*store, "ALL third ", kChannelA) == Numbers(100, 6));
      CHECK(Found(*store, "w50 ") == Strings{NthId(50)});
      CHECK(Found(*store, "third w50 ").empty());
      CHECK(Found(*store, "w9").size() == 11);
      CHECK(Found(*store, "w9").front() == NthId(9));  // the whole word before the longer ones
      CHECK(Found(*store, "\"them w50 other\" ") == Strings{NthId(50)});
      CHECK(Found(*store, "\"them other\" ").empty());
      CHECK(Found(*store, "nothing ").empty());
      CHECK(Found(*store, "all ", "01ARYZ6S41TSV4RRFFQ69G5FAZ").empty());
    }
  }
}

TEST_CASE("a hit says what it is of") {
  const auto store = InMemory();
  Message message = At(3, "first the needle, then more", kChannelB);
  message.agent = "codex";
  message.role = Role::kAgent;
  Keep(*store, message);
  for (int round = 0; round < 2; ++round) {
    const SearchPage page = MustFind(*store, {.text = "needle", .channel = {}, .limit = 20, .after = {}});
    REQUIRE(page.hits.size() == 1);
    const SearchHit& hit = page.hits[0];
    CHECK(hit.channel == kChannelB);
    CHECK(hit.id == NthId(3));
    CHECK(hit.created_ms == message.created_ms);
    CHECK(hit.agent == "codex");
    CHECK(hit.role == Role::kAgent);
    CHECK(hit.snippet == "first the needle, then more");
    CHECK(hit.marks == std::vector<SearchMark>{{10, 16}});
    CHECK(!hit.cut_before);
    CHECK(!hit.cut_after);
    IndexAll(*store);
  }
}

TEST_CASE("what matches better is before what is newer, within its 30 days") {
  const auto store = InMemory();
  const int64_t day = 24 * 3600 * 1000;
  const auto keep = [&](size_t n, int64_t days, const std::string& text) {
    Message message = TextMessage(kChannelA, NthId(n), text);
    message.created_ms += days * day;
    Keep(*store, message);
  };
  keep(1, 0, "foo foo foo foo foo foo foo foo foo");
  keep(2, 3, "foo");
  keep(3, 20, "food");
  keep(4, 60, "food");
  keep(5, 60, "foo");
  for (int round = 0; round < 2; ++round) {
    // The words many times are worth 0.21 of 30 days, whole ones 0.74 of them.
    CHECK(Found(*store, "foo") == Strings{NthId(5), NthId(4), NthId(1), NthId(2), NthId(3)});
    CHECK(Found(*store, "foo ") == Strings{NthId(5), NthId(1), NthId(2)});
    IndexAll(*store, 2);
  }
}

TEST_CASE("few messages wait for more, unless they are told not to") {
  const auto store = InMemory();
  CHECK(MustStep(*store, 10, false).messages == 0);
  Fill(*store, 9);
  IndexStep step = MustStep(*store, 10, false);
  CHECK(step.messages == 0);
  CHECK(step.done);
  Keep(*store, At(9, "one more"));
  step = MustStep(*store, 10, false);
  CHECK(step.messages == 10);
  CHECK(KeysOf(*store, kArrivalsPrefix) == 0);
  CHECK(KeysOf(*store, kSegmentsPrefix) == 2);
  CHECK(MustStep(*store, 10, false).done);
  Keep(*store, At(10, "the last"));
  CHECK(MustStep(*store, 10, false).messages == 0);
  step = MustStep(*store, 10, true);
  CHECK(step.messages == 1);
  CHECK(step.done);
  CHECK(MustStep(*store, 10, true).messages == 0);
  CHECK(KeysOf(*store, kSegmentsPrefix) == 4);
}

TEST_CASE("long messages make a segment full before it has many") {
  const auto store = InMemory();
  MustStep(*store);
  std::string text;
  while (text.size() < 300'000) text += fmt::format("w{} ", text.size());
  Batch batch;
  for (size_t n = 0; n < 20; ++n) REQUIRE(batch.Put(At(n, text)).ok());
  REQUIRE(store->Commit(batch).ok());
  const IndexStep step = MustStep(*store, 1000, true);
  CHECK(step.messages == 8);  // 2 MiB of 256 KiB each
  CHECK(!step.done);
  CHECK(IndexAll(*store) == 12);
  CHECK(Found(*store, "w0 ").size() == 20);
}

TEST_CASE("a message that is replaced is found by what it says now, and once") {
  for (const bool before_indexed : {false, true}) {
    for (const bool after_indexed : {false, true}) {
      CAPTURE(before_indexed);
      CAPTURE(after_indexed);
      const auto store = InMemory();
      MustStep(*store);
      Keep(*store, At(1, "before both"));
      Keep(*store, At(2, "before before both both"));
      if (before_indexed) IndexAll(*store);
      CHECK(Found(*store, "before ") == Strings{NthId(2), NthId(1)});
      // One has the word more often now, one less often: each stands where it belongs.
      Keep(*store, At(1, "both both both both"));
      Keep(*store, At(2, "after both"));
      if (after_indexed) IndexAll(*store);
      CHECK(Found(*store, "before ").empty());
      CHECK(Found(*store, "after ") == Strings{NthId(2)});
      CHECK(Found(*store, "both ") == Strings{NthId(1), NthId(2)});
      const SearchPage page = MustFind(*store, {.text = "both ", .channel = {}, .limit = 1, .after = {}});
      REQUIRE(page.hits.size() == 1);
      CHECK(page.hits[0].marks.size() == 4);
      CHECK(page.more);
    }
  }
}

TEST_CASE("a channel that is deleted is not found any more, from its first piece on") {
  for (const bool indexed : {false, true}) {
    const auto store = InMemory();
    MustStep(*store);
    Fill(*store, 60);
    if (indexed) IndexAll(*store, 7);
    REQUIRE(store->DeleteChannel(kChannelA, 2).ok());
    CHECK(Found(*store, "all ").size() == 30);
    CHECK(Found(*store, "all ", kChannelA).empty());
    CHECK(Found(*store, "third ").size() == 10);
    for (;;) {
      const auto done = store->DeleteChannel(kChannelA, 7);
      REQUIRE(done.ok());
      if (*done) break;
    }
    IndexAll(*store, 7);
    CHECK(Found(*store, "all ").size() == 30);
    CHECK(MustFind(*store, {.text = "all ", .channel = {}, .limit = 20, .after = {}}).unreadable == 0);
  }
}

TEST_CASE("pages end to end are all hits, whatever comes between them") {
  const auto store = InMemory();
  MustStep(*store);
  Fill(*store, 100);
  IndexAll(*store, 9);
  Strings ids;
  SearchQuery query{.text = "all ", .channel = {}, .limit = 8, .after = {}};
  for (size_t n = 100;; ++n) {
    const SearchPage page = MustFind(*store, query);
    for (const SearchHit& hit : page.hits) ids.push_back(hit.id);
    if (!page.more) break;
    CHECK(page.hits.size() == 8);
    query.after = page.next;
    // Newer ones belong to pages before, also when a step takes them.
    Keep(*store, At(n, "all of them"));
    if (n % 3 == 0) IndexAll(*store);
  }
  CHECK(ids == Numbers(100, 1));
}

TEST_CASE("of many messages of one time the pages have each one once") {
  const auto store = InMemory();
  MustStep(*store);
  Batch batch;
  Strings ids;
  for (size_t n = 0; n < 150; ++n) {
    REQUIRE(batch.Put(TextMessage(n % 3 == 0 ? kChannelA : kChannelB, NthId(n), "same")).ok());
    ids.push_back(NthId(149 - n));
  }
  REQUIRE(store->Commit(batch).ok());
  CHECK(Found(*store, "same ") == ids);
  for (int i = 0; i < 5; ++i) MustStep(*store, 20);
  CHECK(Found(*store, "same ") == ids);
  IndexAll(*store, 20);
  CHECK(Found(*store, "same ") == ids);
}

TEST_CASE("a phrase that few of many have is found page by page") {
  const auto store = InMemory();
  MustStep(*store);
  Batch batch;
  Strings ids;
  for (size_t n = 0; n < 2500; ++n) {
    REQUIRE(batch.Put(At(n, n % 900 == 10 ? "one two" : "two one")).ok());
    if (n % 900 == 10) ids.insert(ids.begin(), NthId(n));
  }
  REQUIRE(store->Commit(batch).ok());
  IndexAll(*store);
  const SearchPage first =
      MustFind(*store, {.text = "\"one two\" ", .channel = {}, .limit = 20, .after = {}});
  CHECK(first.bounded);
  CHECK(first.more);
  CHECK(Found(*store, "\"one two\" ") == ids);
}

TEST_CASE("a beginning of more words than can be followed gives what it can, and says so") {
  const auto store = InMemory();
  MustStep(*store);
  for (size_t n = 0; n < 40; ++n) {
    std::string text = n == 7 ? "needle " : "";
    for (size_t i = 0; i < 1500; ++i) text += fmt::format("b{} ", n * 1500 + i);
    Keep(*store, At(n, text));
  }
  IndexAll(*store, 10);
  const SearchPage page = MustFind(*store, {.text = "b", .channel = {}, .limit = 20, .after = {}});
  CHECK(page.bounded);
  CHECK(!page.hits.empty());
  // With another word there are few enough to be read.
  const SearchPage both = MustFind(*store, {.text = "needle b", .channel = {}, .limit = 20, .after = {}});
  CHECK(IdsOf(both.hits) == Strings{NthId(7)});
  CHECK(!both.bounded);
  CHECK(MustFind(*store, {.text = "needle c", .channel = {}, .limit = 20, .after = {}}).hits.empty());
}

TEST_CASE("pages go on behind words whose ranks could only be estimated") {
  const auto store = InMemory();
  MustStep(*store);
  for (size_t n = 0; n < 120; ++n) {
    std::string text = n % 2 == 0 ? "every b " : "every ";
    for (size_t i = 0; i < 400; ++i) text += fmt::format("{}{} ", n % 3 == 0 ? "b" : "c", n * 400 + i);
    Keep(*store, At(n, text));
  }
  IndexAll(*store, 10);
  // Those with b as a word, then those with longer ones alone.
  const Strings found = Found(*store, "every b");
  CHECK(found.size() == 80);
  CHECK(!MustFind(*store, {.text = "every b", .channel = {}, .limit = 7, .after = {}}).bounded);
}

TEST_CASE("of a long tail the newest are read, and how many were left out is said") {
  const auto store = InMemory();
  MustStep(*store);
  Fill(*store, 2100);
  const SearchPage page = MustFind(*store, {.text = "w99 ", .channel = {}, .limit = 20, .after = {}});
  CHECK(page.hits.empty());
  CHECK(page.tail == 2000);
  CHECK(page.tail_left_out == 100);
  CHECK(Found(*store, "w2099 ").size() == 1);
  CHECK(Found(*store, "w100 ").size() == 1);
  MustStep(*store, 150);
  const SearchPage then = MustFind(*store, {.text = "w99 ", .channel = {}, .limit = 20, .after = {}});
  CHECK(then.hits.size() == 1);
  CHECK(then.tail == 1950);
  CHECK(then.tail_left_out == 0);
}

TEST_CASE("what cannot be asked for says why") {
  const auto store = InMemory();
  const Search search(*store);
  const auto says = [&](const SearchQuery& query, std::string_view part) {
    const absl::Status status = search.Find(query).status();
    CHECK(absl::IsInvalidArgument(status));
    CHECK_MESSAGE(Says(status, part), status.ToString());
  };
  says({.text = " - ", .channel = {}, .limit = 20, .after = {}}, "\" - \": expected a word");
  says({.text = std::string(1001, 'a'), .channel = {}, .limit = 20, .after = {}}, "1001 bytes");
  says({.text = "a", .channel = "no", .limit = 20, .after = {}}, "\"no\": expected a ULID");
  says({.text = "a", .channel = {}, .limit = 0, .after = {}}, "expected 1 to 200");
  says({.text = "a", .channel = {}, .limit = 201, .after = {}}, "expected 1 to 200");
  const std::string ids = std::string(kChannelA) + kChannelB;
  for (const std::string& after : {std::string("x"), std::string(68, 'x'), "7ff0000000000000" + ids,
                                   "-000000000000000" + ids, "4000000000000000" + ids + "0"})
    says({.text = "a", .channel = {}, .limit = 20, .after = after}, "expected what the page before gave");
  CHECK(search.Find({.text = "a", .channel = {}, .limit = 200, .after = "4000000000000000" + ids}).ok());
}

TEST_CASE("committing, indexing and searching go on beside each other, and nothing is missed") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path);
  constexpr size_t kEach = 150;
  std::vector<std::thread> threads;
  std::atomic<size_t> writing{2};
  std::atomic<bool> wrong{false};
  for (size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (size_t n = t * kEach; n < (t + 1) * kEach; ++n) {
        Batch batch;
        if (!batch.Put(At(n, fmt::format("all w{}", n))).ok() || !store->Commit(batch).ok()) wrong = true;
        // What was committed is found at once, wherever it is by now.
        const auto page =
            Search(*store).Find({.text = fmt::format("w{} ", n), .channel = {}, .limit = 20, .after = {}});
        if (!page.ok() || page->hits.size() != 1) wrong = true;
      }
      --writing;
    });
  }
  for (size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (writing > 0) {
        if (!Index(*store).Step(13, true).ok()) wrong = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(!wrong);
  IndexAll(*store);
  CHECK(Found(*store, "all ").size() == 2 * kEach);
  CHECK(MustFind(*store, {.text = "all ", .channel = {}, .limit = 20, .after = {}}).tail == 0);
}

}  // namespace
}  // namespace watchbill::history
