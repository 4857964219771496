#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "access.hpp"
#include "ask.hpp"
#include "config.hpp"
#include "json_document.hpp"
#include "rpc_table.hpp"
#include "start_report.hpp"
#include "supervisor.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/child.hpp"
#include "watchbill/net/files.hpp"
#include "watchbill/net/log.hpp"
#include "watchbill/net/options.hpp"
#include "watchbill/net/stdio.hpp"

namespace {

using namespace watchbill;

const net::OptionSpec kConfig{"config", "FILE",
                              "the configuration (default: $XDG_CONFIG_HOME/sidekicks/config.yaml\n"
                              "or ~/.config/sidekicks/config.yaml)",
                              false};

const net::OptionSpec kData{"data", "DIR",
                            "where conversations and keys are kept\n"
                            "(default: $XDG_CONFIG_HOME/sidekicks or ~/.config/sidekicks)",
                            false};

const net::ProgramSpec kProgram{
    "watchbill-supervisor",
    "Talk to AI agents that speak the Agent Client Protocol: in a page, at a prompt, in a script.",
    "watchbill-supervisor COMMAND [options]",
    {},
    "Each command has its own help: watchbill-supervisor COMMAND --help",
};

const std::vector<net::CommandSpec> kCommands = {
    {"serve",
     "Start the page, and agents when they are needed.",
     "watchbill-supervisor serve [options]",
     {kConfig,
      {"port", "PORT", "the port on 127.0.0.1 (default 5181); 0 takes any that is free", false},
      kData},
     {},
     "The first line on standard output is \"listening on http://127.0.0.1:PORT/\", once it is; the second "
     "is a link\n"
     "that lets one browser in, once. It ends on SIGINT or SIGTERM, and its agents with it."},
    {"ask",
     "Ask one agent and print its answer.",
     "watchbill-supervisor ask [options] AGENT TEXT...\n"
     "       watchbill-supervisor ask [options] --command 'COMMAND ARGUMENTS' TEXT...",
     {{"command", "LINE",
       "run this instead of an agent of the configuration; split as a shell does it,\n"
       "without variables or patterns",
       false},
      {"cwd", "DIR", "the folder that the agent works in (default: its configuration's, else this one)",
       false},
      {"approve", "",
       "allow whatever the agent asks for; without it, it is asked at the terminal,\n"
       "and refused where there is none",
       false},
      {"json", "", "print events, one JSON object a line", false},
      {"quiet", "", "print nothing on standard error but failures", false},
      kConfig},
     {{"AGENT", "the name of an agent of the configuration", false, false, "command"},
      {"TEXT", "what to ask; - reads it from standard input", false, true, ""}},
     "The answer goes to standard output, everything else to standard error. Exit codes of its own:\n"
     "6 something was refused because nobody could be asked, 7 the agent stopped before its answer was "
     "whole,\n"
     "8 the agent could not be started or ended, 130 cancelled."},
    {"agents",
     "List the agents of the configuration.",
     "watchbill-supervisor agents [options]",
     {kConfig},
     {},
     ""},
    {"link",
     "Print a new link to the page of a supervisor that runs.",
     "watchbill-supervisor link [options]",
     {kConfig, kData},
     {},
     ""},
    {"config check",
     "Say what is wrong with a configuration file.",
     "watchbill-supervisor config check FILE",
     {},
     {{"FILE", "the file", false, false, ""}},
     "Exit code 4 where it cannot be used; warnings are none."},
    {"rpc schema",
     "Print the types of the socket's protocol, as TypeScript.",
     "watchbill-supervisor rpc schema",
     {},
     {},
     ""},
};

int Complain(std::string_view what, int code) { return net::Complain(kProgram.name, what, code); }

std::string Absolute(const std::string& path) {
  std::error_code ec;
  return std::filesystem::absolute(path, ec).lexically_normal().string();
}

// The example agent that was built beside this program; empty where there is none.
std::string ExampleAgent() {
  std::error_code ec;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ec);
  const std::string path = (self.parent_path() / "watchbill-example-agent").string();
  return !ec && access(path.c_str(), X_OK) == 0 ? path : "";
}

struct LoadedConfig {
  std::string path, source;
  bool created = false;
  supervisor::ReadConfig read;
};

