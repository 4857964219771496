#include "agents.hpp"

#include <fmt/core.h>

#include <csignal>
#include <utility>

#include "start_report.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/log.hpp"

namespace watchbill::supervisor {

namespace {

constexpr int64_t kLookAgainNs = 50 * kMillisecond;
constexpr size_t kNoiseLines = 5;
constexpr std::string_view kProgramNotFound = "exit code 127";
// Of what an agent was sent and does not read: one that asks and never listens is ended.
constexpr size_t kMostUnread = 64 << 20;
// Between the end of its output and its own: one that goes on after that says nothing any more.
constexpr int64_t kMutePatienceNs = 2 * kSecond;

}  // namespace

struct Agents::Impl : std::enable_shared_from_this<Impl> {
  // One agent; `run` counts its processes, so that what an earlier one still says is told from the present
  // one.
  struct Agent {
    explicit Agent(net::Loop& loop) : timer(loop), look(loop), mute(loop) {}
    const AgentConfig* config = nullptr;
    uint64_t run = 0;
    std::string program;  // where its command was found
    std::unique_ptr<net::Child> child;
    std::unique_ptr<acp::Client> client;
    acp::LogTail log;                 // of its standard error
    acp::LogTail noise{kNoiseLines};  // lines on its standard output that are no messages
    net::Timer timer, look, mute;
    bool pumping = false, again = false, closing = false, ended = false;
    std::string how;         // it ended: "exit code 3"
    std::string killed_for;  // what it did, where that was not borne: "did not read …"
  };

  Impl(net::Loop& l, std::vector<AgentConfig> list, AgentEvents on, std::map<std::string, std::string> env,
       acp::AgentPool::Limits pool_limits, acp::Client::Limits client_limits)
      : loop(l),
        configs(std::move(list)),
        events(std::move(on)),
        environment(std::move(env)),
        limits(client_limits),
        pool(pool_limits),
        pool_timer(l) {
    for (const AgentConfig& config : configs) {
      pool.Add(config.name);
      auto agent = std::make_unique<Agent>(loop);
      agent->config = &config;
      agents.emplace(config.name, std::move(agent));
    }
  }

  // Somebody does not wait for the stop: what still runs is killed, with what it started.
  ~Impl() {
    for (const auto& [name, agent] : agents) {
      if (agent->child && agent->child->TreeRuns()) agent->child->SignalTree(SIGKILL);
    }
  }

  Agent* Find(std::string_view name) {
    const auto it = agents.find(name);
    return it == agents.end() ? nullptr : it->second.get();
  }

  // Does what the pool wants, and what that leads to, until nothing more is wanted.
  void Carry(acp::PoolActions actions) {
    for (size_t i = 0; i < actions.size(); ++i) {
      const acp::PoolAction action = actions[i];
      if (const auto* spawn = std::get_if<acp::SpawnAgent>(&action)) {
        Spawn(spawn->agent);
      } else if (const auto* close = std::get_if<acp::CloseAgentInput>(&action)) {
        if (Agent* a = Find(close->agent); a != nullptr && a->child) CloseInput(*a);
      } else if (const auto* signal = std::get_if<acp::SignalAgent>(&action)) {
        if (Agent* a = Find(signal->agent); a != nullptr && a->child) {
          a->child->SignalTree(signal->kill ? SIGKILL : SIGTERM);
        }
      } else if (const auto* changed = std::get_if<acp::AgentChanged>(&action)) {
        events.changed(changed->agent, changed->state, changed->error);
      }
    }
    SetPoolTimer();
    if (stopped && pool.idle()) {
      loop.Post([self = shared_from_this()] {
        if (auto done = std::exchange(self->stopped, nullptr)) done();
      });
    }
  }

  void SetPoolTimer() {
    pool_timer.At(pool.Deadline(), [this] {
      acp::PoolActions actions;
      pool.Tick(net::ReadClocks(), actions);
      Carry(std::move(actions));
    });
  }

