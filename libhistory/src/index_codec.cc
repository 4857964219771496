#include "index_codec.hpp"

#include <algorithm>
#include <utility>

#include "store_impl.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kIdBytes = 16;
constexpr size_t kStateBytes = 1 + 1 + 1 + 8 + 8;
constexpr size_t kCheckBytes = 8;
constexpr size_t kHeadBytes = 1 + 1 + 1 + 4 + 4 + 8;

// FNV-1a. The engine's own checksums are over blocks: this is for what was written wrong.
uint64_t Check(std::string_view bytes) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001B3;
  return hash;
}

// How many bytes hold a number up to this one.
size_t BytesFor(uint64_t greatest) {
  size_t bytes = 0;
  for (; greatest > 0; greatest >>= 8) ++bytes;
  return bytes;
}

void AppendField(std::string& value, uint64_t number, size_t bytes) {
  for (size_t i = bytes; i > 0; --i) value.push_back(static_cast<char>(number >> (8 * (i - 1))));
}

void AppendId(std::string& value, const UlidBytes& id) { value.append(id.begin(), id.end()); }

UlidBytes IdAt(std::string_view value, size_t at) {
  UlidBytes id{};
  for (size_t i = 0; i < kIdBytes; ++i) id[i] = static_cast<uint8_t>(value[at + i]);
  return id;
}

bool IsOurs(std::string_view value, size_t least) {
  return value.size() >= least && value[0] == kValueVersion;
}

// Those of the documents, each once, in the order of their first ones.
std::vector<UlidBytes> ChannelsOf(const std::vector<Document>& documents) {
  std::vector<UlidBytes> channels;
  for (const Document& document : documents) {
    if (std::find(channels.rbegin(), channels.rend(), document.channel) == channels.rend())
      channels.push_back(document.channel);
  }
  return channels;
}

}  // namespace

std::optional<IndexState> ReadIndexState(std::string_view value) {
  if (!IsOurs(value, kStateBytes + kCheckBytes) || static_cast<uint8_t>(value[1]) != kIndexVersion)
    return std::nullopt;
  const std::string_view body = value.substr(0, value.size() - kCheckBytes);
  if (NumberAt(value, body.size()) != Check(body)) return std::nullopt;
  IndexState state;
  if (static_cast<uint8_t>(value[2]) > static_cast<uint8_t>(IndexState::Phase::kFollowing))
    return std::nullopt;
  state.phase = static_cast<IndexState::Phase>(value[2]);
  state.next_segment = NumberAt(value, 3);
  state.watermark = NumberAt(value, 11);
  if (state.watermark >= kMostArrivals) return std::nullopt;
  state.position = body.substr(kStateBytes);
  return state;
}

std::string WriteIndexState(const IndexState& state) {
  std::string value{kValueVersion, static_cast<char>(kIndexVersion), static_cast<char>(state.phase)};
  AppendNumber(value, state.next_segment);
  AppendNumber(value, state.watermark);
  value.append(state.position);
  AppendNumber(value, Check(value));
  return value;
}

uint64_t ChannelBit(const UlidBytes& channel) { return uint64_t{1} << (channel.back() & 63); }

std::optional<SegmentSummary> ReadSegmentSummary(std::string_view value) {
  if (!IsOurs(value, 17) || value.size() != 17) return std::nullopt;
  return SegmentSummary{static_cast<int64_t>(NumberAt(value, 1)), NumberAt(value, 9)};
}

std::string WriteSegmentSummary(const SegmentSummary& summary) {
  std::string value(1, kValueVersion);
  AppendNumber(value, static_cast<uint64_t>(summary.newest_ms));
  AppendNumber(value, summary.channels);
  return value;
}

std::optional<Document> ReadArrival(std::string_view value) {
  if (!IsOurs(value, 1 + 2 * kIdBytes) || value.size() != 1 + 2 * kIdBytes) return std::nullopt;
  return Document{IdAt(value, 1), IdAt(value, 1 + kIdBytes), 0};
}

SegmentSummary Summarize(const std::vector<Document>& documents) {
  SegmentSummary summary{documents.back().created_ms, 0};
  for (const Document& document : documents) summary.channels |= ChannelBit(document.channel);
  return summary;
}

