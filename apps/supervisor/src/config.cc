#include "config.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "yaml_text.hpp"

namespace watchbill::supervisor {
namespace {

using Kind = YamlNode::Kind;
using Names = std::span<const std::string_view>;

constexpr std::string_view kFileKeys[] = {"theme", "language", "limits", "agents", "monitor"};
constexpr std::string_view kLimitKeys[] = {"maxRunningAgents", "stopIdleAgentsAfter"};
constexpr std::string_view kMonitorKeys[] = {"url", "token"};
constexpr std::string_view kAgentKeys[] = {"name", "title", "icon", "description", "command",
                                           "args", "env",   "cwd",  "permissions", "mcpServers"};
constexpr std::string_view kThemes[] = {"system", "light", "dark"};
constexpr std::string_view kLanguages[] = {"system", "en", "fr"};

constexpr size_t kMaxProblems = 100;
constexpr int kMaxRunningAgents = 10'000;
constexpr std::int64_t kMaxIdleMs = std::int64_t{365} * 24 * 60 * 60 * 1000;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string Lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), Lower);
  return out;
}

// How many characters to insert, drop or change make one of the other, the case aside.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Nothing where no name is so near that it could have been meant.
std::string_view Nearest(std::string_view name, Names known) {
  if (name.size() > 40) return {};
  std::string_view nearest;
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const size_t distance = Distance(Lowered(name), Lowered(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

// "system, light or dark"
std::string Listed(Names names, std::string_view last) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? fmt::format(" {} ", last) : ", ";
    out += names[i];
  }
  return out;
}

std::string_view KindOf(const YamlNode& node) {
  switch (node.kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return "a text";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return "nothing";
}

bool IsAgentName(std::string_view name) {
  const auto letter_or_digit = [](char c) { return IsDigit(c) || (Lower(c) >= 'a' && Lower(c) <= 'z'); };
  return !name.empty() && name.size() <= 64 && letter_or_digit(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter_or_digit(c) || c == '_' || c == '-'; });
}

template <typename Integer>
std::optional<Integer> WholeNumber(std::string_view digits) {
  Integer value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = !digits.empty() && IsDigit(digits.front()) && end == digits.data() + digits.size();
  return error == std::errc{} && whole ? std::optional(value) : std::nullopt;
}

// "90s", "1h30m"; the larger unit first, each once. "0" alone needs no unit.
std::optional<std::int64_t> DurationMs(std::string_view words) {
  if (words == "0") return 0;
  static constexpr std::pair<char, std::int64_t> kUnits[] = {
      {'d', 86'400'000}, {'h', 3'600'000}, {'m', 60'000}, {'s', 1'000}};
  if (words.empty()) return std::nullopt;
  std::int64_t total = 0;
  for (const auto& [unit, ms] : kUnits) {
    const size_t digits = std::min(words.find_first_not_of("0123456789"), words.size());
    if (digits == words.size() || words[digits] != unit) continue;
    const auto count = WholeNumber<std::int64_t>(words.substr(0, digits));
    if (!count || *count > kMaxIdleMs / ms) return std::nullopt;
    total += *count * ms;
    words.remove_prefix(digits + 1);
    if (words.empty()) return total <= kMaxIdleMs ? std::optional(total) : std::nullopt;
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const std::string& folder, const std::string& home) : folder_(folder), home_(home) {}

  ReadConfig Read(std::string_view text) {
    const YamlText yaml = ReadYaml(text);
    problems_ = yaml.problems;
    if (yaml.root && yaml.root->node->kind != Kind::kNull) {
      File(*yaml.root);
    } else if (problems_.empty()) {
      Warn({}, "there are no agents");
    }
    Arrange();
    return {.config = std::move(config_), .problems = std::move(problems_)};
  }

 private:
  void Say(Place place, std::string message) {
    problems_.push_back({.line = place.line, .column = place.column, .message = std::move(message)});
  }
  void Warn(Place place, std::string message) {
    Say(place, std::move(message));
    problems_.back().warning = true;
  }

  // In the file's order, each once (what an anchor holds is read wherever an alias stands for it), and not
  // without end.
  void Arrange() {
    const auto place = [](const Problem& p) { return Place{p.line, p.column}; };
    std::stable_sort(problems_.begin(), problems_.end(),
                     [&](const Problem& a, const Problem& b) { return place(a) < place(b); });
    const auto same = [&](const Problem& a, const Problem& b) {
      return place(a) == place(b) && a.message == b.message;
    };
    problems_.erase(std::unique(problems_.begin(), problems_.end(), same), problems_.end());
    if (problems_.size() <= kMaxProblems) return;
    // Whether the file is valid must not depend on where the list is cut.
    const auto error =
        std::find_if(problems_.begin(), problems_.end(), [](const Problem& p) { return !p.warning; });
    if (std::cmp_greater_equal(error - problems_.begin(), kMaxProblems) && error != problems_.end()) {
      problems_[kMaxProblems - 1] = *error;
    }
    problems_.resize(kMaxProblems);
  }

  void Unknown(const YamlEntry& entry, Names known) {
    const std::string_view nearest = Nearest(entry.key, known);
    Warn(entry.place,
         nearest.empty() ? fmt::format("{} is not known here; {} are", Shown(entry.key), Listed(known, "and"))
                         : fmt::format("{} is not known here; did you mean {}?", Shown(entry.key), nearest));
  }

  bool Is(const YamlEntry& entry, Kind kind, std::string_view expected) {
    const YamlNode& node = *entry.value.node;
    if (node.kind == kind) return true;
    if (node.kind != Kind::kNull) {
      Say(entry.value.place,
          fmt::format("{} is {}; {} was expected", Shown(entry.key), KindOf(node), expected));
    }
    return false;
  }

  // No argument, variable or path of a process can hold a NUL, and no one means it elsewhere.
  bool HasNul(std::string_view text, Place place) {
    if (text.find('\0') == std::string_view::npos) return false;
    Say(place, "a NUL character cannot stand in a text here");
    return true;
  }

  // False where the value is nothing, or is not a text.
  bool Text(const YamlEntry& entry, std::string& out) {
    if (!Is(entry, Kind::kScalar, "a text") || HasNul(entry.value.node->text, entry.value.place))
      return false;
    out = entry.value.node->text;
    return true;
  }

  void OneOf(const YamlEntry& entry, Names allowed, std::string& out) {
    std::string word;
    if (!Text(entry, word)) return;
    if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) {
      Say(entry.value.place,
          fmt::format("{} is \"{}\"; {} was expected", entry.key, Shown(word), Listed(allowed, "or")));
      return;
    }
    out = std::move(word);
  }

  std::optional<std::string> FromHome(std::string path, Place place) {
    if (path != "~" && !path.starts_with("~/")) return path;
    if (!home_.empty()) return home_ + path.substr(1);
    Say(place, "no home folder is known that \"~\" could stand for; an absolute path was expected");
    return std::nullopt;
  }

  void NoEffect(const YamlEntry& entry) {
    const YamlNode& node = *entry.value.node;
    if (!node.items.empty() || !node.entries.empty())
      Warn(entry.place, fmt::format("{} has no effect yet", entry.key));
  }

  void File(const YamlValue& root) {
    if (root.node->kind != Kind::kMap) {
      Say(root.place, fmt::format("the file is {}; a map was expected, with the keys {}", KindOf(*root.node),
                                  Listed(kFileKeys, "and")));
      return;
    }
    Place agents;
    bool any_agents = false;
    for (const YamlEntry& entry : root.node->entries) {
      if (entry.key == "theme") {
        OneOf(entry, kThemes, config_.theme);
      } else if (entry.key == "language") {
        OneOf(entry, kLanguages, config_.language);
      } else if (entry.key == "limits") {
        Limits(entry);
      } else if (entry.key == "agents") {
        agents = entry.place;
        any_agents = Agents(entry);
      } else if (entry.key == "monitor") {
        Monitor(entry);
      } else {
        Unknown(entry, kFileKeys);
      }
    }
    if (!any_agents) Warn(agents, "there are no agents");
  }

  void Limits(const YamlEntry& limits) {
    if (!Is(limits, Kind::kMap, "a map")) return;
    for (const YamlEntry& entry : limits.value.node->entries) {
      if (entry.key == "maxRunningAgents") {
        MaxRunningAgents(entry);
      } else if (entry.key == "stopIdleAgentsAfter") {
        StopIdleAgentsAfter(entry);
      } else {
        Unknown(entry, kLimitKeys);
      }
    }
  }

  void MaxRunningAgents(const YamlEntry& entry) {
    if (!Is(entry, Kind::kScalar, "a number")) return;
    const YamlNode& node = *entry.value.node;
    const auto count = node.plain ? WholeNumber<int>(node.text) : std::nullopt;
    if (!count || *count > kMaxRunningAgents) {
      Say(entry.value.place,
          fmt::format("{} is {}{}{}; a whole number from 0 (no limit) to {} was expected", entry.key,
                      node.plain ? "" : "\"", Shown(node.text), node.plain ? "" : "\"", kMaxRunningAgents));
      return;
    }
    config_.max_running_agents = *count;
  }

  void StopIdleAgentsAfter(const YamlEntry& entry) {
    std::string words;
    if (!Text(entry, words)) return;
    const auto ms = DurationMs(words);
    if (!ms) {
      Say(entry.value.place,
          fmt::format("{} is \"{}\"; a duration of at most 365d was expected, as in 90s, 15m or "
                      "1h30m, or 0 for never",
                      entry.key, Shown(words)));
      return;
    }
    config_.stop_idle_ms = *ms;
  }

  void Monitor(const YamlEntry& monitor) {
    if (!Is(monitor, Kind::kMap, "a map")) return;
    NoEffect(monitor);
    for (const YamlEntry& entry : monitor.value.node->entries) {
      std::string unused;
      if (entry.key == "url" || entry.key == "token") {
        Text(entry, unused);
      } else {
        Unknown(entry, kMonitorKeys);
      }
    }
  }

  // Whether there is one.
  bool Agents(const YamlEntry& agents) {
    if (!Is(agents, Kind::kList, "a list of agents")) return agents.value.node->kind != Kind::kNull;
    for (const YamlValue& value : agents.value.node->items) Agent(value);
    return !agents.value.node->items.empty();
  }

  void Agent(const YamlValue& value) {
    if (value.node->kind != Kind::kMap) {
      Say(value.place,
          fmt::format("an agent is a map with a name and a command; this is {}", KindOf(*value.node)));
      return;
    }
    AgentConfig agent;
    agent.cwd = folder_;
    bool name = false, command = false;  // there, whether or not they are right
    for (const YamlEntry& entry : value.node->entries) {
      if (entry.key == "name") {
        name = true;
        Name(entry, value, agent.name);
      } else if (entry.key == "title") {
        Text(entry, agent.title);
      } else if (entry.key == "icon") {
        Text(entry, agent.icon);
      } else if (entry.key == "description") {
        Text(entry, agent.description);
      } else if (entry.key == "command") {
        command = true;
        Command(entry, agent.command);
      } else if (entry.key == "args") {
        Args(entry, agent.args);
      } else if (entry.key == "env") {
        Env(entry, agent.env);
      } else if (entry.key == "cwd") {
        Cwd(entry, agent.cwd);
      } else if (entry.key == "permissions" || entry.key == "mcpServers") {
        if (entry.value.node->kind == Kind::kList || Is(entry, Kind::kMap, "a map or a list"))
          NoEffect(entry);
      } else {
        Unknown(entry, kAgentKeys);
      }
    }
    if (!name) Say(value.place, "this agent has no name");
    if (!command) Say(value.place, "this agent has no command");
    config_.agents.push_back(std::move(agent));
  }

  // Like Text, but nothing and "" are problems.
  bool NeededText(const YamlEntry& entry, std::string& out) {
    const YamlNode& node = *entry.value.node;
    if (node.kind == Kind::kNull || (node.kind == Kind::kScalar && node.text.empty())) {
      Say(entry.value.place, fmt::format("{} is empty", entry.key));
      return false;
    }
    return Text(entry, out);
  }

  void Name(const YamlEntry& entry, const YamlValue& agent, std::string& out) {
    if (!NeededText(entry, out)) return;
    if (!IsAgentName(out)) {
      Say(entry.value.place,
          fmt::format("name is \"{}\"; letters, digits, \"_\" and \"-\" were expected, a letter or "
                      "digit first, 64 at most",
                      Shown(out)));
      return;
    }
    const Place place = agent.alias ? agent.place : entry.value.place;
    const auto [first, added] = names_.emplace(Lowered(out), place.line);
    if (!added) {
      Say(place, fmt::format("an agent is called {} on line {} already (capitals or not is the same)", out,
                             first->second));
    }
  }

  void Command(const YamlEntry& entry, std::string& out) {
    if (!NeededText(entry, out)) return;
    // Whether there is such a file is for the start to see; a path may well hold spaces.
    const size_t space = out.find(' ');
    if (space != std::string::npos && out.find('/') > space) {
      Warn(entry.value.place, "command is one program; its arguments go in args");
    }
    if (out.starts_with("~/")) out = FromHome(out, entry.value.place).value_or("");
  }

  void Args(const YamlEntry& entry, std::vector<std::string>& out) {
    if (!Is(entry, Kind::kList, "a list of texts")) return;
    for (const YamlValue& item : entry.value.node->items) {
      if (item.node->kind != Kind::kScalar) {
        Say(item.place, fmt::format("this argument is {}; a text was expected{}", KindOf(*item.node),
                                    item.node->kind == Kind::kNull ? ", \"\" for an empty one" : ""));
      } else if (!HasNul(item.node->text, item.place)) {
        out.push_back(item.node->text);
      }
    }
  }

  // Values are not shown: they may be secrets.
  void Env(const YamlEntry& entry, std::map<std::string, std::string>& out) {
    if (!Is(entry, Kind::kMap, "a map of variables")) return;
    for (const YamlEntry& variable : entry.value.node->entries) {
      const YamlValue& value = variable.value;
      if (variable.key.empty() ||
          variable.key.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
        Say(variable.place, fmt::format("\"{}\" cannot be the name of a variable", Shown(variable.key)));
      } else if (value.node->kind != Kind::kScalar) {
        Say(value.place,
            fmt::format("{} is {}; a text was expected{}", Shown(variable.key), KindOf(*value.node),
                        value.node->kind == Kind::kNull ? ", \"\" for an empty one" : ""));
      } else if (!HasNul(value.node->text, value.place)) {
        out[variable.key] = value.node->text;
      }
    }
  }

  void Cwd(const YamlEntry& entry, std::string& out) {
    std::string text;
    if (!Text(entry, text)) return;
    const auto path = FromHome(std::move(text), entry.value.place);
    if (!path) return;
    out = (std::filesystem::path(folder_) / *path).lexically_normal().string();
    if (out.size() > 1 && out.ends_with('/')) out.pop_back();
  }

  const std::string& folder_;
  const std::string& home_;
  Config config_;
  std::vector<Problem> problems_;
  std::map<std::string, int> names_;  // in lower case, and their lines
};

}  // namespace

bool ReadConfig::valid() const {
  return std::all_of(problems.begin(), problems.end(),
                     [](const Problem& problem) { return problem.warning; });
}

ReadConfig ParseConfig(std::string_view text, const std::string& folder, const std::string& home) {
  return Reader(folder, home).Read(text);
}

}  // namespace watchbill::supervisor
