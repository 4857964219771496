// Every message read, written, and read again: as leniently as the schema asks, as strictly as it says.
#include "watchbill/acp/messages.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "watchbill/acp/encode.hpp"
#include "watchbill/acp/read.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {
namespace {

// What is written of what was read, or why it was refused.
template <typename Message>
std::string Again(const std::string& text) {
  Reader first, second;
  const auto once = first.Read<Message>(JsonView::Trusted(text));
  if (!once.ok()) return "refused: " + std::string(MessageOf(once.status()));
  const std::string written = Encode(*once);
  const auto twice = second.Read<Message>(JsonView::Trusted(written));
  REQUIRE_MESSAGE(twice.ok(), std::string(MessageOf(twice.status())));
  // A word that a closed list does not know is read, and not written.
  if (written == text) CHECK(*once == *twice);
  CHECK(Encode(*twice) == written);
  return written;
}

struct Row {
  const char* in;
  const char* out;  // nullptr: the same
};
template <typename Message>
void Hold(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(row.in);
    CHECK(Again<Message>(row.in) == (row.out == nullptr ? row.in : row.out));
  }
}

// The same with the update alone.
void HoldUpdates(const std::vector<Row>& rows) {
  const auto around = [](const std::string& update) {
    return R"({"sessionId":"s","update":)" + update + "}";
  };
  for (const Row& row : rows) {
    CAPTURE(row.in);
    const std::string out = row.out == nullptr ? row.in : row.out;
    CHECK(Again<SessionNotification>(around(row.in)) == (out.starts_with("refused") ? out : around(out)));
  }
}

TEST_CASE("A1 initialize, both ways: a capability that is null, absent or of the wrong kind is none") {
  Hold<InitializeRequest>({
      {R"({"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":false},"terminal":true,"session":{"compaction":{},"configOptions":{"boolean":{}},"notices":{"_meta":{"a":1}}},"auth":{"terminal":true},"elicitation":{"form":{},"url":{}},"_meta":{"x":[1]}},"clientInfo":{"name":"n","title":"t","version":"1"},"_meta":{"y":null}})",
       nullptr},
      {R"({"protocolVersion":2.0,"clientCapabilities":{"fs":7,"terminal":"yes","session":null,"elicitation":[]},"clientInfo":null,"_meta":3,"more":1})",
       R"({"protocolVersion":2,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,"auth":{"terminal":false}}})"},
      {"{}", "refused: initialize needs `protocolVersion`: a whole number"},
      {R"({"protocolVersion":"1"})", "refused: initialize needs `protocolVersion`: a whole number"},
      {R"({"protocolVersion":70000})", "refused: initialize needs `protocolVersion`: a whole number"},
      {"[]", "refused: initialize needs `protocolVersion`: a whole number"},
  });
  Hold<InitializeResponse>({
      {R"({"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},"mcpCapabilities":{"http":true,"sse":true},"sessionCapabilities":{"list":{},"delete":{},"additionalDirectories":{},"resume":{},"close":{}},"auth":{"logout":{}}},"authMethods":[{"id":"a","name":"A","description":"d","_meta":{}},{"id":"t","name":"T","type":"terminal","args":["x"],"env":{"K":"v"}},{"type":"env_var","id":"e","vars":[{"name":"K"}]}],"agentInfo":{"name":"n","version":"1"}})",
       nullptr},
      {R"({"protocolVersion":1,"agentCapabilities":{"loadSession":1,"sessionCapabilities":{"list":null,"close":true,"delete":{"x":1}}},"authMethods":[7,{"name":"no id"},{"id":"k","type":null},{"id":"t","type":"terminal","args":[1,"a"],"env":{"A":1,"B":"b"}}],"agentInfo":"me"})",
       R"({"protocolVersion":1,"agentCapabilities":{"loadSession":false,"promptCapabilities":{"image":false,"audio":false,"embeddedContext":false},"mcpCapabilities":{"http":false,"sse":false},"sessionCapabilities":{"delete":{}},"auth":{}},"authMethods":[{"id":"k","name":"k"},{"id":"t","name":"t","type":"terminal","args":["a"],"env":{"B":"b"}}]})"},
  });
}

TEST_CASE("A1 signing in, and what is answered with nothing") {
  Hold<AuthenticateRequest>({{R"({"methodId":"k","_meta":{"a":1}})", nullptr},
                             {R"({"methodId":null})", "refused: authenticate needs `methodId`: a text"}});
  Hold<LogoutRequest>({{"{}", nullptr}});
  Hold<EmptyResponse>(
      {{"{}", nullptr}, {"null", "{}"}, {R"({"_meta":{"a":1},"b":2})", R"({"_meta":{"a":1}})"}});
}

