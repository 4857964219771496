// Every structure's members under their names on the wire, once: reading and writing go over the same list.
//
// `F` is ReadFields or WriteFields (wire.hpp); writing does not change what it goes over. What each call asks
// of a member:
//
//   Must      has to be there, and right         List      always written; bad elements are left out
//   May       may be left out; bad is left out   MayList   the same, written where it is not empty
//   Or        has a default; always written      MustList  a list that has to be right
//   Flag      false where it is not said         Part      an object that is written always
//   Word      one of a closed list, or left out  OrWord    one of a closed list, or the default
//   Patch     absent, null or a value
#pragma once

#include <span>

#include "watchbill/acp/messages.hpp"

namespace watchbill::acp::wire {

using Words = std::span<const std::string_view>;

inline constexpr std::string_view kToolKinds[] = {"read",    "edit",  "delete", "move",        "search",
                                                  "execute", "think", "fetch",  "switch_mode", "other"};
inline constexpr std::string_view kToolStatuses[] = {"pending", "in_progress", "completed", "failed"};
inline constexpr std::string_view kPriorities[] = {"high", "medium", "low"};
inline constexpr std::string_view kPlanStatuses[] = {"pending", "in_progress", "completed"};
inline constexpr std::string_view kFormats[] = {"email", "uri", "date", "date-time"};

// content.hpp

template <typename F>
void Fields(F& f, Annotations& m) {
  f.May("audience", m.audience);
  f.May("lastModified", m.last_modified);
  f.May("priority", m.priority);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, TextContent& m) {
  f.Must("text", m.text);
  f.May("annotations", m.annotations);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ImageContent& m) {
  f.Must("data", m.data);
  f.Must("mimeType", m.mime_type);
  f.May("uri", m.uri);
  f.May("annotations", m.annotations);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, AudioContent& m) {
  f.Must("data", m.data);
  f.Must("mimeType", m.mime_type);
  f.May("annotations", m.annotations);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ResourceLink& m) {
  f.Must("name", m.name);
  f.Must("uri", m.uri);
  f.May("title", m.title);
  f.May("description", m.description);
  f.May("mimeType", m.mime_type);
  f.May("size", m.size);
  f.May("annotations", m.annotations);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, TextResourceContents& m) {
  f.Must("uri", m.uri);
  f.Must("text", m.text);
  f.May("mimeType", m.mime_type);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, BlobResourceContents& m) {
  f.Must("uri", m.uri);
  f.Must("blob", m.blob);
  f.May("mimeType", m.mime_type);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, EmbeddedResource& m) {
  f.Must("resource", m.resource);
  f.May("annotations", m.annotations);
  f.Meta(m.meta);
}

// setup.hpp

template <typename F>
void Fields(F& f, Implementation& m) {
  f.Or("name", m.name, "");
  f.May("title", m.title);
  f.Or("version", m.version, "");
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, Capability& m) {
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, FileSystemCapabilities& m) {
  f.Flag("readTextFile", m.read_text_file);
  f.Flag("writeTextFile", m.write_text_file);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SessionConfigOptionsCapabilities& m) {
  f.May("boolean", m.boolean);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ClientSessionCapabilities& m) {
  f.May("compaction", m.compaction);
  f.May("configOptions", m.config_options);
  f.May("notices", m.notices);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, AuthCapabilities& m) {
  f.Flag("terminal", m.terminal);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ElicitationCapabilities& m) {
  f.May("form", m.form);
  f.May("url", m.url);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ClientCapabilities& m) {
  f.Part("fs", m.fs);
  f.Flag("terminal", m.terminal);
  f.May("session", m.session);
  f.Part("auth", m.auth);
  f.May("elicitation", m.elicitation);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, PromptCapabilities& m) {
  f.Flag("image", m.image);
  f.Flag("audio", m.audio);
  f.Flag("embeddedContext", m.embedded_context);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, McpCapabilities& m) {
  f.Flag("http", m.http);
  f.Flag("sse", m.sse);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SessionCapabilities& m) {
  f.May("list", m.list);
  f.May("delete", m.remove);
  f.May("additionalDirectories", m.additional_directories);
  f.May("resume", m.resume);
  f.May("close", m.close);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, AgentAuthCapabilities& m) {
  f.May("logout", m.logout);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, AgentCapabilities& m) {
  f.Flag("loadSession", m.load_session);
  f.Part("promptCapabilities", m.prompt);
  f.Part("mcpCapabilities", m.mcp);
  f.Part("sessionCapabilities", m.session);
  f.Part("auth", m.auth);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, InitializeRequest& m) {
  f.Must("protocolVersion", m.protocol_version);
  f.Part("clientCapabilities", m.capabilities);
  f.May("clientInfo", m.client);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, InitializeResponse& m) {
  f.Must("protocolVersion", m.protocol_version);
  f.Part("agentCapabilities", m.capabilities);
  f.List("authMethods", m.auth_methods);
  f.May("agentInfo", m.agent);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, EmptyResponse& m) {
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, AuthenticateRequest& m) {
  f.Must("methodId", m.method_id);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, LogoutRequest& m) {
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, EnvVariable& m) {
  f.Must("name", m.name);
  f.Must("value", m.value);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, HttpHeader& m) {
  f.Must("name", m.name);
  f.Must("value", m.value);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, McpServerStdio& m) {
  f.Must("name", m.name);
  f.Must("command", m.command);
  f.List("args", m.args);
  f.List("env", m.env);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, McpServerRemote& m) {
  f.Must("name", m.name);
  f.Must("url", m.url);
  f.List("headers", m.headers);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SessionMode& m) {
  f.Must("id", m.id);
  f.Must("name", m.name);
  f.May("description", m.description);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SessionModeState& m) {
  f.Must("currentModeId", m.current_mode_id);
  f.List("availableModes", m.available_modes);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SessionConfigSelectOption& m) {
  f.Must("value", m.value);
  f.Must("name", m.name);
  f.May("description", m.description);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SessionConfigSelectGroup& m) {
  f.Must("group", m.group);
  f.Must("name", m.name);
  f.List("options", m.options);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SessionConfigSelect& m) {
  f.Must("currentValue", m.current_value);
  f.Must("options", m.options);
}
template <typename F>
void Fields(F& f, SessionConfigBoolean& m) {
  f.Must("currentValue", m.current_value);
}
template <typename F>
void Fields(F& f, SessionConfigOption& m) {
  f.Must("id", m.id);
  f.Must("name", m.name);
  f.May("description", m.description);
  f.May("category", m.category);
  f.Tagged("type", m.value);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SessionModel& m) {
  f.Must("modelId", m.model_id);
  f.Or("name", m.name, "");
  f.May("description", m.description);
}
template <typename F>
void Fields(F& f, SessionModelState& m) {
  f.Must("currentModelId", m.current_model_id);
  f.List("availableModels", m.available_models);
}
template <typename F>
void Fields(F& f, NewSessionRequest& m) {
  f.Must("cwd", m.cwd);
  f.List("mcpServers", m.mcp_servers);  // most agents refuse a request without the list
  f.MayList("additionalDirectories", m.additional_directories);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, NewSessionResponse& m) {
  f.Must("sessionId", m.session_id);
  f.May("modes", m.modes);
  f.May("configOptions", m.config_options);
  f.May("models", m.models);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, LoadSessionRequest& m) {
  f.Must("sessionId", m.session_id);
  f.Must("cwd", m.cwd);
  f.List("mcpServers", m.mcp_servers);
  f.MayList("additionalDirectories", m.additional_directories);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, LoadSessionResponse& m) {
  f.May("modes", m.modes);
  f.May("configOptions", m.config_options);
  f.May("models", m.models);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ListSessionsRequest& m) {
  f.May("cwd", m.cwd);
  f.May("cursor", m.cursor);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SessionInfo& m) {
  f.Must("sessionId", m.session_id);
  f.Must("cwd", m.cwd);
  f.MayList("additionalDirectories", m.additional_directories);
  f.May("title", m.title);
  f.May("updatedAt", m.updated_at);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ListSessionsResponse& m) {
  f.List("sessions", m.sessions);
  f.May("nextCursor", m.next_cursor);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, DeleteSessionRequest& m) {
  f.Must("sessionId", m.session_id);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, CloseSessionRequest& m) {
  f.Must("sessionId", m.session_id);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SetSessionModeRequest& m) {
  f.Must("sessionId", m.session_id);
  f.Must("modeId", m.mode_id);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SetSessionConfigOptionRequest& m) {
  f.Must("sessionId", m.session_id);
  f.Must("configId", m.config_id);
  f.ConfigValue(m.value);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SetSessionConfigOptionResponse& m) {
  f.List("configOptions", m.config_options);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SetSessionModelRequest& m) {
  f.Must("sessionId", m.session_id);
  f.Must("modelId", m.model_id);
}

// turn.hpp

template <typename F>
void Fields(F& f, PromptRequest& m) {
  f.Must("sessionId", m.session_id);
  f.MustList("prompt", m.prompt);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, PromptResponse& m) {
  f.Must("stopReason", m.stop_reason);
  f.May("usage", m.usage);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, CancelNotification& m) {
  f.Must("sessionId", m.session_id);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ToolCallLocation& m) {
  f.Must("path", m.path);
  f.May("line", m.line);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, Content& m) {
  f.Must("content", m.content);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, Diff& m) {
  f.Must("path", m.path);
  f.May("oldText", m.old_text);
  f.Must("newText", m.new_text);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, Terminal& m) {
  f.Must("terminalId", m.terminal_id);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ToolCallUpdate& m) {
  f.Must("toolCallId", m.tool_call_id);
  if (m.is_new) {
    f.MustBe("title", m.title);
  } else {
    f.May("title", m.title);
  }
  f.May("name", m.name);
  f.Word("kind", m.kind, kToolKinds);
  f.Word("status", m.status, kToolStatuses);
  f.May("content", m.content);
  f.May("locations", m.locations);
  f.May("rawInput", m.raw_input);
  f.May("rawOutput", m.raw_output);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ContentChunk& m) {
  f.Must("content", m.content);
  f.May("messageId", m.message_id);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, PlanEntry& m) {
  f.Must("content", m.content);
  f.OrWord("priority", m.priority, "medium", kPriorities);
  f.OrWord("status", m.status, "pending", kPlanStatuses);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, Plan& m) {
  f.List("entries", m.entries);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, UnstructuredCommandInput& m) {
  f.Must("hint", m.hint);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, AvailableCommand& m) {
  f.Must("name", m.name);
  f.Or("description", m.description, "");
  f.May("input", m.input);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, AvailableCommandsUpdate& m) {
  f.List("availableCommands", m.available_commands);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, CurrentModeUpdate& m) {
  f.Must("currentModeId", m.current_mode_id);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ConfigOptionUpdate& m) {
  f.List("configOptions", m.config_options);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SessionInfoUpdate& m) {
  f.Patch("title", m.title);
  f.Patch("updatedAt", m.updated_at);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, Cost& m) {
  f.Must("amount", m.amount);
  f.Must("currency", m.currency);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, UsageUpdate& m) {
  f.Must("used", m.used);
  f.Or("size", m.size, 0);
  f.May("cost", m.cost);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, Notice& m) {
  f.Must("severity", m.severity);
  f.Must("title", m.title);
  f.May("description", m.description);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, CompactionUpdate& m) {
  f.Must("compactionId", m.compaction_id);
  f.Must("status", m.status);
  f.Patch("summary", m.summary);
  f.Patch("error", m.error);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, CompactionSummaryChunk& m) {
  f.Must("compactionId", m.compaction_id);
  f.Must("content", m.content);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, SessionNotification& m) {
  f.Must("sessionId", m.session_id);
  f.Must("update", m.update);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, PermissionOption& m) {
  f.Must("optionId", m.option_id);
  f.Or("name", m.name, "");
  f.Or("kind", m.kind, "");
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, RequestPermissionRequest& m) {
  f.Must("sessionId", m.session_id);
  f.Must("toolCall", m.tool_call);
  f.Must("options", m.options);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, CancelRequestNotification& m) {
  f.RequestId("requestId", m.request_id);
  f.Meta(m.meta);
}

// host.hpp

template <typename F>
void Fields(F& f, ReadTextFileRequest& m) {
  f.Must("sessionId", m.session_id);
  f.Must("path", m.path);
  f.May("line", m.line);
  f.May("limit", m.limit);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ReadTextFileResponse& m) {
  f.Must("content", m.content);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, WriteTextFileRequest& m) {
  f.Must("sessionId", m.session_id);
  f.Must("path", m.path);
  f.Must("content", m.content);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, CreateTerminalRequest& m) {
  f.Must("sessionId", m.session_id);
  f.Must("command", m.command);
  f.MayList("args", m.args);
  f.MayList("env", m.env);
  f.May("cwd", m.cwd);
  f.May("outputByteLimit", m.output_byte_limit);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, CreateTerminalResponse& m) {
  f.Must("terminalId", m.terminal_id);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, TerminalRequest& m) {
  f.Must("sessionId", m.session_id);
  f.Must("terminalId", m.terminal_id);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, TerminalExitStatus& m) {
  f.May("exitCode", m.exit_code);
  f.May("signal", m.signal);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, TerminalOutputResponse& m) {
  f.Must("output", m.output);
  f.Flag("truncated", m.truncated);
  f.May("exitStatus", m.exit_status);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, EnumOption& m) {
  f.Must("const", m.value);
  f.Must("title", m.title);
  f.May("description", m.description);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, StringPropertySchema& m) {
  f.May("minLength", m.min_length);
  f.May("maxLength", m.max_length);
  f.May("pattern", m.pattern);
  f.Word("format", m.format, kFormats);
  f.May("default", m.default_value);
  f.May("enum", m.enumeration);
  f.May("oneOf", m.one_of);
}
template <typename F>
void Fields(F& f, NumberPropertySchema& m) {
  f.May("minimum", m.minimum);
  f.May("maximum", m.maximum);
  f.May("default", m.default_value);
}
template <typename F>
void Fields(F& f, IntegerPropertySchema& m) {
  f.May("minimum", m.minimum);
  f.May("maximum", m.maximum);
  f.May("default", m.default_value);
}
template <typename F>
void Fields(F& f, BooleanPropertySchema& m) {
  f.May("default", m.default_value);
}
template <typename F>
void Fields(F& f, MultiSelectPropertySchema& m) {
  f.May("minItems", m.min_items);
  f.May("maxItems", m.max_items);
  f.SelectItems("items", m.items);
  f.May("default", m.default_value);
}
template <typename F>
void Fields(F& f, ElicitationProperty& m) {
  f.May("title", m.title);
  f.May("description", m.description);
  f.Tagged("type", m.schema);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ElicitationSchema& m) {
  f.Constant("type", "object");
  f.May("title", m.title);
  f.May("description", m.description);
  f.Properties("properties", m.properties);
  f.May("required", m.required);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, ElicitationFormMode& m) {
  f.Must("requestedSchema", m.requested_schema);
}
template <typename F>
void Fields(F& f, ElicitationUrlMode& m) {
  f.Must("elicitationId", m.elicitation_id);
  f.Must("url", m.url);
}
template <typename F>
void Fields(F& f, CreateElicitationRequest& m) {
  f.Must("message", m.message);
  f.Tagged("mode", m.mode);
  f.May("sessionId", m.session_id);
  f.May("toolCallId", m.tool_call_id);
  f.May("requestId", m.request_id);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, CreateElicitationResponse& m) {
  f.Must("action", m.action);
  f.Values("content", m.content);
  f.Meta(m.meta);
}
template <typename F>
void Fields(F& f, CompleteElicitationNotification& m) {
  f.Must("elicitationId", m.elicitation_id);
  f.Meta(m.meta);
}

// What Encode and Reader take, with the words for what it is. Some responses are one type.
#define WATCHBILL_ACP_MESSAGES(X)                                              \
  X(ContentBlock, "a piece of content")                                        \
  X(RpcError, "an error")                                                      \
  X(CancelRequestNotification, "$/cancel_request")                             \
  X(EmptyResponse, "an answer")                                                \
  X(InitializeRequest, "initialize")                                           \
  X(InitializeResponse, "the answer to initialize")                            \
  X(AuthenticateRequest, "authenticate")                                       \
  X(LogoutRequest, "logout")                                                   \
  X(NewSessionRequest, "session/new")                                          \
  X(NewSessionResponse, "the answer to session/new")                           \
  X(LoadSessionRequest, "session/load or session/resume")                      \
  X(LoadSessionResponse, "the answer to session/load or session/resume")       \
  X(ListSessionsRequest, "session/list")                                       \
  X(ListSessionsResponse, "the answer to session/list")                        \
  X(DeleteSessionRequest, "session/delete")                                    \
  X(CloseSessionRequest, "session/close")                                      \
  X(SetSessionModeRequest, "session/set_mode")                                 \
  X(SetSessionConfigOptionRequest, "session/set_config_option")                \
  X(SetSessionConfigOptionResponse, "the answer to session/set_config_option") \
  X(SetSessionModelRequest, "session/set_model")                               \
  X(PromptRequest, "session/prompt")                                           \
  X(PromptResponse, "the answer to session/prompt")                            \
  X(CancelNotification, "session/cancel")                                      \
  X(ToolCallUpdate, "a tool call")                                             \
  X(SessionNotification, "session/update")                                     \
  X(RequestPermissionRequest, "session/request_permission")                    \
  X(RequestPermissionResponse, "the answer to session/request_permission")     \
  X(ReadTextFileRequest, "fs/read_text_file")                                  \
  X(ReadTextFileResponse, "the answer to fs/read_text_file")                   \
  X(WriteTextFileRequest, "fs/write_text_file")                                \
  X(CreateTerminalRequest, "terminal/create")                                  \
  X(CreateTerminalResponse, "the answer to terminal/create")                   \
  X(TerminalOutputRequest, "terminal/output")                                  \
  X(TerminalOutputResponse, "the answer to terminal/output")                   \
  X(WaitForTerminalExitRequest, "terminal/wait_for_exit")                      \
  X(TerminalExitStatus, "the answer to terminal/wait_for_exit")                \
  X(KillTerminalRequest, "terminal/kill")                                      \
  X(ReleaseTerminalRequest, "terminal/release")                                \
  X(CreateElicitationRequest, "elicitation/create")                            \
  X(CreateElicitationResponse, "the answer to elicitation/create")             \
  X(CompleteElicitationNotification, "elicitation/complete")

}  // namespace watchbill::acp::wire
