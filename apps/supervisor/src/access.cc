#include "access.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>

#include "watchbill/net/files.hpp"
#include "watchbill/net/origin.hpp"

namespace watchbill::supervisor {
namespace {

constexpr size_t kSecretSize = 64;

bool IsSecret(std::string_view text) {
  return text.size() == kSecretSize && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string LinkFile(const std::string& folder, std::string_view key) {
  return fmt::format("{}/links/{}", folder, key);
}

net::Response Page(int status, std::string text) {
  net::Response response;
  response.status = status;
  response.type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace

absl::StatusOr<Access> Access::Open(const std::string& folder, std::string_view key) {
  if (absl::Status status = net::EnsureFolder(folder + "/links"); !status.ok()) return status;
  Access access;
  access.folder_ = folder;
  access.cookie_name_ = fmt::format("watchbill_{}", key);
  const std::string file = folder + "/cookie";
  auto kept = net::ReadFile(file, 1024);
  if (kept.ok() && IsSecret(*kept)) {
    access.cookie_ = *std::move(kept);
  } else {
    access.cookie_ = net::RandomSecret();
    if (absl::Status status = net::ReplaceFile(file, access.cookie_); !status.ok()) return status;
  }
  access.token_ = net::RandomSecret();
  return access;
}

absl::StatusOr<std::string> Access::MakeLink(const std::string& folder) {
  if (absl::Status status = net::EnsureFolder(folder + "/links"); !status.ok()) return status;
  const std::string key = net::RandomSecret();
  if (absl::Status status = net::ReplaceFile(LinkFile(folder, key), ""); !status.ok()) return status;
  return key;
}

void Access::ForgetLinks(const std::string& folder) {
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/links", ec)) {
    std::filesystem::remove(entry.path(), ec);
  }
}

bool Access::Allowed(const net::Request& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view authorization = request.header("Authorization");
  if (authorization.starts_with(kBearer))
    return net::SameSecret(authorization.substr(kBearer.size()), token_);
  return net::SameSecret(net::CookieOf(request.header("Cookie"), cookie_name_), cookie_);
}

net::Response Access::AnswerLink(std::string_view key, const net::Request& request) const {
  // Removing the file is using it: of two that come at once, one gets in.
  const bool good = IsSecret(key) && unlink(LinkFile(folder_, key).c_str()) == 0;
  if (!good && !Allowed(request)) {
    return Page(403,
                "This link was used already, or is not of this supervisor.\n"
                "A new one: watchbill-supervisor link\n\n"
                "Ce lien a déjà servi, ou n’est pas de ce superviseur.\n"
                "Pour en avoir un autre : watchbill-supervisor link\n");
  }
  net::Response response = Page(303, "");
  response.headers.emplace_back("Location", "/");
  response.headers.emplace_back(
      "Set-Cookie",
      fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000", cookie_name_, cookie_));
  return response;
}

}  // namespace watchbill::supervisor
