// What the files of Channels share.
#pragma once

#include "channels.hpp"

namespace watchbill::channels {

// One answer that is on its way.
struct Channels::Turn {
  enum class Stage { kStarting, kOpening, kPrompting };
  std::string agent;
  history::Message asked;
  Stage stage = Stage::kStarting;
  std::string session;
  history::Message answer;  // from kPrompting on
  int64_t rejections = 0;
  size_t bytes = 0;  // of the answer
  bool cut = false;  // it has reached its bound
};

struct Channels::State {
  history::Channel channel;
  std::map<std::string, history::Member, std::less<>> members;
  // Sessions that the running processes know; those that are kept are of processes that are gone.
  std::map<std::string, std::string, std::less<>> sessions;
  std::map<std::string, Usage, std::less<>> usage;
  std::deque<history::Message> queue;
  std::optional<Turn> turn;
};

struct Channels::Pending {
  std::string channel, message, text;
  size_t index = 0;
  bool thought = false;
};

}  // namespace watchbill::channels
