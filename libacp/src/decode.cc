#include "decode.hpp"

#include <fmt/core.h>

#include <limits>
#include <type_traits>
#include <utility>

#include "fields.hpp"
#include "object.hpp"

namespace watchbill::acp::wire {

using json::Kind;
using json::Value;

namespace {

// Where reading came to a stop, and what should have been there.
struct Failure {
  std::string path;
  std::string_view expected;

  bool At(std::string_view key, std::string_view what) {
    if (expected.empty()) {
      expected = what;
      path = key;
    } else {
      path.insert(0, 1, '.').insert(0, key);
    }
    return false;
  }
};

// A whole number that fits; one that is too large for a count stands as the largest of them.
template <typename Number>
bool GetUnsigned(const Value& v, Number& out) {
  constexpr uint64_t kMost = std::numeric_limits<Number>::max();
  uint64_t whole = 0;
  if (const auto small = v.AsInt()) {
    if (*small < 0) return false;
    whole = static_cast<uint64_t>(*small);
  } else {
    const auto number = v.AsDouble();
    constexpr double kExact = 9007199254740992.0, kBeyond = 18446744073709551616.0;
    // Between the two every double is whole.
    if (!number || *number < kExact) return false;
    whole = *number >= kBeyond ? UINT64_MAX : static_cast<uint64_t>(*number);
  }
  if (whole > kMost && kMost != UINT64_MAX) return false;
  out = static_cast<Number>(whole);
  return true;
}

class ReadFields {
 public:
  ReadFields(const Object& object, Failure& failure) : object_(object), failure_(failure) {}
  bool ok() const { return ok_; }

  template <typename T>
  void Must(Key key, T& member) {
    if (ok_ && !Get(object_[key], member, failure_)) ok_ = failure_.At(key.name, Expected<T>());
  }
  template <typename T>
  void MustBe(Key key, std::optional<T>& member) {
    Must(key, member.emplace());
  }
  template <typename T>
  void May(Key key, std::optional<T>& member) {
    if (!ok_) return;
    const Value value = object_[key];
    if (value.absent()) return;
    if (Failure none; !Get(value, member.emplace(), none)) member.reset();
  }
  void May(Key key, JsonView& member) {
    const Value value = object_[key];
    if (!value.absent() && value.kind() != Kind::kNull) member = value.text();
  }
  template <typename T, typename Default>
  void Or(Key key, T& member, const Default& otherwise) {
    if (Failure none; ok_ && !Get(object_[key], member, none)) member = otherwise;
  }
  void Flag(Key key, bool& member) { member = object_[key].AsBool().value_or(false); }
  void Word(Key key, OptText& member, Words) { May(key, member); }
  void OrWord(Key key, Text& member, Text otherwise, Words) { Or(key, member, otherwise); }
  template <typename T>
  void Part(Key key, T& member) {
    if (Failure none; ok_ && !Get(object_[key], member, none)) member = T{};
  }
  template <typename T>
  void List(Key key, std::vector<T>& member) {
    if (Failure none; ok_) (void)Get(object_[key], member, none);
  }
  template <typename T>
  void MayList(Key key, std::vector<T>& member) {
    List(key, member);
  }
  template <typename T>
  void MustList(Key key, std::vector<T>& member) {
    const Value list = object_[key];
    if (!ok_) return;
    if (list.kind() != Kind::kArray) {
      ok_ = failure_.At(key.name, "a list");
      return;
    }
    for (Value element = list.First(); !element.absent() && ok_; element = element.Next()) {
      if (!Get(element, member.emplace_back(), failure_)) ok_ = failure_.At(key.name, "objects");
    }
  }
  template <typename T>
  void Patch(Key key, std::optional<std::optional<T>>& member) {
    const Value value = object_[key];
    if (!ok_ || value.absent()) return;
    member.emplace();
    if (value.kind() == Kind::kNull) return;
    if (Failure none; !Get(value, member->emplace(), none)) member.reset();  // neither: not said
  }
  void Meta(JsonView& member) {
    const Value value = object_["_meta"];
    if (value.is_object()) member = value.text();
  }
  void Constant(std::string_view, std::string_view) {}
  void RequestId(Key key, JsonView& member) {
    const Value value = object_[key];
    if (const Kind kind = value.kind(); kind == Kind::kNumber || kind == Kind::kString || kind == Kind::kNull)
      member = value.text();
    else if (ok_)
      ok_ = failure_.At(key.name, "a number, a text or null");
  }

