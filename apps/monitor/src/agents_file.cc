#include "agents_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/files.hpp"

namespace watchbill::monitor {

namespace json = boost::json;

namespace {

// As a person would write it: two spaces a level, 0.1 and not 1E-1.
void WritePretty(const json::value& value, std::string& out, size_t indent) {
  const std::string pad(indent + 2, ' ');
  JsonWriter w(out);
  switch (value.kind()) {
    case json::kind::object: {
      if (value.get_object().empty()) {
        out.append("{}");
        return;
      }
      out.append("{");
      std::string_view comma = "\n";
      for (const auto& member : value.get_object()) {
        out.append(std::exchange(comma, ",\n")).append(pad);
        AppendJsonString(out, std::string_view(member.key().data(), member.key().size()));
        out.append(": ");
        WritePretty(member.value(), out, indent + 2);
      }
      out.append("\n").append(indent, ' ').append("}");
      return;
    }
    case json::kind::array: {
      if (value.get_array().empty()) {
        out.append("[]");
        return;
      }
      out.append("[");
      std::string_view comma = "\n";
      for (const auto& element : value.get_array()) {
        out.append(std::exchange(comma, ",\n")).append(pad);
        WritePretty(element, out, indent + 2);
      }
      out.append("\n").append(indent, ' ').append("]");
      return;
    }
    case json::kind::string:
      w.String(std::string_view(value.get_string().data(), value.get_string().size()));
      return;
    case json::kind::double_:
      w.Double(value.get_double());
      return;
    case json::kind::bool_:
      w.Bool(value.get_bool());
      return;
    case json::kind::null:
      w.Null();
      return;
    case json::kind::int64:
    case json::kind::uint64:
      out.append(json::serialize(value));
      return;
  }
}

std::string Place(std::string_view text, size_t at) {
  at = std::min(at, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const size_t start = text.substr(0, at).rfind('\n');
  return fmt::format("line {}, column {}", line, start == std::string_view::npos ? at + 1 : at - start);
}

absl::StatusOr<json::value> Parse(std::string_view text) {
  json::parse_options options;
  options.max_depth = 64;
  json::stream_parser parser({}, options);
  json::error_code ec;
  const size_t read = parser.write_some(text.data(), text.size(), ec);
  size_t at = read;
  if (!ec) {
    while (at < text.size() && std::string_view(" \t\r\n").find(text[at]) != std::string_view::npos) ++at;
    if (at < text.size()) ec = json::error::extra_data;
  }
  if (!ec) parser.finish(ec);
  if (ec) return absl::InvalidArgumentError(fmt::format("{}: {}", Place(text, at), ec.message()));
  return parser.release();
}

// A member that is a text, or is not there. Sets `field` where it is something else.
absl::StatusOr<std::string> TextMember(const json::object& object, const char* name, size_t most,
                                       std::string& field) {
  const json::value* member = object.if_contains(name);
  if (member == nullptr || member->is_null()) return std::string();
  if (!member->is_string()) {
    field = name;
    return absl::InvalidArgumentError(fmt::format("`{}` is a text", name));
  }
  std::string text(member->get_string().data(), member->get_string().size());
  if (text.size() > most) {
    field = name;
    return absl::InvalidArgumentError(fmt::format("`{}` is at most {} bytes long", name, most));
  }
  return text;
}

absl::StatusOr<board::KeyedAgent> ReadEntry(const json::value& value, std::string& field) {
  if (!value.is_object()) return absl::InvalidArgumentError("an agent is an object with `id` and `name`");
  const json::object& object = value.get_object();
  board::KeyedAgent agent;
  const std::pair<const char*, std::string*> members[] = {{"id", &agent.id},
                                                          {"name", &agent.name},
                                                          {"folder", &agent.folder},
                                                          {"host", &agent.host},
                                                          {"note", &agent.note}};
  for (const auto& [name, to] : members) {
    auto text = TextMember(object, name, std::string_view(name) == "name" ? 200 : 1024, field);
    if (!text.ok()) return text.status();
    *to = *std::move(text);
  }
  if (!IsFlowId(agent.id)) {
    field = "id";
    return absl::InvalidArgumentError("`id` is the flow's id: 8-4-4-4-12 hex digits");
  }
  if (agent.name.find_first_not_of(" \t\r\n") == std::string::npos) {
    field = "name";
    return absl::InvalidArgumentError("`name` is missing: it is what the board is read by");
  }
  return agent;
}

}  // namespace

struct AgentsFile::Text {
  json::value root;
};

AgentsFile::AgentsFile() = default;
AgentsFile::AgentsFile(AgentsFile&&) noexcept = default;
AgentsFile& AgentsFile::operator=(AgentsFile&&) noexcept = default;
AgentsFile::~AgentsFile() = default;

absl::StatusOr<AgentsFile> AgentsFile::Load(std::string path) {
  AgentsFile file;
  file.path_ = std::move(path);
  file.text_ = std::make_unique<Text>();
  file.version_ = net::FileVersion(file.path_);
  const auto content = net::ReadFile(file.path_);
  if (absl::IsNotFound(content.status())) {
    file.text_->root = {{"agents", json::array()}};
    return file;
  }
  if (!content.ok()) return content.status();
  const auto wrong = [&](std::string_view why) {
    return absl::InvalidArgumentError(fmt::format("{} cannot be used: {}", file.path_, why));
  };
  auto root = Parse(*content);
  if (!root.ok()) return wrong(MessageOf(root.status()));
  const json::value* list = root->is_object() ? root->get_object().if_contains("agents") : nullptr;
  if (list == nullptr || !list->is_array()) return wrong("it is an object with a list `agents`");
  std::set<std::string> ids;
  size_t number = 0;
  for (const json::value& entry : list->get_array()) {
    ++number;
    std::string field;
    auto agent = ReadEntry(entry, field);
    if (!agent.ok()) return wrong(fmt::format("agent {} of the list: {}", number, MessageOf(agent.status())));
    if (!ids.insert(agent->id).second)
      return wrong(fmt::format("agent {} of the list: its id stands there twice", number));
    file.agents_.push_back(*std::move(agent));
  }
  file.text_->root = *std::move(root);
  return file;
}

absl::Status AgentsFile::Write(std::unique_ptr<Text> next) {
  std::string content;
  WritePretty(next->root, content, 0);
  content.push_back('\n');
  if (absl::Status status = net::ReplaceFile(path_, content); !status.ok()) return status;
  text_ = std::move(next);
  version_ = net::FileVersion(path_);
  return absl::OkStatus();
}

absl::Status AgentsFile::Put(const board::KeyedAgent& agent) {
  auto next = std::make_unique<Text>(*text_);
  json::array& list = next->root.as_object().at("agents").as_array();
  const auto at =
      std::find_if(agents_.begin(), agents_.end(), [&](const auto& a) { return a.id == agent.id; });
  const auto index = static_cast<size_t>(at - agents_.begin());
  if (at == agents_.end()) list.push_back(json::object());
  json::object& entry = list.at(index).as_object();
  const std::pair<const char*, const std::string*> members[] = {{"id", &agent.id},
                                                                {"name", &agent.name},
                                                                {"folder", &agent.folder},
                                                                {"host", &agent.host},
                                                                {"note", &agent.note}};
  for (const auto& [name, text] : members) {
    if (!text->empty()) {
      entry[name] = *text;
    } else {
      // erase() alone would put the last member in its place.
      json::object kept;
      for (const auto& member : entry) {
        if (member.key() != name) kept.emplace(member.key(), member.value());
      }
      entry = std::move(kept);
    }
  }
  if (absl::Status status = Write(std::move(next)); !status.ok()) return status;
  if (at == agents_.end()) {
    agents_.push_back(agent);
  } else {
    *at = agent;
  }
  return absl::OkStatus();
}

absl::Status AgentsFile::Remove(std::string_view id) {
  const auto at = std::find_if(agents_.begin(), agents_.end(), [&](const auto& a) { return a.id == id; });
  if (at == agents_.end()) return absl::NotFoundError("That agent is not on the list.");
  auto next = std::make_unique<Text>(*text_);
  json::array& list = next->root.as_object().at("agents").as_array();
  list.erase(list.begin() + (at - agents_.begin()));
  if (absl::Status status = Write(std::move(next)); !status.ok()) return status;
  agents_.erase(at);
  return absl::OkStatus();
}

bool AgentsFile::Changed() const { return net::FileVersion(path_) != version_; }

bool IsFlowId(std::string_view id) {
  if (id.size() != 36) return false;
  for (size_t i = 0; i < id.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = id[i];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (dash ? c != '-' : !hex) return false;
  }
  return true;
}

absl::StatusOr<board::KeyedAgent> ReadKeyedAgent(std::string_view body, std::string& field) {
  auto value = Parse(body);
  if (!value.ok())
    return absl::InvalidArgumentError(fmt::format("this is not JSON: {}", MessageOf(value.status())));
  return ReadEntry(*value, field);
}

std::string WriteKeyedAgents(const std::vector<board::KeyedAgent>& agents) {
  std::string out;
  JsonWriter w(out);
  const auto said = [](const std::string& text) {
    return text.empty() ? board::OptText() : board::OptText(text);
  };
  w.Begin('[');
  for (const board::KeyedAgent& agent : agents) {
    w.Begin('{')
        .Key("id")
        .String(agent.id)
        .Key("name")
        .String(agent.name)
        .Key("folder")
        .OptString(said(agent.folder));
    w.Key("host").OptString(said(agent.host)).Key("note").OptString(said(agent.note)).End('}');
  }
  w.End(']');
  return out;
}

}  // namespace watchbill::monitor
