#include "watchbill/base/now.hpp"

#include <doctest/doctest.h>

namespace watchbill {
namespace {

TEST_CASE("moments are written in UTC with milliseconds") {
  CHECK(IsoFromWallMs(0) == "1970-01-01T00:00:00.000Z");
  CHECK(IsoFromWallMs(1'790'878'320'123) == "2026-10-01T18:12:00.123Z");
  CHECK(IsoFromWallMs(-1) == "1969-12-31T23:59:59.999Z");
  CHECK(IsoFromWallMs(951'782'400'000) == "2000-02-29T00:00:00.000Z");
  CHECK(IsoFromWallMs(INT64_MIN).size() == 24);
  CHECK(IsoFromWallMs(INT64_MAX) == "9999-12-31T23:59:59.999Z");
}

TEST_CASE("what is written reads back") {
  for (int64_t ms = -4'000'000'000'000; ms < 8'000'000'000'000; ms += 86'399'123'457) {
    CAPTURE(ms);
    CHECK(WallMsFromIso(IsoFromWallMs(ms)) == ms);
  }
}

TEST_CASE("stamps of other hands are read, and nothing else is") {
  CHECK(WallMsFromIso("2026-10-01T18:12:00Z") == 1'790'878'320'000);
  CHECK(WallMsFromIso("2026-10-01T18:12:00.1234567Z") == 1'790'878'320'123);
  CHECK(WallMsFromIso("2026-10-01T20:12:00+02:00") == 1'790'878'320'000);
  for (const char* text :
       {"", "…", "2026-10-01", "2026-10-01T18:12:00", "2026-13-01T18:12:00Z", "2026-10-01 18:12:00Z",
        "2026-10-01T18:12:00.Z", "2026-10-01T18:12:00Zjunk", "2026-10-01T18:12:00+2:00"}) {
    CAPTURE(text);
    CHECK_FALSE(WallMsFromIso(text).has_value());
  }
}

}  // namespace
}  // namespace watchbill
