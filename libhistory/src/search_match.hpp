// What a search looks for, and how a message answers to it. Pure. The messages of an index and those that are
// not in it yet are judged here, and so the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/history/message.hpp"
#include "watchbill/history/search.hpp"
#include "words.hpp"

namespace watchbill::history {

// One word, or all that begin with it and it too.
struct Term {
  std::string word;
  bool beginning = false;
  friend bool operator==(const Term&, const Term&) = default;
};

// A message has to have all terms, and those of each phrase one behind the other.
struct Sought {
  std::vector<Term> terms;  // each once; there is one
  std::vector<std::vector<size_t>> phrases;
};

// As SearchQuery::text says. A run of a script without spaces is a phrase of its pairs, and one character of
// it the beginning of a pair. InvalidArgument.
absl::StatusOr<Sought> ReadSought(std::string_view text);

// How often a term was found: as it is, and as the beginning of longer words.
struct Occurrences {
  uint32_t whole = 0, longer = 0;
  bool none() const { return whole == 0 && longer == 0; }
};

// How well they match: 1 to 3. More of the same kind, more; and a whole word more than any of the others.
double StrengthOf(const Occurrences& found);
inline constexpr double kMostStrength = 3;
// The score of SearchHit, of what all strengths add up to, in the order of terms.
double ScoreOf(double strengths, size_t terms, int64_t created_ms);
// What the time alone adds.
double ScoreOfTime(int64_t created_ms);

// All the words of a message that count: the bytes of each behind their number. `words` is a buffer.
std::string PackedWords(const Message& message, Words& words);

// Judges one message at a time. One thread.
class Matcher {
 public:
  // Good as long as what is sought.
  explicit Matcher(const Sought& sought) : sought_(sought), found_(sought.terms.size()) {}

  // Its score, if it has all that is sought.
  std::optional<double> Match(const Message& message);
  // The same of its words as PackedWords gives them, without a look at phrases.
  std::optional<double> MatchWords(std::string_view packed, int64_t created_ms);
  // Sets snippet, marks and cuts of the hit.
  void CutSnippet(const Message& message, SearchHit& hit);

 private:
  struct Place {
    size_t term, begin, end;
  };
  static bool Is(std::string_view word, const Term& term) {
    return word.starts_with(term.word) && (term.beginning || word.size() == term.word.size());
  }
  void Count(std::string_view word);
  // Of what was counted.
  std::optional<double> Score(int64_t created_ms) const;
  bool HasPhrase(const std::vector<Word>& words, const std::vector<size_t>& phrase) const;
  std::vector<Place> PlacesIn(std::string_view text);

  const Sought& sought_;
  Words words_;
  std::vector<Occurrences> found_;
};

}  // namespace watchbill::history
