// What one changed row of ten thousand costs: to a watcher of rows, and to a watcher of whole boards, side by
// side. Also what it costs to take one frame of an agent. CPU time of this process; medians of interleaved
// rounds.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "translate.hpp"
#include "watchbill/board/board.hpp"
#include "watchbill/monitorproto/decoder.hpp"

namespace {

using namespace watchbill;

double CpuMicroseconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

struct Samples {
  std::vector<double> us;
  size_t bytes = 0;
  double Median() {
    std::sort(us.begin(), us.end());
    return us.empty() ? 0 : us[us.size() / 2];
  }
};

struct Bench {
  explicit Bench(size_t rows) : board(Options(rows), now) {
    for (size_t i = 0; i < rows; ++i) {
      const std::string id = fmt::format("{:08x}-0000-4000-8000-000000000000", i);
      const std::string name = fmt::format("Agent number {}", i),
                        cwd = fmt::format("/srv/agents/number-{}", i);
      Frame(
          i + 1,
          fmt::format(
              R"({{"type":"register","agent":{{"type":"agent","id":"{}","name":"{}","version":"0.21","inputs":[],"outputs":["headlines"],)"
              R"("pid":{},"port":{},"host":"host-{}","cwd":"{}","protocol":"0.19","capabilities":["runs","live-runs","delegation","health","pause"]}}}})",
              id, name, 1000 + i, 20000 + i % 40000, i % 40, cwd));
      Frame(i + 1, R"({"type":"run","phase":"enter","runId":"first","startedBy":"schedule"})");
      Frame(
          i + 1,
          R"({"type":"log","entry":{"id":1,"kind":"llm","name":"model","runId":"first","tokens":{"total":812}}})");
      Frame(i + 1,
            R"({"type":"run","phase":"exit","runId":"first","outcome":"done","ok":true,"durationMs":1840})");
    }
    Step();
    actions.clear();
  }

  static board::BoardOptions Options(size_t rows) {
    board::BoardOptions options;
    options.here = "host-0";
    options.max_rows = rows + 10;
    return options;
  }

  void Frame(uint64_t connection, const std::string& text) {
    const auto frame = decoder.ReadAgent(text);
    if (!frame.ok()) std::abort();
    board.Apply(monitor::EventFor(connection, *frame), now, actions);
  }
  // Past the pace of pushes, but short of anybody's ping.
  void Step() {
    now.mono_ns += 101 * kMillisecond;
    now.wall_ms += 101;
    board.Tick(now, actions);
  }
  void Watch(board::WatcherId watcher, bool rows) {
    board.Apply(board::WatcherJoined{watcher}, now, actions);
    board.Apply(board::WatcherDrained{watcher}, now, actions);
    if (rows) board.Apply(board::WatcherNamed{watcher, true}, now, actions);
    Step();
    board.Apply(board::WatcherDrained{watcher}, now, actions);
    actions.clear();
  }
  void Leave(board::WatcherId watcher) { board.Apply(board::WatcherLeft{watcher}, now, actions); }

  // One agent's run begins or ends: one row changes. What the push of it costs.
  void OneRow(size_t agent, bool begin, Samples& samples) {
    const std::string text =
        begin ? R"({"type":"run","phase":"enter","runId":"again"})"
              : R"({"type":"run","phase":"exit","runId":"again","outcome":"waiting: form"})";
    const auto frame = decoder.ReadAgent(text);
    const board::Event event = monitor::EventFor(agent + 1, *frame);
    now.mono_ns += 101 * kMillisecond;
    const double before = CpuMicroseconds();
    board.Apply(event, now, actions);
    samples.us.push_back(CpuMicroseconds() - before);
    for (const auto& action : actions) {
      if (const auto* push = std::get_if<board::Push>(&action))
        samples.bytes = std::max(samples.bytes, push->bytes->size());
    }
    actions.clear();
  }

  Now now{1000 * kSecond, 1'790'000'000'000};
  monitorproto::Decoder decoder;
  board::Board board;
  board::Actions actions;
};

}  // namespace

int main(int argc, char** argv) {
  const size_t rows = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10'000;
  if (rows == 0) {
    std::fputs("usage: bench_board [ROWS]\n", stderr);
    return 2;
  }
  const double t0 = CpuMicroseconds();
  Bench bench(rows);
  const double build = CpuMicroseconds() - t0;

  Samples by_rows, by_board;
  for (int round = 0; round < 15; ++round) {
    for (const bool with_rows : {true, false}) {
      bench.Watch(1, with_rows);
      for (int i = 0; i < 8; ++i) {
        // Never the same agent twice: a row that does not change is not pushed.
        const size_t agent =
            (static_cast<size_t>(round) * 7919 + static_cast<size_t>(i) + (with_rows ? 0 : rows / 2)) % rows;
        bench.OneRow(agent, i % 2 == 0, with_rows ? by_rows : by_board);
        bench.board.Apply(board::WatcherDrained{1}, bench.now, bench.actions);
      }
      bench.Leave(1);
      bench.actions.clear();
    }
  }

  Samples lines;
  bench.Watch(1, true);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = fmt::format(
        R"({{"at":"2026-10-01T18:12:02.000Z","type":"log","entry":{{"id":{},"kind":"llm","name":"gpt","at":"2026-10-01T18:12:02.000Z",)"
        R"("runId":"again","startedBy":"schedule","tokens":{{"input":120,"output":3,"total":123}},"cost":0.0021,"durationMs":840,"withheld":["request","reply"]}}}})",
        i + 10);
    const double before = CpuMicroseconds();
    bench.Frame(static_cast<uint64_t>(i) % rows + 1, text);
    lines.us.push_back(CpuMicroseconds() - before);
    bench.board.Apply(board::WatcherDrained{1}, bench.now, bench.actions);
    bench.actions.clear();
  }

  const double row_us = by_rows.Median(), board_us = by_board.Median();
  fmt::print("{} rows; CPU time, medians\n", rows);
  fmt::print("  one changed row, watcher of rows:          {:10.1f} us  {:10} bytes\n", row_us,
             by_rows.bytes);
  fmt::print("  one changed row, watcher of whole boards:  {:10.1f} us  {:10} bytes\n", board_us,
             by_board.bytes);
  fmt::print("  ratio:                                     {:10.0f} x   {:10.0f} x\n", board_us / row_us,
             static_cast<double>(by_board.bytes) / static_cast<double>(by_rows.bytes));
  fmt::print("  one log frame, read, counted, forwarded:   {:10.2f} us\n", lines.Median());
  fmt::print("  taking the fleet in, 4 frames an agent:    {:10.2f} us an agent\n",
             build / static_cast<double>(rows));
  return 0;
}
