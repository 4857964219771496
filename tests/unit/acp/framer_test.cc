#include "watchbill/acp/framer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace watchbill::acp {
namespace {

using Lines = std::vector<std::string>;

// Every line there is for now; one that was too long as its length and its beginning.
void Drain(LineFramer& framer, Lines& lines) {
  while (const auto line = framer.Next()) {
    lines.push_back(line->too_long == 0 ? std::string(line->text)
                                        : std::to_string(line->too_long) + ":" + std::string(line->text));
  }
}

Lines InPieces(std::string_view bytes, size_t piece, size_t longest = LineFramer::kLongestLine) {
  LineFramer framer(longest);
  Lines lines;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    framer.Feed(bytes.substr(0, piece));
    Drain(framer, lines);
  }
  framer.End();
  Drain(framer, lines);
  CHECK(framer.waiting() == 0);
  return lines;
}

Lines SplitAt(std::string_view bytes, size_t at, size_t longest = LineFramer::kLongestLine) {
  LineFramer framer(longest);
  Lines lines;
  framer.Feed(bytes.substr(0, at));
  Drain(framer, lines);
  framer.Feed(bytes.substr(at));
  framer.End();
  Drain(framer, lines);
  return lines;
}

void CheckInAllPieces(std::string_view bytes, const Lines& wanted,
                      size_t longest = LineFramer::kLongestLine) {
  CAPTURE(std::string(bytes));
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, bytes.size() + 1}) {
    CAPTURE(piece);
    CHECK(InPieces(bytes, piece, longest) == wanted);
  }
  for (size_t at = 0; at <= bytes.size(); ++at) {
    CAPTURE(at);
    CHECK(SplitAt(bytes, at, longest) == wanted);
  }
}

TEST_CASE("A3 a stream is cut at its newlines, whatever its pieces") {
  CheckInAllPieces("{\"a\":1}\n{\"b\":2}\n", {"{\"a\":1}", "{\"b\":2}"});
  CheckInAllPieces("a\nb", {"a", "b"});
  CheckInAllPieces("a", {"a"});
  CheckInAllPieces("", {});
  CheckInAllPieces("\xC3\xA9\n\xF0\x9F\x98\x80\n", {"\xC3\xA9", "\xF0\x9F\x98\x80"});
}

TEST_CASE("A3 what stands around a line on some platforms is taken off") {
  CheckInAllPieces("\xEF\xBB\xBF{}\r\n{}\r\n", {"{}", "{}"});
  CheckInAllPieces("\xEF\xBB\xBF\n{}\n", {"{}"});
  CheckInAllPieces("\xEF\xBB\xBF", {});
  // A byte order mark is one at the start of the stream alone.
  CheckInAllPieces("a\n\xEF\xBB\xBF{}\n", {"a", "\xEF\xBB\xBF{}"});
  CheckInAllPieces("\n\xEF\xBB\xBF{}\n", {"\xEF\xBB\xBF{}"});
  CheckInAllPieces("a\r\r\n\rb\n", {"a\r", "\rb"});
  CheckInAllPieces("a\r", {"a"});
}

TEST_CASE("A3 lines of nothing but blanks are left out") {
  CheckInAllPieces("\n\r\n  \t\n\na\n\n \n", {"a"});
  CheckInAllPieces(" a \n", {" a "});
}

TEST_CASE("A3 a line that is too long is let go, and reading goes on behind it") {
  CheckInAllPieces("12345678901\nok\n", {"11:1234567890", "ok"}, 10);
  CheckInAllPieces("1234567890\nok\n", {"1234567890", "ok"}, 10);
  CheckInAllPieces("12345678901", {"11:1234567890"}, 10);
  CheckInAllPieces("1234567890123456789012345\r\n\nok", {"26:1234567890", "ok"}, 10);
  CheckInAllPieces("123456789012\n123456789012\n12\n", {"12:1234567890", "12:1234567890", "12"}, 10);
  CheckInAllPieces("            \na\n", {"12:          ", "a"}, 10);
}

TEST_CASE("A3 of a line that is too long one kilobyte is kept") {
  const std::string longer(5000, 'x');
  const Lines wanted = {"5000:" + std::string(1024, 'x'), "y"};
  for (const size_t piece : {size_t{1}, size_t{1000}, size_t{4001}, size_t{10'000}}) {
    CHECK(InPieces(longer + "\ny\n", piece, 4000) == wanted);
  }
}

TEST_CASE("A3 the bytes of a line that is too long are not gathered") {
  LineFramer framer(4000);
  const std::string piece(1000, 'x');
  for (int i = 0; i < 1000; ++i) {
    framer.Feed(piece);
    CHECK_FALSE(framer.Next().has_value());
    CHECK(framer.waiting() <= 5000);
  }
  framer.Feed("\n");
  const auto line = framer.Next();
  REQUIRE(line.has_value());
  CHECK(line->too_long == 1'000'000);
}

TEST_CASE("A3 a line of several megabytes is one line, and a small one behind it another") {
  const std::string longer(3 << 20, 'x');
  const Lines lines = InPieces(longer + "\nsmall\n", 65'536);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == longer);
  CHECK(lines[1] == "small");
}

TEST_CASE("A3 the work is linear: 64 MiB that come one byte at a time") {
  // Were it not, this would take hours: the time limit of the test is the check.
  LineFramer framer;
  uint64_t lines = 0, bytes = 0;
  for (size_t i = 0; i < 64u << 20; ++i) {
    framer.Feed((i & 0xFFFFFF) == 0xFFFFFF ? "\n" : "x");
    while (const auto line = framer.Next()) {
      ++lines;
      bytes += line->text.size();
    }
  }
  CHECK(lines == 4);
  CHECK(bytes == (64u << 20) - 4);
  CHECK(framer.waiting() == 0);
}

TEST_CASE("A3 the work is linear: a million lines in one piece") {
  std::string all;
  for (int i = 0; i < 1'000'000; ++i) all.append("{}\n");
  LineFramer framer;
  framer.Feed(all);
  uint64_t lines = 0;
  while (const auto line = framer.Next()) lines += line->text == "{}";
  CHECK(lines == 1'000'000);
}

}  // namespace
}  // namespace watchbill::acp
