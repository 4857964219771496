// Where a history lasts: an ordered map of bytes. LevelDB stands behind it; another store can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace watchbill::history {

// Puts and deletes in the order in which they were added. Copies what it is given.
class Writes {
 public:
  void Put(std::string_view key, std::string_view value);
  void Delete(std::string_view key);
  // All of the other's, behind what is here.
  void Append(const Writes& more) { ops_.append(more.ops_); }
  void Clear() { ops_.clear(); }
  bool empty() const { return ops_.empty(); }
  // What they take in memory, which is about what they take in a log.
  size_t bytes() const { return ops_.size(); }

  // Calls put(key, value) and del(key) in order; the views are good until this changes.
  template <typename Put, typename Delete>
  void Each(const Put& put, const Delete& del) const {
    for (size_t at = 0; at < ops_.size();) {
      const bool is_put = ops_[at++] == 'P';
      const std::string_view key = Take(at);
      if (is_put) {
        put(key, Take(at));
      } else {
        del(key);
      }
    }
  }

 private:
  void Add(std::string_view bytes);
  std::string_view Take(size_t& at) const;

  std::string ops_;  // P or D, then each text behind its length in four bytes
};

// A look over the keys, upwards, as they were when it was made. One thread at a time. It has to go before its
// engine does.
class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual bool Valid() const = 0;
  // Those two while it is valid; the views are good until it moves.
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual void Next() = 0;
  // To the first key that is not before this one.
  virtual void Seek(std::string_view key) = 0;
  // DataLoss: something damaged was passed over, and what is behind it is there. Unavailable: the disk; there
  // may be more than was seen.
  virtual absl::Status status() const = 0;
};

enum class Sync {
  kNow,    // on the disk when Commit returns
  kLater,  // with the next that is kNow, or before; may be lost if the machine stops, not if the process does
};

// Every function may be called from any thread.
class Engine {
 public:
  virtual ~Engine() = default;

  // NotFound; DataLoss: it is there and damaged; Unavailable: the disk.
  virtual absl::Status Get(std::string_view key, std::string& value) const = 0;
  // At the first key that is not before `from`.
  virtual std::unique_ptr<Cursor> Scan(std::string_view from) const = 0;
  // All of them or none, also when the machine stops in between. ResourceExhausted: the disk is full, and it
  // goes on by itself once there is room. Unavailable: what the disk said. Behind either, all or nothing of
  // them may be there when the history is opened again; the same ones may be tried again.
  virtual absl::Status Commit(const Writes& writes, Sync sync) = 0;
  // About the bytes on the disk of the keys from `from` to before `to`; what was written last may be missing.
  virtual uint64_t Bytes(std::string_view from, std::string_view to) const = 0;
  // Gives back the room of what was deleted or replaced. May take long; reading and writing go on.
  virtual absl::Status Compact() = 0;
};

struct EngineOptions {
  size_t cache_bytes = 8 << 20;  // of blocks that were read
  bool create = true;            // false: NotFound where there is none, and nothing is made
  // What is in memory before it goes to a table; 0: as fits the disk, 4 MB or less.
  size_t write_buffer_bytes = 0;
};

// LevelDB in a folder. Errors as those of Store::Open, which is its caller.
absl::StatusOr<std::unique_ptr<Engine>> OpenLevelDb(const std::string& folder, const EngineOptions& options);

// Lasts as long as itself: for tests, and for where nothing is to be kept.
std::unique_ptr<Engine> NewMemoryEngine();

}  // namespace watchbill::history
