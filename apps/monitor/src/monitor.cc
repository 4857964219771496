#include "monitor.hpp"

#include <fmt/core.h>

#include "monitor_impl.hpp"
#include "translate.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/monitorproto/encode.hpp"
#include "watchbill/net/log.hpp"

namespace watchbill::monitor {

namespace mp = monitorproto;

namespace {

constexpr int64_t kListEveryNs = 1 * kSecond;
constexpr int64_t kComplainEveryNs = 1 * kSecond;
constexpr size_t kAgentFrameBytes = 16 << 20;  // an answer may hold a document

board::BoardOptions BoardOptionsFor(const MonitorOptions& options) {
  board::BoardOptions out;
  out.here = options.machine;
  out.protocol = mp::kProtocol;
  return out;
}

}  // namespace

Monitor::Impl::Impl(net::Loop& l, MonitorOptions o, AgentsFile f, std::unique_ptr<net::FolderLock> held)
    : loop(l),
      options(std::move(o)),
      lock(std::move(held)),
      file(std::move(f)),
      board(BoardOptionsFor(options), net::ReadClocks()),
      sessions(options.token, net::IsLoopbackHost(options.host)),
      decoder({.bytes = kAgentFrameBytes, .depth = 64}),
      timer(l),
      list_timer(l) {}

absl::Status Monitor::Impl::Start() {
  net::ServerOptions listen;
  listen.host = options.host;
  listen.port = options.port;
  listen.names = options.names;
  net::Server::Handlers handlers;
  handlers.request = [this](const net::Request& request) { return Answer(request); };
  handlers.upgrade = [this](const net::Request& request) { return Upgrade(request); };
  auto listening = net::Server::Listen(loop, std::move(listen), std::move(handlers));
  if (!listening.ok()) return listening.status();
  server = *std::move(listening);
  Apply(board::ListChanged{file.agents()});
  ReadListAgain();
  return options.runner ? StartRunner() : absl::OkStatus();
}

absl::Status Monitor::Impl::StartRunner() {
  runner::RunnerOptions o;
  // To itself, over a real socket: one implementation, one protocol.
  const bool v6 = options.host.find(':') != std::string::npos;
  const bool any = options.host == "0.0.0.0" || options.host == "::";
  const std::string host = any                           ? (v6 ? "::1" : "127.0.0.1")
                           : options.host == "localhost" ? "127.0.0.1"
                                                         : options.host;
  o.monitor = {host, std::to_string(server->port()), ""};
  o.monitor_url = fmt::format("http://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", server->port());
  o.token = options.token;
  o.name = options.machine;
  o.state_file = options.data + "/runner.json";
  o.also_allowed = [this](std::string_view folder) { return board.HasFolder(folder); };
  auto made = runner::Runner::Create(loop, std::move(o));
  if (!made.ok()) return absl::DataLossError(std::string(MessageOf(made.status())));
  runner = *std::move(made);
  runner->Start();
  return absl::OkStatus();
}

void Monitor::Impl::ReadListAgain() {
  list_timer.At(net::ReadClocks().mono_ns + kListEveryNs, [this] { ReadListAgain(); });
  if (!file.Changed()) return;
  auto again = AgentsFile::Load(options.data + "/agents.json");
  if (!again.ok()) {
    const int64_t now = net::ReadClocks().mono_ns;
    if (now - complained_ns > 30 * kSecond || complained_ns == 0) {
      complained_ns = now;
      net::Log(net::LogLevel::kError,
               "the list of agents was changed and cannot be read; the one before stays in force",
               {{"why", MessageOf(again.status())}});
    }
    return;
  }
  complained_ns = 0;
  file = *std::move(again);
  net::Log(net::LogLevel::kInfo, "the list of agents was read again",
           {{"agents", static_cast<int64_t>(file.agents().size())}});
  Apply(board::ListChanged{file.agents()});
}

net::UpgradeAnswer Monitor::Impl::Upgrade(const net::Request& request) {
  if (stopping) return net::ErrorResponse(503, "The monitor is stopping.");
  const bool dials_in = request.path == "/agent" || request.path == "/runner";
  if (!dials_in && request.path != "/dashboard") {
    return net::ErrorResponse(404, "There is no such socket here: /agent, /runner and /dashboard are.");
  }
  if (dials_in && !sessions.HasToken(request)) {
    net::Log(net::LogLevel::kWarn, "somebody dialled in with a wrong token or none",
             {{"socket", request.path}});
    return net::ErrorResponse(
        401,
        "The x-monitor-token header is missing or wrong: use the token that the monitor was started with.");
  }
  net::Acceptance accept;
  if (request.path == "/agent") {
    accept.limits.frame_bytes = kAgentFrameBytes;
    accept.opened = [this](std::shared_ptr<net::WebSocket> socket) { return OpenAgent(std::move(socket)); };
  } else if (request.path == "/runner") {
    accept.opened = [this](std::shared_ptr<net::WebSocket> socket) { return OpenRunner(std::move(socket)); };
  } else if (sessions.MayWatch(request, net::ReadClocks())) {
    // On one machine compressing costs more than sending.
    accept.limits.compress = !request.from_loopback;
    accept.limits.queue_bytes = 256 << 20;
    accept.opened = [this](std::shared_ptr<net::WebSocket> socket) { return OpenWatcher(std::move(socket)); };
  } else {
    accept.opened = [this](const std::shared_ptr<net::WebSocket>& socket) {
      TurnAway(socket);
      return net::WebSocketEvents{};
    };
  }
  return accept;
}

net::WebSocketEvents Monitor::Impl::OpenAgent(std::shared_ptr<net::WebSocket> socket) {
  const uint64_t connection = ++last_number;
  agents[connection] = std::move(socket);
  net::WebSocketEvents on;
  on.text = [this, connection](std::string_view text) { OnAgentText(connection, text); };
  on.alive = [this, connection] { Apply(board::AgentHeard{connection}); };
  on.closed = [this, connection](std::string_view) {
    agents.erase(connection);
    for (const Asker& asker : asks.Closed(connection)) Unanswered(asker);
    Apply(board::AgentClosed{connection});
  };
  return on;
}

net::WebSocketEvents Monitor::Impl::OpenRunner(std::shared_ptr<net::WebSocket> socket) {
  const uint64_t connection = ++last_number;
  runners[connection] = std::move(socket);
  net::WebSocketEvents on;
  on.text = [this, connection](std::string_view text) { OnRunnerText(connection, text); };
  on.closed = [this, connection](std::string_view) {
    runners.erase(connection);
    for (const Asker& asker : asks.Closed(connection)) Unanswered(asker);
    Apply(board::RunnerClosed{connection});
  };
  return on;
}

void Monitor::Impl::Skipped(std::string_view socket, const absl::Status& why) {
  ++skipped;
  const int64_t now = net::ReadClocks().mono_ns;
  if (skipped > 10 && now - complained_ns < kComplainEveryNs) return;  // counted all the same
  complained_ns = now;
  net::Log(net::LogLevel::kWarn, "a frame could not be read and was skipped",
           {{"socket", socket}, {"why", MessageOf(why)}, {"skipped", static_cast<int64_t>(skipped)}});
}

void Monitor::Impl::OnAgentText(uint64_t connection, std::string_view text) {
  const auto frame = decoder.ReadAgent(text);
  if (!frame.ok()) return Skipped("agent", frame.status());
  Apply(EventFor(connection, *frame));
  const auto socket = agents.find(connection);
  if (const auto* ok = std::get_if<mp::Ok>(&*frame)) {
    Answered(connection, ok->ask, true, {}, ok->rest);
  } else if (const auto* error = std::get_if<mp::Error>(&*frame)) {
    Answered(connection, error->ask, false, error->error, error->rest);
  } else if (const auto* unknown = std::get_if<mp::UnknownFrame>(&*frame);
             unknown != nullptr && unknown->ask && socket != agents.end()) {
    const std::string sentence = fmt::format("no such command: {}", unknown->type);
    const mp::Error answer{*unknown->ask, unknown->type, sentence, {}};
    socket->second->Send(net::MakeBytes(mp::Encode(answer, net::ReadClocks().wall_ms)));
  }
}

void Monitor::Impl::OnRunnerText(uint64_t connection, std::string_view text) {
  const auto frame = decoder.ReadRunner(text);
  if (!frame.ok()) return Skipped("runner", frame.status());
  if (const auto event = EventFor(connection, *frame)) Apply(*event);
  if (const auto* ok = std::get_if<mp::Ok>(&*frame)) {
    Answered(connection, ok->ask, true, {}, ok->rest);
  } else if (const auto* error = std::get_if<mp::Error>(&*frame)) {
    Answered(connection, error->ask, false, error->error, error->rest);
  }
}

void Monitor::Impl::Apply(const board::Event& event) {
  board.Apply(event, net::ReadClocks(), actions);
  SettleSoon();
}

void Monitor::Impl::SettleSoon() {
  if (std::exchange(settle_posted, true)) return;
  // Behind whatever is ready already, so that a burst is one turn.
  loop.Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Settle();
  });
}

