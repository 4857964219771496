// Frames into board events. Pure; nothing is copied: an event's views are those of the frame.
#pragma once

#include <optional>

#include "watchbill/board/events.hpp"
#include "watchbill/monitorproto/agent_frames.hpp"
#include "watchbill/monitorproto/runner_frames.hpp"

namespace watchbill::monitor {

// What a frame means to the board, good as long as the frame. A frame that tells the board nothing but that
// its agent lives (an answer, an unknown word) is AgentHeard.
board::Event EventFor(board::ConnectionId connection, const monitorproto::AgentFrame& frame);

// Nothing for what a runner says to whoever asked it.
std::optional<board::Event> EventFor(board::ConnectionId connection, const monitorproto::RunnerFrame& frame);

}  // namespace watchbill::monitor
