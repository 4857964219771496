#include "watchbill/acp/log_tail.hpp"

#include <algorithm>
#include <utility>

#include "watchbill/base/json_writer.hpp"

namespace watchbill::acp {
namespace {

// How many bytes the terminal sequence at the start of `s` has. `s` begins with ESC. One that is broken ends
// where it breaks, so that no text goes with it. (ECMA-48)
size_t SequenceLength(std::string_view s) {
  if (s.size() < 2) return s.size();
  const char kind = s[1];
  if (kind == '[') {
    size_t at = 2;
    while (at < s.size() && s[at] >= 0x20 && s[at] <= 0x3F) ++at;
    return at < s.size() && s[at] >= 0x40 && s[at] <= 0x7E ? at + 1 : at;
  }
  if (kind == ']' || kind == 'P' || kind == '^' || kind == '_' || kind == 'X') {
    // A string, until BEL or ESC backslash; one that never ends takes no more than its line.
    for (size_t at = 2; at < s.size(); ++at) {
      if (s[at] == '\a') return at + 1;
      if (s[at] == '\x1B') return at + 1 < s.size() && s[at + 1] == '\\' ? at + 2 : at;
      if (s[at] == '\n') return at;
    }
    return s.size();
  }
  size_t at = 1;
  while (at < s.size() && s[at] >= 0x20 && s[at] <= 0x2F) ++at;
  return at < s.size() && s[at] >= 0x30 && s[at] <= 0x7E ? at + 1 : at;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    if (c == 0x1B) {
      text.remove_prefix(SequenceLength(text));
      continue;
    }
    const size_t n = json_detail::Utf8Length(text);
    if (n == 0) {
      out.append("\xEF\xBF\xBD");
      text.remove_prefix(1);
      continue;
    }
    // C1 controls are terminal sequences too, in one character.
    const bool c1 = n == 2 && c == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    if (!c1 && c != 0x7F && (c >= 0x20 || c == '\n' || c == '\t')) out.append(text.substr(0, n));
    text.remove_prefix(n);
  }
  return out;
}

void LogTail::Complete() {
  if (open_.ends_with('\r')) open_.pop_back();
  std::string line = Printable(open_);
  if (std::exchange(cut_, false)) line.append(" […]");
  open_.clear();
  completed_.push_back(line);
  lines_.push_back(std::move(line));
  if (lines_.size() > most_) lines_.pop_front();
}

const std::vector<std::string>& LogTail::Feed(std::string_view bytes) {
  completed_.clear();
  while (!bytes.empty()) {
    const size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline);
    const size_t room = cut_ ? 0 : kLongestLine - open_.size();
    open_.append(piece.substr(0, room));
    if (piece.size() > room && !std::exchange(cut_, true)) {
      // Between characters: what was begun of one at the end goes.
      size_t last = open_.size() - 1;
      while (last > 0 && open_.size() - last < 4 && (static_cast<unsigned char>(open_[last]) & 0xC0) == 0x80)
        --last;
      if (json_detail::Utf8Length(std::string_view(open_).substr(last)) == 0) open_.resize(last);
    }
    if (newline == std::string_view::npos) break;
    Complete();
    bytes.remove_prefix(newline + 1);
  }
  return completed_;
}

const std::vector<std::string>& LogTail::End() {
  completed_.clear();
  if (!open_.empty()) Complete();
  return completed_;
}

std::string LogTail::Last(size_t count) const {
  std::string out;
  for (size_t i = lines_.size() - std::min(count, lines_.size()); i < lines_.size(); ++i) {
    if (!out.empty()) out.push_back('\n');
    out.append("  ").append(lines_[i]);
  }
  return out;
}

}  // namespace watchbill::acp
