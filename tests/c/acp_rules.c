/* A7 A1: rules for permissions through the C API. */
#include "watchbill/acp_rules.h"

#include "check.h"

static const wb_now kNow = {1000000000, 1700000000000};

static const char kStatus[] =
    "{\"sessionId\":\"x\",\"toolCall\":{\"toolCallId\":\"c1\",\"kind\":\"execute\",\"title\":\"git status\","
    "\"rawInput\":{\"command\":[\"/bin/bash\",\"-lc\",\"git status\"]}},"
    "\"options\":[{\"optionId\":\"no\",\"name\":\"Yes\",\"kind\":\"allow_once\"},"
    "{\"optionId\":\"selected\",\"name\":\"Allow\",\"kind\":\"reject_once\"}]}";
static const char kChained[] =
    "{\"sessionId\":\"x\",\"toolCall\":{\"toolCallId\":\"c1\",\"kind\":\"execute\",\"title\":\"git status\","
    "\"rawInput\":{\"command\":\"git status; rm -rf /\"}},"
    "\"options\":[{\"optionId\":\"\",\"name\":\"Yes\",\"kind\":\"allow_always\"}]}";

static wb_acp_rules* made(void) {
  wb_acp_rules* rules = NULL;
  CHECK(wb_acp_rules_new(&rules, NULL) == WB_OK);
  CHECK(rules != NULL);
  return rules;
}

static wb_acp_rules_context here(void) {
  wb_acp_rules_context context;
  wb_acp_rules_context_init(&context);
  CHECK(context.struct_size == sizeof context);
  context.agent = str("codex");
  context.session = str("s1");
  context.turn = str("t1");
  context.folder = str("/project");
  return context;
}

static wb_acp_decision decided(wb_acp_rules* rules, const char* params, wb_now now) {
  const wb_acp_rules_context context = here();
  wb_acp_decision decision = {0};
  decision.struct_size = sizeof decision;
  CHECK(wb_acp_rules_decide(rules, &context, str(params), now, &decision, NULL) == WB_OK);
  return decision;
}

static void an_answer_is_chosen_by_its_kind(void) {
  wb_acp_rules* rules = made();
  wb_error err = {0};
  uint64_t id = 0;
  wb_acp_decision decision = decided(rules, kStatus, kNow);
  CHECK(decision.effect == WB_ACP_ASK && decision.rule == 0);
  CHECK(decision.option_id.data == NULL && decision.option_kind.data == NULL);

  CHECK(wb_acp_rules_add(rules,
                         str("{\"effect\":\"allow\",\"kind\":\"execute\",\"pattern\":\"git status*\"}"), kNow,
                         &id, &err) == WB_OK);
  CHECK(id != 0);
  decision = decided(rules, kStatus, kNow);
  CHECK(decision.effect == WB_ACP_ALLOW && decision.rule == id);
  CHECK(str_is(decision.option_id, "no") && str_is(decision.option_kind, "allow_once"));
  CHECK(decided(rules, kChained, kNow).effect == WB_ACP_ASK);

  CHECK(wb_acp_rules_add(rules, str("{\"effect\":\"allow\",\"pattern\":\"git status; *\"}"), kNow, NULL,
                         NULL) == WB_OK);
  decision = decided(rules, kChained, kNow);
  CHECK(decision.effect == WB_ACP_ALLOW);
  CHECK(decision.option_id.data != NULL && decision.option_id.size == 0);
  {
    /* What a decision lends can be handed on. */
    const wb_acp_rules_context context = here();
    wb_acp_extent extent;
    wb_acp_extent_init(&extent);
    CHECK(wb_acp_rules_remember(rules, &context, str(kChained), decision.option_kind, &extent, kNow, NULL,
                                NULL) == WB_OK);
  }

  CHECK(wb_acp_rules_add(rules, str("{\"effect\":\"refuse\",\"pattern\":\"rm *\"}"), kNow, &id, NULL) ==
        WB_OK);
  decision = decided(rules, kChained, kNow);
  CHECK(decision.effect == WB_ACP_REFUSE && decision.rule == id && decision.option_id.data == NULL);
  CHECK(wb_acp_rules_forget(rules, id, &err) == -WB_FAILED_PRECONDITION);
  CHECK(wb_acp_rules_forget(rules, 77, &err) == -WB_NOT_FOUND);
  CHECK(strcmp(err.text, "there is no rule 77") == 0);
  CHECK(decided(rules, kStatus, kNow).effect == WB_ACP_ALLOW);
  CHECK(wb_acp_rules_forget_configured(rules, NULL) == WB_OK);
  CHECK(decided(rules, kStatus, kNow).effect == WB_ACP_ASK);
  CHECK(decided(rules, kChained, kNow).effect == WB_ACP_ALLOW); /* that was remembered */
  wb_acp_rules_free(rules);
}

