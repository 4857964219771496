// Files that must be whole or not there.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace watchbill::net {

// NotFound where there is none; every failure names the path and the reason.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t most_bytes = 64 << 20);

// All of it, to its end: waits for whoever writes it.
absl::StatusOr<std::string> ReadStandardInput(size_t most_bytes = 64 << 20);

// Replaces a file so that it is the old one or the new one, whatever happens meanwhile: written beside it,
// synced, renamed, and the folder synced. Only its user may read it.
absl::Status ReplaceFile(const std::string& path, std::string_view content);

// Makes a folder and those above it, for its user alone, and makes sure that it can be written.
absl::Status EnsureFolder(const std::string& path);

// Keeps a folder for one process, as long as this lives: FailedPrecondition where another has it, with its
// pid.
class FolderLock {
 public:
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(const std::string& folder, std::string_view name);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_;
};

// The first line of a file that holds a secret. Warns in the log where others may read the file.
absl::StatusOr<std::string> ReadSecret(const std::string& path);

// Whatever tells one version of a file from the next; 0 where there is none.
uint64_t FileVersion(const std::string& path);

// $XDG_DATA_HOME/watchbill, else ~/.local/share/watchbill; the same for state.
std::string DefaultDataFolder();
std::string DefaultStateFolder();

// What programs keep the person's settings below: $XDG_CONFIG_HOME, else ~/.config.
std::string ConfigFolder();

// $XDG_RUNTIME_DIR, which is emptied when its user leaves. Empty where there is none, or it cannot be written
// in.
std::string RuntimeFolder();

// This machine's name.
std::string HostName();

}  // namespace watchbill::net
