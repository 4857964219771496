// One end of a connection; for some inputs twice, cut as the input says, and not. Both tell and write the
// same.
//
// An input: how it is cut, the limits, and then what the other end writes; behind each 0xF8 stands a byte
// that says what is done at this end, or how what stood before it is broken.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acp_fuzz.hpp"
#include "watchbill/acp/peer.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::acp;
using namespace watchbill::acp::fuzz;

constexpr char kStep = '\xF8';
constexpr size_t kMostSteps = 16;

class Conversation {
 public:
  // What was heard and what was written.
  std::string account, out;

  // As if nothing had been before; what was kept of the last run is room.
  void Run(Peer::Limits limits, uint8_t how, Input input, bool late) {
    limits_ = limits;
    how_ = how;
    peer_ = Peer(limits);
    account.clear();
    out.clear();
    open_.clear();
    owed_.clear();
    requests_ = 0;
    strays_ = 0;
    now_ = 1;
    ended_ = false;
    Call("plain", {}, kNever);
    Call("in \"time\"", "{\n\"a\": 1}", 50);
    Call("", "[]", 20);
    for (size_t steps = 0; !input.empty() && steps < kMostSteps; ++steps) {
      const std::string_view text = input.TakeUntil(kStep);
      const uint8_t step = input.Byte();
      Step(step & 15, step >> 4, text);
    }
    Feed(input.rest());
    End();
    Require(open_.empty() && peer_.open_calls() == 0);
    Require(peer_.Deadline() == kNever);
    if (!late) return;
    // Nothing is written to one that is gone; a call of it fails.
    const size_t written = out.size();
    peer_.Notify("late", "{}");
    Call("late", "{}", 1);
    peer_.Feed("{\"id\":1,\"method\":\"late\"}\n");
    Drain();
    Require(open_.empty() && out.size() == written);
  }

 private:
  void Call(std::string_view method, std::string_view params, int64_t deadline_ns) {
    const uint64_t call = peer_.Call(method, params, deadline_ns);
    Require(!IsOpen(call));
    open_.push_back(call);
  }
  bool IsOpen(uint64_t call) const { return std::find(open_.begin(), open_.end(), call) != open_.end(); }

  void Feed(std::string_view bytes) {
    InPieces(bytes, how_, 24, [&](std::string_view piece) {
      peer_.Feed(piece);
      Drain();
    });
  }

  void End() {
    ended_ = true;
    peer_.End("over");
    Drain();
  }

