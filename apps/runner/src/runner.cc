#include "runner.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "launch.hpp"
#include "started.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/monitorproto/decoder.hpp"
#include "watchbill/monitorproto/encode.hpp"
#include "watchbill/net/files.hpp"
#include "watchbill/net/log.hpp"
#include "watchbill/net/process.hpp"

namespace watchbill::runner {
namespace {

namespace mp = monitorproto;
namespace fs = std::filesystem;

// An agent that ends sooner than this was not started, whatever exec said.
constexpr int64_t kStartedAfterNs = 1 * kSecond;
constexpr int64_t kKillAfterNs = 5 * kSecond;
constexpr int64_t kEndsWithinNs = 2 * kSecond;
constexpr size_t kLogKeptBytes = 4 << 20;

// A folder under a name that no link or dot can hide.
absl::StatusOr<std::string> Resolve(std::string_view folder) {
  const fs::path given{std::string(folder)};
  if (!given.is_absolute()) {
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" is no absolute path: a runner has no folder of its own to start from.", folder));
  }
  std::error_code ec;
  const fs::path real = fs::canonical(given, ec);
  if (ec) return absl::NotFoundError(fmt::format("The folder {} cannot be used: {}.", folder, ec.message()));
  if (!fs::is_directory(real, ec)) return absl::InvalidArgumentError(fmt::format("{} is no folder.", folder));
  return real.string();
}

bool Within(const std::string& folder, const std::string& root) {
  if (root == "/") return true;
  return folder == root || (folder.starts_with(root) && folder[root.size()] == '/');
}

// The end of what an agent wrote, for whoever asks why it ended: its last lines, at most 600 bytes.
std::string LastWords(const std::string& output, size_t from) {
  const auto text = net::ReadFile(output, kLogKeptBytes * 2);
  if (!text.ok() || text->size() <= from) return {};
  std::string_view tail = std::string_view(*text).substr(from);
  if (tail.size() > 600) {
    tail = tail.substr(tail.size() - 600);
    tail = tail.substr(std::min(tail.size(), tail.find('\n') + 1));
  }
  while (tail.ends_with('\n') || tail.ends_with('\r')) tail.remove_suffix(1);
  return std::string(tail);
}

}  // namespace

struct Runner::Impl : std::enable_shared_from_this<Impl> {
  Impl(net::Loop& l, RunnerOptions o, StartedFile s)
      : loop(l), options(std::move(o)), started(std::move(s)) {}

  struct Process {
    StartedProcess id;
    std::unique_ptr<net::ProcessWatch> watch;
    std::unique_ptr<net::Timer> timer;
    std::string output;
    size_t output_from = 0;
    std::string start_ask;  // waits for "it did not end at once"
    std::string kill_ask;   // waits for its end
    std::string next_ask;   // waits for its end too, to start the folder again
    std::unique_ptr<net::Timer> next_timer;
  };

  void Watch(const std::string& folder, Process& process) {
    process.watch = std::make_unique<net::ProcessWatch>(loop, process.id.process,
                                                        [weak = weak_from_this(), folder](std::string how) {
                                                          if (const auto self = weak.lock())
                                                            self->Ended(folder, how);
                                                        });
  }

  void Ended(const std::string& folder, const std::string& how) {
    const auto it = processes.find(folder);
    if (it == processes.end()) return;
    net::Log(net::LogLevel::kInfo, "an agent has ended", {{"folder", folder}, {"how", how}});
    Process process = std::move(it->second);
    processes.erase(it);
    if (const absl::Status kept = started.Remove(folder); !kept.ok()) {
      net::Log(net::LogLevel::kError, "what was started cannot be kept", {{"why", MessageOf(kept)}});
    }
    if (!process.start_ask.empty()) {
      const std::string words = LastWords(process.output, process.output_from);
      Refuse(process.start_ask, "start",
             fmt::format("It ended at once ({}){}{}", how,
                         words.empty() ? ", and wrote nothing." : "; its last words: ", words));
    }
    if (!process.kill_ask.empty()) Agree(process.kill_ask, "kill", folder, process.id.process.pid);
    const std::string next = process.next_ask;
    // Its watch is what called here, and goes when that call is over.
    loop.Post([kept = std::make_shared<Process>(std::move(process))] {});
    if (!next.empty()) OnStart(mp::RunnerStart{next, folder});
  }

  void Agree(const std::string& ask, std::string_view of, std::string_view folder, pid_t pid) {
    std::string rest;
    JsonWriter(rest).Begin('{').Key("folder").String(folder).Key("pid").Int(pid).End('}');
    mp::Ok frame{ask, of, JsonView::Trusted(rest)};
    dial->Send(mp::Encode(frame, net::ReadClocks().wall_ms));
  }

