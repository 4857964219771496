#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>

#include "acp_stdio.hpp"
#include "agent.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/dotenv.hpp"
#include "watchbill/net/files.hpp"
#include "watchbill/net/log.hpp"
#include "watchbill/net/options.hpp"
#include "work.hpp"

namespace {

using namespace watchbill;

const net::ProgramSpec kProgram{
    "watchbill-example-agent",
    "An agent without a model: it reports made-up work to a monitor, or gives made-up answers to a client\n"
    "of the Agent Client Protocol, so that there is something to see.",
    "watchbill-example-agent [options]\n       watchbill-example-agent --acp [--word-ms MS]",
    {
        {"monitor", "URL", "the monitor to dial, http://HOST:PORT (or MONITOR_URL)", false},
        {"folder", "DIR", "the folder it lives in (default: the one it is started in)", false},
        {"id", "UUID", "its id (or WATCHBILL_AGENT_ID; else one that it keeps in its folder)", false},
        {"name", "NAME", "its name (or WATCHBILL_AGENT_NAME; else its folder's)", false},
        {"host", "NAME", "the machine that it says it runs on (default: the host name)", false},
        {"every", "MS",
         "milliseconds between the runs it starts by itself\n(default 5000; 0: only when asked)", false},
        {"port", "PORT",
         "of its own door on 127.0.0.1, where POST /run starts a run\n(default 0: any that is free)", false},
        {"seed", "NUMBER", "of its made-up work (default: made from its id)", false},
        {"acp", "", "speak the Agent Client Protocol on standard input and output; no monitor is dialled",
         false},
        {"word-ms", "MS", "with --acp: milliseconds between the words of an answer\n(default 30)", false},
    },
    "Its folder's .env is read before its environment. It runs until it is interrupted, or the board ends "
    "it.\nWith --acp it runs until its standard input ends or it is interrupted."};

absl::StatusOr<std::string> KeptId(const std::string& folder, uint64_t now) {
  const std::string path = folder + "/.watchbill/agent-id";
  if (const auto kept = net::ReadFile(path, 256); kept.ok() && kept->size() >= 36) return kept->substr(0, 36);
  if (absl::Status status = net::EnsureFolder(folder + "/.watchbill"); !status.ok()) return status;
  const std::string id = example::Work(now ^ std::hash<std::string>()(folder)).NextId();
  if (absl::Status status = net::ReplaceFile(path, id + "\n"); !status.ok()) return status;
  return id;
}

// The options of the other way to run it, which mean nothing with --acp.
constexpr const char* kOfMonitor[] = {"monitor", "folder", "id", "name", "host", "every", "port", "seed"};

int RunAcp(const net::Options& given) {
  for (const char* option : kOfMonitor) {
    if (given.has(option)) {
      return net::Complain(kProgram.name,
                           fmt::format("--{} means nothing with --acp, which dials no monitor", option),
                           net::kExitUsage);
    }
  }
  const auto word_ms = given.number("word-ms", 30, 0, 60'000);
  if (!word_ms.ok()) return net::Complain(kProgram.name, MessageOf(word_ms.status()), net::kExitUsage);
  example::AcpOptions options;
  options.version = WATCHBILL_VERSION;
  options.word_ms = *word_ms;
  std::random_device random;
  options.seed = static_cast<uint64_t>(random()) << 32 | random();
  return example::SpeakAcp(std::move(options));
}

int Run(int argc, char** argv) {
  const net::Parsed parsed = net::ParseOrExplain(kProgram, argc, argv);
  if (parsed.exit) return *parsed.exit;
  const net::Options& given = parsed.options;
  const auto complain = [](std::string_view what, int code) {
    return net::Complain(kProgram.name, what, code);
  };
  if (given.has("acp")) return RunAcp(given);
  if (given.has("word-ms")) return complain("--word-ms goes with --acp", net::kExitUsage);
  example::AgentOptions options;
  std::error_code ec;
  options.folder = given.value("folder").value_or(std::filesystem::current_path(ec).string());
  if (!std::filesystem::is_directory(options.folder, ec)) {
    return complain(fmt::format("{} is no folder", options.folder), net::kExitData);
  }
  const auto dotenv = net::ParseDotEnv(net::ReadFile(options.folder + "/.env", 1 << 20).value_or(""));
  const auto variable = [&](const char* name) -> std::string {
    if (const auto it = dotenv.find(name); it != dotenv.end()) return it->second;
    const char* set = std::getenv(name);
    return set != nullptr ? set : "";
  };
  const auto either = [&](const char* option, const char* name) {
    return given.value(option).value_or(variable(name));
  };

  options.monitor_url = either("monitor", "MONITOR_URL");
  if (options.monitor_url.empty()) {
    return complain("it needs the monitor's address: --monitor http://HOST:PORT, or MONITOR_URL",
                    net::kExitUsage);
  }
  const auto monitor = net::ParseMonitorUrl(options.monitor_url);
  if (!monitor.ok()) return complain(MessageOf(monitor.status()), net::kExitUsage);
  options.monitor = *monitor;
  options.token = variable("MONITOR_TOKEN");
  const auto every = given.number("every", 5000, 0, 86'400'000);
  if (!every.ok()) return complain(MessageOf(every.status()), net::kExitUsage);
  options.every_ms = *every;
  const auto port = given.number("port", 0, 0, 65535);
  if (!port.ok()) return complain(MessageOf(port.status()), net::kExitUsage);
  options.port = static_cast<uint16_t>(*port);
  options.id = either("id", "WATCHBILL_AGENT_ID");
  if (options.id.empty()) {
    const Now now = net::ReadClocks();
    const auto kept = KeptId(options.folder, static_cast<uint64_t>(now.wall_ms ^ now.mono_ns));
    if (!kept.ok()) return complain(MessageOf(kept.status()), net::kExitData);
    options.id = *kept;
  }
  options.name = either("name", "WATCHBILL_AGENT_NAME");
  if (options.name.empty()) options.name = std::filesystem::path(options.folder).filename().string();
  options.host = given.value("host").value_or(net::HostName());
  const auto seed = given.number("seed", 0, 0, INT64_MAX);
  if (!seed.ok()) return complain(MessageOf(seed.status()), net::kExitUsage);
  // By itself another one at each start, so that ids of runs do not come again.
  const Now now = net::ReadClocks();
  options.seed = given.has("seed")
                     ? static_cast<uint64_t>(*seed)
                     : std::hash<std::string>()(options.id) ^ static_cast<uint64_t>(now.mono_ns) ^
                           static_cast<uint64_t>(now.wall_ms);

  net::Loop loop;
  auto agent = example::Agent::Create(loop, std::move(options), [&] { loop.Stop(); });
  if (!agent.ok()) return complain(MessageOf(agent.status()), net::kExitAddress);
  // Before it says where it is: who reads that may end it the next moment.
  loop.OnSignals([&](int) { (*agent)->Leave(); });
  fmt::print("its door is {}\n", (*agent)->url());
  std::fflush(stdout);
  (*agent)->Start();
  loop.Run();
  return net::kExitDone;
}

}  // namespace

int main(int argc, char** argv) { return Run(argc, argv); }
