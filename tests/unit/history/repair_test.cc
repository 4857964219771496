// What is made of damaged histories. Where damage is done byte by byte, salvage_test.cc has it.
#include "watchbill/history/repair.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder_fixture.hpp"
#include "repair_steps.hpp"
#include "temp_folder.hpp"
#include "transfer_fixture.hpp"

namespace watchbill::history {
namespace {

// A history with a table and a log, as its process left it when it was killed.
void MakeHistory(const std::string& folder) {
  auto store = MustOpen(folder);
  FillWithAll(*store);
  KeepMany(*store, 10, 60, 900);
  store.reset();
  store = MustOpen(folder);
  KeepMany(*store, 60, 70, 900);
  CloseAsKilled(std::move(store), folder);
}

enum class Harm { kLog, kTable, kTableIsMissing, kNoCurrent, kNoManifest, kManifest, kCurrent };
const std::vector<Harm> kAllHarm = {Harm::kLog,       Harm::kTable,      Harm::kTableIsMissing,
                                    Harm::kNoCurrent, Harm::kNoManifest, Harm::kManifest,
                                    Harm::kCurrent};

void Damage(const std::string& folder, Harm harm) {
  const auto only = [&](std::string_view begin, std::string_view end) {
    const auto files = FilesLike(folder, begin, end);
    REQUIRE(!files.empty());
    return folder + "/" + files.back();
  };
  switch (harm) {
    case Harm::kLog:
      return FlipBit(only("", ".log"), 3'000);
    case Harm::kTable:
      return FlipBit(only("", ".ldb"), 20'000);
    case Harm::kTableIsMissing:
      std::filesystem::remove(only("", ".ldb"));
      return;
    case Harm::kNoCurrent:
      std::filesystem::remove(folder + "/CURRENT");
      return;
    case Harm::kNoManifest:
      std::filesystem::remove(only("MANIFEST-", ""));
      return;
    case Harm::kManifest:
      return FlipBit(only("MANIFEST-", ""), 20);
    case Harm::kCurrent:
      WriteBytes(folder + "/CURRENT", "MANIFEST-nonsense\n");
      return;
  }
}

TEST_CASE("an inspection says what is there, and changes nothing") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  MakeHistory(db);
  const Stamped before(db);
  const auto found = Inspect(db, {.read_all = true});
  REQUIRE_MESSAGE(found.ok(), found.status().ToString());
  CHECK(found->there);
  CHECK(found->history);
  CHECK(found->files == 4);  // CURRENT, a manifest, a table, a log
  CHECK(found->tables == 1);
  CHECK(found->logs == 1);
  CHECK(found->bytes > 60'000);
  CHECK(found->log_bytes > 9'000);
  CHECK(found->log_bytes < found->bytes);
  CHECK(found->others.empty());
  CHECK(found->format == kFormat);
  CHECK(!found->holder);
  CHECK(found->opens.ok());
  CHECK(!found->damaged);
  CHECK(found->records.messages == Readability{63, 0});
  CHECK(found->records.channels == Readability{2, 0});
  CHECK(found->records.members == Readability{2, 0});
  CHECK(found->records.commands == Readability{1, 0});
  CHECK(found->records.records == Readability{2, 0});
  CHECK(found->records.orders == Readability{2, 0});
  CHECK(found->records.trail == Readability{2, 0});
  CHECK(found->records.index == Readability{63, 0});  // which have arrived
  CHECK(Stamped(db) == before);
  CHECK(Inspect(db)->records == RecordReport());

  WriteBytes(db + "/notes.txt", "mine");
  CHECK(Inspect(db)->others == std::vector<std::string>{"notes.txt"});
  const auto none = Inspect(folder.path + "/no");
  CHECK(!none->there);
  CHECK(none->opens.code() == absl::StatusCode::kNotFound);
  CHECK(!Inspect(db + "/notes.txt")->there);
  const auto other = Inspect(folder.path);
  CHECK(other->there);
  CHECK(!other->history);
  CHECK(other->opens.code() == absl::StatusCode::kNotFound);
  CHECK(Names(folder.path) == std::vector<std::string>{"db"});
  CHECK(Inspect("").status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("an inspection of what is damaged says what an opening would say, and changes nothing") {
  for (const Harm harm : kAllHarm) {
    CAPTURE(static_cast<int>(harm));
    const MemoryFolder folder;
    const std::string db = folder.path + "/db";
    MakeHistory(db);
    Damage(db, harm);
    const Stamped before(db);
    const auto found = Inspect(db, {.read_all = true});
    REQUIRE(found.ok());
    CHECK(found->history);
    CHECK(Stamped(db) == before);
    const auto store = Store::Open(db);
    CHECK(store.status() == found->opens);
    CHECK(found->damaged == (harm == Harm::kTable));
    CHECK(store.ok() == (harm == Harm::kTable));
  }
}

TEST_CASE("an inspection says who has the history, and takes nothing from them") {
  const MemoryFolder folder;
  auto store = MustOpen(folder.path);
  const auto found = Inspect(folder.path);
  REQUIRE(found.ok());
  CHECK(found->holder == getpid());
  CHECK(found->opens.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(Says(found->opens, "this process"));
  // The lock is still there.
  const std::string writer = WATCHBILL_HISTORY_WRITER;
  CHECK(std::system(fmt::format("{} hold {} < /dev/null > /dev/null 2>&1", writer, folder.path).c_str()) !=
        0);
  store.reset();
  CHECK(!Inspect(folder.path)->holder);
  CHECK(std::system(fmt::format("{} hold {} < /dev/null > /dev/null 2>&1", writer, folder.path).c_str()) ==
        0);
}

// Another process that has the folder open until this goes.
struct Holder {
  explicit Holder(const std::string& folder) {
    int in[2], out[2];
    REQUIRE(pipe2(in, O_CLOEXEC) == 0);
    REQUIRE(pipe2(out, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    std::string program = WATCHBILL_HISTORY_WRITER, mode = "hold", path = folder;
    char* argv[] = {program.data(), mode.data(), path.data(), nullptr};
    REQUIRE(posix_spawn(&pid, program.c_str(), &actions, nullptr, argv, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    input = in[1];
    char byte = 0;
    REQUIRE(read(out[0], &byte, 1) == 1);  // it says that it is open
    close(out[0]);
  }
  ~Holder() {
    close(input);
    waitpid(pid, nullptr, 0);
  }
  pid_t pid = -1;
  int input = -1;
};

TEST_CASE("a history that somebody has is neither salvaged nor repaired") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db", to = folder.path + "/to";
  MakeHistory(db);
  const auto refused = [&](const std::string& who) {
    const Stamped before(db);
    for (const absl::Status& status : {Salvage(db, to).status(), Repair(db).status()}) {
      CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
      CHECK_MESSAGE(Says(status, who), status.ToString());
    }
    CHECK(Names(folder.path) == std::vector<std::string>{"db"});
    CHECK(Stamped(db) == before);
  };
  {
    const Holder other(db);
    refused(fmt::format("process {}", other.pid));
    CHECK(Inspect(db)->holder == other.pid);
  }
  const auto store = MustOpen(db);
  refused("this process");
  KeepMany(*store, 100, 101, 10);
}

// What is not derived, and the rest is derived right.
void CheckSame(const std::map<std::string, std::string>& found, std::map<std::string, std::string> wanted) {
  std::erase_if(wanted, [](const auto& entry) { return entry.first.starts_with('N'); });
  CHECK(found == wanted);
}

TEST_CASE("a whole history is salvaged whole, but for its index, and stays as it was") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db", to = folder.path + "/deep/to";
  MakeHistory(db);
  const Stamped before(db);
  const auto report = Salvage(db + "/", to + "/");
  REQUIRE_MESSAGE(report.ok(), report.status().ToString());
  CHECK(Stamped(db) == before);
  CHECK(report->troubles.empty());
  CHECK(report->files == 2);
  CHECK(report->bytes > 60'000);
  CHECK(report->records == Inspect(db, {.read_all = true})->records);
  CHECK(report->deleted == 0);
  REQUIRE(report->trail);
  CHECK(!report->trail->fault);
  CHECK(report->trail->entries == 2);
  CHECK(Names(folder.path + "/deep") == std::vector<std::string>{"to"});
  CheckPrivate(to);
  CheckSame(Everything(*MustOpen(to)), Everything(*MustOpen(db)));
  CHECK(Salvage(db, to).status().code() == absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a damaged history is repaired in its place, and what it was is beside it") {
  for (const Harm harm : kAllHarm) {
    CAPTURE(static_cast<int>(harm));
    const MemoryFolder folder;
    const std::string db = folder.path + "/db";
    MakeHistory(db);
    Damage(db, harm);
    auto before = Contents(db);
    before.erase("LOCK");
    WriteBytes(db + "/notes.txt", "mine");
    std::filesystem::create_directory(db + "/more");
    WriteBytes(db + "/more/x", "mine too");
    const auto report = Repair(db);
    REQUIRE_MESSAGE(report.ok(), report.status().ToString());
    CHECK(report->needed);
    CHECK(!report->why.empty());
    CHECK(report->copy == db + ".damaged-1");
    CHECK(Contents(report->copy) == before);
    CheckPrivate(report->copy);
    CHECK(Names(folder.path) == std::vector<std::string>{"db", "db.damaged-1"});
    CHECK(ReadBytes(db + "/notes.txt") == "mine");
    CHECK(ReadBytes(db + "/more/x") == "mine too");
    const bool lost = harm == Harm::kLog || harm == Harm::kTable || harm == Harm::kTableIsMissing;
    CHECK(!report->salvage.troubles.empty());
    {
      const auto store = MustOpen(db);
      const auto page = store->Last(kChannelA, 100);
      REQUIRE(page.ok());
      CHECK(page->unreadable == 0);
      CHECK((page->messages.size() == 62) == !lost);
      // Of a log in which all was written at once, and of a table of which there is one, much is lost.
      CHECK(page->messages.size() >= (harm == Harm::kTableIsMissing ? 10 : 50));
      KeepMany(*store, 200, 210, 100);
    }
    const auto again = Repair(db);
    REQUIRE(again.ok());
    CHECK(!again->needed);
    CHECK(again->copy.empty());
    CHECK(Names(folder.path) == std::vector<std::string>{"db", "db.damaged-1"});
    // Damaged once more it has a second copy.
    Damage(db, Harm::kNoCurrent);
    CHECK(Repair(db)->copy == db + ".damaged-2");
    CHECK(MustOpen(db)->Last(kChannelA, 3)->messages.size() == 3);
  }
}

TEST_CASE("a repair of a whole history does nothing") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  MakeHistory(db);
  const Stamped before(db);
  const auto report = Repair(db);
  REQUIRE(report.ok());
  CHECK(!report->needed);
  CHECK(Stamped(db) == before);
  CHECK(Names(folder.path) == std::vector<std::string>{"db"});
}

TEST_CASE("a name that leads to a history repairs that, and stays a name") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/real/db";
  std::filesystem::create_directory(folder.path + "/real");
  MakeHistory(db);
  std::filesystem::create_directory_symlink(db, folder.path + "/link");
  Damage(db, Harm::kNoManifest);
  const auto report = Repair(folder.path + "/link/");
  REQUIRE_MESSAGE(report.ok(), report.status().ToString());
  CHECK(std::filesystem::is_symlink(folder.path + "/link"));
  CHECK(Names(folder.path + "/real") == std::vector<std::string>{"db", "db.damaged-1"});
  CHECK(MustOpen(folder.path + "/link")->Last(kChannelA, 100)->messages.size() == 62);
}

int RunRepairer(const std::string& folder, size_t steps) {
  std::string program = WATCHBILL_HISTORY_REPAIRER, path = folder, number = std::to_string(steps);
  char* argv[] = {program.data(), path.data(), number.data(), nullptr};
  pid_t pid = -1;
  REQUIRE(posix_spawn(&pid, program.c_str(), nullptr, nullptr, argv, environ) == 0);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("a repair that is killed at any step leaves the old history or the new one, and is gone on with") {
  const MemoryFolder damaged;
  MakeHistory(damaged.path + "/db");
  Damage(damaged.path + "/db", Harm::kNoManifest);
  for (const char* name : {"/a.txt", "/b.txt"}) WriteBytes(damaged.path + "/db" + name, name);
  auto before = Contents(damaged.path + "/db");
  before.erase("LOCK");
  size_t steps = 0, old = 0;
  for (bool done = false; !done; ++steps) {
    CAPTURE(steps);
    const MemoryFolder folder;
    const std::string db = folder.path + "/db";
    std::filesystem::copy(damaged.path + "/db", db);
    const int ended = RunRepairer(db, steps);
    REQUIRE((ended == 9 || ended == 0));
    done = ended == 0;
    auto now = Contents(db);
    now.erase("LOCK");
    if (now == before) {
      ++old;
    } else {
      CHECK(Inspect(db, {.read_all = true})->records.messages == Readability{63, 0});
      for (const auto& [name, bytes] : before) {
        if (!name.ends_with(".txt")) CHECK(ReadBytes(db + ".damaged-1/" + name) == bytes);
      }
    }
    if (!done) CHECK(RunRepairer(db, 1'000) == 0);
    // Once more, for what an earlier one may have left.
    const auto report = Repair(db);
    REQUIRE_MESSAGE(report.ok(), report.status().ToString());
    CHECK(!report->needed);
    CHECK(Names(folder.path) == std::vector<std::string>{"db", "db.damaged-1"});
    for (const char* name : {"/a.txt", "/b.txt"}) CHECK(ReadBytes(db + name) == name);
    for (const auto& [name, bytes] : before) {
      if (!name.ends_with(".txt")) CHECK(ReadBytes(db + ".damaged-1/" + name) == bytes);
    }
    CHECK(MustOpen(db)->Last(kChannelA, 100)->messages.size() == 62);
  }
  CHECK(old >= 5);
  CHECK(steps > old + 2);
}

TEST_CASE("what an earlier repair left half removed is no obstacle, and what is not its own is") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db", made = folder.path + "/db.repaired";
  MakeHistory(db);
  std::filesystem::create_directory(made);
  WriteBytes(made + "/000099.ldb", "who knows what");
  const auto refused = Repair(db);
  CHECK(refused.status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(Says(refused.status(), made));
  CHECK(ReadBytes(made + "/000099.ldb") == "who knows what");
  std::filesystem::remove_all(made);

  Damage(db, Harm::kNoCurrent);
  REQUIRE(Repair(db).ok());
  // As it is while the old one is being removed.
  std::filesystem::copy(db + ".damaged-1", made);
  std::filesystem::remove(made + "/" + FilesLike(made, "", ".ldb").front());
  const auto report = Repair(db);
  REQUIRE_MESSAGE(report.ok(), report.status().ToString());
  CHECK(report->needed);
  CHECK(report->copy == db + ".damaged-1");
  CHECK(Says(absl::UnknownError(report->why), "broken off"));
  CHECK(Names(folder.path) == std::vector<std::string>{"db", "db.damaged-1"});
}

TEST_CASE("a disk that fills leaves a damaged history as it was, and nothing half made") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db", to = folder.path + "/to";
  MakeHistory(db);
  Damage(db, Harm::kNoManifest);
  WriteBytes(db + "/LOCK", "");
  const auto before = Contents(db);
  size_t failed = 0;
  const auto told = [&](const absl::Status& status) {
    ++failed;
    const bool says = absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
    CHECK_MESSAGE(says, status.ToString());
    CHECK_MESSAGE(Says(status, folder.path), status.ToString());
    CHECK(Contents(db) == before);
  };
  for (size_t most = 0; most < 10'000'000; most = most * 2 + 10) {
    CAPTURE(most);
    absl::Status salvaged, repaired;
    {
      const FilesUpTo limit(most);
      salvaged = Salvage(db, to).status();
      if (!salvaged.ok()) repaired = Repair(db).status();
    }
    if (salvaged.ok()) {
      CHECK(MustOpen(to)->Last(kChannelA, 100)->messages.size() == 62);
      std::filesystem::remove_all(to);
      continue;
    }
    told(salvaged);
    told(repaired);
    // A copy that was made whole may be there, and is used by the next.
    for (const std::string& name : Names(folder.path)) CHECK((name == "db" || name == "db.damaged-1"));
  }
  CHECK(failed >= 20);
  const auto report = Repair(db);
  REQUIRE(report.ok());
  CHECK(report->copy == db + ".damaged-1");
  CHECK(MustOpen(db)->Last(kChannelA, 100)->messages.size() == 62);
}

TEST_CASE("what is no history is left alone, and said") {
  const MemoryFolder folder;
  std::filesystem::create_directory(folder.path + "/empty");
  std::filesystem::create_directory(folder.path + "/photos");
  WriteBytes(folder.path + "/photos/1.jpg", "x");
  WriteBytes(folder.path + "/file", "x");
  const auto names = Names(folder.path);
  struct Case {
    std::string path;
    absl::StatusCode code;
  };
  for (const Case& none : {Case{folder.path + "/empty", absl::StatusCode::kNotFound},
                           Case{folder.path + "/photos", absl::StatusCode::kNotFound},
                           Case{folder.path + "/no", absl::StatusCode::kNotFound},
                           Case{folder.path + "/file", absl::StatusCode::kFailedPrecondition}}) {
    CAPTURE(none.path);
    for (const absl::Status& status :
         {Salvage(none.path, folder.path + "/to").status(), Repair(none.path).status()}) {
      CHECK(status.code() == none.code);
      CHECK_MESSAGE(Says(status, none.path), status.ToString());
    }
    CHECK(Names(folder.path) == names);
  }
  CHECK(Names(folder.path + "/photos") == std::vector<std::string>{"1.jpg"});
  CHECK(Names(folder.path + "/empty").empty());
  CHECK(Salvage("", "x").status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(Salvage("x", "").status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(Repair("").status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a salvage goes where nothing is, and never into the history itself") {
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  MakeHistory(db);
  WriteBytes(folder.path + "/file", "x");
  const Stamped before(db);
  for (const std::string& to : {db, db + "/sub", folder.path, folder.path + "/file"}) {
    const auto report = Salvage(db, to);
    CHECK(report.status().code() == absl::StatusCode::kFailedPrecondition);
    CHECK_MESSAGE(Says(report.status(), to), report.status().ToString());
  }
  for (const std::string& to : {folder.path + "/file/to", std::string("/proc/no/to")}) {
    const auto report = Salvage(db, to);
    REQUIRE(!report.ok());
    CHECK_MESSAGE(Says(report.status(), to.substr(0, to.rfind('/'))), report.status().ToString());
  }
  CHECK(Stamped(db) == before);
  CHECK(Names(folder.path) == std::vector<std::string>{"db", "file"});
}

TEST_CASE("files that may not be read are said, and nothing is repaired without them") {
  if (geteuid() == 0) {
    MESSAGE(
        "SKIPPED: this is root, whom no rights keep out; a folder in the place of a file stands in for it");
  }
  const MemoryFolder folder;
  const std::string db = folder.path + "/db";
  MakeHistory(db);
  const std::string table = db + "/" + FilesLike(db, "", ".ldb").front();
  std::filesystem::remove(db + "/CURRENT");
  if (geteuid() != 0) {
    REQUIRE(chmod(table.c_str(), 0) == 0);
    const auto report = Repair(db);
    CHECK(report.status().code() == absl::StatusCode::kPermissionDenied);
    CHECK(Says(report.status(), table));
    CHECK(!std::filesystem::exists(db + ".damaged-1"));
    return;
  }
  std::filesystem::remove(table);
  std::filesystem::create_directory(table);
  const auto report = Salvage(db, folder.path + "/to");
  REQUIRE(report.ok());
  CHECK(report->records.messages.readable == 10);
}

}  // namespace
}  // namespace watchbill::history
