#include "permission_fixture.hpp"

namespace watchbill::acp {
namespace {

using namespace permission_tests;

TEST_CASE("A1 where no rule matches, a person is asked") {
  Fixture f;
  const PermissionDecision decision = f.Decide(Asked().Command("ls"));
  CHECK(decision.effect == Effect::kAsk);
  CHECK(decision.rule == 0);
  CHECK(!decision.option_id);
  f.Add(Rule(Effect::kAllow, {}, "read"));
  CHECK(Said(f.Decide(Asked().Command("ls"))) == "ask");
}

TEST_CASE("A1 an option is chosen by its kind: never by its name, its id or its place") {
  struct Row {
    std::vector<PermissionOption> options;
    std::string allow, refuse;
  };
  const Row rows[] = {
      {kOptions, "allow a2", "refuse r1"},
      {{{"x", "", "reject_always", {}}, {"y", "", "allow_always", {}}}, "allow y", "refuse x"},
      {{{"allow", "Allow", "reject_once", {}}, {"reject", "Reject", "allow_once", {}}},
       "allow reject",
       "refuse allow"},
      {{{"selected", "Allow", "reject_once", {}}}, "ask", "refuse selected"},
      {{{"ok", "Allow once", "allow_with_care", {}}, {"no", "Reject", "reject_softly", {}}}, "ask", "refuse"},
      {{{"ok", "", "Allow_Once", {}}, {"no", "", "", {}}}, "ask", "refuse"},
      {{{"1", "", "allow_once", {}}, {"2", "", "allow_once", {}}}, "allow 1", "refuse"},
      {{}, "ask", "refuse"},
  };
  for (const Row& row : rows) {
    Asked asked;
    asked.request.options = row.options;
    for (const Effect effect : {Effect::kAllow, Effect::kRefuse}) {
      Fixture f;
      const uint64_t id = f.Add(Rule(effect));
      const PermissionDecision decision = f.Decide(asked);
      CHECK(Said(decision) == (effect == Effect::kAllow ? row.allow : row.refuse));
      CHECK(decision.rule == id);
      CHECK(decision.option_id.has_value() == decision.option_kind.has_value());
      if (decision.option_kind) {
        CHECK(Allows(*decision.option_kind) == (effect == Effect::kAllow));
        CHECK(Rejects(*decision.option_kind) == (effect == Effect::kRefuse));
      }
    }
  }
}

TEST_CASE("A1 all that a rule names has to match") {
  struct Row {
    std::string rule;
    bool matches;
  };
  const Row rows[] = {
      {R"({"effect":"refuse"})", true},
      {R"({"effect":"refuse","kind":"execute"})", true},
      {R"({"effect":"refuse","kind":"Execute"})", false},
      {R"({"effect":"refuse","kind":"other"})", false},
      {R"({"effect":"refuse","tool":"Bash"})", true},
      {R"({"effect":"refuse","tool":"bash"})", false},
      {R"({"effect":"refuse","tool":"Bash","kind":"execute","pattern":"ls*","agent":"codex","session":"s1"})",
       true},
      {R"({"effect":"refuse","tool":"Bash","kind":"read","pattern":"ls*"})", false},
      {R"({"effect":"refuse","tool":"Bash","pattern":"cat*"})", false},
      {R"({"effect":"refuse","pattern":["cat*","ls*"]})", true},
      {R"({"effect":"refuse","pattern":"ls*","about":"path"})", false},
      {R"({"effect":"refuse","pattern":"ls*","about":"command"})", true},
      {R"({"effect":"refuse","agent":"codex"})", true},
      {R"({"effect":"refuse","agent":"Codex"})", false},
      {R"({"effect":"refuse","agent":"gemini"})", false},
      {R"({"effect":"refuse","agent":"codex","session":"s2"})", false},
      {R"({"effect":"refuse","agent":"gemini","session":"s1"})", false},
      {R"({"effect":"refuse","agent":"codex","session":"s1","lasts":"turn","turn":"t1"})", true},
      {R"({"effect":"refuse","agent":"codex","session":"s1","lasts":"turn","turn":"t2"})", false},
      {R"({"effect":"refuse","until":"2023-11-14T22:13:20.001Z"})", true},
      {R"({"effect":"refuse","until":"2023-11-14T22:13:20.000Z"})", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.rule);
    for (const bool allow : {false, true}) {
      auto rule = PermissionRuleFromJson(row.rule);
      REQUIRE_MESSAGE(rule.ok(), MessageOf(rule.status()));
      if (allow) rule->effect = Effect::kAllow;
      Fixture f;
      f.Add(*rule);
      const Effect wanted = !row.matches ? Effect::kAsk : allow ? Effect::kAllow : Effect::kRefuse;
      CHECK(f.Decide(Asked().Command("ls -l").Tool("Bash")).effect == wanted);
    }
  }
}

TEST_CASE("A1 a kind that is not known is matched by its own word, and one that is not said is other") {
  Fixture f;
  f.Add(Rule(Effect::kAllow, {}, "levitate"));
  f.Add(Rule(Effect::kRefuse, {}, "other"));
  CHECK(Said(f.Decide(Asked().Kind("levitate").Title("up"))) == "allow a2");
  CHECK(Said(f.Decide(Asked().Kind("levitate2").Title("up"))) == "ask");
  CHECK(Said(f.Decide(Asked().Title("up"))) == "refuse r1");
  CHECK(Said(f.Decide(Asked().Kind("").Title("up"))) == "refuse r1");
  // An empty word is not remembered as any.
  Fixture g;
  Asked asked;
  asked.Kind("").Tool("").Title("up");
  CHECK(!g.rules
             .Remember(kHere, asked.request, "allow_always", {Covers::kTool, false, RuleLasts::kSession, 0},
                       kNow)
             .ok());
  g.Remember(asked, "allow_always", {});
  CHECK(g.rules.List(kNow).at(0).kind == "other");
}

TEST_CASE("A1 a refusal wins whatever its scope, then the narrower rule, then the later") {
  struct Part {
    Effect effect;
    bool pattern, tool, kind;
    int where;  // 0: everywhere, 1: the agent, 2: the session
  };
  struct Row {
    std::vector<Part> rules;
    size_t decides;
  };
  constexpr auto kA = Effect::kAsk, kY = Effect::kAllow, kN = Effect::kRefuse;
  const Row rows[] = {
      {{{kN, false, false, false, 0}, {kY, true, true, true, 2}}, 0},
      {{{kY, true, false, false, 0}, {kA, false, true, true, 2}}, 0},
      {{{kY, false, true, false, 0}, {kA, false, false, true, 2}}, 0},
      {{{kY, false, false, true, 0}, {kA, false, false, false, 2}}, 0},
      {{{kY, true, true, false, 0}, {kA, true, false, true, 2}}, 0},
      {{{kA, false, false, true, 1}, {kY, false, false, true, 0}}, 0},
      {{{kA, false, false, true, 2}, {kY, false, false, true, 1}}, 0},
      {{{kA, false, false, true, 1}, {kY, false, false, true, 1}}, 1},
      {{{kY, false, false, true, 1}, {kA, false, false, true, 1}}, 1},
      {{{kN, false, false, false, 0}, {kN, true, false, false, 0}, {kY, true, true, true, 2}}, 1},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    Fixture f;
    std::vector<uint64_t> ids;
    for (const Part& part : rows[i].rules) {
      PermissionRule rule;
      rule.effect = part.effect;
      if (part.pattern) rule.patterns = {"git *"};
      if (part.tool) rule.tool = "Bash";
      if (part.kind) rule.kind = "execute";
      if (part.where > 0) rule.agent = "codex";
      if (part.where > 1) rule.session = "s1";
      ids.push_back(f.Add(rule));
    }
    const PermissionDecision decision = f.Decide(Asked().Command("git log").Tool("Bash"));
    CHECK(decision.rule == ids[rows[i].decides]);
    CHECK(decision.effect == rows[i].rules[rows[i].decides].effect);
  }
}

TEST_CASE("A1 of two alike, the later made decides; at the same moment, the one that a person answered") {
  Fixture f;
  const uint64_t ask = f.Add(Rule(Effect::kAsk, {}, "read"), {0, 2'000});
  const uint64_t allow = f.Add(Rule(Effect::kAllow, {}, "read"), {0, 1'000});
  CHECK(f.Decide(Asked().Kind("read")).rule == ask);
  CHECK(f.rules.ForgetConfigured() == 2);
  CHECK(ask != allow);
  PermissionRule told = Rule(Effect::kAllow, {}, "read");
  told.agent = "codex";
  told.source = RuleSource::kRemembered;
  const uint64_t remembered = f.Add(told);
  PermissionRule written = Rule(Effect::kAsk, {}, "read");
  written.agent = "codex";
  f.Add(written);
  CHECK(f.Decide(Asked().Kind("read")).rule == remembered);
}

TEST_CASE("A1 rules end as they say: with the turn, with the session, at the time") {
  Fixture f;
  const auto at = [](int64_t ms) { return Now{0, ms}; };
  Asked a, b, c, d;
  const int64_t until = kNow.wall_ms + 1'000;
  f.Remember(a.Command("a"), "allow_always", {Covers::kSubject, false, RuleLasts::kTurn, 0});
  f.Remember(b.Command("b"), "allow_always", {Covers::kSubject, false, RuleLasts::kSession, 0});
  f.Remember(c.Command("c"), "allow_always", {Covers::kSubject, true, RuleLasts::kUntil, until});
  f.Remember(d.Command("d"), "allow_always", {Covers::kSubject, false, RuleLasts::kForGood, 0});
  PermissionRule written = Rule(Effect::kAsk);
  written.agent = "codex";
  written.session = "s1";
  f.Add(written);
  CHECK(f.rules.List(kNow).size() == 5);
  CHECK(Said(f.Decide(a, {"codex", "s1", "t2", "/project"})) == "ask");
  CHECK(f.rules.EndTurn("codex", "s1", "t2") == 0);
  CHECK(f.rules.EndTurn("codex", "s2", "t1") == 0);
  CHECK(f.rules.EndTurn("gemini", "s1", "t1") == 0);
  CHECK(Said(f.Decide(a)) == "allow a2");
  CHECK(f.rules.EndTurn("codex", "s1", "t1") == 1);
  CHECK(Said(f.Decide(a)) == "ask");

  CHECK(Said(f.rules.Decide(kHere, c.request, at(until - 1))) == "allow a2");
  CHECK(Said(f.rules.Decide(kHere, c.request, at(until))) == "ask");
  CHECK(f.rules.List(at(until)).size() == 3);
  CHECK(f.rules.Expire(at(until - 1)) == 0);
  CHECK(f.rules.Expire(at(until)) == 1);

  CHECK(f.rules.ForgetSession("codex", "s2") == 0);
  CHECK(f.rules.ForgetSession("codex", "") == 0);
  CHECK(f.rules.ForgetSession("codex", "s1") == 2);
  CHECK(f.Words() ==
        List{"codex has to ask before it may do anything in this conversation, as it is configured"});
  CHECK(f.rules.ForgetConfigured() == 1);
  CHECK(f.rules.List(kNow).empty());
}

TEST_CASE("A1 a rule is taken back by its id, which no other rule has after it") {
  Fixture f;
  Asked asked;
  const uint64_t first = f.Remember(asked.Command("a"), "allow_always", {});
  const uint64_t configured = f.Add(Rule(Effect::kAllow));
  CHECK(configured == PermissionRules::kFirstConfigured);
  CHECK(f.rules.Forget(first).ok());
  CHECK(f.rules.Forget(first).code() == absl::StatusCode::kNotFound);
  CHECK(f.rules.Forget(configured).code() == absl::StatusCode::kFailedPrecondition);
  CHECK(f.Remember(asked, "allow_always", {}) == first + 1);
}

}  // namespace
}  // namespace watchbill::acp
