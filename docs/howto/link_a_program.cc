// The program of link-a-program.md.
#include <iostream>

#include "watchbill/board/board.hpp"

int main() {
  watchbill::board::BoardOptions options;
  options.here = "my-machine";
  watchbill::Now now{.mono_ns = 0, .wall_ms = 1'790'000'000'000};
  watchbill::board::Board board(options, now);

  watchbill::board::AgentRegistered hello;
  hello.connection = 1;
  hello.id = "bbed7a48-0000-4000-8000-000000000001";
  hello.name = "Israeli News";
  watchbill::board::Actions actions;
  board.Apply(hello, now, actions);

  std::cout << board.Frame(now) << '\n';
  return board.rows() == 1 ? 0 : 1;
}
