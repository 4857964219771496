// Records and entries of the trail to keep, and ways past the store.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "keys.hpp"
#include "transfer_fixture.hpp"
#include "watchbill/history/ledger.hpp"
#include "watchbill/history/trail.hpp"

namespace watchbill::history {

// Past the store, as another version or a mistake would.
inline void PutRaw(Engine& engine, const std::string& key, const std::string& value) {
  Writes writes;
  writes.Put(key, value);
  REQUIRE(engine.Commit(writes, Sync::kNow).ok());
}
inline void DeleteRaw(Engine& engine, const std::string& key) {
  Writes writes;
  writes.Delete(key);
  REQUIRE(engine.Commit(writes, Sync::kNow).ok());
}
inline std::string RawAt(const Engine& engine, const std::string& key) {
  std::string value;
  REQUIRE(engine.Get(key, value).ok());
  return value;
}

using Names = std::vector<std::string>;

inline constexpr Collection kPolicies = Collection::kPolicies;
inline constexpr auto kPoliciesNumber = static_cast<uint8_t>(kPolicies);

inline void KeepPolicy(Store& store, const std::string& key, const std::string& order,
                       const std::string& json = "{}") {
  Batch batch;
  REQUIRE(batch.Put(kPolicies, key, order, JsonView::Trusted(json)).ok());
  MustCommit(store, batch);
}

inline Names Keys(const absl::StatusOr<RecordPage>& page) {
  REQUIRE_MESSAGE(page.ok(), page.status().ToString());
  Names keys;
  for (const Record& record : page->records) keys.push_back(record.key);
  return keys;
}
// Of the policies.
inline Names InOrder(const Store& store, const OrderRange& range = {}, size_t limit = 100) {
  return Keys(Ledger(store).InOrder(kPolicies, range, limit));
}
inline Names ByKey(const Store& store, const KeyRange& range = {}, size_t limit = 100) {
  return Keys(Ledger(store).ByKey(kPolicies, range, limit));
}

inline TrailEntry Entry(int64_t at_ms, const std::string& who, const std::string& what = "did",
                        const std::string& about = "it") {
  TrailEntry entry;
  entry.at_ms = at_ms;
  entry.who = who;
  entry.what = what;
  entry.about = about;
  return entry;
}

// Entries of the times 1, 2, ...
inline void Append(Store& store, size_t count, int64_t from = 1) {
  Batch batch;
  for (size_t i = 0; i < count; ++i) {
    const int64_t at = from + static_cast<int64_t>(i);
    REQUIRE(AppendToTrail(batch, Entry(at, fmt::format("person {}", at % 3))).ok());
  }
  MustCommit(store, batch);
}

inline std::vector<uint64_t> Numbers(const absl::StatusOr<TrailPage>& page) {
  REQUIRE_MESSAGE(page.ok(), page.status().ToString());
  std::vector<uint64_t> numbers;
  for (const TrailEntry& entry : page->entries) numbers.push_back(entry.number);
  return numbers;
}
using N = std::vector<uint64_t>;

inline TrailReport Verified(const Store& store, const TrailCheck& check = {}) {
  const auto report = Trail(store).Verify(check);
  REQUIRE_MESSAGE(report.ok(), report.status().ToString());
  return *report;
}

}  // namespace watchbill::history
