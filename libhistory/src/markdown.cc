#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "json.hpp"
#include "look.hpp"
#include "markdown_text.hpp"
#include "record_kinds.hpp"
#include "store_impl.hpp"
#include "watchbill/base/now.hpp"
#include "watchbill/history/transfer.hpp"

namespace watchbill::history {
namespace {

// A sentence with its {agent} filled in, on one line.
std::string Sentence(std::string_view sentence, std::string_view agent) {
  std::string out;
  constexpr std::string_view kPlace = "{agent}";
  const size_t at = std::min(sentence.find(kPlace), sentence.size());
  AppendInline(out, sentence.substr(0, at));
  if (at < sentence.size()) {
    AppendInline(out, agent);
    AppendInline(out, sentence.substr(at + kPlace.size()));
  }
  return out;
}

std::string Inline(std::string_view text) {
  std::string out;
  AppendInline(out, text);
  return out;
}

class ChannelPage {
 public:
  explicit ChannelPage(const MarkdownOptions& options) : thoughts_(options.thoughts), words_(options.words) {}

  std::string Title(const Channel& channel) const {
    std::string out = "# ";
    if (!channel.direct.empty()) {
      out += Sentence(words_.direct, channel.direct);
    } else {
      out += Inline(channel.name.empty() ? channel.id : channel.name);
    }
    out += "\n\n";
    if (!channel.description.empty()) {
      AppendBlock(out, "", channel.description);
      out += "\n";
    }
    if (!channel.members.empty()) {
      out += "- **" + Inline(words_.members) + ":** ";
      for (size_t i = 0; i < channel.members.size(); ++i) {
        if (i > 0) out += ", ";
        AppendInline(out, channel.members[i]);
      }
      out += "\n";
    }
    out += "- **" + Inline(words_.id) + ":** " + channel.id + "\n";
    return out;
  }

  std::string Section(const Message& message) const {
    std::string out = "\n## " + IsoFromWallMs(message.created_ms) + " · " + Who(message) + "\n";
    bool in_tools = false;
    for (const Part& part : message.parts) {
      const bool tool = std::holds_alternative<ToolPart>(part);
      if (tool && !in_tools) out += "\n**" + Inline(words_.tools) + ":**\n\n";
      in_tools = tool;
      std::visit([&](const auto& p) { Add(out, p); }, part);
    }
    if (!message.code.empty()) out += "\n" + Event(message) + "\n";
    if (!message.error.empty()) {
      out += "\n**" + Inline(words_.error) + ":**\n\n";
      AppendBlock(out, "", message.error);
    }
    if (!message.stop_reason.empty())
      out += "\n*" + Inline(words_.stopped) + ": " + Inline(message.stop_reason) + "*\n";
    return out;
  }

  std::string Unreadable(uint64_t count) const {
    return "\n*" + Inline(words_.unreadable) + ": " + std::to_string(count) + "*\n";
  }

 private:
  std::string Who(const Message& message) const {
    if (message.role == Role::kUser) return Inline(words_.user);
    if (message.role == Role::kAgent) return Inline(message.agent);
    return Inline(words_.system) + (message.agent.empty() ? "" : " · " + Inline(message.agent));
  }

  std::string Event(const Message& message) const {
    for (const auto& [code, sentence] :
         {std::pair("agent-joined", &words_.agent_joined), std::pair("agent-left", &words_.agent_left),
          std::pair("agent-unavailable", &words_.agent_unavailable),
          std::pair("no-recipient", &words_.no_recipient)}) {
      if (message.code == code) return Sentence(*sentence, message.agent);
    }
    return Inline(message.code);
  }

  void Add(std::string& out, const TextPart& part) const {
    if (part.text.empty()) return;
    out += "\n";
    AppendBlock(out, "", part.text);
  }

  // One quotation further in than what was said.
  void Add(std::string& out, const ThoughtPart& part) const {
    if (!thoughts_ || part.text.empty()) return;
    out += "\n> *" + Inline(words_.thought) + "*\n>\n";
    AppendBlock(out, "> ", part.text);
  }

  void Add(std::string& out, const ToolPart& part) const {
    const ToolCall& tool = part.tool;
    out += "- **" + Inline(tool.title.empty() ? tool.id : tool.title) + "** (" + Inline(tool.kind) + ", " +
           Inline(tool.status) + ")\n";
    for (const Location& location : tool.locations) {
      out += "  - " + Inline(location.path);
      if (location.line) out += ":" + std::to_string(*location.line);
      out += "\n";
    }
    for (const Diff& diff : tool.diffs) {
      out += "\n  " + Inline(diff.path);
      if (diff.new_file) out += " (" + Inline(words_.new_file) + ")";
      out += ":\n\n";
      AppendFenced(out, "  ", "diff", ChangedLines(diff.old_text, diff.new_text));
    }
    if (!tool.diffs.empty()) out += "\n";
  }

  void Add(std::string& out, const PlanPart& part) const {
    out += "\n**" + Inline(words_.plan) + ":**\n\n";
    for (const PlanEntry& entry : part.entries) {
      out += entry.status == "completed" ? "- [x] " : "- [ ] ";
      AppendInline(out, entry.content);
      out += " (" + Inline(entry.priority);
      if (entry.status == "in_progress") out += ", " + Inline(words_.in_progress);
      out += ")\n";
    }
  }

  const bool thoughts_;
  const MarkdownWords& words_;
};

}  // namespace

absl::StatusOr<ExportReport> ExportMarkdown(const Store& store, std::string_view channel,
                                            const MarkdownOptions& options, const Sink& sink) {
  const auto id = Id("channel", channel);
  if (!id.ok()) return id.status();
  const Store::Impl& inside = Inside::Of(store);
  Look look(*inside.engine);
  json::Document document = NewDocument();
  ExportReport report;

  std::set<UlidBytes> deleted;
  absl::Status status = look.ReadDeleted(deleted);
  Channel about;
  const auto read_channel = [&](std::string_view key, std::string_view value) {
    if (!CanBeRead(document, key, value)) {
      ++report.unreadable;
      return absl::OkStatus();
    }
    about = *ReadChannel(document, *JsonOf(value));
    ++report.written.channels;
    return absl::OkStatus();
  };
  if (status.ok()) status = look.Upwards(ChannelKey(*id), read_channel);
  if (!status.ok()) return status;
  if (deleted.contains(*id) || !look.HasChannel(*id)) return NoChannel(channel, inside.name);
  about.id = UlidText(*id);

  const ChannelPage page(options);
  status = sink(page.Title(about));
  if (!status.ok()) return status;
  uint64_t unreadable = 0;
  status = look.Downwards(MessagesPrefix(*id), [&](std::string_view key, std::string_view value) {
    if (!CanBeRead(document, key, value)) {
      ++unreadable;
      return absl::OkStatus();
    }
    ++report.written.messages;
    return sink(page.Section(*ReadMessage(document, *JsonOf(value))));
  });
  if (!status.ok()) return status;
  if (look.damaged()) ++unreadable;
  report.unreadable += unreadable;
  if (unreadable > 0) status = sink(page.Unreadable(unreadable));
  if (!status.ok()) return status;
  return report;
}

}  // namespace watchbill::history
