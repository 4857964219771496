// Damage byte by byte, and what must not come back, get lost or be made up when a history is salvaged.
#include <set>

#include "folder_fixture.hpp"
#include "keys.hpp"
#include "ledger_record.hpp"
#include "leveldb/db.h"
#include "temp_folder.hpp"
#include "transfer_fixture.hpp"
#include "watchbill/history/repair.hpp"

namespace watchbill::history {
namespace {

std::set<std::string> MessagesIn(const std::string& folder) {
  std::set<std::string> found;
  const auto page = MustOpen(folder)->Last(kChannelA, 10'000);
  REQUIRE(page.ok());
  CHECK(page->unreadable == 0);
  for (const Message& message : page->messages) {
    const auto n = static_cast<size_t>(std::stoul(message.id.substr(21)));
    // Whatever is there is as it was kept.
    REQUIRE(std::get<TextPart>(message.parts[0]).text.starts_with(fmt::format("{} x", n)));
    found.insert(message.id);
  }
  return found;
}

struct Salvaged {
  absl::Status status;
  SalvageReport report;
  std::set<std::string> messages;
};

Salvaged SalvageOf(const std::string& folder) {
  const std::string to = folder + "-to";
  const auto report = Salvage(folder, to);
  Salvaged salvaged;
  salvaged.status = report.status();
  if (report.ok()) {
    salvaged.report = *report;
    salvaged.messages = MessagesIn(to);
  }
  std::filesystem::remove_all(to);
  return salvaged;
}

// Past the store, into what is closed.
void PutRaw(const std::string& folder, const std::map<std::string, std::string>& values) {
  leveldb::Options options;
  options.create_if_missing = true;
  leveldb::DB* db = nullptr;
  REQUIRE(leveldb::DB::Open(options, folder, &db).ok());
  const std::unique_ptr<leveldb::DB> owned(db);
  for (const auto& [key, value] : values) REQUIRE(db->Put({}, key, value).ok());
}

TEST_CASE("a flipped bit of a log loses the commit that it is in at most, and nothing is made up") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  constexpr size_t kKept = 60;
  {
    auto store = MustOpen(db);
    // One in several blocks among them.
    for (size_t i = 0; i < kKept; ++i) KeepMany(*store, i, i + 1, i % 20 == 10 ? 40'000 : 700);
    CloseAsKilled(std::move(store), db);
  }
  const std::string log = db + "/" + FilesLike(db, "", ".log").front();
  const std::string good = ReadBytes(log);
  size_t lost = 0;
  for (size_t at = 0; at < good.size(); at += 501) {
    CAPTURE(at);
    WriteBytes(log, good);
    FlipBit(log, at);
    const Salvaged salvaged = SalvageOf(db);
    REQUIRE_MESSAGE(salvaged.status.ok(), salvaged.status.ToString());
    CHECK(salvaged.messages.size() >= kKept - 1);
    lost += kKept - salvaged.messages.size();
    if (salvaged.messages.size() < kKept) {
      REQUIRE(salvaged.report.troubles.size() == 1);
      CHECK(salvaged.report.troubles[0].find(".log is damaged in one place (byte ") != std::string::npos);
    }
  }
  CHECK(lost > 100);
  // Every bit of the first record: checksum, length, type, and what is in it, which is the format.
  size_t whole = 0;
  for (size_t bit = 0; bit < (7 + static_cast<size_t>(good[4])) * 8; ++bit) {
    CAPTURE(bit);
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    WriteBytes(log, bytes);
    const Salvaged salvaged = SalvageOf(db);
    REQUIRE(salvaged.status.ok());
    CHECK(salvaged.messages.size() == kKept);
    whole += salvaged.report.troubles.empty() ? 1 : 0;
  }
  // A length that is wrong is found by the checksum.
  CHECK(whole == 16);
}

TEST_CASE("a log that was cut at any byte gives all that is whole before that, and is no damage") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  {
    auto store = MustOpen(db);
    for (size_t i = 0; i < 6; ++i) KeepMany(*store, i, i + 1, 100);
    CloseAsKilled(std::move(store), db);
  }
  const std::string log = db + "/" + FilesLike(db, "", ".log").front();
  const std::string good = ReadBytes(log);
  size_t before = 0;
  for (size_t size = 60; size <= good.size(); size += size + 20 < good.size() ? 7 : 1) {
    CAPTURE(size);
    WriteBytes(log, good.substr(0, size));
    const Salvaged salvaged = SalvageOf(db);
    REQUIRE(salvaged.status.ok());
    CHECK(salvaged.report.troubles.empty());
    CHECK(salvaged.messages.size() >= before);
    before = salvaged.messages.size();
    for (size_t i = 0; i < before; ++i) CHECK(salvaged.messages.contains(NthId(i)));
  }
  CHECK(before == 6);
  // And what a file system fills up behind it.
  WriteBytes(log, good + std::string(10'000, '\0'));
  CHECK(SalvageOf(db).messages.size() == 6);
  CHECK(SalvageOf(db).report.troubles.empty());
}

TEST_CASE("a flipped bit of a table loses the messages of a block at most, and none in what is around them") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  constexpr size_t kKept = 100;
  {
    const auto store = MustOpen(db);
    KeepMany(*store, 0, kKept, 700);
  }
  const std::string table = db + "/" + FilesLike(db, "", ".ldb").front();
  const std::string good = ReadBytes(table);
  size_t lost = 0, told = 0, whole = 0;
  for (size_t at = 0; at < good.size(); at += at + 3'000 < good.size() ? 977 : 37) {
    CAPTURE(at);
    WriteBytes(table, good);
    FlipBit(table, at);
    const Salvaged salvaged = SalvageOf(db);
    REQUIRE_MESSAGE(salvaged.status.ok(), salvaged.status.ToString());
    CHECK(salvaged.messages.size() >= kKept - 6);
    lost += kKept - salvaged.messages.size();
    told += salvaged.report.troubles.size();
    whole += salvaged.messages.size() == kKept ? 1 : 0;
    if (salvaged.messages.size() < kKept) {
      REQUIRE(salvaged.report.troubles.size() == 1);
      CHECK(salvaged.report.troubles[0].find(".ldb is damaged in one place (byte ") != std::string::npos);
    }
  }
  CHECK(lost > 100);
  CHECK(told > 50);
  CHECK(whole > 20);
}

TEST_CASE("a table without its end is read from its beginning") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  {
    const auto store = MustOpen(db);
    KeepMany(*store, 0, 100, 700);
  }
  const std::string table = db + "/" + FilesLike(db, "", ".ldb").front();
  const std::string good = ReadBytes(table);
  // The blocks that are whole are in it: newest first.
  for (const size_t size : {good.size() - 1, good.size() - 48, good.size() / 2, size_t{20'000}}) {
    CAPTURE(size);
    WriteBytes(table, good.substr(0, size));
    const Salvaged salvaged = SalvageOf(db);
    REQUIRE(salvaged.status.ok());
    REQUIRE(salvaged.report.troubles.size() == 1);
    CHECK(salvaged.report.troubles[0].find("its index cannot be read") != std::string::npos);
    CHECK(salvaged.messages.size() + 12 >= std::min<size_t>(size * 100 / good.size(), 100));
    CHECK((salvaged.messages.size() == 100) == (size > good.size() - 100));
  }
}

TEST_CASE("without a manifest the newest of what was put holds, and what was deleted stays deleted") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  // A table each, so that nothing but the numbers of writes tells which is newer.
  for (const char* text : {"first", "second", "third"}) {
    const auto store = MustOpen(db);
    Batch batch;
    REQUIRE(batch.Put(Channel{kChannelA, text, "", "", {}}).ok());
    REQUIRE(batch.Put(Channel{kChannelB, text, "", "", {}}).ok());
    REQUIRE(batch.Put(TextMessage(kChannelB, NthId(1), "gone")).ok());
    REQUIRE(batch.PutCommands(text, JsonView::Trusted("[]")).ok());
    REQUIRE(batch.Put(Collection::kPrices, "key", text, JsonView::Trusted("{}")).ok());
    REQUIRE(batch.Put(Collection::kPrices, text, "", JsonView::Trusted("{}")).ok());
    if (text == std::string_view("third")) {
      REQUIRE(batch.Delete(Collection::kPrices, "first").ok());
      REQUIRE(batch.Delete(Collection::kPrices, "second").ok());
    }
    MustCommit(*store, batch);
    if (text == std::string_view("third")) REQUIRE(*store->DeleteChannel(kChannelB, 100));
  }
  const auto all = Everything(*MustOpen(db));
  const auto tables = FilesLike(db, "", ".ldb");
  REQUIRE(tables.size() >= 3);
  for (const bool all_gone : {false, true}) {
    for (const std::string& name : FilesLike(db, "MANIFEST-", "")) std::filesystem::remove(db + "/" + name);
    if (all_gone) std::filesystem::remove(db + "/CURRENT");
    const auto report = Salvage(db, folder.path + "/to");
    REQUIRE_MESSAGE(report.ok(), report.status().ToString());
    CHECK(!report->troubles.empty());
    auto wanted = all;
    std::erase_if(wanted, [](const auto& entry) { return entry.first.starts_with('N'); });
    CHECK(Everything(*MustOpen(folder.path + "/to")) == wanted);
    std::filesystem::remove_all(folder.path + "/to");
  }
}

TEST_CASE("what was replaced does not come back from files that had only to be removed yet") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  {
    const auto store = MustOpen(db);
    Batch batch;
    REQUIRE(batch.Put(Collection::kPrices, "old", "", JsonView::Trusted("{}")).ok());
    REQUIRE(batch.Put(Channel{kChannelA, "a", "", "", {}}).ok());
    REQUIRE(batch.Put(TextMessage(kChannelB, NthId(1), "1 x")).ok());
    MustCommit(*store, batch);
  }
  const auto before = Contents(db);
  {
    const auto store = MustOpen(db);
    Batch batch;
    REQUIRE(batch.Delete(Collection::kPrices, "old").ok());
    MustCommit(*store, batch);
    REQUIRE(*store->DeleteChannel(kChannelB, 100));
    REQUIRE(store->Compact().ok());
  }
  // The table of the beginning is back, and no deletion is any more.
  for (const auto& [name, bytes] : before) {
    if (name.ends_with(".ldb")) {
      REQUIRE(!std::filesystem::exists(db + "/" + name));
      WriteBytes(db + "/" + name, bytes);
    }
  }
  REQUIRE(Salvage(db, folder.path + "/to").ok());
  const auto all = Everything(*MustOpen(folder.path + "/to"));
  CHECK(!all.contains(RecordKey(2, "old")));
  CHECK(all.contains(ChannelKey(*ParseUlid(kChannelA))));
  // Where no manifest says so a deleted channel is still left out.
  for (const std::string& name : FilesLike(db, "MANIFEST-", "")) std::filesystem::remove(db + "/" + name);
  const auto report = Salvage(db, folder.path + "/other");
  REQUIRE(report.ok());
  CHECK(report->deleted == 1);
  const auto store = MustOpen(folder.path + "/other");
  CHECK(store->Last(kChannelB, 10)->messages.empty());
  CHECK(!Everything(*store).contains(MessageKey(*ParseUlid(kChannelB), *ParseUlid(NthId(1)))));
}

TEST_CASE("records that cannot be read go over as they are, and second orders are made again") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  {
    const auto store = MustOpen(db);
    FillWithAll(*store);
  }
  const UlidBytes a = *ParseUlid(kChannelA);
  const std::map<std::string, std::string> odd = {
      {MessageKey(a, *ParseUlid(NthId(7))), "\x02new"},
      {MessageKey(a, *ParseUlid(NthId(8))), "\x01{"},
      {"Zwho", "knows"},
      {std::string("\0\0", 2), "x"},
      {RecordKey(2, "newer"), "\x02?"},
      {OrderKey(2, "an order", "newer"), ""},
      {MemberKey(a, "zed"), ""},
  };
  PutRaw(db, odd);
  PutRaw(db, {{OrderKey(2, "stale", "gpt"), ""}, {OrderKey(2, "of none", "gone"), ""}, {"Q", ""}});
  {
    leveldb::DB* raw = nullptr;
    REQUIRE(leveldb::DB::Open({}, db, &raw).ok());
    REQUIRE(raw->Delete({}, OrderKey(2, "2026", "gpt")).ok());
    delete raw;
  }
  const auto report = Salvage(db, folder.path + "/to");
  REQUIRE_MESSAGE(report.ok(), report.status().ToString());
  CHECK(report->records.messages == Readability{3, 2});
  CHECK(report->records.members == Readability{2, 1});
  CHECK(report->records.records == Readability{2, 1});
  CHECK(report->records.others == Readability{0, 2});
  const auto all = Everything(*MustOpen(folder.path + "/to"));
  for (const auto& [key, value] : odd) {
    REQUIRE(all.contains(key));
    CHECK(all.at(key) == value);
  }
  std::set<std::string> orders;
  for (const auto& [key, value] : all) {
    if (key.starts_with('Q')) orders.insert(key);
  }
  CHECK(orders == std::set<std::string>{OrderKey(2, "2026", "gpt"), OrderKey(2, "an order", "newer"),
                                        OrderKey(3, std::string("\0\0\xFF", 3), std::string("\x80\x00", 2))});
}

TEST_CASE("what a trail lost or what was changed in it is said") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  {
    const auto store = MustOpen(db);
    Batch batch;
    for (int i = 1; i <= 5; ++i)
      REQUIRE(batch.AppendToTrail(JsonView::Trusted(fmt::format("{{\"n\":{}}}", i))).ok());
    MustCommit(*store, batch);
  }
  REQUIRE(Salvage(db, folder.path + "/whole")->trail);
  CHECK(!Salvage(db, folder.path + "/whole-2")->trail->fault);
  SUBCASE("changed") { PutRaw(db, {{TrailKey(3), "\x01" + std::string(32, 'h') + "{\"n\":9}"}}); }
  SUBCASE("unreadable") { PutRaw(db, {{TrailKey(3), "\x02"}}); }
  SUBCASE("its end") { PutRaw(db, {{std::string(kTrailHeadKey), "?"}}); }
  const auto report = Salvage(db, folder.path + "/to");
  REQUIRE_MESSAGE(report.ok(), report.status().ToString());
  REQUIRE(report->trail);
  CHECK(report->trail->fault);
}

