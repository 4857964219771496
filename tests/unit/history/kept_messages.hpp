// What history_writer keeps: each message follows from its id, so that its reader can tell whether it is
// whole.
#pragma once

#include <string>
#include <utility>

#include "watchbill/history/message.hpp"

namespace watchbill::history {

inline constexpr const char* kKeptChannel = "01ARYZ6S41TSV4RRFFQ69G5FAV";

inline Message MessageOf(const std::string& id) {
  Message message;
  message.id = id;
  message.channel = kKeptChannel;
  message.created_ms = 1'790'000'000'000;
  std::string text;
  // Mostly a few lines, and one in 32 that fills more than a block of LevelDB's log.
  const size_t lines = id.back() == 'Z' ? 1500 : 1 + static_cast<unsigned char>(id.back()) % 30;
  for (size_t i = 0; i < lines; ++i) text.append(id).push_back('\n');
  message.parts.push_back(TextPart{std::move(text)});
  return message;
}

}  // namespace watchbill::history