  void Step(int what, size_t which, std::string_view text) {
    if (what >= 7 && what <= 9) return Broken(what, 1 + which, text);
    Feed(text);
    switch (what) {
      case 0:
        return Feed("\n");
      case 1:
        return Call("more", {}, now_ + static_cast<int64_t>(which));
      case 2:
        return peer_.Notify("told", "{\"a\":\r\n\"b\"}");
      case 3:
        return peer_.Cancel(1 + which);
      case 4: {
        now_ += static_cast<int64_t>(10 * which);
        peer_.Tick(Now{now_, 0});
        Require(peer_.Deadline() > now_);
        return Drain();
      }
      case 5:
      case 6: {
        if (owed_.empty()) return;
        const auto it = owed_.begin() + static_cast<std::ptrdiff_t>(which % owed_.size());
        const std::string id = it->text();
        if (what == 5) peer_.Respond(it->view(), which == 0 ? "" : "{\"a\":\n[1,\r2]}");
        if (what == 6) peer_.Refuse(it->view(), -1, id, it->view());
        owed_.erase(it);
        Drain();
        // Its own line, with the id as it came.
        const size_t line =
            ended_ ? std::string::npos : out.rfind("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"");
        Require(ended_ || out.find('\n', line) == out.size() - 1);
        return;
      }
      case 10: {
        Peer other(std::move(peer_));
        peer_ = std::move(other);
        return;
      }
      case 11:
        return End();
      default:
        return;
    }
  }

  // A message whose value is whatever the input says, but for quotes: so it says no name of its own, and
  // still can be told whose it is. The call it answers ends, no other does; the request is heard, or refused.
  void Broken(int what, uint64_t call, std::string_view text) {
    if (ended_) return;
    Feed("\n");
    std::string value;
    for (const char c : text) {
      if (c != '"' && c != '\n') value.push_back(c);
    }
    const std::string number = std::to_string(call);
    if (what == 9) {
      const size_t requests = requests_, written = out.size();
      Feed(R"({"jsonrpc":"2.0","id":"q7","method":"m","params":)" + value + "}\n");
      const bool refused = out.find(R"("id":"q7","error":{"code":-32600,)", written) != std::string::npos;
      Require(requests_ - requests + (refused ? 1 : 0) == 1);
      return;
    }
    const std::string line = what == 7 ? R"({"jsonrpc":"2.0","id":)" + number + ",\"result\":" + value + "}"
                                       : R"({"jsonrpc":"2.0","result":)" + value + ",\"id\":" + number + "}";
    const size_t others = open_.size() - (IsOpen(call) ? 1 : 0);
    Feed(line);
    Feed("\n");
    Require(open_.size() - (IsOpen(call) ? 1 : 0) == others);
    // Where it stands last, it can be found in what is kept of a line's end.
    if (what == 7 || line.size() > limits_.line_bytes + 64) Require(!IsOpen(call));
  }

  void Drain() {
    while (const auto event = peer_.Next()) {
      account.push_back(static_cast<char>('0' + event->index()));
      std::visit([this](const auto& one) { On(one); }, *event);
      account.push_back('\n');
    }
    const std::string_view written = peer_.Output();
    out.append(written);
    peer_.Consume(written.size() / 2);
    peer_.Consume(peer_.Output().size());
  }

  void On(const IncomingRequest& asked) {
    account.append(asked.id.text()).append(1, ' ').append(asked.method).append(1, ' ');
    account.append(asked.params.text());
    ++requests_;
    const JsonText id(asked.id), params(asked.params);
    switch (asked.method.size() % 3) {
      case 0:
        return peer_.Respond(id.view(), params.text());
      case 1:
        return peer_.Refuse(id.view(), kMethodNotFound, std::string(asked.method), params.view());
      default:
        if (owed_.size() < 16) owed_.push_back(id);
    }
  }
  void On(const IncomingNotification& told) {
    account.append(told.method).append(1, ' ').append(told.params.text());
  }
  void On(const CallEnded& ended) {
    Tell(account, ended.call);
    account.append(ended.method).append(1, ' ');
    account.append(ended.result.text()).append(ended.failure);
    if (ended.error) {
      Tell(account, static_cast<uint64_t>(ended.error->code));
      account.append(ended.error->message);
      account.append(ended.error->data.text());
    }
    const auto open = std::find(open_.begin(), open_.end(), ended.call);
    Require(open != open_.end());
    open_.erase(open);
    Require((ended.result.absent() ? 0 : 1) + (ended.error ? 1 : 0) + (ended.failure.empty() ? 0 : 1) == 1);
  }
  void On(const StrayLine& stray) {
    account.push_back(static_cast<char>('0' + static_cast<int>(stray.why)));
    account.append(stray.line).append(1, ' ').append(stray.detail);
    Tell(account, stray.bytes);
    Require(stray.line.size() <= 1024);
    Require((stray.why == StrayLine::Why::kTooLong) == (stray.bytes > limits_.line_bytes));
    Require(peer_.stray_lines() == ++strays_);
  }

  Peer::Limits limits_;
  uint8_t how_ = 0;
  Peer peer_;
  std::vector<uint64_t> open_;  // calls
  std::vector<JsonText> owed_;  // ids of requests that are answered later
  size_t requests_ = 0;
  uint64_t strays_ = 0;
  int64_t now_ = 1;
  bool ended_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static json::Document document({.bytes = 1 << 20, .depth = 70});
  static Conversation cut, whole;
  Input input(data, size);
  const uint8_t how = input.Byte(), limit = input.Byte();
  constexpr size_t kLines[] = {4096, 64, 200, 1100};
  const Peer::Limits limits{kLines[limit & 3], (limit & 4) != 0 ? size_t{4} : size_t{64}};
  // Each for some of the inputs: they cost as much as the run.
  const uint32_t chance = Sum(input.rest()) % 4;
  cut.Run(limits, how, input, chance == 1);
  if (chance == 2 && how != 0) {
    whole.Run(limits, 0, input, false);
    Require(cut.account == whole.account);
    Require(cut.out == whole.out);
  }
  if (chance == 3) {
    ForLines(cut.out, [&](std::string_view line) {
      Require(document.Parse(line).ok());
      RequireMessage(document);
    });
  }
  return 0;
}
