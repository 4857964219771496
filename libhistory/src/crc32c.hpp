// The checksum of LevelDB's files, and their numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace watchbill::history {

inline constexpr std::array<uint32_t, 256> kCrc32cTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
    table[i] = crc;
  }
  return table;
}();

// A byte at a time: what it is of so far can be asked for behind each.
class Crc32c {
 public:
  void Add(char byte) { crc_ = kCrc32cTable[(crc_ ^ static_cast<unsigned char>(byte)) & 0xFF] ^ crc_ >> 8; }
  void Add(std::string_view bytes) {
    for (const char byte : bytes) Add(byte);
  }
  uint32_t value() const { return ~crc_; }

 private:
  uint32_t crc_ = 0xFFFFFFFF;
};

// A checksum as it stands in a file: turned and moved, as it is itself under checksums.
inline uint32_t UnmaskedCrc(uint32_t masked) {
  const uint32_t turned = masked - 0xA282EAD8;
  return turned >> 17 | turned << 15;
}

// Numbers with their lowest byte first. The text is long enough.
inline uint32_t Fixed32At(std::string_view text, size_t at) {
  uint32_t number = 0;
  for (size_t i = 4; i > 0; --i) number = number << 8 | static_cast<unsigned char>(text[at + i - 1]);
  return number;
}
inline uint64_t Fixed64At(std::string_view text, size_t at) {
  return uint64_t{Fixed32At(text, at + 4)} << 32 | Fixed32At(text, at);
}

}  // namespace watchbill::history
