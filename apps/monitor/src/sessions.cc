#include "sessions.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "watchbill/net/origin.hpp"

namespace watchbill::monitor {
namespace {

constexpr std::string_view kCookie = "watchbill_session";
constexpr int64_t kLastsNs = 12 * 3600 * kSecond;
constexpr size_t kMostSessions = 10'000;

}  // namespace

bool Sessions::HasToken(const net::Request& request) const {
  return token_.empty() || net::SameSecret(request.header("x-monitor-token"), token_);
}

std::string Sessions::SessionOf(const net::Request& request) const {
  return std::string(net::CookieOf(request.header("Cookie"), kCookie));
}

bool Sessions::MayWatch(const net::Request& request, Now now) {
  if (loopback_ && request.from_loopback && !request.forwarded) return true;
  if (!token_.empty() && HasToken(request)) return true;
  const auto session = until_ns_.find(SessionOf(request));
  if (session == until_ns_.end()) return false;
  if (session->second <= now.mono_ns) {
    until_ns_.erase(session);
    return false;
  }
  session->second = now.mono_ns + kLastsNs;
  return true;
}

std::string Sessions::SignIn(std::string_view token, Now now) {
  if (token_.empty() || !net::SameSecret(token, token_)) return {};
  std::erase_if(until_ns_, [&](const auto& s) { return s.second <= now.mono_ns; });
  if (until_ns_.size() >= kMostSessions) until_ns_.erase(until_ns_.begin());
  std::string value = net::RandomSecret();
  until_ns_[value] = now.mono_ns + kLastsNs;
  return value;
}

void Sessions::SignOut(const net::Request& request) { until_ns_.erase(SessionOf(request)); }

std::string Sessions::CookieHeader(std::string_view value) {
  return fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/{}", kCookie, value,
                     value.empty() ? "; Max-Age=0" : "");
}

}  // namespace watchbill::monitor
