// One WebSocket, whoever opened it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace watchbill::net {

using Bytes = std::shared_ptr<const std::string>;

inline Bytes MakeBytes(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

// What happens on it. Each is called from the loop, never from within a call on the socket. After `closed`,
// nothing more.
struct WebSocketEvents {
  std::function<void(std::string_view)> text;        // a text frame, whole; good during the call
  std::function<void()> alive;                       // a ping or a pong came
  std::function<void()> drained;                     // everything given to Send has been handed to the system
  std::function<void(std::string_view why)> closed;  // once, in words
};

// Frames go out in the order they were given, through a bounded queue. A peer that takes nothing for 10 s
// while something is queued, or whose queue grows past its bound, is dropped.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  virtual void Send(Bytes text) = 0;
  virtual void Ping() = 0;
  // Sends what is queued, then says goodbye; dropped after 2 s.
  virtual void Close(uint16_t code, std::string_view reason) = 0;
  // At once, without a word.
  virtual void Drop() = 0;
};

struct WebSocketLimits {
  size_t frame_bytes = 1 << 20;   // of one that comes in; a longer one ends the socket with 1009
  size_t queue_bytes = 64 << 20;  // of what waits to go out
  bool compress = false;          // offers permessage-deflate; costs 40 KB a socket and some time
};

}  // namespace watchbill::net
