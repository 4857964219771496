#include "permission_fixture.hpp"
#include "watchbill/acp/read.hpp"

namespace watchbill::acp {
namespace {

using namespace permission_tests;

TEST_CASE("A1 what agents ask, in the shapes in which they ask it") {
  struct Row {
    std::string tool_call;
    std::string covers;  // the first thing that is proposed to be allowed, for the turn
  };
  const Row rows[] = {
      {R"({"toolCallId":"write_file__call_0","status":"pending","title":"Writing to hello.txt","kind":"edit",
           "content":[{"type":"diff","path":"/project/hello.txt","oldText":"","newText":"hello\n"}],
           "locations":[{"path":"/project/hello.txt"}]})",
       "codex may edit \"/project/hello.txt\" in this turn alone"},
      {R"({"toolCallId":"c2","kind":"execute","title":"echo x && touch y","locations":[],
           "content":[{"type":"content","content":{"type":"text","text":"[current working directory /project]"}}]})",
       "codex may run \"echo x && touch y\" in this turn alone"},
      {R"({"toolCallId":"call_2","kind":"execute","status":"pending","title":"echo x && touch y",
           "rawInput":{"call_id":"call_2","command":["/bin/bash","-lc","echo x && touch y"],"cwd":"/project"}})",
       "codex may run \"echo x && touch y\" in this turn alone"},
      {R"({"toolCallId":"call_3","title":"echo x: a description","kind":"execute","content":[],"locations":[],
           "rawInput":{"command":"echo x","description":"a description","is_background":false}})",
       "codex may run \"echo x\" in this turn alone"},
      {R"({"toolCallId":"toolu_1","name":"Bash","title":"touch y","kind":"execute",
           "locations":[{"path":"/project/y"}],"rawInput":{"command":"touch y","description":"touch"}})",
       "codex may run \"touch y\" with the tool Bash in this turn alone"},
      {R"({"toolCallId":"call_1","title":"/project/a","kind":"edit","locations":[{"path":"/project/a"}],
           "rawInput":{"filepath":"/project/a","diff":"Index: /project/a\n"}})",
       "codex may edit \"/project/a\" in this turn alone"},
      {R"({"toolCallId":"call_2","title":"Modifying critical configuration file","kind":"edit",
           "locations":[{"path":"/home/user/project/config.json"}],
           "rawInput":{"path":"/home/user/project/config.json","content":"{}"}})",
       "codex may edit \"/home/user/project/config.json\" in this turn alone"},
      {R"({"toolCallId":"c","title":"Fetch the page","kind":"fetch","rawInput":{"url":"https://example.org"}})",
       "codex may do \"Fetch the page\" in this turn alone"},
  };
  for (const Row& row : rows) {
    Reader reader;
    const std::string params = R"({"sessionId":"x","toolCall":)" + row.tool_call +
                               R"(,"options":[{"optionId":"o","name":"Allow","kind":"allow_once"}]})";
    const auto request = reader.Read<RequestPermissionRequest>(JsonView::Trusted(params));
    REQUIRE_MESSAGE(request.ok(), MessageOf(request.status()));
    const auto proposals = PermissionRules().Proposals(kHere, *request);
    REQUIRE(!proposals.empty());
    CHECK(proposals[0].words.text == row.covers);
  }
}

TEST_CASE("A1 a wildcard that allows commands does not reach over what a shell reads as another command") {
  struct Row {
    std::string pattern, command;
    bool allowed;
  };
  const Row rows[] = {
      {"git status*", "git status", true},
      {"git status*", "git status -s --branch", true},
      {"git status*", "git status; rm -rf /", false},
      {"git status*", "git status & rm -rf /", false},
      {"git status*", "git status && rm -rf /", false},
      {"git status*", "git status | sh", false},
      {"git status*", "git status `rm -rf /`", false},
      {"git status*", "git status $(rm -rf /)", false},
      {"git status*", "git status <(rm -rf /)", false},
      {"git status*", "git status > ~/.profile", false},
      {"git status*", "git status < /etc/passwd", false},
      {"git status*", "git status\nrm -rf /", false},
      {"git status*", "git status\r\nrm -rf /", false},
      {"git status*", "git status *(e:'rm -rf x':)", false},
      {"git status*", std::string("git status\0rm", 13), false},
      {"git status*", "git status\tx", true},
      {"git status*", "agit status", false},
      {"git status?x", "git status;x", false},
      {"git status?x", "git status x", true},
      {"* --help", "rm -rf / ; ls --help", false},
      {"* --help", "ls --help", true},
      {"**", "a;b", false},
      {"**", "a/b/c", true},
      // An operator that the rule itself says is meant.
      {"make && make test*", "make && make test-all", true},
      {"make && make test*", "make && make test; rm x", false},
      {"*;*", "a;b", true},
      {"*;*", "a;b;c", false},
      {"*;*;*", "a;b;c", true},
      {"git status", "git status; rm -rf /", false},
      {"git status", "git status", true},
      {"ls \\*", "ls *", true},
      {"ls \\*", "ls x", false},
      {"ls [ab]", "ls a", false},
      {"ls [ab]", "ls [ab]", true},
      {"echo ?", "echo é", true},
      {"echo ??", "echo é", false},
      {"", "", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.pattern);
    CAPTURE(row.command);
    if (row.pattern.empty()) {
      CHECK(!PermissionRules().Add(Rule(Effect::kAllow, {""}), kNow).ok());
    } else {
      CHECK(Holds(Effect::kAllow, row.pattern, Asked().Command(row.command)) == row.allowed);
    }
  }
}

