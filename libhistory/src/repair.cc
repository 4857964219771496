#include "watchbill/history/repair.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "files.hpp"
#include "folder_files.hpp"
#include "repair_steps.hpp"
#include "salvage.hpp"
#include "says.hpp"
#include "store_impl.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::history {
namespace {

// Keeps others out of a folder, as an open store does.
class Hold {
 public:
  ~Hold() {
    if (lock_ != nullptr) env_.UnlockFile(lock_);
  }

  // FailedPrecondition: somebody has it. Makes no LOCK where there is none unless it is told to.
  absl::Status Take(const std::string& folder, bool make) {
    const std::string name = folder + "/LOCK";
    if (const std::optional<int> holder = HolderOf(name))
      return InUse(folder, *holder, *holder == ::getpid());
    if (!make && ::access(name.c_str(), F_OK) != 0) return absl::OkStatus();
    const leveldb::Status status = env_.LockFile(name, &lock_);
    if (status.ok()) return absl::OkStatus();
    if (const std::optional<int> holder = env_.holder()) return InUse(folder, *holder, *holder == ::getpid());
    // Where nobody can write, nobody can have it open; and it is only to be read.
    return make ? Unusable(folder, status.ToString()) : absl::OkStatus();
  }

 private:
  FolderEnv env_;
  leveldb::FileLock* lock_ = nullptr;
};

absl::Status NoHistory(const std::string& folder) {
  return absl::NotFoundError(fmt::format("there is no history in {}; name the folder of one", folder));
}

absl::Status CheckHistory(const std::string& folder) {
  const auto files = FilesOf(folder);
  if (absl::IsNotFound(files.status())) return NoHistory(folder);
  if (!files.ok()) return files.status();
  for (const FolderFile& file : *files) {
    if (file.database) return absl::OkStatus();
  }
  return NoHistory(folder);
}

class Repairing {
 public:
  Repairing(std::string folder, const std::function<void()>& between)
      : folder_(std::move(folder)), made_(folder_ + ".repaired"), between_(between) {}

  absl::StatusOr<RepairReport> Run() {
    absl::Status status = CheckHistory(folder_);
    if (status.ok()) status = hold_.Take(folder_, true);
    if (status.ok()) status = GoOn();
    bool done = false;
    if (status.ok()) status = Look(done);
    if (!status.ok()) return status;
    if (done) return report_;
    report_.needed = true;
    status = CopyAside();
    between_();
    // From the copy, which nobody else touches.
    if (status.ok()) status = SalvageFiles(report_.copy, folder_, made_, report_.salvage);
    between_();
    if (status.ok()) status = CheckMade();
    if (status.ok()) status = Exchange();
    if (status.ok()) status = RemoveOld();
    if (!status.ok()) return status;
    return report_;
  }

 private:
  std::string CopyName(size_t n) const { return fmt::format("{}.damaged-{}", folder_, n); }

  // A copy that was made of this folder before, or of what is left of it.
  std::optional<std::string> CopyOf(const std::string& folder, bool exactly) const {
    struct stat about {};
    for (size_t n = 1; ::lstat(CopyName(n).c_str(), &about) == 0; ++n) {
      if (IsCopied(folder, CopyName(n), exactly)) return CopyName(n);
    }
    return std::nullopt;
  }

  // What an earlier call that was broken off had made.
  absl::Status GoOn() {
    struct stat about {};
    if (::lstat(made_.c_str(), &about) != 0) return absl::OkStatus();
    if (std::optional<std::string> copy = CopyOf(made_, false)) {
      // They had changed places.
      report_.copy = *std::move(copy);
      report_.needed = true;
      report_.why = "an earlier repair was broken off when the new history was in its place";
      return RemoveOld();
    }
    if (CopyOf(folder_, true)) return RemoveDatabase(made_);
    return absl::FailedPreconditionError(
        fmt::format("{} is there, and there is no copy of it nor of {}; look what it is, and move it away",
                    made_, folder_));
  }

  // Whether there is nothing to be done.
  absl::Status Look(bool& done) {
    // The lock is this call's own.
    const auto found = InspectUnheld(folder_, {.read_all = true});
    if (!found.ok()) return found.status();
    if (found->format.value_or(0) > kFormat) return found->opens;
    done = found->opens.ok() && !found->damaged;
    if (done) return absl::OkStatus();
    report_.why =
        found->opens.ok() ? "blocks of its tables cannot be read" : std::string(MessageOf(found->opens));
    return absl::OkStatus();
  }

