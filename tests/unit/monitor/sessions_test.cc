#include "sessions.hpp"

#include <doctest/doctest.h>

#include <map>

namespace watchbill::monitor {
namespace {

using Headers = std::map<std::string, std::string>;
const Headers kNone;

struct Asked {
  std::map<std::string, std::string> headers;
  net::Request request;
  Asked(const Asked&) = delete;
  explicit Asked(std::map<std::string, std::string> h, bool loopback = false, bool forwarded = false)
      : headers(std::move(h)) {
    request.from_loopback = loopback;
    request.forwarded = forwarded;
    request.header = [this](std::string_view name) -> std::string_view {
      const auto it = headers.find(std::string(name));
      return it == headers.end() ? std::string_view() : std::string_view(it->second);
    };
  }
};

TEST_CASE("M2 on loopback, with nobody keyed in, this machine may watch, and nobody through a proxy") {
  Sessions sessions("", true);
  CHECK(sessions.MayWatch(Asked(kNone, true).request, {}));
  CHECK_FALSE(sessions.MayWatch(Asked(kNone, true, true).request, {}));
  CHECK_FALSE(sessions.MayWatch(Asked(kNone, false).request, {}));
  Sessions elsewhere("secret", false);
  CHECK_FALSE(elsewhere.MayWatch(Asked(kNone, true).request, {}));
}

TEST_CASE("M2 the token lets programs in, and makes a session for a browser") {
  Sessions sessions("secret", false);
  CHECK(sessions.HasToken(Asked(Headers{{"x-monitor-token", "secret"}}).request));
  CHECK_FALSE(sessions.HasToken(Asked(Headers{{"x-monitor-token", "secre"}}).request));
  CHECK_FALSE(sessions.HasToken(Asked(kNone).request));
  CHECK(sessions.MayWatch(Asked(Headers{{"x-monitor-token", "secret"}}).request, {}));
  CHECK(sessions.SignIn("wrong", {}).empty());
  const std::string session = sessions.SignIn("secret", {});
  CHECK(session.size() == 64);
  const Asked with(Headers{{"Cookie", "other=1; watchbill_session=" + session}});
  CHECK(sessions.MayWatch(with.request, {.mono_ns = 11 * 3600 * kSecond}));
  CHECK(sessions.MayWatch(with.request, {.mono_ns = 22 * 3600 * kSecond}));  // renewed by use
  CHECK_FALSE(sessions.MayWatch(with.request, {.mono_ns = 35 * 3600 * kSecond}));
  CHECK_FALSE(sessions.MayWatch(Asked(Headers{{"Cookie", "watchbill_session="}}).request, {}));
}

TEST_CASE("M2 signing out ends the session; without a token there is none to make") {
  Sessions sessions("secret", false);
  const std::string session = sessions.SignIn("secret", {});
  const Asked with(Headers{{"Cookie", "watchbill_session=" + session}});
  sessions.SignOut(with.request);
  CHECK_FALSE(sessions.MayWatch(with.request, {}));
  CHECK(Sessions("", true).SignIn("", {}).empty());
  CHECK(Sessions::CookieHeader("x").find("HttpOnly; SameSite=Strict") != std::string::npos);
}

}  // namespace
}  // namespace watchbill::monitor
