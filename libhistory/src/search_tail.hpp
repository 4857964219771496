// The words of messages that are not in the index yet, so that each is read and split once, and not by every
// search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace watchbill::history {

struct TailWords {
  int64_t created_ms = 0;
  std::string words;  // as PackedWords gives them
};

// By the numbers of arrivals, none of which is given twice. Bounded in memory: what has no room is read
// again. Any thread.
class TailMemory {
 public:
  static constexpr size_t kMostBytes = 4 << 20;
  // One that is longer is not worth it.
  static constexpr size_t kMostBytesOfOne = 32 << 10;

  // Null: it is not known.
  std::shared_ptr<const TailWords> Find(uint64_t number) const;
  void Keep(uint64_t number, std::shared_ptr<const TailWords> words);
  // Up to this one they are in the index.
  void ForgetUpTo(uint64_t number);
  size_t bytes() const;

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<const TailWords>> words_;
  size_t bytes_ = 0;
};

}  // namespace watchbill::history
