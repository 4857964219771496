// How a store is opened, and how what is to be written gets to the disk.
#include "watchbill/history/store.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "index_reading.hpp"
#include "store_impl.hpp"

namespace watchbill::history {
namespace {

// What is written together at most: more would keep the first one waiting for bytes of others.
constexpr size_t kMostTogether = 1 << 20;

}  // namespace

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& folder) {
  return Open(folder, Options());
}

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& folder, Options options) {
  auto engine = OpenLevelDb(folder, options);
  if (!engine.ok()) return engine.status();
  return Open(*std::move(engine), folder);
}

absl::StatusOr<std::unique_ptr<Store>> Store::Open(std::unique_ptr<Engine> engine, std::string name) {
  auto impl = std::make_unique<Impl>(std::move(engine), std::move(name));
  if (absl::Status status = impl->CheckFormat(); !status.ok()) return status;
  if (absl::Status status = impl->Begin(); !status.ok()) return status;
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

absl::Status Store::Impl::CheckFormat() {
  std::string value;
  const absl::Status got = engine->Get(kFormatKey, value);
  if (got.ok()) {
    if (!value.empty() && value[0] > kValueVersion) return NewerFormat(name, value[0], kFormat);
    json::Document document = NewDocument();
    const std::optional<std::string_view> text = JsonOf(value);
    const bool parsed = text && document.Parse(*text).ok();
    const int64_t format = parsed ? document.root()["format"].AsInt().value_or(0) : 0;
    if (format > kFormat) return NewerFormat(name, format, kFormat);
    if (format < 1) return Damaged(name, "its format record cannot be read");
    if (format == kFormat) return absl::OkStatus();
  } else if (!absl::IsNotFound(got)) {
    return got;
  } else {
    const std::unique_ptr<Cursor> all = engine->Scan({});
    if (all->Valid() || absl::IsDataLoss(all->status()))
      return Damaged(name, "it has no format record: it is no history, or lost a part");
    if (!all->status().ok()) return all->status();
  }
  // A program of an older format would write messages that the index never hears of.
  ValueWriter record;
  record.json.Begin('{').Key("format").Int(kFormat).End('}');
  Writes writes;
  writes.Put(kFormatKey, record.value);
  return engine->Commit(writes, Sync::kNow);
}

absl::Status Store::Impl::Begin() {
  if (absl::Status status = ReadDeleted(); !status.ok()) return status;
  return FirstArrival();
}

absl::Status Store::Impl::ReadDeleted() {
  size_t damaged = 0;
  const std::lock_guard guard(deleted_mutex);
  const absl::Status status =
      Scan(kDeletedPrefix, kDeletedPrefix, damaged, [&](std::string_view key, std::string_view value) {
        const std::optional<UlidBytes> id = DeletedOfKey(key);
        if (id) deleted.emplace(*id, value == std::string_view("\x01\x01", 2));
        return true;
      });
  unreadable += damaged;
  return status;
}

// The number behind the greatest there is, and behind those that the index has already.
absl::Status Store::Impl::FirstArrival() {
  const absl::StatusOr<std::optional<IndexState>> index = IndexStateIn(*engine);
  if (!index.ok()) return index.status();
  const std::unique_ptr<Cursor> it = engine->Scan(kArrivalsPrefix);
  next_arrival = GreatestArrival(*it, *index ? (*index)->watermark : 0) + 1;
  return absl::IsDataLoss(it->status()) ? absl::OkStatus() : it->status();
}

absl::Status Store::Commit(const Batch& batch) {
  if (batch.empty()) return absl::OkStatus();
  Impl::Waiting mine{&batch, absl::OkStatus()};
  std::unique_lock lock(impl_->queue_mutex);
  impl_->queue.push_back(&mine);
  impl_->queue_moved.wait(lock, [&] { return mine.done || impl_->queue.front() == &mine; });
  if (mine.done) return mine.status;

  std::vector<Impl::Waiting*> group;
  size_t bytes = 0;
  for (Impl::Waiting* waiting : impl_->queue) {
    bytes += waiting->batch->bytes();
    if (!group.empty() && bytes > kMostTogether) break;
    group.push_back(waiting);
  }
  lock.unlock();
  impl_->CommitTogether(group);
  lock.lock();
  for (Impl::Waiting* waiting : group) waiting->done = true;
  impl_->queue.erase(impl_->queue.begin(), impl_->queue.begin() + static_cast<std::ptrdiff_t>(group.size()));
  impl_->queue_moved.notify_all();
  return mine.status;
}

absl::Status Store::Impl::MakeSure() {
  if (!unsure) return absl::OkStatus();
  Writes nothing;
  nothing.Delete(std::string(kFormatKey) + '\0');
  if (absl::Status status = engine->Commit(nothing, Sync::kNow); !status.ok()) return status;
  if (absl::Status status = ReadDeleted(); !status.ok()) return status;
  unsure = false;
  return absl::OkStatus();
}

void Store::Impl::CommitTogether(const std::vector<Waiting*>& group) {
  Writes all;
  Standings standings;
  std::optional<TrailHead> head = trail;
  absl::Status status = MakeSure();
  for (Waiting* waiting : group) {
    if (!status.ok()) break;
    const Batch::Impl& batch = *waiting->batch->impl_;
    if ((!batch.trail.empty() || batch.trail_after) && !head) {
      absl::StatusOr<TrailHead> read = EndOfTrail(*engine);
      if (!read.ok()) {
        waiting->status = read.status();
        continue;
      }
      head = *read;
    }
    TrailHead moved = head.value_or(TrailHead());
    Standings tried = standings;
    Writes writes;
    waiting->status = Expand(batch, moved, tried, writes);
    if (!waiting->status.ok()) continue;
    all.Append(writes);
    standings = std::move(tried);
    if (head) head = moved;
  }
  if (status.ok() && !all.empty()) {
    status = engine->Commit(all, Sync::kNow);
    unsure = !status.ok();
  }
  if (status.ok()) {
    trail = head;
    // Before the next ones are looked at: nothing is put into a channel behind the beginning of its end.
    const std::lock_guard guard(deleted_mutex);
    for (const Waiting* waiting : group) {
      if (waiting->status.ok() && waiting->batch->impl_->closes)
        deleted.emplace(*waiting->batch->impl_->closes, false);
    }
    return;
  }
  // What is there now is not known: it is read again.
  trail.reset();
  for (Waiting* waiting : group) {
    if (waiting->status.ok()) waiting->status = status;
  }
}

absl::Status Store::Impl::Expand(const Batch::Impl& batch, TrailHead& head, Standings& standings,
                                 Writes& writes) {
  const auto check = [&](const UlidBytes& channel) {
    if (!IsDeleted(channel)) return absl::OkStatus();
    return absl::FailedPreconditionError(
        fmt::format("channel {} was deleted: nothing is kept for it any more", UlidText(channel)));
  };
  for (const UlidBytes& channel : batch.channels) {
    if (absl::Status status = check(channel); !status.ok()) return status;
  }
  for (const Batch::Impl::Arrival& arrival : batch.arrivals) {
    if (absl::Status status = check(arrival.channel); !status.ok()) return status;
  }
  writes.Append(batch.writes);
  for (const Batch::Impl::Arrival& arrival : batch.arrivals) {
    std::string value(1, kValueVersion);
    value.append(arrival.channel.begin(), arrival.channel.end());
    value.append(arrival.message.begin(), arrival.message.end());
    // A number that was given to one that failed is not given again: that one may be there all the same.
    writes.Put(ArrivalKey(next_arrival++), value);
  }
  if (absl::Status status = ExpandRecords(*engine, batch.records, standings, writes); !status.ok())
    return status;
  if (batch.trail_after && *batch.trail_after != head) {
    if (head.number != 0) return absl::AbortedError("the trail has grown meanwhile, or is another one");
    head = *batch.trail_after;
    writes.Put(kTrailAnchorKey, WriteTrailHead(head));
  }
  if (batch.trail_cut) {
    const absl::StatusOr<TrailHead> begins = ReadTrailHead(*engine, kTrailAnchorKey);
    if (!begins.ok()) return begins.status();
    if (*begins != batch.trail_cut->first) return absl::AbortedError("the trail begins elsewhere meanwhile");
    writes.Put(kTrailAnchorKey, WriteTrailHead(batch.trail_cut->second));
  }
  for (const std::string& entry : batch.trail) AppendEntry(entry, head, writes);
  if (!batch.trail.empty()) writes.Put(kTrailHeadKey, WriteTrailHead(head));
  return absl::OkStatus();
}

Store::Sizes Store::Bytes() const {
  const auto of = [&](std::string_view prefix) {
    return impl_->engine->Bytes(prefix, AfterPrefix(std::string(prefix)));
  };
  Sizes sizes;
  for (const char* prefix : {"C", "M", "A", "S", "X"}) sizes.conversations += of(prefix);
  for (const char* prefix : {"N", "I", "D", "T"}) sizes.index += of(prefix);
  for (const char* prefix : {"R", "Q"}) sizes.ledger += of(prefix);
  for (const char* prefix : {"H", "G", "L"}) sizes.trail += of(prefix);
  return sizes;
}

absl::Status Store::Compact() { return impl_->engine->Compact(); }

}  // namespace watchbill::history
