// One way in: what a watcher may ask is a table. A command that is not in it does not exist.
#pragma once

#include <span>
#include <string_view>

#include "watchbill/board/board.hpp"

namespace watchbill::monitor {

struct Command {
  std::string_view name;
  std::string_view privilege;
  // How it would be carried out for this agent.
  board::Plan (board::Board::*plan)(std::string_view id) const;
};

std::span<const Command> Commands();
// Looked up in the table and nowhere else; nothing for any other word.
const Command* FindCommand(std::string_view name);

}  // namespace watchbill::monitor
