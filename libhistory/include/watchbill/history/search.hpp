// Which messages have these words: an index beside the conversations, and a search in it.
//
// What of a message is searched: its texts, the entries of plans, of tool calls the titles and the paths of
// locations and diffs, and its error; of that the first 256 KiB and the first 8,192 different words. Not:
// thoughts, and what went into a tool or came out of it.
//
// A word is a run of letters and digits; case, accents and compatibility forms make no difference. Parts that
// are joined by underscores are words, and so is all of it: watchbill_history is found by watchbill, by
// history and by watchbill_history. Scripts without spaces are found by any two neighbouring characters, or
// one. Symbols and emoji are no words. Of a word 64 bytes count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/history/message.hpp"
#include "watchbill/history/store.hpp"

namespace watchbill::history {

struct IndexStep {
  size_t messages = 0;  // that are in the index since
  // Nothing is left to do but for a few messages that wait for more, as a search reads those by themselves.
  bool done = false;
  // Messages, arrivals or damaged blocks of several that could not be read, and are not in the index.
  size_t unreadable = 0;
};

// Makes the index follow. It is derived: what is in it can be made again from the messages, and is, in steps
// as well, where there is none yet, where it is of another version of this library, or damaged as a whole.
// Any thread.
class Index {
 public:
  // The store has to be there as long.
  explicit Index(Store& store) : store_(&store) {}

  // Takes up to `most` messages (1 to 4,096; fewer where they are long), oldest first, and commits what they
  // add as one segment of the index. A search has to look into each segment, so fewer than `most` are left
  // to wait for more; `force` takes them as they are. Until it is done call it again, and then from time to
  // time. One step at a time: others wait. Fails as Store::Commit does, with nothing lost: the next step
  // does the same again.
  absl::StatusOr<IndexStep> Step(size_t most = 1000, bool force = false);

  // Lets the steps that follow make it anew. Until they have done so a search finds less.
  absl::Status Rebuild();

 private:
  Store* store_;
};

// The bytes of a search's text at most.
inline constexpr size_t kMostSearchBytes = 1000;
inline constexpr size_t kMostHits = 200;

struct SearchQuery {
  // Words that a message has to have, all of them, anywhere in it. One with a * behind it stands for all
  // words that begin with it, and so does the last one if the text ends with it: it is still being written.
  // Words in "quotes" have to stand one behind the other, whatever is between them that is no word; a quote
  // that is not closed ends with the text.
  std::string text;
  std::string channel;  // that one alone; empty: all
  size_t limit = 20;    // 1 to kMostHits
  std::string after;    // SearchPage::next of the page before; empty: the first page
};

// Bytes from begin to before end, of a snippet.
struct SearchMark {
  size_t begin = 0, end = 0;
  friend bool operator==(const SearchMark&, const SearchMark&) = default;
};

struct SearchHit {
  std::string channel, id;
  int64_t created_ms = 0;
  std::string agent;
  Role role = Role::kUser;
  // How well it matches and how new it is:
  //
  //   log2(match) + created_ms / 30 days     with match the mean over the words of the query of
  //   ((2 as a whole word, or 1 as the beginning of longer ones only) + n / (n + 1)) / 3, found n times
  //
  // so that what is 30 days older has to match twice as well. Only differences of scores say anything.
  double score = 0;
  // Up to some 200 bytes of the text of the message that has the most of the words, and where they are in it,
  // in order, not overlapping. Whole characters, as they were written.
  std::string snippet;
  std::vector<SearchMark> marks;
  bool cut_before = false, cut_after = false;  // there is more of that text
};

struct SearchPage {
  // Best first: by score, then by id, newest first. Each message once.
  std::vector<SearchHit> hits;
  // There are others, or may be; `next` leads to them. There may be fewer hits than asked for all the same,
  // where many messages had to be read (see `bounded`).
  bool more = false;
  std::string next;
  // What could not be read on the way, as Page::unreadable counts; and parts of the index.
  size_t unreadable = 0;
  // Messages that were read one by one as the index has not got them yet, and about how many more there are,
  // which were left out.
  size_t tail = 0, tail_left_out = 0;
  // The index is not made yet, or is being made again: what is missing in it is not found.
  bool partial = false;
  // Not all was looked at: more words begin with a beginning than can be followed, or of the messages that
  // have all the words too few have them as they are quoted.
  bool bounded = false;
};

class Search {
 public:
  // The store has to be there as long.
  explicit Search(const Store& store) : store_(&store) {}

  // InvalidArgument: no word, a text that is longer than kMostSearchBytes, an id that is no ULID, a limit or
  // an `after` that is none. Unavailable: the disk. What comes while it runs may be found or not. Any thread.
  absl::StatusOr<SearchPage> Find(const SearchQuery& query) const;

 private:
  const Store* store_;
};

}  // namespace watchbill::history
