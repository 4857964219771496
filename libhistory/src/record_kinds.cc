#include "record_kinds.hpp"

#include <optional>
#include <string>

#include "keys.hpp"
#include "ledger_record.hpp"
#include "store_impl.hpp"

namespace watchbill::history {
namespace {

bool IsJson(json::Document& document, std::optional<std::string_view> text) {
  return text && document.Parse(*text).ok();
}

bool IsObject(json::Document& document, std::string_view value) {
  return IsJson(document, JsonOf(value)) && document.root().is_object();
}

// Whether the value is an object with this id.
bool HasId(json::Document& document, std::string_view value, const std::optional<UlidBytes>& id) {
  return id && IsObject(document, value) && document.root()["id"].AsString() == UlidText(*id);
}

bool IsMessage(json::Document& document, std::string_view key, std::string_view value) {
  if (!HasId(document, value, MessageOfKey(key))) return false;
  const std::string_view channel = document.root()["channel"].AsString().value_or("");
  return channel.empty() || channel == UlidText(*ChannelOfKey(key.substr(0, 17)));
}

bool IsTrailEntry(json::Document& document, std::string_view key, std::string_view value) {
  const std::optional<KeptEntry> entry = ParseEntry(value);
  if (NumberOfTrailKey(key).value_or(0) == 0 || !entry) return false;
  // Its hash is one of these very bytes.
  return IsJson(document, entry->json) && document.root().text().text() == entry->json;
}

}  // namespace

Kind KindOf(std::string_view key) {
  switch (key.empty() ? '\0' : key[0]) {
    case 'F':
      return key == kFormatKey ? Kind::kFormat : Kind::kOther;
    case 'C':
      return Kind::kChannel;
    case 'M':
      return Kind::kMessage;
    case 'A':
      return Kind::kMember;
    case 'S':
      return Kind::kCommands;
    case 'X':
      return Kind::kDeletion;
    case 'N':
    case 'I':
    case 'D':
    case 'T':
      return Kind::kIndex;
    case 'R':
      return Kind::kRecord;
    case 'Q':
      return Kind::kOrder;
    case 'H':
      return key == kTrailHeadKey ? Kind::kTrailEnd : Kind::kOther;
    case 'G':
      return key == kTrailAnchorKey ? Kind::kTrailEnd : Kind::kOther;
    case 'L':
      return Kind::kTrailEntry;
    default:
      return Kind::kOther;
  }
}

bool CanBeRead(json::Document& document, std::string_view key, std::string_view value) {
  switch (KindOf(key)) {
    case Kind::kFormat:
      return IsObject(document, value);
    case Kind::kChannel:
      return HasId(document, value, ChannelOfKey(key));
    case Kind::kMessage:
      return IsMessage(document, key, value);
    case Kind::kMember:
      return key.size() > 17 && IsObject(document, value);
    case Kind::kCommands:
      return key.size() > 1 && IsJson(document, JsonOf(value));
    case Kind::kDeletion:
      return DeletedOfKey(key) && value.size() == 2 && value[0] == kValueVersion;
    case Kind::kIndex:
      return true;
    case Kind::kRecord: {
      const std::optional<KeptRecord> record = ReadRecord(value);
      return key.size() > 2 && record && IsJson(document, record->json);
    }
    case Kind::kOrder:
      return OrderOfKey(key).has_value();
    case Kind::kTrailEnd:
      return ParseTrailHead(value).has_value();
    case Kind::kTrailEntry:
      return IsTrailEntry(document, key, value);
    case Kind::kOther:
      return false;
  }
  return false;
}

}  // namespace watchbill::history
