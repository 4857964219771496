// The HTTP server, which also takes WebSockets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/net/loop.hpp"
#include "watchbill/net/websocket.hpp"

namespace watchbill::net {

// A request that passed the checks of Host and Origin. Views are good until the handler returns.
struct Request {
  std::string_view method;
  std::string_view path;   // without the query, as it was sent
  std::string_view query;  // without the question mark
  std::string_view body;
  std::string_view host;       // the Host header
  bool from_loopback = false;  // of the connection itself, never of a header
  bool forwarded = false;      // a proxy says that it passes this on for somebody else
  std::function<std::string_view(std::string_view name)> header;  // "" where it is absent
};

struct Response {
  int status = 200;
  std::string type = "application/json; charset=utf-8";
  std::string body;
  std::string_view fixed;  // instead of `body`: bytes that live as long as the program
  std::vector<std::pair<std::string, std::string>> headers;
};

// `{"error": sentence}` with that status; `field` names the member that was wrong, where one was.
Response ErrorResponse(int status, std::string_view sentence, std::string_view field = {});

// What becomes of a request to open a WebSocket: a refusal, or what to do once it is open.
struct Acceptance {
  WebSocketLimits limits;
  std::function<WebSocketEvents(std::shared_ptr<WebSocket>)> opened;
};
using UpgradeAnswer = std::variant<Response, Acceptance>;

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address to listen on
  uint16_t port = 0;               // 0: any that is free
  // Names by which this server is reached, beside addresses; a Host of another name is refused, so that a
  // page elsewhere cannot have its name point here.
  std::vector<std::string> names;
  size_t body_bytes = 1 << 20;
};

class Server {
 public:
  // Called from the loop. `request` answers whatever is no WebSocket.
  struct Handlers {
    std::function<Response(const Request&)> request;
    std::function<UpgradeAnswer(const Request&)> upgrade;
  };

  // Listens at once. Unavailable where the address is taken or not this machine's, in words for a person.
  static absl::StatusOr<std::unique_ptr<Server>> Listen(Loop& loop, ServerOptions options, Handlers handlers);
  ~Server();

  uint16_t port() const;
  // "http://127.0.0.1:5180/"
  std::string url() const;
  // Takes nobody new, says goodbye (1001) to every socket, and calls `done` when all are gone or after 2 s.
  void Stop(std::function<void()> done);

  struct Impl;

 private:
  explicit Server(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

// InvalidArgument where this is no address to listen on.
absl::Status CheckListenAddress(std::string_view host);

// 127.0.0.0/8, ::1 and "localhost".
bool IsLoopbackHost(std::string_view host);

}  // namespace watchbill::net
