// One rule, and a list of them, as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/acp/permission_rules.hpp"
#include "watchbill/base/json_writer.hpp"

namespace watchbill::acp {

// "" for a rule that can be used, else what is wrong with it.
std::string ProblemOf(const PermissionRule& rule);

// The members of an object that has been begun.
void WriteMembers(JsonWriter& w, const PermissionRule& rule);
void WriteWords(JsonWriter& w, const Wording& words);
std::string_view WordOf(PermissionEffect effect);
std::string_view WordOf(RuleLasts lasts);

struct SavedRules {
  std::vector<PermissionRule> rules;
  uint64_t next = 1;
  std::vector<RuleProblem> problems;
};
std::string SavedText(const std::vector<const PermissionRule*>& rules, uint64_t next);
absl::StatusOr<SavedRules> ReadSaved(std::string_view json);

}  // namespace watchbill::acp
