// What a client hears: messages of the agent in, events out.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "client_impl.hpp"
#include "texts.hpp"
#include "watchbill/acp/encode.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {

using Event = std::optional<ClientEvent>;

namespace {

JsonView NotNull(const json::Value& value) {
  return value.absent() || value.kind() == json::Kind::kNull ? JsonView() : value.text();
}

std::string Seconds(int64_t ns) {
  return ns % kSecond == 0 ? fmt::format("{} seconds", ns / kSecond)
                           : fmt::format("{} milliseconds", ns / kMillisecond);
}

}  // namespace

Event Client::Impl::Next() {
  // The one that is given, in its place: it is large. And a copy of nothing, since gcc fills all the room of
  // one that it makes itself.
  Event event(nothing);
  if (!closed.empty()) {
    auto [request, what] = std::move(closed.front());
    closed.pop_front();
    session_text = std::move(what.session);
    if (what.kind == Answer::kPermission) {
      event = PermissionClosed{request, session_text};
    } else {
      event = HostClosed{request};
    }
    return event;
  }
  if (over) {
    event = *std::exchange(over, std::nullopt);
    return event;
  }
  if (!early.empty() && (event = NextEarly())) return event;
  while (const Message* const message = peer.impl_->Next()) {
    if (message->kind == Message::Kind::kNotification && message->method == "session/update") {
      if (OnUpdate(message->params, false, event)) return event;
    } else if ((event = On(*message))) {
      return event;
    }
  }
  // A line that is no message already and does not end would be told only once it does.
  if (stage == Stage::kHandshake && open_line > limits.peer.line_bytes &&
      stray_bytes + open_line > limits.stray_bytes) {
    event = Fail(HandshakeFailed::Why::kNotAcp,
                 fmt::format("does not speak ACP: it wrote a line of {} bytes that has no end", open_line));
  } else if (ended && !requests.empty()) {
    for (auto& [number, request] : requests) closed.emplace_back(number, std::move(request));
    requests.clear();
    event = Next();
  }
  return event;
}

Event Client::Impl::On(const Message& m) {
  switch (m.kind) {
    case Message::Kind::kRequest:
      return OnRequest(m);
    case Message::Kind::kNotification:
      return OnNotification(m);
    case Message::Kind::kCallEnded:
      return OnEnded(m);
    case Message::Kind::kNone:
    case Message::Kind::kStray:
      break;
  }
  return OnStray(m);
}

Skipped Client::Impl::Skip(std::string why) {
  text = std::move(why);
  return {text, {}};
}

// Requests of the agent.

uint64_t Client::Impl::OpenRequest(const Message& m, std::string_view session, Answer kind) {
  const uint64_t number = ++last_request;
  requests.emplace(number, Open{std::string(m.id.text().text()), std::string(session), kind, {}});
  return number;
}

Event Client::Impl::OnRequest(const Message& m) {
  if (m.method == "session/request_permission" || m.method.starts_with("fs/") ||
      m.method.starts_with("terminal/") || m.method == "elicitation/create") {
    if (requests.size() >= limits.open_requests) {
      peer.Refuse(m.id.text(), kInternalError,
                  fmt::format("{} requests are open already", limits.open_requests));
      return Skip(
          fmt::format("it asked for {} while {} of its requests are open", m.method, limits.open_requests));
    }
    if (m.method == "session/request_permission") return OnPermission(m);
    if (auto event = OnHost(m)) return event;
  }
  // Whatever was not offered, and whatever nobody here knows.
  text = fmt::format("Method not found: {}", m.method);
  peer.Refuse(m.id.text(), kMethodNotFound, text);
  if (stage == Stage::kHandshake && m.method == "initialize") {
    return Fail(HandshakeFailed::Why::kNotAcp,
                "is no agent: it sent `initialize` itself, as a client does, or a program that repeats what "
                "it reads");
  }
  return Skip(fmt::format("it asked for {}, which is not offered", m.method));
}

