// What a board holds. Private to the library.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runs.hpp"
#include "spend.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/board/board.hpp"

namespace watchbill::board {

// "States": checked in this order by StateOf; the first that holds is the state.
enum class AgentState { kUnidentified, kRunning, kNotAnswering, kSilent, kStopped, kWaiting, kUnseen };
std::string_view WordFor(AgentState state);

// What an agent says of itself, kept from its last register.
struct Registration {
  bool identified = false;
  std::string key;  // its id, or no-id:<host>:<cwd>
  std::string name, version, host, cwd, protocol;
  std::optional<int64_t> pid, port;
  std::vector<std::string> can;
};

struct Agent {
  std::string key;
  std::optional<KeyedAgent> keyed;
  std::optional<Registration> said;

  ConnectionId connection = 0;  // 0: none that counts
  std::optional<int64_t> heard_ns;
  int64_t pinged_ns = 0;
  std::optional<int64_t> launched_ns;
  std::optional<int64_t> launched_wall_ms, stopped_wall_ms;

  // Another copy asked for this id: the holder has until then to show that it lives.
  int64_t challenge_until_ns = kNever;
  int64_t challenged_ns = 0;
  std::deque<std::pair<ConnectionId, Registration>> challengers;
  std::deque<ConnectionId> standing_by;

  AgentState state = AgentState::kWaiting;
  int64_t since_wall_ms = 0;

  Runs runs;
  size_t steps_counted = 0;  // of the board's steps_held
  bool any_run_ended = false;
  bool last_run_ok = false;
  std::string last_run_outcome;
  int64_t last_run_wall_ms = 0;

  std::optional<int64_t> tokens;  // nothing: none were ever reported
  SeenEntries seen;
  RateWindow rate;

  // The row as it was last made, the push that first had it, and its place in the order of changes.
  std::string bytes;
  uint64_t changed = 0;
  std::list<Agent*>::iterator recent;
  bool dirty = false;
  uint64_t runs_changed = 0;
  bool runs_dirty = false;

  // What a person keyed in goes before what the agent says: a runner's name is theirs to give.
  std::string_view host(std::string_view here) const {
    if (keyed && !keyed->host.empty()) return keyed->host;
    return said && !said->host.empty() ? std::string_view(said->host) : here;
  }
  std::string_view folder() const {
    if (keyed && !keyed->folder.empty()) return keyed->folder;
    return said ? std::string_view(said->cwd) : std::string_view();
  }
  std::string_view name() const {
    if (keyed && !keyed->name.empty()) return keyed->name;
    if (said && !said->name.empty()) return said->name;
    return key;
  }
};

struct Runner {
  ConnectionId connection = 0;
  std::string host;
  std::optional<int64_t> pid;
  int64_t since_wall_ms = 0;
};

struct Watcher {
  bool rows = false;
  bool whole = true;       // owed a whole board, whatever it has seen
  bool in_flight = false;  // the last push has not left yet
  uint64_t seen = 0;       // the push it has last had
  uint64_t header_seen = 0;
  uint64_t runs_seen = 0;
  int64_t dropped = 0;  // log lines since the last that it was sent
  size_t backlog = 0;   // bytes of log lines since it was last drained
};

struct Board::State {
  State(BoardOptions chosen, Now now) : options(std::move(chosen)), start(now) {
    settle_at_ns = start.mono_ns + options.settling_ns;
  }

  // fleet.cc
  void On(const AgentRegistered& e, Now now, Actions& actions);
  void On(const AgentHeard& e, Now now, Actions& actions);
  void On(const AgentLeft& e, Now now, Actions& actions);
  void On(const AgentClosed& e, Now now, Actions& actions);
  void On(const RunnerRegistered& e, Now now, Actions& actions);
  void On(const RunnerClosed& e, Now now, Actions& actions);
  void On(const FolderStarted& e, Now now, Actions& actions);
  void On(const ListChanged& e, Now now, Actions& actions);
  void Install(Registration registration, ConnectionId connection, Now now);
  void Release(Agent& agent, Now now, Actions& actions);
  void ReachedBy(Agent& agent, Now now, Actions& actions);
  void CheckLiveness(Now now, Actions& actions);
  AgentState StateOf(const Agent& agent, Now now) const;
  // Decides the state again; a change of it is pushed.
  void Judge(Agent& agent, Now now);
  Agent* AgentAt(ConnectionId connection);
  Agent& Row(const std::string& key, Now now);
  void Forget(const std::string& key);
  void MakeRoom(Now now);
  void RememberLaunch(Agent& agent);
  const Runner* RunnerOn(std::string_view host) const;
  Plan PlanRun(std::string_view id) const;
  Plan PlanTerminate(std::string_view id) const;

