#include "decode.hpp"

#include <fmt/core.h>

namespace watchbill::acp::decode {

using json::Value;

namespace {

absl::Status Missing(std::string_view where, std::string_view member, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("{} needs `{}`: {}", where, member, what));
}

Text Or(const Value& value, Text otherwise) { return value.AsString().value_or(otherwise); }
bool Flag(const Value& value) { return value.AsBool().value_or(false); }
// A number of tokens. The protocol's are unsigned; what is beyond a signed one stands as the largest of
// those.
std::optional<int64_t> Tokens(const Value& value) {
  if (const auto whole = value.AsInt()) return whole;
  constexpr double kExact = 9007199254740992.0, kBeyond = 9223372036854775808.0;
  const auto number = value.AsDouble();
  // Between the two every double is whole.
  if (!number || *number < kExact) return std::nullopt;
  return *number >= kBeyond ? INT64_MAX : static_cast<int64_t>(*number);
}
// A capability that is an object is there, whatever it holds; null and absent are no.
bool Offered(const Value& value) { return value.is_object(); }
JsonView Said(const Value& value) {
  return value.absent() || value.kind() == json::Kind::kNull ? JsonView() : value.text();
}

std::optional<Implementation> Who(const Value& v) {
  if (!v.is_object()) return std::nullopt;
  Implementation out;
  out.name = Or(v["name"], "");
  out.version = Or(v["version"], "");
  out.title = v["title"].AsString();
  return out;
}

ContentBlock Content(const Value& v) {
  ContentBlock out;
  out.type = Or(v["type"], "");
  out.raw = v.text();
  const Value resource = v["resource"];
  const Value& from = resource.is_object() ? resource : v;
  out.text = from["text"].AsString();
  out.uri = from["uri"].AsString();
  out.mime_type = from["mimeType"].AsString();
  out.name = v["name"].AsString();
  return out;
}

std::optional<ToolContent> Shown(const Value& v) {
  const auto type = v["type"].AsString();
  if (!type) return std::nullopt;
  ToolContent out;
  out.type = *type;
  if (*type == "diff") {
    const auto path = v["path"].AsString(), text = v["newText"].AsString();
    if (!path || !text) return std::nullopt;
    out.path = *path;
    out.new_text = *text;
    out.old_text = v["oldText"].AsString();
  } else if (*type == "terminal") {
    const auto terminal = v["terminalId"].AsString();
    if (!terminal) return std::nullopt;
    out.terminal = *terminal;
  } else if (*type == "content") {
    if (!v["content"].is_object()) return std::nullopt;
    out.content = Content(v["content"]);
  }
  return out;
}

// The elements that `read` takes; those that it does not are left out.
template <typename T, typename Read>
std::vector<T> List(const Value& list, const Read& read) {
  std::vector<T> out;
  if (list.kind() != json::Kind::kArray) return out;
  for (Value v = list.First(); !v.absent(); v = v.Next()) {
    if (auto one = read(v)) out.push_back(*std::move(one));
  }
  return out;
}

template <typename T, typename Read>
std::optional<std::vector<T>> OptionalList(const Value& list, const Read& read) {
  if (list.kind() != json::Kind::kArray) return std::nullopt;
  return List<T>(list, read);
}

absl::StatusOr<ToolCallUpdate> Tool(const Value& v, bool is_new, std::string_view where) {
  ToolCallUpdate out;
  const auto id = v["toolCallId"].AsString();
  if (!id) return Missing(where, "toolCallId", "which tool call is meant");
  out.is_new = is_new;
  out.id = *id;
  out.title = v["title"].AsString();
  out.kind = v["kind"].AsString();
  out.status = v["status"].AsString();
  out.content = OptionalList<ToolContent>(v["content"], Shown);
  out.locations = OptionalList<Location>(v["locations"], [](const Value& l) -> std::optional<Location> {
    const auto path = l["path"].AsString();
    if (!path) return std::nullopt;
    const auto line = l["line"].AsInt();
    return Location{*path, line && *line >= 0 ? line : std::nullopt};
  });
  out.raw_input = Said(v["rawInput"]);
  out.raw_output = Said(v["rawOutput"]);
  return out;
}

absl::StatusOr<std::variant<UnknownUpdate, Chunk, ToolCallUpdate, Plan, Commands, Usage>> Body(
    Text kind, const Value& v) {
  const auto chunk = [&](Chunk::From from) -> absl::StatusOr<Chunk> {
    if (!v["content"].is_object()) return Missing(kind, "content", "the piece of the message");
    return Chunk{from, Content(v["content"]), v["messageId"].AsString()};
  };
  if (kind == "agent_message_chunk") return chunk(Chunk::From::kAgent);
  if (kind == "agent_thought_chunk") return chunk(Chunk::From::kThought);
  if (kind == "user_message_chunk") return chunk(Chunk::From::kUser);
  if (kind == "tool_call") return Tool(v, true, kind);
  if (kind == "tool_call_update") return Tool(v, false, kind);
  if (kind == "plan") {
    return Plan{List<PlanEntry>(v["entries"], [](const Value& e) -> std::optional<PlanEntry> {
      const auto content = e["content"].AsString();
      if (!content) return std::nullopt;
      return PlanEntry{*content, Or(e["priority"], "medium"), Or(e["status"], "pending")};
    })};
  }
  if (kind == "available_commands_update") {
    return Commands{List<Command>(v["availableCommands"], [](const Value& c) -> std::optional<Command> {
      const auto name = c["name"].AsString();
      if (!name || name->empty()) return std::nullopt;
      return Command{*name, Or(c["description"], ""), c["input"]["hint"].AsString()};
    })};
  }
  if (kind == "usage_update") {
    const auto used = Tokens(v["used"]), size = Tokens(v["size"]);
    if (!used || *used < 0) return Missing(kind, "used", "a number of tokens");
    return Usage{*used, std::max<int64_t>(0, size.value_or(0)), v["cost"]["amount"].AsDouble(),
                 v["cost"]["currency"].AsString()};
  }
  return UnknownUpdate{};
}

}  // namespace

