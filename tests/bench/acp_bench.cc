// How much work a CPU second of our client of ACP does, beside the client of the TypeScript SDK: the same
// agent writes the same turn to each through a pipe. Medians of interleaved rounds; CPU time of the reader
// over the second half of the turn, so that neither pays for its start: the SDK is at its best after some
// hundred thousand updates.
#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "acp_bench.hpp"

namespace {

using namespace watchbill::bench;

constexpr int kPipeBytes = 1 << 20;
// A round takes seconds; this is for one that hangs.
constexpr int kPatienceMs = 600'000;

[[noreturn]] void Fail(const std::string& why) {
  fmt::print(stderr, "bench_acp: {}\n", why);
  std::exit(1);
}

struct Pipe {
  int read_end = -1, write_end = -1;
  void CloseBoth() {
    ::close(read_end);
    ::close(write_end);
  }
};
Pipe MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) Fail("there is no pipe to be had");
  // As large for the one reader as for the other, however large that turns out to be.
  ::fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);
  return {ends[0], ends[1]};
}

pid_t Start(std::vector<std::string> command, int input, int output, int error) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) Fail(fmt::format("{} could not be started", command[0]));
  return pid;
}

// Everything that comes until the other end closes; nothing where that takes too long.
std::optional<std::string> ReadToEnd(int descriptor) {
  std::string all;
  for (;;) {
    pollfd wait{descriptor, POLLIN, 0};
    const int ready = ::poll(&wait, 1, kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    char piece[4096];
    const ssize_t n = ::read(descriptor, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return all;
    all.append(piece, static_cast<size_t>(n));
  }
}

// The numbers behind a name in one of the lines that the readers write.
std::vector<double> Numbers(std::string_view json, std::string_view name) {
  std::vector<double> out;
  const std::string key = fmt::format("\"{}\":", name);
  size_t at = json.find(key);
  if (at == std::string_view::npos) return out;
  at += key.size();
  if (at < json.size() && json[at] == '[') ++at;
  for (; at < json.size(); ++at) {
    double value = 0;
    const auto [end, error] = std::from_chars(json.data() + at, json.data() + json.size(), value);
    if (error != std::errc()) break;
    out.push_back(value);
    at = static_cast<size_t>(end - json.data());
    if (at >= json.size() || json[at] != ',') break;
  }
  return out;
}
double Number(std::string_view json, std::string_view name) {
  const std::vector<double> all = Numbers(json, name);
  if (all.empty()) Fail(fmt::format("a reader did not say its {}", name));
  return all.front();
}

// How many updates come before the clocks start.
uint64_t Warm(uint64_t updates) { return std::max<uint64_t>(1, updates / 2); }

struct Reader {
  std::string name;
  std::vector<std::string> command;
  uint64_t updates;
  bool utf16;  // its texts are counted as JavaScript does
  std::vector<double> per_wall = {}, per_cpu = {}, rss_kb = {};
  std::string last = {};  // what it said in the last round
};

void Round(Reader& reader, const std::string& self, const Lines& turn, bool show) {
  Pipe to_reader = MakePipe(), to_agent = MakePipe(), told = MakePipe();
  const pid_t agent = Start({self, "--generate", std::to_string(reader.updates)}, to_agent.read_end,
                            to_reader.write_end, STDERR_FILENO);
  const pid_t pid = Start(reader.command, to_reader.read_end, to_agent.write_end, told.write_end);
  to_reader.CloseBoth();
  to_agent.CloseBoth();
  ::close(told.write_end);
  const std::optional<std::string> said = ReadToEnd(told.read_end);
  ::close(told.read_end);
  if (!said) {
    ::kill(pid, SIGKILL);
    ::kill(agent, SIGKILL);
  }
  int status = 0, agent_status = 0;
  ::waitpid(pid, &status, 0);
  ::waitpid(agent, &agent_status, 0);
  if (!said) Fail(fmt::format("{} took too long", reader.name));
  if (status != 0 || !said->starts_with('{') || said->find('\n') != said->size() - 1)
    Fail(fmt::format("{} ended with status {} and did not only say what it saw:\n{}", reader.name, status,
                     *said));
  if (agent_status != 0) Fail(fmt::format("{} said something to the agent that is no request", reader.name));
  reader.last = *said;

  const Sums sent = turn.SumsOf(reader.updates);
  const auto seen = [&](std::string_view name) { return static_cast<uint64_t>(Number(*said, name)); };
  if (seen("updates") != sent.updates || seen("tokens") != sent.tokens ||
      seen("text") != (reader.utf16 ? sent.text_units : sent.text_bytes)) {
    Fail(fmt::format("{} did not see all that was sent ({} updates): {}", reader.name, sent.updates, *said));
  }
  const auto count = static_cast<double>(sent.updates - Warm(sent.updates));
  reader.per_wall.push_back(count * 1e9 / Number(*said, "wallNs"));
  reader.per_cpu.push_back(count * 1e9 / Number(*said, "cpuNs"));
  reader.rss_kb.push_back(Number(*said, "maxRssKb"));
  if (show) fmt::print("  {:8} {}", reader.name, *said);
}

double Median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

void Print(const Reader& reader) {
  const auto [least, most] = std::minmax_element(reader.per_cpu.begin(), reader.per_cpu.end());
  fmt::print("  {:24} {:14.0f} {:14.0f}  {:24} {:10.1f}\n", reader.name, Median(reader.per_wall),
             Median(reader.per_cpu), fmt::format("({:.0f} to {:.0f})", *least, *most),
             Median(reader.rss_kb) / 1024);
}

void PrintAllocations(const Reader& ours) {
  const std::vector<double> kinds = Numbers(ours.last, "kinds"), made = Numbers(ours.last, "allocations");
  double counted = 0, all = Number(ours.last, "feedAllocations");
  fmt::print("allocations an update:");
  for (size_t i = 0; i < kKinds && i < kinds.size() && i < made.size(); ++i) {
    fmt::print("{} {} {:.2f}", i == 0 ? "" : ",", kKindNames[i], kinds[i] == 0 ? 0 : made[i] / kinds[i]);
    counted += kinds[i];
    all += made[i];
  }
  fmt::print("; taking the bytes in {:.5f}; in all {:.3f}\n",
             counted == 0 ? 0 : Number(ours.last, "feedAllocations") / counted,
             counted == 0 ? 0 : all / counted);
}

struct Options {
  size_t rounds = 5, clients = 200, buffer = kReadBytes;
  uint64_t updates = 2'000'000, sdk_updates = 400'000;
  bool show = false, sdk = true;
};

int Drive(const Options& options) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string scripts = WATCHBILL_BENCH_DIR;
  const Lines turn = MixedTurn();
  std::vector<Reader> readers;
  readers.push_back(
      {"libacp",
       {self, "--read", std::to_string(Warm(options.updates)), "--buffer", std::to_string(options.buffer)},
       options.updates,
       false});
  if (options.sdk) {
    if (!std::filesystem::exists(scripts + "/node_modules/@agentclientprotocol/sdk"))
      Fail("the SDK is not there: scripts/bench acp brings it (or leave it out with --without-sdk)");
    readers.push_back({"SDK 2.4.0",
                       {"node", scripts + "/sdk_reader.mjs", std::to_string(Warm(options.sdk_updates))},
                       options.sdk_updates,
                       true});
  }

  std::string load = "unknown";
  std::ifstream("/proc/loadavg") >> load;
  fmt::print(
      "{} processors, load {} at the start: where others work too, what counts is the CPU time\n"
      "{} rounds; {:.0f} bytes an update; {} updates a round to libacp, {} to the SDK; not counted: the "
      "first half of them\n",
      sysconf(_SC_NPROCESSORS_ONLN), load, options.rounds,
      static_cast<double>(turn.bytes.size()) / static_cast<double>(turn.ends.size()), options.updates,
      options.sdk ? options.sdk_updates : 0);
  std::fflush(stdout);
  for (size_t round = 0; round < options.rounds; ++round) {
    for (Reader& reader : readers) Round(reader, self, turn, options.show);
    std::fflush(stdout);
  }
  fmt::print("  {:24} {:>14} {:>14}  {:24} {:>10}\n", "updates a second, medians", "wall", "CPU",
             "(least to most)", "peak MiB");
  for (const Reader& reader : readers) Print(reader);
  if (options.sdk) {
    // Of each round, whose two halves the rest of the machine disturbs alike.
    const auto by_round = [](const std::vector<double>& ours, const std::vector<double>& theirs) {
      std::vector<double> out;
      for (size_t i = 0; i < ours.size(); ++i) out.push_back(ours[i] / theirs[i]);
      return out;
    };
    const std::vector<double> wall = by_round(readers[0].per_wall, readers[1].per_wall),
                              cpu = by_round(readers[0].per_cpu, readers[1].per_cpu);
    const auto [least, most] = std::minmax_element(cpu.begin(), cpu.end());
    fmt::print("  {:24} {:13.1f}x {:13.1f}x  {:24} {:9.2f}x\n", "libacp beside the SDK", Median(wall),
               Median(cpu), fmt::format("({:.1f}x to {:.1f}x)", *least, *most),
               Median(readers[0].rss_kb) / Median(readers[1].rss_kb));
  }
  PrintAllocations(readers[0]);
  std::fflush(stdout);
  // In a process of its own: what the turn above left would be counted as nobody's.
  const pid_t rest =
      Start({self, "--rest", std::to_string(options.clients), "--buffer", std::to_string(options.buffer)},
            STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO);
  int status = 0;
  ::waitpid(rest, &status, 0);
  return status == 0 ? 0 : 1;
}

constexpr const char* kHowTo =
    "usage: bench_acp [--updates N] [--sdk-updates N] [--repeat ROUNDS] [--rounds] [--without-sdk]\n"
    "                 [--buffer BYTES]\n"
    "       bench_acp --kinds | --rest CLIENTS | --generate N | --read WARM\n"
    "--rounds shows what each round gave, --kinds what an update of each kind costs without a pipe.\n";

}  // namespace

