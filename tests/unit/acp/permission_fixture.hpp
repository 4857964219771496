// What the tests of permission rules share: a host's rules, and requests that agents make.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "watchbill/acp/permission_rules.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp::permission_tests {

using Effect = PermissionEffect;
using List = std::vector<std::string>;
using Covers = PermissionExtent::Covers;

inline constexpr Now kNow{5 * kSecond, 1'700'000'000'000};
inline constexpr PermissionContext kHere{"codex", "s1", "t1", "/project"};

inline const std::vector<PermissionOption> kOptions = {{"a1", "Always", "allow_always", {}},
                                                       {"a2", "Yes", "allow_once", {}},
                                                       {"r1", "No", "reject_once", {}},
                                                       {"r2", "Never", "reject_always", {}}};

// A request and what its views look at.
struct Asked {
  std::string raw;
  RequestPermissionRequest request;

  Asked() { request.options = kOptions; }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  Asked& Kind(Text kind) { return request.tool_call.kind = kind, *this; }
  Asked& Tool(Text name) { return request.tool_call.name = name, *this; }
  Asked& Title(Text title) { return request.tool_call.title = title, *this; }
  Asked& Raw(std::string json) {
    raw = std::move(json);
    request.tool_call.raw_input = JsonView::Trusted(raw);
    return *this;
  }
  Asked& Command(std::string_view command) {
    std::string json = "{\"command\":";
    AppendJsonString(json, command);
    return Kind("execute").Raw(json + "}");
  }
  Asked& At(std::vector<Text> paths) {
    request.tool_call.locations.emplace();
    for (const Text path : paths) request.tool_call.locations->push_back({path, {}, {}});
    return *this;
  }
  Asked& Changes(Text path) {
    if (!request.tool_call.content) request.tool_call.content.emplace();
    request.tool_call.content->push_back(Diff{path, "new", {}, {}});
    return *this;
  }
};

inline PermissionRule Rule(Effect effect, List patterns = {}, std::string kind = "") {
  PermissionRule rule;
  rule.effect = effect;
  rule.patterns = std::move(patterns);
  rule.kind = std::move(kind);
  return rule;
}

inline std::string Said(const PermissionDecision& decision) {
  std::string out = decision.effect == Effect::kAsk     ? "ask"
                    : decision.effect == Effect::kAllow ? "allow"
                                                        : "refuse";
  return decision.option_id ? out + " " + std::string(*decision.option_id) : out;
}

struct Fixture {
  PermissionRules rules;

  uint64_t Add(const PermissionRule& rule, Now now = kNow) {
    const auto id = rules.Add(rule, now);
    REQUIRE_MESSAGE(id.ok(), MessageOf(id.status()));
    return *id;
  }
  PermissionDecision Decide(const Asked& asked, const PermissionContext& context = kHere) const {
    return rules.Decide(context, asked.request, kNow);
  }
  uint64_t Remember(const Asked& asked, Text kind, const PermissionExtent& extent,
                    const PermissionContext& context = kHere) {
    const auto id = rules.Remember(context, asked.request, kind, extent, kNow);
    REQUIRE_MESSAGE(id.ok(), MessageOf(id.status()));
    return *id;
  }
  List Words(Now now = kNow) const {
    List out;
    for (const PermissionRule& rule : rules.List(now)) out.push_back(WordsFor(rule).text);
    return out;
  }
};

// Whether one rule with one pattern allows, and whether it refuses.
inline bool Holds(Effect effect, const std::string& pattern, const Asked& asked,
                  const PermissionContext& context = kHere) {
  Fixture f;
  f.Add(Rule(effect, {pattern}));
  return f.Decide(asked, context).effect == effect;
}

}  // namespace watchbill::acp::permission_tests
