// What the files that start, watch and find processes share.
#pragma once

#include <signal.h>
#include <spawn.h>

#include <optional>
#include <string>
#include <vector>

#include "watchbill/net/process.hpp"

namespace watchbill::net {

// Which boot the start times of this machine's processes are counted from.
const std::string& BootId();

// One line of the process table.
struct ProcessFacts {
  ProcessId id;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
};
// Nothing where there is no such process, or it is a zombie.
std::optional<ProcessFacts> ReadProcess(pid_t pid);

// Frees what posix_spawn needs, on every way out.
struct SpawnPlan {
  // A session of its own, and every signal as it was before this process changed it.
  SpawnPlan();
  ~SpawnPlan();
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// For exec: good as long as `texts` is not changed.
std::vector<char*> Pointers(std::vector<std::string>& texts);

int OpenPidfd(pid_t pid);
// In words, how the process of a pidfd that is ready to be read has ended: "exit code 3", "signal 9
// (Killed)"; "it ended" where it was not our child. `reap` ends the zombie too, and with it what keeps the
// pid from another.
std::string HowItEnded(int pidfd, bool reap);

// A pid whose end somebody waits for. What reaps orphans leaves it alone as long as this lives.
class AwaitedPid {
 public:
  explicit AwaitedPid(pid_t pid);
  ~AwaitedPid();
  AwaitedPid(const AwaitedPid&) = delete;
  AwaitedPid& operator=(const AwaitedPid&) = delete;

 private:
  pid_t pid_;
};

// Where AdoptOrphans was called: ends every zombie among our children whose end nobody waits for. It stops at
// one that is waited for, so whoever has reaped such a one calls it again.
void ReapOrphans();
// From now on, whenever a child of this process ends.
void ReapOrphansOn(Loop& loop);

// Why exec, or the change of folder before it, gave `error`, in a whole sentence.
absl::Status ExplainExec(const std::string& program, const std::string& folder, int error);

}  // namespace watchbill::net
