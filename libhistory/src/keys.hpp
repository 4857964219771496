// The keys of the database. Whatever is asked for is one scan forwards, which LevelDB does two to three times
// as fast as one backwards: that is why the ids of messages stand complemented, newest first.
//
//   F                                         the format of the database
//   C  channel                                a channel, in the order of ids: oldest first
//   M  channel  complement of the message     a message, newest first within its channel
//   A  channel  agent                         what an agent knows of a channel
//   S  agent                                  the slash commands of an agent
//
// One letter, then ids as their 16 bytes, then a name as it is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace watchbill::history {

using UlidBytes = std::array<uint8_t, 16>;

// 26 characters of Crockford's base 32, in capitals, of at most 128 bits. Nothing for any other text: an id
// has one spelling, or two would be one key.
std::optional<UlidBytes> ParseUlid(std::string_view text);
std::string UlidText(const UlidBytes& bytes);

inline constexpr std::string_view kFormatKey = "F";
inline constexpr std::string_view kChannelsPrefix = "C";

std::string ChannelKey(const UlidBytes& channel);
// All messages of a channel begin with it, and nothing else does.
std::string MessagesPrefix(const UlidBytes& channel);
std::string MessageKey(const UlidBytes& channel, const UlidBytes& message);
std::string MembersPrefix(const UlidBytes& channel);
std::string MemberKey(const UlidBytes& channel, std::string_view agent);
std::string CommandsKey(std::string_view agent);

// What a key says, given that it begins with the prefix that was scanned. Nothing: it is none of ours.
std::optional<UlidBytes> ChannelOfKey(std::string_view key);
std::optional<UlidBytes> MessageOfKey(std::string_view key);
std::string_view AgentOfMemberKey(std::string_view key);

}  // namespace watchbill::history
