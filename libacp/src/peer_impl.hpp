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
      : limits(l),
        framer(l.line_bytes),
        document({.bytes = l.line_bytes, .depth = l.depth, .mend_utf8 = true}) {}

  struct Message {
    enum class Kind { kNone, kRequest, kNotification, kCallEnded, kStray };
    Kind kind = Kind::kNone;
    json::Value id, params, result, error;
    Text method;
    uint64_t call = 0;
    Text failure;
    bool too_late = false;  // the failure is that its time is up
    StrayLine stray;
  };
  // Good until the next one; nullptr: more bytes are needed.
  const Message* Next();

  struct OpenCall {
    std::string method;
    int64_t deadline_ns = kNever;
  };
  // A line of these members. `json`, the value of the last one, stays on it.
  void Write(std::string_view head, std::string_view json);
  void Refuse(std::string_view id, int32_t code, std::string_view message, JsonView data = {});
  void Read(std::string_view line, Message& m);
  // A line that cannot be read, and why; `tail` as LineFramer has it. The stray, or before it the end of the
  // call that it answered.
  Message Unreadable(StrayLine what, std::string_view head, std::string_view tail);
  Message Ended(uint64_t call, std::string method);
  Message Stray(StrayLine what);
  void CancelCall(uint64_t call);

  Limits limits;
  Message current;  // the last that was given
  LineFramer framer;
  json::Document document;
  std::map<uint64_t, OpenCall> calls;
  std::deque<std::pair<uint64_t, std::string>> expired;  // numbers and methods of calls whose time was up
  uint64_t last_call = 0, strays = 0;
  bool ended = false;
  std::string why_ended, method_text, failure_text, detail_text;
  std::optional<StrayLine> stray;  // comes behind the end of its call; its views are in the two below
  std::string stray_line, stray_detail;
  std::string out;
  size_t sent = 0;
};

}  // namespace watchbill::acp
