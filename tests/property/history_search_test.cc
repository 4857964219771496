// A search over random histories is what a look at every message gives, by the same words.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "keys.hpp"
#include "search_fixture.hpp"
#include "seeded.hpp"
#include "temp_folder.hpp"
#include "words.hpp"

namespace watchbill::history {
namespace {

using Kept = std::map<std::pair<std::string, std::string>, Message>;

const std::vector<std::string> kWords = {"the",     "there",  "then",    "Thé",  "a",     "an",
                                         "and",     "ant",    "x1",      "x_1",  "x_1_y", "日",
                                         "日本",    "本日",   "日本語",  "한국", "naïve", "naive",
                                         "NAIVETY", "straße", "strasse", "foo",  "food",  "foot"};

std::string RandomText(Seeded& random, size_t most) {
  std::string text;
  for (size_t n = random.Below(most); n > 0; --n) {
    // Some words often, most seldom.
    text += kWords[random.Below(1 + random.Below(kWords.size()))];
    text += random.OneIn(6) ? ", " : random.OneIn(9) ? "-" : " ";
  }
  return text;
}

Message RandomMessage(Seeded& random, const std::string& channel, size_t n) {
  Message message = TextMessage(channel, NthId(n), RandomText(random, 12));
  // Also at the same time, and far apart.
  const int64_t kStep = random.OneIn(3) ? 0 : random.OneIn(3) ? 86'400'000 : 1'000;
  message.created_ms += static_cast<int64_t>(random.Below(100)) * kStep;
  if (random.OneIn(3)) message.parts.push_back(TextPart{RandomText(random, 6)});
  if (random.OneIn(6)) message.parts.push_back(ThoughtPart{RandomText(random, 6)});
  if (random.OneIn(6)) message.parts.push_back(PlanPart{{{RandomText(random, 4), "low", "pending"}}});
  if (random.OneIn(6)) {
    ToolCall tool;
    tool.id = "call";
    tool.title = RandomText(random, 4);
    tool.output = RandomText(random, 6);
    tool.locations = {{RandomText(random, 3), std::nullopt}};
    message.parts.push_back(ToolPart{tool});
  }
  if (random.OneIn(8)) message.error = RandomText(random, 4);
  return message;
}

// A word of the query: in quotes, to be followed by others; or a beginning; or as it is.
struct Asked {
  std::vector<std::string> words;  // folded; several are a phrase
  bool beginning = false;
};

struct Question {
  std::string text;
  std::vector<Asked> asked;
};

// One that was split, as far as it makes up the text.
std::vector<std::string> Sequence(std::string_view text) {
  Words words;
  std::vector<std::string> sequence;
  for (const Word& word : words.Split(text)) {
    if (word.InSequence()) sequence.emplace_back(word.folded);
  }
  return sequence;
}

Question RandomQuestion(Seeded& random) {
  // Words that are one word each, so that what is meant by a query can be said without reading it.
  static const std::vector<std::string> kAsked = {"the", "there", "thé",  "a",     "an",  "AND",  "ant",
                                                  "x1",  "日本",  "한국", "naive", "foo", "food", "strasse"};
  Question question;
  for (size_t n = 1 + random.Below(3); n > 0; --n) {
    Asked asked;
    if (random.OneIn(4)) {
      std::string phrase;
      for (size_t k = 1 + random.Below(3); k > 0; --k) phrase += random.Of(kAsked) + " ";
      question.text += "\"" + phrase + "\" ";
      asked.words = Sequence(phrase);
    } else {
      const std::string& word = random.Of(kAsked);
      asked.words = Sequence(word);
      // A pair is never a beginning.
      asked.beginning = random.OneIn(3) && static_cast<unsigned char>(word[0]) < 0x80;
      const size_t cut = asked.beginning ? 1 + random.Below(asked.words[0].size()) : std::string::npos;
      if (asked.beginning) {
        asked.words[0] = asked.words[0].substr(0, CharacterBoundary(asked.words[0], cut));
        question.text += asked.words[0] + (n == 1 && random.OneIn(2) ? "" : "* ");
      } else {
        question.text += word + " ";
      }
    }
    question.asked.push_back(asked);
  }
  return question;
}

std::optional<double> ScoreOf(const Message& message, const Question& question) {
  std::vector<std::string> all;
  std::vector<std::vector<std::string>> sequences;
  for (const std::string_view text : SearchedTexts(message)) {
    Words words;
    for (const Word& word : words.Split(text)) all.emplace_back(word.folded);
    sequences.push_back(Sequence(text));
  }
  // Each word once, as it is and as a beginning.
  std::vector<std::pair<std::string, bool>> terms;
  for (const Asked& asked : question.asked) {
    for (const std::string& word : asked.words) {
      const std::pair<std::string, bool> term(word, asked.beginning);
      if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.push_back(term);
    }
    const bool there = std::any_of(sequences.begin(), sequences.end(), [&](const auto& sequence) {
      return std::search(sequence.begin(), sequence.end(), asked.words.begin(), asked.words.end()) !=
             sequence.end();
    });
    if (!asked.beginning && asked.words.size() > 1 && !there) return std::nullopt;
  }
  double strengths = 0;
  for (const auto& [term, beginning] : terms) {
    double whole = 0, longer = 0;
    for (const std::string& word : all) {
      if (word == term) {
        ++whole;
      } else if (beginning && word.starts_with(term)) {
        ++longer;
      }
    }
    const double times = whole + longer;
    if (times == 0) return std::nullopt;
    strengths += (whole > 0 ? 2 : 1) + times / (times + 1);
  }
  return std::log2(strengths / (3.0 * static_cast<double>(terms.size()))) +
         static_cast<double>(message.created_ms) / (30.0 * 24 * 60 * 60 * 1000);
}

// (score, id, channel) of all hits, best first.
using Expected = std::vector<std::tuple<double, std::string, std::string>>;
Expected LookAtAll(const Kept& kept, const Question& question, const std::string& channel) {
  Expected expected;
  for (const auto& [key, message] : kept) {
    if (!channel.empty() && key.first != channel) continue;
    if (const auto score = ScoreOf(message, question)) expected.emplace_back(*score, message.id, key.first);
  }
  std::sort(expected.rbegin(), expected.rend());
  return expected;
}

TEST_CASE("a search finds what a look at every message does, in the order of the score, at any time") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  for (int history = 0; history < 12; ++history) {
    const TempFolder folder;
    std::vector<std::string> channels = {kChannelA, kChannelB, "01ARYZ6S41TSV4RRFFQ69G5FAX",
                                         "01ARYZ6S41TSV4RRFFQ69G5FAY"};
    Kept kept;
    size_t next = 0;
    auto store = MustOpen(folder.path);
    for (int round = 0; round < 14; ++round) {
      Batch batch;
      for (size_t n = random.Below(40); n > 0; --n) {
        // One in five is replaced.
        const bool old = !kept.empty() && random.OneIn(5);
        Message message = RandomMessage(random, random.Of(channels), next);
        if (old) {
          auto it = kept.begin();
          std::advance(it, static_cast<std::ptrdiff_t>(random.Below(kept.size())));
          std::tie(message.channel, message.id) = it->first;
        } else {
          ++next;
        }
        REQUIRE(batch.Put(message).ok());
        kept[{message.channel, message.id}] = message;
      }
      REQUIRE(store->Commit(batch).ok());
      if (random.OneIn(12) && channels.size() > 1) {
        const std::string gone = channels.back();
        channels.pop_back();
        REQUIRE(store->DeleteChannel(gone, 1 + random.Below(20)).ok());
        std::erase_if(kept, [&](const auto& entry) { return entry.first.first == gone; });
      }
      if (random.OneIn(5)) {
        store.reset();
        store = MustOpen(folder.path);
      }
      if (random.OneIn(25)) REQUIRE(Index(*store).Rebuild().ok());
      for (size_t n = random.Below(4); n > 0; --n) MustStep(*store, 1 + random.Below(30), random.OneIn(2));

      const std::string word = "a ";
      if (MustFind(*store, {.text = word, .channel = {}, .limit = 1, .after = {}}).partial) continue;
      for (int asked = 0; asked < 25; ++asked) {
        const Question question = RandomQuestion(random);
        CAPTURE(question.text);
        const std::string channel = random.OneIn(3) ? random.Of(channels) : "";
        Expected found;
        SearchQuery query{
            .text = question.text, .channel = channel, .limit = 1 + random.Below(30), .after = {}};
        for (SearchHit& hit : AllHits(*store, query)) found.emplace_back(hit.score, hit.id, hit.channel);
        const Expected expected = LookAtAll(kept, question, channel);
        REQUIRE(found.size() == expected.size());
        for (size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == expected[i]);
      }
    }
    // In the end all is in the index, whatever the way was.
    IndexAll(*store, 1 + random.Below(50));
    const Question all{"a* ", {{{"a"}, true}}};
    CHECK(AllHits(*store, {.text = all.text, .channel = {}, .limit = 200, .after = {}}).size() ==
          LookAtAll(kept, all, "").size());
  }
}

TEST_CASE("any bytes are split into words that say where they stand, and fold to themselves") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  Words words, again;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t n = random.Below(60); n > 0; --n) {
      if (random.OneIn(3)) {
        text.push_back(static_cast<char>(random.Below(256)));
      } else if (random.OneIn(2)) {
        text += random.Of(kWords);
      } else {
        // Any character there may be, in four bytes or fewer.
        const size_t code = random.OneIn(2) ? random.Below(0x3400) : random.Below(0x110000);
        if (code < 0x800) {
          text += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
        } else if (code < 0x10000) {
          text += {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
                   static_cast<char>(0x80 | (code & 63))};
        } else {
          text += {static_cast<char>(0xF0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 63)),
                   static_cast<char>(0x80 | (code >> 6 & 63)), static_cast<char>(0x80 | (code & 63))};
        }
      }
    }
    CAPTURE(text);
    size_t before = 0;
    for (const Word& word : words.Split(text)) {
      REQUIRE(!word.folded.empty());
      REQUIRE(word.folded.size() <= kMostWordBytes);
      REQUIRE(word.folded.find('\0') == std::string_view::npos);
      REQUIRE(word.begin < word.end);
      REQUIRE(word.end <= text.size());
      REQUIRE(CharacterBoundary(word.folded, word.folded.size()) == word.folded.size());
      if (word.InSequence()) {
        REQUIRE(before <= word.begin);
        before = word.begin;
      }
      // What is found by a word is found by the word as it was folded.
      if (word.kind == Word::Kind::kPair || word.folded.size() + 4 > kMostWordBytes) continue;
      const std::string folded(word.folded);
      const std::vector<Word>& same = again.Split(folded);
      // One character of a script without spaces may stand for two, which are a pair then.
      REQUIRE_MESSAGE(
          std::any_of(same.begin(), same.end(), [&](const Word& one) { return one.folded == folded; }),
          folded);
    }
  }
}

}  // namespace
}  // namespace watchbill::history
