#include "supervisor.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "apps/web/assets.hpp"
#include "supervisor_impl.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/files.hpp"
#include "watchbill/net/log.hpp"
#include "watchbill/net/static_files.hpp"

namespace watchbill::supervisor {

namespace {

constexpr size_t kPageFrameBytes = 4 << 20;

std::span<const net::StaticFile> Page() {
  static const std::vector<net::StaticFile> kFiles = [] {
    std::vector<net::StaticFile> files;
    for (const web::Asset& a : web::SupervisorAssets()) {
      files.push_back({a.path, a.type, a.etag, a.immutable, a.raw, a.gzip, a.brotli});
    }
    return files;
  }();
  return kFiles;
}

std::string CallKey(std::string_view agent, uint64_t call) { return fmt::format("{}/{}", agent, call); }

}  // namespace

std::string KeysFolder(const std::string& folder, const std::string& key) {
  return fmt::format("{}/keys/{}", folder, key);
}

std::string RuntimeFile(const std::string& folder, const std::string& runtime_folder,
                        const std::string& key) {
  return runtime_folder.empty() ? fmt::format("{}/data/supervisor-{}.json", folder, key)
                                : fmt::format("{}/watchbill/supervisor-{}.json", runtime_folder, key);
}

absl::Status Supervisor::Impl::Start() {
  std::vector<std::string> names;
  for (const AgentConfig& agent : options.config.agents) names.push_back(agent.name);
  std::vector<history::Channel> kept = archive.Channels();
  std::vector<std::pair<std::string, history::Member>> members;
  for (const history::Channel& channel : kept) {
    for (history::Member& member : archive.Members(channel.id))
      members.emplace_back(channel.id, std::move(member));
  }
  if (!archive.problem().empty()) fmt::print(stderr, "watchbill-supervisor: {}\n", archive.problem());
  channels.Load(std::move(names), std::move(kept));
  for (auto& [channel, member] : members) channels.LoadMember(channel, std::move(member));

  AgentEvents on;
  on.changed = [this](const std::string& agent, acp::AgentState state, const std::string& error) {
    OnAgentChanged(agent, state, error);
  };
  on.logged = [this](const std::string& agent, const std::string& line) {
    std::string params;
    JsonWriter(params).Begin('{').Key("agent").String(agent).Key("line").String(line).End('}');
    Broadcast("agent:log", params);
  };
  on.told = [this](const std::string& agent, const acp::ClientEvent& event) { OnAgentTold(agent, event); };
  on.gone = [this](const std::string& agent, const std::string& why) {
    if (quitting) return;
    Do([&](channels::Outcome& out) { channels.AgentGone(agent, why, net::ReadClocks(), out); });
  };
  on.start_failed = [this](const std::string& agent, const std::string& why) {
    if (quitting) return;
    Do([&](channels::Outcome& out) { channels.StartFailed(agent, why, net::ReadClocks(), out); });
    SettleWaiters(agent, why);
  };
  const acp::AgentPool::Limits limits{static_cast<uint32_t>(options.config.max_running_agents),
                                      options.config.stop_idle_ms * kMillisecond};
  agents = std::make_unique<Agents>(loop, options.config.agents, std::move(on), options.environment, limits);

  net::ServerOptions listen;
  listen.port = options.port;
  net::Server::Handlers handlers;
  handlers.request = [this](const net::Request& request) { return Answer(request); };
  handlers.upgrade = [this](const net::Request& request) { return Upgrade(request); };
  auto listening = net::Server::Listen(loop, std::move(listen), std::move(handlers));
  if (!listening.ok()) return listening.status();
  server = *std::move(listening);
  return WriteRuntimeFile();
}

absl::Status Supervisor::Impl::WriteRuntimeFile() {
  const std::string file = RuntimeFile(options.folder, options.runtime_folder, key);
  if (absl::Status status = net::EnsureFolder(file.substr(0, file.rfind('/'))); !status.ok()) return status;
  std::string text;
  JsonWriter w(text);
  w.Begin('{').Key("url").String(server->url()).Key("token").String(access.token());
  w.Key("pid").Int(getpid()).Key("config").String(options.config_path).End('}');
  return net::ReplaceFile(file, text + "\n");
}

net::Response Supervisor::Impl::Answer(const net::Request& request) {
  constexpr std::string_view kOpen = "/open/";
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (auto file = net::ServeStatic(Page(), request)) return *std::move(file);
  net::Response response;
  if (request.path == "/healthz" && reads) {
    response.body = "{\"ok\":true}";
    return response;
  }
  if (request.path == "/session" && reads) {
    if (!access.Allowed(request)) {
      return net::ErrorResponse(
          401, "Open the link that the supervisor printed; `watchbill-supervisor link` makes another.");
    }
    response.status = 204;
    return response;
  }
  if (request.path.starts_with(kOpen) && request.method == "GET") {
    return access.AnswerLink(request.path.substr(kOpen.size()), request);
  }
  if (request.path == "/rpc") return net::ErrorResponse(426, "This is a WebSocket: open it as one.");
  return net::ErrorResponse(404, "There is nothing here.");
}

net::UpgradeAnswer Supervisor::Impl::Upgrade(const net::Request& request) {
  if (quitting) return net::ErrorResponse(503, "The supervisor is stopping.");
  if (request.path != "/rpc") return net::ErrorResponse(404, "There is no such socket here: /rpc is.");
  if (!access.Allowed(request)) {
    return net::ErrorResponse(401,
                              "Pages need the link that the supervisor printed; programs the token of its "
                              "runtime file, as a Bearer.");
  }
  net::Acceptance accept;
  accept.limits.frame_bytes = kPageFrameBytes;
  accept.opened = [this](std::shared_ptr<net::WebSocket> socket) { return Open(std::move(socket)); };
  return accept;
}

net::WebSocketEvents Supervisor::Impl::Open(std::shared_ptr<net::WebSocket> socket) {
  const uint64_t number = ++last_socket;
  sockets[number] = std::move(socket);
  net::WebSocketEvents on;
  on.text = [this, number](std::string_view text) { OnText(number, text); };
  on.closed = [this, number](std::string_view) {
    sockets.erase(number);
    std::erase_if(waiters, [&](const Waiter& w) { return w.caller.socket == number; });
  };
  return on;
}

void Supervisor::Impl::Broadcast(std::string_view event, std::string_view params) {
  const uint64_t seq = ++last_event;
  if (sockets.empty()) return;
  std::string text = "{\"jsonrpc\":\"2.0\",\"method\":";
  AppendJsonString(text, event);
  text.append(",\"params\":").append(params).append(fmt::format(",\"seq\":{}}}", seq));
  const net::Bytes bytes = net::MakeBytes(std::move(text));
  for (const auto& [number, socket] : sockets) socket->Send(bytes);
}

void Supervisor::Impl::OnAgentChanged(const std::string& agent, acp::AgentState state,
                                      const std::string& error) {
  std::string params;
  JsonWriter w(params);
  w.Begin('{').Key("agent").String(agent).Key("state").String(acp::Word(state));
  if (!error.empty()) w.Key("error").String(error);
  w.Key("outdated").Bool(false).End('}');
  Broadcast("agent:state", params);
  if (quitting) return;
  if (state == acp::AgentState::kReady) {
    Do([&](channels::Outcome& out) { channels.AgentReady(agent, net::ReadClocks(), out); });
  }
  SettleWaiters(agent, error);
}

void Supervisor::Impl::OnAgentTold(const std::string& agent, const acp::ClientEvent& event) {
  if (quitting) return;
  const Now now = net::ReadClocks();
  if (const auto* updated = std::get_if<acp::Updated>(&event)) {
    Do([&](channels::Outcome& out) { channels.Updated(agent, *updated, now, out); });
    FlushSoon();
  } else if (const auto* ended = std::get_if<acp::PromptEnded>(&event)) {
    const std::string session(ended->session), reason(ended->stop_reason), failure(ended->failure);
    Do([&](channels::Outcome& out) { channels.PromptEnded(agent, session, reason, failure, now, out); });
  } else if (const auto* asked = std::get_if<acp::PermissionAsked>(&event)) {
    Do([&](channels::Outcome& out) {
      channels.PermissionAsked(agent, asked->request, asked->permission, now, out);
    });
  } else if (const auto* closed = std::get_if<acp::PermissionClosed>(&event)) {
    const uint64_t request = closed->request;
    Do([&](channels::Outcome& out) { channels.PermissionClosed(agent, request, out); });
  } else if (const auto* made = std::get_if<acp::SessionOpened>(&event)) {
    const auto call = opening.extract(CallKey(agent, made->call));
    const std::string session(made->session);
    if (call)
      Do([&](channels::Outcome& out) { channels.SessionOpened(agent, call.mapped(), session, now, out); });
  } else if (const auto* failed = std::get_if<acp::CallFailed>(&event)) {
    const auto call = opening.extract(CallKey(agent, failed->call));
    const std::string why = fmt::format("{} could not open a session: {}", agent, failed->failure);
    if (call)
      Do([&](channels::Outcome& out) { channels.SessionFailed(agent, call.mapped(), why, now, out); });
  } else if (const auto* skipped = std::get_if<acp::Skipped>(&event)) {
    LetGo(agent, *skipped);
  }
}

// An agent that writes nonsense without end must not fill the log with it.
void Supervisor::Impl::LetGo(const std::string& agent, const acp::Skipped& skipped) {
  constexpr uint64_t kAllOfTheFirst = 10;
  LettingGo& so_far = let_go[agent];
  ++so_far.lines;
  const int64_t now = net::ReadClocks().mono_ns;
  if (so_far.lines > kAllOfTheFirst && now - so_far.said_ns < kSecond) return;
  so_far.said_ns = now;
  net::Log(net::LogLevel::kWarn, "something an agent sent was let go",
           {{"agent", agent},
            {"why", skipped.why},
            {"line", skipped.line.substr(0, 200)},
            {"so_far", static_cast<int64_t>(so_far.lines)}});
}

void Supervisor::Impl::FlushSoon() {
  if (std::exchange(flush_posted, true)) return;
  // Behind what is ready already: the words of one read go to the pages as one event.
  loop.Post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->flush_posted = false;
    self->Do([&](channels::Outcome& out) { self->channels.Flush(out); });
  });
}