TEST_CASE("a history whose format is lost is of this one, and one of a newer format is left alone") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db", to = folder.path + "/to";
  {
    const auto store = MustOpen(db);
    FillWithAll(*store);
  }
  const auto all = Everything(*MustOpen(db));
  std::string value;
  bool refused = false;
  SUBCASE("lost") {
    leveldb::DB* raw = nullptr;
    REQUIRE(leveldb::DB::Open({}, db, &raw).ok());
    REQUIRE(raw->Delete({}, std::string(kFormatKey)).ok());
    delete raw;
  }
  SUBCASE("unreadable") { PutRaw(db, {{std::string(kFormatKey), "\x01{"}}); }
  SUBCASE("newer by its number") {
    PutRaw(db, {{std::string(kFormatKey), "\x01{\"format\":99}"}});
    refused = true;
  }
  SUBCASE("newer by its way of writing") {
    PutRaw(db, {{std::string(kFormatKey), "\x63?"}});
    refused = true;
  }
  const auto before = Contents(db);
  const auto report = Salvage(db, to);
  if (refused) {
    for (const absl::Status& status : {report.status(), Repair(db).status()}) {
      CHECK(status.code() == absl::StatusCode::kDataLoss);
      CHECK_MESSAGE(Says(status, "format 99"), status.ToString());
    }
    CHECK(Contents(db) == before);
    CHECK(Names(folder.path) == std::vector<std::string>{"db"});
    return;
  }
  REQUIRE_MESSAGE(report.ok(), report.status().ToString());
  auto wanted = all;
  std::erase_if(wanted, [](const auto& entry) { return entry.first.starts_with('N'); });
  CHECK(Everything(*MustOpen(to)) == wanted);
}

