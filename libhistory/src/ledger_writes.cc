#include <fmt/core.h>

#include <utility>

#include "ledger_record.hpp"
#include "store_impl.hpp"

namespace watchbill::history {
namespace {

using Is = Standing::Is;
using What = RecordChange::What;

absl::StatusOr<Standing> StandingIn(const Engine& engine, const std::string& key) {
  std::string value;
  const absl::Status got = engine.Get(key, value);
  if (absl::IsNotFound(got)) return Standing();
  if (absl::IsDataLoss(got)) return Standing{Is::kUnreadable, {}};
  if (!got.ok()) return got;
  if (const auto kept = ReadRecord(value)) return Standing{Is::kThere, std::string(kept->order)};
  return Standing{OfNewerVersion(value) ? Is::kNewer : Is::kUnreadable, {}};
}

absl::Status Newer(const RecordChange& change) {
  std::string key;
  AppendJsonString(key, std::string_view(change.key).substr(0, 64));
  return absl::FailedPreconditionError(fmt::format(
      "record {} of collection {} was written by a newer program, and nothing is written over it; "
      "use that program",
      key, static_cast<int>(change.collection)));
}

}  // namespace

absl::Status ExpandRecords(const Engine& engine, const std::vector<RecordChange>& changes,
                           Standings& standings, Writes& writes) {
  for (const RecordChange& change : changes) {
    const auto collection = static_cast<uint8_t>(change.collection);
    const std::string key = RecordKey(collection, change.key);
    const auto [it, first] = standings.try_emplace({change.collection, change.key});
    Standing& now = it->second;
    if (first) {
      absl::StatusOr<Standing> read = StandingIn(engine, key);
      if (!read.ok()) return read.status();
      now = *std::move(read);
    }
    if (change.what == What::kDeleteAt) {
      // What cannot be read may stand there or not.
      if (now.is == Is::kUnreadable || now.is == Is::kNewer) continue;
      writes.Delete(OrderKey(collection, change.order, change.key));
      if (now.is == Is::kAbsent || now.order != change.order) continue;
      writes.Delete(key);
      now = Standing();
      continue;
    }
    if (now.is == Is::kNewer) return Newer(change);
    // Of one that cannot be read the place in the second order stays: a look there passes it over.
    if (now.is == Is::kThere) writes.Delete(OrderKey(collection, now.order, change.key));
    if (change.what == What::kPut) {
      writes.Put(key, WriteRecord(change.order, change.value));
      writes.Put(OrderKey(collection, change.order, change.key), "");
      now = {Is::kThere, change.order};
    } else {
      writes.Delete(key);
      now = Standing();
    }
  }
  return absl::OkStatus();
}

}  // namespace watchbill::history