  // Structures that share an object with what tells them apart.
  void Tagged(Key key, decltype(SessionConfigOption::value)& member) {
    const auto type = object_[key].AsString();
    if (type == "select") {
      Fields(*this, member.emplace<SessionConfigSelect>());
    } else if (type == "boolean") {
      Fields(*this, member.emplace<SessionConfigBoolean>());
    } else if (ok_) {
      ok_ = failure_.At(key.name, "select or boolean");
    }
  }
  void Tagged(Key key, decltype(ElicitationProperty::schema)& member) {
    const auto type = object_[key].AsString();
    if (!type) {
      if (ok_) ok_ = failure_.At(key.name, "a word");
    } else if (type == "string") {
      Fields(*this, member.emplace<StringPropertySchema>());
    } else if (type == "number") {
      Fields(*this, member.emplace<NumberPropertySchema>());
    } else if (type == "integer") {
      Fields(*this, member.emplace<IntegerPropertySchema>());
    } else if (type == "boolean") {
      Fields(*this, member.emplace<BooleanPropertySchema>());
    } else if (type == "array") {
      Fields(*this, member.emplace<MultiSelectPropertySchema>());
    } else {
      member = UnknownPropertySchema{*type, object_.value().text()};
    }
  }
  void Tagged(Key key, decltype(CreateElicitationRequest::mode)& member) {
    const auto mode = object_[key].AsString();
    if (!mode) {
      if (ok_) ok_ = failure_.At(key.name, "a word");
    } else if (mode == "form") {
      Fields(*this, member.emplace<ElicitationFormMode>());
    } else if (mode == "url") {
      Fields(*this, member.emplace<ElicitationUrlMode>());
    } else {
      member = UnknownElicitationMode{*mode, object_.value().text()};
    }
  }
  void ConfigValue(std::variant<Text, bool>& member) {
    const Value value = object_["value"];
    if (const auto flag = value.AsBool()) {
      member = *flag;
    } else if (const auto text = value.AsString()) {
      member = *text;
    } else if (ok_) {
      ok_ = failure_.At("value", "a text, or true or false");
    }
  }
  void SelectItems(Key key, decltype(MultiSelectPropertySchema::items)& member) {
    const Value items = object_[key];
    Failure none;
    if (std::vector<EnumOption> titled; Get(items["anyOf"], titled, none)) {
      member = std::move(titled);
    } else if (std::vector<Text> words; Get(items["enum"], words, none)) {
      member = std::move(words);
    } else if (ok_) {
      ok_ = failure_.At(key.name, "an object with `enum` or `anyOf`");
    }
  }
  void Properties(Key key, std::vector<ElicitationProperty>& member) {
    const Value properties = object_[key];
    if (!properties.is_object()) return;
    for (Value v = properties.First(); !v.absent(); v = v.Next()) {
      ElicitationProperty one;
      if (Failure none; !Get(v, one, none)) continue;
      one.key = v.Key();
      member.push_back(std::move(one));
    }
  }
  void Values(Key key, std::vector<std::pair<Text, ElicitationValue>>& member) {
    const Value values = object_[key];
    if (!values.is_object()) return;
    for (Value v = values.First(); !v.absent(); v = v.Next()) {
      if (const auto text = v.AsString()) {
        member.emplace_back(v.Key(), *text);
      } else if (const auto flag = v.AsBool()) {
        member.emplace_back(v.Key(), *flag);
      } else if (const auto whole = v.AsInt()) {
        member.emplace_back(v.Key(), *whole);
      } else if (const auto number = v.AsDouble()) {
        member.emplace_back(v.Key(), *number);
      } else if (std::vector<Text> words; v.kind() == Kind::kArray) {
        Failure none;
        (void)Get(v, words, none);
        member.emplace_back(v.Key(), std::move(words));
      }
    }
  }

