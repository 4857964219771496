#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "glob.hpp"
#include "json_document.hpp"
#include "permission_rule_text.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {
namespace {

// Of a file that this library wrote: a thousand rules at their longest fit.
constexpr size_t kMaxSavedBytes = size_t{64} << 20;
constexpr size_t kMaxProblems = 100;
// 9999-12-31T23:59:59.999Z, the last that can be written.
constexpr int64_t kLastWallMs = 253'402'300'799'999;

template <typename Enum>
struct Named {
  std::string_view word;
  Enum value;
};
constexpr Named<PermissionEffect> kEffects[] = {{"ask", PermissionEffect::kAsk},
                                                {"allow", PermissionEffect::kAllow},
                                                {"refuse", PermissionEffect::kRefuse}};
constexpr Named<SubjectKind> kAbout[] = {
    {"command", SubjectKind::kCommand}, {"path", SubjectKind::kPath}, {"title", SubjectKind::kTitle}};
constexpr Named<RuleLasts> kLasts[] = {{"turn", RuleLasts::kTurn},
                                       {"session", RuleLasts::kSession},
                                       {"until", RuleLasts::kUntil},
                                       {"for-good", RuleLasts::kForGood}};
constexpr Named<RuleSource> kSources[] = {{"configured", RuleSource::kConfigured},
                                          {"remembered", RuleSource::kRemembered}};

template <typename Enum, size_t N>
std::string_view WordIn(const Named<Enum> (&words)[N], Enum value) {
  for (const Named<Enum>& named : words) {
    if (named.value == value) return named.word;
  }
  return {};
}

std::string Shown(std::string_view text) {
  constexpr size_t kMost = 60;
  size_t n = 0;
  while (n < text.size()) {
    const size_t step = std::max<size_t>(1, json_detail::Utf8Length(text.substr(n)));
    if (n + step > kMost) break;
    n += step;
  }
  return std::string(text.substr(0, n)) + (n < text.size() ? "…" : "");
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t n = json_detail::Utf8Length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

// Reads one rule, and keeps the first thing that is wrong with it.
class RuleReading {
 public:
  absl::StatusOr<PermissionRule> Read(json::Value object) {
    if (!object.is_object()) return absl::InvalidArgumentError("a rule is an object");
    std::string unknown;
    bool effect = false, lasts = false, until = false;
    for (json::Value v = object.First(); !v.absent() && problem_.empty(); v = v.Next()) {
      const std::string_view key = v.Key();
      if (!seen_.emplace(key).second) {
        Say(fmt::format("\"{}\" stands twice", Shown(key)));
      } else if (key == "id") {
        const auto id = v.AsInt();
        if (!id || *id < 1) Say("\"id\" is a whole number from 1");
        rule_.id = id ? static_cast<uint64_t>(*id) : 0;
      } else if (key == "effect") {
        effect = true;
        Word(v, kEffects, rule_.effect);
      } else if (key == "kind") {
        Text(v, rule_.kind);
      } else if (key == "tool") {
        Text(v, rule_.tool);
      } else if (key == "about") {
        rule_.about.emplace();
        Word(v, kAbout, *rule_.about);
      } else if (key == "pattern") {
        Patterns(v);
      } else if (key == "agent") {
        Text(v, rule_.agent);
      } else if (key == "session") {
        Text(v, rule_.session);
      } else if (key == "turn") {
        Text(v, rule_.turn);
      } else if (key == "lasts") {
        lasts = true;
        Word(v, kLasts, rule_.lasts);
      } else if (key == "until") {
        until = true;
        Time(v, rule_.until_ms);
      } else if (key == "source") {
        Word(v, kSources, rule_.source);
      } else if (key == "made") {
        Time(v, rule_.made_ms);
      } else if (key != "words" && unknown.empty()) {
        unknown = Shown(key);
        if (unknown.empty()) unknown = "\"\"";
      }
    }
    if (until && !lasts) rule_.lasts = RuleLasts::kUntil;
    if (problem_.empty() && !effect) Say("\"effect\" is not there: ask, allow or refuse");
    if (problem_.empty() && !unknown.empty() && rule_.effect == PermissionEffect::kAllow) {
      Say(fmt::format("it allows, and has a member that is not known, which may limit it: {}", unknown));
    }
    if (problem_.empty()) problem_ = ProblemOf(rule_);
    if (!problem_.empty()) return absl::InvalidArgumentError(problem_);
    return std::move(rule_);
  }

 private:
  void Say(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  void Text(json::Value v, std::string& out) {
    const auto text = v.AsString();
    if (!text || text->empty()) return Say(fmt::format("\"{}\" is a text that is not empty", v.Key()));
    out = *text;
  }

  void Time(json::Value v, int64_t& out) {
    const auto text = v.AsString();
    const auto ms = text ? WallMsFromIso(*text) : std::nullopt;
    if (!ms) return Say(fmt::format("\"{}\" is a time such as 2026-10-01T18:12:00.000Z", v.Key()));
    out = *ms;
  }

  template <typename Enum, size_t N>
  void Word(json::Value v, const Named<Enum> (&words)[N], Enum& out) {
    const auto text = v.AsString();
    std::string all;
    for (const Named<Enum>& named : words) {
      if (text && *text == named.word) {
        out = named.value;
        return;
      }
      all.append(all.empty() ? "" : ", ").append(named.word);
    }
    Say(text ? fmt::format("\"{}\" is one of {}, and not \"{}\"", v.Key(), all, Shown(*text))
             : fmt::format("\"{}\" is one of {}", v.Key(), all));
  }

  void Patterns(json::Value v) {
    if (const auto text = v.AsString()) {
      rule_.patterns.emplace_back(*text);
      return;
    }
    for (json::Value item = v.First(); v.kind() == json::Kind::kArray && !item.absent(); item = item.Next()) {
      const auto text = item.AsString();
      if (!text) return Say("\"pattern\" is a text, or a list of texts");
      rule_.patterns.emplace_back(*text);
    }
    if (rule_.patterns.empty()) Say("\"pattern\" is a text, or a list of texts");
  }

  PermissionRule rule_;
  std::set<std::string> seen_;
  std::string problem_;
};

}  // namespace

std::string_view WordOf(PermissionEffect effect) { return WordIn(kEffects, effect); }
std::string_view WordOf(RuleLasts lasts) { return WordIn(kLasts, lasts); }

std::string ProblemOf(const PermissionRule& rule) {
  const std::pair<std::string_view, const std::string&> words[] = {{"kind", rule.kind},
                                                                   {"tool", rule.tool},
                                                                   {"agent", rule.agent},
                                                                   {"session", rule.session},
                                                                   {"turn", rule.turn}};
  for (const auto& [name, word] : words) {
    if (word.size() > PermissionRules::kMaxWordBytes) {
      return fmt::format("\"{}\" has more than {} bytes", name, PermissionRules::kMaxWordBytes);
    }
    if (!IsUtf8(word)) return fmt::format("\"{}\" is not UTF-8", name);
  }
  if (rule.patterns.size() > PermissionRules::kMaxPatterns) {
    return fmt::format("it has more than {} patterns", PermissionRules::kMaxPatterns);
  }
  for (const std::string& pattern : rule.patterns) {
    if (pattern.size() > PermissionRules::kMaxPatternBytes) {
      return fmt::format("a pattern has more than {} bytes", PermissionRules::kMaxPatternBytes);
    }
    if (!IsUtf8(pattern)) return "a pattern is not UTF-8";
    if (const std::string_view problem = GlobProblem(pattern); !problem.empty()) {
      return fmt::format("the pattern \"{}\" {}", Shown(pattern), problem);
    }
    if (rule.about == SubjectKind::kPath && HasInnerParent(pattern)) {
      return fmt::format("the pattern \"{}\" has a \"..\" that is not at its beginning", Shown(pattern));
    }
  }
  if (rule.about && rule.patterns.empty()) return "\"about\" says what a pattern is for, and there is none";
  if (!rule.session.empty() && rule.agent.empty()) return "a session is one of an agent, which is not named";
  const bool turn = rule.lasts == RuleLasts::kTurn;
  if ((turn || rule.lasts == RuleLasts::kSession) && rule.session.empty()) {
    return "what lasts a turn or a session is for a session, which is not named";
  }
  if (turn && rule.turn.empty()) return "it lasts a turn, and the turn is not named";
  if (!turn && !rule.turn.empty()) return "it names a turn, and does not last one";
  const bool until = rule.lasts == RuleLasts::kUntil;
  if (until && (rule.until_ms <= 0 || rule.until_ms > kLastWallMs)) {
    return "it lasts until a time, which is not said";
  }
  if (!until && rule.until_ms != 0) return "it names a time, and does not last until one";
  if (rule.source == RuleSource::kRemembered && rule.agent.empty()) {
    return "what is remembered is for an agent, which is not named";
  }
  return {};
}

void WriteMembers(JsonWriter& w, const PermissionRule& rule) {
  if (rule.id != 0) w.Key("id").Int(static_cast<int64_t>(rule.id));
  w.Key("effect").String(WordOf(rule.effect));
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) w.Key(key).String(value);
  };
  text("kind", rule.kind);
  text("tool", rule.tool);
  if (rule.about) w.Key("about").String(WordIn(kAbout, *rule.about));
  if (rule.patterns.size() == 1) {
    w.Key("pattern").String(rule.patterns[0]);
  } else if (!rule.patterns.empty()) {
    w.Key("pattern").Begin('[');
    for (const std::string& pattern : rule.patterns) w.String(pattern);
    w.End(']');
  }
  text("agent", rule.agent);
  text("session", rule.session);
  w.Key("lasts").String(WordOf(rule.lasts));
  text("turn", rule.turn);
  if (rule.lasts == RuleLasts::kUntil) w.Key("until").String(IsoFromWallMs(rule.until_ms));
  w.Key("source").String(WordIn(kSources, rule.source));
  w.Key("made").String(IsoFromWallMs(rule.made_ms));
}

