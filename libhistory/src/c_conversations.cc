// What is read of conversations, and what goes of them, in C.
#include <cstring>

#include "c_handles.hpp"
#include "conversation_walk.hpp"
#include "json.hpp"
#include "watchbill/history/retention.hpp"

namespace history = watchbill::history;
using history::c::Result;
using history::c::With;
using watchbill::JsonWriter;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::Str;
using watchbill::c::View;

struct wb_history_cursor {
  wb_history_cursor(std::shared_ptr<history::c::Shared> of, const history::UlidBytes& channel,
                    bool newest_first)
      : shared(std::move(of)), walk(channel, newest_first) {}

  const std::shared_ptr<history::c::Shared> shared;
  history::ConversationWalk walk;
  history::Message message;
  std::string text;  // what was given last
};

namespace {

template <typename Things>
int32_t GivePage(const absl::StatusOr<Things>& things, wb_history_page** out, wb_error* err) {
  if (!things.ok()) return Fail(err, things.status());
  auto page = std::make_unique<wb_history_page>();
  for (const auto& thing : *things) {
    page->AddJson([&](JsonWriter& w) { history::Write(w, thing); });
  }
  *out = page.release();
  return WB_OK;
}

int32_t GiveMessages(const absl::StatusOr<history::Page>& read, wb_history_page** out, wb_error* err) {
  if (!read.ok()) return Fail(err, read.status());
  auto page = std::make_unique<wb_history_page>();
  for (const history::Message& message : read->messages) {
    page->AddJson([&](JsonWriter& w) { history::Write(w, message); });
  }
  page->more = read->more;
  page->unreadable = read->unreadable;
  *out = page.release();
  return WB_OK;
}

}  // namespace

extern "C" {

int32_t wb_history_channels(const wb_history* h, wb_history_page** out, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) { return GivePage(store.Channels(), out, err); });
}

int32_t wb_history_members(const wb_history* h, wb_str channel, wb_history_page** out, wb_error* err) {
  return With(h->shared, err,
              [&](history::Store& store) { return GivePage(store.Members(View(channel)), out, err); });
}

int32_t wb_history_commands(const wb_history* h, wb_str agent, wb_history_text** out, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    const auto commands = store.Commands(View(agent));
    if (!commands.ok()) return Fail(err, commands.status());
    if (commands->absent()) return 1;
    history::c::Give(out, commands->text());
    return WB_OK;
  });
}

int32_t wb_history_last(const wb_history* h, wb_str channel, uint64_t limit, wb_history_page** out,
                        wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) {
    return GiveMessages(store.Last(View(channel), limit), out, err);
  });
}

int32_t wb_history_before(const wb_history* h, wb_str channel, wb_str id, uint64_t limit,
                          wb_history_page** out, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) {
    return GiveMessages(store.Before(View(channel), View(id), limit), out, err);
  });
}

int32_t wb_history_cursor_new(const wb_history* h, wb_str channel, int32_t newest_first,
                              wb_history_cursor** out, wb_error* err) {
  return With(h->shared, err, [&](history::Store&) -> int32_t {
    const auto id = history::Id("channel", View(channel));
    if (!id.ok()) return Fail(err, id.status());
    *out = new wb_history_cursor(h->shared, *id, newest_first != 0);
    return WB_OK;
  });
}

int32_t wb_history_cursor_next(wb_history_cursor* c, wb_str* out, wb_error* err) {
  return With(c->shared, err, [&](history::Store& store) -> int32_t {
    const auto there = c->walk.Next(store, c->message);
    if (!there.ok()) return Fail(err, there.status());
    if (!*there) return 1;
    c->text.clear();
    JsonWriter w(c->text);
    history::Write(w, c->message);
    *out = Str(std::string_view(c->text));
    return WB_OK;
  });
}

uint64_t wb_history_cursor_unreadable(const wb_history_cursor* c) { return c->walk.unreadable(); }
void wb_history_cursor_free(wb_history_cursor* c) { delete c; }

int32_t wb_history_channel_delete(wb_history* h, wb_str channel, uint64_t most, wb_error* err) {
  return With(h->shared, err,
              [&](history::Store& store) { return Result(err, store.DeleteChannel(View(channel), most)); });
}

int32_t wb_history_half_deleted(const wb_history* h, wb_history_page** out, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    auto page = std::make_unique<wb_history_page>();
    for (const std::string& id : store.HalfDeleted()) page->Add(id);
    *out = page.release();
    return WB_OK;
  });
}

int32_t wb_history_channel_prune(wb_history* h, wb_str channel, uint64_t keep, wb_str before, uint64_t most,
                                 wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) {
    return Result(err, history::PruneChannel(store, View(channel), keep, View(before), most));
  });
}

void wb_history_first_id_at(int64_t ms, char* out) {
  const std::string id = history::FirstIdAt(ms);
  std::memcpy(out, id.c_str(), id.size() + 1);
}

}  // extern "C"
