// Who is there: registrations, the eight states and what decides them, runners, second copies.
#include <fmt/core.h>

#include <algorithm>

#include "clip.hpp"
#include "state.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::board {
namespace {

Registration RegistrationOf(const AgentRegistered& e) {
  const auto kept = [](OptText text, size_t most) { return std::string(Clip(text.value_or(""), most)); };
  Registration r;
  r.identified = e.id && !e.id->empty();
  r.name = kept(e.name, kMaxName);
  r.version = kept(e.version, kMaxWord);
  r.host = kept(e.host, kMaxName);
  r.cwd = kept(e.cwd, kMaxPath);
  r.protocol = kept(e.protocol, kMaxWord);
  r.pid = e.pid;
  r.port = e.port;
  for (const Text word : e.capabilities.first(std::min(e.capabilities.size(), kMaxWords))) {
    r.can.emplace_back(Clip(word, kMaxWord));
  }
  r.key = r.identified ? std::string(Clip(*e.id, kMaxId)) : fmt::format("no-id:{}:{}", r.host, r.cwd);
  return r;
}

// Machine names do not tell case apart, and folders are compared, not matched.
std::string PlaceOf(std::string_view host, std::string_view folder) {
  std::string place(host);
  for (char& c : place) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return place + '\n' + NormalFolder(folder);
}

bool SameHost(std::string_view a, std::string_view b) { return PlaceOf(a, "") == PlaceOf(b, ""); }

}  // namespace