void Supervisor::Impl::Carry(channels::Outcome outcome) {
  outcomes.push_back(std::move(outcome));
  if (std::exchange(carrying, true)) return;  // behind what is being carried out
  while (!outcomes.empty()) {
    const channels::Outcome next = std::move(outcomes.front());
    outcomes.pop_front();
    archive.Keep(next);  // on the disk before anybody hears of it
    for (const channels::Action& action : next.actions) Perform(action);
  }
  carrying = false;
}

void Supervisor::Impl::Perform(const channels::Action& action) {
  const Now now = net::ReadClocks();
  if (const auto* emit = std::get_if<channels::Emit>(&action)) {
    Broadcast(emit->event, emit->params);
  } else if (const auto* need = std::get_if<channels::NeedAgent>(&action)) {
    const acp::AgentState state = agents->state(need->agent);
    if ((state == acp::AgentState::kReady || state == acp::AgentState::kBusy) &&
        !agents->stopping(need->agent)) {
      return Do([&](channels::Outcome& out) { channels.AgentReady(need->agent, now, out); });
    }
    const absl::Status started = agents->Start(need->agent);
    if (started.ok()) return;
    Do([&](channels::Outcome& out) { channels.StartFailed(need->agent, MessageOf(started), now, out); });
  } else if (const auto* open = std::get_if<channels::OpenSession>(&action)) {
    const AgentConfig* config = agents->Find(open->agent);
    const absl::Status asked = agents->With(open->agent, [&](acp::Client& client) -> absl::Status {
      acp::NewSessionRequest request;
      request.cwd = config->cwd;
      const auto call = client.NewSession(request, now);
      if (call.ok()) opening[CallKey(open->agent, *call)] = open->channel;
      return call.status();
    });
    if (asked.ok()) return;
    Do([&](channels::Outcome& out) {
      channels.SessionFailed(open->agent, open->channel, MessageOf(asked), now, out);
    });
  } else if (const auto* prompt = std::get_if<channels::Prompt>(&action)) {
    absl::Status asked = agents->Use(prompt->agent);
    if (asked.ok()) {
      acp::PromptRequest request;
      request.session_id = prompt->session;
      for (const std::string& text : prompt->texts) {
        request.prompt.push_back(acp::TextContent{text, std::nullopt, {}});
      }
      asked =
          agents->With(prompt->agent, [&](acp::Client& client) { return client.Prompt(request).status(); });
    }
    if (asked.ok()) return;
    Do([&](channels::Outcome& out) {
      channels.PromptEnded(prompt->agent, prompt->session, "", MessageOf(asked), now, out);
    });
  } else if (const auto* cancel = std::get_if<channels::CancelTurn>(&action)) {
    (void)agents->With(cancel->agent, [&](acp::Client& client) {
      client.Cancel(cancel->session);
      return absl::OkStatus();
    });
  } else if (const auto* release = std::get_if<channels::ReleaseAgent>(&action)) {
    agents->Release(release->agent);
  } else if (const auto* answer = std::get_if<channels::AnswerPermission>(&action)) {
    (void)agents->With(answer->agent, [&](acp::Client& client) {
      return answer->option ? client.AnswerPermission(answer->request, *answer->option)
                            : client.RefusePermission(answer->request).status();
    });
  }
}

