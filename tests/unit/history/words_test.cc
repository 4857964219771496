#include "words.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "history_fixture.hpp"

namespace watchbill::history {
namespace {

using Kind = Word::Kind;

// The words of a text, with a sign before those that are not plain ones: + a whole identifier, : a pair,
// . the last of a run, = a single one.
std::vector<std::string> Split(std::string_view text) {
  static Words words;
  std::vector<std::string> split;
  for (const Word& word : words.Split(text)) {
    constexpr std::string_view kSigns[] = {"", "+", ":", ".", "="};
    split.push_back(std::string(kSigns[static_cast<size_t>(word.kind)]).append(word.folded));
  }
  return split;
}

using Strings = std::vector<std::string>;

TEST_CASE("a word is a run of letters and digits, in small letters") {
  CHECK(Split("").empty());
  CHECK(Split(" .,;!?-/\\\"'()[]{}<>|~`@#$%^&*+=\t\r\n") == Strings{});
  CHECK(Split("The quick, (brown) FOX-jumped\nover 2nd x86_64") ==
        Strings{"the", "quick", "brown", "fox", "jumped", "over", "2nd", "x86", "64", "+x86_64"});
  CHECK(Split("3.14 a/b.cc x=1;y=2") == Strings{"3", "14", "a", "b", "cc", "x", "1", "y", "2"});
}

TEST_CASE("an identifier is each of its parts, and as a whole") {
  CHECK(Split("watchbill_history") == Strings{"watchbill", "history", "+watchbill_history"});
  CHECK(Split("__init__ _x y_ ____ K_MAX__Bytes_") ==
        Strings{"init", "x", "y", "k", "max", "bytes", "+k_max__bytes"});
  CHECK(Split("camelCase HTTPServer") == Strings{"camelcase", "httpserver"});
  CHECK(Split("größe_Max") == Strings{"grosse", "max", "+grosse_max"});
  // Of a run without spaces there is no whole.
  CHECK(Split("日本_x") == Strings{":日本", ".本", "x"});
}

TEST_CASE("case, accents and compatibility forms make no difference") {
  const std::pair<const char*, Strings> kCases[] = {
      {"é É e\u0301 E\u0301 ê ẽ", {"e", "e", "e", "e", "e", "e"}},
      {"Straße STRASSE ẞ", {"strasse", "strasse", "ss"}},
      {"İstanbul istanbul", {"istanbul", "istanbul"}},
      {"ı", {"ı"}},  // a letter of its own
      {"ﬁne ﬃ ĳ", {"fine", "ffi", "ij"}},
      {"ＡＢＣ１２３ ﬀ", {"abc123", "ff"}},
      {"①② Ⅷ x²", {"12", "viii", "x2"}},
      {"then㊀ ㈡㆔", {"then", "=一", ":二三", ".三"}},
      {"½", {"1", "2"}},
      {"ΣΊΣΥΦΟΣ Σίσυφος", {"σισυφοσ", "σισυφοσ"}},
      {"ЁЛКА ёлка Й", {"елка", "елка", "и"}},
      {"Việt VIÊ\u0323T đ", {"viet", "viet", "đ"}},
      {"K \u212A Å \u212B", {"k", "k", "a", "a"}},
      {"\u0645\u064F\u062D\u0645\u0651\u062F \u0645\u062D\u0645\u062F",
       {"\u0645\u062D\u0645\u062F", "\u0645\u062D\u0645\u062F"}},  // Arabic with points and without
      {"\u05E9\u05B8\u05DC\u05D5\u05B9\u05DD \u05E9\u05DC\u05D5\u05DD",
       {"\u05E9\u05DC\u05D5\u05DD", "\u05E9\u05DC\u05D5\u05DD"}},  // Hebrew
      {"\uFDFA",
       {"\u0635\u0644\u0649", "\u0627\u0644\u0644\u0647", "\u0639\u0644\u064A\u0647",
        "\u0648\u0633\u0644\u0645"}},  // one character that stands for four words
      {"co\u00ADop zero\u200Dwidth \uFEFFbom", {"coop", "zerowidth", "bom"}},
  };
  for (const auto& [text, expected] : kCases) {
    CAPTURE(text);
    CHECK(Split(text) == expected);
  }
}

TEST_CASE("marks that make another letter of theirs stay") {
  // ki and ka in Devanagari; ha, ba and pa of kana, composed or not.
  CHECK(Split("\u0915\u093F") == Strings{"\u0915\u093F"});
  CHECK(Split("\u0915\u093E") == Strings{"\u0915\u093E"});
  CHECK(Split("\u306F") == Strings{"=\u306F"});
  CHECK(Split("\u3070") == Strings{"=\u3070"});
  CHECK(Split("\u306F\u3099") == Strings{"=\u3070"});
  CHECK(Split("\u306F\u309A") == Strings{"=\u3071"});
}

TEST_CASE("scripts without spaces are pairs of characters, and the last one") {
  CHECK(Split("日本語") == Strings{":日本", ":本語", ".語"});
  CHECK(Split("日") == Strings{"=日"});
  CHECK(Split("C++で書くと3倍。速い") ==
        Strings{"c", ":で書", ":書く", ":くと", ".と", "3", "=倍", ":速い", ".い"});
  CHECK(Split("カタカナー") == Strings{":カタ", ":タカ", ":カナ", ":ナー", ".ー"});
  CHECK(Split("ｶﾞｷﾞ") == Strings{":ガギ", ".ギ"});  // of half width
  CHECK(Split("iPhoneを買う") == Strings{"iphone", ":を買", ":買う", ".う"});
  CHECK(Split("\U00020000\U00020001") == Strings{":\U00020000\U00020001", ".\U00020001"});
  // Hangul is the same in pieces and composed, and stays composed.
  CHECK(Split("한국어 말") == Strings{":한국", ":국어", ".어", "=말"});
  CHECK(Split("\u1112\u1161\u11AB\u1100\u116E\u11A8") == Strings{":한국", ".국"});
  // Thai: a vowel above goes with its consonant, tones are kept.
  CHECK(Split("ที่นี่") == Strings{":ที่นี่", ".นี่"});
  CHECK(Split("กา ก่า") == Strings{":กา", ".า", ":ก่า", ".า"});
  // The vowel am, as one character and as the mark and the letter that it stands for.
  CHECK(Split("ทำ ท\u0E4D\u0E32 \u0E9A\u0EB3") ==
        Strings{"=ท\u0E4D\u0E32", "=ท\u0E4D\u0E32", "=\u0E9A\u0ECD\u0EB2"});
  CHECK(Split("日\u200B本") == Strings{"=日", "=本"});
}

TEST_CASE("emoji, symbols and bytes that are not UTF-8 stand between words") {
  CHECK(Split("a🙂b 👩‍👩‍👧 ☃ foo™ 5€") == Strings{"a", "b", "foo", "5"});
  CHECK(Split("one\xFFtwo\xC3 three\xE2\x82 \x80 four\xF0\x9F\x99") ==
        Strings{"one", "two", "three", "four"});
  CHECK(Split("\xED\xA0\x80 x\xC0\x80y") == Strings{"x", "y"});  // half a pair, a zero in two bytes
  CHECK(Split(std::string("a\0b", 3)) == Strings{"a", "b"});
  CHECK(Split("\u0301\u0301") == Strings{});  // accents of nothing
  CHECK(Split("“quoted”—and…") == Strings{"quoted", "and"});
}

TEST_CASE("a word ends at 64 bytes, between characters") {
  const std::string long_word(100, 'a');
  CHECK(Split(long_word + " b") == Strings{std::string(64, 'a'), "b"});
  std::string letters, folded;
  for (int i = 0; i < 50; ++i) letters += "Ж", folded += "ж";
  CHECK(Split(letters) == Strings{folded.substr(0, 64)});
  CHECK(Split("a" + letters) == Strings{"a" + folded.substr(0, 62)});
  const Strings joined = Split(std::string(40, 'a') + "_" + letters);
  REQUIRE(joined.size() == 3);
  CHECK(joined[2] == "+" + std::string(40, 'a') + "_" + folded.substr(0, 22));
  // However many marks stand upon a character.
  std::string marks;
  for (int i = 0; i < 1000; ++i) marks += "\u0901";
  for (const std::string& word : Split("क" + marks + " ก" + marks + "ข")) CHECK(word.size() <= 65);
}

TEST_CASE("a word says where it stands, whatever it was folded to") {
  const std::string text = "x Straße_Ünï 日本語 ﬁ";
  Words words;
  std::vector<std::pair<std::string, std::string>> places;
  for (const Word& word : words.Split(text))
    places.emplace_back(word.folded, text.substr(word.begin, word.end - word.begin));
  CHECK(places == std::vector<std::pair<std::string, std::string>>{{"x", "x"},
                                                                   {"strasse", "Straße"},
                                                                   {"uni", "Ünï"},
                                                                   {"strasse_uni", "Straße_Ünï"},
                                                                   {"日本", "日本"},
                                                                   {"本語", "本語"},
                                                                   {"語", "語"},
                                                                   {"fi", "ﬁ"}});
}

TEST_CASE("what is folded grows by far more than was made room for") {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += fmt::format("w{} \uFDFA a_b_c_d ", i);
  const Strings split = Split(text);
  CHECK(split.size() == 2000 * 10);
  CHECK(split[19'990] == "w1999");
  CHECK(split[19'991] == "\u0635\u0644\u0649");
  CHECK(split[19'999] == "+a_b_c_d");
  CHECK(split[0] == "w0");
}

TEST_CASE("texts, plans, titles, paths and the error are searched, thoughts and tools' texts are not") {
  const Message message = FullMessage(kChannelA, NthId(1));
  std::vector<std::string> texts;
  for (const std::string_view text : SearchedTexts(message)) texts.emplace_back(text);
  CHECK(texts == Strings{"# Déjà vu\n\n\"quoted\" \\ and 🙂", "Edit a file", "a.txt", "b.txt", "a.txt",
                         "c.txt", "look", "do", "none"});
}

TEST_CASE("of a message 256 KiB are searched, and 8,192 different words") {
  Message message = TextMessage(kChannelA, NthId(1), std::string(kMostTextBytes - 3, 'a'));
  message.parts.push_back(TextPart{"ééé"});
  message.error = "late";
  std::vector<std::string_view> texts = SearchedTexts(message);
  REQUIRE(texts.size() == 3);
  CHECK(texts[1] == "é");
  CHECK(texts[2] == "l");

  std::string many;
  for (size_t i = 0; i < kMostDifferentWords + 10; ++i) many += fmt::format("w{} ", i);
  texts = {many};
  WordLimit limit(texts);
  for (size_t i = 0; i < kMostDifferentWords; ++i) REQUIRE(limit.Passes(fmt::format("w{}", i)));
  CHECK(!limit.Passes(fmt::format("w{}", kMostDifferentWords)));
  CHECK(limit.Passes("w0"));
  CHECK(!limit.Passes("other"));
  const std::vector<std::string_view> few = {"few words"};
  CHECK(WordLimit(few).Passes("other"));
}

TEST_CASE("a text is cut between characters") {
  const std::string text = "aé🙂";
  CHECK(CharacterBoundary(text, 0) == 0);
  CHECK(CharacterBoundary(text, 1) == 1);
  CHECK(CharacterBoundary(text, 2) == 1);
  CHECK(CharacterBoundary(text, 3) == 3);
  for (size_t at : {4, 5, 6}) CHECK(CharacterBoundary(text, at) == 3);
  CHECK(CharacterBoundary(text, 7) == 7);
  CHECK(CharacterBoundary(text, 100) == 7);
  CHECK(CharacterBoundary("\x80\x80", 1) == 0);
}

}  // namespace
}  // namespace watchbill::history
