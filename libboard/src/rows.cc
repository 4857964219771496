// The bytes: a row, the whole board, their differences, a run, a log line.
#include <fmt/core.h>

#include <algorithm>

#include "state.hpp"
#include "watchbill/base/json_writer.hpp"

namespace watchbill::board {
namespace {

OptText Said(const std::string& text) { return text.empty() ? OptText() : OptText(text); }

std::optional<std::string> Iso(const std::optional<int64_t>& wall_ms) {
  return wall_ms ? std::optional(IsoFromWallMs(*wall_ms)) : std::nullopt;
}

std::string_view SentenceFor(AgentState state) {
  switch (state) {
    case AgentState::kUnidentified:
      return "It is connected and has no id: save its flow and deploy it again.";
    case AgentState::kRunning:
      return "It is connected and answering.";
    case AgentState::kNotAnswering:
      return "It is connected, and has not answered for 30 seconds.";
    case AgentState::kSilent:
      return "A runner started it, and it has not reported since.";
    case AgentState::kStopped:
      return "It was connected, and is gone.";
    case AgentState::kWaiting:
      return "Nothing has been heard of it yet; this monitor has only just started.";
    case AgentState::kUnseen:
      return "Nothing has been heard of it since this monitor started.";
  }
  return "";
}

void WriteStep(JsonWriter& w, const Step& step, bool with_ok) {
  w.Begin('{').Key("name").OptString(Said(step.name)).Key("kind").OptString(Said(step.kind));
  w.Key("ms").OptInt(step.ms).Key("at").OptString(Said(step.at));
  if (with_ok) w.Field("ok", step.ok);
  w.End('}');
}

}  // namespace

void Board::State::WriteSpend(JsonWriter& w) const {
  w.Begin('{').Key("tokens").Int(spent_tokens).Key("agents").Int(agents_spending);
  w.Key("of").Int(static_cast<int64_t>(agents.size())).End('}');
}

void Board::State::WriteRow(const Agent& a, std::string& out) const {
  const std::string_view host = a.host(options.here);
  const bool runner = RunnerOn(host) != nullptr;
  const bool connected = a.connection != 0;
  const Registration* said = a.said ? &*a.said : nullptr;
  const auto iso = [](const std::optional<int64_t>& ms) { return Iso(ms); };
  JsonWriter w(out);
  w.Begin('{').Key("id").String(a.key).Key("name").String(a.name());
  w.Key("state").String(WordFor(a.state)).Key("says").String(SentenceFor(a.state));
  w.Key("host").String(host).Key("folder").OptString(a.folder().empty() ? OptText() : OptText(a.folder()));
  w.Key("port").OptInt(said ? said->port : std::nullopt).Key("pid").OptInt(said ? said->pid : std::nullopt);
  w.Key("version").OptString(said ? Said(said->version) : OptText());
  w.Key("protocol").OptString(said ? Said(said->protocol) : OptText());
  w.Key("can").Begin('[');
  if (said != nullptr) {
    for (const std::string& word : said->can) w.String(word);
  }
  w.End(']').Key("since").String(IsoFromWallMs(a.since_wall_ms));
  const auto started = iso(a.launched_wall_ms);
  const auto stopped = iso(a.stopped_wall_ms);
  w.Key("startedAt").OptString(started).Key("stoppedAt").OptString(stopped);
  w.Key("lastRun");
  if (a.any_run_ended) {
    w.Begin('{').Key("ok").Bool(a.last_run_ok).Key("outcome").OptString(Said(a.last_run_outcome));
    w.Key("at").String(IsoFromWallMs(a.last_run_wall_ms)).End('}');
  } else {
    w.Null();
  }
  // A rate of nothing that was ever reported is not nought.
  w.Key("tokens").OptInt(a.tokens).Key("rate").OptInt(a.tokens ? std::optional(a.rate.PerMinute())
                                                               : std::nullopt);
  w.Key("health").Null();
  const Runs::Current current = a.runs.Count();
  w.Key("current")
      .Begin('{')
      .Key("running")
      .Int(current.running)
      .Key("waiting")
      .Int(current.waiting)
      .End('}');
  w.Key("alerts").Begin('{').Key("active").Int(0).Key("critical").Int(0).Key("needing").Int(0).End('}');
  w.Key("canRun").Bool(!connected && runner && !a.folder().empty());
  w.Key("canTerminate")
      .Bool(connected || (a.launched_ns.has_value() && a.state == AgentState::kSilent && runner));
  w.Key("runners").Int(runner ? 1 : 0).Key("keyed").Bool(a.keyed.has_value());
  w.Key("note").OptString(a.keyed ? Said(a.keyed->note) : OptText()).End('}');
}

void Board::State::WriteHeader(std::string& out, Now now, bool whole, bool runners_too) const {
  // Without the last bracket: the rows follow.
  JsonWriter w(out);
  w.Begin('{').Key("at").String(IsoFromWallMs(now.wall_ms)).Key("type").String(whole ? "board" : "rows");
  if (whole) {
    w.Key("here").String(options.here).Key("since").String(IsoFromWallMs(start.wall_ms));
    w.Key("protocol").String(options.protocol);
  }
  if (runners_too) {
    w.Key("runners").Begin('[');
    for (const auto& [connection, runner] : runners) {
      if (RunnerOn(runner.host) != &runner) continue;
      w.Begin('{').Key("host").String(runner.host).Key("pid").OptInt(runner.pid);
      w.Key("since").String(IsoFromWallMs(runner.since_wall_ms)).End('}');
    }
    w.End(']');
  }
  w.Key("spend");
  WriteSpend(w);
  w.Key("rates").Begin('{').Key("perMinute").Int(rate.PerMinute());
  w.Key("windowMs").Int(RateWindow::kWindowMs).End('}');
  if (!whole) return;
  w.Key("alerts").Begin('[').End(']').Key("alerting").Begin('{');
  for (const std::string_view count : {"active", "critical", "warning", "info", "needing", "acked"}) {
    w.Key(count).Int(0);
  }
  w.End('}').Key("cleared").Begin('[').End(']').Key("thresholds").Begin('{');
  w.Key("durationMs").Int(900'000).Key("tokens").Int(200'000).Key("llmCalls").Int(100);
  w.Key("toolCalls").Int(200).Key("tokensPerMinute").Null().End('}');
  w.Key("collections").Begin('[').End(']').Key("databases").Begin('[').End(']');
}

const std::vector<Agent*>& Board::State::Ordered() {
  if (order_stale) {
    ordered.clear();
    ordered.reserve(agents.size());
    for (const auto& [key, agent] : agents) ordered.push_back(agent.get());
    std::sort(ordered.begin(), ordered.end(), [](const Agent* a, const Agent* b) {
      return std::pair(a->name(), std::string_view(a->key)) < std::pair(b->name(), std::string_view(b->key));
    });
    order_stale = false;
  }
  return ordered;
}

std::string Board::State::WholeFrame(Now now) {
  std::string out;
  size_t size = 2048;
  for (const Agent* agent : Ordered()) size += agent->bytes.size() + 1;
  out.reserve(size);
  WriteHeader(out, now, true, true);
  out.append(",\"agents\":[");
  for (const Agent* agent : Ordered()) {
    if (out.back() != '[') out.push_back(',');
    out.append(agent->bytes);
  }
  out.append("]}");
  return out;
}

std::string Board::State::RowsFrame(Now now, uint64_t since, bool runners_too) {
  std::string out;
  WriteHeader(out, now, false, runners_too);
  out.append(",\"changed\":[");
  auto first = recent.end();
  while (first != recent.begin() && (*std::prev(first))->changed > since) --first;
  for (; first != recent.end(); ++first) {
    if (out.back() != '[') out.push_back(',');
    out.append((*first)->bytes);
  }
  out.append("],\"gone\":[");
  JsonWriter w(out);
  for (const auto& [when, key] : gone) {
    // A row that went and came back is among the changed.
    if (when > since && !agents.contains(key)) w.String(key);
  }
  out.append("]}");
  return out;
}

std::string Board::State::RunFrame(const Agent& agent, const RunRecord& r, Now now) const {
  std::string out;
  JsonWriter w(out);
  w.Begin('{')
      .Key("at")
      .String(IsoFromWallMs(now.wall_ms))
      .Key("type")
      .String("run")
      .Key("id")
      .String(agent.key);
  w.Key("run").Begin('{').Key("runId").String(r.id).Key("parentRunId").OptString(Said(r.parent_id));
  w.Key("agent").OptString(Said(r.agent)).Key("startedBy").OptString(Said(r.started_by));
  w.Key("triggerId").OptString(Said(r.trigger_id)).Key("thread").OptString(Said(r.thread));
  w.Key("state").String(WordFor(r.state)).Key("outcome").OptString(Said(r.outcome));
  const auto ended = Iso(r.ended_wall_ms);
  w.Key("startedAt").String(IsoFromWallMs(r.started_wall_ms)).Key("endedAt").OptString(ended);
  w.Key("durationMs")
      .OptInt(r.duration_ms)
      .Key("tokens")
      .Int(r.tokens)
      .Key("totalTokens")
      .Int(r.total_tokens);
  w.Key("cost").OptDouble(r.cost).Key("totalCost").OptDouble(r.total_cost);
  w.Key("llmCalls").Int(r.llm_calls).Key("toolCalls").Int(r.tool_calls);
  const std::string_view cause = Runs::CauseOf(r);
  w.Key("failure")
      .OptString(Said(r.failure))
      .Key("cause")
      .OptString(cause.empty() ? OptText() : OptText(cause));
  w.Key("error")
      .OptString(Said(r.error))
      .Key("node")
      .OptString(Said(r.node))
      .Key("answered")
      .OptBool(r.answered);
  const auto interrupted = Iso(r.interrupted_wall_ms);
  w.Key("interrupted").OptString(interrupted).Key("steps").Begin('[');
  for (const Step& step : r.steps) WriteStep(w, step, true);
  w.End(']').Key("dropped").Int(r.dropped_steps).End('}');

  const Runs::Current current = agent.runs.Count();
  w.Key("activity").Begin('{').Key("running").Int(current.running).Key("waiting").Int(current.waiting);
  w.Key("runs").Begin('[');
  std::vector<std::string_view> where;
  for (const RunRecord* root : agent.runs.roots()) {
    if (!root->live() || !root->parent_id.empty()) continue;
    const int64_t elapsed_ms = (now.mono_ns - root->started_mono_ns) / kMillisecond;
    w.Begin('{').Key("runId").String(root->id).Key("startedBy").OptString(Said(root->started_by));
    w.Key("state").String(WordFor(root->state)).Key("elapsedMs").Int(elapsed_ms);
    w.Key("tokens").Int(root->tokens).Key("totalTokens").Int(root->total_tokens);
    w.Key("llmCalls").Int(root->total_llm_calls).Key("toolCalls").Int(root->total_tool_calls);
    w.Key("cost").OptDouble(root->cost).Key("totalCost").OptDouble(root->total_cost).Key("where").Begin('[');
    where.clear();
    Runs::WhereOf(*root, where);
    for (const std::string_view desk : where) w.String(desk);
    w.End(']').Key("lastStep");
    if (const Step* step = Runs::LastStepOf(*root)) {
      WriteStep(w, *step, false);
    } else {
      w.Null();
    }
    const auto gone_at = Iso(root->interrupted_wall_ms);
    w.Key("interrupted").OptString(gone_at).End('}');
  }
  w.End(']').End('}').End('}');
  return out;
}

std::string Board::State::LogFrame(const Agent& agent, const LogArrived& e, std::optional<int64_t> dropped,
                                   Now now) const {
  std::string out;
  JsonWriter w(out);
  w.Begin('{')
      .Key("at")
      .String(IsoFromWallMs(now.wall_ms))
      .Key("type")
      .String("log")
      .Key("id")
      .String(agent.key);
  w.Key("entry").Json(e.entry).Key("dropped").OptInt(dropped).Key("tokens").OptInt(agent.tokens).Key("spend");
  WriteSpend(w);
  w.End('}');
  return out;
}

}  // namespace watchbill::board
