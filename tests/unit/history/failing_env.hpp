// Files in memory, of which the nth operation that changes something fails, and a power cut.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "level_db.hpp"
#include "leveldb/env.h"
#include "leveldb/helpers/memenv.h"
#include "watchbill/history/store.hpp"

namespace watchbill::history {

class FailingEnv final : public leveldb::EnvWrapper {
 public:
  enum class Then { kWorksAgain, kStaysBroken };

  FailingEnv() : FailingEnv(leveldb::NewMemEnv(leveldb::Env::Default())) {}
  ~FailingEnv() override { delete target(); }

  // The operation after `n` others fails; and those behind it, as on a disk that is full, or not.
  void FailAfter(size_t n, Then then) {
    const std::lock_guard guard(mutex_);
    left_ = n;
    armed_ = true;
    then_ = then;
    failed_ = false;
  }
  // The machine stops within the write that would be the one with this byte, counted from now on.
  void StopAfterBytes(size_t n) {
    const std::lock_guard guard(mutex_);
    bytes_left_ = n;
    counts_bytes_ = true;
  }
  void Heal() {
    const std::lock_guard guard(mutex_);
    armed_ = counts_bytes_ = false;
  }
  bool failed() {
    const std::lock_guard guard(mutex_);
    return failed_;
  }

  // What was not synced is lost, but for as many of its bytes as `kept` says. The database is closed.
  void CutPower(const std::function<size_t(size_t unsynced)>& kept = [](size_t) { return size_t{0}; }) {
    const std::lock_guard guard(mutex_);
    for (auto& [name, file] : files_) {
      std::string bytes;
      if (!leveldb::ReadFileToString(target(), name, &bytes).ok()) continue;
      const size_t unsynced = bytes.size() - std::min(bytes.size(), file->synced);
      leveldb::WriteStringToFile(target(), bytes.substr(0, file->synced + kept(unsynced)), name);
    }
  }

  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** file) override {
    *file = nullptr;
    if (Fails()) return Broken(name);
    leveldb::WritableFile* inner = nullptr;
    const leveldb::Status status = target()->NewWritableFile(name, &inner);
    if (!status.ok()) return status;
    const std::lock_guard guard(mutex_);
    files_[name] = std::make_shared<Synced>();
    *file = new File(this, name, inner, files_[name]);
    return status;
  }
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override {
    if (Fails()) return Broken(from);
    const std::lock_guard guard(mutex_);
    files_[to] = files_[from];
    files_.erase(from);
    return target()->RenameFile(from, to);
  }
  leveldb::Status RemoveFile(const std::string& name) override {
    if (Fails()) return Broken(name);
    const std::lock_guard guard(mutex_);
    files_.erase(name);
    return target()->RemoveFile(name);
  }

 private:
  struct Synced {
    size_t written = 0, synced = 0;
  };

  struct File final : leveldb::WritableFile {
    File(FailingEnv* of, std::string called, leveldb::WritableFile* inner, std::shared_ptr<Synced> state)
        : env(of), name(std::move(called)), file(inner), bytes(std::move(state)) {}
    leveldb::Status Append(const leveldb::Slice& data) override {
      bool fails = env->Fails();
      // A disk that fills takes what it can.
      size_t taken = fails ? data.size() / 2 : data.size();
      if (const size_t left = env->TakeBytes(data.size()); left < data.size()) {
        fails = true;
        taken = left;
      }
      const leveldb::Status status = file->Append(leveldb::Slice(data.data(), taken));
      const std::lock_guard guard(env->mutex_);
      bytes->written += taken;
      return fails ? Broken(name) : status;
    }
    leveldb::Status Close() override { return file->Close(); }
    leveldb::Status Flush() override { return file->Flush(); }
    leveldb::Status Sync() override {
      if (env->Fails()) return Broken(name);
      const std::lock_guard guard(env->mutex_);
      bytes->synced = bytes->written;
      return leveldb::Status::OK();
    }
    FailingEnv* env;
    std::string name;
    std::unique_ptr<leveldb::WritableFile> file;
    std::shared_ptr<Synced> bytes;
  };

  explicit FailingEnv(leveldb::Env* memory) : EnvWrapper(memory) {}

  // How many of them are written before the machine stops.
  size_t TakeBytes(size_t wanted) {
    const std::lock_guard guard(mutex_);
    if (!counts_bytes_) return wanted;
    const size_t taken = std::min(wanted, bytes_left_);
    bytes_left_ -= taken;
    if (taken < wanted) failed_ = true;
    return taken;
  }
  bool Fails() {
    const std::lock_guard guard(mutex_);
    if (counts_bytes_ && bytes_left_ == 0) {
      failed_ = true;
      return true;
    }
    if (!armed_) return false;
    if (left_ > 0) {
      --left_;
      return false;
    }
    if (failed_ && then_ == Then::kWorksAgain) return false;
    failed_ = true;
    return true;
  }
  static leveldb::Status Broken(const std::string& name) {
    return leveldb::Status::IOError(name, "made to fail");
  }

  std::mutex mutex_;  // LevelDB's own thread writes too
  std::map<std::string, std::shared_ptr<Synced>> files_;
  size_t left_ = 0, bytes_left_ = 0;
  bool counts_bytes_ = false;
  bool armed_ = false, failed_ = false;
  Then then_ = Then::kWorksAgain;
};

inline absl::StatusOr<std::unique_ptr<Store>> OpenOver(leveldb::Env& env, size_t write_buffer) {
  auto engine = OpenLevelDb(&env, "/db", {.write_buffer_bytes = write_buffer}, nullptr);
  if (!engine.ok()) return engine.status();
  return Store::Open(*std::move(engine), "/db");
}

}  // namespace watchbill::history
