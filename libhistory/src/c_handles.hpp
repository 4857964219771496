// What stands behind the handles of the C API. For the c_*.cc of this library.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "json_document.hpp"
#include "watchbill/base/c_support.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/history.h"
#include "watchbill/history/store.hpp"

namespace watchbill::history {
struct TrailReport;
}

namespace watchbill::history::c {

// A store that several handles use from several threads, and its end.
class Shared {
 public:
  explicit Shared(std::unique_ptr<Store> store);
  // In a process that was forked from the one that opened it the store is left as it is: closing it would
  // write into the other's files.
  ~Shared();
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  // Waits for those that use it, then closes. FailedPrecondition: this thread is one of them.
  absl::Status Close();

 private:
  friend class Use;
  absl::StatusOr<Store*> Begin();
  void End();
  bool IsForked() const;

  const pid_t opened_by_;
  std::mutex mutex_;
  std::condition_variable left_;
  bool closed_ = false;
  std::vector<std::thread::id> users_;
  std::unique_ptr<Store> store_;
};

// The store is open as long as this is there.
class Use {
 public:
  explicit Use(std::shared_ptr<Shared> shared) : shared_(std::move(shared)), store_(shared_->Begin()) {}
  ~Use() {
    if (store_.ok()) shared_->End();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  absl::Status status() const { return store_.status(); }
  Store& store() const { return **store_; }

 private:
  const std::shared_ptr<Shared> shared_;
  const absl::StatusOr<Store*> store_;
};

// The result of a call: what `body` says, which is given the open store.
template <typename Body>
int32_t With(const std::shared_ptr<Shared>& shared, wb_error* err, const Body& body) noexcept {
  return watchbill::c::Guard(err, [&]() -> int32_t {
    const Use use(shared);
    if (!use.status().ok()) return watchbill::c::Fail(err, use.status());
    return body(use.store());
  });
}

inline int32_t Result(wb_error* err, const absl::Status& status) {
  return status.ok() ? WB_OK : watchbill::c::Fail(err, status);
}
// For what is done in pieces.
inline int32_t Result(wb_error* err, const absl::StatusOr<bool>& all) {
  if (!all.ok()) return watchbill::c::Fail(err, all.status());
  return *all ? WB_OK : 1;
}

// LevelDB has one thread for all of a process, which a process that is forked from it has not, and would wait
// for. FailedPrecondition: this is such a one.
absl::Status CheckProcess();

// Numbers that may be beyond what JSON's readers hold exactly stand as they are.
inline JsonWriter& Number(JsonWriter& w, uint64_t value) {
  return w.Json(JsonView::Trusted(std::to_string(value)));
}

// As wb_history_trail_verify has it.
void Write(JsonWriter& w, const TrailReport& report);

// `out` may be NULL.
void Give(wb_history_text** out, std::string text);

}  // namespace watchbill::history::c

struct wb_history {
  std::shared_ptr<watchbill::history::c::Shared> shared;
};

struct wb_history_batch {
  watchbill::history::Batch batch;
  // Of what was given, and of what is kept of it.
  watchbill::json::Document given{{.bytes = watchbill::history::kMaxRecordBytes, .depth = 64}};
  watchbill::json::Document kept{{.bytes = 2 * watchbill::history::kMaxRecordBytes, .depth = 64}};
  std::string text;
};

namespace watchbill::history::c {

// Whether all of what was given is in `text`, which is what is kept of it. InvalidArgument names what is not.
absl::Status CheckNothingIsLost(wb_history_batch* batch, std::string_view what);
// Checked and compact: it is good until something else is given to the batch.
absl::StatusOr<JsonView> AnyJson(wb_history_batch* batch, wb_str text, std::string_view what);

}  // namespace watchbill::history::c

struct wb_history_text {
  std::string text;
};

struct wb_history_page {
  void Add(std::string_view text) {
    bytes.append(text);
    ends.push_back(bytes.size());
  }
  // Writes one text.
  template <typename Write>
  void AddJson(const Write& write) {
    watchbill::JsonWriter w(bytes);
    write(w);
    ends.push_back(bytes.size());
  }

  std::string bytes;  // one text behind the other
  std::vector<size_t> ends;
  bool more = false;
  uint64_t unreadable = 0;
};
