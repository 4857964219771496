#include "watchbill/monitorproto/dialer.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace watchbill::monitorproto {
namespace {

using Step = Dialer::Step;

TEST_CASE("P9 attempts back off from 1 s to 30 s, for ever") {
  Dialer dialer;
  Now now;
  std::vector<int64_t> waits;
  for (int i = 0; i < 9; ++i) {
    REQUIRE(dialer.Next(now) == Step::kConnect);
    CHECK(dialer.Next(now) == Step::kWait);
    CHECK(dialer.Deadline() == kNever);
    dialer.Closed(now);
    waits.push_back((dialer.Deadline() - now.mono_ns) / kSecond);
    now.mono_ns = dialer.Deadline() - 1;
    CHECK(dialer.Next(now) == Step::kWait);
    now.mono_ns += 1;
  }
  CHECK(waits == std::vector<int64_t>{1, 2, 4, 8, 16, 30, 30, 30, 30});
}

TEST_CASE("P9 once a socket has opened, the wait begins again at a second, and is never less") {
  Dialer dialer;
  Now now;
  const auto next_wait = [&](bool opens) {
    REQUIRE(dialer.Next(now) == Step::kConnect);
    if (opens) dialer.Opened(now);
    dialer.Closed(now);
    const int64_t wait = (dialer.Deadline() - now.mono_ns) / kSecond;
    now.mono_ns = dialer.Deadline();
    return wait;
  };
  CHECK(next_wait(false) == 1);
  CHECK(next_wait(false) == 2);
  CHECK(next_wait(false) == 4);
  CHECK(next_wait(true) == 1);
  CHECK(next_wait(true) == 1);
  CHECK(next_wait(false) == 2);
  CHECK(next_wait(false) == 4);
}

TEST_CASE("P9 a half-open socket is dropped after two pings that nothing followed") {
  Dialer dialer;
  Now now;
  REQUIRE(dialer.Next(now) == Step::kConnect);
  dialer.Opened(now);
  now.mono_ns = 20 * kSecond;
  CHECK(dialer.Next(now) == Step::kPing);
  dialer.Heard(now);
  now.mono_ns = 40 * kSecond;
  CHECK(dialer.Next(now) == Step::kPing);
  now.mono_ns = 60 * kSecond;
  CHECK(dialer.Next(now) == Step::kPing);
  now.mono_ns = 80 * kSecond;
  CHECK(dialer.Next(now) == Step::kDrop);
  CHECK(dialer.Next(now) == Step::kWait);
  CHECK(dialer.Deadline() == 81 * kSecond);
}

TEST_CASE("once stopped it never dials again") {
  Dialer dialer;
  REQUIRE(dialer.Next({}) == Step::kConnect);
  dialer.Stop();
  dialer.Opened({});
  dialer.Closed({});
  CHECK(dialer.Next({.mono_ns = 1000 * kSecond}) == Step::kWait);
  CHECK(dialer.Deadline() == kNever);
}

}  // namespace
}  // namespace watchbill::monitorproto