TEST_CASE("A1 sessions: opened, listed, closed, set") {
  Hold<NewSessionRequest>({
      {R"({"cwd":"/x","mcpServers":[{"name":"n","command":"/c","args":["a"],"env":[{"name":"K","value":"v"}]},{"type":"http","name":"h","url":"u","headers":[{"name":"A","value":"b"}]},{"type":"sse","name":"s","url":"u","headers":[]},{"type":"acp","id":1}],"additionalDirectories":["/y"],"_meta":{}})",
       nullptr},
      {R"({"cwd":"/x","mcpServers":null,"additionalDirectories":[1]})", R"({"cwd":"/x","mcpServers":[]})"},
      {R"({"cwd":"/x","mcpServers":[{"name":"n"},{"type":"stdio","name":"n","command":"/c","args":null}]})",
       R"({"cwd":"/x","mcpServers":[{"name":"n","command":"/c","args":[],"env":[]}]})"},
      {"{}", "refused: session/new needs `cwd`: a text"},
  });
  const char* settings =
      R"({"sessionId":"s","modes":{"currentModeId":"m","availableModes":[{"id":"m","name":"M","description":"d"}]},"configOptions":[{"id":"a","name":"A","description":"d","category":"model","type":"select","currentValue":"v","options":[{"value":"v","name":"V","description":"d"}]},{"id":"b","name":"B","type":"select","currentValue":"v","options":[{"group":"g","name":"G","options":[{"value":"v","name":"V"}]}]},{"id":"c","name":"C","type":"boolean","currentValue":true}],"models":{"currentModelId":"m","availableModels":[{"modelId":"m","name":"M","description":"d"}]}})";
  Hold<NewSessionResponse>({
      {settings, nullptr},
      {R"({"sessionId":"s","modes":{"availableModes":[]},"configOptions":[{"id":"a","name":"A","type":"slider"},{"id":"b","name":"B","type":"boolean"}],"models":null})",
       R"({"sessionId":"s","configOptions":[]})"},
      {"null", "refused: the answer to session/new needs `sessionId`: a text"},
  });
  Hold<LoadSessionRequest>(
      {{R"({"sessionId":"s","cwd":"/x","mcpServers":[]})", nullptr},
       {R"({"cwd":"/x"})", "refused: session/load or session/resume needs `sessionId`: a text"}});
  Hold<LoadSessionResponse>({{"null", "{}"}, {"{}", nullptr}, {R"({"configOptions":[]})", nullptr}});
  Hold<ListSessionsRequest>({{R"({"cwd":"/x","cursor":"c"})", nullptr}, {R"({"cwd":null})", "{}"}});
  Hold<ListSessionsResponse>(
      {{R"({"sessions":[{"sessionId":"a","cwd":"/a","additionalDirectories":["/b"],"title":"t","updatedAt":"2026-01-01T00:00:00Z","_meta":{}}],"nextCursor":"c"})",
        nullptr},
       {R"({"sessions":[{"sessionId":"a"},{"sessionId":"b","cwd":"/b","title":3}],"nextCursor":null})",
        R"({"sessions":[{"sessionId":"b","cwd":"/b"}]})"},
       {R"({"sessions":null})", R"({"sessions":[]})"}});
  Hold<DeleteSessionRequest>({{R"({"sessionId":"s"})", nullptr}});
  Hold<CloseSessionRequest>({{R"({"sessionId":"s"})", nullptr}});
  Hold<SetSessionModeRequest>({{R"({"sessionId":"s","modeId":"m"})", nullptr}});
  Hold<SetSessionModelRequest>({{R"({"sessionId":"s","modelId":"m"})", nullptr}});
  Hold<SetSessionConfigOptionRequest>(
      {{R"({"sessionId":"s","configId":"c","value":"v"})", nullptr},
       {R"({"sessionId":"s","configId":"c","type":"boolean","value":false})", nullptr},
       {R"({"sessionId":"s","configId":"c","value":3})",
        "refused: session/set_config_option needs `value`: a text, or true or false"}});
  Hold<SetSessionConfigOptionResponse>(
      {{R"({"configOptions":[]})", nullptr}, {"{}", R"({"configOptions":[]})"}});
}

