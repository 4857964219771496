// A damaged history's files, made into a new one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "fresh_copy.hpp"
#include "record_kinds.hpp"
#include "watchbill/history/engine.hpp"
#include "watchbill/history/repair.hpp"

namespace watchbill::history {

Readability& ReadabilityOf(RecordReport& report, Kind kind);

// Goes over all that a cursor shows and counts. Fails as the disk does; damaged blocks are passed over.
absl::Status CountRecords(const Engine& engine, RecordReport& report, bool& damaged);

// The files of `folder` as a new history at `into`, where nothing is. The report as far as it came also where
// it fails. `name` is what errors call the history. Nobody has the folder, or will.
absl::Status SalvageFiles(const std::string& folder, const std::string& name, const std::string& into,
                          SalvageReport& report);

}  // namespace watchbill::history
