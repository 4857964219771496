// The text of a YAML file as yaml-cpp gets it, and where its bytes stand in the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "yaml_text.hpp"

namespace watchbill::supervisor {

class YamlSource {
 public:
  // Without a byte order mark and the CR of CRLF: neither moves a place.
  explicit YamlSource(std::string_view text);

  const std::string& text() const { return text_; }

  // What YAML does not allow in a file at all: bytes that are not UTF-8, control characters. The first of
  // them.
  std::optional<Problem> BadByte();

  // "\ud83d\ude00" is how JSON writes a character beyond 16 bits; yaml-cpp refuses it. Which of these twelve
  // bytes stand in double quotes only a YAML reader can tell, so the two backslashes are replaced wherever a
  // pair stands, which moves nothing, and each scalar puts right what it was given. After BadByte: the text
  // must not hold the two control characters that stand for them.
  void MarkSurrogatePairs();
  static std::string WithoutMarks(std::string_view scalar, bool double_quoted);

  // Of the position in yaml-cpp's marks, in bytes; -1 where it knows none. (Its lines and columns are wrong
  // at the end.)
  size_t OffsetOf(int position) const;
  // Cheap where they are asked for from left to right.
  Place PlaceOf(size_t offset);
  // The whole line, without its end; good as long as the text is.
  std::string_view LineAt(size_t offset) const;

 private:
  size_t LineIndex(size_t offset) const;

  std::string text_;
  std::vector<size_t> lines_;               // where each begins
  size_t last_line_ = 0, last_offset_ = 0;  // of the last place: a whole file may be one line
  int last_column_ = 1;
};

}  // namespace watchbill::supervisor
