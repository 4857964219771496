// How what is old goes.
#include "watchbill/history/retention.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "ledger_record.hpp"
#include "store_impl.hpp"
#include "trail_head.hpp"
#include "watchbill/history/trail.hpp"

namespace watchbill::history {
namespace {

absl::Status CheckMost(size_t most) {
  if (most > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("a piece of what is to go: expected 1 or more");
}

// OK also where something damaged was passed over: it stays.
absl::Status StatusOf(const Cursor& cursor) {
  absl::Status status = cursor.status();
  return absl::IsDataLoss(status) ? absl::OkStatus() : status;
}

// What goes of a collection. Places and records need not be of one moment: the one that writes looks again.
class Outdated {
 public:
  Outdated(const Store::Impl& store, Collection collection, std::string_view prefix)
      : collection_(collection),
        within_(OrderStart(static_cast<uint8_t>(collection), prefix)),
        at_(store.engine->Scan(within_)),
        records_(store.engine->Scan(RecordsPrefix(static_cast<uint8_t>(collection)))) {}

  // True: all of it was taken.
  bool Take(size_t keep, std::string_view behind, size_t most, std::vector<RecordChange>& changes) {
    for (size_t kept = 0; kept < keep && Within(); at_->Next()) {
      const std::optional<OrderAndKey> place = OrderOfKey(at_->key());
      if (place && Is(*place) == Place::kHeld) ++kept;
    }
    const std::string from = OrderStart(static_cast<uint8_t>(collection_), behind);
    if (Within() && at_->key() < from) at_->Seek(from);
    for (; Within(); at_->Next()) {
      const std::optional<OrderAndKey> place = OrderOfKey(at_->key());
      if (!place || place->key.empty() || Is(*place) == Place::kUnsure) continue;
      if (changes.size() == most) return false;
      changes.push_back(
          {RecordChange::What::kDeleteAt, collection_, std::string(place->key), place->order, {}});
    }
    return true;
  }

  absl::Status status() const {
    absl::Status status = StatusOf(*at_);
    return status.ok() ? StatusOf(*records_) : status;
  }

 private:
  enum class Place : uint8_t { kHeld, kLeft, kUnsure };

  bool Within() const { return at_->Valid() && at_->key().starts_with(within_); }

  // Whether its record stands there.
  Place Is(const OrderAndKey& place) {
    const std::string key = RecordKey(static_cast<uint8_t>(collection_), place.key);
    records_->Seek(key);
    if (!records_->Valid() || records_->key() != key)
      return records_->status().ok() ? Place::kLeft : Place::kUnsure;
    const std::optional<KeptRecord> kept = ReadRecord(records_->value());
    if (!kept) return Place::kUnsure;
    return kept->order == place.order ? Place::kHeld : Place::kLeft;
  }

  const Collection collection_;
  const std::string within_;
  const std::unique_ptr<Cursor> at_, records_;
};

// What goes of the trail: a stretch of entries from where it begins, each of which follows from the one
// before.
struct OldEntries {
  TrailHead begin, last;  // behind `begin`, up to `last`
  bool all = false;       // there are no others that can go
};

absl::StatusOr<OldEntries> FindOldEntries(const Engine& engine, uint64_t keep, int64_t before_ms,
                                          size_t most) {
  const absl::StatusOr<TrailHead> begin = ReadTrailHead(engine, kTrailAnchorKey);
  if (!begin.ok()) return begin.status();
  const absl::StatusOr<TrailHead> end = EndOfTrail(engine);
  if (!end.ok()) return end.status();
  OldEntries old{*begin, *begin, true};
  if (end->number <= begin->number || end->number - begin->number <= keep) return old;
  const uint64_t can_go = end->number - begin->number - keep;
  const uint64_t top = begin->number + std::min<uint64_t>(can_go, most);

  // Newest first, as they stand. `last` is the highest of those behind which no entry has stayed so far.
  json::Document document = NewDocument();
  std::optional<TrailHead> last;
  TrailHead above;
  std::string above_json;
  uint64_t lowest_broken = UINT64_MAX;
  bool met_any = false, some_stay = false;
  const bool whatever_time = before_ms == std::numeric_limits<int64_t>::max();
  const auto link = [&](const TrailHead& before) {
    if (above.number == 0) return;
    if (above.number != before.number + 1 || HashEntry(before.hash, above.number, above_json) != above.hash)
      lowest_broken = above.number;
  };
  const std::unique_ptr<Cursor> it = engine.Scan(TrailKey(top));
  for (; it->Valid() && it->key().starts_with(kTrailPrefix); it->Next()) {
    const std::optional<uint64_t> number = NumberOfTrailKey(it->key());
    if (!number) continue;
    if (*number <= begin->number) break;
    // The newest that could go is missing: whether it would is told only where its time does not count.
    if (!met_any && whatever_time && *number != top) {
      lowest_broken = top;
      last = TrailHead{top, {}};
    }
    met_any = true;
    const std::optional<KeptEntry> kept = ParseEntry(it->value());
    if (!kept) {
      // Its time is not known.
      lowest_broken = *number;
      above = {};
      if (!whatever_time) {
        some_stay = true;
        last.reset();
      } else if (!last) {
        last = TrailHead{*number, {}};
      }
      continue;
    }
    const TrailHead here{*number, kept->hash};
    link(here);
    above = here;
    above_json = kept->json;
    const bool told = document.Parse(kept->json).ok();
    const std::optional<int64_t> at = told ? document.root()["atMs"].AsInt() : std::nullopt;
    const bool goes = whatever_time || (at && *at < before_ms);
    if (!goes) {
      some_stay = true;
      last.reset();
    } else if (!last) {
      last = here;
    }
  }
  if (absl::Status status = StatusOf(*it); !status.ok()) return status;
  link(*begin);
  if (!met_any || (last && lowest_broken <= last->number)) {
    return absl::DataLossError(
        "the old end of the trail is not as it was written, and nothing is taken off it; verify it");
  }
  if (!last) return old;
  old.last = *last;
  old.all = some_stay || top == begin->number + can_go;
  return old;
}

}  // namespace

absl::StatusOr<bool> Prune(Store& store, Collection collection, std::string_view prefix, size_t keep,
                           std::string_view behind, size_t most) {
  if (absl::Status status = CheckMost(most); !status.ok()) return status;
  Batch batch;
  auto& inner = Inside::Of(batch);
  bool all = false;
  {
    // Its cursors are gone before anything is committed: the engine cannot be opened again under one.
    Outdated outdated(Inside::Of(store), collection, prefix);
    all = outdated.Take(keep, behind, most, inner.records);
    if (absl::Status status = outdated.status(); !status.ok()) return status;
  }
  for (const RecordChange& change : inner.records)
    inner.bytes += 2 * (change.key.size() + change.order.size());
  if (absl::Status status = store.Commit(batch); !status.ok()) return status;
  return all;
}

absl::StatusOr<bool> PruneTrail(Store& store, uint64_t keep, int64_t before_ms, size_t most) {
  if (absl::Status status = CheckMost(most); !status.ok()) return status;
  Store::Impl& inside = Inside::Of(store);
  const std::lock_guard guard(inside.cut_mutex);
  for (;;) {
    const absl::StatusOr<OldEntries> old = FindOldEntries(*inside.engine, keep, before_ms, most);
    if (!old.ok()) return old.status();
    if (old->last == old->begin) return old->all;
    Batch batch;
    auto& inner = Inside::Of(batch);
    for (uint64_t number = old->begin.number + 1; number <= old->last.number; ++number)
      inner.writes.Delete(TrailKey(number));
    inner.trail_cut = {old->begin, old->last};
    inner.bytes = inner.writes.bytes();
    const absl::Status status = store.Commit(batch);
    // A piece whose commit had failed is there after all.
    if (absl::IsAborted(status)) continue;
    if (!status.ok()) return status;
    return old->all;
  }
}

absl::StatusOr<bool> PruneChannel(Store& store, std::string_view channel, size_t keep,
                                  std::string_view before, size_t most) {
  if (absl::Status status = CheckMost(most); !status.ok()) return status;
  const auto of = Id("channel", channel);
  if (!of.ok()) return of.status();
  std::string from = MessagesPrefix(*of);
  if (!before.empty()) {
    const auto id = Id("message", before);
    if (!id.ok()) return id.status();
    from = MessageKey(*of, *id) + '\0';
  }
  const Store::Impl& inside = Inside::Of(store);
  if (inside.IsDeleted(*of)) return true;
  Batch batch;
  auto& inner = Inside::Of(batch);
  bool all = true;
  {
    const std::string within = MessagesPrefix(*of);
    const std::unique_ptr<Cursor> at = inside.engine->Scan(within);
    const auto is_within = [&] { return at->Valid() && at->key().starts_with(within); };
    for (size_t kept = 0; kept < keep && is_within(); at->Next()) {
      if (MessageOfKey(at->key())) ++kept;
    }
    if (is_within() && at->key() < from) at->Seek(from);
    for (size_t left = most; all && is_within(); at->Next()) {
      if (!MessageOfKey(at->key())) continue;
      all = left > 0;
      if (!all) break;
      --left;
      inner.writes.Delete(at->key());
    }
    if (absl::Status status = StatusOf(*at); !status.ok()) return status;
  }
  inner.bytes = inner.writes.bytes();
  if (absl::Status status = store.Commit(batch); !status.ok()) return status;
  return all;
}

std::string FirstIdAt(int64_t ms) {
  constexpr int64_t kLast = (int64_t{1} << 48) - 1;
  UlidBytes bytes{};
  const auto time = static_cast<uint64_t>(std::clamp<int64_t>(ms, 0, kLast));
  for (size_t i = 0; i < 6; ++i) bytes[i] = static_cast<uint8_t>(time >> (40 - 8 * i));
  return UlidText(bytes);
}

}  // namespace watchbill::history
