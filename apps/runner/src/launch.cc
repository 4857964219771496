#include "launch.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include "json_document.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/dotenv.hpp"
#include "watchbill/net/files.hpp"

namespace watchbill::runner {
namespace {

absl::StatusOr<Launch> ReadDescription(const std::string& path, const std::string& text) {
  const auto wrong = [&](std::string_view why) {
    return absl::InvalidArgumentError(fmt::format("{} {}", path, why));
  };
  json::Document document;
  if (absl::Status status = document.Parse(text); !status.ok())
    return wrong(fmt::format("is {}", MessageOf(status)));
  Launch launch;
  const json::Value command = document.root()["command"];
  for (json::Value word = command.First(); !word.absent(); word = word.Next()) {
    const auto argument = word.AsString();
    if (!argument || argument->find('\0') != std::string_view::npos)
      return wrong("has a `command` that is not all texts");
    launch.command.emplace_back(*argument);
  }
  if (command.kind() != json::Kind::kArray || launch.command.empty() || launch.command[0].empty()) {
    return wrong("needs `command`: a list of the program and its arguments");
  }
  const json::Value env = document.root()["env"];
  if (!env.absent() && !env.is_object()) return wrong("has an `env` that is no object");
  for (json::Value member = env.First(); !member.absent(); member = member.Next()) {
    const auto value = member.AsString();
    if (!net::IsVariableName(member.Key()) || !value || value->find('\0') != std::string_view::npos) {
      return wrong(fmt::format("has an `env` whose \"{}\" is no variable with a text", member.Key()));
    }
    launch.environment[std::string(member.Key())] = *value;
  }
  return launch;
}

bool Exists(const std::string& path, int how) { return access(path.c_str(), how) == 0; }

}  // namespace

absl::StatusOr<Launch> ReadLaunch(const std::string& folder) {
  Launch launch;
  const std::string description = folder + "/watchbill.json";
  if (Exists(description, F_OK)) {
    const auto text = net::ReadFile(description, 1 << 20);
    if (!text.ok()) return text.status();
    auto read = ReadDescription(description, *text);
    if (!read.ok()) return read.status();
    launch = *std::move(read);
  } else if (Exists(folder + "/run.js", F_OK)) {
    launch.command = {"node", "run.js"};
  } else if (Exists(folder + "/run.py", F_OK)) {
    launch.command = {"python3", "run.py"};
  } else if (Exists(folder + "/run.sh", F_OK)) {
    launch.command = {"sh", "run.sh"};
  } else if (Exists(folder + "/run", X_OK)) {
    launch.command = {"./run"};
  } else {
    return absl::NotFoundError(fmt::format(
        "There is nothing to start in {}: it holds none of watchbill.json, run.js, run.py, run.sh and an "
        "executable run.",
        folder));
  }
  if (const auto text = net::ReadFile(folder + "/.env", 1 << 20); text.ok()) {
    for (auto& [name, value] : net::ParseDotEnv(*text)) launch.environment[name] = value;
  } else if (!absl::IsNotFound(text.status())) {
    return text.status();
  }
  return launch;
}

}  // namespace watchbill::runner
