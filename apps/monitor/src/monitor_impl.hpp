// What the monitor's files share.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agents_file.hpp"
#include "monitor.hpp"
#include "runner.hpp"
#include "sessions.hpp"
#include "watchbill/board/board.hpp"
#include "watchbill/monitorproto/asks.hpp"
#include "watchbill/monitorproto/decoder.hpp"
#include "watchbill/net/files.hpp"
#include "watchbill/net/server.hpp"

namespace watchbill::monitor {

// A watcher's command that somebody else is to answer.
struct Asker {
  uint64_t watcher = 0;
  std::string of, id;
  JsonText ask;
};

struct Monitor::Impl : std::enable_shared_from_this<Impl> {
  Impl(net::Loop& loop, MonitorOptions options, AgentsFile file, std::unique_ptr<net::FolderLock> lock);

  // monitor.cc: sockets and turns
  absl::Status Start();
  net::UpgradeAnswer Upgrade(const net::Request& request);
  net::WebSocketEvents OpenAgent(std::shared_ptr<net::WebSocket> socket);
  net::WebSocketEvents OpenRunner(std::shared_ptr<net::WebSocket> socket);
  void OnAgentText(uint64_t connection, std::string_view text);
  void OnRunnerText(uint64_t connection, std::string_view text);
  void Apply(const board::Event& event);
  // Once a turn of the loop: carries out what the board wants, and asks to be woken when it wants that.
  void SettleSoon();
  void Settle();
  void Skipped(std::string_view socket, const absl::Status& why);
  void ReadListAgain();
  absl::Status StartRunner();

  // watchers.cc: the dashboard
  net::WebSocketEvents OpenWatcher(std::shared_ptr<net::WebSocket> socket);
  void TurnAway(const std::shared_ptr<net::WebSocket>& socket);
  void OnWatcherText(uint64_t watcher, std::string_view text);
  void Carry(uint64_t watcher, const monitorproto::DashboardCommand& command);
  void Answered(uint64_t connection, std::string_view ask, bool ok, std::string_view error, JsonView rest);
  void Unanswered(const Asker& asker);
  void Tell(uint64_t watcher, std::string frame);

  // rest.cc
  net::Response Answer(const net::Request& request);
  net::Response AnswerAgents(const net::Request& request);
  net::Response AnswerSession(const net::Request& request);

  net::Loop& loop;
  MonitorOptions options;
  std::unique_ptr<net::FolderLock> lock;
  AgentsFile file;
  board::Board board;
  board::Actions actions;
  Sessions sessions;
  monitorproto::Decoder decoder;
  monitorproto::Asks<Asker> asks;
  std::unique_ptr<net::Server> server;
  std::unique_ptr<runner::Runner> runner;
  net::Timer timer;
  net::Timer list_timer;
  uint64_t last_number = 0;  // of connections and watchers alike
  std::map<uint64_t, std::shared_ptr<net::WebSocket>> agents, runners, watchers;
  bool settle_posted = false;
  bool stopping = false;
  int64_t complained_ns = 0;
  uint64_t skipped = 0;
};

}  // namespace watchbill::monitor
