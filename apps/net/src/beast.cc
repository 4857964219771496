// HTTP and WebSocket: all of Beast is here.
#include <fmt/core.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>
#include <set>

#include "loop_impl.hpp"
#include "tcp.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/net/dial_loop.hpp"
#include "watchbill/net/log.hpp"
#include "watchbill/net/origin.hpp"
#include "watchbill/net/server.hpp"

namespace watchbill::net {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace ws = beast::websocket;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Resolver = asio::ip::basic_resolver<tcp, Executor>;
using HttpRequest = http::request<http::string_body>;

// Statements with co_await hold no braces and no lambda with captures: gcc 12 would destroy their temporaries
// twice.
template <typename T = void>
using Task = asio::awaitable<T, Executor>;
constexpr asio::as_tuple_t<asio::use_awaitable_t<Executor>> kUse{};

constexpr std::chrono::seconds kRequestWithin{30};
constexpr std::chrono::seconds kHandshakeWithin{10};
constexpr std::chrono::seconds kProgressWithin{10};
constexpr std::chrono::seconds kGoodbyeWithin{2};

constexpr char kContentSecurityPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

std::string_view Std(beast::string_view s) { return {s.data(), s.size()}; }

// A WebSocket in either direction.
class Session final : public WebSocket, public std::enable_shared_from_this<Session> {
 public:
  Session(Socket socket, const WebSocketLimits& limits)
      : stream_(std::move(socket)),
        limits_(limits),
        progress_(stream_.get_executor()),
        goodbye_(stream_.get_executor()) {
    stream_.read_message_max(limits.frame_bytes);
    stream_.auto_fragment(false);
    stream_.text(true);
    ws::permessage_deflate deflate;
    deflate.server_enable = deflate.client_enable = limits.compress;
    deflate.server_max_window_bits = 12;
    deflate.memLevel = 5;
    stream_.set_option(deflate);
  }

  ws::stream<Socket>& stream() { return stream_; }

  // The handshake is done: what happens from now on goes to `events`.
  void Open(WebSocketEvents events) {
    events_ = std::move(events);
    open_ = true;
    error_code ignored;
    stream_.next_layer().set_option(tcp::no_delay(true), ignored);
    NoticeLostPeer(stream_.next_layer().native_handle());
    stream_.control_callback([weak = weak_from_this()](ws::frame_type kind, beast::string_view) {
      const auto self = weak.lock();
      if (self && kind != ws::frame_type::close && self->events_.alive) self->events_.alive();
    });
    Read();
    Write();
  }

  void Send(Bytes text) override {
    if (finished_ || saying_goodbye_) return;
    queued_bytes_ += text->size();
    queue_.push_back({Out::kText, std::move(text)});
    if (queued_bytes_ > limits_.queue_bytes) {
      // From the loop: whoever called may be in the middle of something.
      asio::post(stream_.get_executor(), [self = shared_from_this()] {
        self->Finish("it takes frames too slowly: too much was queued for it");
      });
      return;
    }
    Write();
  }

  void Ping() override {
    if (finished_ || saying_goodbye_) return;
    queue_.push_back({Out::kPing, nullptr});
    Write();
  }

  void Close(uint16_t code, std::string_view reason) override {
    if (finished_ || saying_goodbye_) return;
    saying_goodbye_ = true;
    close_code_ = code;
    close_reason_ = reason.substr(0, 120);
    queue_.push_back({Out::kClose, nullptr});
    goodbye_.expires_after(kGoodbyeWithin);
    goodbye_.async_wait([weak = weak_from_this()](const error_code& ec) {
      if (const auto self = weak.lock(); self && !ec) self->Finish("closed by us");
    });
    Write();
  }

  void Drop() override {
    // Not here: one of these may be what is calling.
    asio::post(stream_.get_executor(), [gone = std::exchange(events_, {})] {});
    Finish("dropped");
  }

  bool finished() const { return finished_; }
  std::function<void()> on_finished;