  static bool Get(const Value& v, Text& out, Failure&) {
    const auto text = v.AsString();
    if (text) out = *text;
    return text.has_value();
  }
  static bool Get(const Value& v, bool& out, Failure&) {
    const auto flag = v.AsBool();
    if (flag) out = *flag;
    return flag.has_value();
  }
  static bool Get(const Value& v, int64_t& out, Failure&) {
    const auto whole = v.AsInt();
    if (whole) out = *whole;
    return whole.has_value();
  }
  static bool Get(const Value& v, uint16_t& out, Failure&) { return GetUnsigned(v, out); }
  static bool Get(const Value& v, uint32_t& out, Failure&) { return GetUnsigned(v, out); }
  static bool Get(const Value& v, uint64_t& out, Failure&) { return GetUnsigned(v, out); }
  static bool Get(const Value& v, double& out, Failure&) {
    const auto number = v.AsDouble();
    if (number) out = *number;
    return number.has_value();
  }
  // A list; its elements that cannot be read are left out.
  template <typename T>
  static bool Get(const Value& v, std::vector<T>& out, Failure&) {
    if (v.kind() != Kind::kArray) return false;
    size_t count = 0;
    for (Value element = v.First(); !element.absent(); element = element.Next()) ++count;
    out.reserve(count);
    for (Value element = v.First(); !element.absent(); element = element.Next()) {
      if (Failure none; !Get(element, out.emplace_back(), none)) out.pop_back();
    }
    return true;
  }
  template <typename T>
  requires requires(ReadFields& fields, T& message) { Fields(fields, message); }
  static bool Get(const Value& v, T& out, Failure& failure) {
    return v.is_object() && Get(Object(v), out, failure);
  }
  template <typename T>
  requires requires(ReadFields& fields, T& message) { Fields(fields, message); }
  static bool Get(const Object& object, T& out, Failure& failure) {
    ReadFields fields(object, failure);
    Fields(fields, out);
    return fields.ok();
  }
  static bool Get(const Value& v, ContentBlock& out, Failure& failure) {
    const Object object(v);
    const auto type = object["type"].AsString();
    if (!type) return failure.At("type", "a word");
    if (type == "text") return Get(object, out.emplace<TextContent>(), failure);
    if (type == "image") return Get(object, out.emplace<ImageContent>(), failure);
    if (type == "audio") return Get(object, out.emplace<AudioContent>(), failure);
    if (type == "resource_link") return Get(object, out.emplace<ResourceLink>(), failure);
    if (type == "resource") return Get(object, out.emplace<EmbeddedResource>(), failure);
    out = UnknownContent{*type, v.text()};
    return true;
  }
  static bool Get(const Value& v, decltype(EmbeddedResource::resource)& out, Failure& failure) {
    if (v["blob"].AsString() && !v["text"].AsString()) {
      return Get(v, out.emplace<BlobResourceContents>(), failure);
    }
    return Get(v, out.emplace<TextResourceContents>(), failure);
  }
  static bool Get(const Value& v, ToolCallContent& out, Failure& failure) {
    const Object object(v);
    const auto type = object["type"].AsString();
    if (!type) return failure.At("type", "a word");
    if (type == "content") return Get(object, out.emplace<Content>(), failure);
    if (type == "diff") return Get(object, out.emplace<Diff>(), failure);
    if (type == "terminal") return Get(object, out.emplace<Terminal>(), failure);
    out = UnknownContent{*type, v.text()};
    return true;
  }
  static bool Get(const Value& v, McpServer& out, Failure& failure) {
    const auto type = v["type"].AsString();
    if (!type || type == "stdio") return Get(v, out.emplace<McpServerStdio>(), failure);
    if (type != "http" && type != "sse") {
      out = UnknownMcpServer{*type, v.text()};
      return true;
    }
    auto& remote = out.emplace<McpServerRemote>();
    remote.sse = type == "sse";
    return Get(v, remote, failure);
  }
  static bool Get(const Value& v, decltype(SessionConfigSelect::options)& out, Failure& failure) {
    if (v.kind() != Kind::kArray) return false;
    const Value first = v.First();
    const bool grouped = !first.absent() && !first["group"].absent();
    return grouped ? Get(v, out.emplace<std::vector<SessionConfigSelectGroup>>(), failure)
                   : Get(v, out.emplace<std::vector<SessionConfigSelectOption>>(), failure);
  }
  static bool Get(const Value& v, AuthMethod& out, Failure& failure) {
    if (!v.is_object()) return false;
    const Object object(v);
    ReadFields f(object, failure);
    f.Or("type", out.type, "agent");
    f.Must("id", out.id);
    f.Or("name", out.name, out.id);
    f.May("description", out.description);
    if (out.type == "terminal") {
      f.MayList("args", out.args);
      const Value env = v["env"];
      for (Value one = env.is_object() ? env.First() : Value(); !one.absent(); one = one.Next()) {
        if (const auto value = one.AsString()) out.env.emplace_back(one.Key(), *value);
      }
    } else if (out.type != "agent") {
      out.raw = v.text();
    }
    f.Meta(out.meta);
    return f.ok();
  }
  static bool Get(const Value& v, SessionUpdate& out, Failure& failure) {
    const Object object(v);
    const auto found = object["sessionUpdate"].AsString();
    if (!found) return failure.At("sessionUpdate", "the kind of the update");
    const Text kind = *found;
    const auto chunk = [&](ContentChunk::From from) {
      auto& it = out.emplace<ContentChunk>();
      it.from = from;
      return Get(object, it, failure);
    };
    const auto tool = [&](bool is_new) {
      auto& it = out.emplace<ToolCallUpdate>();
      it.is_new = is_new;
      return Get(object, it, failure);
    };
    if (kind == "agent_message_chunk") return chunk(ContentChunk::From::kAgent);
    if (kind == "agent_thought_chunk") return chunk(ContentChunk::From::kThought);
    if (kind == "user_message_chunk") return chunk(ContentChunk::From::kUser);
    if (kind == "tool_call_update") return tool(false);
    if (kind == "tool_call") return tool(true);
    if (kind == "plan") return Get(object, out.emplace<Plan>(), failure);
    if (kind == "usage_update") return Get(object, out.emplace<UsageUpdate>(), failure);
    if (kind == "available_commands_update")
      return Get(object, out.emplace<AvailableCommandsUpdate>(), failure);
    if (kind == "current_mode_update") return Get(object, out.emplace<CurrentModeUpdate>(), failure);
    if (kind == "config_option_update") return Get(object, out.emplace<ConfigOptionUpdate>(), failure);
    if (kind == "session_info_update") return Get(object, out.emplace<SessionInfoUpdate>(), failure);
    if (kind == "notice") return Get(object, out.emplace<Notice>(), failure);
    if (kind == "compaction_update") return Get(object, out.emplace<CompactionUpdate>(), failure);
    if (kind == "compaction_summary_chunk")
      return Get(object, out.emplace<CompactionSummaryChunk>(), failure);
    out = UnknownUpdate{kind, v.text()};
    return true;
  }
  static bool Get(const Value& v, RequestPermissionResponse& out, Failure& failure) {
    if (!v.is_object()) return false;
    const Object object(v);
    ReadFields(object, failure).Meta(out.meta);
    const Object outcome(object["outcome"]);
    ReadFields(outcome, failure).Meta(out.outcome_meta);
    const auto word = outcome["outcome"].AsString();
    if (word == "cancelled") return true;
    out.option_id = outcome["optionId"].AsString();
    if (word == "selected" && out.option_id) return true;
    return failure.At("outcome", "`cancelled`, or `selected` with an optionId");
  }
  // Whatever an agent calls an error is one.
  static bool Get(const Value& v, RpcError& out, Failure&) {
    const int64_t code = v["code"].AsInt().value_or(kInternalError);
    out.code = code >= INT32_MIN && code <= INT32_MAX ? static_cast<int32_t>(code) : kInternalError;
    out.message = v["message"].AsString().value_or(v.AsString().value_or(""));
    const Value data = v["data"];
    if (!data.absent() && data.kind() != Kind::kNull) out.data = data.text();
    return true;
  }

