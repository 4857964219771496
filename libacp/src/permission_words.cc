#include <fmt/core.h>

#include <algorithm>

#include "glob.hpp"
#include "permission_rule_text.hpp"

namespace watchbill::acp {
namespace {

constexpr size_t kMaxShownBytes = 200;
constexpr size_t kMaxShownPatterns = 3;

// What would break a line, move the cursor or turn the direction of what is read.
std::string_view Instead(std::string_view character) {
  if (character == "\n") return "⏎";
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1 && (first < 0x20 || first >= 0x7F)) return "\xEF\xBF\xBD";
  if (character.size() == 2 && first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0) {
    return "\xEF\xBF\xBD";
  }
  for (const std::string_view unseen :
       {"\u061C", "\u200B", "\u200C", "\u200D", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A", "\u202B",
        "\u202C", "\u202D", "\u202E", "\u2060", "\u2066", "\u2067", "\u2068", "\u2069", "\uFEFF"}) {
    if (character == unseen) return "\xEF\xBF\xBD";
  }
  return character;
}

std::string Shown(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t n = std::max<size_t>(1, json_detail::Utf8Length(text.substr(at)));
    const std::string_view put = Instead(text.substr(at, n));
    if (out.size() + put.size() > kMaxShownBytes) return out + "…";
    out.append(put);
    at += n;
  }
  return out;
}

// "a", "b", "c" and 2 more
std::string Listed(const std::vector<std::string>& patterns, bool literal) {
  std::string out;
  const size_t shown = std::min(patterns.size(), kMaxShownPatterns);
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) out.append(i + 1 == patterns.size() ? " and " : ", ");
    out += '"' + Shown(literal ? UnescapeGlob(patterns[i]) : patterns[i]) + '"';
  }
  if (shown < patterns.size()) out += fmt::format(" and {} more", patterns.size() - shown);
  return out;
}

struct KindWords {
  std::string_view kind;
  std::string_view to_files;  // goes on with which
  std::string_view alone;
};
constexpr KindWords kKinds[] = {{"read", "read", "read files"},
                                {"edit", "edit", "edit files"},
                                {"delete", "delete", "delete files"},
                                {"move", "move", "move files"},
                                {"search", "search in", "search"},
                                {"execute", "run commands on", "run commands"},
                                {"fetch", "fetch with", "fetch things"},
                                {"think", "think about", "think"},
                                {"switch_mode", "switch modes on", "switch its mode"}};

const KindWords* WordsOfKind(std::string_view kind) {
  for (const KindWords& words : kKinds) {
    if (words.kind == kind) return &words;
  }
  return nullptr;
}

// What it may do, as words that go on from "may", and the word for it in the code.
std::pair<std::string_view, std::string> What(const PermissionRule& rule, const std::string& tool) {
  const KindWords* kind = WordsOfKind(rule.kind);
  const std::string of_kind =
      rule.kind.empty() || kind != nullptr ? "" : fmt::format(" of the kind \"{}\"", Shown(rule.kind));
  if (rule.patterns.empty()) {
    if (!rule.tool.empty()) return {"tool", fmt::format("use the tool {}{}", tool, of_kind)};
    if (kind != nullptr) return {"kind", std::string(kind->alone)};
    if (!rule.kind.empty()) return {"kind", "do what is" + of_kind};
    return {"anything", "do anything"};
  }
  const bool literal = std::all_of(rule.patterns.begin(), rule.patterns.end(), IsLiteralGlob);
  const std::string which = Listed(rule.patterns, literal);
  const std::string with = rule.tool.empty() ? "" : " with the tool " + tool;
  if (!rule.about) {
    const std::string base = kind != nullptr ? std::string(kind->alone) : "do what is asked for" + of_kind;
    return {"subject", fmt::format("{}{}, where its command, file or title is {}{}", base, with,
                                   literal ? "" : "like ", which)};
  }
  switch (*rule.about) {
    case SubjectKind::kCommand:
      return {literal ? "command" : "commands-like",
              fmt::format("run {}{}{}{}", literal ? "" : "commands like ", which, of_kind, with)};
    case SubjectKind::kPath:
      return {literal ? "files" : "files-like",
              fmt::format("{} {}{}{}{}", kind != nullptr ? kind->to_files : "work on",
                          literal ? "" : "files like ", which, of_kind, with)};
    case SubjectKind::kTitle:
      break;
  }
  return {literal ? "title" : "titles-like",
          fmt::format("do {}{}{}{}", literal ? "" : "what is called like ", which, of_kind, with)};
}

}  // namespace

Wording WordsFor(const PermissionRule& rule) {
  Wording words;
  const auto argument = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) words.args.emplace_back(name, value);
  };
  const std::string agent = Shown(rule.agent), tool = Shown(rule.tool);
  const auto [what, may] = What(rule, tool);
  std::string_view span;
  std::string says;
  const bool session = !rule.session.empty();
  const std::string here = session ? " in this conversation" : "";
  const std::string time = rule.lasts == RuleLasts::kUntil ? IsoFromWallMs(rule.until_ms) : "";
  switch (rule.lasts) {
    case RuleLasts::kTurn:
      span = "turn";
      says = " in this turn alone";
      break;
    case RuleLasts::kSession:
      span = "session";
      says = here + ", until it ends";
      break;
    case RuleLasts::kUntil:
      span = session ? "session-until" : "until";
      says = here + ", until " + time;
      break;
    case RuleLasts::kForGood:
      if (rule.source == RuleSource::kConfigured) {
        span = session ? "session-configured" : "configured";
        says = here + ", as it is configured";
      } else {
        span = session ? "session-for-good" : "for-good";
        says = here + ", until this is taken back";
      }
      break;
  }
  words.code = fmt::format("{}.{}.{}", WordOf(rule.effect), what, span);
  argument("agent", agent);
  argument("kind", Shown(rule.kind));
  argument("tool", tool);
  if (!rule.patterns.empty()) {
    const bool literal = std::all_of(rule.patterns.begin(), rule.patterns.end(), IsLiteralGlob);
    argument("subject", Listed(rule.patterns, literal));
  }
  argument("session", Shown(rule.session));
  argument("until", time);
  const std::string_view verb = rule.effect == PermissionEffect::kAllow    ? "may"
                                : rule.effect == PermissionEffect::kRefuse ? "may not"
                                                                           : "has to ask before it may";
  words.text = fmt::format("{} {} {}{}", agent.empty() ? "any agent" : agent, verb, may, says);
  return words;
}

void WriteWords(JsonWriter& w, const Wording& words) {
  w.Begin('{').Key("code").String(words.code).Key("args").Begin('{');
  for (const auto& [name, value] : words.args) w.Key(name).String(value);
  w.End('}').Key("text").String(words.text).End('}');
}

}  // namespace watchbill::acp