TEST_CASE("A1 prompts and every type of content") {
  Hold<PromptRequest>({
      {R"({"sessionId":"s","prompt":[{"type":"text","text":"t","annotations":{"audience":["user","assistant"],"lastModified":"2026","priority":0.5,"_meta":{}},"_meta":{"a":1}},{"type":"image","data":"aGk=","mimeType":"image/png","uri":"u"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"},{"type":"resource_link","name":"n","uri":"u","title":"t","description":"d","mimeType":"m","size":7},{"type":"resource","resource":{"uri":"u","text":"t","mimeType":"m"}},{"type":"resource","resource":{"uri":"u","blob":"aGk="}},{"type":"hologram","light":[1.50]}],"_meta":{}})",
       nullptr},
      {R"({"sessionId":"s","prompt":[{"type":"text","text":"t","annotations":{"audience":"user","priority":"high"}}]})",
       R"({"sessionId":"s","prompt":[{"type":"text","text":"t","annotations":{}}]})"},
      // A part of what a person says is not left out.
      {R"({"sessionId":"s","prompt":[{"type":"text","text":"t"},{"type":"text"}]})",
       "refused: session/prompt needs `prompt.text`: a text"},
      {R"({"sessionId":"s","prompt":[{"text":"t"}]})", "refused: session/prompt needs `prompt.type`: a word"},
      {R"({"sessionId":"s","prompt":[{"type":"resource","resource":{"uri":"u"}}]})",
       "refused: session/prompt needs `prompt.resource.text`: a text"},
      {R"({"sessionId":"s","prompt":"hi"})", "refused: session/prompt needs `prompt`: a list"},
  });
  Hold<PromptResponse>({{R"({"stopReason":"end_turn","usage":{"totalTokens":1}})", nullptr},
                        {R"({"stopReason":"_bored","usage":null})", R"({"stopReason":"_bored"})"},
                        {"{}", "refused: the answer to session/prompt needs `stopReason`: a text"}});
  Hold<CancelNotification>({{R"({"sessionId":"s"})", nullptr}});
  Hold<CancelRequestNotification>(
      {{R"({"requestId":7})", nullptr},
       {R"({"requestId":"a"})", nullptr},
       {R"({"requestId":null})", nullptr},
       {R"({"requestId":{}})", "refused: $/cancel_request needs `requestId`: a number, a text or null"}});
}

TEST_CASE("A1 updates: every kind, and what is not known as it came") {
  HoldUpdates({
      {R"({"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"a"}})", nullptr},
      {R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"messageId":"m"})",
       nullptr},
      {R"({"_meta":{"a":1},"content":{"type":"text","text":"a"},"timestamp":7,"sessionUpdate":"agent_thought_chunk"})",
       R"({"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"a"},"_meta":{"a":1}})"},
      {R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text"}})",
       "refused: session/update needs `update.content.text`: a text"},
      {R"({"sessionUpdate":"agent_message_chunk","content":[]})",
       "refused: session/update needs `update.content.type`: a word"},
      {R"({"sessionUpdate":"tool_call","toolCallId":"c","title":"t","name":"n","kind":"edit","status":"pending","content":[{"type":"content","content":{"type":"text","text":"a"}},{"type":"diff","path":"/a","oldText":"","newText":"b"},{"type":"diff","path":"/a","newText":"b","_meta":{}},{"type":"terminal","terminalId":"t"},{"type":"hologram"}],"locations":[{"path":"/a","line":0},{"path":"/b"}],"rawInput":{"a":[1.50]},"rawOutput":"x","_meta":{}})",
       nullptr},
      {R"({"sessionUpdate":"tool_call","toolCallId":"c"})",
       "refused: session/update needs `update.title`: a text"},
      {R"({"sessionUpdate":"tool_call_update","toolCallId":"c"})", nullptr},
      {R"({"sessionUpdate":"tool_call_update","toolCallId":"c","title":null,"kind":"juggle","status":"exploded","content":null,"locations":[{"line":1},{"path":"/a","line":-1}],"rawInput":null})",
       R"({"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[{"path":"/a"}]})"},
      {R"({"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"diff","path":"/a"},{"type":"content","content":7},{}]})",
       R"({"sessionUpdate":"tool_call_update","toolCallId":"c","content":[]})"},
      {R"({"sessionUpdate":"plan","entries":[{"content":"a","priority":"high","status":"completed"},{"content":"b","priority":"loud"},{"priority":"low"}]})",
       R"({"sessionUpdate":"plan","entries":[{"content":"a","priority":"high","status":"completed"},{"content":"b","priority":"medium","status":"pending"}]})"},
      {R"({"sessionUpdate":"available_commands_update","availableCommands":[{"name":"a","description":"d","input":{"hint":"h"}},{"name":"b","description":"d","input":null},{"description":"no name"}]})",
       R"({"sessionUpdate":"available_commands_update","availableCommands":[{"name":"a","description":"d","input":{"hint":"h"}},{"name":"b","description":"d"}]})"},
      {R"({"sessionUpdate":"current_mode_update","currentModeId":"m"})", nullptr},
      {R"({"sessionUpdate":"config_option_update","configOptions":[]})", nullptr},
      {R"({"sessionUpdate":"session_info_update","title":null,"updatedAt":"2026"})", nullptr},
      {R"({"sessionUpdate":"session_info_update","title":7})", R"({"sessionUpdate":"session_info_update"})"},
      {R"({"sessionUpdate":"usage_update","used":18446744073709551615,"size":200000,"cost":{"amount":0.1,"currency":"USD"}})",
       nullptr},
      {R"({"sessionUpdate":"usage_update","used":12.0,"cost":{"amount":1}})",
       R"({"sessionUpdate":"usage_update","used":12,"size":0})"},
      {R"({"sessionUpdate":"usage_update","used":-1,"size":1})",
       "refused: session/update needs `update.used`: a whole number"},
      {R"({"sessionUpdate":"notice","severity":"_grave","title":"t","description":"d"})", nullptr},
      {R"({"sessionUpdate":"compaction_update","compactionId":"c","status":"failed","summary":[{"type":"text","text":"a"}],"error":"e"})",
       nullptr},
      {R"({"sessionUpdate":"compaction_update","compactionId":"c","status":"in_progress","summary":null,"error":null})",
       nullptr},
      {R"({"sessionUpdate":"compaction_summary_chunk","compactionId":"c","content":{"type":"text","text":"a"}})",
       nullptr},
      {R"({"sessionUpdate":"plan_removed","planId":"p","x":[1.50]})", nullptr},
      {R"({"content":1})", "refused: session/update needs `update.sessionUpdate`: the kind of the update"},
  });
  Hold<SessionNotification>({{R"({"update":{}})", "refused: session/update needs `sessionId`: a text"}});
}

