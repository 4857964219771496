#include "watchbill/net/options.hpp"

#include <doctest/doctest.h>

#include "watchbill/base/status.hpp"

namespace watchbill::net {
namespace {

const ProgramSpec kProgram{"prog",
                           "Does it.",
                           "prog [options]",
                           {{"port", "PORT", "the port", false},
                            {"allow", "DIR", "a folder", true},
                            {"quiet", "", "say less", false}},
                           ""};

absl::StatusOr<Options> Parse(std::vector<std::string> words) {
  words.insert(words.begin(), "prog");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return ParseOptions(kProgram, static_cast<int>(argv.size()), argv.data());
}

std::string Refusal(std::vector<std::string> words) {
  const auto options = Parse(std::move(words));
  return options.ok() ? "" : std::string(MessageOf(options.status()));
}

TEST_CASE("options are read in both spellings, and may repeat where they may") {
  const auto options = Parse({"--port", "80", "--allow=/a", "--allow", "/b", "--quiet"});
  REQUIRE(options.ok());
  CHECK(*options->number("port", 1, 0, 65535) == 80);
  CHECK(options->values("allow") == std::vector<std::string>{"/a", "/b"});
  CHECK(options->has("quiet"));
  CHECK_FALSE(options->has("help"));
  CHECK(*Parse({})->number("port", 5180, 0, 65535) == 5180);
}

TEST_CASE("what is wrong is said in one sentence that says where help is") {
  CHECK(Refusal({"--prot", "80"}) == "there is no option --prot; see prog --help");
  CHECK(Refusal({"--por", "80"}) == "there is no option --por; see prog --help");
  CHECK(Refusal({"80"}) == "every argument is an option that begins with --; see prog --help");
  CHECK(Refusal({"--port", "1", "--port", "2"}) == "--port is given more than once; see prog --help");
  CHECK(Refusal({"--port"}).find("--port") != std::string::npos);
  CHECK(Refusal({"--quiet=yes"}).find("--quiet") != std::string::npos);
  CHECK(Refusal({"--port="}).find("port") != std::string::npos);
}

TEST_CASE("a number is within its range or named") {
  for (const char* text : {"x", "-1", "65536", "80x", "8 0", "99999999999999999999"}) {
    CAPTURE(text);
    const auto number = Parse({"--port", text})->number("port", 1, 0, 65535);
    REQUIRE_FALSE(number.ok());
    CHECK(MessageOf(number.status()).starts_with("--port is a number from 0 to 65535"));
  }
}

TEST_CASE("help has every option and the exit codes") {
  const std::string help = HelpText(kProgram);
  for (const char* word : {"--port PORT", "--allow DIR", "--quiet", "--help", "--version", "Exit codes"}) {
    CHECK(help.find(word) != std::string::npos);
  }
}

}  // namespace
}  // namespace watchbill::net
