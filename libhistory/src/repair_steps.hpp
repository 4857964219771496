// Repair, with something between its steps: a test ends the process there.
#pragma once

#include <functional>
#include <string>

#include "watchbill/history/repair.hpp"

namespace watchbill::history {

// Inspect without asking who has the folder open.
absl::StatusOr<Inspection> InspectUnheld(const std::string& folder, const InspectOptions& options);

absl::StatusOr<RepairReport> RepairInSteps(const std::string& folder, const std::function<void()>& between);

}  // namespace watchbill::history
