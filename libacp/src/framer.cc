#include "watchbill/acp/framer.hpp"

#include <algorithm>
#include <utility>

namespace watchbill::acp {
namespace {

constexpr size_t kKeptOfTooLong = 1024;

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
    dropped_ += lost;
    bytes.remove_prefix(lost);
  }
  buffer_.append(bytes);
}

void LineFramer::End() { ended_ = true; }

std::optional<LineFramer::Line> LineFramer::Cut(size_t end, size_t next) {
  Line line;
  line.text = std::string_view(buffer_).substr(begin_, end - begin_);
  if (dropped_ > 0 || line.text.size() > longest_) {
    line.too_long = line.text.size() + dropped_;
    line.text = line.text.substr(0, std::min(longest_, kKeptOfTooLong));
  }
  begin_ = scanned_ = next;
  dropped_ = 0;
  if (std::exchange(at_start_, false) && line.text.starts_with("\xEF\xBB\xBF")) line.text.remove_prefix(3);
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  if (line.too_long == 0 && line.text.find_first_not_of(" \t\r") == std::string_view::npos)
    return std::nullopt;
  return line;
}

std::optional<LineFramer::Line> LineFramer::Next() {
  while (begin_ < buffer_.size() || dropped_ > 0) {
    const size_t newline = buffer_.find('\n', scanned_);
    if (newline != std::string::npos) {
      if (auto line = Cut(newline, newline + 1)) return line;
      continue;
    }
    scanned_ = buffer_.size();
    if (ended_) {
      if (auto line = Cut(buffer_.size(), buffer_.size())) return line;
      break;
    }
    if (buffer_.size() - begin_ > longest_) {
      const size_t keep = begin_ + std::min(longest_, kKeptOfTooLong);
      dropped_ += buffer_.size() - keep;
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
  return std::nullopt;
}

}  // namespace watchbill::acp
