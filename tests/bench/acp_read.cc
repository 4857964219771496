// Our reader of bench_acp: libacp's client on two pipes, or fed from memory.
#include <errno.h>
#include <fmt/core.h>
#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <string>

#include "acp_bench.hpp"
#include "watchbill/acp/client.hpp"

namespace {

// One thread, so they need no lock.
uint64_t allocations = 0, allocated_bytes = 0;

}  // namespace

// Every other form of new and delete comes down to these. Not inlined: gcc would take a pair of which it sees
// one half for a mismatch.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  allocated_bytes += bytes;
  if (void* block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace watchbill::bench {
namespace {

using acp::Client;

int64_t Clock(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}
int64_t CpuNs() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto ns = [](const timeval& t) { return t.tv_sec * kSecond + t.tv_usec * 1000; };
  return ns(use.ru_utime) + ns(use.ru_stime);
}
Now TimeNow() { return {Clock(CLOCK_MONOTONIC), Clock(CLOCK_REALTIME) / kMillisecond}; }

// The peak of this program alone; getrusage would begin with that of the one it was started from.
uint64_t PeakKb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}
uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}
uint64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// A client that opens one session, sends one prompt and looks at every update of the turn.
class Watcher {
 public:
  // Clocks and counts start once so many updates have come: buffers have found their size by then.
  explicit Watcher(uint64_t warm = 0) : warm_(warm) {
    Must(client_.Initialize({}, TimeNow()).ok(), "initialize was not taken");
  }

  Client& client() { return client_; }
  bool over() const { return over_; }

  // Once a session is open; the first prompt is sent as soon as that is so.
  void Prompt() {
    acp::PromptRequest request;
    request.session_id = kSession;
    request.prompt.emplace_back(acp::TextContent{"Go on.", {}, {}});
    Must(client_.Prompt(request).ok(), "session/prompt was not taken");
    over_ = false;
  }

  void Feed(std::string_view bytes) {
    const uint64_t before = allocations;
    client_.Feed(bytes);
    feeding += allocations - before;
    for (;;) {
      const uint64_t at = allocations;
      const auto event = client_.Next();
      if (!event) break;
      std::visit([&](const auto& e) { On(e, allocations - at); }, *event);
    }
  }

  Sums sums;
  std::array<uint64_t, kKinds> counted{}, allocated{};  // after the warm-up
  uint64_t feeding = 0;                                 // allocations of Feed
  int64_t wall_ns = 0, cpu_ns = 0;

 private:
  static void Must(bool ok, std::string_view what) {
    if (ok) return;
    fmt::print(stderr, "bench_acp: {}\n", what);
    std::exit(1);
  }

  void On(const acp::HandshakeDone&, uint64_t) {
    acp::NewSessionRequest request;
    request.cwd = "/srv/project";
    Must(client_.NewSession(request, TimeNow()).ok(), "session/new was not taken");
  }
  void On(const acp::SessionOpened& opened, uint64_t) {
    Must(opened.session == kSession, "the session has another name than it was given");
    Prompt();
  }
  void On(const acp::Updated& event, uint64_t allocations_here) {
    const Kind kind = std::visit([&](const auto& u) { return Look(u); }, event.update);
    if (++sums.updates == warm_) {
      feeding = 0;
      wall_begin_ = Clock(CLOCK_MONOTONIC);
      cpu_begin_ = CpuNs();
    }
    if (sums.updates <= warm_) return;
    ++counted[kind];
    allocated[kind] += allocations_here;
  }
  void On(const acp::PromptEnded& ended, uint64_t) {
    cpu_ns = CpuNs() - cpu_begin_;
    wall_ns = Clock(CLOCK_MONOTONIC) - wall_begin_;
    Must(ended.stop_reason == "end_turn", ended.failure);
    over_ = true;
  }
  void On(const acp::Skipped& skipped, uint64_t) { Must(false, skipped.why); }
  template <typename Other>
  void On(const Other&, uint64_t) {
    Must(false, "an event that this agent gives no reason for");
  }

  void Add(acp::Text text) { sums.text_bytes += text.size(); }
  void Add(const acp::OptText& text) { sums.text_bytes += text.value_or("").size(); }
  void Add(const acp::ContentBlock& block) { Add(acp::WordsOf(block)); }
  Kind Look(const acp::ContentChunk& chunk) {
    Add(chunk.content);
    return chunk.from == acp::ContentChunk::From::kThought ? kThought : kMessage;
  }
  Kind Look(const acp::ToolCallUpdate& tool) {
    if (tool.is_new) {
      Add(tool.title);
      if (tool.locations) {
        for (const acp::ToolCallLocation& location : *tool.locations) Add(location.path);
      }
      return kTool;
    }
    Add(tool.status);
    if (tool.content) {
      for (const acp::ToolCallContent& shown : *tool.content) {
        if (const auto* content = std::get_if<acp::Content>(&shown)) Add(content->content);
      }
    }
    return kToolUpdate;
  }
  Kind Look(const acp::Plan& plan) {
    for (const acp::PlanEntry& entry : plan.entries) Add(entry.content);
    return kPlan;
  }
  Kind Look(const acp::AvailableCommandsUpdate& commands) {
    for (const acp::AvailableCommand& command : commands.available_commands) {
      Add(command.name);
      Add(command.description);
    }
    return kCommands;
  }
  Kind Look(const acp::UsageUpdate& usage) {
    sums.tokens += usage.used + usage.size;
    return kUsage;
  }
  template <typename Other>
  Kind Look(const Other&) {
    Must(false, "an update that was not sent");
    return kMessage;
  }

