// What history_writer keeps: all of it follows from the id of a message, so that its reader can tell whether
// it is whole.
#pragma once

#include <string>
#include <utility>

#include "watchbill/history/message.hpp"
#include "watchbill/history/store.hpp"

namespace watchbill::history {

inline constexpr size_t kWriters = 4;

inline std::string ChannelOf(size_t writer) {
  return "01ARYZ6S41TSV4RRFFQ69G5FA" + std::string(1, static_cast<char>('A' + writer));
}

inline Message MessageOf(size_t writer, const std::string& id) {
  Message message;
  message.id = id;
  message.channel = ChannelOf(writer);
  message.created_ms = 1'790'000'000'000;
  std::string text;
  // Mostly a few lines, and one in 32 that fills more than a block of LevelDB's log.
  const size_t lines = id.back() == 'Z' ? 1500 : 1 + static_cast<unsigned char>(id.back()) % 30;
  for (size_t i = 0; i < lines; ++i) text.append(id).push_back('\n');
  message.parts.push_back(TextPart{std::move(text)});
  return message;
}

inline std::string OutcomeOf(const std::string& id) { return R"({"run":")" + id + R"("})"; }

// A message, what an agent has seen, a record and an entry of the trail: all of them or none.
inline absl::Status FillBatch(Batch& batch, size_t writer, const std::string& id) {
  const std::string outcome = OutcomeOf(id);
  if (absl::Status status = batch.Put(MessageOf(writer, id)); !status.ok()) return status;
  if (absl::Status status = batch.Put(ChannelOf(writer), {"codex", "", id}); !status.ok()) return status;
  const JsonView json = JsonView::Trusted(outcome);
  if (absl::Status status = batch.Put(Collection::kOutcomes, id, ChannelOf(writer), json); !status.ok())
    return status;
  return batch.AppendToTrail(json);
}

}  // namespace watchbill::history
