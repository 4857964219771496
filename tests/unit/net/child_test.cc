#include "watchbill/net/child.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "temp_folder.hpp"
#include "watchbill/net/files.hpp"

namespace watchbill::net {
namespace {

using Folder = TempFolder;

// One child and what was heard of it. The loop stops when it has ended, unless `then` has more to do.
struct Conversation {
  Loop loop;
  Timer timer{loop};
  std::string out, err, how;
  int closed = 0, ended = 0;
  bool within_a_call = false;
  bool called_within = false;
  std::function<void()> on_output, on_closed, then;
  std::unique_ptr<Child> child;

  ChildEvents Events() {
    ChildEvents events;
    events.output = [this](std::string_view bytes) {
      Heard();
      out += bytes;
      if (on_output) on_output();
    };
    events.error_output = [this](std::string_view bytes) {
      Heard();
      err += bytes;
    };
    events.output_closed = [this] {
      Heard();
      ++closed;
      if (on_closed) on_closed();
    };
    events.ended = [this](std::string words) {
      Heard();
      CHECK(closed == 1);
      ++ended;
      how = std::move(words);
      // Behind the call, when the leader is reaped.
      loop.Post([this] { then ? then() : loop.Stop(); });
    };
    return events;
  }
  void Heard() {
    called_within = called_within || within_a_call;
    CHECK(ended == 0);
  }

