// Rules for permissions that a random number writes, and requests that it asks.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "seeded.hpp"
#include "watchbill/acp/permission_rules.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {
namespace {

using Effect = PermissionEffect;
using List = std::vector<std::string>;

constexpr Now kNow{0, 1'700'000'000'000};

const std::vector<PermissionOption> kOptions = {{"yes", "", "allow_once", {}}, {"no", "", "reject_once", {}}};

struct Request {
  std::string kind, tool, title, raw;
  List paths;

  RequestPermissionRequest View() const {
    RequestPermissionRequest request;
    request.options = kOptions;
    if (!kind.empty()) request.tool_call.kind = kind;
    if (!tool.empty()) request.tool_call.name = tool;
    if (!title.empty()) request.tool_call.title = title;
    if (!raw.empty()) request.tool_call.raw_input = JsonView::Trusted(raw);
    if (!paths.empty()) request.tool_call.locations.emplace();
    for (const std::string& path : paths) request.tool_call.locations->push_back({path, {}, {}});
    return request;
  }
};

std::string CommandJson(std::string_view command) {
  std::string json = "{\"command\":";
  AppendJsonString(json, command);
  return json + "}";
}

// Few words, so that much matches.
struct Draw {
  Seeded& random;
  List kinds = {"read", "edit", "execute", "hum"}, tools = {"Bash", "Write"}, agents = {"a", "b"},
       sessions = {"s", "t"}, turns = {"1", "2"};
  List commands = {"git status",       "git push", "rm -rf /", "git status; rm -rf /",
                   "make && git push", "ls *",     "a"};
  List paths = {"src/a", "/p/src/b", "../x", "/etc/passwd", "src/../../p/src/a", "*", "a"};
  List patterns = {"*",      "**", "git *", "rm *", "git status", "src/*", "src/**", "/etc/**", "../x",
                   "ls \\*", "*a", "?",     "/**",  "make*push",  "*;*",   "src",    "a"};

  std::string Maybe(const List& of, size_t one_in) { return random.OneIn(one_in) ? random.Of(of) : ""; }

  PermissionRule Rule() {
    PermissionRule rule;
    rule.effect = random.OneIn(2) ? Effect::kAllow : random.OneIn(2) ? Effect::kAsk : Effect::kRefuse;
    rule.kind = Maybe(kinds, 3);
    rule.tool = Maybe(tools, 4);
    if (!random.OneIn(3)) {
      for (size_t n = 1 + random.Below(2); n > 0; --n) rule.patterns.push_back(random.Of(patterns));
      if (random.OneIn(3)) rule.about = static_cast<SubjectKind>(random.Below(3));
    }
    rule.agent = Maybe(agents, 2);
    if (!rule.agent.empty()) rule.session = Maybe(sessions, 3);
    if (!rule.session.empty() && random.OneIn(3)) {
      rule.lasts = random.OneIn(2) ? RuleLasts::kTurn : RuleLasts::kSession;
      if (rule.lasts == RuleLasts::kTurn) rule.turn = random.Of(turns);
    } else if (random.OneIn(4)) {
      rule.lasts = RuleLasts::kUntil;
      rule.until_ms = kNow.wall_ms - 1 + static_cast<int64_t>(random.Below(4));
    }
    if (!rule.agent.empty() && random.OneIn(2)) rule.source = RuleSource::kRemembered;
    return rule;
  }
  Request Ask() {
    Request request;
    request.kind = Maybe(kinds, 2);
    request.tool = Maybe(tools, 2);
    if (random.OneIn(2)) request.title = random.Of(random.OneIn(2) ? commands : paths);
    if (random.OneIn(3)) request.raw = CommandJson(random.Of(commands));
    for (size_t n = random.Below(3); n > 0; --n) request.paths.push_back(random.Of(paths));
    return request;
  }
  PermissionContext From() {
    return {random.Of(agents), random.Of(sessions), random.Of(turns), random.OneIn(4) ? "" : "/p"};
  }
};

bool Same(const PermissionDecision& a, const PermissionDecision& b) {
  return a.effect == b.effect && a.rule == b.rule && a.option_id == b.option_id &&
         a.option_kind == b.option_kind;
}

TEST_CASE("A1 a rule that refuses or asks, put to any others, makes nothing allowed that was not") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  Draw draw{random};
  size_t allowed = 0, lost = 0;
  for (int round = 0; round < 4'000; ++round) {
    PermissionRules rules, more;
    PermissionRule extra = draw.Rule();
    if (extra.effect == Effect::kAllow) extra.effect = random.OneIn(3) ? Effect::kAsk : Effect::kRefuse;
    const size_t count = random.Below(6), place = random.Below(count + 1);
    for (size_t i = 0; i <= count; ++i) {
      if (i == place) REQUIRE(more.Add(extra, kNow).ok());
      if (i == count) break;
      const PermissionRule rule = draw.Rule();
      REQUIRE(rules.Add(rule, kNow).ok());
      REQUIRE(more.Add(rule, kNow).ok());
    }
    for (int i = 0; i < 4; ++i) {
      const Request request = draw.Ask();
      const PermissionContext from = draw.From();
      const bool before = rules.Decide(from, request.View(), kNow).effect == Effect::kAllow;
      const bool after = more.Decide(from, request.View(), kNow).effect == Effect::kAllow;
      CHECK((before || !after));
      allowed += before;
      lost += before && !after;
    }
  }
  CHECK(allowed > 500);
  CHECK(lost > 20);
}

