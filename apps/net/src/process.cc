#include "watchbill/net/process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cerrno>
#include <cstring>

#include "loop_impl.hpp"
#include "processes.hpp"
#include "watchbill/net/files.hpp"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace watchbill::net {

const std::string& BootId() {
  static const std::string kBoot = [] {
    const auto text = ReadFile("/proc/sys/kernel/random/boot_id", 128);
    return text.ok() ? text->substr(0, text->find('\n')) : std::string("unknown");
  }();
  return kBoot;
}

SpawnPlan::SpawnPlan() {
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  // A child that is to be told from one that never was needs every signal as it was.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

SpawnPlan::~SpawnPlan() {
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

std::string HowItEnded(int pidfd, bool reap) {
  siginfo_t info{};
  const int options = WEXITED | (reap ? 0 : WNOWAIT);
  if (waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd), &info, options) != 0)
    return "it ended";
  if (info.si_code == CLD_EXITED) return fmt::format("exit code {}", info.si_status);
  return fmt::format("signal {} ({})", info.si_status, strsignal(info.si_status));
}

std::optional<ProcessFacts> ReadProcess(pid_t pid) {
  const auto stat = ReadFile(fmt::format("/proc/{}/stat", pid), 4096);
  if (!stat.ok()) return std::nullopt;
  // The name is in brackets and may hold anything; behind the last one come state and figures.
  const size_t end = stat->rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*stat).substr(end + 1);
  ProcessFacts out;
  out.id = {pid, 0, BootId()};
  for (int field = 3; field <= 22; ++field) {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find(' '));
    const auto figure = [&] { return std::strtoull(std::string(word).c_str(), nullptr, 10); };
    if (field == 3 && (word == "Z" || word == "X")) return std::nullopt;
    if (field == 4) out.parent = static_cast<pid_t>(figure());
    if (field == 5) out.group = static_cast<pid_t>(figure());
    if (field == 6) out.session = static_cast<pid_t>(figure());
    if (field == 22) out.id.started = figure();
    rest.remove_prefix(word.size());
  }
  return out;
}

std::optional<ProcessId> IdentifyProcess(pid_t pid) {
  auto facts = ReadProcess(pid);
  if (!facts) return std::nullopt;
  return std::move(facts->id);
}

absl::StatusOr<ProcessId> SpawnDetached(const DetachedCommand& c) {
  if (c.command.empty()) return absl::InvalidArgumentError("there is nothing to start");
  SpawnPlan plan;
  posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&plan.actions, STDOUT_FILENO, c.output.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&plan.actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&plan.actions, c.folder.c_str());
  // Asio's sockets have no close-on-exec.
  posix_spawn_file_actions_addclosefrom_np(&plan.actions, 3);

  std::vector<std::string> arguments = c.command;
  std::vector<std::string> variables;
  for (const auto& [name, value] : c.environment) variables.push_back(name + "=" + value);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0].c_str(), &plan.actions, &plan.attributes,
                                 Pointers(arguments).data(), Pointers(variables).data());
  if (error != 0) {
    const std::string text =
        fmt::format("cannot start {} in {}: {}", c.command[0], c.folder, std::strerror(error));
    if (error == ENOENT) return absl::NotFoundError(text);
    if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
    return absl::UnavailableError(text);
  }
  // Not reaped yet, so that the pid is still its own even where it has ended.
  const auto id = IdentifyProcess(pid);
  return id.value_or(ProcessId{pid, 0, BootId()});
}

struct ProcessWatch::Impl : std::enable_shared_from_this<Impl> {
  Impl(Loop& loop, const ProcessId& process, std::function<void(std::string)> done)
      : id(process),
        awaited(process.pid),
        descriptor(loop.impl().context.get_executor()),
        ended(std::move(done)) {
    const int fd = OpenPidfd(process.pid);
    if (fd >= 0) descriptor.assign(fd);
    ReapOrphansOn(loop);
  }

  void Wait(Loop& loop) {
    // Between its start and now it may have ended, and its pid be another's.
    const auto now = IdentifyProcess(id.pid);
    if (!descriptor.is_open() || (now && id.started != 0 && now->started != id.started)) {
      loop.Post([self = shared_from_this()] { self->Tell("it ended"); });
      return;
    }
    descriptor.async_wait(asio::posix::descriptor_base::wait_read,
                          [self = shared_from_this()](const boost::system::error_code& ec) {
                            if (ec) return;
                            self->Tell(HowItEnded(self->descriptor.native_handle(), true));
                          });
  }

  void Tell(std::string how) {
    descriptor.close();
    awaited.reset();
    ReapOrphans();
    if (auto call = std::exchange(ended, nullptr)) call(std::move(how));
  }

  ProcessId id;
  std::optional<AwaitedPid> awaited;
  asio::posix::basic_stream_descriptor<Executor> descriptor;
  std::function<void(std::string)> ended;
};

ProcessWatch::ProcessWatch(Loop& loop, const ProcessId& process, std::function<void(std::string how)> ended)
    : impl_(std::make_shared<Impl>(loop, process, std::move(ended))) {
  impl_->Wait(loop);
}

ProcessWatch::~ProcessWatch() {
  impl_->ended = nullptr;
  if (impl_->descriptor.is_open()) impl_->descriptor.close();
}

void ProcessWatch::SignalGroup(int signal) {
  // The descriptor is open until the end was seen, and the leader is not reaped before that.
  if (impl_->descriptor.is_open() && StillRuns(impl_->id)) kill(-impl_->id.pid, signal);
}

std::map<std::string, std::string> CurrentEnvironment() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

}  // namespace watchbill::net