static void what_is_wrong_is_said_and_changes_nothing(void) {
  wb_acp_rules* rules = made();
  const wb_acp_rules_context context = here();
  wb_acp_decision decision = {0};
  wb_acp_extent extent;
  wb_error err = {0};
  wb_str text = {0};
  decision.struct_size = sizeof decision;
  wb_acp_extent_init(&extent);
  CHECK(extent.struct_size == sizeof extent && extent.lasts == WB_ACP_LASTS_SESSION);

  CHECK(wb_acp_rules_add(rules, str("{\"effect\":\"allow\",\"only\":1}"), kNow, NULL, &err) ==
        -WB_INVALID_ARGUMENT);
  CHECK(strcmp(err.text, "it allows, and has a member that is not known, which may limit it: only") == 0);
  CHECK(wb_acp_rules_add(rules, str("{"), kNow, NULL, &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_acp_rules_decide(rules, &context, str("{"), kNow, &decision, &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_acp_rules_decide(rules, &context, str("{}"), kNow, &decision, &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_acp_rules_proposals(rules, &context, str("[]"), &text, &err) == -WB_INVALID_ARGUMENT);
  extent.lasts = 9;
  CHECK(wb_acp_rules_remember(rules, &context, str(kStatus), str("allow_always"), &extent, kNow, NULL,
                              &err) == -WB_INVALID_ARGUMENT);
  extent.lasts = WB_ACP_LASTS_UNTIL;
  CHECK(wb_acp_rules_remember(rules, &context, str(kStatus), str("allow_always"), &extent, kNow, NULL,
                              NULL) == -WB_INVALID_ARGUMENT);
  CHECK(wb_acp_rules_list(rules, kNow, &text, NULL) == WB_OK);
  CHECK(str_is(text, "[]"));
  wb_acp_rules_free(NULL);
  wb_acp_rules_free(rules);
}

static void an_answer_is_remembered_listed_and_taken_back(void) {
  wb_acp_rules* rules = made();
  const wb_acp_rules_context context = here();
  wb_acp_extent extent;
  wb_str text = {0};
  uint64_t id = 0;
  wb_acp_extent_init(&extent);
  CHECK(wb_acp_rules_remember(rules, &context, str(kStatus), str("allow_once"), &extent, kNow, &id, NULL) ==
        1);
  CHECK(id == 0);
  CHECK(wb_acp_rules_proposals(rules, &context, str(kStatus), &text, NULL) == WB_OK);
  CHECK(str_has(
      text,
      "{\"optionKind\":\"allow_always\",\"covers\":\"subject\",\"wholeAgent\":false,\"lasts\":\"session\","
      "\"words\":{\"code\":\"allow.command.session\",\"args\":{\"agent\":\"codex\",\"kind\":\"execute\","
      "\"subject\":\"\\\"git status\\\"\",\"session\":\"s1\"},"
      "\"text\":\"codex may run \\\"git status\\\" in this conversation, until it ends\"}}"));
  CHECK(wb_acp_rules_remember(rules, &context, str(kStatus), str("allow_always"), &extent, kNow, &id, NULL) ==
        WB_OK);
  CHECK(id == 1);
  CHECK(decided(rules, kStatus, kNow).rule == 1);
  CHECK(wb_acp_rules_list(rules, kNow, &text, NULL) == WB_OK);
  CHECK(str_has(text,
                "[{\"id\":1,\"effect\":\"allow\",\"kind\":\"execute\",\"about\":\"command\","
                "\"pattern\":\"git status\",\"agent\":\"codex\",\"session\":\"s1\",\"lasts\":\"session\","
                "\"source\":\"remembered\",\"made\":\"2023-11-14T22:13:20.000Z\",\"words\":{"));
  CHECK(wb_acp_rules_forget(rules, 1, NULL) == WB_OK);
  CHECK(decided(rules, kStatus, kNow).effect == WB_ACP_ASK);

  extent.lasts = WB_ACP_LASTS_TURN;
  CHECK(wb_acp_rules_remember(rules, &context, str(kStatus), str("allow_always"), &extent, kNow, &id, NULL) ==
        WB_OK);
  CHECK(decided(rules, kStatus, kNow).rule == id);
  CHECK(wb_acp_rules_end_turn(rules, str("codex"), str("s1"), str("t2"), NULL) == WB_OK);
  CHECK(decided(rules, kStatus, kNow).rule == id);
  CHECK(wb_acp_rules_end_turn(rules, str("codex"), str("s1"), str("t1"), NULL) == WB_OK);
  CHECK(decided(rules, kStatus, kNow).rule == 0);

  extent.lasts = WB_ACP_LASTS_SESSION;
  extent.covers = WB_ACP_COVERS_TOOL;
  CHECK(wb_acp_rules_remember(rules, &context, str(kStatus), str("reject_always"), &extent, kNow, &id,
                              NULL) == WB_OK);
  CHECK(str_is(decided(rules, kStatus, kNow).option_id, "selected"));
  CHECK(decided(rules, kStatus, kNow).effect == WB_ACP_REFUSE);
  CHECK(wb_acp_rules_forget_session(rules, str("codex"), str("s1"), NULL) == WB_OK);
  CHECK(decided(rules, kStatus, kNow).effect == WB_ACP_ASK);
  wb_acp_rules_free(rules);
}

static void what_lasts_is_saved_and_loaded(void) {
  wb_acp_rules* rules = made();
  wb_acp_rules* other = made();
  const wb_acp_rules_context context = here();
  const wb_now later = {2000000000, 1700000001000};
  wb_acp_extent extent;
  wb_error err = {0};
  wb_str text = {0}, problems = {0};
  char saved[2048];
  wb_acp_extent_init(&extent);
  extent.whole_agent = 1;
  extent.lasts = WB_ACP_LASTS_UNTIL;
  extent.until_ms = later.wall_ms;
  CHECK(wb_acp_rules_remember(rules, &context, str(kStatus), str("allow_always"), &extent, kNow, NULL,
                              NULL) == WB_OK);
  CHECK(wb_acp_rules_save(rules, &text, NULL) == WB_OK);
  CHECK(text.size < sizeof saved);
  memcpy(saved, text.data, text.size);
  saved[text.size] = '\0';

  CHECK(wb_acp_rules_load(other, str(saved), &problems, NULL) == WB_OK);
  CHECK(str_is(problems, "[]"));
  CHECK(decided(other, kStatus, kNow).effect == WB_ACP_ALLOW);
  CHECK(decided(other, kStatus, later).effect == WB_ACP_ASK);
  CHECK(wb_acp_rules_save(other, &text, NULL) == WB_OK);
  CHECK(str_is(text, saved));
  CHECK(wb_acp_rules_load(other, str("[]"), &problems, &err) == -WB_INVALID_ARGUMENT);
  CHECK(decided(other, kStatus, kNow).effect == WB_ACP_ALLOW);
  CHECK(wb_acp_rules_expire(other, later, NULL) == WB_OK);
  CHECK(decided(other, kStatus, kNow).effect == WB_ACP_ASK);
  CHECK(wb_acp_rules_load(other, str("{\"version\":1,\"rules\":[{\"id\":3,\"effect\":\"maybe\"}]}"),
                          &problems, NULL) == 1);
  CHECK(str_is(problems,
               "[{\"position\":0,\"text\":\"\\\"effect\\\" is one of ask, allow, refuse, and not "
               "\\\"maybe\\\"\"}]"));
  wb_acp_rules_free(other);
  wb_acp_rules_free(rules);
}

int main(void) {
  an_answer_is_chosen_by_its_kind();
  what_is_wrong_is_said_and_changes_nothing();
  an_answer_is_remembered_listed_and_taken_back();
  what_lasts_is_saved_and_loaded();
  puts("ok");
  return 0;
}
