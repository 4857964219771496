#include "watchbill/acp.h"
#include "watchbill/acp/client.hpp"
#include "watchbill/base/c_support.hpp"

namespace acp = watchbill::acp;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::Str;
using watchbill::c::View;

struct wb_acp_client {
  explicit wb_acp_client(acp::Client::Limits limits) : client(limits) {}
  acp::Client client;
};

namespace {

wb_str Json(watchbill::JsonView json) { return json.absent() ? wb_str{nullptr, 0} : Str(json.text()); }
// Empty is "not of this event".
wb_str Said(std::string_view text) { return text.empty() ? wb_str{nullptr, 0} : Str(text); }

struct Fill {
  wb_acp_event& o;

  void operator()(const acp::HandshakeDone& e) const {
    o.kind = WB_ACP_HANDSHAKE_DONE;
    o.json = Json(e.agent.raw);
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
  void operator()(const acp::SessionMade& e) const {
    o.kind = WB_ACP_SESSION_MADE;
    o.call = e.call;
    o.session = Str(e.session.session);
    o.json = Json(e.session.raw);
  }
  void operator()(const acp::PromptEnded& e) const {
    o.kind = WB_ACP_PROMPT_ENDED;
    o.call = e.call;
    o.session = Str(e.session);
    o.word = Said(e.stop_reason);
    o.text = Said(e.failure);
    o.code = e.code;
  }
  void operator()(const acp::CallFailed& e) const {
    o.kind = WB_ACP_CALL_FAILED;
    o.call = e.call;
    o.word = Str(e.method);
    o.text = Str(e.failure);
    o.code = e.code;
  }
  void operator()(const acp::Updated& e) const {
    o.kind = WB_ACP_UPDATED;
    o.session = Str(e.update.session);
    o.word = Str(e.update.kind);
    o.json = Json(e.update.raw);
    if (const auto* chunk = std::get_if<acp::Chunk>(&e.update.update)) o.text = Str(chunk->content.text);
  }
  void operator()(const acp::PermissionAsked& e) const {
    o.kind = WB_ACP_PERMISSION_ASKED;
    o.call = e.request;
    o.session = Str(e.permission.session);
    o.json = Json(e.permission.raw);
  }
  void operator()(const acp::PermissionClosed& e) const {
    o.kind = WB_ACP_PERMISSION_CLOSED;
    o.call = e.request;
    o.session = Str(e.session);
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

}  // namespace

extern "C" {

void wb_acp_client_options_init(wb_acp_client_options* options) {
  const acp::Client::Limits limits;
  options->struct_size = sizeof *options;
  options->max_depth = static_cast<uint32_t>(limits.peer.depth);
  options->max_line_bytes = limits.peer.line_bytes;
  options->handshake_ms = limits.handshake_ns / watchbill::kMillisecond;
  options->session_ms = limits.session_ns / watchbill::kMillisecond;
}

int32_t wb_acp_client_new(const wb_acp_client_options* options, wb_acp_client** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    wb_acp_client_options all;
    wb_acp_client_options_init(&all);
    if (options != nullptr) watchbill::c::CopyKnown(&all, *options, options->struct_size);
    constexpr int64_t kLongestMs = INT64_MAX / watchbill::kMillisecond / 2;
    if (all.max_depth == 0 || all.max_depth > 512 || all.max_line_bytes == 0 || all.handshake_ms <= 0 ||
        all.session_ms <= 0 || all.handshake_ms > kLongestMs || all.session_ms > kLongestMs) {
      return Fail(err, absl::StatusCode::kInvalidArgument,
                  "max_depth is 1 to 512; max_line_bytes, handshake_ms and session_ms are at least 1");
    }
    acp::Client::Limits limits;
    limits.peer = {static_cast<size_t>(all.max_line_bytes), all.max_depth};
    limits.handshake_ns = all.handshake_ms * watchbill::kMillisecond;
    limits.session_ns = all.session_ms * watchbill::kMillisecond;
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
    request.client = acp::Implementation{View(name), View(version), std::nullopt};
    const absl::Status status = c->client.Initialize(request, watchbill::c::Time(now));
    return status.ok() ? WB_OK : Fail(err, status);
  });
}

int32_t wb_acp_client_session_new(wb_acp_client* c, wb_str cwd, wb_now now, uint64_t* call, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    return Number(c->client.NewSession({View(cwd), {}}, watchbill::c::Time(now)), call, err);
  });
}

int32_t wb_acp_client_prompt(wb_acp_client* c, wb_str session, wb_str text, uint64_t* call, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    acp::PromptRequest request{View(session), {}};
    acp::ContentBlock block;
    block.text = View(text);
    request.prompt.push_back(block);
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

}  // extern "C"