Event Client::Impl::OnPermission(const Message& m) {
  auto permission = wire::Read<RequestPermissionRequest>(m.params);
  if (!permission.ok()) {
    peer.Refuse(m.id.text(), kInvalidParams, MessageOf(permission.status()));
    return Skip(std::string(MessageOf(permission.status())));
  }
  const auto session = sessions.find(permission->session_id);
  if (session == sessions.end()) {
    peer.Refuse(m.id.text(), kResourceNotFound, "no such session is open here");
    return Skip(
        fmt::format("it asked for permission in session {}, which is not open", permission->session_id));
  }
  if (session->second.cancelled && session->second.prompt != 0) {
    peer.Respond(m.id.text(), Encode(RequestPermissionResponse{}));
    return Skip("it asked for permission in a turn that was cancelled");
  }
  const uint64_t number = OpenRequest(m, permission->session_id, Answer::kPermission);
  auto& options = requests.at(number).options;
  for (const PermissionOption& o : permission->options) options.emplace_back(o.option_id, o.kind);
  const ToolCallUpdate& tool = session->second.tools.Merge(permission->tool_call);
  return PermissionAsked{number, *std::move(permission), &tool, m.params.text()};
}

Event Client::Impl::OnHost(const Message& m) {
  // Nothing: it was not offered.
  const auto host = [&](auto read, Answer kind, bool is_offered, OptText path) -> Event {
    if (!is_offered) return std::nullopt;
    if (!read.ok()) {
      peer.Refuse(m.id.text(), kInvalidParams, MessageOf(read.status()));
      return Skip(std::string(MessageOf(read.status())));
    }
    HostRequest what = *std::move(read);
    const OptText session = SessionOf(what);
    if (session && sessions.find(*session) == sessions.end()) {
      peer.Refuse(m.id.text(), kResourceNotFound, "no such session is open here");
      return Skip(fmt::format("it asked for {} in session {}, which is not open", m.method, *session));
    }
    if (path && !path->starts_with('/')) {
      peer.Refuse(m.id.text(), kInvalidParams, "paths are absolute, and begin with a slash");
      return Skip(fmt::format("it asked for {} with a path that is not absolute", m.method));
    }
    const uint64_t number = OpenRequest(m, session.value_or(Text()), kind);
    return HostAsked{number, std::move(what), m.params.text()};
  };
  if (m.method == "fs/read_text_file") {
    auto read = wire::Read<ReadTextFileRequest>(m.params);
    const OptText path = read.ok() ? OptText(read->path) : std::nullopt;
    return host(std::move(read), Answer::kContent, offered.fs.read_text_file, path);
  }
  if (m.method == "fs/write_text_file") {
    auto read = wire::Read<WriteTextFileRequest>(m.params);
    const OptText path = read.ok() ? OptText(read->path) : std::nullopt;
    return host(std::move(read), Answer::kEmpty, offered.fs.write_text_file, path);
  }
  if (m.method == "terminal/create") {
    auto read = wire::Read<CreateTerminalRequest>(m.params);
    const OptText path = read.ok() ? read->cwd : std::nullopt;
    return host(std::move(read), Answer::kTerminal, offered.terminal, path);
  }
  const auto terminal = [&](auto read, Answer kind) {
    return host(std::move(read), kind, offered.terminal, std::nullopt);
  };
  if (m.method == "terminal/output")
    return terminal(wire::Read<TerminalOutputRequest>(m.params), Answer::kOutput);
  if (m.method == "terminal/wait_for_exit")
    return terminal(wire::Read<WaitForTerminalExitRequest>(m.params), Answer::kExit);
  if (m.method == "terminal/kill") return terminal(wire::Read<KillTerminalRequest>(m.params), Answer::kEmpty);
  if (m.method == "terminal/release")
    return terminal(wire::Read<ReleaseTerminalRequest>(m.params), Answer::kEmpty);
  if (m.method != "elicitation/create" || !offered.elicitation) return std::nullopt;
  auto read = wire::Read<CreateElicitationRequest>(m.params);
  if (read.ok()) {
    const bool form = std::holds_alternative<ElicitationFormMode>(read->mode) && offered.elicitation->form;
    const bool url = std::holds_alternative<ElicitationUrlMode>(read->mode) && offered.elicitation->url;
    if (!form && !url) {
      peer.Refuse(m.id.text(), kInvalidParams, "that mode of elicitation is not offered");
      return Skip("it asked for a mode of elicitation that is not offered");
    }
    const auto session = sessions.find(read->session_id.value_or(Text()));
    if (session != sessions.end() && session->second.cancelled && session->second.prompt != 0) {
      peer.Respond(m.id.text(), Encode(CreateElicitationResponse{}));
      return Skip("it asked a person something in a turn that was cancelled");
    }
  }
  return host(std::move(read), Answer::kElicitation, true, std::nullopt);
}

