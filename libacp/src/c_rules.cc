#include "permission_rule_text.hpp"
#include "watchbill/acp/permission_rules.hpp"
#include "watchbill/acp/read.hpp"
#include "watchbill/acp_rules.h"
#include "watchbill/base/c_support.hpp"

namespace acp = watchbill::acp;
using watchbill::JsonView;
using watchbill::JsonWriter;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::Str;
using watchbill::c::Time;
using watchbill::c::View;

struct wb_acp_rules {
  acp::PermissionRules rules;
  acp::Reader reader;  // what it read last is what a decision points into
  std::string text;    // what was given out last
};

namespace {

// The views of the context are the caller's own.
acp::PermissionContext From(const wb_acp_rules_context* context) {
  wb_acp_rules_context all;
  wb_acp_rules_context_init(&all);
  watchbill::c::CopyKnown(&all, *context, context->struct_size);
  return {View(all.agent), View(all.session), View(all.turn), View(all.folder)};
}

absl::StatusOr<acp::PermissionExtent> From(const wb_acp_extent* extent) {
  wb_acp_extent all;
  wb_acp_extent_init(&all);
  watchbill::c::CopyKnown(&all, *extent, extent->struct_size);
  if (all.covers < WB_ACP_COVERS_SUBJECT || all.covers > WB_ACP_COVERS_TOOL ||
      all.lasts < WB_ACP_LASTS_TURN || all.lasts > WB_ACP_LASTS_FOR_GOOD) {
    return absl::InvalidArgumentError("\"covers\" and \"lasts\" are words of their lists");
  }
  return acp::PermissionExtent{static_cast<acp::PermissionExtent::Covers>(all.covers), all.whole_agent != 0,
                               static_cast<acp::RuleLasts>(all.lasts), all.until_ms};
}

absl::StatusOr<acp::RequestPermissionRequest> Request(wb_acp_rules* rules, wb_str params) {
  return rules->reader.Read<acp::RequestPermissionRequest>(JsonView::Trusted(View(params)));
}

wb_str Give(wb_acp_rules* rules, std::string text) {
  rules->text = std::move(text);
  return Str(std::string_view(rules->text));
}

}  // namespace

extern "C" {

int32_t wb_acp_rules_new(wb_acp_rules** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return *out = new wb_acp_rules, WB_OK; });
}

void wb_acp_rules_free(wb_acp_rules* rules) { delete rules; }

void wb_acp_rules_context_init(wb_acp_rules_context* context) {
  *context = {};
  context->struct_size = sizeof *context;
}

void wb_acp_extent_init(wb_acp_extent* extent) {
  *extent = {};
  extent->struct_size = sizeof *extent;
  extent->lasts = WB_ACP_LASTS_SESSION;
}

int32_t wb_acp_rules_add(wb_acp_rules* r, wb_str json, wb_now now, uint64_t* id, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    auto rule = acp::PermissionRuleFromJson(View(json));
    if (!rule.ok()) return Fail(err, rule.status());
    const auto added = r->rules.Add(*std::move(rule), Time(now));
    if (!added.ok()) return Fail(err, added.status());
    if (id != nullptr) *id = *added;
    return WB_OK;
  });
}

int32_t wb_acp_rules_decide(wb_acp_rules* r, const wb_acp_rules_context* context, wb_str params, wb_now now,
                            wb_acp_decision* out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto request = Request(r, params);
    if (!request.ok()) return Fail(err, request.status());
    const acp::PermissionDecision decision = r->rules.Decide(From(context), *request, Time(now));
    wb_acp_decision filled{};
    filled.effect = static_cast<int32_t>(decision.effect);
    filled.rule = decision.rule;
    if (decision.option_id) {
      filled.option_id = Str(*decision.option_id);
      // An option whose id is empty is one all the same.
      if (filled.option_id.data == nullptr) filled.option_id.data = "";
    }
    filled.option_kind = Str(decision.option_kind);
    watchbill::c::CopyKnown(out, filled, out->struct_size);
    return WB_OK;
  });
}

