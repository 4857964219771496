// JSON of `params` and `result` in, structures out.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "watchbill/acp/messages.hpp"

namespace watchbill::acp {

// Reads as leniently as the schema's hints ask: a member of the wrong kind has its default, a bad element of
// a list is left out, unknown members are let be. InvalidArgument names what cannot be done without. What was
// read is good until the Reader reads again. One thread.
class Reader {
 public:
  Reader();
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  absl::StatusOr<InitializeRequest> Initialize(JsonView params);
  absl::StatusOr<InitializeResponse> Initialized(JsonView result);
  absl::StatusOr<NewSessionRequest> NewSession(JsonView params);
  absl::StatusOr<NewSessionResponse> SessionMade(JsonView result);
  absl::StatusOr<PromptRequest> Prompt(JsonView params);
  absl::StatusOr<PromptResponse> Prompted(JsonView result);
  absl::StatusOr<SessionUpdate> Update(JsonView params);
  absl::StatusOr<PermissionRequest> Permission(JsonView params);
  // The option that was chosen; nothing where it was cancelled.
  absl::StatusOr<OptText> PermissionAnswer(JsonView result);
  // The session of `session/cancel`.
  absl::StatusOr<Text> Cancel(JsonView params);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace watchbill::acp
