// What making the index and searching in it read in the same way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "index_codec.hpp"
#include "json_document.hpp"
#include "watchbill/history/engine.hpp"
#include "watchbill/history/message.hpp"

namespace watchbill::history {

// How far the index is. Absent, and nothing: there is none, or it cannot be read, or is of another version,
// which is one to be made from its beginning. Fails as the disk does.
absl::StatusOr<std::optional<IndexState>> IndexStateIn(const Engine& engine);

// The greatest number of an arrival, or this one. Keys are looked at upwards only, so it is looked for by
// halves.
uint64_t GreatestArrival(Cursor& cursor, uint64_t least);

// The message in the value of its key. DataLoss: it cannot be read, or is another one.
absl::StatusOr<Message> MessageIn(json::Document& json, std::string_view value, const UlidBytes& channel,
                                  const UlidBytes& message);
// The same, looked for. NotFound; DataLoss; Unavailable. `value` is a buffer.
absl::StatusOr<Message> MessageAt(const Engine& engine, json::Document& json, std::string& value,
                                  const UlidBytes& channel, const UlidBytes& message);

}  // namespace watchbill::history
