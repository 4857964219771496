#include "watchbill/acp/log_tail.hpp"

#include <doctest/doctest.h>

namespace watchbill::acp {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("S9 lines are given once they are complete, whatever their pieces") {
  LogTail log;
  CHECK(log.Feed("first\nsec") == Lines{"first"});
  CHECK(log.Feed("ond").empty());
  CHECK(log.Feed("\r\n\nthird\n") == Lines{"second", "", "third"});
  CHECK(log.Feed("last").empty());
  CHECK(log.End() == Lines{"last"});
  CHECK(log.End().empty());
  CHECK(log.lines() == std::deque<std::string>{"first", "second", "", "third", "last"});
}

TEST_CASE("S9 the last of them are kept") {
  LogTail log(3);
  for (int i = 0; i < 10; ++i) log.Feed(std::to_string(i) + "\n");
  CHECK(log.lines() == std::deque<std::string>{"7", "8", "9"});
  CHECK(log.Last(2) == "  8\n  9");
  CHECK(log.Last(100) == "  7\n  8\n  9");
  CHECK(log.Last(0).empty());
  CHECK(LogTail().Last(5).empty());
  LogTail whole;
  for (int i = 0; i < 300; ++i) whole.Feed("x\n");
  CHECK(whole.lines().size() == 200);
}

TEST_CASE("S9 a long line is cut, between characters, and the next one is whole") {
  LogTail log;
  const std::string full(LogTail::kLongestLine, 'x');
  CHECK(log.Feed(full + "\n") == Lines{full});
  CHECK(log.Feed(full + "y\nnext\n") == Lines{full + " […]", "next"});
  const std::string odd = std::string(LogTail::kLongestLine - 1, 'x');
  CHECK(log.Feed(odd + "é\n") == Lines{odd + " […]"});
  LogTail bytewise;
  for (int i = 0; i < 20'000; ++i) CHECK(bytewise.Feed("z").empty());
  const auto& lines = bytewise.Feed("\n");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == std::string(LogTail::kLongestLine, 'z') + " […]");
}

TEST_CASE("S9 terminal sequences are gone, also where they come in pieces") {
  LogTail log;
  CHECK(log.Feed("\x1B[").empty());
  CHECK(log.Feed("31mred\x1B[0").empty());
  CHECK(log.Feed("m!\n") == Lines{"red!"});
}

TEST_CASE("text that may be shown") {
  CHECK(Printable("a\tb\nc") == "a\tb\nc");
  CHECK(Printable(std::string_view("a\0\r\b\x7F"
                                   "b",
                                   6)) == "ab");
  CHECK(Printable("\x1B[1;31mred\x1B[m") == "red");
  CHECK(Printable("\x1B]0;title\a"
                  "x") == "x");
  CHECK(Printable("\x1B]8;;http://a\x1B\\link\x1B]8;;\x1B\\") == "link");
  CHECK(Printable("\x1B(Bx\x1B=y\x1B"
                  "7z") == "xyz");
  CHECK(Printable("\xC2\x9B"
                  "31mx") == "31mx");  // a control character of one's own: its parameters do no harm
  CHECK(Printable("\xFFx\xC3") == "\xEF\xBF\xBDx\xEF\xBF\xBD");
  CHECK(Printable("naïve \xF0\x9F\x98\x80") == "naïve \xF0\x9F\x98\x80");
  CHECK(Printable("").empty());
}

TEST_CASE("a broken terminal sequence takes nothing with it that is text") {
  CHECK(Printable("\x1B") == "");
  CHECK(Printable("\x1B[") == "");
  CHECK(Printable("\x1B[12") == "");
  CHECK(Printable("\x1B[\nnext") == "\nnext");
  CHECK(Printable("\x1B[1;é") == "é");
  CHECK(Printable("\x1B\nnext") == "\nnext");
  CHECK(Printable("\x1Bé") == "é");
  CHECK(Printable("\x1B\x1B[31mx") == "x");
  CHECK(Printable("\x1B]0;never ended\nnext") == "\nnext");
  CHECK(Printable("\x1B]0;title\x1B[31mx") == "x");
}

}  // namespace
}  // namespace watchbill::acp