int main(int argc, char** argv) {
  Options options;
  enum class Mode { kDrive, kGenerate, kRead, kRest, kKinds } mode = Mode::kDrive;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto number = [&]() -> uint64_t {
      const uint64_t value = i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0;
      if (value > 0) return value;
      std::fputs(kHowTo, stderr);
      std::exit(2);
    };
    if (option == "--generate" || option == "--read") {
      mode = option == "--read" ? Mode::kRead : Mode::kGenerate;
      options.updates = number();
    } else if (option == "--rest") {
      mode = Mode::kRest;
      options.clients = number();
    } else if (option == "--kinds") {
      mode = Mode::kKinds;
    } else if (option == "--updates") {
      options.updates = number();
    } else if (option == "--sdk-updates") {
      options.sdk_updates = number();
    } else if (option == "--repeat") {
      options.rounds = number();
    } else if (option == "--buffer") {
      options.buffer = number();
    } else if (option == "--rounds") {
      options.show = true;
    } else if (option == "--without-sdk") {
      options.sdk = false;
    } else {
      const bool help = option == "--help" || option == "-h";
      std::fputs(kHowTo, help ? stdout : stderr);
      return help ? 0 : 2;
    }
  }
  switch (mode) {
    case Mode::kGenerate:
      return Generate(options.updates);
    case Mode::kRead:
      return Read(options.updates, options.buffer);
    case Mode::kRest:
      PrintRest(options.clients, options.buffer);
      return 0;
    case Mode::kKinds:
      PrintKinds();
      return 0;
    case Mode::kDrive:
      break;
  }
  return Drive(options);
}