 private:
  struct Out {
    enum What { kText, kPing, kClose } what;
    Bytes bytes;
  };

  void Read() {
    stream_.async_read(buffer_, [self = shared_from_this()](const error_code& ec, std::size_t) {
      if (self->finished_) return;
      if (ec) return self->Finish(self->WhyFrom(ec));
      // A frame that is not text is none of the protocol's: skipped, like any other that cannot be read.
      if (self->stream_.got_text() && self->events_.text) {
        const auto data = self->buffer_.cdata();
        self->events_.text({static_cast<const char*>(data.data()), data.size()});
      }
      self->buffer_.consume(self->buffer_.size());
      if (self->buffer_.capacity() > kKeptBytes) self->buffer_.shrink_to_fit();
      if (!self->finished_) self->Read();
    });
  }

  void Write() {
    if (writing_ || !open_ || finished_ || queue_.empty()) return;
    writing_ = true;
    Out out = std::move(queue_.front());
    queue_.pop_front();
    const auto done = [self = shared_from_this(), bytes = out.bytes](const error_code& ec, std::size_t = 0) {
      self->writing_ = false;
      self->progress_.cancel();
      if (self->finished_) return;
      if (ec) return self->Finish(self->WhyFrom(ec));
      if (bytes) self->queued_bytes_ -= bytes->size();
      if (!self->queue_.empty()) return self->Write();
      if (bytes && self->events_.drained) self->events_.drained();
    };
    switch (out.what) {
      case Out::kText:
        acknowledged_ = Acknowledged();
        WatchProgress();
        stream_.async_write(asio::buffer(*out.bytes), done);
        break;
      case Out::kPing:
        stream_.async_ping({}, done);
        break;
      case Out::kClose: {
        ws::close_reason reason(static_cast<ws::close_code>(close_code_),
                                beast::string_view(close_reason_.data(), close_reason_.size()));
        stream_.async_close(reason,
                            [self = shared_from_this()](const error_code&) { self->Finish("closed by us"); });
        break;
      }
    }
  }

  // A large frame to a slow peer may take minutes; a peer that takes nothing at all is gone.
  void WatchProgress() {
    progress_.expires_after(kProgressWithin);
    progress_.async_wait([weak = weak_from_this()](const error_code& ec) {
      const auto self = weak.lock();
      if (!self || ec || !self->writing_ || self->finished_) return;
      const uint64_t now = self->Acknowledged();
      if (now == self->acknowledged_) return self->Finish("it took nothing for 10 seconds");
      self->acknowledged_ = now;
      self->WatchProgress();
    });
  }

  uint64_t Acknowledged() { return AcknowledgedBytes(stream_.next_layer().native_handle()); }

  std::string WhyFrom(const error_code& ec) {
    if (ec == ws::error::closed) {
      const ws::close_reason& reason = stream_.reason();
      return fmt::format("closed by the other side ({}{}{})", static_cast<int>(reason.code),
                         reason.reason.empty() ? "" : ": ",
                         std::string_view(reason.reason.data(), reason.reason.size()));
    }
    if (ec == ws::error::message_too_big)
      return fmt::format("it sent a frame of more than {} bytes", limits_.frame_bytes);
    if (ec == asio::error::eof || ec == asio::error::connection_reset) return "the connection was lost";
    return ec.message();
  }

  void Finish(std::string_view why) {
    if (finished_) return;
    finished_ = true;
    const std::string reason(why);
    progress_.cancel();
    goodbye_.cancel();
    error_code ignored;
    stream_.next_layer().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.next_layer().close(ignored);
    queue_.clear();
    // The handlers may hold whoever holds this.
    WebSocketEvents events = std::exchange(events_, {});
    const auto finished = std::exchange(on_finished, nullptr);
    if (events.closed) events.closed(reason);
    if (finished) finished();
  }

  static constexpr size_t kKeptBytes = 16 << 10;

