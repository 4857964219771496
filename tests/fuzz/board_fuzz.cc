// A board that is told lines of frames: an empty line is half a second, the length of a line says which
// socket.
#include <cstdint>
#include <string_view>

#include "translate.hpp"
#include "watchbill/board/board.hpp"
#include "watchbill/monitorproto/decoder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace watchbill;
  static monitorproto::Decoder decoder;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  Now now{1000 * kSecond, 1'790'000'000'000};
  board::BoardOptions options;
  options.here = "here";
  options.max_rows = 8;
  options.root_runs_per_agent = 4;
  options.runs_per_agent = 8;
  options.steps_per_run = 4;
  board::Board board(options, now);
  board::Actions actions;
  board.Apply(board::WatcherJoined{1}, now, actions);
  board.Apply(board::WatcherNamed{1, true}, now, actions);
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const board::ConnectionId connection = 1 + line.size() % 5;
    if (line.empty()) {
      now.mono_ns += kSecond / 2;
      now.wall_ms += 500;
      board.Tick(now, actions);
      board.Apply(board::WatcherDrained{1}, now, actions);
    } else if (line == "close") {
      board.Apply(board::AgentClosed{connection}, now, actions);
    } else if (const auto agent = decoder.ReadAgent(line); agent.ok()) {
      board.Apply(monitor::EventFor(connection, *agent), now, actions);
    }
    if (const auto runner = decoder.ReadRunner(line); runner.ok()) {
      if (const auto event = monitor::EventFor(100 + connection, *runner)) board.Apply(*event, now, actions);
    }
    actions.clear();
  }
  (void)board.Frame(now);
  return 0;
}
