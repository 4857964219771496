#include "agent.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <deque>
#include <map>

#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/monitorproto/decoder.hpp"
#include "watchbill/monitorproto/encode.hpp"
#include "watchbill/net/log.hpp"
#include "watchbill/net/server.hpp"
#include "work.hpp"

namespace watchbill::example {

namespace mp = monitorproto;

namespace {

const std::vector<mp::Text> kCapabilities = {"runs", "live-runs", "delegation", "stand-up"};

}  // namespace

struct Agent::Impl : std::enable_shared_from_this<Impl> {
  Impl(net::Loop& l, AgentOptions o, std::function<void()> done)
      : loop(l), options(std::move(o)), ended(std::move(done)), work(options.seed), next_run(l), goodbye(l) {}

  // A run that goes on: what it has left, and what has been said of it.
  struct Running {
    std::string id, desk_id, thread, started_by;
    std::deque<Beat> left;
    std::string entered_at, desk_entered_at;  // empty: not in flight
    int64_t entered_ms = 0, desk_entered_ms = 0;
    std::unique_ptr<net::Timer> timer;
  };

  int64_t Wall() const { return net::ReadClocks().wall_ms; }

  void OnOpened() {
    net::Log(net::LogLevel::kInfo, "connected to the monitor", {{"monitor", options.monitor_url}});
    complained = false;
    SendRegister();
  }

  void SendRegister() {
    mp::Register hello;
    hello.id = options.id;
    hello.name = options.name;
    hello.version = "0.1";
    hello.host = options.host;
    hello.cwd = options.folder;
    hello.protocol = mp::kProtocol;
    hello.pid = getpid();
    hello.port = door->port();
    hello.inputs = JsonView::Trusted("[]");
    hello.outputs = JsonView::Trusted("[\"report\"]");
    hello.capabilities = kCapabilities;
    dial->Send(mp::Encode(hello, Wall()));
    // What is in flight is told again: a monitor that has just started knows nothing of it.
    for (const auto& [id, run] : runs) {
      if (!run.entered_at.empty()) dial->Send(mp::Encode(EnterOf(run, false), Wall()));
      if (!run.desk_entered_at.empty()) dial->Send(mp::Encode(EnterOf(run, true), Wall()));
    }
  }

  mp::Run EnterOf(const Running& run, bool desk) const {
    mp::Run frame;
    frame.phase = mp::Run::Phase::kEnter;
    frame.run_id = desk ? run.desk_id : run.id;
    frame.at = desk ? run.desk_entered_at : run.entered_at;
    if (desk) {
      frame.parent_run_id = run.id;
      frame.agent = Work::kDesk;
    } else {
      frame.started_by = run.started_by;
      frame.thread = run.thread;
    }
    return frame;
  }

  std::string Begin(std::string_view started_by) {
    const std::string id = work.NextId();
    Running& run = runs[id];
    run.id = id;
    run.desk_id = work.NextId();
    run.thread = work.NextId();
    run.started_by = started_by;
    const auto beats = work.NextRun();
    run.left.assign(beats.begin(), beats.end());
    run.timer = std::make_unique<net::Timer>(loop);
    Wait(run);
    return id;
  }

  void Wait(Running& run) {
    run.timer->At(net::ReadClocks().mono_ns + run.left.front().after_ms * kMillisecond, [this, id = run.id] {
      const auto it = runs.find(id);
      if (it != runs.end()) Play(it->second);
    });
  }

