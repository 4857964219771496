#include "level_db.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "files.hpp"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/write_batch.h"
#include "log_tail.hpp"
#include "says.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kMostWriteBuffer = 4 << 20;
constexpr size_t kLeastWriteBuffer = 256 << 10;
// For a manifest and what else is small.
constexpr size_t kReserveBeyond = 1 << 20;
// Below this much room a disk gets the least buffer, as reserve and logs go with it.
constexpr uint64_t kSmallDisk = 64 << 20;

leveldb::Slice ToSlice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view ToView(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

// LevelDB's own log would be one more file to keep and to turn over, also by an opening that is refused.
struct SilentLogger final : leveldb::Logger {
  void Logv(const char*, std::va_list) override {}
};

leveldb::ReadOptions Checked() {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  return options;
}

// What LevelDB would take for something harmless, and delete files over.
absl::Status CheckFiles(leveldb::Env* env, const std::string& folder) {
  std::vector<std::string> names;
  if (!env->GetChildren(folder, &names).ok()) return absl::OkStatus();
  const bool current = env->FileExists(folder + "/CURRENT");
  for (const std::string& name : names) {
    const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    const std::string_view end = digits == 0 ? std::string_view() : std::string_view(name).substr(digits);
    // Without CURRENT, which says what is the database, the folder would be a new one to it.
    if (!current && (end == ".ldb" || end == ".sst" || end == ".log"))
      return Damaged(folder, fmt::format("{} is there, but no CURRENT", name));
    if (end == ".log" || name.starts_with("MANIFEST-")) {
      const leveldb::Status tail = CheckLogTail(env, folder + "/" + name);
      if (tail.IsCorruption()) return Damaged(folder, tail.ToString());
      if (!tail.ok()) return Unusable(folder, tail.ToString());
    }
  }
  return absl::OkStatus();
}

// What belongs to one opening, in the order in which they have to outlive each other.
struct Opened {
  SilentLogger silent;
  std::unique_ptr<const leveldb::FilterPolicy> filter{leveldb::NewBloomFilterPolicy(10)};
  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<leveldb::DB> db;
};

class LevelDbCursor final : public Cursor {
 public:
  LevelDbCursor(std::shared_ptr<Opened> opened, const std::string& folder, std::string_view from)
      : opened_(std::move(opened)), folder_(folder), it_(opened_->db->NewIterator(Checked())) {
    it_->Seek(ToSlice(from));
  }
  bool Valid() const override { return it_->Valid(); }
  std::string_view key() const override { return ToView(it_->key()); }
  std::string_view value() const override { return ToView(it_->value()); }
  void Next() override { it_->Next(); }
  void Seek(std::string_view key) override { it_->Seek(ToSlice(key)); }
  absl::Status status() const override {
    const leveldb::Status status = it_->status();
    if (status.ok()) return absl::OkStatus();
    return status.IsCorruption() ? Damaged(folder_, status.ToString()) : Unusable(folder_, status.ToString());
  }

 private:
  std::shared_ptr<Opened> opened_;
  const std::string& folder_;  // the engine's
  std::unique_ptr<leveldb::Iterator> it_;
};

// Where there is nothing to look at any more.
class NoCursor final : public Cursor {
 public:
  explicit NoCursor(absl::Status why) : why_(std::move(why)) {}
  bool Valid() const override { return false; }
  std::string_view key() const override { return {}; }
  std::string_view value() const override { return {}; }
  void Next() override {}
  void Seek(std::string_view) override {}
  absl::Status status() const override { return why_; }

 private:
  absl::Status why_;
};

class LevelDb final : public Engine {
 public:
  LevelDb(std::unique_ptr<leveldb::Env> own_env, leveldb::Env* env, std::string folder, EngineOptions options,
          std::unique_ptr<Reserve> reserve)
      : own_env_(std::move(own_env)),
        env_(env),
        folder_(std::move(folder)),
        options_(options),
        reserve_(std::move(reserve)) {}

  // What was written last is a log, which the next opening would have to play again.
  ~LevelDb() override {
    if (opened_ && broken_.ok() && written_) Flush();
  }

  absl::Status Open(bool create) {
    auto opened = std::make_shared<Opened>();
    opened->cache.reset(leveldb::NewLRUCache(options_.cache_bytes));
    leveldb::Options how;
    how.env = env_;
    how.create_if_missing = create;
    how.paranoid_checks = true;
    how.info_log = &opened->silent;
    how.write_buffer_size = options_.write_buffer_bytes;
    how.block_cache = opened->cache.get();
    how.compression = leveldb::kNoCompression;
    how.filter_policy = opened->filter.get();
    leveldb::DB* db = nullptr;
    const leveldb::Status status = leveldb::DB::Open(how, folder_, &db);
    opened->db.reset(db);
    if (status.IsCorruption() || status.IsInvalidArgument() || status.IsNotFound())
      return Damaged(folder_, status.ToString());
    if (!status.ok()) return Unusable(folder_, status.ToString());
    has_reserve_ = reserve_ == nullptr || reserve_->Take();
    // Without it what is left of the disk is not written full: it could not be opened again behind that.
    if (!has_reserve_) full_ = true;
    const std::lock_guard guard(mutex_);
    opened_ = std::move(opened);
    return absl::OkStatus();
  }

  absl::Status Get(std::string_view key, std::string& value) const override {
    const std::shared_ptr<Opened> opened = Now();
    if (!opened) return Closed();
    const leveldb::Status got = opened->db->Get(Checked(), ToSlice(key), &value);
    if (got.ok()) return absl::OkStatus();
    if (got.IsNotFound()) return absl::NotFoundError("no such key");
    return got.IsCorruption() ? Damaged(folder_, got.ToString()) : Unusable(folder_, got.ToString());
  }

  std::unique_ptr<Cursor> Scan(std::string_view from) const override {
    std::shared_ptr<Opened> opened = Now();
    if (!opened) return std::make_unique<NoCursor>(Closed());
    return std::make_unique<LevelDbCursor>(std::move(opened), folder_, from);
  }

  absl::Status Commit(const Writes& writes, Sync sync) override {
    const std::lock_guard guard(writing_);
    leveldb::WriteBatch batch;
    writes.Each(
        [&](std::string_view key, std::string_view value) { batch.Put(ToSlice(key), ToSlice(value)); },
        [&](std::string_view key) { batch.Delete(ToSlice(key)); });
    bool opened_again = false;
    if (!broken_.ok()) {
      // To open it again takes the room that is kept for that, and gains nothing while there is no other.
      if (full_ && has_reserve_ && reserve_->IsShort()) return Full();
      if (absl::Status status = OpenAgain(); !status.ok()) return status;
      opened_again = true;
    }
    for (;;) {
      // Nothing is written into the room that the next opening may need.
      if (!has_reserve_ && full_) {
        has_reserve_ = reserve_->Take();
        if (!has_reserve_) return Full();
      }
      leveldb::WriteOptions how;
      how.sync = sync == Sync::kNow;
      const leveldb::Status put = Now()->db->Write(how, &batch);
      if (put.ok()) {
        written_ = true;
        full_ = false;
        return absl::OkStatus();
      }
      // The log may end within a record now. One more behind it would make all of it look damaged: it has to
      // be read again first.
      broken_ = Unusable(folder_, put.ToString());
      full_ = reserve_ != nullptr;
      if (opened_again) return full_ && reserve_->IsShort() ? Full() : broken_;
      if (absl::Status status = OpenAgain(); !status.ok()) return status;
      opened_again = true;
    }
  }

  uint64_t Bytes(std::string_view from, std::string_view to) const override {
    const std::shared_ptr<Opened> opened = Now();
    if (!opened) return 0;
    const leveldb::Range range(ToSlice(from), ToSlice(to));
    uint64_t bytes = 0;
    opened->db->GetApproximateSizes(&range, 1, &bytes);
    return bytes;
  }

  absl::Status Compact() override {
    const std::shared_ptr<Opened> opened = Now();
    if (!opened) return Closed();
    opened->db->CompactRange(nullptr, nullptr);
    return absl::OkStatus();
  }

 private:
  std::shared_ptr<Opened> Now() const {
    const std::lock_guard guard(mutex_);
    return opened_;
  }
  absl::Status Closed() const {
    return Unusable(folder_, "it could not be opened again after the disk had failed");
  }
  absl::Status Full() const {
    return absl::ResourceExhaustedError(
        fmt::format("the disk of the history in {} is full: what was kept is there, and keeping goes on by "
                    "itself once there are {} MB of room",
                    folder_, (options_.write_buffer_bytes + kReserveBeyond) / 1'000'000 + 1));
  }

  // A range of no keys: all it does is to write what is in memory to a table.
  void Flush() {
    const leveldb::Slice behind("\xFF\xFF", 2);
    opened_->db->CompactRange(&behind, &behind);
  }

  // After a failed write. The reason of that one while a cursor still needs what is open.
  absl::Status OpenAgain() {
    {
      const std::lock_guard guard(mutex_);
      if (opened_.use_count() > 1) return broken_;
      opened_.reset();
    }
    if (reserve_) reserve_->Give();
    has_reserve_ = false;
    absl::Status status = CheckFiles(env_, folder_);
    if (status.ok()) status = Open(false);
    if (!status.ok()) return status;
    broken_ = absl::OkStatus();
    return absl::OkStatus();
  }

  std::unique_ptr<leveldb::Env> own_env_;
  leveldb::Env* env_;
  std::string folder_;
  EngineOptions options_;
  std::unique_ptr<Reserve> reserve_;

  mutable std::mutex mutex_;  // over opened_
  std::shared_ptr<Opened> opened_;

  std::mutex writing_;       // over what follows
  absl::Status broken_;      // a write failed, and it was not opened again yet
  bool full_ = false;        // it may be that the disk is
  bool has_reserve_ = true;  // or needs none
  bool written_ = false;
};

size_t WriteBufferFor(const std::string& folder, const EngineOptions& options) {
  if (options.write_buffer_bytes > 0) return options.write_buffer_bytes;
  return RoomOn(folder) < kSmallDisk ? kLeastWriteBuffer : kMostWriteBuffer;
}

absl::Status CheckFolder(leveldb::Env* env, const std::string& folder, bool create) {
  if (absl::Status status = CheckFiles(env, folder); !status.ok()) return status;
  if (create || env->FileExists(folder + "/CURRENT")) return absl::OkStatus();
  return absl::NotFoundError(fmt::format("there is no history in {}; name the folder of one", folder));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> OpenLevelDb(leveldb::Env* env, const std::string& folder,
                                                    const EngineOptions& options,
                                                    std::unique_ptr<Reserve> reserve) {
  if (absl::Status status = CheckFolder(env, folder, options.create); !status.ok()) return status;
  auto engine = std::make_unique<LevelDb>(nullptr, env, folder, options, std::move(reserve));
  if (absl::Status status = engine->Open(options.create); !status.ok()) return status;
  return engine;
}

absl::StatusOr<std::unique_ptr<Engine>> OpenLevelDb(const std::string& folder, const EngineOptions& options) {
  if (folder.empty() || folder.find('\0') != std::string::npos)
    return absl::InvalidArgumentError("the history's folder: expected a path");
  if (options.create) {
    if (absl::Status status = MakeFolder(folder); !status.ok()) return status;
  }
  EngineOptions chosen = options;
  chosen.write_buffer_bytes = WriteBufferFor(folder, options);
  auto own_env = std::make_unique<FolderEnv>();
  FolderEnv* const env = own_env.get();
  if (absl::Status status = CheckFolder(env, folder, options.create); !status.ok()) return status;
  auto reserve = std::make_unique<ReserveFile>(folder, chosen.write_buffer_bytes + kReserveBeyond);
  Reserve* const room = reserve.get();
  auto engine = std::make_unique<LevelDb>(std::move(own_env), env, folder, chosen, std::move(reserve));
  absl::Status status = engine->Open(options.create);
  if (absl::IsUnavailable(status) && !env->holder()) {
    // It may be that the disk is full; the reserve is ours to give, as nobody has the folder.
    room->Give();
    status = engine->Open(options.create);
  }
  if (const std::optional<int> holder = env->holder()) {
    return InUse(folder, *holder, *holder == ::getpid());
  }
  if (!status.ok()) return status;
  return engine;
}

}  // namespace watchbill::history
