#include "watchbill/history/store.hpp"

#include <sys/stat.h>

#include "history_fixture.hpp"
#include "temp_folder.hpp"
#include "watchbill/base/ulid.hpp"

namespace watchbill::history {
namespace {

std::vector<std::string> Ids(const Page& page) {
  std::vector<std::string> ids;
  for (const Message& message : page.messages) ids.push_back(message.id);
  return ids;
}

std::vector<std::string> IdsFrom(size_t first, size_t end) {
  std::vector<std::string> ids;
  for (size_t i = first; i < end; ++i) ids.push_back(NthId(i));
  return ids;
}

TEST_CASE("pages of a hundred over 250 messages, oldest first, say exactly whether there is more") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path + "/db");
  Batch batch;
  for (size_t i = 0; i < 250; ++i) {
    // Not in their order, and with neighbours on both sides.
    const size_t n = i * 97 % 250;
    REQUIRE(batch.Put(TextMessage(kChannelA, NthId(n), fmt::format("text {}", n))).ok());
  }
  for (const char* other : {"01ARYZ6S41TSV4RRFFQ69G5FAT", kChannelB})
    REQUIRE(batch.Put(TextMessage(other, NthId(7), "other")).ok());
  REQUIRE(store->Commit(batch).ok());

  const auto last = store->Last(kChannelA, 100);
  REQUIRE(last.ok());
  CHECK(Ids(*last) == IdsFrom(150, 250));
  CHECK(std::get<TextPart>(last->messages[0].parts[0]).text == "text 150");
  CHECK(last->more);
  const auto middle = store->Before(kChannelA, NthId(150), 100);
  CHECK(Ids(*middle) == IdsFrom(50, 150));
  CHECK(middle->more);
  const auto first = store->Before(kChannelA, NthId(50), 100);
  CHECK(Ids(*first) == IdsFrom(0, 50));
  CHECK(!first->more);
  CHECK(first->unreadable == 0);

  CHECK(!store->Before(kChannelA, NthId(100), 100)->more);
  CHECK(store->Before(kChannelA, NthId(101), 100)->more);
  CHECK(!store->Last(kChannelA, 250)->more);
  CHECK(store->Last(kChannelA, 249)->more);
  CHECK(store->Last(kChannelA, 0)->messages.empty());
  CHECK(store->Last(kChannelA, 0)->more);
  CHECK(store->Before(kChannelA, NthId(0), 100)->messages.empty());
  CHECK(!store->Before(kChannelA, NthId(0), 100)->more);
  CHECK(Ids(*store->Before(kChannelA, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", 2)) == IdsFrom(248, 250));
  CHECK(store->Before(kChannelA, "00000000000000000000000000", 2)->messages.empty());
  CHECK(store->Last(kChannelB, 100)->messages.size() == 1);
}

TEST_CASE("a channel without messages is empty, and what is no id is said") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path);
  const auto page = store->Last(kChannelA, 100);
  REQUIRE(page.ok());
  CHECK(page->messages.empty());
  CHECK(!page->more);
  CHECK(store->Members(kChannelA)->empty());
  CHECK(store->Channels()->empty());
  CHECK(store->Commands("codex")->absent());
  for (const absl::Status& status :
       {store->Last("no", 1).status(), store->Before(kChannelA, "no", 1).status(),
        store->Before("no", NthId(1), 1).status(), store->Members("no").status()}) {
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(Says(status, "\"no\": expected a ULID"));
  }
  CHECK(store->Commands("").status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("what was committed is there after opening it again, as it was") {
  const TempFolder folder;
  const Message message = FullMessage(kChannelA, NthId(1));
  const Channel a{kChannelA, "ops", "what goes on", "", {"codex", "claude"}},
      b{kChannelB, "", "", "codex", {"codex"}};
  const std::string odd("\0\xFF", 2);
  {
    const auto store = MustOpen(folder.path);
    Batch batch;
    CHECK(batch.empty());
    REQUIRE(batch.Put(message).ok());
    REQUIRE(batch.Put(b).ok());
    REQUIRE(batch.Put(a).ok());
    for (const std::string& agent : {std::string("zed"), std::string("codex"), odd})
      REQUIRE(batch.Put(kChannelA, {agent, "session of it", NthId(1)}).ok());
    REQUIRE(batch.Put(kChannelB, {"other", "", ""}).ok());
    REQUIRE(batch.PutCommands("codex", JsonView::Trusted(R"([{"name":"plan"}])")).ok());
    CHECK(!batch.empty());
    REQUIRE(store->Commit(batch).ok());
    REQUIRE(store->Commit(Batch()).ok());
  }
  for (int round = 0; round < 2; ++round) {
    const auto store = MustOpen(folder.path);
    REQUIRE(store->Last(kChannelA, 10)->messages.size() == 1);
    CHECK(store->Last(kChannelA, 10)->messages[0] == message);
    CHECK(*store->Channels() == std::vector<Channel>{a, b});
    CHECK(*store->Members(kChannelA) == std::vector<Member>{{odd, "session of it", NthId(1)},
                                                            {"codex", "session of it", NthId(1)},
                                                            {"zed", "session of it", NthId(1)}});
    CHECK(store->Members(kChannelB)->size() == 1);
    CHECK(store->Commands("codex")->text() == R"([{"name":"plan"}])");
    CHECK(store->Commands("code")->absent());
    CHECK(store->unreadable() == 0);
  }
}

TEST_CASE("what is put again replaces what was there") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path);
  Keep(*store, TextMessage(kChannelA, NthId(1), "first"));
  Keep(*store, TextMessage(kChannelA, NthId(1), "second"));
  const auto page = store->Last(kChannelA, 10);
  REQUIRE(page->messages.size() == 1);
  CHECK(std::get<TextPart>(page->messages[0].parts[0]).text == "second");
}

TEST_CASE("what cannot be kept is refused, and nothing is added") {
  Batch batch;
  Message streaming = TextMessage(kChannelA, NthId(1), "half");
  streaming.done = false;
  Message queued = TextMessage(kChannelA, NthId(1), "later");
  queued.queued = true;
  const Member nameless, long_name{std::string(kMaxAgentBytes + 1, 'a'), "", ""};
  for (const absl::Status& status :
       {batch.Put(streaming), batch.Put(queued), batch.Put(TextMessage("x", NthId(1), "")),
        batch.Put(TextMessage(kChannelA, "x", "")), batch.Put(Channel()), batch.Put(kChannelA, nameless),
        batch.Put(kChannelA, long_name), batch.Put("x", {"codex", "", ""}),
        batch.PutCommands("codex", JsonView()), batch.PutCommands("", JsonView::Trusted("[]")),
        batch.Put(TextMessage(kChannelA, NthId(1), std::string(kMaxRecordBytes, 'a')))}) {
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(!MessageOf(status).empty());
  }
  CHECK(batch.empty());
  CHECK(Says(batch.Put(streaming), "not finished"));
  CHECK(Says(batch.Put(queued), "queued"));
}

TEST_CASE("a great message is kept whole") {
  const TempFolder folder;
  const Message message = TextMessage(kChannelA, NthId(1), std::string(kMaxRecordBytes - 1000, 'a'));
  Keep(*MustOpen(folder.path), message);
  const auto page = MustOpen(folder.path)->Last(kChannelA, 10);
  REQUIRE(page->messages.size() == 1);
  CHECK(page->messages[0] == message);
}

TEST_CASE("folders and files are for their user alone, and those above are made") {
  const TempFolder folder;
  const std::string deep = folder.path + "/a/b/db";
  const mode_t before = umask(0);
  {
    const auto store = MustOpen(deep);
    Keep(*store, TextMessage(kChannelA, NthId(1), "x"));
  }
  // A second time, so that there is a table too.
  MustOpen(deep);
  umask(before);
  for (const std::string& at : {folder.path + "/a", folder.path + "/a/b", deep}) {
    struct stat there {};
    REQUIRE(stat(at.c_str(), &there) == 0);
    CHECK_MESSAGE((there.st_mode & 0777) == 0700, at);
  }
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(deep)) {
    struct stat there {};
    REQUIRE(stat(entry.path().c_str(), &there) == 0);
    CHECK_MESSAGE((there.st_mode & 0777) == 0600, entry.path().string());
    ++files;
  }
  CHECK(files >= 5);  // CURRENT LOCK MANIFEST a log and a table
}