  void Refuse(const std::string& ask, std::string_view of, std::string_view sentence) {
    net::Log(net::LogLevel::kWarn, "refused", {{"command", of}, {"why", sentence}});
    mp::Error frame{ask, of, sentence, {}};
    dial->Send(mp::Encode(frame, net::ReadClocks().wall_ms));
  }

  void OnStart(const mp::RunnerStart& f) {
    const std::string ask(f.ask);
    if (f.folder.empty()) return Refuse(ask, "start", "A start names a folder.");
    const auto folder = Resolve(f.folder);
    if (!folder.ok()) return Refuse(ask, "start", MessageOf(folder.status()));
    bool allowed = options.also_allowed && (options.also_allowed(f.folder) || options.also_allowed(*folder));
    for (const std::string& root : options.allowed) allowed = allowed || Within(*folder, root);
    if (!allowed) {
      return Refuse(ask, "start",
                    fmt::format("This runner may not start {}: put it on the board's list of the runner's "
                                "own machine, or start "
                                "the runner with --allow for a folder at or above it.",
                                *folder));
    }
    if (const auto it = processes.find(*folder); it != processes.end())
      return StartAfter(it->first, it->second, ask);
    const auto launch = ReadLaunch(*folder);
    if (!launch.ok()) return Refuse(ask, "start", MessageOf(launch.status()));
    if (const absl::Status status = Launched(*folder, *launch, ask); !status.ok())
      Refuse(ask, "start", MessageOf(status));
  }

  // An agent that has said goodbye takes a moment to end: who presses Run in it means the next one.
  void StartAfter(const std::string& folder, Process& process, const std::string& ask) {
    const auto refuse = [this, pid = process.id.process.pid](const std::string& late) {
      Refuse(late, "start", fmt::format("It runs already, as process {}.", pid));
    };
    if (!process.next_ask.empty()) return refuse(ask);
    process.next_ask = ask;
    process.next_timer = std::make_unique<net::Timer>(loop);
    process.next_timer->At(net::ReadClocks().mono_ns + kEndsWithinNs, [this, folder, refuse] {
      const auto it = processes.find(folder);
      if (it != processes.end()) refuse(std::exchange(it->second.next_ask, {}));
    });
  }

  absl::Status Launched(const std::string& folder, const Launch& launch, const std::string& ask) {
    const std::string own = folder + "/.watchbill";
    if (absl::Status status = net::EnsureFolder(own); !status.ok()) return status;
    Process process;
    process.output = own + "/out.log";
    struct stat info {};
    if (stat(process.output.c_str(), &info) == 0) {
      if (static_cast<size_t>(info.st_size) > kLogKeptBytes) {
        std::rename(process.output.c_str(), (process.output + ".1").c_str());
      } else {
        process.output_from = static_cast<size_t>(info.st_size);
      }
    }
    net::DetachedCommand command;
    command.command = launch.command;
    command.folder = folder;
    command.output = process.output;
    command.environment = net::CurrentEnvironment();
    for (const auto& [name, value] : launch.environment) command.environment[name] = value;
    // The folder's own word stands; what it leaves unset is filled in.
    command.environment.try_emplace("MONITOR_URL", options.monitor_url);
    if (!options.token.empty()) command.environment.try_emplace("MONITOR_TOKEN", options.token);
    const auto spawned = net::SpawnDetached(command);
    if (!spawned.ok()) return spawned.status();
    process.id = {*spawned, net::ReadClocks().wall_ms};
    process.start_ask = ask;
    // Kept before it is told: a runner that is killed now knows the agent again.
    if (absl::Status status = started.Put(folder, process.id); !status.ok()) {
      kill(-spawned->pid, SIGKILL);
      return status;
    }
    net::Log(net::LogLevel::kInfo, "an agent was started",
             {{"folder", folder}, {"pid", static_cast<int64_t>(spawned->pid)}});
    Process& kept = processes[folder] = std::move(process);
    mp::RunnerStarted told{folder, std::nullopt, false};
    dial->Send(mp::Encode(told, kept.id.at_wall_ms));
    kept.timer = std::make_unique<net::Timer>(loop);
    kept.timer->At(net::ReadClocks().mono_ns + kStartedAfterNs, [this, folder] {
      const auto it = processes.find(folder);
      if (it == processes.end()) return;
      Agree(std::exchange(it->second.start_ask, {}), "start", folder, it->second.id.process.pid);
    });
    Watch(folder, kept);
    return absl::OkStatus();
  }

