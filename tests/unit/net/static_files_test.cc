#include "watchbill/net/static_files.hpp"

#include <doctest/doctest.h>

#include <map>

namespace watchbill::net {
namespace {

const StaticFile kFiles[] = {
    {"/", "text/html", "etag0", false, "raw", "gz", "br"},
    {"/a-1.js", "text/javascript", "etag1", true, "raw", "", ""},
};

std::optional<Response> Get(std::string_view path, std::map<std::string, std::string> headers = {},
                            std::string_view method = "GET") {
  Request request;
  request.method = method;
  request.path = path;
  request.header = [headers](std::string_view name) -> std::string_view {
    static std::string kept;
    const auto it = headers.find(std::string(name));
    kept = it == headers.end() ? "" : it->second;
    return kept;
  };
  return ServeStatic(kFiles, request);
}

std::string Header(const Response& response, std::string_view name) {
  for (const auto& [n, v] : response.headers) {
    if (n == name) return v;
  }
  return "";
}

TEST_CASE("the smallest form that is accepted is served, each with a tag of its own") {
  CHECK(Get("/")->fixed == "raw");
  CHECK(Header(*Get("/"), "ETag") == "\"etag0\"");
  CHECK(Get("/", {{"Accept-Encoding", "gzip, deflate"}})->fixed == "gz");
  CHECK(Get("/", {{"Accept-Encoding", "gzip, deflate, br"}})->fixed == "br");
  CHECK(Header(*Get("/", {{"Accept-Encoding", "br"}}), "ETag") == "\"etag0-br\"");
  CHECK(Get("/", {{"Accept-Encoding", "br;q=0, gzip;q=0.5"}})->fixed == "gz");
  CHECK(Get("/", {{"Accept-Encoding", "brotli"}})->fixed == "raw");
  CHECK(Get("/a-1.js", {{"Accept-Encoding", "br"}})->fixed == "raw");
}

TEST_CASE("what a browser has already is not sent again") {
  const auto again = Get("/", {{"Accept-Encoding", "br"}, {"If-None-Match", "\"other\", W/\"etag0-br\""}});
  CHECK(again->status == 304);
  CHECK(again->fixed.empty());
  CHECK(Get("/", {{"If-None-Match", "\"etag0-br\""}})->status == 200);
}

TEST_CASE("hashed names are kept for ever, the page is asked for each time") {
  CHECK(Header(*Get("/a-1.js"), "Cache-Control") == "public, max-age=31536000, immutable");
  CHECK(Header(*Get("/"), "Cache-Control") == "no-cache");
}

TEST_CASE("only what is in the table is there") {
  for (const char* path : {"", "/..", "/../", "/a-1.js/", "//", "/%2e%2e/etc/passwd", "/A-1.js"}) {
    CAPTURE(path);
    CHECK_FALSE(Get(path).has_value());
  }
  CHECK(Get("/", {}, "POST")->status == 405);
}

}  // namespace
}  // namespace watchbill::net
