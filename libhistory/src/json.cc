#include "json.hpp"

#include <fmt/core.h>

#include <utility>

#include "watchbill/base/now.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::history {
namespace {

using json::Kind;
using json::Value;

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kUser:
      return "user";
    case Role::kAgent:
      return "agent";
    case Role::kSystem:
      return "system";
  }
  return "user";
}

void Take(const Value& value, std::string& out) {
  if (const auto text = value.AsString()) out = *text;
}
void Take(const Value& value, bool& out) {
  if (const auto said = value.AsBool()) out = *said;
}
template <typename Out>
void Take(const Value& object, std::string_view key, Out& out) {
  Take(object[key], out);
}

// Calls `each` with every object of the array `list`; whatever else is there is passed by.
template <typename Each>
void ForObjects(const Value& list, Each each) {
  if (list.kind() != Kind::kArray) return;
  for (Value v = list.First(); !v.absent(); v = v.Next()) {
    if (v.is_object()) each(v);
  }
}

ToolCall ReadToolCall(const Value& v) {
  ToolCall tool;
  Take(v, "id", tool.id);
  Take(v, "title", tool.title);
  Take(v, "kind", tool.kind);
  Take(v, "status", tool.status);
  Take(v, "input", tool.input);
  Take(v, "output", tool.output);
  ForObjects(v["locations"], [&](const Value& item) {
    Location location;
    Take(item, "path", location.path);
    location.line = item["line"].AsInt();
    tool.locations.push_back(std::move(location));
  });
  ForObjects(v["diffs"], [&](const Value& item) {
    Diff diff;
    Take(item, "path", diff.path);
    Take(item, "oldText", diff.old_text);
    Take(item, "newText", diff.new_text);
    Take(item, "newFile", diff.new_file);
    tool.diffs.push_back(std::move(diff));
  });
  return tool;
}

PlanPart ReadPlan(const Value& v) {
  PlanPart plan;
  ForObjects(v["entries"], [&](const Value& item) {
    PlanEntry entry;
    Take(item, "content", entry.content);
    Take(item, "priority", entry.priority);
    Take(item, "status", entry.status);
    plan.entries.push_back(std::move(entry));
  });
  return plan;
}

// Made where it stays: a part is large to move. One of a kind that is not known is passed over.
void ReadPart(const Value& v, std::vector<Part>& parts) {
  const auto kind = v["kind"].AsString();
  if (kind == "text") {
    Take(v, "text", std::get<TextPart>(parts.emplace_back(TextPart())).text);
  } else if (kind == "thought") {
    Take(v, "text", std::get<ThoughtPart>(parts.emplace_back(ThoughtPart())).text);
  } else if (kind == "tool") {
    parts.emplace_back(ToolPart{ReadToolCall(v["tool"])});
  } else if (kind == "plan") {
    parts.emplace_back(ReadPlan(v));
  }
}

// The object that is the whole text.
absl::StatusOr<Value> ReadObject(json::Document& document, std::string_view text, std::string_view what) {
  if (const absl::Status status = document.Parse(text); !status.ok()) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", what, MessageOf(status)));
  }
  if (!document.root().is_object()) {
    return absl::InvalidArgumentError(fmt::format("{}: expected a JSON object", what));
  }
  return document.root();
}

absl::Status NoId(std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("{}: expected \"id\", a text that is not empty", what));
}

json::Limits RecordLimits() { return {.bytes = kMaxRecordBytes, .depth = 64}; }

void WriteTextPart(JsonWriter& w, std::string_view kind, std::string_view text) {
  w.Begin('{').Key("kind").String(kind).Key("text").String(text).End('}');
}

struct PartWriter {
  JsonWriter& w;
  void operator()(const TextPart& part) const { WriteTextPart(w, "text", part.text); }
  void operator()(const ThoughtPart& part) const { WriteTextPart(w, "thought", part.text); }
  void operator()(const ToolPart& part) const {
    w.Begin('{').Key("kind").String("tool").Key("tool");
    Write(w, part.tool);
    w.End('}');
  }
  void operator()(const PlanPart& part) const {
    w.Begin('{').Key("kind").String("plan").Key("entries").Begin('[');
    for (const PlanEntry& entry : part.entries) {
      w.Begin('{').Key("content").String(entry.content).Key("priority").String(entry.priority);
      w.Key("status").String(entry.status).End('}');
    }
    w.End(']').End('}');
  }
};

}  // namespace