  // board.cc: runs and spending
  // Lets old runs of it go, and counts the steps that are held.
  void KeepBounds(Agent& agent);
  Agent* Speaker(ConnectionId connection, Now now, Actions& actions);
  void On(const RunEntered& e, Now now, Actions& actions);
  void On(const RunExited& e, Now now, Actions& actions);
  void On(const LogArrived& e, Now now, Actions& actions);
  void DecayRates(Now now);

  // rows.cc
  void WriteRow(const Agent& agent, std::string& out) const;
  void WriteHeader(std::string& out, Now now, bool whole, bool runners_too) const;
  std::string WholeFrame(Now now);
  std::string RowsFrame(Now now, uint64_t since, bool runners_too);
  std::string RunFrame(const Agent& agent, const RunRecord& run, Now now) const;
  std::string LogFrame(const Agent& agent, const LogArrived& e, std::optional<int64_t> dropped,
                       Now now) const;
  void WriteSpend(JsonWriter& w) const;
  const std::vector<Agent*>& Ordered();

  // push.cc
  void On(const WatcherJoined& e, Now now, Actions& actions);
  void On(const WatcherNamed& e, Now now, Actions& actions);
  void On(const WatcherDrained& e, Now now, Actions& actions);
  void On(const WatcherLeft& e, Now now, Actions& actions);
  // The row is to be made again; with the next push that goes out, or soon.
  enum class Urgency { kWithNext, kRows, kEverybody };
  void Touch(Agent& agent, Urgency urgency);
  void TouchHeader();
  void Flush(Now now, Actions& actions);
  void FlushRuns(Now now, Actions& actions);
  void MakeRows();
  void SendWhole(WatcherId id, Watcher& watcher, Now now, Actions& actions);
  void ForwardLog(const Agent& agent, const LogArrived& e, Now now, Actions& actions);
  int64_t FlushAt() const;

  BoardOptions options;
  Now start;
  int64_t settle_at_ns;
  bool settled = false;
  int64_t look_at_ns = kNever;   // the next look at who answers
  int64_t decay_at_ns = kNever;  // the next look at the rates

  absl::flat_hash_map<std::string, std::unique_ptr<Agent>> agents;
  absl::flat_hash_map<ConnectionId, Agent*> holders;      // the sockets that speak for a row
  absl::flat_hash_map<ConnectionId, std::string> copies;  // sockets that wait for a row another one holds
  std::map<ConnectionId, Runner> runners;
  absl::flat_hash_map<std::string, std::pair<int64_t, int64_t>>
      launches;           // host and folder: mono_ns, wall_ms
  size_t steps_held = 0;  // of all runs of all agents
  int64_t spent_tokens = 0;
  int64_t agents_spending = 0;
  RateWindow rate;

  std::map<WatcherId, Watcher> watchers;
  uint64_t push = 0;            // numbers the pushes
  uint64_t everybody_push = 0;  // the last that a watcher of whole boards is owed
  uint64_t header_push = 0;
  uint64_t runs_push = 0;
  bool want_rows = false, want_everybody = false, want_header = false, want_runs = false;
  bool lagging = false;  // a watcher has drained and is behind
  std::optional<int64_t> last_flush_ns;
  std::vector<Agent*> dirty_rows;
  std::vector<Agent*> dirty_runs;
  std::list<Agent*> recent;                           // by `changed`, newest last
  std::deque<std::pair<uint64_t, std::string>> gone;  // rows that went, and with which push
  uint64_t gone_since = 0;                            // differences older than this push are not known
  std::vector<Agent*> ordered;
  bool order_stale = true;
  std::shared_ptr<const std::string> whole_bytes;
  uint64_t whole_push = UINT64_MAX;

  BoardCounters counters;
};

}  // namespace watchbill::board
