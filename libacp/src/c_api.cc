#include <map>
#include "watchbill/acp.h"

#include "fields.hpp"
#include "watchbill/acp/client.hpp"
#include "watchbill/acp/encode.hpp"
#include "watchbill/acp/read.hpp"
#include "watchbill/base/c_support.hpp"

namespace acp = watchbill::acp;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::Str;
using watchbill::c::View;

struct wb_acp_client {
  explicit wb_acp_client(acp::Client::Limits limits) : client(limits), call_ns(limits.call_ns) {}
  acp::Client client;
  int64_t call_ns;
  acp::Reader reader;
  std::map<uint64_t, size_t> asked;  // requests of the agent, and which of HostRequest each is
  std::string text;                  // what was given last and not from an event
};
struct wb_acp_reader {
  acp::Reader reader;
  std::string text;
};

namespace {

wb_str Json(watchbill::JsonView json) { return json.absent() ? wb_str{nullptr, 0} : Str(json.text()); }
// Empty is "not of this event".
wb_str Said(std::string_view text) { return text.empty() ? wb_str{nullptr, 0} : Str(text); }

struct Fill {
  wb_acp_event& o;

  void operator()(const acp::HandshakeDone& e) const {
    o.kind = WB_ACP_HANDSHAKE_DONE;
    o.json = Json(e.raw);
  }
  void operator()(const acp::HandshakeFailed& e) const {
    using Why = acp::HandshakeFailed::Why;
    o.kind = WB_ACP_HANDSHAKE_FAILED;
    o.code = e.why == Why::kVersion   ? WB_ACP_VERSION
             : e.why == Why::kTimeout ? WB_ACP_TIMEOUT
             : e.why == Why::kNotAcp  ? WB_ACP_NOT_ACP
             : e.why == Why::kEnded   ? WB_ACP_ENDED
                                      : WB_ACP_REFUSED;
    o.text = Str(e.says);
  }
  void operator()(const acp::SessionOpened& e) const {
    using How = acp::SessionOpened::How;
    o.kind = WB_ACP_SESSION_OPENED;
    o.call = e.call;
    o.session = Str(e.session);
    o.code = e.how == How::kNew ? WB_ACP_NEW : e.how == How::kLoaded ? WB_ACP_LOADED : WB_ACP_RESUMED;
    o.json = Json(e.raw);
  }
  void operator()(const acp::PromptEnded& e) const {
    o.kind = WB_ACP_PROMPT_ENDED;
    o.call = e.call;
    o.session = Str(e.session);
    o.word = Said(e.stop_reason);
    o.text = Said(e.failure);
    o.code = e.code;
    o.json = Json(e.usage);
  }
  void operator()(const acp::CallDone& e) const {
    o.kind = WB_ACP_CALL_DONE;
    o.call = e.call;
    o.session = Said(e.session);
    o.word = Str(e.method);
    o.json = Json(e.result);
  }
  void operator()(const acp::CallFailed& e) const {
    o.kind = WB_ACP_CALL_FAILED;
    o.call = e.call;
    o.session = Said(e.session);
    o.json = Json(e.data);
    o.word = Str(e.method);
    o.text = Str(e.failure);
    o.code = e.code;
  }
  void operator()(const acp::Updated& e) const {
    o.kind = WB_ACP_UPDATED;
    o.session = Str(e.session);
    o.word = Str(acp::KindOf(e.update));
    o.json = Json(e.raw);
    o.code = e.past ? 1 : 0;
    if (const auto* chunk = std::get_if<acp::ContentChunk>(&e.update))
      o.text = Str(acp::WordsOf(chunk->content));
  }
  void operator()(const acp::PermissionAsked& e) const {
    o.kind = WB_ACP_PERMISSION_ASKED;
    o.call = e.request;
    o.session = Str(e.permission.session_id);
    o.json = Json(e.raw);
  }
  void operator()(const acp::PermissionClosed& e) const {
    o.kind = WB_ACP_PERMISSION_CLOSED;
    o.call = e.request;
    o.session = Str(e.session);
  }
  void operator()(const acp::HostAsked& e) const {
    static constexpr std::string_view kMethods[] = {
        "fs/read_text_file",      "fs/write_text_file", "terminal/create",  "terminal/output",
        "terminal/wait_for_exit", "terminal/kill",      "terminal/release", "elicitation/create"};
    o.kind = WB_ACP_HOST_ASKED;
    o.call = e.request;
    o.word = Str(kMethods[e.what.index()]);
    o.session = Str(acp::SessionOf(e.what));
    o.json = Json(e.raw);
  }
  void operator()(const acp::HostClosed& e) const {
    o.kind = WB_ACP_HOST_CLOSED;
    o.call = e.request;
  }
  void operator()(const acp::ElicitationCompleted& e) const {
    o.kind = WB_ACP_ELICITATION_COMPLETED;
    o.word = Str(e.elicitation_id);
  }
  void operator()(const acp::Notified& e) const {
    o.kind = WB_ACP_NOTIFIED;
    o.word = Str(e.method);
    o.json = Json(e.params);
  }
  void operator()(const acp::Skipped& e) const {
    o.kind = WB_ACP_SKIPPED;
    o.text = Str(e.why);
    o.word = Said(e.line);
  }
};

int32_t Number(const absl::StatusOr<uint64_t>& call, uint64_t* out, wb_error* err) {
  if (!call.ok()) return Fail(err, call.status());
  if (out != nullptr) *out = *call;
  return WB_OK;
}

// To be parsed before anything is done with it.
watchbill::JsonView Given(wb_str json) { return watchbill::JsonView::Trusted(View(json)); }

// Params that go out as they are.
absl::StatusOr<std::string_view> Checked(wb_acp_client& c, wb_str params) {
  if (View(params).empty()) return std::string_view();
  const auto read = c.reader.Check(Given(params));
  if (!read.ok()) return read.status();
  return read->text();
}

}  // namespace

