// What our children left, and became ours.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <atomic>
#include <mutex>
#include <set>

#include "loop_impl.hpp"
#include "processes.hpp"
#include "watchbill/net/child.hpp"

namespace watchbill::net {
namespace {

std::atomic<bool> adopting{false};

// More than one may wait for the same process.
struct Awaited {
  std::mutex mutex;
  std::multiset<pid_t> pids;
};
Awaited& AwaitedPids() {
  static Awaited awaited;
  return awaited;
}

}  // namespace

AwaitedPid::AwaitedPid(pid_t pid) : pid_(pid) {
  Awaited& awaited = AwaitedPids();
  const std::lock_guard lock(awaited.mutex);
  awaited.pids.insert(pid_);
}

AwaitedPid::~AwaitedPid() {
  Awaited& awaited = AwaitedPids();
  const std::lock_guard lock(awaited.mutex);
  awaited.pids.erase(awaited.pids.find(pid_));
}

void AdoptOrphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  adopting = true;
}

void ReapOrphans() {
  if (!adopting) return;
  Awaited& awaited = AwaitedPids();
  // Held while it reaps, so that nobody begins to wait between the look and the reaping.
  const std::lock_guard lock(awaited.mutex);
  for (;;) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    if (awaited.pids.contains(info.si_pid)) return;
    if (waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED | WNOHANG) != 0) return;
  }
}

void ReapOrphansOn(Loop& loop) {
  auto& signals = loop.impl().ended_children;
  if (!adopting || signals) return;
  signals.emplace(loop.impl().context, SIGCHLD);
  // A child that ends is no reason for a call elsewhere in this process to be interrupted.
  struct sigaction action {};
  if (sigaction(SIGCHLD, nullptr, &action) == 0) {
    action.sa_flags |= SA_RESTART | SA_NOCLDSTOP;
    sigaction(SIGCHLD, &action, nullptr);
  }
  struct Wait {
    asio::signal_set& set;
    void operator()(const boost::system::error_code& ec, int) {
      if (ec) return;
      ReapOrphans();
      set.async_wait(*this);
    }
  };
  signals->async_wait(Wait{*signals});
  // Those that ended before anybody listened.
  ReapOrphans();
}

}  // namespace watchbill::net
