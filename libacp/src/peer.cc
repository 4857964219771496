#include "watchbill/acp/peer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "decode.hpp"
#include "peer_impl.hpp"
#include "unreadable.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {
namespace {

constexpr size_t kShownOfStray = 1024;

Text Beginning(std::string_view line) {
  if (line.size() < kShownOfStray) return line;
  line = line.substr(0, kShownOfStray);
  // Not in the middle of a character: the last one that begins here may not end here.
  size_t last = line.size() - 1;
  while (line.size() - last < 4 && (static_cast<unsigned char>(line[last]) & 0xC0) == 0x80) --last;
  return json_detail::Utf8Length(line.substr(last)) == 0 ? line.substr(0, last) : line;
}

bool IsNull(const json::Value& value) { return value.kind() == json::Kind::kNull; }

// What is not said goes back as null.
Text IdText(JsonView id) { return id.absent() ? "null" : id.text(); }

}  // namespace

Peer::Impl::Message Peer::Impl::Ended(uint64_t call, std::string method) {
  method_text = std::move(method);
  Message m;
  m.kind = Message::Kind::kCallEnded;
  m.call = call;
  m.method = method_text;
  return m;
}

Peer::Impl::Message Peer::Impl::Stray(StrayLine what) {
  ++strays;
  Message m;
  m.kind = Message::Kind::kStray;
  m.stray = what;
  return m;
}

Peer::Impl::Message Peer::Impl::Unreadable(StrayLine what, std::string_view head, std::string_view tail) {
  const auto address = AddressOf(head, tail);
  if (!address) return Stray(what);
  if (what.why == StrayLine::Why::kNotJson) what.why = StrayLine::Why::kUnreadable;
  const std::string wrong =
      what.why == StrayLine::Why::kTooLong
          ? fmt::format("is {} bytes long, and {} are the most", what.bytes, limits.line_bytes)
          : fmt::format("cannot be read: {}", what.detail);
  if (address->id.empty()) return Stray(what);
  if (address->is_request) {
    // Left alone, the other end would wait for ever.
    Refuse(address->id, kInvalidRequest, fmt::format("the request {}", wrong));
    return Stray(what);
  }
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(address->id.data(), address->id.data() + address->id.size(), number);
  const auto call = error == std::errc() && end == address->id.data() + address->id.size()
                        ? calls.extract(number)
                        : decltype(calls.extract(0))();
  if (!call) return Stray(what);
  stray_line = what.line;
  stray_detail = what.detail;
  what.line = stray_line;
  what.detail = stray_detail;
  stray = what;
  failure_text = fmt::format("its answer {}", wrong);
  // The last of it may have broken off with the connection, and why is the better reason.
  if (ended) failure_text.append(" (").append(why_ended).append(")");
  Message m = Ended(number, std::move(call.mapped().method));
  m.failure = failure_text;
  return m;
}

void Peer::Impl::Read(std::string_view line, Message& m) {
  using Why = StrayLine::Why;
  const auto no_message = [&](Why why) { m = Stray({why, Beginning(line), {}, line.size()}); };
  // Cheaper than parsing: a banner of a megabyte is not looked through.
  const size_t first = line.starts_with('{') ? 0 : line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line[first] != '{') return no_message(Why::kNotJson);
  if (const absl::Status status = document.Parse(line); !status.ok()) {
    detail_text = MessageOf(status);
    m = Unreadable({Why::kNotJson, Beginning(line), detail_text, line.size()}, line, {});
    return;
  }
  const auto [version, id, named, params, result, error] =
      document.root().Members({"jsonrpc", "id", "method", "params", "result", "error"});
  m.id = id;
  if (const auto method = named.AsString()) {
    const json::Kind kind = m.id.kind();
    if (kind == json::Kind::kBool || kind == json::Kind::kArray || kind == json::Kind::kObject) {
      return no_message(Why::kNotMessage);
    }
    m.kind = m.id.absent() ? Message::Kind::kNotification : Message::Kind::kRequest;
    m.method = *method;
    m.params = params;
    return;
  }
  m.result = result;
  m.error = error;
  if (IsNull(m.error)) m.error = {};
  const auto number = m.id.AsInt();
  const auto call = number && *number >= 0 ? calls.find(static_cast<uint64_t>(*number)) : calls.end();
  const bool says_nothing = m.result.absent() && m.error.absent();
  if (call == calls.end()) return no_message(says_nothing ? Why::kNotMessage : Why::kUnknownAnswer);
  // Left alone, the call would stay open for ever.
  if (says_nothing) m.failure = "its answer holds neither a result nor an error";
  m.kind = Message::Kind::kCallEnded;
  m.call = call->first;
  method_text = std::move(call->second.method);
  m.method = method_text;
  calls.erase(call);
}

const Peer::Impl::Message* Peer::Impl::Next() {
  current = {};
  if (!expired.empty()) {
    auto [call, method] = std::move(expired.front());
    expired.pop_front();
    current = Ended(call, std::move(method));
    current.failure = "it did not answer in time";
    current.too_late = true;
  } else if (stray) {
    current = Stray(*std::exchange(stray, std::nullopt));
  } else if (const auto line = framer.Next()) {
    if (line->too_long == 0) {
      Read(line->text, current);
    } else {
      const Text head = Beginning(line->text);
      current = Unreadable({StrayLine::Why::kTooLong, head, {}, line->too_long}, head, line->tail);
    }
  } else if (ended && !calls.empty()) {
    auto node = calls.extract(calls.begin());
    current = Ended(node.key(), std::move(node.mapped().method));
    current.failure = why_ended;
  }
  return current.kind == Message::Kind::kNone ? nullptr : &current;
}

