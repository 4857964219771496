// The frames of `/agent` (monitoring protocol 0.19), both ways.
//
// A frame is a plain structure of views. Decoded, its views are good until the Decoder reads again; to encode
// one, fill it with views of your own. An optional that is empty is "did not say", which the wire keeps apart
// from an empty answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "watchbill/base/json_text.hpp"

namespace watchbill::monitorproto {

inline constexpr std::string_view kProtocol = "0.19";

using Text = std::string_view;
using OptText = std::optional<std::string_view>;

// "register": the first thing said, and the only one required.
struct Register {
  OptText id;  // the flow's id; nothing for `null`, which makes the row `no-id:<host>:<cwd>`
  OptText name, version, host, cwd, protocol;
  std::optional<int64_t> pid, port;
  JsonView inputs, outputs;  // arrays of names
  // What it can do, by name and never by the number beside it. Nothing: an agent older than the field.
  std::optional<std::vector<Text>> capabilities;
};

// "run": a run starts (`enter`) or ends, or waits (`exit`).
struct Run {
  enum class Phase { kEnter, kExit };
  Phase phase = Phase::kEnter;
  Text run_id;
  OptText parent_run_id, agent;  // of a delegated run: who delegated, and whose work it is
  OptText started_by, trigger_id, thread;
  OptText at;
  // On exit alone.
  std::optional<int64_t> duration_ms;
  OptText outcome;  // done, error, stopped, "waiting: question|form|approval"
  std::optional<bool> ok;
  OptText error, failure, node;
  std::optional<bool> answered;  // whether an output was written; nothing: nobody has said
  JsonView chain;                // the circle of a `delegation` failure
};

// What the monitor reads of a journal entry. The entry itself goes on as it came.
struct EntryFacts {
  JsonView id;             // number or string; absent: cannot be told from another
  OptText kind, at, name;  // name: `name`, else `tool`, else `label`
  OptText run_id, parent_run_id, started_by, trigger_id, agent;
  std::optional<bool> ok;
  std::optional<int64_t> duration_ms;  // `durationMs`, else `ms`
  std::optional<int64_t> tokens;  // `tokens.total`, else input + output, else `tokens` where it is a number
  std::optional<double> cost;     // only what was reported
};

// "log": a journal entry as it is written, or the number of those that were not sent.
struct Log {
  JsonView entry;  // absent where only `dropped` is told
  std::optional<int64_t> dropped;
  EntryFacts facts;  // filled by the decoder; the encoder writes `entry` alone
};

// "leaving": a clean exit is coming.
struct Leaving {};

// "ok" and "error": the answer to a command. `rest` is the object of whatever else the frame held.
struct Ok {
  Text ask;
  OptText of;
  JsonView rest;
};
struct Error {
  Text ask;
  OptText of;
  Text error;
  JsonView rest;
};

// Well-formed, but of a type that this end does not know. With an `ask` it is to be answered `error`.
struct UnknownFrame {
  Text type;
  OptText ask;
};

using AgentFrame = std::variant<Register, Run, Log, Leaving, Ok, Error, UnknownFrame>;

// "terminate", monitor to agent: answer `ok`, say `leaving`, end.
struct Terminate {
  Text ask;
};
// "duplicate" and "may-return": another copy holds this id: stand down; the holder is gone: register again.
struct Duplicate {};
struct MayReturn {};

using AgentCommand = std::variant<Terminate, Duplicate, MayReturn, UnknownFrame>;

}  // namespace watchbill::monitorproto
