// A database's folder on the disk: for its user alone, and for one process at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "level_db.hpp"
#include "leveldb/env.h"

namespace watchbill::history {

// Makes the folder and those above it that are missing, for their user alone, and syncs them into their
// parents.
absl::Status MakeFolder(const std::string& folder);

// The folder in which this path is an entry.
std::string ParentOf(const std::string& path);

// 0, or errno. Some file systems know no sync of a folder and say EINVAL: there is nothing to be done about
// it.
int SyncFolder(const std::string& folder);

// Who has locked this file: a pid, or 0 for one that is not told. Nothing is made or changed, and a lock of
// this process's own is not lost by it.
std::optional<int> HolderOf(const std::string& lock_file);

// The system's files as LevelDB asks for them, with four differences: a new file is for its user alone, a
// new log is in its folder for certain before anything is confirmed in it, a lock is never lost by asking for
// it again, and blocks of a table go to the cache.
class FolderEnv final : public leveldb::EnvWrapper {
 public:
  FolderEnv() : EnvWrapper(leveldb::Env::Default()) {}

  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** file) override;
  leveldb::Status NewAppendableFile(const std::string& name, leveldb::WritableFile** file) override;
  leveldb::Status NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** file) override;
  leveldb::Status LockFile(const std::string& name, leveldb::FileLock** lock) override;
  leveldb::Status UnlockFile(leveldb::FileLock* lock) override;

  // The process that had the lock when LockFile was refused it; 0 when it went before it could be asked for.
  std::optional<int> holder() const { return holder_; }

 private:
  std::optional<int> holder_;
};

// The bytes that are free on the disk of a folder; 0 where the system does not say.
uint64_t RoomOn(const std::string& folder);

// The file RESERVE of a folder, of so many bytes that are really there.
class ReserveFile final : public Reserve {
 public:
  ReserveFile(const std::string& folder, size_t bytes)
      : folder_(folder), name_(folder + "/RESERVE"), bytes_(bytes) {}
  bool Take() override;
  void Give() override;
  bool IsShort() const override { return RoomOn(folder_) < bytes_; }

 private:
  std::string folder_, name_;
  size_t bytes_;
};

}  // namespace watchbill::history
