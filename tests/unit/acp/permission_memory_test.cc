#include "permission_fixture.hpp"

namespace watchbill::acp {
namespace {

using namespace permission_tests;

TEST_CASE("A1 what is remembered is narrow: the agent, the tool or kind, and the very subject") {
  Fixture f;
  Asked asked;
  asked.Command("git status").Tool("Bash");
  const uint64_t id = f.Remember(asked, "allow_always", {});
  REQUIRE(id == 1);
  const PermissionRule rule = f.rules.List(kNow).at(0);
  CHECK(rule.source == RuleSource::kRemembered);
  CHECK(rule.made_ms == kNow.wall_ms);
  CHECK(WordsFor(rule).text ==
        "codex may run \"git status\" with the tool Bash in this conversation, until it ends");
  CHECK(Said(f.Decide(asked)) == "allow a2");
  CHECK(Said(f.Decide(Asked().Command("git status -s").Tool("Bash"))) == "ask");
  CHECK(Said(f.Decide(Asked().Command("git status").Tool("Zsh"))) == "ask");
  CHECK(Said(f.Decide(Asked().Command("git status"))) == "ask");
  CHECK(Said(f.Decide(Asked().Kind("execute").Tool("Bash").At({"git status"}))) == "ask");
  CHECK(Said(f.Decide(asked, {"gemini", "s1", "t1", "/project"})) == "ask");
  CHECK(Said(f.Decide(asked, {"codex", "s2", "t1", "/project"})) == "ask");
  CHECK(Said(f.Decide(asked, {"codex", "s1", "t2", "/elsewhere"})) == "allow a2");

  // Paths are remembered whole, so that another folder does not move them.
  Asked edit;
  edit.Kind("edit").At({"src/*.c", "b"});
  f.Remember(edit, "allow_always", {Covers::kSubject, true, RuleLasts::kForGood, 0});
  CHECK(f.rules.List(kNow).at(1).patterns == List{"/project/src/\\*.c", "/project/b"});
  CHECK(Said(f.Decide(edit)) == "allow a2");
  CHECK(Said(f.Decide(Asked().Kind("edit").At({"b"}))) == "allow a2");
  CHECK(Said(f.Decide(Asked().Kind("edit").At({"src/x.c"}))) == "ask");
  CHECK(Said(f.Decide(edit, {"codex", "s1", "t1", "/elsewhere"})) == "ask");
  CHECK(Said(f.Decide(Asked().Kind("delete").At({"b"}))) == "ask");
  CHECK(Said(f.Decide(Asked().Kind("edit").At({"b", "c"}))) == "ask");
}

TEST_CASE("A1 only the kinds that are for always make a rule") {
  Fixture f;
  Asked asked;
  asked.Command("ls");
  for (const Text kind : {"allow_once", "reject_once", "allow_ever", "", "always", "Allow_always"}) {
    CHECK(f.Remember(asked, kind, {}) == 0);
  }
  CHECK(f.rules.List(kNow).empty());
  const uint64_t refused = f.Remember(asked, "reject_always", {});
  CHECK(f.Decide(asked).rule == refused);
  CHECK(Said(f.Decide(asked)) == "refuse r1");
  // An allow that is remembered later does not lift it; taking it back does.
  const uint64_t allowed = f.Remember(asked, "allow_always", {});
  CHECK(Said(f.Decide(asked)) == "refuse r1");
  CHECK(f.rules.Forget(refused).ok());
  CHECK(f.Decide(asked).rule == allowed);
  // The same again is the same.
  CHECK(f.Remember(asked, "allow_always", {}) == allowed);
  CHECK(f.rules.List(kNow).size() == 1);
}

TEST_CASE("A1 what cannot be remembered is said") {
  struct Row {
    PermissionContext context;
    PermissionExtent extent;
    bool named;
    absl::StatusCode code;
    std::string text;
  };
  constexpr auto kPre = absl::StatusCode::kFailedPrecondition, kBad = absl::StatusCode::kInvalidArgument;
  const Row rows[] = {
      {{"", "s1", "t1", "/p"}, {}, true, kPre, "it is not said which agent asks"},
      {{"codex", "", "t1", "/p"}, {}, true, kPre, "it is not said which session asks"},
      {{"codex", "s1", "", "/p"},
       {Covers::kSubject, false, RuleLasts::kTurn, 0},
       true,
       kPre,
       "it is not said which turn asks"},
      {kHere, {}, false, kPre, "the request names no command, no file and no title"},
      {kHere,
       {Covers::kTool, false, RuleLasts::kSession, 0},
       false,
       kPre,
       "the request names neither its tool nor a kind of tool"},
      {kHere,
       {Covers::kSubject, true, RuleLasts::kSession, 0},
       true,
       kBad,
       "what lasts a turn or a session is for one session alone"},
      {kHere,
       {Covers::kSubject, true, RuleLasts::kUntil, 0},
       true,
       kBad,
       "this cannot be remembered: it lasts until a time, which is not said"},
      {kHere,
       {Covers::kSubject, true, RuleLasts::kUntil, kNow.wall_ms},
       true,
       kBad,
       "the time until which to remember it is past"},
  };
  for (const Row& row : rows) {
    PermissionRules rules;
    Asked asked;
    if (row.named) asked.Command("ls");
    const auto id = rules.Remember(row.context, asked.request, "allow_always", row.extent, kNow);
    CHECK(id.status().code() == row.code);
    CHECK(MessageOf(id.status()) == row.text);
    CHECK(rules.List(kNow).empty());
  }
  PermissionRules rules;
  const std::string big(PermissionRules::kMaxPatternBytes + 1, 'x');
  CHECK(rules.Remember(kHere, Asked().Command(big).request, "allow_always", {}, kNow).status().code() ==
        kPre);
  const std::string bigger(PermissionRules::kMaxSubjectBytes + 1, 'x');
  CHECK(
      MessageOf(rules.Remember(kHere, Asked().Command(bigger).request, "allow_always", {}, kNow).status()) ==
      "what the request is about is too long, or cannot be read");
}

TEST_CASE("A1 what a page can propose, with its words") {
  Fixture f;
  const auto words = [&](const Asked& asked, const PermissionContext& context = kHere) {
    List out;
    for (const PermissionProposal& p : f.rules.Proposals(context, asked.request)) {
      // What is proposed is taken, and says the same of itself.
      PermissionRules rules;
      const auto id = rules.Remember(context, asked.request, p.option_kind, p.extent, kNow);
      REQUIRE(id.ok());
      CHECK(WordsFor(rules.List(kNow).at(0)) == p.words);
      out.push_back(p.words.code + ": " + p.words.text);
    }
    return out;
  };
  Asked run;
  run.Command("git status");
  CHECK(words(run) ==
        List{"allow.command.turn: codex may run \"git status\" in this turn alone",
             "allow.command.session: codex may run \"git status\" in this conversation, until it ends",
             "allow.command.for-good: codex may run \"git status\", until this is taken back",
             "allow.kind.turn: codex may run commands in this turn alone",
             "allow.kind.session: codex may run commands in this conversation, until it ends",
             "allow.kind.for-good: codex may run commands, until this is taken back",
             "refuse.command.turn: codex may not run \"git status\" in this turn alone",
             "refuse.command.session: codex may not run \"git status\" in this conversation, until it ends",
             "refuse.command.for-good: codex may not run \"git status\", until this is taken back",
             "refuse.kind.turn: codex may not run commands in this turn alone",
             "refuse.kind.session: codex may not run commands in this conversation, until it ends",
             "refuse.kind.for-good: codex may not run commands, until this is taken back"});
  run.request.options = {{"r", "", "reject_once", {}}};
  CHECK(words(run, {"codex", "s1", "", ""}).at(0) ==
        "refuse.command.session: codex may not run \"git status\" in this conversation, until it ends");
  Asked edit;
  edit.Kind("edit").Tool("Write").At({"a", "b", "c", "d", "e"});
  CHECK(words(edit).at(1) ==
        "allow.files.session: codex may work on \"/project/a\", \"/project/b\", \"/project/c\" and 2 more "
        "with the "
        "tool Write in this conversation, until it ends");
  CHECK(words(edit).at(5) == "allow.tool.for-good: codex may use the tool Write, until this is taken back");
  Asked other;
  other.Title("Fetch it");
  CHECK(words(other).size() == 6);  // the title alone, three times to allow and three times to refuse
  CHECK(words(other).at(1) ==
        "allow.title.session: codex may do \"Fetch it\" of the kind \"other\" in this conversation, until it "
        "ends");
  CHECK(words(Asked()).empty());
}

TEST_CASE("A1 the words of rules that are configured, with the arguments of a page") {
  struct Row {
    std::string rule, code, text;
  };
  const Row rows[] = {
      {R"({"effect":"ask"})", "ask.anything.configured",
       "any agent has to ask before it may do anything, as it is configured"},
      {R"({"effect":"allow","kind":"read","pattern":"src/**","about":"path"})", "allow.files-like.configured",
       "any agent may read files like \"src/**\", as it is configured"},
      {R"({"effect":"refuse","pattern":["rm *","dd *"],"about":"command","agent":"codex"})",
       "refuse.commands-like.configured",
       "codex may not run commands like \"rm *\" and \"dd *\", as it is configured"},
      {R"({"effect":"allow","kind":"execute","pattern":"git *"})", "allow.subject.configured",
       "any agent may run commands, where its command, file or title is like \"git *\", as it is configured"},
      {R"({"effect":"allow","kind":"hum","agent":"a","session":"s"})", "allow.kind.session-configured",
       "a may do what is of the kind \"hum\" in this conversation, as it is configured"},
      {R"({"effect":"allow","tool":"Bash","until":"2026-10-01T18:12:00.000Z","agent":"a"})",
       "allow.tool.until", "a may use the tool Bash, until 2026-10-01T18:12:00.000Z"},
      {R"({"effect":"allow","agent":"a","pattern":"a\nb\u202e\u001b[2J","about":"command"})",
       "allow.command.configured", "a may run \"a⏎b\uFFFD\uFFFD[2J\", as it is configured"},
  };
  for (const Row& row : rows) {
    const auto rule = PermissionRuleFromJson(row.rule);
    REQUIRE_MESSAGE(rule.ok(), MessageOf(rule.status()));
    const Wording words = WordsFor(*rule);
    CHECK(words.code == row.code);
    CHECK(words.text == row.text);
  }
  const auto rule = PermissionRuleFromJson(
      R"({"effect":"allow","tool":"T","kind":"k","agent":"a","session":"s","until":"2026-10-01T18:12:00.000Z","pattern":"p?"})");
  REQUIRE(rule.ok());
  CHECK(WordsFor(*rule).args ==
        std::vector<std::pair<std::string_view, std::string>>{{"agent", "a"},
                                                              {"kind", "k"},
                                                              {"tool", "T"},
                                                              {"subject", "\"p?\""},
                                                              {"session", "s"},
                                                              {"until", "2026-10-01T18:12:00.000Z"}});
  PermissionRule huge = Rule(Effect::kAllow, {std::string(5'000, 'x')});
  CHECK(WordsFor(huge).text.size() < 400);
  CHECK(WordsFor(huge).text.find("x…\"") != std::string::npos);
}

TEST_CASE("A1 no more than a thousand answers are remembered, and those that are over make room") {
  Fixture f;
  const auto remember = [&](size_t n, int64_t until, Now now) {
    Asked asked;
    asked.Command("c" + std::to_string(n));
    return f.rules.Remember(kHere, asked.request, "allow_always",
                            {Covers::kSubject, true, RuleLasts::kUntil, until}, now);
  };
  const int64_t until = kNow.wall_ms + 1;
  for (size_t n = 0; n < PermissionRules::kMaxRemembered; ++n) REQUIRE(remember(n, until, kNow).ok());
  const auto full = remember(5'000, until, kNow);
  CHECK(full.status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(MessageOf(full.status()) ==
        "1000 answers are remembered, and no more can be: forget some of them first");
  CHECK(remember(7, until, kNow).ok());  // it is there already
  CHECK(remember(5'000, until + 1, {0, until}).ok());
  CHECK(f.rules.List({0, until}).size() == 1);
  for (size_t n = 0; n < PermissionRules::kMaxConfigured; ++n) f.Add(Rule(Effect::kAsk));
  CHECK(f.rules.Add(Rule(Effect::kAsk), kNow).status().code() == absl::StatusCode::kResourceExhausted);
}

TEST_CASE("A1 a rule that cannot be read is refused with what is wrong, and never becomes one that allows") {
  struct Row {
    std::string rule, text;
  };
  const Row rows[] = {
      {"[]", "a rule is an object"},
      {"{}", "\"effect\" is not there: ask, allow or refuse"},
      {R"({"effect":"yes"})", "\"effect\" is one of ask, allow, refuse, and not \"yes\""},
      {R"({"effect":"Allow"})", "\"effect\" is one of ask, allow, refuse, and not \"Allow\""},
      {R"({"effect":null})", "\"effect\" is one of ask, allow, refuse"},
      {R"({"effect":"refuse","effect":"allow"})", "\"effect\" stands twice"},
      {R"({"effect":"allow","unless":"x"})",
       "it allows, and has a member that is not known, which may limit it: unless"},
      {R"({"unless":"x","effect":"allow"})",
       "it allows, and has a member that is not known, which may limit it: unless"},
      {R"({"effect":"allow","kind":""})", "\"kind\" is a text that is not empty"},
      {R"({"effect":"allow","kind":null})", "\"kind\" is a text that is not empty"},
      {R"({"effect":"allow","tool":["a"]})", "\"tool\" is a text that is not empty"},
      {R"({"effect":"allow","pattern":[]})", "\"pattern\" is a text, or a list of texts"},
      {R"({"effect":"allow","pattern":{}})", "\"pattern\" is a text, or a list of texts"},
      {R"({"effect":"allow","pattern":null})", "\"pattern\" is a text, or a list of texts"},
      {R"({"effect":"allow","pattern":["a",1]})", "\"pattern\" is a text, or a list of texts"},
      {R"({"effect":"allow","pattern":""})", "the pattern \"\" is empty"},
      {R"({"effect":"allow","pattern":"a\\"})",
       "the pattern \"a\\\" ends in a backslash that nothing follows"},
      {R"({"effect":"allow","pattern":"a/../b","about":"path"})",
       "the pattern \"a/../b\" has a \"..\" that is not at its beginning"},
      {R"({"effect":"allow","pattern":"a","about":"file"})",
       "\"about\" is one of command, path, title, and not \"file\""},
      {R"({"effect":"allow","about":"path"})", "\"about\" says what a pattern is for, and there is none"},
      {R"({"effect":"allow","session":"s"})", "a session is one of an agent, which is not named"},
      {R"({"effect":"allow","lasts":"session"})",
       "what lasts a turn or a session is for a session, which is not named"},
      {R"({"effect":"allow","lasts":"turn","agent":"a","session":"s"})",
       "it lasts a turn, and the turn is not named"},
      {R"({"effect":"allow","turn":"t","agent":"a","session":"s"})",
       "it names a turn, and does not last one"},
      {R"({"effect":"allow","lasts":"until"})", "it lasts until a time, which is not said"},
      {R"({"effect":"allow","until":12})", "\"until\" is a time such as 2026-10-01T18:12:00.000Z"},
      {R"({"effect":"allow","lasts":"for-good","until":"2026-10-01T18:12:00.000Z"})",
       "it names a time, and does not last until one"},
      {R"({"effect":"allow","lasts":"forever"})",
       "\"lasts\" is one of turn, session, until, for-good, and not \"forever\""},
      {R"({"effect":"allow","id":0})", "\"id\" is a whole number from 1"},
      {R"({"effect":"allow","source":"remembered"})",
       "what is remembered is for an agent, which is not named"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.rule);
    const auto rule = PermissionRuleFromJson(row.rule);
    REQUIRE(!rule.ok());
    CHECK(rule.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(MessageOf(rule.status()) == row.text);
  }
  CHECK(!PermissionRuleFromJson("{\"effect\":\"allow\"").ok());
  // One that does not allow may say what is not known: without it, it is only wider.
  CHECK(PermissionRuleFromJson(R"({"effect":"refuse","unless":"x"})").ok());
  CHECK(PermissionRuleFromJson(R"({"effect":"allow","words":{"code":"x"}})").ok());
  // The same is said of rules that are built.
  PermissionRule rule = Rule(Effect::kAllow, {"a\\"});
  CHECK(MessageOf(PermissionRules().Add(rule, kNow).status()) ==
        "the rule cannot be used: the pattern \"a\\\" ends in a backslash that nothing follows");
  CHECK(!PermissionRules().Add(Rule(Effect::kAllow, List(33, "a")), kNow).ok());
  CHECK(!PermissionRules().Add(Rule(Effect::kAllow, {std::string(8'193, 'a')}), kNow).ok());
  CHECK(!PermissionRules().Add(Rule(Effect::kAllow, {}, std::string(1'025, 'a')), kNow).ok());
  CHECK(!PermissionRules().Add(Rule(Effect::kAllow, {"\xFF"}), kNow).ok());
}

TEST_CASE("A1 what lasts is saved, and is the same when it is loaded") {
  Fixture f;
  Asked asked;
  f.Add(Rule(Effect::kAllow));
  f.Remember(asked.Command("a"), "allow_always", {Covers::kSubject, false, RuleLasts::kTurn, 0});
  f.Remember(asked, "allow_always", {Covers::kSubject, false, RuleLasts::kSession, 0});
  f.Remember(asked, "allow_always", {Covers::kSubject, false, RuleLasts::kForGood, 0});
  Asked edit;
  f.Remember(edit.Kind("edit").At({"a", "b*"}), "reject_always",
             {Covers::kSubject, true, RuleLasts::kUntil, kNow.wall_ms + 5});
  CHECK(
      f.rules.Save() ==
      R"({"version":1,"next":5,"rules":[)"
      R"({"id":3,"effect":"allow","kind":"execute","about":"command","pattern":"a","agent":"codex","session":"s1",)"
      R"("lasts":"for-good","source":"remembered","made":"2023-11-14T22:13:20.000Z"},)"
      R"({"id":4,"effect":"refuse","kind":"edit","about":"path","pattern":["/project/a","/project/b\\*"],)"
      R"("agent":"codex","lasts":"until","until":"2023-11-14T22:13:20.005Z","source":"remembered",)"
      R"("made":"2023-11-14T22:13:20.000Z"}]})");
  Fixture g;
  g.Remember(asked, "reject_always", {});  // what was remembered before goes
  const uint64_t configured = g.Add(Rule(Effect::kAsk));
  const auto problems = g.rules.Load(f.rules.Save());
  REQUIRE(problems.ok());
  CHECK(problems->empty());
  std::vector<PermissionRule> there = g.rules.List(kNow), here = f.rules.List(kNow);
  REQUIRE(there.size() == 3);
  CHECK(there[0].id == configured);
  CHECK(there[1] == here[3]);
  CHECK(there[2] == here[4]);
  CHECK(g.rules.Save() == f.rules.Save());
  CHECK(g.Remember(asked, "allow_always", {}) == 5);  // no id comes twice, not even of one that was forgotten
}

TEST_CASE("A1 a saved rule that cannot be read is told of with its place, and the others are there") {
  const std::string good =
      R"({"id":ID,"effect":"allow","kind":"execute","agent":"a","lasts":"for-good","source":"remembered"})";
  const auto with_id = [&](const std::string& id) {
    std::string out = good;
    return out.replace(out.find("ID"), 2, id);
  };
  struct Row {
    std::string rule, problem;
  };
  const Row rows[] = {
      {with_id("7"), ""},
      {"null", "a rule is an object"},
      {with_id("\"8\""), "\"id\" is a whole number from 1"},
      {with_id("7"), "another has its \"id\", 7"},
      {with_id("1099511627776"), "its \"id\" is not one of a remembered rule"},
      {R"({"effect":"allow","agent":"a","source":"remembered"})",
       "its \"id\" is not one of a remembered rule"},
      {R"({"id":1,"effect":"permit","agent":"a","source":"remembered"})",
       "\"effect\" is one of ask, allow, refuse, and not \"permit\""},
      {R"({"id":1,"effect":"allow","agent":"a"})",
       "it was not remembered: what is configured is not kept here"},
      {R"({"id":1,"effect":"allow","agent":"a","session":"s","lasts":"session","source":"remembered"})",
       "it does not last: it was for a turn or a session"},
      {R"({"id":1,"effect":"allow","agent":"a","only":"x","source":"remembered"})",
       "it allows, and has a member that is not known, which may limit it: only"},
      {with_id("2"), ""},
  };
  std::string text = R"({"version":1,"next":3,"more":true,"rules":[)";
  for (const Row& row : rows) text += (text.ends_with('[') ? "" : ",") + row.rule;
  text += "]}";
  PermissionRules rules;
  const auto problems = rules.Load(text);
  REQUIRE(problems.ok());
  size_t at = 0;
  for (size_t i = 0; i < std::size(rows); ++i) {
    if (rows[i].problem.empty()) continue;
    REQUIRE(at < problems->size());
    CHECK((*problems)[at].position == i);
    CHECK((*problems)[at].text == rows[i].problem);
    ++at;
  }
  CHECK(at == problems->size());
  std::vector<uint64_t> ids;
  for (const PermissionRule& rule : rules.List(kNow)) ids.push_back(rule.id);
  CHECK(ids == std::vector<uint64_t>{2, 7});
  CHECK(*rules.Remember(kHere, Asked().Command("x").request, "allow_always", {}, kNow) == 8);

  for (const std::string& bad : {std::string(), std::string("null"), std::string("[]"), std::string("{}"),
                                 std::string(R"({"version":1})"), std::string(R"({"version":2,"rules":[]})"),
                                 std::string(R"({"rules":[]})"), std::string(R"({"version":1,"rules":[)")}) {
    CAPTURE(bad);
    CHECK(rules.Load(bad).status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(rules.List(kNow).size() == 3);
  }
  std::string many = R"({"version":1,"rules":[)";
  for (int i = 1; i <= 1'002; ++i) many += (i > 1 ? "," : "") + with_id(std::to_string(i));
  const auto over = rules.Load(many + "]}");
  REQUIRE(over.ok());
  CHECK(over->size() == 2);
  CHECK(over->at(0).position == 1'000);
  CHECK(rules.List(kNow).size() == 1'000);
}

}  // namespace
}  // namespace watchbill::acp
