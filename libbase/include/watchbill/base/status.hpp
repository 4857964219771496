// absl::Status beside the standard's string_view: the distribution's Abseil has a view type of its own.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace watchbill {

// For what takes Abseil's view alone, such as a look-up in its maps.
inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

inline std::string_view MessageOf(const absl::Status& status) {
  const auto text = status.message();
  return {text.data(), text.size()};
}

// A sentence for people, with what a page needs to say it in another language. `code` is a word of a closed
// list; `key` and `value` are its one argument, empty where it has none.
struct Sentence {
  std::string_view code;
  std::string text;
  std::string_view key = {};
  std::string value = {};
};

}  // namespace watchbill