  ws::stream<Socket> stream_;
  WebSocketLimits limits_;
  beast::flat_buffer buffer_;
  std::deque<Out> queue_;
  size_t queued_bytes_ = 0;
  bool open_ = false, writing_ = false, saying_goodbye_ = false, finished_ = false;
  uint16_t close_code_ = 1000;
  std::string close_reason_;
  uint64_t acknowledged_ = 0;
  SteadyTimer progress_, goodbye_;
  WebSocketEvents events_;
};

// Whether a header is a list that has this word.
bool HasWord(beast::string_view list, std::string_view word) {
  return http::token_list(list).exists(beast::string_view(word.data(), word.size()));
}

}  // namespace

struct Server::Impl : std::enable_shared_from_this<Server::Impl> {
  Impl(Loop& loop, ServerOptions o, Handlers h)
      : options(std::move(o)),
        handlers(std::move(h)),
        acceptor(loop.impl().context.get_executor()),
        stop_timer(acceptor.get_executor()) {}

  Task<> Accept();
  Task<> Serve(Socket socket);
  Response Answer(const HttpRequest& message, Socket& socket, std::shared_ptr<Session>* opened,
                  Acceptance* acceptance);
  void Finished();

  ServerOptions options;
  Handlers handlers;
  Acceptor acceptor;
  SteadyTimer stop_timer;
  bool loopback = true;
  bool stopping = false;
  std::string address;
  std::set<std::shared_ptr<Session>> sessions;
  std::set<Socket*> plain;  // connections that are no WebSocket (yet)
  std::function<void()> stopped;
};

Response ErrorResponse(int status, std::string_view sentence, std::string_view field) {
  Response response;
  response.status = status;
  JsonWriter w(response.body);
  w.Begin('{').Key("error").String(sentence);
  if (!field.empty()) w.Key("field").String(field);
  w.End('}');
  return response;
}

namespace {

http::response<http::span_body<const char>> ToBeast(const Response& response, const HttpRequest* request) {
  http::response<http::span_body<const char>> out;
  out.version(11);
  out.result(static_cast<unsigned>(response.status));
  const std::string_view body = response.body.empty() ? response.fixed : std::string_view(response.body);
  if (!body.empty())
    out.set(http::field::content_type, beast::string_view(response.type.data(), response.type.size()));
  out.set(http::field::cache_control, "no-store");
  out.set("Content-Security-Policy", kContentSecurityPolicy);
  out.set("X-Content-Type-Options", "nosniff");
  out.set("Referrer-Policy", "no-referrer");
  out.set("Cross-Origin-Opener-Policy", "same-origin");
  out.set("Cross-Origin-Resource-Policy", "same-origin");
  out.set(http::field::server, "watchbill");
  for (const auto& [name, value] : response.headers) out.set(name, value);
  const bool head = request != nullptr && request->method() == http::verb::head;
  if (response.status != 304 && response.status != 204) out.content_length(body.size());
  if (!head) out.body() = boost::beast::span<const char>(body.data(), body.size());
  out.keep_alive(request != nullptr && request->keep_alive());
  return out;
}

}  // namespace

Task<> Server::Impl::Accept() {
  const auto self = shared_from_this();
  SteadyTimer pause(acceptor.get_executor());
  while (acceptor.is_open()) {
    auto [ec, socket] = co_await acceptor.async_accept(kUse);
    if (!acceptor.is_open()) break;
    if (ec) {
      // Out of descriptors, most likely: those who wait are served when others have gone.
      Log(LogLevel::kWarn, "a connection could not be accepted", {{"why", ec.message()}});
      pause.expires_after(std::chrono::milliseconds(100));
      [[maybe_unused]] auto [waited] = co_await pause.async_wait(kUse);
      continue;
    }
    asio::co_spawn(acceptor.get_executor(), Serve(std::move(socket)), [](std::exception_ptr failure) {
      if (!failure) return;
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& e) {
        Log(LogLevel::kError, "a connection failed", {{"why", e.what()}});
      }
    });
  }
}

