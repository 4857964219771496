#include <fmt/core.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "monitor.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/files.hpp"
#include "watchbill/net/log.hpp"
#include "watchbill/net/options.hpp"

namespace {

using namespace watchbill;

const net::ProgramSpec kProgram{
    "watchbill-monitor",
    "The board that agents, runners and servers dial into, with its page.",
    "watchbill-monitor [options]",
    {
        {"host", "ADDRESS",
         "the address to listen on (default 127.0.0.1);\nany other than this machine's own needs a token",
         false},
        {"port", "PORT", "the port (default 5180); 0 takes any that is free", false},
        {"name", "NAME", "a name by which this server is reached, beside its addresses;\nrepeat it for more",
         true},
        {"data", "DIR",
         "where agents.json is kept\n(default: $XDG_DATA_HOME/watchbill or ~/.local/share/watchbill)", false},
        {"token-file", "FILE",
         "a file whose first line agents, runners and browsers must show\n(or MONITOR_TOKEN)", false},
        {"token", "TOKEN", "the same, seen by whoever lists the processes: better the file", false},
        {"machine", "NAME", "this machine's name on the board (default: its host name)", false},
        {"no-runner", "", "do not bring up a runner for this machine", false},
    },
    "The first line on standard output is \"listening on http://HOST:PORT/\", once it is.\n"
    "It ends on SIGINT or SIGTERM; agents go on, and come back by themselves when it does."};

// Ten thousand agents are ten thousand descriptors.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int ExitFor(const absl::Status& status) {
  if (absl::IsUnavailable(status)) return net::kExitAddress;
  if (absl::IsInvalidArgument(status)) return net::kExitUsage;
  if (absl::IsUnauthenticated(status)) return net::kExitRefused;
  return net::kExitData;
}

int Run(int argc, char** argv) {
  const net::Parsed parsed = net::ParseOrExplain(kProgram, argc, argv);
  if (parsed.exit) return *parsed.exit;
  const net::Options& given = parsed.options;
  const auto complain = [](std::string_view what, int code) {
    return net::Complain(kProgram.name, what, code);
  };

  monitor::MonitorOptions options;
  options.host = given.value("host").value_or("127.0.0.1");
  const auto port = given.number("port", 5180, 0, 65535);
  if (!port.ok()) return complain(MessageOf(port.status()), net::kExitUsage);
  options.port = static_cast<uint16_t>(*port);
  options.names = given.values("name");
  options.runner = !given.has("no-runner");
  options.machine = given.value("machine").value_or(net::HostName());
  if (const char* token = std::getenv("MONITOR_TOKEN")) options.token = token;
  if (const auto token = given.value("token")) {
    net::Log(net::LogLevel::kWarn,
             "a token on the command line is seen by whoever lists the processes: --token-file keeps it");
    options.token = *token;
  }
  if (const auto file = given.value("token-file")) {
    const auto secret = net::ReadSecret(*file);
    if (!secret.ok()) return complain(MessageOf(secret.status()), net::kExitData);
    options.token = *secret;
  }
  options.data = given.value("data").value_or(net::DefaultDataFolder());
  if (const absl::Status status = net::EnsureFolder(options.data); !status.ok()) {
    return complain(fmt::format("{}; --data names another", MessageOf(status)), net::kExitData);
  }

  RaiseDescriptorLimit();
  net::Loop loop;
  auto made = monitor::Monitor::Create(loop, std::move(options));
  if (!made.ok()) {
    return complain(MessageOf(made.status()), ExitFor(made.status()));
  }
  bool asked = false;
  // Before it says that it listens: who reads that may end it the next moment.
  loop.OnSignals([&](int) {
    if (std::exchange(asked, true)) std::_Exit(net::kExitFailed);  // twice: at once
    (*made)->Stop([&] { loop.Stop(); });
  });
  fmt::print("listening on {}\n", (*made)->url());
  std::fflush(stdout);
  loop.Run();
  return net::kExitDone;
}

}  // namespace

int main(int argc, char** argv) { return Run(argc, argv); }
