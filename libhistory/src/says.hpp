// What went wrong with a folder, said in one way.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
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

inline absl::Status NewerFormat(std::string_view folder, int64_t format, int64_t known) {
  return absl::DataLossError(fmt::format(
      "the history in {} is of format {}, and this program reads up to {}; use the program that wrote it, "
      "or name another folder",
      folder, format, known));
}

// `holder` is its pid, or 0 where that is not told.
inline absl::Status InUse(std::string_view folder, int holder, bool by_this_process) {
  return absl::FailedPreconditionError(
      fmt::format("the history in {} is in use by {}; end that one, or name another folder", folder,
                  by_this_process ? "this process already"
                  : holder == 0   ? std::string("another process")
                                  : fmt::format("process {}", holder)));
}

}  // namespace watchbill::history
