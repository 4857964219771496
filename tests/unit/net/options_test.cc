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

const ProgramSpec kSupervisor{"watchbill-supervisor",
                              "Runs agents.",
                              "watchbill-supervisor COMMAND [options]",
                              {},
                              "It keeps to itself."};
const std::vector<CommandSpec> kCommands{
    {"ask",
     "Asks an agent and writes its answer.",
     "watchbill-supervisor ask [options] (AGENT | --command 'CMD ARGS') TEXT...",
     {{"approve", "", "allow what it asks for", false},
      {"command", "CMD", "an agent that is in no file", false}},
     {{"AGENT", "one of the configuration", false, false, "command"},
      {"TEXT", "what to ask", false, true, ""}},
     "Exit code 6: everything was refused."},
    {"serve",
     "Serves the page.",
     "watchbill-supervisor serve [options]",
     {{"port", "PORT", "the port", false}}},
    {"config check",
     "Says what is wrong with a file.",
     "watchbill-supervisor config check FILE",
     {},
     {{"FILE", "the configuration", false, false, ""}, {"OTHER", "another", true, false, ""}}},
    {"link", "Writes the page's address.", "watchbill-supervisor link"}};

absl::StatusOr<Command> ParseWords(std::vector<std::string> words) {
  words.insert(words.begin(), "watchbill-supervisor");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return ParseCommands(kSupervisor, kCommands, static_cast<int>(argv.size()), argv.data());
}

std::string CommandRefusal(std::vector<std::string> words) {
  const auto command = ParseWords(std::move(words));
  return command.ok() ? "" : std::string(MessageOf(command.status()));
}

using Words = std::vector<std::string>;

TEST_CASE("help is what it was, byte by byte, where there are no arguments") {
  CHECK(HelpText(kProgram) ==
        "Does it.\n\nUsage: prog [options]\n\n"
        "  --port PORT           the port\n"
        "  --allow DIR           a folder\n"
        "  --quiet               say less\n"
        "  --log-format json|text\n"
        "                        how lines on standard error are written (default: text)\n"
        "  --help                show this and end\n"
        "  --version             show the version and end\n\n"
        "Exit codes: 0 done, 1 failed, 2 the command line is wrong, 3 the address cannot be listened on,\n"
        "4 a file or folder cannot be used, 5 refused by the other side or for want of a token.\n");
}

TEST_CASE("a command is the first word or two, and has options and arguments of its own") {
  const auto ask = ParseWords({"ask", "--approve", "claude", "what", "is", "this", "--log-format", "json"});
  REQUIRE(ask.ok());
  CHECK(ask->name == "ask");
  CHECK(ask->options.has("approve"));
  CHECK(*ask->options.value("log-format") == "json");
  CHECK(ask->options.arguments() == Words{"claude", "what", "is", "this"});
  CHECK(ask->options.arguments("AGENT") == Words{"claude"});
  CHECK(ask->options.arguments("TEXT") == Words{"what", "is", "this"});
  CHECK(ask->options.arguments("FILE").empty());

  const auto other = ParseWords({"ask", "--command", "agent --acp", "what", "is"});
  REQUIRE(other.ok());
  CHECK(*other->options.value("command") == "agent --acp");
  CHECK(other->options.arguments("AGENT").empty());
  CHECK(other->options.arguments("TEXT") == Words{"what", "is"});

  const auto check = ParseWords({"config", "check", "a.yaml"});
  REQUIRE(check.ok());
  CHECK(check->name == "config check");
  CHECK(check->options.arguments() == Words{"a.yaml"});
  CHECK(ParseWords({"config", "check", "a.yaml", "b.yaml"})->options.arguments("OTHER") == Words{"b.yaml"});
  CHECK(ParseWords({"link"})->options.arguments().empty());
  CHECK(*ParseWords({"serve", "--port=80"})->options.number("port", 1, 0, 65535) == 80);
}

TEST_CASE("what begins with a dash is text behind two dashes only, and a dash alone anywhere") {
  CHECK(ParseWords({"ask", "claude", "--", "--approve", "-x", "--"})->options.arguments("TEXT") ==
        Words{"--approve", "-x", "--"});
  CHECK_FALSE(ParseWords({"ask", "claude", "--", "--approve"})->options.has("approve"));
  CHECK(ParseWords({"ask", "--", "claude", "x"})->options.arguments("AGENT") == Words{"claude"});
  CHECK(ParseWords({"ask", "claude", "-"})->options.arguments("TEXT") == Words{"-"});
  CHECK(CommandRefusal({"ask", "claude", "-x", "y", "--", "z"}) ==
        "there is no option -x (what is no option goes behind --); see watchbill-supervisor ask --help");
  CHECK(
      CommandRefusal({"ask", "claude", "--aprove", "y"}) ==
      "there is no option --aprove (what is no option goes behind --); see watchbill-supervisor ask --help");
}

