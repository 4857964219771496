// The process that repair_test.cc ends in the middle of a repair.
//   history_repairer FOLDER N   repairs, and ends as if killed behind N steps; 0 where there were not so many
#include <fmt/core.h>

#include <cstdlib>

#include "repair_steps.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  unsigned long left = std::strtoul(argv[2], nullptr, 10);
  const auto report = watchbill::history::RepairInSteps(argv[1], [&] {
    if (left-- == 0) std::_Exit(9);
  });
  if (report.ok()) return 0;
  fmt::print(stderr, "{}\n", report.status().ToString());
  return 1;
}
