// What the fuzz targets of libacp share: how an input is taken apart, and what must always hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json_document.hpp"

// What a target does to check, where that takes long: the fuzzer is to follow the library alone, and each
// comparison that it is told of costs more than the comparison.
#if defined(__clang__)
#define WATCHBILL_NOT_FOLLOWED __attribute__((noinline, no_sanitize("coverage")))
#else
#define WATCHBILL_NOT_FOLLOWED
#endif

namespace watchbill::acp::fuzz {

inline void Require(bool holds) {
  if (!holds) std::abort();
}

// The bytes of an input, from the front. What is not there any more is 0, or empty.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return byte;
  }
  std::string_view Take(size_t most) {
    const std::string_view taken = rest_.substr(0, most);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  // Up to this byte, which is taken too.
  std::string_view TakeUntil(char end) {
    const std::string_view taken = Take(rest_.find(end));
    (void)Byte();
    return taken;
  }

 private:
  std::string_view rest_;
};

// Differs for most changes of an input: chooses those that a costly check is made for.
WATCHBILL_NOT_FOLLOWED inline uint32_t Sum(std::string_view bytes) {
  uint32_t sum = 0;
  for (const char c : bytes) sum = sum * 31 + static_cast<unsigned char>(c);
  return sum >> 8;
}

// Calls `take` with each piece. `how`: 0 is all at once, below 128 pieces of that size, else of sizes that
// change. Not more than about `most`, so that a long input does not take long.
template <typename Take>
WATCHBILL_NOT_FOLLOWED void InPieces(std::string_view bytes, uint8_t how, size_t most, const Take& take) {
  const size_t least = bytes.size() / most;
  uint32_t state = how;
  while (!bytes.empty()) {
    size_t size = bytes.size();
    if (how >= 128) {
      state = state * 1664525 + 1013904223;
      size = least + 1 + (state >> 16) % (how - 126u);
    } else if (how > 0) {
      size = least + how;
    }
    const std::string_view piece = bytes.substr(0, size);
    take(piece);
    bytes.remove_prefix(piece.size());
  }
}

// A number, for what is compared and never read.
inline void Tell(std::string& account, uint64_t number) {
  account.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// Calls `take` with each line; the last one has its newline too.
template <typename Take>
void ForLines(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    const size_t newline = bytes.find('\n');
    Require(newline != std::string_view::npos);
    take(bytes.substr(0, newline));
    bytes.remove_prefix(newline + 1);
  }
}

// A line that one end wrote is a message of JSON-RPC 2.0, and one of its three kinds.
inline void RequireMessage(const json::Document& read) {
  const auto [version, id, method, params, result, error] =
      read.root().Members({"jsonrpc", "id", "method", "params", "result", "error"});
  Require(version.AsString() == "2.0");
  if (!method.absent()) {
    Require(method.kind() == json::Kind::kString && result.absent() && error.absent());
    return;
  }
  const json::Kind kind = id.kind();
  Require(kind == json::Kind::kNumber || kind == json::Kind::kString || kind == json::Kind::kNull);
  Require(params.absent() && result.absent() != error.absent());
  if (error.absent()) return;
  Require(error["code"].AsInt().has_value() && error["message"].AsString().has_value());
}

}  // namespace watchbill::acp::fuzz