Task<> Server::Impl::Serve(Socket accepted) {
  const auto self = shared_from_this();
  // Shared with the timer: a wait that was cancelled too late must not reach a socket that is gone.
  const auto shared = std::make_shared<Socket>(std::move(accepted));
  Socket& socket = *shared;
  SteadyTimer limit(socket.get_executor());
  const auto give_up = [weak = std::weak_ptr<Socket>(shared)](const error_code& ec) {
    if (const auto late = weak.lock(); late && !ec && late->is_open()) late->cancel();
  };
  plain.insert(&socket);
  beast::flat_buffer buffer(64 << 10);
  for (;;) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(16 << 10);
    parser.body_limit(options.body_bytes);
    limit.expires_after(kRequestWithin);
    limit.async_wait(give_up);
    auto [ec, size] = co_await http::async_read(socket, buffer, parser, kUse);
    limit.cancel();
    if (ec) {
      int status = 0;
      std::string_view sentence;
      if (ec == http::error::body_limit) {
        status = 413;
        sentence = "what was sent is too long";
      } else if (ec == http::error::header_limit || ec == http::error::buffer_overflow) {
        status = 431;
        sentence = "the headers are too long";
      } else if (ec.category() == make_error_code(http::error::bad_method).category() &&
                 ec != http::error::end_of_stream && ec != http::error::partial_message) {
        status = 400;
        sentence = "this is no HTTP request";
      }
      if (status != 0) {
        const Response refusal = ErrorResponse(status, sentence);
        auto message = ToBeast(refusal, nullptr);
        [[maybe_unused]] auto [write_ec, written] = co_await http::async_write(socket, message, kUse);
      }
      break;
    }
    const HttpRequest request = parser.release();
    std::shared_ptr<Session> session;
    Acceptance acceptance;
    const Response response = Answer(request, socket, &session, &acceptance);
    if (session) {
      plain.erase(&socket);
      limit.expires_after(kHandshakeWithin);
      limit.async_wait([session](const error_code& timed) {
        if (!timed) session->Drop();
      });
      auto [accept_ec] = co_await session->stream().async_accept(request, kUse);
      limit.cancel();
      if (accept_ec || stopping || session->finished()) {
        session->Drop();
        co_return;
      }
      sessions.insert(session);
      session->on_finished = [weak = weak_from_this(), key = std::weak_ptr<Session>(session)] {
        const auto server = weak.lock();
        if (!server) return;
        if (const auto gone = key.lock()) server->sessions.erase(gone);
        server->Finished();
      };
      WebSocketEvents events = acceptance.opened(session);
      if (!session->finished()) session->Open(std::move(events));
      co_return;
    }
    auto message = ToBeast(response, &request);
    limit.expires_after(kRequestWithin);
    limit.async_wait(give_up);
    auto [write_ec, written] = co_await http::async_write(socket, message, kUse);
    limit.cancel();
    if (write_ec || !message.keep_alive() || stopping) break;
  }
  error_code ignored;
  socket.shutdown(tcp::socket::shutdown_both, ignored);
  plain.erase(&socket);
  Finished();
}

