// A history as lines of JSON, and back; a channel as Markdown; and a copy of a history while it goes on.
// Formats and their reasons: docs/decisions/history-transfer.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/history/message.hpp"
#include "watchbill/history/store.hpp"

namespace watchbill::history {

// Takes what is written, in pieces of some 64 KB or of one message; a view is good during the call. What it
// says other than OK ends the writing, whose result it then is.
using Sink = std::function<absl::Status(std::string_view piece)>;

struct TransferCounts {
  uint64_t channels = 0, members = 0, messages = 0, commands = 0, records = 0, trail = 0;
  uint64_t total() const { return channels + members + messages + commands + records + trail; }
  friend bool operator==(const TransferCounts&, const TransferCounts&) = default;
};

struct ExportOptions {
  std::string channel = {};  // its id, for it alone with its members and messages; empty: all there are
  // With the whole history only.
  bool ledger = false;
  bool trail = false;
};

struct ExportReport {
  TransferCounts written;
  // Records that could not be read, and 1 more where damaged blocks of several were passed over.
  uint64_t unreadable = 0;
};

// Writes lines of JSON: what it is, then channels, members, messages (channel by channel, oldest first),
// commands, records, the trail from its old end on, and how many lines there were. All as it is at the moment
// of the call, whatever is committed meanwhile; a few MB of memory, however long a channel is. What cannot be
// read, and what belongs to a channel that was deleted, is left out. InvalidArgument: an id that is no ULID,
// or a channel together with ledger or trail. NotFound: there is no such channel, and nothing was written.
// Unavailable: the disk. Any thread.
absl::StatusOr<ExportReport> Export(const Store& store, const ExportOptions& options, const Sink& sink);

// The words of a channel as Markdown, so that they can be in another language. {agent} is a name.
struct MarkdownWords {
  std::string user = "User";
  std::string system = "System";
  std::string direct = "Conversation with {agent}";
  std::string members = "Members";
  std::string id = "Id";
  std::string thought = "Thought";
  std::string tools = "Tool calls";
  std::string new_file = "new file";
  std::string plan = "Plan";
  std::string in_progress = "in progress";
  std::string error = "Error";
  std::string stopped = "Ended with";
  std::string agent_joined = "{agent} joined.";
  std::string agent_left = "{agent} left.";
  std::string agent_unavailable = "{agent} could not be had.";
  std::string no_recipient = "Nobody answers this message.";
  std::string unreadable = "Messages that could not be read";
};

struct MarkdownOptions {
  bool thoughts = false;
  MarkdownWords words;
};

// Writes a channel for people: title, description and members, then a section a message, oldest first.
// Whatever stands in a message or a name, no line of it is a heading of this document: text is quoted, and
// fenced where a quotation could not hold it. Fails as Export does; the same moment and the same memory. Any
// thread.
absl::StatusOr<ExportReport> ExportMarkdown(const Store& store, std::string_view channel,
                                            const MarkdownOptions& options, const Sink& sink);

struct ImportOptions {
  // Nothing is taken from the first bad line on. Otherwise one is passed over.
  bool strict = false;
  // What is there under the same id is replaced. Otherwise it is kept.
  bool replace = false;
};

struct BadLine {
  uint64_t line = 0;    // from 1
  uint64_t column = 0;  // in bytes, from 1; 0 where it is not one place
  std::string what;     // and what was expected
};

struct ImportReport {
  TransferCounts kept;      // new here
  TransferCounts replaced;  // were here, and are now as in the file
  TransferCounts already;   // were here, and are as they were
  TransferCounts refused;   // of channels that were deleted
  uint64_t bad = 0;
  std::vector<BadLine> bad_lines;  // the first hundred
  // Why the file is not whole: its last line is missing or does not fit the others. Empty: it is whole.
  std::string cut;
};

// Takes what Export wrote into a store, line by line, and commits about a megabyte at a time. The order of
// the lines after the first does not matter, but for the trail's. Importing a file again changes nothing, so
// that one that was broken off is begun anew. One thread, but for progress(). The store has to be there as
// long.
class Importer {
 public:
  // A line may be this long: a record at its longest, and what stands around it.
  static constexpr size_t kMaxLineBytes = kMaxRecordBytes + (64 << 10);

  Importer(Store& store, const ImportOptions& options);
  ~Importer();
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;

  // Pieces of any size. Fails for good, with what was committed before kept: InvalidArgument (this is no
  // exported history; or strict, and a line was bad), FailedPrecondition (a newer format, or End was called),
  // and what Store::Commit says.
  absl::Status Feed(std::string_view bytes);
  // What stands behind the last newline is a line too; all is committed when it returns. Fails as Feed does;
  // also DataLoss: strict, and the file is cut.
  absl::Status End();

  // What became of the lines whose batch was committed, and the bad ones so far.
  const ImportReport& report() const;

  struct Progress {
    uint64_t lines = 0, bytes = 0;
  };
  // So far; from any thread.
  Progress progress() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct BackupReport {
  uint64_t keys = 0, bytes = 0;
  // Damaged blocks of the history were passed over: what is in them is not in the copy.
  bool damaged = false;
};

// Bytes copied so far, and about how many there will be, the index and what was replaced since included.
// False stops it.
using BackupProgress = std::function<bool(uint64_t done, uint64_t about)>;

// Copies all of a history as it is at the moment of the call into a folder of its own, which opens as a
// store; commits go on meanwhile. `folder` is not there, or empty. It is made beside it under the name
// FOLDER.part and renamed once it is on the disk whole, so that whatever has the name is a whole copy; what
// fails is removed again. InvalidArgument: no path. FailedPrecondition: something is there, or the folder is
// the history's own or within it, or somebody is making the same copy. PermissionDenied. Cancelled: by
// `progress`. ResourceExhausted: the disk has no room for it; a little is left free for the history itself.
// Unavailable: the disk. Any thread.
absl::StatusOr<BackupReport> Backup(const Store& store, const std::string& folder,
                                    const BackupProgress& progress = {});

}  // namespace watchbill::history