void Client::Impl::CloseCancelled(const Open& request) {
  const JsonView id = JsonView::Trusted(request.id);
  if (request.kind == Answer::kPermission) {
    peer.Respond(id, Encode(RequestPermissionResponse{}));
  } else if (request.kind == Answer::kElicitation) {
    peer.Respond(id, Encode(CreateElicitationResponse{}));
  } else {
    peer.Refuse(id, kRequestCancelled, "the request was cancelled");
  }
}

// Notifications.

Event Client::Impl::OnNotification(const Message& m) {
  if (m.method == "$/cancel_request") {
    const JsonView id = m.params["requestId"].text();
    for (auto it = requests.begin(); !id.absent() && it != requests.end(); ++it) {
      if (it->second.id != id.text()) continue;
      CloseCancelled(it->second);
      closed.emplace_back(it->first, std::move(it->second));
      requests.erase(it);
      return Next();
    }
    return std::nullopt;  // it was answered already, or never asked
  }
  if (m.method == "elicitation/complete") {
    auto complete = wire::Read<CompleteElicitationNotification>(m.params);
    if (!complete.ok()) return Skip(std::string(MessageOf(complete.status())));
    return ElicitationCompleted{complete->elicitation_id};
  }
  if (m.method.starts_with("$/")) return std::nullopt;  // (ACP v1: of the protocol itself, and optional)
  return Notified{m.method, m.params.text()};
}

bool Client::Impl::OnUpdate(const json::Value& params, bool held, Event& event) {
  // In place: it is made for every piece of every answer.
  Updated& out = std::get<Updated>(event.emplace(std::in_place_type<Updated>));
  if (absl::Status status = wire::ReadUpdate(params, out.session, out.update, out.meta, out.raw);
      !status.ok()) {
    event = Skip(std::string(MessageOf(status)));
    return true;
  }
  const auto found = sessions.find(out.session);
  if (found == sessions.end()) {
    if (!held && opening()) {
      // It may be the one that is being opened, whose answer is on its way.
      std::string whole(params.text().text());
      if (early.size() < limits.early_updates && early_bytes + whole.size() <= limits.early_bytes) {
        early_bytes += whole.size();
        early.push_back({std::string(out.session), std::move(whole)});
        event.reset();
        return false;
      }
    }
    event =
        Skip(fmt::format("it told of session {}, which is not open ({})", out.session, KindOf(out.update)));
    return true;
  }
  Session& session = found->second;
  if (const auto* tool = std::get_if<ToolCallUpdate>(&out.update)) {
    out.tool_call = &session.tools.Merge(*tool);
  } else if (const auto* mode = std::get_if<CurrentModeUpdate>(&out.update)) {
    session.mode = mode->current_mode_id;
  } else if (const auto* options = std::get_if<ConfigOptionUpdate>(&out.update)) {
    Set(session, options->config_options);
  }
  out.past = session.loading;
  return true;
}