  Client client_;
  uint64_t warm_;
  int64_t wall_begin_ = 0, cpu_begin_ = 0;
  bool over_ = false;
};

// Handshake, session and prompt, or a prompt alone, without a pipe; gives the answer that ends the turn.
std::string BeginTurn(Watcher& watcher) {
  if (watcher.over()) watcher.Prompt();
  for (;;) {
    const std::string line(watcher.client().Output());
    watcher.client().Consume(line.size());
    const Answer answer = AnswerTo(line);
    if (answer.prompt) return answer.line;
    watcher.Feed(answer.line);
  }
}

void FeedInPieces(Watcher& watcher, std::string_view bytes, size_t piece) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    watcher.Feed(bytes.substr(0, piece));
}

void PrintKind(std::string_view name, const Lines& lines) {
  static const Lines warm = MixedTurn();
  // The least of several: whatever else the machine does only adds.
  constexpr int kPasses = 20;
  int64_t least = std::numeric_limits<int64_t>::max();
  uint64_t made = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    // In its second turn a client has its buffers, and has not heard of these tool calls.
    Watcher watcher;
    const std::string end = BeginTurn(watcher);
    FeedInPieces(watcher, warm.bytes, kReadBytes);
    watcher.Feed(end);
    BeginTurn(watcher);
    const uint64_t before = allocations;
    const int64_t begin = Clock(CLOCK_PROCESS_CPUTIME_ID);
    FeedInPieces(watcher, lines.bytes, kReadBytes);
    least = std::min(least, Clock(CLOCK_PROCESS_CPUTIME_ID) - begin);
    made = allocations - before;
  }
  const auto count = static_cast<double>(lines.ends.size()), bytes = static_cast<double>(lines.bytes.size());
  fmt::print("  {:28} {:6.0f} {:8.0f} {:8.2f} {:8.0f} {:12.2f}\n", name, bytes / count,
             static_cast<double>(least) / count, static_cast<double>(least) / bytes,
             bytes * 1e3 / static_cast<double>(least), static_cast<double>(made) / count);
}

}  // namespace

int Read(uint64_t warm, size_t buffer_bytes) {
  Watcher watcher(warm);
  const auto buffer = std::make_unique<char[]>(buffer_bytes);
  while (!watcher.over()) {
    while (!watcher.client().Output().empty()) {
      const std::string_view output = watcher.client().Output();
      const ssize_t n = ::write(STDOUT_FILENO, output.data(), output.size());
      if (n < 0 && errno != EINTR) return 1;
      if (n > 0) watcher.client().Consume(static_cast<size_t>(n));
    }
    const ssize_t n = ::read(STDIN_FILENO, buffer.get(), buffer_bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      fmt::print(stderr, "bench_acp: the agent ended after {} updates\n", watcher.sums.updates);
      return 1;
    }
    watcher.Feed({buffer.get(), static_cast<size_t>(n)});
  }
  std::string kinds, allocated;
  for (size_t i = 0; i < kKinds; ++i) {
    kinds.append(fmt::format("{}{}", i == 0 ? "" : ",", watcher.counted[i]));
    allocated.append(fmt::format("{}{}", i == 0 ? "" : ",", watcher.allocated[i]));
  }
  fmt::print(
      stderr,
      R"({{"updates":{},"text":{},"tokens":{},"wallNs":{},"cpuNs":{},"maxRssKb":{},"feedAllocations":{},"kinds":[{}],"allocations":[{}]}})"
      "\n",
      watcher.sums.updates, watcher.sums.text_bytes, watcher.sums.tokens, watcher.wall_ns, watcher.cpu_ns,
      PeakKb(), watcher.feeding, kinds, allocated);
  return 0;
}

void PrintKinds() {
  fmt::print("our client fed from memory, CPU time, the least of 20 turns\n");
  fmt::print("  {:28} {:>6} {:>8} {:>8} {:>8} {:>12}\n", "", "bytes", "ns", "ns/byte", "MB/s", "allocations");
  for (size_t kind = 0; kind < kKinds; ++kind) PrintKind(kKindNames[kind], TurnOf(static_cast<Kind>(kind)));
  PrintKind("a turn of them all", MixedTurn());
}

void PrintRest(size_t clients, size_t buffer_bytes) {
  constexpr uint64_t kUpdates = 2000;
  const Lines turn = MixedTurn();
  const std::string_view bytes = std::string_view(turn.bytes).substr(0, turn.BytesOf(kUpdates));
  std::vector<std::unique_ptr<Watcher>> watchers(clients);
  const uint64_t heap = HeapBytes(), resident = ResidentBytes();
  for (auto& watcher : watchers) {
    watcher = std::make_unique<Watcher>();
    const std::string end = BeginTurn(*watcher);
    FeedInPieces(*watcher, bytes, buffer_bytes);
    watcher->Feed(end);
    if (!watcher->over()) std::abort();
  }
  const auto each = [&](uint64_t now, uint64_t before) {
    return static_cast<double>(now - before) / 1024 / static_cast<double>(clients);
  };
  fmt::print(
      "{} clients at rest, each after a turn of {} updates read {} KiB at a time: {:.1f} KiB of heap, {:.1f} "
      "KiB resident each\n",
      clients, kUpdates, buffer_bytes >> 10, each(HeapBytes(), heap), each(ResidentBytes(), resident));
}

}  // namespace watchbill::bench
