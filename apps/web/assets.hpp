#ifndef WATCHBILL_APPS_WEB_ASSETS_HPP_
#define WATCHBILL_APPS_WEB_ASSETS_HPP_

// The web pages, linked into the program: nothing is read from the disk to serve them.

#include <span>
#include <string_view>

namespace watchbill::web {

// One file of a page. All views are good for the life of the program and may be read from any thread.
struct Asset {
  // Where it is served, from the root of the site: "/", "/monitor-AbC123.js". Never holds a query.
  std::string_view path;

  // The value of Content-Type, with the charset where there is one.
  std::string_view type;

  // A hash of `raw`, without quotes. Each encoding needs an entity tag of its own: append to it ("…-gz",
  // "…-br").
  std::string_view etag;

  // True when `path` names the content, so that a cache may keep it for ever. Otherwise it is to be asked
  // about again.
  bool immutable;

  // The bytes as they are, and compressed. An encoding that would not have been smaller is empty: send `raw`.
  std::string_view raw;
  std::string_view gzip;
  std::string_view brotli;
};

// The monitor's page, ordered by path, each path once.
std::span<const Asset> MonitorAssets();

// The supervisor's page, in the same way.
std::span<const Asset> SupervisorAssets();

}  // namespace watchbill::web

#endif  // WATCHBILL_APPS_WEB_ASSETS_HPP_