  void Play(Running& run) {
    const Beat beat = std::move(run.left.front());
    run.left.pop_front();
    const int64_t now = Wall();
    std::string& in_flight = beat.delegated ? run.desk_entered_at : run.entered_at;
    int64_t& since = beat.delegated ? run.desk_entered_ms : run.entered_ms;
    switch (beat.kind) {
      case Beat::Kind::kEnter:
        in_flight = IsoFromWallMs(now);
        since = now;
        dial->Send(mp::Encode(EnterOf(run, beat.delegated), now));
        break;
      case Beat::Kind::kEntry:
        dial->Send(mp::Encode(EntryOf(run, beat, now), now));
        break;
      case Beat::Kind::kExit: {
        mp::Run frame = EnterOf(run, beat.delegated);
        frame.phase = mp::Run::Phase::kExit;
        frame.at = std::nullopt;
        frame.duration_ms = now - since;
        frame.outcome = beat.outcome;
        frame.ok = beat.outcome == "done";
        if (!beat.error.empty()) frame.error = beat.error;
        if (!beat.failure.empty()) frame.failure = beat.failure;
        if (!beat.node.empty()) frame.node = beat.node;
        dial->Send(mp::Encode(frame, now));
        in_flight.clear();
        break;
      }
    }
    if (!run.left.empty()) return Wait(run);
    // The timer that called here goes when the call is over.
    loop.Post([timer = std::shared_ptr<net::Timer>(std::move(run.timer))] {});
    runs.erase(run.id);
  }

  mp::Log EntryOf(const Running& run, const Beat& beat, int64_t now) {
    entry_text.clear();
    JsonWriter w(entry_text);
    w.Begin('{')
        .Key("id")
        .Int(++last_entry)
        .Key("kind")
        .String(beat.entry_kind)
        .Key("name")
        .String(beat.name);
    w.Key("at").String(IsoFromWallMs(now)).Key("runId").String(beat.delegated ? run.desk_id : run.id);
    if (beat.delegated) w.Key("parentRunId").String(run.id).Key("agent").String(Work::kDesk);
    w.Key("startedBy").String(run.started_by).Key("ok").Bool(beat.ok).Key("durationMs").Int(beat.took_ms);
    if (beat.tokens_in) {
      w.Key("tokens").Begin('{').Key("input").Int(*beat.tokens_in).Key("output").Int(*beat.tokens_out);
      w.Key("total").Int(*beat.tokens_in + *beat.tokens_out).End('}');
      w.Key("withheld").Begin('[').String("request").String("reply").End(']');
    } else {
      w.Key("withheld").Begin('[').String("args").String("result").End(']');
    }
    w.End('}');
    mp::Log frame;
    frame.entry = JsonView::Trusted(entry_text);
    return frame;
  }

  void OnText(std::string_view text) {
    const auto command = decoder.ReadAgentCommand(text);
    if (!command.ok()) return;  // a frame that cannot be read is skipped, never answered
    if (const auto* terminate = std::get_if<mp::Terminate>(&*command)) {
      const mp::Ok answer{terminate->ask, "terminate", {}};
      dial->Send(mp::Encode(answer, Wall()));
      Leave();
    } else if (std::holds_alternative<mp::Duplicate>(*command)) {
      net::Log(net::LogLevel::kWarn,
               "another copy of this agent is on the board: standing down until it is gone");
      standing_down = true;
      runs.clear();
    } else if (std::holds_alternative<mp::MayReturn>(*command)) {
      net::Log(net::LogLevel::kInfo, "the other copy is gone: back at work");
      standing_down = false;
      SendRegister();
    } else if (const auto* unknown = std::get_if<mp::UnknownFrame>(&*command);
               unknown != nullptr && unknown->ask) {
      const std::string sentence = fmt::format("no such command: {}", unknown->type);
      const mp::Error answer{*unknown->ask, unknown->type, sentence, {}};
      dial->Send(mp::Encode(answer, Wall()));
    }
  }

  void Leave() {
    if (std::exchange(leaving, true)) return;
    next_run.Cancel();
    runs.clear();
    dial->Send(mp::Encode(mp::Leaving{}, Wall()));
    dial->Stop();
    goodbye.At(net::ReadClocks().mono_ns + 200 * kMillisecond, [this] { ended(); });
  }