extern "C" {

void wb_acp_client_options_init(wb_acp_client_options* options) {
  const acp::Client::Limits limits;
  options->struct_size = sizeof *options;
  options->max_depth = static_cast<uint32_t>(limits.peer.depth);
  options->max_line_bytes = limits.peer.line_bytes;
  options->handshake_ms = limits.handshake_ns / watchbill::kMillisecond;
  options->session_ms = limits.session_ns / watchbill::kMillisecond;
  options->call_ms = limits.call_ns / watchbill::kMillisecond;
}

int32_t wb_acp_client_new(const wb_acp_client_options* options, wb_acp_client** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    wb_acp_client_options all;
    wb_acp_client_options_init(&all);
    if (options != nullptr) watchbill::c::CopyKnown(&all, *options, options->struct_size);
    constexpr int64_t kLongestMs = INT64_MAX / watchbill::kMillisecond / 2;
    if (all.max_depth == 0 || all.max_depth > 512 || all.max_line_bytes == 0 || all.handshake_ms <= 0 ||
        all.session_ms <= 0 || all.handshake_ms > kLongestMs || all.session_ms > kLongestMs ||
        all.call_ms <= 0 || all.call_ms > kLongestMs) {
      return Fail(
          err, absl::StatusCode::kInvalidArgument,
          "max_depth is 1 to 512; max_line_bytes, handshake_ms, session_ms and call_ms are at least 1");
    }
    acp::Client::Limits limits;
    limits.peer = {static_cast<size_t>(all.max_line_bytes), all.max_depth};
    limits.handshake_ns = all.handshake_ms * watchbill::kMillisecond;
    limits.session_ns = all.session_ms * watchbill::kMillisecond;
    limits.call_ns = all.call_ms * watchbill::kMillisecond;
    *out = new wb_acp_client(limits);
    return WB_OK;
  });
}

void wb_acp_client_free(wb_acp_client* client) { delete client; }

int32_t wb_acp_client_feed(wb_acp_client* c, wb_str bytes, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return c->client.Feed(View(bytes)), WB_OK; });
}

