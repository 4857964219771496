#include "start_report.hpp"

#include <doctest/doctest.h>

using namespace watchbill::supervisor;

TEST_CASE("a command line is split as a shell does it, and quoted so that it splits the same way again") {
  bool closed = false;
  const auto split = [&](const char* line) { return SplitCommandLine(line, &closed); };
  CHECK(split("node a.js") == std::vector<std::string>{"node", "a.js"});
  CHECK(split("  a\t'b c'  \"d \\\" \\x\" e\\ f '' ") ==
        std::vector<std::string>{"a", "b c", "d \" \\x", "e f", ""});
  CHECK(closed);
  CHECK(split("").empty());
  split("a 'b");
  CHECK_FALSE(closed);
  split("a \"b");
  CHECK_FALSE(closed);
  const std::vector<std::string> words{"it's", "", "two words", "$HOME", "a\\b", "\"q\"", "*"};
  CHECK(SplitCommandLine(CommandLine("x", words), &closed) ==
        std::vector<std::string>{"x", "it's", "", "two words", "$HOME", "a\\b", "\"q\"", "*"});
}

TEST_CASE("S3 a report says what was run, where it was found, in which folder, and its last lines") {
  StartReport report;
  report.agent = "codex";
  report.says = "ended before it answered: exit code 127";
  report.command = "codex-acp";
  report.args = {"--x", "a b"};
  report.program = "/usr/bin/codex-acp";
  report.folder = "/srv";
  report.errors = "  env: node: not found";
  CHECK(Describe(report) ==
        "codex ended before it answered: exit code 127.\nCommand: codex-acp --x 'a b'\nFound at: "
        "/usr/bin/codex-acp\n"
        "Folder: /srv\nThe last lines of its standard error:\n  env: node: not found");
  report.errors.clear();
  report.noise = "  hello";
  CHECK(Describe(report).find(
            "It wrote nothing on its standard error.\nWhat it wrote on its standard output instead "
            "of messages:\n  hello") != std::string::npos);
}