void Monitor::Impl::Settle() {
  settle_posted = false;
  const Now now = net::ReadClocks();
  board.Tick(now, actions);
  for (const Asker& asker : asks.Expired(now)) Unanswered(asker);
  const board::Actions due = std::exchange(actions, {});
  const auto send_to_agent = [&](uint64_t connection, std::string frame) {
    if (const auto it = agents.find(connection); it != agents.end())
      it->second->Send(net::MakeBytes(std::move(frame)));
  };
  for (const board::Action& action : due) {
    if (const auto* push = std::get_if<board::Push>(&action)) {
      for (const uint64_t watcher : push->to) {
        if (const auto it = watchers.find(watcher); it != watchers.end()) it->second->Send(push->bytes);
      }
    } else if (const auto* ping = std::get_if<board::PingAgent>(&action)) {
      if (const auto it = agents.find(ping->connection); it != agents.end()) it->second->Ping();
    } else if (const auto* drop = std::get_if<board::DropAgent>(&action)) {
      if (const auto it = agents.find(drop->connection); it != agents.end()) {
        it->second->Drop();
        agents.erase(it);
        for (const Asker& asker : asks.Closed(drop->connection)) Unanswered(asker);
      }
    } else if (const auto* copy = std::get_if<board::TellDuplicate>(&action)) {
      send_to_agent(copy->connection, mp::Encode(mp::Duplicate{}, now.wall_ms));
    } else if (const auto* back = std::get_if<board::TellMayReturn>(&action)) {
      send_to_agent(back->connection, mp::Encode(mp::MayReturn{}, now.wall_ms));
    }
  }
  timer.At(std::min(board.Deadline(), asks.Deadline()), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Settle();
  });
}

