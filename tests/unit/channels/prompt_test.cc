#include "channels/prompt.hpp"

#include <doctest/doctest.h>

using namespace watchbill;
using namespace watchbill::channels;

namespace {

history::Message Said(history::Role role, std::string agent, std::string text) {
  history::Message m;
  m.role = role;
  m.agent = std::move(agent);
  m.parts.push_back(history::TextPart{std::move(text)});
  return m;
}

}  // namespace

TEST_CASE("S15 a command is what begins with a slash, unless it names another agent") {
  CHECK(CommandFor("/plan x", "codex") == "/plan x");
  CHECK(CommandFor("/codex:plan x", "codex") == "/plan x");
  CHECK_FALSE(CommandFor("/gemini:plan x", "codex").has_value());
  CHECK_FALSE(CommandFor("plan /x", "codex").has_value());
  CHECK(CommandFor("/", "codex") == "/");
  CHECK(CommandFor("/:x", "codex") == "/:x");
  CHECK(CommandFor("/usr/bin is what?", "codex") == "/usr/bin is what?");
}

TEST_CASE("S15 what was said before is told with who said it, and cut between characters") {
  CHECK(Told({}, 10).empty());
  CHECK(Told({Said(history::Role::kSystem, "codex", "x")}, 10).empty());
  CHECK(Told({Said(history::Role::kUser, "", "hi"), Said(history::Role::kAgent, "codex", "ééééé")}, 3) ==
        "What was said in this conversation before, oldest first:\n\nuser: hi\n\ncodex: ééé…\n");
}

TEST_CASE("only text is told, not thoughts or tool calls") {
  history::Message m = Said(history::Role::kAgent, "codex", "a");
  m.parts.insert(m.parts.begin(), history::ThoughtPart{"secret"});
  m.parts.emplace_back(history::ToolPart{});
  m.parts.emplace_back(history::TextPart{"b"});
  CHECK(TextOf(m) == "a\nb");
}
