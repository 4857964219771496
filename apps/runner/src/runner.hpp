// The runner: hears `start` and `kill` from a monitor, and answers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/net/dial_loop.hpp"
#include "watchbill/net/loop.hpp"

namespace watchbill::runner {

struct RunnerOptions {
  net::MonitorAddress monitor;
  std::string monitor_url;  // as the agents are to be told it
  std::string token;        // for the monitor; agents that have none of their own are given it too
  std::string name;         // of this machine
  std::string state_file;   // where what was started is kept
  // Folders at or below which anything may be started; resolved, so that a link does not lead out of them.
  std::vector<std::string> allowed;
  // What may be started beside those: the embedded runner asks its board.
  std::function<bool(std::string_view folder)> also_allowed;
  // Called once where the monitor refuses the token; without it the runner goes on trying.
  std::function<void()> refused;
};

// One per machine and monitor. Nothing it started ends with it. One thread.
class Runner {
 public:
  // Fails where the state cannot be read or kept.
  static absl::StatusOr<std::unique_ptr<Runner>> Create(net::Loop& loop, RunnerOptions options);
  ~Runner();

  void Start();  // begins to dial
  void Stop();   // says goodbye; what it started goes on

  struct Impl;

 private:
  explicit Runner(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace watchbill::runner
