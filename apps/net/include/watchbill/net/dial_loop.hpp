// Opens a WebSocket, and opens it again whenever it is gone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "watchbill/monitorproto/dialer.hpp"
#include "watchbill/net/loop.hpp"
#include "watchbill/net/websocket.hpp"

namespace watchbill::net {

// Where a monitor is. "http://HOST:PORT" and "ws://HOST:PORT" are the same place.
struct MonitorAddress {
  std::string host;
  std::string port;
  std::string base_path;  // "" or "/under/here"
};
// InvalidArgument says what was expected.
absl::StatusOr<MonitorAddress> ParseMonitorUrl(std::string_view url);

// One attempt. Exactly one of the two is called, from the loop. `status` is that of an HTTP refusal, else 0.
struct DialEvents {
  std::function<WebSocketEvents(std::shared_ptr<WebSocket>)> opened;
  std::function<void(std::string_view why, int status)> failed;
};
void Dial(Loop& loop, const MonitorAddress& to, std::string_view path, std::string_view token,
          const WebSocketLimits& limits, DialEvents events);

// The dialling end of a monitor's socket: monitorproto::Dialer decides when, this carries it out.
class DialLoop {
 public:
  struct Options {
    MonitorAddress to;
    std::string path;   // "/agent"
    std::string token;  // sent as x-monitor-token; empty: none
    monitorproto::Dialer::Options timing;
  };
  struct Events {
    std::function<void()> opened;  // time to register and to report again
    std::function<void(std::string_view)> text;
    std::function<void(std::string_view why)> closed;              // it was open
    std::function<void(std::string_view why, int status)> failed;  // it did not open
  };

  DialLoop(Loop& loop, Options options, Events events);
  ~DialLoop();  // drops the socket

  void Start();
  bool open() const;
  // Lost where it is not open: whoever dials reports again when it is.
  void Send(std::string text);
  // Sends what is queued, says goodbye, and does not come back.
  void Stop();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace watchbill::net
