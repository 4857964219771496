// The configuration's reader: every problem is a sentence at a place of the text, and what is valid can be
// written and read again.
#include "config.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "watchbill/base/json_writer.hpp"

using watchbill::supervisor::Config;
using watchbill::supervisor::ParseConfig;
using watchbill::supervisor::Problem;
using watchbill::supervisor::ReadConfig;

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

// Lines as the reader counts them, each with the number of its characters.
std::vector<int> LineLengths(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<int> lengths{0};
  for (const char c : text) {
    if (c == '\n') {
      lengths.push_back(0);
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++lengths.back();
    }
  }
  return lengths;
}

void Check(const Problem& problem, const std::vector<int>& lengths) {
  Require(problem.line >= 1 && static_cast<size_t>(problem.line) <= lengths.size());
  Require(problem.column >= 1 && problem.column <= lengths[static_cast<size_t>(problem.line) - 1] + 1);
  Require(!problem.message.empty() && problem.message.size() < 1000);
  for (size_t at = 0; at < problem.message.size();) {
    const size_t length = watchbill::json_detail::Utf8Length(std::string_view(problem.message).substr(at));
    Require(length > 0 && static_cast<unsigned char>(problem.message[at]) >= 0x20);
    at += length;
  }
}

std::string Written(const Config& config) {
  std::string out = "{\"theme\":\"" + config.theme + "\",\"language\":\"" + config.language +
                    "\",\"limits\":{\"maxRunningAgents\":" + std::to_string(config.max_running_agents) +
                    ",\"stopIdleAgentsAfter\":\"" + std::to_string(config.stop_idle_ms / 1000) +
                    "s\"},\"agents\":[";
  const auto text = [&](std::string_view key, std::string_view value) {
    watchbill::AppendJsonString(out, key);
    out += ":";
    watchbill::AppendJsonString(out, value);
    out += ",";
  };
  for (const auto& agent : config.agents) {
    out += "{";
    text("name", agent.name);
    text("title", agent.title);
    text("icon", agent.icon);
    text("description", agent.description);
    text("command", agent.command);
    text("cwd", agent.cwd);
    out += "\"env\":{";
    for (const auto& [name, value] : agent.env) text(name, value);
    out += "},\"args\":[";
    for (const std::string& argument : agent.args) {
      watchbill::AppendJsonString(out, argument);
      out += ",";
    }
    out += "]},";
  }
  return out + "]}";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string folder = "/etc/team", home = "/home/ann";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ReadConfig read = ParseConfig(text, folder, home);
  const std::vector<int> lengths = LineLengths(text);
  for (const Problem& problem : read.problems) Check(problem, lengths);
  Require(std::is_sorted(read.problems.begin(), read.problems.end(), [](const Problem& a, const Problem& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  }));
  if (!read.valid()) return 0;
  for (const auto& agent : read.config.agents) {
    Require(!agent.name.empty() && !agent.command.empty() && agent.cwd.starts_with('/'));
  }
  const ReadConfig again = ParseConfig(Written(read.config), folder, home);
  Require(again.valid() && again.config.agents == read.config.agents &&
          again.config.theme == read.config.theme && again.config.language == read.config.language &&
          again.config.stop_idle_ms == read.config.stop_idle_ms &&
          again.config.max_running_agents == read.config.max_running_agents);
  return 0;
}
