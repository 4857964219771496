#include "watchbill/acp/encode.hpp"

#include "watchbill/base/json_writer.hpp"

namespace watchbill::acp {
namespace {

void Write(JsonWriter& w, const Implementation& who) {
  w.Begin('{')
      .Key("name")
      .String(who.name)
      .Field("title", who.title)
      .Key("version")
      .String(who.version)
      .End('}');
}

void Write(JsonWriter& w, const ContentBlock& c) {
  if (!c.raw.absent()) {
    w.Json(c.raw);
    return;
  }
  w.Begin('{').Key("type").String(c.type);
  if (c.type == "resource") {
    w.Key("resource")
        .Begin('{')
        .Field("uri", c.uri)
        .Field("text", c.text)
        .Field("mimeType", c.mime_type)
        .End('}');
  } else {
    w.Field("text", c.text).Field("uri", c.uri).Field("name", c.name).Field("mimeType", c.mime_type);
  }
  w.End('}');
}

void Write(JsonWriter& w, const ToolContent& c) {
  w.Begin('{').Key("type").String(c.type);
  if (c.type == "diff") {
    w.Key("path").String(c.path);
    w.Field("oldText", c.old_text);
    w.Key("newText").String(c.new_text);
  } else if (c.type == "terminal") {
    w.Key("terminalId").String(c.terminal);
  } else if (c.type == "content") {
    w.Key("content");
    Write(w, c.content);
  }
  w.End('}');
}

// The members of a tool call, without the brackets.
void WriteMembers(JsonWriter& w, const ToolCallUpdate& t) {
  w.Key("toolCallId").String(t.id);
  w.Field("title", t.title).Field("kind", t.kind).Field("status", t.status);
  if (t.content) {
    w.Key("content").Begin('[');
    for (const ToolContent& c : *t.content) Write(w, c);
    w.End(']');
  }
  if (t.locations) {
    w.Key("locations").Begin('[');
    for (const Location& l : *t.locations) {
      w.Begin('{').Key("path").String(l.path).Field("line", l.line).End('}');
    }
    w.End(']');
  }
  w.Field("rawInput", t.raw_input).Field("rawOutput", t.raw_output);
}

struct WriteUpdate {
  JsonWriter& w;
  const SessionUpdate& update;

  void Kind(std::string_view kind) const { w.Key("sessionUpdate").String(kind); }