TEST_CASE("A1 words that no list knows are read as they came") {
  Reader reader;
  const auto read = reader.Read<SessionNotification>(JsonView::Trusted(
      R"({"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"juggle","status":"exploded"}})"));
  REQUIRE(read.ok());
  CHECK(std::get<ToolCallUpdate>(read->update).kind == "juggle");
  CHECK(std::get<ToolCallUpdate>(read->update).status == "exploded");
}

TEST_CASE("A1 permissions, asked and answered") {
  Hold<RequestPermissionRequest>(
      {{R"({"sessionId":"s","toolCall":{"toolCallId":"c","title":"t"},"options":[{"optionId":"o","name":"n","kind":"allow_once"}]})",
        nullptr},
       {R"({"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"name":"no id"},{"optionId":"o"}]})",
        R"({"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"o","name":"","kind":""}]})"},
       {R"({"sessionId":"s","toolCall":{},"options":[]})",
        "refused: session/request_permission needs `toolCall.toolCallId`: a text"},
       {R"({"sessionId":"s","toolCall":{"toolCallId":"c"}})",
        "refused: session/request_permission needs `options`: a list"}});
  Hold<RequestPermissionResponse>(
      {{R"({"outcome":{"outcome":"cancelled"}})", nullptr},
       {R"({"outcome":{"outcome":"selected","optionId":"o","_meta":{"a":1}},"_meta":{}})", nullptr},
       {R"({"outcome":{"outcome":"selected"}})",
        "refused: the answer to session/request_permission needs `outcome`: `cancelled`, or `selected` with "
        "an optionId"}});
  CHECK(Allows("allow_always"));
  CHECK_FALSE(Allows("allow"));
  CHECK(Rejects("reject_once"));
  CHECK_FALSE(Rejects("allow_once"));
}

