#include "watchbill/monitorproto/dialer.hpp"

#include <algorithm>

namespace watchbill::monitorproto {

void Dialer::Opened(Now now) {
  if (state_ != State::kConnecting) return;
  state_ = State::kOpen;
  backoff_ns_ = options_.first_backoff_ns;
  ping_at_ns_ = now.mono_ns + options_.ping_every_ns;
  unanswered_ = 0;
}

void Dialer::Heard(Now) { unanswered_ = 0; }

void Dialer::Closed(Now now) {
  if (state_ != State::kConnecting && state_ != State::kOpen) return;
  state_ = State::kIdle;
  connect_at_ns_ = now.mono_ns + backoff_ns_;
  backoff_ns_ = std::min(backoff_ns_ * 2, options_.longest_backoff_ns);
}

void Dialer::Stop() { state_ = State::kStopped; }

Dialer::Step Dialer::Next(Now now) {
  switch (state_) {
    case State::kIdle:
      if (now.mono_ns < connect_at_ns_) return Step::kWait;
      state_ = State::kConnecting;
      return Step::kConnect;
    case State::kOpen:
      if (now.mono_ns < ping_at_ns_) return Step::kWait;
      if (unanswered_ >= options_.missed_pings) {
        Closed(now);
        return Step::kDrop;
      }
      ++unanswered_;
      ping_at_ns_ = now.mono_ns + options_.ping_every_ns;
      return Step::kPing;
    case State::kConnecting:
    case State::kStopped:
      break;
  }
  return Step::kWait;
}

int64_t Dialer::Deadline() const {
  switch (state_) {
    case State::kIdle:
      return connect_at_ns_;
    case State::kOpen:
      return ping_at_ns_;
    case State::kConnecting:
    case State::kStopped:
      break;
  }
  return kNever;
}

}  // namespace watchbill::monitorproto
