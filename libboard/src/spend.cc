#include "spend.hpp"

namespace watchbill::board {
namespace {

// FNV-1a with a last mix. A fixed function: what is counted must not depend on the process.
uint64_t Hash(uint64_t h, std::string_view s) {
  for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  h ^= h >> 32;
  return h * 0x9E3779B97F4A7C15;
}

}  // namespace

bool SeenEntries::Insert(std::string_view id, std::string_view run) {
  const uint64_t key = Hash(Hash(0xCBF29CE484222325, id), run);
  if (!set_.insert(key).second) return false;
  if (ring_.size() < kMost) {
    ring_.push_back(key);
    return true;
  }
  set_.erase(ring_[next_]);
  ring_[next_] = key;
  next_ = (next_ + 1) % kMost;
  return true;
}

void RateWindow::Add(int64_t tokens, int64_t mono_ns) {
  if (buckets_.empty()) {
    buckets_.assign(kBuckets, 0);
    head_ = mono_ns / kBucketNs;
  }
  Advance(mono_ns);
  buckets_[static_cast<size_t>(head_) % kBuckets] += tokens;
  sum_ += tokens;
}

bool RateWindow::Advance(int64_t mono_ns) {
  if (buckets_.empty()) return false;
  const int64_t now = mono_ns / kBucketNs;
  const int64_t before = sum_;
  if (now - head_ >= static_cast<int64_t>(kBuckets)) {
    buckets_.assign(kBuckets, 0);
    sum_ = 0;
    head_ = now;
  }
  while (head_ < now) {
    int64_t& bucket = buckets_[static_cast<size_t>(++head_) % kBuckets];
    sum_ -= bucket;
    bucket = 0;
  }
  return sum_ != before;
}

}  // namespace watchbill::board
