#include "watchbill/net/files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "watchbill/net/log.hpp"

namespace watchbill::net {
namespace {

absl::Status Failure(std::string_view doing, const std::string& path, int error) {
  const std::string text = fmt::format("cannot {} {}: {}", doing, path, std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == EACCES || error == EPERM || error == EROFS) return absl::PermissionDeniedError(text);
  return absl::UnavailableError(text);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// A relative path is to be ignored, says the XDG specification.
std::string FolderOr(const char* variable, const char* under_home) {
  if (const char* set = std::getenv(variable); set != nullptr && *set == '/') return set;
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr && *home != '\0' ? home : "/") + under_home;
}

}  // namespace

namespace {

absl::StatusOr<std::string> ReadAll(int fd, const std::string& name, size_t most_bytes) {
  std::string out;
  char buffer[16384];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failure("read", name, errno);
    if (n == 0) return out;
    out.append(buffer, static_cast<size_t>(n));
    if (out.size() > most_bytes) {
      return absl::OutOfRangeError(fmt::format("{} is longer than {} bytes", name, most_bytes));
    }
  }
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t most_bytes) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return Failure("read", path, errno);
  return ReadAll(file.get(), path, most_bytes);
}

absl::StatusOr<std::string> ReadStandardInput(size_t most_bytes) {
  return ReadAll(STDIN_FILENO, "standard input", most_bytes);
}

absl::Status ReplaceFile(const std::string& path, std::string_view content) {
  const std::string beside = fmt::format("{}.{}.new", path, getpid());
  {
    const Descriptor file(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return Failure("write", path, errno);
    while (!content.empty()) {
      const ssize_t n = write(file.get(), content.data(), content.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const int error = errno;
        unlink(beside.c_str());
        return Failure("write", path, error);
      }
      content.remove_prefix(static_cast<size_t>(n));
    }
    if (fsync(file.get()) != 0) {
      const int error = errno;
      unlink(beside.c_str());
      return Failure("write", path, error);
    }
  }
  if (rename(beside.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(beside.c_str());
    return Failure("write", path, error);
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor parent(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent) fsync(parent.get());
  return absl::OkStatus();
}

absl::Status EnsureFolder(const std::string& path) {
  for (size_t at = 0; at != std::string::npos;) {
    at = path.find('/', at + 1);
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      // A folder above that cannot be made but is there is no trouble.
      struct stat info {};
      const int error = errno;
      if (stat(part.c_str(), &info) != 0) return Failure("make the folder", part, error);
    }
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return Failure("use the folder", path, errno);
  if (!S_ISDIR(info.st_mode)) return Failure("use the folder", path, ENOTDIR);
  if (access(path.c_str(), W_OK | X_OK) != 0) return Failure("write in the folder", path, errno);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Take(const std::string& folder,
                                                             std::string_view name) {
  const std::string path = fmt::format("{}/{}.lock", folder, name);
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return Failure("write", path, errno);
  auto lock = std::unique_ptr<FolderLock>(new FolderLock(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Failure("lock", path, errno);
    char holder[32] = {};
    const ssize_t n = pread(fd, holder, sizeof holder - 1, 0);
    return absl::FailedPreconditionError(
        fmt::format("another {} (process {}) has the folder {}", name, n > 0 ? holder : "unknown", folder));
  }
  const std::string pid = std::to_string(getpid());
  if (ftruncate(fd, 0) != 0 || pwrite(fd, pid.data(), pid.size(), 0) < 0)
    return Failure("write", path, errno);
  return lock;
}

FolderLock::~FolderLock() { close(fd_); }

absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  auto content = ReadFile(path, 1 << 16);
  if (!content.ok()) return content;
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && (info.st_mode & 0077) != 0) {
    Log(LogLevel::kWarn, "others may read this secret; chmod 600 keeps it yours", {{"file", path}});
  }
  std::string secret = content->substr(0, content->find_first_of("\r\n"));
  if (secret.empty())
    return absl::InvalidArgumentError(fmt::format("{} is empty: put the token on its first line", path));
  return secret;
}

uint64_t FileVersion(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return 0;
  uint64_t version = static_cast<uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000 +
                     static_cast<uint64_t>(info.st_mtim.tv_nsec);
  return version ^ (static_cast<uint64_t>(info.st_ino) << 40) ^ (static_cast<uint64_t>(info.st_size) << 20) ^
         1;
}

std::string DefaultDataFolder() { return FolderOr("XDG_DATA_HOME", "/.local/share") + "/watchbill"; }
std::string DefaultStateFolder() { return FolderOr("XDG_STATE_HOME", "/.local/state") + "/watchbill"; }

std::string ConfigFolder() { return FolderOr("XDG_CONFIG_HOME", "/.config"); }

std::string RuntimeFolder() {
  const char* set = std::getenv("XDG_RUNTIME_DIR");
  if (set == nullptr || *set != '/') return "";
  struct stat info {};
  const bool usable = stat(set, &info) == 0 && S_ISDIR(info.st_mode) && access(set, W_OK | X_OK) == 0;
  return usable ? set : "";
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

}  // namespace watchbill::net
