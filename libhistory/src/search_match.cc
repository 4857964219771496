#include "search_match.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "watchbill/base/json_writer.hpp"

namespace watchbill::history {
namespace {

constexpr double kHalfLifeMs = 30.0 * 24 * 60 * 60 * 1000;
constexpr size_t kSnippetBytes = 200;
// What stands before the first mark, at most; and of that what may go for a word to begin the snippet.
constexpr size_t kBeforeMark = 40, kForWord = 20;
// Of a text with more places, these are looked at.
constexpr size_t kMostPlaces = 2000;

// Reads one stretch of a query: what is between two quotes, or outside of any.
class Reading {
 public:
  Reading(std::string_view query, Sought& sought) : query_(query), sought_(sought) {}

  void Outside(std::string_view text) {
    const std::vector<Word>& words = words_.Split(text);
    for (size_t i = 0; i < words.size(); ++i) {
      const Word& word = words[i];
      switch (word.kind) {
        case Word::Kind::kWord:
          if (!IsPart(words, i)) Add(word.folded, IsBeginning(text, word));
          break;
        case Word::Kind::kJoined:
          Add(word.folded, IsBeginning(text, word));
          break;
        case Word::Kind::kSingle:
          Add(word.folded, true);
          break;
        case Word::Kind::kPair: {
          // Pairs that share a character are one run.
          std::vector<size_t> run{Add(word.folded, false)};
          for (; i + 1 < words.size() && words[i + 1].kind == Word::Kind::kPair &&
                 words[i + 1].begin < words[i].end;
               ++i)
            run.push_back(Add(words[i + 1].folded, false));
          if (run.size() > 1) sought_.phrases.push_back(std::move(run));
          break;
        }
        case Word::Kind::kLast:
          break;
      }
    }
  }

  void Quoted(std::string_view text, bool closed) {
    std::vector<size_t> phrase;
    for (const Word& word : words_.Split(text)) {
      if (!word.InSequence()) continue;
      const bool open = !closed && word.kind == Word::Kind::kWord && IsBeginning(text, word);
      phrase.push_back(Add(word.folded, open || word.kind == Word::Kind::kSingle));
    }
    if (phrase.size() > 1) sought_.phrases.push_back(std::move(phrase));
  }

 private:
  // Whether what it is a part of follows.
  static bool IsPart(const std::vector<Word>& words, size_t at) {
    size_t behind = at + 1;
    while (behind < words.size() && words[behind].kind == Word::Kind::kWord) ++behind;
    return behind < words.size() && words[behind].kind == Word::Kind::kJoined &&
           words[behind].begin <= words[at].begin;
  }
  bool IsBeginning(std::string_view text, const Word& word) const {
    if (word.end < text.size()) return text[word.end] == '*';
    return text.data() + text.size() == query_.data() + query_.size();
  }
  size_t Add(std::string_view word, bool beginning) {
    Term term{std::string(word), beginning};
    const auto same = std::find(sought_.terms.begin(), sought_.terms.end(), term);
    const auto at = static_cast<size_t>(same - sought_.terms.begin());
    if (same == sought_.terms.end()) sought_.terms.push_back(std::move(term));
    return at;
  }

