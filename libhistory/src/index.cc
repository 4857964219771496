// How the index follows what is kept.
#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "index_reading.hpp"
#include "store_impl.hpp"
#include "watchbill/history/search.hpp"
#include "words.hpp"

namespace watchbill::history {
namespace {

// Messages of one segment: beyond this of JSON, or of text that is searched, it is full.
constexpr size_t kMostJson = 16 << 20;
constexpr size_t kMostText = 2 << 20;
// For each message that a step may take, this many keys may be dropped, or passed over.
constexpr size_t kKeysPerMessage = 16;

// The messages of a segment, and the words that stand in them.
class Segment {
 public:
  void Add(Document document, Message message, size_t json_bytes) {
    json_bytes_ += json_bytes;
    for (const std::string_view text : SearchedTexts(message)) text_bytes_ += text.size();
    messages_.push_back({document, std::move(message)});
  }
  bool full() const { return json_bytes_ >= kMostJson || text_bytes_ >= kMostText; }
  size_t size() const { return messages_.size(); }

  void Write(uint64_t number, Writes& writes) {
    words_.reserve(16 * messages_.size());
    std::sort(messages_.begin(), messages_.end(), [](const Read& a, const Read& b) {
      return std::tie(a.document.created_ms, a.document.message, a.document.channel) <
             std::tie(b.document.created_ms, b.document.message, b.document.channel);
    });
    std::vector<Document> documents;
    for (const Read& read : messages_) {
      TakeWords(read.message, static_cast<uint32_t>(documents.size()));
      documents.push_back(read.document);
    }
    writes.Put(SummaryKey(number), WriteSegmentSummary(Summarize(documents)));
    writes.Put(SegmentKey(number, kHeadPart), WriteSegmentHead(documents));
    writes.Put(SegmentKey(number, kIdsPart), WriteSegmentIds(documents));
    // In their order, which the engine takes faster.
    std::vector<std::pair<std::string_view, Standing*>> all;
    all.reserve(words_.size());
    for (auto& [word, standing] : words_) all.emplace_back(word, &standing);
    std::sort(all.begin(), all.end());
    for (const auto& [word, standing] : all) {
      standing->Close();
      writes.Put(WordKey(word, number), standing->postings.value());
    }
  }

 private:
  struct Read {
    Document document;
    Message message;
  };
  // Where a word stands; the last document is still being counted.
  struct Standing {
    PostingsWriter postings;
    uint32_t document = 0, occurrences = 0;
    void Close() { postings.Add(document, occurrences); }
  };
  struct HashOfView {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
  };

  void TakeWords(const Message& message, uint32_t document) {
    const std::vector<std::string_view> texts = SearchedTexts(message);
    WordLimit limit(texts);
    for (const std::string_view text : texts) {
      for (const Word& word : splitter_.Split(text)) {
        if (!limit.Passes(word.folded)) continue;
        auto it = words_.find(word.folded);
        if (it == words_.end()) it = words_.emplace(word.folded, Standing{{}, document, 0}).first;
        Standing& standing = it->second;
        if (standing.document != document) {
          standing.Close();
          standing.document = document;
          standing.occurrences = 0;
        }
        ++standing.occurrences;
      }
    }
  }

  std::vector<Read> messages_;
  size_t json_bytes_ = 0, text_bytes_ = 0;
  Words splitter_;
  std::unordered_map<std::string, Standing, HashOfView, std::equal_to<>> words_;
};

// What one step takes. It looks at all as it was at one moment: whether a message was walked over already, or
// is still to be, can be told from its key alone.
class Piece {
 public:
  Piece(const Store::Impl& store, IndexState state, size_t most)
      : store_(store),
        state_(std::move(state)),
        most_(most),
        cursor_(store.engine->Scan(ArrivalKey(state_.watermark + 1))) {}

  absl::Status Take(bool force) {
    if (state_.phase == IndexState::Phase::kDropping) Drop();
    if (state_.phase == IndexState::Phase::kWalking && changes_.empty()) {
      // One that arrived, and was not seen yet, would be taken a second time once the walk is past it.
      if (Follow()) Walk();
    } else if (state_.phase == IndexState::Phase::kFollowing) {
      report_.done = Arrived() < most_;
      if (!report_.done || force) report_.done = Follow() && report_.done;
    }
    const absl::Status disk = cursor_->status();
    if (absl::IsDataLoss(disk)) ++report_.unreadable;
    if (status_.ok() && !disk.ok() && !absl::IsDataLoss(disk)) status_ = disk;
    return status_;
  }

  // What the step comes to.
  void Write(const std::optional<IndexState>& before, Writes& writes) {
    writes.Append(changes_);
    report_.messages = segment_.size();
    if (segment_.size() > 0) segment_.Write(state_.next_segment++, writes);
    if (!writes.empty() || before != state_) writes.Put(kIndexKey, WriteIndexState(state_));
  }
  IndexStep report() const { return report_; }

 private:
  bool At(std::string_view prefix) const { return cursor_->Valid() && cursor_->key().starts_with(prefix); }
  bool HasRoom() const { return segment_.size() < most_ && !segment_.full(); }

  void Drop() {
    size_t left = most_ * kKeysPerMessage;
    for (const std::string_view prefix : {kSegmentsPrefix, kIndexKey, kWordsPrefix}) {
      if (state_.position >= AfterPrefix(std::string(prefix))) continue;
      for (cursor_->Seek(std::max<std::string_view>(prefix, state_.position)); At(prefix); cursor_->Next()) {
        if (cursor_->key() == kIndexKey) continue;
        if (left-- == 0) return;
        changes_.Delete(cursor_->key());
        state_.position = cursor_->key();
      }
    }
    state_ = {.phase = IndexState::Phase::kWalking,
              .next_segment = 1,
              .watermark = state_.watermark,
              .position = {}};
  }

