// Bounds for what strangers send.
#pragma once

#include <string_view>

namespace watchbill::board {

// The start of a text, at most `bytes` long and cut between characters.
inline std::string_view Clip(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

inline constexpr size_t kMaxName = 200;
inline constexpr size_t kMaxId = 200;
inline constexpr size_t kMaxPath = 1024;
inline constexpr size_t kMaxWord = 64;
inline constexpr size_t kMaxWords = 64;
inline constexpr size_t kMaxSentence = 2000;

}  // namespace watchbill::board
