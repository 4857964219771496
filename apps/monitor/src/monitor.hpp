// The monitor: sockets on one side, the board on the other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/net/loop.hpp"

namespace watchbill::monitor {

struct MonitorOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 5180;
  std::vector<std::string> names;  // by which the server is reached, beside addresses
  std::string data;                // the folder of agents.json; it exists
  std::string token;               // empty only on loopback
  bool runner = true;              // bring up one for this machine
  std::string machine;             // its name
};

class Monitor {
 public:
  // Reads the list and listens. DataLoss: the data cannot be used, or another monitor has it; Unavailable:
  // the address cannot be listened on; InvalidArgument: it is none; Unauthenticated: it is not loopback, and
  // there is no token.
  static absl::StatusOr<std::unique_ptr<Monitor>> Create(net::Loop& loop, MonitorOptions options);
  ~Monitor();

  // "http://127.0.0.1:5180/"
  std::string url() const;
  // Says goodbye to everybody, then calls `done`. Agents go on.
  void Stop(std::function<void()> done);

  struct Impl;

 private:
  explicit Monitor(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace watchbill::monitor
