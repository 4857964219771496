#include "watchbill/acp/permission_rules.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "permission_rule_text.hpp"
#include "permission_subjects.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {
namespace {

using Effect = PermissionEffect;

bool Over(const PermissionRule& rule, Now now) {
  return rule.lasts == RuleLasts::kUntil && now.wall_ms >= rule.until_ms;
}

bool Covers(const PermissionRule& rule, const PermissionContext& context) {
  if (!rule.agent.empty() && rule.agent != context.agent) return false;
  if (!rule.session.empty() && rule.session != context.session) return false;
  return rule.lasts != RuleLasts::kTurn || rule.turn == context.turn;
}

bool AnyMatches(const std::vector<std::string>& patterns, std::string_view text, Wildcards wildcards) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return GlobMatches(pattern, text, wildcards); });
}

// An allowing pattern has to match all that the request is about.
bool AllowsAll(const PermissionRule& rule, const PermissionSubjects& subjects) {
  if (!subjects.primary || (rule.about && *rule.about != *subjects.primary)) return false;
  switch (*subjects.primary) {
    case SubjectKind::kCommand:
      return AnyMatches(rule.patterns, subjects.command, Wildcards::kGuarded);
    case SubjectKind::kTitle:
      return AnyMatches(rule.patterns, subjects.title, Wildcards::kGuarded);
    case SubjectKind::kPath:
      return std::all_of(subjects.paths.begin(), subjects.paths.end(), [&](const LexicalPath& path) {
        return std::any_of(rule.patterns.begin(), rule.patterns.end(), [&](const std::string& pattern) {
          return PathMatches(pattern, path, subjects.folder, PathRule::kAllowing);
        });
      });
  }
  return false;
}

// Any other has to match something that the request names, wherever it names it.
bool FindsAny(const PermissionRule& rule, const PermissionSubjects& subjects) {
  const auto about = [&](SubjectKind kind) { return !rule.about || *rule.about == kind; };
  const auto in = [&](const std::vector<std::string>& forms) {
    return std::any_of(forms.begin(), forms.end(), [&](const std::string& form) {
      return AnyMatches(rule.patterns, form, Wildcards::kFree);
    });
  };
  if (about(SubjectKind::kCommand) && in(subjects.command_forms)) return true;
  if (about(SubjectKind::kTitle) && in(subjects.title_forms)) return true;
  return about(SubjectKind::kPath) &&
         std::any_of(subjects.paths.begin(), subjects.paths.end(), [&](const LexicalPath& path) {
           return std::any_of(rule.patterns.begin(), rule.patterns.end(), [&](const std::string& pattern) {
             return PathMatches(pattern, path, subjects.folder, PathRule::kRefusing);
           });
         });
}

bool Matches(const PermissionRule& rule, const PermissionContext& context,
             const RequestPermissionRequest& request, const PermissionSubjects& subjects) {
  if (!Covers(rule, context)) return false;
  if (!rule.kind.empty() && rule.kind != ToolKindOf(request)) return false;
  if (!rule.tool.empty() && (!request.tool_call.name || rule.tool != *request.tool_call.name)) return false;
  if (rule.effect == Effect::kAllow && !subjects.certain) return false;
  if (rule.patterns.empty()) return true;
  return rule.effect == Effect::kAllow ? AllowsAll(rule, subjects) : FindsAny(rule, subjects);
}

// The greater decides.
auto Rank(const PermissionRule& rule) {
  const int what =
      (rule.patterns.empty() ? 0 : 4) + (rule.tool.empty() ? 0 : 2) + (rule.kind.empty() ? 0 : 1);
  const int where = !rule.session.empty() ? 2 : !rule.agent.empty() ? 1 : 0;
  return std::tuple(rule.effect == Effect::kRefuse, what, where, rule.made_ms,
                    rule.source == RuleSource::kRemembered, rule.id);
}

const PermissionOption* First(const RequestPermissionRequest& request, Text kind, Text else_kind) {
  for (const Text wanted : {kind, else_kind}) {
    for (const PermissionOption& option : request.options) {
      if (option.kind == wanted) return &option;
    }
  }
  return nullptr;
}

bool Lasting(const PermissionRule& rule) {
  return rule.lasts == RuleLasts::kUntil || rule.lasts == RuleLasts::kForGood;
}

bool IsRemembered(const PermissionRule& rule) { return rule.source == RuleSource::kRemembered; }

// The same but for when it was made and how long "until" is.
bool SameRule(PermissionRule a, const PermissionRule& b) {
  a.id = b.id;
  a.made_ms = b.made_ms;
  a.until_ms = b.until_ms;
  return a == b;
}

}  // namespace

