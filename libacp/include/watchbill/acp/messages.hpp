// The messages of the Agent Client Protocol, version 1, as plain structures.
//
// A message that was read is made of views that are good until its reader reads again; to write one, fill it
// with views of your own. What a peer may leave out is optional or has the default that the schema names.
// Words of open lists (kinds, statuses, reasons) stay the words they came as. `raw` is the object that was
// read, with what this version of the library does not know.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "watchbill/base/json_text.hpp"

namespace watchbill::acp {

inline constexpr int kProtocolVersion = 1;

using Text = std::string_view;
using OptText = std::optional<std::string_view>;

// Codes of an error. (JSON-RPC 2.0; ACP "Errors")
enum ErrorCode : int32_t {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kRequestCancelled = -32800,
  kAuthenticationRequired = -32000,
  kResourceNotFound = -32002,
};

struct RpcError {
  int32_t code = kInternalError;
  Text message;
  JsonView data;
};

struct Implementation {
  Text name, version;
  OptText title;
};

// "initialize"
struct ClientCapabilities {
  bool read_text_file = false, write_text_file = false, terminal = false;
};
struct InitializeRequest {
  int64_t protocol_version = kProtocolVersion;
  ClientCapabilities capabilities;
  std::optional<Implementation> client;
};
struct AgentCapabilities {
  bool load_session = false;
  bool image = false, audio = false, embedded_context = false;  // in prompts
  bool mcp_http = false, mcp_sse = false;
  bool list = false, resume = false, close = false, remove = false;  // of sessions
};
struct AuthMethod {
  Text id, name;
  OptText description;
  Text type = "agent";  // agent, terminal, or a word of the agent's own
};
struct InitializeResponse {
  int64_t protocol_version = kProtocolVersion;
  AgentCapabilities capabilities;
  std::vector<AuthMethod> auth_methods;
  std::optional<Implementation> agent;
  JsonView raw;
};

// "session/new"
struct NewSessionRequest {
  Text cwd;              // absolute
  JsonView mcp_servers;  // absent: none
};
struct NewSessionResponse {
  Text session;
  JsonView raw;
};

// A piece of content: text, image, audio, resource_link, resource, or a type this library does not know.
struct ContentBlock {
  Text type = "text";
  OptText text;       // of a text, or of a resource that is text
  OptText uri, name;  // of a resource, a link, an image
  OptText mime_type;
  JsonView raw;  // to write: instead of the above where it is there
};

// "session/prompt"
struct PromptRequest {
  Text session;
  std::vector<ContentBlock> prompt;
};
struct PromptResponse {
  Text stop_reason = "end_turn";  // end_turn max_tokens max_turn_requests refusal cancelled
};

struct Location {
  Text path;
  std::optional<int64_t> line;  // from 1
};
// What a tool call shows: a piece of content, a change of a file, a terminal.
struct ToolContent {
  Text type = "content";  // content diff terminal, or a word that is not known
  ContentBlock content;
  Text path, new_text;
  OptText old_text;  // nothing: the file is new
  Text terminal;
};
// "tool_call" and "tool_call_update", which differ in `is_new` alone: what is not said has not changed, and a
// list replaces the one before.
struct ToolCallUpdate {
  bool is_new = false;
  Text id;
  OptText title;
  OptText kind;    // read edit delete move search execute think fetch switch_mode other
  OptText status;  // pending in_progress completed failed
  std::optional<std::vector<ToolContent>> content;
  std::optional<std::vector<Location>> locations;
  JsonView raw_input, raw_output;  // absent: not said
};

// "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"
struct Chunk {
  enum class From { kAgent, kThought, kUser };
  From from = From::kAgent;
  ContentBlock content;
  OptText message_id;
};
struct PlanEntry {
  Text content;
  Text priority = "medium";  // high medium low
  Text status = "pending";   // pending in_progress completed
};
// "plan": the whole of it, each time.
struct Plan {
  std::vector<PlanEntry> entries;
};
struct Command {
  Text name, description;
  OptText hint;
};
// "available_commands_update": all of them, each time.
struct Commands {
  std::vector<Command> commands;
};
// "usage_update": of the context window, in tokens; the cost is that of the session so far.
struct Usage {
  int64_t used = 0, size = 0;
  std::optional<double> cost;
  OptText currency;
};
// Well-formed, of a kind that has no structure here.
struct UnknownUpdate {};

struct SessionUpdate {
  Text session;
  Text kind;  // the `sessionUpdate` word
  std::variant<UnknownUpdate, Chunk, ToolCallUpdate, Plan, Commands, Usage> update;
  JsonView raw;  // the `update` object
};

// "session/request_permission"
struct PermissionOption {
  Text id, name;
  Text kind;  // allow_once allow_always reject_once reject_always, or a word of the agent's own
};
struct PermissionRequest {
  Text session;
  ToolCallUpdate tool;
  std::vector<PermissionOption> options;
  JsonView raw;
};

// Whether choosing an option of this kind lets the agent go on: the kind decides, never the name or the id.
constexpr bool Allows(Text kind) { return kind == "allow_once" || kind == "allow_always"; }
constexpr bool Rejects(Text kind) { return kind == "reject_once" || kind == "reject_always"; }

}  // namespace watchbill::acp