  absl::Status CopyAside() {
    if (std::optional<std::string> copy = CopyOf(folder_, true)) {
      report_.copy = *std::move(copy);
      return absl::OkStatus();
    }
    struct stat about {};
    size_t n = 1;
    while (::lstat(CopyName(n).c_str(), &about) == 0) ++n;
    const std::string copy = CopyName(n), part = copy + ".part";
    const auto files = FilesOf(folder_);
    if (!files.ok()) return files.status();
    uint64_t bytes = 0;
    for (const FolderFile& file : *files) bytes += file.bytes;
    // The copy, the new one, and what sorts it.
    if (const uint64_t room = RoomOn(ParentOf(folder_)); room > 0 && room < 3 * bytes) {
      return absl::ResourceExhaustedError(fmt::format(
          "the history in {} cannot be repaired: about {} MB are needed on its disk, and {} MB are free; "
          "make room, or salvage it to another disk",
          folder_, 3 * bytes / 1'000'000 + 1, room / 1'000'000));
    }
    absl::Status status = MakePart(part);
    for (const FolderFile& file : *files) {
      if (!status.ok()) break;
      if (file.database) status = CopyFileSynced(folder_ + "/" + file.name, part + "/" + file.name).status();
      between_();
    }
    if (status.ok()) status = PutInPlace(part, copy);
    if (!status.ok()) {
      (void)RemoveDatabase(part);
      return status;
    }
    report_.copy = copy;
    return absl::OkStatus();
  }

  absl::Status CheckMade() {
    const auto found = Inspect(made_, {.read_all = true});
    absl::Status status = found.ok() ? found->opens : found.status();
    if (status.ok() && found->damaged) status = absl::DataLossError("blocks of it cannot be read");
    if (status.ok()) return status;
    (void)RemoveDatabase(made_);
    return absl::DataLossError(
        fmt::format("what was made of the history in {} cannot be used ({}); it is left as it is", folder_,
                    MessageOf(status)));
  }

  absl::Status Exchange() {
    if (::renameat2(AT_FDCWD, made_.c_str(), AT_FDCWD, folder_.c_str(), RENAME_EXCHANGE) != 0) {
      return absl::UnimplementedError(fmt::format(
          "{} and {} cannot change places ({}); the first is the history repaired: give it the name of the "
          "other by hand",
          made_, folder_, std::strerror(errno)));
    }
    between_();
    if (const int error = SyncFolder(ParentOf(folder_)); error != 0) return FileError(error, folder_, "kept");
    return absl::OkStatus();
  }

  // What is not of the database goes over to where it was; the rest is in the copy.
  absl::Status RemoveOld() {
    const auto old = FilesOf(made_);
    if (!old.ok()) return old.status();
    for (const FolderFile& file : *old) {
      if (file.database) continue;
      const std::string from = made_ + "/" + file.name, to = folder_ + "/" + file.name;
      if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0 && errno != EEXIST)
        return FileError(errno, from, "moved back");
      between_();
    }
    return RemoveDatabase(made_);
  }

  const std::string folder_, made_;
  const std::function<void()>& between_;
  Hold hold_;
  RepairReport report_;
};

}  // namespace

absl::StatusOr<SalvageReport> Salvage(const std::string& folder, const std::string& into) {
  const auto from = FolderName(folder), to = FolderName(into);
  if (!from.ok()) return from.status();
  if (!to.ok()) return to.status();
  if (absl::Status status = CheckHistory(*from); !status.ok()) return status;
  if (IsWithin(*to, *from)) {
    return absl::FailedPreconditionError(
        fmt::format("{} is the folder of the history itself, or in it; name another folder", *to));
  }
  if (absl::Status status = CheckFree(*to); !status.ok()) return status;
  Hold hold;
  if (absl::Status status = hold.Take(*from, false); !status.ok()) return status;
  SalvageReport report;
  if (absl::Status status = SalvageFiles(*from, *from, *to, report); !status.ok()) return status;
  return report;
}

absl::StatusOr<RepairReport> RepairInSteps(const std::string& folder, const std::function<void()>& between) {
  const auto name = FolderName(folder);
  if (!name.ok()) return name.status();
  // A name that leads to the folder would change places itself.
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(*name, error);
  return Repairing(error ? *name : real, between).Run();
}

absl::StatusOr<RepairReport> Repair(const std::string& folder) {
  return RepairInSteps(folder, [] {});
}

}  // namespace watchbill::history
