#include "watchbill/acp/peer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "decode.hpp"
#include "peer_impl.hpp"
#include "watchbill/base/json_writer.hpp"

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

Peer::Impl::Message Peer::Impl::Read(std::string_view line) {
  Message m;
  const auto stray = [&](StrayLine::Why why) {
    ++strays;
    m.kind = Message::Kind::kStray;
    m.stray = {why, Beginning(line), line.size()};
    return m;
  };
  // Cheaper than parsing: a banner of a megabyte is not looked through.
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line[first] != '{') return stray(StrayLine::Why::kNotJson);
  if (!document.Parse(line).ok()) return stray(StrayLine::Why::kNotJson);
  const json::Value root = document.root();
  m.id = root["id"];
  if (const auto method = root["method"].AsString()) {
    const json::Kind kind = m.id.kind();
    if (kind == json::Kind::kBool || kind == json::Kind::kArray || kind == json::Kind::kObject) {
      return stray(StrayLine::Why::kNotMessage);
    }
    m.kind = m.id.absent() ? Message::Kind::kNotification : Message::Kind::kRequest;
    m.method = *method;
    m.params = root["params"];
    return m;
  }
  m.result = root["result"];
  m.error = root["error"];
  if (IsNull(m.error)) m.error = {};
  const auto number = m.id.AsInt();
  const auto call = number && *number >= 0 ? calls.find(static_cast<uint64_t>(*number)) : calls.end();
  const bool says_nothing = m.result.absent() && m.error.absent();
  if (call == calls.end())
    return stray(says_nothing ? StrayLine::Why::kNotMessage : StrayLine::Why::kUnknownAnswer);
  // Left alone, the call would stay open for ever.
  if (says_nothing) m.failure = "its answer holds neither a result nor an error";
  m.kind = Message::Kind::kCallEnded;
  m.call = call->first;
  method_text = std::move(call->second.method);
  m.method = method_text;
  calls.erase(call);
  return m;
}

std::optional<Peer::Impl::Message> Peer::Impl::Next() {
  if (!expired.empty()) {
    auto [call, method] = std::move(expired.front());
    expired.pop_front();
    Message m = Ended(call, std::move(method));
    m.failure = "it did not answer in time";
    m.too_late = true;
    return m;
  }
  if (const auto line = framer.Next()) {
    if (line->too_long == 0) return Read(line->text);
    ++strays;
    Message m;
    m.stray = {StrayLine::Why::kTooLong, Beginning(line->text), line->too_long};
    return m;
  }
  if (ended && !calls.empty()) {
    auto node = calls.extract(calls.begin());
    Message m = Ended(node.key(), std::move(node.mapped().method));
    m.failure = why_ended;
    return m;
  }
  return std::nullopt;
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
  const auto m = impl_->Next();
  if (!m) return std::nullopt;
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
        ended.error = decode::Error(m->error);
      } else {
        ended.result = m->result.text();
      }
      return ended;
    }
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

void Peer::Refuse(JsonView id, int32_t code, std::string_view message) {
  std::string rest;
  JsonWriter(rest).Begin('{').Key("code").Int(code).Key("message").String(message).End('}');
  impl_->Write(fmt::format("\"id\":{},\"error\":", IdText(id)), rest);
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
    impl_->expired.emplace_back(it->first, std::move(it->second.method));
    it = impl_->calls.erase(it);
  }
}

size_t Peer::open_calls() const { return impl_->calls.size() + impl_->expired.size(); }
uint64_t Peer::stray_lines() const { return impl_->strays; }

}  // namespace watchbill::acp
