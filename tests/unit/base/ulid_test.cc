#include "watchbill/base/ulid.hpp"

#include <doctest/doctest.h>

namespace watchbill {
namespace {

TEST_CASE("ids grow, within a millisecond and when the clock goes back") {
  UlidGenerator generator(7);
  std::string last = generator.Next(1'000);
  for (const int64_t ms : {1'000, 1'000, 1'001, 900, 0, -5, 1'001, 2'000}) {
    const std::string next = generator.Next(ms);
    CHECK(next.size() == 26);
    CHECK(next > last);
    last = next;
  }
}

TEST_CASE("the time is in the first ten characters, and one seed gives one sequence") {
  UlidGenerator a(1), b(1), c(2);
  CHECK(a.Next(1'469'918'176'385).substr(0, 10) == "01ARYZ6S41");  // the example of the ULID specification
  CHECK(a.Next(1'469'918'176'390) != c.Next(1'469'918'176'390));
  b.Next(1'469'918'176'385);
  UlidGenerator again(1);
  again.Next(1'469'918'176'385);
  CHECK(b.Next(5) == again.Next(5));
}

}  // namespace
}  // namespace watchbill