TEST_CASE("a database of something else, and one of which nothing is left, is not made a history") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  SUBCASE("something else") { PutRaw(db, {{"somebody's", "value"}, {"Z", "x"}}); }
  SUBCASE("nothing is left") {
    {
      const auto store = MustOpen(db);
      FillWithAll(*store);
    }
    const std::string table = db + "/" + FilesLike(db, "", ".ldb").front();
    WriteBytes(table, std::string(ReadBytes(table).size(), 'x'));
  }
  const auto before = Contents(db);
  for (const absl::Status& status : {Salvage(db, folder.path + "/to").status(), Repair(db).status()}) {
    CHECK(status.code() == absl::StatusCode::kDataLoss);
    CHECK_MESSAGE(Says(status, "no record of a history could be read"), status.ToString());
    CHECK(Says(status, db));
  }
  CHECK(Contents(db) == before);
}

TEST_CASE("a database that was made with compression is salvaged as well") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  {
    const auto store = MustOpen(db);
    KeepMany(*store, 0, 50, 700);
  }
  const auto all = Everything(*MustOpen(db));
  std::filesystem::remove_all(db);
  PutRaw(db, all);
  {
    leveldb::DB* raw = nullptr;
    REQUIRE(leveldb::DB::Open({}, db, &raw).ok());
    raw->CompactRange(nullptr, nullptr);
    delete raw;
  }
  const std::string table = db + "/" + FilesLike(db, "", ".ldb").front();
  if (ReadBytes(table).size() > 30'000) {
    MESSAGE("SKIPPED: this LevelDB does not compress");
    return;
  }
  Salvaged salvaged = SalvageOf(db);
  REQUIRE(salvaged.status.ok());
  CHECK(salvaged.report.troubles.empty());
  CHECK(salvaged.messages.size() == 50);
  FlipBit(table, 30);
  salvaged = SalvageOf(db);
  REQUIRE(salvaged.status.ok());
  CHECK(salvaged.report.troubles.size() == 1);
  CHECK(salvaged.messages.size() < 50);
  CHECK(salvaged.messages.size() > 30);
}

}  // namespace
}  // namespace watchbill::history