  // How many wait, up to what a step takes.
  size_t Arrived() {
    size_t count = 0;
    for (cursor_->Seek(ArrivalKey(state_.watermark + 1)); count < most_ && At(kArrivalsPrefix);
         cursor_->Next())
      count += NumberOfArrivalKey(cursor_->key()) ? 1 : 0;
    return count;
  }

  // Takes what arrived. While the walk goes on, messages behind it alone: the others it will come to. True:
  // nothing is left.
  bool Follow() {
    size_t left = most_ * kKeysPerMessage;
    for (cursor_->Seek(ArrivalKey(state_.watermark + 1)); At(kArrivalsPrefix); cursor_->Next()) {
      const std::optional<uint64_t> number = NumberOfArrivalKey(cursor_->key());
      if (!number) {
        // No watermark goes by it, so that nothing may wait for it either.
        ++report_.unreadable;
        continue;
      }
      if (!HasRoom() || left-- == 0) return false;
      const std::optional<Document> arrival = ReadArrival(cursor_->value());
      state_.watermark = *number;
      if (!arrival) {
        ++report_.unreadable;
        continue;
      }
      changes_.Delete(cursor_->key());
      const bool walked = state_.phase == IndexState::Phase::kFollowing ||
                          MessageKey(arrival->channel, arrival->message) <= state_.position;
      if (!walked || !taken_.emplace(arrival->channel, arrival->message).second) continue;
      absl::StatusOr<Message> message =
          MessageAt(*store_.engine, json_, value_, arrival->channel, arrival->message);
      if (!Add(*arrival, std::move(message))) return false;
    }
    return true;
  }

  void Walk() {
    size_t left = most_ * kKeysPerMessage;
    cursor_->Seek(state_.position.empty() ? std::string(kMessagesLetter) : state_.position + '\0');
    for (; At(kMessagesLetter); cursor_->Next()) {
      if (!HasRoom() || left-- == 0) return;
      state_.position = cursor_->key();
      const std::optional<UlidBytes> id = MessageOfKey(cursor_->key());
      if (!id) {
        ++report_.unreadable;
        continue;
      }
      const UlidBytes channel = *ChannelOfKey(cursor_->key().substr(0, 17));
      value_ = cursor_->value();
      if (!Add({channel, *id, 0}, MessageIn(json_, value_, channel, *id))) return;
    }
    state_.phase = IndexState::Phase::kFollowing;
    state_.position.clear();
  }

  // False: the disk failed.
  bool Add(Document document, absl::StatusOr<Message> message) {
    if (message.ok()) {
      if (store_.IsDeleted(document.channel)) return true;
      document.created_ms = message->created_ms;
      segment_.Add(document, *std::move(message), value_.size());
    } else if (absl::IsDataLoss(message.status())) {
      ++report_.unreadable;
    } else if (!absl::IsNotFound(message.status())) {
      status_ = message.status();
      return false;
    }
    return true;
  }

  const Store::Impl& store_;
  IndexState state_;
  const size_t most_;
  const std::unique_ptr<Cursor> cursor_;
  json::Document json_ = NewDocument();
  std::string value_;
  Writes changes_;
  Segment segment_;
  std::set<std::pair<UlidBytes, UlidBytes>> taken_;
  IndexStep report_;
  absl::Status status_;
};

// Under the mutex of the index.
absl::Status CommitIndex(Store& store, Batch& batch) {
  Inside::Of(batch).bytes = Inside::Of(batch).writes.bytes();
  absl::Status status = store.Commit(batch);
  Inside::Of(store).index_unsure = !status.ok();
  return status;
}

// Behind a commit that failed the engine still answers as if nothing of it were there, and the next commit
// may bring it back. So one is made that changes nothing.
absl::Status MakeSure(Store& store) {
  if (!Inside::Of(store).index_unsure) return absl::OkStatus();
  Batch batch;
  Inside::Of(batch).writes.Delete(std::string(kIndexKey) + '\0');
  return CommitIndex(store, batch);
}

}  // namespace

absl::StatusOr<IndexStep> Index::Step(size_t most, bool force) {
  Store::Impl& store = Inside::Of(*store_);
  const std::lock_guard guard(store.index_mutex);
  if (absl::Status status = MakeSure(*store_); !status.ok()) return status;
  const absl::StatusOr<std::optional<IndexState>> state = IndexStateIn(*store.engine);
  if (!state.ok()) return state.status();

  IndexStep report;
  Batch batch;
  {
    // Its cursor is gone before anything is committed: the engine cannot be opened again under one.
    Piece piece(store, state->value_or(IndexState()), std::clamp<size_t>(most, 1, kMostDocuments));
    const absl::Status status = piece.Take(force);
    store.unreadable += piece.report().unreadable;
    if (!status.ok()) return status;
    piece.Write(*state, Inside::Of(batch).writes);
    report = piece.report();
  }
  if (batch.empty()) return report;
  if (absl::Status status = CommitIndex(*store_, batch); !status.ok()) return status;
  return report;
}

absl::Status Index::Rebuild() {
  Store::Impl& store = Inside::Of(*store_);
  const std::lock_guard guard(store.index_mutex);
  if (absl::Status status = MakeSure(*store_); !status.ok()) return status;
  const absl::StatusOr<std::optional<IndexState>> state = IndexStateIn(*store.engine);
  if (!state.ok()) return state.status();
  Batch batch;
  IndexState anew;
  anew.watermark = state->value_or(anew).watermark;
  Inside::Of(batch).writes.Put(kIndexKey, WriteIndexState(anew));
  return CommitIndex(*store_, batch);
}

}  // namespace watchbill::history
