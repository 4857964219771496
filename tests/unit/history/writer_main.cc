// The other process of process_test.cc.
//   history_writer append FOLDER ROUND   four threads keep messages until it is ended, each in a channel of
//                                        its own, and print channel and id of each once it is kept
//   history_writer hold FOLDER           opens, prints "open", and ends when its input does
#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "kept_messages.hpp"
#include "watchbill/base/ulid.hpp"
#include "watchbill/history/store.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::history;

void Say(const std::string& line) {
  // Straight to the pipe: nothing that was said may be lost with the process.
  const std::string out = line + "\n";
  if (::write(STDOUT_FILENO, out.data(), out.size()) != static_cast<ssize_t>(out.size())) std::_Exit(3);
}

void Append(Store& store, size_t writer, uint64_t round) {
  // Later rounds make later ids.
  UlidGenerator ids(round * kWriters + writer);
  for (;;) {
    const std::string id = ids.Next(static_cast<int64_t>(1'790'000'000'000 + round * 1000));
    Batch batch;
    if (!FillBatch(batch, writer, id).ok()) std::_Exit(4);
    if (const absl::Status status = store.Commit(batch); !status.ok()) {
      fmt::print(stderr, "{}\n", status.ToString());
      std::_Exit(5);
    }
    Say(fmt::format("{} {}", writer, id));
  }
}

int Hold() {
  Say("open");
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 2 ? argv[1] : "";
  if (!(mode == "hold" && argc == 3) && !(mode == "append" && argc == 4)) {
    fmt::print(stderr, "usage: history_writer hold FOLDER | append FOLDER ROUND\n");
    return 2;
  }
  const auto store = Store::Open(argv[2]);
  if (!store.ok()) {
    fmt::print(stderr, "{}\n", store.status().ToString());
    return 1;
  }
  if (mode == "hold") return Hold();
  std::vector<std::thread> writers;
  for (size_t i = 0; i < kWriters; ++i)
    writers.emplace_back([&, i] { Append(**store, i, std::strtoull(argv[3], nullptr, 10)); });
  for (std::thread& writer : writers) writer.join();
}
