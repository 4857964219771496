// What an importer does with lines that are bad, missing or in the way.
#include <algorithm>
#include <limits>
#include <thread>

#include "keys.hpp"
#include "store_impl.hpp"
#include "transfer_fixture.hpp"
#include "watchbill/history/retention.hpp"

namespace watchbill::history {
namespace {

TEST_CASE("messages and all else of a deleted channel are refused and counted") {
  const MemoryStore store, other;
  FillWithAll(*store);
  REQUIRE(*other->DeleteChannel(kChannelA, 1));
  const Imported imported = Import(*other, MustExport(*store));
  REQUIRE(imported.status.ok());
  CHECK(imported.report.refused == TransferCounts{1, 2, 2, 0, 0, 0});
  CHECK(imported.report.kept == TransferCounts{1, 0, 1, 1, 2, 2});
  CHECK(other->Last(kChannelA, 9)->messages.empty());
}

// Deletes a channel at the first commit that has messages.
class DeletesMeanwhile final : public Engine {
 public:
  absl::Status Get(std::string_view key, std::string& value) const override {
    if (key == MessageKey(*ParseUlid(kChannelB), *ParseUlid(NthId(3))) && store != nullptr) {
      Store* const of = std::exchange(store, nullptr);
      CHECK(*of->DeleteChannel(kChannelA, 10));
    }
    return inner->Get(key, value);
  }
  std::unique_ptr<Cursor> Scan(std::string_view from) const override { return inner->Scan(from); }
  absl::Status Commit(const Writes& writes, Sync sync) override { return inner->Commit(writes, sync); }
  uint64_t Bytes(std::string_view from, std::string_view to) const override { return inner->Bytes(from, to); }
  absl::Status Compact() override { return inner->Compact(); }