TEST_CASE("where nothing is to be made, nothing is") {
  const TempFolder folder;
  Store::Options options;
  options.create = false;
  const auto store = Store::Open(folder.path + "/no", options);
  CHECK(store.status().code() == absl::StatusCode::kNotFound);
  CHECK(Says(store.status(), folder.path + "/no"));
  CHECK(!std::filesystem::exists(folder.path + "/no"));
  CHECK(Store::Open(folder.path, options).status().code() == absl::StatusCode::kNotFound);
  CHECK(Contents(folder.path).empty());
  MustOpen(folder.path);
  CHECK(Store::Open(folder.path, options).ok());
}

TEST_CASE("a folder that cannot be made is named") {
  const TempFolder folder;
  WriteBytes(folder.path + "/file", "x");
  for (const std::string& path :
       {folder.path + "/file", folder.path + "/file/db", std::string("/proc/no/db")}) {
    const auto store = Store::Open(path);
    REQUIRE(!store.ok());
    CHECK(Says(store.status(), path));
    const bool advice = Says(store.status(), "name another folder") || Says(store.status(), "name a folder");
    CHECK(advice);
  }
  CHECK(Store::Open("").status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE(
    "a second opening in the same process is refused by any name of the folder, and takes no lock away") {
  const TempFolder folder;
  const std::string path = folder.path + "/db";
  auto store = MustOpen(path);
  std::filesystem::create_directory_symlink(path, folder.path + "/link");
  for (const std::string& name : {path, path + "/", folder.path + "/link"}) {
    const auto second = Store::Open(name);
    CHECK(second.status().code() == absl::StatusCode::kFailedPrecondition);
    CHECK(Says(second.status(), "this process"));
    CHECK(Says(second.status(), name));
  }
  Keep(*store, TextMessage(kChannelA, NthId(1), "x"));
  store.reset();
  CHECK(MustOpen(path)->Last(kChannelA, 1)->messages.size() == 1);
}

}  // namespace
}  // namespace watchbill::history
