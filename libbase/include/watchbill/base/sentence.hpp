// What is said to people.
#pragma once

#include <string>
#include <string_view>

namespace watchbill {

// A sentence in English, with what a page needs to say it in another language. `code` is a word of a closed
// list; `key` and `value` are its one argument, empty where it has none.
struct Sentence {
  std::string_view code;
  std::string text;
  std::string_view key = {};
  std::string value = {};
};

}  // namespace watchbill
