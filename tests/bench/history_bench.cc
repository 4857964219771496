// What keeping, reading and finding conversations costs, beside the bare system calls for the same bytes and
// beside SQLite for the same messages, on the same disk. Wall time; medians of interleaved rounds.
#include <fcntl.h>
#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#ifdef WATCHBILL_SQLITE
#include "history_sqlite.hpp"
#endif
#include "watchbill/base/ulid.hpp"
#include "watchbill/history/search.hpp"
#include "watchbill/history/store.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::history;

constexpr const char* kLong = "01ARYZ6S41TSV4RRFFQ69G5FAV";
constexpr const char* kOther = "01ARYZ6S41TSV4RRFFQ69G5FAW";
constexpr size_t kTogether = 100;  // messages of one commit, as a busy loop makes them
constexpr int64_t kFirstMs = 1'790'000'000'000;

double Microseconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

struct Samples {
  std::vector<double> us;
  template <typename Work>
  void Time(Work work) {
    const double before = Microseconds();
    work();
    us.push_back(Microseconds() - before);
  }
  double Median() {
    std::sort(us.begin(), us.end());
    return us[us.size() / 2];
  }
  void Print(const char* what) {
    const double median = Median();
    fmt::print("  {:52} {:10.1f} us   p99 {:10.1f} us\n", what, median, us[us.size() * 99 / 100]);
  }
};

void Must(bool ok, const char* what) {
  if (ok) return;
  fmt::print(stderr, "bench_history: {} failed\n", what);
  std::exit(1);
}

// Words as people use them: few of them often, many of them seldom. The same for the same number.
std::string WordsOf(uint64_t n, size_t bytes) {
  uint64_t state = n * 0x9E3779B97F4A7C15 + 1;
  std::string text;
  while (text.size() < bytes) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const uint64_t random = state >> 33;
    // About one in two is among the first hundred, and the last ones are of 50,000.
    const uint64_t range = random % 2 == 0 ? 100 : random % 16 == 1 ? 50'000 : 5'000;
    uint64_t word = (random >> 8) % range + 7;
    for (; word > 0; word /= 13) text.push_back("aeioulnrstmkp"[word % 13]);
    text.push_back(' ');
  }
  return text;
}

int64_t TimeOf(uint64_t n) { return kFirstMs + static_cast<int64_t>(n) * 60'000; }

Message Answer(const std::string& channel, const std::string& id, uint64_t n) {
  Message message;
  message.id = id;
  message.channel = channel;
  message.created_ms = TimeOf(n);
  message.agent = "codex";
  message.role = Role::kAgent;
  std::string text = WordsOf(n, 340);
  if (n % 10'000 == 77) text += "zeppelin";
  message.parts.push_back(TextPart{std::move(text)});
  message.stop_reason = "end_turn";
  return message;
}

std::string JsonOf(const Message& message) {
  std::string text;
  JsonWriter w(text);
  Write(w, message);
  return text;
}

std::string IdOf(UlidGenerator& ids, size_t n) { return ids.Next(TimeOf(n)); }

// Messages a second, all of them on the disk; `index`: and in the index.
double Fill(Store& store, Index* index, size_t rows) {
  UlidGenerator ids(1);
  std::vector<Message> messages;
  double us = 0;
  for (size_t n = 0; n < rows;) {
    messages.clear();
    for (size_t i = 0; i < kTogether && n < rows; ++i, ++n)
      messages.push_back(Answer(kLong, IdOf(ids, n), n));
    const double before = Microseconds();
    Batch batch;
    for (const Message& message : messages) Must(batch.Put(message).ok(), "Put");
    Must(store.Commit(batch).ok(), "Commit");
    if (index != nullptr) Must(index->Step().ok(), "Step");
    us += Microseconds() - before;
  }
  return static_cast<double>(rows) * 1e6 / us;
}

#ifdef WATCHBILL_SQLITE
double Fill(bench::Sqlite& sqlite, size_t rows) {
  UlidGenerator ids(1);
  double us = 0;
  for (size_t n = 0; n < rows;) {
    std::vector<Message> messages;
    for (size_t i = 0; i < kTogether && n < rows; ++i, ++n)
      messages.push_back(Answer(kLong, IdOf(ids, n), n));
    const double before = Microseconds();
    sqlite.Begin();
    for (const Message& message : messages)
      sqlite.Put(kLong, message.id, JsonOf(message), std::get<TextPart>(message.parts[0]).text);
    sqlite.Commit();
    us += Microseconds() - before;
  }
  return static_cast<double>(rows) * 1e6 / us;
}
#endif

// Of this process, what is not a file's: tables that LevelDB maps can be had again from the disk.
double OwnMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::strtod(line.c_str() + 8, nullptr) / 1024;
  }
  return 0;
}

