// A turn of a session: the prompt, what the agent tells of it, what it asks permission for.
// (ACP v1, "Prompt Turn", "Tool Calls", "Agent Plan", "Slash Commands", "Session Usage".)
#pragma once

#include "watchbill/acp/setup.hpp"

namespace watchbill::acp {

// "session/prompt"
struct PromptRequest {
  Text session_id;
  std::vector<ContentBlock> prompt;
  Meta meta;
  bool operator==(const PromptRequest&) const = default;
};
struct PromptResponse {
  Text stop_reason = "end_turn";  // end_turn max_tokens max_turn_requests refusal cancelled, or another word
  JsonView usage;                 // tokens of the turn; not stable yet, and passed on as it came
  Meta meta;
  bool operator==(const PromptResponse&) const = default;
};
// "session/cancel"
struct CancelNotification {
  Text session_id;
  Meta meta;
  bool operator==(const CancelNotification&) const = default;
};

struct ToolCallLocation {
  Text path;
  std::optional<uint32_t> line;  // from 1
  Meta meta;
  bool operator==(const ToolCallLocation&) const = default;
};
struct Content {
  ContentBlock content;
  Meta meta;
  bool operator==(const Content&) const = default;
};
struct Diff {
  Text path, new_text;
  OptText old_text;  // nothing: the file is new
  Meta meta;
  bool operator==(const Diff&) const = default;
};
struct Terminal {
  Text terminal_id;
  Meta meta;
  bool operator==(const Terminal&) const = default;
};
using ToolCallContent = std::variant<Content, Diff, Terminal, UnknownContent>;

// "tool_call" and "tool_call_update". In the first a title has to be, and what is not said has its default:
// kind other, status pending. In the second what is not said has not changed. A list replaces the one before.
struct ToolCallUpdate {
  bool is_new = false;
  Text tool_call_id;
  OptText title;
  OptText name;    // of the tool
  OptText kind;    // read edit delete move search execute think fetch switch_mode other, or another word
  OptText status;  // pending in_progress completed failed, or another word
  std::optional<std::vector<ToolCallContent>> content;
  std::optional<std::vector<ToolCallLocation>> locations;
  JsonView raw_input, raw_output;
  Meta meta;
  bool operator==(const ToolCallUpdate&) const = default;
};

// "user_message_chunk", "agent_message_chunk", "agent_thought_chunk"
struct ContentChunk {
  enum class From { kUser, kAgent, kThought };
  From from = From::kAgent;
  ContentBlock content;
  OptText message_id;
  Meta meta;
  bool operator==(const ContentChunk&) const = default;
};
struct PlanEntry {
  Text content;
  Text priority = "medium";  // high medium low
  Text status = "pending";   // pending in_progress completed
  Meta meta;
  bool operator==(const PlanEntry&) const = default;
};
// "plan": the whole of it, each time.
struct Plan {
  std::vector<PlanEntry> entries;
  Meta meta;
  bool operator==(const Plan&) const = default;
};
struct UnstructuredCommandInput {
  Text hint;
  Meta meta;
  bool operator==(const UnstructuredCommandInput&) const = default;
};
struct AvailableCommand {
  Text name, description;
  std::optional<UnstructuredCommandInput> input;
  Meta meta;
  bool operator==(const AvailableCommand&) const = default;
};
// "available_commands_update": all of them, each time.
struct AvailableCommandsUpdate {
  std::vector<AvailableCommand> available_commands;
  Meta meta;
  bool operator==(const AvailableCommandsUpdate&) const = default;
};
// "current_mode_update"
struct CurrentModeUpdate {
  Text current_mode_id;
  Meta meta;
  bool operator==(const CurrentModeUpdate&) const = default;
};
// "config_option_update": all of them, each time.
struct ConfigOptionUpdate {
  std::vector<SessionConfigOption> config_options;
  Meta meta;
  bool operator==(const ConfigOptionUpdate&) const = default;
};
// A member of a patch. Nothing: not said, so unchanged. An empty one inside: null, which clears it.
using Patch = std::optional<OptText>;
// "session_info_update"
struct SessionInfoUpdate {
  Patch title, updated_at;
  Meta meta;
  bool operator==(const SessionInfoUpdate&) const = default;
};
struct Cost {
  double amount = 0;
  Text currency;  // ISO 4217
  Meta meta;
  bool operator==(const Cost&) const = default;
};
// "usage_update": of the context window, in tokens; the cost is that of the session so far.
struct UsageUpdate {
  uint64_t used = 0, size = 0;
  std::optional<Cost> cost;
  Meta meta;
  bool operator==(const UsageUpdate&) const = default;
};
// "notice": something for people, at the moment it comes; no part of the conversation.
struct Notice {
  Text severity;  // info warning error, or another word
  Text title;
  OptText description;
  Meta meta;
  bool operator==(const Notice&) const = default;
};
// "compaction_update": what is not said has not changed, null clears it.
struct CompactionUpdate {
  Text compaction_id;
  Text status;  // in_progress completed failed cancelled, or another word
  std::optional<std::optional<std::vector<ContentBlock>>> summary;
  Patch error;
  Meta meta;
  bool operator==(const CompactionUpdate&) const = default;
};
// "compaction_summary_chunk"
struct CompactionSummaryChunk {
  Text compaction_id;
  ContentBlock content;
  Meta meta;
  bool operator==(const CompactionSummaryChunk&) const = default;
};
// Of a kind that has no structure here, as unstable ones have none.
struct UnknownUpdate {
  Text kind;
  JsonView raw;  // the whole `update`; written as it is
  bool operator==(const UnknownUpdate&) const = default;
};

using SessionUpdate = std::variant<ContentChunk, ToolCallUpdate, Plan, AvailableCommandsUpdate,
                                   CurrentModeUpdate, ConfigOptionUpdate, SessionInfoUpdate, UsageUpdate,
                                   Notice, CompactionUpdate, CompactionSummaryChunk, UnknownUpdate>;
// The `sessionUpdate` word.
Text KindOf(const SessionUpdate& update);

// "session/update"
struct SessionNotification {
  Text session_id;
  SessionUpdate update;
  Meta meta;
  bool operator==(const SessionNotification&) const = default;
};

// "session/request_permission"
struct PermissionOption {
  Text option_id, name;
  Text kind;  // allow_once allow_always reject_once reject_always, or a word of the agent's own
  Meta meta;
  bool operator==(const PermissionOption&) const = default;
};
struct RequestPermissionRequest {
  Text session_id;
  ToolCallUpdate tool_call;  // may be the first that is heard of it
  std::vector<PermissionOption> options;
  Meta meta;
  bool operator==(const RequestPermissionRequest&) const = default;
};
struct RequestPermissionResponse {
  OptText option_id;  // nothing: cancelled
  Meta outcome_meta, meta;
  bool operator==(const RequestPermissionResponse&) const = default;
};

// Whether choosing an option of this kind lets the agent go on: the kind decides, never the name or the id.
constexpr bool Allows(Text kind) { return kind == "allow_once" || kind == "allow_always"; }
constexpr bool Rejects(Text kind) { return kind == "reject_once" || kind == "reject_always"; }

}  // namespace watchbill::acp
