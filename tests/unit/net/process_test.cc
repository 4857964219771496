#include "watchbill/net/process.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "temp_folder.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/files.hpp"

namespace watchbill::net {
namespace {

using Folder = TempFolder;

DetachedCommand Shell(const Folder& folder, const std::string& script) {
  DetachedCommand command;
  command.command = {"sh", "-c", script};
  command.folder = folder.path;
  command.output = folder.path + "/out";
  command.environment = CurrentEnvironment();
  command.environment["GIVEN"] = "yes";
  return command;
}

TEST_CASE("a process is known by its pid and when it started") {
  const auto self = IdentifyProcess(getpid());
  REQUIRE(self.has_value());
  CHECK(StillRuns(*self));
  ProcessId other = *self;
  other.started += 1;
  CHECK_FALSE(StillRuns(other));
  other = *self;
  other.boot = "another";
  CHECK_FALSE(StillRuns(other));
  CHECK_FALSE(IdentifyProcess(0x7ffffff0).has_value());
}

TEST_CASE("a child has its folder, its variables, a session of its own, and no descriptor of ours") {
  const Folder folder;
  Loop loop;
  const auto child = SpawnDetached(
      Shell(folder, "pwd; echo $GIVEN; ls /proc/self/fd; ps -o sid= -p $$ | tr -d ' '; echo $$; exit 3"));
  REQUIRE(child.ok());
  std::string how;
  ProcessWatch watch(loop, *child, [&](std::string ended) {
    how = std::move(ended);
    loop.Stop();
  });
  loop.Run();
  CHECK(how == "exit code 3");
  const std::string pid = std::to_string(child->pid);
  // 3 is the folder that ls reads.
  CHECK(*ReadFile(folder.path + "/out") == folder.path + "\nyes\n0\n1\n2\n3\n" + pid + "\n" + pid + "\n");
}

TEST_CASE("a signal reaches the whole group, and the end says which") {
  const Folder folder;
  Loop loop;
  const auto child = SpawnDetached(Shell(folder, "sleep 100 & echo $! > grandchild; wait"));
  REQUIRE(child.ok());
  std::string how;
  ProcessWatch watch(loop, *child, [&](std::string ended) {
    how = std::move(ended);
    loop.Stop();
  });
  Timer timer(loop);
  std::function<void()> poll = [&] {
    if (FileVersion(folder.path + "/grandchild") != 0 && ReadFile(folder.path + "/grandchild")->size() > 1) {
      watch.SignalGroup(SIGTERM);
    } else {
      timer.At(ReadClocks().mono_ns + 10 * kMillisecond, poll);
    }
  };
  poll();
  loop.Run();
  CHECK(how.starts_with("signal 15"));
  const pid_t grandchild = static_cast<pid_t>(std::stol(*ReadFile(folder.path + "/grandchild")));
  for (int i = 0; i < 6'000 && IdentifyProcess(grandchild); ++i) usleep(10'000);
  CHECK_FALSE(IdentifyProcess(grandchild).has_value());
}

TEST_CASE("what cannot be started is said at once, by name") {
  const Folder folder;
  DetachedCommand command = Shell(folder, "");
  command.command = {"no-such-program-at-all"};
  const auto missing = SpawnDetached(command);
  CHECK(missing.status().code() == absl::StatusCode::kNotFound);
  CHECK(MessageOf(missing.status()).find("no-such-program-at-all") != std::string_view::npos);
  REQUIRE(ReplaceFile(folder.path + "/plain", "x").ok());
  command.command = {"./plain"};
  CHECK(SpawnDetached(command).status().code() == absl::StatusCode::kPermissionDenied);
  command.command = {};
  CHECK_FALSE(SpawnDetached(command).ok());
}

TEST_CASE("a process that ended before it was watched is told as ended") {
  const Folder folder;
  Loop loop;
  int told = 0;
  ProcessWatch watch(loop, ProcessId{0x7ffffff0, 1, "x"}, [&](std::string) {
    ++told;
    loop.Stop();
  });
  loop.Run();
  CHECK(told == 1);
}

}  // namespace
}  // namespace watchbill::net
