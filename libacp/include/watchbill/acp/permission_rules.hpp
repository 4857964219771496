// Rules that answer what an agent asks permission for. They last as long as they say, are listed in words,
// and can be taken back. What they mean is told in docs/protocols/permission-rules.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/acp/turn.hpp"
#include "watchbill/base/now.hpp"

namespace watchbill::acp {

enum class PermissionEffect : uint8_t { kAsk = 0, kAllow = 1, kRefuse = 2 };
// What a request is about: the command line it would run, the files it would touch, or, where it names
// neither, its title.
enum class SubjectKind : uint8_t { kCommand = 0, kPath = 1, kTitle = 2 };
enum class RuleLasts : uint8_t { kTurn = 0, kSession = 1, kUntil = 2, kForGood = 3 };
enum class RuleSource : uint8_t { kConfigured = 0, kRemembered = 1 };

// Everything that is given has to match; a rule in which nothing is given matches every request.
struct PermissionRule {
  uint64_t id = 0;  // given when it is added; never used again, and the same after Save and Load
  PermissionEffect effect = PermissionEffect::kAsk;
  std::string kind;                   // of the tool call, the very word; empty: any
  std::string tool;                   // the tool's name, exactly; empty: any
  std::optional<SubjectKind> about;   // the patterns are for subjects of this kind alone
  std::vector<std::string> patterns;  // any of them; none: whatever the subject
  std::string agent;                  // empty: every agent
  std::string session;                // of that agent; empty: every one
  RuleLasts lasts = RuleLasts::kForGood;
  std::string turn;      // of kTurn
  int64_t until_ms = 0;  // of kUntil: on the wall clock, which a restart does not stop
  RuleSource source = RuleSource::kConfigured;
  int64_t made_ms = 0;  // on the wall clock
  bool operator==(const PermissionRule&) const = default;
};

// A sentence in English, with what a page needs to say it in another language: `code` is
// "effect.what.span", each of a closed list (docs/protocols/permission-rules.md), `args` are by name.
struct Wording {
  std::string code;
  std::vector<std::pair<std::string_view, std::string>> args;
  std::string text;
  bool operator==(const Wording&) const = default;
};
// What a rule does, where and for how long. Subjects are cut for showing, with "…", and line breaks shown as
// ⏎.
Wording WordsFor(const PermissionRule& rule);

// The rule as a JSON object, and back. InvalidArgument says what is wrong: a member of the wrong kind, one
// that stands twice, a word that is not known; in a rule that allows, also a member that is not known, since
// it may have narrowed the rule. What is left out has its default; `id` and `made` may be.
std::string ToJson(const PermissionRule& rule);
absl::StatusOr<PermissionRule> PermissionRuleFromJson(std::string_view json);

// The pattern that matches this subject alone.
std::string LiteralPattern(std::string_view subject);

// Where a request comes from.
struct PermissionContext {
  Text agent;    // as rules call it: compared exactly
  Text session;  // the conversation
  Text turn;     // any word that no other turn of the session has; empty: rules of a turn do not match
  Text folder;  // the session's working folder, absolute; else paths that are relative match no allowing rule
};

struct PermissionDecision {
  PermissionEffect effect = PermissionEffect::kAsk;
  uint64_t rule = 0;  // the one that decided; 0: none matched
  // What to answer, of the request's own options. Nothing where a person is to be asked, and where a refusal
  // finds no option that rejects: then the answer is "cancelled".
  OptText option_id, option_kind;
};

// How far an answer is to be remembered. Never beyond the agent it was given to.
struct PermissionExtent {
  enum class Covers : uint8_t {
    kSubject = 0,  // this very command, these very files, this very title; of this tool, else of this kind
    kTool = 1      // all that the tool does, or tools of the kind where it has no name
  };
  Covers covers = Covers::kSubject;
  bool whole_agent = false;               // else this session alone
  RuleLasts lasts = RuleLasts::kSession;  // kTurn and kSession are never for the whole agent
  int64_t until_ms = 0;
  bool operator==(const PermissionExtent&) const = default;
};
struct PermissionProposal {
  Text option_kind;  // what to hand to Remember: "allow_always" or "reject_always"
  PermissionExtent extent;
  Wording words;
};

struct RuleProblem {
  size_t position = 0;  // in the list, from 0
  std::string text;
};

// All rules of a host. It is pure: no clock, no disk. Const calls may come from several threads at once, any
// other needs it alone.
//
// A request is to be complete: what the agent told of the tool call before, and did not say again, filled in.
class PermissionRules {
 public:
  static constexpr size_t kMaxRemembered = 1'000;
  static constexpr size_t kMaxConfigured = 1'000;
  static constexpr size_t kMaxPatterns = 32;
  static constexpr size_t kMaxPatternBytes = 8'192;
  static constexpr size_t kMaxWordBytes = 1'024;  // of kind, tool, agent, session, turn
  // A request with more to look at, or with more paths, is refused or asked about, never allowed by a rule.
  static constexpr size_t kMaxSubjectBytes = 256 * 1024;
  static constexpr size_t kMaxPaths = 1'000;
  // Configured rules have ids from here; they are not saved.
  static constexpr uint64_t kFirstConfigured = uint64_t{1} << 40;

