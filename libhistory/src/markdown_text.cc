#include "markdown_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <vector>

namespace watchbill::history {
namespace {

constexpr size_t kLinesAround = 3;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

// The first line, without its end, and the rest. A carriage return ends one too. (CommonMark 2.1.)
std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find_first_of("\r\n"), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  text.remove_prefix(text.starts_with("\r\n") ? 2 : text.empty() ? 0 : 1);
  return line;
}

size_t RunOf(std::string_view text, size_t at) {
  const size_t end = text.find_first_not_of(text[at], at);
  return (end == std::string_view::npos ? text.size() : end) - at;
}

// The fence that opens a block of code at the very start of the line; 0 where none does. Only such a one is
// sure to be what it looks like: one that stands further in may belong to a list, and end with it.
size_t OpensFence(std::string_view line) {
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return 0;
  const size_t run = RunOf(line, 0);
  const bool code_span = line[0] == '`' && line.find('`', run) != std::string_view::npos;
  return run < 3 || code_span ? 0 : run;
}

bool ClosesFence(std::string_view line, char fence, size_t length) {
  const size_t at = line.find_first_not_of(' ');
  if (at == std::string_view::npos || at > 3 || line[at] != fence) return false;
  const size_t run = RunOf(line, at);
  return run >= length && IsBlank(line.substr(at + run));
}

bool BeginsHtml(std::string_view text, size_t at) {
  if (text[at] != '<' || at + 1 == text.size()) return false;
  const char next = text[at + 1];
  return IsLetter(next) || next == '/' || next == '!' || next == '?';
}

// Lines outside of fenced code, one after the other, up to a blank one.
class Paragraph {
 public:
  void End() { open_.clear(); }

  // Whether this line has no HTML but within code that begins and ends on it.
  bool Holds(std::string_view line) {
    // A cell of a table ends also within code.
    const bool table = line.find('|') != std::string_view::npos;
    for (size_t at = 0; at < line.size();) {
      if (BeginsHtml(line, at)) return false;
      if (line[at] == '\\' && at + 1 < line.size() && line[at + 1] == '`') {
        // Whether that is an escape depends on whether this is code already.
        const size_t run = RunOf(line, at + 1);
        open_.insert(run);
        open_.insert(run - 1);
        at += 1 + run;
      } else if (line[at] == '`') {
        const size_t run = RunOf(line, at);
        const size_t end = table || !open_.empty() ? std::string_view::npos : EndOfCode(line, at + run, run);
        if (end == std::string_view::npos) open_.insert(run);
        at = end == std::string_view::npos ? at + run : end;
      } else {
        ++at;
      }
    }
    return true;
  }

 private:
  static size_t EndOfCode(std::string_view line, size_t at, size_t run) {
    while ((at = line.find('`', at)) != std::string_view::npos) {
      const size_t here = RunOf(line, at);
      at += here;
      if (here == run) return at;
    }
    return std::string_view::npos;
  }

  // The lengths of backticks that may have begun code which goes on to a later line: from then on nothing in
  // the paragraph is sure to be code.
  std::set<size_t> open_;
};

void AppendLine(std::string& out, std::string_view indent, std::string_view line) {
  out.append(indent).append(line);
  while (!out.empty() && line.empty() && out.back() == ' ') out.pop_back();
  out.push_back('\n');
}

// Lines with their ends.
std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end == std::string_view::npos ? end : end + 1));
    text.remove_prefix(lines.back().size());
  }
  return lines;
}

}  // namespace

void AppendInline(std::string& out, std::string_view text) {
  bool digits = true;  // all so far
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out.push_back(' ');
    } else {
      const bool begins_list = (at == 0 && std::string_view("-+=:").find(c) != std::string_view::npos) ||
                               (digits && at > 0 && (c == '.' || c == ')'));
      if (begins_list || std::string_view("\\`*_[]<>&~|#$").find(c) != std::string_view::npos)
        out.push_back('\\');
      out.push_back(c);
    }
    digits = digits && c >= '0' && c <= '9';
  }
}

bool QuotationHolds(std::string_view text) {
  Paragraph paragraph;
  char fence = '\0';
  size_t length = 0;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (length > 0) {
      if (ClosesFence(line, fence, length)) length = 0;
      continue;
    }
    if ((length = OpensFence(line)) > 0) {
      fence = line[0];
      paragraph.End();
      continue;
    }
    if (IsBlank(line)) paragraph.End();
    if (line.find("]:") != std::string_view::npos || !paragraph.Holds(line)) return false;
  }
  return true;
}

void AppendBlock(std::string& out, std::string_view indent, std::string_view text) {
  if (!QuotationHolds(text)) return AppendFenced(out, indent, "markdown", text);
  const std::string before = std::string(indent) + "> ";
  while (!text.empty()) AppendLine(out, before, TakeLine(text));
}

void AppendFenced(std::string& out, std::string_view indent, std::string_view kind, std::string_view text) {
  size_t longest = 2;
  for (size_t at = text.find('`'); at != std::string_view::npos; at = text.find('`', at)) {
    const size_t run = RunOf(text, at);
    longest = std::max(longest, run);
    at += run;
  }
  const std::string fence(longest + 1, '`');
  AppendLine(out, indent, fence + std::string(kind));
  while (!text.empty()) AppendLine(out, indent, TakeLine(text));
  AppendLine(out, indent, fence);
}

std::string ChangedLines(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> old_lines = SplitLines(before), new_lines = SplitLines(after);
  const size_t most = std::min(old_lines.size(), new_lines.size());
  size_t head = 0, tail = 0;
  while (head < most && old_lines[head] == new_lines[head]) ++head;
  while (tail < most - head &&
         old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail])
    ++tail;
  std::string out;
  const auto add = [&](char mark, const std::vector<std::string_view>& lines, size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      out.push_back(mark);
      out.append(lines[i]);
      if (!lines[i].ends_with('\n')) out.append("\n\\ no newline at the end\n");
    }
  };
  const size_t from = head - std::min(head, kLinesAround), around = std::min(tail, kLinesAround);
  const size_t old_end = old_lines.size() - tail, new_end = new_lines.size() - tail;
  out = fmt::format("@@ -{},{} +{},{} @@\n", from + 1, old_end + around - from, from + 1,
                    new_end + around - from);
  add(' ', old_lines, from, head);
  add('-', old_lines, head, old_end);
  add('+', new_lines, head, new_end);
  add(' ', old_lines, old_end, old_end + around);
  return out;
}

}  // namespace watchbill::history
