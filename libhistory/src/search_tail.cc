#include "search_tail.hpp"

#include <utility>

namespace watchbill::history {

std::shared_ptr<const TailWords> TailMemory::Find(uint64_t number) const {
  const std::lock_guard guard(mutex_);
  const auto it = words_.find(number);
  return it == words_.end() ? nullptr : it->second;
}

void TailMemory::Keep(uint64_t number, std::shared_ptr<const TailWords> words) {
  const size_t bytes = words->words.size();
  if (bytes > kMostBytesOfOne) return;
  const std::lock_guard guard(mutex_);
  if (bytes_ + bytes > kMostBytes) return;
  if (words_.emplace(number, std::move(words)).second) bytes_ += bytes;
}

void TailMemory::ForgetUpTo(uint64_t number) {
  const std::lock_guard guard(mutex_);
  while (!words_.empty() && words_.begin()->first <= number) {
    bytes_ -= words_.begin()->second->words.size();
    words_.erase(words_.begin());
  }
}

size_t TailMemory::bytes() const {
  const std::lock_guard guard(mutex_);
  return bytes_;
}

}  // namespace watchbill::history