absl::StatusOr<LoadedConfig> Load(const net::Options& given, const supervisor::Places& places, bool create) {
  LoadedConfig loaded;
  const auto flag = given.value("config");
  loaded.path = Absolute(flag.value_or(places.config));
  loaded.source = flag ? "flag" : "default";
  auto text = net::ReadFile(loaded.path, 1 << 20);
  if (absl::IsNotFound(text.status()) && !flag && create) {
    if (absl::Status status = net::EnsureFolder(places.folder); !status.ok()) return status;
    text = supervisor::StarterConfig(ExampleAgent());
    if (absl::Status status = net::ReplaceFile(loaded.path, *text); !status.ok()) return status;
    loaded.created = true;
  }
  if (absl::IsNotFound(text.status()) && !flag) {
    return absl::NotFoundError(fmt::format(
        "there is no configuration at {}: `watchbill-supervisor serve` writes one, --config names another",
        loaded.path));
  }
  if (!text.ok()) return text.status();
  loaded.read =
      supervisor::ParseConfig(*text, std::filesystem::path(loaded.path).parent_path().string(), places.home);
  return loaded;
}

// Prints what is wrong; whether it can be used.
bool Usable(const LoadedConfig& loaded, bool warnings) {
  for (const supervisor::Problem& problem : loaded.read.problems) {
    if (problem.warning && !warnings) continue;
    fmt::print(stderr, "{}{}\n", problem.warning ? "warning: " : "",
               supervisor::Describe(loaded.path, problem));
  }
  return loaded.read.valid();
}

int Serve(const net::Options& given, const std::map<std::string, std::string>& environment) {
  const auto port = given.number("port", 5181, 0, 65535);
  if (!port.ok()) return Complain(MessageOf(port.status()), net::kExitUsage);
  const supervisor::Places places = supervisor::PlacesFor(environment);
  auto loaded = Load(given, places, true);
  if (!loaded.ok()) return Complain(MessageOf(loaded.status()), net::kExitData);
  if (!Usable(*loaded, true)) return Complain("the configuration cannot be used", net::kExitData);

  net::AdoptOrphans();
  if (const size_t left = net::SweepLeftChildren(); left > 0) {
    net::Log(net::LogLevel::kInfo, "ended what an earlier supervisor left behind",
             {{"processes", static_cast<int64_t>(left)}});
  }
  supervisor::SupervisorOptions options;
  options.config = std::move(loaded->read.config);
  options.config_path = loaded->path;
  options.source = loaded->source;
  options.created = loaded->created;
  options.warnings = loaded->read.problems;
  options.folder = Absolute(given.value("data").value_or(places.folder));
  options.runtime_folder = net::RuntimeFolder();
  options.port = static_cast<uint16_t>(*port);
  const Now now = net::ReadClocks();
  options.seed = static_cast<uint64_t>(now.wall_ms) * 1'000'003 ^ static_cast<uint64_t>(now.mono_ns) ^
                 static_cast<uint64_t>(getpid()) << 40;
  options.environment = environment;

  net::Loop loop;
  auto made = supervisor::Supervisor::Create(loop, std::move(options));
  if (!made.ok()) {
    return Complain(MessageOf(made.status()),
                    absl::IsUnavailable(made.status()) ? net::kExitAddress : net::kExitData);
  }
  const auto link = (*made)->MakeLink();
  if (!link.ok()) return Complain(MessageOf(link.status()), net::kExitData);
  bool asked = false;
  // Before it says that it listens: who reads that may end it the next moment.
  loop.OnSignals([&](int) {
    if (std::exchange(asked, true)) return loop.Stop();  // again: what still runs is killed
    (*made)->Stop([&] { loop.Stop(); });
  });
  fmt::print("listening on {}\nopen {}\n", (*made)->url(), *link);
  std::fflush(stdout);
  if (loaded->created) fmt::print(stderr, "wrote a first configuration: {}\n", loaded->path);
  loop.Run();
  made->reset();
  (void)net::EndAdopted();
  return net::kExitDone;
}

