// Whether the trail is as it was written.
#include <fmt/core.h>

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "store_impl.hpp"
#include "trail_head.hpp"
#include "watchbill/history/trail.hpp"

namespace watchbill::history {
namespace {

using Kind = TrailFault::Kind;

// Of the links that do not hold the lowest are kept, to see whether entries have changed places.
constexpr size_t kMostBroken = 16;
constexpr size_t kMostBrokenBytes = 64 << 10;

std::string Entries(uint64_t first, uint64_t last, std::string_view one, std::string_view several) {
  return first == last ? fmt::format("entry {} {}", first, one)
                       : fmt::format("entries {} to {} {}", first, last, several);
}

// From the newest entry to the oldest, in the order of the keys: a fault that is met later is of a lesser
// number, and takes the place of the one before.
class Verifying {
 public:
  Verifying(const Engine& engine, const TrailCheck& check, std::optional<TrailHead> kept)
      : engine_(engine), check_(check), kept_(kept), cursor_(engine.Scan(kTrailAnchorKey)) {}

  absl::StatusOr<TrailReport> Run() {
    begin_ = ReadMark(kTrailAnchorKey, begin_is_);
    end_ = ReadMark(kTrailHeadKey, end_is_);
    const uint64_t of = end_.number - std::min(begin_.number, end_.number);
    for (cursor_->Seek(kTrailPrefix); AtTrail(); cursor_->Next()) {
      if (check_.progress && looked_at_ % 256 == 0 && !check_.progress(looked_at_, of))
        return absl::CancelledError("stopped while the trail was verified");
      Take(NumberOfTrailKey(cursor_->key()), cursor_->value());
    }
    if (absl::Status status = cursor_->status(); !status.ok() && !absl::IsDataLoss(status)) return status;
    AtTheEnd();
    if (check_.progress && !check_.progress(looked_at_, of))
      return absl::CancelledError("stopped while the trail was verified");
    return Report();
  }

 private:
  enum class Mark : uint8_t { kAbsent, kThere, kUnreadable };

  struct Entry {
    uint64_t number = 0;
    std::optional<TrailHash> hash;  // nothing: it cannot be read
    std::string json;
  };
  // An entry that does not follow from the one before it.
  struct Broken {
    uint64_t number = 0;
    TrailHash before{}, hash{};
    std::string json;
  };

  bool AtTrail() const { return cursor_->Valid() && cursor_->key().starts_with(kTrailPrefix); }

  TrailHead ReadMark(std::string_view key, Mark& is) {
    cursor_->Seek(key);
    if (!cursor_->Valid() || cursor_->key() != key) {
      is = IsDamaged(std::string(key)) ? Mark::kUnreadable : Mark::kAbsent;
      return {};
    }
    const std::optional<TrailHead> head = ParseTrailHead(cursor_->value());
    is = head ? Mark::kThere : Mark::kUnreadable;
    return head.value_or(TrailHead());
  }

  // Whether what was not met is in a block that cannot be read.
  bool IsDamaged(const std::string& key) const {
    std::string value;
    return absl::IsDataLoss(cursor_->status()) && absl::IsDataLoss(engine_.Get(key, value));
  }

  void Fault(Kind kind, uint64_t first, uint64_t last, std::string says) {
    fault_ = TrailFault{kind, first, last, std::move(says)};
  }

  void Take(std::optional<uint64_t> number, std::string_view value) {
    ++looked_at_;
    if (!number || *number == 0) {
      // It is told where nothing else is: it hides no entry.
      foreign_ = true;
      return;
    }
    if (end_is_ == Mark::kThere && *number > end_.number) {
      if (beyond_ == 0) beyond_ = *number;
      Fault(Kind::kForeign, *number, beyond_,
            Entries(*number, beyond_, "stands", "stand") + " behind the end that was confirmed");
      return;
    }
    Gap(*number);
    Entry entry{*number, std::nullopt, {}};
    if (const std::optional<KeptEntry> kept = ParseEntry(value)) {
      entry.hash = kept->hash;
      entry.json = kept->json;
    }
    if (!above_) Newest(entry);
    if (above_ && above_->number == entry.number + 1 && entry.hash) Link(*entry.hash);
    if (!entry.hash) {
      Fault(Kind::kUnreadable, *number, *number,
            fmt::format("entry {} cannot be read: it is {}", *number,
                        OfNewerVersion(value) ? "of a newer version" : "damaged"));
    }
    if (kept_ && kept_->number == entry.number && entry.hash) KeptIs(entry.number, *entry.hash);
    above_ = std::move(entry);
  }

