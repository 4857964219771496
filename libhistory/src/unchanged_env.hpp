// Files that LevelDB may open, and that stay as they are: what it would write, rename and remove goes to
// memory.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "leveldb/env.h"
#include "watchbill/history/store.hpp"

namespace watchbill::history {

class UnchangedEnv final : public leveldb::EnvWrapper {
 public:
  UnchangedEnv();
  ~UnchangedEnv() override;

  // From here on no new file is made: LevelDB gives up tidying up, which could fill the memory.
  void Seal();

  leveldb::Status NewSequentialFile(const std::string& name, leveldb::SequentialFile** file) override;
  leveldb::Status NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** file) override;
  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** file) override;
  leveldb::Status NewAppendableFile(const std::string& name, leveldb::WritableFile** file) override;
  bool FileExists(const std::string& name) override;
  leveldb::Status GetChildren(const std::string& folder, std::vector<std::string>* names) override;
  leveldb::Status RemoveFile(const std::string& name) override;
  leveldb::Status CreateDir(const std::string&) override { return leveldb::Status::OK(); }
  leveldb::Status RemoveDir(const std::string&) override { return leveldb::Status::OK(); }
  leveldb::Status GetFileSize(const std::string& name, uint64_t* size) override;
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override;
  leveldb::Status LockFile(const std::string& name, leveldb::FileLock** lock) override;
  leveldb::Status UnlockFile(leveldb::FileLock* lock) override;

 private:
  leveldb::Env& Of(const std::string& name);
  bool IsRemoved(const std::string& name);

  const std::unique_ptr<leveldb::Env> memory_;
  std::mutex mutex_;
  std::set<std::string> removed_;  // of the disk's
  bool sealed_ = false;
};

// A history that can be read over them. The environment has to be there as long.
absl::StatusOr<std::unique_ptr<Store>> OpenUnchanged(UnchangedEnv& env, const std::string& folder);

}  // namespace watchbill::history
