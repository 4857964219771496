// The picture and the table in docs/protocols/agent-states.md are what the library's table says.
// WATCHBILL_WRITE_GOLDEN=1 writes them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "watchbill/acp/agent_pool.hpp"

namespace watchbill::acp {
namespace {

constexpr std::string_view kBegin = "<!-- from the table: begin -->\n";
constexpr std::string_view kEnd = "<!-- from the table: end -->\n";

std::string PagePath() { return std::string(WATCHBILL_GOLDEN_DIR) + "/../../docs/protocols/agent-states.md"; }

std::string Page() {
  std::ifstream file(PagePath(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Drawn() {
  std::string picture = "```mermaid\nstateDiagram-v2\n    [*] --> " + std::string(Word(AgentState())) + "\n";
  std::string table = "| from | event | to |\n|---|---|---|\n";
  for (const Transition& row : Transitions()) {
    const std::string from(Word(row.from)), event(Word(row.event)), to(Word(row.to));
    picture.append("    ").append(from).append(" --> ").append(to).append(": ").append(event).append("\n");
    table.append("| `").append(from).append("` | ").append(event).append(" | `").append(to).append("` |\n");
  }
  return picture + "```\n\n" + table;
}

TEST_CASE("S2 the picture and the table of the states are those of the library") {
  std::string page = Page();
  const size_t begin = page.find(kBegin);
  const size_t end = page.find(kEnd);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  REQUIRE(begin < end);
  const size_t from = begin + kBegin.size();
  if (const char* write = std::getenv("WATCHBILL_WRITE_GOLDEN"); write != nullptr && *write == '1') {
    page.replace(from, end - from, Drawn());
    std::ofstream file(PagePath(), std::ios::binary | std::ios::trunc);
    file << page;
    REQUIRE(file.flush().good());
    return;
  }
  CHECK(page.substr(from, end - from) == Drawn());
}

TEST_CASE("S1 S2 the page says of every state and of every event what it means") {
  const std::string page = Page();
  const size_t begin = page.find(kBegin), end = page.find(kEnd);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const std::string prose = page.substr(0, begin) + page.substr(end);
  std::set<std::string_view> states, events;
  for (const Transition& row : Transitions()) {
    states.insert({Word(row.from), Word(row.to)});
    events.insert(Word(row.event));
  }
  CHECK(states.size() == 5);
  CHECK(events.size() == 9);
  for (const std::string_view state : states) {
    CAPTURE(state);
    CHECK(prose.find("\n| `" + std::string(state) + "` | ") != std::string::npos);
  }
  for (const std::string_view event : events) {
    CAPTURE(event);
    CHECK(prose.find("**" + std::string(event) + "**") != std::string::npos);
  }
}

}  // namespace
}  // namespace watchbill::acp
