// What is read of a journal entry.
#pragma once

#include "json_document.hpp"
#include "watchbill/monitorproto/agent_frames.hpp"

namespace watchbill::monitorproto {

EntryFacts FactsOf(const json::Value& entry);

}  // namespace watchbill::monitorproto
