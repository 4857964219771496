// What a client hears, as texts that compare.
#pragma once

#include <string>

#include "watchbill/acp/client.hpp"

namespace watchbill::acp::golden {

// An event in words, as the golden files have it.
std::string InWords(const ClientEvent& event);
// The same with all else that it holds: what came as it came, and tool calls put together.
std::string InFull(const ClientEvent& event);

}  // namespace watchbill::acp::golden
