// What is damaged, or of a version that is not known.
#include <optional>

#include "failing_env.hpp"
#include "history_fixture.hpp"
#include "keys.hpp"
#include "leveldb/db.h"
#include "temp_folder.hpp"

namespace watchbill::history {
namespace {

// The one file of a folder whose name ends so.
std::string Only(const std::string& folder, std::string_view end) {
  std::string found;
  for (const auto& [name, bytes] : Contents(folder)) {
    if (!name.ends_with(end)) continue;
    REQUIRE_MESSAGE(found.empty(), name);
    found = folder + "/" + name;
  }
  REQUIRE_MESSAGE(!found.empty(), end);
  return found;
}

void FlipByte(const std::string& path, size_t at) {
  std::string bytes = ReadBytes(path);
  REQUIRE(at < bytes.size());
  bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
  WriteBytes(path, bytes);
}

void Fill(const std::string& folder, size_t messages) {
  auto store = MustOpen(folder);
  for (size_t i = 0; i < messages; ++i)
    Keep(*store, TextMessage(kChannelA, NthId(i), fmt::format("text {} {}", i, std::string(900, 'x'))));
  CloseAsKilled(std::move(store), folder);
}

// Writes past the store, as another version or a mistake would.
void PutRaw(const std::string& folder, const std::string& key, const std::string& value) {
  leveldb::DB* db = nullptr;
  REQUIRE(leveldb::DB::Open(leveldb::Options(), folder, &db).ok());
  const std::unique_ptr<leveldb::DB> owned(db);
  leveldb::WriteOptions synced;
  synced.sync = true;
  REQUIRE(db->Put(synced, key, value).ok());
}

std::string MessageKeyOf(const std::string& channel, const std::string& id) {
  return MessageKey(*ParseUlid(channel), *ParseUlid(id));
}

TEST_CASE("a flipped byte of the log is refused, and no file is changed") {
  const TempFolder folder;
  const std::string path = folder.path + "/db";
  Fill(path, 20);
  FlipByte(Only(path, ".log"), 3'000);
  const auto before = Contents(path);
  for (int round = 0; round < 2; ++round) {
    const auto store = Store::Open(path);
    REQUIRE(store.status().code() == absl::StatusCode::kDataLoss);
    CHECK(Says(store.status(), path));
    CHECK(Says(store.status(), "copy the folder aside"));
    CHECK(Contents(path) == before);
  }
}

// Every file of a database in memory, to be put back with changes.
struct Snapshot {
  explicit Snapshot(FailingEnv& of) : env(of) {
    std::vector<std::string> names;
    REQUIRE(env.GetChildren("/db", &names).ok());
    for (const std::string& name : names) {
      std::string bytes;
      if (leveldb::ReadFileToString(&env, "/db/" + name, &bytes).ok()) files[name] = bytes;
    }
  }
  void PutBack(const std::string& name, const std::string& bytes) {
    std::vector<std::string> names;
    REQUIRE(env.GetChildren("/db", &names).ok());
    for (const std::string& old : names) REQUIRE(env.RemoveFile("/db/" + old).ok());
    for (const auto& [kept, as_it_was] : files)
      REQUIRE(leveldb::WriteStringToFile(&env, kept == name ? bytes : as_it_was, "/db/" + kept).ok());
  }
  FailingEnv& env;
  std::map<std::string, std::string> files;
};

TEST_CASE(
    "no wrong bit of a log or of the manifest loses a message in silence, and a log that was cut is no "
    "damage") {
  FailingEnv env;
  const auto open = [&] { return OpenOver(env, 1 << 20); };
  constexpr size_t kKept = 6;
  std::optional<Snapshot> snapshot;
  // The second time there is a table as well, of the first three.
  for (size_t i = 0; i < kKept; i += 3) {
    auto store = open();
    REQUIRE(store.ok());
    for (size_t n = i; n < i + 3; ++n) Keep(**store, TextMessage(kChannelA, NthId(n), "text"));
    // As they are when the machine stops: a close would make a table of the log.
    snapshot.emplace(env);
  }
  size_t refused = 0, cut = 0;
  for (const auto& [name, good] : snapshot->files) {
    if (!name.ends_with(".log") && !name.starts_with("MANIFEST")) continue;
    for (size_t bit = 0; bit < good.size() * 8; ++bit) {
      CAPTURE(name);
      CAPTURE(bit);
      std::string bytes = good;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      snapshot->PutBack(name, bytes);
      const auto store = open();
      if (store.ok()) {
        CHECK((*store)->Last(kChannelA, 100)->messages.size() == kKept);
      } else {
        CHECK(store.status().code() == absl::StatusCode::kDataLoss);
        ++refused;
      }
    }
    if (!name.ends_with(".log")) continue;
    for (size_t size = 0; size < good.size(); ++size) {
      CAPTURE(size);
      snapshot->PutBack(name, good.substr(0, size));
      const auto store = open();
      REQUIRE(store.ok());
      const auto page = (*store)->Last(kChannelA, 100);
      CHECK(page->unreadable == 0);
      CHECK(page->messages.size() >= 3);
      CHECK(page->messages.size() < kKept);
      ++cut;
    }
  }
  CHECK(refused > 1'000);
  CHECK(cut > 100);
}

TEST_CASE("a damaged block of a table hides its own messages alone, and is counted") {
  const TempFolder folder;
  Fill(folder.path, 100);
  MustOpen(folder.path);  // the log becomes a table
  FlipByte(Only(folder.path, ".ldb"), 40'000);
  const auto before = ReadBytes(Only(folder.path, ".ldb"));
  const auto store = MustOpen(folder.path);
  const auto page = store->Last(kChannelA, 200);
  REQUIRE(page.ok());
  CHECK(page->unreadable == 1);
  CHECK(page->messages.size() >= 90);
  CHECK(page->messages.size() < 100);
  CHECK(page->messages.front().id == NthId(0));
  CHECK(page->messages.back().id == NthId(99));
  CHECK(!page->more);
  CHECK(store->unreadable() == 1);
  // Again, past the cache and not.
  CHECK(store->Last(kChannelA, 200)->messages == page->messages);
  CHECK(ReadBytes(Only(folder.path, ".ldb")) == before);
}

TEST_CASE("a database that lost a part is refused") {
  const TempFolder folder;
  const std::string path = folder.path + "/db";
  Fill(path, 5);
  MustOpen(path);
  Fill(path, 6);
  std::string part;
  SUBCASE("the name of its manifest") { part = "CURRENT"; }
  SUBCASE("its manifest") { part = "MANIFEST"; }
  SUBCASE("a table") { part = "table"; }
  if (part == "table") {
    // The first of them, of which there are several by now.
    for (const auto& [name, bytes] : Contents(path)) {
      if (name.ends_with(".ldb")) part = name;
    }
    REQUIRE(part != "table");
  }
  for (const auto& [name, bytes] : Contents(path)) {
    if (name.starts_with(part)) std::filesystem::remove(path + "/" + name);
  }
  const auto before = Contents(path);
  const auto store = Store::Open(path);
  REQUIRE(store.status().code() == absl::StatusCode::kDataLoss);
  CHECK(Says(store.status(), path));
  CHECK(Contents(path) == before);
}

TEST_CASE("a damaged manifest is refused") {
  const TempFolder folder;
  const std::string path = folder.path + "/db";
  Fill(path, 5);
  for (const auto& [name, bytes] : Contents(path)) {
    if (name.starts_with("MANIFEST")) FlipByte(path + "/" + name, 10);
  }
  const auto before = Contents(path);
  CHECK(Store::Open(path).status().code() == absl::StatusCode::kDataLoss);
  CHECK(Contents(path) == before);
}

TEST_CASE("a database of a newer format is refused with both numbers, and keeps its records") {
  const TempFolder folder;
  Fill(folder.path, 3);
  std::string value;
  SUBCASE("by its number") { value = "\x01{\"format\":3}"; }
  SUBCASE("by the way its number is written") { value = "\x03whatever"; }
  PutRaw(folder.path, std::string(kFormatKey), value);
  for (int round = 0; round < 2; ++round) {
    const auto store = Store::Open(folder.path);
    REQUIRE(store.status().code() == absl::StatusCode::kDataLoss);
    CHECK(Says(store.status(), "format 3"));
    CHECK(Says(store.status(), "up to 2"));
    CHECK(Says(store.status(), folder.path));
  }
  PutRaw(folder.path, std::string(kFormatKey), "\x01{\"format\":1}");
  CHECK(MustOpen(folder.path)->Last(kChannelA, 10)->messages.size() == 3);
}

TEST_CASE("a database of something else is refused, and one whose making was cut short is not") {
  const TempFolder folder;
  {
    leveldb::Options options;
    options.create_if_missing = true;
    leveldb::DB* db = nullptr;
    REQUIRE(leveldb::DB::Open(options, folder.path, &db).ok());
    delete db;
  }
  MustOpen(folder.path);  // nothing is in it yet
  const TempFolder other;
  {
    leveldb::Options options;
    options.create_if_missing = true;
    leveldb::DB* db = nullptr;
    REQUIRE(leveldb::DB::Open(options, other.path, &db).ok());
    delete db;
  }
  PutRaw(other.path, "somebody's", "value");
  CHECK(Store::Open(other.path).status().code() == absl::StatusCode::kDataLoss);
  PutRaw(other.path, std::string(kFormatKey), "\x01{\"format\":");
  CHECK(Store::Open(other.path).status().code() == absl::StatusCode::kDataLoss);
}

TEST_CASE("a record that cannot be read is counted, and the others are there") {
  const TempFolder folder;
  Fill(folder.path, 5);
  const std::string good = "{\"id\":\"" + NthId(2) + "\",\"parts\":[]}";
  bool readable = false;
  std::string value;
  SUBCASE("empty") { value = ""; }
  SUBCASE("a newer version") { value = "\x02" + good; }
  SUBCASE("not JSON") { value = "\x01{\"id\":"; }
  SUBCASE("a NUL in it") { value = std::string("\x01{\"id\":\"\0\"}", 10); }
  SUBCASE("not UTF-8") { value = "\x01{\"id\":\"\xFF\"}"; }
  SUBCASE("another's id") { value = "\x01{\"id\":\"" + NthId(4) + "\"}"; }
  SUBCASE("another channel's") {
    value = "\x01{\"id\":\"" + NthId(2) + "\",\"channel\":\"" + kChannelB + "\"}";
  }
  SUBCASE("none of these") {
    value = "\x01" + good;
    readable = true;
  }
  PutRaw(folder.path, MessageKeyOf(kChannelA, NthId(2)), value);
  const auto store = MustOpen(folder.path);
  const auto page = store->Last(kChannelA, 10);
  REQUIRE(page.ok());
  CHECK(page->messages.size() == (readable ? 5 : 4));
  CHECK(page->unreadable == (readable ? 0 : 1));
  CHECK(page->messages.front().id == NthId(0));
  CHECK(page->messages.back().id == NthId(4));
  CHECK(store->unreadable() == page->unreadable);
  for (const Message& message : page->messages) CHECK(message.channel == kChannelA);
  // It takes no place on a page: who asks for three is given three.
  const auto three = store->Last(kChannelA, 3);
  CHECK(three->messages.size() == 3);
  CHECK(three->messages.front().id == NthId(readable ? 2 : 1));
  CHECK(three->more);
}

TEST_CASE("a key that is none of a message is counted, and hides nothing") {
  const TempFolder folder;
  Fill(folder.path, 2);
  PutRaw(folder.path, MessageKeyOf(kChannelA, NthId(1)) + "x", "\x01{}");
  const auto page = MustOpen(folder.path)->Last(kChannelA, 10);
  CHECK(page->messages.size() == 2);
  CHECK(page->unreadable == 1);
}

TEST_CASE("channels, members and commands that cannot be read leave what their keys say") {
  const TempFolder folder;
  {
    const auto store = MustOpen(folder.path);
    Batch batch;
    REQUIRE(batch.Put(Channel{kChannelA, "a", "", "", {}}).ok());
    REQUIRE(batch.Put(Channel{kChannelB, "b", "", "", {}}).ok());
    REQUIRE(batch.Put(kChannelA, {"claude", "s1", ""}).ok());
    REQUIRE(batch.Put(kChannelA, {"codex", "s2", ""}).ok());
    REQUIRE(batch.PutCommands("codex", JsonView::Trusted("[]")).ok());
    REQUIRE(store->Commit(batch).ok());
  }
  PutRaw(folder.path, ChannelKey(*ParseUlid(kChannelA)), "\x02?");
  PutRaw(folder.path, "Cx", "\x01{}");
  PutRaw(folder.path, MemberKey(*ParseUlid(kChannelA), "claude"), "\x01[");
  PutRaw(folder.path, CommandsKey("codex"), "\x01[");
  const auto store = MustOpen(folder.path);
  const auto channels = store->Channels();
  REQUIRE(channels.ok());
  REQUIRE(channels->size() == 2);
  CHECK((*channels)[0] == Channel{kChannelA, "", "", "", {}});
  CHECK((*channels)[1].name == "b");
  CHECK(store->unreadable() == 2);
  CHECK(*store->Members(kChannelA) == std::vector<Member>{{"claude", "", ""}, {"codex", "s2", ""}});
  CHECK(store->unreadable() == 3);
  CHECK(store->Commands("codex")->absent());
  CHECK(store->unreadable() == 4);
}

}  // namespace
}  // namespace watchbill::history
