// A look at all that is kept, as it is at one moment and in bounded memory.
#pragma once

#include <fmt/core.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keys.hpp"
#include "watchbill/history/engine.hpp"

namespace watchbill::history {

// One thread. Each function fails with what `each` said, or with what the disk did; damaged blocks are passed
// over.
class Look {
 public:
  explicit Look(const Engine& engine) : cursor_(engine.Scan({})) {}

  // Calls each(key, value), which gives a Status, for all keys that begin with `prefix`, upwards.
  template <typename Each>
  absl::Status Upwards(std::string_view prefix, const Each& each) {
    for (cursor_->Seek(prefix); Within(prefix); cursor_->Next()) {
      if (absl::Status status = each(cursor_->key(), cursor_->value()); !status.ok()) return status;
    }
    return Status();
  }

  // The same downwards. A cursor goes upwards only: a first pass notes where blocks of about a megabyte
  // begin, and a second one reads them, last block first.
  template <typename Each>
  absl::Status Downwards(std::string_view prefix, const Each& each) {
    std::vector<std::string> begins;
    Block block;
    size_t bytes = 0;
    for (cursor_->Seek(prefix); Within(prefix); cursor_->Next()) {
      if (begins.empty() || bytes >= kBlockBytes) {
        begins.emplace_back(cursor_->key());
        block.clear();
        bytes = 0;
      }
      bytes += Add(block);
    }
    absl::Status status = Status();
    // The last one is still there.
    for (size_t n = begins.size(); status.ok() && n > 0; --n) {
      if (n < begins.size()) {
        block.clear();
        for (cursor_->Seek(begins[n - 1]); Within(prefix) && cursor_->key() < begins[n]; cursor_->Next())
          Add(block);
        status = Status();
      }
      for (size_t i = block.size(); status.ok() && i > 0; --i)
        status = each(std::string_view(block[i - 1].first), std::string_view(block[i - 1].second));
    }
    return status;
  }

  // The first key that is not before `from` and begins with `prefix`; empty where there is none.
  std::string First(std::string_view from, std::string_view prefix) {
    cursor_->Seek(from);
    return Within(prefix) ? std::string(cursor_->key()) : std::string();
  }

  // Whether anything of it is there, but for a mark that it was deleted.
  bool HasChannel(const UlidBytes& channel) {
    for (const std::string& prefix : {ChannelKey(channel), MembersPrefix(channel), MessagesPrefix(channel)}) {
      if (!First(prefix, prefix).empty()) return true;
    }
    return false;
  }

  // Those whose deletion was begun.
  absl::Status ReadDeleted(std::set<UlidBytes>& deleted) {
    return Upwards(kDeletedPrefix, [&](std::string_view key, std::string_view) {
      if (const auto id = DeletedOfKey(key)) deleted.insert(*id);
      return absl::OkStatus();
    });
  }

  // OK also where something damaged was passed over.
  absl::Status Status() const {
    absl::Status status = cursor_->status();
    return absl::IsDataLoss(status) ? absl::OkStatus() : status;
  }
  bool damaged() const { return absl::IsDataLoss(cursor_->status()); }

 private:
  static constexpr size_t kBlockBytes = 1 << 20;
  using Block = std::vector<std::pair<std::string, std::string>>;

  bool Within(std::string_view prefix) const {
    return cursor_->Valid() && cursor_->key().starts_with(prefix);
  }
  size_t Add(Block& block) const {
    block.emplace_back(cursor_->key(), cursor_->value());
    return block.back().first.size() + block.back().second.size();
  }

  std::unique_ptr<Cursor> cursor_;
};

inline absl::Status NoChannel(std::string_view channel, std::string_view history) {
  return absl::NotFoundError(fmt::format("there is no channel {} in {}", channel, history));
}

}  // namespace watchbill::history