int32_t wb_acp_rules_remember(wb_acp_rules* r, const wb_acp_rules_context* context, wb_str params,
                              wb_str option_kind, const wb_acp_extent* extent, wb_now now, uint64_t* id,
                              wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const std::string kind(View(option_kind));  // which may be borrowed from the last decision
    const auto request = Request(r, params);
    if (!request.ok()) return Fail(err, request.status());
    const auto how_far = From(extent);
    if (!how_far.ok()) return Fail(err, how_far.status());
    const auto made = r->rules.Remember(From(context), *request, kind, *how_far, Time(now));
    if (!made.ok()) return Fail(err, made.status());
    if (*made == 0) return 1;
    if (id != nullptr) *id = *made;
    return WB_OK;
  });
}

int32_t wb_acp_rules_proposals(wb_acp_rules* r, const wb_acp_rules_context* context, wb_str params,
                               wb_str* out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto request = Request(r, params);
    if (!request.ok()) return Fail(err, request.status());
    std::string text;
    JsonWriter w(text);
    w.Begin('[');
    for (const acp::PermissionProposal& proposal : r->rules.Proposals(From(context), *request)) {
      const bool tool = proposal.extent.covers == acp::PermissionExtent::Covers::kTool;
      w.Begin('{').Key("optionKind").String(proposal.option_kind);
      w.Key("covers").String(tool ? "tool" : "subject").Key("wholeAgent").Bool(proposal.extent.whole_agent);
      w.Key("lasts").String(acp::WordOf(proposal.extent.lasts)).Key("words");
      acp::WriteWords(w, proposal.words);
      w.End('}');
    }
    w.End(']');
    *out = Give(r, std::move(text));
    return WB_OK;
  });
}

int32_t wb_acp_rules_list(wb_acp_rules* r, wb_now now, wb_str* out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    std::string text;
    JsonWriter w(text);
    w.Begin('[');
    for (const acp::PermissionRule& rule : r->rules.List(Time(now))) {
      w.Begin('{');
      acp::WriteMembers(w, rule);
      w.Key("words");
      acp::WriteWords(w, acp::WordsFor(rule));
      w.End('}');
    }
    w.End(']');
    *out = Give(r, std::move(text));
    return WB_OK;
  });
}

int32_t wb_acp_rules_forget(wb_acp_rules* r, uint64_t id, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const absl::Status status = r->rules.Forget(id);
    return status.ok() ? WB_OK : Fail(err, status);
  });
}

int32_t wb_acp_rules_forget_session(wb_acp_rules* r, wb_str agent, wb_str session, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return r->rules.ForgetSession(View(agent), View(session)), WB_OK; });
}

int32_t wb_acp_rules_forget_configured(wb_acp_rules* r, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return r->rules.ForgetConfigured(), WB_OK; });
}

int32_t wb_acp_rules_end_turn(wb_acp_rules* r, wb_str agent, wb_str session, wb_str turn, wb_error* err) {
  return Guard(err,
               [&]() -> int32_t { return r->rules.EndTurn(View(agent), View(session), View(turn)), WB_OK; });
}

int32_t wb_acp_rules_expire(wb_acp_rules* r, wb_now now, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return r->rules.Expire(Time(now)), WB_OK; });
}

int32_t wb_acp_rules_save(wb_acp_rules* r, wb_str* out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    *out = Give(r, r->rules.Save());
    return WB_OK;
  });
}

int32_t wb_acp_rules_load(wb_acp_rules* r, wb_str json, wb_str* problems, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto found = r->rules.Load(View(json));
    if (!found.ok()) return Fail(err, found.status());
    std::string text;
    JsonWriter w(text);
    w.Begin('[');
    for (const acp::RuleProblem& problem : *found) {
      w.Begin('{').Key("position").Int(static_cast<int64_t>(problem.position));
      w.Key("text").String(problem.text).End('}');
    }
    w.End(']');
    if (problems != nullptr) *problems = Give(r, std::move(text));
    return found->empty() ? WB_OK : 1;
  });
}

}  // extern "C"
