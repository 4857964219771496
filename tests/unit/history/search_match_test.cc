#include "search_match.hpp"

#include <cmath>

#include "history_fixture.hpp"

namespace watchbill::history {
namespace {

Sought SoughtIn(std::string_view text) {
  auto sought = ReadSought(text);
  REQUIRE_MESSAGE(sought.ok(), sought.status().ToString());
  return *std::move(sought);
}

// The terms, a * behind those that are beginnings; and the places of phrases.
std::string Shown(std::string_view text) {
  const Sought sought = SoughtIn(text);
  std::string shown;
  for (const Term& term : sought.terms) shown += term.word + (term.beginning ? "* " : " ");
  for (const std::vector<size_t>& phrase : sought.phrases) {
    shown += "(";
    for (const size_t term : phrase) shown += std::to_string(term);
    shown += ")";
  }
  return shown;
}

std::optional<double> ScoreIn(std::string_view query, const Message& message) {
  const Sought sought = SoughtIn(query);
  return Matcher(sought).Match(message);
}

bool Finds(std::string_view query, const std::string& text) {
  const Message message = TextMessage(kChannelA, NthId(1), text);
  const std::optional<double> score = ScoreIn(query, message);
  // What is known of a message that is not in the index says the same, but for phrases.
  const Sought sought = SoughtIn(query);
  Words words;
  const std::optional<double> packed =
      Matcher(sought).MatchWords(PackedWords(message, words), message.created_ms);
  if (sought.phrases.empty()) {
    CHECK(packed == score);
  } else if (score) {
    CHECK(packed == score);
  }
  return score.has_value();
}

// The marked parts of a snippet in brackets.
std::string Marked(std::string_view query, const Message& message) {
  const Sought sought = SoughtIn(query);
  SearchHit hit;
  Matcher(sought).CutSnippet(message, hit);
  std::string shown = hit.cut_before ? "<" : "";
  size_t at = 0;
  for (const SearchMark& mark : hit.marks) {
    REQUIRE(at <= mark.begin);
    REQUIRE(mark.begin < mark.end);
    REQUIRE(mark.end <= hit.snippet.size());
    shown += hit.snippet.substr(at, mark.begin - at);
    shown += "[" + hit.snippet.substr(mark.begin, mark.end - mark.begin) + "]";
    at = mark.end;
  }
  return shown + hit.snippet.substr(at) + (hit.cut_after ? ">" : "");
}
std::string Marked(std::string_view query, const std::string& text) {
  return Marked(query, TextMessage(kChannelA, NthId(1), text));
}

TEST_CASE("a query is its words; the last one that is being written, and one with a star, is a beginning") {
  CHECK(Shown("Foo bar") == "foo bar* ");
  CHECK(Shown("foo ") == "foo ");
  CHECK(Shown("foo* bar ") == "foo* bar ");
  CHECK(Shown("foo *") == "foo ");
  CHECK(Shown("foo foo foo*") == "foo foo* ");
  CHECK(Shown("watchbill_hist") == "watchbill_hist* ");
  CHECK(Shown("watchbill_history x ") == "watchbill_history x ");
  CHECK(Shown("src/search.cc ") == "src search cc ");
  CHECK(Shown("日") == "日* ");
  CHECK(Shown("日 x ") == "日* x ");
  CHECK(Shown("日本 ") == "日本 ");
  CHECK(Shown("日本語の") == "日本 本語 語の (012)");
}

TEST_CASE("words in quotes stand one behind the other") {
  CHECK(Shown(R"("foo bar" baz )") == "foo bar baz (01)");
  CHECK(Shown(R"("foo" bar)") == "foo bar* ");
  CHECK(Shown(R"("foo bar")") == "foo bar (01)");
  CHECK(Shown(R"("foo bar)") == "foo bar* (01)");
  CHECK(Shown(R"(x "foo bar )") == "x foo bar (12)");
  CHECK(Shown(R"("a b a")") == "a b (010)");
  CHECK(Shown(R"("one_two three")") == "one two three (012)");
  CHECK(Shown(R"("" "" x )") == "x ");
  CHECK(Shown(R"("日本語 x")") == "日本 本語 x (012)");
}

TEST_CASE("a query without a word says what was expected, and so does one that is too long") {
  for (const char* text : {"", "   ", "\"\"", "* _ -", "🙂", "\xFF\xFE", "\"\" \""}) {
    const auto sought = ReadSought(text);
    CHECK(absl::IsInvalidArgument(sought.status()));
    CHECK(Says(sought.status(), "expected a word"));
  }
  CHECK(ReadSought(std::string(kMostSearchBytes, 'a')).ok());
  const auto sought = ReadSought(std::string(kMostSearchBytes + 1, 'a'));
  CHECK(absl::IsInvalidArgument(sought.status()));
  CHECK(Says(sought.status(), "1000 are the most"));
}

TEST_CASE("all words have to be there, in whatever order and however written") {
  CHECK(Finds("brown QUICK ", "the quick brown fox"));
  CHECK(!Finds("brown quic ", "the quick brown fox"));
  CHECK(Finds("brown quic", "the quick brown fox"));
  CHECK(Finds("qu* fox ", "the quick brown fox"));
  CHECK(!Finds("ox ", "the quick brown fox"));
  CHECK(Finds("cafe ", "Café"));
  CHECK(Finds("CAFÉ ", "cafe\u0301"));
  for (const char* query : {"watchbill ", "history ", "watchbill_history ", "watchbill_h"})
    CHECK(Finds(query, "the library watchbill_history"));
  CHECK(!Finds("watchbill_history ", "watchbill history"));
  CHECK(Finds("本 ", "日本"));
  CHECK(Finds("日 ", "日本"));
  CHECK(Finds("日本語 ", "これは日本語です"));
  CHECK(!Finds("日本語 ", "日本の本語"));
  CHECK(Finds("말 ", "한국말"));
}

TEST_CASE("a phrase stands within one text, and punctuation is nothing") {
  CHECK(Finds(R"("quick brown" )", "the quick, brown fox"));
  CHECK(!Finds(R"("brown quick" )", "the quick brown fox"));
  CHECK(!Finds(R"("quick fox" )", "the quick brown fox"));
  CHECK(Finds(R"("quick bro)", "the quick brown fox"));
  CHECK(!Finds(R"("quick bro")", "the quick brown fox"));
  CHECK(Finds(R"("a b a c" )", "a b a b a c"));
  CHECK(Finds(R"("one two three" )", "x one_two three"));
  CHECK(Finds(R"("one_two three" )", "one two three"));
  CHECK(Finds(R"("x 日" )", "x 日本"));
  Message message = TextMessage(kChannelA, NthId(1), "ends with quick");
  message.parts.push_back(TextPart{"brown begins"});
  CHECK(!ScoreIn(R"("quick brown" )", message));
  CHECK(ScoreIn("quick brown ", message));
}

TEST_CASE("the score is the formula") {
  Message message = TextMessage(kChannelA, NthId(1), "foo foo food bar");
  message.created_ms = 0;
  const auto near = [](std::optional<double> score, double match) {
    REQUIRE(score);
    CHECK(std::abs(*score - std::log2(match)) < 1e-12);
  };
  near(ScoreIn("bar ", message), 2.5 / 3);
  near(ScoreIn("foo ", message), (2 + 2.0 / 3) / 3);
  near(ScoreIn("foo", message), 2.75 / 3);
  near(ScoreIn("fo", message), 1.75 / 3);
  near(ScoreIn("ba", message), 1.5 / 3);
  near(ScoreIn("foo bar ", message), ((2 + 2.0 / 3) + 2.5) / 2 / 3);
  // Thirty days are worth a factor of two.
  const double before = *ScoreIn("bar ", message);
  message.created_ms = int64_t{30} * 24 * 3600 * 1000;
  CHECK(std::abs(*ScoreIn("bar ", message) - before - 1) < 1e-12);
  // Of any time there is.
  message.created_ms = -62'167'219'200'000;
  CHECK(std::isfinite(*ScoreIn("bar ", message)));
  // However often it stands there, the beginning of a longer one is less than the word.
  CHECK(StrengthOf({0, 1'000'000}) < StrengthOf({1, 0}));
  CHECK(StrengthOf({1'000'000, 0}) < kMostStrength);
}

TEST_CASE("a snippet is the text with the most of the words, with their places") {
  Message message = FullMessage(kChannelA, NthId(1));
  CHECK(Marked("edit ", message) == "[Edit] a file");
  CHECK(Marked("c", message) == "[c].txt");
  CHECK(Marked("deja ", message) == "# [Déjà] vu\n\n\"quoted\" \\ and 🙂");
  message.parts.push_back(TextPart{"a file to quote"});
  CHECK(Marked("a file quot", message) == "[a] [file] to [quote]");
  CHECK(Marked("watchbill_history history ", "x watchbill_history, history") ==
        "x [watchbill_history], [history]");
  CHECK(Marked("日本語 ", "これは日本語です") == "これは[日本語]です");
}

TEST_CASE("a long text is cut around its words, between characters") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "äöü ";
  const std::string before = text;
  text += "needle in " + before + "needle haystack " + before;
  const std::string shown = Marked("needle hay", text);
  CHECK(shown.starts_with("<äöü "));
  CHECK(shown.ends_with(">"));
  CHECK(shown.find("[needle] [haystack]") != std::string::npos);
  CHECK(shown.size() <= 210);
  CHECK(Marked("needle ", text).find("[needle] in äöü") != std::string::npos);
  // At both ends.
  CHECK(Marked("first ", "first " + before).starts_with("[first] äöü"));
  const std::string end = Marked("last ", before + "last");
  CHECK(end.ends_with("[last]"));
  CHECK(end.size() > 190);
  // A word that is longer than a snippet.
  const std::string whole(1000, 'x');
  const std::string part = Marked("x", "a " + whole + " b");
  CHECK(part.starts_with("a [x"));
  CHECK(part.ends_with("x]>"));
  CHECK(part.size() <= 205);
  // Of emoji nothing is cut through.
  std::string emoji;
  for (int i = 0; i < 200; ++i) emoji += "🙂";
  const Sought sought = SoughtIn("word ");
  for (int shift = 0; shift < 8; ++shift) {
    SearchHit hit;
    const std::string around = std::string(static_cast<size_t>(shift), '-') + emoji + " word " + emoji;
    Matcher(sought).CutSnippet(TextMessage(kChannelA, NthId(1), around), hit);
    CHECK(CharacterBoundary(hit.snippet, hit.snippet.size()) == hit.snippet.size());
    CHECK((static_cast<uint8_t>(hit.snippet[0]) & 0xC0) != 0x80);
    CHECK((hit.snippet.size() - 6) % 4 == 0);
    REQUIRE(hit.marks.size() == 1);
    CHECK(hit.snippet.substr(hit.marks[0].begin, 4) == "word");
  }
}

}  // namespace
}  // namespace watchbill::history
