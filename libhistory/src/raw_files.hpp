// What LevelDB's files hold, read without LevelDB, so that what is damaged of them hides as little as can be.
// (LevelDB's doc/log_format.md, doc/table_format.md, doc/impl.md.) Nothing is changed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace watchbill::history {

// What was once written under a key. The greatest number of a key holds.
struct RawEntry {
  std::string_view key, value;
  uint64_t sequence = 0;
  bool deleted = false;
};
// The views are good during the call. What it says other than OK ends the reading.
using TakeEntry = std::function<absl::Status(const RawEntry&)>;

struct RawReport {
  uint64_t entries = 0;
  // Places that are damaged: what stood there is lost. A log that was cut is none: its writer died, and never
  // said that what is missing was kept.
  uint64_t damaged = 0;
  std::string how;  // of the first of them
};

// Fails with what `take` said, or with what the system did.
absl::Status ReadLogFile(const std::string& path, const TakeEntry& take, RawReport& report);
absl::Status ReadTableFile(const std::string& path, const TakeEntry& take, RawReport& report);

// Which files are the database, as its manifest says.
struct LiveFiles {
  std::set<uint64_t> tables;
  uint64_t log = 0, log_before = 0;  // logs from the first number on, and the one of the second
};
// Nothing: it cannot be read, or not all of it.
std::optional<LiveFiles> ReadManifest(const std::string& path);

// The whole of a file.
absl::Status ReadWhole(const std::string& path, std::string& bytes);

// The records of a log in their order, from a file's blocks of 32 KB. One that is damaged is passed over; of
// those that follow in its block only what is sure to be a record is taken. Pure.
class LogRecords {
 public:
  static constexpr size_t kBlock = 32768;
  explicit LogRecords(std::function<void(std::string_view record)> take) : take_(std::move(take)) {}

  // All but the last one are full.
  void Block(std::string_view block);
  uint64_t damaged() const { return damaged_; }
  const std::string& how() const { return how_; }

 private:
  void Fragment(char type, std::string_view bytes);
  void Damaged(size_t at, std::string_view how);

  std::function<void(std::string_view record)> take_;
  std::string record_;  // what there is of one that is in several blocks
  bool within_ = false;
  bool lost_ = false;  // a beginning is missing, and was counted
  uint64_t blocks_ = 0, damaged_ = 0;
  std::string how_;
};

// The entries of a table. Pure. `compressed` where some are in blocks that are, which are left out.
bool ReadTable(std::string_view file, const std::function<bool(const RawEntry&)>& take, RawReport& report,
               bool& compressed);

}  // namespace watchbill::history