  void OnKill(const mp::RunnerKill& f) {
    const std::string ask(f.ask);
    if (f.folder.empty()) return Refuse(ask, "kill", "A kill names a folder.");
    const auto folder = Resolve(f.folder);
    // A folder that was deleted under its agent is still the agent's.
    const std::string key = folder.ok() ? *folder : std::string(f.folder);
    const auto it = processes.find(key);
    if (it == processes.end())
      return Refuse(ask, "kill", "That agent is not connected, and no runner here started it.");
    Process& process = it->second;
    if (!process.kill_ask.empty()) return Refuse(ask, "kill", "It is being ended already.");
    process.kill_ask = ask;
    process.watch->SignalGroup(SIGTERM);
    process.timer = std::make_unique<net::Timer>(loop);
    process.timer->At(net::ReadClocks().mono_ns + kKillAfterNs, [this, key] {
      const auto late = processes.find(key);
      if (late != processes.end()) late->second.watch->SignalGroup(SIGKILL);
    });
  }

  void OnText(std::string_view text) {
    const auto command = decoder.ReadRunnerCommand(text);
    if (!command.ok()) {
      net::Log(net::LogLevel::kWarn, "a frame could not be read", {{"why", MessageOf(command.status())}});
      return;
    }
    if (const auto* start = std::get_if<mp::RunnerStart>(&*command)) {
      OnStart(*start);
    } else if (const auto* kill = std::get_if<mp::RunnerKill>(&*command)) {
      OnKill(*kill);
    } else if (const auto* unknown = std::get_if<mp::UnknownFrame>(&*command);
               unknown != nullptr && unknown->ask) {
      Refuse(std::string(*unknown->ask), unknown->type, fmt::format("no such command: {}", unknown->type));
    }
  }

  void OnOpened() {
    net::Log(net::LogLevel::kInfo, "connected to the monitor", {{"monitor", options.monitor_url}});
    complained = false;
    const int64_t now = net::ReadClocks().wall_ms;
    mp::RunnerRegister hello{options.name, static_cast<int64_t>(getpid()), std::nullopt};
    dial->Send(mp::Encode(hello, now));
    for (const auto& [folder, process] : processes) {
      mp::RunnerStarted told{folder, std::nullopt, true};
      dial->Send(mp::Encode(told, process.id.at_wall_ms));
    }
  }

  void OnFailed(std::string_view why, int status) {
    if (status == 401) {
      net::Log(
          net::LogLevel::kError,
          "the monitor refused the token: give the one it was started with, in MONITOR_TOKEN or --token-file",
          {{"monitor", options.monitor_url}});
      if (const auto refused = std::exchange(options.refused, nullptr)) refused();
    } else if (!complained) {
      net::Log(net::LogLevel::kWarn, "the monitor cannot be reached; trying again for ever",
               {{"monitor", options.monitor_url}, {"why", why}});
    }
    complained = true;
  }

  net::Loop& loop;
  RunnerOptions options;
  StartedFile started;
  std::map<std::string, Process> processes;
  mp::Decoder decoder;
  std::unique_ptr<net::DialLoop> dial;
  bool complained = false;
};

absl::StatusOr<std::unique_ptr<Runner>> Runner::Create(net::Loop& loop, RunnerOptions options) {
  for (std::string& root : options.allowed) {
    const auto resolved = Resolve(fs::absolute(root).string());
    if (!resolved.ok())
      return absl::InvalidArgumentError(fmt::format("--allow {}: {}", root, MessageOf(resolved.status())));
    root = *resolved;
  }
  auto started = StartedFile::Load(options.state_file);
  if (!started.ok()) return started.status();
  auto impl = std::make_shared<Impl>(loop, std::move(options), *std::move(started));
  for (const auto& [folder, id] : impl->started.folders()) {
    Impl::Process& process = impl->processes[folder];
    process.id = id;
    process.output = folder + "/.watchbill/out.log";
    impl->Watch(folder, process);
  }
  net::DialLoop::Events events;
  Impl* self = impl.get();
  events.opened = [self] { self->OnOpened(); };
  events.text = [self](std::string_view text) { self->OnText(text); };
  events.closed = [self](std::string_view why) {
    net::Log(net::LogLevel::kWarn, "the monitor is gone; trying again for ever",
             {{"monitor", self->options.monitor_url}, {"why", why}});
    self->complained = true;
  };
  events.failed = [self](std::string_view why, int status) { self->OnFailed(why, status); };
  net::DialLoop::Options dial;
  dial.to = impl->options.monitor;
  dial.path = "/runner";
  dial.token = impl->options.token;
  impl->dial = std::make_unique<net::DialLoop>(loop, std::move(dial), std::move(events));
  return std::unique_ptr<Runner>(new Runner(std::move(impl)));
}

Runner::Runner(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runner::~Runner() = default;
void Runner::Start() { impl_->dial->Start(); }
void Runner::Stop() { impl_->dial->Stop(); }

}  // namespace watchbill::runner
