#include "yaml_source.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "watchbill/base/json_writer.hpp"

namespace watchbill::supervisor {
namespace {

// They stand for the backslashes of a surrogate pair while yaml-cpp reads.
constexpr char kHigh = '\x01', kLow = '\x02';

std::optional<unsigned> Hex4(std::string_view s, size_t at) {
  if (at + 4 > s.size()) return std::nullopt;
  unsigned value = 0;
  for (const char c : s.substr(at, 4)) {
    unsigned digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<unsigned>((c | 0x20) - 'a') + 10;
    } else {
      return std::nullopt;
    }
    value = value * 16 + digit;
  }
  return value;
}

void AppendUtf8(std::string& out, unsigned beyond_16_bits) {
  out.push_back(static_cast<char>(0xF0 | (beyond_16_bits >> 18)));
  out.push_back(static_cast<char>(0x80 | ((beyond_16_bits >> 12) & 0x3F)));
  out.push_back(static_cast<char>(0x80 | ((beyond_16_bits >> 6) & 0x3F)));
  out.push_back(static_cast<char>(0x80 | (beyond_16_bits & 0x3F)));
}

}  // namespace

YamlSource::YamlSource(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text_.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\r' || at + 1 >= text.size() || text[at + 1] != '\n') text_.push_back(text[at]);
  }
  lines_.push_back(0);
  for (size_t at = 0; at < text_.size(); ++at) {
    if (text_[at] == '\n') lines_.push_back(at + 1);
  }
}

std::optional<Problem> YamlSource::BadByte() {
  size_t at = 0;
  while (at < text_.size()) {
    const auto byte = static_cast<unsigned char>(text_[at]);
    std::string message;
    if (byte == 0) {
      message = "a NUL byte stands here; the file has to be text in UTF-8";
    } else if (byte == '\r') {
      message = "a carriage return stands alone here; lines end with LF or CRLF";
    } else if (byte < 0x20 && byte != '\t' && byte != '\n') {
      message = fmt::format(
          "the control character U+{:04X} stands here; in double quotes it is written \\x{:02x}", byte, byte);
    }
    const size_t length = json_detail::Utf8Length(std::string_view(text_).substr(at));
    if (length == 0) {
      message = fmt::format("the byte 0x{:02X} is not UTF-8; the file has to be text in UTF-8", byte);
    }
    if (!message.empty()) {
      const Place place = PlaceOf(at);
      return Problem{.line = place.line, .column = place.column, .message = std::move(message)};
    }
    at += length;
  }
  return std::nullopt;
}

void YamlSource::MarkSurrogatePairs() {
  bool escaped = false;
  for (size_t at = 0; at < text_.size(); ++at) {
    if (text_[at] != '\\' || escaped) {
      escaped = false;
      continue;
    }
    escaped = true;
    if (at + 12 > text_.size() || text_[at + 1] != 'u' || text_[at + 6] != '\\' || text_[at + 7] != 'u')
      continue;
    const auto high = Hex4(text_, at + 2), low = Hex4(text_, at + 8);
    if (!high || !low || *high < 0xD800 || *high > 0xDBFF || *low < 0xDC00 || *low > 0xDFFF) continue;
    text_[at] = kHigh;
    text_[at + 6] = kLow;
    at += 11;
    escaped = false;
  }
}

std::string YamlSource::WithoutMarks(std::string_view scalar, bool double_quoted) {
  std::string out;
  for (size_t at = 0; at < scalar.size(); ++at) {
    if (scalar[at] == kHigh && double_quoted) {
      AppendUtf8(out, 0x10000 + ((Hex4(scalar, at + 2).value_or(0xD800) - 0xD800) << 10) +
                          (Hex4(scalar, at + 8).value_or(0xDC00) - 0xDC00));
      at += 11;
    } else {
      out.push_back(scalar[at] == kHigh || scalar[at] == kLow ? '\\' : scalar[at]);
    }
  }
  return out;
}

size_t YamlSource::OffsetOf(int position) const {
  return position < 0 ? 0 : std::min(static_cast<size_t>(position), text_.size());
}

size_t YamlSource::LineIndex(size_t offset) const {
  return static_cast<size_t>(std::upper_bound(lines_.begin(), lines_.end(), offset) - lines_.begin()) - 1;
}

Place YamlSource::PlaceOf(size_t offset) {
  const size_t line = LineIndex(offset);
  if (line != last_line_ || offset < last_offset_) {
    last_line_ = line;
    last_offset_ = lines_[line];
    last_column_ = 1;
  }
  for (; last_offset_ < offset; ++last_offset_) {
    if ((static_cast<unsigned char>(text_[last_offset_]) & 0xC0) != 0x80) ++last_column_;
  }
  return {static_cast<int>(line) + 1, last_column_};
}

std::string_view YamlSource::LineAt(size_t offset) const {
  const size_t begin = lines_[LineIndex(offset)];
  return std::string_view(text_).substr(begin, text_.find('\n', begin) - begin);
}

}  // namespace watchbill::supervisor
