#include "index_reading.hpp"

#include <utility>

#include "json.hpp"
#include "store_impl.hpp"

namespace watchbill::history {

absl::StatusOr<std::optional<IndexState>> IndexStateIn(const Engine& engine) {
  std::string value;
  const absl::Status got = engine.Get(kIndexKey, value);
  if (absl::IsNotFound(got) || absl::IsDataLoss(got)) return std::optional<IndexState>();
  if (!got.ok()) return got;
  return ReadIndexState(value);
}

uint64_t GreatestArrival(Cursor& cursor, uint64_t least) {
  uint64_t greatest = 0;
  for (int bit = 62; bit >= 0; --bit) {
    const uint64_t tried = greatest | uint64_t{1} << bit;
    if (tried > least) {
      cursor.Seek(ArrivalKey(tried));
      const auto in = [&] { return cursor.Valid() && cursor.key().starts_with(kArrivalsPrefix); };
      // What stands among them and is none says nothing.
      while (in() && !NumberOfArrivalKey(cursor.key())) cursor.Next();
      if (!in()) continue;
    }
    greatest = tried;
  }
  return greatest;
}

absl::StatusOr<Message> MessageIn(json::Document& json, std::string_view value, const UlidBytes& channel,
                                  const UlidBytes& message) {
  const auto unreadable = [&] {
    return absl::DataLossError(fmt::format("message {} cannot be read", UlidText(message)));
  };
  const std::optional<std::string_view> text = JsonOf(value);
  if (!text) return unreadable();
  absl::StatusOr<Message> read = ReadMessage(json, *text);
  if (!read.ok() || !IsUlidText(read->id, message)) return unreadable();
  std::string channel_text = UlidText(channel);
  if (read->channel.empty())
    read->channel = std::move(channel_text);
  else if (read->channel != channel_text)
    return unreadable();
  return read;
}

absl::StatusOr<Message> MessageAt(const Engine& engine, json::Document& json, std::string& value,
                                  const UlidBytes& channel, const UlidBytes& message) {
  if (absl::Status status = engine.Get(MessageKey(channel, message), value); !status.ok()) return status;
  return MessageIn(json, value, channel, message);
}

}  // namespace watchbill::history