// The checks that come before anything else, then the handlers. Where a WebSocket is accepted, its session
// has taken the socket over.
Response Server::Impl::Answer(const HttpRequest& message, Socket& socket, std::shared_ptr<Session>* opened,
                              Acceptance* acceptance) {
  if (stopping) return ErrorResponse(503, "The server is stopping.");
  const std::string_view host = Std(message[http::field::host]);
  const std::string_view origin = Std(message[http::field::origin]);
  const std::string_view target = Std(message.target());
  if (message.count(http::field::host) != 1 || !HostAllowed(host, loopback, options.names)) {
    return ErrorResponse(
        421, "This server is not known by that name: open it by its address, or start it with --name.");
  }
  const bool upgrade = ws::is_upgrade(message);
  const bool reads = message.method() == http::verb::get || message.method() == http::verb::head;
  if ((upgrade || !reads) && !OriginAllowed(origin, host)) {
    return ErrorResponse(403, "A page of another site may not ask this.");
  }
  Request request;
  request.method = Std(message.method_string());
  const size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  request.query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  request.body = message.body();
  request.host = host;
  error_code ec;
  const auto peer = socket.remote_endpoint(ec);
  request.from_loopback =
      !ec && (peer.address().is_loopback() ||
              (peer.address().is_v6() && peer.address().to_v6().is_v4_mapped() &&
               asio::ip::make_address_v4(asio::ip::v4_mapped, peer.address().to_v6()).is_loopback()));
  request.forwarded =
      message.count("X-Forwarded-For") + message.count("Forwarded") + message.count("X-Real-IP") > 0;
  request.header = [&message](std::string_view name) {
    return Std(message[beast::string_view(name.data(), name.size())]);
  };
  if (!upgrade) {
    if (message.find(http::field::upgrade) != message.end() &&
        HasWord(message[http::field::upgrade], "websocket")) {
      return ErrorResponse(400, "this is no WebSocket handshake of version 13");
    }
    return handlers.request(request);
  }
  UpgradeAnswer answer = handlers.upgrade(request);
  if (auto* refusal = std::get_if<Response>(&answer)) return std::move(*refusal);
  *acceptance = std::move(std::get<Acceptance>(answer));
  *opened = std::make_shared<Session>(std::move(socket), acceptance->limits);
  return {};
}

void Server::Impl::Finished() {
  if (stopping && sessions.empty() && plain.empty() && stopped) {
    stop_timer.cancel();
    asio::post(acceptor.get_executor(), std::exchange(stopped, nullptr));
  }
}

absl::Status CheckListenAddress(std::string_view host) {
  error_code ec;
  if (host != "localhost") asio::ip::make_address(std::string(host), ec);
  if (!ec) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "\"{}\" is no address to listen on: use 127.0.0.1, 0.0.0.0, ::1, :: or one of this machine's", host));
}

absl::StatusOr<std::unique_ptr<Server>> Server::Listen(Loop& loop, ServerOptions options, Handlers handlers) {
  if (absl::Status status = CheckListenAddress(options.host); !status.ok()) return status;
  error_code ec;
  const std::string host = options.host == "localhost" ? "127.0.0.1" : options.host;
  const auto address = asio::ip::make_address(host);
  auto impl = std::make_shared<Impl>(loop, std::move(options), std::move(handlers));
  const tcp::endpoint endpoint(address, impl->options.port);
  const auto failed = [&](std::string_view hint) {
    return absl::UnavailableError(
        fmt::format("cannot listen on {} port {}: {}{}", host, impl->options.port, ec.message(), hint));
  };
  impl->acceptor.open(endpoint.protocol(), ec);
  if (!ec) impl->acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec) impl->acceptor.bind(endpoint, ec);
  if (!ec) impl->acceptor.listen(4096, ec);
  if (ec == asio::error::address_in_use)
    return failed("; another program has it: choose another port, or --port 0 for any that is free");
  if (ec == asio::error::access_denied)
    return failed("; ports below 1024 are the system's: choose a higher one");
  if (ec) return failed("");
  impl->loopback = address.is_loopback();
  impl->address = address.is_v6() ? fmt::format("[{}]", host) : host;
  asio::co_spawn(impl->acceptor.get_executor(), impl->Accept(), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  error_code ignored;
  impl_->acceptor.close(ignored);
  impl_->stopping = true;
  for (const auto& session : std::set(impl_->sessions)) session->Drop();
}

uint16_t Server::port() const { return impl_->acceptor.local_endpoint().port(); }
std::string Server::url() const { return fmt::format("http://{}:{}/", impl_->address, port()); }

void Server::Stop(std::function<void()> done) {
  Impl& s = *impl_;
  if (s.stopping) return;
  s.stopping = true;
  s.stopped = std::move(done);
  error_code ignored;
  s.acceptor.close(ignored);
  for (const auto& session : std::set(s.sessions)) session->Close(1001, "the server is stopping");
  for (Socket* socket : s.plain) socket->cancel(ignored);
  s.stop_timer.expires_after(kGoodbyeWithin + std::chrono::milliseconds(500));
  s.stop_timer.async_wait([impl = impl_](const error_code& ec) {
    if (ec) return;
    for (const auto& session : std::set(impl->sessions)) session->Drop();
    impl->sessions.clear();
    impl->plain.clear();
    impl->Finished();
  });
  s.Finished();
}