  absl::Status Start(ChildCommand command) {
    within_a_call = true;
    auto spawned = Child::Spawn(loop, std::move(command), Events());
    within_a_call = false;
    if (spawned.ok()) child = *std::move(spawned);
    return spawned.status();
  }
  void Write(std::string bytes) {
    within_a_call = true;
    child->Write(std::move(bytes));
    within_a_call = false;
  }
  void StopWhen(std::function<bool()> condition) {
    if (condition()) return loop.Stop();
    timer.At(ReadClocks().mono_ns + 5 * kMillisecond, [this, condition] { StopWhen(condition); });
  }
};

ChildCommand Command(const Folder& folder, std::vector<std::string> words) {
  ChildCommand command;
  command.environment = CurrentEnvironment();
  command.folder = folder.path;
  const auto program = ResolveProgram(words[0], command.environment, folder.path);
  REQUIRE(program.ok());
  command.program = *program;
  command.arguments.assign(words.begin() + 1, words.end());
  return command;
}

ChildCommand Shell(const Folder& folder, const std::string& script) {
  return Command(folder, {"sh", "-c", script});
}

// A zombie counts.
bool InTable(pid_t pid) { return std::filesystem::exists("/proc/" + std::to_string(pid)); }

size_t OpenDescriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// In a process of its own, whose exit code it gives; -1 where it ended otherwise.
int InAnotherProcess(const std::function<int()>& work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work());
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string WaitForText(const std::string& path) {
  for (;;) {
    const auto text = ReadFile(path);
    if (text.ok() && text->ends_with('\n')) return text->substr(0, text->size() - 1);
    usleep(5'000);
  }
}

TEST_CASE("eight megabytes go through a child and come back, while both sides wait for each other") {
  const Folder folder;
  Conversation talk;
  REQUIRE(talk.Start(Command(folder, {"cat"})).ok());
  std::string sent;
  for (int i = 0; sent.size() < (8 << 20); ++i) {
    const std::string piece = std::to_string(i) + std::string(static_cast<size_t>(i % 5000), 'x') + "\n";
    talk.Write(piece);
    sent += piece;
  }
  CHECK(talk.child->unwritten() > 4 << 20);
  talk.child->CloseInput();
  talk.child->Write("behind the end");
  talk.loop.Run();
  CHECK(talk.out == sent);
  CHECK(talk.how == "exit code 0");
  CHECK(talk.child->unwritten() == 0);
  CHECK_FALSE(talk.called_within);
}

TEST_CASE("both outputs are told apart, and the end is in words") {
  const Folder folder;
  for (const auto& [script, how] : std::vector<std::pair<std::string, std::string>>{
           {"echo out; echo err >&2; exit 3", "exit code 3"},
           {"echo out; echo err >&2; kill -9 $$", "signal 9 (Killed)"},
           {"echo out; echo err >&2; kill $$", "signal 15 (Terminated)"}}) {
    CAPTURE(script);
    Conversation talk;
    REQUIRE(talk.Start(Shell(folder, script)).ok());
    talk.loop.Run();
    CHECK(talk.out == "out\n");
    CHECK(talk.err == "err\n");
    CHECK(talk.how == how);
    CHECK_FALSE(InTable(talk.child->id().pid));
    CHECK_FALSE(talk.child->TreeRuns());
  }
}

TEST_CASE("what was written in the last moment is delivered before the end") {
  const Folder folder;
  Conversation talk;
  REQUIRE(talk.Start(Shell(folder, "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; exit 1")).ok());
  talk.loop.Run();
  CHECK(talk.out.size() == 300'000);
  CHECK(talk.err.size() == 200'000);
  CHECK(talk.how == "exit code 1");
}

TEST_CASE("an output that is closed is told, and the child still hears") {
  const Folder folder;
  Conversation talk;
  REQUIRE(talk.Start(Shell(folder, "exec >&-; read word; test \"$word\" = go && exit 4")).ok());
  talk.on_closed = [&] {
    CHECK(talk.ended == 0);
    talk.Write("go\n");
  };
  talk.loop.Run();
  CHECK(talk.how == "exit code 4");
}

TEST_CASE("a child that has closed its input loses what is written, without harm") {
  const Folder folder;
  Conversation talk;
  REQUIRE(talk.Start(Shell(folder, "exec <&-; echo closed; while [ ! -e go ]; do sleep 0.01; done; echo bye"))
              .ok());
  talk.on_output = [&] {
    if (talk.out != "closed\n") return;
    talk.Write(std::string(1 << 20, 'x'));
    talk.Write("more");
    talk.loop.Post([&] { REQUIRE(ReplaceFile(folder.path + "/go", "").ok()); });
  };
  talk.loop.Run();
  CHECK(talk.out == "closed\nbye\n");
  CHECK(talk.how == "exit code 0");
  CHECK(talk.child->unwritten() == 0);
}

TEST_CASE("a child has its folder, a session of its own, and no descriptor of ours") {
  const Folder folder;
  Conversation talk;
  REQUIRE(talk.Start(Shell(folder, "pwd; ls /proc/self/fd; ps -o sid= -p $$ | tr -d ' '; echo $$")).ok());
  const std::string pid = std::to_string(talk.child->id().pid);
  talk.loop.Run();
  // 3 is the folder that ls reads.
  CHECK(talk.out == folder.path + "\n0\n1\n2\n3\n" + pid + "\n" + pid + "\n");
}

TEST_CASE("the environment is what was given, and the marks, which cannot be given") {
  const Folder folder;
  Conversation talk;
  ChildCommand command = Command(folder, {"env"});
  command.environment = {{"ONE", "1"}, {"WATCHBILL_OWNER", "forged"}, {"WATCHBILL_CHILD", "forged"}};
  REQUIRE(talk.Start(command).ok());
  talk.loop.Run();
  std::vector<std::string> lines;
  for (size_t at = 0; at < talk.out.size(); at = talk.out.find('\n', at) + 1)
    lines.push_back(talk.out.substr(at, talk.out.find('\n', at) - at));
  std::sort(lines.begin(), lines.end());
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "ONE=1");
  CHECK(lines[1].starts_with("WATCHBILL_CHILD="));
  const auto self = IdentifyProcess(getpid());
  CHECK(lines[2].starts_with("WATCHBILL_OWNER=" + std::to_string(getpid()) + ":" +
                             std::to_string(self->started) + ":" + self->boot + ":"));
  CHECK(talk.out.find("forged") == std::string::npos);
}

TEST_CASE("what a child started is found and ended after it, wherever it went") {
  const Folder folder;
  for (const std::string& start : std::vector<std::string>{
           "setsid sh -c 'echo $$ > grand; exec sleep 300' </dev/null >/dev/null 2>&1 &",
           "sh -c 'echo $$ > grand; exec sleep 300' </dev/null >/dev/null 2>&1 &",
           // Its environment says nothing, but its session does as long as the child was there.
           "env -i sh -c 'echo $$ > grand; exec sleep 300' </dev/null >/dev/null 2>&1 &",
           // It holds the pipes open: the end is told nevertheless.
           "setsid sh -c 'echo $$ > grand; exec sleep 300' &"}) {
    CAPTURE(start);
    unlink((folder.path + "/grand").c_str());
    Conversation talk;
    REQUIRE(talk.Start(Shell(folder, start + " while [ ! -s grand ]; do sleep 0.01; done; echo last; exit 7"))
                .ok());
    pid_t grandchild = 0;
    talk.then = [&] {
      grandchild = static_cast<pid_t>(std::stol(WaitForText(folder.path + "/grand")));
      CHECK(IdentifyProcess(grandchild).has_value());
      CHECK_FALSE(InTable(talk.child->id().pid));
      CHECK(talk.child->TreeRuns());
      talk.child->SignalTree(SIGTERM);
      talk.StopWhen([&] { return !talk.child->TreeRuns(); });
    };
    talk.loop.Run();
    CHECK(talk.out == "last\n");
    CHECK(talk.how == "exit code 7");
    CHECK_FALSE(IdentifyProcess(grandchild).has_value());
  }
}

TEST_CASE("a signal reaches the group, and what left it with another environment while its parent runs") {
  const Folder folder;
  Conversation talk;
  REQUIRE(
      talk.Start(Shell(folder, "sleep 300 & echo $!; env -i setsid sh -c 'echo $$; exec sleep 300' & wait"))
          .ok());
  std::vector<pid_t> pids;
  talk.on_output = [&] {
    if (std::count(talk.out.begin(), talk.out.end(), '\n') < 2) return;
    for (size_t at = 0; at < talk.out.size(); at = talk.out.find('\n', at) + 1)
      pids.push_back(static_cast<pid_t>(std::stol(talk.out.substr(at))));
    talk.on_output = nullptr;
    // Not from within the event that is about to be replaced.
    talk.loop.Post([&] { talk.child->SignalTree(SIGKILL); });
  };
  talk.then = [&] { talk.StopWhen([&] { return !talk.child->TreeRuns(); }); };
  talk.loop.Run();
  CHECK(talk.how == "signal 9 (Killed)");
  REQUIRE(pids.size() == 2);
  for (const pid_t pid : pids) CHECK_FALSE(IdentifyProcess(pid).has_value());
}

TEST_CASE("a child that is destroyed takes its group along, also within an event, and leaves no zombie") {
  const Folder folder;
  Conversation talk;
  REQUIRE(talk.Start(Shell(folder, "sleep 300 & echo $!; wait")).ok());
  const pid_t leader = talk.child->id().pid;
  pid_t grandchild = 0;
  talk.on_output = [&] {
    grandchild = static_cast<pid_t>(std::stol(talk.out));
    CHECK(IdentifyProcess(grandchild).has_value());
    talk.child.reset();
    talk.StopWhen([&] { return !InTable(leader) && !IdentifyProcess(grandchild); });
  };
  talk.loop.Run();
  CHECK(grandchild != 0);
  CHECK(talk.ended == 0);

  // Where the loop runs no more, too.
  pid_t last = 0;
  {
    Conversation unheard;
    REQUIRE(unheard.Start(Shell(folder, "sleep 300")).ok());
    last = unheard.child->id().pid;
    CHECK(InTable(last));
  }
  CHECK_FALSE(InTable(last));
}

TEST_CASE("two hundred children leave no descriptor behind") {
  const Folder folder;
  Conversation talk;
  // What the loop opens for itself at its first child is there before they are counted.
  REQUIRE(talk.Start(Shell(folder, "read word")).ok());
  const size_t before = OpenDescriptors();
  int left = 200;
  talk.then = [&] {
    CHECK(talk.how == "exit code 1");
    if (left-- == 0) return talk.loop.Stop();
    talk.closed = talk.ended = 0;
    REQUIRE(talk.Start(Shell(folder, "read word")).ok());
    talk.child->CloseInput();
  };
  talk.child->CloseInput();
  talk.loop.Run();
  // The four of the child that has ended are closed.
  CHECK(OpenDescriptors() == before - 4);
}

TEST_CASE("a process without standard descriptors of its own starts children that have theirs") {
  const Folder folder;
  CHECK(InAnotherProcess([&] {
          for (const int fd : {0, 1, 2}) close(fd);
          Conversation talk;
          if (!talk.Start(Shell(folder, "cat; echo err >&2")).ok()) return 1;
          talk.Write("word");
          talk.child->CloseInput();
          talk.loop.Run();
          return talk.out == "word" && talk.err == "err\n" ? 0 : 2;
        }) == 0);
}

TEST_CASE("orphans that were adopted are reaped, and nobody's exit status is taken from him") {
  const Folder folder;
  CHECK(InAnotherProcess([&] {
          AdoptOrphans();
          Conversation talk;
          const std::string orphan = "setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $!; ";
          if (!talk.Start(Shell(folder, orphan + orphan + orphan + "exit 3")).ok()) return 1;
          int wrong = 0;
          std::string watched;
          std::unique_ptr<ProcessWatch> watch;
          talk.then = [&] {
            std::vector<pid_t> orphans;
            for (size_t at = 0; at < talk.out.size(); at = talk.out.find('\n', at) + 1)
              orphans.push_back(static_cast<pid_t>(std::stol(talk.out.substr(at))));
            for (const pid_t pid : orphans) {
              const std::string stat = ReadFile("/proc/" + std::to_string(pid) + "/stat").value_or("");
              // Behind the name in brackets come the state, which may be any, and the parent.
              const size_t name_end = std::min(stat.rfind(')'), stat.size());
              if (stat.find(" " + std::to_string(getpid()) + " ", name_end) != name_end + 3) wrong = 2;
            }
            if (orphans.size() != 3) wrong = 3;
            DetachedCommand detached;
            detached.command = {"sh", "-c", "exit 5"};
            detached.environment = CurrentEnvironment();
            detached.folder = folder.path;
            detached.output = folder.path + "/out";
            watch = std::make_unique<ProcessWatch>(talk.loop, *SpawnDetached(detached),
                                                   [&](std::string how) { watched = std::move(how); });
            talk.child->SignalTree(SIGKILL);
            talk.StopWhen([&, orphans] {
              return !watched.empty() && std::none_of(orphans.begin(), orphans.end(), InTable);
            });
          };
          talk.loop.Run();
          if (talk.how != "exit code 3") return 4;
          if (watched != "exit code 5") return 5;
          return wrong;
        }) == 0);
}

// An owner in a process of its own: it starts what `script` says, and then hears nothing more.
pid_t ForkOwner(const Folder& folder, const std::string& script) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  Conversation talk;
  if (!talk.Start(Shell(folder, script)).ok()) _exit(1);
  for (;;) pause();
}

void KillOwner(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

// Not run of itself: the case below starts it, with marks of an owner that is gone.
TEST_CASE("sweeper" * doctest::skip()) { SweepLeftChildren(0); }

// One case, so that no two of these sweep at the same time.
TEST_CASE("what a killed owner left is swept, and nothing of one that lives") {
  const Folder folder;
  const std::string both =
      "setsid sh -c 'echo $$ > away; exec sleep 300' & trap '' TERM; while [ ! -s away ]; do sleep 0.01; "
      "done; "
      "echo $$ > here; while :; do sleep 0.02; done";
  const Folder gone, lives;
  const pid_t owner = ForkOwner(gone, both);
  const pid_t living = ForkOwner(lives, "echo $$ > here; exec sleep 300");
  std::vector<ProcessId> left;
  for (const char* name : {"/away", "/here"})
    left.push_back(*IdentifyProcess(static_cast<pid_t>(std::stol(WaitForText(gone.path + name)))));
  const ProcessId spared = *IdentifyProcess(static_cast<pid_t>(std::stol(WaitForText(lives.path + "/here"))));
  SweepLeftChildren(0);
  for (const ProcessId& process : left) CHECK(StillRuns(process));

  KillOwner(owner);
  CHECK(SweepLeftChildren(200) >= 1);
  for (const ProcessId& process : left) CHECK_FALSE(StillRuns(process));
  CHECK(StillRuns(spared));

  // Whoever sweeps, and whatever started him, is not swept, though it carries such a mark itself; a process
  // beside it is.
  Conversation talk;
  REQUIRE(talk.Start(Command(folder, {"printenv", "WATCHBILL_OWNER"})).ok());
  talk.loop.Run();
  std::string mark = talk.out.substr(0, talk.out.size() - 1);
  const std::string started = ":" + std::to_string(IdentifyProcess(getpid())->started) + ":";
  REQUIRE(mark.find(started) != std::string::npos);
  mark.replace(mark.find(started), started.size(), ":1:");
  DetachedCommand command;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  command.command = {
      "sh", "-c",
      "sleep 300 & echo $!; " + self + " -ns -tc=sweeper >/dev/null || exit 9; wait $!; echo survived"};
  command.environment = CurrentEnvironment();
  command.environment["WATCHBILL_OWNER"] = mark;
  command.folder = folder.path;
  command.output = folder.path + "/out";
  const auto sweeper = SpawnDetached(command);
  REQUIRE(sweeper.ok());
  Conversation wait;
  std::string how;
  ProcessWatch watch(wait.loop, *sweeper, [&](std::string words) {
    how = std::move(words);
    wait.loop.Stop();
  });
  wait.loop.Run();
  CHECK(how == "exit code 0");
  CHECK(ReadFile(folder.path + "/out")->ends_with("survived\n"));
  CHECK(StillRuns(spared));

  // Marks that nobody makes are nobody's, and who lives in another container nobody here can say. After a
  // start of the machine none of the owners before it does.
  const std::string elsewhere = mark.substr(0, mark.rfind(':')) + ":1";
  const std::string earlier = std::to_string(getpid()) + started + "another-boot:1";
  command.command = {"sleep", "300"};
  for (const std::string& text :
       std::vector<std::string>{"", "1", "nobody", "1:2:3:4:5", "-1:1:x:1", "99999999999999999999:1:x:1",
                                "7:1::1", elsewhere, earlier}) {
    CAPTURE(text);
    command.environment["WATCHBILL_OWNER"] = text;
    const auto other = SpawnDetached(command);
    REQUIRE(other.ok());
    // Its starter goes on while the system still lays out its environment.
    while (ReadFile("/proc/" + std::to_string(other->pid) + "/environ").value_or("").empty()) usleep(1000);
    SweepLeftChildren(0);
    CHECK(StillRuns(*other) == (text != earlier));
    kill(other->pid, SIGKILL);
    waitpid(other->pid, nullptr, 0);
  }

  KillOwner(living);
  SweepLeftChildren();
  CHECK_FALSE(StillRuns(spared));
}

}  // namespace
}  // namespace watchbill::net
