#include <deque>
#include <string_view>
#include <utility>

#include "watchbill/acp/agent_pool.hpp"
#include "watchbill/acp_pool.h"
#include "watchbill/base/c_support.hpp"

namespace acp = watchbill::acp;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::Str;
using watchbill::c::Time;
using watchbill::c::View;

struct wb_acp_pool {
  wb_acp_pool(acp::AgentPool::Limits limits, acp::AgentPool::Ladder ladder) : pool(limits, ladder) {}
  acp::AgentPool pool;
  std::deque<acp::PoolAction> waiting;
  acp::PoolAction told;  // the caller's views are of this
};

namespace {

constexpr int64_t kLongestMs = int64_t{100} * 366 * 86'400'000;

bool IsTime(int64_t ms) { return ms >= 0 && ms <= kLongestMs; }

int32_t State(acp::AgentState state) {
  switch (state) {
    case acp::AgentState::kStopped:
      return WB_ACP_AGENT_STOPPED;
    case acp::AgentState::kStarting:
      return WB_ACP_AGENT_STARTING;
    case acp::AgentState::kReady:
      return WB_ACP_AGENT_READY;
    case acp::AgentState::kBusy:
      return WB_ACP_AGENT_BUSY;
    case acp::AgentState::kError:
      break;
  }
  return WB_ACP_AGENT_ERROR;
}

struct Fill {
  wb_acp_pool_action& o;

  void operator()(const acp::SpawnAgent& a) const { Put(WB_ACP_POOL_SPAWN, a.agent); }
  void operator()(const acp::CloseAgentInput& a) const { Put(WB_ACP_POOL_CLOSE_INPUT, a.agent); }
  void operator()(const acp::SignalAgent& a) const {
    Put(a.kill ? WB_ACP_POOL_KILL : WB_ACP_POOL_TERMINATE, a.agent);
  }
  void operator()(const acp::AgentChanged& a) const {
    Put(WB_ACP_POOL_CHANGED, a.agent);
    o.state = State(a.state);
    if (a.state == acp::AgentState::kError) o.error = Str(std::string_view(a.error));
  }
  void operator()(const acp::AgentRemoved& a) const { Put(WB_ACP_POOL_REMOVED, a.agent); }

 private:
  void Put(int32_t kind, std::string_view agent) const {
    o.kind = kind;
    o.agent = Str(agent);
  }
};

// Runs a call of the pool and keeps what it says to do.
template <typename Call>
int32_t Tell(wb_acp_pool* p, wb_error* err, const Call& call) {
  return Guard(err, [&]() -> int32_t {
    acp::PoolActions actions;
    const absl::Status status = call(p->pool, actions);
    for (acp::PoolAction& action : actions) p->waiting.push_back(std::move(action));
    return status.ok() ? WB_OK : Fail(err, status);
  });
}

}  // namespace

extern "C" {

wb_str wb_acp_agent_state_word(int32_t state) {
  for (const acp::AgentState one :
       {acp::AgentState::kStopped, acp::AgentState::kStarting, acp::AgentState::kReady,
        acp::AgentState::kBusy, acp::AgentState::kError}) {
    if (State(one) == state) return Str(acp::Word(one));
  }
  return {nullptr, 0};
}

void wb_acp_pool_options_init(wb_acp_pool_options* options) {
  const acp::AgentPool::Limits limits;
  const acp::AgentPool::Ladder ladder;
  options->struct_size = sizeof *options;
  options->max_running = limits.max_running;
  options->stop_idle_after_ms = limits.stop_idle_after_ns / watchbill::kMillisecond;
  options->input_closed_ms = ladder.input_closed_ns / watchbill::kMillisecond;
  options->terminated_ms = ladder.terminated_ns / watchbill::kMillisecond;
}

int32_t wb_acp_pool_new(const wb_acp_pool_options* options, wb_acp_pool** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    wb_acp_pool_options all;
    wb_acp_pool_options_init(&all);
    if (options != nullptr) watchbill::c::CopyKnown(&all, *options, options->struct_size);
    if (!IsTime(all.stop_idle_after_ms) || !IsTime(all.input_closed_ms) || !IsTime(all.terminated_ms)) {
      return Fail(err, absl::StatusCode::kInvalidArgument,
                  "stop_idle_after_ms, input_closed_ms and terminated_ms are 0 to a century");
    }
    const acp::AgentPool::Limits limits{all.max_running, all.stop_idle_after_ms * watchbill::kMillisecond};
    const acp::AgentPool::Ladder ladder{all.input_closed_ms * watchbill::kMillisecond,
                                        all.terminated_ms * watchbill::kMillisecond};
    *out = new wb_acp_pool(limits, ladder);
    return WB_OK;
  });
}

void wb_acp_pool_free(wb_acp_pool* pool) { delete pool; }