  // Adds a rule as it is, but for its id, which is the result, and `made_ms`, which is now's. For a
  // configured rule, `now` is best the time its file was changed: among rules that are equally specific the
  // later wins. InvalidArgument says what is wrong with it; ResourceExhausted: there are as many as there can
  // be.
  absl::StatusOr<uint64_t> Add(PermissionRule rule, Now now);

  // A refusal that matches wins. Else the most specific rule that matches: pattern over tool over kind, then
  // session over agent over everywhere, then the later. Where none matches, or an allowing one finds no
  // option that allows: ask. Of the options the kind counts alone, once before always. The texts of the
  // result are the request's.
  PermissionDecision Decide(const PermissionContext& context, const RequestPermissionRequest& request,
                            Now now) const;

  // Makes a rule of what a person answered, by the kind of the option that was chosen. Only allow_always and
  // reject_always make one; for any other kind the result is 0. The same rule made twice is one.
  // FailedPrecondition: the request or the context does not name what is to be remembered;
  // InvalidArgument: the extent does not fit together, or is over; ResourceExhausted: too many rules.
  absl::StatusOr<uint64_t> Remember(const PermissionContext& context, const RequestPermissionRequest& request,
                                    Text option_kind, const PermissionExtent& extent, Now now);
  // What Remember would take, the narrowest first: what allows, where an option does, then what refuses.
  std::vector<PermissionProposal> Proposals(const PermissionContext& context,
                                            const RequestPermissionRequest& request) const;

  // Those that are not over, in the order they were added.
  std::vector<PermissionRule> List(Now now) const;

  // NotFound; FailedPrecondition: it is configured, and is to be taken out of the configuration.
  absl::Status Forget(uint64_t id);
  // Each gives how many rules went. A session that is forgotten will not come back: whatever was remembered
  // for it alone goes. What is configured only goes with all that is configured.
  size_t ForgetSession(Text agent, Text session);
  size_t EndTurn(Text agent, Text session, Text turn);
  size_t Expire(Now now);
  size_t ForgetConfigured();

  // JSON of what is remembered until a time or for good.
  std::string Save() const;
  // Puts what Save wrote in the place of all that is remembered. A rule that cannot be read is told of and
  // left out. InvalidArgument: it is no such text at all; nothing has changed then.
  absl::StatusOr<std::vector<RuleProblem>> Load(std::string_view json);

 private:
  absl::StatusOr<PermissionRule> Remembered(const PermissionContext& context,
                                            const RequestPermissionRequest& request, PermissionEffect effect,
                                            const PermissionExtent& extent) const;
  size_t Count(RuleSource source) const;

  std::vector<PermissionRule> rules_;
  uint64_t next_remembered_ = 1;
  uint64_t next_configured_ = kFirstConfigured;
};

}  // namespace watchbill::acp
