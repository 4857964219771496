#include "marks.hpp"

#include <dirent.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <memory>

#include "watchbill/net/child.hpp"
#include "watchbill/net/files.hpp"

namespace watchbill::net {
namespace {

// More than the kernel lets a program be started with.
constexpr size_t kMostEnvironment = 8 << 20;

// In which a pid means something: a container's process 7 is not ours. 0 where it cannot be told.
uint64_t PidNamespace(pid_t pid) {
  struct stat info {};
  return stat(fmt::format("/proc/{}/ns/pid", pid).c_str(), &info) == 0 ? info.st_ino : 0;
}

std::string OwnerText(const ProcessId& id) {
  return fmt::format("{}:{}:{}:{}", id.pid, id.started, id.boot, PidNamespace(id.pid));
}

struct Owner {
  ProcessId id;
  uint64_t space = 0;
};

template <typename Number>
bool TakeNumber(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc();
}

// Anybody can write a mark: one that is not as ours are names nobody.
std::optional<Owner> ReadOwner(std::string_view text) {
  Owner owner;
  if (!TakeNumber(text, owner.id.pid) || owner.id.pid <= 0 || !text.starts_with(':')) return std::nullopt;
  text.remove_prefix(1);
  if (!TakeNumber(text, owner.id.started) || !text.starts_with(':')) return std::nullopt;
  text.remove_prefix(1);
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  owner.id.boot = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  if (!TakeNumber(text, owner.space) || !text.empty()) return std::nullopt;
  return owner;
}

Mark ReadMark(pid_t pid) {
  Mark mark;
  const auto environment = ReadFile(fmt::format("/proc/{}/environ", pid), kMostEnvironment);
  if (!environment.ok()) return mark;
  std::string_view rest = *environment;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    const size_t equals = entry.find('=');
    if (equals != std::string_view::npos) {
      if (entry.substr(0, equals) == kOwnerVariable) mark.owner = entry.substr(equals + 1);
      if (entry.substr(0, equals) == kChildVariable) mark.child = entry.substr(equals + 1);
    }
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  }
  return mark;
}

using Table = std::map<pid_t, const SeenProcess*>;

Table ByPid(const std::vector<SeenProcess>& seen) {
  Table table;
  for (const SeenProcess& process : seen) table.emplace(process.facts.id.pid, &process);
  return table;
}

// The process and those above it.
void AddWithAncestors(const Table& table, pid_t pid, std::set<pid_t>& out) {
  for (auto it = table.find(pid); it != table.end() && out.insert(pid).second; it = table.find(pid)) {
    pid = it->second->facts.parent;
  }
}

bool IsOurs(pid_t pid) {
  struct stat info {};
  return stat(fmt::format("/proc/{}", pid).c_str(), &info) == 0 && info.st_uid == geteuid();
}

// What owners that are gone left, and what that started without a mark.
ProcessSet LeftBehind(const std::vector<SeenProcess>& seen, const ProcessSet& known) {
  const Table table = ByPid(seen);
  const uint64_t our_space = PidNamespace(getpid());
  std::set<pid_t> spared;
  AddWithAncestors(table, getpid(), spared);
  std::set<std::string_view> gone;
  for (const SeenProcess& process : seen) {
    const auto owner = ReadOwner(process.mark.owner);
    // Of an owner elsewhere nobody here can say whether it runs.
    if (!owner || (owner->id.boot == BootId() && (owner->space == 0 || owner->space != our_space))) continue;
    const auto it = table.find(owner->id.pid);
    if (it != table.end() && it->second->facts.id == owner->id) {
      AddWithAncestors(table, owner->id.pid, spared);
    } else if (!StillRuns(owner->id)) {
      gone.insert(process.mark.owner);
    }
  }
  ProcessSet out;
  for (size_t before = 0;;) {
    for (const SeenProcess& process : seen) {
      const ProcessFacts& facts = process.facts;
      if (spared.contains(facts.id.pid) || out.contains(facts.id)) continue;
      const auto parent = table.find(facts.parent);
      const bool left =
          process.mark.owner.empty()
              ? known.contains(facts.id) || (parent != table.end() && out.contains(parent->second->facts.id))
              : gone.contains(process.mark.owner);
      if (left && IsOurs(facts.id.pid)) out.insert(facts.id);
    }
    if (out.size() == before) return out;
    before = out.size();
  }
}

}  // namespace

