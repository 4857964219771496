// Conversations on disk, in LevelDB; and what is written, of whatever kind: what else is read is in
// ledger.hpp, trail.hpp and search.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/base/json_text.hpp"
#include "watchbill/history/engine.hpp"
#include "watchbill/history/message.hpp"

namespace watchbill::history {

// The bytes of an agent's name, 1 to this many.
inline constexpr size_t kMaxAgentBytes = 1024;
// The bytes of a record's key, 1 to this many, and of its second order.
inline constexpr size_t kMaxKeyBytes = 4096;

// What the ledger keeps; ledger.hpp says under which keys and in which order. The number is part of what is
// on the disk: none is used twice.
enum class Collection : uint8_t {
  kPolicies = 1,
  kPrices = 2,
  kWindows = 3,   // spending
  kOutcomes = 4,  // how runs ended
  kPeople = 5,
  kRoles = 6,
  kCatalogues = 7,
  kSubscriptions = 8,
  kKnowledge = 9,  // what happened to collections of knowledge
  kSeen = 10,      // what a person has seen
  kApprovals = 11,
  kAcknowledgements = 12,
  kEngine = 13,  // the policy engine's own state
  kSettings = 14,
  kCountedEntries = 15,  // the ids of those that spending windows have counted
};

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

  // A record of the ledger. `order` is where it stands in the second order of its collection: bytes, compared
  // as such; records of one order stand in the order of their keys. What is there already is replaced, and
  // stands there no more, but for a record of a newer version, which Commit refuses. InvalidArgument: a key
  // that is empty or longer than kMaxKeyBytes, an order that is longer, no JSON, a record longer than
  // kMaxRecordBytes.
  absl::Status Put(Collection collection, std::string_view key, std::string_view order, JsonView value);
  // Also where there is none.
  absl::Status Delete(Collection collection, std::string_view key);
  // An entry of the trail, behind all that there are; trail.hpp says what is in one. InvalidArgument: no
  // JSON, or longer than kMaxRecordBytes.
  absl::Status AppendToTrail(JsonView entry);

  // All of the other's, behind what is here.
  void Append(const Batch& more);
  bool empty() const;
  // About what it takes in memory and in the log.
  size_t bytes() const;

 private:
  friend class Store;
  friend struct Inside;
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

// One database. One process at a time; every function from any thread. Nothing else in the process may open
// its file LOCK: closing it would give the lock away. A record that is damaged, or of a newer version than
// this library reads, never hides another.
class Store {
 public:
  using Options = EngineOptions;

  // Opens, and makes it where there is none, with the folders above it; all for their user alone. It is never
  // repaired. FailedPrecondition: another process has it, named by its pid, or this one has; or a file is
  // where a folder should be. DataLoss: it is damaged, or of a newer format than this library reads, or no
  // history; no record was changed. PermissionDenied, Unavailable: what the system said. Every failure names
  // the folder and says what to do.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& folder, Options options);
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& folder);
  // Over another engine; `name` is what errors call it.
  static absl::StatusOr<std::unique_ptr<Store>> Open(std::unique_ptr<Engine> engine, std::string name);
  // No function may be running.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // On the disk when this returns OK. All of it or nothing is kept. What several threads commit at once goes
  // to the disk together. FailedPrecondition: something for a channel that was deleted, or over a record of a
  // newer version. DataLoss: the trail cannot be gone on with. ResourceExhausted, Unavailable: as
  // Engine::Commit says; nothing of it can be read here until something else was committed, all or nothing of
  // it may be there then or when the folder is opened again, and the same batch may be committed again: once
  // the disk works, so does this. Its entries of the trail may be there twice then.
  absl::Status Commit(const Batch& batch);

  // Deletes a channel with its members and messages, in pieces, so that others are not kept waiting: up to
  // `most` messages, 1 or more; true once nothing is left. From the first piece on the channel is as if it
  // had never been, and takes nothing any more; also after another opening.
  absl::StatusOr<bool> DeleteChannel(std::string_view channel, size_t most);
  // Those whose deletion was begun and not ended.
  std::vector<std::string> HalfDeleted() const;

  // About the bytes on the disk; what was written last may be missing.
  struct Sizes {
    uint64_t conversations = 0, index = 0, ledger = 0, trail = 0;
  };
  Sizes Bytes() const;
  // Of one channel's messages. InvalidArgument.
  absl::StatusOr<uint64_t> ChannelBytes(std::string_view channel) const;
  // Gives back the room of what was deleted or replaced. May take long; all else goes on.
  absl::Status Compact();

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
  friend struct Inside;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace watchbill::history
