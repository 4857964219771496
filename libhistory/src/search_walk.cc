#include "search_walk.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "index_reading.hpp"
#include "search_tail.hpp"
#include "words.hpp"

namespace watchbill::history {
namespace {

// Messages that are not in the index: of more than these the newest are read.
constexpr uint64_t kMostTail = 2000;
// More than what rounding can make of a score.
constexpr double kRounding = 1e-6;

bool WorseInFront(const Candidate& a, const Candidate& b) { return a.rank.Before(b.rank); }

}  // namespace

SearchWalk::SearchWalk(const Store::Impl& store, const Sought& sought,
                       const std::optional<UlidBytes>& channel, const std::optional<Rank>& after)
    : store_(store), sought_(sought), channel_(channel), after_(after) {
  for (const bool beginning : {false, true}) {
    for (size_t i = 0; i < sought.terms.size(); ++i) {
      if (sought.terms[i].beginning == beginning) order_.push_back(i);
    }
  }
}

absl::Status SearchWalk::Begin() {
  {
    // All in one look: what is in none of its segments is among its arrivals, or came later.
    const std::unique_ptr<Cursor> cursor = store_.engine->Scan(kIndexKey);
    std::optional<IndexState> state;
    if (cursor->Valid() && cursor->key() == kIndexKey) state = ReadIndexState(cursor->value());
    partial = !state || state->phase != IndexState::Phase::kFollowing;
    if (state) newest_segment_ = state->next_segment;
    if (absl::Status status = ReadSummaries(*cursor, partial ? 0 : state->next_segment); !status.ok())
      return status;
    if (absl::Status status = ReadTail(*cursor, state ? state->watermark : 0); !status.ok()) return status;
    const absl::Status status = cursor->status();
    if (absl::IsDataLoss(status)) {
      ++unreadable_;
    } else if (!status.ok()) {
      return status;
    }
  }
  walks_ = WalksOf(*store_.engine, sought_.terms, effort_);
  return absl::OkStatus();
}

absl::Status SearchWalk::ReadSummaries(Cursor& cursor, uint64_t next_segment) {
  size_t damaged = 0;
  for (; cursor.Valid() && cursor.key().starts_with(kIndexKey); cursor.Next()) {
    if (cursor.key() == kIndexKey) continue;
    const std::optional<uint64_t> segment = SegmentOfSummaryKey(cursor.key());
    const std::optional<SegmentSummary> summary = ReadSegmentSummary(cursor.value());
    if (segment && summary) {
      summaries_.push_back({*segment, *summary, summary->newest_ms});
    } else {
      ++damaged;
    }
  }
  for (size_t i = summaries_.size(); i > 1; --i)
    summaries_[i - 2].older_ms = std::max(summaries_[i - 2].older_ms, summaries_[i - 1].older_ms);
  has_all_summaries_ = cursor.status().ok() && damaged == 0 && summaries_.size() + 1 == next_segment &&
                       (summaries_.empty() || summaries_.back().segment == 1);
  unreadable_ += damaged;
  return absl::OkStatus();
}

absl::Status SearchWalk::ReadTail(Cursor& cursor, uint64_t watermark) {
  // The last arrival of each: there may be others of the same message, from before it was replaced.
  std::map<std::pair<UlidBytes, UlidBytes>, uint64_t> arrived;
  const auto read = [&](uint64_t from) {
    uint64_t count = 0;
    for (cursor.Seek(ArrivalKey(from)); cursor.Valid() && cursor.key().starts_with(kArrivalsPrefix);
         cursor.Next()) {
      if (++count > kMostTail) return false;
      const std::optional<uint64_t> number = NumberOfArrivalKey(cursor.key());
      const std::optional<Document> arrival = ReadArrival(cursor.value());
      if (number && arrival) {
        arrived[{arrival->channel, arrival->message}] = *number;
      } else {
        ++unreadable_;
      }
    }
    return true;
  };
  cursor.Seek(ArrivalKey(watermark + 1));
  const std::optional<uint64_t> first =
      cursor.Valid() ? NumberOfArrivalKey(cursor.key()) : std::optional<uint64_t>();
  if (!read(watermark + 1)) {
    arrived.clear();
    const uint64_t last = GreatestArrival(cursor, watermark);
    tail_left_out = last - kMostTail - first.value_or(watermark) + 1;
    read(last - kMostTail + 1);
  }

  store_.tail.ForgetUpTo(watermark);
  Matcher matcher(sought_);
  Words words;
  json::Document json = NewDocument();
  std::string value;
  for (const auto& [which, number] : arrived) {
    const auto& [channel, id] = which;
    if (!Wanted(channel)) continue;
    std::shared_ptr<const TailWords> known = store_.tail.Find(number);
    if (known == nullptr) {
      const absl::StatusOr<Message> message = MessageAt(*store_.engine, json, value, channel, id);
      if (absl::IsNotFound(message.status())) continue;
      if (absl::IsDataLoss(message.status())) {
        damage_.insert(MessageKey(channel, id));
        continue;
      }
      if (!message.ok()) return message.status();
      known = std::make_shared<TailWords>(TailWords{message->created_ms, PackedWords(*message, words)});
      store_.tail.Keep(number, known);
    }
    ++tail;
    if (const std::optional<double> score = matcher.MatchWords(known->words, known->created_ms))
      tail_.push_back({{*score, id, channel}, false});
  }
  return absl::OkStatus();
}

const SearchWalk::Summary* SearchWalk::SummaryOf(uint64_t segment, size_t& at) const {
  while (at < summaries_.size() && summaries_[at].segment > segment) ++at;
  return at < summaries_.size() ? &summaries_[at] : nullptr;
}

absl::StatusOr<std::vector<Candidate>> SearchWalk::Best(size_t count, const std::optional<Rank>& from) {
  from_ = from;
  count_ = count;
  best_.clear();
  for (const Candidate& candidate : tail_) Offer(candidate);
  for (const auto& walk : walks_) walk->Restart();
  uint64_t segment = newest_segment_;
  for (size_t at_summary = 0; status_.ok();) {
    if (has_all_summaries_) {
      const Summary* const rest = SummaryOf(segment, at_summary);
      if (rest == nullptr || ScoreOfTime(rest->older_ms) < Threshold()) break;
    }
    const auto skip = [&](size_t term) {
      if (!walks_[term]->SkipTo(segment)) return false;
      segment = walks_[term]->segment();
      return true;
    };
    if (!std::all_of(order_.begin(), order_.end(), skip)) break;
    // Each went down from where the one before was: all are where the last is if the first is.
    if (walks_[order_.front()]->segment() != segment) continue;
    const Summary* summary = SummaryOf(segment, at_summary);
    if (summary != nullptr && summary->segment != segment) summary = nullptr;
    const bool out =
        summary != nullptr && (ScoreOfTime(summary->what.newest_ms) < Threshold() ||
                               (channel_ && (summary->what.channels & ChannelBit(*channel_)) == 0));
    if (!out) LookInto(segment, summary);
    if (segment-- == 0) break;
  }
  if (absl::Status status = Finish(); !status.ok()) return status;
  std::sort_heap(best_.begin(), best_.end(), WorseInFront);
  return best_;
}

absl::Status SearchWalk::Finish() {
  if (!status_.ok()) return status_;
  for (const auto& walk : walks_) {
    if (absl::Status status = walk->status(); !status.ok() && !absl::IsDataLoss(status)) return status;
  }
  return absl::OkStatus();
}

void SearchWalk::LookInto(uint64_t segment, const Summary* summary) {
  matches_.clear();
  double most = 0;
  bool estimated = false, first = true;
  for (const auto& walk : walks_) {
    if (!walk->Read(postings_, damage_)) {
      estimated = true;
      most += kMostStrength;
      if (first) continue;  // there is a word that says which
      for (Match& match : matches_) match.strengths += kMostStrength;
      continue;
    }
    double strongest = 0;
    const auto strength = [&](const Posting& postings) {
      const double one = StrengthOf(postings.occurrences);
      strongest = std::max(strongest, one);
      return one;
    };
    if (first) {
      // What the ones before it may add stands in `most`.
      for (const Posting& postings : postings_)
        matches_.push_back({postings.document, most + strength(postings)});
      first = false;
    } else {
      size_t kept = 0;
      auto at = postings_.begin();
      for (const Match& match : matches_) {
        while (at != postings_.end() && at->document < match.document) ++at;
        if (at == postings_.end()) break;
        if (at->document == match.document)
          matches_[kept++] = {match.document, match.strengths + strength(*at)};
      }
      matches_.resize(kept);
    }
    most += strongest;
    if (matches_.empty()) return;
  }
  // What any of them can reach at some time.
  const double reach = ScoreOf(most, sought_.terms.size(), 0) + kRounding;
  if (summary != nullptr && reach + ScoreOfTime(summary->what.newest_ms) < Threshold()) return;

  const auto get = [&](char part, std::string& value) {
    const absl::Status got = store_.engine->Get(SegmentKey(segment, part), value);
    if (!got.ok() && !absl::IsNotFound(got) && !absl::IsDataLoss(got)) status_ = got;
    return got.ok();
  };
  const auto damaged = [&](char part) {
    if (status_.ok()) damage_.insert(SegmentKey(segment, part));
  };
  std::string value;
  std::optional<SegmentHead> head;
  if (get(kHeadPart, value)) head = SegmentHead::Read(std::move(value));
  if (!head) return damaged(kHeadPart);
  std::vector<bool> wanted;
  for (const UlidBytes& channel : head->channels()) wanted.push_back(Wanted(channel));

  std::optional<SegmentIds> ids;
  // Newest first.
  for (auto match = matches_.rbegin(); match != matches_.rend(); ++match) {
    if (match->document >= head->size()) {
      damaged(kHeadPart);
      continue;
    }
    const int64_t created_ms = head->created_ms(match->document);
    const double threshold = Threshold();
    if (reach + ScoreOfTime(created_ms) < threshold) break;
    const size_t channel = head->channel(match->document);
    if (!wanted[channel]) continue;
    const double score = ScoreOf(match->strengths, sought_.terms.size(), created_ms);
    if (score < threshold || (from_ && score > from_->score)) continue;
    if (!estimated && after_ && score > after_->score) continue;
    if (!ids) {
      if (get(kIdsPart, value)) ids = SegmentIds::Read(std::move(value), head->size());
      if (!ids) return damaged(kIdsPart);
    }
    Offer({{score, (*ids)[match->document], head->channels()[channel]}, estimated});
  }
}

void SearchWalk::Offer(const Candidate& candidate) {
  if (from_ && !from_->Before(candidate.rank)) return;
  if (!candidate.estimated && after_ && !after_->Before(candidate.rank)) return;
  if (best_.size() == count_) {
    if (count_ == 0 || !candidate.rank.Before(best_.front().rank)) return;
    std::pop_heap(best_.begin(), best_.end(), WorseInFront);
    best_.pop_back();
  }
  best_.push_back(candidate);
  std::push_heap(best_.begin(), best_.end(), WorseInFront);
}

size_t SearchWalk::unreadable() const {
  size_t count = unreadable_ + damage_.size();
  for (const auto& walk : walks_) count += absl::IsDataLoss(walk->status()) ? 1 : 0;
  return count;
}

bool SearchWalk::bounded() const {
  return effort_.spent && std::all_of(sought_.terms.begin(), sought_.terms.end(),
                                      [](const Term& term) { return term.beginning; });
}

}  // namespace watchbill::history
