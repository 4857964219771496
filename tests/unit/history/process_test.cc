// Two processes and one history: the second is refused, and one that is killed loses nothing it was told was
// kept.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "history_fixture.hpp"
#include "kept_messages.hpp"
#include "seeded.hpp"
#include "temp_folder.hpp"
#include "watchbill/history/ledger.hpp"
#include "watchbill/history/trail.hpp"

namespace watchbill::history {
namespace {

class Writer {
 public:
  explicit Writer(std::vector<std::string> arguments) {
    int in[2], out[2];
    REQUIRE(pipe2(in, O_CLOEXEC) == 0);
    REQUIRE(pipe2(out, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    arguments.insert(arguments.begin(), WATCHBILL_HISTORY_WRITER);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int error = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    input_ = in[1];
    output_ = out[0];
    REQUIRE(error == 0);
  }
  ~Writer() {
    Kill();
    close(output_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  pid_t pid() const { return pid_; }
  // The next whole line; nothing once there are no more.
  std::string Line() {
    for (;;) {
      if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      char bytes[4096];
      const ssize_t n = read(output_, bytes, sizeof bytes);
      if (n <= 0) return {};
      buffer_.append(bytes, static_cast<size_t>(n));
    }
  }
  void Kill() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    Wait();
  }
  // Its exit code, or minus the signal that ended it.
  int Wait() {
    if (pid_ <= 0) return 0;
    if (input_ >= 0) close(input_);
    input_ = -1;
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  int input_ = -1, output_ = -1;
  std::string buffer_;
};

TEST_CASE("a history that another process has is refused with its pid, and can be had when it ends") {
  const TempFolder folder;
  const std::string path = folder.path + "/db";
  Writer other({"hold", path});
  REQUIRE(other.Line() == "open");
  for (int round = 0; round < 2; ++round) {
    const auto store = Store::Open(path);
    CHECK(store.status().code() == absl::StatusCode::kFailedPrecondition);
    CHECK(Says(store.status(), fmt::format("process {}", other.pid())));
    CHECK(Says(store.status(), path));
  }
  CHECK(other.Wait() == 0);
  const auto mine = MustOpen(path);
  // Being refused in this process twice took nothing away from it: the other is still kept out.
  CHECK(!Store::Open(path).ok());
  CHECK(!Store::Open(path + "/").ok());
  Writer again({"hold", path});
  CHECK(again.Line() == "");
  CHECK(again.Wait() == 1);
}

// WATCHBILL_KILLS in the environment asks for more than the usual ones.
size_t Kills() {
  const char* wanted = std::getenv("WATCHBILL_KILLS");
  return wanted == nullptr ? 40 : std::strtoul(wanted, nullptr, 10);
}

// What the writers said was kept, and what was found: by writer.
struct Account {
  std::set<std::string> said[kWriters];
  std::set<std::string> found[kWriters];

  void Hear(const std::string& line) {
    REQUIRE(line.size() > 2);
    said[line[0] - '0'].insert(line.substr(2));
  }
  size_t Said() const {
    size_t all = 0;
    for (const auto& ids : said) all += ids.size();
    return all;
  }
};

// Reads a channel from its end to what was found before, or to its beginning.
void Look(const Store& store, size_t writer, bool whole, std::set<std::string>& found) {
  const Ledger ledger(store);
  const std::string known = whole || found.empty() ? "" : *found.rbegin();
  auto page = store.Last(ChannelOf(writer), 100);
  for (;;) {
    REQUIRE(page.ok());
    REQUIRE(page->unreadable == 0);
    for (const Message& message : page->messages) {
      if (message.id <= known) continue;
      REQUIRE(message == MessageOf(writer, message.id));
      const auto record = ledger.Get(Collection::kOutcomes, message.id);
      REQUIRE(record.ok());
      REQUIRE(record->has_value());
      REQUIRE((*record)->value.text() == OutcomeOf(message.id));
      REQUIRE((*record)->order == ChannelOf(writer));
      found.insert(message.id);
    }
    if (!page->more || page->messages.front().id <= known) return;
    page = store.Before(ChannelOf(writer), page->messages.front().id, 100);
  }
}

TEST_CASE("what four writers said was kept is there whole after each kill, and nothing by half") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  MESSAGE("WATCHBILL_SEED=", seed);
  Seeded random(seed);
  const TempFolder folder;
  const std::string path = folder.path + "/db";
  Account account;
  const size_t kills = Kills();
  for (size_t round = 1; round <= kills; ++round) {
    CAPTURE(round);
    {
      Writer writer({"append", path, std::to_string(round)});
      // Sometimes while it opens, mostly at some message; and then at any moment within it.
      for (size_t left = random.Below(20); left > 0; --left) {
        const std::string line = writer.Line();
        REQUIRE(!line.empty());
        account.Hear(line);
      }
      usleep(static_cast<useconds_t>(random.Below(4'000)));
      writer.Kill();
      for (std::string line = writer.Line(); !line.empty(); line = writer.Line()) account.Hear(line);
    }
    const bool whole = round % 100 == 0 || round == kills;
    const auto store = MustOpen(path);
    size_t all = 0;
    for (size_t writer = 0; writer < kWriters; ++writer) {
      CAPTURE(writer);
      std::set<std::string>& found = account.found[writer];
      if (whole) found.clear();
      Look(*store, writer, whole, found);
      for (const std::string& id : account.said[writer]) REQUIRE_MESSAGE(found.contains(id), id);
      // At most one in each round was kept and not said.
      REQUIRE(found.size() <= account.said[writer].size() + round);
      // What was written together is there together.
      const auto members = store->Members(ChannelOf(writer));
      REQUIRE(members.ok());
      REQUIRE(members->size() == (found.empty() ? 0 : 1));
      if (!found.empty()) REQUIRE((*members)[0].last_seen == *found.rbegin());
      all += found.size();
    }
    const auto end = Trail(*store).End();
    REQUIRE(end.ok());
    REQUIRE(end->number == all);
    if (whole) {
      const auto verified = Trail(*store).Verify();
      REQUIRE(verified.ok());
      REQUIRE(!verified->fault);
    }
  }
  CHECK(account.Said() > kills);
}

}  // namespace
}  // namespace watchbill::history
