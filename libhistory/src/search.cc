// A search from its text to its page: the best candidates are read, and what they really are decides.
#include "watchbill/history/search.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "index_reading.hpp"
#include "search_walk.hpp"

namespace watchbill::history {
namespace {

// Messages that are read for one page at most. A phrase may stand in few of those that have its words.
constexpr size_t kMostRead = 400;
// Of a phrase, and of words whose rank is an estimate, so many are looked at first.
constexpr size_t kManyCandidates = 128;

constexpr size_t kScoreChars = 16, kIdChars = 26;

// SearchPage::next: the bits of the score, the id of the message, that of its channel.
std::string WriteRank(const Rank& rank) {
  return fmt::format("{:016x}{}{}", std::bit_cast<uint64_t>(rank.score), UlidText(rank.message),
                     UlidText(rank.channel));
}

std::optional<Rank> ReadRank(std::string_view text) {
  if (text.size() != kScoreChars + 2 * kIdChars) return std::nullopt;
  uint64_t bits = 0;
  const char* const end = text.data() + kScoreChars;
  const auto [behind, error] = std::from_chars(text.data(), end, bits, 16);
  const auto message = ParseUlid(text.substr(kScoreChars, kIdChars));
  const auto channel = ParseUlid(text.substr(kScoreChars + kIdChars));
  const auto score = std::bit_cast<double>(bits);
  if (error != std::errc() || behind != end || !message || !channel || !std::isfinite(score))
    return std::nullopt;
  return Rank{score, *message, *channel};
}

class Finding {
 public:
  Finding(const Store::Impl& store, const Sought& sought, const std::optional<UlidBytes>& channel,
          const std::optional<Rank>& after, size_t limit)
      : store_(store),
        after_(after),
        limit_(limit),
        careful_(!sought.phrases.empty()),
        walk_(store, sought, channel, after),
        matcher_(sought) {}

  absl::StatusOr<SearchPage> Find() {
    if (absl::Status status = walk_.Begin(); !status.ok()) return status;
    if (absl::Status status = Look(); !status.ok()) return status;
    // What is left of those that came out worse than they looked.
    while (hits_.size() <= limit_ && !worse_.empty()) TakeWorse();
    // Where the index is wrong about one that one may come behind others that it is better than.
    std::sort(hits_.begin(), hits_.end(), BetterFirst{});
    page_.more = page_.more || hits_.size() > limit_;
    if (hits_.size() > limit_) {
      hits_.pop_back();
      page_.next = WriteRank(hits_.back().rank);
    }
    for (Hit& hit : hits_) page_.hits.push_back(HitOf(hit));
    page_.tail = walk_.tail;
    page_.tail_left_out = walk_.tail_left_out;
    page_.partial = walk_.partial;
    page_.bounded = page_.bounded || walk_.bounded();
    page_.unreadable = walk_.unreadable();
    return std::move(page_);
  }

 private:
  struct Hit {
    Rank rank;
    Message message;
  };
  struct BetterFirst {
    bool operator()(const Hit& a, const Hit& b) const { return a.rank.Before(b.rank); }
  };

  // Until there is one hit more than the page has, or nothing to look at any more.
  absl::Status Look() {
    std::optional<Rank> from;
    size_t read = 0;
    bool estimated = false;
    for (size_t count = careful_ ? std::max(limit_ + 1, kManyCandidates) : limit_ + 1;;
         count = std::min(2 * count, kMostRead)) {
      const absl::StatusOr<std::vector<Candidate>> candidates = walk_.Best(count, from);
      if (!candidates.ok()) return candidates.status();
      for (const Candidate& candidate : *candidates) {
        while (hits_.size() <= limit_ && !worse_.empty() && worse_.begin()->rank.Before(candidate.rank))
          TakeWorse();
        if (hits_.size() > limit_) return absl::OkStatus();
        if (read == kMostRead) {
          page_.bounded = true;
          // Behind an estimate nothing can be gone on with: what came out worse would be passed over. Else
          // that is found there.
          if (estimated) return absl::OkStatus();
          worse_.clear();
          page_.more = true;
          page_.next = WriteRank(*from);
          return absl::OkStatus();
        }
        from = candidate.rank;
        estimated = estimated || candidate.estimated;
        if (IsTaken(candidate.rank)) continue;
        ++read;
        if (absl::Status status = Judge(candidate); !status.ok()) return status;
      }
      if (candidates->size() < count) return absl::OkStatus();
    }
  }

