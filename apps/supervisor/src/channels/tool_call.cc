#include "tool_call.hpp"

#include <algorithm>

namespace watchbill::channels {
namespace {

constexpr std::string_view kKinds[] = {"read",    "edit",  "delete", "move", "search",
                                       "execute", "think", "fetch",  "other"};
constexpr std::string_view kStatuses[] = {"pending", "in_progress", "completed", "failed"};

bool Among(std::string_view word, const auto& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace

void Merge(const acp::ToolCallUpdate& u, history::ToolCall& t) {
  t.id = u.id;
  if (u.title) t.title = *u.title;
  if (u.kind) t.kind = Among(*u.kind, kKinds) ? std::string(*u.kind) : "other";
  if (u.status && Among(*u.status, kStatuses)) t.status = *u.status;
  if (!u.raw_input.absent()) t.input = u.raw_input.text();
  if (u.locations) {
    t.locations.clear();
    for (const acp::Location& l : *u.locations) t.locations.push_back({std::string(l.path), l.line});
  }
  bool has_text = false;
  if (u.content) {
    t.diffs.clear();
    t.output.clear();
    for (const acp::ToolContent& c : *u.content) {
      if (c.type == "diff") {
        // Some agents say "" for a file that was not there; only a text that was not said tells them apart.
        t.diffs.push_back({std::string(c.path), std::string(c.old_text.value_or("")), std::string(c.new_text),
                           !c.old_text.has_value()});
      } else if (c.type == "content") {
        const std::string_view text = c.content.text           ? *c.content.text
                                      : c.content.uri          ? *c.content.uri
                                      : c.content.type.empty() ? std::string_view("(content)")
                                                               : c.content.type;
        if (!t.output.empty()) t.output.push_back('\n');
        t.output.append(text);
        has_text = true;
      }
    }
  }
  if (!has_text && t.output.empty() && !u.raw_output.absent()) t.output = u.raw_output.text();
}

}  // namespace watchbill::channels
