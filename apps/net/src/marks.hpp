// The marks by which processes are found that a child started, wherever they went.
//
// WATCHBILL_OWNER names the process that spawned the child, by pid, start time, boot and the namespace in
// which that pid means something; WATCHBILL_CHILD tells that owner's children apart. Whatever a child starts
// inherits both, through every change of session and every loss of a parent, unless it is given another
// environment on purpose; such a one is found as long as the one that started it runs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "processes.hpp"

namespace watchbill::net {

inline constexpr char kOwnerVariable[] = "WATCHBILL_OWNER";
inline constexpr char kChildVariable[] = "WATCHBILL_CHILD";

struct Mark {
  std::string owner;
  std::string child;
  friend bool operator==(const Mark&, const Mark&) = default;
};

// One that no other child, of this process or another, has or had.
Mark NewMark();

// The process table, as it was at one moment as nearly as can be had.
struct SeenProcess {
  ProcessFacts facts;
  Mark mark;  // empty where it has none, or its environment may not be read
};
std::vector<SeenProcess> LookAtProcesses();

struct EarlierPid {
  bool operator()(const ProcessId& a, const ProcessId& b) const {
    return a.pid != b.pid ? a.pid < b.pid : a.started < b.started;
  }
};
using ProcessSet = std::set<ProcessId, EarlierPid>;

// Of `seen`, whatever carries the mark, is of that session, was known before, or descends from such a one;
// this process never. A session of 0: none.
std::vector<ProcessFacts> TreeOf(const std::vector<SeenProcess>& seen, const Mark& mark, pid_t session,
                                 const ProcessSet& known);

// To exactly that process: nothing happens where its pid has become another's.
bool SignalProcess(const ProcessId& process, int signal);

}  // namespace watchbill::net
