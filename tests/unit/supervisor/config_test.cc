#include "config.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

template <>
struct doctest::StringMaker<std::vector<std::string>> {
  static String convert(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) out += "\n    " + line;
    return out.c_str();
  }
};

namespace watchbill::supervisor {
namespace {

using Lines = std::vector<std::string>;

ReadConfig Parse(std::string_view text) { return ParseConfig(text, "/etc/team", "/home/ann"); }

Lines Said(const ReadConfig& read) {
  Lines lines;
  for (const Problem& problem : read.problems) {
    lines.push_back(
        fmt::format("{}:{}{} {}", problem.line, problem.column, problem.warning ? "w" : "", problem.message));
  }
  return lines;
}

Lines Said(std::string_view text) { return Said(Parse(text)); }

// What is said of an agent that has a name and a command besides.
Lines SaidOfAgent(const std::string& keys) { return Said("agents:\n- name: a\n  command: b\n" + keys); }

AgentConfig Agent(const std::string& keys) {
  const ReadConfig read = Parse("agents:\n- name: a\n  command: b\n" + keys);
  REQUIRE(Said(read) == Lines{});
  REQUIRE(read.config.agents.size() == 1);
  return read.config.agents[0];
}

// The first fenced block of the page, which is the example that people read.
std::string Example() {
  std::ifstream page(WATCHBILL_HOWTO_DIR "/supervisor-config.md");
  const std::string text(std::istreambuf_iterator<char>(page), {});
  const size_t begin = text.find("```yaml\n");
  REQUIRE(begin != std::string::npos);
  const size_t end = text.find("\n```", begin);
  REQUIRE(end != std::string::npos);
  return text.substr(begin + 8, end + 1 - begin - 8);
}

TEST_CASE("the example of the documentation is read as it says") {
  const ReadConfig read = Parse(Example());
  CHECK(read.valid());
  CHECK(Said(read) == Lines{"26:1w monitor has no effect yet"});
  CHECK(read.config.theme == "system");
  CHECK(read.config.language == "system");
  CHECK(read.config.max_running_agents == 4);
  CHECK(read.config.stop_idle_ms == 900'000);
  const std::vector<AgentConfig> expected{{.name = "helper",
                                           .title = "Helper",
                                           .icon = "🤖",
                                           .description = "Answers questions about this project.",
                                           .command = "/home/ann/bin/helper",
                                           .args = {"--acp", "--port", "80"},
                                           .env = {{"EMPTY", ""}, {"LOG_LEVEL", "info"}},
                                           .cwd = "/etc/project"},
                                          {.name = "reviewer",
                                           .title = "",
                                           .icon = "",
                                           .description = "",
                                           .command = "npx",
                                           .args = {"-y", "some-agent", "--acp"},
                                           .env = {},
                                           .cwd = "/etc/team"}};
  CHECK(read.config.agents == expected);
}

TEST_CASE("the example cut short anywhere is answered, each place within what is there") {
  const std::string example = Example();
  for (size_t size = 0; size <= example.size(); ++size) {
    const std::string text = example.substr(0, size);
    const ReadConfig read = Parse(text);
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    for (const Problem& problem : read.problems) {
      CAPTURE(text);
      CHECK(!problem.message.empty());
      CHECK((problem.line >= 1 && problem.line <= lines));
      CHECK((problem.column >= 1 && problem.column <= 120));
    }
  }
}

TEST_CASE("a file without agents is valid, and says so") {
  for (const char* text :
       {"", "\n", "# only a comment\n", "---\n# nothing\n", "\xEF\xBB\xBF", "null\n", "{}", "...\n"}) {
    CAPTURE(text);
    CHECK(Said(text) == Lines{"1:1w there are no agents"});
  }
  CHECK(Said("theme: dark\nagents: []\n") == Lines{"2:1w there are no agents"});
  CHECK(Said("theme: dark\nagents:\n") == Lines{"2:1w there are no agents"});
  CHECK(Parse("").valid());
}

TEST_CASE("JSON is read too") {
  const ReadConfig read = Parse(
      "{\r\n\t\"theme\":\"dark\",\r\n\t\"agents\":\t[\r\n\t\t{\"name\":\"a\",\"command\":\"b\\/"
      "c\",\"args\":[\"x\","
      "1,true,1.50],\r\n\t\t\"title\":\"\\u00e9 \\ud83d\\ude00!\", \"icon\":\"\\\\ud83d\", \"cwd\": "
      "null}\r\n\t]\r\n}\r\n");
  CHECK(Said(read) == Lines{});
  CHECK(read.config.theme == "dark");
  REQUIRE(read.config.agents.size() == 1);
  CHECK(read.config.agents[0].command == "b/c");
  CHECK(read.config.agents[0].args == std::vector<std::string>{"x", "1", "true", "1.50"});
  CHECK(read.config.agents[0].title == "é 😀!");
  CHECK(read.config.agents[0].icon == "\\ud83d");
  CHECK(read.config.agents[0].cwd == "/etc/team");
}

TEST_CASE("a surrogate pair is a character in double quotes alone, and moves no place") {
  CHECK(Agent("  title: \"\\ud83d\\ude00\\uD83D\\uDE01\"\n").title == "😀😁");
  CHECK(Agent("  title: &t !!str  # why\n    \"\\ud83d\\ude00\"\n").title == "😀");
  CHECK(Agent("  title: \"\\\\ud83d\\\\ude00\"\n").title == "\\ud83d\\ude00");
  CHECK(Agent("  title: '\"\\ud83d\\ude00\"'\n").title == "\"\\ud83d\\ude00\"");
  CHECK(Agent("  title: say \"\\ud83d\\ude00\" # \"\\ud83d\\ude00\"\n").title == "say \"\\ud83d\\ude00\"");
  CHECK(Agent("  title: |-\n    \"\\ud83d\\ude00\"\n").title == "\"\\ud83d\\ude00\"");
  CHECK(Agent("  env: {\"\\ud83d\\ude00\": 1}\n").env == std::map<std::string, std::string>{{"😀", "1"}});
  CHECK(
      Said(
          "{\"x\\ud83d\\ude00\": 1, \"theme\": \"red\", \"agents\": [{\"name\":\"a\",\"command\":\"b\"}]}") ==
      Lines{"1:2w x😀 is not known here; theme, language, limits, agents and monitor are",
            "1:31 theme is \"red\"; system, light or dark was expected"});
  const std::string half = "this escape is no character; half a surrogate pair needs its other half";
  CHECK(SaidOfAgent("  title: \"x\\ud83d\"\n") == Lines{"4:12 " + half});
  CHECK(SaidOfAgent("  title: \"\\ude00\\ud83d\"\n") == Lines{"4:11 " + half});
  CHECK(SaidOfAgent("  title: \"\\\\\\ud83d\\\\ude00\"\n") == Lines{"4:13 " + half});
}

TEST_CASE("columns count characters") {
  CHECK(Said("{\"é😀\": 1, theme: {}, agents: [{name: a, command: b}]}") ==
        Lines{"1:2w é😀 is not known here; theme, language, limits, agents and monitor are",
              "1:18 theme is a map; a text was expected"});
  CHECK(Said("\xEF\xBB\xBFtheme: blue\r\nlanguage: de\r\nagents: [{name: a, command: b}]\r\n") ==
        Lines{"1:8 theme is \"blue\"; system, light or dark was expected",
              "2:11 language is \"de\"; system, en or fr was expected"});
}

TEST_CASE("bytes that are no text are named with their place") {
  CHECK(Said("a: é\nb: \xFF\n") == Lines{"2:4 the byte 0xFF is not UTF-8; the file has to be text in UTF-8"});
  CHECK(Said("é: \xED\xA0\x80") == Lines{"1:4 the byte 0xED is not UTF-8; the file has to be text in UTF-8"});
  CHECK(Said(std::string_view("a: \0", 4)) ==
        Lines{"1:4 a NUL byte stands here; the file has to be text in UTF-8"});
  CHECK(Said("a: b\rc: d\n") == Lines{"1:5 a carriage return stands alone here; lines end with LF or CRLF"});
  CHECK(Said("# \x04 theme: blue") ==
        Lines{"1:3 the control character U+0004 stands here; in double quotes it is written \\x04"});
  CHECK(SaidOfAgent("  args: [\"\\0\"]\n") == Lines{"4:10 a NUL character cannot stand in a text here"});
  CHECK(SaidOfAgent("  title: \"a\\x00\"\n") == Lines{"4:10 a NUL character cannot stand in a text here"});
  CHECK(SaidOfAgent("  env: {A: \"\\0\"}\n") == Lines{"4:12 a NUL character cannot stand in a text here"});
}

TEST_CASE("what is not YAML is said in words that help, where it is") {
  CHECK(Said("theme: [dark\nagents: []\n") == Lines{"2:7 \",\" or \"]\" was expected"});
  CHECK(Said("{\"theme\": \"dark\"") == Lines{"1:17 \",\" or \"}\" was expected before the end of the file"});
  CHECK(Said("{\n\t\"theme\": \"dark\"\n\t\"agents\": []\n}") == Lines{"3:2 \",\" or \"}\" was expected"});
  CHECK(Said("agents:\n\t- name: a\n\t  command: b\n").size() == 1);
  CHECK(Said("limits:\n\tmaxRunningAgents: 1\n") ==
        Lines{"2:18 a tab cannot indent a line; spaces were expected"});
  CHECK(Said("theme: a: b\n") ==
        Lines{"1:9 a \":\" cannot stand here; keys of one map start in the same column, and a "
              "text that holds \": \" needs quotes"});
  CHECK(Said("limits:\n    maxRunningAgents: 1\n  stopIdleAgentsAfter: 1s\n") ==
        Lines{"3:3 this does not fit what stands above; keys of one map start in the same column"});
  CHECK(Said("theme: @dark\n") == Lines{"1:8 a text that starts like this needs quotes"});
  CHECK(Said("theme: \"C:\\dark\"\n") ==
        Lines{"1:11 this escape is not known in double quotes; a backslash is written "
              "\\\\, or the text put in single quotes"});
  CHECK(Said("theme: *dark\n") == Lines{"1:8 there is no anchor of this name above"});
  CHECK(Said("agents: - a\n") ==
        Lines{"1:9 a list cannot start here; its \"-\" goes on a line of its own, under the key"});
  CHECK(Said("%YAML 3.0\n---\n") == Lines{"1:1 this is not YAML: YAML major version too large"});
  CHECK(!Parse("theme: [dark").valid());
}

TEST_CASE("a quote has to be closed") {
  for (const char* text : {"theme: \"dark\nagents: []\n", "theme: 'dark\nagents: []\n", "theme: 'it''s\n",
                           "theme: \"dark\\\"\n", "theme: &a !!str \"dark\n"}) {
    const ReadConfig read = Parse(text);
    CAPTURE(text);
    REQUIRE(read.problems.size() == 1);
    CHECK(read.problems[0].message == "this quote is not closed before the end of the file");
    CHECK(read.problems[0].column == std::string_view(text).find_first_of("'\"") + 1);
  }
  CHECK(Said("theme: 'dark") == Lines{"1:13 a quote is not closed before the end of the file"});
}

TEST_CASE("the file is one map and nothing after it") {
  const std::string keys = "the keys theme, language, limits, agents and monitor";
  CHECK(Said("- theme\n") == Lines{"1:1 the file is a list; a map was expected, with " + keys});
  CHECK(Said("\n  theme dark\n") == Lines{"2:3 the file is a text; a map was expected, with " + keys});
  const std::string after =
      "this stands after the end of what the file says; the keys of one map start in the same column, and "
      "nothing "
      "follows a closing bracket";
  CHECK(Said("{\"agents\": [{name: a, command: b}]} junk") == Lines{"1:37 " + after});
  CHECK(Said("{\"agents\": [{name: a, command: b}]}\n{}") == Lines{"2:1 " + after});
  CHECK(Said("{\"agents\": [{name: a, command: b}]}}") == Lines{"1:36 this bracket closes nothing"});
  CHECK(Said("  agents: [{name: a, command: b}]\ntheme: dark\n") == Lines{"2:1 " + after});
  CHECK(Said("agents: [{name: a, command: b}]\n---\ntheme: dark\n---\n") ==
        Lines{"2:1 a second document starts here; the file has to be one"});
  CHECK(Said("%YAML 1.2\n---\nagents: [{name: a, command: b}]\n...\n") == Lines{});
}

TEST_CASE("a key that stands twice is a problem at the second, at every level") {
  CHECK(Said("theme: dark\nagents: [{name: a, command: b}]\n\"theme\": light\n") ==
        Lines{"3:1 theme stands twice; the first is on line 1"});
  CHECK(SaidOfAgent("  env: {A: 1, B: 2,\n    A: 3}\n") ==
        Lines{"5:5 A stands twice; the first is on line 4"});
  CHECK(SaidOfAgent("  mcpServers: [{x: {y: 1, y: 2}}]\n") ==
        Lines{"4:3w mcpServers has no effect yet", "4:27 y stands twice; the first is on line 4"});
  CHECK(!Parse("theme: dark\ntheme: dark\n").valid());
}

TEST_CASE("a key that is not known is a warning with the nearest that is") {
  CHECK(Said("agnets: []\nAgents: []\n") == Lines{"1:1w agnets is not known here; did you mean agents?",
                                                  "1:1w there are no agents",
                                                  "2:1w Agents is not known here; did you mean agents?"});
  CHECK(Said("agents: [{name: a, command: b}]\nlimits:\n  maxRunningAgent: 3\n") ==
        Lines{"3:3w maxRunningAgent is not known here; did you mean maxRunningAgents?"});
  CHECK(SaidOfAgent("  mcp_servers: []\n  arg: [x]\n  colour: red\n") ==
        Lines{"4:3w mcp_servers is not known here; did you mean mcpServers?",
              "5:3w arg is not known here; did you mean args?",
              "6:3w colour is not known here; name, title, icon, description, command, args, env, cwd, "
              "permissions and "
              "mcpServers are"});
  CHECK(Said("monitor: {urls: x}\nagents: [{name: a, command: b}]\n") ==
        Lines{"1:1w monitor has no effect yet", "1:11w urls is not known here; did you mean url?"});
  CHECK(Said("\"\\e[31m" + std::string(70, 'x') + "\": 1\nagents: [{name: a, command: b}]\n") ==
        Lines{"1:1w \uFFFD[31m" + std::string(55, 'x') +
              "… is not known here; theme, language, limits, agents and monitor are"});
}

TEST_CASE("a key is a text") {
  CHECK(Said("? [a, b]\n: 1\n") == Lines{"1:3 a list cannot be a key; a text was expected"});
  CHECK(Said("~: 1\n") == Lines{"1:1 nothing cannot be a key; a text was expected"});
  CHECK(Said("theme: &t dark\n*t : 1\nagents: [{name: a, command: b}]\n") ==
        Lines{"2:1w dark is not known here; theme, language, limits, agents and monitor are"});
}

TEST_CASE("limits are read") {
  const std::string agents = "agents: [{name: a, command: b}]\n";
  const auto idle = [&](const std::string& words) {
    const ReadConfig read = Parse(agents + "limits: {stopIdleAgentsAfter: " + words + "}\n");
    return read.valid() ? read.config.stop_idle_ms : -1;
  };
  CHECK(idle("15m") == 900'000);
  CHECK(idle("\"90s\"") == 90'000);
  CHECK(idle("2h") == 7'200'000);
  CHECK(idle("1h30m") == 5'400'000);
  CHECK(idle("1d2h3m4s") == 93'784'000);
  CHECK(idle("0") == 0);
  CHECK(idle("'0'") == 0);
  CHECK(idle("0s") == 0);
  CHECK(idle("365d") == 31'536'000'000);
  for (const char* words : {"15", "15 m", "m", "-1s", "1.5h", "30m1h", "1m1m", "1M", "365d1s",
                            "9999999999999999999s", "''", "{}", "1ms", "00"}) {
    CAPTURE(words);
    CHECK(idle(words) == -1);
  }
  CHECK(Said(agents + "limits:\n  stopIdleAgentsAfter: 15\n") ==
        Lines{"3:24 stopIdleAgentsAfter is \"15\"; a duration of at most 365d was expected, as in 90s, 15m "
              "or 1h30m, or 0 "
              "for never"});

  const auto running = [&](const std::string& number) {
    const ReadConfig read = Parse(agents + "limits: {maxRunningAgents: " + number + "}\n");
    return read.valid() ? read.config.max_running_agents : -1;
  };
  CHECK(running("0") == 0);
  CHECK(running("12") == 12);
  CHECK(running("10000") == 10'000);
  for (const char* number :
       {"-1", "+1", "1.0", "1e2", "10001", "99999999999", "many", "true", "\"3\"", "[]"}) {
    CAPTURE(number);
    CHECK(running(number) == -1);
  }
  CHECK(Said(agents + "limits:\n  maxRunningAgents: \"3\"\n") ==
        Lines{"3:21 maxRunningAgents is \"3\"; a whole number from 0 (no limit) to 10000 was expected"});
  CHECK(Said(agents + "limits: [3]\n") == Lines{"2:9 limits is a list; a map was expected"});
  CHECK(Said(agents + "limits:\n") == Lines{});
  CHECK(Said(agents + "limits: {}\nmonitor: {}\n") == Lines{});
}

TEST_CASE("the keys that have no effect yet are checked for what they hold") {
  CHECK(SaidOfAgent("  permissions: {edit: ask}\n  mcpServers: [{name: x}]\n") ==
        Lines{"4:3w permissions has no effect yet", "5:3w mcpServers has no effect yet"});
  CHECK(SaidOfAgent("  permissions: all\n  mcpServers:\n") ==
        Lines{"4:16 permissions is a text; a map or a list was expected"});
  CHECK(Said("agents: [{name: a, command: b}]\nmonitor: {url: [], token: secret}\n") ==
        Lines{"2:1w monitor has no effect yet", "2:16 url is a list; a text was expected"});
  CHECK(Said("agents: [{name: a, command: b}]\nmonitor: http://x\n") ==
        Lines{"2:10 monitor is a text; a map was expected"});
}

TEST_CASE("an agent has a name of its own and a command") {
  CHECK(
      Said("agents:\n  - title: x\n  -\n  - name:\n    command: ''\n  - just a text\n  - [a]\n  - null\n") ==
      Lines{"2:5 this agent has no name", "2:5 this agent has no command",
            "3:3 an agent is a map with a name and a command; this is nothing", "4:5 name is empty",
            "5:14 command is empty", "6:5 an agent is a map with a name and a command; this is a text",
            "7:5 an agent is a map with a name and a command; this is a list",
            "8:5 an agent is a map with a name and a command; this is nothing"});
  CHECK(Said("agents:\n  -  # none\n\n  -") ==
        Lines{"2:3 an agent is a map with a name and a command; this is nothing",
              "4:3 an agent is a map with a name and a command; this is nothing"});
  CHECK(Said("agents: {name: a}\n") == Lines{"1:9 agents is a map; a list of agents was expected"});
  const std::string rule =
      "; letters, digits, \"_\" and \"-\" were expected, a letter or digit first, 64 at most";
  CHECK(Said("agents: [{command: b, name: my agent}]\n") == Lines{"1:29 name is \"my agent\"" + rule});
  for (const char* name : {"-a", "_a", "é", "a.b", "a:b", "[x]"}) {
    CAPTURE(name);
    CHECK(!Parse(fmt::format("agents: [{{command: b, name: {}}}]\n", name)).valid());
  }
  CHECK(Parse("agents: [{command: b, name: 7_-" + std::string(61, 'x') + "}]\n").valid());
  CHECK(!Parse("agents: [{command: b, name: 7_-" + std::string(62, 'x') + "}]\n").valid());
}

TEST_CASE("names that differ in their capitals are the same") {
  CHECK(Said("agents:\n  - {name: Helper, command: a}\n  - {name: other, command: a}\n  - {name: hELPER, "
             "command: a}\n") ==
        Lines{"4:12 an agent is called hELPER on line 2 already (capitals or not is the same)"});
}

TEST_CASE("a command is one program") {
  const std::string warning = "command is one program; its arguments go in args";
  CHECK(Said("agents:\n- name: a\n  command: npx -y agent\n") == Lines{"3:12w " + warning});
  CHECK(Said("agents:\n- name: a\n  command: node ./agent.js\n") == Lines{"3:12w " + warning});
  CHECK(Said("agents:\n- name: a\n  command: /opt/My Agent/run\n") == Lines{});
  const ReadConfig read =
      Parse("agents: [{name: a, command: ~/bin/x}, {name: b, command: ./x}, {name: c, command: ~x}]");
  REQUIRE(read.config.agents.size() == 3);
  CHECK(read.config.agents[0].command == "/home/ann/bin/x");
  CHECK(read.config.agents[1].command == "./x");
  CHECK(read.config.agents[2].command == "~x");
  CHECK(Said(ParseConfig("agents: [{name: a, command: ~/x, cwd: '~'}]", "/etc", "")) ==
        Lines{"1:29 no home folder is known that \"~\" could stand for; an absolute path was expected",
              "1:39 no home folder is known that \"~\" could stand for; an absolute path was expected"});
}

TEST_CASE("arguments are texts as they are written") {
  CHECK(Agent("  args: [1, 01, 1.50, true, 0x1F, \"null\", '', \"a\\nb\", '${HOME}']\n").args ==
        std::vector<std::string>{"1", "01", "1.50", "true", "0x1F", "null", "", "a\nb", "${HOME}"});
  CHECK(Agent("  args:\n").args.empty());
  CHECK(SaidOfAgent("  args: --acp\n") == Lines{"4:9 args is a text; a list of texts was expected"});
  CHECK(SaidOfAgent("  args:\n    - x\n    -\n    - [y]\n    - {a: 1}\n    - ~\n") ==
        Lines{"6:5 this argument is nothing; a text was expected, \"\" for an empty one",
              "7:7 this argument is a list; a text was expected",
              "8:7 this argument is a map; a text was expected",
              "9:7 this argument is nothing; a text was expected, \"\" for an empty one"});
}

TEST_CASE("variables are texts with a name") {
  CHECK(Agent("  env: {A: 1, B: yes, C: \"\", 2: x}\n").env ==
        std::map<std::string, std::string>{{"2", "x"}, {"A", "1"}, {"B", "yes"}, {"C", ""}});
  CHECK(SaidOfAgent("  env:\n    A:\n    B: [secret]\n    \"C=D\": 1\n    \"\": 2\n") ==
        Lines{"5:5 A is nothing; a text was expected, \"\" for an empty one",
              "6:8 B is a list; a text was expected", "7:5 \"C=D\" cannot be the name of a variable",
              "8:5 \"\" cannot be the name of a variable"});
  CHECK(SaidOfAgent("  env: [A=1]\n") == Lines{"4:8 env is a list; a map of variables was expected"});
}

TEST_CASE("a working folder is absolute, from the home or from the file's folder") {
  CHECK(Agent("").cwd == "/etc/team");
  CHECK(Agent("  cwd:\n").cwd == "/etc/team");
  CHECK(Agent("  cwd: ''\n").cwd == "/etc/team");
  CHECK(Agent("  cwd: .\n").cwd == "/etc/team");
  CHECK(Agent("  cwd: ./a/../b//c/\n").cwd == "/etc/team/b/c");
  CHECK(Agent("  cwd: ../..\n").cwd == "/");
  CHECK(Agent("  cwd: /srv/./x/\n").cwd == "/srv/x");
  CHECK(Agent("  cwd: '~'\n").cwd == "/home/ann");
  CHECK(Agent("  cwd: ~/x/..\n").cwd == "/home/ann");
  CHECK(Agent("  cwd: ~bob\n").cwd == "/etc/team/~bob");
}

TEST_CASE("anchors and aliases can be used, and are bounded") {
  const ReadConfig read =
      Parse("agents:\n- name: a\n  command: b\n  env: &env {A: 1}\n- name: c\n  command: d\n  env: *env\n");
  CHECK(Said(read) == Lines{});
  REQUIRE(read.config.agents.size() == 2);
  CHECK(read.config.agents[1].env == std::map<std::string, std::string>{{"A", "1"}});

  CHECK(Said("agents:\n- &a {name: a, command: b, x: 1}\n- *a\n").size() == 2);
  CHECK(Said("agents:\n- &a {name: a, command: b}\n- *a\n") ==
        Lines{"3:3 an agent is called a on line 2 already (capitals or not is the same)"});
  CHECK(Said("agents: &a [*a]\n") == Lines{"1:13 this alias stands within what it stands for"});
  CHECK(SaidOfAgent("  <<: {title: x}\n") ==
        Lines{"4:3 \"<<\" is not read here; write out the keys that it would bring"});

  std::string laughs = "a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n";
  for (int i = 1; i < 20; ++i) {
    laughs += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }
  // 11 values, then 8 * 11 + 1 and so on, 5705 on the fourth line: the next alias is one too many.
  CHECK(Said(laughs) ==
        Lines{"5:10 the file holds more than 10000 values, those that aliases stand for counted"});
}

TEST_CASE("size, number and depth are bounded") {
  CHECK(Said(std::string((1 << 20) + 1, ' ')) ==
        Lines{"1:1 the file has 1048577 bytes; at most 1048576 are read"});
  CHECK(Said(std::string(1 << 20, '\n')) == Lines{"1:1w there are no agents"});
  std::string many = "x: [";
  for (int i = 0; i < 10'000; ++i) many += "1,\n";
  CHECK(Said(many + "]")
            .front()
            .ends_with(" the file holds more than 10000 values, those that aliases stand for counted"));
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(Said("x: " + nested(31)).front().starts_with("1:1w x is not known here"));
  CHECK(Said("x: " + nested(32)) == Lines{"1:35 this is nested deeper than 32 levels"});
  CHECK(Said("x: " + nested(100'000)) == Lines{"1:35 this is nested deeper than 32 levels"});
  CHECK(Said("x: &a " + nested(20) + "\ny: [[[[[[[[[[[*a]]]]]]]]]]]\n")
            .front()
            .starts_with("1:1w x is not known"));
  CHECK(Said("x: &a " + nested(20) + "\ny: [[[[[[[[[[[[*a]]]]]]]]]]]]\n") ==
        Lines{"2:16 this is nested deeper than 32 levels"});
}

TEST_CASE("a hundred problems are enough, and warnings never hide an error") {
  std::string text;
  for (int i = 0; i < 300; ++i) text += fmt::format("unknown{}: 1\n", i);
  CHECK(Parse(text).valid());
  CHECK(Parse(text).problems.size() == 100);
  const ReadConfig read = Parse(text + "theme: red\n");
  CHECK(!read.valid());
  REQUIRE(read.problems.size() == 100);
  CHECK(read.problems.back().line == 301);
}

TEST_CASE("tags that name another type are problems") {
  CHECK(Agent("  title: !!str 15\n").title == "15");
  CHECK(SaidOfAgent("  title: !include x.txt\n") == Lines{"4:10 the tag !include means nothing here"});
}

TEST_CASE("a problem is described as compilers do") {
  CHECK(Describe("config.yaml", {.line = 3, .column = 5, .message = "no"}) == "config.yaml:3:5: no");
  CHECK(Describe("/a b", {.line = 1, .column = 2, .message = "hm", .warning = true}) ==
        "/a b:1:2: warning: hm");
}

TEST_CASE("the file is where the environment says") {
  const Places home = PlacesFor({{"HOME", "/home/ann"}});
  CHECK(home.folder == "/home/ann/.config/sidekicks");
  CHECK(home.config == "/home/ann/.config/sidekicks/config.yaml");
  CHECK(home.home == "/home/ann");
  const Places xdg = PlacesFor({{"HOME", "/home/ann"}, {"XDG_CONFIG_HOME", "/cfg/"}});
  CHECK(xdg.folder == "/cfg/sidekicks");
  CHECK(xdg.config == "/cfg/sidekicks/config.yaml");
  CHECK(PlacesFor({{"HOME", "/home/ann"}, {"XDG_CONFIG_HOME", "cfg"}}).folder == home.folder);
  CHECK(PlacesFor({{"HOME", "/home/ann"}, {"XDG_CONFIG_HOME", ""}}).folder == home.folder);
  CHECK(PlacesFor({{"XDG_CONFIG_HOME", "/cfg"}}).folder == "/cfg/sidekicks");
  CHECK(PlacesFor({{"HOME", "ann"}}).config == "");
}

TEST_CASE("a history is found by its file's path") {
  // printf %s /home/ann/.config/sidekicks/config.yaml | sha256sum
  CHECK(HistoryKey("/home/ann/.config/sidekicks/config.yaml") == "8d9225af2fb5d045");
  CHECK(HistoryKey("/home/ann/x/..//.config/./sidekicks/config.yaml") == "8d9225af2fb5d045");
  CHECK(HistoryKey("/home/ann/.config/sidekicks/Config.yaml") != "8d9225af2fb5d045");
}

TEST_CASE("what a first start writes is valid") {
  CHECK(Said(StarterConfig("")).size() == 1);
  CHECK(Said(StarterConfig("")).front().ends_with("there are no agents"));
  const std::string path = "/opt/it's \"mine\": 50% \\ #1/🤖";
  const ReadConfig read = Parse(StarterConfig(path));
  CHECK(Said(read) == Lines{});
  REQUIRE(read.config.agents.size() == 1);
  CHECK(read.config.agents[0].name == "example");
  CHECK(read.config.agents[0].command == path);
  CHECK(read.config.agents[0].args == Lines{"--acp"});
  CHECK(Parse(StarterConfig("/bin/\xFF")).valid());

  // What its comments show holds too.
  std::string shown;
  std::string text = StarterConfig("");
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.starts_with("# agents:") || line.starts_with("#   ") || line.starts_with("# theme") ||
        line.starts_with("# language")) {
      shown += fmt::format("{}\n", line.substr(2));
    }
    at = end + 1;
  }
  const ReadConfig commented = Parse(shown);
  CHECK(Said(commented) == Lines{});
  REQUIRE(commented.config.agents.size() == 1);
  CHECK(commented.config.agents[0].command == "/home/ann/bin/helper");
}

}  // namespace
}  // namespace watchbill::supervisor
