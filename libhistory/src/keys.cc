#include "keys.hpp"

namespace watchbill::history {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr size_t kUlidChars = 26;

void Append(std::string& key, const UlidBytes& bytes) {
  for (const uint8_t byte : bytes) key.push_back(static_cast<char>(byte));
}

std::string PrefixOf(char letter, const UlidBytes& channel) {
  std::string key(1, letter);
  Append(key, channel);
  return key;
}

UlidBytes Complement(UlidBytes bytes) {
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(~byte);
  return bytes;
}

UlidBytes BytesAt(std::string_view key, size_t at) {
  UlidBytes bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(key[at + i]);
  return bytes;
}

using UlidChars = std::array<char, kUlidChars>;

UlidChars CharsOf(const UlidBytes& bytes) {
  uint64_t high = 0, low = 0;
  for (size_t i = 0; i < 8; ++i) {
    high = high << 8 | bytes[i];
    low = low << 8 | bytes[8 + i];
  }
  // 130 bits, of which the first two are nought: 13 characters end a bit before the second half begins.
  UlidChars chars;
  for (size_t i = 0; i < 13; ++i) chars[i] = kAlphabet[high >> (61 - 5 * i) & 31];
  chars[13] = kAlphabet[(high & 1) << 4 | low >> 60];
  for (size_t i = 14; i < kUlidChars; ++i) chars[i] = kAlphabet[low >> (5 * (kUlidChars - 1 - i)) & 31];
  return chars;
}

}  // namespace

std::optional<UlidBytes> ParseUlid(std::string_view text) {
  // 26 characters hold 130 bits: the first stands for three.
  if (text.size() != kUlidChars || text[0] > '7') return std::nullopt;
  UlidBytes bytes{};
  uint32_t carry = 0;
  int bits = -2;
  size_t at = 0;
  for (const char c : text) {
    const size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    carry = (carry << 5 | static_cast<uint32_t>(digit)) & 0xFFFF;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = static_cast<uint8_t>(carry >> bits);
    }
  }
  return bytes;
}

std::string UlidText(const UlidBytes& bytes) {
  const UlidChars chars = CharsOf(bytes);
  return {chars.begin(), chars.end()};
}

bool IsUlidText(std::string_view text, const UlidBytes& bytes) {
  const UlidChars chars = CharsOf(bytes);
  return text == std::string_view(chars.data(), chars.size());
}

std::string ChannelKey(const UlidBytes& channel) { return PrefixOf('C', channel); }
std::string MessagesPrefix(const UlidBytes& channel) { return PrefixOf('M', channel); }
std::string MessageKey(const UlidBytes& channel, const UlidBytes& message) {
  std::string key = MessagesPrefix(channel);
  Append(key, Complement(message));
  return key;
}
std::string MembersPrefix(const UlidBytes& channel) { return PrefixOf('A', channel); }
std::string MemberKey(const UlidBytes& channel, std::string_view agent) {
  return MembersPrefix(channel).append(agent);
}
std::string CommandsKey(std::string_view agent) { return std::string(1, 'S').append(agent); }
std::string DeletedKey(const UlidBytes& channel) { return PrefixOf('X', channel); }

void AppendNumber(std::string& key, uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(number >> shift));
}
uint64_t NumberAt(std::string_view key, size_t at) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) number = number << 8 | static_cast<uint8_t>(key[at + i]);
  return number;
}

std::string AfterPrefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF') prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

std::string ArrivalKey(uint64_t number) {
  std::string key(kArrivalsPrefix);
  AppendNumber(key, number);
  return key;
}
std::string SummaryKey(uint64_t segment) {
  std::string key(kIndexKey);
  AppendNumber(key, ~segment);
  return key;
}
std::string SegmentKey(uint64_t segment, char part) {
  std::string key(kSegmentsPrefix);
  AppendNumber(key, ~segment);
  key.push_back(part);
  return key;
}
std::string WordPrefix(std::string_view word) {
  return std::string(kWordsPrefix).append(word).append(1, '\0');
}
std::string WordKey(std::string_view word, uint64_t segment) {
  std::string key = WordPrefix(word);
  AppendNumber(key, ~segment);
  return key;
}
std::string RecordsPrefix(uint8_t collection) {
  return std::string(1, 'R').append(1, static_cast<char>(collection));
}
std::string RecordKey(uint8_t collection, std::string_view key) {
  return RecordsPrefix(collection).append(key);
}
std::string OrderPrefix(uint8_t collection) {
  return std::string(1, 'Q').append(1, static_cast<char>(collection));
}
std::string OrderStart(uint8_t collection, std::string_view order) {
  std::string start = OrderPrefix(collection);
  for (const char byte : order) {
    start.push_back(byte);
    if (byte == '\0') start.push_back('\xFF');
  }
  return start;
}
std::string OrderKey(uint8_t collection, std::string_view order, std::string_view key) {
  return OrderStart(collection, order).append(2, '\0').append(key);
}
std::string TrailKey(uint64_t number) {
  std::string key(kTrailPrefix);
  AppendNumber(key, ~number);
  return key;
}

std::optional<UlidBytes> ChannelOfKey(std::string_view key) {
  if (key.size() != 17) return std::nullopt;
  return BytesAt(key, 1);
}
std::optional<UlidBytes> MessageOfKey(std::string_view key) {
  if (key.size() != 33) return std::nullopt;
  return Complement(BytesAt(key, 17));
}
std::string_view AgentOfMemberKey(std::string_view key) { return key.substr(17); }
std::optional<UlidBytes> DeletedOfKey(std::string_view key) { return ChannelOfKey(key); }
std::optional<uint64_t> NumberOfArrivalKey(std::string_view key) {
  if (key.size() != 9) return std::nullopt;
  const uint64_t number = NumberAt(key, 1);
  return number < kMostArrivals ? std::optional(number) : std::nullopt;
}
std::optional<uint64_t> SegmentOfSummaryKey(std::string_view key) { return NumberOfTrailKey(key); }
std::optional<uint64_t> NumberOfTrailKey(std::string_view key) {
  if (key.size() != 9) return std::nullopt;
  return ~NumberAt(key, 1);
}
std::optional<WordAndSegment> WordOfKey(std::string_view key) {
  const size_t end = key.find('\0', 1);
  if (end == std::string_view::npos || key.size() != end + 9) return std::nullopt;
  return WordAndSegment{key.substr(1, end - 1), ~NumberAt(key, end + 1)};
}
std::optional<OrderAndKey> OrderOfKey(std::string_view key) {
  OrderAndKey found;
  for (size_t at = 2; at + 1 < key.size(); ++at) {
    if (key[at] != '\0') {
      found.order.push_back(key[at]);
    } else if (key[at + 1] == '\0') {
      found.key = key.substr(at + 2);
      return found;
    } else if (key[at + 1] == '\xFF') {
      found.order.push_back('\0');
      ++at;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace watchbill::history
