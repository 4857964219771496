// The value of a record of the ledger: its version, the length of its order in two bytes, the order, JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "json_document.hpp"

namespace watchbill::history {

struct KeptRecord {
  std::string_view order, json;  // into the value
};

// Nothing: of a version that is not known, or cut. Whether it is JSON is not looked at.
std::optional<KeptRecord> ReadRecord(std::string_view value);
std::string WriteRecord(std::string_view order, std::string_view json);

// The object that is the whole text. InvalidArgument: `what` is none.
absl::StatusOr<json::Value> ObjectIn(json::Document& document, std::string_view text, std::string_view what);

}  // namespace watchbill::history
