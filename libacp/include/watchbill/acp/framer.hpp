// Bytes in whatever pieces, lines out. (ACP v1, transport: one JSON message a line.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace watchbill::acp {

// Cuts a stream at each newline. A carriage return before it and a byte order mark at the start of the stream
// are taken off, lines of nothing but blanks are left out. Its work is linear in the bytes, whatever their
// pieces. One thread.
class LineFramer {
 public:
  static constexpr size_t kLongestLine = 32 << 20;
  explicit LineFramer(size_t longest_line = kLongestLine) : longest_(longest_line) {}

  // Copies the bytes.
  void Feed(std::string_view bytes);
  // What stands behind the last newline becomes a line of its own.
  void End();

  struct Line {
    std::string_view text;  // good until Feed, End or Next is called again
    // Not 0: the line was this many bytes long, too long, and `text` is only its beginning (1 KiB at most).
    uint64_t too_long = 0;
    std::string_view tail;  // of one that was too long: its last bytes (64 at most)
  };
  // Nothing: more bytes are needed.
  std::optional<Line> Next();

  // Bytes that wait for their newline.
  size_t waiting() const { return buffer_.size() - begin_; }

 private:
  // False: it was blank.
  bool Cut(size_t end, size_t next, std::optional<Line>& line);
  void Drop(std::string_view bytes);

  size_t longest_;
  std::string buffer_;
  size_t begin_ = 0;      // of the line that is being gathered
  size_t scanned_ = 0;    // no newline stands before this
  uint64_t dropped_ = 0;  // bytes of the line that were let go because it is too long already
  std::string tail_;      // the last of them
  std::string told_tail_;
  bool at_start_ = true;  // of the stream
  bool ended_ = false;
};

}  // namespace watchbill::acp
