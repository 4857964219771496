#include "watchbill/net/child.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "loop_impl.hpp"
#include "marks.hpp"
#include "processes.hpp"

namespace watchbill::net {
namespace {

using Pipe = asio::posix::basic_stream_descriptor<Executor>;
using Told = std::function<void(std::string_view)> ChildEvents::*;

constexpr size_t kReadBytes = 64 << 10;
// Of one pipe before the others have their turn.
constexpr int kReadsATurn = 4;
// How long what a process that it started holds open is waited for once it has ended itself.
constexpr auto kPatience = std::chrono::milliseconds(200);
// A tree that grows faster than it can be killed is let go after so many looks; TreeRuns says so.
constexpr int kMostLooks = 8;

// Both ends of a pipe, closed on every way out. Neither is 0, 1 or 2, which the child's own are copied to.
class PipeEnds {
 public:
  PipeEnds() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return;
    for (int i = 0; i < 2; ++i) {
      ends_[i] = fds[i];
      if (fds[i] > STDERR_FILENO) continue;
      ends_[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
      close(fds[i]);
    }
  }
  ~PipeEnds() {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
  }
  PipeEnds(const PipeEnds&) = delete;
  PipeEnds& operator=(const PipeEnds&) = delete;

  bool whole() const { return ends_[0] >= 0 && ends_[1] >= 0; }
  int to_read() const { return ends_[0]; }
  int to_write() const { return ends_[1]; }
  // Handed over.
  int TakeRead() { return std::exchange(ends_[0], -1); }
  int TakeWrite() { return std::exchange(ends_[1], -1); }

 private:
  int ends_[2] = {-1, -1};
};

absl::Status CheckCommand(const ChildCommand& command) {
  if (!command.program.starts_with('/'))
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" is not the absolute path of a program", command.program));
  if (!command.folder.starts_with('/')) {
    return absl::InvalidArgumentError(fmt::format(
        "cannot start {}: \"{}\" is not the absolute path of a folder", command.program, command.folder));
  }
  const auto zero = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  const auto refuse = [&](std::string_view what) {
    return absl::InvalidArgumentError(fmt::format("cannot start {}: {}", command.program, what));
  };
  if (zero(command.program) || zero(command.folder)) return refuse("a path holds a zero byte");
  for (const std::string& argument : command.arguments) {
    if (zero(argument)) return refuse("an argument holds a zero byte");
  }
  for (const auto& [name, value] : command.environment) {
    if (name.empty() || name.find('=') != std::string::npos || zero(name))
      return refuse(fmt::format("\"{}\" is not the name of a variable", name));
    if (zero(value)) return refuse(fmt::format("the variable {} holds a zero byte", name));
  }
  return absl::OkStatus();
}

}  // namespace

struct Child::Impl : std::enable_shared_from_this<Impl> {
  Impl(Loop& loop, ChildEvents told)
      : input(loop.impl().context.get_executor()),
        output(loop.impl().context.get_executor()),
        error_output(loop.impl().context.get_executor()),
        ending(loop.impl().context.get_executor()),
        patience(loop.impl().context.get_executor()),
        mark(NewMark()),
        events(std::make_shared<const ChildEvents>(std::move(told))) {}

