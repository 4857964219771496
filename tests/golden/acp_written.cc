// What this library writes, one JSON object a line with its type's name in the schema, for whoever judges it:
// every message of the recordings written again, what a Client of ours wrote in them, and every type made by
// hand, whole and with the least that there is.
#include <cstdio>
#include <string>

#include "acp_again.hpp"
#include "acp_recording.hpp"
#include "acp_replay.hpp"
#include "watchbill/acp/encode.hpp"
#include "watchbill/base/json_writer.hpp"

namespace watchbill::acp::golden {
namespace {

void Print(std::string_view type, std::string_view from, std::string_view json) {
  std::string line;
  JsonWriter(line).Begin('{').Key("type").String(type).Key("from").String(from).Key("json").Json(
      JsonView::Trusted(json));
  std::printf("%s}\n", line.c_str());
}

void PrintRecording(const Recording& recording) {
  for (const Entry& entry : recording.entries) {
    const MessageType* type = TypeOf(entry);
    if (type == nullptr) continue;
    const Again again = type->again(JsonView::Trusted(BodyOf(entry)));
    if (!again.written.empty()) Print(type->name, recording.name, again.written);
  }
  const Replay replay(recording);
  for (const Entry& entry : replay.written()) {
    const MessageType* type = TypeOf(entry);
    if (type != nullptr) Print(type->name, recording.name + ", played again", BodyOf(entry));
  }
}

template <typename Message>
void PrintMade(std::string_view type, const Message& message) {
  Print(type, "made by hand", Encode(message));
}

void PrintMade() {
  Annotations notes;
  notes.audience = {"user", "assistant"};
  notes.last_modified = "2026-01-01T00:00:00Z";
  notes.priority = 0.5;
  const JsonView meta = JsonView::Trusted(R"({"a":1})");
  const TextContent text{"t", notes, meta};
  InitializeRequest initialize;
  PrintMade("InitializeRequest", initialize);
  initialize.capabilities.session.emplace().compaction.emplace();
  initialize.capabilities.session->notices.emplace();
  initialize.capabilities.session->config_options.emplace().boolean.emplace();
  initialize.capabilities.elicitation.emplace().form.emplace();
  initialize.capabilities.elicitation->url.emplace();
  initialize.client = Implementation{"n", "1", "t", meta};
  initialize.meta = meta;
  PrintMade("InitializeRequest", initialize);
  InitializeResponse initialized;
  PrintMade("InitializeResponse", initialized);
  initialized.capabilities.session = {Capability{}, Capability{}, Capability{},
                                      Capability{}, Capability{}, meta};
  initialized.capabilities.auth.logout.emplace();
  initialized.auth_methods = {{"agent", "a", "A", "d", {}, {}, meta, {}},
                              {"terminal", "t", "T", {}, {"x"}, {{"K", "v"}}, {}, {}}};
  PrintMade("InitializeResponse", initialized);
  PrintMade("AuthenticateRequest", AuthenticateRequest{"k", meta});
  PrintMade("LogoutRequest", LogoutRequest{});
  for (const char* type : {"AuthenticateResponse", "LogoutResponse", "DeleteSessionResponse",
                           "CloseSessionResponse", "SetSessionModeResponse", "WriteTextFileResponse",
                           "KillTerminalResponse", "ReleaseTerminalResponse"}) {
    PrintMade(type, EmptyResponse{});
    PrintMade(type, EmptyResponse{meta});
  }
  NewSessionRequest open;
  open.cwd = "/x";
  PrintMade("NewSessionRequest", open);
  open.mcp_servers = {McpServerStdio{"n", "/c", {"a"}, {{"K", "v", {}}}, meta},
                      McpServerRemote{false, "h", "http://x", {{"A", "b", {}}}, {}},
                      McpServerRemote{true, "s", "http://x", {}, {}}};
  open.additional_directories = {"/y"};
  PrintMade("NewSessionRequest", open);
  PrintMade("LoadSessionRequest", LoadSessionRequest{"s", "/x", open.mcp_servers, {"/y"}, meta});
  PrintMade("ResumeSessionRequest", ResumeSessionRequest{"s", "/x", {}, {}, {}});
  const std::vector<SessionConfigOption> options = {
      {"a", "A", "d", "model",
       SessionConfigSelect{"v", std::vector<SessionConfigSelectOption>{{"v", "V", "d", {}}}}, meta},
      {"b",
       "B",
       {},
       {},
       SessionConfigSelect{"v", std::vector<SessionConfigSelectGroup>{{"g", "G", {{"v", "V", {}, {}}}, {}}}},
       {}},
      {"c", "C", {}, "_own", SessionConfigBoolean{true}, {}}};
  const SessionModeState modes{"m", {{"m", "M", "d", {}}}, {}};
  PrintMade("NewSessionResponse",
            NewSessionResponse{"s", modes, options, SessionModelState{"m", {{"m", "M", {}}}}, meta});
  PrintMade("NewSessionResponse", NewSessionResponse{"s", {}, {}, {}, {}});
  PrintMade("LoadSessionResponse", LoadSessionResponse{modes, options, {}, {}});
  PrintMade("ResumeSessionResponse", ResumeSessionResponse{});
  PrintMade("ListSessionsRequest", ListSessionsRequest{"/x", "c", {}});
  PrintMade("ListSessionsResponse", ListSessionsResponse{{{"s", "/x", {"/y"}, "t", "2026", meta}}, "c", {}});
  PrintMade("DeleteSessionRequest", DeleteSessionRequest{"s", {}});
  PrintMade("CloseSessionRequest", CloseSessionRequest{"s", {}});
  PrintMade("SetSessionModeRequest", SetSessionModeRequest{"s", "m", {}});
  PrintMade("SetSessionConfigOptionRequest", SetSessionConfigOptionRequest{"s", "c", Text("v"), {}});
  PrintMade("SetSessionConfigOptionRequest", SetSessionConfigOptionRequest{"s", "c", true, {}});
  PrintMade("SetSessionConfigOptionResponse", SetSessionConfigOptionResponse{options, {}});
  PrintMade("PromptRequest",
            PromptRequest{
                "s",
                {text, ImageContent{"aGk=", "image/png", "u", notes, {}},
                 AudioContent{"aGk=", "audio/wav", {}, {}}, ResourceLink{"n", "u", "t", "d", "m", 7, {}, {}},
                 EmbeddedResource{TextResourceContents{"u", "t", "m", {}}, {}, {}},
                 EmbeddedResource{BlobResourceContents{"u", "aGk=", {}, {}}, {}, {}}},
                meta});
  PrintMade("PromptResponse", PromptResponse{});
  PrintMade("CancelNotification", CancelNotification{"s", {}});
  for (const char* id : {"7", "\"a\"", "null"}) {
    PrintMade("CancelRequestNotification", CancelRequestNotification{JsonView::Trusted(id), {}});
  }
  ToolCallUpdate tool;
  tool.tool_call_id = "c";
  tool.title = "t";
  tool.name = "n";
  tool.kind = "juggle";  // not of the list: left out
  tool.status = "completed";
  tool.content = {Content{text, {}}, Diff{"/a", "b", "a", {}}, Diff{"/a", "b", {}, meta}, Terminal{"t", {}}};
  tool.locations = {{"/a", 1, {}}, {"/b", {}, {}}};
  tool.raw_input = meta;
  ToolCallUpdate call = tool;
  call.is_new = true;
  ToolCallUpdate bare;
  bare.tool_call_id = "c";
  for (const SessionUpdate& update :
       {SessionUpdate(ContentChunk{ContentChunk::From::kUser, text, {}, {}}),
        SessionUpdate(ContentChunk{ContentChunk::From::kAgent, text, "m", meta}),
        SessionUpdate(ContentChunk{ContentChunk::From::kThought, text, {}, {}}), SessionUpdate(tool),
        SessionUpdate(call), SessionUpdate(bare),
        SessionUpdate(Plan{{{"a", "high", "completed", {}}, {"b", "loud", "odd", {}}}, {}}),
        SessionUpdate(AvailableCommandsUpdate{
            {{"a", "d", UnstructuredCommandInput{"h", {}}, {}}, {"b", "", {}, {}}}, {}}),
        SessionUpdate(CurrentModeUpdate{"m", {}}), SessionUpdate(ConfigOptionUpdate{options, {}}),
        SessionUpdate(SessionInfoUpdate{OptText(), OptText("2026"), {}}),
        SessionUpdate(UsageUpdate{UINT64_MAX, 7, Cost{0.5, "USD", {}}, {}}),
        SessionUpdate(Notice{"info", "t", "d", {}}),
        SessionUpdate(CompactionUpdate{"c", "failed", std::vector<ContentBlock>{text}, OptText("e"), {}}),
        SessionUpdate(CompactionSummaryChunk{"c", text, {}})}) {
    PrintMade("SessionNotification", SessionNotification{"s", update, meta});
  }
  PrintMade("RequestPermissionRequest",
            RequestPermissionRequest{
                "s", tool, {{"o", "n", "allow_once", {}}, {"p", "n", "reject_always", meta}}, {}});
  PrintMade("RequestPermissionResponse", RequestPermissionResponse{});
  PrintMade("RequestPermissionResponse", RequestPermissionResponse{"o", meta, meta});
  PrintMade("ReadTextFileRequest", ReadTextFileRequest{"s", "/a", 1, 2, {}});
  PrintMade("ReadTextFileResponse", ReadTextFileResponse{"c", {}});
  PrintMade("WriteTextFileRequest", WriteTextFileRequest{"s", "/a", "c", {}});
  PrintMade("CreateTerminalRequest", CreateTerminalRequest{"s", "c", {"a"}, {{"K", "v", {}}}, "/x", 7, {}});
  PrintMade("CreateTerminalResponse", CreateTerminalResponse{"t", {}});
  PrintMade("TerminalOutputRequest", TerminalOutputRequest{{"s", "t", {}}});
  PrintMade("WaitForTerminalExitRequest", WaitForTerminalExitRequest{{"s", "t", {}}});
  PrintMade("KillTerminalRequest", KillTerminalRequest{{"s", "t", {}}});
  PrintMade("ReleaseTerminalRequest", ReleaseTerminalRequest{{"s", "t", {}}});
  PrintMade("TerminalOutputResponse",
            TerminalOutputResponse{"o", true, TerminalExitStatus{1, "SIGHUP", {}}, {}});
  PrintMade("WaitForTerminalExitResponse", WaitForTerminalExitResponse{});
  ElicitationSchema schema;
  schema.title = "t";
  StringPropertySchema words;
  words.min_length = 1;
  words.format = "email";
  words.one_of = {{"a", "A", "d", {}}};
  schema.properties = {
      {"s", "t", "d", words, meta},
      {"n", {}, {}, NumberPropertySchema{0.5, 1.5, 1}, {}},
      {"i", {}, {}, IntegerPropertySchema{-1, 1, 0}, {}},
      {"b", {}, {}, BooleanPropertySchema{true}, {}},
      {"l", {}, {}, MultiSelectPropertySchema{1, 2, std::vector<Text>{"a"}, std::vector<Text>{"a"}}, {}},
      {"t", {}, {}, MultiSelectPropertySchema{{}, {}, std::vector<EnumOption>{{"a", "A", {}, {}}}, {}}, {}}};
  schema.required = {"s"};
  PrintMade("CreateElicitationRequest",
            CreateElicitationRequest{"m", ElicitationFormMode{schema}, "s", "c", {}, {}});
  PrintMade("CreateElicitationRequest",
            CreateElicitationRequest{
                "m", ElicitationUrlMode{"e", "https://x"}, {}, {}, JsonView::Trusted("7"), {}});
  PrintMade("CreateElicitationResponse",
            CreateElicitationResponse{
                "accept",
                {{"s", Text("a")}, {"i", int64_t{7}}, {"n", 1.5}, {"b", true}, {"l", std::vector<Text>{"a"}}},
                {}});
  PrintMade("CreateElicitationResponse", CreateElicitationResponse{});
  PrintMade("CompleteElicitationNotification", CompleteElicitationNotification{"e", {}});
  PrintMade("Error", RpcError{kAuthenticationRequired, "m", meta});
}

}  // namespace
}  // namespace watchbill::acp::golden

int main() {
  namespace golden = watchbill::acp::golden;
  golden::PrintMade();
  for (const auto& recording : golden::Talks()) golden::PrintRecording(recording);
  for (const auto& recording : golden::Transcripts()) golden::PrintRecording(recording);
  return 0;
}
