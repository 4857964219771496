// Child processes that outlive their parent, known by pid and start time.
//
// posix_spawn rather than Boost.Process: Boost 1.81 forks, which copies a large parent's page tables, leaves
// descriptors open in the child, and cannot start a session; see docs/decisions/child-processes.md.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/net/loop.hpp"

namespace watchbill::net {

// A process as the system knows it. A pid alone names another one tomorrow.
struct ProcessId {
  pid_t pid = 0;
  uint64_t started = 0;  // clock ticks after boot
  std::string boot;      // which boot those are counted from
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// Nothing where there is no such process, or it is a zombie.
std::optional<ProcessId> IdentifyProcess(pid_t pid);
inline bool StillRuns(const ProcessId& id) { return IdentifyProcess(id.pid) == id; }

struct DetachedCommand {
  std::vector<std::string> command;                // command[0] is looked up in PATH
  std::map<std::string, std::string> environment;  // the whole of it
  std::string folder;
  std::string output;  // a file that both outputs are appended to; only its user may read it
};

// Starts it in a session of its own, with no descriptor but 0, 1 and 2, so that it outlives this process. An
// error that exec gives comes back here: NotFound, PermissionDenied, with the reason in words.
absl::StatusOr<ProcessId> SpawnDetached(const DetachedCommand& command);

// Watches one process, whether it is our child or not, and tells its end once. `how` is in words where it was
// our child ("exit code 3", "signal 9 (Killed)"), else "it ended".
class ProcessWatch {
 public:
  ProcessWatch(Loop& loop, const ProcessId& process, std::function<void(std::string how)> ended);
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // To the whole group that it leads. Nothing happens where it has ended.
  void SignalGroup(int signal);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// The variables of this process.
std::map<std::string, std::string> CurrentEnvironment();

}  // namespace watchbill::net