std::unique_ptr<Store> Opened(const std::string& folder) {
  auto store = Store::Open(folder);
  Must(store.ok(), "opening");
  return *std::move(store);
}

void AppendsAndPages(const std::string& folder, size_t rows) {
  std::mt19937_64 random(7);
  const std::unique_ptr<Store> store = Opened(folder + "/db");
  const int raw = ::open((folder + "/raw").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  Must(raw >= 0, "opening a file");
#ifdef WATCHBILL_SQLITE
  bench::Sqlite sqlite(folder + "/plain.sqlite", false);
  Samples sqlite_kept, sqlite_last;
#endif
  Samples kept, bare, last;
  // Others each time, also in a folder that has those of an earlier run.
  UlidGenerator ids(static_cast<uint64_t>(Microseconds()));
  for (size_t round = 0; round < 5000; ++round) {
    const Message message = Answer(kOther, IdOf(ids, round), round);
    const std::string text = JsonOf(message);
    const std::function<void()> turns[] = {
        [&] {
          kept.Time([&] {
            Batch batch;
            Must(batch.Put(message).ok() && store->Commit(batch).ok(), "Commit");
          });
        },
        [&] {
          bare.Time([&] {
            Must(::write(raw, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                     ::fdatasync(raw) == 0,
                 "write");
          });
        },
        [&] {
          last.Time([&] {
            const auto page = store->Last(kLong, 100);
            Must(page.ok() && page->messages.size() == std::min<size_t>(100, rows), "Last");
          });
        },
#ifdef WATCHBILL_SQLITE
        [&] {
          sqlite_kept.Time([&] {
            sqlite.Begin();
            sqlite.Put(kOther, message.id, JsonOf(message), {});
            sqlite.Commit();
          });
        },
        [&] {
          sqlite_last.Time([&] {
            std::vector<Message> page;
            page.reserve(100);
            for (const std::string& json : sqlite.Last(kLong, 100)) {
              auto read = ReadMessage(json);
              Must(read.ok(), "ReadMessage");
              page.push_back(*std::move(read));
            }
            Must(page.size() == std::min<size_t>(100, rows), "Last");
          });
        },
#endif
    };
    // What runs behind another finds the disk and the caches as that one left them: in an order of its own
    // each round.
    const size_t count = std::size(turns);
    size_t order[std::size(turns)];
    std::iota(order, order + count, size_t{0});
    std::shuffle(order, order + count, random);
    for (const size_t turn : order) turns[turn]();
  }
  ::close(raw);
  const double ratio = kept.Median() / bare.Median();
  kept.Print("one message, synced:");
  bare.Print("  raw write and fdatasync of the same bytes:");
  fmt::print("  {:52} {:10.2f} times\n", "  so that it takes", ratio);
#ifdef WATCHBILL_SQLITE
  sqlite_kept.Print("  SQLite:");
#endif
  last.Print("the last 100, read into messages:");
#ifdef WATCHBILL_SQLITE
  sqlite_last.Print("  SQLite:");
#endif
}

void Searches(const std::string& folder) {
  const std::unique_ptr<Store> store = Opened(folder + "/indexed");
  const Search search(*store);
#ifdef WATCHBILL_SQLITE
  bench::Sqlite sqlite(folder + "/words.sqlite", true);
#endif
  const std::string common = WordsOf(3, 1).substr(0, WordsOf(3, 1).find(' '));
  struct Case {
    const char* what;
    std::string words;
    std::string fts;
  };
  const Case cases[] = {{"a word that is rare", "zeppelin ", "zeppelin"},
                        {"a word that is everywhere", common + " ", common},
                        {"both", common + " zeppelin ", common + " zeppelin"},
                        {"the beginning of a rare one", "zeppe", "zeppe*"}};
  for (const Case& one : cases) {
    SearchQuery query;
    query.text = one.words;
    Samples ours;
    size_t hits = 0;
    for (int round = 0; round < 30; ++round) {
      ours.Time([&] {
        const auto page = search.Find(query);
        Must(page.ok(), "searching");
        hits = page->hits.size();
      });
    }
    ours.Print(fmt::format("first page, {} ({} hits):", one.what, hits).c_str());
#ifdef WATCHBILL_SQLITE
    Samples theirs;
    for (int round = 0; round < 10; ++round) theirs.Time([&] { hits = sqlite.Search(one.fts); });
    theirs.Print(fmt::format("  SQLite's FTS5, newest first ({} hits):", hits).c_str());
#endif
  }
}

// A folder where the disk is: a temporary one is often in memory.
std::string NewFolder() {
  std::string folder = (std::filesystem::current_path() / "watchbill-bench-XXXXXX").string();
  Must(mkdtemp(folder.data()) != nullptr, "making a folder");
  return folder;
}

void FillAll(const std::string& folder, size_t rows) {
  const double plain = Fill(*Opened(folder + "/db"), nullptr, rows);
  fmt::print("  {:52} {:10.0f} messages a second\n", "kept, without the index:", plain);
#ifdef WATCHBILL_SQLITE
  {
    bench::Sqlite sqlite(folder + "/plain.sqlite", false);
    fmt::print("  {:52} {:10.0f} messages a second\n", "  SQLite, WAL, FULL:", Fill(sqlite, rows));
  }
#endif
  {
    const std::unique_ptr<Store> store = Opened(folder + "/indexed");
    Index index(*store);
    fmt::print("  {:52} {:10.0f} messages a second\n", "kept, with the index:", Fill(*store, &index, rows));
  }
#ifdef WATCHBILL_SQLITE
  {
    bench::Sqlite sqlite(folder + "/words.sqlite", true);
    fmt::print("  {:52} {:10.0f} messages a second\n", "  SQLite with FTS5:", Fill(sqlite, rows));
  }
#endif
}

}  // namespace

int main(int argc, char** argv) {
  const size_t rows = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000;
  if (rows == 0 || argc > 3) {
    fmt::print(
        stderr,
        "usage: bench_history [MESSAGES [FOLDER]]\n"
        "FOLDER stays, and is taken as it is once it has been filled: only then the memory is told.\n");
    return 2;
  }
  const std::string folder = argc > 2 ? argv[2] : NewFolder();
  if (argc > 2 && std::filesystem::exists(folder + "/filled")) {
    // Only here is nothing in memory yet.
    const double before = OwnMegabytes();
    const std::unique_ptr<Store> store = Opened(folder + "/indexed");
    const double opened = OwnMegabytes();
    const auto page = store->Last(kLong, 100);
    const auto found = Search(*store).Find({.text = "zeppelin ", .channel = {}, .limit = 20, .after = {}});
    Must(page.ok() && found.ok(), "reading");
    fmt::print(
        "memory of an opened history: {:.1f} MB; with a page and a search, {} MB of cache among it: {:.1f} "
        "MB\n",
        opened - before, EngineOptions().cache_bytes >> 20, OwnMegabytes() - before);
  }
  UlidGenerator ids(1);
  fmt::print("{} messages of {} bytes of JSON, {} a commit, each commit synced; wall time\n", rows,
             JsonOf(Answer(kLong, IdOf(ids, 0), 0)).size(), kTogether);
  if (!std::filesystem::exists(folder + "/filled")) {
    std::filesystem::create_directories(folder);
    FillAll(folder, rows);
    std::filesystem::create_directory(folder + "/filled");
  }
  AppendsAndPages(folder, rows);
  Searches(folder);
  Samples open, close;
  for (int round = 0; round < 15; ++round) {
    std::unique_ptr<Store> store;
    open.Time([&] { store = Opened(folder + "/db"); });
    close.Time([&] { store.reset(); });
  }
  open.Print("opening:");
  close.Print("closing:");
  if (argc <= 2) std::filesystem::remove_all(folder);
  return 0;
}
