// A text as the words by which it is found. Pure.
//
// A word is a run of letters and digits, folded: without case, without the accents and points that are put on
// letters, and with compatibility forms as what they stand for (a ligature, a full-width letter, a circled
// digit, sharp s as ss). Hangul stays composed, and marks without which a letter would be another stay where
// they are: those of kana and of Indian and Thai vowels and tones. Symbols, punctuation and bytes that are
// not UTF-8 stand between words and are no words. A word is cut at kMostWordBytes, between characters.
//
// An identifier whose parts are joined by underscores is each of its parts, and all of it as well:
// watchbill_history is watchbill, history and watchbill_history. Capitals within a word part nothing.
//
// Han, kana, Hangul, Thai, Lao, Khmer and Burmese are written without spaces, or with spaces that say little:
// a run of them is the pairs of its neighbouring characters, and its last character, so that a single
// character is the beginning of a word wherever it stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "watchbill/history/message.hpp"

namespace watchbill::history {

inline constexpr size_t kMostWordBytes = 64;

struct Word {
  enum class Kind : uint8_t {
    kWord,
    kJoined,  // an identifier as a whole, behind its parts
    kPair,    // of a run without spaces
    kLast,    // the last character of such a run of several, by itself
    kSingle,  // such a run of one character
  };
  // Whether it is one of those that make up the text one after the other. The others say some of it again.
  bool InSequence() const { return kind != Kind::kJoined && kind != Kind::kLast; }

  std::string_view folded;
  uint32_t begin = 0, end = 0;  // where it stands in the text, in bytes
  Kind kind = Kind::kWord;
};

// Splits one text at a time, and keeps its buffers between texts. One thread.
class Words {
 public:
  // In the order of the text. Good until the next call, whatever becomes of the text. The text is shorter
  // than 4 GB.
  const std::vector<Word>& Split(std::string_view text);

 private:
  enum class Script : uint8_t { kNone, kSpaced, kSpaceless, kMark };
  // A character of a run that is not all ASCII.
  struct Character {
    uint32_t begin;
    Script script;
  };

  static Script ScriptOf(int32_t code);
  void AsciiWord(size_t begin, size_t end);
  void AsciiRun(size_t begin, size_t end);
  // From the first byte of a run, or one that is in none; gives where to go on.
  size_t MixedRun(size_t begin);
  // Those of run_ from first to before last.
  void Spaced(size_t first, size_t last);
  void Spaceless(size_t first, size_t last);
  // Folds bytes of the text into codes_, with a 0 where a word ends.
  void Fold(size_t begin, size_t end);
  // Composes what stands there in codes_ and puts its first bytes, up to `most`, behind folded_. Gives how
  // many; 0 where it has no letter and no digit.
  size_t Compose(size_t first, size_t last, size_t most);
  // Room behind what was folded; words that are there stay good.
  char* Room(size_t bytes);
  // What was folded at that place.
  void Add(Word::Kind kind, size_t begin, size_t end, size_t at, size_t size);
  // Adds the identifier whose parts are the words from this one on, if they are parts.
  void Join(size_t first_word);

  std::string_view text_;
  std::vector<Word> words_;
  std::string folded_;
  size_t used_ = 0;             // of folded_
  std::vector<Character> run_;  // and where it ends
  std::vector<int32_t> codes_;
};

// What of a message is looked for in: its texts, the entries of its plans, of its tool calls the titles and
// the paths of locations and diffs, and its error. No thoughts, and nothing that went into a tool or came out
// of it. Of all that the first kMostTextBytes, and of the words the first kMostDifferentWords that differ.
inline constexpr size_t kMostTextBytes = 256 << 10;
inline constexpr size_t kMostDifferentWords = 8192;

// Those texts in their order, cut; none is empty. Views into the message.
std::vector<std::string_view> SearchedTexts(const Message& message);

// Lets those words of one message pass that are among the first kMostDifferentWords.
class WordLimit {
 public:
  // All texts of the message. Short ones have fewer words, and all pass.
  explicit WordLimit(const std::vector<std::string_view>& texts);
  bool Passes(std::string_view word) { return !counts_ || Counts(word); }

 private:
  bool Counts(std::string_view word);

  bool counts_ = false;
  std::set<std::string, std::less<>> words_;
};

// The greatest place up to `at` that is between two characters of UTF-8.
size_t CharacterBoundary(std::string_view text, size_t at);

}  // namespace watchbill::history
