#include "launch.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "temp_folder.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/files.hpp"

namespace watchbill::runner {
namespace {

struct Folder : TempFolder {
  void Put(const std::string& name, const std::string& content) const {
    REQUIRE(net::ReplaceFile(path + "/" + name, content).ok());
  }
  std::string Command() const {
    const auto launch = ReadLaunch(path);
    if (!launch.ok()) return std::string(MessageOf(launch.status()));
    std::string out;
    for (const std::string& word : launch->command) out.append(word).append("|");
    return out;
  }
};

TEST_CASE("M9 a folder is startable by what it holds, in order") {
  const Folder folder;
  CHECK(folder.Command().starts_with("There is nothing to start in " + folder.path));
  folder.Put("run", "#!/bin/sh\n");
  CHECK(folder.Command().starts_with("There is nothing to start"));  // not executable
  chmod((folder.path + "/run").c_str(), 0700);
  CHECK(folder.Command() == "./run|");
  folder.Put("run.sh", "");
  CHECK(folder.Command() == "sh|run.sh|");
  folder.Put("run.py", "");
  CHECK(folder.Command() == "python3|run.py|");
  folder.Put("run.js", "");
  CHECK(folder.Command() == "node|run.js|");
  folder.Put("watchbill.json", R"({"command": ["prog", "--flag", ""]})");
  CHECK(folder.Command() == "prog|--flag||");
}

TEST_CASE("M9 a description that is wrong is refused with what is wrong, and nothing else is tried") {
  const Folder folder;
  folder.Put("run.sh", "");
  const auto refusal = [&](const char* content) {
    folder.Put("watchbill.json", content);
    return folder.Command();
  };
  CHECK(refusal("{").find("not JSON") != std::string::npos);
  CHECK(refusal("{}").find("needs `command`") != std::string::npos);
  CHECK(refusal(R"({"command": "prog"})").find("needs `command`") != std::string::npos);
  CHECK(refusal(R"({"command": []})").find("needs `command`") != std::string::npos);
  CHECK(refusal(R"({"command": ["a", 7]})").find("not all texts") != std::string::npos);
  CHECK(refusal(R"({"command": ["a\u0000b"]})").find("not all texts") != std::string::npos);
  CHECK(refusal(R"({"command": ["a"], "env": {"A=B": "x"}})").find("A=B") != std::string::npos);
  CHECK(refusal(R"({"command": ["a"], "env": {"A": 7}})").find("\"A\"") != std::string::npos);
}

TEST_CASE("M9 the folder's .env wins over its description") {
  const Folder folder;
  folder.Put("watchbill.json", R"({"command": ["a"], "env": {"A": "1", "B": "1"}})");
  folder.Put(".env", "B=2\nC=3\n");
  const auto launch = ReadLaunch(folder.path);
  REQUIRE(launch.ok());
  CHECK(launch->environment == std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}, {"C", "3"}});
}

}  // namespace
}  // namespace watchbill::runner