Mark NewMark() {
  static std::atomic<uint64_t> children{0};
  // Asked each time: after a fork the same code is another process.
  const auto self = IdentifyProcess(getpid());
  return {OwnerText(self.value_or(ProcessId{getpid(), 0, BootId()})), std::to_string(++children)};
}

std::vector<SeenProcess> LookAtProcesses() {
  std::vector<SeenProcess> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (folder == nullptr) return out;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    auto facts = ReadProcess(pid);
    if (!facts) continue;
    Mark mark = ReadMark(pid);
    // The pid may have become another's between the two.
    if (mark != Mark() && !StillRuns(facts->id)) continue;
    out.push_back({*std::move(facts), std::move(mark)});
  }
  return out;
}

std::vector<ProcessFacts> TreeOf(const std::vector<SeenProcess>& seen, const Mark& mark, pid_t session,
                                 const ProcessSet& known) {
  std::vector<ProcessFacts> out;
  std::set<pid_t> in_it;
  for (size_t before = 0;;) {
    for (const SeenProcess& process : seen) {
      const ProcessFacts& facts = process.facts;
      if (facts.id.pid == getpid() || in_it.contains(facts.id.pid)) continue;
      if (process.mark == mark || (session != 0 && facts.session == session) || known.contains(facts.id) ||
          in_it.contains(facts.parent)) {
        in_it.insert(facts.id.pid);
        out.push_back(facts);
      }
    }
    if (out.size() == before) return out;
    before = out.size();
  }
}

bool SignalProcess(const ProcessId& process, int signal) {
  const int fd = OpenPidfd(process.pid);
  if (fd < 0) return false;
  // The descriptor keeps the process that it names; only now can it be asked whether that is the right one.
  const bool sent = process.pid != getpid() && StillRuns(process) &&
                    syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0) == 0;
  close(fd);
  return sent;
}

namespace {

// Ends what `find` finds, given what was asked to end already, until it finds nothing. SIGTERM, then SIGKILL.
template <typename Find>
size_t EndAll(int patience_ms, const Find& find) {
  constexpr int64_t kPause = 20 * kMillisecond;
  // What not even SIGKILL ends, a process in the middle of a broken disk's read, is waited for no longer than
  // this.
  constexpr int64_t kAfterKill = 2 * kSecond;
  const int64_t kill_at = ReadClocks().mono_ns + std::max(patience_ms, 0) * kMillisecond;
  ProcessSet asked, killed;
  size_t count = 0;
  for (;;) {
    const ProcessSet left = find(asked);
    const int64_t now = ReadClocks().mono_ns;
    if (left.empty() || now >= kill_at + kAfterKill) return count;
    for (const ProcessId& process : left) {
      if (asked.insert(process).second && SignalProcess(process, SIGTERM)) ++count;
      if (now >= kill_at && killed.insert(process).second) SignalProcess(process, SIGKILL);
    }
    usleep(kPause / 1000);
  }
}

// What descends from this process.
ProcessSet Descendants(const std::vector<SeenProcess>& seen) {
  std::set<pid_t> in_it{getpid()};
  ProcessSet out;
  for (size_t before = 0;;) {
    for (const SeenProcess& process : seen) {
      const ProcessFacts& facts = process.facts;
      if (in_it.contains(facts.parent) && in_it.insert(facts.id.pid).second) out.insert(facts.id);
    }
    if (out.size() == before) return out;
    before = out.size();
  }
}

}  // namespace

size_t SweepLeftChildren(int patience_ms) {
  return EndAll(patience_ms, [](const ProcessSet& asked) { return LeftBehind(LookAtProcesses(), asked); });
}

size_t EndAdopted(int patience_ms) {
  return EndAll(patience_ms, [](const ProcessSet&) {
    ReapOrphans();
    return Descendants(LookAtProcesses());
  });
}

}  // namespace watchbill::net
