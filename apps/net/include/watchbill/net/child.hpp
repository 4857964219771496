// A child process that is talked to over pipes, and ended with whatever it started.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/net/loop.hpp"
#include "watchbill/net/process.hpp"

namespace watchbill::net {

struct ChildCommand {
  std::string program;                             // an absolute path, as ResolveProgram gives it
  std::vector<std::string> arguments;              // without the program
  std::map<std::string, std::string> environment;  // the whole of it
  std::string folder;                              // absolute
};

// What happens to it. Each is called from the loop, never from within a call on the Child, which it may
// destroy. After `ended`, or once the Child is destroyed, nothing.
struct ChildEvents {
  std::function<void(std::string_view)> output;        // bytes of its standard output, as they come
  std::function<void(std::string_view)> error_output;  // bytes of its standard error
  // Its standard output has ended; it may still run. Once, and always before `ended`.
  std::function<void()> output_closed;
  // It has ended, and all it wrote was delivered (what a process that it started holds open is waited for 200
  // ms). "exit code 3", "signal 9 (Killed)".
  std::function<void(std::string how)> ended;
};

// In a session and group of its own, with no descriptor but 0, 1 and 2, and with a mark in its environment,
// in the place of any that was given, by which SweepLeftChildren finds it, and all that it starts, when this
// process was killed. Destroying it before `ended` was told kills the group, and nothing that left it. Used
// by the thread of its loop, which outlives it.
class Child {
 public:
  // What exec says comes back at once: NotFound, PermissionDenied, FailedPrecondition (a file that is no
  // program), with the reason in words; Unavailable where the system has no more to give. InvalidArgument
  // names what in the command cannot be passed on. Ignores SIGPIPE from then on, in the whole process.
  static absl::StatusOr<std::unique_ptr<Child>> Spawn(Loop& loop, ChildCommand command, ChildEvents events);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const ProcessId& id() const;
  // Queued without a limit, and written as it takes them; a child that has closed its input loses them
  // without harm.
  void Write(std::string bytes);
  // Bytes that it has not taken yet.
  size_t unwritten() const;
  // Behind what is queued.
  void CloseInput();
  // To the group it leads and to whatever else it started that left the group, also where it has ended
  // itself. Reads the process table, some milliseconds of it.
  void SignalTree(int signal);
  // Whether it or anything that it started still runs. Cheap while it runs itself, else as SignalTree.
  bool TreeRuns() const;

  struct Impl;

 private:
  explicit Child(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

// The absolute path of the program that `command` names: looked up in the `PATH` of `environment` where it
// holds no slash, else taken from `folder`. NotFound and PermissionDenied say what was looked for and where.
absl::StatusOr<std::string> ResolveProgram(std::string_view command,
                                           const std::map<std::string, std::string>& environment,
                                           const std::string& folder);

// Makes orphans of our children our own, so that what left its group is still found, and reaps them when they
// end, in the loop that spawns. Once, at the start of a program that spawns children, and only where nothing
// in it waits for processes but Child and ProcessWatch: anything else may find its child reaped.
void AdoptOrphans();

// Ends what children of earlier programs of this user left behind: every process whose mark names an owner
// that no longer runs, and what these started without one. Never this process, a living owner, or what either
// descends from. SIGTERM, then SIGKILL after `patience_ms`. Blocks; gives how many there were.
size_t SweepLeftChildren(int patience_ms = 2000);

// Ends all that descends from this process. For the end of a program that adopts orphans, when every child
// was stopped: what left its session, dropped its mark and lost its parent has become ours, and is known by
// that. SIGTERM, then SIGKILL after `patience_ms`. Blocks; gives how many there were.
size_t EndAdopted(int patience_ms = 1000);

}  // namespace watchbill::net
