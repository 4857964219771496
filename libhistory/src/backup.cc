#include <fmt/core.h>

#include <memory>
#include <string>

#include "folder_files.hpp"
#include "fresh_copy.hpp"
#include "store_impl.hpp"
#include "watchbill/history/transfer.hpp"

namespace watchbill::history {
namespace {

// A call each so many bytes is often enough for a bar, and costs nothing.
constexpr uint64_t kTellEvery = 1 << 20;

}  // namespace

absl::StatusOr<BackupReport> Backup(const Store& store, const std::string& folder,
                                    const BackupProgress& progress) {
  const Store::Impl& inside = Inside::Of(store);
  const auto name = FolderName(folder);
  if (!name.ok()) return name.status();
  if (IsWithin(*name, inside.name)) {
    return absl::FailedPreconditionError(
        fmt::format("{} is the folder of the history itself, or in it; name another folder", *name));
  }
  if (absl::Status status = CheckFree(*name); !status.ok()) return status;

  FreshCopy copy(*name + ".part");
  if (absl::Status status = copy.Open(); !status.ok()) return status;
  BackupReport report;
  // From here on nothing that is committed is in it.
  const std::unique_ptr<Cursor> all = inside.engine->Scan({});
  const uint64_t about = inside.engine->Bytes({}, "\xFF");
  uint64_t told = 0;
  for (; all->Valid(); all->Next()) {
    if (absl::Status status = copy.Put(all->key(), all->value()); !status.ok()) return status;
    ++report.keys;
    report.bytes += all->key().size() + all->value().size();
    if (progress && report.bytes >= told + kTellEvery) {
      told = report.bytes;
      if (!progress(report.bytes, about))
        return absl::CancelledError(fmt::format("the backup to {} was stopped", *name));
    }
  }
  report.damaged = absl::IsDataLoss(all->status());
  if (!report.damaged && !all->status().ok()) return all->status();
  if (absl::Status status = copy.Close(); !status.ok()) return status;
  if (progress && !progress(report.bytes, about))
    return absl::CancelledError(fmt::format("the backup to {} was stopped", *name));
  if (absl::Status status = PutInPlace(*name + ".part", *name); !status.ok()) return status;
  copy.Keep();
  return report;
}

}  // namespace watchbill::history