bool Client::Impl::opening() const {
  return std::any_of(calls.begin(), calls.end(), [](const auto& one) {
    return one.second.what == Asked::kNew || one.second.what == Asked::kOther;
  });
}

Event Client::Impl::NextEarly() {
  const auto take = [&](std::deque<Early>::iterator it) {
    const std::string params = std::move(it->update);
    early_bytes -= params.size();
    early.erase(it);
    (void)held_document.Parse(params);
    Event event;
    (void)OnUpdate(held_document.root(), true, event);
    return event;
  };
  for (auto it = early.begin(); it != early.end(); ++it) {
    if (sessions.find(it->session) != sessions.end()) return take(it);
  }
  return opening() ? std::nullopt : take(early.begin());
}

// Answers.

std::string Client::Impl::Failure(const Message& m) const {
  if (m.error.absent()) return std::string(m.failure);
  const RpcError error = *wire::Read<RpcError>(m.error);
  std::string out(error.message.empty() ? "it gave no reason" : error.message);
  // Agents put the cause of a failed model call beside the message, in one of these.
  const json::Value data = m.error["data"];
  for (const std::string_view member : {"details", "message"}) {
    const auto more = data[member].AsString();
    if (more && !more->empty() && out.find(*more) == std::string::npos) out.append(": ").append(*more);
  }
  if (const auto more = data.AsString(); more && !more->empty() && out.find(*more) == std::string::npos) {
    out.append(": ").append(*more);
  }
  return error.code == kAuthenticationRequired
             ? fmt::format("it wants to be signed in first: {} (code {})", out, error.code)
             : fmt::format("{} (code {})", out, error.code);
}

HandshakeFailed Client::Impl::Fail(HandshakeFailed::Why why, std::string says) {
  stage = Stage::kFailed;
  text = std::move(says);
  return {why, text};
}

Event Client::Impl::Handshaken(const Message& m) {
  using Why = HandshakeFailed::Why;
  if (stage == Stage::kFailed) {
    if (!m.failure.empty()) return std::nullopt;  // why it failed was said
    return Skipped{"it answered initialize after the handshake had failed", {}};
  }
  if (m.too_late) {
    return Fail(Why::kTimeout,
                fmt::format("did not answer `initialize` within {}", Seconds(limits.handshake_ns)));
  }
  if (!m.failure.empty()) {
    if (ended) return Fail(Why::kEnded, fmt::format("ended before it answered: {}", m.failure));
    return Fail(Why::kNotAcp, fmt::format("does not speak ACP: {}", m.failure));
  }
  if (!m.error.absent()) return Fail(Why::kRefused, fmt::format("refused `initialize`: {}", Failure(m)));
  auto answer = wire::Read<InitializeResponse>(m.result);
  if (!answer.ok()) {
    return Fail(Why::kNotAcp, fmt::format("does not speak ACP: {}", MessageOf(answer.status())));
  }
  if (answer->protocol_version != kProtocolVersion) {
    return Fail(Why::kVersion, fmt::format("speaks ACP version {} alone; version {} is what is spoken here",
                                           answer->protocol_version, kProtocolVersion));
  }
  stage = Stage::kReady;
  agent = answer->capabilities;
  wire::DropViews(agent);
  for (const AuthMethod& method : answer->auth_methods) auth_methods.emplace_back(method.id, method.type);
  return HandshakeDone{*std::move(answer), m.result.text()};
}

Event Client::Impl::OnEnded(const Message& m) {
  if (m.call == handshake) return Handshaken(m);
  auto node = calls.extract(m.call);
  if (!node) return std::nullopt;  // of a session that was closed meanwhile
  Call call = std::move(node.mapped());
  if (call.what == Asked::kPrompt) return OnPromptEnded(m, std::move(call));
  if (!m.failure.empty() || !m.error.absent()) return Failed(m, call);
  switch (call.what) {
    case Asked::kNew:
    case Asked::kLoad:
    case Asked::kResume:
      return OnOpened(m, std::move(call));
    default:
      return OnDone(m, call);
  }
}

