// Ids that sort by the time they were made. (ULID: 48 bits of milliseconds, 80 bits that follow.)
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace watchbill {

// A generator that is state and nothing else: the same seed and the same times give the same ids. Ids of one
// generator never repeat and always grow, also within a millisecond and when the clock goes back. One thread.
class UlidGenerator {
 public:
  // `seed` should be random where ids of several generators meet.
  explicit UlidGenerator(uint64_t seed) : state_(seed) {}

  // 26 characters of Crockford's base 32.
  std::string Next(int64_t wall_ms) {
    if (wall_ms < 0) wall_ms = 0;
    if (last_ms_ < 0 || wall_ms > last_ms_) {
      last_ms_ = wall_ms;
      high_ = static_cast<uint16_t>(Random());
      low_ = Random() >> 1;  // room to count up within the millisecond
    } else if (++low_ == 0 && ++high_ == 0) {
      ++last_ms_;
    }
    static constexpr char kAlphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const auto ms = static_cast<uint64_t>(last_ms_);
    std::array<unsigned char, 16> bytes{};
    for (int i = 0; i < 6; ++i)
      bytes[static_cast<size_t>(i)] = static_cast<unsigned char>(ms >> (40 - 8 * i));
    bytes[6] = static_cast<unsigned char>(high_ >> 8);
    bytes[7] = static_cast<unsigned char>(high_);
    for (int i = 0; i < 8; ++i)
      bytes[static_cast<size_t>(8 + i)] = static_cast<unsigned char>(low_ >> (56 - 8 * i));
    std::string out(26, '0');
    // 130 bits for 128: the first character holds three.
    unsigned carry = 0;
    int bits = 2, at = 0;
    for (const unsigned char byte : bytes) {
      carry = (carry << 8 | byte) & 0xFFFF;
      for (bits += 8; bits >= 5; bits -= 5) {
        out[static_cast<size_t>(at++)] = kAlphabet[carry >> (bits - 5) & 31];
      }
    }
    return out;
  }

 private:
  uint64_t Random() {  // splitmix64
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  uint64_t state_;
  int64_t last_ms_ = -1;
  uint16_t high_ = 0;
  uint64_t low_ = 0;
};

}  // namespace watchbill
