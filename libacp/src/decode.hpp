// Values of a parsed text in, structures of views into it out. What Reader and Client share.
#pragma once

#include "absl/status/statusor.h"
#include "json_document.hpp"
#include "watchbill/acp/messages.hpp"

namespace watchbill::acp::decode {

absl::StatusOr<InitializeRequest> Initialize(const json::Value& params);
absl::StatusOr<InitializeResponse> Initialized(const json::Value& result);
absl::StatusOr<NewSessionRequest> NewSession(const json::Value& params);
absl::StatusOr<NewSessionResponse> SessionMade(const json::Value& result);
absl::StatusOr<PromptRequest> Prompt(const json::Value& params);
absl::StatusOr<PromptResponse> Prompted(const json::Value& result);
absl::StatusOr<SessionUpdate> Update(const json::Value& params);
absl::StatusOr<PermissionRequest> Permission(const json::Value& params);
absl::StatusOr<OptText> PermissionAnswer(const json::Value& result);
absl::StatusOr<Text> Session(const json::Value& params);

RpcError Error(const json::Value& error);

}  // namespace watchbill::acp::decode
