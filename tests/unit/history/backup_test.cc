#include <sys/stat.h>

#include "folder_fixture.hpp"
#include "temp_folder.hpp"
#include "transfer_fixture.hpp"

namespace watchbill::history {
namespace {

Message Long(size_t n) {
  return TextMessage(kChannelA, NthId(n), fmt::format("{} {}", n, std::string(50'000, 'x')));
}

TEST_CASE("a backup is the same history in a folder of its own") {
  const TempFolder folder;
  const std::string to = folder.path + "/deep/backup";
  const auto store = MustOpen(folder.path + "/db");
  FillWithAll(*store);
  KeepMany(*store, 10, 100, 50'000);
  const auto all = Everything(*store);
  uint64_t last = 0, calls = 0;
  const mode_t before = umask(0);
  const auto report = Backup(*store, to + "//", [&](uint64_t done, uint64_t) {
    CHECK(done >= last);
    last = done;
    ++calls;
    return true;
  });
  umask(before);
  REQUIRE_MESSAGE(report.ok(), report.status().ToString());
  CHECK(report->keys == all.size());
  CHECK(report->bytes == last);
  CHECK(report->bytes > 4'000'000);
  CHECK(!report->damaged);
  CHECK(calls >= 4);
  CHECK(Names(folder.path + "/deep") == std::vector<std::string>{"backup"});
  CHECK(!std::filesystem::exists(to + "/RESERVE"));
  CheckPrivate(to);
  // Both can be open at once.
  const auto copy = MustOpen(to);
  CHECK(Everything(*copy) == all);
  Keep(*copy, Long(200));
  CHECK(Everything(*store) == all);
}

TEST_CASE("what is committed while a backup is made is kept, and not in it") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path + "/db");
  KeepMany(*store, 0, 100, 50'000);
  const auto all = Everything(*store);
  size_t more = 100;
  const auto report = Backup(*store, folder.path + "/backup", [&](uint64_t, uint64_t) {
    Keep(*store, Long(more++));
    Keep(*store, TextMessage(kChannelA, NthId(0), "replaced"));
    return true;
  });
  REQUIRE(report.ok());
  CHECK(more >= 104);
  CHECK(Everything(*MustOpen(folder.path + "/backup")) == all);
  CHECK(store->Last(kChannelA, 200)->messages.size() == more);
}

TEST_CASE("a history in memory can be backed up too") {
  const TempFolder folder;
  const MemoryStore store;
  FillWithAll(*store);
  REQUIRE(Backup(*store, folder.path).ok());  // into a folder that is there and empty
  CHECK(Everything(*MustOpen(folder.path)) == Everything(*store.engine));
}

TEST_CASE("a backup that is stopped leaves nothing") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path + "/db");
  KeepMany(*store, 0, 100, 50'000);
  // At each call in turn, the last of which comes when all is copied.
  size_t stop_at = 1;
  for (;; ++stop_at) {
    size_t calls = 0;
    const auto report =
        Backup(*store, folder.path + "/backup", [&](uint64_t, uint64_t) { return ++calls < stop_at; });
    if (report.ok()) break;
    CHECK(report.status().code() == absl::StatusCode::kCancelled);
    CHECK(calls == stop_at);
    CHECK(Names(folder.path) == std::vector<std::string>{"db"});
  }
  CHECK(stop_at > 5);
  CHECK(Names(folder.path) == std::vector<std::string>{"backup", "db"});
}

TEST_CASE("a backup is refused where something is, and where it would be in the history itself") {
  const TempFolder folder;
  const std::string db = folder.path + "/db";
  const auto store = MustOpen(db);
  Keep(*store, Long(1));
  std::filesystem::create_directory_symlink(db, folder.path + "/link");
  std::filesystem::create_directory(folder.path + "/full");
  WriteBytes(folder.path + "/full/x", "x");
  WriteBytes(folder.path + "/file", "x");
  std::filesystem::create_directory(folder.path + "/odd.part");
  WriteBytes(folder.path + "/odd.part/notes.txt", "mine");
  const auto before = Contents(db);
  const auto names = Names(folder.path);
  struct Case {
    std::string to, says;
  };
  for (const Case& refused :
       {Case{db, "itself"}, Case{db + "/", "itself"}, Case{db + "/sub", "itself"},
        Case{db + "/a/b", "itself"}, Case{folder.path + "/link", "itself"},
        Case{folder.path + "/link/sub", "itself"}, Case{folder.path + "/full/../db/sub", "itself"},
        Case{folder.path + "/full", "no empty folder"}, Case{folder.path + "/file", "no empty folder"},
        Case{folder.path + "/odd", "notes.txt"}}) {
    CAPTURE(refused.to);
    const auto report = Backup(*store, refused.to);
    CHECK(report.status().code() == absl::StatusCode::kFailedPrecondition);
    CHECK_MESSAGE(Says(report.status(), refused.says), report.status().ToString());
    CHECK(Names(folder.path) == names);
    CHECK(Contents(db) == before);
  }
  CHECK(ReadBytes(folder.path + "/odd.part/notes.txt") == "mine");
  for (const std::string& to : {std::string(), std::string("/"), std::string("a\0b", 3)})
    CHECK(Backup(*store, to).status().code() == absl::StatusCode::kInvalidArgument);
  for (const std::string& to : {folder.path + "/file/backup", std::string("/proc/no/backup")}) {
    const auto report = Backup(*store, to);
    REQUIRE(!report.ok());
    CHECK_MESSAGE(Says(report.status(), to.substr(0, to.rfind('/'))), report.status().ToString());
  }
}

TEST_CASE("what an earlier backup left when it was killed is removed, and one that goes on is not") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path + "/db");
  FillWithAll(*store);
  const std::string part = folder.path + "/backup.part";
  {
    const auto other = MustOpen(part);
    const auto report = Backup(*store, folder.path + "/backup");
    CHECK(report.status().code() == absl::StatusCode::kFailedPrecondition);
    CHECK(Says(report.status(), part));
  }
  WriteBytes(part + "/000099.ldb", "half");
  REQUIRE(Backup(*store, folder.path + "/backup").ok());
  CHECK(!std::filesystem::exists(part));
  CHECK(Everything(*MustOpen(folder.path + "/backup")) == Everything(*store));
}

TEST_CASE("a disk that fills leaves nothing of a backup, and the history goes on") {
  const TempFolder folder;
  const std::string to = folder.path + "/backup";
  const auto store = MustOpen(folder.path + "/db");
  KeepMany(*store, 0, 200, 50'000);
  const auto all = Everything(*store);
  size_t failed = 0;
  for (size_t most = 0; most < 20'000'000; most = most * 3 + 10) {
    CAPTURE(most);
    absl::StatusOr<BackupReport> report;
    {
      const FilesUpTo limit(most);
      report = Backup(*store, to);
    }
    if (report.ok()) {
      CHECK(Everything(*MustOpen(to)) == all);
      std::filesystem::remove_all(to);
      continue;
    }
    ++failed;
    const bool told = absl::IsUnavailable(report.status()) || absl::IsResourceExhausted(report.status());
    CHECK_MESSAGE(told, report.status().ToString());
    CHECK(Says(report.status(), to));
    CHECK(Names(folder.path) == std::vector<std::string>{"db"});
  }
  CHECK(failed > 5);
  Keep(*store, Long(300));
}

TEST_CASE("a backup of a damaged history has what can be read, and says that it is damaged") {
  const TempFolder folder;
  const std::string db = folder.path + "/db";
  {
    const auto store = MustOpen(db);
    KeepMany(*store, 0, 200, 900);
  }
  const auto tables = FilesLike(db, "", ".ldb");
  REQUIRE(tables.size() == 1);
  FlipBit(db + "/" + tables[0], 40'000);
  const auto store = MustOpen(db);
  const auto report = Backup(*store, folder.path + "/backup");
  REQUIRE(report.ok());
  CHECK(report->damaged);
  const auto copy = MustOpen(folder.path + "/backup");
  CHECK(copy->Last(kChannelA, 500)->messages == store->Last(kChannelA, 500)->messages);
  CHECK(copy->Last(kChannelA, 500)->messages.size() > 190);
  CHECK(copy->Last(kChannelA, 500)->unreadable == 0);
}

}  // namespace
}  // namespace watchbill::history
