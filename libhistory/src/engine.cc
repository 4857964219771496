#include "watchbill/history/engine.hpp"

#include <cstring>

namespace watchbill::history {

void Writes::Add(std::string_view bytes) {
  const auto size = static_cast<uint32_t>(bytes.size());
  char length[sizeof size];
  std::memcpy(length, &size, sizeof size);
  ops_.append(length, sizeof length).append(bytes);
}

std::string_view Writes::Take(size_t& at) const {
  uint32_t size = 0;
  std::memcpy(&size, ops_.data() + at, sizeof size);
  const std::string_view bytes = std::string_view(ops_).substr(at + sizeof size, size);
  at += sizeof size + size;
  return bytes;
}

void Writes::Put(std::string_view key, std::string_view value) {
  ops_.push_back('P');
  Add(key);
  Add(value);
}

void Writes::Delete(std::string_view key) {
  ops_.push_back('D');
  Add(key);
}

}  // namespace watchbill::history
