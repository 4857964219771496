// A disk of four megabytes that fills, and is freed. In a namespace of mounts of its own, which has to be
// made before there is a second thread: hence a program by itself.
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "history_fixture.hpp"
#include "temp_folder.hpp"

namespace watchbill::history {
namespace {

// As root, or as the root of a user namespace where the system lets anybody make one.
class SmallDisk {
 public:
  SmallDisk() {
    const bool apart = unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    REQUIRE_MESSAGE(apart, "this test needs to make a namespace of mounts: ", std::strerror(errno));
    REQUIRE_MESSAGE(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, std::strerror(errno));
    mounted_ = mount("tmpfs", path().c_str(), "tmpfs", 0, "size=4m") == 0;
    REQUIRE_MESSAGE(mounted_, std::strerror(errno));
  }
  ~SmallDisk() {
    if (mounted_) umount(path().c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  const std::string& path() const { return folder_.path; }

 private:
  TempFolder folder_;
  bool mounted_ = false;
};

// Once: LevelDB's thread stays where it was begun.
const std::string& Disk() {
  static const SmallDisk disk;
  return disk.path();
}

Message Nth(size_t n) {
  return TextMessage(kChannelA, NthId(n), fmt::format("{} {}", n, std::string(3'000, 'x')));
}

absl::Status TryNth(Store& store, size_t n) {
  Batch batch;
  REQUIRE(batch.Put(Nth(n)).ok());
  REQUIRE(batch.Put(kChannelA, {"codex", "", NthId(n)}).ok());
  return store.Commit(batch);
}

// All up to `confirmed`, and perhaps the one behind them that was refused.
void CheckAll(const Store& store, size_t confirmed) {
  const auto page = store.Last(kChannelA, 10'000);
  REQUIRE_MESSAGE(page.ok(), page.status().ToString());
  CHECK(page->unreadable == 0);
  REQUIRE(page->messages.size() >= confirmed);
  REQUIRE(page->messages.size() <= confirmed + 1);
  for (size_t n = 0; n < page->messages.size(); ++n) REQUIRE(page->messages[n] == Nth(n));
}

// Keeps messages until there is no room for one, and none is made by itself: LevelDB tidies up beside it.
void Fill(Store& store, size_t& confirmed, const std::string& path) {
  absl::Status status;
  for (int refused = 0; refused < 20;) {
    status = TryNth(store, confirmed);
    refused = status.ok() ? 0 : refused + 1;
    if (status.ok()) REQUIRE(++confirmed < 10'000);
  }
  CHECK_MESSAGE(absl::IsResourceExhausted(status), status.ToString());
  CHECK(Says(status, path));
  CHECK(Says(status, "full"));
  CheckAll(store, confirmed);
}

TEST_CASE("a disk that fills loses nothing, can be read, and is gone on with once there is room") {
  const std::string path = Disk() + "/db", ballast = Disk() + "/ballast";
  std::filesystem::remove_all(path);
  WriteBytes(ballast, std::string(1'500'000, 'b'));
  auto store = MustOpen(path);
  size_t confirmed = 0;
  Fill(*store, confirmed, path);
  CHECK(confirmed > 50);

  SUBCASE("in the process that filled it") {}
  SUBCASE("opened again while it is full") {
    store.reset();
    store = MustOpen(path);
    CheckAll(*store, confirmed);
    Fill(*store, confirmed, path);
  }
  REQUIRE(unlink(ballast.c_str()) == 0);
  const size_t before = confirmed;
  while (confirmed < before + 20) {
    const absl::Status status = TryNth(*store, confirmed);
    REQUIRE_MESSAGE(status.ok(), status.ToString());
    ++confirmed;
  }
  CheckAll(*store, confirmed);
  store.reset();
  store = MustOpen(path);
  CheckAll(*store, confirmed);
}

}  // namespace
}  // namespace watchbill::history
