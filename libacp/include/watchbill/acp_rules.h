/* Rules that answer what an agent asks permission for, in C. The rules of every header hold here: see
 * watchbill/base.h. What permission rules mean, and their JSON, is in docs/protocols/permission-rules.md.
 *
 * `params` are those of session/request_permission, as JSON, with what the agent told of the tool call before
 * and did not say again filled in. Texts that go in are copied. Every wb_str that comes out is borrowed from
 * the rules until their next call that is not const.
 */
#ifndef WATCHBILL_ACP_RULES_H_
#define WATCHBILL_ACP_RULES_H_

#include "watchbill/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_acp_rules wb_acp_rules;

typedef enum wb_acp_effect { WB_ACP_ASK = 0, WB_ACP_ALLOW = 1, WB_ACP_REFUSE = 2 } wb_acp_effect;

typedef enum wb_acp_lasts {
  WB_ACP_LASTS_TURN = 0,
  WB_ACP_LASTS_SESSION = 1,
  WB_ACP_LASTS_UNTIL = 2,
  WB_ACP_LASTS_FOR_GOOD = 3
} wb_acp_lasts;

typedef enum wb_acp_covers {
  WB_ACP_COVERS_SUBJECT = 0, /* this very command, these very files, this very title */
  WB_ACP_COVERS_TOOL = 1     /* all that the tool does, or tools of its kind where it has no name */
} wb_acp_covers;

/* Where a request comes from. */
typedef struct wb_acp_rules_context {
  uint32_t struct_size;
  uint32_t reserved;
  wb_str agent;   /* as rules call it */
  wb_str session; /* the conversation */
  wb_str turn;    /* any word that no other turn of the session has */
  wb_str folder;  /* the session's working folder, absolute; else what is relative is never allowed */
} wb_acp_rules_context;

/* How far an answer is remembered. Never beyond the agent. */
typedef struct wb_acp_extent {
  uint32_t struct_size;
  int32_t covers;      /* wb_acp_covers: WB_ACP_COVERS_SUBJECT */
  int32_t whole_agent; /* 0: this session alone */
  int32_t lasts;    /* wb_acp_lasts: WB_ACP_LASTS_SESSION; turns and sessions are never the whole agent's */
  int64_t until_ms; /* of WB_ACP_LASTS_UNTIL: milliseconds since 1970, UTC */
} wb_acp_extent;

typedef struct wb_acp_decision {
  uint32_t struct_size; /* set by the caller */
  int32_t effect;       /* wb_acp_effect */
  uint64_t rule;        /* the one that decided; 0: none matched */
  /* The option to choose. `data` is NULL where a person is to be asked, and where a refusal finds no option
   * that rejects: then the answer is "cancelled". */
  wb_str option_id;
  wb_str option_kind;
} wb_acp_decision;

WB_API int32_t wb_acp_rules_new(wb_acp_rules** out, wb_error* err);
WB_API void wb_acp_rules_free(wb_acp_rules* rules);

WB_API void wb_acp_rules_context_init(wb_acp_rules_context* context);
WB_API void wb_acp_extent_init(wb_acp_extent* extent);

/* Adds one rule, a JSON object; *id, which may be NULL, is its number. For a rule of a configuration, `now`
 * is best the time its file was changed. WB_INVALID_ARGUMENT (negated): it is no rule, and why.
 * WB_RESOURCE_EXHAUSTED: there are as many as there can be. */
WB_API int32_t wb_acp_rules_add(wb_acp_rules* rules, wb_str rule, wb_now now, uint64_t* id, wb_error* err);

/* Fills *out with what the rules answer. WB_INVALID_ARGUMENT (negated): the params cannot be read. */
WB_API int32_t wb_acp_rules_decide(wb_acp_rules* rules, const wb_acp_rules_context* context, wb_str params,
                                   wb_now now, wb_acp_decision* out, wb_error* err);

/* Makes a rule of what a person answered, by the kind of the option that was chosen; *id, which may be NULL,
 * is its number. 1: the kind is neither allow_always nor reject_always, and makes no rule.
 * WB_FAILED_PRECONDITION (negated): the request or the context does not name what is to be remembered.
 * WB_INVALID_ARGUMENT: the extent does not fit together or is over, or the params cannot be read.
 * WB_RESOURCE_EXHAUSTED: a thousand are remembered. */
WB_API int32_t wb_acp_rules_remember(wb_acp_rules* rules, const wb_acp_rules_context* context, wb_str params,
                                     wb_str option_kind, const wb_acp_extent* extent, wb_now now,
                                     uint64_t* id, wb_error* err);
/* A JSON list of what can be remembered of a request:
 * {"optionKind", "covers": "subject" or "tool", "wholeAgent", "lasts", "words": {"code", "args", "text"}}. */
WB_API int32_t wb_acp_rules_proposals(wb_acp_rules* rules, const wb_acp_rules_context* context, wb_str params,
                                      wb_str* out, wb_error* err);

/* A JSON list of the rules that are not over, each with its "words". */
WB_API int32_t wb_acp_rules_list(wb_acp_rules* rules, wb_now now, wb_str* out, wb_error* err);

/* WB_NOT_FOUND (negated): there is no such rule. WB_FAILED_PRECONDITION: it is configured. */
WB_API int32_t wb_acp_rules_forget(wb_acp_rules* rules, uint64_t id, wb_error* err);
/* The session will not come back: whatever was remembered for it alone goes. */
WB_API int32_t wb_acp_rules_forget_session(wb_acp_rules* rules, wb_str agent, wb_str session, wb_error* err);
WB_API int32_t wb_acp_rules_forget_configured(wb_acp_rules* rules, wb_error* err);
WB_API int32_t wb_acp_rules_end_turn(wb_acp_rules* rules, wb_str agent, wb_str session, wb_str turn,
                                     wb_error* err);
/* Forgets what is over. */
WB_API int32_t wb_acp_rules_expire(wb_acp_rules* rules, wb_now now, wb_error* err);

/* JSON of what is remembered until a time or for good. */
WB_API int32_t wb_acp_rules_save(wb_acp_rules* rules, wb_str* out, wb_error* err);
/* Puts it in the place of all that is remembered. 0: all was read. 1: all but what *problems, which may be
 * NULL, names: a JSON list of {"position", "text"}. WB_INVALID_ARGUMENT (negated): it is no such text, and
 * nothing has changed. */
WB_API int32_t wb_acp_rules_load(wb_acp_rules* rules, wb_str json, wb_str* problems, wb_error* err);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_ACP_RULES_H_ */
