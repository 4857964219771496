// What the example agent answers over the Agent Client Protocol: made up, the same for the same prompt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace watchbill::example {

// Said word by word.
struct Think {
  std::string text;
};
struct Say {
  std::string markdown;
};
// The whole plan, as it stands now: the first `completed` of its entries are done, and the next one is under
// way where `at_next` is set.
struct ShowPlan {
  std::vector<std::string> entries;
  size_t completed = 0;
  bool at_next = false;
};
// A file is read: begun and done at once.
struct ReadFile {
  std::string path;
  int64_t line = 1;
  std::string content;
};
// A file is changed, if the person at the other end allows it. No file is touched in truth.
struct EditFile {
  std::string path;
  std::string before, after;
};
struct ReportUsage {};

struct Step {
  enum class When {
    kAlways,
    kAllowed,  // only if the last EditFile was allowed
    kRefused
  };
  std::variant<Think, Say, ShowPlan, ReadFile, EditFile, ReportUsage> what;
  When when = When::kAlways;
};
using Story = std::vector<Step>;

// A command that the agent offers: a prompt that begins with a slash and its name.
struct OfferedCommand {
  std::string_view name, description, hint;
};
const std::vector<OfferedCommand>& OfferedCommands();

// The command of a prompt and what stands behind it, without the blanks between. Nothing where it begins with
// none:
// "/srv/data is full" is a sentence, not a command.
struct Invoked {
  std::string_view name, argument;
};
std::optional<Invoked> CommandOf(std::string_view prompt);

inline constexpr int64_t kLongestTale = 20'000;  // words
inline constexpr size_t kMostQuoted = 16 << 10;  // bytes of a prompt that are said back

// The answer to a prompt, for a session that lives in `folder` (an absolute path).
Story StoryOf(std::string_view prompt, std::string_view folder);

// The word at the start of `text`, with the blanks and newlines behind it (and before it, where there are
// some): the words of a text put together are the text. Empty where the text is.
std::string_view NextWord(std::string_view text);

// Each line of `text` as a line of a Markdown quotation, cut behind kMostQuoted bytes.
std::string Quoted(std::string_view text);

}  // namespace watchbill::example