int32_t wb_acp_pool_next_action(wb_acp_pool* p, wb_acp_pool_action* out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    if (p->waiting.empty()) return 1;
    p->told = std::move(p->waiting.front());
    p->waiting.pop_front();
    wb_acp_pool_action filled{};
    std::visit(Fill{filled}, p->told);
    watchbill::c::CopyKnown(out, filled, out->struct_size);
    return WB_OK;
  });
}

int32_t wb_acp_pool_add(wb_acp_pool* p, wb_str agent, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return p->pool.Add(View(agent)), WB_OK; });
}

int32_t wb_acp_pool_remove(wb_acp_pool* p, wb_str agent, wb_now now, wb_error* err) {
  return Tell(p, err,
              [&](auto& pool, auto& actions) { return pool.Remove(View(agent), Time(now), actions); });
}

int32_t wb_acp_pool_set_limits(wb_acp_pool* p, uint32_t max_running, int64_t stop_idle_after_ms, wb_now now,
                               wb_error* err) {
  return Tell(p, err, [&](auto& pool, auto& actions) {
    if (!IsTime(stop_idle_after_ms)) {
      return absl::InvalidArgumentError("stop_idle_after_ms is 0 to a century");
    }
    pool.SetLimits({max_running, stop_idle_after_ms * watchbill::kMillisecond}, Time(now), actions);
    return absl::OkStatus();
  });
}

int32_t wb_acp_pool_start(wb_acp_pool* p, wb_str agent, wb_now now, wb_error* err) {
  return Tell(p, err, [&](auto& pool, auto& actions) { return pool.Start(View(agent), Time(now), actions); });
}

int32_t wb_acp_pool_stop(wb_acp_pool* p, wb_str agent, wb_now now, wb_error* err) {
  return Tell(p, err, [&](auto& pool, auto& actions) { return pool.Stop(View(agent), Time(now), actions); });
}

int32_t wb_acp_pool_restart(wb_acp_pool* p, wb_str agent, wb_now now, wb_error* err) {
  return Tell(p, err,
              [&](auto& pool, auto& actions) { return pool.Restart(View(agent), Time(now), actions); });
}

int32_t wb_acp_pool_stop_all(wb_acp_pool* p, wb_now now, wb_error* err) {
  return Tell(p, err, [&](auto& pool, auto& actions) {
    pool.StopAll(Time(now), actions);
    return absl::OkStatus();
  });
}

int32_t wb_acp_pool_handshake_done(wb_acp_pool* p, wb_str agent, wb_now now, wb_error* err) {
  return Tell(p, err,
              [&](auto& pool, auto& actions) { return pool.HandshakeDone(View(agent), Time(now), actions); });
}

int32_t wb_acp_pool_start_failed(wb_acp_pool* p, wb_str agent, wb_str why, int32_t running, wb_now now,
                                 wb_error* err) {
  return Tell(p, err, [&](auto& pool, auto& actions) {
    return pool.StartFailed(View(agent), View(why), running != 0, Time(now), actions);
  });
}

int32_t wb_acp_pool_exited(wb_acp_pool* p, wb_str agent, wb_str why, int32_t left, wb_now now,
                           wb_error* err) {
  return Tell(p, err, [&](auto& pool, auto& actions) {
    return pool.Exited(View(agent), View(why), left != 0, Time(now), actions);
  });
}

int32_t wb_acp_pool_tree_gone(wb_acp_pool* p, wb_str agent, wb_now now, wb_error* err) {
  return Tell(p, err,
              [&](auto& pool, auto& actions) { return pool.TreeGone(View(agent), Time(now), actions); });
}

int32_t wb_acp_pool_use(wb_acp_pool* p, wb_str agent, wb_now now, wb_error* err) {
  return Tell(p, err, [&](auto& pool, auto& actions) { return pool.Use(View(agent), Time(now), actions); });
}

int32_t wb_acp_pool_release(wb_acp_pool* p, wb_str agent, wb_now now, wb_error* err) {
  return Tell(p, err,
              [&](auto& pool, auto& actions) { return pool.Release(View(agent), Time(now), actions); });
}

int64_t wb_acp_pool_deadline(const wb_acp_pool* p) { return p->pool.Deadline(); }

int32_t wb_acp_pool_tick(wb_acp_pool* p, wb_now now, wb_error* err) {
  return Tell(p, err, [&](auto& pool, auto& actions) {
    pool.Tick(Time(now), actions);
    return absl::OkStatus();
  });
}

int32_t wb_acp_pool_state(const wb_acp_pool* p, wb_str agent) {
  return p->pool.Has(View(agent)) ? State(p->pool.state(View(agent))) : -WB_NOT_FOUND;
}
wb_str wb_acp_pool_error(const wb_acp_pool* p, wb_str agent) {
  return Str(std::string_view(p->pool.error(View(agent))));
}
int32_t wb_acp_pool_waiting(const wb_acp_pool* p, wb_str agent) {
  return p->pool.waiting(View(agent)) ? 1 : 0;
}
int32_t wb_acp_pool_idle(const wb_acp_pool* p) { return p->pool.idle() ? 1 : 0; }

}  // extern "C"
