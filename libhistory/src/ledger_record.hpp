// The value of a record of the ledger: its version, the length of its order in two bytes, the order, JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace watchbill::history {

struct KeptRecord {
  std::string_view order, json;  // into the value
};

// Nothing: of a version that is not known, or cut. Whether it is JSON is not looked at.
std::optional<KeptRecord> ReadRecord(std::string_view value);
std::string WriteRecord(std::string_view order, std::string_view json);

}  // namespace watchbill::history