PermissionDecision PermissionRules::Decide(const PermissionContext& context,
                                           const RequestPermissionRequest& request, Now now) const {
  const PermissionSubjects subjects = SubjectsOf(request, context.folder);
  const PermissionRule* found = nullptr;
  for (const PermissionRule& rule : rules_) {
    if (Over(rule, now) || (found != nullptr && Rank(rule) < Rank(*found))) continue;
    if (Matches(rule, context, request, subjects)) found = &rule;
  }
  PermissionDecision decision;
  if (found == nullptr) return decision;
  decision.rule = found->id;
  if (found->effect == Effect::kAsk) return decision;
  const bool allow = found->effect == Effect::kAllow;
  const PermissionOption* option =
      allow ? First(request, "allow_once", "allow_always") : First(request, "reject_once", "reject_always");
  if (allow && option == nullptr) return decision;
  decision.effect = found->effect;
  if (option != nullptr) {
    decision.option_id = option->option_id;
    decision.option_kind = option->kind;
  }
  return decision;
}

size_t PermissionRules::Count(RuleSource source) const {
  return static_cast<size_t>(
      std::count_if(rules_.begin(), rules_.end(), [&](const auto& r) { return r.source == source; }));
}

absl::StatusOr<uint64_t> PermissionRules::Add(PermissionRule rule, Now now) {
  if (const std::string problem = ProblemOf(rule); !problem.empty()) {
    return absl::InvalidArgumentError("the rule cannot be used: " + problem);
  }
  const bool remembered = IsRemembered(rule);
  const auto full = [&] { return Count(rule.source) >= (remembered ? kMaxRemembered : kMaxConfigured); };
  if (full()) Expire(now);
  uint64_t& next = remembered ? next_remembered_ : next_configured_;
  if (full() || (remembered && next >= kFirstConfigured)) {
    return absl::ResourceExhaustedError(
        remembered ? fmt::format("{} answers are remembered, and no more can be: forget some of them first",
                                 kMaxRemembered)
                   : fmt::format("{} rules are configured, and no more can be", kMaxConfigured));
  }
  rule.id = next++;
  rule.made_ms = now.wall_ms;
  rules_.push_back(std::move(rule));
  return rules_.back().id;
}

absl::StatusOr<PermissionRule> PermissionRules::Remembered(const PermissionContext& context,
                                                           const RequestPermissionRequest& request,
                                                           Effect effect,
                                                           const PermissionExtent& extent) const {
  const ToolCallUpdate& call = request.tool_call;
  PermissionRule rule;
  rule.effect = effect;
  rule.source = RuleSource::kRemembered;
  rule.lasts = extent.lasts;
  rule.agent = context.agent;
  const bool passing = extent.lasts == RuleLasts::kTurn || extent.lasts == RuleLasts::kSession;
  if (extent.whole_agent && passing) {
    return absl::InvalidArgumentError("what lasts a turn or a session is for one session alone");
  }
  if (rule.agent.empty()) return absl::FailedPreconditionError("it is not said which agent asks");
  if (!extent.whole_agent) {
    rule.session = context.session;
    if (rule.session.empty()) return absl::FailedPreconditionError("it is not said which session asks");
  }
  if (extent.lasts == RuleLasts::kTurn) {
    rule.turn = context.turn;
    if (rule.turn.empty()) return absl::FailedPreconditionError("it is not said which turn asks");
  }
  if (extent.lasts == RuleLasts::kUntil) rule.until_ms = extent.until_ms;
  if (call.name && !call.name->empty()) {
    rule.tool = *call.name;
  } else {
    rule.kind = ToolKindOf(request);
  }
  if (extent.covers == PermissionExtent::Covers::kTool) {
    if (rule.kind == "other") {
      return absl::FailedPreconditionError("the request names neither its tool nor a kind of tool");
    }
  } else {
    const PermissionSubjects subjects = SubjectsOf(request, context.folder);
    if (!subjects.primary) {
      return absl::FailedPreconditionError("the request names no command, no file and no title");
    }
    if (!subjects.certain) {
      return absl::FailedPreconditionError("what the request is about is too long, or cannot be read");
    }
    rule.about = subjects.primary;
    if (rule.about == SubjectKind::kPath && !subjects.paths.front().absolute) {
      return absl::FailedPreconditionError("the request's paths are relative, and no folder is known");
    }
    for (const std::string& text : subjects.Texts()) rule.patterns.push_back(LiteralPattern(text));
  }
  if (const std::string problem = ProblemOf(rule); !problem.empty()) {
    const bool until = extent.lasts == RuleLasts::kUntil && rule.until_ms <= 0;
    const std::string text = "this cannot be remembered: " + problem;
    return until ? absl::InvalidArgumentError(text) : absl::FailedPreconditionError(text);
  }
  return rule;
}