int AskOne(const net::Options& given, const std::map<std::string, std::string>& environment) {
  supervisor::AskOptions options;
  options.approve = given.has("approve");
  options.json = given.has("json");
  options.quiet = given.has("quiet");
  options.environment = environment;
  std::error_code ec;
  const std::string here = std::filesystem::current_path(ec).string();
  const supervisor::Places places = supervisor::PlacesFor(environment);
  if (const auto line = given.value("command")) {
    bool closed = false;
    std::vector<std::string> words = supervisor::SplitCommandLine(*line, &closed);
    if (!closed) return Complain("--command has a quote that is not closed", net::kExitUsage);
    if (words.empty() || words[0].empty()) return Complain("--command names no program", net::kExitUsage);
    options.agent.command = words[0];
    options.agent.args.assign(words.begin() + 1, words.end());
    options.agent.name = std::filesystem::path(words[0]).filename().string();
    options.agent.cwd = here;
  } else {
    const auto loaded = Load(given, places, false);
    if (!loaded.ok()) return Complain(MessageOf(loaded.status()), net::kExitData);
    if (!Usable(*loaded, false)) return Complain("the configuration cannot be used", net::kExitData);
    const std::string& name = given.arguments("AGENT").front();
    std::vector<std::string> names;
    for (const supervisor::AgentConfig& agent : loaded->read.config.agents) {
      names.push_back(agent.name);
      if (agent.name == name) options.agent = agent;
    }
    if (options.agent.name.empty()) {
      const auto nearest = net::NearestName(name, names);
      return Complain(fmt::format("there is no agent named \"{}\" in {}{}", name, loaded->path,
                                  nearest ? fmt::format("; did you mean {}?", *nearest) : std::string()),
                      net::kExitData);
    }
  }
  if (const auto cwd = given.value("cwd")) options.agent.cwd = Absolute(*cwd);
  if (!std::filesystem::is_directory(options.agent.cwd, ec)) {
    return Complain(fmt::format("{} is no folder", options.agent.cwd), net::kExitData);
  }
  for (const std::string& word : given.arguments("TEXT")) {
    options.text.append(options.text.empty() ? "" : " ").append(word);
  }
  if (options.text == "-") {
    auto text = net::ReadStandardInput(1 << 20);
    if (!text.ok()) return Complain(MessageOf(text.status()), net::kExitData);
    options.text = *std::move(text);
  }
  if (options.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Complain("there is nothing to ask: the text is empty", net::kExitUsage);
  }
  net::AdoptOrphans();
  (void)net::SweepLeftChildren();
  net::Loop loop;
  const int code = supervisor::Ask(loop, std::move(options));
  (void)net::EndAdopted();
  return code;
}

int ListAgents(const net::Options& given, const std::map<std::string, std::string>& environment) {
  const auto loaded = Load(given, supervisor::PlacesFor(environment), false);
  if (!loaded.ok()) return Complain(MessageOf(loaded.status()), net::kExitData);
  if (!Usable(*loaded, true)) return Complain("the configuration cannot be used", net::kExitData);
  for (const supervisor::AgentConfig& agent : loaded->read.config.agents) {
    fmt::print("{}\t{}\n", agent.name, supervisor::CommandLine(agent.command, agent.args));
  }
  return net::kExitDone;
}

int Link(const net::Options& given, const std::map<std::string, std::string>& environment) {
  const supervisor::Places places = supervisor::PlacesFor(environment);
  const std::string path = Absolute(given.value("config").value_or(places.config));
  const std::string key = supervisor::HistoryKey(path);
  const std::string folder = Absolute(given.value("data").value_or(places.folder));
  const auto text = net::ReadFile(supervisor::RuntimeFile(folder, net::RuntimeFolder(), key), 1 << 16);
  json::Document document;
  if (!text.ok() || !document.Parse(*text).ok() || !document.root()["url"].AsString()) {
    return Complain(fmt::format("no supervisor runs for {}: watchbill-supervisor serve starts one", path),
                    net::kExitFailed);
  }
  const auto made = supervisor::Access::MakeLink(supervisor::KeysFolder(folder, key));
  if (!made.ok()) return Complain(MessageOf(made.status()), net::kExitData);
  fmt::print("{}open/{}\n", *document.root()["url"].AsString(), *made);
  return net::kExitDone;
}

int CheckConfig(const net::Options& given, const std::map<std::string, std::string>& environment) {
  LoadedConfig loaded;
  loaded.path = Absolute(given.arguments("FILE").front());
  const auto text = net::ReadFile(loaded.path, 1 << 20);
  if (!text.ok()) return Complain(MessageOf(text.status()), net::kExitData);
  loaded.read = supervisor::ParseConfig(*text, std::filesystem::path(loaded.path).parent_path().string(),
                                        supervisor::PlacesFor(environment).home);
  return Usable(loaded, true) ? net::kExitDone : net::kExitData;
}

int Run(int argc, char** argv) {
  const net::ParsedCommand parsed = net::ParseCommandOrExplain(kProgram, kCommands, argc, argv);
  if (parsed.exit) return *parsed.exit;
  const std::map<std::string, std::string> environment = net::CurrentEnvironment();
  if (parsed.command == "serve") return Serve(parsed.options, environment);
  if (parsed.command == "ask") return AskOne(parsed.options, environment);
  if (parsed.command == "agents") return ListAgents(parsed.options, environment);
  if (parsed.command == "link") return Link(parsed.options, environment);
  if (parsed.command == "config check") return CheckConfig(parsed.options, environment);
  fmt::print("{}", supervisor::RpcTypes());
  return net::kExitDone;
}

}  // namespace

int main(int argc, char** argv) { return Run(argc, argv); }
