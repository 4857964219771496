#include "search_terms.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "index_codec.hpp"
#include "keys.hpp"

namespace watchbill::history {
namespace {

// A key is nearer by so many steps than by looking for it.
constexpr size_t kSteps = 8;
// What looking for one costs, in steps.
constexpr size_t kSeek = 16;

// A word as it is: its keys stand together, newest segment first.
class WordWalk final : public TermWalk {
 public:
  WordWalk(const Engine& engine, std::string_view word)
      : word_(word), prefix_(WordPrefix(word)), cursor_(engine.Scan(prefix_)) {}

  bool SkipTo(uint64_t segment) override {
    for (size_t steps = 0; cursor_->Valid() && cursor_->key().starts_with(prefix_); ++steps) {
      const std::optional<WordAndSegment> at = WordOfKey(cursor_->key());
      if (at && at->segment <= segment) {
        segment_ = at->segment;
        return true;
      }
      if (steps == kSteps) {
        cursor_->Seek(WordKey(word_, segment));
      } else {
        cursor_->Next();
      }
    }
    return false;
  }
  void Restart() override { cursor_->Seek(prefix_); }
  uint64_t segment() const override { return segment_; }
  bool Read(std::vector<Posting>& postings, Damage& damage) override {
    postings.clear();
    const bool whole = EachPosting(cursor_->value(), [&](uint32_t document, uint32_t occurrences) {
      postings.push_back({document, {occurrences, 0}});
    });
    if (!whole) {
      postings.clear();
      damage.emplace(cursor_->key());
    }
    return true;
  }
  absl::Status status() const override { return cursor_->status(); }

 private:
  const std::string word_, prefix_;
  const std::unique_ptr<Cursor> cursor_;
  uint64_t segment_ = 0;
};

// All words with a beginning. Their keys stand word by word, so segments are taken by groups: within a group
// each word is looked for once, and what it has there is kept.
class BeginningWalk final : public TermWalk {
 public:
  BeginningWalk(const Engine& engine, std::string_view beginning, Effort& effort, bool may_be_anywhere)
      : prefix_(std::string(kWordsPrefix).append(beginning)),
        cursor_(engine.Scan(prefix_)),
        effort_(effort),
        may_be_anywhere_(may_be_anywhere) {}

  bool SkipTo(uint64_t segment) override {
    for (;;) {
      const Group* const group = GroupOf(segment);
      anywhere_ = may_be_anywhere_ && (group == nullptr || !group->whole);
      if (anywhere_) {
        segment_ = segment;
        return true;
      }
      if (group == nullptr) return false;
      at_ = std::lower_bound(group->keys.begin(), group->keys.end(), segment,
                             [](const Key& key, uint64_t wanted) { return key.segment > wanted; });
      end_ = group->keys.end();
      if (at_ != end_) {
        segment_ = at_->segment;
        return true;
      }
      if (!group->older) return false;
      segment = *group->older;
    }
  }
  void Restart() override {}
  uint64_t segment() const override { return segment_; }

  bool Read(std::vector<Posting>& postings, Damage& damage) override {
    postings.clear();
    if (anywhere_) return false;
    for (auto at = at_; at != end_ && at->segment == segment_; ++at) {
      const bool whole = at->word.size() + 1 == prefix_.size();
      const size_t before = postings.size();
      const bool read = EachPosting(at->value, [&](uint32_t document, uint32_t occurrences) {
        postings.push_back({document, whole ? Occurrences{occurrences, 0} : Occurrences{0, occurrences}});
      });
      if (read) continue;
      postings.resize(before);
      damage.insert(WordKey(at->word, segment_));
    }
    // The same document once, whichever words it has.
    std::stable_sort(postings.begin(), postings.end(),
                     [](const Posting& a, const Posting& b) { return a.document < b.document; });
    size_t kept = 0;
    for (const Posting& one : postings) {
      if (kept > 0 && postings[kept - 1].document == one.document) {
        postings[kept - 1].occurrences.whole += one.occurrences.whole;
        postings[kept - 1].occurrences.longer += one.occurrences.longer;
      } else {
        postings[kept++] = one;
      }
    }
    postings.resize(kept);
    return true;
  }
  absl::Status status() const override { return cursor_->status(); }

 private:
  static constexpr uint64_t kGroup = 64;

  struct Key {
    uint64_t segment;
    std::string word, value;
  };
  struct Group {
    std::vector<Key> keys;          // newest segment first
    std::optional<uint64_t> older;  // the newest segment behind the group, with any of the words
    bool whole = false;
  };

  // The group of the segment. Nothing: no more effort is to be made.
  const Group* GroupOf(uint64_t segment) {
    const uint64_t number = segment / kGroup;
    if (const auto it = groups_.find(number); it != groups_.end()) return &it->second;
    if (effort_.spent) return nullptr;
    Group& group = groups_[number];
    const uint64_t oldest = number * kGroup;
    const uint64_t newest = oldest + (kGroup - 1);
    cursor_->Seek(prefix_);
    while (effort_.Take(1) && cursor_->Valid() && cursor_->key().starts_with(prefix_)) {
      const std::optional<WordAndSegment> at = WordOfKey(cursor_->key());
      if (!at) {
        cursor_->Next();
      } else if (at->segment > newest) {
        Reach(WordKey(at->word, newest));
      } else if (at->segment >= oldest) {
        // Long ones take their time.
        if (!effort_.Take(cursor_->value().size() / 64)) break;
        group.keys.push_back({at->segment, std::string(at->word), std::string(cursor_->value())});
        cursor_->Next();
      } else {
        group.older = std::max(group.older.value_or(0), at->segment);
        Reach(AfterPrefix(WordPrefix(at->word)));
      }
    }
    group.whole = !effort_.spent;
    std::stable_sort(group.keys.begin(), group.keys.end(),
                     [](const Key& a, const Key& b) { return a.segment > b.segment; });
    return &group;
  }

  void Reach(const std::string& key) {
    for (size_t steps = 0; steps < kSteps; ++steps) {
      cursor_->Next();
      if (!cursor_->Valid() || cursor_->key() >= key) return;
      if (!effort_.Take(1)) return;
    }
    if (effort_.Take(kSeek)) cursor_->Seek(key);
  }

  const std::string prefix_;
  const std::unique_ptr<Cursor> cursor_;
  Effort& effort_;
  const bool may_be_anywhere_;
  bool anywhere_ = false;
  std::map<uint64_t, Group> groups_;
  std::vector<Key>::const_iterator at_, end_;
  uint64_t segment_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<TermWalk>> WalksOf(const Engine& engine, const std::vector<Term>& terms,
                                               Effort& effort) {
  const bool has_word =
      std::any_of(terms.begin(), terms.end(), [](const Term& term) { return !term.beginning; });
  std::vector<std::unique_ptr<TermWalk>> walks;
  for (const Term& term : terms) {
    if (term.beginning) {
      walks.push_back(std::make_unique<BeginningWalk>(engine, term.word, effort, has_word));
    } else {
      walks.push_back(std::make_unique<WordWalk>(engine, term.word));
    }
  }
  return walks;
}

}  // namespace watchbill::history
