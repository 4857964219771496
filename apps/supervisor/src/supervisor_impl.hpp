// What the files of Supervisor share.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "access.hpp"
#include "agents.hpp"
#include "archive.hpp"
#include "channels/channels.hpp"
#include "json_document.hpp"
#include "supervisor.hpp"
#include "watchbill/net/server.hpp"
#include "watchbill/net/websocket.hpp"

namespace watchbill::supervisor {

// A request on /rpc that waits for its answer.
struct Caller {
  uint64_t socket = 0;
  std::string id;  // JSON; empty: a notification, which hears nothing
};

struct Supervisor::Impl : std::enable_shared_from_this<Impl> {
  Impl(net::Loop& l, SupervisorOptions o, Access a)
      : loop(l),
        options(std::move(o)),
        key(HistoryKey(options.config_path)),
        access(std::move(a)),
        archive(options.folder + "/data/" + key),
        channels(archive, options.seed) {}

  absl::Status Start();
  absl::Status WriteRuntimeFile();

  // HTTP and sockets (supervisor.cc).
  net::Response Answer(const net::Request& request);
  net::UpgradeAnswer Upgrade(const net::Request& request);
  net::WebSocketEvents Open(std::shared_ptr<net::WebSocket> socket);
  void Broadcast(std::string_view event, std::string_view params);

  // Agents and conversations (supervisor.cc).
  void OnAgentChanged(const std::string& agent, acp::AgentState state, const std::string& error);
  void OnAgentTold(const std::string& agent, const acp::ClientEvent& event);
  void LetGo(const std::string& agent, const acp::Skipped& skipped);
  template <typename Change>
  auto Do(const Change& change);
  void Carry(channels::Outcome outcome);
  void Perform(const channels::Action& action);
  void FlushSoon();

  // Services (services.cc).
  void OnText(uint64_t socket, std::string_view text);
  void Reply(const Caller& caller, std::string_view result);
  void Refuse(const Caller& caller, int code, std::string_view message, std::string_view word,
              std::string_view arg = {}, std::string_view value = {});
  void RefuseWith(const Caller& caller, const absl::Status& status, std::string_view word,
                  std::string_view arg = {}, std::string_view value = {});
  using Arguments = std::vector<std::string_view>;
  using Handler = void (Impl::*)(const Caller&, const Arguments&);
  static Handler HandlerOf(std::string_view method);
  void AgentList(const Caller&, const Arguments&);
  void AgentStart(const Caller&, const Arguments&);
  void AgentStop(const Caller&, const Arguments&);
  void AgentRestart(const Caller&, const Arguments&);
  void AgentLogs(const Caller&, const Arguments&);
  void ConfigCurrent(const Caller&, const Arguments&);
  void ChannelList(const Caller&, const Arguments&);
  void ChannelDirect(const Caller&, const Arguments&);
  void ChannelSend(const Caller&, const Arguments&);
  void ChannelCancel(const Caller&, const Arguments&);
  void ChannelAnswerPermission(const Caller&, const Arguments&);
  void ChannelConversation(const Caller&, const Arguments&);
  void ChannelOlder(const Caller&, const Arguments&);
  void ChannelCommands(const Caller&, const Arguments&);
  bool KnowsAgent(const Caller&, std::string_view agent);
  void SettleWaiters(const std::string& agent, std::string_view failure);

  // Who waits for an agent to run, or to be stopped.
  struct Waiter {
    Caller caller;
    std::string agent;
    bool for_start = false;
  };

  // Lines of one agent that were let go, and when that was last said.
  struct LettingGo {
    uint64_t lines = 0;
    int64_t said_ns = 0;
  };

  net::Loop& loop;
  SupervisorOptions options;
  const std::string key;
  Access access;
  Archive archive;
  channels::Channels channels;
  std::unique_ptr<Agents> agents;
  std::unique_ptr<net::Server> server;
  std::map<uint64_t, std::shared_ptr<net::WebSocket>> sockets;
  std::deque<channels::Outcome> outcomes;
  std::vector<Waiter> waiters;
  std::map<std::string, std::string, std::less<>>
      opening;  // channels, by the number of the call that opens a session
  std::map<std::string, LettingGo, std::less<>> let_go;
  json::Document document{{.bytes = 4 << 20, .depth = 64}};
  uint64_t last_socket = 0, last_event = 0;
  bool carrying = false, flush_posted = false, quitting = false;
};

template <typename Change>
auto Supervisor::Impl::Do(const Change& change) {
  channels::Outcome outcome;
  if constexpr (std::is_void_v<decltype(change(outcome))>) {
    change(outcome);
    Carry(std::move(outcome));
  } else {
    auto result = change(outcome);
    Carry(std::move(outcome));
    return result;
  }
}

}  // namespace watchbill::supervisor
