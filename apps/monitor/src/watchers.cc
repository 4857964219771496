// The dashboard: who watches, what they ask, and what they hear of it.
#include <fmt/core.h>

#include <algorithm>

#include "commands.hpp"
#include "monitor_impl.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/monitorproto/encode.hpp"

namespace watchbill::monitor {

namespace mp = monitorproto;

net::WebSocketEvents Monitor::Impl::OpenWatcher(std::shared_ptr<net::WebSocket> socket) {
  const uint64_t watcher = ++last_number;
  watchers[watcher] = std::move(socket);
  Apply(board::WatcherJoined{watcher});
  net::WebSocketEvents on;
  on.text = [this, watcher](std::string_view text) { OnWatcherText(watcher, text); };
  on.drained = [this, watcher] { Apply(board::WatcherDrained{watcher}); };
  on.closed = [this, watcher](std::string_view) {
    watchers.erase(watcher);
    Apply(board::WatcherLeft{watcher});
  };
  return on;
}

void Monitor::Impl::TurnAway(const std::shared_ptr<net::WebSocket>& socket) {
  socket->Send(net::MakeBytes(mp::EncodeSignIn(net::ReadClocks().wall_ms)));
  socket->Close(1008, "sign in");
}

void Monitor::Impl::Tell(uint64_t watcher, std::string frame) {
  if (const auto it = watchers.find(watcher); it != watchers.end())
    it->second->Send(net::MakeBytes(std::move(frame)));
}

void Monitor::Impl::OnWatcherText(uint64_t watcher, std::string_view text) {
  const auto frame = decoder.ReadDashboard(text);
  if (!frame.ok()) return Skipped("dashboard", frame.status());
  if (const auto* watch = std::get_if<mp::Watch>(&*frame)) {
    const auto& words = watch->capabilities;
    Apply(board::WatcherNamed{watcher, std::find(words.begin(), words.end(), "rows") != words.end()});
    return;
  }
  Carry(watcher, std::get<mp::DashboardCommand>(*frame));
}

void Monitor::Impl::Carry(uint64_t watcher, const mp::DashboardCommand& asked) {
  const Now now = net::ReadClocks();
  const auto refuse = [&](const Sentence& why) {
    mp::Did did;
    did.of = asked.type;
    did.id = asked.id;
    did.ask = asked.ask;
    did.error = why.text;
    did.code = why.code;
    did.arg_key = why.key;
    did.arg_value = why.value;
    Tell(watcher, mp::Encode(did, now.wall_ms));
  };
  const Command* command = FindCommand(asked.type);
  if (command == nullptr) {
    const std::string type(asked.type.substr(0, 64));
    return refuse({"no-such-command", fmt::format("no such command: {}", type), "type", type});
  }
  if (!asked.id || asked.id->empty()) {
    return refuse({"bad-frame", fmt::format("{} needs `id`: which agent is meant", command->name)});
  }
  const board::Plan plan = (board.*command->plan)(*asked.id);
  if (const auto* why = std::get_if<Sentence>(&plan)) return refuse(*why);

  Asker asker{watcher, std::string(asked.type), std::string(*asked.id), JsonText(asked.ask)};
  const bool run = command->name == "run";
  if (const auto* runner_plan = std::get_if<board::AskRunner>(&plan)) {
    const auto socket = runners.find(runner_plan->connection);
    if (socket == runners.end()) return Unanswered(asker);
    const std::string ask = asks.Ask(runner_plan->connection, std::move(asker), now);
    const mp::RunnerStart start{ask, runner_plan->folder};
    const mp::RunnerKill kill{ask, runner_plan->folder};
    socket->second->Send(
        net::MakeBytes(run ? mp::Encode(start, now.wall_ms) : mp::Encode(kill, now.wall_ms)));
  } else if (const auto* agent_plan = std::get_if<board::AskAgent>(&plan)) {
    const auto socket = agents.find(agent_plan->connection);
    if (socket == agents.end()) return Unanswered(asker);
    const std::string ask = asks.Ask(agent_plan->connection, std::move(asker), now);
    const mp::Terminate terminate{ask};
    socket->second->Send(net::MakeBytes(mp::Encode(terminate, now.wall_ms)));
  }
  SettleSoon();
}

void Monitor::Impl::Answered(uint64_t connection, std::string_view ask, bool ok, std::string_view error,
                             JsonView rest) {
  const auto asker = asks.Answered(connection, ask);
  if (!asker) return;
  mp::Did did;
  did.of = asker->of;
  did.id = asker->id;
  did.ask = asker->ask.view();
  did.ok = ok;
  if (!ok) {
    did.error = error;
    did.code = "refused";
  }
  did.rest = rest;
  Tell(asker->watcher, mp::Encode(did, net::ReadClocks().wall_ms));
}

// Saying nothing would let the person assume that it worked.
void Monitor::Impl::Unanswered(const Asker& asker) {
  mp::Did did;
  did.of = asker.of;
  did.id = asker.id;
  did.ask = asker.ask.view();
  did.error = "It did not answer.";
  did.code = "no-answer";
  Tell(asker.watcher, mp::Encode(did, net::ReadClocks().wall_ms));
}

}  // namespace watchbill::monitor
