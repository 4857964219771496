// What a conversation is made of: the one message type of the suite. (Reference "agents, channels and
// events", Messages.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/base/json_text.hpp"
#include "watchbill/base/json_writer.hpp"

namespace watchbill::history {

struct Location {
  std::string path;
  std::optional<int64_t> line;  // from 1
  friend bool operator==(const Location&, const Location&) = default;
};

struct Diff {
  std::string path, old_text, new_text;
  bool new_file = false;  // there was none before: old_text is empty
  friend bool operator==(const Diff&, const Diff&) = default;
};

struct ToolCall {
  std::string id, title;
  std::string kind = "other";      // read edit delete move search execute think fetch other
  std::string status = "pending";  // pending in_progress completed failed
  std::string input;               // compact JSON, or empty
  std::string output;              // text
  std::vector<Location> locations;
  std::vector<Diff> diffs;
  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

struct PlanEntry {
  std::string content;
  std::string priority = "medium";  // high medium low
  std::string status = "pending";   // pending in_progress completed
  friend bool operator==(const PlanEntry&, const PlanEntry&) = default;
};

struct TextPart {
  std::string text;  // Markdown
  friend bool operator==(const TextPart&, const TextPart&) = default;
};
struct ThoughtPart {
  std::string text;
  friend bool operator==(const ThoughtPart&, const ThoughtPart&) = default;
};
struct ToolPart {
  ToolCall tool;
  friend bool operator==(const ToolPart&, const ToolPart&) = default;
};
struct PlanPart {
  std::vector<PlanEntry> entries;
  friend bool operator==(const PlanPart&, const PlanPart&) = default;
};
using Part = std::variant<TextPart, ThoughtPart, ToolPart, PlanPart>;

enum class Role { kUser, kAgent, kSystem };

struct Message {
  std::string id;       // a ULID: its order is the conversation's
  std::string channel;  // a ULID
  int64_t created_ms = 0;
  std::string agent;  // who wrote it, or whom a system message is about; empty for a user's
  Role role = Role::kUser;
  std::vector<Part> parts;
  bool done = true;     // false while it streams; only finished ones are kept
  bool queued = false;  // a user's, waiting for the current answers
  std::string stop_reason, error, code;
  friend bool operator==(const Message&, const Message&) = default;
};

struct Channel {
  std::string id;  // a ULID: oldest first is the order of ids
  std::string name, description;
  std::string direct;                // the agent of a direct conversation
  std::vector<std::string> members;  // in the order they joined
  friend bool operator==(const Channel&, const Channel&) = default;
};

// What an agent knows of a channel.
struct Member {
  std::string agent;
  std::string session;    // its ACP session for this channel
  std::string last_seen;  // the id of the last message it was given or wrote
  friend bool operator==(const Member&, const Member&) = default;
};

// The JSON of one message or channel is at most this long.
inline constexpr size_t kMaxRecordBytes = 16 << 20;

// The JSON of docs/protocols/rpc.md, which is also what is kept. What was written is read as the same, with
// two exceptions: bytes that are not UTF-8 are written as U+FFFD, and a time outside the years 0 to 9999 is
// clamped.
void Write(JsonWriter& w, const ToolCall& tool);
void Write(JsonWriter& w, const Part& part);
void Write(JsonWriter& w, const Message& message);
void Write(JsonWriter& w, const Channel& channel);

// Reads what Write wrote, and what an older version wrote: a member that is missing or of the wrong kind has
// its default, a part of a kind that is not known is left out. InvalidArgument: no JSON, longer than
// kMaxRecordBytes, no object, or one without an id.
absl::StatusOr<Message> ReadMessage(std::string_view json);
absl::StatusOr<Channel> ReadChannel(std::string_view json);

}  // namespace watchbill::history
