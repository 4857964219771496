// YAML text as a tree that knows where each thing stands, read strictly: what yaml-cpp takes without a word
// (keys that stand twice, junk after the end, quotes that are not closed) is a Problem here.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config.hpp"

namespace watchbill::supervisor {

inline constexpr size_t kMaxConfigBytes = size_t{1} << 20;
inline constexpr size_t kMaxYamlNodes = 10'000;  // what an alias stands for counts each time
inline constexpr size_t kMaxYamlDepth = 32;

struct Place {
  int line = 1, column = 1;  // from 1, columns in code points
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct YamlNode;

// A node as it is used at one place: an alias is another place of the same node.
struct YamlValue {
  const YamlNode* node = nullptr;  // borrowed from the YamlText
  Place place;                     // of the alias where it is one; of the key where a map's value is nothing
  bool alias = false;
};

struct YamlEntry {
  std::string key;
  Place place;
  YamlValue value;
};

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  bool plain = false;              // a scalar without quotes and tag: 15 is a number, "15" is not
  std::string text;                // of a scalar: as written, without quotes and escapes
  std::vector<YamlValue> items;    // of a list
  std::vector<YamlEntry> entries;  // of a map: in the file's order, no key twice
};

struct YamlText {
  std::deque<YamlNode> nodes;     // moving it leaves them where they are
  std::optional<YamlValue> root;  // nothing where the text holds no value, or breaks off within it
  std::vector<Problem> problems;
  YamlText() = default;
  YamlText(YamlText&&) = default;
  YamlText& operator=(YamlText&&) = default;
  YamlText(const YamlText&) = delete;
  YamlText& operator=(const YamlText&) = delete;
};

// Never fails and never throws for what the text holds. A byte order mark and CRLF are accepted.
YamlText ReadYaml(std::string_view text);

// `text` for use in a sentence: cut, and without control characters.
std::string Shown(std::string_view text);

}  // namespace watchbill::supervisor