absl::StatusOr<std::unique_ptr<Monitor>> Monitor::Create(net::Loop& loop, MonitorOptions options) {
  if (absl::Status status = net::CheckListenAddress(options.host); !status.ok()) return status;
  if (options.token.empty() && !net::IsLoopbackHost(options.host)) {
    return absl::UnauthenticatedError(
        fmt::format("refusing to listen on {} without a token: whoever reached the port could end every "
                    "agent. Put one in a "
                    "file and start with --token-file FILE",
                    options.host));
  }
  auto lock = net::FolderLock::Take(options.data, "monitor");
  if (!lock.ok())
    return absl::DataLossError(fmt::format("{}; --data names another", MessageOf(lock.status())));
  auto file = AgentsFile::Load(options.data + "/agents.json");
  if (!file.ok()) return absl::DataLossError(std::string(MessageOf(file.status())));
  auto impl = std::make_shared<Impl>(loop, std::move(options), *std::move(file), *std::move(lock));
  if (absl::Status status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<Monitor>(new Monitor(std::move(impl)));
}

Monitor::Monitor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Monitor::~Monitor() = default;

std::string Monitor::url() const { return impl_->server->url(); }

void Monitor::Stop(std::function<void()> done) {
  impl_->stopping = true;
  impl_->list_timer.Cancel();
  if (impl_->runner) impl_->runner->Stop();
  impl_->server->Stop(std::move(done));
}

}  // namespace watchbill::monitor
