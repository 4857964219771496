#include "watchbill/acp/client.hpp"

#include <fmt/core.h>

#include <deque>
#include <map>
#include <utility>

#include "decode.hpp"
#include "peer_impl.hpp"
#include "watchbill/acp/encode.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {

using Message = Peer::Impl::Message;

namespace {

// How many permission requests may be open: nobody looks at more.
constexpr size_t kMostOpen = 1000;

int64_t After(Now now, int64_t ns) { return ns >= kNever - now.mono_ns ? kNever : now.mono_ns + ns; }

}  // namespace

struct Client::Impl {
  explicit Impl(Limits l) : limits(l), peer(l.peer) {}

  enum class Stage { kNew, kHandshake, kReady, kFailed };
  struct OpenPrompt {
    std::string session;
    bool cancelled = false;
  };
  struct OpenPermission {
    std::string id;  // JSON, as it came
    std::string session;
    std::vector<std::pair<std::string, std::string>> options;  // ids and kinds
  };

  std::optional<ClientEvent> On(const Message& m);
  std::optional<ClientEvent> OnRequest(const Message& m);
  std::optional<ClientEvent> OnNotification(const Message& m);
  std::optional<ClientEvent> OnEnded(const Message& m);
  std::optional<ClientEvent> Handshaken(const Message& m);
  std::optional<ClientEvent> OnStray(const Message& m);
  HandshakeFailed Fail(HandshakeFailed::Why why, std::string says);
  bool cancelled(std::string_view session) const;
  // What an answer says of its failure, as one sentence.
  std::string Failure(const Message& m) const;
  void Close(std::map<uint64_t, OpenPermission>::iterator permission, const OptText& option);

  Limits limits;
  Peer peer;
  Stage stage = Stage::kNew;
  uint64_t handshake = 0, last_request = 0, stray_bytes = 0;
  uint64_t open_line = 0;  // bytes behind the last newline
  bool ended = false;
  std::map<uint64_t, OpenPrompt> prompts;  // by their calls
  std::map<uint64_t, OpenPermission> permissions;
  std::string text, session_text;  // what the event that was given last has views of
};

