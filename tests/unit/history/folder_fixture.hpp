// Folders of histories, damaged and put under strain.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history_fixture.hpp"
#include "temp_folder.hpp"

namespace watchbill::history {

// A folder whose disk is the memory, where there is such a one: these tests make hundreds of histories, and a
// disk takes its time to confirm each.
struct MemoryFolder {
  MemoryFolder() {
    std::string pattern = "/dev/shm/watchbill-test-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) {
      path = pattern;
    } else {
      slow.emplace();
      path = slow->path;
    }
  }
  ~MemoryFolder() {
    if (!slow) std::filesystem::remove_all(path);
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;

  std::string path;
  std::optional<TempFolder> slow;
};

// As long as this lives no file grows beyond so many bytes: a disk that is full, for all that is tried.
class FilesUpTo {
 public:
  explicit FilesUpTo(size_t bytes) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    struct rlimit now = before_;
    now.rlim_cur = bytes;
    ignored_ = signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &now) == 0);
  }
  ~FilesUpTo() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, ignored_);
  }
  FilesUpTo(const FilesUpTo&) = delete;
  FilesUpTo& operator=(const FilesUpTo&) = delete;

 private:
  struct rlimit before_ {};
  void (*ignored_)(int) = nullptr;
};

// The names of all that is in a folder.
inline std::vector<std::string> Names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// The files of a folder whose name begins and ends so.
inline std::vector<std::string> FilesLike(const std::string& folder, std::string_view begin,
                                          std::string_view end) {
  std::vector<std::string> found = Names(folder);
  std::erase_if(found,
                [&](const std::string& name) { return !name.starts_with(begin) || !name.ends_with(end); });
  return found;
}

inline void FlipBit(const std::string& path, size_t at) {
  std::string bytes = ReadBytes(path);
  REQUIRE(at < bytes.size());
  bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  WriteBytes(path, bytes);
}

// What Contents gives, and when each file was changed last.
struct Stamped {
  explicit Stamped(const std::string& folder) : files(Contents(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      struct stat about {};
      REQUIRE(lstat(entry.path().c_str(), &about) == 0);
      times[entry.path().filename().string()] = {about.st_mtim.tv_sec, about.st_mtim.tv_nsec};
    }
  }
  friend bool operator==(const Stamped&, const Stamped&) = default;
  std::map<std::string, std::string> files;
  std::map<std::string, std::pair<int64_t, int64_t>> times;
};

// Rights of what is for its user alone, and nothing else.
inline void CheckPrivate(const std::string& folder) {
  struct stat about {};
  REQUIRE(stat(folder.c_str(), &about) == 0);
  CHECK_MESSAGE((about.st_mode & 0777) == 0700, folder);
  for (const std::string& name : Names(folder)) {
    REQUIRE(stat((folder + "/" + name).c_str(), &about) == 0);
    CHECK_MESSAGE((about.st_mode & 0777) == 0600, name);
  }
}

}  // namespace watchbill::history
