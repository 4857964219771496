// How the trail is read.
#include "watchbill/history/trail.hpp"

#include <utility>

#include "ledger_record.hpp"
#include "store_impl.hpp"
#include "trail_head.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kMostLookedAtBytes = 16 << 20;

std::string TextOf(const json::Value& value) { return std::string(value.AsString().value_or("")); }

absl::StatusOr<TrailEntry> EntryIn(json::Document& document, std::string_view json) {
  const absl::StatusOr<json::Value> v = ObjectIn(document, json, "entry of the trail");
  if (!v.ok()) return v.status();
  const auto [at, who, what, about, detail] = v->Members({"atMs", "who", "what", "about", "detail"});
  TrailEntry entry;
  entry.at_ms = at.AsInt().value_or(0);
  entry.who = TextOf(who);
  entry.what = TextOf(what);
  entry.about = TextOf(about);
  entry.detail = JsonText(detail.text());
  return entry;
}

bool Fits(const TrailFilter& filter, const TrailEntry& entry) {
  const auto is = [](const std::optional<std::string>& wanted, const std::string& text) {
    return !wanted || *wanted == text;
  };
  return is(filter.who, entry.who) && is(filter.what, entry.what) && is(filter.about, entry.about) &&
         (!filter.from_ms || entry.at_ms >= *filter.from_ms) &&
         (!filter.before_ms || entry.at_ms < *filter.before_ms);
}

}  // namespace

void Write(JsonWriter& w, const TrailEntry& entry) {
  w.Begin('{').Key("atMs").Int(entry.at_ms).Key("who").String(entry.who).Key("what").String(entry.what);
  w.Key("about").String(entry.about).Field("detail", entry.detail.view()).End('}');
}

absl::StatusOr<TrailEntry> ReadTrailEntry(std::string_view json) {
  json::Document document = NewDocument();
  return EntryIn(document, json);
}

absl::Status AppendToTrail(Batch& batch, const TrailEntry& entry) {
  std::string text;
  JsonWriter w(text);
  Write(w, entry);
  return batch.AppendToTrail(JsonView::Trusted(text));
}

absl::StatusOr<TrailPage> Trail::Page(const TrailQuery& query) const {
  Store::Impl& store = Inside::Of(*store_);
  TrailPage page;
  json::Document document = NewDocument();
  size_t looked_at = 0, bytes = 0;
  uint64_t last = query.before;  // that was looked at
  std::string first(kTrailPrefix);
  if (query.before > 0) first = TrailKey(query.before) + '\0';
  const auto look = [&](std::string_view key, std::string_view value) {
    const std::optional<uint64_t> number = NumberOfTrailKey(key);
    if (!number || *number == 0) {
      ++page.unreadable;
      return true;
    }
    if (page.entries.size() >= query.limit || looked_at >= query.most_looked_at ||
        bytes >= kMostLookedAtBytes) {
      page.next = last > 0 ? last : *number + 1;
      return false;
    }
    last = *number;
    ++looked_at;
    bytes += value.size();
    const std::optional<KeptEntry> kept = ParseEntry(value);
    absl::StatusOr<TrailEntry> entry =
        kept ? EntryIn(document, kept->json) : absl::InvalidArgumentError("a version that is not known");
    if (!entry.ok()) {
      ++page.unreadable;
    } else if (Fits(query.filter, *entry)) {
      entry->number = *number;
      page.entries.push_back(*std::move(entry));
    }
    return true;
  };
  const absl::Status status = store.Scan(kTrailPrefix, first, page.unreadable, look);
  store.unreadable += page.unreadable;
  if (!status.ok()) return status;
  return page;
}

absl::StatusOr<TrailEnd> Trail::End() const {
  const absl::StatusOr<TrailHead> end = EndOfTrail(*Inside::Of(*store_).engine);
  if (!end.ok()) return end.status();
  return TrailEnd{end->number, HashText(end->hash)};
}

}  // namespace watchbill::history