Client::Client() : Client(Limits{}) {}
Client::Client(Limits limits) : impl_(std::make_unique<Impl>(limits)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

void Client::Feed(std::string_view bytes) {
  const size_t newline = bytes.rfind('\n');
  impl_->open_line =
      newline == std::string_view::npos ? impl_->open_line + bytes.size() : bytes.size() - newline - 1;
  impl_->peer.Feed(bytes);
}

void Client::End(std::string_view why) {
  if (std::exchange(impl_->ended, true)) return;
  impl_->peer.End(why);
}

std::string_view Client::Output() const { return impl_->peer.Output(); }
void Client::Consume(size_t bytes) { impl_->peer.Consume(bytes); }
int64_t Client::Deadline() const { return impl_->peer.Deadline(); }
void Client::Tick(Now now) { impl_->peer.Tick(now); }

absl::Status Client::Initialize(const InitializeRequest& request, Now now) {
  if (impl_->stage != Impl::Stage::kNew) return absl::FailedPreconditionError("initialize was sent already");
  impl_->stage = Impl::Stage::kHandshake;
  impl_->handshake = impl_->peer.Call("initialize", Encode(request), After(now, impl_->limits.handshake_ns));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Client::NewSession(const NewSessionRequest& request, Now now) {
  if (!ready()) return absl::FailedPreconditionError("a session can be opened once the handshake is done");
  return impl_->peer.Call("session/new", Encode(request), After(now, impl_->limits.session_ns));
}

absl::StatusOr<uint64_t> Client::Prompt(const PromptRequest& request) {
  if (!ready()) return absl::FailedPreconditionError("a prompt can be sent once the handshake is done");
  if (prompting(request.session)) {
    return absl::FailedPreconditionError(
        fmt::format("session {} is answering: one prompt at a time", request.session));
  }
  // No time limit: a turn may wait for a person for hours.
  const uint64_t call = impl_->peer.Call("session/prompt", Encode(request));
  impl_->prompts.emplace(call, Impl::OpenPrompt{std::string(request.session), false});
  return call;
}

std::vector<uint64_t> Client::Cancel(std::string_view session) {
  std::vector<uint64_t> closed;
  for (auto& [call, prompt] : impl_->prompts) {
    if (prompt.session != session) continue;
    prompt.cancelled = true;
    impl_->peer.Notify("session/cancel", EncodeCancel(session));
    for (auto it = impl_->permissions.begin(); it != impl_->permissions.end();) {
      const auto here = it++;
      if (here->second.session != session) continue;
      closed.push_back(here->first);
      impl_->Close(here, std::nullopt);
    }
    break;
  }
  return closed;
}

void Client::Impl::Close(std::map<uint64_t, OpenPermission>::iterator permission, const OptText& option) {
  peer.Respond(JsonView::Trusted(permission->second.id), EncodePermission(option));
  permissions.erase(permission);
}

absl::Status Client::AnswerPermission(uint64_t request, std::string_view option) {
  const auto it = impl_->permissions.find(request);
  if (it == impl_->permissions.end() || impl_->ended)
    return absl::NotFoundError("that permission request is not open any more");
  for (const auto& [id, kind] : it->second.options) {
    if (id != option) continue;
    impl_->Close(it, option);
    return absl::OkStatus();
  }
  std::string offered;
  for (const auto& [id, kind] : it->second.options) offered.append(offered.empty() ? "" : ", ").append(id);
  return absl::InvalidArgumentError(fmt::format("\"{}\" was not offered; these were: {}", option, offered));
}

absl::StatusOr<std::optional<std::string>> Client::RefusePermission(uint64_t request) {
  const auto it = impl_->permissions.find(request);
  if (it == impl_->permissions.end() || impl_->ended)
    return absl::NotFoundError("that permission request is not open any more");
  std::optional<std::string> chosen;
  for (const std::string_view wanted : {"reject_once", "reject_always"}) {
    for (const auto& [id, kind] : it->second.options) {
      if (!chosen && kind == wanted) chosen = id;
    }
  }
  impl_->Close(it, chosen ? OptText(*chosen) : std::nullopt);
  return chosen;
}

bool Client::Impl::cancelled(std::string_view session) const {
  for (const auto& [call, prompt] : prompts) {
    if (prompt.cancelled && prompt.session == session) return true;
  }
  return false;
}
bool Client::ready() const { return impl_->stage == Impl::Stage::kReady && !impl_->ended; }
bool Client::prompting(std::string_view session) const {
  for (const auto& [call, prompt] : impl_->prompts) {
    if (prompt.session == session) return true;
  }
  return false;
}
uint64_t Client::stray_lines() const { return impl_->peer.stray_lines(); }

std::optional<ClientEvent> Client::Next() {
  while (const auto message = impl_->peer.impl_->Next()) {
    if (auto event = impl_->On(*message)) return event;
  }
  // A line that is no message already and does not end would be told only once it does.
  if (impl_->stage == Impl::Stage::kHandshake && impl_->open_line > impl_->limits.peer.line_bytes &&
      impl_->stray_bytes + impl_->open_line > impl_->limits.stray_bytes) {
    return impl_->Fail(
        HandshakeFailed::Why::kNotAcp,
        fmt::format("does not speak ACP: it wrote a line of {} bytes that has no end", impl_->open_line));
  }
  if (impl_->ended && !impl_->permissions.empty()) {
    auto node = impl_->permissions.extract(impl_->permissions.begin());
    impl_->session_text = std::move(node.mapped().session);
    return PermissionClosed{node.key(), impl_->session_text};
  }
  return std::nullopt;
}

std::optional<ClientEvent> Client::Impl::On(const Message& m) {
  switch (m.kind) {
    case Message::Kind::kRequest:
      return OnRequest(m);
    case Message::Kind::kNotification:
      return OnNotification(m);
    case Message::Kind::kCallEnded:
      return OnEnded(m);
    case Message::Kind::kStray:
      break;
  }
  return OnStray(m);
}

std::optional<ClientEvent> Client::Impl::OnRequest(const Message& m) {
  if (m.method == "session/request_permission") {
    auto permission = decode::Permission(m.params);
    if (!permission.ok()) {
      text = MessageOf(permission.status());
      peer.Refuse(m.id.text(), kInvalidParams, text);
      return Skipped{text, {}};
    }
    if (cancelled(permission->session)) {
      peer.Respond(m.id.text(), EncodePermission(std::nullopt));
      return Skipped{"it asked for permission in a turn that was cancelled", {}};
    }
    if (permissions.size() >= kMostOpen) {
      peer.Refuse(m.id.text(), kInternalError,
                  fmt::format("{} permission requests are open already", kMostOpen));
      text = fmt::format("it asked for permission while {} of its requests are open", kMostOpen);
      return Skipped{text, {}};
    }
    OpenPermission open{std::string(m.id.text().text()), std::string(permission->session), {}};
    for (const PermissionOption& o : permission->options) open.options.emplace_back(o.id, o.kind);
    const uint64_t request = ++last_request;
    permissions.emplace(request, std::move(open));
    return PermissionAsked{request, *std::move(permission)};
  }
  // Whatever was not offered, and whatever nobody here knows.
  text = fmt::format("Method not found: {}", m.method);
  peer.Refuse(m.id.text(), kMethodNotFound, text);
  if (stage == Stage::kHandshake && m.method == "initialize") {
    return Fail(HandshakeFailed::Why::kNotAcp,
                "is no agent: it sent `initialize` itself, as a client does, or a program that repeats what "
                "it reads");
  }
  text = fmt::format("it asked for {}, which is not offered", m.method);
  return Skipped{text, {}};
}

std::optional<ClientEvent> Client::Impl::OnNotification(const Message& m) {
  if (m.method == "session/update") {
    auto update = decode::Update(m.params);
    if (update.ok()) return Updated{*std::move(update)};
    text = MessageOf(update.status());
    return Skipped{text, {}};
  }
  if (m.method == "$/cancel_request") {
    const JsonView id = m.params["requestId"].text();
    for (auto it = permissions.begin(); !id.absent() && it != permissions.end(); ++it) {
      if (it->second.id != id.text()) continue;
      const uint64_t request = it->first;
      session_text = it->second.session;
      Close(it, std::nullopt);
      return PermissionClosed{request, session_text};
    }
  }
  return std::nullopt;  // unknown notifications are let go
}

std::string Client::Impl::Failure(const Message& m) const {
  if (m.error.absent()) return std::string(m.failure);
  const RpcError error = decode::Error(m.error);
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

std::optional<ClientEvent> Client::Impl::Handshaken(const Message& m) {
  using Why = HandshakeFailed::Why;
  if (stage == Stage::kFailed) {
    if (!m.failure.empty()) return std::nullopt;  // why it failed was said
    return Skipped{"it answered initialize after the handshake had failed", {}};
  }
  if (m.too_late) {
    return Fail(Why::kTimeout,
                fmt::format("did not answer `initialize` within {} seconds", limits.handshake_ns / kSecond));
  }
  if (!m.failure.empty()) {
    if (ended) return Fail(Why::kEnded, fmt::format("ended before it answered: {}", m.failure));
    return Fail(Why::kNotAcp, fmt::format("does not speak ACP: {}", m.failure));
  }
  if (!m.error.absent()) return Fail(Why::kRefused, fmt::format("refused `initialize`: {}", Failure(m)));
  auto answer = decode::Initialized(m.result);
  if (!answer.ok()) {
    return Fail(Why::kNotAcp, fmt::format("does not speak ACP: {}", MessageOf(answer.status())));
  }
  if (answer->protocol_version != kProtocolVersion) {
    return Fail(Why::kVersion, fmt::format("speaks ACP version {} alone; version {} is what is spoken here",
                                           answer->protocol_version, kProtocolVersion));
  }
  stage = Stage::kReady;
  return HandshakeDone{*std::move(answer)};
}

std::optional<ClientEvent> Client::Impl::OnEnded(const Message& m) {
  if (m.call == handshake) return Handshaken(m);
  if (auto prompt = prompts.extract(m.call)) {
    session_text = std::move(prompt.mapped().session);
    PromptEnded over{m.call, session_text, {}, {}, 0};
    const bool answered = m.failure.empty() && m.error.absent();
    const auto response =
        answered ? decode::Prompted(m.result) : absl::StatusOr<PromptResponse>(PromptResponse{});
    if (answered && response.ok()) {
      over.stop_reason = response->stop_reason;
    } else if (prompt.mapped().cancelled && (m.failure.empty() || !ended)) {
      over.stop_reason = "cancelled";
    } else {
      text = answered ? std::string(MessageOf(response.status())) : Failure(m);
      over.failure = text;
      over.code = answered ? int32_t{kInvalidParams} : m.error.absent() ? 0 : decode::Error(m.error).code;
    }
    return over;
  }
  if (m.method == "session/new" && m.failure.empty() && m.error.absent()) {
    auto made = decode::SessionMade(m.result);
    if (made.ok()) return SessionMade{m.call, *std::move(made)};
    text = MessageOf(made.status());
    return CallFailed{m.call, m.method, kInvalidParams, text};
  }
  const int32_t code = m.error.absent() ? 0 : decode::Error(m.error).code;
  text = Failure(m);
  return CallFailed{m.call, m.method, code, text};
}

std::optional<ClientEvent> Client::Impl::OnStray(const Message& m) {
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
    case StrayLine::Why::kUnknownAnswer:
      break;
  }
  return Skipped{"it answered a request that nobody waits for", m.stray.line};
}

}  // namespace watchbill::acp