  // What is between the last that was met, or the end, and this one.
  void Gap(uint64_t number) {
    if (!above_ && end_is_ != Mark::kThere) return;
    const uint64_t last = above_ ? above_->number - 1 : end_.number;
    if (number >= last) return;
    if (IsDamaged(TrailKey(number + 1))) {
      Fault(Kind::kUnreadable, number + 1, last,
            Entries(number + 1, last, "cannot be read: it is damaged", "cannot be read: they are damaged"));
    } else if (above_) {
      Fault(Kind::kMissing, number + 1, last, Entries(number + 1, last, "is missing", "are missing"));
    } else {
      EndMissing(number);
    }
  }

  void EndMissing(uint64_t there) {
    Fault(Kind::kEndMissing, there + 1, end_.number,
          fmt::format("the end of the trail is missing: {} entries were confirmed, {} are there", end_.number,
                      there));
  }

  void Newest(const Entry& entry) {
    newest_ = entry.number;
    if (end_is_ == Mark::kAbsent) {
      Fault(Kind::kEnd, entry.number, entry.number,
            fmt::format("what says where the trail ends is missing, and entry {} is there", entry.number));
    } else if (end_is_ == Mark::kThere && end_.number == entry.number && entry.hash &&
               *entry.hash != end_.hash) {
      Fault(Kind::kEnd, entry.number, entry.number,
            fmt::format("entry {} is not the one that was confirmed last, or what says so was changed",
                        entry.number));
    }
  }

  // Whether the last that was met follows from the one before it, which has this hash.
  void Link(const TrailHash& before) {
    Entry& entry = *above_;
    if (!entry.hash || HashEntry(before, entry.number, entry.json) == *entry.hash) return;
    Fault(
        Kind::kChanged, entry.number, entry.number,
        entry.number == begin_.number + 1
            ? fmt::format("entry {} was changed, or what says where the trail begins", entry.number)
            : fmt::format("entry {} was changed, or entry {} with its hash", entry.number, entry.number - 1));
    broken_.push_back({entry.number, before, *entry.hash,
                       entry.json.size() <= kMostBrokenBytes ? std::move(entry.json) : std::string()});
    if (broken_.size() > kMostBroken) broken_.pop_front();
  }

  void KeptIs(uint64_t number, const TrailHash& hash) {
    kept_is_there_ = hash == kept_->hash;
    if (*kept_is_there_) return;
    Fault(Kind::kOther, number, number,
          fmt::format("entry {} is not the one whose hash was kept: the trail is another one", number));
  }

  void AtTheEnd() {
    const uint64_t lowest = above_ ? above_->number : 0;
    if (!above_) {
      NoEntries();
    } else if (begin_is_ == Mark::kUnreadable) {
      Fault(Kind::kBegin, lowest, lowest, "what says where the trail begins cannot be read");
    } else if (lowest <= begin_.number) {
      Fault(Kind::kBegin, lowest, begin_.number,
            fmt::format("the trail is said to begin behind entry {}, and entry {} is there", begin_.number,
                        lowest));
    } else if (lowest > begin_.number + 1) {
      const uint64_t first = begin_.number + 1, last = lowest - 1;
      if (IsDamaged(TrailKey(first))) {
        Fault(Kind::kUnreadable, first, last,
              Entries(first, last, "cannot be read: it is damaged", "cannot be read: they are damaged"));
      } else {
        Fault(Kind::kMissing, first, last, Entries(first, last, "is missing", "are missing"));
      }
    } else {
      Link(begin_.hash);
    }
    if (end_is_ == Mark::kUnreadable && !fault_)
      Fault(Kind::kEnd, lowest, lowest, "what says where the trail ends cannot be read");
    if (fault_ && fault_->kind == Kind::kChanged) LookForMoved();
    CheckKept();
    if (foreign_ && !fault_) {
      Fault(Kind::kForeign, 0, 0, "something stands in the trail that is no entry of it");
    }
  }

