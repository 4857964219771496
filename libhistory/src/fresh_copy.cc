#include "fresh_copy.hpp"

#include <fmt/core.h>

#include "folder_files.hpp"
#include "level_db.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kBatchBytes = 1 << 20;
constexpr size_t kWriteBuffer = 4 << 20;
// What a history needs to go on, with its reserve, and some.
constexpr uint64_t kRoomLeft = 24 << 20;

}  // namespace

FreshCopy::~FreshCopy() {
  engine_.reset();
  // Nothing can be done about one that cannot be removed; the next attempt removes it.
  if (made_ && !kept_) (void)RemoveDatabase(part_);
}

absl::Status FreshCopy::Open() {
  if (absl::Status status = MakePart(part_); !status.ok()) return status;
  made_ = true;
  // Without a reserve: nobody has to go on in it.
  auto engine = OpenLevelDb(&env_, part_, {.write_buffer_bytes = kWriteBuffer}, nullptr);
  if (!engine.ok()) return engine.status();
  engine_ = *std::move(engine);
  return absl::OkStatus();
}

absl::Status FreshCopy::Put(std::string_view key, std::string_view value) {
  writes_.Put(key, value);
  return writes_.bytes() < kBatchBytes ? absl::OkStatus() : Write(Sync::kLater);
}

absl::Status FreshCopy::Flush() { return Write(Sync::kLater); }

absl::Status FreshCopy::Write(Sync sync) {
  if (const uint64_t room = RoomOn(part_); room > 0 && room < kRoomLeft + writes_.bytes()) {
    return absl::ResourceExhaustedError(fmt::format(
        "{} cannot be written: {} MB are free on its disk, and {} MB are left free; make room on it and "
        "try again, or name a folder on another disk",
        part_, room / 1'000'000, kRoomLeft / 1'000'000));
  }
  absl::Status status = engine_->Commit(writes_, sync);
  writes_.Clear();
  return status;
}

absl::Status FreshCopy::Close() {
  absl::Status status = Write(Sync::kNow);
  engine_.reset();
  // Its tables are there already; of a log that was not made one yet that is not said.
  return status.ok() ? SyncFiles(part_) : status;
}

}  // namespace watchbill::history
