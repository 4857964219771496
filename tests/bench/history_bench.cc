// What keeping and reading conversations costs: a message kept for certain, beside the bare system calls for
// the same bytes on the same disk; and the last page of a long conversation. Wall time; medians of
// interleaved rounds.
#include <fcntl.h>
#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "watchbill/base/ulid.hpp"
#include "watchbill/history/store.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::history;

constexpr const char* kLong = "01ARYZ6S41TSV4RRFFQ69G5FAV";
constexpr const char* kOther = "01ARYZ6S41TSV4RRFFQ69G5FAW";

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
  void Print(const char* what) {
    std::sort(us.begin(), us.end());
    fmt::print("  {:44} {:10.1f} us   p99 {:10.1f} us\n", what, us[us.size() / 2], us[us.size() * 99 / 100]);
  }
};

void Must(bool ok, const char* what) {
  if (ok) return;
  fmt::print(stderr, "bench_history: {} failed\n", what);
  std::exit(1);
}

Message Answer(const std::string& channel, const std::string& id) {
  Message message;
  message.id = id;
  message.channel = channel;
  message.created_ms = 1'790'000'000'000;
  message.agent = "codex";
  message.role = Role::kAgent;
  message.parts.push_back(TextPart{std::string(500, 'a')});
  message.stop_reason = "end_turn";
  return message;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t rows = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200'000;
  if (rows == 0) {
    fmt::print(stderr, "usage: bench_history [MESSAGES]\n");
    return 2;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "watchbill-bench-XXXXXX").string();
  Must(mkdtemp(folder.data()) != nullptr, "making a folder");
  {
    auto opened = Store::Open(folder + "/db");
    Must(opened.ok(), "opening");
    Store& store = **opened;
    UlidGenerator ids(1);
    size_t bytes = 0;
    const double t0 = Microseconds();
    for (size_t n = 0; n < rows;) {
      Batch batch;
      for (size_t i = 0; i < 1000 && n < rows; ++i, ++n)
        Must(batch.Put(Answer(kLong, ids.Next(static_cast<int64_t>(1'790'000'000'000 + n)))).ok(), "Put");
      Must(store.Commit(batch).ok(), "Commit");
    }
    const double fill = Microseconds() - t0;

    const int raw = ::open((folder + "/raw").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    Must(raw >= 0, "opening a file");
    Samples kept, bare, last;
    for (int round = 0; round < 1000; ++round) {
      const Message message = Answer(kOther, ids.Next(1'790'000'900'000));
      std::string text;
      JsonWriter w(text);
      Write(w, message);
      bytes = text.size();
      kept.Time([&] {
        Batch batch;
        Must(batch.Put(message).ok() && store.Commit(batch).ok(), "Commit");
      });
      bare.Time([&] {
        Must(::write(raw, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                 ::fdatasync(raw) == 0,
             "write");
      });
      last.Time([&] {
        const auto page = store.Last(kLong, 100);
        Must(page.ok() && page->messages.size() == std::min<size_t>(100, rows), "Last");
      });
    }
    ::close(raw);
    fmt::print("{} messages of {} bytes of JSON; wall time, medians\n", rows, bytes);
    kept.Print("append synced:");
    bare.Print("raw write and fdatasync of the same bytes:");
    last.Print("last 100, read into messages:");
    fmt::print("  {:44} {:10.2f} us a message, a thousand a commit\n",
               "keeping them all:", fill / static_cast<double>(rows));
  }
  Samples open;
  for (int round = 0; round < 15; ++round)
    open.Time([&] { Must(Store::Open(folder + "/db").ok(), "opening"); });
  open.Print("opening, and closing:");
  std::filesystem::remove_all(folder);
  return 0;
}