void Write(JsonWriter& w, const ToolCall& tool) {
  w.Begin('{').Key("id").String(tool.id).Key("title").String(tool.title);
  w.Key("kind").String(tool.kind).Key("status").String(tool.status);
  w.Key("input").String(tool.input).Key("output").String(tool.output);
  w.Key("locations").Begin('[');
  for (const Location& location : tool.locations) {
    w.Begin('{').Key("path").String(location.path).Field("line", location.line).End('}');
  }
  w.End(']').Key("diffs").Begin('[');
  for (const Diff& diff : tool.diffs) {
    w.Begin('{').Key("path").String(diff.path).Key("oldText").String(diff.old_text);
    w.Key("newText").String(diff.new_text).Key("newFile").Bool(diff.new_file).End('}');
  }
  w.End(']').End('}');
}

void Write(JsonWriter& w, const Part& part) { std::visit(PartWriter{w}, part); }

void Write(JsonWriter& w, const Message& message) {
  w.Begin('{').Key("id").String(message.id).Key("channel").String(message.channel);
  w.Key("createdAt").String(IsoFromWallMs(message.created_ms)).Key("agent").String(message.agent);
  w.Key("role").String(RoleName(message.role)).Key("parts").Begin('[');
  for (const Part& part : message.parts) Write(w, part);
  w.End(']').Key("done").Bool(message.done).Key("queued").Bool(message.queued);
  w.Key("stopReason").String(message.stop_reason).Key("error").String(message.error);
  w.Key("code").String(message.code).End('}');
}

void Write(JsonWriter& w, const Channel& channel) {
  w.Begin('{').Key("id").String(channel.id).Key("name").String(channel.name);
  w.Key("description").String(channel.description).Key("direct").String(channel.direct);
  w.Key("members").Begin('[');
  for (const std::string& member : channel.members) w.String(member);
  w.End(']').End('}');
}

void Write(JsonWriter& w, const Member& member) {
  w.Begin('{').Key("agent").String(member.agent).Key("session").String(member.session);
  w.Key("lastSeen").String(member.last_seen).End('}');
}

absl::Status ReadMessage(json::Document& document, std::string_view text, Message& message) {
  const absl::StatusOr<Value> object = ReadObject(document, text, "message");
  if (!object.ok()) return object.status();
  // In one pass: a page of a conversation is many of them.
  const auto [id, channel, created_at, agent, role, parts, done, queued, stop_reason, error, code] =
      object->Members({"id", "channel", "createdAt", "agent", "role", "parts", "done", "queued", "stopReason",
                       "error", "code"});
  Take(id, message.id);
  if (message.id.empty()) return NoId("message");
  Take(channel, message.channel);
  Take(agent, message.agent);
  Take(done, message.done);
  Take(queued, message.queued);
  Take(stop_reason, message.stop_reason);
  Take(error, message.error);
  Take(code, message.code);
  if (const auto stamp = created_at.AsString())
    message.created_ms = WallMsFromIso(*stamp).value_or(message.created_ms);
  const std::optional<std::string_view> said = role.AsString();
  for (const Role one : {Role::kUser, Role::kAgent, Role::kSystem}) {
    if (said == RoleName(one)) message.role = one;
  }
  ForObjects(parts, [&](const Value& item) { ReadPart(item, message.parts); });
  return absl::OkStatus();
}

absl::StatusOr<Message> ReadMessage(json::Document& document, std::string_view text) {
  absl::StatusOr<Message> message{Message()};
  if (absl::Status status = ReadMessage(document, text, *message); !status.ok()) return status;
  return message;
}

absl::StatusOr<Channel> ReadChannel(json::Document& document, std::string_view text) {
  const absl::StatusOr<Value> object = ReadObject(document, text, "channel");
  if (!object.ok()) return object.status();
  const Value& v = *object;
  Channel channel;
  Take(v, "id", channel.id);
  if (channel.id.empty()) return NoId("channel");
  Take(v, "name", channel.name);
  Take(v, "description", channel.description);
  Take(v, "direct", channel.direct);
  if (const Value members = v["members"]; members.kind() == Kind::kArray) {
    for (Value m = members.First(); !m.absent(); m = m.Next()) {
      if (const auto name = m.AsString()) channel.members.emplace_back(*name);
    }
  }
  return channel;
}

absl::StatusOr<Member> ReadMember(json::Document& document, std::string_view text) {
  const absl::StatusOr<Value> object = ReadObject(document, text, "member");
  if (!object.ok()) return object.status();
  Member member;
  Take(*object, "agent", member.agent);
  Take(*object, "session", member.session);
  Take(*object, "lastSeen", member.last_seen);
  return member;
}

absl::StatusOr<Message> ReadMessage(std::string_view text) {
  json::Document document(RecordLimits());
  return ReadMessage(document, text);
}

absl::StatusOr<Channel> ReadChannel(std::string_view text) {
  json::Document document(RecordLimits());
  return ReadChannel(document, text);
}

}  // namespace watchbill::history
