#include "watchbill/net/origin.hpp"

#include <arpa/inet.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "watchbill/net/server.hpp"

namespace watchbill::net {
namespace {

// "host:5180" and "[::1]:5180" without the port; nothing for what is neither.
std::string_view WithoutPort(std::string_view host) {
  std::string_view port;
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    port = host.substr(end + 1);
    host = host.substr(1, end - 1);
  } else if (const size_t colon = host.find(':'); colon != std::string_view::npos) {
    port = host.substr(colon);
    host = host.substr(0, colon);
  }
  if (port.empty()) return host;
  const bool digits = port.size() > 1 &&
                      std::all_of(port.begin() + 1, port.end(), [](char c) { return c >= '0' && c <= '9'; });
  return port.front() == ':' && digits ? host : std::string_view{};
}

bool IsAddress(std::string_view host) {
  const std::string text(host);
  std::array<unsigned char, sizeof(in6_addr)> buffer{};
  return inet_pton(AF_INET, text.c_str(), buffer.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), buffer.data()) == 1;
}

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return lower(x) == lower(y);
  });
}

}  // namespace

bool IsLoopbackHost(std::string_view host) {
  if (SameName(host, "localhost") || host == "::1") return true;
  in_addr address{};
  const std::string text(host);
  return inet_pton(AF_INET, text.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

bool HostAllowed(std::string_view host_header, bool bound_to_loopback,
                 const std::vector<std::string>& names) {
  const std::string_view host = WithoutPort(host_header);
  if (host.empty()) return false;
  if (IsLoopbackHost(host)) return true;
  if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return SameName(name, host); }))
    return true;
  return !bound_to_loopback && IsAddress(host);
}

bool OriginAllowed(std::string_view origin, std::string_view host_header) {
  if (origin.empty()) return true;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return SameName(origin.substr(scheme.size()), host_header);
  }
  return false;  // "null" too: a sandboxed page is somebody's
}

std::string_view CookieOf(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const size_t end = cookies.find(';');
    std::string_view one = cookies.substr(0, end);
    cookies = end == std::string_view::npos ? std::string_view() : cookies.substr(end + 1);
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=') {
      return one.substr(name.size() + 1);
    }
  }
  return {};
}

bool SameSecret(std::string_view a, std::string_view b) {
  // Of digests, so that the length does not show either.
  std::array<unsigned char, SHA256_DIGEST_LENGTH> da{}, db{};
  SHA256(reinterpret_cast<const unsigned char*>(a.data()), a.size(), da.data());
  SHA256(reinterpret_cast<const unsigned char*>(b.data()), b.size(), db.data());
  return CRYPTO_memcmp(da.data(), db.data(), da.size()) == 0;
}

std::string RandomSecret() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw std::runtime_error("the system gives no random bytes");  // nothing that follows would be safe
  }
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) {
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
  return out;
}

}  // namespace watchbill::net
