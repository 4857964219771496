#include "watchbill/net/stdio.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cerrno>
#include <cstring>

#include "loop_impl.hpp"

namespace watchbill::net {
namespace {

using Descriptor = asio::posix::basic_stream_descriptor<Executor>;

constexpr size_t kPiece = 64 << 10;

// One of the two streams, by a descriptor of our own.
struct Stream {
  explicit Stream(Executor executor) : descriptor(executor) {}
  ~Stream() {
    if (flags_before >= 0) fcntl(shared, F_SETFL, flags_before);
    if (file >= 0) close(file);
  }

  // Where it is nobody else's (a pipe, a terminal) it is opened once more: not to block is a property of the
  // opened file, and the shell that shares ours would find its terminal changed.
  absl::Status Open(int fd, int mode, std::string_view name) {
    const auto failed = [&] {
      return absl::UnavailableError(
          fmt::format("standard {} cannot be used: {}", name, std::strerror(errno)));
    };
    struct stat info {};
    if (fstat(fd, &info) != 0) return failed();
    int own = -1;
    if (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)) {
      own = open(fmt::format("/proc/self/fd/{}", fd).c_str(), mode | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    }
    const bool shares = own < 0;
    if (shares) own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return failed();
    if (!Pollable(own)) {
      file = own;
      return absl::OkStatus();
    }
    if (shares) {
      shared = fd;
      flags_before = fcntl(fd, F_GETFL);
    }
    boost::system::error_code ec;
    descriptor.assign(own, ec);
    if (!ec) descriptor.native_non_blocking(true, ec);
    if (!ec) return absl::OkStatus();
    if (!descriptor.is_open()) close(own);
    errno = ec.value();
    return failed();
  }

  // Regular files and the like never keep anybody waiting, and epoll refuses them.
  static bool Pollable(int fd) {
    const int set = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    const bool refused = epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) != 0 && errno == EPERM;
    if (set >= 0) close(set);
    return !refused;
  }

  void Close() {
    boost::system::error_code ignored;
    if (descriptor.is_open()) descriptor.close(ignored);
  }

  Descriptor descriptor;
  int file = -1;  // instead of the descriptor, where it is a file
  int shared = -1, flags_before = -1;
};

}  // namespace

absl::Status CheckStandardStreams() {
  for (const auto& [fd, name] : {std::pair(STDIN_FILENO, "input"), std::pair(STDOUT_FILENO, "output")}) {
    if (fcntl(fd, F_GETFD) < 0) {
      return absl::FailedPreconditionError(fmt::format("standard {} is closed; it has to be open", name));
    }
  }
  return absl::OkStatus();
}

struct StandardStreams::Impl : std::enable_shared_from_this<Impl> {
  Impl(Loop& l, StandardStreamsEvents e)
      : loop(l),
        events(std::move(e)),
        in(l.impl().context.get_executor()),
        out(l.impl().context.get_executor()) {}

  void Read() {
    if (in.file >= 0) {
      // A piece at a time, so that what else is ready has its turn.
      loop.Post([self = shared_from_this()] {
        if (self->gone) return;
        const ssize_t n = read(self->in.file, self->piece.data(), self->piece.size());
        if (n < 0 && errno == EINTR) return self->Read();
        self->HasRead(n > 0 ? static_cast<size_t>(n) : 0);
      });
      return;
    }
    in.descriptor.async_read_some(asio::buffer(piece),
                                  [self = shared_from_this()](const boost::system::error_code& ec, size_t n) {
                                    if (!self->gone) self->HasRead(ec ? 0 : n);
                                  });
  }

  void HasRead(size_t n) {
    // The end, or an error such as that of a terminal which is gone: nothing more will come in either case.
    if (n == 0) return events.input_closed();
    events.bytes(std::string_view(piece.data(), n));
    if (!gone) Read();
  }

  // A reader that goes away is noticed also while there is nothing to write.
  void WatchOutput() {
    if (out.file >= 0) return;
    out.descriptor.async_wait(asio::posix::descriptor_base::wait_error,
                              [self = shared_from_this()](const boost::system::error_code& ec) {
                                if (ec || self->gone || self->output_gone) return;
                                // Urgent data of a socket comes here as well.
                                pollfd state{self->out.descriptor.native_handle(), 0, 0};
                                if (poll(&state, 1, 0) != 1) return self->WatchOutput();
                                self->OutputClosed("its reader has closed it");
                              });
  }

  void Write(std::string_view bytes) {
    if (output_gone || bytes.empty()) return;
    queued.append(bytes);
    if (!writing) WriteNext();
  }

  void WriteNext() {
    if (written == taken.size()) {
      taken.swap(queued);
      queued.clear();
      written = 0;
    }
    writing = !taken.empty();
    if (!writing) return;
    const size_t size = std::min(kPiece, taken.size() - written);
    if (out.file >= 0) {
      loop.Post([self = shared_from_this(), size] {
        if (self->gone) return;
        const ssize_t n = write(self->out.file, self->taken.data() + self->written, size);
        if (n < 0 && errno != EINTR) return self->OutputClosed(std::strerror(errno));
        self->HasWritten(n > 0 ? static_cast<size_t>(n) : 0);
      });
      return;
    }
    out.descriptor.async_write_some(
        asio::buffer(taken.data() + written, size),
        [self = shared_from_this()](const boost::system::error_code& ec, size_t n) {
          if (self->gone) return;
          if (ec) return self->OutputClosed(ec.message());
          self->HasWritten(n);
        });
  }

  void HasWritten(size_t n) {
    if (output_gone) return;
    written += n;
    WriteNext();
    if (!writing) events.drained();
  }

  void OutputClosed(std::string_view why) {
    if (gone || std::exchange(output_gone, true)) return;
    queued.clear();
    taken.clear();
    written = 0;
    writing = false;
    out.Close();
    events.output_closed(why);
  }

  Loop& loop;
  StandardStreamsEvents events;
  Stream in, out;
  std::array<char, kPiece> piece{};
  std::string queued;  // behind `taken`
  std::string taken;   // what the system is being given, of which `written` bytes are done
  size_t written = 0;
  bool writing = false, output_gone = false, gone = false;
};

absl::StatusOr<std::unique_ptr<StandardStreams>> StandardStreams::Take(Loop& loop,
                                                                       StandardStreamsEvents events) {
  auto impl = std::make_shared<Impl>(loop, std::move(events));
  if (absl::Status status = impl->in.Open(STDIN_FILENO, O_RDONLY, "input"); !status.ok()) return status;
  if (absl::Status status = impl->out.Open(STDOUT_FILENO, O_WRONLY, "output"); !status.ok()) return status;
  impl->Read();
  impl->WatchOutput();
  return std::unique_ptr<StandardStreams>(new StandardStreams(std::move(impl)));
}

StandardStreams::StandardStreams(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

StandardStreams::~StandardStreams() {
  impl_->gone = true;
  impl_->in.Close();
  impl_->out.Close();
}

void StandardStreams::Write(std::string_view bytes) { impl_->Write(bytes); }
size_t StandardStreams::unwritten() const {
  return impl_->queued.size() + impl_->taken.size() - impl_->written;
}

}  // namespace watchbill::net
