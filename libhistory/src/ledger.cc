// How the ledger is read.
#include "watchbill/history/ledger.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "ledger_record.hpp"
#include "store_impl.hpp"

namespace watchbill::history {
namespace {

constexpr uint64_t kSign = uint64_t{1} << 63;
// Places of the second order that are looked up together: the cursor goes between them and the records.
constexpr size_t kMostPlaces = 256;

std::optional<Record> RecordIn(json::Document& document, std::string_view key, std::string_view value) {
  const std::optional<KeptRecord> kept = ReadRecord(value);
  if (!kept || key.empty() || !document.Parse(kept->json).ok()) return std::nullopt;
  return Record{std::string(key), std::string(kept->order), JsonText(document.root().text())};
}

// One look at a collection in its second order. All of it is one cursor's, and so of one moment: a record
// that moves meanwhile is not missed and not met twice.
class OrderLook {
 public:
  OrderLook(const Store::Impl& store, Collection collection, const OrderRange& range)
      : store_(store), number_(static_cast<uint8_t>(collection)), range_(range) {
    within_ = OrderStart(number_, range.prefix);
    next_ = std::max(within_, OrderStart(number_, range.from));
    if (range.after) next_ = std::max(next_, OrderKey(number_, range.after->order, range.after->key) + '\0');
    cursor_ = store.engine->Scan(next_);
  }

  absl::StatusOr<RecordPage> Page(size_t limit) {
    while (!ended_ && !page_.more) {
      TakePlaces(std::min(limit - page_.records.size(), kMostPlaces - 1) + 1);
      for (const OrderAndKey& place : places_) {
        if (page_.more) break;
        LookUp(place, limit);
      }
      if (const absl::Status status = cursor_->status(); !status.ok() && !absl::IsDataLoss(status))
        return status;
      // Told once; if it was of a record, that one was counted by itself.
      damage_told_ = damage_told_ || absl::IsDataLoss(cursor_->status());
    }
    return std::move(page_);
  }

 private:
  void TakePlaces(size_t most) {
    places_.clear();
    bytes_.clear();
    cursor_->Seek(next_);
    for (; places_.size() < most; cursor_->Next()) {
      ended_ = !cursor_->Valid() || !cursor_->key().starts_with(within_);
      if (ended_) break;
      next_.assign(cursor_->key()).push_back('\0');
      // Of one that is no place of ours the key is empty.
      OrderAndKey place = OrderOfKey(cursor_->key()).value_or(OrderAndKey());
      ended_ = !place.key.empty() && !range_.to.empty() && place.order >= range_.to;
      if (ended_) break;
      // The cursor moves on.
      place.key = bytes_.emplace_back(place.key);
      places_.push_back(std::move(place));
    }
    if (absl::IsDataLoss(cursor_->status()) && !damage_told_) {
      damage_told_ = true;
      ++page_.unreadable;
    }
  }

  void LookUp(const OrderAndKey& place, size_t limit) {
    std::optional<KeptRecord> kept;
    if (!place.key.empty()) {
      const std::string key = RecordKey(number_, place.key);
      cursor_->Seek(key);
      const bool there = cursor_->Valid() && cursor_->key() == key;
      if (there) kept = ReadRecord(cursor_->value());
      if (kept ? kept->order != place.order : !there && !IsDamaged(key)) return;
    }
    if (page_.records.size() == limit) {
      page_.more = true;
      return;
    }
    std::optional<Record> record;
    if (kept) record = RecordIn(document_, place.key, cursor_->value());
    if (record) {
      page_.records.push_back(*std::move(record));
    } else {
      ++page_.unreadable;
    }
  }

  // Whether a record that was not met is in a block that cannot be read.
  bool IsDamaged(const std::string& key) {
    if (!absl::IsDataLoss(cursor_->status())) return false;
    return absl::IsDataLoss(store_.engine->Get(key, scratch_));
  }

  const Store::Impl& store_;
  const uint8_t number_;
  const OrderRange& range_;
  std::string within_, next_;
  std::unique_ptr<Cursor> cursor_;
  json::Document document_ = NewDocument();
  std::vector<OrderAndKey> places_;
  std::deque<std::string> bytes_;
  std::string scratch_;
  bool ended_ = false, damage_told_ = false;
  RecordPage page_;
};

std::string Sortable(uint64_t number) {
  std::string bytes;
  AppendNumber(bytes, number);
  return bytes;
}

}  // namespace

std::string OldestFirst(int64_t ms) { return Sortable(static_cast<uint64_t>(ms) ^ kSign); }
std::string NewestFirst(int64_t ms) { return Sortable(~(static_cast<uint64_t>(ms) ^ kSign)); }

std::string Then(std::string_view text) {
  std::string part;
  part.reserve(text.size() + 2);
  for (const char byte : text) {
    part.push_back(byte);
    if (byte == '\0') part.push_back('\xFF');
  }
  // Before whatever a longer text goes on with.
  return part.append(1, '\0').append(1, '\x01');
}

absl::StatusOr<std::optional<Record>> Ledger::Get(Collection collection, std::string_view key) const {
  Store::Impl& store = Inside::Of(*store_);
  std::string value;
  const absl::Status got = store.engine->Get(RecordKey(static_cast<uint8_t>(collection), key), value);
  if (absl::IsNotFound(got)) return std::optional<Record>();
  if (got.ok()) {
    json::Document document = NewDocument();
    std::optional<Record> record = RecordIn(document, key, value);
    if (record) return record;
  } else if (!absl::IsDataLoss(got)) {
    return got;
  }
  ++store.unreadable;
  std::string shown;
  AppendJsonString(shown, key.substr(0, 64));
  return absl::DataLossError(fmt::format("record {} of collection {} is there and cannot be read: it is {}",
                                         shown, static_cast<int>(collection),
                                         OfNewerVersion(value) ? "of a newer version" : "damaged"));
}

absl::StatusOr<RecordPage> Ledger::ByKey(Collection collection, const KeyRange& range, size_t limit) const {
  Store::Impl& store = Inside::Of(*store_);
  const auto number = static_cast<uint8_t>(collection);
  RecordPage page;
  json::Document document = NewDocument();
  const std::string prefix = RecordKey(number, range.prefix);
  std::string first = prefix;
  if (!range.after.empty()) first = std::max(first, RecordKey(number, range.after) + '\0');
  const absl::Status status =
      store.Scan(prefix, first, page.unreadable, [&](std::string_view key, std::string_view value) {
        page.more = page.records.size() == limit;
        if (page.more) return false;
        std::optional<Record> record = RecordIn(document, key.substr(2), value);
        if (record) {
          page.records.push_back(*std::move(record));
        } else {
          ++page.unreadable;
        }
        return true;
      });
  store.unreadable += page.unreadable;
  if (!status.ok()) return status;
  return page;
}

absl::StatusOr<RecordPage> Ledger::InOrder(Collection collection, const OrderRange& range,
                                           size_t limit) const {
  Store::Impl& store = Inside::Of(*store_);
  absl::StatusOr<RecordPage> page = OrderLook(store, collection, range).Page(limit);
  if (page.ok()) store.unreadable += page->unreadable;
  return page;
}

}  // namespace watchbill::history
