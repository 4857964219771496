// The end of the trail where it grows.
#pragma once

#include <array>
#include <cstdint>
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

// The end, from the record of `key` (kTrailHeadKey, kTrailAnchorKey); number 0 where there is none. DataLoss:
// it cannot be read, and so nothing can be put behind it.
absl::StatusOr<TrailHead> ReadTrailHead(const Engine& engine, std::string_view key);
std::string WriteTrailHead(const TrailHead& head);

// Adds an entry behind `head`, and moves it.
void AppendEntry(std::string_view json, TrailHead& head, Writes& writes);

}  // namespace watchbill::history
