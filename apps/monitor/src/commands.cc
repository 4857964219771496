#include "commands.hpp"

#include <algorithm>

namespace watchbill::monitor {
namespace {

constexpr Command kCommands[] = {
    {"run", "agents.run", &board::Board::PlanRun},
    {"terminate", "agents.run", &board::Board::PlanTerminate},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

const Command* FindCommand(std::string_view name) {
  const auto* found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                   [&](const Command& c) { return c.name == name; });
  return found == std::end(kCommands) ? nullptr : found;
}

}  // namespace watchbill::monitor
