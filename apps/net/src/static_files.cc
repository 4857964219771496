#include "watchbill/net/static_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

namespace watchbill::net {
namespace {

std::string_view Trim(std::string_view s) {
  while (s.starts_with(' ') || s.starts_with('\t')) s.remove_prefix(1);
  while (s.ends_with(' ') || s.ends_with('\t')) s.remove_suffix(1);
  return s;
}

// Whether a list such as "gzip, br;q=0.5" has that coding with a weight that is not 0.
bool Accepts(std::string_view list, std::string_view coding) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    const std::string_view name = Trim(item.substr(0, item.find(';')));
    if (name != coding) continue;
    const size_t weight = item.find("q=");
    return weight == std::string_view::npos ||
           std::strtod(std::string(item.substr(weight + 2)).c_str(), nullptr) > 0;
  }
  return false;
}

bool Matches(std::string_view list, std::string_view etag) {
  while (!list.empty()) {
    std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    item = Trim(item);
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item == "*" || item == etag) return true;
  }
  return false;
}

}  // namespace

std::optional<Response> ServeStatic(std::span<const StaticFile> files, const Request& request) {
  const auto file =
      std::find_if(files.begin(), files.end(), [&](const StaticFile& f) { return f.path == request.path; });
  if (file == files.end()) return std::nullopt;
  if (request.method != "GET" && request.method != "HEAD") {
    Response refused = ErrorResponse(405, "this is a file: GET and HEAD are what it takes");
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  Response response;
  response.type = file->type;
  response.fixed = file->raw;
  std::string etag = fmt::format("\"{}\"", file->etag);
  const std::string_view accepted = request.header("Accept-Encoding");
  if (!file->brotli.empty() && Accepts(accepted, "br")) {
    response.fixed = file->brotli;
    response.headers.emplace_back("Content-Encoding", "br");
    etag = fmt::format("\"{}-br\"", file->etag);
  } else if (!file->gzip.empty() && Accepts(accepted, "gzip")) {
    response.fixed = file->gzip;
    response.headers.emplace_back("Content-Encoding", "gzip");
    etag = fmt::format("\"{}-gz\"", file->etag);
  }
  response.headers.emplace_back("Vary", "Accept-Encoding");
  response.headers.emplace_back("Cache-Control",
                                file->immutable ? "public, max-age=31536000, immutable" : "no-cache");
  if (Matches(request.header("If-None-Match"), etag)) {
    response.status = 304;
    response.fixed = {};
    std::erase_if(response.headers, [](const auto& h) { return h.first == "Content-Encoding"; });
  }
  response.headers.emplace_back("ETag", std::move(etag));
  return response;
}

}  // namespace watchbill::net
