// From the first message to an open session: capabilities, sign-in, sessions, modes and options.
// (ACP v1, "Initialization", "Authentication", "Session Setup", "Session Modes", "Session Config Options".)
#pragma once

#include <utility>

#include "watchbill/acp/content.hpp"

namespace watchbill::acp {

inline constexpr uint16_t kProtocolVersion = 1;

struct Implementation {
  Text name, version;
  OptText title;
  Meta meta;
  bool operator==(const Implementation&) const = default;
};

// Something that is offered by being there: an object whose only member is `_meta`.
struct Capability {
  Meta meta;
  bool operator==(const Capability&) const = default;
};
using Offered = std::optional<Capability>;

struct FileSystemCapabilities {
  bool read_text_file = false, write_text_file = false;
  Meta meta;
  bool operator==(const FileSystemCapabilities&) const = default;
};
struct SessionConfigOptionsCapabilities {
  Offered boolean;
  Meta meta;
  bool operator==(const SessionConfigOptionsCapabilities&) const = default;
};
struct ClientSessionCapabilities {
  Offered compaction, notices;
  std::optional<SessionConfigOptionsCapabilities> config_options;
  Meta meta;
  bool operator==(const ClientSessionCapabilities&) const = default;
};
struct AuthCapabilities {
  bool terminal = false;  // methods of type "terminal" may be listed
  Meta meta;
  bool operator==(const AuthCapabilities&) const = default;
};
struct ElicitationCapabilities {
  Offered form, url;  // neither: no elicitation
  Meta meta;
  bool operator==(const ElicitationCapabilities&) const = default;
};
struct ClientCapabilities {
  FileSystemCapabilities fs;
  bool terminal = false;  // all five methods of terminals
  std::optional<ClientSessionCapabilities> session;
  AuthCapabilities auth;
  std::optional<ElicitationCapabilities> elicitation;
  Meta meta;
  bool operator==(const ClientCapabilities&) const = default;
};

struct PromptCapabilities {
  bool image = false, audio = false, embedded_context = false;
  Meta meta;
  bool operator==(const PromptCapabilities&) const = default;
};
struct McpCapabilities {
  bool http = false, sse = false;
  Meta meta;
  bool operator==(const McpCapabilities&) const = default;
};
struct SessionCapabilities {
  Offered list, remove, additional_directories, resume, close;  // `remove` is "delete" on the wire
  Meta meta;
  bool operator==(const SessionCapabilities&) const = default;
};
struct AgentAuthCapabilities {
  Offered logout;
  Meta meta;
  bool operator==(const AgentAuthCapabilities&) const = default;
};
struct AgentCapabilities {
  bool load_session = false;
  PromptCapabilities prompt;
  McpCapabilities mcp;
  SessionCapabilities session;
  AgentAuthCapabilities auth;
  Meta meta;
  bool operator==(const AgentCapabilities&) const = default;
};

// A way to sign in. Type "agent" is for `authenticate`. "terminal" is a command of its own, never for it: the
// agent's program with these arguments and variables, at a terminal; exit code 0 is a yes. Any other type is
// kept with its object.
struct AuthMethod {
  Text type = "agent";
  Text id, name;
  OptText description;
  std::vector<Text> args;                  // of "terminal"
  std::vector<std::pair<Text, Text>> env;  // of "terminal"
  Meta meta;
  JsonView raw;  // of a type that is neither: written instead of all the rest
  bool operator==(const AuthMethod&) const = default;
};

// "initialize"
struct InitializeRequest {
  uint16_t protocol_version = kProtocolVersion;
  ClientCapabilities capabilities;
  std::optional<Implementation> client;
  Meta meta;
  bool operator==(const InitializeRequest&) const = default;
};
struct InitializeResponse {
  uint16_t protocol_version = kProtocolVersion;
  AgentCapabilities capabilities;
  std::vector<AuthMethod> auth_methods;
  std::optional<Implementation> agent;
  Meta meta;
  bool operator==(const InitializeResponse&) const = default;
};

// What many a request is answered with: nothing but that it was done.
struct EmptyResponse {
  Meta meta;
  bool operator==(const EmptyResponse&) const = default;
};

// "authenticate"
struct AuthenticateRequest {
  Text method_id;
  Meta meta;
  bool operator==(const AuthenticateRequest&) const = default;
};
using AuthenticateResponse = EmptyResponse;
// "logout"
struct LogoutRequest {
  Meta meta;
  bool operator==(const LogoutRequest&) const = default;
};
using LogoutResponse = EmptyResponse;

struct EnvVariable {
  Text name, value;
  Meta meta;
  bool operator==(const EnvVariable&) const = default;
};
struct HttpHeader {
  Text name, value;
  Meta meta;
  bool operator==(const HttpHeader&) const = default;
};
struct McpServerStdio {
  Text name;
  Text command;  // an absolute path
  std::vector<Text> args;
  std::vector<EnvVariable> env;
  Meta meta;
  bool operator==(const McpServerStdio&) const = default;
};
// Types "http" and "sse", which the agent's capabilities have to name.
struct McpServerRemote {
  bool sse = false;
  Text name, url;
  std::vector<HttpHeader> headers;
  Meta meta;
  bool operator==(const McpServerRemote&) const = default;
};
struct UnknownMcpServer {
  Text type;
  JsonView raw;
  bool operator==(const UnknownMcpServer&) const = default;
};
using McpServer = std::variant<McpServerStdio, McpServerRemote, UnknownMcpServer>;

struct SessionMode {
  Text id, name;
  OptText description;
  Meta meta;
  bool operator==(const SessionMode&) const = default;
};
struct SessionModeState {
  Text current_mode_id;
  std::vector<SessionMode> available_modes;
  Meta meta;
  bool operator==(const SessionModeState&) const = default;
};

struct SessionConfigSelectOption {
  Text value, name;
  OptText description;
  Meta meta;
  bool operator==(const SessionConfigSelectOption&) const = default;
};
struct SessionConfigSelectGroup {
  Text group, name;
  std::vector<SessionConfigSelectOption> options;
  Meta meta;
  bool operator==(const SessionConfigSelectGroup&) const = default;
};
struct SessionConfigSelect {
  Text current_value;
  std::variant<std::vector<SessionConfigSelectOption>, std::vector<SessionConfigSelectGroup>> options;
  bool operator==(const SessionConfigSelect&) const = default;
};
struct SessionConfigBoolean {
  bool current_value = false;
  bool operator==(const SessionConfigBoolean&) const = default;
};
// What a session can be set to. One of a type that is not known is left out of lists that are read.
struct SessionConfigOption {
  Text id, name;
  OptText description;
  OptText category;  // mode, model, model_config, thought_level, or another word; for showing alone
  std::variant<SessionConfigSelect, SessionConfigBoolean> value;
  Meta meta;
  bool operator==(const SessionConfigOption&) const = default;
};

// The models of an agent that has not got config options yet. Not in the schema any more, and still spoken.
struct SessionModel {
  Text model_id, name;
  OptText description;
  bool operator==(const SessionModel&) const = default;
};
struct SessionModelState {
  Text current_model_id;
  std::vector<SessionModel> available_models;
  bool operator==(const SessionModelState&) const = default;
};

// "session/new"
struct NewSessionRequest {
  Text cwd;  // absolute
  std::vector<McpServer> mcp_servers;
  std::vector<Text> additional_directories;  // absolute; only where the agent offers it
  Meta meta;
  bool operator==(const NewSessionRequest&) const = default;
};
struct NewSessionResponse {
  Text session_id;
  std::optional<SessionModeState> modes;
  std::optional<std::vector<SessionConfigOption>> config_options;
  std::optional<SessionModelState> models;
  Meta meta;
  bool operator==(const NewSessionResponse&) const = default;
};
// "session/load", which tells all that was said before its answer, and "session/resume", which does not.
struct LoadSessionRequest {
  Text session_id;
  Text cwd;
  std::vector<McpServer> mcp_servers;
  std::vector<Text> additional_directories;
  Meta meta;
  bool operator==(const LoadSessionRequest&) const = default;
};
using ResumeSessionRequest = LoadSessionRequest;
// null reads as one in which nothing is said.
struct LoadSessionResponse {
  std::optional<SessionModeState> modes;
  std::optional<std::vector<SessionConfigOption>> config_options;
  std::optional<SessionModelState> models;
  Meta meta;
  bool operator==(const LoadSessionResponse&) const = default;
};
using ResumeSessionResponse = LoadSessionResponse;

// "session/list"
struct ListSessionsRequest {
  OptText cwd, cursor;
  Meta meta;
  bool operator==(const ListSessionsRequest&) const = default;
};
struct SessionInfo {
  Text session_id, cwd;
  std::vector<Text> additional_directories;
  OptText title, updated_at;  // ISO 8601
  Meta meta;
  bool operator==(const SessionInfo&) const = default;
};
struct ListSessionsResponse {
  std::vector<SessionInfo> sessions;
  OptText next_cursor;  // nothing: that was the last page
  Meta meta;
  bool operator==(const ListSessionsResponse&) const = default;
};

// "session/delete"
struct DeleteSessionRequest {
  Text session_id;
  Meta meta;
  bool operator==(const DeleteSessionRequest&) const = default;
};
using DeleteSessionResponse = EmptyResponse;
// "session/close"
struct CloseSessionRequest {
  Text session_id;
  Meta meta;
  bool operator==(const CloseSessionRequest&) const = default;
};
using CloseSessionResponse = EmptyResponse;

// "session/set_mode"
struct SetSessionModeRequest {
  Text session_id, mode_id;
  Meta meta;
  bool operator==(const SetSessionModeRequest&) const = default;
};
using SetSessionModeResponse = EmptyResponse;
// "session/set_config_option"
struct SetSessionConfigOptionRequest {
  Text session_id, config_id;
  std::variant<Text, bool> value;
  Meta meta;
  bool operator==(const SetSessionConfigOptionRequest&) const = default;
};
struct SetSessionConfigOptionResponse {
  std::vector<SessionConfigOption> config_options;  // all of them
  Meta meta;
  bool operator==(const SetSessionConfigOptionResponse&) const = default;
};
// "session/set_model", which has left the schema for the config option of category "model".
struct SetSessionModelRequest {
  Text session_id, model_id;
  bool operator==(const SetSessionModelRequest&) const = default;
};

}  // namespace watchbill::acp
