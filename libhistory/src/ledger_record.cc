#include "ledger_record.hpp"

#include <fmt/core.h>

#include <cstdint>

#include "store_impl.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::history {

std::optional<KeptRecord> ReadRecord(std::string_view value) {
  if (value.size() < 3 || value[0] != kValueVersion) return std::nullopt;
  const size_t length =
      static_cast<size_t>(static_cast<uint8_t>(value[1])) << 8 | static_cast<uint8_t>(value[2]);
  if (value.size() < 3 + length) return std::nullopt;
  return KeptRecord{value.substr(3, length), value.substr(3 + length)};
}

std::string WriteRecord(std::string_view order, std::string_view json) {
  std::string value(1, kValueVersion);
  value.push_back(static_cast<char>(order.size() >> 8));
  value.push_back(static_cast<char>(order.size()));
  return value.append(order).append(json);
}

absl::StatusOr<json::Value> ObjectIn(json::Document& document, std::string_view text, std::string_view what) {
  if (const absl::Status status = document.Parse(text); !status.ok())
    return absl::InvalidArgumentError(fmt::format("{}: {}", what, MessageOf(status)));
  if (!document.root().is_object())
    return absl::InvalidArgumentError(fmt::format("{}: expected a JSON object", what));
  return document.root();
}

}  // namespace watchbill::history