  absl::Status Judge(const Candidate& candidate) {
    const Rank& rank = candidate.rank;
    if (!walk_.Wanted(rank.channel)) return absl::OkStatus();
    absl::StatusOr<Message> message = MessageAt(*store_.engine, json_, value_, rank.channel, rank.message);
    if (absl::IsNotFound(message.status())) return absl::OkStatus();
    if (absl::IsDataLoss(message.status())) {
      walk_.damage().insert(MessageKey(rank.channel, rank.message));
      return absl::OkStatus();
    }
    if (!message.ok()) return message.status();
    const std::optional<double> score = matcher_.Match(*message);
    if (!score) return absl::OkStatus();
    Hit hit{{*score, rank.message, rank.channel}, *std::move(message)};
    if (!candidate.estimated && *score == rank.score) {
      Take(std::move(hit));
    } else if (!after_ || after_->Before(hit.rank)) {
      // It was replaced since it was looked at, or its rank was an estimate. Its turn comes.
      worse_.insert(std::move(hit));
    }
    return absl::OkStatus();
  }

  bool IsTaken(const Rank& rank) const { return taken_.contains({rank.channel, rank.message}); }
  void Take(Hit hit) {
    if (taken_.emplace(hit.rank.channel, hit.rank.message).second) hits_.push_back(std::move(hit));
  }
  void TakeWorse() { Take(std::move(worse_.extract(worse_.begin()).value())); }

  SearchHit HitOf(Hit& hit) {
    SearchHit out;
    matcher_.CutSnippet(hit.message, out);
    out.channel = UlidText(hit.rank.channel);
    out.id = UlidText(hit.rank.message);
    out.created_ms = hit.message.created_ms;
    out.agent = std::move(hit.message.agent);
    out.role = hit.message.role;
    out.score = hit.rank.score;
    return out;
  }

  const Store::Impl& store_;
  const std::optional<Rank> after_;
  const size_t limit_;
  const bool careful_;
  SearchWalk walk_;
  Matcher matcher_;
  json::Document json_ = NewDocument();
  std::string value_;
  std::vector<Hit> hits_;
  std::multiset<Hit, BetterFirst> worse_;
  std::set<std::pair<UlidBytes, UlidBytes>> taken_;
  SearchPage page_;
};

}  // namespace

absl::StatusOr<SearchPage> Search::Find(const SearchQuery& query) const {
  const absl::StatusOr<Sought> sought = ReadSought(query.text);
  if (!sought.ok()) return sought.status();
  std::optional<UlidBytes> channel;
  if (!query.channel.empty()) {
    const absl::StatusOr<UlidBytes> id = Id("channel", query.channel);
    if (!id.ok()) return id.status();
    channel = *id;
  }
  if (query.limit == 0 || query.limit > kMostHits) {
    return absl::InvalidArgumentError(
        fmt::format("a page of {} hits: expected 1 to {}", query.limit, kMostHits));
  }
  std::optional<Rank> after;
  if (!query.after.empty()) {
    after = ReadRank(query.after);
    if (!after) {
      return absl::InvalidArgumentError(
          "where the page begins: expected what the page before gave, and this is something else");
    }
  }
  const Store::Impl& store = Inside::Of(*store_);
  Finding finding(store, *sought, channel, after, query.limit);
  absl::StatusOr<SearchPage> page = finding.Find();
  if (page.ok()) Inside::Of(*store_).unreadable += page->unreadable;
  return page;
}

}  // namespace watchbill::history
