// The last lines that an agent wrote on its standard error.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace watchbill::acp {

// Lines as text that may be shown: what is no UTF-8 is U+FFFD, control characters and terminal sequences are
// gone, and a line longer than 8 KiB is cut. (design.md, "Everything is bounded"; reference, Logs: the last
// 200.)
class LogTail {
 public:
  static constexpr size_t kLongestLine = 8 << 10;
  explicit LogTail(size_t lines = 200) : most_(lines) {}

  // Gives the lines that these bytes completed, good until it is called again.
  const std::vector<std::string>& Feed(std::string_view bytes);
  // The one that stands behind the last newline, as if it were complete.
  const std::vector<std::string>& End();

  const std::deque<std::string>& lines() const { return lines_; }
  // The last `count` of them, each on a line of its own and indented; empty where there are none.
  std::string Last(size_t count) const;

 private:
  void Complete();

  size_t most_;
  std::string open_;
  bool cut_ = false;
  std::vector<std::string> completed_;
  std::deque<std::string> lines_;
};

// Text from outside as it may be shown: UTF-8, without control characters but newline and tab, without
// terminal sequences (ESC and what belongs to it).
std::string Printable(std::string_view text);

}  // namespace watchbill::acp
