// What happens to a board. Events are views, valid while Board::Apply runs; the board copies what it keeps,
// and cuts what is longer than a person would read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "watchbill/base/json_text.hpp"

namespace watchbill::board {

// The caller's numbers for its sockets: never 0, never used again.
using ConnectionId = uint64_t;
using WatcherId = uint64_t;

using Text = std::string_view;
using OptText = std::optional<std::string_view>;

// An agent said who it is. Without an id it becomes the row `no-id:<host>:<cwd>`.
struct AgentRegistered {
  ConnectionId connection = 0;
  OptText id, name, version, host, cwd, protocol;
  std::optional<int64_t> pid, port;
  std::span<const Text> capabilities;
};
// Anything at all came from it, a pong included. Every other event of a connection says so too.
struct AgentHeard {
  ConnectionId connection = 0;
};
// It said that it leaves.
struct AgentLeft {
  ConnectionId connection = 0;
};
// Its socket is gone, whoever closed it.
struct AgentClosed {
  ConnectionId connection = 0;
};

struct RunEntered {
  ConnectionId connection = 0;
  Text run_id;
  OptText parent_run_id, agent, started_by, trigger_id, thread, at;
};
// It ended, or waits for a person.
struct RunExited : RunEntered {
  std::optional<int64_t> duration_ms;
  OptText outcome;
  std::optional<bool> ok;
  OptText error, failure, node;
  std::optional<bool> answered;
};

// A journal line, or the number of those that the agent did not send, or both.
struct LogArrived {
  ConnectionId connection = 0;
  JsonView entry;  // forwarded as it is; absent where only `dropped` is told
  std::optional<int64_t> dropped;
  JsonView id;  // of the entry; absent: it cannot be told from another, and is counted each time
  OptText kind, at, name, run_id, parent_run_id, started_by, agent;
  std::optional<bool> ok;
  std::optional<int64_t> duration_ms, tokens;
  std::optional<double> cost;
};

struct RunnerRegistered {
  ConnectionId connection = 0;
  Text host;
  std::optional<int64_t> pid;
};
struct RunnerClosed {
  ConnectionId connection = 0;
};
// That runner has started this folder, spelled as its system resolves it; or, `again`, says after a reconnect
// that what it started earlier is still there.
struct FolderStarted {
  ConnectionId connection = 0;
  Text folder;
  bool again = false;
  OptText at;
};

// The board's own list, whole. What is no longer on it stays a row only while it is connected.
struct KeyedAgent {
  std::string id, name, folder;
  std::string host;  // empty: the monitor's own machine
  std::string note;
};
struct ListChanged {
  std::span<const KeyedAgent> agents;
};

// Somebody watches. It is sent the whole board at once.
struct WatcherJoined {
  WatcherId watcher = 0;
};
// It named what it understands; `rows`: differences from now on, after one more whole board.
struct WatcherNamed {
  WatcherId watcher = 0;
  bool rows = false;
};
// Everything pushed to it so far has left this process.
struct WatcherDrained {
  WatcherId watcher = 0;
};
struct WatcherLeft {
  WatcherId watcher = 0;
};

using Event = std::variant<AgentRegistered, AgentHeard, AgentLeft, AgentClosed, RunEntered, RunExited,
                           LogArrived, RunnerRegistered, RunnerClosed, FolderStarted, ListChanged,
                           WatcherJoined, WatcherNamed, WatcherDrained, WatcherLeft>;

}  // namespace watchbill::board
