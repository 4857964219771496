// Structures in, the JSON of `params` and `result` out. Always valid against the schema of ACP v1 where the
// structure is: nothing that was not said is written.
#pragma once

#include <string>

#include "watchbill/acp/messages.hpp"

namespace watchbill::acp {

std::string Encode(const InitializeRequest& request);
std::string Encode(const InitializeResponse& response);
std::string Encode(const NewSessionRequest& request);
std::string Encode(const NewSessionResponse& response);
std::string Encode(const PromptRequest& request);
std::string Encode(const PromptResponse& response);
// The params of `session/update`.
std::string Encode(const SessionUpdate& update);
std::string Encode(const PermissionRequest& request);
// The result of a permission request: the chosen option, or `cancelled` where there is none.
std::string EncodePermission(const OptText& option);
// The params of `session/cancel`.
std::string EncodeCancel(Text session);

}  // namespace watchbill::acp
