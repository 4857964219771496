// Opening and closing, and what is given back, in C.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "c_handles.hpp"

namespace history = watchbill::history;
using history::c::Result;
using history::c::With;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::Str;
using watchbill::c::View;

namespace watchbill::history::c {

Shared::Shared(std::unique_ptr<Store> store) : opened_by_(::getpid()), store_(std::move(store)) {}

Shared::~Shared() {
  if (IsForked()) static_cast<void>(store_.release());
}

bool Shared::IsForked() const { return ::getpid() != opened_by_; }

absl::StatusOr<Store*> Shared::Begin() {
  // Before anything is locked: a thread that is not in this process may have had the mutex.
  if (IsForked()) {
    return absl::FailedPreconditionError(fmt::format(
        "the history was opened by process {}, and cannot be used in process {}, which was forked from it; "
        "start a program of its own instead",
        opened_by_, ::getpid()));
  }
  const std::lock_guard guard(mutex_);
  if (closed_) return absl::FailedPreconditionError("the history is closed");
  users_.push_back(std::this_thread::get_id());
  return store_.get();
}

void Shared::End() {
  const std::lock_guard guard(mutex_);
  users_.erase(std::find(users_.begin(), users_.end(), std::this_thread::get_id()));
  left_.notify_all();
}

absl::Status Shared::Close() {
  if (IsForked()) return absl::OkStatus();
  std::unique_lock lock(mutex_);
  if (std::find(users_.begin(), users_.end(), std::this_thread::get_id()) != users_.end()) {
    return absl::FailedPreconditionError(
        "the history cannot be closed by what one of its calls calls back; close it behind that call");
  }
  closed_ = true;
  left_.wait(lock, [&] { return users_.empty(); });
  // With the lock: whoever else closes it has it closed when that returns.
  store_.reset();
  return absl::OkStatus();
}

absl::Status CheckProcess() {
  static std::atomic<pid_t> first{0};
  const pid_t here = ::getpid();
  pid_t known = 0;
  if (first.compare_exchange_strong(known, here) || known == here) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("process {} was forked from one that had opened a history, and has not the threads that it "
                  "needs; start a program of its own instead",
                  here));
}

void Give(wb_history_text** out, std::string text) {
  if (out != nullptr) *out = new wb_history_text{std::move(text)};
}

}  // namespace watchbill::history::c

namespace {

int32_t GiveHistory(absl::StatusOr<std::unique_ptr<history::Store>> store, wb_history** out, wb_error* err) {
  if (!store.ok()) return Fail(err, store.status());
  *out = new wb_history{std::make_shared<history::c::Shared>(*std::move(store))};
  return WB_OK;
}

}  // namespace

extern "C" {

void wb_history_options_init(wb_history_options* options) {
  const history::Store::Options all;
  *options = {};
  options->struct_size = sizeof *options;
  options->create = all.create ? 1 : 0;
  options->cache_bytes = all.cache_bytes;
  options->write_buffer_bytes = all.write_buffer_bytes;
}

int32_t wb_history_open(wb_str folder, const wb_history_options* options, wb_history** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    if (absl::Status status = history::c::CheckProcess(); !status.ok()) return Fail(err, status);
    wb_history_options all;
    wb_history_options_init(&all);
    if (options != nullptr) watchbill::c::CopyKnown(&all, *options, options->struct_size);
    return GiveHistory(
        history::Store::Open(std::string(View(folder)), {.cache_bytes = all.cache_bytes,
                                                         .create = all.create != 0,
                                                         .write_buffer_bytes = all.write_buffer_bytes}),
        out, err);
  });
}

int32_t wb_history_new_in_memory(wb_history** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    return GiveHistory(history::Store::Open(history::NewMemoryEngine(), "memory"), out, err);
  });
}

int32_t wb_history_close(wb_history* h, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return Result(err, h->shared->Close()); });
}

void wb_history_free(wb_history* h) {
  if (h != nullptr) wb_history_close(h, nullptr);
  delete h;
}

int32_t wb_history_commit(wb_history* h, const wb_history_batch* batch, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) { return Result(err, store.Commit(batch->batch)); });
}

wb_str wb_history_text_get(const wb_history_text* text) { return Str(std::string_view(text->text)); }
void wb_history_text_free(wb_history_text* text) { delete text; }

uint64_t wb_history_page_count(const wb_history_page* page) { return page->ends.size(); }

wb_str wb_history_page_at(const wb_history_page* page, uint64_t index) {
  if (index >= page->ends.size()) return {nullptr, 0};
  const size_t begin = index == 0 ? 0 : page->ends[index - 1];
  return {page->bytes.data() + begin, page->ends[index] - begin};
}

int32_t wb_history_page_more(const wb_history_page* page) { return page->more ? 1 : 0; }
uint64_t wb_history_page_unreadable(const wb_history_page* page) { return page->unreadable; }
void wb_history_page_free(wb_history_page* page) { delete page; }

int32_t wb_history_measure(const wb_history* h, wb_history_sizes* out, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    const history::Store::Sizes sizes = store.Bytes();
    const wb_history_sizes filled{0, 0, sizes.conversations, sizes.index, sizes.ledger, sizes.trail};
    watchbill::c::CopyKnown(out, filled, out->struct_size);
    return WB_OK;
  });
}

int32_t wb_history_channel_bytes(const wb_history* h, wb_str channel, uint64_t* out, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    const auto bytes = store.ChannelBytes(View(channel));
    if (!bytes.ok()) return Fail(err, bytes.status());
    *out = *bytes;
    return WB_OK;
  });
}

int32_t wb_history_compact(wb_history* h, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) { return Result(err, store.Compact()); });
}

uint64_t wb_history_unreadable(const wb_history* h) {
  uint64_t count = 0;
  With(h->shared, nullptr, [&](history::Store& store) -> int32_t {
    count = store.unreadable();
    return WB_OK;
  });
  return count;
}

}  // extern "C"
