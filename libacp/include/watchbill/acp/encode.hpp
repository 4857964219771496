// Structures in, the JSON of `params` and `result` out.
#pragma once

#include <string>

#include "watchbill/acp/messages.hpp"

namespace watchbill::acp {

// `message` is any of the requests, responses and notifications of messages.hpp, an RpcError or a
// ContentBlock. What comes out is valid against the schema of ACP v1 where the structure holds what its
// comments ask for; nothing that was not said is written, and a word that a closed list of the schema does
// not know is left out or has the list's default.
template <typename Message>
std::string Encode(const Message& message);

}  // namespace watchbill::acp
