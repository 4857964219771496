#include "acp_again.hpp"

#include "watchbill/acp/encode.hpp"
#include "watchbill/acp/read.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp::golden {

namespace {

using From = Entry::From;
using What = Entry::What;

template <typename Message>
Again ReadAgain(JsonView json) {
  Reader first, second;
  const auto message = first.Read<Message>(json);
  if (!message.ok()) return {std::string(MessageOf(message.status())), {}};
  const std::string written = Encode(*message);
  const auto twice = second.Read<Message>(JsonView::Trusted(written));
  if (!twice.ok())
    return {"what was written is not read: " + std::string(MessageOf(twice.status())), written};
  if (!(*twice == *message)) return {"another structure the second time", written};
  if (Encode(*twice) != written) return {"written in another way the second time", written};
  return {{}, written};
}

struct Method {
  std::string_view name;
  From asker;
  MessageType asks;
  MessageType answers;  // without a name: a notification
};

#define ASKS(Type) \
  { #Type, ReadAgain < Type> }
constexpr MessageType kNone = {};
const Method kMethods[] = {
    {"initialize", From::kClient, ASKS(InitializeRequest), ASKS(InitializeResponse)},
    {"authenticate", From::kClient, ASKS(AuthenticateRequest), ASKS(AuthenticateResponse)},
    {"logout", From::kClient, ASKS(LogoutRequest), ASKS(LogoutResponse)},
    {"session/new", From::kClient, ASKS(NewSessionRequest), ASKS(NewSessionResponse)},
    {"session/load", From::kClient, ASKS(LoadSessionRequest), ASKS(LoadSessionResponse)},
    {"session/resume", From::kClient, ASKS(ResumeSessionRequest), ASKS(ResumeSessionResponse)},
    {"session/list", From::kClient, ASKS(ListSessionsRequest), ASKS(ListSessionsResponse)},
    {"session/delete", From::kClient, ASKS(DeleteSessionRequest), ASKS(DeleteSessionResponse)},
    {"session/close", From::kClient, ASKS(CloseSessionRequest), ASKS(CloseSessionResponse)},
    {"session/set_mode", From::kClient, ASKS(SetSessionModeRequest), ASKS(SetSessionModeResponse)},
    {"session/set_config_option", From::kClient, ASKS(SetSessionConfigOptionRequest),
     ASKS(SetSessionConfigOptionResponse)},
    // No longer in the schema: its answer is one in which nothing is said.
    {"session/set_model",
     From::kClient,
     ASKS(SetSessionModelRequest),
     {"SetSessionModelResponse", ReadAgain<EmptyResponse>}},
    {"session/prompt", From::kClient, ASKS(PromptRequest), ASKS(PromptResponse)},
    {"session/cancel", From::kClient, ASKS(CancelNotification), kNone},
    {"$/cancel_request", From::kClient, ASKS(CancelRequestNotification), kNone},
    {"$/cancel_request", From::kAgent, ASKS(CancelRequestNotification), kNone},
    {"session/update", From::kAgent, ASKS(SessionNotification), kNone},
    {"elicitation/complete", From::kAgent, ASKS(CompleteElicitationNotification), kNone},
    {"session/request_permission", From::kAgent, ASKS(RequestPermissionRequest),
     ASKS(RequestPermissionResponse)},
    {"fs/read_text_file", From::kAgent, ASKS(ReadTextFileRequest), ASKS(ReadTextFileResponse)},
    {"fs/write_text_file", From::kAgent, ASKS(WriteTextFileRequest), ASKS(WriteTextFileResponse)},
    {"terminal/create", From::kAgent, ASKS(CreateTerminalRequest), ASKS(CreateTerminalResponse)},
    {"terminal/output", From::kAgent, ASKS(TerminalOutputRequest), ASKS(TerminalOutputResponse)},
    {"terminal/wait_for_exit", From::kAgent, ASKS(WaitForTerminalExitRequest),
     ASKS(WaitForTerminalExitResponse)},
    {"terminal/kill", From::kAgent, ASKS(KillTerminalRequest), ASKS(KillTerminalResponse)},
    {"terminal/release", From::kAgent, ASKS(ReleaseTerminalRequest), ASKS(ReleaseTerminalResponse)},
    {"elicitation/create", From::kAgent, ASKS(CreateElicitationRequest), ASKS(CreateElicitationResponse)},
};
const MessageType kError = {"Error", ReadAgain<RpcError>};
#undef ASKS

}  // namespace

const MessageType* TypeOf(const Entry& entry) {
  if (entry.what == What::kNoise) return nullptr;
  const bool answer = entry.what == What::kAnswer;
  if (answer && !entry.error.empty()) return &kError;
  for (const Method& method : kMethods) {
    if (method.name != entry.method || (method.asker == entry.from) == answer) continue;
    const MessageType& type = answer ? method.answers : method.asks;
    if (!type.name.empty()) return &type;
  }
  return nullptr;
}

std::string_view BodyOf(const Entry& entry) { return entry.error.empty() ? entry.body : entry.error; }

}  // namespace watchbill::acp::golden
