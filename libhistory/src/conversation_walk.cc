#include "conversation_walk.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "index_reading.hpp"

namespace watchbill::history {
namespace {

// What a block holds at most; one message more goes into it, whatever its length.
constexpr size_t kMostMessages = 256;
constexpr size_t kMostBytes = 256 << 10;

bool IsFull(size_t messages, size_t bytes) { return messages >= kMostMessages || bytes >= kMostBytes; }

// Calls each(key, value) from `from` on within the prefix until it says false.
template <typename Each>
absl::Status Scan(const Engine& engine, const std::string& prefix, const std::string& from, Each each) {
  const std::unique_ptr<Cursor> at = engine.Scan(from);
  for (; at->Valid() && at->key().starts_with(prefix); at->Next()) {
    if (!each(at->key(), at->value())) break;
  }
  return at->status();
}

}  // namespace

absl::StatusOr<bool> ConversationWalk::Next(const Store& store, Message& message) {
  Store::Impl& inside = Inside::Of(store);
  for (;;) {
    if (inside.IsDeleted(channel_)) return false;
    if (block_.empty()) {
      const bool damaged_before = damaged_;
      absl::StatusOr<bool> more = newest_first_ ? NextBlock(*inside.engine) : BlockBefore(*inside.engine);
      if (damaged_ && !damaged_before) ++inside.unreadable;
      if (!more.ok() || !*more) return more;
      continue;
    }
    const auto [key, value] = std::move(block_.back());
    block_.pop_back();
    const std::optional<UlidBytes> id = MessageOfKey(key);
    absl::StatusOr<Message> read = absl::DataLossError("no message's key");
    if (id) read = MessageIn(document_, value, channel_, *id);
    if (read.ok()) {
      message = *std::move(read);
      return true;
    }
    ++unreadable_;
    ++inside.unreadable;
  }
}

absl::StatusOr<bool> ConversationWalk::NextBlock(const Engine& engine) {
  if (next_.empty()) return false;
  Block block;
  std::string next = next_;
  if (absl::Status status = ReadBlock(engine, next, {}, block); !status.ok()) return status;
  next_ = std::move(next);
  std::reverse(block.begin(), block.end());
  block_ = std::move(block);
  return true;
}

absl::StatusOr<bool> ConversationWalk::BlockBefore(const Engine& engine) {
  if (!found_) {
    if (absl::Status status = FindBlocks(engine); !status.ok()) return status;
  }
  while (!begins_.empty()) {
    Block block;
    std::string next = begins_.back();
    if (absl::Status status = ReadBlock(engine, next, read_from_, block); !status.ok()) return status;
    if (!next.empty()) {
      begins_.push_back(std::move(next));
      continue;
    }
    read_from_ = std::move(begins_.back());
    begins_.pop_back();
    block_ = std::move(block);
    return true;
  }
  return false;
}

absl::Status ConversationWalk::ReadBlock(const Engine& engine, std::string& next, const std::string& to,
                                         Block& block) {
  size_t bytes = 0;
  const std::string from = std::move(next);
  next.clear();
  absl::Status status = Scan(engine, within_, from, [&](std::string_view key, std::string_view value) {
    if (!to.empty() && key >= to) return false;
    if (IsFull(block.size(), bytes)) {
      next = key;
      return false;
    }
    block.emplace_back(key, value);
    bytes += key.size() + value.size();
    return true;
  });
  if (!absl::IsDataLoss(status)) return status;
  // Passed over: what is behind it is there.
  damaged_ = true;
  return absl::OkStatus();
}

absl::Status ConversationWalk::FindBlocks(const Engine& engine) {
  std::vector<std::string> begins;
  size_t messages = 0, bytes = 0;
  const absl::Status status =
      Scan(engine, within_, within_, [&](std::string_view key, std::string_view value) {
        if (begins.empty() || IsFull(messages, bytes)) {
          begins.emplace_back(key);
          messages = bytes = 0;
        }
        ++messages;
        bytes += key.size() + value.size();
        return true;
      });
  if (!status.ok() && !absl::IsDataLoss(status)) return status;
  begins_ = std::move(begins);
  found_ = true;
  return absl::OkStatus();
}

}  // namespace watchbill::history
