#include "story.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace watchbill::example {
namespace {

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    out.emplace_back(NextWord(text));
    text.remove_prefix(out.back().size());
  }
  return out;
}

// All that a story says, whatever was allowed.
std::string Said(const Story& story) {
  std::string out;
  for (const Step& step : story) {
    if (const auto* say = std::get_if<Say>(&step.what)) out += say->markdown;
  }
  return out;
}

TEST_CASE("words put together are the text") {
  CHECK(Words("").empty());
  CHECK(Words("one") == std::vector<std::string>{"one"});
  CHECK(Words("  one\n\ntwo\t three\n") == std::vector<std::string>{"  one\n\n", "two\t ", "three\n"});
  CHECK(Words(" \n ") == std::vector<std::string>{" \n "});
  // Not the blanks of other scripts, which are more than a byte.
  CHECK(Words("a\xC2\xA0"
              "b c") == std::vector<std::string>{"a\xC2\xA0"
                                                 "b ",
                                                 "c"});
}

TEST_CASE("a quotation has each line, whatever ends it") {
  CHECK(Quoted("a") == "> a");
  CHECK(Quoted("a\nb\r\nc\rd\n") == "> a\n> b\n> c\n> d\n> ");
  CHECK(Quoted("```\n<b>x</b>\n# y") == "> ```\n> <b>x</b>\n> # y");
}

TEST_CASE("a quotation is cut between characters") {
  CHECK(Quoted(std::string(kMostQuoted, 'a')) == "> " + std::string(kMostQuoted, 'a'));
  std::string text(kMostQuoted - 1, 'a');
  CHECK(Quoted(text + "\xE2\x82\xAC") == "> " + text + " …");
}

TEST_CASE("a command is a slash and a name, and what stands behind it") {
  const auto is = [](std::string_view prompt, std::string_view name, std::string_view argument) {
    const auto invoked = CommandOf(prompt);
    return invoked && invoked->name == name && invoked->argument == argument;
  };
  CHECK(is("/tale", "tale", ""));
  CHECK(is(" /tale  12 \n", "tale", "12"));
  CHECK(is("/plan a trip\nwith two lines", "plan", "a trip\nwith two lines"));
  CHECK(is("/no-such", "no-such", ""));
  CHECK_FALSE(CommandOf(""));
  CHECK_FALSE(CommandOf("/"));
  CHECK_FALSE(CommandOf("what is /tale"));
  CHECK_FALSE(CommandOf("/srv/data is full"));
  CHECK_FALSE(CommandOf("/" + std::string(65, 'a')));
}

TEST_CASE("a tale has as many words as were asked for") {
  for (const int64_t asked : {int64_t{1}, int64_t{24}, int64_t{25}, kLongestTale}) {
    CAPTURE(asked);
    const Story story = StoryOf("/tale " + std::to_string(asked), "/srv");
    REQUIRE(story.size() == 1);
    CHECK(Words(Said(story)).size() == static_cast<size_t>(asked));
  }
  CHECK(Words(Said(StoryOf("/tale", "/srv"))).size() == 40);
}

TEST_CASE("a tale of no such length says which there are") {
  for (const char* asked : {"0", "-1", "20001", "99999999999999999999", "many", "5 words"}) {
    CAPTURE(asked);
    const std::string said = Said(StoryOf(std::string("/tale ") + asked, "/srv"));
    CHECK(said.find("from 1 to 20000") != std::string::npos);
    CHECK(said.find(std::string("> ") + asked) != std::string::npos);
  }
}

TEST_CASE("a command that is not there names those that are") {
  CHECK(Said(StoryOf("/dance", "/srv")) ==
        "There is no command `/dance`; there are `/plan`, `/tale`, `/ask`.\n");
}

TEST_CASE("a plan goes from nothing done to all done") {
  const auto statuses = [](const Story& story) {
    std::string out;
    for (const Step& step : story) {
      const auto* plan = std::get_if<ShowPlan>(&step.what);
      if (plan == nullptr) continue;
      CHECK(plan->entries.size() == 3);
      out += std::to_string(plan->completed) + (plan->at_next ? "> " : ". ");
    }
    return out;
  };
  CHECK(statuses(StoryOf("/plan a trip", "/srv")) == "0. 0> 1> 2> 3. ");
  CHECK(statuses(StoryOf("anything", "/srv")) == "0. 0> 1> 2> 3. ");
  const Story story = StoryOf("/plan a trip\nand more", "/srv");
  CHECK(std::get<ShowPlan>(story[0].what).entries[0] == "Find out what a trip needs");
}

TEST_CASE("an answer holds the prompt as a quotation, and each kind of Markdown") {
  const Story story = StoryOf("<script>alert(1)</script>\n| a |", "/srv/");
  const std::string said = Said(story);
  for (const char* piece : {"# The berth list\n\n", "\n\n> <script>alert(1)</script>\n> | a |\n\n",
                            "\n- the ", "\n```sh\n", "\n|------:|", "](https://"}) {
    CAPTURE(piece);
    CHECK(said.find(piece) != std::string::npos);
  }
  CHECK(std::holds_alternative<Think>(story.front().what));
  CHECK(std::holds_alternative<ReportUsage>(story.back().what));
  size_t edits = 0;
  for (const Step& step : story) {
    if (const auto* edit = std::get_if<EditFile>(&step.what)) {
      ++edits;
      CHECK(edit->path == "/srv/berths.txt");
      CHECK(edit->before != edit->after);
    }
  }
  CHECK(edits == 1);
}

}  // namespace
}  // namespace watchbill::example