  StartReport Report(const Agent& a) const {
    StartReport report;
    report.agent = a.config->name;
    report.command = a.config->command;
    report.args = a.config->args;
    report.program = a.program;
    report.folder = a.config->cwd;
    // A shell or `env` did not find what it was to run.
    if (a.how == kProgramNotFound) report.path = PathOf(*a.config);
    report.errors = a.log.Last(std::min<size_t>(20, a.log.lines().size()));
    report.noise = a.noise.Last(kNoiseLines);
    return report;
  }

  std::string PathOf(const AgentConfig& config) const {
    for (const auto* variables : {&config.env, &environment}) {
      const auto path = variables->find("PATH");
      if (path != variables->end()) return path->second;
    }
    return "not set";
  }

  void Spawn(const std::string& name) {
    Agent& a = *Find(name);
    ++a.run;
    a.ended = a.closing = false;
    a.how.clear();
    a.killed_for.clear();
    a.mute.Cancel();
    a.client = std::make_unique<acp::Client>(limits);
    a.log = acp::LogTail();
    a.noise = acp::LogTail(kNoiseLines);
    a.program.clear();
    net::ChildCommand command;
    command.arguments = a.config->args;
    command.folder = a.config->cwd;
    command.environment = environment;
    for (const auto& [variable, value] : a.config->env) command.environment[variable] = value;
    const auto program = net::ResolveProgram(a.config->command, command.environment, a.config->cwd);
    if (!program.ok()) return SpawnFailed(name, program.status());
    command.program = a.program = *program;
    net::ChildEvents on;
    const auto mine = [this, &a, run = a.run] { return a.run == run; };
    on.output = [this, &a, mine, name](std::string_view bytes) {
      if (!mine()) return;
      a.client->Feed(bytes);
      Pump(name);
    };
    on.error_output = [this, &a, mine, name](std::string_view bytes) {
      if (!mine()) return;
      const std::vector<std::string> lines = a.log.Feed(bytes);
      for (const std::string& line : lines) events.logged(name, line);
    };
    on.output_closed = [this, &a, mine, name] {
      if (!mine()) return;
      a.mute.At(net::ReadClocks().mono_ns + kMutePatienceNs, [this, &a, mine, name] {
        // One that was asked to end may take its time for it.
        if (mine() && !a.ended && !pool.stopping(name)) Kill(a, "closed its standard output, and was killed");
      });
    };
    on.ended = [this, mine, name](const std::string& how) {
      if (mine()) Ended(name, how);
    };
    auto child = net::Child::Spawn(loop, std::move(command), std::move(on));
    if (!child.ok()) return SpawnFailed(name, child.status());
    a.child = *std::move(child);
    acp::InitializeRequest request;
    request.client = acp::Implementation{"watchbill-supervisor", WATCHBILL_VERSION, "watchbill", {}};
    (void)a.client->Initialize(request, net::ReadClocks());
    Pump(name);
  }

  void SpawnFailed(const std::string& name, const absl::Status& why) {
    StartReport report = Report(*Find(name));
    report.says = fmt::format("could not be started: {}", MessageOf(why));
    // Behind what asked for the start, so that it hears of it as of any other failure.
    loop.Post([self = shared_from_this(), name, text = Describe(report)] {
      acp::PoolActions actions;
      (void)self->pool.StartFailed(name, text, false, net::ReadClocks(), actions);
      self->Carry(std::move(actions));
      self->events.start_failed(name, text);
    });
  }

  // Behind what it is still to be sent: answers to what it asked.
  void CloseInput(Agent& a) {
    if (a.pumping) {
      a.closing = true;
    } else if (a.child) {
      a.child->CloseInput();
    }
  }

  void Kill(Agent& a, std::string what_for) {
    if (!a.killed_for.empty()) return;
    a.killed_for = std::move(what_for);
    a.child->SignalTree(SIGKILL);
  }

