// The frames of `/dashboard` that are not the board's own: what a browser sends, and the answer to it.
// `board`, `rows`, `run` and `log` are written by whoever knows the board.
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "watchbill/monitorproto/agent_frames.hpp"

namespace watchbill::monitorproto {

// "watch": what this watcher understands, by name. Without it the whole board comes, every time.
struct Watch {
  std::vector<Text> capabilities;
};

// Everything else a browser sends: a word of the command table, and what it is about.
struct DashboardCommand {
  Text type;
  OptText id;
  JsonView ask;  // whatever the browser wrote there; absent where it wants no answer of its own
};

using DashboardFrame = std::variant<Watch, DashboardCommand>;

// "did": what became of a command.
struct Did {
  Text of;
  OptText id;
  JsonView ask;
  bool ok = false;
  OptText error;      // one sentence, where not ok
  OptText code;       // the sentence's word, for a page in another language
  Text arg_key = {};  // its one argument; empty where it has none
  Text arg_value = {};
  JsonView rest;  // what the far end said beside: an object whose members are spread
};

}  // namespace watchbill::monitorproto
