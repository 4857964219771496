// The ledger, in C.
#include "watchbill/history/ledger.hpp"

#include <fmt/core.h>

#include <cstring>

#include "c_handles.hpp"
#include "watchbill/history/retention.hpp"
#include "watchbill/history_ledger.h"

namespace history = watchbill::history;
using history::c::Result;
using history::c::With;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::Str;
using watchbill::c::View;

struct wb_history_records {
  history::RecordPage page;
};

namespace {

absl::StatusOr<history::Collection> CollectionOf(int32_t number) {
  if (number >= WB_HISTORY_POLICIES && number <= WB_HISTORY_COUNTED_ENTRIES)
    return static_cast<history::Collection>(number);
  return absl::InvalidArgumentError(fmt::format("collection {}: expected {} to {}, a wb_history_collection",
                                                number, static_cast<int>(WB_HISTORY_POLICIES),
                                                static_cast<int>(WB_HISTORY_COUNTED_ENTRIES)));
}

// Calls body(ledger, collection), which gives a page.
template <typename Body>
int32_t ReadRecords(const wb_history* h, int32_t number, wb_history_records** out, wb_error* err,
                    const Body& body) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    const auto collection = CollectionOf(number);
    if (!collection.ok()) return Fail(err, collection.status());
    absl::StatusOr<history::RecordPage> page = body(history::Ledger(store), *collection);
    if (!page.ok()) return Fail(err, page.status());
    *out = new wb_history_records{*std::move(page)};
    return WB_OK;
  });
}

void Copy(const std::string& bytes, char* out) { std::memcpy(out, bytes.data(), bytes.size()); }

}  // namespace

extern "C" {

void wb_history_order_newest_first(int64_t ms, char* out) { Copy(history::NewestFirst(ms), out); }
void wb_history_order_oldest_first(int64_t ms, char* out) { Copy(history::OldestFirst(ms), out); }

int32_t wb_history_order_then(wb_str text, wb_history_text** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return history::c::Give(out, history::Then(View(text))), WB_OK; });
}

int32_t wb_history_batch_put_record(wb_history_batch* b, int32_t number, wb_str key, wb_str order,
                                    wb_str value, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto collection = CollectionOf(number);
    if (!collection.ok()) return Fail(err, collection.status());
    const auto json = history::c::AnyJson(b, value, "record");
    if (!json.ok()) return Fail(err, json.status());
    return Result(err, b->batch.Put(*collection, View(key), View(order), *json));
  });
}

int32_t wb_history_batch_delete_record(wb_history_batch* b, int32_t number, wb_str key, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto collection = CollectionOf(number);
    if (!collection.ok()) return Fail(err, collection.status());
    return Result(err, b->batch.Delete(*collection, View(key)));
  });
}

uint64_t wb_history_records_count(const wb_history_records* r) { return r->page.records.size(); }

int32_t wb_history_records_at(const wb_history_records* r, uint64_t index, wb_history_record* out) {
  if (index >= r->page.records.size()) return 1;
  const history::Record& record = r->page.records[index];
  const wb_history_record filled{0, 0, Str(std::string_view(record.key)), Str(std::string_view(record.order)),
                                 Str(std::string_view(record.value.text()))};
  watchbill::c::CopyKnown(out, filled, out->struct_size);
  return WB_OK;
}

int32_t wb_history_records_more(const wb_history_records* r) { return r->page.more ? 1 : 0; }
uint64_t wb_history_records_unreadable(const wb_history_records* r) { return r->page.unreadable; }
void wb_history_records_free(wb_history_records* records) { delete records; }

int32_t wb_history_record_get(const wb_history* h, int32_t number, wb_str key, wb_history_records** out,
                              wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    const auto collection = CollectionOf(number);
    if (!collection.ok()) return Fail(err, collection.status());
    auto record = history::Ledger(store).Get(*collection, View(key));
    if (!record.ok()) return Fail(err, record.status());
    if (!*record) return 1;
    auto records = std::make_unique<wb_history_records>();
    records->page.records.push_back(**std::move(record));
    *out = records.release();
    return WB_OK;
  });
}

void wb_history_key_range_init(wb_history_key_range* range) {
  *range = {};
  range->struct_size = sizeof *range;
}

void wb_history_order_range_init(wb_history_order_range* range) {
  *range = {};
  range->struct_size = sizeof *range;
}

int32_t wb_history_records_by_key(const wb_history* h, int32_t number, const wb_history_key_range* range,
                                  uint64_t limit, wb_history_records** out, wb_error* err) {
  return ReadRecords(h, number, out, err, [&](const history::Ledger& ledger, history::Collection collection) {
    wb_history_key_range all;
    wb_history_key_range_init(&all);
    if (range != nullptr) watchbill::c::CopyKnown(&all, *range, range->struct_size);
    return ledger.ByKey(collection, {View(all.prefix), View(all.after)}, limit);
  });
}

int32_t wb_history_records_in_order(const wb_history* h, int32_t number, const wb_history_order_range* range,
                                    uint64_t limit, wb_history_records** out, wb_error* err) {
  return ReadRecords(h, number, out, err, [&](const history::Ledger& ledger, history::Collection collection) {
    wb_history_order_range all;
    wb_history_order_range_init(&all);
    if (range != nullptr) watchbill::c::CopyKnown(&all, *range, range->struct_size);
    history::OrderRange wanted{View(all.prefix), View(all.from), View(all.to), std::nullopt};
    if (all.behind != 0) {
      wanted.after =
          history::OrderRange::Place{std::string(View(all.after_order)), std::string(View(all.after_key))};
    }
    return ledger.InOrder(collection, wanted, limit);
  });
}

int32_t wb_history_records_prune(wb_history* h, int32_t number, wb_str prefix, uint64_t keep, wb_str behind,
                                 uint64_t most, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    const auto collection = CollectionOf(number);
    if (!collection.ok()) return Fail(err, collection.status());
    return Result(err, history::Prune(store, *collection, View(prefix), keep, View(behind), most));
  });
}

}  // extern "C"
