#include "watchbill/history/transfer.hpp"

#include <algorithm>

#include "keys.hpp"
#include "temp_folder.hpp"
#include "trail_head.hpp"
#include "transfer_fixture.hpp"

namespace watchbill::history {
namespace {

TEST_CASE("an exported history is lines of JSON in a fixed order, each with its own name") {
  const MemoryStore store;
  FillWithAll(*store);
  const std::vector<std::string> lines = LinesOf(MustExport(*store));
  REQUIRE(lines.size() == 14);
  CHECK(lines[0] == R"({"watchbill":"history","format":1})");
  CHECK(
      lines[1] ==
      R"({"channel":{"id":"01ARYZ6S41TSV4RRFFQ69G5FAV","name":"ops","description":"what goes on","direct":"","members":["codex","claude"]}})");
  CHECK(lines[2].starts_with(R"({"channel":{"id":"01ARYZ6S41TSV4RRFFQ69G5FAW")"));
  CHECK(lines[3] ==
        R"({"member":{"agent":")"
        "\\u0000\xEF\xBF\xBD"
        R"(","session":"session-2","lastSeen":""},"of":"01ARYZ6S41TSV4RRFFQ69G5FAV","agentHex":"00ff"})");
  CHECK(lines[4].ends_with(R"(,"of":"01ARYZ6S41TSV4RRFFQ69G5FAV","agent":"codex"})"));
  CHECK(lines[5] == MessageLine(TextMessage(kChannelA, NthId(1), "one\nline")));
  CHECK(lines[6] == MessageLine(FullMessage(kChannelA, NthId(2))));
  CHECK(lines[7] == MessageLine(TextMessage(kChannelB, NthId(3), "three")));
  CHECK(lines[8] == R"({"commands":[{"name":"plan"}],"agent":"codex"})");
  CHECK(lines[9] == R"({"record":{"input":1.25},"collection":2,"key":"gpt","order":"2026"})");
  CHECK(lines[10] == R"({"record":[],"collection":3,"keyHex":"8000","orderHex":"0000ff"})");
  CHECK(lines[11].starts_with(R"({"entry":{"did":"first"},"number":1,"hash":")"));
  CHECK(lines[12].starts_with(R"({"entry":{"did":"second"},"number":2,"hash":")"));
  CHECK(lines[13] ==
        R"({"end":{"lines":13,"channels":2,"members":2,"messages":3,"commands":1,"records":2,"trail":2}})");

  const auto report = Export(*store, {}, [](std::string_view) { return absl::OkStatus(); });
  REQUIRE(report.ok());
  CHECK(report->written == TransferCounts{2, 2, 3, 1, 0, 0});
  CHECK(report->unreadable == 0);
  CHECK(LinesOf(MustExport(*store, {})).size() == 10);
}

TEST_CASE("one channel is exported with its members and messages alone, and what is none is said") {
  const MemoryStore store;
  FillWithAll(*store);
  const std::vector<std::string> lines = LinesOf(MustExport(*store, {.channel = kChannelA}));
  REQUIRE(lines.size() == 7);
  CHECK(lines[0] == R"({"watchbill":"history","format":1,"channel":"01ARYZ6S41TSV4RRFFQ69G5FAV"})");
  CHECK(lines[6].starts_with(R"({"end":{"lines":6,"channels":1,"members":2,"messages":2,)"));
  size_t written = 0;
  const auto count = [&](std::string_view) {
    ++written;
    return absl::OkStatus();
  };
  const auto none = Export(*store, {.channel = NthId(9)}, count);
  CHECK(none.status().code() == absl::StatusCode::kNotFound);
  CHECK(Says(none.status(), NthId(9)));
  CHECK(Export(*store, {.channel = "x"}, count).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(Export(*store, {.channel = kChannelA, .ledger = true}, count).status().code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK(ExportMarkdown(*store, NthId(9), {}, count).status().code() == absl::StatusCode::kNotFound);
  REQUIRE(store->DeleteChannel(kChannelA, 1).ok());
  CHECK(Export(*store, {.channel = kChannelA}, count).status().code() == absl::StatusCode::kNotFound);
  CHECK(ExportMarkdown(*store, kChannelA, {}, count).status().code() == absl::StatusCode::kNotFound);
  CHECK(written == 0);
}

TEST_CASE("a channel of many blocks is exported oldest first") {
  const MemoryStore store;
  // About eight blocks of a megabyte, with one message that is greater than any.
  std::vector<std::string> ids;
  for (size_t i = 0; i < 100; ++i) {
    Keep(*store, TextMessage(kChannelA, NthId(i), std::string(i == 50 ? 3 << 20 : 50'000, 'x')));
    ids.push_back(NthId(i));
  }
  std::vector<std::string> found;
  for (const std::string& line : LinesOf(MustExport(*store, {}))) {
    if (line.starts_with("{\"message\"")) found.push_back(line.substr(18, 26));
  }
  CHECK(found == ids);
}

TEST_CASE("an export is of one moment, whatever is committed meanwhile") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path);
  KeepMany(*store, 0, 60, 50'000);
  const std::string before = MustExport(*store);
  std::string text;
  size_t more = 60;
  const auto report = Export(*store, {}, [&](std::string_view piece) {
    text.append(piece);
    Keep(*store, TextMessage(kChannelA, NthId(more++), "later"));
    Keep(*store, TextMessage(kChannelA, NthId(0), "replaced"));
    return absl::OkStatus();
  });
  REQUIRE(report.ok());
  CHECK(more > 80);
  CHECK(text == before);
}

TEST_CASE("what the sink says ends the export") {
  const MemoryStore store;
  KeepMany(*store, 0, 20, 50'000);
  size_t pieces = 0;
  const auto full = [&](std::string_view) {
    return ++pieces == 3 ? absl::ResourceExhaustedError("no room") : absl::OkStatus();
  };
  CHECK(Export(*store, {}, full).status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(pieces == 3);
  pieces = 0;
  CHECK(ExportMarkdown(*store, kChannelA, {}, full).status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(pieces == 3);
}

TEST_CASE("what cannot be read is left out of an export and counted; what is deleted is left out") {
  const MemoryStore store;
  FillWithAll(*store);
  const std::string whole = MustExport(*store);
  const UlidBytes a = *ParseUlid(kChannelA), b = *ParseUlid(kChannelB);
  Writes writes;
  writes.Put(MessageKey(a, *ParseUlid(NthId(5))), "\x02{}");
  writes.Put(MessageKey(a, *ParseUlid(NthId(6))), "\x01{\"id\":");
  writes.Put(MessageKey(a, *ParseUlid(NthId(7))), "\x01{\"id\":\"" + NthId(8) + "\"}");
  writes.Put(MessagesPrefix(a) + "x", "\x01{}");
  writes.Put("M", "\x01{}");
  writes.Put("Cx", "\x01{}");
  writes.Put(MemberKey(a, "zed"), "");
  writes.Put("Szed", "\x01[");
  writes.Put(RecordKey(2, "zed"), "\x01\x01");
  writes.Put(TrailKey(9), "\x01");
  REQUIRE(store.engine->Commit(writes, Sync::kNow).ok());
  const auto report =
      Export(*store, {.ledger = true, .trail = true}, [](std::string_view) { return absl::OkStatus(); });
  REQUIRE(report.ok());
  CHECK(report->unreadable == 10);
  CHECK(MustExport(*store) == whole);

  REQUIRE(*store->DeleteChannel(kChannelB, 100));
  // As if a piece of it had come back.
  Writes back;
  back.Put(MessageKey(b, *ParseUlid(NthId(3))), "\x01{\"id\":\"" + NthId(3) + "\"}");
  back.Put(ChannelKey(b), std::string("\x01{\"id\":\"") + kChannelB + "\"}");
  back.Put(MemberKey(b, "codex"), "\x01{}");
  REQUIRE(store.engine->Commit(back, Sync::kNow).ok());
  CHECK(MustExport(*store).find(kChannelB) == std::string::npos);
}

TEST_CASE("what was exported and imported is the same, also when its lines stand in another order") {
  const MemoryStore store;
  FillWithAll(*store);
  const std::string text = MustExport(*store);
  std::vector<std::string> lines = LinesOf(text);
  SUBCASE("in their order") {}
  SUBCASE("backwards, but for the trail") { std::reverse(lines.begin() + 1, lines.begin() + 11); }
  std::string moved;
  for (const std::string& line : lines) moved += line + "\n";
  for (const size_t piece : {size_t{1}, size_t{7}, std::string::npos}) {
    const MemoryStore other;
    const Imported imported = Import(*other, moved, {}, piece);
    REQUIRE_MESSAGE(imported.status.ok(), imported.status.ToString());
    CHECK(imported.report.cut == "");
    CHECK(imported.report.bad == 0);
    CHECK(imported.report.kept == TransferCounts{2, 2, 3, 1, 2, 2});
    CHECK(imported.report.already.total() == 0);
    CHECK(MustExport(*other) == text);
    // A search hears of what was imported: each message has arrived.
    size_t arrived = 0;
    for (const auto& [key, value] : Everything(*other.engine)) arrived += key.starts_with('N') ? 1 : 0;
    CHECK(arrived == 3);
    // What is read is the same too.
    CHECK(other->Last(kChannelA, 10)->messages == store->Last(kChannelA, 10)->messages);
    CHECK(*other->Members(kChannelA) == *store->Members(kChannelA));
    CHECK(*other->Channels() == *store->Channels());
  }
}

TEST_CASE("an import of the same file again changes nothing") {
  const MemoryStore store, other;
  FillWithAll(*store);
  const std::string text = MustExport(*store);
  REQUIRE(Import(*other, text).status.ok());
  const auto before = Everything(*other.engine);
  for (const bool replace : {false, true}) {
    const Imported again = Import(*other, text, {.replace = replace});
    REQUIRE(again.status.ok());
    CHECK(again.report.bad == 0);
    CHECK(again.report.already == TransferCounts{2, 2, 3, 1, 2, 2});
    CHECK(again.report.kept.total() + again.report.replaced.total() == 0);
    CHECK(Everything(*other.engine) == before);
  }
}

TEST_CASE("what is there already is kept, or replaced where that was asked for") {
  const MemoryStore store, other;
  FillWithAll(*store);
  const std::string text = MustExport(*store, {.ledger = true});
  const auto fill = [](Store& into) {
    Batch batch;
    REQUIRE(batch.Put(TextMessage(kChannelA, NthId(1), "mine")).ok());
    REQUIRE(batch.Put(Channel{kChannelA, "mine", "", "", {}}).ok());
    REQUIRE(batch.Put(Collection::kPrices, "gpt", "1999", JsonView::Trusted("{}")).ok());
    MustCommit(into, batch);
  };
  fill(*other);
  const Imported kept = Import(*other, text);
  REQUIRE(kept.status.ok());
  CHECK(kept.report.already == TransferCounts{1, 0, 1, 0, 1, 0});
  CHECK(kept.report.kept == TransferCounts{1, 2, 2, 1, 1, 0});
  CHECK((*other->Channels())[0].name == "mine");
  CHECK(std::get<TextPart>(other->Last(kChannelA, 9)->messages[0].parts[0]).text == "mine");

  const Imported replaced = Import(*other, text, {.replace = true});
  REQUIRE(replaced.status.ok());
  CHECK(replaced.report.replaced == TransferCounts{1, 0, 1, 0, 1, 0});
  CHECK(replaced.report.already == TransferCounts{1, 2, 2, 1, 1, 0});
  CHECK(MustExport(*other, {.ledger = true}) == text);
  // The place in the second order went with it.
  const auto all = Everything(*other.engine);
  CHECK(all.contains(OrderKey(2, "2026", "gpt")));
  CHECK(!all.contains(OrderKey(2, "1999", "gpt")));

  // Of a newer program's records none is written over.
  Writes newer;
  newer.Put(ChannelKey(*ParseUlid(kChannelA)), "\x02new");
  REQUIRE(other.engine->Commit(newer, Sync::kNow).ok());
  CHECK(Import(*other, text, {.replace = true}).report.already.channels == 2);
  CHECK(Everything(*other.engine).at(ChannelKey(*ParseUlid(kChannelA))) == "\x02new");
}

TEST_CASE("of one id that stands twice in a file the first is kept, or the last where it replaces") {
  const std::string text = Framed({MessageLine(TextMessage(kChannelA, NthId(1), "first")),
                                   MessageLine(TextMessage(kChannelA, NthId(1), "last"))});
  for (const bool replace : {false, true}) {
    const MemoryStore store;
    const Imported imported = Import(*store, text, {.replace = replace});
    REQUIRE(imported.status.ok());
    CHECK(imported.report.kept.messages == 1);
    CHECK(imported.report.replaced.messages == (replace ? 1 : 0));
    CHECK(imported.report.already.messages == (replace ? 0 : 1));
    CHECK(std::get<TextPart>(store->Last(kChannelA, 9)->messages[0].parts[0]).text ==
          (replace ? "last" : "first"));
  }
}

TEST_CASE("members of JSON that this program does not know go through it") {
  const std::string channel =
      fmt::format(R"({{"channel":{{"id":"{}","name":"a","later":[1,2.50]}}}})", kChannelA);
  const std::string message = fmt::format(
      R"({{"message":{{"id":"{}","channel":"{}","parts":[{{"kind":"image"}}]}}}})", NthId(1), kChannelA);
  const MemoryStore store;
  REQUIRE(Import(*store, Framed({channel, message})).report.kept.total() == 2);
  const std::vector<std::string> lines = LinesOf(MustExport(*store));
  CHECK(lines[1] == channel);
  CHECK(lines[2] == message);
}

TEST_CASE("a message whose channel stands in its key alone says it in an export") {
  const MemoryStore store, other;
  Writes writes;
  writes.Put(MessageKey(*ParseUlid(kChannelA), *ParseUlid(NthId(1))), "\x01{\"id\":\"" + NthId(1) + "\"}");
  REQUIRE(store.engine->Commit(writes, Sync::kNow).ok());
  const std::string text = MustExport(*store);
  CHECK(LinesOf(text)[1] ==
        fmt::format(R"({{"message":{{"id":"{}","channel":"{}"}}}})", NthId(1), kChannelA));
  CHECK(Import(*other, text).report.kept.messages == 1);
  CHECK(other->Last(kChannelA, 1)->messages[0].channel == kChannelA);
}

}  // namespace
}  // namespace watchbill::history
