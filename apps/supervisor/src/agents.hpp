// The agents of a configuration as running processes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config.hpp"
#include "watchbill/acp/agent_pool.hpp"
#include "watchbill/acp/client.hpp"
#include "watchbill/acp/log_tail.hpp"
#include "watchbill/net/child.hpp"
#include "watchbill/net/loop.hpp"

namespace watchbill::supervisor {

// What happens to them. Called from the loop; calls on Agents are welcome.
struct AgentEvents {
  std::function<void(const std::string& agent, acp::AgentState state, const std::string& error)> changed;
  std::function<void(const std::string& agent, const std::string& line)> logged;  // of its standard error
  // Everything but the handshake; good during the call. Calls on the client spoil it: take what is needed
  // first.
  std::function<void(const std::string& agent, const acp::ClientEvent& event)> told;
  // Its process has ended, whyever, and every session with it.
  std::function<void(const std::string& agent, const std::string& why)> gone;
  // A start came to nothing: it is not running, nor about to.
  std::function<void(const std::string& agent, const std::string& why)> start_failed;
};

class Agents {
 public:
  Agents(net::Loop& loop, std::vector<AgentConfig> agents, AgentEvents events,
         std::map<std::string, std::string> environment, acp::AgentPool::Limits pool_limits = {},
         acp::Client::Limits client_limits = {});
  ~Agents();

  const std::vector<AgentConfig>& list() const;
  const AgentConfig* Find(std::string_view agent) const;

  // As the pool of libacp has it: NotFound, or it is under way and `changed` tells the rest.
  absl::Status Start(std::string_view agent);
  absl::Status Stop(std::string_view agent);
  absl::Status Restart(std::string_view agent);
  // `done` is called once, when no process of any of them is left.
  void StopAll(std::function<void()> done);

  acp::AgentState state(std::string_view agent) const;
  const std::string& error(std::string_view agent) const;
  bool stopping(std::string_view agent) const;
  const std::deque<std::string>& log(std::string_view agent) const;

  // What `ask` does with the client of an agent that is ready is sent to it. FailedPrecondition where it is
  // not.
  absl::Status With(std::string_view agent, const std::function<absl::Status(acp::Client&)>& ask);
  absl::Status Use(std::string_view agent);
  void Release(std::string_view agent);

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace watchbill::supervisor
