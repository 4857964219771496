#include <fmt/core.h>

#include "watchbill/acp/peer.hpp"
#include "watchbill/acp/read.hpp"
#include "watchbill/acp_peer.h"
#include "watchbill/base/c_support.hpp"

namespace acp = watchbill::acp;
using watchbill::JsonText;
using watchbill::JsonView;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::Str;
using watchbill::c::View;

struct wb_acp_peer {
  explicit wb_acp_peer(acp::Peer::Limits limits) : peer(limits) {}
  acp::Peer peer;
  acp::Reader reader;
  std::string text;  // of the event that was given last
};

namespace {

wb_str Json(JsonView json) { return json.absent() ? wb_str{nullptr, 0} : Str(json.text()); }

// Compact JSON of what the caller gave; empty where that is.
absl::StatusOr<std::string> Checked(wb_acp_peer& p, wb_str json) {
  if (View(json).empty()) return std::string();
  const auto read = p.reader.Check(JsonView::Trusted(View(json)));
  if (!read.ok()) return read.status();
  return std::string(read->text());
}

absl::StatusOr<JsonText> CheckedId(wb_acp_peer& p, wb_str id) {
  auto text = Checked(p, id);
  if (!text.ok()) return text.status();
  const char first = text->empty() ? 'n' : (*text)[0];
  if (first == '{' || first == '[' || first == 't' || first == 'f') {
    return absl::InvalidArgumentError("an id is a number, a string or null");
  }
  return JsonText::Trusted(text->empty() ? "null" : *std::move(text));
}

std::string_view Why(const acp::StrayLine& stray) {
  using W = acp::StrayLine::Why;
  switch (stray.why) {
    case W::kNotJson:
      return "the line is no JSON object";
    case W::kNotMessage:
      return "the object is neither a request nor an answer";
    case W::kTooLong:
      return "the line is too long";
    case W::kUnreadable:
      return stray.detail;
    case W::kUnknownAnswer:
      break;
  }
  return "nobody waits for that answer";
}

struct Fill {
  wb_acp_peer& p;
  wb_acp_peer_event& o;

  void operator()(const acp::IncomingRequest& e) const {
    o.kind = WB_ACP_PEER_REQUEST;
    o.id = Json(e.id);
    o.method = Str(e.method);
    o.json = Json(e.params);
  }
  void operator()(const acp::IncomingNotification& e) const {
    o.kind = WB_ACP_PEER_NOTIFICATION;
    o.method = Str(e.method);
    o.json = Json(e.params);
  }
  void operator()(const acp::CallEnded& e) const {
    o.kind = WB_ACP_PEER_CALL_ENDED;
    o.call = e.call;
    o.method = Str(e.method);
    o.json = Json(e.error ? e.error->data : e.result);
    if (e.error) {
      p.text = e.error->message.empty() ? "it gave no reason" : std::string(e.error->message);
      o.text = Str(std::string_view(p.text));
      o.code = e.error->code;
    } else if (!e.failure.empty()) {
      o.text = Str(e.failure);
    }
  }
  void operator()(const acp::StrayLine& e) const {
    o.kind = WB_ACP_PEER_STRAY;
    o.text = Str(Why(e));
    o.line = Str(e.line);
    o.call = e.bytes;
  }
};

}  // namespace

extern "C" {

void wb_acp_peer_options_init(wb_acp_peer_options* options) {
  const acp::Peer::Limits limits;
  options->struct_size = sizeof *options;
  options->max_depth = static_cast<uint32_t>(limits.depth);
  options->max_line_bytes = limits.line_bytes;
}

int32_t wb_acp_peer_new(const wb_acp_peer_options* options, wb_acp_peer** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    wb_acp_peer_options all;
    wb_acp_peer_options_init(&all);
    if (options != nullptr) watchbill::c::CopyKnown(&all, *options, options->struct_size);
    if (all.max_depth == 0 || all.max_depth > 512 || all.max_line_bytes == 0) {
      return Fail(err, absl::StatusCode::kInvalidArgument,
                  "max_depth is 1 to 512; max_line_bytes is at least 1");
    }
    *out = new wb_acp_peer({static_cast<size_t>(all.max_line_bytes), all.max_depth});
    return WB_OK;
  });
}

void wb_acp_peer_free(wb_acp_peer* peer) { delete peer; }

int32_t wb_acp_peer_feed(wb_acp_peer* p, wb_str bytes, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return p->peer.Feed(View(bytes)), WB_OK; });
}

int32_t wb_acp_peer_end(wb_acp_peer* p, wb_str why, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return p->peer.End(View(why)), WB_OK; });
}

int32_t wb_acp_peer_next(wb_acp_peer* p, wb_acp_peer_event* out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto event = p->peer.Next();
    if (!event) return 1;
    wb_acp_peer_event filled{};
    std::visit(Fill{*p, filled}, *event);
    watchbill::c::CopyKnown(out, filled, out->struct_size);
    return WB_OK;
  });
}

wb_str wb_acp_peer_output(const wb_acp_peer* p) { return Str(p->peer.Output()); }
void wb_acp_peer_consume(wb_acp_peer* p, size_t bytes) { p->peer.Consume(bytes); }
int64_t wb_acp_peer_deadline(const wb_acp_peer* p) { return p->peer.Deadline(); }

int32_t wb_acp_peer_tick(wb_acp_peer* p, wb_now now, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return p->peer.Tick(watchbill::c::Time(now)), WB_OK; });
}

int32_t wb_acp_peer_call(wb_acp_peer* p, wb_str method, wb_str params, int64_t deadline_ns, uint64_t* call,
                         wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto text = Checked(*p, params);
    if (!text.ok()) return Fail(err, text.status());
    const uint64_t number = p->peer.Call(View(method), *text, deadline_ns);
    if (call != nullptr) *call = number;
    return WB_OK;
  });
}

int32_t wb_acp_peer_cancel(wb_acp_peer* p, uint64_t call, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return p->peer.Cancel(call), WB_OK; });
}

int32_t wb_acp_peer_notify(wb_acp_peer* p, wb_str method, wb_str params, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto text = Checked(*p, params);
    if (!text.ok()) return Fail(err, text.status());
    return p->peer.Notify(View(method), *text), WB_OK;
  });
}

int32_t wb_acp_peer_respond(wb_acp_peer* p, wb_str id, wb_str result, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto number = CheckedId(*p, id);
    if (!number.ok()) return Fail(err, number.status());
    const auto text = Checked(*p, result);
    if (!text.ok()) return Fail(err, text.status());
    return p->peer.Respond(number->view(), *text), WB_OK;
  });
}

int32_t wb_acp_peer_refuse(wb_acp_peer* p, wb_str id, int32_t code, wb_str message, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto number = CheckedId(*p, id);
    if (!number.ok()) return Fail(err, number.status());
    return p->peer.Refuse(number->view(), code, View(message)), WB_OK;
  });
}

}  // extern "C"