std::string ToJson(const PermissionRule& rule) {
  std::string out;
  JsonWriter w(out);
  w.Begin('{');
  WriteMembers(w, rule);
  w.End('}');
  return out;
}

absl::StatusOr<PermissionRule> PermissionRuleFromJson(std::string_view json) {
  json::Document document;
  if (const absl::Status status = document.Parse(json); !status.ok()) return status;
  return RuleReading().Read(document.root());
}

std::string SavedText(const std::vector<const PermissionRule*>& rules, uint64_t next) {
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("version").Int(1).Key("next").Int(static_cast<int64_t>(next)).Key("rules").Begin('[');
  for (const PermissionRule* rule : rules) {
    w.Begin('{');
    WriteMembers(w, *rule);
    w.End('}');
  }
  w.End(']').End('}');
  return out;
}

absl::StatusOr<SavedRules> ReadSaved(std::string_view json) {
  json::Document document({kMaxSavedBytes, 64});
  if (const absl::Status status = document.Parse(json); !status.ok()) return status;
  const json::Value root = document.root();
  const json::Value list = root["rules"];
  if (!root.is_object() || list.kind() != json::Kind::kArray) {
    return absl::InvalidArgumentError("saved rules are an object with a list \"rules\"");
  }
  if (root["version"].AsInt() != 1) {
    return absl::InvalidArgumentError("the saved rules are of another version than 1, and cannot be read");
  }
  SavedRules saved;
  const int64_t next = root["next"].AsInt().value_or(1);
  if (next > 1 && next < static_cast<int64_t>(PermissionRules::kFirstConfigured)) {
    saved.next = static_cast<uint64_t>(next);
  }
  std::set<uint64_t> ids;
  size_t position = 0;
  for (json::Value v = list.First(); !v.absent(); v = v.Next(), ++position) {
    const auto say = [&](std::string text) {
      if (saved.problems.size() < kMaxProblems) saved.problems.push_back({position, std::move(text)});
    };
    auto rule = RuleReading().Read(v);
    if (!rule.ok()) {
      say(std::string(MessageOf(rule.status())));
    } else if (rule->source != RuleSource::kRemembered) {
      say("it was not remembered: what is configured is not kept here");
    } else if (rule->lasts != RuleLasts::kUntil && rule->lasts != RuleLasts::kForGood) {
      say("it does not last: it was for a turn or a session");
    } else if (rule->id == 0 || rule->id >= PermissionRules::kFirstConfigured) {
      say("its \"id\" is not one of a remembered rule");
    } else if (ids.count(rule->id) != 0) {
      say(fmt::format("another has its \"id\", {}", rule->id));
    } else if (saved.rules.size() >= PermissionRules::kMaxRemembered) {
      say(fmt::format("no more than {} can be remembered", PermissionRules::kMaxRemembered));
    } else {
      ids.insert(rule->id);
      saved.rules.push_back(*std::move(rule));
    }
  }
  // In the order they were made in, whoever wrote the file.
  std::sort(saved.rules.begin(), saved.rules.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return saved;
}

}  // namespace watchbill::acp
