// Two processes and one history: the second is refused, and one that is killed loses nothing it was told was
// kept.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "history_fixture.hpp"
#include "kept_messages.hpp"
#include "seeded.hpp"
#include "temp_folder.hpp"

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

TEST_CASE("what was said to be kept is there whole after each of thirty kills") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  MESSAGE("WATCHBILL_SEED=", seed);
  Seeded random(seed);
  const TempFolder folder;
  const std::string path = folder.path + "/db";
  std::set<std::string> said;
  for (size_t round = 1; round <= 30; ++round) {
    CAPTURE(round);
    {
      Writer writer({"append", path, std::to_string(round)});
      // Sometimes while it opens, mostly at some message; and then at any moment within it.
      for (size_t left = random.Below(20); left > 0; --left) {
        const std::string id = writer.Line();
        REQUIRE(!id.empty());
        said.insert(id);
      }
      usleep(static_cast<useconds_t>(random.Below(4'000)));
      writer.Kill();
      for (std::string id = writer.Line(); !id.empty(); id = writer.Line()) said.insert(id);
    }
    const auto store = MustOpen(path);
    std::set<std::string> found;
    std::string newest;
    auto page = store->Last(kKeptChannel, 100);
    for (;;) {
      REQUIRE(page.ok());
      REQUIRE(page->unreadable == 0);
      for (const Message& message : page->messages) {
        REQUIRE(message == MessageOf(message.id));
        found.insert(message.id);
        newest = std::max(newest, message.id);
      }
      if (!page->more) break;
      page = store->Before(kKeptChannel, page->messages.front().id, 100);
    }
    for (const std::string& id : said) REQUIRE_MESSAGE(found.contains(id), id);
    // At most one in each round was kept and not said.
    REQUIRE(found.size() <= said.size() + round);
    // What was written together is there together.
    const auto members = store->Members(kKeptChannel);
    REQUIRE(members.ok());
    if (!found.empty()) {
      REQUIRE(members->size() == 1);
      REQUIRE((*members)[0].last_seen == newest);
    }
  }
  CHECK(said.size() > 50);
}

}  // namespace
}  // namespace watchbill::history
