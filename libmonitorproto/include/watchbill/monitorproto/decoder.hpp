// Text of a frame in, a structure out.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "watchbill/monitorproto/agent_frames.hpp"
#include "watchbill/monitorproto/dashboard_frames.hpp"
#include "watchbill/monitorproto/runner_frames.hpp"

namespace watchbill::monitorproto {

// Reads one frame at a time; what it gave is good until it reads again. One thread; one decoder serves any
// number of connections.
//
// InvalidArgument means that the text is no frame: not JSON, not an object, no `type`, deeper than 64, longer
// than the limit, or without what its type cannot be without. Such a frame is counted and skipped, never
// answered ("Every message"): the sender is already confused. A member of the wrong kind is read as absent.
class Decoder {
 public:
  struct Limits {
    size_t bytes = 1 << 20;
    size_t depth = 64;
  };
  Decoder() : Decoder(Limits{}) {}
  explicit Decoder(Limits limits);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  absl::StatusOr<AgentFrame> ReadAgent(std::string_view text);
  absl::StatusOr<AgentCommand> ReadAgentCommand(std::string_view text);
  absl::StatusOr<RunnerFrame> ReadRunner(std::string_view text);
  absl::StatusOr<RunnerCommand> ReadRunnerCommand(std::string_view text);
  absl::StatusOr<DashboardFrame> ReadDashboard(std::string_view text);

  // The sender's own stamp of the frame that was read last, to be shown and never to be reckoned with.
  OptText at() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace watchbill::monitorproto