  void Tick() {
    if (options.every_ms <= 0) return;
    next_run.At(net::ReadClocks().mono_ns + options.every_ms * kMillisecond, [this] {
      if (!standing_down && runs.size() < 3) Begin("schedule");
      Tick();
    });
  }

  net::Response Answer(const net::Request& request) {
    net::Response response;
    if (request.path == "/run" && request.method == "POST") {
      if (standing_down)
        return net::ErrorResponse(503, "Another copy of this agent is at work: this one stands down.");
      if (leaving) return net::ErrorResponse(503, "It is leaving.");
      if (runs.size() >= 100) return net::ErrorResponse(503, "It has a hundred runs in flight already.");
      const std::string id = Begin("manual");
      response.status = 202;
      JsonWriter(response.body).Begin('{').Key("runId").String(id).End('}');
      return response;
    }
    if (request.path != "/" || (request.method != "GET" && request.method != "HEAD")) {
      return net::ErrorResponse(404, "GET / says who this is; POST /run starts a run.");
    }
    JsonWriter(response.body)
        .Begin('{')
        .Key("id")
        .String(options.id)
        .Key("name")
        .String(options.name)
        .Key("running")
        .Int(static_cast<int64_t>(runs.size()))
        .Key("monitor")
        .String(options.monitor_url)
        .End('}');
    return response;
  }

  net::Loop& loop;
  AgentOptions options;
  std::function<void()> ended;
  Work work;
  std::unique_ptr<net::DialLoop> dial;
  std::unique_ptr<net::Server> door;
  mp::Decoder decoder;
  net::Timer next_run, goodbye;
  std::map<std::string, Running> runs;
  int64_t last_entry = 0;
  std::string entry_text;
  bool standing_down = false, leaving = false, complained = false;
};

absl::StatusOr<std::unique_ptr<Agent>> Agent::Create(net::Loop& loop, AgentOptions options,
                                                     std::function<void()> ended) {
  auto impl = std::make_shared<Impl>(loop, std::move(options), std::move(ended));
  Impl* self = impl.get();
  net::ServerOptions listen;
  listen.port = impl->options.port;
  net::Server::Handlers handlers;
  handlers.request = [self](const net::Request& request) { return self->Answer(request); };
  handlers.upgrade = [](const net::Request&) -> net::UpgradeAnswer {
    return net::ErrorResponse(404, "There is no socket here yet.");
  };
  auto door = net::Server::Listen(loop, std::move(listen), std::move(handlers));
  if (!door.ok()) return door.status();
  impl->door = *std::move(door);

  net::DialLoop::Options dial;
  dial.to = impl->options.monitor;
  dial.path = "/agent";
  dial.token = impl->options.token;
  net::DialLoop::Events events;
  events.opened = [self] { self->OnOpened(); };
  events.text = [self](std::string_view text) { self->OnText(text); };
  events.closed = [self](std::string_view why) {
    if (!self->leaving)
      net::Log(net::LogLevel::kWarn, "the monitor is gone; trying again for ever", {{"why", why}});
    self->complained = true;
    self->standing_down = false;
  };
  events.failed = [self](std::string_view why, int status) {
    if (std::exchange(self->complained, true)) return;
    net::Log(net::LogLevel::kWarn,
             status == 401 ? "the monitor refused the token: give its token in MONITOR_TOKEN"
                           : "the monitor cannot be reached; trying again for ever",
             {{"monitor", self->options.monitor_url}, {"why", why}});
  };
  impl->dial = std::make_unique<net::DialLoop>(loop, std::move(dial), std::move(events));
  return std::unique_ptr<Agent>(new Agent(std::move(impl)));
}

Agent::Agent(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Agent::~Agent() = default;
void Agent::Start() {
  impl_->dial->Start();
  if (impl_->options.every_ms > 0) impl_->Begin("schedule");
  impl_->Tick();
}
void Agent::Leave() { impl_->Leave(); }
std::string Agent::url() const { return impl_->door->url(); }

}  // namespace watchbill::example
