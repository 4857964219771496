// Who may watch and command, before there are people on the board.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "watchbill/base/now.hpp"
#include "watchbill/net/server.hpp"

namespace watchbill::monitor {

// Sessions of browsers that showed the monitor's token: kept in memory, 12 hours, renewed by use.
class Sessions {
 public:
  // `token` is empty where the monitor has none; it is then bound to loopback.
  Sessions(std::string token, bool bound_to_loopback)
      : token_(std::move(token)), loopback_(bound_to_loopback) {}

  // Whether whoever dials in as an agent, runner or server showed the token that there is.
  bool HasToken(const net::Request& request) const;
  // Whether somebody at a browser or a program of theirs may watch and command: on this machine, where
  // nothing was passed on for somebody else; or with a session; or with the token.
  bool MayWatch(const net::Request& request, Now now);

  // The value of the cookie for a browser that gave the right token; empty where it is wrong, or there is
  // none.
  std::string SignIn(std::string_view token, Now now);
  void SignOut(const net::Request& request);
  static std::string CookieHeader(std::string_view value);

 private:
  std::string SessionOf(const net::Request& request) const;

  std::string token_;
  bool loopback_;
  std::map<std::string, int64_t, std::less<>> until_ns_;
};

}  // namespace watchbill::monitor
