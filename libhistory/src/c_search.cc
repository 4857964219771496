// Index and search, in C.
#include "c_handles.hpp"
#include "watchbill/history/search.hpp"
#include "watchbill/history_search.h"

namespace history = watchbill::history;
using history::c::With;
using watchbill::c::Fail;
using watchbill::c::Str;
using watchbill::c::View;

struct wb_history_hits {
  history::SearchPage page;
  std::vector<std::vector<wb_history_mark>> marks;  // of each hit
};

static_assert(WB_HISTORY_USER == static_cast<int>(history::Role::kUser) &&
              WB_HISTORY_AGENT == static_cast<int>(history::Role::kAgent) &&
              WB_HISTORY_SYSTEM == static_cast<int>(history::Role::kSystem));

extern "C" {

int32_t wb_history_index_step(wb_history* h, uint64_t most, int32_t force, wb_history_indexed* out,
                              wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    const auto step = history::Index(store).Step(most, force != 0);
    if (!step.ok()) return Fail(err, step.status());
    if (out != nullptr) {
      const wb_history_indexed filled{0, 0, step->messages, step->unreadable};
      watchbill::c::CopyKnown(out, filled, out->struct_size);
    }
    return step->done ? WB_OK : 1;
  });
}

int32_t wb_history_index_rebuild(wb_history* h, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) {
    return history::c::Result(err, history::Index(store).Rebuild());
  });
}

void wb_history_query_init(wb_history_query* query) {
  *query = {};
  query->struct_size = sizeof *query;
  query->limit = static_cast<uint32_t>(history::SearchQuery().limit);
}

int32_t wb_history_search(const wb_history* h, const wb_history_query* query, wb_history_hits** out,
                          wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    wb_history_query all;
    wb_history_query_init(&all);
    watchbill::c::CopyKnown(&all, *query, query->struct_size);
    history::SearchQuery wanted;
    wanted.text = View(all.text);
    wanted.channel = View(all.channel);
    wanted.limit = all.limit;
    wanted.after = View(all.after);
    auto page = history::Search(store).Find(wanted);
    if (!page.ok()) return Fail(err, page.status());
    auto hits = std::make_unique<wb_history_hits>();
    hits->page = *std::move(page);
    for (const history::SearchHit& hit : hits->page.hits) {
      auto& marks = hits->marks.emplace_back();
      for (const history::SearchMark& mark : hit.marks) marks.push_back({mark.begin, mark.end});
    }
    *out = hits.release();
    return WB_OK;
  });
}

uint64_t wb_history_hits_count(const wb_history_hits* hits) { return hits->page.hits.size(); }

int32_t wb_history_hits_at(const wb_history_hits* hits, uint64_t index, wb_history_hit* out) {
  if (index >= hits->page.hits.size()) return 1;
  const history::SearchHit& hit = hits->page.hits[index];
  const auto text = [](const std::string& of) { return Str(std::string_view(of)); };
  wb_history_hit filled{};
  filled.role = static_cast<int32_t>(hit.role);
  filled.channel = text(hit.channel);
  filled.id = text(hit.id);
  filled.agent = text(hit.agent);
  filled.created_ms = hit.created_ms;
  filled.score = hit.score;
  filled.snippet = text(hit.snippet);
  filled.marks = hits->marks[index].data();
  filled.mark_count = hits->marks[index].size();
  filled.cut_before = hit.cut_before ? 1 : 0;
  filled.cut_after = hit.cut_after ? 1 : 0;
  watchbill::c::CopyKnown(out, filled, out->struct_size);
  return WB_OK;
}

void wb_history_hits_about(const wb_history_hits* hits, wb_history_found* out) {
  const history::SearchPage& page = hits->page;
  wb_history_found filled{};
  filled.more = page.more ? 1 : 0;
  filled.next = Str(std::string_view(page.next));
  filled.partial = page.partial ? 1 : 0;
  filled.bounded = page.bounded ? 1 : 0;
  filled.unreadable = page.unreadable;
  filled.tail = page.tail;
  filled.tail_left_out = page.tail_left_out;
  watchbill::c::CopyKnown(out, filled, out->struct_size);
}

void wb_history_hits_free(wb_history_hits* hits) { delete hits; }

}  // extern "C"