TEST_CASE("A1 the order in which rules come makes no difference but that of two alike the later decides") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  Draw draw{random};
  const auto alike = [](const PermissionRule& a, const PermissionRule& b) {
    return a.patterns.empty() == b.patterns.empty() && a.tool.empty() == b.tool.empty() &&
           a.kind.empty() == b.kind.empty() && a.agent.empty() == b.agent.empty() &&
           a.session.empty() == b.session.empty();
  };
  size_t decided = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::vector<PermissionRule> list;
    for (size_t n = 2 + random.Below(6); n > 0; --n) list.push_back(draw.Rule());
    // Each has its own place in the order: of those that are alike the order is kept, all others are moved.
    std::vector<PermissionRule> moved = list;
    for (int swaps = 0; swaps < 20; ++swaps) {
      const size_t i = random.Below(moved.size() - 1);
      if (!alike(moved[i], moved[i + 1])) std::swap(moved[i], moved[i + 1]);
    }
    PermissionRules rules, others;
    for (const PermissionRule& rule : list) REQUIRE(rules.Add(rule, kNow).ok());
    for (const PermissionRule& rule : moved) REQUIRE(others.Add(rule, kNow).ok());
    for (int i = 0; i < 4; ++i) {
      const Request request = draw.Ask();
      const PermissionContext from = draw.From();
      const PermissionDecision a = rules.Decide(from, request.View(), kNow);
      const PermissionDecision b = others.Decide(from, request.View(), kNow);
      CHECK(a.effect == b.effect);
      CHECK(a.option_id == b.option_id);
      CHECK((a.rule == 0) == (b.rule == 0));
      decided += a.rule != 0;
    }
  }
  CHECK(decided > 1'000);
}

TEST_CASE("A1 what is saved and loaded decides the same, and is saved the same") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  Draw draw{random};
  size_t decided = 0;
  for (int round = 0; round < 2'000; ++round) {
    PermissionRules rules;
    for (size_t n = random.Below(8); n > 0; --n) {
      PermissionRule rule = draw.Rule();
      if (rule.agent.empty()) rule.agent = random.Of(draw.agents);
      rule.source = RuleSource::kRemembered;
      if (rule.lasts == RuleLasts::kTurn || rule.lasts == RuleLasts::kSession) {
        rule.lasts = RuleLasts::kForGood;
        rule.turn.clear();
      }
      REQUIRE(rules.Add(rule, {0, kNow.wall_ms - static_cast<int64_t>(random.Below(3))}).ok());
    }
    if (random.OneIn(2) && !rules.List(kNow).empty()) REQUIRE(rules.Forget(rules.List(kNow)[0].id).ok());
    PermissionRules loaded;
    const auto problems = loaded.Load(rules.Save());
    REQUIRE(problems.ok());
    CHECK(problems->empty());
    CHECK(loaded.List(kNow) == rules.List(kNow));
    CHECK(loaded.Save() == rules.Save());
    for (int i = 0; i < 4; ++i) {
      const Request request = draw.Ask();
      const PermissionContext from = draw.From();
      const PermissionDecision a = rules.Decide(from, request.View(), kNow);
      CHECK(Same(a, loaded.Decide(from, request.View(), kNow)));
      decided += a.rule != 0;
    }
  }
  CHECK(decided > 500);
}

// A text of characters that mean something to patterns, paths or shells.
std::string Text(Seeded& random, const List& pieces, size_t most) {
  std::string out;
  for (size_t n = 1 + random.Below(most); n > 0; --n) out += random.Of(pieces);
  return out;
}

