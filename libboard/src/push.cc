// When which watcher is sent what.
//
// A push goes out at once where the last was more than 100 ms ago, else at the end of those 100 ms, and to a
// watcher only when its last one has left: a board on its way is replaced by a newer one, never followed by
// it.
#include <algorithm>
#include <utility>

#include "state.hpp"

namespace watchbill::board {

void Board::State::Touch(Agent& agent, Urgency urgency) {
  if (!agent.dirty) {
    agent.dirty = true;
    dirty_rows.push_back(&agent);
  }
  if (agent.runs.dirty() && !agent.runs_dirty) {
    agent.runs_dirty = want_runs = true;
    dirty_runs.push_back(&agent);
  }
  if (urgency != Urgency::kWithNext) want_rows = true;
  if (urgency == Urgency::kEverybody) want_everybody = true;
}

void Board::State::TouchHeader() { want_header = want_rows = want_everybody = true; }

int64_t Board::State::FlushAt() const {
  if (!want_rows && !want_everybody && !want_runs && !lagging) return kNever;
  return last_flush_ns ? *last_flush_ns + options.push_every_ns : start.mono_ns;
}

void Board::State::MakeRows() {
  // In the order of names of rows, not of events or of a hash map: what is pushed is then the same in each
  // run.
  std::sort(dirty_rows.begin(), dirty_rows.end(),
            [](const Agent* a, const Agent* b) { return a->key < b->key; });
  std::string bytes;
  bool any = false;
  for (Agent* agent : dirty_rows) {
    agent->dirty = false;
    bytes.clear();
    WriteRow(*agent, bytes);
    if (bytes == agent->bytes) continue;
    agent->bytes = bytes;
    agent->changed = push + 1;
    recent.splice(recent.end(), recent, agent->recent);
    any = true;
  }
  dirty_rows.clear();
  if (any || (!gone.empty() && gone.back().first > push)) ++push;
}

void Board::State::SendWhole(WatcherId id, Watcher& watcher, Now now, Actions& actions) {
  if (whole_push != push || whole_bytes == nullptr) {
    whole_bytes = std::make_shared<const std::string>(WholeFrame(now));
    whole_push = push;
  }
  watcher.whole = false;
  watcher.in_flight = true;
  watcher.seen = push;
  watcher.header_seen = header_push;
  actions.push_back(Push{{id}, whole_bytes});
}

void Board::State::Flush(Now now, Actions& actions) {
  last_flush_ns = now.mono_ns;
  lagging = false;
  const bool header = std::exchange(want_header, false);
  const bool everybody = std::exchange(want_everybody, false);
  want_rows = false;
  MakeRows();
  if (header) header_push = ++push;
  if (everybody) everybody_push = push;

  // Watchers that have seen the same get the same bytes.
  struct Difference {
    uint64_t since, header_seen;
    std::shared_ptr<const std::string> bytes;
    std::vector<WatcherId> to;
  };
  std::vector<Difference> differences;
  for (auto& [id, watcher] : watchers) {
    if (watcher.in_flight) continue;
    if (!watcher.whole && watcher.rows && watcher.seen < gone_since) watcher.whole = true;
    if (watcher.whole || (!watcher.rows && watcher.seen < everybody_push)) {
      SendWhole(id, watcher, now, actions);
      continue;
    }
    if (!watcher.rows || watcher.seen >= push) continue;
    const auto same = std::find_if(
        differences.begin(), differences.end(),
        [&w = watcher](const Difference& d) { return d.since == w.seen && d.header_seen == w.header_seen; });
    if (same != differences.end()) {
      same->to.push_back(id);
    } else {
      const bool runners_too = watcher.header_seen < header_push;
      differences.push_back({watcher.seen,
                             watcher.header_seen,
                             std::make_shared<const std::string>(RowsFrame(now, watcher.seen, runners_too)),
                             {id}});
    }
    watcher.seen = push;
    watcher.header_seen = header_push;
    watcher.in_flight = true;
  }
  for (Difference& d : differences) actions.push_back(Push{std::move(d.to), std::move(d.bytes)});
  FlushRuns(now, actions);
}

void Board::State::FlushRuns(Now now, Actions& actions) {
  using Frames = std::vector<std::shared_ptr<const std::string>>;
  const uint64_t before = runs_push;
  Frames fresh;
  if (std::exchange(want_runs, false)) {
    ++runs_push;
    std::sort(dirty_runs.begin(), dirty_runs.end(),
              [](const Agent* a, const Agent* b) { return a->key < b->key; });
    for (Agent* agent : dirty_runs) {
      agent->runs_dirty = false;
      agent->runs_changed = runs_push;
      for (RunRecord* run : agent->runs.TakeDirty()) {
        run->changed = runs_push;
        if (!watchers.empty())
          fresh.push_back(std::make_shared<const std::string>(RunFrame(*agent, *run, now)));
      }
    }
    dirty_runs.clear();
  }
  // A watcher whose backlog is full misses nothing: it gets each run as it then is, once it has drained.
  const auto since = [&](uint64_t seen) {
    Frames frames;
    for (const Agent* agent : Ordered()) {
      if (agent->runs_changed <= seen) continue;
      agent->runs.ForEach([&](const RunRecord& run) {
        if (run.changed > seen)
          frames.push_back(std::make_shared<const std::string>(RunFrame(*agent, run, now)));
      });
    }
    return frames;
  };
  std::vector<WatcherId> in_step;
  for (auto& [id, watcher] : watchers) {
    if (watcher.runs_seen == runs_push || watcher.backlog >= options.log_backlog_bytes) continue;
    if (watcher.runs_seen == before) {
      in_step.push_back(id);
    } else {
      for (auto& frame : since(watcher.runs_seen)) {
        watcher.backlog += frame->size();
        actions.push_back(Push{{id}, std::move(frame)});
      }
    }
    watcher.runs_seen = runs_push;
  }
  if (in_step.empty()) return;
  for (auto& frame : fresh) {
    for (const WatcherId id : in_step) watchers[id].backlog += frame->size();
    actions.push_back(Push{in_step, std::move(frame)});
  }
}

void Board::State::On(const WatcherJoined& e, Now now, Actions& actions) {
  Watcher& watcher = watchers[e.watcher];
  watcher = Watcher{};
  watcher.runs_seen = runs_push;
  MakeRows();
  SendWhole(e.watcher, watcher, now, actions);
}

void Board::State::On(const WatcherNamed& e, Now, Actions&) {
  const auto it = watchers.find(e.watcher);
  if (it == watchers.end()) return;
  it->second.rows = e.rows;
  it->second.whole = true;
  lagging = true;
}

void Board::State::On(const WatcherDrained& e, Now, Actions&) {
  const auto it = watchers.find(e.watcher);
  if (it == watchers.end()) return;
  Watcher& watcher = it->second;
  watcher.in_flight = false;
  watcher.backlog = 0;
  const bool behind = watcher.seen < (watcher.rows ? push : everybody_push) || watcher.runs_seen < runs_push;
  if (watcher.whole || behind) lagging = true;
}

void Board::State::On(const WatcherLeft& e, Now, Actions&) { watchers.erase(e.watcher); }

void Board::State::ForwardLog(const Agent& agent, const LogArrived& e, Now now, Actions& actions) {
  Push shared;
  for (auto& [id, watcher] : watchers) {
    if (watcher.backlog >= options.log_backlog_bytes) {
      ++watcher.dropped;
      ++counters.log_lines_dropped;
      continue;
    }
    if (watcher.dropped > 0) {
      const int64_t dropped = std::exchange(watcher.dropped, 0) + e.dropped.value_or(0);
      auto bytes = std::make_shared<const std::string>(LogFrame(agent, e, dropped, now));
      watcher.backlog += bytes->size();
      actions.push_back(Push{{id}, std::move(bytes)});
      continue;
    }
    if (shared.bytes == nullptr) {
      shared.bytes = std::make_shared<const std::string>(LogFrame(agent, e, e.dropped, now));
    }
    watcher.backlog += shared.bytes->size();
    shared.to.push_back(id);
  }
  if (!shared.to.empty()) actions.push_back(std::move(shared));
}

}  // namespace watchbill::board