int32_t wb_acp_client_end(wb_acp_client* c, wb_str why, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return c->client.End(View(why)), WB_OK; });
}

int32_t wb_acp_client_next(wb_acp_client* c, wb_acp_event* out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto event = c->client.Next();
    if (!event) return 1;
    if (const auto* asked = std::get_if<acp::HostAsked>(&*event)) {
      c->asked.emplace(asked->request, asked->what.index());
    } else if (const auto* closed = std::get_if<acp::HostClosed>(&*event)) {
      c->asked.erase(closed->request);
    }
    wb_acp_event filled{};
    std::visit(Fill{filled}, *event);
    watchbill::c::CopyKnown(out, filled, out->struct_size);
    return WB_OK;
  });
}

wb_str wb_acp_client_output(const wb_acp_client* c) { return Str(c->client.Output()); }
void wb_acp_client_consume(wb_acp_client* c, size_t bytes) { c->client.Consume(bytes); }
int64_t wb_acp_client_deadline(const wb_acp_client* c) { return c->client.Deadline(); }

int32_t wb_acp_client_tick(wb_acp_client* c, wb_now now, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return c->client.Tick(watchbill::c::Time(now)), WB_OK; });
}

int32_t wb_acp_client_initialize(wb_acp_client* c, wb_str name, wb_str version, wb_now now, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    acp::InitializeRequest request;
    request.client = acp::Implementation{View(name), View(version), std::nullopt, {}};
    const absl::Status status = c->client.Initialize(request, watchbill::c::Time(now));
    return status.ok() ? WB_OK : Fail(err, status);
  });
}

int32_t wb_acp_client_session_new(wb_acp_client* c, wb_str cwd, wb_now now, uint64_t* call, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    acp::NewSessionRequest request;
    request.cwd = View(cwd);
    return Number(c->client.NewSession(request, watchbill::c::Time(now)), call, err);
  });
}

int32_t wb_acp_client_prompt(wb_acp_client* c, wb_str session, wb_str text, uint64_t* call, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    acp::PromptRequest request;
    request.session_id = View(session);
    request.prompt.push_back(acp::TextContent{View(text), std::nullopt, {}});
    return Number(c->client.Prompt(request), call, err);
  });
}

int32_t wb_acp_client_cancel(wb_acp_client* c, wb_str session, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return c->client.Cancel(View(session)), WB_OK; });
}

int32_t wb_acp_client_answer(wb_acp_client* c, uint64_t request, wb_str option, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const absl::Status status = c->client.AnswerPermission(request, View(option));
    return status.ok() ? WB_OK : Fail(err, status);
  });
}

int32_t wb_acp_client_refuse(wb_acp_client* c, uint64_t request, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto chosen = c->client.RefusePermission(request);
    return chosen.ok() ? WB_OK : Fail(err, chosen.status());
  });
}

int32_t wb_acp_client_initialize_with(wb_acp_client* c, wb_str params, wb_now now, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto request = c->reader.Read<acp::InitializeRequest>(Given(params));
    if (!request.ok()) return Fail(err, request.status());
    const absl::Status status = c->client.Initialize(*request, watchbill::c::Time(now));
    return status.ok() ? WB_OK : Fail(err, status);
  });
}

