// Makes a database of the present format for history_test.cc, from messages as JSON, one a line:
//   make_golden_history tests/golden/history/v1.ndjson FOLDER
// Half of it is in a table and half in the log. A database that is checked in is never made again: it stands
// for all that were made before this library was changed.
#include <fmt/core.h>

#include <fstream>
#include <string>

#include "watchbill/base/json_text.hpp"
#include "watchbill/history/store.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::history;

// Keeps the lines from `from` to before `to`, and what is not messages.
bool Keep(const std::string& folder, const std::string& lines, size_t from, size_t to) {
  const auto store = Store::Open(folder);
  if (!store.ok()) {
    fmt::print(stderr, "{}\n", store.status().ToString());
    return false;
  }
  std::ifstream in(lines);
  std::string line;
  Batch batch;
  for (size_t n = 0; std::getline(in, line); ++n) {
    if (n < from || n >= to) continue;
    const auto message = ReadMessage(line);
    if (!message.ok() || !batch.Put(*message).ok()) {
      fmt::print(stderr, "{}: line {} is no message\n", lines, n + 1);
      return false;
    }
  }
  const char* const channel = "01ARYZ6S41TSV4RRFFQ69G5FAV";
  const bool put =
      batch.Put(Channel{channel, "ops", "what goes on", "", {"codex", "claude"}}).ok() &&
      batch.Put(Channel{"01ARYZ6S41TSV4RRFFQ69G5FAW", "", "", "codex", {"codex"}}).ok() &&
      batch.Put(channel, Member{"claude", "session-2", ""}).ok() &&
      batch.Put(channel, Member{"codex", "session-1", "01BX5ZZKBKACTAV9WEVGE00003"}).ok() &&
      batch.PutCommands("codex", JsonView::Trusted(R"([{"name":"plan","description":"Plan it","hint":""}])"))
          .ok();
  return put && (*store)->Commit(batch).ok();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: make_golden_history MESSAGES.ndjson FOLDER\n");
    return 2;
  }
  // The first opening leaves a log; the second makes a table of it.
  return Keep(argv[2], argv[1], 0, 3) && Keep(argv[2], argv[1], 3, 100) ? 0 : 1;
}