TEST_CASE("A1 a pattern made of a subject allows that subject alone") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  const List in_commands = {"*", "**", "?", "\\", "[", "]", "{",  "}", "a",
                            "b", ";",  " ", "$(", "é", "/", "..", "\n"};
  const List in_names = {"*", "**", "?", "\\", "[a]", "a", "b", ";", " ", "é", ".."};
  const auto allows = [](const PermissionRules& rules, const Request& request, std::string_view folder) {
    return rules.Decide({"a", "s", "1", folder}, request.View(), kNow).effect == Effect::kAllow;
  };
  size_t others = 0;
  for (int round = 0; round < 20'000; ++round) {
    const bool path = random.OneIn(2);
    const auto subject = [&] {
      if (!path) return Text(random, in_commands, 6);
      std::string out;
      for (size_t n = 1 + random.Below(3); n > 0; --n) out += "/" + Text(random, in_names, 2);
      return out;
    };
    const auto request = [&](const std::string& text) {
      Request made;
      made.kind = path ? "edit" : "execute";
      if (path) {
        made.paths = {text};
      } else {
        made.raw = CommandJson(text);
      }
      return made;
    };
    std::string mine = subject(), other = subject();
    if (random.OneIn(2)) {  // nearly the same
      other = mine;
      other.insert(random.Below(mine.size() + 1), random.Of(in_names));
      if (path && other[0] != '/') other = "/" + other;
    }
    PermissionRules rules;
    if (random.OneIn(2)) {
      const auto id = rules.Remember({"a", "s", "1", "/p"}, request(mine).View(), "allow_always", {}, kNow);
      REQUIRE_MESSAGE(id.ok(), MessageOf(id.status()));
    } else if (path && (mine.find("/../") != std::string::npos || mine.ends_with("/.."))) {
      continue;  // Remember makes such a path normal first
    } else {
      PermissionRule rule;
      rule.effect = Effect::kAllow;
      rule.patterns = {LiteralPattern(mine)};
      REQUIRE(rules.Add(rule, kNow).ok());
    }
    CAPTURE(mine);
    CAPTURE(other);
    CHECK(allows(rules, request(mine), "/p"));
    // What is the same: the same text, or paths with the same components.
    const auto normal = [&](const std::string& text) {
      if (!path) return text;
      std::vector<std::string> parts;
      for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('/', at), text.size());
        const std::string part = text.substr(at, end - at);
        if (part == "..") {
          if (!parts.empty()) parts.pop_back();
        } else if (!part.empty() && part != ".") {
          parts.push_back(part);
        }
        at = end + 1;
      }
      std::string out;
      for (const std::string& part : parts) out += "/" + part;
      return out;
    };
    const bool same = normal(mine) == normal(other);
    CHECK(allows(rules, request(other), "/p") == same);
    others += !same;
  }
  CHECK(others > 1'000);
}

// What a pattern means, tried in every way there is.
bool Slowly(std::string_view p, std::string_view t, const std::function<bool(char)>& takes) {
  if (p.empty()) return t.empty();
  if (p[0] == '*') {
    for (size_t n = 0;; ++n) {
      if (Slowly(p.substr(1), t.substr(n), takes)) return true;
      if (n == t.size() || !takes(t[n])) return false;
    }
  }
  if (t.empty()) return false;
  if (p[0] == '?') return takes(t[0]) && Slowly(p.substr(1), t.substr(1), takes);
  return p[0] == t[0] && Slowly(p.substr(1), t.substr(1), takes);
}

TEST_CASE("A1 the quick way to match is right: for commands that are allowed and titles that are refused") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  const List in_patterns = {"*", "?", "a", "b", ";"}, in_texts = {"a", "b", ";"};
  size_t matched = 0;
  for (int round = 0; round < 30'000; ++round) {
    const std::string pattern = Text(random, in_patterns, 7), text = Text(random, in_texts, 8);
    CAPTURE(pattern);
    CAPTURE(text);
    PermissionRule rule;
    rule.patterns = {pattern};
    for (const bool allow : {true, false}) {
      rule.effect = allow ? Effect::kAllow : Effect::kRefuse;
      PermissionRules rules;
      REQUIRE(rules.Add(rule, kNow).ok());
      Request request;
      request.title = text;
      const bool found = rules.Decide({}, request.View(), kNow).effect == rule.effect;
      // A refusal looks at every part between operators, too.
      bool wanted = Slowly(pattern, text, [&](char c) { return !allow || c != ';'; });
      for (size_t at = 0; !allow && at <= text.size();) {
        const size_t end = std::min(text.find(';', at), text.size());
        wanted =
            wanted || (end > at && Slowly(pattern, text.substr(at, end - at), [](char) { return true; }));
        at = end + 1;
      }
      CHECK(found == wanted);
      matched += found;
    }
  }
  CHECK(matched > 2'000);
}

