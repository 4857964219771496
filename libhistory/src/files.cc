#include "files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace watchbill::history {
namespace {

leveldb::Status IoError(const std::string& name, int error) {
  return leveldb::Status::IOError(name, std::strerror(error));
}

// Made with its final rights: LevelDB's own open would make it for all to read and keeps what is there.
leveldb::Status Touch(const std::string& name) {
  const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return IoError(name, errno);
  ::close(fd);
  return leveldb::Status::OK();
}

// LevelDB maps tables into memory. What it is shown there it does not keep in its cache, and checks anew at
// every look; what it was given a copy of it does. Large blocks, and the list of a table's blocks, are better
// off where they are.
class CopyingFile final : public leveldb::RandomAccessFile {
 public:
  explicit CopyingFile(leveldb::RandomAccessFile* file) : file_(file) {}
  leveldb::Status Read(uint64_t offset, size_t size, leveldb::Slice* result, char* scratch) const override {
    constexpr size_t kMostCopied = 16 << 10;
    const leveldb::Status status = file_->Read(offset, size, result, scratch);
    if (status.ok() && result->data() != scratch && size <= kMostCopied) {
      std::memcpy(scratch, result->data(), result->size());
      *result = leveldb::Slice(scratch, result->size());
    }
    return status;
  }

 private:
  const std::unique_ptr<leveldb::RandomAccessFile> file_;
};

// A process's fcntl lock goes as soon as it closes any descriptor of the file, also one that it opened to ask
// for the lock again. So what this process holds has to be known before the file is opened: by what it is, as
// a folder has many names. Locks are the process's, hence this list is too.
struct Held {
  dev_t device;
  ino_t inode;
  pid_t process;  // a fork inherits the list, not the lock
};
std::mutex held_mutex;
std::vector<Held>& HeldLocks() {
  static std::vector<Held> locks;
  return locks;
}

bool SameFile(const Held& held, const struct stat& file) {
  return held.device == file.st_dev && held.inode == file.st_ino && held.process == ::getpid();
}

struct Lock final : leveldb::FileLock {
  Lock(int descriptor, const struct stat& locked) : fd(descriptor), file(locked) {}
  int fd;
  struct stat file;
};

struct flock WholeFile(short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  return range;
}

}  // namespace

std::string ParentOf(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return "/";
  const size_t slash = path.find_last_of('/', end);
  if (slash == std::string::npos) return ".";
  const size_t last = path.find_last_not_of('/', slash);
  return last == std::string::npos ? "/" : path.substr(0, last + 1);
}

int SyncFolder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = ::fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
  ::close(fd);
  return error;
}

absl::Status MakeFolder(const std::string& folder) {
  std::vector<std::string> missing;
  for (std::string at = folder;; at = ParentOf(at)) {
    struct stat there {};
    if (::stat(at.c_str(), &there) == 0) {
      if (S_ISDIR(there.st_mode)) break;
      return absl::FailedPreconditionError(
          fmt::format("{}: {} is a file and not a folder; name another folder", folder, at));
    }
    if (errno != ENOENT) {
      return absl::PermissionDeniedError(
          fmt::format("{}: {} cannot be looked at ({}); name a folder that may be used", folder, at,
                      std::strerror(errno)));
    }
    missing.push_back(at);
  }
  for (; !missing.empty(); missing.pop_back()) {
    const std::string& at = missing.back();
    int error = ::mkdir(at.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
    if (error == 0) error = SyncFolder(ParentOf(at));
    if (error != 0) {
      return absl::PermissionDeniedError(fmt::format(
          "{}: {} cannot be made ({}); name a folder that may be made", folder, at, std::strerror(error)));
    }
  }
  return absl::OkStatus();
}

leveldb::Status FolderEnv::NewWritableFile(const std::string& name, leveldb::WritableFile** file) {
  *file = nullptr;
  leveldb::Status status = Touch(name);
  if (!status.ok()) return status;
  status = target()->NewWritableFile(name, file);
  // LevelDB syncs the folder with each change of its manifest, but a log takes records before there is one.
  if (status.ok() && std::string_view(name).ends_with(".log")) {
    if (const int error = SyncFolder(ParentOf(name)); error != 0) {
      delete *file;
      *file = nullptr;
      status = IoError(ParentOf(name), error);
    }
  }
  return status;
}

leveldb::Status FolderEnv::NewAppendableFile(const std::string& name, leveldb::WritableFile** file) {
  *file = nullptr;
  const leveldb::Status status = Touch(name);
  return status.ok() ? target()->NewAppendableFile(name, file) : status;
}

leveldb::Status FolderEnv::NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** file) {
  const leveldb::Status status = target()->NewRandomAccessFile(name, file);
  if (status.ok()) *file = new CopyingFile(*file);
  return status;
}

leveldb::Status FolderEnv::LockFile(const std::string& name, leveldb::FileLock** lock) {
  *lock = nullptr;
  const std::lock_guard guard(held_mutex);
  struct stat file {};
  if (::stat(name.c_str(), &file) == 0) {
    for (const Held& held : HeldLocks()) {
      if (SameFile(held, file)) {
        holder_ = ::getpid();
        return leveldb::Status::IOError(name, "held by this process");
      }
    }
  }
  const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return IoError(name, errno);
  struct flock range = WholeFile(F_WRLCK);
  if (::fcntl(fd, F_SETLK, &range) != 0 || ::fstat(fd, &file) != 0) {
    const int error = errno;
    if (error == EAGAIN || error == EACCES) {
      range = WholeFile(F_WRLCK);
      const bool told = ::fcntl(fd, F_GETLK, &range) == 0 && range.l_type != F_UNLCK && range.l_pid > 0;
      holder_ = told ? range.l_pid : 0;
    }
    ::close(fd);
    return IoError(name, error);
  }
  HeldLocks().push_back({file.st_dev, file.st_ino, ::getpid()});
  *lock = new Lock(fd, file);
  return leveldb::Status::OK();
}

leveldb::Status FolderEnv::UnlockFile(leveldb::FileLock* lock) {
  const std::lock_guard guard(held_mutex);
  auto* mine = static_cast<Lock*>(lock);
  std::erase_if(HeldLocks(), [&](const Held& held) { return SameFile(held, mine->file); });
  ::close(mine->fd);  // and with it the lock
  delete mine;
  return leveldb::Status::OK();
}

std::optional<int> HolderOf(const std::string& lock_file) {
  const std::lock_guard guard(held_mutex);
  struct stat file {};
  if (::stat(lock_file.c_str(), &file) != 0) return std::nullopt;
  for (const Held& held : HeldLocks()) {
    if (SameFile(held, file)) return ::getpid();
  }
  const int fd = ::open(lock_file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  struct flock range = WholeFile(F_WRLCK);
  const bool held = ::fcntl(fd, F_GETLK, &range) == 0 && range.l_type != F_UNLCK;
  ::close(fd);
  if (!held) return std::nullopt;
  return range.l_pid > 0 ? range.l_pid : 0;
}

uint64_t RoomOn(const std::string& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return 0;
  return static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
}

bool ReserveFile::Take() {
  const int fd = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool taken = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes_)) == 0;
  ::close(fd);
  if (!taken) Give();
  return taken;
}

void ReserveFile::Give() { ::unlink(name_.c_str()); }

}  // namespace watchbill::history