std::string NormalFolder(std::string_view folder) {
  std::string out(folder);
  for (char& c : out) {
    if (c == '\\') c = '/';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

std::string_view WordFor(AgentState state) {
  switch (state) {
    case AgentState::kUnidentified:
      return "unidentified";
    case AgentState::kRunning:
      return "running";
    case AgentState::kNotAnswering:
      return "not-answering";
    case AgentState::kSilent:
      return "silent";
    case AgentState::kStopped:
      return "stopped";
    case AgentState::kWaiting:
      return "waiting";
    case AgentState::kUnseen:
      return "unseen";
  }
  return "";
}

AgentState Board::State::StateOf(const Agent& a, Now now) const {
  if (a.connection != 0) {
    if (a.said && !a.said->identified) return AgentState::kUnidentified;
    const bool answers = a.heard_ns && now.mono_ns - *a.heard_ns <= options.not_answering_ns;
    return answers ? AgentState::kRunning : AgentState::kNotAnswering;
  }
  // A launch counts only while it is newer than anything heard: else an agent that ran and stopped would be
  // called "started, not reporting" for ever.
  if (a.launched_ns && (!a.heard_ns || *a.launched_ns > *a.heard_ns)) return AgentState::kSilent;
  if (a.heard_ns) return AgentState::kStopped;
  return now.mono_ns < settle_at_ns ? AgentState::kWaiting : AgentState::kUnseen;
}

void Board::State::Judge(Agent& agent, Now now) {
  const AgentState state = StateOf(agent, now);
  if (state == agent.state) return;
  agent.state = state;
  agent.since_wall_ms = now.wall_ms;
  Touch(agent, Urgency::kEverybody);
}

Agent* Board::State::AgentAt(ConnectionId connection) {
  const auto it = holders.find(connection);
  return it == holders.end() ? nullptr : it->second;
}

Agent& Board::State::Row(const std::string& key, Now now) {
  if (const auto it = agents.find(key); it != agents.end()) return *it->second;
  if (agents.size() >= options.max_rows) MakeRoom(now);
  auto made = std::make_unique<Agent>();
  Agent& agent = *made;
  agent.key = key;
  agent.recent = recent.insert(recent.end(), &agent);
  agent.state = now.mono_ns < settle_at_ns ? AgentState::kWaiting : AgentState::kUnseen;
  agent.since_wall_ms = agent.state == AgentState::kWaiting ? start.wall_ms : now.wall_ms;
  agents.emplace(key, std::move(made));
  order_stale = true;
  Touch(agent, Urgency::kEverybody);
  return agent;
}

void Board::State::MakeRoom(Now) {
  const Agent* oldest = nullptr;
  for (const auto& [key, agent] : agents) {
    if (agent->keyed || agent->connection != 0 || !agent->standing_by.empty()) continue;
    const auto age = std::pair(agent->heard_ns.value_or(0), std::string_view(agent->key));
    if (oldest == nullptr || age < std::pair(oldest->heard_ns.value_or(0), std::string_view(oldest->key))) {
      oldest = agent.get();
    }
  }
  if (oldest == nullptr) return;
  ++counters.rows_forgotten;
  Forget(std::string(oldest->key));
}

void Board::State::Forget(const std::string& key) {
  const auto it = agents.find(key);
  if (it == agents.end()) return;
  Agent* agent = it->second.get();
  recent.erase(agent->recent);
  std::erase(dirty_rows, agent);
  std::erase(dirty_runs, agent);
  if (agent->tokens) --agents_spending;
  spent_tokens -= agent->tokens.value_or(0);
  steps_held -= agent->steps_counted;
  gone.emplace_back(push + 1, key);
  if (gone.size() > 1000) {
    gone_since = gone.front().first;
    gone.pop_front();
  }
  agents.erase(it);
  order_stale = true;
  want_rows = want_everybody = true;
}

void Board::State::RememberLaunch(Agent& agent) {
  const auto it = launches.find(PlaceOf(agent.host(options.here), agent.folder()));
  if (it == launches.end()) return;
  agent.launched_ns = it->second.first;
  agent.launched_wall_ms = it->second.second;
}

void Board::State::Install(Registration registration, ConnectionId connection, Now now) {
  Agent& agent = Row(registration.key, now);
  if (agent.connection != 0) holders.erase(agent.connection);
  const std::string before(agent.name());
  agent.said = std::move(registration);
  if (agent.name() != before) order_stale = true;
  agent.connection = connection;
  agent.heard_ns = now.mono_ns;
  agent.pinged_ns = now.mono_ns;
  agent.stopped_wall_ms.reset();
  agent.challenge_until_ns = kNever;
  std::erase(agent.standing_by, connection);
  holders[connection] = &agent;
  RememberLaunch(agent);
  look_at_ns = std::min(look_at_ns, now.mono_ns + kSecond);
  Judge(agent, now);
  Touch(agent, Urgency::kEverybody);
}

void Board::State::On(const AgentRegistered& e, Now now, Actions& actions) {
  Registration registration = RegistrationOf(e);
  if (Agent* mine = AgentAt(e.connection); mine != nullptr && mine->key != registration.key) {
    On(AgentClosed{e.connection}, now, actions);  // it is somebody else now
  }
  copies.erase(e.connection);
  const auto it = agents.find(registration.key);
  Agent* held = it == agents.end() ? nullptr : it->second.get();
  if (held == nullptr || held->connection == 0 || held->connection == e.connection) {
    Install(std::move(registration), e.connection, now);
    return;
  }
  // A second copy: the holder has to show that it lives.
  copies[e.connection] = held->key;
  std::erase(held->standing_by, e.connection);  // it asks again
  std::erase_if(held->challengers, [&](const auto& c) { return c.first == e.connection; });
  held->challengers.emplace_back(e.connection, std::move(registration));
  if (held->challenge_until_ns == kNever) {
    held->challenged_ns = now.mono_ns;
    held->challenge_until_ns = now.mono_ns + options.copy_within_ns;
    look_at_ns = std::min(look_at_ns, held->challenge_until_ns);
    actions.push_back(PingAgent{held->connection});
  }
}

void Board::State::ReachedBy(Agent& agent, Now now, Actions& actions) {
  agent.heard_ns = now.mono_ns;
  if (agent.state == AgentState::kNotAnswering) Judge(agent, now);
  if (agent.challenge_until_ns == kNever || now.mono_ns <= agent.challenged_ns) return;
  agent.challenge_until_ns = kNever;
  for (auto& [connection, registration] : agent.challengers) {
    actions.push_back(TellDuplicate{connection});
    agent.standing_by.push_back(connection);
  }
  agent.challengers.clear();
}

void Board::State::On(const AgentHeard& e, Now now, Actions& actions) {
  if (Agent* agent = AgentAt(e.connection)) ReachedBy(*agent, now, actions);
}

void Board::State::Release(Agent& agent, Now now, Actions& actions) {
  holders.erase(agent.connection);
  agent.connection = 0;
  agent.stopped_wall_ms = now.wall_ms;
  agent.challenge_until_ns = kNever;
  if (!agent.challengers.empty()) {
    auto [connection, registration] = std::move(agent.challengers.front());
    agent.challengers.pop_front();
    copies.erase(connection);
    agent.runs.Interrupt(now);
    Install(std::move(registration), connection, now);
    return;
  }
  if (!agent.standing_by.empty()) {
    actions.push_back(TellMayReturn{agent.standing_by.front()});
    agent.standing_by.pop_front();
  }
  if (agent.said && !agent.said->identified) {
    Forget(std::string(agent.key));
    return;
  }
  agent.runs.Interrupt(now);
  if (agent.runs.dirty() && !agent.runs_dirty) {
    agent.runs_dirty = want_runs = true;
    dirty_runs.push_back(&agent);
  }
  Judge(agent, now);
  Touch(agent, Urgency::kEverybody);
}

void Board::State::On(const AgentLeft& e, Now now, Actions& actions) {
  if (Agent* agent = AgentAt(e.connection)) {
    agent->heard_ns = now.mono_ns;
    Release(*agent, now, actions);
  }
}

void Board::State::On(const AgentClosed& e, Now now, Actions& actions) {
  if (const auto it = copies.find(e.connection); it != copies.end()) {
    if (const auto row = agents.find(it->second); row != agents.end()) {
      Agent& agent = *row->second;
      std::erase(agent.standing_by, e.connection);
      std::erase_if(agent.challengers, [&](const auto& c) { return c.first == e.connection; });
    }
    copies.erase(it);
  }
  if (Agent* agent = AgentAt(e.connection)) Release(*agent, now, actions);
}

void Board::State::CheckLiveness(Now now, Actions& actions) {
  look_at_ns = holders.empty() ? kNever : now.mono_ns + kSecond;
  std::vector<Agent*> lost;
  std::vector<ConnectionId> pings;
  for (const auto& [connection, agent] : holders) {
    const int64_t silent_ns = now.mono_ns - agent->heard_ns.value_or(0);
    // Two pings missed, each with its whole interval to be answered in.
    if (agent->challenge_until_ns <= now.mono_ns || silent_ns >= 3 * options.ping_every_ns) {
      lost.push_back(agent);
      continue;
    }
    look_at_ns = std::min(look_at_ns, agent->challenge_until_ns);
    // Whoever speaks shows that it lives, and needs no ping.
    if (std::min(silent_ns, now.mono_ns - agent->pinged_ns) >= options.ping_every_ns) {
      agent->pinged_ns = now.mono_ns;
      pings.push_back(connection);
    }
    Judge(*agent, now);
  }
  std::sort(pings.begin(), pings.end());
  for (const ConnectionId connection : pings) actions.push_back(PingAgent{connection});
  std::sort(lost.begin(), lost.end(), [](const Agent* a, const Agent* b) { return a->key < b->key; });
  for (Agent* agent : lost) {
    actions.push_back(DropAgent{agent->connection});
    Release(*agent, now, actions);
  }
}

const Runner* Board::State::RunnerOn(std::string_view host) const {
  const Runner* newest = nullptr;
  for (const auto& [connection, runner] : runners) {
    if (SameHost(runner.host, host)) newest = &runner;  // a later one replaces an earlier
  }
  return newest;
}

void Board::State::On(const RunnerRegistered& e, Now now, Actions&) {
  Runner& runner = runners[e.connection];
  runner.connection = e.connection;
  runner.host = Clip(e.host, kMaxName);
  runner.pid = e.pid;
  runner.since_wall_ms = now.wall_ms;
  TouchHeader();
  for (const auto& [key, agent] : agents) {
    if (SameHost(agent->host(options.here), runner.host)) Touch(*agent, Urgency::kEverybody);
  }
}

void Board::State::On(const RunnerClosed& e, Now, Actions&) {
  const auto it = runners.find(e.connection);
  if (it == runners.end()) return;
  const std::string host = it->second.host;
  runners.erase(it);
  TouchHeader();
  for (const auto& [key, agent] : agents) {
    if (SameHost(agent->host(options.here), host)) Touch(*agent, Urgency::kEverybody);
  }
}

void Board::State::On(const FolderStarted& e, Now now, Actions&) {
  const auto runner = runners.find(e.connection);
  if (runner == runners.end()) return;
  const std::string place = PlaceOf(runner->second.host, Clip(e.folder, kMaxPath));
  if (launches.size() >= options.max_rows && !launches.contains(place)) return;
  if (e.again) {
    // Older than anything that was heard since this monitor started.
    const int64_t wall_ms = std::min(WallMsFromIso(e.at.value_or("")).value_or(now.wall_ms), now.wall_ms);
    launches.try_emplace(place, start.mono_ns, wall_ms);
  } else {
    launches[place] = {now.mono_ns, now.wall_ms};
  }
  for (const auto& [key, agent] : agents) {
    if (PlaceOf(agent->host(options.here), agent->folder()) != place) continue;
    RememberLaunch(*agent);
    Judge(*agent, now);
    Touch(*agent, Urgency::kEverybody);
  }
}

void Board::State::On(const ListChanged& e, Now now, Actions&) {
  absl::flat_hash_set<std::string_view> listed;
  for (const KeyedAgent& keyed : e.agents) {
    listed.insert(keyed.id);
    Agent& agent = Row(keyed.id, now);
    const KeyedAgent* had = agent.keyed ? &*agent.keyed : nullptr;
    if (had != nullptr && had->name == keyed.name && had->folder == keyed.folder && had->host == keyed.host &&
        had->note == keyed.note) {
      continue;
    }
    agent.keyed = keyed;
    order_stale = true;
    RememberLaunch(agent);
    Judge(agent, now);
    Touch(agent, Urgency::kEverybody);
  }
  std::vector<std::string> unlisted;
  for (const auto& [key, agent] : agents) {
    if (agent->keyed && !listed.contains(key)) unlisted.push_back(key);
  }
  std::sort(unlisted.begin(), unlisted.end());
  for (const std::string& key : unlisted) {
    Agent& agent = *agents.at(key);
    agent.keyed.reset();
    order_stale = true;
    if (agent.connection == 0 && agent.standing_by.empty()) {
      Forget(key);
    } else {
      Touch(agent, Urgency::kEverybody);
    }
  }
}

Plan Board::State::PlanRun(std::string_view id) const {
  const auto it = agents.find(ToAbsl(id));
  if (it == agents.end()) {
    return Sentence{"unknown-agent", fmt::format("There is no agent {} on this board.", Clip(id, kMaxId)),
                    "id", std::string(Clip(id, kMaxId))};
  }
  const Agent& agent = *it->second;
  if (agent.connection != 0) return Sentence{"already-running", "That agent is connected already."};
  if (agent.folder().empty()) return Sentence{"no-folder", "Nothing says which folder that agent lives in."};
  const std::string host(agent.host(options.here));
  if (const Runner* runner = RunnerOn(host))
    return AskRunner{runner->connection, std::string(agent.folder())};
  return Sentence{"no-runner", fmt::format("No runner is connected on {}.", host), "host", host};
}

Plan Board::State::PlanTerminate(std::string_view id) const {
  const auto it = agents.find(ToAbsl(id));
  if (it == agents.end()) return PlanRun(id);
  const Agent& agent = *it->second;
  if (agent.connection != 0) return AskAgent{agent.connection};
  // The runner knows what it started, also before this monitor did; it refuses what it did not start.
  if (const Runner* runner = RunnerOn(agent.host(options.here));
      runner != nullptr && !agent.folder().empty()) {
    return AskRunner{runner->connection, std::string(agent.folder())};
  }
  return Sentence{"not-connected", "That agent is not connected, and no runner here started it."};
}

}  // namespace watchbill::board