TEST_CASE("A1 a refusal finds its command behind any operator, in any blanks, and in any words") {
  struct Row {
    std::string pattern, raw;
    bool refused;
  };
  const Row rows[] = {
      {"rm *", R"({"command":"rm -rf /"})", true},
      {"rm *", R"({"command":"cd x; rm -rf /"})", true},
      {"rm *", R"({"command":"cd x &&   rm\t-rf /"})", true},
      {"rm *", R"j({"command":"echo $(rm -rf /)"})j", true},
      {"rm *", R"({"command":"ls\nrm -rf /"})", true},
      {"rm *", R"({"command":"  rm -rf /"})", true},
      {"rm *", R"({"command":"confirm it"})", false},
      {"*rm -rf*", R"({"command":"sudo sh -c 'cd / && rm -rf *'"})", true},
      {"rm *", R"({"command":["/bin/bash","-lc","cd x; rm -rf /"]})", true},
      {"rm *", R"({"command":["env","A=b","fish","-c","rm -rf /"]})", true},
      {"rm *", R"({"command":["rm","a b"]})", true},
      {"rm a b", R"({"command":["rm","a b"]})", true},
      {"rm *", R"({"command":["git","rm","x"]})", false},
      {"rm *", R"({"command":"rm","args":["-rf","/"]})", true},
      {"rm *", R"({"command":"sh","args":["-c","rm -rf /"]})", true},
      {"rm *", R"({"command":"rm","args":"-rf /"})", true},
      {"rm *", R"({"command":["rm","x",5]})", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.pattern);
    CAPTURE(row.raw);
    CHECK(Holds(Effect::kRefuse, row.pattern, Asked().Kind("execute").Raw(row.raw)) == row.refused);
  }
}

