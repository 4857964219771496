// All messages of a channel, one by one, with nothing held open in between: the engine can be opened again
// under it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "json_document.hpp"
#include "keys.hpp"
#include "store_impl.hpp"
#include "watchbill/history/message.hpp"

namespace watchbill::history {

// One thread. The store is given anew with each call.
class ConversationWalk {
 public:
  ConversationWalk(const UlidBytes& channel, bool newest_first)
      : channel_(channel), newest_first_(newest_first), within_(MessagesPrefix(channel)), next_(within_) {}

  // True: `message` is the next one. False: there are no more. Unavailable: the disk; the next call goes on
  // where this one was.
  absl::StatusOr<bool> Next(const Store& store, Message& message);

  // Messages that could not be read, and 1 for damaged blocks.
  uint64_t unreadable() const { return unreadable_ + (damaged_ ? 1 : 0); }

 private:
  using Block = std::vector<std::pair<std::string, std::string>>;

  // False: there is none any more.
  absl::StatusOr<bool> NextBlock(const Engine& engine);
  absl::StatusOr<bool> BlockBefore(const Engine& engine);
  // Reads what is in the database from `next` on, and leaves there where the following block begins: empty
  // where nothing follows, or it would not begin before `to`, which may be empty.
  absl::Status ReadBlock(const Engine& engine, std::string& next, const std::string& to, Block& block);
  absl::Status FindBlocks(const Engine& engine);

  const UlidBytes channel_;
  const bool newest_first_;
  const std::string within_;
  std::string next_;  // where the next block begins; empty: there is none

  // Oldest first is against the order of the keys: where blocks begin is found first, and they are read from
  // the last one on. In between more may have come to stand in one.
  bool found_ = false;
  std::vector<std::string> begins_;
  std::string read_from_;  // where the block begins that was read last

  Block block_;  // what is told next stands last
  json::Document document_ = NewDocument();
  uint64_t unreadable_ = 0;
  bool damaged_ = false;
};

}  // namespace watchbill::history
