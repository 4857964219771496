// ACP's tool calls into those of a conversation.
#pragma once

#include "watchbill/acp/messages.hpp"
#include "watchbill/history/message.hpp"

namespace watchbill::channels {

// Takes in what an update says; what it does not say stays as it was, a list replaces the one before.
void Merge(const acp::ToolCallUpdate& update, history::ToolCall& tool);

}  // namespace watchbill::channels
