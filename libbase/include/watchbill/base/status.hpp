// absl::Status beside the standard's string_view: the distribution's Abseil has a view type of its own.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace watchbill {

// For what takes Abseil's view alone, such as a look-up in its maps.
inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

inline std::string_view MessageOf(const absl::Status& status) {
  const auto text = status.message();
  return {text.data(), text.size()};
}

}  // namespace watchbill
