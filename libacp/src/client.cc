#include "watchbill/acp/client.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "client_impl.hpp"
#include "texts.hpp"
#include "watchbill/acp/encode.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {

namespace {

template <typename List>
std::string Listed(const List& list) {
  std::string out;
  for (const auto& one : list) out.append(out.empty() ? "" : ", ").append(one);
  return out.empty() ? "none" : out;
}

bool Among(const std::vector<std::string>& list, std::string_view one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

absl::Status NotOpen(std::string_view session) {
  return absl::NotFoundError(fmt::format("no session {} is open with this agent", session));
}

}  // namespace

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

std::optional<ClientEvent> Client::Next() { return impl_->Next(); }
std::string_view Client::Output() const { return impl_->peer.Output(); }
void Client::Consume(size_t bytes) { impl_->peer.Consume(bytes); }
int64_t Client::Deadline() const { return impl_->peer.Deadline(); }
void Client::Tick(Now now) { impl_->peer.Tick(now); }

bool Client::ready() const { return impl_->stage == Impl::Stage::kReady && !impl_->ended; }
bool Client::has(std::string_view session) const {
  const auto it = impl_->sessions.find(session);
  return it != impl_->sessions.end() && it->second.open;
}
bool Client::prompting(std::string_view session) const {
  const auto it = impl_->sessions.find(session);
  return it != impl_->sessions.end() && it->second.prompt != 0;
}
std::string_view Client::mode(std::string_view session) const {
  const auto it = impl_->sessions.find(session);
  return it == impl_->sessions.end() ? std::string_view() : it->second.mode;
}
const ToolCallUpdate* Client::tool_call(std::string_view session, std::string_view tool_call_id) const {
  const auto it = impl_->sessions.find(session);
  return it == impl_->sessions.end() ? nullptr : it->second.tools.Find(tool_call_id);
}
uint64_t Client::stray_lines() const { return impl_->peer.stray_lines(); }

absl::Status Client::Impl::MayAsk() const {
  if (ended) return absl::FailedPreconditionError("the agent is gone");
  if (stage != Stage::kReady) return absl::FailedPreconditionError("the handshake is not done");
  return absl::OkStatus();
}

absl::Status Client::Impl::MayAsk(bool is_offered, std::string_view method) const {
  if (absl::Status status = MayAsk(); !status.ok()) return status;
  if (!is_offered) return absl::FailedPreconditionError(fmt::format("the agent does not offer {}", method));
  return absl::OkStatus();
}

absl::StatusOr<Client::Impl::Session*> Client::Impl::OpenOne(std::string_view session) {
  const auto it = sessions.find(session);
  if (it == sessions.end() || !it->second.open) return NotOpen(session);
  if (it->second.closing) {
    return absl::FailedPreconditionError(fmt::format("session {} is being closed", session));
  }
  if (it->second.loading) {
    return absl::FailedPreconditionError(fmt::format("session {} is being loaded", session));
  }
  return &it->second;
}

Client::Impl::Session Client::Impl::NewOne() const {
  Session one;
  one.tools = ToolCalls({limits.tool_calls, limits.tool_bytes});
  return one;
}

uint64_t Client::Impl::Ask(std::string_view method, std::string_view params, int64_t deadline_ns, Call call) {
  const uint64_t number = peer.Call(method, params, deadline_ns);
  calls.emplace(number, std::move(call));
  return number;
}

absl::Status Client::Initialize(const InitializeRequest& request, Now now) {
  if (impl_->stage != Impl::Stage::kNew) return absl::FailedPreconditionError("initialize was sent already");
  impl_->stage = Impl::Stage::kHandshake;
  impl_->offered = request.capabilities;
  wire::DropViews(impl_->offered);
  impl_->handshake = impl_->peer.Call("initialize", Encode(request), After(now, impl_->limits.handshake_ns));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Client::Authenticate(std::string_view method_id) {
  if (absl::Status status = impl_->MayAsk(); !status.ok()) return status;
  std::vector<std::string> ids;
  for (const auto& [id, type] : impl_->auth_methods) {
    ids.push_back(id);
    if (id != method_id) continue;
    if (type == "terminal") {
      return absl::InvalidArgumentError(
          fmt::format("\"{}\" is a command to run at a terminal, with the agent's own program; it is not for "
                      "authenticate",
                      method_id));
    }
    AuthenticateRequest request;
    request.method_id = method_id;
    return impl_->Ask("authenticate", Encode(request), kNever, {});
  }
  return absl::InvalidArgumentError(
      fmt::format("\"{}\" is no way to sign in to this agent; those are: {}", method_id, Listed(ids)));
}

absl::StatusOr<uint64_t> Client::Logout(Now now) {
  absl::Status status = impl_->MayAsk(impl_->agent.auth.logout.has_value(), "logout");
  if (!status.ok()) return status;
  return impl_->Ask("logout", Encode(LogoutRequest{}), After(now, impl_->limits.call_ns), {});
}

absl::StatusOr<uint64_t> Client::NewSession(const NewSessionRequest& request, Now now) {
  if (absl::Status status = impl_->MayAsk(); !status.ok()) return status;
  return impl_->Ask("session/new", Encode(request), After(now, impl_->limits.session_ns),
                    {Impl::Asked::kNew, {}, {}});
}

absl::StatusOr<uint64_t> Client::LoadSession(const LoadSessionRequest& request, Now now) {
  absl::Status status = impl_->MayAsk(impl_->agent.load_session, "session/load");
  if (!status.ok()) return status;
  if (request.session_id.empty()) return absl::InvalidArgumentError("no session has an empty id");
  // Before it is sent: its past is told before the answer.
  auto [it, is_new] = impl_->sessions.try_emplace(std::string(request.session_id), impl_->NewOne());
  Impl::Session& session = it->second;
  if (!is_new && (!session.open || session.loading || session.prompt != 0 || session.closing)) {
    return absl::FailedPreconditionError(
        fmt::format("session {} is in use, and is not loaded meanwhile", request.session_id));
  }
  session.loading = true;
  return impl_->Ask("session/load", Encode(request), After(now, impl_->limits.session_ns),
                    {Impl::Asked::kLoad, it->first, {}});
}

absl::StatusOr<uint64_t> Client::ResumeSession(const ResumeSessionRequest& request, Now now) {
  absl::Status status = impl_->MayAsk(impl_->agent.session.resume.has_value(), "session/resume");
  if (!status.ok()) return status;
  if (request.session_id.empty()) return absl::InvalidArgumentError("no session has an empty id");
  auto [it, is_new] = impl_->sessions.try_emplace(std::string(request.session_id), impl_->NewOne());
  if (!is_new) {
    return absl::FailedPreconditionError(fmt::format("session {} is open already", request.session_id));
  }
  return impl_->Ask("session/resume", Encode(request), After(now, impl_->limits.session_ns),
                    {Impl::Asked::kResume, it->first, {}});
}

void Client::Adopt(std::string_view session, const LoadSessionResponse& says) {
  Impl::Session& one = impl_->sessions.try_emplace(std::string(session), impl_->NewOne()).first->second;
  one.open = true;
  impl_->Set(one, says.modes, says.models);
  if (says.config_options) impl_->Set(one, *says.config_options);
}

absl::StatusOr<uint64_t> Client::ListSessions(const ListSessionsRequest& request, Now now) {
  absl::Status status = impl_->MayAsk(impl_->agent.session.list.has_value(), "session/list");
  if (!status.ok()) return status;
  return impl_->Ask("session/list", Encode(request), After(now, impl_->limits.call_ns),
                    {Impl::Asked::kList, {}, {}});
}

absl::StatusOr<uint64_t> Client::CloseSession(std::string_view session, Now now) {
  absl::Status status = impl_->MayAsk(impl_->agent.session.close.has_value(), "session/close");
  if (!status.ok()) return status;
  if (const auto open = impl_->OpenOne(session); !open.ok()) return open.status();
  const auto it = impl_->sessions.find(session);
  impl_->CancelTurn(it, impl_->closed);
  it->second.closing = true;
  CloseSessionRequest request;
  request.session_id = session;
  return impl_->Ask("session/close", Encode(request), After(now, impl_->limits.call_ns),
                    {Impl::Asked::kClose, it->first, {}});
}

absl::StatusOr<uint64_t> Client::DeleteSession(std::string_view session, Now now) {
  absl::Status status = impl_->MayAsk(impl_->agent.session.remove.has_value(), "session/delete");
  if (!status.ok()) return status;
  if (const auto it = impl_->sessions.find(session); it != impl_->sessions.end()) {
    if (const auto open = impl_->OpenOne(session); !open.ok()) return open.status();
    impl_->CancelTurn(it, impl_->closed);
    it->second.closing = true;
  }
  DeleteSessionRequest request;
  request.session_id = session;
  return impl_->Ask("session/delete", Encode(request), After(now, impl_->limits.call_ns),
                    {Impl::Asked::kDelete, std::string(session), {}});
}

absl::StatusOr<uint64_t> Client::SetMode(std::string_view session, std::string_view mode_id, Now now) {
  if (absl::Status status = impl_->MayAsk(); !status.ok()) return status;
  const auto open = impl_->OpenOne(session);
  if (!open.ok()) return open.status();
  const auto& modes = (*open)->modes;
  if (!modes) return absl::FailedPreconditionError(fmt::format("session {} has no modes", session));
  if (!Among(*modes, mode_id)) {
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" is no mode of session {}; those are: {}", mode_id, session, Listed(*modes)));
  }
  SetSessionModeRequest request;
  request.session_id = session;
  request.mode_id = mode_id;
  return impl_->Ask("session/set_mode", Encode(request), After(now, impl_->limits.call_ns),
                    {Impl::Asked::kSet, std::string(session), std::string(mode_id)});
}