// Version, bytes of a channel's place, bytes of a time, documents, channels, the newest time; the channels;
// for each document its channel's place and how much older it is than the newest.
std::string WriteSegmentHead(const std::vector<Document>& documents) {
  const std::vector<UlidBytes> channels = ChannelsOf(documents);
  const int64_t newest = documents.back().created_ms;
  const auto older = [&](const Document& document) {
    return static_cast<uint64_t>(newest) - static_cast<uint64_t>(document.created_ms);
  };
  const size_t channel_bytes = BytesFor(channels.size() - 1), time_bytes = BytesFor(older(documents.front()));
  std::string value{kValueVersion, static_cast<char>(channel_bytes), static_cast<char>(time_bytes)};
  AppendField(value, documents.size(), 4);
  AppendField(value, channels.size(), 4);
  AppendNumber(value, static_cast<uint64_t>(newest));
  for (const UlidBytes& channel : channels) AppendId(value, channel);
  for (const Document& document : documents) {
    const auto place = std::find(channels.begin(), channels.end(), document.channel) - channels.begin();
    AppendField(value, static_cast<uint64_t>(place), channel_bytes);
    AppendField(value, older(document), time_bytes);
  }
  return value;
}

std::string WriteSegmentIds(const std::vector<Document>& documents) {
  std::string value(1, kValueVersion);
  for (const Document& document : documents) AppendId(value, document.message);
  return value;
}

std::optional<SegmentHead> SegmentHead::Read(std::string value) {
  if (!IsOurs(value, kHeadBytes)) return std::nullopt;
  SegmentHead head;
  head.value_ = std::move(value);
  head.channel_bytes_ = head.Field(1, 1);
  head.time_bytes_ = head.Field(2, 1);
  head.size_ = head.Field(3, 4);
  const size_t channels = head.Field(7, 4);
  head.newest_ms_ = static_cast<int64_t>(NumberAt(head.value_, 11));
  if (head.channel_bytes_ > 4 || head.time_bytes_ > 8) return std::nullopt;
  if (head.size_ == 0 || head.size_ > kMostDocuments || channels == 0 || channels > head.size_)
    return std::nullopt;
  head.documents_at_ = kHeadBytes + kIdBytes * channels;
  if (head.value_.size() != head.documents_at_ + head.size_ * (head.channel_bytes_ + head.time_bytes_))
    return std::nullopt;
  for (size_t i = 0; i < channels; ++i)
    head.channels_.push_back(IdAt(head.value_, kHeadBytes + kIdBytes * i));
  for (size_t i = 0; i < head.size_; ++i) {
    if (head.channel(i) >= channels) return std::nullopt;
  }
  return head;
}

uint64_t SegmentHead::Field(size_t at, size_t bytes) const {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes; ++i) number = number << 8 | static_cast<uint8_t>(value_[at + i]);
  return number;
}

size_t SegmentHead::channel(size_t document) const {
  return Field(documents_at_ + document * (channel_bytes_ + time_bytes_), channel_bytes_);
}

int64_t SegmentHead::created_ms(size_t document) const {
  const uint64_t older =
      Field(documents_at_ + document * (channel_bytes_ + time_bytes_) + channel_bytes_, time_bytes_);
  return static_cast<int64_t>(static_cast<uint64_t>(newest_ms_) - older);
}

std::optional<SegmentIds> SegmentIds::Read(std::string value, size_t size) {
  if (!IsOurs(value, 1) || value.size() != 1 + kIdBytes * size) return std::nullopt;
  SegmentIds ids;
  ids.value_ = std::move(value);
  return ids;
}

UlidBytes SegmentIds::operator[](size_t document) const { return IdAt(value_, 1 + kIdBytes * document); }

void AppendVarint(std::string& bytes, uint32_t number) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

PostingsWriter::PostingsWriter() : value_(1, kPostingsVersion) {}

void PostingsWriter::Add(uint32_t document, uint32_t occurrences) {
  const bool several = occurrences > 1;
  AppendVarint(value_, (document - next_) << 1 | (several ? 1 : 0));
  if (several) AppendVarint(value_, occurrences - 2);
  next_ = document + 1;
}

}  // namespace watchbill::history
