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
  std::string text;
  text.reserve(kUlidChars);
  uint32_t carry = 0;
  int bits = 2;
  for (const uint8_t byte : bytes) {
    carry = (carry << 8 | byte) & 0xFFFF;
    for (bits += 8; bits >= 5; bits -= 5) text.push_back(kAlphabet[carry >> (bits - 5) & 31]);
  }
  return text;
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

std::optional<UlidBytes> ChannelOfKey(std::string_view key) {
  if (key.size() != 17) return std::nullopt;
  return BytesAt(key, 1);
}
std::optional<UlidBytes> MessageOfKey(std::string_view key) {
  if (key.size() != 33) return std::nullopt;
  return Complement(BytesAt(key, 17));
}
std::string_view AgentOfMemberKey(std::string_view key) { return key.substr(17); }

}  // namespace watchbill::history