absl::StatusOr<uint64_t> Client::SetConfigOption(std::string_view session, std::string_view config_id,
                                                 const std::variant<Text, bool>& value, Now now) {
  if (absl::Status status = impl_->MayAsk(); !status.ok()) return status;
  const auto open = impl_->OpenOne(session);
  if (!open.ok()) return open.status();
  if (!(*open)->options) {
    return absl::FailedPreconditionError(fmt::format("session {} has no options to set", session));
  }
  std::vector<std::string> ids;
  for (const Impl::Option& option : *(*open)->options) {
    ids.push_back(option.id);
    if (option.id != config_id) continue;
    const auto* word = std::get_if<Text>(&value);
    if (option.boolean == (word != nullptr)) {
      return absl::InvalidArgumentError(
          fmt::format("option \"{}\" is {}", config_id, option.boolean ? "true or false" : "one of a list"));
    }
    if (word != nullptr && !Among(option.values, *word)) {
      return absl::InvalidArgumentError(fmt::format("\"{}\" is no value of option \"{}\"; those are: {}",
                                                    *word, config_id, Listed(option.values)));
    }
    SetSessionConfigOptionRequest request;
    request.session_id = session;
    request.config_id = config_id;
    request.value = value;
    return impl_->Ask("session/set_config_option", Encode(request), After(now, impl_->limits.call_ns),
                      {Impl::Asked::kSet, std::string(session), {}});
  }
  return absl::InvalidArgumentError(
      fmt::format("\"{}\" is no option of session {}; those are: {}", config_id, session, Listed(ids)));
}