absl::StatusOr<uint64_t> PermissionRules::Remember(const PermissionContext& context,
                                                   const RequestPermissionRequest& request, Text option_kind,
                                                   const PermissionExtent& extent, Now now) {
  if (option_kind != "allow_always" && option_kind != "reject_always") return uint64_t{0};
  const Effect effect = Allows(option_kind) ? Effect::kAllow : Effect::kRefuse;
  auto rule = Remembered(context, request, effect, extent);
  if (!rule.ok()) return rule.status();
  if (Over(*rule, now)) return absl::InvalidArgumentError("the time until which to remember it is past");
  for (PermissionRule& old : rules_) {
    if (!Over(old, now) && SameRule(*rule, old)) {
      old.until_ms = rule->until_ms;
      old.made_ms = now.wall_ms;
      return old.id;
    }
  }
  return Add(*std::move(rule), now);
}

std::vector<PermissionProposal> PermissionRules::Proposals(const PermissionContext& context,
                                                           const RequestPermissionRequest& request) const {
  using C = PermissionExtent::Covers;
  constexpr PermissionExtent kExtents[] = {
      {C::kSubject, false, RuleLasts::kTurn, 0},   {C::kSubject, false, RuleLasts::kSession, 0},
      {C::kSubject, true, RuleLasts::kForGood, 0}, {C::kTool, false, RuleLasts::kTurn, 0},
      {C::kTool, false, RuleLasts::kSession, 0},   {C::kTool, true, RuleLasts::kForGood, 0}};
  std::vector<PermissionProposal> proposals;
  for (const bool allow : {true, false}) {
    if (allow && First(request, "allow_once", "allow_always") == nullptr) continue;
    for (const PermissionExtent& extent : kExtents) {
      const auto rule = Remembered(context, request, allow ? Effect::kAllow : Effect::kRefuse, extent);
      if (!rule.ok()) continue;
      proposals.push_back({allow ? "allow_always" : "reject_always", extent, WordsFor(*rule)});
    }
  }
  return proposals;
}

std::vector<PermissionRule> PermissionRules::List(Now now) const {
  std::vector<PermissionRule> out;
  for (const PermissionRule& rule : rules_) {
    if (!Over(rule, now)) out.push_back(rule);
  }
  return out;
}

absl::Status PermissionRules::Forget(uint64_t id) {
  const auto it = std::find_if(rules_.begin(), rules_.end(), [&](const auto& r) { return r.id == id; });
  if (it == rules_.end()) return absl::NotFoundError(fmt::format("there is no rule {}", id));
  if (!IsRemembered(*it)) {
    return absl::FailedPreconditionError(
        fmt::format("rule {} stands in the configuration, and has to be taken out there", id));
  }
  rules_.erase(it);
  return absl::OkStatus();
}

size_t PermissionRules::ForgetSession(Text agent, Text session) {
  return std::erase_if(rules_, [&](const PermissionRule& rule) {
    return IsRemembered(rule) && !rule.session.empty() && rule.agent == agent && rule.session == session;
  });
}

size_t PermissionRules::EndTurn(Text agent, Text session, Text turn) {
  return std::erase_if(rules_, [&](const PermissionRule& rule) {
    return IsRemembered(rule) && rule.lasts == RuleLasts::kTurn && rule.agent == agent &&
           rule.session == session && rule.turn == turn;
  });
}

size_t PermissionRules::Expire(Now now) {
  return std::erase_if(rules_, [&](const PermissionRule& rule) { return Over(rule, now); });
}

size_t PermissionRules::ForgetConfigured() {
  return std::erase_if(rules_, [](const PermissionRule& rule) { return !IsRemembered(rule); });
}

std::string PermissionRules::Save() const {
  std::vector<const PermissionRule*> lasting;
  for (const PermissionRule& rule : rules_) {
    if (IsRemembered(rule) && Lasting(rule)) lasting.push_back(&rule);
  }
  return SavedText(lasting, next_remembered_);
}

absl::StatusOr<std::vector<RuleProblem>> PermissionRules::Load(std::string_view json) {
  auto saved = ReadSaved(json);
  if (!saved.ok()) return saved.status();
  std::erase_if(rules_, IsRemembered);
  for (PermissionRule& rule : saved->rules) {
    next_remembered_ = std::max(next_remembered_, rule.id + 1);
    rules_.push_back(std::move(rule));
  }
  next_remembered_ = std::max(next_remembered_, saved->next);
  return std::move(saved->problems);
}

std::string LiteralPattern(std::string_view subject) { return EscapeGlob(subject); }

}  // namespace watchbill::acp
