#include <fmt/core.h>

#include <cstdlib>

#include "runner.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/files.hpp"
#include "watchbill/net/log.hpp"
#include "watchbill/net/options.hpp"

namespace {

using namespace watchbill;

const net::ProgramSpec kProgram{
    "watchbill-runner",
    "Starts agents on this machine when a monitor asks for it, and ends what it started. Agents outlive it.",
    "watchbill-runner --monitor URL --allow DIR [--allow DIR …]",
    {
        {"monitor", "URL", "the monitor to dial, http://HOST:PORT (or MONITOR_URL)", false},
        {"name", "NAME", "this machine's name on the board (default: its host name)", false},
        {"allow", "DIR", "a folder at or below which agents may be started; repeat it for more", true},
        {"data", "DIR",
         "where it keeps what it started\n(default: $XDG_STATE_HOME/watchbill or ~/.local/state/watchbill)",
         false},
        {"token-file", "FILE", "a file whose first line is the monitor's token (or MONITOR_TOKEN)", false},
    },
    "It runs until it is interrupted. A monitor that cannot be reached is dialled for ever, every 30 s at "
    "the longest."};

int Run(int argc, char** argv) {
  const net::Parsed parsed = net::ParseOrExplain(kProgram, argc, argv);
  if (parsed.exit) return *parsed.exit;
  const net::Options& given = parsed.options;
  const auto usage = [](std::string_view what) {
    return net::Complain(kProgram.name, what, net::kExitUsage);
  };

  const char* from_environment = std::getenv("MONITOR_URL");
  const std::string url =
      given.value("monitor").value_or(from_environment != nullptr ? from_environment : "");
  if (url.empty()) return usage("it needs the monitor's address: --monitor http://HOST:PORT, or MONITOR_URL");
  const auto monitor = net::ParseMonitorUrl(url);
  if (!monitor.ok()) return usage(MessageOf(monitor.status()));
  if (given.values("allow").empty())
    return usage("it may start nothing: --allow DIR names a folder of agents");

  runner::RunnerOptions options;
  options.monitor = *monitor;
  options.monitor_url = url;
  options.name = given.value("name").value_or(net::HostName());
  options.allowed = given.values("allow");
  if (const char* token = std::getenv("MONITOR_TOKEN")) options.token = token;
  if (const auto file = given.value("token-file")) {
    const auto secret = net::ReadSecret(*file);
    if (!secret.ok()) return net::Complain(kProgram.name, MessageOf(secret.status()), net::kExitData);
    options.token = *secret;
  }
  const std::string data = given.value("data").value_or(net::DefaultStateFolder());
  if (const absl::Status status = net::EnsureFolder(data); !status.ok()) {
    return net::Complain(kProgram.name, fmt::format("{}; --data names another", MessageOf(status)),
                         net::kExitData);
  }
  const auto lock = net::FolderLock::Take(data, "runner");
  if (!lock.ok())
    return net::Complain(kProgram.name, fmt::format("{}; --data names another", MessageOf(lock.status())),
                         net::kExitData);
  options.state_file = data + "/runner.json";

  net::Loop loop;
  int exit = net::kExitDone;
  options.refused = [&] {
    exit = net::kExitRefused;
    loop.Stop();
  };
  auto runner = runner::Runner::Create(loop, std::move(options));
  if (!runner.ok()) {
    const bool usage_fault = absl::IsInvalidArgument(runner.status());
    return net::Complain(kProgram.name, MessageOf(runner.status()),
                         usage_fault ? net::kExitUsage : net::kExitData);
  }
  net::Timer goodbye(loop);
  loop.OnSignals([&](int) {
    (*runner)->Stop();
    goodbye.At(net::ReadClocks().mono_ns + 200 * kMillisecond, [&] { loop.Stop(); });
  });
  (*runner)->Start();
  loop.Run();
  return exit;
}

}  // namespace

int main(int argc, char** argv) { return Run(argc, argv); }