Event Client::Impl::Failed(const Message& m, const Call& call) {
  if (const auto it = sessions.find(call.session); it != sessions.end()) {
    if (call.what == Asked::kLoad || call.what == Asked::kResume) {
      it->second.loading = false;
      if (!it->second.open) sessions.erase(it);
    } else if (call.what == Asked::kClose || call.what == Asked::kDelete) {
      it->second.closing = false;
    }
  }
  const int32_t code = m.error.absent() ? 0 : wire::Read<RpcError>(m.error)->code;
  text = Failure(m);
  session_text = call.session;
  return CallFailed{m.call, m.method, session_text, code, text, NotNull(m.error["data"])};
}

Event Client::Impl::OnOpened(const Message& m, Call call) {
  using How = SessionOpened::How;
  const auto unusable = [&](std::string why) {
    text = std::move(why);
    session_text = call.session;
    return CallFailed{m.call, m.method, session_text, kInvalidParams, text, {}};
  };
  SessionOpened out;
  out.call = m.call;
  if (call.what == Asked::kNew) {
    auto made = wire::Read<NewSessionResponse>(m.result);
    if (!made.ok()) return unusable(std::string(MessageOf(made.status())));
    if (made->session_id.empty()) return unusable("the answer to session/new holds an empty sessionId");
    // What failed is not about the session that has the id already.
    if (!sessions.try_emplace(std::string(made->session_id), NewOne()).second) {
      return unusable(
          fmt::format("it gave a new session the id {}, which another one has", made->session_id));
    }
    call.session = made->session_id;
    out.says = {std::move(made->modes), std::move(made->config_options), std::move(made->models), made->meta};
  } else {
    out.how = call.what == Asked::kLoad ? How::kLoaded : How::kResumed;
    out.says = *wire::Read<LoadSessionResponse>(m.result);
  }
  const auto opened = sessions.find(call.session);
  if (opened == sessions.end()) return unusable("the session was closed meanwhile");
  Session& session = opened->second;
  session.open = true;
  session.loading = false;
  Set(session, out.says.modes, out.says.models);
  if (out.says.config_options) Set(session, *out.says.config_options);
  session_text = std::move(call.session);
  out.session = session_text;
  out.raw = NotNull(m.result);
  return out;
}

Event Client::Impl::OnDone(const Message& m, const Call& call) {
  CallDone out;
  out.call = m.call;
  out.method = m.method;
  out.result = NotNull(m.result);
  const auto session = sessions.find(call.session);
  if (call.what == Asked::kList) {
    auto page = wire::Read<ListSessionsResponse>(m.result);
    if (!page.ok()) {
      text = MessageOf(page.status());
      return CallFailed{m.call, m.method, {}, kInvalidParams, text, {}};
    }
    out.says = *std::move(page);
  } else if (m.method == "session/set_config_option") {
    auto now = wire::Read<SetSessionConfigOptionResponse>(m.result);
    if (now.ok() && session != sessions.end() && !m.result["configOptions"].absent()) {
      Set(session->second, now->config_options);
    }
    if (now.ok()) out.says = *std::move(now);
  } else {
    if (m.method == "session/set_mode" && session != sessions.end()) session->second.mode = call.value;
    out.says = *wire::Read<EmptyResponse>(m.result);
  }
  session_text = call.session;
  out.session = session_text;
  // One that is being opened was asked for behind this, and has an answer of its own.
  if ((call.what == Asked::kClose || call.what == Asked::kDelete) && session != sessions.end() &&
      session->second.open) {
    Forget(session);
  }
  return out;
}

