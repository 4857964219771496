#include "watchbill/net/origin.hpp"

#include <doctest/doctest.h>

#include "watchbill/net/server.hpp"

namespace watchbill::net {
namespace {

TEST_CASE("M2 a server on loopback answers to loopback names alone") {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:5180", "localhost:5180", "LOCALHOST", "[::1]:5180", "127.8.8.8"}) {
    CAPTURE(host);
    CHECK(HostAllowed(host, true, {}));
  }
  for (const char* host :
       {"", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.1.5", "0.0.0.0",
        "[::1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:5180:1", "::1"}) {
    CAPTURE(host);
    CHECK_FALSE(HostAllowed(host, true, {}));
  }
}

TEST_CASE("M2 elsewhere it answers to addresses and to the names it was told") {
  CHECK(HostAllowed("192.168.1.5:5180", false, {}));
  CHECK(HostAllowed("[2001:db8::1]:5180", false, {}));
  CHECK_FALSE(HostAllowed("board.example", false, {}));
  CHECK(HostAllowed("Board.Example:443", false, {"board.example"}));
}

TEST_CASE("M2 a page of another site is another origin; no browser is none") {
  CHECK(OriginAllowed("", "127.0.0.1:5180"));
  CHECK(OriginAllowed("http://127.0.0.1:5180", "127.0.0.1:5180"));
  CHECK(OriginAllowed("https://board.example", "board.example"));
  for (const char* origin : {"http://127.0.0.1:5181", "http://localhost:5180", "http://evil.example", "null",
                             "file://", "http://127.0.0.1:5180.evil.example"}) {
    CAPTURE(origin);
    CHECK_FALSE(OriginAllowed(origin, "127.0.0.1:5180"));
  }
}

TEST_CASE("secrets are compared whole") {
  CHECK(SameSecret("abc", "abc"));
  CHECK_FALSE(SameSecret("abc", "abd"));
  CHECK_FALSE(SameSecret("abc", "ab"));
  CHECK_FALSE(SameSecret("", "a"));
  CHECK(RandomSecret().size() == 64);
  CHECK(RandomSecret() != RandomSecret());
}

TEST_CASE("loopback is what it is") {
  CHECK(IsLoopbackHost("127.0.0.1"));
  CHECK(IsLoopbackHost("::1"));
  CHECK_FALSE(IsLoopbackHost("0.0.0.0"));
  CHECK_FALSE(IsLoopbackHost("128.0.0.1"));
}

TEST_CASE("a cookie is found by its whole name, wherever it stands") {
  CHECK(CookieOf("", "a") == "");
  CHECK(CookieOf("a=1", "a") == "1");
  CHECK(CookieOf("b=2; a=1;c=3", "a") == "1");
  CHECK(CookieOf("aa=2; a=x=y", "a") == "x=y");
  CHECK(CookieOf("aa=2; ba=1", "a") == "");
  CHECK(CookieOf("a", "a") == "");
  CHECK(CookieOf("a=", "a") == "");
}

}  // namespace
}  // namespace watchbill::net
