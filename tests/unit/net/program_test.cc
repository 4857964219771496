#include <doctest/doctest.h>
#include <sys/stat.h>

#include "temp_folder.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/child.hpp"
#include "watchbill/net/files.hpp"

namespace watchbill::net {
namespace {

using Folder = TempFolder;

void MakeScript(const std::string& path, const std::string& text, mode_t mode = 0755) {
  REQUIRE(ReplaceFile(path, text).ok());
  REQUIRE(chmod(path.c_str(), mode) == 0);
}

TEST_CASE("what cannot be started is said at once, with the reason") {
  const Folder folder;
  Loop loop;
  const auto refusal = [&](const std::string& program, const std::string& where) {
    ChildCommand command;
    command.program = program;
    command.folder = where;
    const absl::Status status = Child::Spawn(loop, command, {}).status();
    REQUIRE_FALSE(status.ok());
    return std::pair(status.code(), std::string(MessageOf(status)));
  };
  const std::string& at = folder.path;
  const auto kNotFound = absl::StatusCode::kNotFound;
  const auto kDenied = absl::StatusCode::kPermissionDenied;
  CHECK(refusal(at + "/none", at) ==
        std::pair(kNotFound, "cannot start " + at + "/none in " + at + ": it does not exist"));
  CHECK(refusal("/bin/sh", at + "/none") ==
        std::pair(kNotFound, "cannot start /bin/sh: the folder " + at + "/none does not exist"));
  MakeScript(at + "/plain", "#!/bin/sh\n", 0644);
  CHECK(refusal(at + "/plain", at) ==
        std::pair(kDenied, "cannot start " + at + "/plain in " + at +
                               ": it is not executable (mode 0644): chmod +x makes it so"));
  CHECK(refusal("/bin/sh", at + "/plain") ==
        std::pair(kNotFound, "cannot start /bin/sh: " + at + "/plain is not a folder"));
  MakeScript(at + "/script", "#!/nowhere/node --flag\n");
  CHECK(refusal(at + "/script", at) ==
        std::pair(
            kNotFound,
            "cannot start " + at + "/script in " + at +
                ": its interpreter /nowhere/node (first line \"#!/nowhere/node --flag\") does not exist"));
  MakeScript(at + "/dos", "#!/bin/sh\r\necho\r\n");
  CHECK(refusal(at + "/dos", at).second.find("carriage return") != std::string::npos);
  MakeScript(at + "/neither", "echo\n");
  CHECK(refusal(at + "/neither", at).second.find("neither a program for this machine nor a script") !=
        std::string::npos);
  CHECK(refusal(at, at).second == "cannot start " + at + " in " + at + ": it is a folder, not a program");
  CHECK(refusal("sh", at) == std::pair(absl::StatusCode::kInvalidArgument,
                                       std::string("\"sh\" is not the absolute path of a program")));
  CHECK(refusal("/bin/sh", "there").first == absl::StatusCode::kInvalidArgument);

  ChildCommand command;
  command.program = "/bin/sh";
  command.folder = at;
  command.arguments.emplace_back("a\0b", 3);
  CHECK(MessageOf(Child::Spawn(loop, command, {}).status()).ends_with("an argument holds a zero byte"));
  command.arguments.clear();
  command.environment["a=b"] = "";
  CHECK(
      MessageOf(Child::Spawn(loop, command, {}).status()).ends_with("\"a=b\" is not the name of a variable"));
}

TEST_CASE("a command is found as a shell would find it, or it is said where it was looked for") {
  const Folder folder;
  const std::string& at = folder.path;
  REQUIRE(EnsureFolder(at + "/bin/sub").ok());
  MakeScript(at + "/bin/tool", "#!/bin/sh\n");
  MakeScript(at + "/plain", "", 0640);
  REQUIRE(EnsureFolder(at + "/tool").ok());
  const auto resolve = [&](std::string_view command, const std::string& path) {
    return ResolveProgram(command, {{"PATH", path}}, at);
  };
  const auto refusal = [&](std::string_view command, const std::string& path) {
    const auto found = resolve(command, path);
    return found.ok() ? "found " + *found : std::string(MessageOf(found.status()));
  };
  CHECK(*resolve("tool", "/nowhere:" + at + "/bin") == at + "/bin/tool");
  CHECK(*resolve("tool", at + ":bin/") == at + "/bin/tool");
  CHECK(*resolve("./bin/tool", "") == at + "/bin/tool");
  CHECK(*resolve(at + "/bin/tool", "") == at + "/bin/tool");
  CHECK(refusal("codex-acp", "/usr/local/bin:/nowhere:lib:") ==
        "\"codex-acp\" was not found in PATH (/usr/local/bin, /nowhere, " + at + "/lib, " + at + ")");
  CHECK(refusal("plain", "/nowhere:.") == at + "/plain is not executable (mode 0640): chmod +x makes it so");
  CHECK(refusal("tool", at) == "\"tool\" was not found in PATH (" + at + ")");
  CHECK(refusal("/opt/x/agent", "/bin") == "/opt/x/agent does not exist");
  CHECK(refusal("./plain/x", "/bin") == at + "/plain/x does not exist");
  CHECK(refusal(at + "/bin/sub", "") == at + "/bin/sub is a folder, not a program");
  CHECK(refusal("tool", "") == "\"tool\" was not found: PATH is empty");
  CHECK(refusal("", "/bin").find("empty") != std::string::npos);
  CHECK(MessageOf(ResolveProgram("tool", {}, at).status()) == "\"tool\" was not found: PATH is not set");
  CHECK(resolve("plain", ".").status().code() == absl::StatusCode::kPermissionDenied);
  CHECK(resolve("none", ".").status().code() == absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace watchbill::net
