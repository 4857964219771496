#include "folder_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "files.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kPieceBytes = 256 << 10;

// The digits at the beginning of a name, and what stands behind them.
std::pair<std::string_view, std::string_view> SplitNumber(std::string_view name) {
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return {name.substr(0, digits), name.substr(digits)};
}

struct Descriptor {
  explicit Descriptor(int opened) : fd(opened) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd;
};

// 0, or errno.
int WriteAll(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return 0;
}

// The path by which the part of it that is there is really reached.
std::string RealPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

bool SameBytes(const std::string& a, const std::string& b) {
  std::ifstream one(a, std::ios::binary), other(b, std::ios::binary);
  const auto piece = std::make_unique<char[]>(2 * kPieceBytes);
  while (one && other) {
    one.read(piece.get(), kPieceBytes);
    other.read(piece.get() + kPieceBytes, kPieceBytes);
    if (one.gcount() != other.gcount() ||
        std::memcmp(piece.get(), piece.get() + kPieceBytes, static_cast<size_t>(one.gcount())) != 0)
      return false;
  }
  return one.eof() && other.eof();
}

}  // namespace

bool IsDatabaseFile(std::string_view name) {
  if (name == "CURRENT" || name == "LOG" || name == "LOG.old") return true;
  constexpr std::string_view kManifest = "MANIFEST-";
  if (name.starts_with(kManifest)) {
    const auto [digits, rest] = SplitNumber(name.substr(kManifest.size()));
    return !digits.empty() && rest.empty();
  }
  const auto [digits, rest] = SplitNumber(name);
  return !digits.empty() && (rest == ".log" || rest == ".ldb" || rest == ".sst" || rest == ".dbtmp");
}

bool IsOfAnOpening(std::string_view name) { return name == "LOCK" || name == "RESERVE"; }

uint64_t NumberOfFile(std::string_view name) {
  const std::string_view digits = SplitNumber(name).first;
  uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

absl::Status FileError(int error, std::string_view path, std::string_view tried) {
  const auto says = [&](std::string_view advice) {
    return fmt::format("{} cannot be {} ({}); {}", path, tried, std::strerror(error), advice);
  };
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(says("make room on its disk and try again"));
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(says("look at its rights, or name another folder"));
    case ENOENT:
      return absl::NotFoundError(says("look whether the name is right"));
    case ENOTDIR:
    case EISDIR:
      return absl::FailedPreconditionError(says("name another folder"));
    default:
      return absl::UnavailableError(says("look at its disk"));
  }
}

absl::StatusOr<std::vector<FolderFile>> FilesOf(const std::string& folder) {
  std::error_code error;
  std::vector<FolderFile> files;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    FolderFile file;
    file.name = at->path().filename().string();
    if (IsOfAnOpening(file.name)) continue;
    struct stat about {};
    const bool known = ::stat(at->path().c_str(), &about) == 0;
    file.database = IsDatabaseFile(file.name) && known && S_ISREG(about.st_mode);
    if (file.database) file.bytes = static_cast<uint64_t>(about.st_size);
    files.push_back(std::move(file));
  }
  if (error) return FileError(error.value(), folder, "looked at");
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

absl::StatusOr<std::string> FolderName(const std::string& folder) {
  const size_t end = folder.find_last_not_of('/');
  if (end == std::string::npos || folder.find('\0') != std::string::npos)
    return absl::InvalidArgumentError("a folder: expected a path");
  return folder.substr(0, end + 1);
}

bool IsWithin(const std::string& inner, const std::string& outer) {
  struct stat whole {};
  if (::stat(outer.c_str(), &whole) != 0) return false;
  for (std::string at = RealPath(inner);; at = ParentOf(at)) {
    struct stat part {};
    if (::stat(at.c_str(), &part) == 0 && part.st_dev == whole.st_dev && part.st_ino == whole.st_ino)
      return true;
    if (at == "/" || at == ".") return false;
  }
}

absl::Status CheckFree(const std::string& folder) {
  struct stat about {};
  if (::lstat(folder.c_str(), &about) != 0)
    return errno == ENOENT ? absl::OkStatus() : FileError(errno, folder, "made");
  std::error_code error;
  if (S_ISDIR(about.st_mode) && std::filesystem::is_empty(folder, error)) return absl::OkStatus();
  if (error) return FileError(error.value(), folder, "looked at");
  return absl::FailedPreconditionError(
      fmt::format("{} is there and is no empty folder; name one that is not there", folder));
}

