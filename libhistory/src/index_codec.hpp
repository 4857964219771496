// What the index keeps, in bytes: how far it is, and its segments. Pure. Each value begins with its version,
// and whatever cannot be read is nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keys.hpp"

namespace watchbill::history {

// Which words are in the index and what is kept of them. An index of another version is made again.
inline constexpr uint8_t kIndexVersion = 1;

// A segment has at most this many messages.
inline constexpr size_t kMostDocuments = 4096;

// The parts of a segment in its keys.
inline constexpr char kHeadPart = 0;
inline constexpr char kIdsPart = 1;

struct IndexState {
  // What there was goes first; then all messages are walked over; then arrivals are waited for.
  enum class Phase : uint8_t { kDropping = 0, kWalking = 1, kFollowing = 2 };
  Phase phase = Phase::kDropping;
  uint64_t next_segment = 1;
  // No arrival up to this number is needed any more.
  uint64_t watermark = 0;
  // The last key that was dropped or walked over. Empty: none yet.
  std::string position;
  friend bool operator==(const IndexState&, const IndexState&) = default;
};
// Nothing also for another version of the index. Whatever bytes are wrong are noticed.
std::optional<IndexState> ReadIndexState(std::string_view value);
std::string WriteIndexState(const IndexState& state);

// What can be known of a segment without reading it.
struct SegmentSummary {
  int64_t newest_ms = 0;
  // A bit for each of its channels, as ChannelBit says; several may share one.
  uint64_t channels = 0;
  friend bool operator==(const SegmentSummary&, const SegmentSummary&) = default;
};
uint64_t ChannelBit(const UlidBytes& channel);
std::optional<SegmentSummary> ReadSegmentSummary(std::string_view value);
std::string WriteSegmentSummary(const SegmentSummary& summary);

// A message of a segment; its number is where it stands there, oldest first.
struct Document {
  UlidBytes channel{}, message{};
  int64_t created_ms = 0;
};

// What the value of an arrival says, but for a time.
std::optional<Document> ReadArrival(std::string_view value);

// One document or more, in the order of their times.
SegmentSummary Summarize(const std::vector<Document>& documents);
std::string WriteSegmentHead(const std::vector<Document>& documents);
std::string WriteSegmentIds(const std::vector<Document>& documents);

// Channels and times of a segment. Takes the value of its head.
class SegmentHead {
 public:
  static std::optional<SegmentHead> Read(std::string value);

  size_t size() const { return size_; }
  const std::vector<UlidBytes>& channels() const { return channels_; }
  // The place of the document's channel among those. The document is less than size().
  size_t channel(size_t document) const;
  int64_t created_ms(size_t document) const;

 private:
  uint64_t Field(size_t at, size_t bytes) const;

  std::string value_;
  size_t size_ = 0, channel_bytes_ = 0, time_bytes_ = 0, documents_at_ = 0;
  int64_t newest_ms_ = 0;
  std::vector<UlidBytes> channels_;
};

// The ids in the value of a segment with this many documents.
class SegmentIds {
 public:
  static std::optional<SegmentIds> Read(std::string value, size_t size);
  UlidBytes operator[](size_t document) const;

 private:
  std::string value_;
};

void AppendVarint(std::string& bytes, uint32_t number);
// Moves `at` behind it. Nothing: it is cut, or more than 32 bits.
inline std::optional<uint32_t> VarintAt(std::string_view bytes, size_t& at) {
  uint32_t number = 0;
  for (int shift = 0; shift < 35 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[at++]);
    if (shift == 28 && byte > 15) return std::nullopt;
    number |= static_cast<uint32_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

inline constexpr char kPostingsVersion = 1;

// In which documents of a segment a word stands, in their order, and how often: for each the distance from
// the one before, twice, and one more where it stands there several times, whose number less two follows.
class PostingsWriter {
 public:
  PostingsWriter();
  // The document is greater than the one before, there are 1 occurrence or more.
  void Add(uint32_t document, uint32_t occurrences);
  const std::string& value() const { return value_; }

 private:
  std::string value_;
  uint32_t next_ = 0;
};

// Calls each(document, occurrences) in the order of documents. False: it cannot be read, or not to its end.
template <typename Each>
bool EachPosting(std::string_view value, const Each& each) {
  if (value.empty() || value[0] != kPostingsVersion) return false;
  uint32_t next = 0;
  for (size_t at = 1; at < value.size();) {
    const std::optional<uint32_t> step = VarintAt(value, at);
    if (!step) return false;
    const uint64_t document = uint64_t{next} + (*step >> 1);
    if (document >= kMostDocuments) return false;
    uint32_t occurrences = 1;
    if ((*step & 1) != 0) {
      const std::optional<uint32_t> more = VarintAt(value, at);
      if (!more || *more > UINT32_MAX - 2) return false;
      occurrences = *more + 2;
    }
    each(static_cast<uint32_t>(document), occurrences);
    next = static_cast<uint32_t>(document) + 1;
  }
  return true;
}

}  // namespace watchbill::history