int32_t wb_acp_client_call(wb_acp_client* c, wb_str method, wb_str params, wb_now now, uint64_t* call,
                           wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const std::string_view name = View(method);
    const watchbill::Now at = watchbill::c::Time(now);
    int32_t result = WB_OK;
    // Whether it was that method.
    const auto with = [&]<typename Request>(std::string_view of, const Request*, const auto& ask) {
      if (name != of) return false;
      const auto request = c->reader.Read<Request>(Given(params));
      result = request.ok() ? Number(ask(*request), call, err) : Fail(err, request.status());
      return true;
    };
    using namespace acp;
    Client& client = c->client;
    const bool known =
        with("session/prompt", static_cast<PromptRequest*>(nullptr),
             [&](const PromptRequest& r) { return client.Prompt(r); }) ||
        with("session/new", static_cast<NewSessionRequest*>(nullptr),
             [&](const NewSessionRequest& r) { return client.NewSession(r, at); }) ||
        with("session/load", static_cast<LoadSessionRequest*>(nullptr),
             [&](const LoadSessionRequest& r) { return client.LoadSession(r, at); }) ||
        with("session/resume", static_cast<ResumeSessionRequest*>(nullptr),
             [&](const ResumeSessionRequest& r) { return client.ResumeSession(r, at); }) ||
        with("session/list", static_cast<ListSessionsRequest*>(nullptr),
             [&](const ListSessionsRequest& r) { return client.ListSessions(r, at); }) ||
        with("session/close", static_cast<CloseSessionRequest*>(nullptr),
             [&](const CloseSessionRequest& r) { return client.CloseSession(r.session_id, at); }) ||
        with("session/delete", static_cast<DeleteSessionRequest*>(nullptr),
             [&](const DeleteSessionRequest& r) { return client.DeleteSession(r.session_id, at); }) ||
        with("session/set_mode", static_cast<SetSessionModeRequest*>(nullptr),
             [&](const SetSessionModeRequest& r) { return client.SetMode(r.session_id, r.mode_id, at); }) ||
        with("session/set_config_option", static_cast<SetSessionConfigOptionRequest*>(nullptr),
             [&](const SetSessionConfigOptionRequest& r) {
               return client.SetConfigOption(r.session_id, r.config_id, r.value, at);
             }) ||
        with(
            "session/set_model", static_cast<SetSessionModelRequest*>(nullptr),
            [&](const SetSessionModelRequest& r) { return client.SetModel(r.session_id, r.model_id, at); }) ||
        with("authenticate", static_cast<AuthenticateRequest*>(nullptr),
             [&](const AuthenticateRequest& r) { return client.Authenticate(r.method_id); }) ||
        with("logout", static_cast<LogoutRequest*>(nullptr),
             [&](const LogoutRequest&) { return client.Logout(at); });
    if (known) return result;
    if (name == "initialize") {
      return Fail(err, absl::StatusCode::kInvalidArgument, "initialize has a function of its own");
    }
    const auto text = Checked(*c, params);
    if (!text.ok()) return Fail(err, text.status());
    return Number(client.Request(name, *text, c->call_ns, at), call, err);
  });
}

int32_t wb_acp_client_cancel_call(wb_acp_client* c, uint64_t call, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return c->client.CancelCall(call), WB_OK; });
}

int32_t wb_acp_client_notify(wb_acp_client* c, wb_str method, wb_str params, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto text = Checked(*c, params);
    if (!text.ok()) return Fail(err, text.status());
    const absl::Status status = c->client.Notify(View(method), *text);
    return status.ok() ? WB_OK : Fail(err, status);
  });
}

int32_t wb_acp_client_adopt(wb_acp_client* c, wb_str session, wb_str says, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto read = c->reader.Read<acp::LoadSessionResponse>(Given(says));
    if (!read.ok()) return Fail(err, read.status());
    return c->client.Adopt(View(session), *read), WB_OK;
  });
}

int32_t wb_acp_client_respond(wb_acp_client* c, uint64_t request, wb_str result, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto it = c->asked.find(request);
    if (it == c->asked.end()) {
      return Fail(err, absl::StatusCode::kNotFound, "that request is not open any more");
    }
    const auto as = [&]<typename Response>(const Response*) -> absl::Status {
      const auto response = c->reader.Read<Response>(Given(result));
      return response.ok() ? c->client.Respond(request, *response) : response.status();
    };
    using namespace acp;
    absl::Status status;
    switch (it->second) {  // the order of HostRequest
      case 0:
        status = as(static_cast<ReadTextFileResponse*>(nullptr));
        break;
      case 2:
        status = as(static_cast<CreateTerminalResponse*>(nullptr));
        break;
      case 3:
        status = as(static_cast<TerminalOutputResponse*>(nullptr));
        break;
      case 4:
        status = as(static_cast<TerminalExitStatus*>(nullptr));
        break;
      case 7:
        status = as(static_cast<CreateElicitationResponse*>(nullptr));
        break;
      default:
        status = as(static_cast<EmptyResponse*>(nullptr));
    }
    if (!status.ok()) return Fail(err, status);
    return c->asked.erase(request), WB_OK;
  });
}

