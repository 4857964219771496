// What a Value says of itself beyond what its header says at once.
#include <charconv>
#include <cmath>
#include <type_traits>

#include "json_document.hpp"

namespace watchbill::json {
namespace {

// Words that may overlap cover every size from one of them to two.
template <typename Word>
bool SameWords(const char* a, const char* b, size_t size) {
  Word a_first, b_first, a_last, b_last;
  std::memcpy(&a_first, a, sizeof(Word));
  std::memcpy(&b_first, b, sizeof(Word));
  std::memcpy(&a_last, a + size - sizeof(Word), sizeof(Word));
  std::memcpy(&b_last, b + size - sizeof(Word), sizeof(Word));
  return ((a_first ^ b_first) | (a_last ^ b_last)) == 0;
}

inline bool Same(const char* a, const char* b, size_t size) {
  if (size > 16) return std::memcmp(a, b, size) == 0;
  if (size >= 8) return SameWords<uint64_t>(a, b, size);
  if (size >= 4) return SameWords<uint32_t>(a, b, size);
  if (size >= 2) return SameWords<uint16_t>(a, b, size);
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

// Calls `take` with the string of each name and its value's node.
template <typename Take>
inline void Value::ForNames(const Take& take) const {
  const Document::Node* const nodes = document_->nodes_.items.get();
  const char* const text = document_->text_.items.get();
  const uint32_t end = nodes[node_].next;
  for (uint32_t value = node_ + 2; value < end;) {
    const Document::Node& name = nodes[value - 1];
    if (!name.decoded) [[likely]] {
      take(text + name.begin + 1, name.end - name.begin - 2, value);
    } else {
      const std::string_view string = document_->StringOf(name);
      take(string.data(), string.size(), value);
    }
    // Guessed and not awaited: what follows most names is one node.
    if (nodes[value].kind >= Kind::kArray) [[unlikely]] {
      value = nodes[value].next + 1;
    } else {
      value += 2;
    }
  }
}

Value Value::operator[](std::string_view key) const {
  if (!is_object()) return {};
  uint32_t found = 0;
  ForNames([&](const char* name, size_t size, uint32_t value) {
    if (size == key.size() && Same(name, key.data(), size)) found = value;
  });
  return found == 0 ? Value() : Value(document_, found, document_->nodes_.items[node_].next);
}

void Value::Find(const std::string_view* keys, size_t count, Value* found) const {
  if (!is_object()) return;
  const uint32_t end = document_->nodes_.items[node_].next;
  // Names mostly stand in the order in which they are asked for.
  size_t next = 0;
  ForNames([&](const char* name, size_t size, uint32_t value) {
    const auto is = [&](size_t i) { return keys[i].size() == size && Same(name, keys[i].data(), size); };
    if (next < count && is(next)) {
      found[next++] = Value(document_, value, end);
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      if (!is(i)) continue;
      found[i] = Value(document_, value, end);
      next = i + 1;
      return;
    }
  });
}

}  // namespace watchbill::json
