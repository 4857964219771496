// The board: one value that holds what the monitor knows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "watchbill/base/now.hpp"
#include "watchbill/base/sentence.hpp"
#include "watchbill/board/events.hpp"

namespace watchbill::board {

// These bytes, to these watchers, in this order among all pushes.
struct Push {
  std::vector<WatcherId> to;
  std::shared_ptr<const std::string> bytes;
};
// A ping frame to an agent.
struct PingAgent {
  ConnectionId connection = 0;
};
// Close that agent's socket without ceremony; the board has let go of it already.
struct DropAgent {
  ConnectionId connection = 0;
};
// Another copy holds its id: it is to stand down. Or: the holder is gone, it may register again.
struct TellDuplicate {
  ConnectionId connection = 0;
};
struct TellMayReturn {
  ConnectionId connection = 0;
};

using Action = std::variant<Push, PingAgent, DropAgent, TellDuplicate, TellMayReturn>;
using Actions = std::vector<Action>;

// How a button is carried out: by asking this agent, or this runner about this folder, or not at all and why.
struct AskAgent {
  ConnectionId connection = 0;
};
struct AskRunner {
  ConnectionId connection = 0;
  std::string folder;
};
using Plan = std::variant<AskAgent, AskRunner, Sentence>;

struct BoardOptions {
  std::string here;                    // the monitor's own machine
  std::string protocol = "0.19";       // what the frame says it speaks
  int64_t settling_ns = 35 * kSecond;  // nothing is called unseen before that
  int64_t ping_every_ns = 20 * kSecond;
  int64_t not_answering_ns = 30 * kSecond;
  int64_t copy_within_ns = 2 * kSecond;  // how long a holder has to answer when its id is claimed
  int64_t push_every_ns = 100 * kMillisecond;
  size_t max_rows = 20'000;  // beyond: the row longest stopped and not on the list goes
  size_t root_runs_per_agent = 200;
  size_t runs_per_agent = 2'000;  // delegated ones included
  size_t steps_per_run = 200;
  size_t steps_per_board = 1'000'000;  // beyond, a run keeps no more steps than it has
  size_t log_backlog_bytes = 1 << 20;  // to one watcher; beyond, lines are dropped and counted
};

// Counters of what a bound has cost, since the start.
struct BoardCounters {
  uint64_t frames_before_register = 0;
  uint64_t entries_seen_again = 0;
  uint64_t log_lines_dropped = 0;  // for slow watchers
  uint64_t runs_forgotten = 0;
  uint64_t rows_forgotten = 0;
};

// Takes events and the time, gives actions. After each Apply or Tick the caller arranges for a Tick at
// Deadline(). Same events, same times, same bytes. One thread; nothing throws but std::bad_alloc.
class Board {
 public:
  Board(BoardOptions options, Now start);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  // Actions are appended. An event of a connection that the board does not know is ignored and counted.
  void Apply(const Event& event, Now now, Actions& actions);
  void Tick(Now now, Actions& actions);
  // When it wants to be woken (Now::mono_ns), or kNever.
  int64_t Deadline() const;

  // How the buttons of a row would be carried out now. The board changes only by what comes of it.
  Plan PlanRun(std::string_view id) const;
  Plan PlanTerminate(std::string_view id) const;

  // The `board` frame as of now, for whoever asks outside of the watchers' pace.
  std::string Frame(Now now) const;

  // Whether a row of the list has this folder on this machine: what the embedded runner may start.
  bool HasFolder(std::string_view folder) const;

  size_t rows() const;
  size_t watchers() const;
  const BoardCounters& counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Folders are compared, not matched: separators, a trailing one, and case do not tell two apart.
std::string NormalFolder(std::string_view folder);

}  // namespace watchbill::board
