// The end of the trail where it grows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "watchbill/history/engine.hpp"

namespace watchbill::history {

using TrailHash = std::array<uint8_t, 32>;

// The number of an entry, from 1, and the hash that takes in all up to it.
struct TrailHead {
  uint64_t number = 0;
  TrailHash hash{};
  friend bool operator==(const TrailHead&, const TrailHead&) = default;
};

// SHA-256 over the hash of the entry before, the number with its highest byte first, and the JSON.
TrailHash HashEntry(const TrailHash& before, uint64_t number, std::string_view json);

// 64 hexadecimal digits, and back; nothing for any other text.
std::string HashText(const TrailHash& hash);
std::optional<TrailHash> ParseHash(std::string_view text);

// The end, from the record of `key` (kTrailHeadKey, kTrailAnchorKey); number 0 where there is none. DataLoss:
// it cannot be read, and so nothing can be put behind it.
absl::StatusOr<TrailHead> ReadTrailHead(const Engine& engine, std::string_view key);
// Nothing: it is no such record, or of another version.
std::optional<TrailHead> ParseTrailHead(std::string_view value);
std::string WriteTrailHead(const TrailHead& head);

// Behind which entry the next one goes. The record of the end says it; where that is missing or stands back,
// the newest entry does, or where the trail begins, so that no entry is ever written over. DataLoss: as
// above, or the newest entry cannot be read and nothing else says it.
absl::StatusOr<TrailHead> EndOfTrail(const Engine& engine);

// The value of an entry: its version, its hash, JSON.
struct KeptEntry {
  TrailHash hash{};
  std::string_view json;  // into the value
};
// Nothing: of a version that is not known, or cut. Whether it is JSON is not looked at.
std::optional<KeptEntry> ParseEntry(std::string_view value);

// Adds an entry behind `head`, and moves it.
void AppendEntry(std::string_view json, TrailHead& head, Writes& writes);

}  // namespace watchbill::history
