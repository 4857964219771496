#include "trail_head.hpp"

#include <fmt/core.h>
#include <openssl/sha.h>

#include <charconv>
#include <memory>

#include "keys.hpp"
#include "store_impl.hpp"

namespace watchbill::history {

TrailHash HashEntry(const TrailHash& before, uint64_t number, std::string_view json) {
  std::string text(before.begin(), before.end());
  AppendNumber(text, number);
  text.append(json);
  TrailHash hash{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  return hash;
}

std::string HashText(const TrailHash& hash) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * hash.size());
  for (const uint8_t byte : hash) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::optional<TrailHash> ParseHash(std::string_view text) {
  TrailHash hash{};
  if (text.size() != 2 * hash.size()) return std::nullopt;
  for (size_t i = 0; i < hash.size(); ++i) {
    const char* const at = text.data() + 2 * i;
    const auto [stopped, error] = std::from_chars(at, at + 2, hash[i], 16);
    if (error != std::errc() || stopped != at + 2) return std::nullopt;
  }
  return hash;
}

absl::StatusOr<TrailHead> ReadTrailHead(const Engine& engine, std::string_view key) {
  std::string value;
  const absl::Status got = engine.Get(key, value);
  if (absl::IsNotFound(got)) return TrailHead();
  if (!got.ok()) return got;
  if (const auto head = ParseTrailHead(value)) return *head;
  return absl::DataLossError("the end of the trail cannot be read: nothing can be put behind it");
}

std::optional<TrailHead> ParseTrailHead(std::string_view value) {
  TrailHead head;
  if (value.size() != 1 + 8 + head.hash.size() || value[0] != kValueVersion) return std::nullopt;
  head.number = NumberAt(value, 1);
  for (size_t i = 0; i < head.hash.size(); ++i) head.hash[i] = static_cast<uint8_t>(value[9 + i]);
  return head;
}

std::string WriteTrailHead(const TrailHead& head) {
  std::string value(1, kValueVersion);
  AppendNumber(value, head.number);
  value.append(head.hash.begin(), head.hash.end());
  return value;
}

absl::StatusOr<TrailHead> EndOfTrail(const Engine& engine) {
  absl::StatusOr<TrailHead> end = ReadTrailHead(engine, kTrailHeadKey);
  if (!end.ok()) return end;
  const std::unique_ptr<Cursor> it = engine.Scan(kTrailPrefix);
  std::optional<uint64_t> newest;
  for (; !newest && it->Valid() && it->key().starts_with(kTrailPrefix); it->Next()) {
    newest = NumberOfTrailKey(it->key());
    if (!newest || *newest <= end->number) continue;
    const std::optional<KeptEntry> entry = ParseEntry(it->value());
    if (!entry) {
      return absl::DataLossError(fmt::format(
          "entry {} of the trail is its last and cannot be read: nothing can be put behind it", *newest));
    }
    end = TrailHead{*newest, entry->hash};
  }
  const absl::Status status = it->status();
  if (!status.ok() && (!absl::IsDataLoss(status) || end->number == 0)) return status;
  if (end->number == 0) return ReadTrailHead(engine, kTrailAnchorKey);
  if (end->number == UINT64_MAX) return absl::DataLossError("the trail has no number left for an entry");
  return end;
}

std::optional<KeptEntry> ParseEntry(std::string_view value) {
  KeptEntry entry;
  const size_t before = 1 + entry.hash.size();
  if (value.size() <= before || value[0] != kValueVersion) return std::nullopt;
  for (size_t i = 0; i < entry.hash.size(); ++i) entry.hash[i] = static_cast<uint8_t>(value[1 + i]);
  entry.json = value.substr(before);
  return entry;
}

void AppendEntry(std::string_view json, TrailHead& head, Writes& writes) {
  ++head.number;
  head.hash = HashEntry(head.hash, head.number, json);
  std::string value(1, kValueVersion);
  value.append(head.hash.begin(), head.hash.end()).append(json);
  writes.Put(TrailKey(head.number), value);
}

}  // namespace watchbill::history