absl::Status MakePart(const std::string& part) {
  if (const std::optional<int> holder = HolderOf(part + "/LOCK")) {
    return absl::FailedPreconditionError(
        fmt::format("{} is being made by process {}; wait for it, or end it", part, *holder));
  }
  const auto left = FilesOf(part);
  if (left.ok()) {
    for (const FolderFile& file : *left) {
      if (file.database) continue;
      return absl::FailedPreconditionError(
          fmt::format("{} is where the copy is to be made, and {} in it is no part of one; move it away",
                      part, file.name));
    }
    if (absl::Status status = RemoveDatabase(part); !status.ok()) return status;
  } else if (!absl::IsNotFound(left.status())) {
    return left.status();
  }
  if (absl::Status status = MakeFolder(ParentOf(part)); !status.ok()) return status;
  if (::mkdir(part.c_str(), 0700) != 0) {
    if (errno != EEXIST) return FileError(errno, part, "made");
    return absl::FailedPreconditionError(fmt::format("{} is being made by another; wait for it", part));
  }
  return absl::OkStatus();
}

absl::Status PutInPlace(const std::string& part, const std::string& folder) {
  if (const int error = SyncFolder(part); error != 0) return FileError(error, part, "kept");
  if (::rename(part.c_str(), folder.c_str()) != 0) return FileError(errno, folder, "given its name");
  if (const int error = SyncFolder(ParentOf(folder)); error != 0) return FileError(error, folder, "kept");
  return absl::OkStatus();
}

absl::Status RemoveDatabase(const std::string& folder) {
  const auto files = FilesOf(folder);
  if (absl::IsNotFound(files.status())) return absl::OkStatus();
  if (!files.ok()) return files.status();
  std::vector<std::string> names;
  for (const FolderFile& file : *files) {
    if (file.database) names.push_back(file.name);
  }
  // The lock last: as long as it is there, this is somebody's.
  names.insert(names.end(), {"RESERVE", "LOCK"});
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return FileError(errno, path, "removed");
  }
  if (::rmdir(folder.c_str()) != 0 && errno != ENOTEMPTY && errno != EEXIST)
    return FileError(errno, folder, "removed");
  return absl::OkStatus();
}

absl::Status SyncFiles(const std::string& folder) {
  const auto files = FilesOf(folder);
  if (!files.ok()) return files.status();
  for (const FolderFile& file : *files) {
    if (!file.database) continue;
    const std::string path = folder + "/" + file.name;
    const Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (opened.fd < 0 || ::fsync(opened.fd) != 0) return FileError(errno, path, "written");
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> CopyFileSynced(const std::string& from, const std::string& to) {
  const Descriptor in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.fd < 0) return FileError(errno, from, "read");
  const Descriptor out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (out.fd < 0) return FileError(errno, to, "made");
  const auto piece = std::make_unique<char[]>(kPieceBytes);
  uint64_t bytes = 0;
  for (;;) {
    const ssize_t got = ::read(in.fd, piece.get(), kPieceBytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(errno, from, "read");
    if (got == 0) break;
    if (const int error = WriteAll(out.fd, piece.get(), static_cast<size_t>(got)); error != 0)
      return FileError(error, to, "written");
    bytes += static_cast<uint64_t>(got);
  }
  if (::fsync(out.fd) != 0) return FileError(errno, to, "written");
  return bytes;
}

bool IsCopied(const std::string& folder, const std::string& copy, bool exactly) {
  const auto one = FilesOf(folder), other = FilesOf(copy);
  if (!one.ok() || !other.ok()) return false;
  const auto database = [](const std::vector<FolderFile>& files) {
    std::map<std::string, uint64_t> sizes;
    for (const FolderFile& file : files) {
      if (file.database) sizes.emplace(file.name, file.bytes);
    }
    return sizes;
  };
  const auto here = database(*one), there = database(*other);
  if (exactly && here.size() != there.size()) return false;
  return std::all_of(here.begin(), here.end(), [&](const auto& file) {
    const auto found = there.find(file.first);
    return found != there.end() && found->second == file.second &&
           SameBytes(folder + "/" + file.first, copy + "/" + file.first);
  });
}

}  // namespace watchbill::history
