// The frames of `/runner`, both ways. Views as in agent_frames.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "watchbill/monitorproto/agent_frames.hpp"

namespace watchbill::monitorproto {

// "register". `host` is the machine's name, by which the board finds the runner of an agent.
struct RunnerRegister {
  Text host;
  std::optional<int64_t> pid;
  OptText version;
};

// "started", unasked: this folder was started by this runner. The folder is spelled as the system resolved
// it. `again`, which is ours, marks what a runner tells after a reconnect: started earlier, and still there.
struct RunnerStarted {
  Text folder;
  OptText at;
  bool again = false;
};

using RunnerFrame = std::variant<RunnerRegister, RunnerStarted, Ok, Error, UnknownFrame>;

// "start" and "kill", monitor to runner. Only what the runner itself started is ever killed.
// The folder is empty where the frame named none, which is to be answered `error`.
struct RunnerStart {
  Text ask;
  Text folder;
};
struct RunnerKill {
  Text ask;
  Text folder;
};

using RunnerCommand = std::variant<RunnerStart, RunnerKill, UnknownFrame>;

}  // namespace watchbill::monitorproto
