// What went wrong with a folder, said in one way.
#pragma once

#include <fmt/core.h>

#include <string_view>

#include "absl/status/status.h"

namespace watchbill::history {

inline absl::Status Unusable(std::string_view folder, std::string_view why) {
  return absl::UnavailableError(fmt::format(
      "the history in {} cannot be read or written ({}); look at the disk's space and the folder's rights",
      folder, why));
}

inline absl::Status Damaged(std::string_view folder, std::string_view how) {
  return absl::DataLossError(fmt::format(
      "the history in {} is damaged ({}); copy the folder aside before anything is tried on it, or name "
      "another folder",
      folder, how));
}

}  // namespace watchbill::history
