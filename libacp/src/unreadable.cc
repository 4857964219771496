#include "unreadable.hpp"

#include "watchbill/base/json_writer.hpp"

namespace watchbill::acp {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// A cursor over text that may break off anywhere.
struct Cursor {
  std::string_view rest;

  void SkipBlanks() {
    const size_t at = rest.find_first_not_of(kBlanks);
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at);
  }
  bool Take(char c) {
    if (rest.empty() || rest[0] != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  // With its quotes; nothing where it does not end.
  std::optional<std::string_view> String() {
    if (rest.empty() || rest[0] != '"') return std::nullopt;
    for (size_t at = 1; at < rest.size(); ++at) {
      if (rest[at] == '\\') {
        ++at;
      } else if (rest[at] == '"') {
        const std::string_view whole = rest.substr(0, at + 1);
        rest.remove_prefix(at + 1);
        return whole;
      }
    }
    return std::nullopt;
  }
  std::optional<std::string_view> Value() {
    if (rest.empty()) return std::nullopt;
    if (rest[0] == '"') return String();
    const std::string_view from = rest;
    if (rest[0] == '{' || rest[0] == '[') {
      size_t depth = 0;
      while (!rest.empty()) {
        if (rest[0] == '"') {
          if (!String()) return std::nullopt;
          continue;
        }
        if (rest[0] == '{' || rest[0] == '[') ++depth;
        if (rest[0] == '}' || rest[0] == ']') --depth;
        rest.remove_prefix(1);
        if (depth == 0) return from.substr(0, from.size() - rest.size());
      }
      return std::nullopt;
    }
    const size_t end = rest.find_first_of(",}] \t\r\n");
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    rest.remove_prefix(end);
    return from.substr(0, end);
  }
};

// One text, without escapes, that may go into a line of ours as it stands.
bool IsPlainText(std::string_view json) {
  if (json.size() < 2 || json.size() >= 256 || json.front() != '"' || json.back() != '"') return false;
  for (std::string_view rest = json.substr(1, json.size() - 2); !rest.empty();) {
    const auto c = static_cast<unsigned char>(rest[0]);
    const size_t length = json_detail::Utf8Length(rest);
    if (c < 0x20 || c == '"' || c == '\\' || length == 0) return false;
    rest.remove_prefix(length);
  }
  return true;
}

bool IsId(std::string_view json) {
  if (json == "null" || IsPlainText(json)) return true;
  const std::string_view digits = json.substr(json.starts_with('-') ? 1 : 0);
  return !digits.empty() && digits.size() <= 19 &&
         digits.find_first_not_of("0123456789") == std::string_view::npos &&
         (digits.size() == 1 || digits[0] != '0');
}

// `"id": value }` at the very end: the last bracket closes the outermost object, so the member is its own.
std::optional<std::string_view> IdAtEnd(std::string_view tail) {
  const auto trim = [&] {
    const size_t last = tail.find_last_not_of(kBlanks);
    tail = tail.substr(0, last == std::string_view::npos ? 0 : last + 1);
  };
  trim();
  if (!tail.ends_with('}')) return std::nullopt;
  tail.remove_suffix(1);
  trim();
  const size_t name = tail.rfind("\"id\"");
  if (name == std::string_view::npos) return std::nullopt;
  Cursor cursor{tail.substr(name + 4)};
  cursor.SkipBlanks();
  if (!cursor.Take(':')) return std::nullopt;
  cursor.SkipBlanks();
  if (!IsId(cursor.rest)) return std::nullopt;
  return cursor.rest;
}

}  // namespace

std::optional<Address> AddressOf(std::string_view head, std::string_view tail) {
  Cursor cursor{head};
  cursor.SkipBlanks();
  if (!cursor.Take('{')) return std::nullopt;
  bool is_message = false, is_request = false;
  std::optional<std::string_view> id;
  for (;;) {
    cursor.SkipBlanks();
    const auto key = cursor.String();
    if (!key) break;
    cursor.SkipBlanks();
    if (!cursor.Take(':')) break;
    cursor.SkipBlanks();
    if (*key == "\"jsonrpc\"") is_message = true;
    if (*key == "\"method\"") is_request = true;
    const auto value = cursor.Value();
    if (!value) break;
    if (*key == "\"id\"" && IsId(*value)) id = value;
    cursor.SkipBlanks();
    if (!cursor.Take(',')) break;
  }
  if (!id && !tail.empty()) {
    id = IdAtEnd(tail);
    if (tail.find("\"method\"") != std::string_view::npos) is_request = true;
  }
  if (!is_message) return std::nullopt;
  return Address{id.value_or(std::string_view()), is_request};
}

}  // namespace watchbill::acp
