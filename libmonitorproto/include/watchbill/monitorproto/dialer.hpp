// The dialling end of a socket, as a state machine: when to connect, when to ping, when to give a connection
// up. Agents, runners and servers all dial; the monitor connects to nothing ("The shape of it").
#pragma once

#include <cstdint>

#include "watchbill/base/now.hpp"

namespace watchbill::monitorproto {

// Tells its owner what to do next; the owner has the socket. Call Next after every event and when Deadline
// has come, until it says kWait. One thread.
//
// Backoff: 1 s, 2 s, 4 s … to one attempt every 30 s, for ever ("Liveness"). It begins again at 1 s once a
// socket has opened, so that a monitor that was restarted is found at once, and one that accepts and drops is
// asked once a second at the most. Pings: every 20 s; after two that nothing followed the connection is
// dropped, because a half-open socket looks fine to the side that holds it.
class Dialer {
 public:
  struct Options {
    int64_t first_backoff_ns = 1 * kSecond;
    int64_t longest_backoff_ns = 30 * kSecond;
    int64_t ping_every_ns = 20 * kSecond;
    int missed_pings = 2;
  };
  enum class Step {
    kWait,     // nothing until an event or Deadline
    kConnect,  // open a socket, then call Opened or Closed
    kPing,     // send a ping frame
    kDrop,     // close the socket without ceremony; Closed need not be called
  };

  Dialer() : Dialer(Options{}) {}
  explicit Dialer(Options options) : options_(options), backoff_ns_(options.first_backoff_ns) {}

  // The socket is open: time to register and report again.
  void Opened(Now now);
  // Anything at all came in: a frame, a ping, a pong.
  void Heard(Now now);
  // The attempt failed, or the socket closed.
  void Closed(Now now);
  // Never again.
  void Stop();

  Step Next(Now now);
  int64_t Deadline() const;

 private:
  enum class State { kIdle, kConnecting, kOpen, kStopped };

  Options options_;
  State state_ = State::kIdle;
  int64_t backoff_ns_;
  int64_t connect_at_ns_ = 0;
  int64_t ping_at_ns_ = 0;
  int unanswered_ = 0;
};

}  // namespace watchbill::monitorproto
