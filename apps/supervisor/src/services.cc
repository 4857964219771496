// The services of /rpc: requests in, calls on agents and conversations, answers out.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "rpc_table.hpp"
#include "supervisor_impl.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::supervisor {

namespace {

constexpr size_t kPage = 100;
constexpr int kServiceError = -32000;

const RpcMethod* FindMethod(std::string_view name) {
  for (const RpcMethod& method : kRpcMethods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

void WriteMessages(JsonWriter& w, const std::vector<history::Message>& messages) {
  w.Key("messages").Begin('[');
  for (const history::Message& message : messages) Write(w, message);
  w.End(']');
}

void WriteProblems(JsonWriter& w, std::string_view key, const std::vector<Problem>& problems) {
  w.Key(key).Begin('[');
  for (const Problem& p : problems) {
    w.Begin('{').Key("line").Int(p.line).Key("column").Int(p.column);
    w.Key("message").String(p.message).Key("warning").Bool(p.warning).End('}');
  }
  w.End(']');
}

}  // namespace

Supervisor::Impl::Handler Supervisor::Impl::HandlerOf(std::string_view method) {
  static constexpr std::pair<std::string_view, Handler> kHandlers[] = {
      {"AgentService.List", &Impl::AgentList},
      {"AgentService.Start", &Impl::AgentStart},
      {"AgentService.Stop", &Impl::AgentStop},
      {"AgentService.Restart", &Impl::AgentRestart},
      {"AgentService.Logs", &Impl::AgentLogs},
      {"ConfigService.Current", &Impl::ConfigCurrent},
      {"ChannelService.List", &Impl::ChannelList},
      {"ChannelService.Direct", &Impl::ChannelDirect},
      {"ChannelService.Send", &Impl::ChannelSend},
      {"ChannelService.Cancel", &Impl::ChannelCancel},
      {"ChannelService.AnswerPermission", &Impl::ChannelAnswerPermission},
      {"ChannelService.Conversation", &Impl::ChannelConversation},
      {"ChannelService.Older", &Impl::ChannelOlder},
      {"ChannelService.Commands", &Impl::ChannelCommands},
  };
  static_assert(std::size(kHandlers) == std::size(kRpcMethods), "a method of the table has no handler");
  for (const auto& [name, handler] : kHandlers) {
    if (name == method) return handler;
  }
  return nullptr;
}

void Supervisor::Impl::Reply(const Caller& caller, std::string_view result) {
  const auto socket = sockets.find(caller.socket);
  if (socket == sockets.end() || caller.id.empty()) return;
  socket->second->Send(
      net::MakeBytes(fmt::format("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}}", caller.id, result)));
}

void Supervisor::Impl::Refuse(const Caller& caller, int code, std::string_view message, std::string_view word,
                              std::string_view arg, std::string_view value) {
  const auto socket = sockets.find(caller.socket);
  if (socket == sockets.end() || caller.id.empty()) return;
  std::string text = fmt::format("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":", caller.id);
  JsonWriter w(text);
  w.Begin('{').Key("code").Int(code).Key("message").String(message);
  w.Key("data").Begin('{').Key("code").String(word).Key("args").Begin('{');
  if (!arg.empty()) w.Key(arg).String(value);
  w.End('}').End('}').End('}');
  socket->second->Send(net::MakeBytes(text + "}"));
}

void Supervisor::Impl::RefuseWith(const Caller& caller, const absl::Status& status, std::string_view word,
                                  std::string_view arg, std::string_view value) {
  Refuse(caller, kServiceError, MessageOf(status), word, arg, value);
}

void Supervisor::Impl::OnText(uint64_t socket, std::string_view text) {
  Caller caller{socket, "null"};
  if (const absl::Status status = document.Parse(text); !status.ok()) {
    return Refuse(caller, -32700, fmt::format("That is not JSON: {}", MessageOf(status)), "not-json");
  }
  const json::Value root = document.root();
  const json::Value id = root["id"];
  caller.id = id.absent() ? "" : std::string(id.text().text());
  const auto name = root["method"].AsString();
  if (!root.is_object() || !name || id.kind() == json::Kind::kObject || id.kind() == json::Kind::kArray) {
    caller.id = "null";
    return Refuse(caller, -32600,
                  "That is no request: send {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"…\",\"params\":[…]}.",
                  "not-request");
  }
  const RpcMethod* method = FindMethod(*name);
  const Handler handler = method == nullptr ? nullptr : HandlerOf(method->name);
  if (handler == nullptr) {
    const std::string_view shown = name->substr(0, 100);
    return Refuse(caller, -32601, fmt::format("There is no method {}.", shown), "unknown-method", "method",
                  shown);
  }
  const json::Value params = root["params"];
  json::Value positional = params.kind() == json::Kind::kArray ? params.First() : json::Value();
  Arguments arguments;
  for (const RpcParameter& wanted : method->parameters) {
    if (wanted.name.empty()) break;
    const json::Value given = params.is_object() ? params[wanted.name] : positional;
    const auto said = given.AsString();
    if (!said) {
      return Refuse(caller, -32602, fmt::format("{} needs `{}`, a text.", method->name, wanted.name),
                    "bad-params", "param", wanted.name);
    }
    arguments.push_back(*said);
    if (!positional.absent()) positional = positional.Next();
  }
  (this->*handler)(caller, arguments);
}

bool Supervisor::Impl::KnowsAgent(const Caller& caller, std::string_view agent) {
  if (agents->Find(agent) != nullptr) return true;
  Refuse(caller, kServiceError, fmt::format("There is no agent named \"{}\".", agent), "unknown-agent",
         "agent", agent);
  return false;
}

void Supervisor::Impl::AgentList(const Caller& caller, const Arguments&) {
  std::string out;
  JsonWriter w(out);
  w.Begin('[');
  for (const AgentConfig& agent : agents->list()) {
    w.Begin('{')
        .Key("name")
        .String(agent.name)
        .Key("title")
        .String(agent.title)
        .Key("icon")
        .String(agent.icon);
    w.Key("description").String(agent.description).Key("state").String(acp::Word(agents->state(agent.name)));
    w.Key("error").String(agents->error(agent.name)).Key("outdated").Bool(false).End('}');
  }
  w.End(']');
  Reply(caller, out);
}

void Supervisor::Impl::AgentStart(const Caller& caller, const Arguments& a) {
  if (!KnowsAgent(caller, a[0])) return;
  const std::string agent(a[0]);
  waiters.push_back({caller, agent, true});
  const absl::Status status = agents->Start(agent);
  if (!status.ok()) return SettleWaiters(agent, MessageOf(status));
  SettleWaiters(agent, {});
}

void Supervisor::Impl::AgentStop(const Caller& caller, const Arguments& a) {
  if (!KnowsAgent(caller, a[0])) return;
  const std::string agent(a[0]);
  waiters.push_back({caller, agent, false});
  (void)agents->Stop(agent);
  SettleWaiters(agent, {});
}

void Supervisor::Impl::AgentRestart(const Caller& caller, const Arguments& a) {
  if (!KnowsAgent(caller, a[0])) return;
  const std::string agent(a[0]);
  waiters.push_back({caller, agent, true});
  (void)agents->Restart(agent);
  SettleWaiters(agent, {});
}

void Supervisor::Impl::SettleWaiters(const std::string& agent, std::string_view failure) {
  const acp::AgentState state = agents->state(agent);
  const bool stopping = agents->stopping(agent);
  const bool runs = !stopping && (state == acp::AgentState::kReady || state == acp::AgentState::kBusy);
  const bool down = state == acp::AgentState::kStopped || state == acp::AgentState::kError;
  std::vector<Waiter> settled;
  std::erase_if(waiters, [&](const Waiter& w) {
    const bool over = w.agent == agent && (w.for_start ? runs || (down && !failure.empty()) : down);
    if (over) settled.push_back(w);
    return over;
  });
  for (const Waiter& w : settled) {
    if (w.for_start && !runs) {
      Refuse(w.caller, kServiceError, failure, "agent-failed", "agent", agent);
    } else {
      Reply(w.caller, "null");
    }
  }
}

void Supervisor::Impl::AgentLogs(const Caller& caller, const Arguments& a) {
  if (!KnowsAgent(caller, a[0])) return;
  std::string out;
  JsonWriter w(out);
  w.Begin('[');
  for (const std::string& line : agents->log(a[0])) w.String(line);
  w.End(']');
  Reply(caller, out);
}

void Supervisor::Impl::ConfigCurrent(const Caller& caller, const Arguments&) {
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("path").String(options.config_path).Key("source").String(options.source);
  w.Key("created").Bool(options.created).Key("valid").Bool(true);
  WriteProblems(w, "problems", {});
  WriteProblems(w, "warnings", options.warnings);
  w.Key("theme").String(options.config.theme).Key("language").String(options.config.language);
  w.Key("historyProblem").String(archive.problem()).End('}');
  Reply(caller, out);
}

void Supervisor::Impl::ChannelList(const Caller& caller, const Arguments&) {
  std::string out;
  JsonWriter w(out);
  w.Begin('[');
  for (const history::Channel& channel : channels.List()) Write(w, channel);
  w.End(']');
  Reply(caller, out);
}

void Supervisor::Impl::ChannelDirect(const Caller& caller, const Arguments& a) {
  const std::string agent(a[0]);
  const auto channel =
      Do([&](channels::Outcome& out) { return channels.Direct(agent, net::ReadClocks(), out); });
  if (!channel.ok()) return RefuseWith(caller, channel.status(), "unknown-agent", "agent", agent);
  std::string out;
  JsonWriter w(out);
  Write(w, *channel);
  Reply(caller, out);
}

void Supervisor::Impl::ChannelSend(const Caller& caller, const Arguments& a) {
  const std::string channel(a[0]), text(a[1]);
  const auto id =
      Do([&](channels::Outcome& out) { return channels.Send(channel, text, net::ReadClocks(), out); });
  if (id.ok()) {
    std::string out;
    AppendJsonString(out, *id);
    return Reply(caller, out);
  }
  if (absl::IsNotFound(id.status()))
    return RefuseWith(caller, id.status(), "unknown-channel", "channel", channel);
  if (absl::IsOutOfRange(id.status())) {
    const std::string most = std::to_string(channels::Channels::Limits().text_bytes);
    return RefuseWith(caller, id.status(), "text-too-long", "limit", most);
  }
  if (absl::IsResourceExhausted(id.status())) return RefuseWith(caller, id.status(), "queue-full");
  RefuseWith(caller, id.status(), "empty-text");
}

void Supervisor::Impl::ChannelCancel(const Caller& caller, const Arguments& a) {
  const std::string channel(a[0]);
  const absl::Status status =
      Do([&](channels::Outcome& out) { return channels.Cancel(channel, net::ReadClocks(), out); });
  if (!status.ok()) return RefuseWith(caller, status, "unknown-channel", "channel", channel);
  Reply(caller, "null");
}

void Supervisor::Impl::ChannelAnswerPermission(const Caller& caller, const Arguments& a) {
  const std::string id(a[0]), option(a[1]);
  const absl::Status status =
      Do([&](channels::Outcome& out) { return channels.Answer(id, option, net::ReadClocks(), out); });
  if (status.ok()) return Reply(caller, "null");
  if (absl::IsNotFound(status)) return RefuseWith(caller, status, "unknown-permission");
  RefuseWith(caller, status, "unknown-option", "option", option);
}

void Supervisor::Impl::ChannelConversation(const Caller& caller, const Arguments& a) {
  const std::string channel(a[0]);
  // What was gathered for the pages goes out first: it is in what is answered here.
  Do([&](channels::Outcome& out) { channels.Flush(out); });
  const auto live = channels.LiveOf(channel);
  if (!live.ok()) return RefuseWith(caller, live.status(), "unknown-channel", "channel", channel);
  history::Page page = archive.LastPage(channel, kPage);
  for (const history::Message* message : live->messages) page.messages.push_back(*message);
  std::stable_sort(page.messages.begin(), page.messages.end(),
                   [](const history::Message& x, const history::Message& y) { return x.id < y.id; });
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("channel");
  Write(w, *live->channel);
  WriteMessages(w, page.messages);
  w.Key("more").Bool(page.more).Key("busy").Bool(live->busy).Key("queued").Int(live->queued);
  w.Key("answering").String(live->answering).Key("usage").Begin('{');
  for (const auto& [agent, usage] : live->usage) {
    w.Key(agent).Begin('{').Key("used").Int(usage.used).Key("size").Int(usage.size).End('}');
  }
  w.End('}').Key("permissions").Begin('[');
  for (const channels::OpenPermission* permission : live->permissions) channels::Write(w, *permission);
  w.End(']').End('}');
  Reply(caller, out);
}

void Supervisor::Impl::ChannelOlder(const Caller& caller, const Arguments& a) {
  const std::string channel(a[0]), before(a[1]);
  if (const auto live = channels.LiveOf(channel); !live.ok()) {
    return RefuseWith(caller, live.status(), "unknown-channel", "channel", channel);
  }
  const history::Page page = archive.PageBefore(channel, before, kPage);
  std::string out;
  JsonWriter w(out);
  w.Begin('{');
  WriteMessages(w, page.messages);
  w.Key("more").Bool(page.more).End('}');
  Reply(caller, out);
}

void Supervisor::Impl::ChannelCommands(const Caller& caller, const Arguments& a) {
  if (!KnowsAgent(caller, a[0])) return;
  Reply(caller, archive.Commands(a[0]));
}

}  // namespace watchbill::supervisor
