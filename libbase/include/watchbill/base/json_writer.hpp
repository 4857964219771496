// Compact JSON, written straight into a string. What is written is always valid: a number that is not finite
// becomes null, bytes that are not UTF-8 become U+FFFD, and commas look after themselves.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "watchbill/base/json_text.hpp"

namespace watchbill {

namespace json_detail {

// The length of the well-formed UTF-8 sequence at the start of `s`, or 0. (Unicode 15, table 3-7.)
inline size_t Utf8Length(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const auto tail = [&](size_t i) { return i < s.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char b = byte(0);
  if (b < 0x80) return 1;
  if (b >= 0xC2 && b <= 0xDF) return tail(1) ? 2 : 0;
  if (b >= 0xE0 && b <= 0xEF) {
    if (!tail(1) || !tail(2)) return 0;
    if (b == 0xE0 && byte(1) < 0xA0) return 0;
    if (b == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (b >= 0xF0 && b <= 0xF4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    if (b == 0xF0 && byte(1) < 0x90) return 0;
    if (b == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

}  // namespace json_detail

// Appends `s` with quotes and escapes.
inline void AppendJsonString(std::string& out, std::string_view s) {
  static constexpr char kHex[] = "0123456789abcdef";
  out.push_back('"');
  size_t plain = 0;  // start of the stretch that needs no change
  size_t at = 0;
  const auto flush = [&] { out.append(s.substr(plain, at - plain)); };
  while (at < s.size()) {
    const auto c = static_cast<unsigned char>(s[at]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++at;
      continue;
    }
    if (c >= 0x80) {
      if (const size_t n = json_detail::Utf8Length(s.substr(at)); n > 0) {
        at += n;
        continue;
      }
      flush();
      out.append("\xEF\xBF\xBD");
    } else {
      flush();
      switch (c) {
        case '"':
          out.append("\\\"");
          break;
        case '\\':
          out.append("\\\\");
          break;
        case '\n':
          out.append("\\n");
          break;
        case '\r':
          out.append("\\r");
          break;
        case '\t':
          out.append("\\t");
          break;
        case '\b':
          out.append("\\b");
          break;
        case '\f':
          out.append("\\f");
          break;
        default:
          out.append("\\u00");
          out.push_back(kHex[c >> 4]);
          out.push_back(kHex[c & 15]);
      }
    }
    plain = ++at;
  }
  flush();
  out.push_back('"');
}

// Writes one value, usually an object, into a string that the caller owns:
//   JsonWriter w(out);
//   w.Begin('{').Key("type").String("run").Key("ms").Int(5).End('}');
// The caller keeps keys and values in turn; nothing checks it but the tests.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& Begin(char bracket) {
    Separate();
    out_.push_back(bracket);
    first_ = true;
    return *this;
  }
  JsonWriter& End(char bracket) {
    out_.push_back(bracket);
    first_ = false;
    return *this;
  }
  JsonWriter& Key(std::string_view key) {
    Separate();
    AppendJsonString(out_, key);
    out_.push_back(':');
    first_ = true;
    return *this;
  }
  JsonWriter& String(std::string_view value) {
    Separate();
    AppendJsonString(out_, value);
    return *this;
  }
  JsonWriter& Int(int64_t value) {
    Separate();
    char buffer[24];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    out_.append(buffer, end);
    return *this;
  }
  JsonWriter& Double(double value) {
    if (!std::isfinite(value)) return Null();
    Separate();
    // The shortest text that reads back as the same number, plain where people would write it plain.
    char buffer[40];
    const double magnitude = std::fabs(value);
    const bool plain = magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e21);
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    out_.append(buffer, end);
    return *this;
  }
  JsonWriter& Bool(bool value) {
    Separate();
    out_.append(value ? "true" : "false");
    return *this;
  }
  JsonWriter& Null() {
    Separate();
    out_.append("null");
    return *this;
  }
  // A value that is JSON already; absent is written as null.
  JsonWriter& Json(JsonView value) {
    if (value.absent()) return Null();
    Separate();
    out_.append(value.text());
    return *this;
  }
  JsonWriter& OptString(const std::optional<std::string_view>& value) {
    return value ? String(*value) : Null();
  }
  JsonWriter& OptInt(const std::optional<int64_t>& value) { return value ? Int(*value) : Null(); }
  JsonWriter& OptBool(const std::optional<bool>& value) { return value ? Bool(*value) : Null(); }
  JsonWriter& OptDouble(const std::optional<double>& value) { return value ? Double(*value) : Null(); }

  // The same with the key left out where there is nothing: absence is an answer on the wire.
  JsonWriter& Field(std::string_view key, const std::optional<std::string_view>& value) {
    return value ? Key(key).String(*value) : *this;
  }
  JsonWriter& Field(std::string_view key, const std::optional<int64_t>& value) {
    return value ? Key(key).Int(*value) : *this;
  }
  JsonWriter& Field(std::string_view key, const std::optional<bool>& value) {
    return value ? Key(key).Bool(*value) : *this;
  }
  JsonWriter& Field(std::string_view key, JsonView value) {
    return value.absent() ? *this : Key(key).Json(value);
  }

 private:
  void Separate() {
    if (!first_) out_.push_back(',');
    first_ = false;
  }

  std::string& out_;
  bool first_ = true;  // nothing stands before the next value in its bracket, or a key does
};

}  // namespace watchbill
