#include "watchbill/acp/encode.hpp"

#include <algorithm>
#include <type_traits>

#include "fields.hpp"
#include "watchbill/base/json_writer.hpp"

namespace watchbill::acp {
namespace wire {
namespace {

bool Among(std::string_view word, Words words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class WriteFields {
 public:
  explicit WriteFields(JsonWriter& w) : w_(w) {}

  template <typename T>
  void Must(std::string_view key, const T& member) {
    w_.Key(key);
    Put(w_, member);
  }
  template <typename T>
  void MustBe(std::string_view key, const std::optional<T>& member) {
    Must(key, member.value_or(T{}));
  }
  template <typename T>
  void May(std::string_view key, const std::optional<T>& member) {
    if (member) Must(key, *member);
  }
  void May(std::string_view key, JsonView member) { w_.Field(key, member); }
  template <typename T, typename Default>
  void Or(std::string_view key, const T& member, const Default&) {
    Must(key, member);
  }
  void Flag(std::string_view key, bool member) { w_.Key(key).Bool(member); }
  void Word(std::string_view key, const OptText& member, Words words) {
    if (member && Among(*member, words)) Must(key, *member);
  }
  void OrWord(std::string_view key, Text member, Text otherwise, Words words) {
    Must(key, Among(member, words) ? member : otherwise);
  }
  template <typename T>
  void Part(std::string_view key, const T& member) {
    Must(key, member);
  }
  template <typename T>
  void List(std::string_view key, const std::vector<T>& member) {
    Must(key, member);
  }
  template <typename T>
  void MayList(std::string_view key, const std::vector<T>& member) {
    if (!member.empty()) Must(key, member);
  }
  template <typename T>
  void MustList(std::string_view key, const std::vector<T>& member) {
    Must(key, member);
  }
  template <typename T>
  void Patch(std::string_view key, const std::optional<std::optional<T>>& member) {
    if (!member) return;
    if (*member) return Must(key, **member);
    w_.Key(key).Null();
  }
  void Meta(JsonView member) { w_.Field("_meta", member); }
  void Constant(std::string_view key, std::string_view value) { w_.Key(key).String(value); }
  void RequestId(std::string_view key, JsonView member) { w_.Key(key).Json(member); }

  void Tagged(std::string_view key, decltype(SessionConfigOption::value)& member) {
    if (auto* select = std::get_if<SessionConfigSelect>(&member)) {
      Constant(key, "select");
      Fields(*this, *select);
    } else {
      Constant(key, "boolean");
      Fields(*this, std::get<SessionConfigBoolean>(member));
    }
  }
  void Tagged(std::string_view key, decltype(ElicitationProperty::schema)& member) {
    const auto put = [&](std::string_view type, auto* schema) {
      if (schema == nullptr) return;
      Constant(key, type);
      Fields(*this, *schema);
    };
    put("string", std::get_if<StringPropertySchema>(&member));
    put("number", std::get_if<NumberPropertySchema>(&member));
    put("integer", std::get_if<IntegerPropertySchema>(&member));
    put("boolean", std::get_if<BooleanPropertySchema>(&member));
    put("array", std::get_if<MultiSelectPropertySchema>(&member));
  }
  void Tagged(std::string_view key, decltype(CreateElicitationRequest::mode)& member) {
    if (auto* form = std::get_if<ElicitationFormMode>(&member)) {
      Constant(key, "form");
      Fields(*this, *form);
    } else if (auto* url = std::get_if<ElicitationUrlMode>(&member)) {
      Constant(key, "url");
      Fields(*this, *url);
    }
  }
  void ConfigValue(const std::variant<Text, bool>& member) {
    if (const auto* flag = std::get_if<bool>(&member)) {
      Constant("type", "boolean");
      w_.Key("value").Bool(*flag);
    } else {
      Constant("value", std::get<Text>(member));
    }
  }
  void SelectItems(std::string_view key, const decltype(MultiSelectPropertySchema::items)& member) {
    w_.Key(key).Begin('{');
    if (const auto* words = std::get_if<std::vector<Text>>(&member)) {
      Constant("type", "string");
      Must("enum", *words);
    } else {
      Must("anyOf", std::get<std::vector<EnumOption>>(member));
    }
    w_.End('}');
  }
  void Properties(std::string_view key, const std::vector<ElicitationProperty>& member) {
    w_.Key(key).Begin('{');
    for (const ElicitationProperty& one : member) Must(one.key, one);
    w_.End('}');
  }
  void Values(std::string_view key, const std::vector<std::pair<Text, ElicitationValue>>& member) {
    if (member.empty()) return;
    w_.Key(key).Begin('{');
    for (const auto& [name, value] : member) {
      w_.Key(name);
      std::visit([&](const auto& it) { Put(w_, it); }, value);
    }
    w_.End('}');
  }

  static void Put(JsonWriter& w, Text value) { w.String(value); }
  static void Put(JsonWriter& w, bool value) { w.Bool(value); }
  static void Put(JsonWriter& w, double value) { w.Double(value); }
  static void Put(JsonWriter& w, int64_t value) { w.Int(value); }
  static void Put(JsonWriter& w, uint64_t value) {
    // The largest is beyond what the writer takes as a number.
    if (value <= INT64_MAX) return Put(w, static_cast<int64_t>(value));
    w.Json(JsonView::Trusted(std::to_string(value)));
  }
  static void Put(JsonWriter& w, uint32_t value) { w.Int(value); }
  static void Put(JsonWriter& w, uint16_t value) { w.Int(value); }
  template <typename T>
  static void Put(JsonWriter& w, const std::vector<T>& list) {
    w.Begin('[');
    for (const T& one : list) Put(w, one);
    w.End(']');
  }
  template <typename T>
  requires requires(WriteFields& fields, T& message) { Fields(fields, message); }
  static void Put(JsonWriter& w, const T& message) {
    w.Begin('{');
    Members(w, message);
    w.End('}');
  }
  // The structures are gone over by the same functions that fill them, which take what may be changed.
  template <typename T>
  static void Members(JsonWriter& w, const T& message) {
    WriteFields fields(w);
    Fields(fields, const_cast<T&>(message));
  }
  template <typename T>
  static void PutTyped(JsonWriter& w, std::string_view key, std::string_view type, const T& message) {
    w.Begin('{').Key(key).String(type);
    Members(w, message);
    w.End('}');
  }

  static void Put(JsonWriter& w, const UnknownContent& unknown) { w.Json(unknown.raw); }
  static void Put(JsonWriter& w, const ContentBlock& block) {
    std::visit(
        [&](const auto& it) {
          if constexpr (std::is_same_v<decltype(it), const UnknownContent&>) {
            Put(w, it);
          } else {
            PutTyped(w, "type", TypeOf(block), it);
          }
        },
        block);
  }
  static void Put(JsonWriter& w, const decltype(EmbeddedResource::resource)& resource) {
    std::visit([&](const auto& it) { Put(w, it); }, resource);
  }
  static void Put(JsonWriter& w, const ToolCallContent& content) {
    if (const auto* block = std::get_if<Content>(&content)) return PutTyped(w, "type", "content", *block);
    if (const auto* diff = std::get_if<Diff>(&content)) return PutTyped(w, "type", "diff", *diff);
    if (const auto* terminal = std::get_if<Terminal>(&content))
      return PutTyped(w, "type", "terminal", *terminal);
    Put(w, std::get<UnknownContent>(content));
  }
  static void Put(JsonWriter& w, const McpServer& server) {
    if (const auto* stdio = std::get_if<McpServerStdio>(&server)) return Put(w, *stdio);
    if (const auto* remote = std::get_if<McpServerRemote>(&server)) {
      return PutTyped(w, "type", remote->sse ? "sse" : "http", *remote);
    }
    w.Json(std::get<UnknownMcpServer>(server).raw);
  }
  static void Put(JsonWriter& w, const decltype(SessionConfigSelect::options)& options) {
    std::visit([&](const auto& it) { Put(w, it); }, options);
  }
  static void Put(JsonWriter& w, const AuthMethod& method) {
    if (method.type != "agent" && method.type != "terminal") return (void)w.Json(method.raw);
    w.Begin('{').Key("id").String(method.id).Key("name").String(method.name);
    w.Field("description", method.description);
    if (method.type == "terminal") {
      w.Key("type").String("terminal");
      if (!method.args.empty()) {
        w.Key("args");
        Put(w, method.args);
      }
      if (!method.env.empty()) {
        w.Key("env").Begin('{');
        for (const auto& [name, value] : method.env) w.Key(name).String(value);
        w.End('}');
      }
    }
    w.Field("_meta", method.meta).End('}');
  }
  static void Put(JsonWriter& w, const ElicitationProperty& property) {
    if (const auto* unknown = std::get_if<UnknownPropertySchema>(&property.schema)) {
      return (void)w.Json(unknown->raw);
    }
    w.Begin('{');
    Members(w, property);
    w.End('}');
  }
  static void Put(JsonWriter& w, const CreateElicitationRequest& request) {
    if (const auto* unknown = std::get_if<UnknownElicitationMode>(&request.mode)) {
      return (void)w.Json(unknown->raw);
    }
    w.Begin('{');
    Members(w, request);
    w.End('}');
  }
  static void Put(JsonWriter& w, const SessionUpdate& update) {
    std::visit(
        [&](const auto& it) {
          if constexpr (std::is_same_v<decltype(it), const UnknownUpdate&>) {
            w.Json(it.raw);
          } else {
            PutTyped(w, "sessionUpdate", KindOf(update), it);
          }
        },
        update);
  }
  static void Put(JsonWriter& w, const RequestPermissionResponse& response) {
    w.Begin('{').Key("outcome").Begin('{');
    w.Key("outcome").String(response.option_id ? "selected" : "cancelled");
    w.Field("optionId", response.option_id);
    if (response.option_id) w.Field("_meta", response.outcome_meta);
    w.End('}').Field("_meta", response.meta).End('}');
  }
  static void Put(JsonWriter& w, const RpcError& error) {
    w.Begin('{').Key("code").Int(error.code).Key("message").String(error.message);
    w.Field("data", error.data).End('}');
  }

 private:
  JsonWriter& w_;
};

}  // namespace
}  // namespace wire

template <typename Message>
std::string Encode(const Message& message) {
  std::string out;
  JsonWriter w(out);
  wire::WriteFields::Put(w, message);
  return out;
}

#define WATCHBILL_ACP_ENCODE(Type, words) template std::string Encode(const Type&);
WATCHBILL_ACP_MESSAGES(WATCHBILL_ACP_ENCODE)
#undef WATCHBILL_ACP_ENCODE

}  // namespace watchbill::acp
