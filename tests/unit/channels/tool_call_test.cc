#include "channels/tool_call.hpp"

#include <doctest/doctest.h>

using namespace watchbill;
using namespace watchbill::channels;

TEST_CASE("S17 what an update does not say stays; lists replace") {
  history::ToolCall tool;
  acp::ToolCallUpdate update;
  update.tool_call_id = "t";
  update.title = "Edit";
  update.kind = "edit";
  update.locations = std::vector<acp::ToolCallLocation>{{"/a", 3, {}}, {"/b", std::nullopt, {}}};
  acp::Diff diff;
  diff.path = "/a";
  diff.old_text = "old";
  diff.new_text = "new";
  const acp::Content text{acp::TextContent{"done", std::nullopt, {}}, {}};
  update.content = std::vector<acp::ToolCallContent>{diff, text};
  update.raw_input = JsonView::Trusted(R"({"path":"/a"})");
  Merge(update, tool);
  CHECK(tool.status == "pending");
  CHECK(tool.input == R"({"path":"/a"})");
  CHECK(tool.output == "done");
  CHECK(tool.locations == std::vector<history::Location>{{"/a", 3}, {"/b", std::nullopt}});
  CHECK(tool.diffs == std::vector<history::Diff>{{"/a", "old", "new", false}});

  acp::ToolCallUpdate next;
  next.tool_call_id = "t";
  next.status = "in_progress";
  Merge(next, tool);
  CHECK(tool.title == "Edit");
  CHECK(tool.diffs.size() == 1);
  CHECK(tool.status == "in_progress");

  next.content = std::vector<acp::ToolCallContent>{};
  next.locations = std::vector<acp::ToolCallLocation>{};
  Merge(next, tool);
  CHECK(tool.diffs.empty());
  CHECK(tool.output.empty());
  CHECK(tool.locations.empty());
}

TEST_CASE("S17 a file without an old text is new; words that are not known are `other`, or change nothing") {
  history::ToolCall tool;
  acp::ToolCallUpdate update;
  update.tool_call_id = "t";
  update.kind = "switch_mode";
  update.status = "exploded";
  acp::Diff diff;
  diff.path = "/new";
  diff.new_text = "x";
  update.content = std::vector<acp::ToolCallContent>{diff};
  Merge(update, tool);
  CHECK(tool.kind == "other");
  CHECK(tool.status == "pending");
  CHECK(tool.diffs[0].new_file);
}

TEST_CASE("a raw output is shown where nothing better was said") {
  history::ToolCall tool;
  acp::ToolCallUpdate update;
  update.tool_call_id = "t";
  update.raw_output = JsonView::Trusted(R"({"success":true})");
  Merge(update, tool);
  CHECK(tool.output == R"({"success":true})");
  const acp::Content text{acp::TextContent{"better", std::nullopt, {}}, {}};
  update.content = std::vector<acp::ToolCallContent>{text};
  Merge(update, tool);
  CHECK(tool.output == "better");
}
