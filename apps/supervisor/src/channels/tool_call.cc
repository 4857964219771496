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
  t.id = u.tool_call_id;
  if (u.title) t.title = *u.title;
  if (u.kind) t.kind = Among(*u.kind, kKinds) ? std::string(*u.kind) : "other";
  if (u.status && Among(*u.status, kStatuses)) t.status = *u.status;
  if (!u.raw_input.absent()) t.input = u.raw_input.text();
  if (u.locations) {
    t.locations.clear();
    for (const acp::ToolCallLocation& l : *u.locations) t.locations.push_back({std::string(l.path), l.line});
  }
  bool has_text = false;
  if (u.content) {
    t.diffs.clear();
    t.output.clear();
    for (const acp::ToolCallContent& c : *u.content) {
      if (const auto* diff = std::get_if<acp::Diff>(&c)) {
        // Some agents say "" for a file that was not there; only a text that was not said tells them apart.
        t.diffs.push_back({std::string(diff->path), std::string(diff->old_text.value_or("")),
                           std::string(diff->new_text), !diff->old_text.has_value()});
      } else if (const auto* content = std::get_if<acp::Content>(&c)) {
        const acp::OptText words = acp::WordsOf(content->content), uri = acp::UriOf(content->content);
        const std::string_view type = acp::TypeOf(content->content);
        const std::string_view text = words          ? *words
                                      : uri          ? *uri
                                      : type.empty() ? std::string_view("(content)")
                                                     : type;
        if (!t.output.empty()) t.output.push_back('\n');
        t.output.append(text);
        has_text = true;
      }
    }
  }
  if (!has_text && t.output.empty() && !u.raw_output.absent()) t.output = u.raw_output.text();
}

}  // namespace watchbill::channels
