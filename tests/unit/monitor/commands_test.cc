#include "commands.hpp"

#include <doctest/doctest.h>

#include <string>

namespace watchbill::monitor {
namespace {

TEST_CASE("M3 the table of commands, each with its privilege, and no other word") {
  std::string table;
  for (const Command& c : Commands()) table.append(c.name).append(" ").append(c.privilege).append("; ");
  CHECK(table == "run agents.run; terminate agents.run; ");
  for (const char* word : {"", "constructor", "__proto__", "RUN", "run ", "board", "watch"})
    CHECK(FindCommand(word) == nullptr);
}

}  // namespace
}  // namespace watchbill::monitor
