// The time, handed in. No library of this suite reads a clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace watchbill {

// The two clocks of one moment. Deadlines are on `mono_ns` alone, so that a clock that is set does not move
// them.
struct Now {
  int64_t mono_ns = 0;  // nanoseconds of a clock that never goes back
  int64_t wall_ms = 0;  // milliseconds since 1970, UTC: only to stamp and to show
};

inline constexpr int64_t kMillisecond = 1'000'000;
inline constexpr int64_t kSecond = 1'000 * kMillisecond;
// The deadline of something that waits for nothing.
inline constexpr int64_t kNever = INT64_MAX;

namespace time_detail {

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar, and back.
constexpr int64_t DaysFromCivil(int64_t y, unsigned m, unsigned d) {
  y -= m <= 2;
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const auto yoe = static_cast<unsigned>(y - era * 400);
  const unsigned doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
  const unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146097 + static_cast<int64_t>(doe) - 719468;
}

struct Civil {
  int64_t year;
  unsigned month, day;
};

constexpr Civil CivilFromDays(int64_t z) {
  z += 719468;
  const int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  const auto doe = static_cast<unsigned>(z - era * 146097);
  const unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const unsigned mp = (5 * doy + 2) / 153;
  const unsigned m = mp < 10 ? mp + 3 : mp - 9;
  return {static_cast<int64_t>(yoe) + era * 400 + (m <= 2), m, doy - (153 * mp + 2) / 5 + 1};
}

}  // namespace time_detail

// "2026-10-01T18:12:00.000Z". Years outside 0 to 9999 are clamped, so that the text has one width.
inline std::string IsoFromWallMs(int64_t wall_ms) {
  constexpr int64_t kDay = 86'400'000;
  constexpr int64_t kFirst = time_detail::DaysFromCivil(0, 1, 1) * kDay;
  constexpr int64_t kLast = time_detail::DaysFromCivil(10000, 1, 1) * kDay - 1;
  wall_ms = wall_ms < kFirst ? kFirst : wall_ms > kLast ? kLast : wall_ms;
  const int64_t days = wall_ms >= 0 ? wall_ms / kDay : -((-wall_ms + kDay - 1) / kDay);
  const int64_t in_day = wall_ms - days * kDay;
  const time_detail::Civil c = time_detail::CivilFromDays(days);
  std::string out = "0000-00-00T00:00:00.000Z";
  const auto put = [&out](size_t at, int width, int64_t value) {
    for (int i = width - 1; i >= 0; --i, value /= 10) {
      out[at + static_cast<size_t>(i)] = static_cast<char>('0' + value % 10);
    }
  };
  put(0, 4, c.year);
  put(5, 2, c.month);
  put(8, 2, c.day);
  put(11, 2, in_day / 3'600'000);
  put(14, 2, in_day / 60'000 % 60);
  put(17, 2, in_day / 1000 % 60);
  put(20, 3, in_day % 1000);
  return out;
}

// Reads what an ISO stamp of a frame says: a date, 'T', a time with optional fraction, and 'Z' or an offset.
// Nothing for any other text.
inline std::optional<int64_t> WallMsFromIso(std::string_view text) {
  size_t at = 0;
  const auto digits = [&](size_t count) -> int64_t {
    if (text.size() - at < count) return -1;
    int64_t value = 0;
    for (const size_t end = at + count; at < end; ++at) {
      if (text[at] < '0' || text[at] > '9') return -1;
      value = value * 10 + (text[at] - '0');
    }
    return value;
  };
  const auto literal = [&](char c) { return at < text.size() && text[at] == c ? (++at, true) : false; };
  const int64_t year = digits(4);
  if (year < 0 || !literal('-')) return std::nullopt;
  const int64_t month = digits(2);
  if (month < 1 || month > 12 || !literal('-')) return std::nullopt;
  const int64_t day = digits(2);
  if (day < 1 || day > 31 || !literal('T')) return std::nullopt;
  const int64_t hour = digits(2);
  if (hour < 0 || hour > 24 || !literal(':')) return std::nullopt;
  const int64_t minute = digits(2);
  if (minute < 0 || minute > 59 || !literal(':')) return std::nullopt;
  const int64_t second = digits(2);
  if (second < 0 || second > 60) return std::nullopt;
  int64_t ms = 0;
  if (literal('.')) {
    int64_t scale = 100;
    int seen = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++seen) {
      ms += (text[at] - '0') * scale;
      scale /= 10;
    }
    if (seen == 0) return std::nullopt;
  }
  int64_t offset_min = 0;
  if (!literal('Z')) {
    const bool minus = at < text.size() && text[at] == '-';
    if (!literal('+') && !literal('-')) return std::nullopt;
    const int64_t h = digits(2);
    if (h < 0 || h > 23 || !literal(':')) return std::nullopt;
    const int64_t m = digits(2);
    if (m < 0 || m > 59) return std::nullopt;
    offset_min = (h * 60 + m) * (minus ? -1 : 1);
  }
  if (at != text.size()) return std::nullopt;
  const int64_t days =
      time_detail::DaysFromCivil(year, static_cast<unsigned>(month), static_cast<unsigned>(day));
  return ((days * 24 + hour) * 60 + minute - offset_min) * 60'000 + second * 1000 + ms;
}

}  // namespace watchbill