  void operator()(const UnknownUpdate&) const { Kind(update.kind); }
  void operator()(const Chunk& c) const {
    Kind(c.from == Chunk::From::kAgent     ? "agent_message_chunk"
         : c.from == Chunk::From::kThought ? "agent_thought_chunk"
                                           : "user_message_chunk");
    w.Key("content");
    Write(w, c.content);
    w.Field("messageId", c.message_id);
  }
  void operator()(const ToolCallUpdate& t) const {
    Kind(t.is_new ? "tool_call" : "tool_call_update");
    WriteMembers(w, t);
  }
  void operator()(const Plan& p) const {
    Kind("plan");
    w.Key("entries").Begin('[');
    for (const PlanEntry& e : p.entries) {
      w.Begin('{').Key("content").String(e.content).Key("priority").String(e.priority);
      w.Key("status").String(e.status).End('}');
    }
    w.End(']');
  }
  void operator()(const Commands& c) const {
    Kind("available_commands_update");
    w.Key("availableCommands").Begin('[');
    for (const Command& one : c.commands) {
      w.Begin('{').Key("name").String(one.name).Key("description").String(one.description);
      if (one.hint) w.Key("input").Begin('{').Key("hint").String(*one.hint).End('}');
      w.End('}');
    }
    w.End(']');
  }
  void operator()(const Usage& u) const {
    Kind("usage_update");
    w.Key("used").Int(u.used).Key("size").Int(u.size);
    if (u.cost && u.currency) {
      w.Key("cost").Begin('{').Key("amount").Double(*u.cost).Key("currency").String(*u.currency).End('}');
    }
  }
};

}  // namespace

std::string Encode(const InitializeRequest& r) {
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("protocolVersion").Int(r.protocol_version);
  w.Key("clientCapabilities").Begin('{');
  w.Key("fs").Begin('{').Key("readTextFile").Bool(r.capabilities.read_text_file);
  w.Key("writeTextFile").Bool(r.capabilities.write_text_file).End('}');
  w.Key("terminal").Bool(r.capabilities.terminal).End('}');
  if (r.client) {
    w.Key("clientInfo");
    Write(w, *r.client);
  }
  w.End('}');
  return out;
}

std::string Encode(const InitializeResponse& r) {
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("protocolVersion").Int(r.protocol_version);
  const AgentCapabilities& can = r.capabilities;
  w.Key("agentCapabilities").Begin('{').Key("loadSession").Bool(can.load_session);
  w.Key("promptCapabilities").Begin('{').Key("image").Bool(can.image).Key("audio").Bool(can.audio);
  w.Key("embeddedContext").Bool(can.embedded_context).End('}');
  w.Key("mcpCapabilities").Begin('{').Key("http").Bool(can.mcp_http).Key("sse").Bool(can.mcp_sse).End('}');
  w.Key("sessionCapabilities").Begin('{');
  const auto offered = [&](std::string_view key, bool is) {
    if (is) w.Key(key).Begin('{').End('}');
  };
  offered("list", can.list);
  offered("resume", can.resume);
  offered("close", can.close);
  offered("delete", can.remove);
  w.End('}').End('}');
  w.Key("authMethods").Begin('[');
  for (const AuthMethod& m : r.auth_methods) {
    w.Begin('{').Key("id").String(m.id).Key("name").String(m.name).Field("description", m.description);
    if (m.type != "agent") w.Key("type").String(m.type);
    w.End('}');
  }
  w.End(']');
  if (r.agent) {
    w.Key("agentInfo");
    Write(w, *r.agent);
  }
  w.End('}');
  return out;
}

std::string Encode(const NewSessionRequest& r) {
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("cwd").String(r.cwd).Key("mcpServers");
  // Most agents refuse a request without the list.
  if (r.mcp_servers.absent()) {
    w.Begin('[').End(']');
  } else {
    w.Json(r.mcp_servers);
  }
  w.End('}');
  return out;
}

std::string Encode(const NewSessionResponse& r) {
  std::string out;
  JsonWriter(out).Begin('{').Key("sessionId").String(r.session).End('}');
  return out;
}

std::string Encode(const PromptRequest& r) {
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("sessionId").String(r.session).Key("prompt").Begin('[');
  for (const ContentBlock& block : r.prompt) Write(w, block);
  w.End(']').End('}');
  return out;
}

std::string Encode(const PromptResponse& r) {
  std::string out;
  JsonWriter(out).Begin('{').Key("stopReason").String(r.stop_reason).End('}');
  return out;
}

std::string Encode(const SessionUpdate& u) {
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("sessionId").String(u.session).Key("update");
  if (std::holds_alternative<UnknownUpdate>(u.update) && !u.raw.absent()) {
    w.Json(u.raw);  // all that is known of it
  } else {
    w.Begin('{');
    std::visit(WriteUpdate{w, u}, u.update);
    w.End('}');
  }
  w.End('}');
  return out;
}

std::string Encode(const PermissionRequest& r) {
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("sessionId").String(r.session).Key("toolCall").Begin('{');
  WriteMembers(w, r.tool);
  w.End('}').Key("options").Begin('[');
  for (const PermissionOption& o : r.options) {
    w.Begin('{').Key("optionId").String(o.id).Key("name").String(o.name).Key("kind").String(o.kind).End('}');
  }
  w.End(']').End('}');
  return out;
}

std::string EncodePermission(const OptText& option) {
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("outcome").Begin('{').Key("outcome").String(option ? "selected" : "cancelled");
  w.Field("optionId", option).End('}').End('}');
  return out;
}

std::string EncodeCancel(Text session) {
  std::string out;
  JsonWriter(out).Begin('{').Key("sessionId").String(session).End('}');
  return out;
}

}  // namespace watchbill::acp