TEST_CASE("A1 what a host is asked for") {
  Hold<ReadTextFileRequest>({{R"({"sessionId":"s","path":"/a","line":1,"limit":2})", nullptr},
                             {R"({"sessionId":"s","path":"/a","line":-1,"limit":5000000000})",
                              R"({"sessionId":"s","path":"/a"})"}});
  Hold<ReadTextFileResponse>({{R"({"content":""})", nullptr},
                              {"{}", "refused: the answer to fs/read_text_file needs `content`: a text"}});
  Hold<WriteTextFileRequest>({{R"({"sessionId":"s","path":"/a","content":"c"})", nullptr}});
  Hold<CreateTerminalRequest>(
      {{R"({"sessionId":"s","command":"c","args":["a"],"env":[{"name":"K","value":"v"}],"cwd":"/x","outputByteLimit":9007199254740993})",
        nullptr},
       {R"({"sessionId":"s","command":"c","args":null,"env":null,"cwd":null,"outputByteLimit":null})",
        R"({"sessionId":"s","command":"c"})"}});
  Hold<CreateTerminalResponse>({{R"({"terminalId":"t"})", nullptr}});
  const std::vector<Row> terminal = {{R"({"sessionId":"s","terminalId":"t"})", nullptr}};
  Hold<TerminalOutputRequest>(terminal);
  Hold<WaitForTerminalExitRequest>(terminal);
  Hold<KillTerminalRequest>(terminal);
  Hold<ReleaseTerminalRequest>(terminal);
  Hold<TerminalOutputResponse>(
      {{R"({"output":"o","truncated":true,"exitStatus":{"exitCode":0,"signal":"SIGHUP"}})", nullptr},
       {R"({"output":"o","exitStatus":null})", R"({"output":"o","truncated":false})"}});
  Hold<TerminalExitStatus>({{R"({"exitCode":null,"signal":"SIGHUP"})", R"({"signal":"SIGHUP"})"}});
}

TEST_CASE("A1 questions to a person: forms of every property, addresses, and modes to come") {
  Hold<CreateElicitationRequest>({
      {R"({"message":"m","mode":"form","requestedSchema":{"type":"object","title":"t","description":"d","properties":{"s":{"title":"t","description":"d","type":"string","minLength":1,"maxLength":9,"pattern":"p","format":"email","default":"a","enum":["a"],"oneOf":[{"const":"a","title":"A","description":"d"}]},"n":{"type":"number","minimum":0.5,"maximum":1.5,"default":1},"i":{"type":"integer","minimum":-1,"maximum":1,"default":0},"b":{"type":"boolean","default":true},"l":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a"]},"default":["a"]},"t":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}},"z":{"type":"colour","hue":1}},"required":["s"]},"sessionId":"s","toolCallId":"c"})",
       nullptr},
      {R"({"message":"m","mode":"form","requestedSchema":{"properties":{"a":7,"s":{"type":"string","format":"smell","minLength":-1}}},"requestId":7})",
       R"({"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{"s":{"type":"string"}}},"requestId":7})"},
      {R"({"message":"m","mode":"url","elicitationId":"e","url":"https://x","sessionId":"s"})", nullptr},
      {R"({"message":"m","mode":"_dance","steps":3})", nullptr},
      {R"({"message":"m","mode":"url","url":"u"})",
       "refused: elicitation/create needs `elicitationId`: a text"},
      {R"({"message":"m"})", "refused: elicitation/create needs `mode`: a word"},
  });
  Hold<CreateElicitationResponse>(
      {{R"({"action":"accept","content":{"s":"a","i":7,"n":1.5,"b":true,"l":["a","b"]}})", nullptr},
       {R"({"action":"decline"})", nullptr},
       {R"({"action":"accept","content":{"o":{},"l":[1,"a"],"z":null}})",
        R"({"action":"accept","content":{"l":["a"]}})"}});
  Hold<CompleteElicitationNotification>({{R"({"elicitationId":"e"})", nullptr}});
}

TEST_CASE("A1 errors are read whatever they are") {
  Hold<RpcError>({{R"({"code":-32000,"message":"m","data":{"a":1}})", nullptr},
                  {R"("just words")", R"({"code":-32603,"message":"just words"})"},
                  {R"({"code":1e300,"data":null})", R"({"code":-32603,"message":""})"}});
}

TEST_CASE("A1 content says its type, its words and where it lies") {
  CHECK(TypeOf(TextContent{}) == "text");
  CHECK(TypeOf(EmbeddedResource{}) == "resource");
  CHECK(TypeOf(UnknownContent{"x", {}}) == "x");
  CHECK(WordsOf(EmbeddedResource{TextResourceContents{"u", "t", {}, {}}, {}, {}}) == "t");
  CHECK(WordsOf(ImageContent{}) == std::nullopt);
  CHECK(UriOf(EmbeddedResource{BlobResourceContents{"u", "", {}, {}}, {}, {}}) == "u");
  CHECK(UriOf(TextContent{}) == std::nullopt);
}

}  // namespace
}  // namespace watchbill::acp
