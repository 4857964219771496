#include "watchbill/net/dial_loop.hpp"

#include <fmt/core.h>

#include <boost/url/parse.hpp>

namespace watchbill::net {

absl::StatusOr<MonitorAddress> ParseMonitorUrl(std::string_view url) {
  const auto wrong = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" is no monitor's address: {}; it looks like http://127.0.0.1:5180", url, why));
  };
  const auto parsed = boost::urls::parse_uri(url);
  if (!parsed) return wrong("it is not a URL");
  const auto scheme = std::string(parsed->scheme());
  if (scheme == "https" || scheme == "wss")
    return wrong("this build does not speak TLS: put a proxy that does before it");
  if (scheme != "http" && scheme != "ws") return wrong("it begins with http:// or ws://");
  if (parsed->host().empty()) return wrong("it names no host");
  if (parsed->has_userinfo()) return wrong("a name or password in it would end up in logs: use the token");
  if (parsed->has_query() || parsed->has_fragment()) return wrong("nothing follows the path");
  MonitorAddress to;
  to.host = parsed->host_address();
  to.port = parsed->has_port() ? std::string(parsed->port()) : "80";
  to.base_path = std::string(parsed->encoded_path());
  while (to.base_path.ends_with('/')) to.base_path.pop_back();
  return to;
}

struct DialLoop::Impl : std::enable_shared_from_this<Impl> {
  Impl(Loop& l, Options o, Events e)
      : loop(l), options(std::move(o)), events(std::move(e)), dialer(options.timing), timer(l) {}

  // Carries out what the dialler says until it says wait.
  void Pump() {
    for (;;) {
      const Now now = ReadClocks();
      switch (dialer.Next(now)) {
        case monitorproto::Dialer::Step::kConnect:
          Connect();
          break;
        case monitorproto::Dialer::Step::kPing:
          if (socket) socket->Ping();
          break;
        case monitorproto::Dialer::Step::kDrop:
          Detach();
          if (events.closed) events.closed("the monitor did not answer two pings");
          break;
        case monitorproto::Dialer::Step::kWait: {
          timer.At(dialer.Deadline(), [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->Pump();
          });
          return;
        }
      }
    }
  }

  void Connect() {
    // What an attempt that was given up on still says is not listened to.
    const uint64_t attempt = ++attempts;
    const auto mine = [weak = weak_from_this(), attempt]() -> std::shared_ptr<Impl> {
      const auto self = weak.lock();
      return self && self->attempts == attempt ? self : nullptr;
    };
    DialEvents dialled;
    dialled.failed = [mine](std::string_view why, int status) {
      if (const auto self = mine()) {
        self->dialer.Closed(ReadClocks());
        if (self->events.failed) self->events.failed(why, status);
        self->Pump();
      }
    };
    dialled.opened = [mine](std::shared_ptr<WebSocket> opened) {
      const auto self = mine();
      if (!self) {
        opened->Drop();
        return WebSocketEvents{};
      }
      self->socket = std::move(opened);
      self->dialer.Opened(ReadClocks());
      WebSocketEvents on;
      on.alive = [mine] {
        if (const auto s = mine()) s->dialer.Heard(ReadClocks());
      };
      on.text = [mine](std::string_view text) {
        if (const auto s = mine()) {
          s->dialer.Heard(ReadClocks());
          if (s->events.text) s->events.text(text);
        }
      };
      on.closed = [mine](std::string_view why) {
        if (const auto s = mine()) {
          s->socket.reset();
          s->dialer.Closed(ReadClocks());
          if (s->events.closed) s->events.closed(why);
          s->Pump();
        }
      };
      self->loop.Post([mine] {
        if (const auto s = mine(); s && s->socket) {
          if (s->events.opened) s->events.opened();
          s->Pump();
        }
      });
      return on;
    };
    Dial(loop, options.to, options.path, options.token, {}, std::move(dialled));
  }

  void Detach() {
    ++attempts;
    if (socket) socket->Drop();
    socket.reset();
  }

  Loop& loop;
  Options options;
  Events events;
  monitorproto::Dialer dialer;
  Timer timer;
  std::shared_ptr<WebSocket> socket;
  uint64_t attempts = 0;
};

DialLoop::DialLoop(Loop& loop, Options options, Events events)
    : impl_(std::make_shared<Impl>(loop, std::move(options), std::move(events))) {}

DialLoop::~DialLoop() {
  impl_->dialer.Stop();
  impl_->timer.Cancel();
  impl_->Detach();
}

void DialLoop::Start() { impl_->Pump(); }
bool DialLoop::open() const { return impl_->socket != nullptr; }

void DialLoop::Send(std::string text) {
  if (impl_->socket) impl_->socket->Send(MakeBytes(std::move(text)));
}

void DialLoop::Stop() {
  impl_->dialer.Stop();
  impl_->timer.Cancel();
  ++impl_->attempts;
  if (impl_->socket) impl_->socket->Close(1000, "");
  impl_->socket.reset();
}

}  // namespace watchbill::net
