// The handle behind wb_board, for this library's C wrapper and for the one that joins it with others.
#pragma once

#include <deque>
#include <string>

#include "watchbill/board/board.hpp"

struct wb_board {
  wb_board(watchbill::board::BoardOptions options, watchbill::Now start) : board(std::move(options), start) {}

  void Apply(const watchbill::board::Event& event, watchbill::Now now) {
    watchbill::board::Actions fresh;
    board.Apply(event, now, fresh);
    for (auto& action : fresh) actions.push_back(std::move(action));
  }

  watchbill::board::Board board;
  std::deque<watchbill::board::Action> actions;
  watchbill::board::Action current;  // what wb_board_next_action gave last: its views look into it
  std::string frame;
};