absl::StatusOr<uint64_t> Client::SetModel(std::string_view session, std::string_view model_id, Now now) {
  if (absl::Status status = impl_->MayAsk(); !status.ok()) return status;
  const auto open = impl_->OpenOne(session);
  if (!open.ok()) return open.status();
  if ((*open)->model_option) {
    return absl::FailedPreconditionError(
        fmt::format("session {} has an option for its model, which is the way to set it", session));
  }
  const auto& models = (*open)->models;
  if (!models) return absl::FailedPreconditionError(fmt::format("session {} offers no models", session));
  if (!Among(*models, model_id)) {
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" is no model of session {}; those are: {}", model_id, session, Listed(*models)));
  }
  SetSessionModelRequest request;
  request.session_id = session;
  request.model_id = model_id;
  return impl_->Ask("session/set_model", Encode(request), After(now, impl_->limits.call_ns),
                    {Impl::Asked::kSet, std::string(session), {}});
}

absl::Status Client::Impl::MayPrompt(const PromptRequest& request) const {
  const PromptCapabilities& takes = agent.prompt;
  for (const ContentBlock& block : request.prompt) {
    const bool taken = std::holds_alternative<TextContent>(block) ||
                       std::holds_alternative<ResourceLink>(block) ||
                       (std::holds_alternative<ImageContent>(block) && takes.image) ||
                       (std::holds_alternative<AudioContent>(block) && takes.audio) ||
                       (std::holds_alternative<EmbeddedResource>(block) && takes.embedded_context);
    if (taken) continue;
    return absl::FailedPreconditionError(
        fmt::format("the agent does not take content of type {} in prompts", TypeOf(block)));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Client::Prompt(const PromptRequest& request) {
  if (absl::Status status = impl_->MayAsk(); !status.ok()) return status;
  const auto open = impl_->OpenOne(request.session_id);
  if (!open.ok()) return open.status();
  Impl::Session& session = **open;
  if (session.prompt != 0) {
    return absl::FailedPreconditionError(
        fmt::format("session {} is answering: one prompt at a time", request.session_id));
  }
  if (absl::Status status = impl_->MayPrompt(request); !status.ok()) return status;
  session.tools.ForgetFinished();
  session.cancelled = false;
  // No time limit: a turn may wait for a person for hours.
  session.prompt = impl_->Ask("session/prompt", Encode(request), kNever,
                              {Impl::Asked::kPrompt, std::string(request.session_id), {}});
  return session.prompt;
}

std::vector<uint64_t> Client::Cancel(std::string_view session) {
  std::vector<uint64_t> told;
  const auto it = impl_->sessions.find(session);
  if (it == impl_->sessions.end()) return told;
  std::deque<std::pair<uint64_t, Impl::Open>> answered;
  impl_->CancelTurn(it, answered);
  for (const auto& [request, what] : answered) told.push_back(request);
  return told;
}

void Client::Impl::CancelTurn(Sessions::iterator session, std::deque<std::pair<uint64_t, Open>>& answered) {
  if (session->second.prompt == 0) return;
  session->second.cancelled = true;
  CancelNotification cancel;
  cancel.session_id = session->first;
  peer.Notify("session/cancel", Encode(cancel));
  for (auto it = requests.begin(); it != requests.end();) {
    const auto here = it++;
    const bool waits_for_person =
        here->second.kind == Answer::kPermission || here->second.kind == Answer::kElicitation;
    if (here->second.session != session->first || !waits_for_person) continue;
    CloseCancelled(here->second);
    answered.emplace_back(here->first, std::move(here->second));
    requests.erase(here);
  }
}

absl::StatusOr<uint64_t> Client::Request(std::string_view method, std::string_view params, int64_t limit_ns,
                                         Now now) {
  if (absl::Status status = impl_->MayAsk(); !status.ok()) return status;
  return impl_->Ask(method, params, limit_ns == kNever ? kNever : After(now, limit_ns), {});
}

absl::Status Client::Notify(std::string_view method, std::string_view params) {
  if (absl::Status status = impl_->MayAsk(); !status.ok()) return status;
  impl_->peer.Notify(method, params);
  return absl::OkStatus();
}

void Client::CancelCall(uint64_t call) { impl_->peer.Cancel(call); }

absl::Status Client::AnswerPermission(uint64_t request, std::string_view option_id) {
  const auto it = impl_->requests.find(request);
  if (it == impl_->requests.end() || it->second.kind != Answer::kPermission || impl_->ended)
    return absl::NotFoundError("that permission request is not open any more");
  std::vector<std::string> offered;
  for (const auto& [id, kind] : it->second.options) {
    offered.push_back(id);
    if (id != option_id) continue;
    RequestPermissionResponse response;
    response.option_id = option_id;
    impl_->peer.Respond(JsonView::Trusted(it->second.id), Encode(response));
    impl_->requests.erase(it);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("\"{}\" was not offered; these were: {}", option_id, Listed(offered)));
}

absl::StatusOr<std::optional<std::string>> Client::RefusePermission(uint64_t request) {
  const auto it = impl_->requests.find(request);
  if (it == impl_->requests.end() || it->second.kind != Answer::kPermission || impl_->ended)
    return absl::NotFoundError("that permission request is not open any more");
  std::optional<std::string> chosen;
  // An id that stands for a yes as well is no refusal, whatever it is called.
  const auto allows = [&](const std::string& one) {
    return std::any_of(it->second.options.begin(), it->second.options.end(),
                       [&](const auto& option) { return option.first == one && Allows(option.second); });
  };
  for (const std::string_view wanted : {"reject_once", "reject_always"}) {
    for (const auto& [id, kind] : it->second.options) {
      if (!chosen && kind == wanted && !allows(id)) chosen = id;
    }
  }
  RequestPermissionResponse response;
  if (chosen) response.option_id = *chosen;
  impl_->peer.Respond(JsonView::Trusted(it->second.id), Encode(response));
  impl_->requests.erase(it);
  return chosen;
}

absl::Status Client::RespondWith(uint64_t request, std::string_view json, int kind) {
  const auto it = impl_->requests.find(request);
  if (it == impl_->requests.end() || it->second.kind == Answer::kPermission || impl_->ended)
    return absl::NotFoundError("that request is not open any more");
  if (static_cast<int>(it->second.kind) != kind) {
    return absl::InvalidArgumentError("another kind of answer goes with that request");
  }
  impl_->peer.Respond(JsonView::Trusted(it->second.id), json);
  impl_->requests.erase(it);
  return absl::OkStatus();
}

template <>
absl::Status Client::Respond(uint64_t request, const ReadTextFileResponse& r) {
  return RespondWith(request, Encode(r), static_cast<int>(Answer::kContent));
}
template <>
absl::Status Client::Respond(uint64_t request, const EmptyResponse& r) {
  return RespondWith(request, Encode(r), static_cast<int>(Answer::kEmpty));
}
template <>
absl::Status Client::Respond(uint64_t request, const CreateTerminalResponse& r) {
  return RespondWith(request, Encode(r), static_cast<int>(Answer::kTerminal));
}
template <>
absl::Status Client::Respond(uint64_t request, const TerminalOutputResponse& r) {
  return RespondWith(request, Encode(r), static_cast<int>(Answer::kOutput));
}
template <>
absl::Status Client::Respond(uint64_t request, const TerminalExitStatus& r) {
  return RespondWith(request, Encode(r), static_cast<int>(Answer::kExit));
}
template <>
absl::Status Client::Respond(uint64_t request, const CreateElicitationResponse& r) {
  return RespondWith(request, Encode(r), static_cast<int>(Answer::kElicitation));
}

absl::Status Client::RefuseHost(uint64_t request, int32_t code, std::string_view message) {
  const auto it = impl_->requests.find(request);
  if (it == impl_->requests.end() || it->second.kind == Answer::kPermission || impl_->ended)
    return absl::NotFoundError("that request is not open any more");
  impl_->peer.Refuse(JsonView::Trusted(it->second.id), code, message);
  impl_->requests.erase(it);
  return absl::OkStatus();
}

void Client::Impl::Set(Session& session, const std::optional<SessionModeState>& modes,
                       const std::optional<SessionModelState>& models) {
  if (modes) {
    session.mode = modes->current_mode_id;
    session.modes.emplace();
    for (const SessionMode& mode : modes->available_modes) session.modes->emplace_back(mode.id);
  }
  if (models) {
    session.models.emplace();
    for (const SessionModel& model : models->available_models) session.models->emplace_back(model.model_id);
  }
}

void Client::Impl::Set(Session& session, const std::vector<SessionConfigOption>& options) {
  session.options.emplace();
  session.model_option = false;
  for (const SessionConfigOption& option : options) {
    Option kept{std::string(option.id), false, {}};
    session.model_option = session.model_option || option.category == "model";
    if (const auto* select = std::get_if<SessionConfigSelect>(&option.value)) {
      const auto keep = [&](const std::vector<SessionConfigSelectOption>& list) {
        for (const SessionConfigSelectOption& one : list) kept.values.emplace_back(one.value);
      };
      if (const auto* flat = std::get_if<std::vector<SessionConfigSelectOption>>(&select->options)) {
        keep(*flat);
      } else {
        for (const auto& group : std::get<std::vector<SessionConfigSelectGroup>>(select->options)) {
          keep(group.options);
        }
      }
    } else {
      kept.boolean = true;
    }
    session.options->push_back(std::move(kept));
  }
}

}  // namespace watchbill::acp
