#include "watchbill/acp/framer.hpp"

#include <algorithm>
#include <utility>

namespace watchbill::acp {
namespace {

constexpr size_t kKeptOfTooLong = 1024;
constexpr size_t kKeptOfEnd = 64;

}  // namespace

void LineFramer::Feed(std::string_view bytes) {
  // What was handed out is let go before more is taken, and only where that moves fewer bytes than it frees.
  if (begin_ > 0 && begin_ >= buffer_.size() - begin_) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  if (dropped_ > 0 && scanned_ == buffer_.size()) {
    // In the middle of a line that is too long: nothing of it is kept any more.
    const size_t newline = bytes.find('\n');
    const size_t lost = newline == std::string_view::npos ? bytes.size() : newline;
    Drop(bytes.substr(0, lost));
    bytes.remove_prefix(lost);
  }
  buffer_.append(bytes);
}

void LineFramer::End() { ended_ = true; }

void LineFramer::Drop(std::string_view bytes) {
  dropped_ += bytes.size();
  const std::string_view last = bytes.substr(bytes.size() - std::min(bytes.size(), kKeptOfEnd));
  if (tail_.size() + last.size() > kKeptOfEnd) tail_.erase(0, tail_.size() + last.size() - kKeptOfEnd);
  tail_.append(last);
}

bool LineFramer::Cut(size_t end, size_t next, std::optional<Line>& cut) {
  Line& line = cut.emplace();
  line.text = std::string_view(buffer_).substr(begin_, end - begin_);
  if (dropped_ > 0 || line.text.size() > longest_) {
    const std::string_view whole = line.text;
    line.text = whole.substr(0, std::min(longest_, kKeptOfTooLong));
    line.too_long = whole.size() + dropped_;
    Drop(whole.substr(line.text.size()));
    told_tail_.swap(tail_);
    tail_.clear();
    line.tail = told_tail_;
  }
  begin_ = scanned_ = next;
  dropped_ = 0;
  if (std::exchange(at_start_, false) && line.text.starts_with("\xEF\xBB\xBF")) line.text.remove_prefix(3);
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  // What begins with a brace is not looked at twice.
  const bool blank = line.too_long == 0 && !line.text.starts_with('{') &&
                     line.text.find_first_not_of(" \t\r") == std::string_view::npos;
  if (blank) cut.reset();
  return !blank;
}

std::optional<LineFramer::Line> LineFramer::Next() {
  std::optional<Line> line;  // the one that is given, in its place
  while (begin_ < buffer_.size() || dropped_ > 0) {
    const size_t newline = buffer_.find('\n', scanned_);
    if (newline != std::string::npos) {
      if (Cut(newline, newline + 1, line)) return line;
      continue;
    }
    scanned_ = buffer_.size();
    if (ended_) {
      if (Cut(buffer_.size(), buffer_.size(), line)) return line;
      break;
    }
    if (buffer_.size() - begin_ > longest_) {
      const size_t keep = begin_ + std::min(longest_, kKeptOfTooLong);
      Drop(std::string_view(buffer_).substr(keep));
      buffer_.resize(keep);
      scanned_ = keep;
    }
    break;
  }
  if (begin_ == buffer_.size() && dropped_ == 0) {
    // A buffer that one enormous line made is not kept for the small ones that follow.
    if (buffer_.capacity() > (1u << 20)) std::string().swap(buffer_);
    buffer_.clear();
    begin_ = scanned_ = 0;
  }
  return line;
}

}  // namespace watchbill::acp
