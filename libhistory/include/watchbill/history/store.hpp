// Conversations on disk, in LevelDB.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/base/json_text.hpp"
#include "watchbill/history/message.hpp"

namespace watchbill::history {

// The bytes of an agent's name, 1 to this many.
inline constexpr size_t kMaxAgentBytes = 1024;

// What is written together or not at all. Copies what it is given. One that was moved from is good for
// nothing but to be assigned to.
class Batch {
 public:
  Batch();
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;

  // InvalidArgument, with nothing added: an id that is no ULID (26 characters of base 32, in capitals), a
  // message that is not finished or is queued, an agent's name that is empty or longer than kMaxAgentBytes, a
  // record whose JSON is longer than kMaxRecordBytes. What is there already is replaced.
  absl::Status Put(const Message& message);
  absl::Status Put(const Channel& channel);
  absl::Status Put(std::string_view channel, const Member& member);
  // The slash commands that an agent announced last, as JSON. InvalidArgument as well: absent.
  absl::Status PutCommands(std::string_view agent, JsonView commands);
  bool empty() const;

 private:
  friend class Store;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A page of a conversation, oldest first.
struct Page {
  std::vector<Message> messages;
  bool more = false;  // there are older ones
  // What could not be read on the way: records, or damaged blocks of several. The others are here.
  size_t unreadable = 0;
};

// One database. One process at a time, one thread at a time. Nothing else in the process may open its file
// LOCK: closing it would give the lock away. A record that is damaged, or of a newer version than this
// library reads, never hides another.
class Store {
 public:
  struct Options {
    size_t cache_bytes = 8 << 20;  // of blocks that were read
    bool create = true;            // false: NotFound where there is none, and nothing is made
  };

  // Opens, and makes it where there is none, with the folders above it; all for their user alone. It is never
  // repaired. FailedPrecondition: another process has it, named by its pid, or this one has; or a file is
  // where a folder should be. DataLoss: it is damaged, or of a newer format than this library reads, or no
  // history; no record was changed. PermissionDenied, Unavailable: what the system said. Every failure names
  // the folder and says what to do.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& folder, Options options);
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& folder);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // On the disk when this returns OK (fdatasync). Otherwise nothing of it can be read here, and this store
  // writes no more: every later Commit has the same error, Unavailable. All or nothing of the one that failed
  // may be there when the folder is opened again.
  absl::Status Commit(const Batch& batch);

  // What follows fails with InvalidArgument (an id that is no ULID, an agent's name as above) or Unavailable
  // (the disk).

  // Oldest first. One whose record cannot be read has its id alone: its messages can still be asked for.
  absl::StatusOr<std::vector<Channel>> Channels() const;
  // The last `limit` messages, or the last `limit` of those before `id`, which need not be there. A channel
  // without messages, or that is not known, is empty, not an error.
  absl::StatusOr<Page> Last(std::string_view channel, size_t limit) const;
  absl::StatusOr<Page> Before(std::string_view channel, std::string_view id, size_t limit) const;
  // In the order of the bytes of their names. One whose record cannot be read has its name alone.
  absl::StatusOr<std::vector<Member>> Members(std::string_view channel) const;
  // Absent where it never announced any, or they cannot be read: it will announce them again.
  absl::StatusOr<JsonText> Commands(std::string_view agent) const;
  // How often something could not be read since this was opened, as Page::unreadable counts.
  size_t unreadable() const;

  struct Impl;

 private:
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace watchbill::history
