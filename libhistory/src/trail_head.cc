#include "trail_head.hpp"

#include <openssl/sha.h>

#include <algorithm>

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

absl::StatusOr<TrailHead> ReadTrailHead(const Engine& engine, std::string_view key) {
  std::string value;
  const absl::Status got = engine.Get(key, value);
  if (absl::IsNotFound(got)) return TrailHead();
  if (!got.ok()) return got;
  TrailHead head;
  if (value.size() != 1 + 8 + head.hash.size() || value[0] != kValueVersion)
    return absl::DataLossError("the end of the trail cannot be read: nothing can be put behind it");
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

void AppendEntry(std::string_view json, TrailHead& head, Writes& writes) {
  ++head.number;
  head.hash = HashEntry(head.hash, head.number, json);
  std::string value(1, kValueVersion);
  value.append(head.hash.begin(), head.hash.end()).append(json);
  writes.Put(TrailKey(head.number), value);
}

}  // namespace watchbill::history