absl::StatusOr<InitializeRequest> Initialize(const Value& params) {
  InitializeRequest out;
  const auto version = params["protocolVersion"].AsInt();
  if (!version) return Missing("initialize", "protocolVersion", "a whole number");
  out.protocol_version = *version;
  const Value can = params["clientCapabilities"];
  out.capabilities.read_text_file = Flag(can["fs"]["readTextFile"]);
  out.capabilities.write_text_file = Flag(can["fs"]["writeTextFile"]);
  out.capabilities.terminal = Flag(can["terminal"]);
  out.client = Who(params["clientInfo"]);
  return out;
}

absl::StatusOr<InitializeResponse> Initialized(const Value& result) {
  InitializeResponse out;
  const auto version = result["protocolVersion"].AsInt();
  if (!version) return Missing("the answer to initialize", "protocolVersion", "a whole number");
  out.protocol_version = *version;
  const Value can = result["agentCapabilities"];
  out.capabilities.load_session = Flag(can["loadSession"]);
  out.capabilities.image = Flag(can["promptCapabilities"]["image"]);
  out.capabilities.audio = Flag(can["promptCapabilities"]["audio"]);
  out.capabilities.embedded_context = Flag(can["promptCapabilities"]["embeddedContext"]);
  out.capabilities.mcp_http = Flag(can["mcpCapabilities"]["http"]);
  out.capabilities.mcp_sse = Flag(can["mcpCapabilities"]["sse"]);
  const Value sessions = can["sessionCapabilities"];
  out.capabilities.list = Offered(sessions["list"]);
  out.capabilities.resume = Offered(sessions["resume"]);
  out.capabilities.close = Offered(sessions["close"]);
  out.capabilities.remove = Offered(sessions["delete"]);
  out.auth_methods = List<AuthMethod>(result["authMethods"], [](const Value& m) -> std::optional<AuthMethod> {
    const auto id = m["id"].AsString();
    if (!id) return std::nullopt;
    return AuthMethod{*id, Or(m["name"], *id), m["description"].AsString(), Or(m["type"], "agent")};
  });
  out.agent = Who(result["agentInfo"]);
  out.raw = result.text();
  return out;
}

