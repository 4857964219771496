#include "story.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace watchbill::example {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Not longer than `most` bytes, and not cut within a character.
std::string_view Beginning(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string Beside(std::string_view folder, std::string_view file) {
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", file);
}

constexpr std::string_view kOpening =
    "# The berth list\n\n"
    "There is no model behind this answer: it is **made up**, and always the same, so that a client has "
    "something to "
    "show. ";

constexpr std::string_view kPoints =
    "Three things stood out:\n\n"
    "- the *Auk* is in for repairs\n"
    "- the *Brant* leaves with the evening tide\n"
    "- berth 3 is free until noon\n\n";

constexpr std::string_view kClosing =
    "The list is sorted with one line:\n\n"
    "```sh\n"
    "sort -k2 -n berths.txt | head -3\n"
    "```\n\n"
    "| Berth | Ship  | Until |\n"
    "|------:|-------|-------|\n"
    "| 1     | Auk   | 18:00 |\n"
    "| 2     | Brant | 21:40 |\n"
    "| 3     | –     | 12:00 |\n\n"
    "More about the protocol: [Agent Client Protocol](https://agentclientprotocol.com).\n";

constexpr std::string_view kBefore =
    "# Berths\n"
    "1 Auk\n"
    "2 Brant\n"
    "3 Coot\n";
constexpr std::string_view kAfter =
    "# Berths\n"
    "1 Auk\n"
    "2 Brant\n"
    "3 free\n";

Story Saying(std::string markdown) {
  Story story;
  story.push_back({Say{std::move(markdown)}});
  return story;
}

EditFile EditOf(std::string_view folder) {
  return {Beside(folder, "berths.txt"), std::string(kBefore), std::string(kAfter)};
}

Story Answer(std::string_view prompt, std::string_view folder) {
  const std::vector<std::string> plan = {"Look at the berth list", "Correct what is out of date",
                                         "Say what was found"};
  const std::string_view asked = Trimmed(prompt);
  Story story;
  story.push_back({Think{"The berth list comes first; then it is clear what has to be corrected."}});
  story.push_back({ShowPlan{plan, 0, false}});
  story.push_back({ShowPlan{plan, 0, true}});
  story.push_back({ReadFile{Beside(folder, "berths.txt"), 2, std::string(kBefore)}});
  std::string opening(kOpening);
  if (asked.empty()) {
    opening += "Nothing was asked.\n\n";
  } else {
    opening.append("This was asked:\n\n").append(Quoted(asked)).append("\n\n");
  }
  story.push_back({Say{opening.append(kPoints)}});
  story.push_back({ShowPlan{plan, 1, true}});
  story.push_back({EditOf(folder)});
  story.push_back({Say{"The line of berth 3 is corrected.\n\n"}, Step::When::kAllowed});
  story.push_back({Say{"It was not allowed, so the file is left as it is.\n\n"}, Step::When::kRefused});
  story.push_back({ShowPlan{plan, 2, true}});
  story.push_back({Say{std::string(kClosing)}});
  story.push_back({ShowPlan{plan, 3, false}});
  story.push_back({ReportUsage{}});
  return story;
}

Story Plan(std::string_view about) {
  const std::string topic(about.empty() ? "the day"
                                        : Beginning(about.substr(0, about.find_first_of("\r\n")), 200));
  const std::vector<std::string> plan = {fmt::format("Find out what {} needs", topic), "Put it in order",
                                         "Do the first part"};
  Story story;
  story.push_back({ShowPlan{plan, 0, false}});
  for (size_t done = 0; done < plan.size(); ++done) story.push_back({ShowPlan{plan, done, true}});
  story.push_back({ShowPlan{plan, plan.size(), false}});
  return story;
}

std::string TaleOf(int64_t words) {
  static constexpr std::array<std::string_view, 24> kWords = {
      "the",  "tide", "came", "in",    "and",  "a",     "small", "boat",  "went",  "out",   "past", "the",
      "pier", "with", "two",  "lamps", "upon", "every", "mast",  "while", "gulls", "slept", "on",   "ropes"};
  std::string text;
  for (int64_t i = 0; i < words; ++i) {
    text += kWords[static_cast<size_t>(i) % kWords.size()];
    const bool last_of_line = (i + 1) % static_cast<int64_t>(kWords.size()) == 0;
    if (last_of_line || i + 1 == words) text += '.';
    if (i + 1 < words) text += last_of_line ? '\n' : ' ';
  }
  return text;
}

Story Tale(std::string_view argument) {
  int64_t words = 40;
  if (!argument.empty()) {
    const char* const behind = argument.data() + argument.size();
    const auto [end, error] = std::from_chars(argument.data(), behind, words);
    if (error != std::errc() || end != behind || words < 1 || words > kLongestTale) {
      return Saying(
          fmt::format("`/tale` takes how many words it has, a number from 1 to {}, not this:\n\n{}\n",
                      kLongestTale, Quoted(Beginning(argument, 200))));
    }
  }
  return Saying(TaleOf(words));
}

Story Ask(std::string_view folder) {
  Story story;
  story.push_back({EditOf(folder)});
  story.push_back({Say{"It is allowed: the line of berth 3 is corrected.\n"}, Step::When::kAllowed});
  story.push_back({Say{"It is not allowed: the file is left as it is.\n"}, Step::When::kRefused});
  return story;
}

}  // namespace

const std::vector<OfferedCommand>& OfferedCommands() {
  static const std::vector<OfferedCommand> kCommands = {
      {"plan", "makes a plan and goes through it", "what to plan"},
      {"tale", "tells a tale of so many words (40 unless it is said, 20000 at most)", "how many words"},
      {"ask", "asks for a permission", ""},
  };
  return kCommands;
}

std::optional<Invoked> CommandOf(std::string_view prompt) {
  prompt = Trimmed(prompt);
  if (!prompt.starts_with('/')) return std::nullopt;
  prompt.remove_prefix(1);
  const std::string_view name = prompt.substr(0, prompt.find_first_of(kBlanks));
  const auto belongs = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), belongs))
    return std::nullopt;
  return Invoked{name, Trimmed(prompt.substr(name.size()))};
}

Story StoryOf(std::string_view prompt, std::string_view folder) {
  const auto command = CommandOf(prompt);
  if (!command) return Answer(prompt, folder);
  if (command->name == "plan") return Plan(command->argument);
  if (command->name == "tale") return Tale(command->argument);
  if (command->name == "ask") return Ask(folder);
  std::string known;
  for (const OfferedCommand& one : OfferedCommands()) {
    known.append(known.empty() ? "" : ", ").append(fmt::format("`/{}`", one.name));
  }
  return Saying(fmt::format("There is no command `/{}`; there are {}.\n", command->name, known));
}

std::string_view NextWord(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return text;
  const size_t end = text.find_first_of(kBlanks, begin);
  if (end == std::string_view::npos) return text;
  return text.substr(0, text.find_first_not_of(kBlanks, end));
}

std::string Quoted(std::string_view text) {
  const std::string_view shown = Beginning(text, kMostQuoted);
  std::string out = "> ";
  for (size_t i = 0; i < shown.size(); ++i) {
    // Each of the line ends that Markdown knows, or what stands behind one would leave the quotation.
    if (shown[i] == '\r' && i + 1 < shown.size() && shown[i + 1] == '\n') continue;
    if (shown[i] == '\r' || shown[i] == '\n') {
      out += "\n> ";
    } else {
      out += shown[i];
    }
  }
  if (shown.size() < text.size()) out += " …";
  return out;
}

}  // namespace watchbill::example