TEST_CASE("a missing argument, and one too many, are named") {
  CHECK(CommandRefusal({"ask"}) == "it needs AGENT; see watchbill-supervisor ask --help");
  CHECK(CommandRefusal({"ask", "claude"}) == "it needs TEXT; see watchbill-supervisor ask --help");
  CHECK(CommandRefusal({"ask", "--command", "x"}) == "it needs TEXT; see watchbill-supervisor ask --help");
  CHECK(CommandRefusal({"config", "check", "a", "b", "c"}) ==
        "\"c\" is one argument too many; see watchbill-supervisor config check --help");
  CHECK(CommandRefusal({"link", "x"}) ==
        "every argument is an option that begins with --; see watchbill-supervisor link --help");
}

TEST_CASE("a command that is not known is answered with the one that was meant") {
  const std::string help = "; see watchbill-supervisor --help";
  CHECK(CommandRefusal({}) == "it needs a command: ask, serve, config check or link" + help);
  CHECK(CommandRefusal({"aks", "x"}) == "there is no command \"aks\" (did you mean ask?)" + help);
  CHECK(CommandRefusal({"server"}) == "there is no command \"server\" (did you mean serve?)" + help);
  CHECK(CommandRefusal({"frobnicate"}) == "there is no command \"frobnicate\"" + help);
  CHECK(CommandRefusal({"config"}) == "config needs another word: config check" + help);
  CHECK(CommandRefusal({"config", "chekc"}) ==
        "there is no command \"config chekc\" (did you mean config check?)" + help);
  CHECK(CommandRefusal({"--approve", "ask"}) ==
        "the command comes before its options, not behind --approve" + help);
  CHECK(CommandRefusal({"-h"}) == "the command comes before its options, not behind -h" + help);
  CHECK(CommandRefusal({""}) == "there is no command \"\"" + help);
  CHECK(CommandRefusal({std::string(100'000, 'x')}).find("did you mean") == std::string::npos);
}

TEST_CASE("help lists the commands, and a command's help is asked for without what it needs") {
  const std::string all = HelpText(kSupervisor, kCommands);
  for (const char* part : {"  ask                   Asks an agent and writes its answer.\n",
                           "  config check          Says what is wrong with a file.\n", "--version",
                           "Exit codes", "It keeps to itself.", "watchbill-supervisor COMMAND --help"}) {
    CAPTURE(part);
    CHECK(all.find(part) != std::string::npos);
  }
  CHECK(all.find("--approve") == std::string::npos);
  const std::string one = HelpText(kSupervisor, kCommands[0]);
  for (const char* part :
       {"Usage: watchbill-supervisor ask [options] (AGENT |", "  AGENT                 one of the",
        "  TEXT                  what to ask\n", "--approve", "--log-format",
        "\nExit code 6: everything was refused.\n\nExit codes: 0 done"}) {
    CAPTURE(part);
    CHECK(one.find(part) != std::string::npos);
  }
  CHECK(ParseWords({"--help"})->name.empty());
  CHECK(ParseWords({"--help"})->options.has("help"));
  CHECK(ParseWords({"ask", "--help"})->name == "ask");
  CHECK(ParseWords({"ask", "--help"})->options.has("help"));
}

TEST_CASE("a command line that is wrong, or only asks, gives its exit code") {
  const auto exit = [](Words words) {
    words.insert(words.begin(), "watchbill-supervisor");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return ParseCommandOrExplain(kSupervisor, kCommands, static_cast<int>(argv.size()), argv.data()).exit;
  };
  CHECK(exit({"aks"}) == kExitUsage);
  CHECK(exit({"serve", "--port"}) == kExitUsage);
  CHECK(exit({"serve", "--log-format", "xml"}) == kExitUsage);
  CHECK(exit({"--help"}) == kExitDone);
  CHECK(exit({"ask", "--help"}) == kExitDone);
  CHECK(exit({"serve", "--version"}) == kExitDone);
  CHECK_FALSE(exit({"serve"}).has_value());
}

TEST_CASE("the nearest name is one that can have been meant") {
  const Words names{"ask", "serve", "link", "maxRunningAgents"};
  CHECK(NearestName("maxRunningAgent", names) == "maxRunningAgents");
  CHECK(NearestName("sevre", names) == "serve");
  CHECK(NearestName("ask", names) == "ask");
  CHECK_FALSE(NearestName("xyz", names).has_value());
  CHECK_FALSE(NearestName("", names).has_value());
  CHECK_FALSE(NearestName("ask", {}).has_value());
}

}  // namespace
}  // namespace watchbill::net