absl::StatusOr<std::unique_ptr<Supervisor>> Supervisor::Create(net::Loop& loop, SupervisorOptions options) {
  const std::string key = HistoryKey(options.config_path);
  auto access = Access::Open(KeysFolder(options.folder, key), key);
  if (!access.ok()) return absl::DataLossError(std::string(MessageOf(access.status())));
  auto impl = std::make_shared<Impl>(loop, std::move(options), *std::move(access));
  if (absl::Status status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<Supervisor>(new Supervisor(std::move(impl)));
}

Supervisor::Supervisor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Supervisor::~Supervisor() = default;

std::string Supervisor::url() const { return impl_->server->url(); }

absl::StatusOr<std::string> Supervisor::MakeLink() const {
  const auto made = Access::MakeLink(KeysFolder(impl_->options.folder, impl_->key));
  if (!made.ok()) return made.status();
  return fmt::format("{}open/{}", url(), *made);
}

void Supervisor::Stop(std::function<void()> done) {
  impl_->quitting = true;
  // Another one of the same configuration may have written its own there.
  const std::string file = RuntimeFile(impl_->options.folder, impl_->options.runtime_folder, impl_->key);
  if (const auto text = net::ReadFile(file, 1 << 16);
      text.ok() && text->find(impl_->access.token()) != std::string::npos) {
    unlink(file.c_str());
  }
  impl_->agents->StopAll(
      [impl = impl_, done = std::move(done)]() mutable { impl->server->Stop(std::move(done)); });
}

}  // namespace watchbill::supervisor
