// Files that are part of the program, served with their compressed forms and their ETag.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "watchbill/net/server.hpp"

namespace watchbill::net {

struct StaticFile {
  std::string_view path;               // "/", "/monitor-AbC123.js"
  std::string_view type;               // media type
  std::string_view etag;               // of the raw bytes, without quotes
  bool immutable = false;              // its name changes with its content
  std::string_view raw, gzip, brotli;  // the compressed ones are empty where they are no smaller
};

// The answer to a GET or HEAD of one of them; nothing where none has that path. 405 for another method.
std::optional<Response> ServeStatic(std::span<const StaticFile> files, const Request& request);

}  // namespace watchbill::net
