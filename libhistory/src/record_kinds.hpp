// What the keys and values of the database are, one by one: for what goes over all of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "json_document.hpp"

namespace watchbill::history {

enum class Kind : uint8_t {
  kFormat,
  kChannel,
  kMessage,
  kMember,
  kCommands,
  kDeletion,
  kIndex,  // N I D T
  kRecord,
  kOrder,
  kTrailEnd,  // H G
  kTrailEntry,
  kOther,
};

// By its letter alone.
Kind KindOf(std::string_view key);

// Whether it says what a reader of the store is given, of a version that is known. Of a channel, a message, a
// member, commands, a record or an entry of the trail, the JSON is then what `document` read last.
bool CanBeRead(json::Document& document, std::string_view key, std::string_view value);

}  // namespace watchbill::history
