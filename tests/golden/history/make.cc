// Makes a database of the present format for history_test.cc, from messages as JSON, one a line:
//   make_golden_history tests/golden/history/v2.ndjson FOLDER
// Some of it is in tables and some in the log. A database that is checked in is never made again: it stands
// for all that were made before this library was changed.
#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "watchbill/base/json_text.hpp"
#include "watchbill/history/ledger.hpp"
#include "watchbill/history/retention.hpp"
#include "watchbill/history/search.hpp"
#include "watchbill/history/store.hpp"
#include "watchbill/history/trail.hpp"

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

// What format 2 brought: a ledger, a trail whose old end is gone, a channel that was deleted, and an index
// that has the messages of the first opening and not those of the second.
bool KeepBeside(const std::string& folder, bool first) {
  const auto store = Store::Open(folder);
  if (!store.ok()) return false;
  const char* const gone = "01ARYZ6S41TSV4RRFFQ69G5FAX";
  Batch batch;
  bool put = true;
  for (int64_t n = first ? 1 : 4; n <= (first ? 3 : 6); ++n) {
    const std::string name = fmt::format("policy {}", n);
    const std::string value = fmt::format(R"({{"id":{},"limit":{}.50}})", n, 10 * n);
    put = put && batch.Put(Collection::kPolicies, name, NewestFirst(n), JsonView::Trusted(value)).ok();
    TrailEntry entry;
    entry.at_ms = n;
    entry.who = "mia";
    entry.what = "changed";
    entry.about = name;
    entry.detail = JsonText::Trusted(value);
    put = put && AppendToTrail(batch, entry).ok();
  }
  if (first) {
    RunOutcome outcome;
    outcome.agent = "codex";
    outcome.run = "r1";
    outcome.started_ms = -5;
    outcome.ended_ms = 1'790'000'000'000;
    outcome.outcome = "done";
    outcome.ok = true;
    outcome.tokens = 812;
    outcome.cost = Amount{12'500'000'001};
    SpendingWindow window;
    window.scope = "team";
    window.source = "codex";
    window.start_ms = 1'790'000'000'000;
    window.length_ms = 86'400'000;
    for (int entry = 0; entry < 300; ++entry) window.Count(fmt::format("e{}", entry), 2, Amount{1});
    put = put && Put(batch, outcome).ok() && Put(batch, window).ok() &&
          batch.Put(Channel{gone, "gone", "", "", {}}).ok();
  } else {
    put = put && batch.Delete(Collection::kPolicies, "policy 2").ok();
  }
  if (!put || !(*store)->Commit(batch).ok()) return false;
  if (first) {
    Index index(**store);
    for (;;) {
      const auto step = index.Step(100, true);
      if (!step.ok()) return false;
      if (step->done) break;
    }
    return (*store)->DeleteChannel(gone, 100).ok();
  }
  const bool pruned = PruneTrail(**store, 4, 3, 100).ok();
  // Closing it would make a table of the log.
  std::_Exit(pruned ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: make_golden_history MESSAGES.ndjson FOLDER\n");
    return 2;
  }
  // Closing makes a table of what was kept; what the last opening keeps stays in the log.
  Keep(argv[2], argv[1], 0, 3) && KeepBeside(argv[2], true) && Keep(argv[2], argv[1], 3, 100) &&
      KeepBeside(argv[2], false);
  return 1;
}