// The session is no more: what waits for it hears of that behind the answer that said so.
void Client::Impl::Forget(Sessions::iterator session) {
  for (auto it = requests.begin(); it != requests.end();) {
    const auto here = it++;
    if (here->second.session != session->first) continue;
    CloseCancelled(here->second);
    closed.emplace_back(here->first, std::move(here->second));
    requests.erase(here);
  }
  if (session->second.prompt != 0) {
    calls.erase(session->second.prompt);
    over_session = session->first;
    over = PromptEnded{session->second.prompt, over_session, "cancelled", {}, 0, {}};
  }
  sessions.erase(session);
}

Event Client::Impl::OnPromptEnded(const Message& m, Call call) {
  session_text = std::move(call.session);
  PromptEnded out;
  out.call = m.call;
  out.session = session_text;
  const auto session = sessions.find(session_text);
  const bool cancelled = session != sessions.end() && session->second.cancelled;
  const bool answered = m.failure.empty() && m.error.absent();
  const auto response =
      answered ? wire::Read<PromptResponse>(m.result) : absl::StatusOr<PromptResponse>(PromptResponse{});
  if (answered && response.ok() && !response->stop_reason.empty()) {
    word = response->stop_reason;
    usage = response->usage.text();
    out.stop_reason = word;
    out.usage = usage.empty() ? JsonView() : JsonView::Trusted(usage);
  } else if (cancelled && (m.failure.empty() || !ended)) {
    out.stop_reason = "cancelled";
  } else {
    text = !answered       ? Failure(m)
           : response.ok() ? "the answer to session/prompt holds an empty stopReason"
                           : std::string(MessageOf(response.status()));
    out.failure = text;
    out.code = answered           ? int32_t{kInvalidParams}
               : m.error.absent() ? 0
                                  : wire::Read<RpcError>(m.error)->code;
  }
  if (session == sessions.end()) return out;
  session->second.prompt = 0;
  session->second.cancelled = false;
  session->second.tools.ShrinkTo(limits.tool_bytes_at_rest);
  // A question of a turn that is over is answered by nobody any more.
  for (auto it = requests.begin(); it != requests.end() && !ended;) {
    const auto here = it++;
    const bool of_person =
        here->second.kind == Answer::kPermission || here->second.kind == Answer::kElicitation;
    if (here->second.session != session->first || !of_person) continue;
    CloseCancelled(here->second);
    closed.emplace_back(here->first, std::move(here->second));
    requests.erase(here);
  }
  if (closed.empty()) return out;
  // Those are told first; `session_text` is theirs meanwhile.
  over_session = session_text;
  out.session = over_session;
  over = out;
  return Next();
}

Event Client::Impl::OnStray(const Message& m) {
  stray_bytes += m.stray.bytes;
  if (stage == Stage::kHandshake &&
      (stray_bytes > limits.stray_bytes || peer.stray_lines() > limits.stray_lines)) {
    return Fail(HandshakeFailed::Why::kNotAcp,
                fmt::format("does not speak ACP: it wrote {} lines that are no messages ({} bytes)",
                            peer.stray_lines(), stray_bytes));
  }
  switch (m.stray.why) {
    case StrayLine::Why::kNotJson:
      return Skipped{"a line on its standard output is no message", m.stray.line};
    case StrayLine::Why::kNotMessage:
      return Skipped{"a JSON object on its standard output is neither a request nor an answer", m.stray.line};
    case StrayLine::Why::kTooLong:
      text = fmt::format("a line of {} bytes is longer than the {} that are taken", m.stray.bytes,
                         limits.peer.line_bytes);
      return Skipped{text, m.stray.line};
    case StrayLine::Why::kUnreadable:
      text = fmt::format("a message cannot be read: {}", m.stray.detail);
      return Skipped{text, m.stray.line};
    case StrayLine::Why::kUnknownAnswer:
      break;
  }
  return Skipped{"it answered a request that nobody waits for", m.stray.line};
}

}  // namespace watchbill::acp
