#include "unchanged_env.hpp"

#include <algorithm>

#include "level_db.hpp"
#include "leveldb/helpers/memenv.h"

namespace watchbill::history {

UnchangedEnv::UnchangedEnv()
    : EnvWrapper(leveldb::Env::Default()), memory_(leveldb::NewMemEnv(leveldb::Env::Default())) {}
UnchangedEnv::~UnchangedEnv() = default;

void UnchangedEnv::Seal() {
  const std::lock_guard guard(mutex_);
  sealed_ = true;
}

bool UnchangedEnv::IsRemoved(const std::string& name) {
  const std::lock_guard guard(mutex_);
  return removed_.contains(name);
}

// What is in memory stands before what is on the disk.
leveldb::Env& UnchangedEnv::Of(const std::string& name) {
  return memory_->FileExists(name) || IsRemoved(name) ? *memory_ : *target();
}

leveldb::Status UnchangedEnv::NewSequentialFile(const std::string& name, leveldb::SequentialFile** file) {
  return Of(name).NewSequentialFile(name, file);
}
leveldb::Status UnchangedEnv::NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** file) {
  return Of(name).NewRandomAccessFile(name, file);
}
leveldb::Status UnchangedEnv::NewWritableFile(const std::string& name, leveldb::WritableFile** file) {
  *file = nullptr;
  {
    const std::lock_guard guard(mutex_);
    if (sealed_) return leveldb::Status::IOError(name, "is only looked at");
  }
  return memory_->NewWritableFile(name, file);
}
leveldb::Status UnchangedEnv::NewAppendableFile(const std::string& name, leveldb::WritableFile** file) {
  *file = nullptr;
  return leveldb::Status::NotSupported(name, "is only looked at");
}
bool UnchangedEnv::FileExists(const std::string& name) { return Of(name).FileExists(name); }

leveldb::Status UnchangedEnv::GetChildren(const std::string& folder, std::vector<std::string>* names) {
  leveldb::Status status = target()->GetChildren(folder, names);
  if (!status.ok()) return status;
  std::erase_if(*names, [&](const std::string& name) { return IsRemoved(folder + "/" + name); });
  std::vector<std::string> more;
  status = memory_->GetChildren(folder, &more);
  for (const std::string& name : more) {
    if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
  }
  return status;
}

leveldb::Status UnchangedEnv::RemoveFile(const std::string& name) {
  const bool in_memory = memory_->FileExists(name);
  const bool on_disk = !IsRemoved(name) && target()->FileExists(name);
  if (in_memory) memory_->RemoveFile(name);
  const std::lock_guard guard(mutex_);
  if (on_disk) removed_.insert(name);
  return in_memory || on_disk ? leveldb::Status::OK() : leveldb::Status::NotFound(name, "is not there");
}

leveldb::Status UnchangedEnv::GetFileSize(const std::string& name, uint64_t* size) {
  return Of(name).GetFileSize(name, size);
}

// LevelDB renames what it has just written, and that is in memory.
leveldb::Status UnchangedEnv::RenameFile(const std::string& from, const std::string& to) {
  return memory_->RenameFile(from, to);
}

leveldb::Status UnchangedEnv::LockFile(const std::string& name, leveldb::FileLock** lock) {
  return memory_->LockFile(name, lock);
}
leveldb::Status UnchangedEnv::UnlockFile(leveldb::FileLock* lock) { return memory_->UnlockFile(lock); }

absl::StatusOr<std::unique_ptr<Store>> OpenUnchanged(UnchangedEnv& env, const std::string& folder) {
  auto engine = OpenLevelDb(&env, folder, {.create = false, .write_buffer_bytes = 4 << 20}, nullptr);
  if (!engine.ok()) return engine.status();
  auto store = Store::Open(*std::move(engine), folder);
  if (store.ok()) env.Seal();
  return store;
}

}  // namespace watchbill::history