int32_t wb_acp_client_refuse_host(wb_acp_client* c, uint64_t request, int32_t code, wb_str message,
                                  wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const absl::Status status = c->client.RefuseHost(request, code, View(message));
    if (!status.ok()) return Fail(err, status);
    return c->asked.erase(request), WB_OK;
  });
}

int32_t wb_acp_client_has(const wb_acp_client* c, wb_str session) {
  return c->client.has(View(session)) ? 1 : 0;
}
int32_t wb_acp_client_prompting(const wb_acp_client* c, wb_str session) {
  return c->client.prompting(View(session)) ? 1 : 0;
}
wb_str wb_acp_client_mode(const wb_acp_client* c, wb_str session) {
  return Str(c->client.mode(View(session)));
}

int32_t wb_acp_client_tool_call(wb_acp_client* c, wb_str session, wb_str tool_call_id, wb_str* out,
                                wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const acp::ToolCallUpdate* call = c->client.tool_call(View(session), View(tool_call_id));
    if (call == nullptr) {
      return Fail(err, absl::StatusCode::kNotFound, "nothing was heard of such a tool call in that session");
    }
    c->text = acp::Encode(*call);
    return *out = Str(std::string_view(c->text)), WB_OK;
  });
}

int32_t wb_acp_reader_new(wb_acp_reader** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return *out = new wb_acp_reader, WB_OK; });
}
void wb_acp_reader_free(wb_acp_reader* reader) { delete reader; }

int32_t wb_acp_reader_read(wb_acp_reader* r, wb_str type, wb_str json, wb_str* out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    using namespace acp;
    using Read = absl::StatusOr<std::string> (*)(Reader&, watchbill::JsonView);
    static const std::map<std::string_view, Read> kTypes = {
#define WATCHBILL_ACP_TYPE(Type, words)                                                 \
  {#Type, [](Reader& reader, watchbill::JsonView text) -> absl::StatusOr<std::string> { \
     const auto message = reader.Read<Type>(text);                                      \
     if (!message.ok()) return message.status();                                        \
     return Encode(*message);                                                           \
   }},
        WATCHBILL_ACP_MESSAGES(WATCHBILL_ACP_TYPE)
#undef WATCHBILL_ACP_TYPE
    };
    // Names of the schema for what is one type here.
    static const std::map<std::string_view, std::string_view> kSame = {
        {"AuthenticateResponse", "EmptyResponse"},
        {"LogoutResponse", "EmptyResponse"},
        {"DeleteSessionResponse", "EmptyResponse"},
        {"CloseSessionResponse", "EmptyResponse"},
        {"SetSessionModeResponse", "EmptyResponse"},
        {"WriteTextFileResponse", "EmptyResponse"},
        {"KillTerminalResponse", "EmptyResponse"},
        {"ReleaseTerminalResponse", "EmptyResponse"},
        {"ResumeSessionRequest", "LoadSessionRequest"},
        {"ResumeSessionResponse", "LoadSessionResponse"},
        {"WaitForTerminalExitResponse", "TerminalExitStatus"},
        {"Error", "RpcError"}};
    const auto same = kSame.find(View(type));
    const auto read = kTypes.find(same == kSame.end() ? View(type) : same->second);
    if (read == kTypes.end()) {
      return Fail(err, absl::StatusCode::kNotFound, "no message of ACP v1 has a type of that name");
    }
    auto written = read->second(r->reader, Given(json));
    if (!written.ok()) return Fail(err, written.status());
    r->text = *std::move(written);
    return *out = Str(std::string_view(r->text)), WB_OK;
  });
}

}  // extern "C"