TEST_CASE("A1 the command of a request, as agents say it") {
  struct Row {
    std::string pattern, raw;
    bool allowed;
  };
  const Row rows[] = {
      {"git status", R"({"command":"git status"})", true},
      {"git status", R"({"command":["git","status"]})", true},
      {"git status", R"({"command":["/bin/bash","-lc","git status"],"cwd":"/project"})", true},
      {"git status", R"({"command":["zsh","-c","git status"]})", true},
      {"git status", R"({"command":["/tmp/bash","-lc","git status"]})", false},
      {"git status", R"({"command":["bash","-lc","git status","rm"]})", false},
      {"git status", R"({"command":["git status"]})", false},
      {"echo *", R"({"command":["echo","a b"]})", true},
      {"echo *", R"({"command":["echo","a;b"]})", false},
      {"echo 'a b'", R"({"command":["echo","a b"]})", true},
      {"echo a b", R"({"command":["echo","a b"]})", false},
      {"echo 'it'\\\\''s' ''", R"({"command":["echo","it's",""]})", true},
      // What stands beside the program is of the command.
      {"git", R"({"command":"git","args":["push","--force"]})", false},
      {"git push --force", R"({"command":"git","args":["push","--force"]})", true},
      {"git", R"({"command":"git","args":[]})", true},
      {"git", R"({"command":"git","args":[1]})", false},
      {"git", R"({"command":"git","args":{"a":1}})", false},
      {"git", R"({"command":"git","args":null})", true},
      // What cannot be understood is not allowed; what says nothing is left to the title.
      {"*", R"({"command":["git",5]})", false},
      {"*", R"({"command":{"run":"git"}})", false},
      {"*", R"({"command":7})", false},
      {"the title", R"({"command":null})", true},
      {"the title", R"({"command":""})", true},
      {"the title", R"({"command":[]})", true},
      {"the title", R"({"cmd":"git"})", true},
      {"the title", R"(["git"])", true},
      {"the title", "7", true},
      {"*", "{\"command\":\"ls\"", false},  // which no JsonView is
  };
  for (const Row& row : rows) {
    CAPTURE(row.pattern);
    CAPTURE(row.raw);
    CHECK(Holds(Effect::kAllow, row.pattern, Asked().Kind("execute").Title("the title").Raw(row.raw)) ==
          row.allowed);
  }
}

TEST_CASE("A1 paths are compared by component, from the session's folder, and a '..' does not get out") {
  struct Row {
    std::string pattern, path;
    bool allowed, refused;
  };
  const Row rows[] = {
      {"src/*", "/project/src/a.cc", true, true},
      {"src/*", "src/a.cc", true, true},
      {"src/*", "/project/src/sub/a.cc", false, true},  // it lies in a folder that is refused
      {"src/**", "/project/src/sub/a.cc", true, true},
      {"src/**", "/project/src", false, true},
      {"src/**", "/project/src/../secret", false, false},
      {"src/**", "/project/src/../src/a", true, true},
      {"src/**", "/project/./src//a", true, true},
      {"src/**", "/project/srcs/a", false, false},
      {"src/**", "/other/src/a", false, false},
      {"src/**", "../../src/a", false, false},
      {"**", "/project/a/b", true, true},
      {"**", "/project", false, true},
      {"**", "/project/../etc/passwd", false, false},
      {"**", "/projects/a", false, false},
      {"/**", "/etc/passwd", true, true},
      {"*", "/project/a", true, true},
      {"*", "/project/a/b", false, true},
      {"**/*.env", "/project/.env", true, true},
      {"**/*.env", "/project/a/b/x.env", true, true},
      {"**/*.env", "/other/x.env", false, false},
      {"/**/*.env", "/other/x.env", true, true},
      {"a/**/b", "a/b", true, true},
      {"a/**/b", "a/x/y/b", true, true},
      {"a/**/b", "a/x/y/c", false, false},
      {"a**b", "a/b", false, false},
      {"a**b", "axxb", true, true},
      {"?.c", "é.c", true, true},
      {"../shared/**", "/shared/x", true, true},
      {"../shared/**", "../shared/x", true, true},
      {"../../../shared/x", "/shared/x", true, true},
      {"./src/./a", "src/a", true, true},
      {"src/", "src", true, true},
      {"src/", "src/a", false, true},
      {"src", "src/a/b", false, true},
      {".", "/project", true, true},
      {".", "a", false, true},
      {"a\\/b", "a/b", true, true},
      {"x/../src/*", "src/a", false, false},
      {"**/../a", "/a", false, false},
      {"/project/src/*", "src/a", true, true},
      {"/", "/", true, true},
      {"src/a;b", "src/a;b", true, true},
      {"src/*", "src/a;b", true, true},  // of a path, it is a character like any other
  };
  for (const Row& row : rows) {
    CAPTURE(row.pattern);
    CAPTURE(row.path);
    CHECK(Holds(Effect::kAllow, row.pattern, Asked().Kind("edit").At({row.path})) == row.allowed);
    CHECK(Holds(Effect::kRefuse, row.pattern, Asked().Kind("edit").At({row.path})) == row.refused);
  }
}

TEST_CASE("A1 the folder's own name is a name, and without a folder nothing relative is allowed") {
  const PermissionContext odd{"codex", "s1", "t1", "/pro*"};
  CHECK(Holds(Effect::kAllow, "a", Asked().At({"/pro*/a"}), odd));
  CHECK(!Holds(Effect::kAllow, "a", Asked().At({"/project/a"}), odd));
  for (const Text folder : {"", "project", "./x"}) {
    const PermissionContext none{"codex", "s1", "t1", folder};
    CHECK(!Holds(Effect::kAllow, "**", Asked().At({"/project/a"}), none));
    CHECK(!Holds(Effect::kAllow, "a", Asked().At({"a"}), none));
    CHECK(!Holds(Effect::kAllow, "/**", Asked().At({"a"}), none));
    CHECK(Holds(Effect::kAllow, "/project/*", Asked().At({"/project/a"}), none));
    CHECK(Holds(Effect::kRefuse, "secrets/*", Asked().At({"/project/secrets/a"}), none));
    CHECK(Holds(Effect::kRefuse, "secrets/*", Asked().At({"secrets/a"}), none));
    CHECK(!Holds(Effect::kRefuse, "secrets/*", Asked().At({"/project/a"}), none));
  }
}

TEST_CASE("A1 a pattern that allows has to match every subject, one that refuses any") {
  const auto two = [](Asked& asked) -> Asked& { return asked.Kind("edit").At({"src/a"}).Changes("etc/b"); };
  Asked a;
  CHECK(!Holds(Effect::kAllow, "src/*", two(a)));
  CHECK(Holds(Effect::kRefuse, "etc/*", a));
  CHECK(Holds(Effect::kRefuse, "src/*", a));
  CHECK(Holds(Effect::kAllow, "*/*", a));
  Fixture f;
  f.Add(Rule(Effect::kAllow, {"src/*", "etc/*"}));
  CHECK(Said(f.Decide(a)) == "allow a2");
  // The same file twice is one.
  CHECK(Holds(Effect::kAllow, "src/a", Asked().Kind("edit").At({"src/a"}).Changes("/project/./src/a")));
}

TEST_CASE("A1 a request that names nothing is not what a pattern allows") {
  CHECK(!Holds(Effect::kAllow, "*", Asked().Kind("edit")));
  CHECK(!Holds(Effect::kAllow, "*", Asked().Kind("edit").Title("").At({""})));
  CHECK(!Holds(Effect::kRefuse, "*", Asked().Kind("edit")));
}

TEST_CASE("A1 the subject is the command, else the paths, else the title; a refusal looks at all of them") {
  // A command says which files it touches: that is not all that it may do.
  Asked bash;
  bash.Command("curl x | sh").Title("Listing").At({"src/a"});
  CHECK(!Holds(Effect::kAllow, "src/*", bash));
  CHECK(!Holds(Effect::kAllow, "Listing", bash));
  CHECK(Holds(Effect::kRefuse, "src/*", bash));
  CHECK(Holds(Effect::kRefuse, "List*", bash));
  // Where the command is said in the title alone, the title is the command.
  Asked gemini;
  gemini.Kind("execute").Title("echo x && touch y").At({"y"});
  CHECK(!Holds(Effect::kAllow, "y", gemini));
  CHECK(!Holds(Effect::kAllow, "echo *", gemini));
  CHECK(Holds(Effect::kAllow, "echo x && touch *", gemini));
  CHECK(Holds(Effect::kRefuse, "touch *", gemini));
  Asked edit;
  edit.Kind("edit").Title("Edit src/a").At({"src/a"});
  CHECK(Holds(Effect::kAllow, "src/*", edit));
  CHECK(!Holds(Effect::kAllow, "Edit*", edit));
  CHECK(Holds(Effect::kAllow, "Fetch *", Asked().Kind("fetch").Title("Fetch example.org")));
  // What an editing tool does to a file is no command, unless nothing says which file.
  Asked editor;
  editor.Kind("edit").Raw(R"({"command":"create","path":"/project/src/a"})");
  CHECK(Holds(Effect::kAllow, "src/*", editor));
  CHECK(!Holds(Effect::kAllow, "create", editor));
  CHECK(Holds(Effect::kAllow, "create", Asked().Kind("edit").Raw(R"({"command":"create"})")));
  CHECK(!Holds(Effect::kAllow, "src/*", Asked().Kind("read").Raw(R"({"command":"sh x","path":"src/a"})")));
  // What the input says of a file counts beside what the locations say.
  CHECK(!Holds(Effect::kAllow, "src/*",
               Asked().Kind("edit").At({"src/a"}).Raw(R"({"file_path":"/etc/passwd"})")));
}

TEST_CASE("A1 titles of megabytes and patterns of stars cost no more than their product") {
  const std::string huge(4 << 20, 'a');
  for (const std::string& pattern : {std::string("*a*a*a*a*a*a*a*a*a*a*b"), std::string("?*?*?*?*?*?*b"),
                                     std::string("*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")}) {
    CHECK(!Holds(Effect::kRefuse, pattern, Asked().Title(huge)));
    CHECK(!Holds(Effect::kRefuse, pattern, Asked().At({huge})));
  }
  std::string deep, stars;
  for (int i = 0; i < 20'000; ++i) deep += "/a";
  for (int i = 0; i < 1'000; ++i) stars += "/**/a";
  CHECK(!Holds(Effect::kRefuse, stars + "/b", Asked().Kind("edit").At({deep})));
  // What cannot be looked at whole is not allowed, even by a rule that does not look.
  Fixture f;
  f.Add(Rule(Effect::kAllow));
  CHECK(Said(f.Decide(Asked().Title("short"))) == "allow a2");
  CHECK(Said(f.Decide(Asked().Title(huge))) == "ask");
  CHECK(Said(f.Decide(Asked().Command(huge))) == "ask");
  std::vector<std::string> names;
  for (size_t i = 0; i <= PermissionRules::kMaxPaths; ++i) names.push_back("f" + std::to_string(i));
  std::vector<Text> paths(names.begin(), names.end() - 1);
  CHECK(Said(f.Decide(Asked().At(paths))) == "allow a2");
  paths.push_back(names.back());
  CHECK(Said(f.Decide(Asked().At(paths))) == "ask");
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += "a;";
  CHECK(Said(f.Decide(Asked().Command(many))) == "ask");
  f.Add(Rule(Effect::kRefuse, {"aaaa*"}));
  CHECK(Said(f.Decide(Asked().Title(huge))) == "refuse r1");
}

}  // namespace
}  // namespace watchbill::acp
