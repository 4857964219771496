#include "entry.hpp"

#include <cmath>

namespace watchbill::monitorproto {
namespace {

// A count that somebody wrote down; less than nothing is no count, and neither is what no agent could spend:
// sums of what is taken here never run over.
std::optional<int64_t> Count(const json::Value& value) {
  const auto number = value.AsDouble();
  if (!number || *number < 0 || *number > 1e12) return std::nullopt;
  return static_cast<int64_t>(std::llround(*number));
}

std::optional<int64_t> Tokens(const json::Value& tokens) {
  if (const auto plain = Count(tokens)) return plain;
  if (const auto total = Count(tokens["total"])) return total;
  const auto input = Count(tokens["input"]);
  const auto output = Count(tokens["output"]);
  if (!input && !output) return std::nullopt;
  return input.value_or(0) + output.value_or(0);
}

// Only these are starters: anything else in that field is the older `source`, which says who wrote the line.
// `trigger` is read from agents older than 0.2.
OptText Starter(const json::Value& value) {
  const OptText word = value.AsString();
  for (const Text known : {"manual", "schedule", "event", "webhook", "agent", "trigger"}) {
    if (word == known) return word;
  }
  return std::nullopt;
}

}  // namespace

EntryFacts FactsOf(const json::Value& entry) {
  EntryFacts f;
  if (!entry.is_object()) return f;
  const json::Value id = entry["id"];
  if (id.kind() == json::Kind::kNumber || id.kind() == json::Kind::kString) f.id = id.text();
  f.kind = entry["kind"].AsString();
  f.at = entry["at"].AsString();
  f.name = entry["name"].AsString();
  if (!f.name) f.name = entry["tool"].AsString();
  if (!f.name) f.name = entry["label"].AsString();
  f.run_id = entry["runId"].AsString();
  f.parent_run_id = entry["parentRunId"].AsString();
  f.started_by = Starter(entry["startedBy"]);
  f.trigger_id = entry["triggerId"].AsString();
  f.agent = entry["agent"].AsString();
  f.ok = entry["ok"].AsBool();
  f.duration_ms = Count(entry["durationMs"]);
  if (!f.duration_ms) f.duration_ms = Count(entry["ms"]);
  f.tokens = Tokens(entry["tokens"]);
  f.cost = entry["cost"].AsDouble();
  if (f.cost && *f.cost < 0) f.cost.reset();
  return f;
}

}  // namespace watchbill::monitorproto