absl::StatusOr<NewSessionRequest> NewSession(const Value& params) {
  const auto cwd = params["cwd"].AsString();
  if (!cwd) return Missing("session/new", "cwd", "an absolute path");
  return NewSessionRequest{*cwd, Said(params["mcpServers"])};
}

absl::StatusOr<NewSessionResponse> SessionMade(const Value& result) {
  const auto session = result["sessionId"].AsString();
  if (!session) return Missing("the answer to session/new", "sessionId", "a text");
  return NewSessionResponse{*session, result.text()};
}

absl::StatusOr<PromptRequest> Prompt(const Value& params) {
  const auto session = params["sessionId"].AsString();
  if (!session) return Missing("session/prompt", "sessionId", "a text");
  if (params["prompt"].kind() != json::Kind::kArray) {
    return Missing("session/prompt", "prompt", "a list of content");
  }
  PromptRequest out{*session, {}};
  out.prompt = List<ContentBlock>(params["prompt"], [](const Value& v) -> std::optional<ContentBlock> {
    if (!v["type"].AsString()) return std::nullopt;
    return Content(v);
  });
  return out;
}

absl::StatusOr<PromptResponse> Prompted(const Value& result) {
  const auto reason = result["stopReason"].AsString();
  if (!reason || reason->empty()) return Missing("the answer to session/prompt", "stopReason", "a word");
  return PromptResponse{*reason};
}

absl::StatusOr<SessionUpdate> Update(const Value& params) {
  SessionUpdate out;
  const auto session = params["sessionId"].AsString();
  if (!session) return Missing("session/update", "sessionId", "a text");
  const Value update = params["update"];
  const auto kind = update["sessionUpdate"].AsString();
  if (!kind) return Missing("session/update", "update.sessionUpdate", "the kind of the update");
  out.session = *session;
  out.kind = *kind;
  out.raw = update.text();
  auto body = Body(*kind, update);
  if (!body.ok()) return body.status();
  out.update = *std::move(body);
  return out;
}

absl::StatusOr<PermissionRequest> Permission(const Value& params) {
  PermissionRequest out;
  const auto session = params["sessionId"].AsString();
  if (!session) return Missing("session/request_permission", "sessionId", "a text");
  out.session = *session;
  auto tool = Tool(params["toolCall"], false, "session/request_permission");
  if (!tool.ok()) return tool.status();
  out.tool = *std::move(tool);
  if (params["options"].kind() != json::Kind::kArray) {
    return Missing("session/request_permission", "options", "a list");
  }
  out.options =
      List<PermissionOption>(params["options"], [](const Value& o) -> std::optional<PermissionOption> {
        const auto id = o["optionId"].AsString();
        if (!id) return std::nullopt;
        return PermissionOption{*id, Or(o["name"], *id), Or(o["kind"], "")};
      });
  out.raw = params.text();
  return out;
}

absl::StatusOr<OptText> PermissionAnswer(const Value& result) {
  const Value outcome = result["outcome"];
  const auto word = outcome["outcome"].AsString();
  if (word && *word == "cancelled") return OptText();
  const auto option = outcome["optionId"].AsString();
  if (!word || *word != "selected" || !option) {
    return absl::InvalidArgumentError("the outcome is neither `cancelled` nor `selected` with an optionId");
  }
  return OptText(*option);
}

absl::StatusOr<Text> Session(const Value& params) {
  const auto session = params["sessionId"].AsString();
  if (!session) return Missing("session/cancel", "sessionId", "a text");
  return *session;
}

RpcError Error(const Value& error) {
  RpcError out;
  const int64_t code = error["code"].AsInt().value_or(kInternalError);
  out.code = code >= INT32_MIN && code <= INT32_MAX ? static_cast<int32_t>(code) : kInternalError;
  out.message = Or(error["message"], Or(error, ""));
  out.data = Said(error["data"]);
  return out;
}

}  // namespace watchbill::acp::decode