  ~Impl() {
    // The loop was destroyed before it could see the end of one that was killed: that takes no more than a
    // moment.
    if (reaped || !ending.is_open()) return;
    pollfd ended{ending.native_handle(), POLLIN, 0};
    if (poll(&ended, 1, 1000) == 1) HowItEnded(ending.native_handle(), true);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Begin() {
    ending.async_wait(Pipe::wait_read, [self = shared_from_this()](const boost::system::error_code& ec) {
      if (!ec) self->HasExited();
    });
    Listen(output, &ChildEvents::output);
    Listen(error_output, &ChildEvents::error_output);
  }

  // The events are kept by the call: it may destroy the Child.
  template <typename Event, typename... Values>
  void Tell(Event event, Values&&... values) {
    const std::shared_ptr<const ChildEvents> now = events;
    if (now != nullptr && (*now).*event) ((*now).*event)(std::forward<Values>(values)...);
  }

  void Listen(Pipe& pipe, Told told) {
    // Waits without a buffer, so that the two pipes share one.
    pipe.async_wait(Pipe::wait_read,
                    [self = shared_from_this(), &pipe, told](const boost::system::error_code& ec) {
                      if (ec || !pipe.is_open()) return;
                      self->Take(pipe, told, kReadsATurn);
                      if (pipe.is_open()) self->Listen(pipe, told);
                    });
  }

  // Delivers what is there, and closes the pipe at its end.
  void Take(Pipe& pipe, Told told, int reads) {
    while (reads-- > 0 && pipe.is_open()) {
      const ssize_t n = read(pipe.native_handle(), buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return HasClosed(pipe);
      Tell(told, std::string_view(buffer.data(), static_cast<size_t>(n)));
    }
  }

  void HasClosed(Pipe& pipe) {
    pipe.close();
    if (&pipe == &output) Tell(&ChildEvents::output_closed);
    if (how && !output.is_open() && !error_output.is_open()) Finish();
  }

  void HasExited() {
    how = HowItEnded(ending.native_handle(), false);
    LoseInput();
    if (events == nullptr) return Reap();
    if (!output.is_open() && !error_output.is_open()) return Finish();
    patience.expires_after(kPatience);
    patience.async_wait([self = shared_from_this()](const boost::system::error_code& ec) {
      if (!ec) self->LosePatience();
    });
  }

  // What its own pipes still hold is its own; what is written after that is another's.
  void LosePatience() {
    constexpr int kReads = 16;
    Take(output, &ChildEvents::output, kReads);
    Take(error_output, &ChildEvents::error_output, kReads);
    if (error_output.is_open()) error_output.close();
    if (output.is_open()) HasClosed(output);
    Finish();
  }

  void Finish() {
    if (finished) return;
    finished = true;
    patience.cancel();
    // Once the leader is reaped its number may become another's, so that what is in its session is noted
    // before.
    Look();
    Tell(&ChildEvents::ended, *how);
    Reap();
    events.reset();
  }

  void Reap() {
    if (reaped) return;
    reaped = true;
    HowItEnded(ending.native_handle(), true);
    ending.close();
    awaited.reset();
    ReapOrphans();
  }

  void LoseInput() {
    waiting.clear();
    if (input.is_open()) input.close();
  }

  void Pump() {
    if (write_is_out || !input.is_open()) return;
    if (waiting.empty()) {
      if (input_ends) input.close();
      return;
    }
    writing = std::exchange(waiting, {});
    written = 0;
    WriteMore();
  }

  void WriteMore() {
    write_is_out = true;
    input.async_write_some(asio::buffer(writing.data() + written, writing.size() - written),
                           [self = shared_from_this()](const boost::system::error_code& ec, size_t n) {
                             self->write_is_out = false;
                             if (ec) return self->LoseInput();
                             self->written += n;
                             if (self->written < self->writing.size()) return self->WriteMore();
                             self->writing = {};
                             self->written = 0;
                             self->Pump();
                           });
  }

  // What runs of the tree, and was not reaped.
  std::vector<ProcessFacts> Look() {
    std::vector<ProcessFacts> tree = TreeOf(LookAtProcesses(), mark, reaped ? 0 : id.pid, known);
    known.clear();
    for (const ProcessFacts& process : tree) known.insert(process.id);
    return tree;
  }

  void SignalTree(int signal) {
    ProcessSet signalled;
    for (int look = 0; look < kMostLooks; ++look) {
      const std::vector<ProcessFacts> tree = Look();
      // In one go, so that none of it can start another meanwhile. As long as the leader is not reaped the
      // number is its.
      if (look == 0 && !reaped) kill(-id.pid, signal);
      bool grew = false;
      for (const ProcessFacts& process : tree) {
        if (!signalled.insert(process.id).second) continue;
        grew = true;
        if (look > 0 || reaped || process.group != id.pid) SignalProcess(process.id, signal);
      }
      // Another signal may be meant to be answered by starting something.
      if (signal != SIGKILL || !grew) return;
    }
  }

  void Abandon() {
    events.reset();
    if (!reaped) kill(-id.pid, SIGKILL);
    LoseInput();
    if (output.is_open()) output.close();
    if (error_output.is_open()) error_output.close();
    patience.cancel();
    if (how) Reap();
  }

  Pipe input, output, error_output;
  Pipe ending;  // its pidfd
  SteadyTimer patience;
  ProcessId id;
  Mark mark;
  ProcessSet known;  // of the tree, when it was last looked at
  std::optional<AwaitedPid> awaited;
  std::shared_ptr<const ChildEvents> events;  // nothing once `ended` was told, or nobody is there to hear
  std::optional<std::string> how;             // once it has exited
  bool finished = false;
  bool reaped = false;
  bool input_ends = false;
  bool write_is_out = false;
  std::string writing;  // of which `written` bytes are gone
  size_t written = 0;
  std::string waiting;
  std::array<char, kReadBytes> buffer;
};

absl::StatusOr<std::unique_ptr<Child>> Child::Spawn(Loop& loop, ChildCommand command, ChildEvents events) {
  if (absl::Status status = CheckCommand(command); !status.ok()) return status;
  // A child that closes its input must not end us; with a Loop SIGPIPE is ignored already, but others may
  // have come.
  signal(SIGPIPE, SIG_IGN);
  ReapOrphansOn(loop);
  const auto unavailable = [&](std::string_view what, int error) {
    return absl::UnavailableError(
        fmt::format("cannot start {}: {}: {}", command.program, what, std::strerror(error)));
  };
  PipeEnds input, output, error_output;
  if (!input.whole() || !output.whole() || !error_output.whole())
    return unavailable("no pipe can be made", errno);

  auto impl = std::make_shared<Impl>(loop, std::move(events));
  command.environment[kOwnerVariable] = impl->mark.owner;
  command.environment[kChildVariable] = impl->mark.child;
  std::vector<std::string> arguments = std::move(command.arguments);
  arguments.insert(arguments.begin(), command.program);
  std::vector<std::string> variables;
  for (const auto& [name, value] : command.environment) variables.push_back(name + "=" + value);

  SpawnPlan plan;
  posix_spawn_file_actions_adddup2(&plan.actions, input.to_read(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&plan.actions, output.to_write(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&plan.actions, error_output.to_write(), STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&plan.actions, command.folder.c_str());
  // Asio's sockets have no close-on-exec.
  posix_spawn_file_actions_addclosefrom_np(&plan.actions, 3);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, command.program.c_str(), &plan.actions, &plan.attributes,
                                Pointers(arguments).data(), Pointers(variables).data());
  if (error != 0) return ExplainExec(command.program, command.folder, error);

  // Not reaped yet, so that the pid is still its own even where it has ended.
  impl->id = IdentifyProcess(pid).value_or(ProcessId{pid, 0, BootId()});
  impl->awaited.emplace(pid);
  const int pidfd = OpenPidfd(pid);
  if (pidfd < 0) {
    const int why = errno;
    kill(-pid, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
    return unavailable("it cannot be watched", why);
  }
  impl->ending.assign(pidfd);
  impl->input.assign(input.TakeWrite());
  impl->output.assign(output.TakeRead());
  impl->error_output.assign(error_output.TakeRead());
  for (Pipe* pipe : {&impl->input, &impl->output, &impl->error_output}) pipe->native_non_blocking(true);
  impl->Begin();
  return std::unique_ptr<Child>(new Child(std::move(impl)));
}

Child::Child(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Child::~Child() { impl_->Abandon(); }

const ProcessId& Child::id() const { return impl_->id; }

void Child::Write(std::string bytes) {
  if (impl_->input_ends || !impl_->input.is_open()) return;
  if (impl_->waiting.empty()) {
    impl_->waiting = std::move(bytes);
  } else {
    impl_->waiting += bytes;
  }
  impl_->Pump();
}

size_t Child::unwritten() const {
  if (!impl_->input.is_open()) return 0;
  return impl_->writing.size() - impl_->written + impl_->waiting.size();
}

void Child::CloseInput() {
  impl_->input_ends = true;
  impl_->Pump();
}

void Child::SignalTree(int signal) { impl_->SignalTree(signal); }

bool Child::TreeRuns() const {
  if (!impl_->how && StillRuns(impl_->id)) return true;
  return !impl_->Look().empty();
}

}  // namespace watchbill::net