 private:
  template <typename T>
  static constexpr std::string_view Expected() {
    if constexpr (std::is_same_v<T, Text>) return "a text";
    if constexpr (std::is_same_v<T, bool>) return "true or false";
    if constexpr (std::is_arithmetic_v<T>) return "a whole number";
    if constexpr (requires(T & t) { t.emplace_back(); }) return "a list";
    return "an object";
  }

  const Object& object_;
  Failure& failure_;
  bool ok_ = true;
};

#define WATCHBILL_ACP_NAME(Type, words) \
  constexpr std::string_view Name(const Type*) { return words; }
WATCHBILL_ACP_MESSAGES(WATCHBILL_ACP_NAME)
#undef WATCHBILL_ACP_NAME

absl::Status Unread(std::string_view name, const Failure& failure) {
  if (failure.expected.empty()) {
    return absl::InvalidArgumentError(fmt::format("{} holds no object", name));
  }
  return absl::InvalidArgumentError(fmt::format("{} needs `{}`: {}", name, failure.path, failure.expected));
}

}  // namespace

absl::Status ReadUpdate(const Value& params, Text& session, SessionUpdate& update, Meta& meta,
                        JsonView& raw) {
  const SessionNotification* const kind = nullptr;
  const auto [session_id, what, extra] = params.Members({"sessionId", "update", "_meta"});
  const auto id = session_id.AsString();
  Failure failure;
  if (!id) {
    failure.At("sessionId", "a text");
  } else if (ReadFields::Get(what, update, failure)) {
    session = *id;
    raw = what.text();
    if (extra.is_object()) meta = extra.text();
    return absl::OkStatus();
  } else {
    failure.At("update", "an object");
  }
  return Unread(Name(kind), failure);
}

template <typename Message>
absl::StatusOr<Message> Read(const Value& value) {
  Message out{};
  // An answer of null is one in which nothing is said. (ACP v1, "Loading Sessions")
  if constexpr (std::is_same_v<Message, LoadSessionResponse> || std::is_same_v<Message, EmptyResponse>) {
    if (!value.is_object()) return out;
  }
  Failure failure;
  bool read = false;
  // What is no object has none of the members: that says more than that it is none.
  if constexpr (requires { ReadFields::Get(Object(value), out, failure); }) {
    read = ReadFields::Get(Object(value), out, failure);
  } else {
    read = ReadFields::Get(value, out, failure);
  }
  if (!read) return Unread(Name(&out), failure);
  return out;
}

#define WATCHBILL_ACP_READ(Type, words) template absl::StatusOr<Type> Read(const Value&);
WATCHBILL_ACP_MESSAGES(WATCHBILL_ACP_READ)
#undef WATCHBILL_ACP_READ

}  // namespace watchbill::acp::wire
