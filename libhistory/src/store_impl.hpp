// What stands behind a Store and a Batch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json_document.hpp"
#include "keys.hpp"
#include "says.hpp"
#include "search_tail.hpp"
#include "trail_head.hpp"
#include "watchbill/history/engine.hpp"
#include "watchbill/history/store.hpp"

namespace watchbill::history {

// The first byte of every value: which way the rest is written.
inline constexpr char kValueVersion = 1;
// What the format record says: which keys there are and what they mean. 1 had no N and nothing behind it in
// keys.hpp.
inline constexpr int64_t kFormat = 2;

// The JSON of a value, or nothing where it is of a version that is not known.
inline std::optional<std::string_view> JsonOf(std::string_view value) {
  if (value.empty() || value[0] != kValueVersion) return std::nullopt;
  return value.substr(1);
}

// Of a newer version than this library reads: nothing is written over it.
inline bool OfNewerVersion(std::string_view value) {
  return !value.empty() && static_cast<unsigned char>(value[0]) > kValueVersion;
}

// A value in the making: its version, then whatever JSON is written.
struct ValueWriter {
  std::string value{kValueVersion};
  JsonWriter json{value};
};

// One for each look: its buffers serve all that is read in it.
inline json::Document NewDocument() { return json::Document({.bytes = kMaxRecordBytes, .depth = 64}); }

absl::StatusOr<UlidBytes> Id(std::string_view what, std::string_view text);
absl::Status CheckAgent(std::string_view agent);

// A record of the ledger that is put, deleted, or deleted only if it stands at that order still. Whether it
// does or not, its place there goes.
struct RecordChange {
  enum class What : uint8_t { kPut, kDelete, kDeleteAt };
  What what;
  Collection collection;
  std::string key, order, value;  // JSON
};

struct Batch::Impl {
  struct Arrival {
    UlidBytes channel, message;
  };

  absl::Status Add(std::string_view what, const std::string& key, const std::string& value);

  Writes writes;
  std::vector<Arrival> arrivals;      // the messages among them
  std::vector<UlidBytes> channels;    // whose records are among them, or those of members
  std::vector<RecordChange> records;  // in their order; of one key the last holds
  std::vector<std::string> trail;     // JSON
  // Where those have to stand: behind this one, or the batch is Aborted. A trail without entries begins
  // there.
  std::optional<TrailHead> trail_after;
  // Where the trail began, and where it begins with this; the writes have the entries that go. Aborted where
  // it begins elsewhere by now.
  std::optional<std::pair<TrailHead, TrailHead>> trail_cut;
  std::optional<UlidBytes> closes;  // the channel whose deletion begins with it
  size_t bytes = 0;
};

// Where a record stands in its second order.
struct Standing {
  enum class Is : uint8_t { kAbsent, kThere, kUnreadable, kNewer };
  Is is = Is::kAbsent;
  std::string order;  // where it is there
};
using Standings = std::map<std::pair<Collection, std::string>, Standing>;

// Adds what puts and deletes records: where they stood is looked up, in the engine and in `standings`, which
// has those of this commit so far. FailedPrecondition: one is of a newer version, and is not written over.
// The one that writes is the only one.
absl::Status ExpandRecords(const Engine& engine, const std::vector<RecordChange>& changes,
                           Standings& standings, Writes& writes);

struct Store::Impl {
  Impl(std::unique_ptr<Engine> opened, std::string called)
      : engine(std::move(opened)), name(std::move(called)) {}

  absl::Status CheckFormat();
  // What is needed before anything can be written.
  absl::Status Begin();
  absl::Status ReadDeleted();
  absl::Status FirstArrival();

  struct Waiting {
    const Batch* batch;
    absl::Status status;
    bool done = false;
  };
  // By the first of the queue alone: writes several at once, and says to each how it went.
  void CommitTogether(const std::vector<Waiting*>& group);
  // By it too. Behind a commit that failed the engine answers as if nothing of it were there, and the next
  // one may bring it back. So one is made that changes nothing, before anything is looked up.
  absl::Status MakeSure();
  // By it too. What one batch comes to, or why it comes to nothing.
  absl::Status Expand(const Batch::Impl& batch, TrailHead& trail, Standings& standings, Writes& writes);

  bool IsDeleted(const UlidBytes& channel) const;
  // From the key `first` on, towards older ones.
  absl::StatusOr<Page> Read(const UlidBytes& channel, std::string_view first, size_t limit);
  // Calls `each` with key and value of what begins with `prefix`, from `first` on, until it says false.
  // Damaged blocks are passed over and counted in `damaged`.
  template <typename Each>
  absl::Status Scan(std::string_view prefix, std::string_view first, size_t& damaged, Each each) const {
    const std::unique_ptr<Cursor> it = engine->Scan(first);
    for (; it->Valid() && it->key().starts_with(prefix); it->Next()) {
      if (!each(it->key(), it->value())) break;
    }
    const absl::Status status = it->status();
    if (!absl::IsDataLoss(status)) return status;
    // The cursor went on behind the damage and tells of the first only.
    ++damaged;
    return absl::OkStatus();
  }

  const std::unique_ptr<Engine> engine;
  const std::string name;

  std::mutex queue_mutex;
  std::condition_variable queue_moved;
  std::deque<Waiting*> queue;

  // The one that writes has these to itself.
  uint64_t next_arrival = 1;
  std::optional<TrailHead> trail;  // read when it is first needed
  bool unsure = false;             // the last commit failed: what of it is there is not known

  // By one piece at a time of what is taken off the trail.
  std::mutex cut_mutex;

  mutable std::mutex deleted_mutex;
  std::map<UlidBytes, bool> deleted;  // whether all of it is gone

  // By one step of the index at a time.
  std::mutex index_mutex;
  bool index_unsure = false;  // the last step could not be committed: what of it is there is not known

  mutable TailMemory tail;

  mutable std::atomic<size_t> unreadable{0};
};

// For what stands beside the store in this library: what goes in and out as a whole.
struct Inside {
  static Store::Impl& Of(const Store& store) { return *store.impl_; }
  static auto& Of(Batch& batch) { return *batch.impl_; }
};

}  // namespace watchbill::history
