// JSON that is passed on and not looked into.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace watchbill {

// One JSON value as compact, valid UTF-8 text that a parser of this suite has accepted: numbers stand as they
// came, no number is infinite, no surrogate is alone, no nesting is deeper than 64. Empty is "absent", which
// no JSON text is. A view: it is good until its source says so.
class JsonView {
 public:
  constexpr JsonView() = default;
  // For a parser or a writer that has made sure of the above.
  static constexpr JsonView Trusted(std::string_view text) { return JsonView(text); }

  constexpr std::string_view text() const { return text_; }
  constexpr bool absent() const { return text_.empty(); }
  constexpr bool is_null() const { return text_ == "null"; }
  friend bool operator==(JsonView a, JsonView b) { return a.text_ == b.text_; }

 private:
  explicit constexpr JsonView(std::string_view text) : text_(text) {}
  std::string_view text_;
};

// The same, owned.
class JsonText {
 public:
  JsonText() = default;
  explicit JsonText(JsonView view) : text_(view.text()) {}
  static JsonText Trusted(std::string text) {
    JsonText out;
    out.text_ = std::move(text);
    return out;
  }

  JsonView view() const { return JsonView::Trusted(text_); }
  const std::string& text() const { return text_; }
  bool absent() const { return text_.empty(); }

 private:
  std::string text_;
};

}  // namespace watchbill
