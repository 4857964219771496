// JSON text in, a tree of views out. For the sources of this tree alone: it is not installed, and no public
// header shows it.
//
// Why a reader of our own: most of what arrives is forwarded and not looked into, so it must be checked whole
// and go on as the text it came as, at little cost (docs/decisions/json-reader.md).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "watchbill/base/json_text.hpp"

namespace watchbill::json {

struct Limits {
  size_t bytes = 1 << 20;  // of the text as it came
  size_t depth = 64;
  // Bytes inside strings that are no UTF-8 become U+FFFD, one for each piece that could have begun a
  // character, as a browser has it. Otherwise the text is refused for them.
  bool mend_utf8 = false;
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

  // The compact text of this value; absent for an absent value. Numbers stand as they came, strings as
  // AppendJsonString spells them.
  JsonView text() const;
  std::optional<std::string_view> AsString() const;
  // Whole numbers of any spelling (812, 812.0, 8.12e2) that fit.
  std::optional<int64_t> AsInt() const;
  std::optional<uint64_t> AsUint() const;
  // Correctly rounded, always finite.
  std::optional<double> AsDouble() const;
  std::optional<bool> AsBool() const;

  // The member of that name, the last where a name stands twice (as JavaScript has it).
  Value operator[](std::string_view key) const;

  // The members of these names, which differ, each as operator[] finds it, in one pass over the object:
  //   const auto [id, method] = value.Members({"id", "method"});
  template <size_t N>
  std::array<Value, N> Members(const std::string_view (&keys)[N]) const {
    std::array<Value, N> found;
    Find(keys, N, found.data());
    return found;
  }

  // for (Value v = object.First(); !v.absent(); v = v.Next()): elements of an array, or members of an object.
  Value First() const;
  Value Next() const;
  // The name of this member; empty for what is not a member.
  std::string_view Key() const;
  // Calls take(name, member) for each member of an object, in order, until it says no. Gives whether it never
  // did.
  template <typename Take>
  bool EachMember(const Take& take) const;

 private:
  friend class Document;
  Value(const Document* document, uint32_t node, uint32_t end)
      : document_(document), node_(node), end_(end) {}

  template <typename Take>
  void ForNames(const Take& take) const;
  void Find(const std::string_view* keys, size_t count, Value* found) const;

  const Document* document_ = nullptr;
  uint32_t node_ = 0;
  uint32_t end_ = 0;  // where the siblings of this node end
};

// Parses one text at a time and keeps its buffers between texts: a text like those before it is read without
// an allocation, and of one that begins as the last one did that beginning is not read again. What one
// enormous text made them is let go when several small ones have followed. One thread.
class Document {
 public:
  explicit Document(Limits limits = {}) : limits_(limits) {}
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  // Copies the text, which must not be a view into this document. InvalidArgument says what is wrong and at
  // which byte: not JSON, not UTF-8, too deep, too long (never above 4 GB), a number beyond a double,
  // anything behind the value. A lone surrogate escape is read as U+FFFD.
  absl::Status Parse(std::string_view text);

  // The value of the last text that was accepted; absent before that and after a failure.
  Value root() const { return nodes_used_ == 0 ? Value() : Value(this, 0, nodes_used_); }

 private:
  friend class Value;
  // A value or the name of a member, which stands before it.
  struct Node {
    uint32_t begin, end;  // in text_
    // Of an array or object: the node behind all it holds. Of a string that has escapes: its place in
    // decoded_.
    uint32_t next;
    Kind kind;
    bool decoded;
    bool member;  // the node before it is its name
  };
  class Scanner;

  template <typename T>
  struct Room {
    std::unique_ptr<T[]> items;
    size_t size = 0;

    // Some more than is needed, for the next text may be a little longer. What was there is gone first.
    void MakeAnew(size_t need) {
      *this = {};
      items = std::make_unique_for_overwrite<T[]>(need + need / 2);
      size = need + need / 2;
    }
  };

  std::string_view StringOf(const Node& node) const {
    if (!node.decoded) return {text_.items.get() + node.begin + 1, node.end - node.begin - 2};
    uint32_t size;
    std::memcpy(&size, decoded_.items.get() + node.next, sizeof size);
    return {decoded_.items.get() + node.next + sizeof size, size};
  }
  // The node behind this one and all it holds.
  uint32_t After(uint32_t node) const {
    const Node& n = nodes_.items[node];
    return n.kind >= Kind::kArray ? n.next : node + 1;
  }
  // Behind the bracket of an object, on the way to the first object within the first object within ..., with
  // the text up to there as it came, and nodes for it. It stays so whatever becomes of the text behind it.
  struct Mark {
    uint32_t at, node;  // the quote of its first name, and the object's own node
  };

  absl::Status Read(std::string_view text);
  // How many of the marks stand in what this text has in common with the last one.
  size_t MarksWithin(std::string_view text) const;
  // Room for more nodes behind those used.
  Node* MoreNodes(uint32_t used);
  void LetGoOfMuch();

  Limits limits_;
  Room<char> text_;     // compact from its beginning on, with padding behind
  Room<char> decoded_;  // the strings that had escapes, each behind its size
  Room<Node> nodes_;
  uint32_t nodes_used_ = 0;
  std::array<Mark, 4> marks_;
  size_t marks_used_ = 0;
  size_t used_ = 0;  // by the last text, in bytes of all three
  int small_texts_ = 0;
};

inline Kind Value::kind() const { return absent() ? Kind::kAbsent : document_->nodes_.items[node_].kind; }

inline JsonView Value::text() const {
  if (absent()) return {};
  const Document::Node& node = document_->nodes_.items[node_];
  return JsonView::Trusted({document_->text_.items.get() + node.begin, node.end - node.begin});
}

inline std::optional<std::string_view> Value::AsString() const {
  if (kind() != Kind::kString) return std::nullopt;
  return document_->StringOf(document_->nodes_.items[node_]);
}

inline std::optional<bool> Value::AsBool() const {
  if (kind() != Kind::kBool) return std::nullopt;
  return text().text().size() == 4;
}

inline Value Value::First() const {
  const Kind k = kind();
  if (k < Kind::kArray) return {};
  const uint32_t end = document_->nodes_.items[node_].next;
  const uint32_t first = node_ + (k == Kind::kObject ? 2 : 1);
  return first < end ? Value(document_, first, end) : Value();
}

inline Value Value::Next() const {
  if (absent()) return {};
  const uint32_t next = document_->After(node_) + (document_->nodes_.items[node_].member ? 1 : 0);
  return next < end_ ? Value(document_, next, end_) : Value();
}

template <typename Take>
bool Value::EachMember(const Take& take) const {
  if (!is_object()) return true;
  const Document& d = *document_;
  const Document::Node* const nodes = d.nodes_.items.get();
  const uint32_t end = nodes[node_].next;
  for (uint32_t name = node_ + 1; name < end;) {
    const uint32_t value = name + 1;
    if (!take(d.StringOf(nodes[name]), Value(&d, value, end))) return false;
    name = nodes[value].kind >= Kind::kArray ? nodes[value].next : value + 1;
  }
  return true;
}

inline std::string_view Value::Key() const {
  if (absent() || !document_->nodes_.items[node_].member) return {};
  return document_->StringOf(document_->nodes_.items[node_ - 1]);
}

}  // namespace watchbill::json
