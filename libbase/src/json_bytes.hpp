// What the JSON reader asks of bytes: where the plain part of a string ends, a block at a time, and whether a
// sequence is UTF-8. Everything here reads ahead: kPadding bytes behind a text must be there, and a NUL must
// be the first of them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace watchbill::json {

inline constexpr size_t kPadding = 32;

// Plain is what a string may hold and nobody has to look at: ASCII but for quotes, backslashes and controls.
// The rest are stops: of a word or a block, which of its bytes are, and how many are before the first of
// them.

inline uint64_t StopsInWord(const char* at) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  // A byte's high bit says that the byte stops; a borrow can make that wrong only above the first that is
  // right.
  const uint64_t quote = word ^ (kOnes * '"'), backslash = word ^ (kOnes * '\\');
  const uint64_t below = (word - kOnes * 0x20) | (quote - kOnes) | (backslash - kOnes);
  return (below | word) & kHighs;
}

inline size_t PlainBeforeInWord(uint64_t stops) { return static_cast<unsigned>(std::countr_zero(stops)) / 8; }

#ifdef __SSE2__
inline constexpr size_t kBlock = 16;

inline unsigned StopsInBlock(const char* at) {
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  // As signed bytes, controls and all beyond ASCII are less than a space.
  const __m128i low = _mm_cmplt_epi8(block, _mm_set1_epi8(0x20));
  const __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, backslash))));
}

inline size_t PlainBefore(unsigned stops) { return static_cast<unsigned>(std::countr_zero(stops)); }
#else
inline constexpr size_t kBlock = 8;

inline uint64_t StopsInBlock(const char* at) { return StopsInWord(at); }
inline size_t PlainBefore(uint64_t stops) { return PlainBeforeInWord(stops); }
#endif

// The length of the well-formed UTF-8 sequence at `at`; or, below nothing, that of the piece which one U+FFFD
// stands for: the longest that begins a sequence, or one byte. (Unicode 15, table 3-7 and section 3.9.)
inline int Utf8At(const char* at) {
  const auto byte = [at](int i) { return static_cast<unsigned char>(at[i]); };
  const auto tail = [byte](int i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return -1;
  if (lead < 0xE0) return tail(1) ? 2 : -1;
  if (lead < 0xF0) {
    if (byte(1) < (lead == 0xE0 ? 0xA0 : 0x80) || byte(1) > (lead == 0xED ? 0x9F : 0xBF)) return -1;
    return tail(2) ? 3 : -2;
  }
  if (lead > 0xF4) return -1;
  if (byte(1) < (lead == 0xF0 ? 0x90 : 0x80) || byte(1) > (lead == 0xF4 ? 0x8F : 0xBF)) return -1;
  if (!tail(2)) return -2;
  return tail(3) ? 4 : -3;
}

// The worth of each hexadecimal digit, -1 for what is none.
inline constexpr std::array<int8_t, 256> kHexDigits = [] {
  std::array<int8_t, 256> worth{};
  worth.fill(-1);
  for (int i = 0; i < 10; ++i) worth[static_cast<size_t>('0' + i)] = static_cast<int8_t>(i);
  for (int i = 0; i < 6; ++i) {
    worth[static_cast<size_t>('a' + i)] = static_cast<int8_t>(10 + i);
    worth[static_cast<size_t>('A' + i)] = static_cast<int8_t>(10 + i);
  }
  return worth;
}();

// The number that four hexadecimal digits write, or less than nothing.
inline int HexUnit(const char* at) {
  const auto digit = [at](int i) { return static_cast<int>(kHexDigits[static_cast<unsigned char>(at[i])]); };
  // A digit that is none is all ones, and stays below nothing wherever it stands.
  return digit(0) * 4096 | digit(1) * 256 | digit(2) * 16 | digit(3);
}

// What the letter behind a backslash means; 0 for what is no such letter, and for u.
inline constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> meaning{};
  constexpr char kPairs[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
  for (size_t i = 0; i + 1 < sizeof kPairs; i += 2)
    meaning[static_cast<unsigned char>(kPairs[i])] = kPairs[i + 1];
  return meaning;
}();

// Writes up to 4 bytes; gives how many.
inline size_t WriteUtf8(uint32_t point, char* out) {
  const auto byte = [](uint32_t b) { return static_cast<char>(static_cast<unsigned char>(b)); };
  if (point < 0x80) {
    out[0] = byte(point);
    return 1;
  }
  if (point < 0x800) {
    out[0] = byte(0xC0 | point >> 6);
    out[1] = byte(0x80 | (point & 0x3F));
    return 2;
  }
  if (point < 0x10000) {
    out[0] = byte(0xE0 | point >> 12);
    out[1] = byte(0x80 | (point >> 6 & 0x3F));
    out[2] = byte(0x80 | (point & 0x3F));
    return 3;
  }
  out[0] = byte(0xF0 | point >> 18);
  out[1] = byte(0x80 | (point >> 12 & 0x3F));
  out[2] = byte(0x80 | (point >> 6 & 0x3F));
  out[3] = byte(0x80 | (point & 0x3F));
  return 4;
}

// How AppendJsonString writes a quote, a backslash or a control. Gives how many bytes that is, up to 6.
inline size_t WriteEscape(char c, char* out) {
  constexpr std::string_view kShort = "\"\"\\\\b\bf\fn\nr\rt\t";
  out[0] = '\\';
  for (size_t i = 0; i < kShort.size(); i += 2) {
    if (kShort[i + 1] != c) continue;
    out[1] = kShort[i];
    return 2;
  }
  std::memcpy(out + 1, "u00", 3);
  out[4] = c < 0x10 ? '0' : '1';
  out[5] = "0123456789abcdef"[c & 15];
  return 6;
}

// Whether that is how the escape \u at `at` is written, which is one.
inline bool IsOurSpelling(const char* at) {
  if (at[2] != '0' || at[3] != '0' || at[4] > '1') return false;
  char ours[6];
  return WriteEscape(static_cast<char>(HexUnit(at + 2)), ours) == 6 && std::memcmp(at, ours, 6) == 0;
}

}  // namespace watchbill::json
