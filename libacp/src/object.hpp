// The members of an object, gathered once so that a reader that asks for many finds each at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>

#include "json_document.hpp"

namespace watchbill::acp {

namespace name_detail {

constexpr uint64_t Bytes(const char* p, size_t n) {
  uint64_t out = 0;
  if (std::is_constant_evaluated()) {
    for (size_t i = 0; i < n; ++i) out |= static_cast<uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
  } else if (n == 8) {
    std::memcpy(&out, p, 8);
  } else if (n == 4) {
    uint32_t four = 0;
    std::memcpy(&four, p, 4);
    out = four;
  } else if (n == 2) {
    uint16_t two = 0;
    std::memcpy(&two, p, 2);
    out = two;
  } else {
    out = static_cast<unsigned char>(*p);
  }
  return out;
}

// The first eight bytes as a number, nought where there are fewer: two reads that may overlap cover every
// size. The same on every machine that puts the lowest byte first.
constexpr uint64_t Head(std::string_view s) {
  const size_t n = s.size();
  if (n >= 8) return Bytes(s.data(), 8);
  if (n >= 4) return Bytes(s.data(), 4) | Bytes(s.data() + n - 4, 4) << (8 * (n - 4));
  if (n >= 2) return Bytes(s.data(), 2) | Bytes(s.data() + n - 2, 2) << (8 * (n - 2));
  return n == 0 ? 0 : Bytes(s.data(), 1);
}

}  // namespace name_detail

// The name of a member, made when this is compiled. (A name that is known only later is looked for in the
// value.)
struct Key {
  template <size_t N>
  consteval Key(const char (&text)[N]) : name(text, N - 1), head(name_detail::Head(name)) {}
  std::string_view name;
  uint64_t head;
};

// Of anything but an object: one without members. Good for as long as the value is.
class Object {
 public:
  explicit Object(const json::Value& value) : value_(value) {
    more_ = !value.EachMember([this](std::string_view name, const json::Value& member) {
      if (count_ == kMost) return false;
      new (&names_[count_++]) Name{name_detail::Head(name), name.data(), name.size(), member};
      return true;
    });
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // The member of that name, the last where a name stands twice.
  json::Value operator[](Key key) const {
    if (more_) return value_[key.name];
    for (size_t i = count_; i-- > 0;) {
      const Name& name = *std::launder(reinterpret_cast<const Name*>(&names_[i]));
      if (name.head != key.head || name.size != key.name.size()) continue;
      if (name.size <= 8 || std::memcmp(name.data + 8, key.name.data() + 8, name.size - 8) == 0)
        return name.member;
    }
    return {};
  }

  const json::Value& value() const { return value_; }

 private:
  static constexpr size_t kMost = 16;  // none of the protocol's has more
  struct Name {
    uint64_t head;
    const char* data;
    size_t size;
    json::Value member;
  };
  static_assert(std::is_trivially_destructible_v<Name>);
  struct alignas(Name) Room {
    std::byte bytes[sizeof(Name)];
  };

  const json::Value value_;
  size_t count_ = 0;
  bool more_ = false;
  Room names_[kMost];  // not made before it is needed
};

}  // namespace watchbill::acp
