// Tokens: counted once by entry, and their rate ("Tokens", "The rate").
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace watchbill::board {

// The entries of one source that were counted, the newest 2,048: an agent's journal is itself compacted at
// 2,000, so that nothing older can be read again.
class SeenEntries {
 public:
  // True the first time. `run` tells entries apart whose ids began again after a journal was wiped.
  bool Insert(std::string_view id, std::string_view run);

 private:
  static constexpr size_t kMost = 2048;
  absl::flat_hash_set<uint64_t> set_;
  std::vector<uint64_t> ring_;
  size_t next_ = 0;
};

// Tokens of the trailing five minutes, to ten seconds.
class RateWindow {
 public:
  static constexpr int64_t kWindowMs = 300'000;

  void Add(int64_t tokens, int64_t mono_ns);
  // Forgets what is older than the window. True where that changed the sum.
  bool Advance(int64_t mono_ns);
  int64_t PerMinute() const { return (sum_ + 2) / 5; }
  bool idle() const { return sum_ == 0; }

 private:
  static constexpr int64_t kBucketNs = 10'000'000'000;
  static constexpr size_t kBuckets = 30;
  std::vector<int64_t> buckets_;  // empty until something is spent
  int64_t head_ = 0;              // the number of the newest bucket
  int64_t sum_ = 0;
};

}  // namespace watchbill::board