namespace {

// One attempt, shared with the timer that may end it.
struct Attempt {
  explicit Attempt(const Executor& executor) : socket(executor), resolver(executor) {}
  Socket socket;
  Resolver resolver;
  std::shared_ptr<Session> session;
  bool timed_out = false;

  void GiveUp() {
    timed_out = true;
    resolver.cancel();
    error_code ignored;
    socket.close(ignored);
    if (session) session->Drop();
  }
};

Task<error_code> Connect(std::shared_ptr<Attempt> attempt, MonitorAddress to) {
  auto [ec, found] = co_await attempt->resolver.async_resolve(to.host, to.port, kUse);
  if (ec) co_return ec;
  error_code last = asio::error::host_not_found;
  for (auto it = found.begin(); it != found.end() && !attempt->timed_out; ++it) {
    const tcp::endpoint endpoint = it->endpoint();
    error_code ignored;
    attempt->socket.close(ignored);
    auto [connect_ec] = co_await attempt->socket.async_connect(endpoint, kUse);
    last = connect_ec;
    if (!last) break;
  }
  co_return last;
}

Task<> DialOnce(MonitorAddress to, std::string path, std::string token, WebSocketLimits limits,
                DialEvents events) {
  const auto executor = co_await asio::this_coro::executor;
  const auto attempt = std::make_shared<Attempt>(executor);
  SteadyTimer limit(executor);
  limit.expires_after(kHandshakeWithin);
  limit.async_wait([weak = std::weak_ptr<Attempt>(attempt)](const error_code& ec) {
    if (const auto late = weak.lock(); late && !ec) late->GiveUp();
  });
  std::string why;
  int status = 0;
  const error_code connect_ec = co_await Connect(attempt, to);
  if (connect_ec) {
    why = connect_ec.message();
  } else {
    const auto session = std::make_shared<Session>(std::move(attempt->socket), limits);
    attempt->session = session;
    session->stream().set_option(ws::stream_base::decorator([token](ws::request_type& request) {
      if (!token.empty()) request.set("x-monitor-token", token);
      request.set(http::field::user_agent, "watchbill");
    }));
    const bool v6 = to.host.find(':') != std::string::npos;
    const std::string host = fmt::format("{}{}{}:{}", v6 ? "[" : "", to.host, v6 ? "]" : "", to.port);
    const std::string target = to.base_path + path;
    ws::response_type answer;
    auto [handshake_ec] = co_await session->stream().async_handshake(answer, host, target, kUse);
    if (handshake_ec == ws::error::upgrade_declined) {
      status = static_cast<int>(answer.result_int());
      why = fmt::format("it answered {} {}", status, Std(answer.reason()));
    } else if (handshake_ec) {
      why = handshake_ec.message();
    }
  }
  limit.cancel();
  if (attempt->timed_out) why = "it did not answer in 10 seconds";
  const std::shared_ptr<Session> session = std::exchange(attempt->session, nullptr);
  if (why.empty()) {
    WebSocketEvents on = events.opened(session);
    if (!session->finished()) session->Open(std::move(on));
  } else {
    if (session) session->Drop();
    events.failed(why, status);
  }
}

}  // namespace

void Dial(Loop& loop, const MonitorAddress& to, std::string_view path, std::string_view token,
          const WebSocketLimits& limits, DialEvents events) {
  asio::co_spawn(loop.impl().context.get_executor(),
                 DialOnce(to, std::string(path), std::string(token), limits, std::move(events)),
                 [](std::exception_ptr failure) {
                   if (failure) std::rethrow_exception(failure);
                 });
}

}  // namespace watchbill::net
