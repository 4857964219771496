#include "acp_stdio.hpp"

#include <memory>

#include "watchbill/base/status.hpp"
#include "watchbill/net/log.hpp"
#include "watchbill/net/loop.hpp"
#include "watchbill/net/options.hpp"
#include "watchbill/net/stdio.hpp"

namespace watchbill::example {
namespace {

// What the streams are given ahead, so that the agent's own count of what waits is nearly all of it.
constexpr size_t kAhead = 64 << 10;
// Its words pause long before: only a client that asks and asks and never reads gets here.
constexpr size_t kMostUnread = 64 << 20;
constexpr int64_t kGoodbye = kSecond;  // for what is unwritten at the end

class Conversation {
 public:
  explicit Conversation(AcpOptions options) : agent_(std::move(options)), next_(loop_), goodbye_(loop_) {}

  int Run() {
    net::StandardStreamsEvents events;
    events.bytes = [this](std::string_view bytes) {
      if (leaving_) return;
      agent_.Feed(bytes, net::ReadClocks());
      Move();
    };
    events.input_closed = [this] { Leave(); };
    events.output_closed = [this](std::string_view why) {
      if (!leaving_) net::Log(net::LogLevel::kInfo, "nobody reads standard output any more", {{"why", why}});
      loop_.Stop();
    };
    events.drained = [this] { Move(); };
    auto streams = net::StandardStreams::Take(loop_, std::move(events));
    if (!streams.ok()) {
      net::Log(net::LogLevel::kError, MessageOf(streams.status()));
      return net::kExitFailed;
    }
    streams_ = *std::move(streams);
    loop_.OnSignals([this](int) { Leave(); });
    net::Log(net::LogLevel::kInfo, "it speaks ACP on standard input and output");
    loop_.Run();
    return code_;
  }

 private:
  void Move() {
    while (!agent_.Output().empty() && streams_->unwritten() < kAhead) {
      const std::string_view piece = agent_.Output().substr(0, kAhead);
      streams_->Write(piece);
      agent_.Consume(piece.size());
    }
    if (leaving_) {
      if (streams_->unwritten() == 0) loop_.Stop();
      return;
    }
    if (agent_.Output().size() > kMostUnread) {
      net::Log(net::LogLevel::kError, "too much waits for a client that asks and does not read",
               {{"bytes", static_cast<int64_t>(agent_.Output().size())}});
      code_ = net::kExitFailed;
      return loop_.Stop();
    }
    next_.At(agent_.Deadline(), [this] {
      agent_.Tick(net::ReadClocks());
      Move();
    });
  }

  void Leave() {
    if (std::exchange(leaving_, true)) return;
    next_.Cancel();
    agent_.End(net::ReadClocks());
    goodbye_.At(net::ReadClocks().mono_ns + kGoodbye, [this] { loop_.Stop(); });
    Move();
  }

  net::Loop loop_;
  AcpAgent agent_;
  net::Timer next_, goodbye_;
  std::unique_ptr<net::StandardStreams> streams_;
  bool leaving_ = false;
  int code_ = net::kExitDone;
};

}  // namespace

int SpeakAcp(AcpOptions options) {
  if (const absl::Status status = net::CheckStandardStreams(); !status.ok()) {
    net::Log(net::LogLevel::kError, MessageOf(status));
    return net::kExitUsage;
  }
  options.prompted = [](std::string_view session, std::string_view command, size_t bytes) {
    net::Log(net::LogLevel::kInfo, "a prompt",
             {{"session", session}, {"command", command}, {"bytes", static_cast<int64_t>(bytes)}});
  };
  return Conversation(std::move(options)).Run();
}

}  // namespace watchbill::example
