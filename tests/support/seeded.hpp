// Random tests that can be run again: the seed is printed with a failure, and WATCHBILL_SEED sets it.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace watchbill {

inline uint64_t TestSeed() {
  if (const char* set = std::getenv("WATCHBILL_SEED")) return std::strtoull(set, nullptr, 10);
  return std::random_device()();
}

class Seeded {
 public:
  explicit Seeded(uint64_t seed) : engine_(seed) {}
  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(engine_); }
  bool OneIn(size_t n) { return Below(n) == 0; }
  template <typename T>
  const T& Of(const std::vector<T>& choices) {
    return choices[Below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace watchbill
