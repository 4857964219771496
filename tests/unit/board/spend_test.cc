#include "spend.hpp"

#include <doctest/doctest.h>

namespace watchbill::board {
namespace {

TEST_CASE("B5 the newest 2,048 entries are known") {
  SeenEntries seen;
  for (int i = 0; i < 2048; ++i) REQUIRE(seen.Insert(std::to_string(i), ""));
  for (int i = 0; i < 2048; ++i) REQUIRE_FALSE(seen.Insert(std::to_string(i), ""));
  CHECK(seen.Insert("2048", ""));
  CHECK(seen.Insert("0", ""));        // the oldest has been let go
  CHECK_FALSE(seen.Insert("2", ""));  // "1" made room for "0"
}

TEST_CASE("an id and a run do not run together") {
  SeenEntries seen;
  CHECK(seen.Insert("1", "2"));
  CHECK(seen.Insert("12", ""));
  CHECK(seen.Insert("", "12"));
}

TEST_CASE("B5 a window forgets what is five minutes old, also over a long silence") {
  RateWindow rate;
  CHECK_FALSE(rate.Advance(0));
  rate.Add(1000, 0);
  rate.Add(500, 100'000'000'000);
  CHECK(rate.PerMinute() == 300);
  CHECK_FALSE(rate.Advance(299'000'000'000));
  CHECK(rate.Advance(301'000'000'000));
  CHECK(rate.PerMinute() == 100);
  CHECK(rate.Advance(10'000'000'000'000));
  CHECK(rate.idle());
  rate.Add(5, 10'000'000'000'000);
  CHECK(rate.PerMinute() == 1);
}

}  // namespace
}  // namespace watchbill::board
