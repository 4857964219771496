// The keys of the database. Whatever is asked for is one scan forwards, which LevelDB does two to three times
// as fast as one backwards: that is why the ids of messages stand complemented, newest first.
//
//   F                                         the format of the database
//   C  channel                                a channel, in the order of ids: oldest first
//   M  channel  complement of the message     a message, newest first within its channel
//   A  channel  agent                         what an agent knows of a channel
//   S  agent                                  the slash commands of an agent
//   X  channel                                a channel that was deleted; whether all of it is gone already
//   N  number                                 which message was the nth to be kept, until the index has it
//   I                                         how far the index is
//   I  complement of the segment              how new a segment of the index is, and of which channels
//   D  complement of the segment  part        the messages of a segment of the index, newest segment first
//   T  word  0  complement of the segment     where in the messages of a segment a word stands
//   R  collection  key                        a record of the ledger
//   Q  collection  order  0 0  key            the same, in its second order; a 0 in the order is 0 FF
//   H                                         the number and the hash of the trail's last entry
//   G                                         the same of the last that was taken off its old end
//   L  complement of the number               an entry of the trail, newest first
//
// One letter, then ids as their 16 bytes, numbers as 8 with the highest first, a collection as one, and then
// names and words as they are.
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
bool IsUlidText(std::string_view text, const UlidBytes& bytes);

inline constexpr std::string_view kFormatKey = "F";
inline constexpr std::string_view kChannelsPrefix = "C";
inline constexpr std::string_view kMessagesLetter = "M";
inline constexpr std::string_view kDeletedPrefix = "X";
inline constexpr std::string_view kArrivalsPrefix = "N";
inline constexpr std::string_view kIndexKey = "I";
inline constexpr std::string_view kSegmentsPrefix = "D";
inline constexpr std::string_view kWordsPrefix = "T";
inline constexpr std::string_view kTrailHeadKey = "H";
inline constexpr std::string_view kTrailAnchorKey = "G";
inline constexpr std::string_view kTrailPrefix = "L";

std::string ChannelKey(const UlidBytes& channel);
// All messages of a channel begin with it, and nothing else does.
std::string MessagesPrefix(const UlidBytes& channel);
std::string MessageKey(const UlidBytes& channel, const UlidBytes& message);
std::string MembersPrefix(const UlidBytes& channel);
std::string MemberKey(const UlidBytes& channel, std::string_view agent);
std::string CommandsKey(std::string_view agent);
std::string DeletedKey(const UlidBytes& channel);
std::string ArrivalKey(uint64_t number);
std::string SummaryKey(uint64_t segment);
// `part`: one byte.
std::string SegmentKey(uint64_t segment, char part);
// All segments of a word begin with it, and nothing else does. A word has no byte 0.
std::string WordPrefix(std::string_view word);
std::string WordKey(std::string_view word, uint64_t segment);
std::string RecordsPrefix(uint8_t collection);
std::string RecordKey(uint8_t collection, std::string_view key);
std::string OrderPrefix(uint8_t collection);
// Where the records of this order begin; with a prefix of an order, where those of all that begin with it do.
std::string OrderStart(uint8_t collection, std::string_view order);
std::string OrderKey(uint8_t collection, std::string_view order, std::string_view key);
std::string TrailKey(uint64_t number);

// The first key behind all that begin with this prefix.
std::string AfterPrefix(std::string prefix);

void AppendNumber(std::string& key, uint64_t number);
uint64_t NumberAt(std::string_view key, size_t at);

// What a key says, given that it begins with the prefix that was scanned. Nothing: it is none of ours.
std::optional<UlidBytes> ChannelOfKey(std::string_view key);
std::optional<UlidBytes> MessageOfKey(std::string_view key);
std::string_view AgentOfMemberKey(std::string_view key);
std::optional<UlidBytes> DeletedOfKey(std::string_view key);
// Behind each there has to be another: what is beyond these is none.
inline constexpr uint64_t kMostArrivals = uint64_t{1} << 63;
std::optional<uint64_t> NumberOfArrivalKey(std::string_view key);
std::optional<uint64_t> SegmentOfSummaryKey(std::string_view key);
std::optional<uint64_t> NumberOfTrailKey(std::string_view key);
struct WordAndSegment {
  std::string_view word;
  uint64_t segment = 0;
};
std::optional<WordAndSegment> WordOfKey(std::string_view key);
struct OrderAndKey {
  std::string order;
  std::string_view key;
};
std::optional<OrderAndKey> OrderOfKey(std::string_view key);

}  // namespace watchbill::history
