// The other process of process_test.cc.
//   history_writer append FOLDER ROUND   keeps messages until it is ended, and prints the id of each once it
//   is kept history_writer hold FOLDER           opens, prints "open", and ends when its input does
#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

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

int Append(Store& store, uint64_t round) {
  // Later rounds make later ids.
  UlidGenerator ids(round);
  for (;;) {
    const std::string id = ids.Next(static_cast<int64_t>(1'790'000'000'000 + round * 1000));
    Batch batch;
    if (!batch.Put(MessageOf(id)).ok() || !batch.Put(kKeptChannel, {"codex", "", id}).ok()) return 4;
    if (const absl::Status status = store.Commit(batch); !status.ok()) {
      fmt::print(stderr, "{}\n", status.ToString());
      return 5;
    }
    Say(id);
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
  return mode == "hold" ? Hold() : Append(**store, std::strtoull(argv[3], nullptr, 10));
}
