// Who may ask: the checks of the Host and Origin headers, and of a token.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace watchbill::net {

// Whether a request may name this host (with or without a port). A server on loopback answers to loopback
// names alone; any other also to addresses, which no DNS answer can make up, and to the names it was told it
// has.
bool HostAllowed(std::string_view host_header, bool bound_to_loopback, const std::vector<std::string>& names);

// Whether a page of this origin may ask. None is no browser, and may; another site's may not.
bool OriginAllowed(std::string_view origin_header, std::string_view host_header);

// The value of a cookie in a Cookie header; empty where it is not there.
std::string_view CookieOf(std::string_view cookie_header, std::string_view name);

// Takes as long for a near miss as for a far one.
bool SameSecret(std::string_view a, std::string_view b);

// 32 bytes of the system's randomness, as 64 hex digits.
std::string RandomSecret();

}  // namespace watchbill::net