  void NoEntries() {
    if (beyond_ > 0) return;
    if (end_is_ == Mark::kAbsent && begin_is_ == Mark::kThere) {
      Fault(Kind::kEnd, begin_.number, begin_.number,
            fmt::format("what says where the trail ends is missing, and it begins behind entry {}",
                        begin_.number));
    } else if (begin_is_ == Mark::kUnreadable) {
      Fault(Kind::kBegin, end_.number, end_.number, "what says where the trail begins cannot be read");
    } else if (end_is_ == Mark::kThere && end_.number > begin_.number) {
      EndMissing(begin_.number);
    } else if (end_is_ == Mark::kThere && begin_ != end_) {
      Fault(Kind::kEnd, end_.number, end_.number,
            fmt::format("the trail is said to end with entry {} and to begin behind entry {}, and the two do "
                        "not fit",
                        end_.number, begin_.number));
    }
  }

  // Of the lowest that does not follow: whether it would in the place of another that does not.
  void LookForMoved() {
    const Broken& lowest = broken_.back();
    for (const Broken& place : broken_) {
      if (lowest.json.empty() || place.number == lowest.number) continue;
      for (const Broken& other : broken_) {
        for (const TrailHash& before : {other.before, other.hash}) {
          if (HashEntry(before, place.number, lowest.json) != lowest.hash) continue;
          Fault(Kind::kMoved, lowest.number, lowest.number,
                fmt::format("entry {} stands in the place of entry {}", place.number, lowest.number));
          return;
        }
      }
    }
  }

  void CheckKept() {
    if (!kept_ || kept_is_there_) return;
    const uint64_t number = kept_->number;
    if (number == 0) {
      kept_is_there_ = true;
    } else if (number == begin_.number && begin_is_ == Mark::kThere) {
      kept_is_there_ = begin_.hash == kept_->hash;
      if (!*kept_is_there_ && !fault_) {
        Fault(Kind::kOther, number, number,
              fmt::format("entry {}, behind which the trail begins, is not the one whose hash was kept",
                          number));
      }
    } else if (const uint64_t last = std::max(end_.number, newest_); number > last) {
      kept_is_there_ = false;
      if (!fault_) {
        Fault(Kind::kOther, last + 1, number,
              fmt::format("the trail ends with entry {}, and the end that was kept is that of entry {}: its "
                          "end was cut off, or it is another one",
                          last, number));
      }
    } else if (number > begin_.number) {
      // It is one of those that are missing or cannot be read, which was told.
      kept_is_there_ = false;
    }
  }

  TrailReport Report() {
    TrailReport report;
    report.first = begin_.number + 1;
    report.end = {end_.number, HashText(end_.hash)};
    report.entries = looked_at_;
    report.fault = std::move(fault_);
    report.kept_is_there = kept_is_there_;
    return report;
  }

  const Engine& engine_;
  const TrailCheck& check_;
  const std::optional<TrailHead> kept_;
  const std::unique_ptr<Cursor> cursor_;
  TrailHead begin_, end_;
  Mark begin_is_ = Mark::kAbsent, end_is_ = Mark::kAbsent;
  uint64_t looked_at_ = 0, newest_ = 0;
  uint64_t beyond_ = 0;  // the newest behind the end
  bool foreign_ = false;
  std::optional<Entry> above_;  // the last that was met
  std::deque<Broken> broken_;
  std::optional<TrailFault> fault_;
  std::optional<bool> kept_is_there_;
};

}  // namespace

absl::StatusOr<TrailReport> Trail::Verify(const TrailCheck& check) const {
  std::optional<TrailHead> kept;
  if (check.kept) {
    const std::optional<TrailHash> hash = ParseHash(check.kept->hash);
    if (!hash) {
      return absl::InvalidArgumentError(
          "the end of the trail that was kept: expected a hash of 64 hexadecimal digits");
    }
    kept = TrailHead{check.kept->number, *hash};
  }
  return Verifying(*Inside::Of(*store_).engine, check, kept).Run();
}

}  // namespace watchbill::history
