// The trail, in C.
#include <cstring>
#include <limits>

#include "c_handles.hpp"
#include "watchbill/history/retention.hpp"
#include "watchbill/history/trail.hpp"
#include "watchbill/history_ledger.h"

namespace history = watchbill::history;
using history::c::Number;
using history::c::Result;
using history::c::With;
using watchbill::JsonView;
using watchbill::JsonWriter;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::View;

namespace watchbill::history::c {
namespace {

std::string_view NameOf(TrailFault::Kind kind) {
  using Kind = TrailFault::Kind;
  switch (kind) {
    case Kind::kMissing:
      return "missing";
    case Kind::kChanged:
      return "changed";
    case Kind::kMoved:
      return "moved";
    case Kind::kUnreadable:
      return "unreadable";
    case Kind::kEndMissing:
      return "endMissing";
    case Kind::kEnd:
      return "end";
    case Kind::kBegin:
      return "begin";
    case Kind::kForeign:
      return "foreign";
    case Kind::kOther:
      break;
  }
  return "other";
}

}  // namespace

void Write(JsonWriter& w, const TrailReport& report) {
  Number(w.Begin('{').Key("first"), report.first);
  Number(w.Key("end").Begin('{').Key("number"), report.end.number);
  w.Key("hash").String(report.end.hash).End('}');
  Number(w.Key("entries"), report.entries).Key("fault");
  if (report.fault) {
    w.Begin('{').Key("kind").String(NameOf(report.fault->kind));
    Number(w.Key("first"), report.fault->first);
    Number(w.Key("last"), report.fault->last).Key("says").String(report.fault->says).End('}');
  } else {
    w.Null();
  }
  w.Key("keptIsThere").OptBool(report.kept_is_there).End('}');
}

}  // namespace watchbill::history::c

namespace {

constexpr int64_t kAnyFrom = std::numeric_limits<int64_t>::min();
constexpr int64_t kAnyBefore = std::numeric_limits<int64_t>::max();

// As it is written, with its number.
void WriteNumbered(JsonWriter& w, const history::TrailEntry& entry) {
  w.Begin('{');
  Number(w.Key("number"), entry.number).Key("atMs").Int(entry.at_ms);
  w.Key("who").String(entry.who).Key("what").String(entry.what).Key("about").String(entry.about);
  w.Field("detail", entry.detail.view()).End('}');
}

std::optional<std::string> Told(wb_str text) {
  if (text.data == nullptr) return std::nullopt;
  return std::string(View(text));
}

}  // namespace

extern "C" {

int32_t wb_history_batch_append_trail(wb_history_batch* b, wb_str entry, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto read = history::ReadTrailEntry(View(entry));
    if (!read.ok()) return Fail(err, read.status());
    if (absl::Status status = b->given.Parse(View(entry)); !status.ok()) return Fail(err, status);
    b->text.clear();
    JsonWriter w(b->text);
    history::Write(w, *read);
    if (absl::Status status = history::c::CheckNothingIsLost(b, "entry of the trail"); !status.ok())
      return Fail(err, status);
    return Result(err, b->batch.AppendToTrail(JsonView::Trusted(b->text)));
  });
}

int32_t wb_history_trail_end(const wb_history* h, wb_history_trail_place* out, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    const auto end = history::Trail(store).End();
    if (!end.ok()) return Fail(err, end.status());
    wb_history_trail_place filled{};
    filled.number = end->number;
    end->hash.copy(filled.hash, sizeof filled.hash - 1);
    watchbill::c::CopyKnown(out, filled, out->struct_size);
    return WB_OK;
  });
}

void wb_history_trail_query_init(wb_history_trail_query* query) {
  const history::TrailQuery all;
  *query = {};
  query->struct_size = sizeof *query;
  query->limit = all.limit;
  query->most_looked_at = all.most_looked_at;
  query->from_ms = kAnyFrom;
  query->before_ms = kAnyBefore;
}

int32_t wb_history_trail_page(const wb_history* h, const wb_history_trail_query* query, wb_history_page** out,
                              uint64_t* next, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    wb_history_trail_query all;
    wb_history_trail_query_init(&all);
    if (query != nullptr) watchbill::c::CopyKnown(&all, *query, query->struct_size);
    history::TrailQuery wanted;
    wanted.before = all.before;
    wanted.limit = all.limit;
    wanted.most_looked_at = all.most_looked_at;
    wanted.filter.who = Told(all.who);
    wanted.filter.what = Told(all.what);
    wanted.filter.about = Told(all.about);
    if (all.from_ms != kAnyFrom) wanted.filter.from_ms = all.from_ms;
    if (all.before_ms != kAnyBefore) wanted.filter.before_ms = all.before_ms;
    const auto read = history::Trail(store).Page(wanted);
    if (!read.ok()) return Fail(err, read.status());
    auto page = std::make_unique<wb_history_page>();
    for (const history::TrailEntry& entry : read->entries) {
      page->AddJson([&](JsonWriter& w) { WriteNumbered(w, entry); });
    }
    page->more = read->next != 0;
    page->unreadable = read->unreadable;
    if (next != nullptr) *next = read->next;
    *out = page.release();
    return WB_OK;
  });
}

int32_t wb_history_trail_verify(const wb_history* h, const wb_history_trail_place* kept,
                                wb_history_progress progress, void* user, wb_history_text** report,
                                wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    history::TrailCheck check;
    if (kept != nullptr) {
      wb_history_trail_place all{};
      watchbill::c::CopyKnown(&all, *kept, kept->struct_size);
      check.kept = history::TrailEnd{all.number, std::string(all.hash, strnlen(all.hash, sizeof all.hash))};
    }
    if (progress != nullptr)
      check.progress = [&](uint64_t done, uint64_t of) { return progress(user, done, of) >= 0; };
    const auto found = history::Trail(store).Verify(check);
    if (!found.ok()) return Fail(err, found.status());
    std::string text;
    JsonWriter w(text);
    history::c::Write(w, *found);
    history::c::Give(report, std::move(text));
    return found->fault ? 1 : WB_OK;
  });
}

int32_t wb_history_trail_prune(wb_history* h, uint64_t keep, int64_t before_ms, uint64_t most,
                               wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) {
    return Result(err, history::PruneTrail(store, keep, before_ms, most));
  });
}

}  // extern "C"
