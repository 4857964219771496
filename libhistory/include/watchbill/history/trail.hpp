// Who did what: a trail of entries that are numbered without a hole, each with a hash that takes in all
// before it. A change, a hole, another order and an end that is missing show. Who can write the whole
// database can write a whole new trail: against that, keep what Trail::End says somewhere else, and hand it
// to Verify.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/base/json_text.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/history/store.hpp"

namespace watchbill::history {

struct TrailEntry {
  int64_t at_ms = 0;
  std::string who, what, about;
  JsonText detail;      // absent: there is none
  uint64_t number = 0;  // from 1: what the trail gave it, in no JSON
  friend bool operator==(const TrailEntry& a, const TrailEntry& b) {
    return a.at_ms == b.at_ms && a.who == b.who && a.what == b.what && a.about == b.about &&
           a.detail.text() == b.detail.text() && a.number == b.number;
  }
};

// {"atMs","who","what","about","detail"}; bytes that are not UTF-8 are written as U+FFFD. A member that is
// missing or of the wrong kind has its default, one that is not known is kept out. InvalidArgument: no JSON,
// longer than kMaxRecordBytes, or no object.
void Write(JsonWriter& w, const TrailEntry& entry);
absl::StatusOr<TrailEntry> ReadTrailEntry(std::string_view json);

// Behind all that there are, whatever its number says. InvalidArgument as Batch::AppendToTrail has it.
absl::Status AppendToTrail(Batch& batch, const TrailEntry& entry);

// The last entry, with all before it: what makes two trails one.
struct TrailEnd {
  uint64_t number = 0;  // 0: there never was one
  std::string hash;     // 64 hexadecimal digits
  friend bool operator==(const TrailEnd&, const TrailEnd&) = default;
};

// All that are told have to fit.
struct TrailFilter {
  std::optional<std::string> who = {}, what = {}, about = {};  // as they are
  std::optional<int64_t> from_ms = {}, before_ms = {};         // times need not be in the order of numbers
};

struct TrailQuery {
  uint64_t before = 0;  // entries of lesser numbers; 0: from the newest
  size_t limit = 100;
  TrailFilter filter = {};
  // Entries that are looked at, of 16 MB together, at most: few may fit.
  size_t most_looked_at = 10'000;
};

struct TrailPage {
  std::vector<TrailEntry> entries;  // newest first
  // There are others, which may fit or not: TrailQuery::before of the next page. 0: that was all.
  uint64_t next = 0;
  // What could not be read on the way, as Page::unreadable counts.
  size_t unreadable = 0;
};

struct TrailFault {
  enum class Kind : uint8_t {
    kMissing,     // entries between others, or at the beginning
    kChanged,     // one, or what it follows from
    kMoved,       // one stands in the place of another
    kUnreadable,  // damaged, or of a newer version
    kEndMissing,  // entries that were confirmed last
    kEnd,         // what says where the trail ends is missing or cannot be read, or does not fit
    kBegin,       // what says where it begins cannot be read or does not fit
    kForeign,     // something stands in the trail and is no entry of it
    kOther,       // it is another trail than that whose end was kept, or was cut before that
  };
  Kind kind;
  uint64_t first = 0, last = 0;  // the numbers of the entries that it is about
  std::string says;              // "entries 18 to 20 are missing"
  friend bool operator==(const TrailFault&, const TrailFault&) = default;
};

struct TrailReport {
  // Entries are there from this number on; those before it were taken off.
  uint64_t first = 1;
  TrailEnd end;          // as the trail says
  uint64_t entries = 0;  // that were looked at
  // The one of the least number: all before it are as they were. Nothing: so are all.
  std::optional<TrailFault> fault;
  // Whether the end that was kept elsewhere is in this trail; nothing where none was handed in, or that entry
  // was taken off.
  std::optional<bool> kept_is_there;
};

struct TrailCheck {
  // What End said at some time.
  std::optional<TrailEnd> kept = {};
  // Entries done so far, and how many there are to be. False stops it.
  std::function<bool(uint64_t done, uint64_t of)> progress = {};
};

// Every function is as things were at the moment of the call, and fails with Unavailable: the disk. Any
// thread.
class Trail {
 public:
  // The store has to be there as long.
  explicit Trail(const Store& store) : store_(&store) {}

  absl::StatusOr<TrailPage> Page(const TrailQuery& query) const;
  // DataLoss: it cannot be read.
  absl::StatusOr<TrailEnd> End() const;
  // Looks at all of it; some 3 seconds for a million entries of 200 bytes. InvalidArgument: the hash that was
  // kept is none. Cancelled: by `progress`.
  absl::StatusOr<TrailReport> Verify(const TrailCheck& check = {}) const;

 private:
  const Store* store_;
};

}  // namespace watchbill::history
