// An agent that reports itself to a board.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "watchbill/net/dial_loop.hpp"
#include "watchbill/net/loop.hpp"

namespace watchbill::example {

struct AgentOptions {
  net::MonitorAddress monitor;
  std::string monitor_url;
  std::string token;
  std::string id, name, host, folder;
  int64_t every_ms = 5000;  // between the runs it starts by itself; 0: only when asked
  uint16_t port = 0;        // of its own door; 0: any
  uint64_t seed = 1;
};

class Agent {
 public:
  // Unavailable where its door cannot be opened. `ended` is called once it has said goodbye.
  static absl::StatusOr<std::unique_ptr<Agent>> Create(net::Loop& loop, AgentOptions options,
                                                       std::function<void()> ended);
  ~Agent();

  void Start();
  void Leave();             // says that it leaves, and ends
  std::string url() const;  // of its own door

  struct Impl;

 private:
  explicit Agent(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace watchbill::example