  // Moves bytes and tells what they said.
  void Pump(const std::string& name) {
    Agent& a = *Find(name);
    if (a.pumping) {
      a.again = true;
      return;
    }
    a.pumping = true;
    do {
      a.again = false;
      while (const auto event = a.client->Next()) {
        if (std::holds_alternative<acp::HandshakeDone>(*event)) {
          acp::PoolActions actions;
          (void)pool.HandshakeDone(name, net::ReadClocks(), actions);
          Carry(std::move(actions));
        } else if (const auto* failed = std::get_if<acp::HandshakeFailed>(&*event)) {
          HandshakeFailed(name, std::string(failed->says));
        } else {
          if (const auto* skipped = std::get_if<acp::Skipped>(&*event); skipped != nullptr) {
            if (!skipped->line.empty()) a.noise.Feed(std::string(skipped->line) + "\n");
          }
          events.told(name, *event);
        }
      }
      if (const std::string_view out = a.client->Output(); !out.empty()) {
        const size_t size = out.size();
        if (a.child) {
          a.child->Write(std::string(out));
          if (a.child->unwritten() > kMostUnread) {
            Kill(a, fmt::format("did not read what it was sent, and was killed when {} MiB waited",
                                kMostUnread >> 20));
          }
        }
        a.client->Consume(size);
      }
    } while (a.again);
    a.pumping = false;
    if (std::exchange(a.closing, false)) CloseInput(a);
    a.timer.At(a.client->Deadline(), [this, name] {
      Find(name)->client->Tick(net::ReadClocks());
      Pump(name);
    });
  }

  void HandshakeFailed(const std::string& name, std::string says) {
    Agent& a = *Find(name);
    // What it wrote on its standard error may be on its way still: one turn of the loop lets it in.
    loop.Post([self = shared_from_this(), name, run = a.run, says = std::move(says)] {
      Agent& agent = *self->Find(name);
      // One that was asked to stop meanwhile has not failed.
      if (agent.run != run || self->pool.stopping(name)) return;
      StartReport report = self->Report(agent);
      report.says = says;
      // What broke off is told; that it ended is why.
      if (agent.ended && says.find(agent.how) == std::string::npos)
        report.says += fmt::format(" ({})", agent.how);
      const bool running = !agent.ended || (agent.child && agent.child->TreeRuns());
      acp::PoolActions actions;
      const std::string text = Describe(report);
      (void)self->pool.StartFailed(name, text, running, net::ReadClocks(), actions);
      self->Carry(std::move(actions));
      self->events.start_failed(name, text);
    });
  }

  void Ended(const std::string& name, std::string how) {
    Agent& a = *Find(name);
    a.ended = true;
    a.mute.Cancel();
    const bool killed = !a.killed_for.empty();
    if (killed) how = a.killed_for;
    a.how = how;
    for (const std::string& line : std::vector<std::string>(a.log.End())) events.logged(name, line);
    const bool asked = pool.stopping(name);
    const bool starting = pool.state(name) == acp::AgentState::kStarting;
    StartReport report = Report(a);
    report.says = killed ? how : fmt::format("ended by itself: {}", how);
    report.noise.clear();
    const std::string why = asked ? "it was stopped" : Describe(report);
    a.client->End(asked      ? "it was stopped"
                  : starting ? how
                             : fmt::format("it {}{}", killed ? "" : "ended: ", how));
    Pump(name);
    events.gone(name, why);
    // A failed handshake tells the rest, behind this.
    loop.Post([self = shared_from_this(), name, run = a.run, why] {
      Agent& agent = *self->Find(name);
      if (agent.run != run) return;
      const bool left = agent.child && agent.child->TreeRuns();
      acp::PoolActions actions;
      (void)self->pool.Exited(name, why, left, net::ReadClocks(), actions);
      self->Carry(std::move(actions));
      if (left) self->LookAgain(name, run);
      if (agent.run == run && self->pool.state(name) == acp::AgentState::kStopped) {
        self->events.start_failed(name, "it was stopped before it was ready");
      }
    });
  }

