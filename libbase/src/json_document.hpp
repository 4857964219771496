// JSON text in, a tree of views out. For the sources of this tree alone: it is not installed, and no public
// header shows it. Boost.JSON's parser is behind it.
//
// Why a tree of our own: numbers must go on as the text they came as, which Boost.JSON's own values lose
// (0.1 is printed as 1E-1, 1e999 as Infinity), and most of what arrives is forwarded and not looked into.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "watchbill/base/json_text.hpp"

namespace watchbill::json {

struct Limits {
  size_t bytes = 1 << 20;
  size_t depth = 64;
};

enum class Kind : uint8_t { kAbsent, kNull, kBool, kNumber, kString, kArray, kObject };

class Document;

// A value of a Document, good until the Document parses again. Questions about a value that is absent, or of
// another kind, are answered with nothing, so that a missing member needs no test of its own.
class Value {
 public:
  Value() = default;

  Kind kind() const;
  bool absent() const { return document_ == nullptr; }
  bool is_object() const { return kind() == Kind::kObject; }

  // The compact text of this value; absent for an absent value.
  JsonView text() const;
  std::optional<std::string_view> AsString() const;
  // Whole numbers of any spelling (812, 812.0, 8.12e2) that fit.
  std::optional<int64_t> AsInt() const;
  // Correctly rounded, always finite.
  std::optional<double> AsDouble() const;
  std::optional<bool> AsBool() const;

  // The member of that name, the last where a name stands twice (as JavaScript has it).
  Value operator[](std::string_view key) const;

  // for (Value v = object.First(); !v.absent(); v = v.Next()): elements of an array, or members of an object.
  Value First() const;
  Value Next() const;
  // The name of this member; empty for what is not a member.
  std::string_view Key() const;

 private:
  friend class Document;
  Value(const Document* document, uint32_t node, uint32_t end)
      : document_(document), node_(node), end_(end) {}

  const Document* document_ = nullptr;
  uint32_t node_ = 0;
  uint32_t end_ = 0;  // where the siblings of this node end
};

// Parses one text at a time and keeps its buffers between texts. One thread.
class Document {
 public:
  explicit Document(Limits limits = {});
  ~Document();
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  // InvalidArgument says what is wrong and at which byte: not JSON, not UTF-8, too deep, too long, a number
  // beyond a double, anything behind the value. A lone surrogate escape is read as U+FFFD.
  absl::Status Parse(std::string_view text);

  // The value of the last text that was accepted; absent before that and after a failure.
  Value root() const;

 private:
  friend class Value;
  struct Node {
    Kind kind;
    bool decoded;              // a string whose decoded form is not the text between its quotes
    bool member;               // the node before it is its name
    uint32_t begin, end;       // in compact_
    uint32_t next;             // the node behind this one and all it holds
    uint32_t text, text_size;  // in decoded_
  };
  class Handler;
  struct Parser;

  std::string_view StringOf(const Node& node) const;

  Limits limits_;
  std::string compact_;
  std::string decoded_;
  std::vector<Node> nodes_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace watchbill::json