void Peer::Impl::Write(std::string_view head, std::string_view json) {
  if (ended) return;
  if (sent > 0 && sent >= out.size() - sent) {
    out.erase(0, sent);
    sent = 0;
  }
  out.append("{\"jsonrpc\":\"2.0\",").append(head);
  const size_t begin = out.size();
  out.append(json);
  // Outside its strings, where JSON has no line break as such, a blank says the same.
  for (size_t at = out.find_first_of("\r\n", begin); at != std::string::npos;
       at = out.find_first_of("\r\n", at)) {
    out[at] = ' ';
  }
  out.append("}\n");
}

Peer::Peer() : Peer(Limits{}) {}
Peer::Peer(Limits limits) : impl_(std::make_unique<Impl>(limits)) {}
Peer::~Peer() = default;
Peer::Peer(Peer&&) noexcept = default;
Peer& Peer::operator=(Peer&&) noexcept = default;

void Peer::Feed(std::string_view bytes) {
  if (!impl_->ended) impl_->framer.Feed(bytes);
}

void Peer::End(std::string_view why) {
  if (std::exchange(impl_->ended, true)) return;
  impl_->why_ended = why.empty() ? "the connection ended" : why;
  impl_->framer.End();
}

std::optional<PeerEvent> Peer::Next() {
  const Impl::Message* const m = impl_->Next();
  if (m == nullptr) return std::nullopt;
  using Kind = Impl::Message::Kind;
  switch (m->kind) {
    case Kind::kRequest:
      return IncomingRequest{m->id.text(), m->method, m->params.text()};
    case Kind::kNotification:
      return IncomingNotification{m->method, m->params.text()};
    case Kind::kCallEnded: {
      CallEnded ended{m->call, m->method, {}, std::nullopt, m->failure};
      // An error beside a result is an error.
      if (!m->error.absent()) {
        ended.error = *wire::Read<RpcError>(m->error);
      } else {
        ended.result = m->result.text();
      }
      return ended;
    }
    case Kind::kNone:
    case Kind::kStray:
      break;
  }
  return m->stray;
}

uint64_t Peer::Call(std::string_view method, std::string_view params, int64_t deadline_ns) {
  const uint64_t call = ++impl_->last_call;
  impl_->calls.emplace(call, Impl::OpenCall{std::string(method), deadline_ns});
  std::string head = fmt::format("\"id\":{},\"method\":", call);
  AppendJsonString(head, method);
  if (!params.empty()) head.append(",\"params\":");
  impl_->Write(head, params);
  return call;
}

void Peer::Notify(std::string_view method, std::string_view params) {
  std::string head = "\"method\":";
  AppendJsonString(head, method);
  if (!params.empty()) head.append(",\"params\":");
  impl_->Write(head, params);
}

void Peer::Respond(JsonView id, std::string_view result) {
  impl_->Write(fmt::format("\"id\":{},\"result\":", IdText(id)), result.empty() ? "null" : result);
}

void Peer::Impl::Refuse(std::string_view id, int32_t code, std::string_view message, JsonView data) {
  std::string rest;
  JsonWriter w(rest);
  w.Begin('{').Key("code").Int(code).Key("message").String(message).Field("data", data).End('}');
  Write(fmt::format("\"id\":{},\"error\":", id), rest);
}

void Peer::Refuse(JsonView id, int32_t code, std::string_view message, JsonView data) {
  impl_->Refuse(IdText(id), code, message, data);
}

void Peer::Cancel(uint64_t call) {
  if (impl_->calls.count(call) > 0) impl_->CancelCall(call);
}

void Peer::Impl::CancelCall(uint64_t call) {
  Write(R"("method":"$/cancel_request","params":)", fmt::format("{{\"requestId\":{}}}", call));
}

std::string_view Peer::Output() const { return std::string_view(impl_->out).substr(impl_->sent); }

void Peer::Consume(size_t bytes) {
  impl_->sent += std::min(bytes, impl_->out.size() - impl_->sent);
  if (impl_->sent == impl_->out.size()) {
    impl_->out.clear();
    impl_->sent = 0;
  }
}

int64_t Peer::Deadline() const {
  int64_t first = kNever;
  for (const auto& [number, call] : impl_->calls) first = std::min(first, call.deadline_ns);
  return first;
}

void Peer::Tick(Now now) {
  for (auto it = impl_->calls.begin(); it != impl_->calls.end();) {
    if (it->second.deadline_ns > now.mono_ns) {
      ++it;
      continue;
    }
    // Before the handshake nobody knows what it understands.
    if (it->second.method != "initialize") impl_->CancelCall(it->first);
    impl_->expired.emplace_back(it->first, std::move(it->second.method));
    it = impl_->calls.erase(it);
  }
}

size_t Peer::open_calls() const { return impl_->calls.size() + impl_->expired.size(); }
uint64_t Peer::stray_lines() const { return impl_->strays; }

}  // namespace watchbill::acp
