// What Peer and Client share: lines in, messages as values of a parsed text out.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "json_document.hpp"
#include "watchbill/acp/peer.hpp"

namespace watchbill::acp {

struct Peer::Impl {
  explicit Impl(Limits l)
      : limits(l), framer(l.line_bytes), document({.bytes = l.line_bytes, .depth = l.depth}) {}

  struct Message {
    enum class Kind { kRequest, kNotification, kCallEnded, kStray };
    Kind kind = Kind::kStray;
    json::Value id, params, result, error;
    Text method;
    uint64_t call = 0;
    Text failure;
    bool too_late = false;  // the failure is that its time is up
    StrayLine stray;
  };
  std::optional<Message> Next();

  struct OpenCall {
    std::string method;
    int64_t deadline_ns = kNever;
  };
  // A line of these members. `json`, the value of the last one, stays on it.
  void Write(std::string_view head, std::string_view json);
  Message Read(std::string_view line);
  Message Ended(uint64_t call, std::string method);

  Limits limits;
  LineFramer framer;
  json::Document document;
  std::map<uint64_t, OpenCall> calls;
  std::deque<std::pair<uint64_t, std::string>> expired;  // numbers and methods of calls whose time was up
  uint64_t last_call = 0, strays = 0;
  bool ended = false;
  std::string why_ended, method_text;
  std::string out;
  size_t sent = 0;
};

}  // namespace watchbill::acp
