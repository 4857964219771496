#include "watchbill/monitorproto/asks.hpp"

#include <doctest/doctest.h>

namespace watchbill::monitorproto {
namespace {

TEST_CASE("P5 an answer finds its question once, and only from who was asked") {
  Asks<int> asks;
  const std::string first = asks.Ask(1, 11, {}), second = asks.Ask(2, 22, {});
  CHECK(first != second);
  CHECK_FALSE(asks.Answered(2, first).has_value());
  CHECK_FALSE(asks.Answered(1, "ask-99").has_value());
  CHECK_FALSE(asks.Answered(1, "").has_value());
  CHECK(asks.Answered(2, second) == 22);
  CHECK_FALSE(asks.Answered(2, second).has_value());
  CHECK(asks.Answered(1, first) == 11);
}

TEST_CASE("P5 a button hears after ten seconds that nobody answered") {
  Asks<int> asks;
  asks.Ask(1, 11, {.mono_ns = 0});
  asks.Ask(1, 12, {.mono_ns = 5 * kSecond});
  CHECK(asks.Deadline() == 10 * kSecond);
  CHECK(asks.Expired({.mono_ns = 10 * kSecond - 1}).empty());
  CHECK(asks.Expired({.mono_ns = 10 * kSecond}) == std::vector<int>{11});
  CHECK(asks.Deadline() == 15 * kSecond);
  CHECK(asks.Closed(1) == std::vector<int>{12});
  CHECK(asks.Deadline() == kNever);
  CHECK(asks.size() == 0);
}

}  // namespace
}  // namespace watchbill::monitorproto
