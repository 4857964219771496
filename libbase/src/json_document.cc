#include "json_document.hpp"

#include <fmt/core.h>

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <cstring>

#include "watchbill/base/json_writer.hpp"

namespace watchbill::json {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The code unit of the \uXXXX at `at`, or -1.
int EscapedUnit(std::string_view s, size_t at) {
  if (at + 6 > s.size() || s[at] != '\\' || s[at + 1] != 'u') return -1;
  int unit = 0;
  for (size_t i = at + 2; i < at + 6; ++i) {
    const int digit = HexDigit(s[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

// JSON.stringify writes half a surrogate pair where a string was cut in one; the parser would refuse all of
// the frame for it. Nothing is copied where there is none.
std::optional<std::string> WithoutLoneSurrogates(std::string_view s) {
  std::optional<std::string> out;
  size_t copied = 0;
  for (size_t at = 0; at < s.size();) {
    const void* found = std::memchr(s.data() + at, '\\', s.size() - at);
    if (found == nullptr) break;
    at = static_cast<size_t>(static_cast<const char*>(found) - s.data());
    const int unit = EscapedUnit(s, at);
    if (unit < 0) {
      at += 2;
      continue;
    }
    const bool high = unit >= 0xD800 && unit <= 0xDBFF;
    const bool low = unit >= 0xDC00 && unit <= 0xDFFF;
    if (high) {
      const int second = EscapedUnit(s, at + 6);
      if (second >= 0xDC00 && second <= 0xDFFF) {
        at += 12;
        continue;
      }
    }
    if (high || low) {
      if (!out) out.emplace();
      out->append(s.substr(copied, at - copied)).append("\\ufffd");
      copied = at + 6;
    }
    at += 6;
  }
  if (out) out->append(s.substr(copied));
  return out;
}

}  // namespace

// What the parser calls while it reads: writes the compact text and the nodes.
class Document::Handler {
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  using Error = boost::json::error_code;
  using Text = boost::json::string_view;

  explicit Handler(Document* document) : d_(*document) {}

  void Reset() {
    open_.clear();
    number_.clear();
    in_string_ = false;
    after_key_ = false;
  }

  bool on_document_begin(Error&) { return true; }
  bool on_document_end(Error&) { return true; }
  bool on_object_begin(Error&) { return Open(Kind::kObject, '{'); }
  bool on_object_end(std::size_t, Error&) { return Close('}'); }
  bool on_array_begin(Error&) { return Open(Kind::kArray, '['); }
  bool on_array_end(std::size_t, Error&) { return Close(']'); }
  bool on_key_part(Text s, std::size_t, Error&) { return Part(s); }
  bool on_key(Text s, std::size_t, Error&) {
    String(s);
    d_.compact_.push_back(':');
    after_key_ = true;
    return true;
  }
  bool on_string_part(Text s, std::size_t, Error&) { return Part(s); }
  bool on_string(Text s, std::size_t, Error&) {
    String(s);
    return true;
  }
  bool on_number_part(Text s, Error&) {
    number_.append(s.data(), s.size());
    return true;
  }
  bool on_int64(std::int64_t, Text s, Error&) { return Number(s); }
  bool on_uint64(std::uint64_t, Text s, Error&) { return Number(s); }
  bool on_double(double value, Text s, Error& ec) {
    if (!std::isfinite(value)) {
      ec = boost::json::error::exponent_overflow;
      return false;
    }
    return Number(s);
  }
  bool on_bool(bool value, Error&) { return Scalar(Kind::kBool, value ? "true" : "false"); }
  bool on_null(Error&) { return Scalar(Kind::kNull, "null"); }
  bool on_comment_part(Text, Error&) { return true; }
  bool on_comment(Text, Error&) { return true; }

 private:
  uint32_t Size() const { return static_cast<uint32_t>(d_.compact_.size()); }

  uint32_t Start(Kind kind) {
    if (!after_key_ && !d_.compact_.empty() && d_.compact_.back() != '{' && d_.compact_.back() != '[') {
      d_.compact_.push_back(',');
    }
    const auto index = static_cast<uint32_t>(d_.nodes_.size());
    d_.nodes_.push_back(Node{kind, false, after_key_, Size(), 0, index + 1, 0, 0});
    after_key_ = false;
    return index;
  }
  bool Open(Kind kind, char bracket) {
    open_.push_back(Start(kind));
    d_.compact_.push_back(bracket);
    return true;
  }
  bool Close(char bracket) {
    d_.compact_.push_back(bracket);
    Node& node = d_.nodes_[open_.back()];
    node.end = Size();
    node.next = static_cast<uint32_t>(d_.nodes_.size());
    open_.pop_back();
    return true;
  }
  bool Scalar(Kind kind, std::string_view text) {
    Node& node = d_.nodes_[Start(kind)];
    d_.compact_.append(text);
    node.end = Size();
    return true;
  }
  bool Number(Text last) {
    number_.append(last.data(), last.size());
    Scalar(Kind::kNumber, number_);
    number_.clear();
    return true;
  }
  bool Part(Text s) {
    if (!in_string_) part_begin_ = static_cast<uint32_t>(d_.decoded_.size());
    in_string_ = true;
    d_.decoded_.append(s.data(), s.size());
    return true;
  }
  void String(Text last) {
    const uint32_t index = Start(Kind::kString);
    std::string_view whole(last.data(), last.size());
    if (in_string_) {
      d_.decoded_.append(last.data(), last.size());
      whole = std::string_view(d_.decoded_).substr(part_begin_);
    }
    Node& node = d_.nodes_[index];
    AppendJsonString(d_.compact_, whole);
    node.end = Size();
    if (node.end - node.begin == whole.size() + 2) {  // no escapes: the text itself is the string
      if (in_string_) d_.decoded_.resize(part_begin_);
    } else {
      node.decoded = true;
      if (!in_string_) {
        part_begin_ = static_cast<uint32_t>(d_.decoded_.size());
        d_.decoded_.append(last.data(), last.size());
      }
      node.text = part_begin_;
      node.text_size = static_cast<uint32_t>(d_.decoded_.size()) - part_begin_;
    }
    in_string_ = false;
  }

  Document& d_;
  std::vector<uint32_t> open_;
  std::string number_;
  bool in_string_ = false;
  bool after_key_ = false;
  uint32_t part_begin_ = 0;
};

struct Document::Parser {
  Parser(Document* document, const Limits& limits) : impl(OptionsFor(limits), document) {}
  static boost::json::parse_options OptionsFor(const Limits& limits) {
    boost::json::parse_options options;
    options.max_depth = limits.depth;
    return options;
  }
  boost::json::basic_parser<Handler> impl;
};

Document::Document(Limits limits) : limits_(limits), parser_(std::make_unique<Parser>(this, limits)) {}
Document::~Document() = default;

absl::Status Document::Parse(std::string_view text) {
  compact_.clear();
  decoded_.clear();
  nodes_.clear();
  if (text.size() > limits_.bytes) {
    return absl::InvalidArgumentError(
        fmt::format("the JSON text is {} bytes long; {} are the most", text.size(), limits_.bytes));
  }
  std::optional<std::string> mended = WithoutLoneSurrogates(text);
  const std::string_view source = mended ? std::string_view(*mended) : text;
  parser_->impl.reset();
  parser_->impl.handler().Reset();
  boost::json::error_code ec;
  size_t read = parser_->impl.write_some(false, source.data(), source.size(), ec);
  if (!ec && read < source.size()) {
    while (read < source.size() && std::strchr(" \t\r\n", source[read]) != nullptr && source[read] != '\0')
      ++read;
    if (read < source.size()) ec = boost::json::error::extra_data;
  }
  if (ec) {
    nodes_.clear();
    return absl::InvalidArgumentError(fmt::format("not JSON: {} at byte {}", ec.message(), read));
  }
  return absl::OkStatus();
}

Value Document::root() const {
  if (nodes_.empty()) return {};
  return Value(this, 0, static_cast<uint32_t>(nodes_.size()));
}

std::string_view Document::StringOf(const Node& node) const {
  if (node.decoded) return std::string_view(decoded_).substr(node.text, node.text_size);
  return std::string_view(compact_).substr(node.begin + 1, node.end - node.begin - 2);
}

Kind Value::kind() const { return absent() ? Kind::kAbsent : document_->nodes_[node_].kind; }

JsonView Value::text() const {
  if (absent()) return {};
  const auto& node = document_->nodes_[node_];
  return JsonView::Trusted(std::string_view(document_->compact_).substr(node.begin, node.end - node.begin));
}

std::optional<std::string_view> Value::AsString() const {
  if (kind() != Kind::kString) return std::nullopt;
  return document_->StringOf(document_->nodes_[node_]);
}

std::optional<int64_t> Value::AsInt() const {
  if (kind() != Kind::kNumber) return std::nullopt;
  const std::string_view s = text().text();
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), whole);
  if (error == std::errc() && end == s.data() + s.size()) return whole;
  const std::optional<double> value = AsDouble();
  // Beyond 2^53 a double no longer says which whole number was meant.
  if (!value || std::fabs(*value) > 9007199254740992.0 || std::trunc(*value) != *value) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<double> Value::AsDouble() const {
  if (kind() != Kind::kNumber) return std::nullopt;
  const std::string_view s = text().text();
  double value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error == std::errc::result_out_of_range) return 0.0;  // too small: what is too large was refused
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

std::optional<bool> Value::AsBool() const {
  if (kind() != Kind::kBool) return std::nullopt;
  return text().text() == "true";
}

Value Value::operator[](std::string_view key) const {
  Value found;
  if (!is_object()) return found;
  for (Value member = First(); !member.absent(); member = member.Next()) {
    if (member.Key() == key) found = member;
  }
  return found;
}

Value Value::First() const {
  const Kind k = kind();
  if (k != Kind::kArray && k != Kind::kObject) return {};
  const uint32_t end = document_->nodes_[node_].next;
  const uint32_t first = node_ + (k == Kind::kObject ? 2 : 1);
  if (first >= end) return {};
  return Value(document_, first, end);
}

Value Value::Next() const {
  if (absent()) return {};
  const auto& node = document_->nodes_[node_];
  const uint32_t next = node.next + (node.member ? 1 : 0);
  if (next >= end_) return {};
  return Value(document_, next, end_);
}

std::string_view Value::Key() const {
  if (absent() || !document_->nodes_[node_].member) return {};
  return document_->StringOf(document_->nodes_[node_ - 1]);
}

}  // namespace watchbill::json
