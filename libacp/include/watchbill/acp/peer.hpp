// One end of a conversation in JSON-RPC 2.0, newline framed, either end: requests go both ways.
//
// Bytes in, events out; calls in, bytes out. It does nothing itself: whoever holds it moves the bytes and
// says what time it is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "watchbill/acp/framer.hpp"
#include "watchbill/acp/messages.hpp"
#include "watchbill/base/now.hpp"

namespace watchbill::acp {

// The other end asks; it is to be answered with Respond or Refuse, in any order, later or at once.
struct IncomingRequest {
  JsonView id;  // a number, a string or null, as it came
  Text method;
  JsonView params;  // absent where there were none
};
struct IncomingNotification {
  Text method;
  JsonView params;
};
// What became of a call of ours.
struct CallEnded {
  uint64_t call = 0;
  Text method;
  JsonView result;                // absent where it failed
  std::optional<RpcError> error;  // what the other end said
  // Instead of an answer: its time is up, the connection has ended, or what came holds neither of the two. In
  // words.
  Text failure;
};
// A line that was let go, and why. (Requirement A3: reported, not fatal.) Where it can still be told which
// call it answered, that call has failed, and where it was a request, that has been refused.
struct StrayLine {
  enum class Why {
    kNotJson,       // no JSON object: a banner, a log line
    kNotMessage,    // an object, but no request, notification or answer
    kTooLong,       // longer than the framer takes
    kUnreadable,    // meant as a message, and broken, or nested too deep
    kUnknownAnswer  // an answer that nobody waits for, or waits for any more
  };
  Why why = Why::kNotJson;
  Text line;    // its beginning
  Text detail;  // of kUnreadable: what is wrong, and at which byte
  uint64_t bytes = 0;
};
using PeerEvent = std::variant<IncomingRequest, IncomingNotification, CallEnded, StrayLine>;

class Peer {
 public:
  struct Limits {
    size_t line_bytes = LineFramer::kLongestLine;
    size_t depth = 64;
  };
  Peer();
  explicit Peer(Limits limits);
  ~Peer();
  Peer(Peer&&) noexcept;
  Peer& operator=(Peer&&) noexcept;

  // Bytes that the other end sent.
  void Feed(std::string_view bytes);
  // It will send no more, for this reason: a last line without a newline still counts, then every call that
  // is open fails with the reason, oldest first.
  void End(std::string_view why);
  // The next thing that happened, its views good until the next call that is not const. Nothing: wait for
  // more.
  std::optional<PeerEvent> Next();

  // Tells the other end that the answer to a call is not wanted any more. It may answer all the same, or with
  // kRequestCancelled; until it does the call is open. Nothing happens where it is not open.
  void Cancel(uint64_t call);
  // Asks the other end and gives the number by which CallEnded knows it. `params` is JSON, as `result` is
  // below: a line break in it is written as a blank, and where it is empty there are none. kNever: it may
  // take as long as it likes; one whose time is up fails, is cancelled, and its late answer is stray. After
  // End it fails at the next Next.
  uint64_t Call(std::string_view method, std::string_view params, int64_t deadline_ns = kNever);
  void Notify(std::string_view method, std::string_view params);
  // An empty `result` is null.
  void Respond(JsonView id, std::string_view result);
  void Refuse(JsonView id, int32_t code, std::string_view message, JsonView data = {});

  // What is to be sent; Consume takes what was.
  std::string_view Output() const;
  void Consume(size_t bytes);

  // When Tick has something to do: a call's time is up.
  int64_t Deadline() const;
  void Tick(Now now);

  size_t open_calls() const;
  uint64_t stray_lines() const;  // so far

  struct Impl;

 private:
  friend class Client;
  std::unique_ptr<Impl> impl_;
};

}  // namespace watchbill::acp
