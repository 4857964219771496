// The way of a search through what is kept: the messages that are not in the index yet, and the segments of
// the index, newest first, until nothing older can be better.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "index_codec.hpp"
#include "search_match.hpp"
#include "search_terms.hpp"
#include "store_impl.hpp"

namespace watchbill::history {

// Where a message stands among the hits. What is before another is the better one.
struct Rank {
  double score = 0;
  UlidBytes message{}, channel{};
  bool Before(const Rank& other) const {
    if (score != other.score) return score > other.score;
    if (message != other.message) return message > other.message;
    return channel > other.channel;
  }
};

struct Candidate {
  Rank rank;
  // Its rank is the best that it can be; which one it is only the message says.
  bool estimated = false;
};

// One thread; not longer than the store.
class SearchWalk {
 public:
  // `channel`: that one alone. `after`: only what stands behind it.
  SearchWalk(const Store::Impl& store, const Sought& sought, const std::optional<UlidBytes>& channel,
             const std::optional<Rank>& after);

  // First: what there is at this moment.
  absl::Status Begin();
  // Up to `count` of the best, best first, behind `from`. Fewer: there are no others. Of one message there
  // may be several where it was replaced.
  absl::StatusOr<std::vector<Candidate>> Best(size_t count, const std::optional<Rank>& from);
  // Whether the message may be a hit at all.
  bool Wanted(const UlidBytes& channel) const {
    return (!channel_ || *channel_ == channel) && !store_.IsDeleted(channel);
  }

  // What could not be read, also by whoever reads the messages; counted behind the last call of those.
  Damage& damage() { return damage_; }
  size_t unreadable() const;
  size_t tail = 0, tail_left_out = 0;
  bool partial = false;
  // Beginnings of words were left out.
  bool bounded() const;

 private:
  struct Summary {
    uint64_t segment;
    SegmentSummary what;
    int64_t older_ms;  // the newest time of this segment and of all that are older
  };

  absl::Status ReadSummaries(Cursor& cursor, uint64_t next_segment);
  absl::Status ReadTail(Cursor& cursor, uint64_t watermark);
  // The first of summaries_ that is not newer than the segment. `at` moves forwards.
  const Summary* SummaryOf(uint64_t segment, size_t& at) const;
  void LookInto(uint64_t segment, const Summary* summary);
  absl::Status Finish();

  // The worst score that still counts.
  double Threshold() const {
    return best_.size() < count_ ? -std::numeric_limits<double>::infinity() : best_.front().rank.score;
  }
  void Offer(const Candidate& candidate);

  const Store::Impl& store_;
  const Sought& sought_;
  const std::optional<UlidBytes> channel_;
  const std::optional<Rank> after_;

  Effort effort_;
  std::vector<std::unique_ptr<TermWalk>> walks_;
  std::vector<size_t> order_;  // of them: whole words first, as they say at less cost where to look
  std::vector<Summary> summaries_;
  bool has_all_summaries_ = false;
  // None is newer; beginnings of words are not looked for above it.
  uint64_t newest_segment_ = std::numeric_limits<uint64_t>::max();
  std::vector<Candidate> tail_;

  // Of one Best.
  std::optional<Rank> from_;
  size_t count_ = 0;
  std::vector<Candidate> best_;  // a heap, its worst in front

  struct Match {
    uint32_t document;
    double strengths;
  };
  std::vector<Match> matches_;
  std::vector<Posting> postings_;
  absl::Status status_;
  Damage damage_;
  size_t unreadable_ = 0;  // besides
};

}  // namespace watchbill::history
