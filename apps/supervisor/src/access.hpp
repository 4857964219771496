// Who may talk to agents through this supervisor. (docs/protocols/rpc.md, "Getting in".)
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "watchbill/net/server.hpp"

namespace watchbill::supervisor {

// The cookie's value and the links that are open are files that only their user may read: whoever can write
// there is that user, and needs no other proof.
class Access {
 public:
  // `folder`: of this configuration's own; made where it is not there. The value of the cookie stays from one
  // start to the next; the token is new.
  static absl::StatusOr<Access> Open(const std::string& folder, std::string_view key);

  // A key that lets one browser in, once.
  static absl::StatusOr<std::string> MakeLink(const std::string& folder);
  // Forgets the links that nobody has used.
  static void ForgetLinks(const std::string& folder);

  bool Allowed(const net::Request& request) const;
  // The answer to GET /open/KEY: in, or a page of text that says what to do.
  net::Response AnswerLink(std::string_view key, const net::Request& request) const;
  const std::string& token() const { return token_; }

 private:
  std::string folder_, cookie_name_, cookie_, token_;
};

}  // namespace watchbill::supervisor
