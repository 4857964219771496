// What can be done about a history that Store::Open refuses, or that counts what it cannot read. No store may
// have the folder meanwhile. What is done and why: docs/decisions/history-transfer.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/history/trail.hpp"

namespace watchbill::history {

struct Readability {
  uint64_t readable = 0, unreadable = 0;
  friend bool operator==(const Readability&, const Readability&) = default;
};

struct RecordReport {
  Readability channels, messages, members, commands, deletions, records, trail;
  Readability orders;  // places in the second orders of the ledger: made again from its records
  Readability index;   // made again by a search
  // Of a kind that is not known: a newer program's, or nobody's.
  Readability others;
  friend bool operator==(const RecordReport&, const RecordReport&) = default;
};

struct Inspection {
  bool there = false;    // a folder
  bool history = false;  // with files of a database
  // Of the database; LOCK and RESERVE are not counted.
  uint64_t files = 0, bytes = 0, tables = 0, logs = 0, log_bytes = 0;
  std::vector<std::string> others;  // what else is in the folder, by name
  std::optional<int64_t> format;    // where it can be read
  std::optional<int> holder;        // the process that has it open; 0: one that is not told
  absl::Status opens;               // what Store::Open would say, without making anything
  // Where all of it was read: blocks that are damaged were passed over, and what the others hold.
  bool damaged = false;
  RecordReport records;
};

struct InspectOptions {
  bool read_all = false;
};

// Looks at a folder without changing a byte of it. What LevelDB would write while it opens goes to memory, a
// few MB. InvalidArgument: no path. PermissionDenied, Unavailable: it cannot be looked at. All else is an
// Inspection.
absl::StatusOr<Inspection> Inspect(const std::string& folder, const InspectOptions& options = {});

struct SalvageReport {
  uint64_t files = 0, bytes = 0;  // that were read
  // A sentence for each file that is damaged, or missing, or cannot be read.
  std::vector<std::string> troubles;
  RecordReport records;
  uint64_t deleted = 0;  // records of deleted channels that were still there, and were left out
  // What Trail::Verify says of the new one; nothing where there is no trail.
  std::optional<TrailReport> trail;
};

// Makes a new history of what can be read of a damaged one, in the folder `into`, which is not there, or
// empty. The folder itself is only read. Every record stands in the new one as it stood, also one that this
// program cannot read; the index is left out, and the second orders of the ledger are made again. The new one
// is made beside its name and is put in place whole. NotFound: there is no history in the folder.
// FailedPrecondition: somebody has it open, or something is in the way. DataLoss: it is of a newer format, or
// nothing of it could be read; nothing was made. InvalidArgument, PermissionDenied, ResourceExhausted,
// Unavailable: no path, and what the system said.
absl::StatusOr<SalvageReport> Salvage(const std::string& folder, const std::string& into);

struct RepairReport {
  bool needed = false;  // not where it opened and all its blocks could be read: nothing was done
  std::string why;      // what Store::Open said, or what could not be read
  std::string copy;     // the folder as it was: FOLDER.damaged-N
  SalvageReport salvage;
};

// Puts in the place of a damaged history what Salvage can make of it. First its files are copied aside, to
// FOLDER.damaged-N of the least N that is free; then the new one is made beside it, opened and read; then the
// two change places in one step. Whenever it is broken off, the folder is the old history or the new one,
// whole, and it is gone on with by calling it again. What else is in the folder stays in it. About three
// times the history's bytes are needed on its disk. Fails as Salvage does, with the folder as it was;
// Unimplemented too: the file system cannot let two folders change places, and what was made is beside it.
absl::StatusOr<RepairReport> Repair(const std::string& folder);

}  // namespace watchbill::history