  // Until nothing of what it started is left.
  void LookAgain(const std::string& name, uint64_t run) {
    Agent& a = *Find(name);
    a.look.At(net::ReadClocks().mono_ns + kLookAgainNs, [this, name, run] {
      Agent& agent = *Find(name);
      if (agent.run != run) return;
      if (agent.child && agent.child->TreeRuns()) return LookAgain(name, run);
      acp::PoolActions actions;
      (void)pool.TreeGone(name, net::ReadClocks(), actions);
      Carry(std::move(actions));
    });
  }

  net::Loop& loop;
  const std::vector<AgentConfig> configs;
  AgentEvents events;
  std::map<std::string, std::string> environment;
  acp::Client::Limits limits;
  acp::AgentPool pool;
  std::map<std::string, std::unique_ptr<Agent>, std::less<>> agents;
  net::Timer pool_timer;
  std::function<void()> stopped;
};

Agents::Agents(net::Loop& loop, std::vector<AgentConfig> agents, AgentEvents events,
               std::map<std::string, std::string> environment, acp::AgentPool::Limits pool_limits,
               acp::Client::Limits client_limits)
    : impl_(std::make_shared<Impl>(loop, std::move(agents), std::move(events), std::move(environment),
                                   pool_limits, client_limits)) {}
Agents::~Agents() = default;

const std::vector<AgentConfig>& Agents::list() const { return impl_->configs; }
const AgentConfig* Agents::Find(std::string_view agent) const {
  const Impl::Agent* found = impl_->Find(agent);
  return found == nullptr ? nullptr : found->config;
}

absl::Status Agents::Start(std::string_view agent) {
  acp::PoolActions actions;
  const absl::Status status = impl_->pool.Start(agent, net::ReadClocks(), actions);
  impl_->Carry(std::move(actions));
  return status;
}

absl::Status Agents::Stop(std::string_view agent) {
  acp::PoolActions actions;
  const absl::Status status = impl_->pool.Stop(agent, net::ReadClocks(), actions);
  impl_->Carry(std::move(actions));
  return status;
}

absl::Status Agents::Restart(std::string_view agent) {
  acp::PoolActions actions;
  const absl::Status status = impl_->pool.Restart(agent, net::ReadClocks(), actions);
  impl_->Carry(std::move(actions));
  return status;
}

void Agents::StopAll(std::function<void()> done) {
  impl_->stopped = std::move(done);
  acp::PoolActions actions;
  impl_->pool.StopAll(net::ReadClocks(), actions);
  impl_->Carry(std::move(actions));
}

acp::AgentState Agents::state(std::string_view agent) const { return impl_->pool.state(agent); }
const std::string& Agents::error(std::string_view agent) const { return impl_->pool.error(agent); }
bool Agents::stopping(std::string_view agent) const { return impl_->pool.stopping(agent); }
const std::deque<std::string>& Agents::log(std::string_view agent) const {
  static const std::deque<std::string> kNone;
  const Impl::Agent* found = impl_->Find(agent);
  return found == nullptr ? kNone : found->log.lines();
}

absl::Status Agents::With(std::string_view agent, const std::function<absl::Status(acp::Client&)>& ask) {
  Impl::Agent* found = impl_->Find(agent);
  if (found == nullptr || !found->client || !found->client->ready()) {
    return absl::FailedPreconditionError(fmt::format("{} is not running", agent));
  }
  const absl::Status status = ask(*found->client);
  // Behind whatever is being told now: its views are still looked at.
  if (found->pumping) {
    found->again = true;
  } else {
    impl_->Pump(found->config->name);
  }
  return status;
}

absl::Status Agents::Use(std::string_view agent) {
  acp::PoolActions actions;
  const absl::Status status = impl_->pool.Use(agent, net::ReadClocks(), actions);
  impl_->Carry(std::move(actions));
  return status;
}

void Agents::Release(std::string_view agent) {
  acp::PoolActions actions;
  (void)impl_->pool.Release(agent, net::ReadClocks(), actions);
  impl_->Carry(std::move(actions));
}

}  // namespace watchbill::supervisor
