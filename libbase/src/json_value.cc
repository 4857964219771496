// What a Value says of itself beyond what its header says at once.
#include <charconv>
#include <cmath>
#include <type_traits>

#include "json_document.hpp"

namespace watchbill::json {
namespace {

bool Same(const char* a, const char* b, size_t size) {
  const auto same = [a, b](auto word, size_t at) {
    auto other = word;
    std::memcpy(&word, a + at, sizeof word);
    std::memcpy(&other, b + at, sizeof other);
    return word == other;
  };
  if (size > 16) return std::memcmp(a, b, size) == 0;
  // Two reads that may overlap cover every size between the one and twice that.
  if (size >= 8) return same(uint64_t{}, 0) && same(uint64_t{}, size - 8);
  if (size >= 4) return same(uint32_t{}, 0) && same(uint32_t{}, size - 4);
  if (size >= 2) return same(uint16_t{}, 0) && same(uint16_t{}, size - 2);
  return size == 0 || *a == *b;
}

template <typename Whole>
std::optional<Whole> AsWhole(const Value& number) {
  if (number.kind() != Kind::kNumber) return std::nullopt;
  const std::string_view s = number.text().text();
  Whole whole = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), whole);
  if (error == std::errc() && end == s.data() + s.size()) return whole;
  const std::optional<double> value = number.AsDouble();
  // Beyond 2^53 a double no longer says which whole number was meant.
  if (!value || std::fabs(*value) > 9007199254740992.0 || std::trunc(*value) != *value) return std::nullopt;
  if (std::is_unsigned_v<Whole> && *value < 0) return std::nullopt;
  return static_cast<Whole>(*value);
}

}  // namespace

std::optional<double> Value::AsDouble() const {
  if (kind() != Kind::kNumber) return std::nullopt;
  const std::string_view s = text().text();
  double value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error == std::errc::result_out_of_range) return 0.0;  // too small: what is too large was refused
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> Value::AsInt() const { return AsWhole<int64_t>(*this); }
std::optional<uint64_t> Value::AsUint() const { return AsWhole<uint64_t>(*this); }

void Value::Find(const std::string_view* keys, size_t count, Value* found) const {
  if (!is_object()) return;
  const Document::Node* const nodes = document_->nodes_.items.get();
  const uint32_t end = nodes[node_].next;
  for (uint32_t name = node_ + 1; name < end; name = document_->After(name + 1)) {
    const std::string_view here = document_->StringOf(nodes[name]);
    for (size_t i = 0; i < count; ++i) {
      if (keys[i].size() == here.size() && Same(here.data(), keys[i].data(), here.size()))
        found[i] = Value(document_, name + 1, end);
    }
  }
}

}  // namespace watchbill::json
