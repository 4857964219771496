// HTTP: the page, the board's own list, who is signed in.
#include <algorithm>

#include "apps/web/assets.hpp"
#include "json_document.hpp"
#include "monitor_impl.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/static_files.hpp"

namespace watchbill::monitor {
namespace {

net::Response Json(int status, std::string body) {
  net::Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

net::Response Method(std::string_view allowed) {
  net::Response refused = net::ErrorResponse(405, "That method is not for this address.");
  refused.headers.emplace_back("Allow", allowed);
  return refused;
}

std::span<const net::StaticFile> Page() {
  static const std::vector<net::StaticFile> kFiles = [] {
    std::vector<net::StaticFile> files;
    for (const web::Asset& a : web::MonitorAssets()) {
      files.push_back({a.path, a.type, a.etag, a.immutable, a.raw, a.gzip, a.brotli});
    }
    return files;
  }();
  return kFiles;
}

int StatusFor(const absl::Status& status) {
  if (absl::IsNotFound(status)) return 404;
  if (absl::IsInvalidArgument(status)) return 400;
  return 500;
}

}  // namespace

net::Response Monitor::Impl::Answer(const net::Request& request) {
  if (request.path == "/healthz") {
    if (request.method != "GET" && request.method != "HEAD") return Method("GET, HEAD");
    return Json(200, "{\"ok\":true}");
  }
  if (auto file_response = net::ServeStatic(Page(), request)) return *std::move(file_response);
  if (request.path == "/api/session") return AnswerSession(request);
  if (request.path == "/agent" || request.path == "/runner" || request.path == "/dashboard") {
    return net::ErrorResponse(426, "This is a WebSocket: open it as one.");
  }
  if (request.path.starts_with("/api/") && !sessions.MayWatch(request, net::ReadClocks())) {
    return net::ErrorResponse(401, "Sign in first: POST the monitor's token to /api/session.");
  }
  if (request.path == "/api/agents" || request.path.starts_with("/api/agents/")) return AnswerAgents(request);
  return net::ErrorResponse(404, "There is nothing here.");
}

net::Response Monitor::Impl::AnswerAgents(const net::Request& request) {
  constexpr std::string_view kOne = "/api/agents/";
  if (request.path.starts_with(kOne)) {
    if (request.method != "DELETE") return Method("DELETE");
    const absl::Status removed = file.Remove(request.path.substr(kOne.size()));
    if (!removed.ok()) return net::ErrorResponse(StatusFor(removed), MessageOf(removed));
    Apply(board::ListChanged{file.agents()});
    return Json(204, "");
  }
  if (request.method == "GET" || request.method == "HEAD") return Json(200, WriteKeyedAgents(file.agents()));
  if (request.method != "POST") return Method("GET, HEAD, POST");
  std::string field;
  const auto agent = ReadKeyedAgent(request.body, field);
  if (!agent.ok()) return net::ErrorResponse(400, MessageOf(agent.status()), field);
  const bool known = std::any_of(file.agents().begin(), file.agents().end(),
                                 [&](const auto& a) { return a.id == agent->id; });
  if (!known && file.agents().size() >= 10'000)
    return net::ErrorResponse(400, "The list is full: 10,000 agents are the most.");
  // On disk before it is answered.
  if (const absl::Status put = file.Put(*agent); !put.ok())
    return net::ErrorResponse(StatusFor(put), MessageOf(put));
  Apply(board::ListChanged{file.agents()});
  std::string list = WriteKeyedAgents({*agent});
  return Json(known ? 200 : 201, list.substr(1, list.size() - 2));
}

net::Response Monitor::Impl::AnswerSession(const net::Request& request) {
  const Now now = net::ReadClocks();
  if (request.method == "GET" || request.method == "HEAD") {
    std::string body;
    JsonWriter(body).Begin('{').Key("signedIn").Bool(sessions.MayWatch(request, now)).End('}');
    return Json(200, body);
  }
  if (request.method == "DELETE") {
    sessions.SignOut(request);
    net::Response response = Json(204, "");
    response.headers.emplace_back("Set-Cookie", Sessions::CookieHeader(""));
    return response;
  }
  if (request.method != "POST") return Method("GET, HEAD, POST, DELETE");
  json::Document document;
  if (!document.Parse(request.body).ok() || !document.root()["token"].AsString()) {
    return net::ErrorResponse(400, "Send {\"token\": \"…\"}.", "token");
  }
  const std::string session = sessions.SignIn(*document.root()["token"].AsString(), now);
  if (session.empty()) return net::ErrorResponse(401, "That is not this monitor's token.", "token");
  net::Response response = Json(204, "");
  response.headers.emplace_back("Set-Cookie", Sessions::CookieHeader(session));
  return response;
}

}  // namespace watchbill::monitor