  std::string_view query_;
  Sought& sought_;
  Words words_;
};

}  // namespace

absl::StatusOr<Sought> ReadSought(std::string_view text) {
  if (text.size() > kMostSearchBytes) {
    return absl::InvalidArgumentError(
        fmt::format("a search of {} bytes: {} are the most", text.size(), kMostSearchBytes));
  }
  Sought sought;
  Reading reading(text, sought);
  bool quoted = false;
  for (size_t at = 0; at <= text.size(); quoted = !quoted) {
    const size_t quote = std::min(text.find('"', at), text.size());
    const std::string_view stretch = text.substr(at, quote - at);
    quoted ? reading.Quoted(stretch, quote < text.size()) : reading.Outside(stretch);
    at = quote + 1;
  }
  if (sought.terms.empty()) {
    std::string shown;
    AppendJsonString(shown, text.substr(0, CharacterBoundary(text, 64)));
    return absl::InvalidArgumentError(
        fmt::format("a search for {}: expected a word, which has a letter or a digit", shown));
  }
  return sought;
}

double StrengthOf(const Occurrences& found) {
  const double times = static_cast<double>(found.whole) + static_cast<double>(found.longer);
  return (found.whole > 0 ? 2 : 1) + times / (times + 1);
}

double ScoreOfTime(int64_t created_ms) { return static_cast<double>(created_ms) / kHalfLifeMs; }

double ScoreOf(double strengths, size_t terms, int64_t created_ms) {
  return std::log2(strengths / (kMostStrength * static_cast<double>(terms))) + ScoreOfTime(created_ms);
}

std::string PackedWords(const Message& message, Words& words) {
  static_assert(kMostWordBytes < 256);
  const std::vector<std::string_view> texts = SearchedTexts(message);
  WordLimit limit(texts);
  std::string packed;
  for (const std::string_view text : texts) {
    for (const Word& word : words.Split(text)) {
      if (limit.Passes(word.folded))
        packed.append(1, static_cast<char>(word.folded.size())).append(word.folded);
    }
  }
  return packed;
}

std::optional<double> Matcher::Match(const Message& message) {
  const std::vector<std::string_view> texts = SearchedTexts(message);
  WordLimit limit(texts);
  std::fill(found_.begin(), found_.end(), Occurrences());
  std::vector<bool> has(sought_.phrases.size());
  for (const std::string_view text : texts) {
    const std::vector<Word>& words = words_.Split(text);
    for (const Word& word : words) {
      if (limit.Passes(word.folded)) Count(word.folded);
    }
    for (size_t i = 0; i < has.size(); ++i) has[i] = has[i] || HasPhrase(words, sought_.phrases[i]);
  }
  if (std::find(has.begin(), has.end(), false) != has.end()) return std::nullopt;
  return Score(message.created_ms);
}

std::optional<double> Matcher::MatchWords(std::string_view packed, int64_t created_ms) {
  std::fill(found_.begin(), found_.end(), Occurrences());
  for (size_t at = 0; at < packed.size();) {
    const auto size = static_cast<uint8_t>(packed[at]);
    Count(packed.substr(at + 1, size));
    at += 1 + size;
  }
  return Score(created_ms);
}

void Matcher::Count(std::string_view word) {
  for (size_t i = 0; i < found_.size(); ++i) {
    const Term& term = sought_.terms[i];
    if (Is(word, term)) ++(word.size() == term.word.size() ? found_[i].whole : found_[i].longer);
  }
}

std::optional<double> Matcher::Score(int64_t created_ms) const {
  double strengths = 0;
  for (const Occurrences& found : found_) {
    if (found.none()) return std::nullopt;
    strengths += StrengthOf(found);
  }
  return ScoreOf(strengths, found_.size(), created_ms);
}

bool Matcher::HasPhrase(const std::vector<Word>& words, const std::vector<size_t>& phrase) const {
  for (size_t first = 0; first < words.size(); ++first) {
    if (!words[first].InSequence()) continue;
    size_t at = first, matched = 0;
    for (; at < words.size() && matched < phrase.size(); ++at) {
      if (!words[at].InSequence()) continue;
      if (!Is(words[at].folded, sought_.terms[phrase[matched]])) break;
      ++matched;
    }
    if (matched == phrase.size()) return true;
  }
  return false;
}

std::vector<Matcher::Place> Matcher::PlacesIn(std::string_view text) {
  std::vector<Place> places;
  for (const Word& word : words_.Split(text)) {
    for (size_t i = 0; i < sought_.terms.size() && places.size() < kMostPlaces; ++i) {
      if (Is(word.folded, sought_.terms[i])) places.push_back({i, word.begin, word.end});
    }
  }
  // A whole identifier stands behind its parts.
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.begin < b.begin; });
  return places;
}

void Matcher::CutSnippet(const Message& message, SearchHit& hit) {
  // The text with the most terms, and with those most often.
  std::string_view text;
  std::vector<Place> places;
  size_t most = 0;
  for (const std::string_view other : SearchedTexts(message)) {
    std::vector<Place> here = PlacesIn(other);
    std::vector<bool> has(sought_.terms.size());
    for (const Place& place : here) has[place.term] = true;
    const auto terms = static_cast<size_t>(std::count(has.begin(), has.end(), true));
    if (text.empty() || terms > most || (terms == most && here.size() > places.size())) {
      text = other;
      places = std::move(here);
      most = terms;
    }
  }

  // The place from which the most terms are within reach.
  size_t begin = 0, reached = 0, last = 0;
  std::vector<size_t> within(sought_.terms.size());
  size_t terms = 0;
  for (size_t first = 0; first < places.size(); ++first) {
    for (; last < places.size() && places[last].end <= places[first].begin + kSnippetBytes - kBeforeMark;
         ++last)
      terms += within[places[last].term]++ == 0 ? 1 : 0;
    if (first == 0 || terms > reached) {
      begin = places[first].begin;
      reached = terms;
    }
    if (last == first) {
      ++last;  // alone it is too long
    } else {
      terms -= --within[places[first].term] == 0 ? 1 : 0;
    }
  }

  const size_t mark = begin;
  begin -= std::min(begin, kBeforeMark);
  begin = std::min(begin, text.size() - std::min(text.size(), kSnippetBytes));
  begin = CharacterBoundary(text, begin);
  if (begin > 0) {
    const size_t space = text.find_first_of(" \n\t", begin);
    if (space < std::min(begin + kForWord, mark)) begin = space + 1;
  }
  const size_t end = CharacterBoundary(text, begin + kSnippetBytes);
  hit.snippet = text.substr(begin, end - begin);
  hit.cut_before = begin > 0;
  hit.cut_after = end < text.size();
  hit.marks.clear();
  for (const Place& place : places) {
    if (place.begin < begin || place.begin >= end) continue;
    const SearchMark here{place.begin - begin, std::min(place.end, end) - begin};
    if (!hit.marks.empty() && here.begin < hit.marks.back().end) {
      hit.marks.back().end = std::max(hit.marks.back().end, here.end);
    } else {
      hit.marks.push_back(here);
    }
  }
}

}  // namespace watchbill::history
