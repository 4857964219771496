// Going over every view that a structure holds, for what copies them.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>

#include "fields.hpp"

namespace watchbill::acp::wire {

// Calls `take(Text&)` and `take(JsonView&)` for all of them, at whatever depth.
template <typename Take>
class TextFields {
 public:
  explicit TextFields(const Take& take) : take_(take) {}

  template <typename T>
  void Must(std::string_view, T& member) {
    Go(member);
  }
  template <typename T>
  void MustBe(std::string_view, T& member) {
    Go(member);
  }
  template <typename T>
  void May(std::string_view, T& member) {
    Go(member);
  }
  template <typename T, typename Default>
  void Or(std::string_view, T& member, const Default&) {
    Go(member);
  }
  void Flag(std::string_view, bool&) {}
  void Word(std::string_view, OptText& member, Words) { Go(member); }
  void OrWord(std::string_view, Text& member, Text, Words) { Go(member); }
  template <typename T>
  void Part(std::string_view, T& member) {
    Go(member);
  }
  template <typename T>
  void List(std::string_view, T& member) {
    Go(member);
  }
  template <typename T>
  void MayList(std::string_view, T& member) {
    Go(member);
  }
  template <typename T>
  void MustList(std::string_view, T& member) {
    Go(member);
  }
  template <typename T>
  void Patch(std::string_view, T& member) {
    Go(member);
  }
  void Meta(JsonView& member) { Go(member); }
  void Constant(std::string_view, std::string_view) {}
  void RequestId(std::string_view, JsonView& member) { Go(member); }
  template <typename T>
  void Tagged(std::string_view, T& member) {
    Go(member);
  }
  template <typename T>
  void ConfigValue(T& member) {
    Go(member);
  }
  template <typename T>
  void SelectItems(std::string_view, T& member) {
    Go(member);
  }
  template <typename T>
  void Properties(std::string_view, T& member) {
    for (ElicitationProperty& one : member) {
      Go(one.key);
      Go(one);
    }
  }
  template <typename T>
  void Values(std::string_view, T& member) {
    Go(member);
  }

  void Go(Text& text) { take_(text); }
  void Go(JsonView& json) { take_(json); }
  template <typename T>
  requires std::is_arithmetic_v<T>
  void Go(T&) {}
  template <typename T>
  void Go(std::optional<T>& optional) {
    if (optional) Go(*optional);
  }
  template <typename T>
  void Go(std::vector<T>& list) {
    for (T& one : list) Go(one);
  }
  template <typename... T>
  void Go(std::variant<T...>& variant) {
    std::visit([&](auto& one) { Go(one); }, variant);
  }
  template <typename A, typename B>
  void Go(std::pair<A, B>& pair) {
    Go(pair.first);
    Go(pair.second);
  }
  template <typename T>
  requires requires(TextFields& fields, T& message) { Fields(fields, message); }
  void Go(T& message) { Fields(*this, message); }
  void Go(UnknownContent& m) {
    Go(m.type);
    Go(m.raw);
  }
  void Go(UnknownUpdate& m) {
    Go(m.kind);
    Go(m.raw);
  }
  void Go(UnknownMcpServer& m) {
    Go(m.type);
    Go(m.raw);
  }
  void Go(UnknownPropertySchema& m) {
    Go(m.type);
    Go(m.raw);
  }
  void Go(UnknownElicitationMode& m) {
    Go(m.mode);
    Go(m.raw);
  }
  void Go(AuthMethod& m) {
    Go(m.type);
    Go(m.id);
    Go(m.name);
    Go(m.description);
    Go(m.args);
    Go(m.env);
    Go(m.meta);
    Go(m.raw);
  }
  void Go(RequestPermissionResponse& m) {
    Go(m.option_id);
    Go(m.outcome_meta);
    Go(m.meta);
  }
  void Go(RpcError& m) {
    Go(m.message);
    Go(m.data);
  }

 private:
  const Take& take_;
};

// Bytes that stay where they are, also when it is moved.
struct Block {
  std::unique_ptr<char[]> bytes;
  size_t size = 0;
};

// Copies whatever `message` has views of, makes them views of the copy, and gives that: they are good for as
// long as it is.
template <typename Message>
Block TakeOver(Message& message) {
  size_t size = 0;
  const auto count = [&](auto& view) {
    if constexpr (std::is_same_v<decltype(view), JsonView&>) {
      size += view.text().size();
    } else {
      size += view.size();
    }
  };
  TextFields counting(count);
  counting.Go(message);
  Block block{std::make_unique_for_overwrite<char[]>(size), size};
  char* to = block.bytes.get();
  const auto copied = [&](Text text) {
    const Text there(to, text.size());
    to = std::copy(text.begin(), text.end(), to);
    return there;
  };
  const auto copy = [&](auto& view) {
    if constexpr (std::is_same_v<decltype(view), JsonView&>) {
      if (!view.absent()) view = JsonView::Trusted(copied(view.text()));
    } else {
      view = copied(view);
    }
  };
  TextFields copying(copy);
  copying.Go(message);
  return block;
}

// Leaves what is no view: yes, no and numbers.
template <typename Message>
void DropViews(Message& message) {
  const auto drop = [](auto& view) { view = {}; };
  TextFields dropping(drop);
  dropping.Go(message);
}

}  // namespace watchbill::acp::wire