TEST_CASE("A1 paths match as their components do, and what a pattern allows lies in the folder it names") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  const List in_patterns = {"**", "*", "a", "b", "a*", "?"}, names = {"a", "b", "aa", "..", "."};
  const std::function<bool(const List&, size_t, const List&, size_t)> slowly = [&](const List& p, size_t i,
                                                                                   const List& t, size_t j) {
    if (i == p.size()) return j == t.size();
    if (p[i] == "**") {
      for (size_t n = j; n <= t.size(); ++n) {
        if (slowly(p, i + 1, t, n)) return true;
      }
      return false;
    }
    return j < t.size() && Slowly(p[i], t[j], [](char) { return true; }) && slowly(p, i + 1, t, j + 1);
  };
  size_t matched = 0;
  for (int round = 0; round < 20'000; ++round) {
    List pattern, path = {"p"};
    std::string pattern_text, path_text;
    for (size_t n = 1 + random.Below(4); n > 0; --n) {
      pattern.push_back(random.Of(in_patterns));
      pattern_text += (pattern_text.empty() ? "" : "/") + pattern.back();
    }
    for (size_t n = 1 + random.Below(5); n > 0; --n) {
      const std::string& name = random.Of(names);
      path_text += (path_text.empty() ? "" : "/") + name;
      if (name == "..") {
        if (!path.empty()) path.pop_back();
      } else if (name != ".") {
        path.push_back(name);
      }
    }
    CAPTURE(pattern_text);
    CAPTURE(path_text);
    const bool inside = !path.empty() && path[0] == "p";
    const List rest(path.begin() + (inside ? 1 : 0), path.end());
    List at_least_one = pattern;
    if (pattern.back() == "**") at_least_one.push_back("*");
    bool part_of = false;  // a folder on the way to it matches
    for (size_t n = 0; n <= rest.size(); ++n) {
      part_of =
          part_of || slowly(pattern, 0, List(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(n)), 0);
    }
    Request request;
    request.kind = "edit";
    request.paths = {path_text};
    PermissionRule rule;
    rule.patterns = {pattern_text};
    for (const bool allow : {true, false}) {
      rule.effect = allow ? Effect::kAllow : Effect::kRefuse;
      PermissionRules rules;
      REQUIRE(rules.Add(rule, kNow).ok());
      const bool found = rules.Decide({"", "", "", "/p"}, request.View(), kNow).effect == rule.effect;
      CHECK(found == (inside && (allow ? slowly(at_least_one, 0, rest, 0) : part_of)));
      matched += found;
    }
  }
  CHECK(matched > 2'000);
}

TEST_CASE("A1 any text is a rule or is not one: what is read is written and read the same") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  Draw draw{random};
  size_t broken = 0;
  for (int round = 0; round < 5'000; ++round) {
    PermissionRule rule = draw.Rule();
    rule.id = 1 + random.Below(9);
    const auto read = PermissionRuleFromJson(ToJson(rule));
    REQUIRE_MESSAGE(read.ok(), MessageOf(read.status()));
    CHECK(*read == rule);
    std::string text = ToJson(rule);
    for (size_t n = 1 + random.Below(3); n > 0; --n) {
      const size_t at = random.Below(text.size());
      switch (random.Below(3)) {
        case 0:
          text.erase(at, 1);
          break;
        case 1:
          text.insert(at, 1, random.Of(std::vector<char>{'"', '\\', ',', 'x', '{', ']', '*', '1'}));
          break;
        default:
          text[at] = static_cast<char>(random.Below(256));
      }
      if (text.empty()) break;
    }
    const auto other = PermissionRuleFromJson(text);
    if (other.ok()) {
      const auto again = PermissionRuleFromJson(ToJson(*other));
      REQUIRE_MESSAGE(again.ok(), MessageOf(again.status()));
      CHECK(*again == *other);
      // A rule that did not allow is not made to by damage to anything but the word itself.
      if (other->effect == Effect::kAllow) CHECK(text.find("\"allow\"") != std::string::npos);
    } else {
      ++broken;
      CHECK(!MessageOf(other.status()).empty());
    }
    PermissionRules rules;
    const auto problems = rules.Load("{\"version\":1,\"rules\":[" + text + "]}");
    if (problems.ok()) CHECK(problems->size() + rules.List({0, 0}).size() >= 1);
  }
  CHECK(broken > 1'000);
}

}  // namespace
}  // namespace watchbill::acp
