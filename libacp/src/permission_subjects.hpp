// What a request for permission is about, as rules look at it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "glob.hpp"
#include "watchbill/acp/permission_rules.hpp"

namespace watchbill::acp {

struct PermissionSubjects {
  // What an allowing rule has to match; nothing: the request names nothing that a pattern could be for.
  std::optional<SubjectKind> primary;
  std::string command;
  std::vector<LexicalPath> paths;
  std::string title;
  LexicalPath folder;
  // What could not be looked at whole, or not be understood, is never allowed.
  bool certain = true;

  // What refusing and asking rules look at: the text as it is, and each command that a shell would see in it,
  // with its blanks made one.
  std::vector<std::string> command_forms, title_forms;

  // What an allowing rule would have to match, as text. Empty without a primary.
  std::vector<std::string> Texts() const;
};

PermissionSubjects SubjectsOf(const RequestPermissionRequest& request, Text folder);

// The word that rules compare: "other" where the request has none. Never empty, which would be any kind.
Text ToolKindOf(const RequestPermissionRequest& request);

}  // namespace watchbill::acp
