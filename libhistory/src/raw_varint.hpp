// LevelDB's numbers of seven bits a byte, and texts behind their length.
#pragma once

#include <cstdint>
#include <string_view>

namespace watchbill::history {

// Takes it off the beginning. False: it is cut, or more than 64 bits.
inline bool TakeVarint(std::string_view& bytes, uint64_t& number) {
  number = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    number |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

inline bool TakeCounted(std::string_view& bytes, std::string_view& text) {
  uint64_t size = 0;
  if (!TakeVarint(bytes, size) || size > bytes.size()) return false;
  text = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

}  // namespace watchbill::history