  std::unique_ptr<Engine> inner = NewMemoryEngine();
  mutable Store* store = nullptr;
};

TEST_CASE("a channel that is deleted while it is imported takes nothing of others with it") {
  const MemoryStore store;
  FillWithAll(*store);
  auto engine = std::make_unique<DeletesMeanwhile>();
  DeletesMeanwhile* const deletes = engine.get();
  const MemoryStore other(std::move(engine));
  deletes->store = other.store.get();
  const Imported imported = Import(*other, MustExport(*store));
  REQUIRE_MESSAGE(imported.status.ok(), imported.status.ToString());
  CHECK(imported.report.refused == TransferCounts{1, 2, 2, 0, 0, 0});
  CHECK(imported.report.kept == TransferCounts{1, 0, 1, 1, 2, 2});
}

TEST_CASE("each bad line is told with its number, its column and what was expected") {
  const std::string ulid = kChannelA, id = NthId(1);
  struct Case {
    std::string line;
    uint64_t column;
    std::string says;
  };
  const std::vector<Case> cases = {
      {"{\"message\":{\"id\":}}", 18, "not JSON"},
      {"nonsense", 1, "not JSON"},
      {"{\"message\":\"\xFF\"}", 13, "UTF-8"},
      {"[]", 0, "expected a JSON object"},
      {"{}", 0, "expected one of channel, member"},
      {"{\"message\":[]}", 0, "message: expected a JSON object"},
      {"{\"message\":{}}", 0, "message: expected \"id\", a ULID"},
      {"{\"message\":{\"id\":\"x\"}}", 0, "message \"x\": expected a ULID"},
      {"{\"message\":{\"id\":\"" + id + "\"}}", 0, "channel of a message: expected \"channel\""},
      {"{\"message\":{\"id\":\"" + id + "\",\"channel\":\"y\"}}", 0, "channel of a message \"y\""},
      {"{\"message\":{\"id\":\"" + id + "\",\"channel\":\"" + ulid + "\",\"done\":false}}", 0,
       "not finished"},
      {"{\"message\":{\"id\":\"" + id + "\",\"channel\":\"" + ulid + "\",\"queued\":true}}", 0, "queued"},
      {"{\"channel\":{\"id\":5}}", 0, "channel: expected \"id\""},
      {"{\"channel\":\"x\"}", 0, "channel: expected a JSON object"},
      {"{\"member\":{}}", 0, "channel of a member: expected \"of\""},
      {"{\"member\":{},\"of\":\"" + ulid + "\"}", 0, "expected \"agent\""},
      {"{\"member\":{},\"of\":\"" + ulid + "\",\"agent\":\"\"}", 0, "expected 1 to 1024"},
      {"{\"member\":{},\"of\":\"" + ulid + "\",\"agentHex\":\"0\"}", 0, "agentHex: expected pairs"},
      {"{\"member\":{},\"of\":\"" + ulid + "\",\"agentHex\":\"0x\"}", 0, "agentHex: expected pairs"},
      {"{\"commands\":[]}", 0, "expected \"agent\""},
      {"{\"record\":{},\"key\":\"k\",\"order\":\"\"}", 0, "collection: expected a number"},
      {"{\"record\":{},\"collection\":256,\"key\":\"k\",\"order\":\"\"}", 0, "collection: expected a number"},
      {"{\"record\":{},\"collection\":2,\"order\":\"\"}", 0, "expected \"key\""},
      {"{\"record\":{},\"collection\":2,\"key\":\"k\"}", 0, "expected \"order\""},
      {"{\"record\":{},\"collection\":2,\"key\":\"\",\"order\":\"\"}", 0, "expected 1 to 4096"},
      {"{\"entry\":{},\"number\":1}", 0, "hash: expected 64"},
      {"{\"entry\":{},\"hash\":\"" + std::string(64, '0') + "\"}", 0, "expected \"number\""},
      {"{\"entry\":{},\"number\":1,\"hash\":\"" + std::string(64, '0') + "\"}", 0, "does not follow"},
      {"{\"entry\":{},\"number\":2,\"hash\":\"" + std::string(64, '0') + "\"}", 0,
       "entry 1 next, and this is 2"},
      {"{\"trailStart\":0,\"hash\":\"" + std::string(64, '0') + "\"}", 0, "trailStart: expected"},
      {"{\"watchbill\":\"history\",\"format\":1}", 0, "one file at a time"},
      {"{\"end\":{}}", 0, "end: expected"},
      {std::string(Importer::kMaxLineBytes + 1, 'x'), 0, "bytes long"},
      // Within a line, and not for itself: deeper and longer than a record may be.
      {"{\"commands\":" + std::string(65, '[') + std::string(65, ']') + ",\"agent\":\"a\"}", 0,
       "commands: not JSON"},
      {"{\"commands\":\"" + std::string(kMaxRecordBytes, 'x') + "\",\"agent\":\"a\"}", 0, "are the most"},
  };
  const std::string good = MessageLine(TextMessage(kChannelA, NthId(2), "good"));
  std::vector<std::string> lines;
  for (const Case& bad : cases) {
    CAPTURE(bad.says);
    CAPTURE(bad.line.substr(0, 100));
    const MemoryStore store;
    const Imported imported = Import(*store, Framed({good, bad.line, good}));
    REQUIRE(imported.status.ok());
    CHECK(imported.report.cut == "");
    CHECK(imported.report.kept.messages == 1);
    REQUIRE(imported.report.bad == 1);
    REQUIRE(imported.report.bad_lines.size() == 1);
    CHECK(imported.report.bad_lines[0].line == 3);
    CHECK(imported.report.bad_lines[0].column == bad.column);
    CHECK_MESSAGE(imported.report.bad_lines[0].what.find(bad.says) != std::string::npos,
                  imported.report.bad_lines[0].what.substr(0, 300));
    if (bad.line.size() < 1000) lines.push_back(bad.line);

    const MemoryStore strict;
    const std::string other = MessageLine(TextMessage(kChannelA, NthId(3), "behind"));
    const Imported refused = Import(*strict, Framed({good, bad.line, other}), {.strict = true});
    CHECK(refused.status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(Says(refused.status, "line 3"));
    CHECK(Says(refused.status, "column") == (bad.column > 0));
    CHECK(refused.report.kept.messages == 1);
    CHECK(strict->Last(kChannelA, 9)->messages.size() == 1);
    CHECK(strict->Last(kChannelA, 9)->messages[0].id == NthId(2));
  }
  // Of many the first hundred are described.
  std::vector<std::string> many;
  for (int i = 0; i < 10; ++i) many.insert(many.end(), lines.begin(), lines.end());
  const MemoryStore store;
  const Imported imported = Import(*store, Framed(many));
  CHECK(imported.report.bad == many.size());
  REQUIRE(imported.report.bad_lines.size() == 100);
  CHECK(imported.report.bad_lines[99].line == 101);
}

TEST_CASE("what is no exported history, or a newer one, is refused at its first line") {
  const std::string good = MessageLine(TextMessage(kChannelA, NthId(2), "good")) + "\n";
  for (const std::string& first :
       {good, std::string("#!/bin/sh\n"), std::string("{\"watchbill\":\"board\",\"format\":1}\n"),
        std::string("{\"watchbill\":\"history\"}\n"),
        std::string("{\"watchbill\":\"history\",\"format\":0}\n"),
        std::string(Importer::kMaxLineBytes + 1, 'x') + "\n", std::string("\x89PNG\r\n\x1a\n\0", 9)}) {
    const MemoryStore store;
    const Imported imported = Import(*store, first + good);
    CHECK(imported.status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(Says(imported.status, "line 1: this is no exported history"));
    CHECK(store->Last(kChannelA, 9)->messages.empty());
  }
  const MemoryStore store;
  const Imported newer = Import(*store, "{\"watchbill\":\"history\",\"format\":2}\n" + good);
  CHECK(newer.status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(Says(newer.status, "format 2"));
  CHECK(Says(newer.status, "up to 1"));
  CHECK(store->Last(kChannelA, 9)->messages.empty());
  CHECK(Says(Import(*store, "").status, "empty"));
  CHECK(Says(Import(*store, "\n \r\n").status, "empty"));
  // It stays so.
  Importer importer(*store, {});
  CHECK(!importer.Feed("x\n").ok());
  CHECK(!importer.Feed(Framed({})).ok());
  CHECK(!importer.End().ok());
}

TEST_CASE(
    "a file that came through another system is read: a byte order mark, carriage returns, blank lines") {
  std::string text = "\xEF\xBB\xBF";
  for (const char c : Framed({MessageLine(TextMessage(kChannelA, NthId(2), "good"))}))
    text += c == '\n' ? "\r\n\r\n" : std::string(1, c);
  text.resize(text.size() - 4);  // also without an end of the last line
  for (const size_t piece : {size_t{1}, std::string::npos}) {
    const MemoryStore store;
    const Imported imported = Import(*store, text, {.strict = true}, piece);
    CHECK_MESSAGE(imported.status.ok(), imported.status.ToString());
    CHECK(imported.report.kept.messages == 1);
    CHECK(imported.report.cut == "");
  }
}

TEST_CASE("a cut at any byte of a file is said, and what stands before it is there") {
  const MemoryStore store;
  FillWithAll(*store);
  const std::string text = MustExport(*store);
  for (size_t size = 1; size < text.size(); ++size) {
    CAPTURE(size);
    const MemoryStore other;
    const std::string_view part = std::string_view(text).substr(0, size);
    const Imported imported = Import(*other, part);
    if (size < text.find('\n')) {
      CHECK(Says(imported.status, "no exported history"));
      continue;
    }
    CHECK(imported.status.ok());
    // But for the end of the last line nothing is missing.
    CHECK((imported.report.cut == "") == (size == text.size() - 1));
    const auto whole = static_cast<uint64_t>(std::count(part.begin(), part.end(), '\n'));
    CHECK(imported.report.kept.total() + 1 >= whole);
    const Imported strict = Import(*other, part, {.strict = true});
    CHECK(strict.status.ok() == (size == text.size() - 1));
  }
  std::vector<std::string> lines = LinesOf(text);
  const auto cut = [&](size_t from, size_t count) {
    std::vector<std::string> left = lines;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(from),
               left.begin() + static_cast<std::ptrdiff_t>(from + count));
    std::string joined;
    for (const std::string& line : left) joined += line + "\n";
    const MemoryStore other;
    return Import(*other, joined).report.cut;
  };
  for (size_t i = 1; i + 1 < lines.size(); ++i) CHECK(cut(i, 1).find("13 lines") != std::string::npos);
  CHECK(cut(13, 1).find("no last line") != std::string::npos);
  // One that was left out and one that stands twice.
  lines[5] = lines[1];
  CHECK(cut(0, 0) == "the last line says 2 channels, and there are 3");
}

TEST_CASE("a trail goes on with the entries that follow it, and with no others") {
  const MemoryStore store;
  const auto append = [](Store& to, const std::string& json) {
    Batch batch;
    REQUIRE(batch.AppendToTrail(JsonView::Trusted(json)).ok());
    MustCommit(to, batch);
  };
  for (int i = 1; i <= 3; ++i) append(*store, fmt::format("{{\"n\":{}}}", i));
  const std::string three = MustExport(*store);
  append(*store, "{\"n\":4}");
  const std::string four = MustExport(*store);

  const MemoryStore other;
  CHECK(Import(*other, three).report.kept.trail == 3);
  const Imported more = Import(*other, four);
  CHECK(more.report.kept.trail == 1);
  CHECK(more.report.already.trail == 3);
  CHECK(more.report.bad == 0);
  CHECK(MustExport(*other) == four);
  // What is appended here next stands behind them.
  append(*other, "{\"n\":5}");
  append(*store, "{\"n\":5}");
  CHECK(MustExport(*other) == MustExport(*store));

  // One with a trail of its own takes none of it, and all else.
  const MemoryStore own;
  append(*own, "{\"mine\":1}");
  Keep(*store, TextMessage(kChannelA, NthId(1), "x"));
  const Imported refused = Import(*own, MustExport(*store));
  REQUIRE(refused.status.ok());
  CHECK(refused.report.bad == 5);
  CHECK(refused.report.bad_lines[0].what.find("another entry 1") != std::string::npos);
  CHECK(refused.report.bad_lines[1].what.find("does not follow") != std::string::npos);
  CHECK(refused.report.kept.messages == 1);
  const auto head = ReadTrailHead(*own.engine, kTrailHeadKey);
  CHECK(head->number == 1);
}

TEST_CASE("a trail whose old end was taken off begins where the file says") {
  const MemoryStore store;
  TrailHead head;
  Writes writes;
  for (int i = 1; i <= 5; ++i) {
    AppendEntry(fmt::format("{{\"n\":{}}}", i), head, writes);
    if (i == 2) writes.Put(kTrailAnchorKey, WriteTrailHead(head));
  }
  writes.Put(kTrailHeadKey, WriteTrailHead(head));
  writes.Delete(TrailKey(1));
  writes.Delete(TrailKey(2));
  REQUIRE(store.engine->Commit(writes, Sync::kNow).ok());
  const std::string text = MustExport(*store);
  CHECK(LinesOf(text)[1].starts_with("{\"trailStart\":2,\"hash\":\""));
  const MemoryStore other;
  const Imported imported = Import(*other, text);
  CHECK(imported.report.kept.trail == 3);
  CHECK(imported.report.cut == "");
  CHECK(Everything(*other.engine) == Everything(*store.engine));
  CHECK(Import(*other, text).report.already.trail == 3);
  // Entries that are taken off here are there for a file that still has them.
  Writes take;
  take.Delete(TrailKey(3));
  TrailHead third;
  Writes unused;
  for (int i = 1; i <= 3; ++i) AppendEntry(fmt::format("{{\"n\":{}}}", i), third, unused);
  take.Put(kTrailAnchorKey, WriteTrailHead(third));
  REQUIRE(other.engine->Commit(take, Sync::kNow).ok());
  CHECK(Import(*other, text).report.already.trail == 3);
}

TEST_CASE("a trail that has no entry any more goes on behind those that it had") {
  const MemoryStore store;
  Batch batch;
  for (int i = 1; i <= 3; ++i) REQUIRE(batch.AppendToTrail(JsonView::Trusted("{\"n\":1}")).ok());
  REQUIRE(store->Commit(batch).ok());
  REQUIRE(PruneTrail(*store, 0, std::numeric_limits<int64_t>::max(), 100).ok());
  const std::string text = MustExport(*store);
  const MemoryStore other;
  CHECK(Import(*other, text).report.bad == 0);
  CHECK(MustExport(*other) == text);
  Batch more;
  REQUIRE(more.AppendToTrail(JsonView::Trusted("{\"n\":4}")).ok());
  REQUIRE(store->Commit(more).ok());
  REQUIRE(other->Commit(more).ok());
  CHECK(MustExport(*other) == MustExport(*store));
  CHECK(Import(*other, text).report.bad == 0);
  CHECK(MustExport(*other) == MustExport(*store));
  // One that has a trail keeps it.
  const MemoryStore own;
  REQUIRE(own->Commit(more).ok());
  CHECK(Import(*own, text).report.bad == 0);
  CHECK(EndOfTrail(*own.engine)->number == 1);
}

// Appends to the trail behind an importer's back, before its first commit.
class AppendsMeanwhile final : public Engine {
 public:
  absl::Status Get(std::string_view key, std::string& value) const override {
    // The importer has looked at the trail's end by then.
    if (key == ChannelKey(*ParseUlid(kChannelB)) && store != nullptr) {
      Store* const to = std::exchange(store, nullptr);
      Batch batch;
      CHECK(batch.AppendToTrail(JsonView::Trusted("{\"mine\":1}")).ok());
      CHECK(to->Commit(batch).ok());
    }
    return inner->Get(key, value);
  }
  std::unique_ptr<Cursor> Scan(std::string_view from) const override { return inner->Scan(from); }
  absl::Status Commit(const Writes& writes, Sync sync) override { return inner->Commit(writes, sync); }
  uint64_t Bytes(std::string_view from, std::string_view to) const override { return inner->Bytes(from, to); }
  absl::Status Compact() override { return inner->Compact(); }

  std::unique_ptr<Engine> inner = NewMemoryEngine();
  mutable Store* store = nullptr;
};

TEST_CASE("entries whose place in the trail was taken meanwhile are told, and nothing else is lost") {
  const MemoryStore store;
  FillWithAll(*store);
  std::vector<std::string> lines = LinesOf(MustExport(*store));
  // The trail first, then the rest.
  std::rotate(lines.begin() + 1, lines.begin() + 11, lines.begin() + 13);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  auto engine = std::make_unique<AppendsMeanwhile>();
  AppendsMeanwhile* const appends = engine.get();
  const MemoryStore other(std::move(engine));
  appends->store = other.store.get();
  const Imported imported = Import(*other, text);
  REQUIRE_MESSAGE(imported.status.ok(), imported.status.ToString());
  CHECK(imported.report.bad == 2);
  CHECK(imported.report.bad_lines[0].line == 2);
  CHECK(imported.report.kept == TransferCounts{2, 2, 3, 1, 2, 0});
  CHECK(ReadTrailHead(*other.engine, kTrailHeadKey)->number == 1);
}

// Fails to commit once armed.
class FailsToCommit final : public Engine {
 public:
  absl::Status Get(std::string_view key, std::string& value) const override { return inner->Get(key, value); }
  std::unique_ptr<Cursor> Scan(std::string_view from) const override { return inner->Scan(from); }
  absl::Status Commit(const Writes& writes, Sync sync) override {
    return fails_after-- == 0 ? absl::ResourceExhaustedError("full") : inner->Commit(writes, sync);
  }
  uint64_t Bytes(std::string_view from, std::string_view to) const override { return inner->Bytes(from, to); }
  absl::Status Compact() override { return inner->Compact(); }

  std::unique_ptr<Engine> inner = NewMemoryEngine();
  int fails_after = -1;
};

TEST_CASE("an import that a full disk broke off is gone on with by beginning anew") {
  const MemoryStore store;
  KeepMany(*store, 0, 60, 100'000);
  const std::string text = MustExport(*store);
  auto engine = std::make_unique<FailsToCommit>();
  FailsToCommit* const fails = engine.get();
  const MemoryStore other(std::move(engine));
  fails->fails_after = 3;
  const Imported broken = Import(*other, text, {}, 10'000);
  CHECK(broken.status.code() == absl::StatusCode::kResourceExhausted);
  // Three commits of a megabyte each, and no more is said to be kept than is.
  CHECK(broken.report.kept.messages == other->Last(kChannelA, 100)->messages.size());
  CHECK(broken.report.kept.messages >= 30);
  CHECK(broken.report.kept.messages < 40);
  const Imported again = Import(*other, text);
  CHECK(again.status.ok());
  CHECK(again.report.already.messages == broken.report.kept.messages);
  CHECK(again.report.kept.messages == 60 - broken.report.kept.messages);
  CHECK(MustExport(*other) == text);
}

TEST_CASE("how far an import is can be asked for from another thread") {
  const MemoryStore store, other;
  FillWithAll(*store);
  const std::string text = MustExport(*store);
  Importer importer(*other, {});
  CHECK(importer.progress().lines == 0);
  std::thread asks([&] {
    while (importer.progress().bytes < text.size()) std::this_thread::yield();
  });
  for (const char c : text) REQUIRE(importer.Feed(std::string_view(&c, 1)).ok());
  asks.join();
  REQUIRE(importer.End().ok());
  CHECK(importer.progress().lines == 14);
  CHECK(importer.progress().bytes == text.size());
  CHECK(importer.Feed("x").code() == absl::StatusCode::kFailedPrecondition);
  CHECK(importer.End().code() == absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace watchbill::history
