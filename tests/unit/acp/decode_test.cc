#include <doctest/doctest.h>

#include "watchbill/acp/read.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {
namespace {

JsonView Json(std::string_view text) { return JsonView::Trusted(text); }

// The body of an update whose members are these, read as a T.
template <typename T>
T Body(Reader& reader, const std::string& update) {
  static std::string params;
  params = R"({"sessionId":"s","update":)" + update + "}";
  const auto read = reader.Update(Json(params));
  CAPTURE(update);
  REQUIRE_MESSAGE(read.ok(), std::string(MessageOf(read.status())));
  CHECK(read->session == "s");
  REQUIRE(std::holds_alternative<T>(read->update));
  return std::get<T>(read->update);
}

std::string Refusal(Reader& reader, const std::string& update) {
  const auto read = reader.Update(Json(R"({"sessionId":"s","update":)" + update + "}"));
  REQUIRE_FALSE(read.ok());
  CHECK(read.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(MessageOf(read.status()));
}

TEST_CASE("A1 initialize, asked") {
  Reader reader;
  const auto bare = reader.Initialize(Json(R"({"protocolVersion":2})"));
  REQUIRE(bare.ok());
  CHECK(bare->protocol_version == 2);
  CHECK_FALSE(bare->capabilities.terminal);
  CHECK_FALSE(bare->client.has_value());
  const auto full = reader.Initialize(Json(
      R"({"protocolVersion":1.0,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":"yes"},"terminal":true},"clientInfo":{"name":"n","title":null,"version":"v"}})"));
  REQUIRE(full.ok());
  CHECK(full->protocol_version == 1);
  CHECK(full->capabilities.read_text_file);
  CHECK_FALSE(full->capabilities.write_text_file);
  CHECK(full->capabilities.terminal);
  REQUIRE(full->client.has_value());
  CHECK(full->client->name == "n");
  CHECK_FALSE(full->client->title.has_value());
  for (const char* bad : {"{}", "null", "[]", R"({"protocolVersion":"1"})", R"({"protocolVersion":1.5})"}) {
    CAPTURE(bad);
    const auto refused = reader.Initialize(Json(bad));
    REQUIRE_FALSE(refused.ok());
    CHECK(MessageOf(refused.status()) == "initialize needs `protocolVersion`: a whole number");
  }
  CHECK_FALSE(reader.Initialize(JsonView()).ok());
}

TEST_CASE("A1 initialize, answered: a capability that is null, absent or of the wrong kind is none") {
  Reader reader;
  const char* text =
      R"({"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":1,"embeddedContext":null},"mcpCapabilities":{"http":true,"sse":false},"sessionCapabilities":{"list":{},"resume":null,"close":true,"delete":{"x":1}},"_meta":{"a":1}},"authMethods":[{"id":"k","name":"Key","description":"d"},{"name":"no id"},7,{"id":"t","type":"terminal","args":["x"]},{"id":"e","type":"env_var","name":null}],"agentInfo":{"name":"agent","version":"1","title":"Agent"},"_meta":null})";
  const auto answer = reader.Initialized(Json(text));
  REQUIRE(answer.ok());
  const AgentCapabilities& can = answer->capabilities;
  CHECK(can.load_session);
  CHECK(can.image);
  CHECK_FALSE(can.audio);
  CHECK_FALSE(can.embedded_context);
  CHECK(can.mcp_http);
  CHECK_FALSE(can.mcp_sse);
  CHECK(can.list);
  CHECK_FALSE(can.resume);
  CHECK_FALSE(can.close);
  CHECK(can.remove);
  REQUIRE(answer->auth_methods.size() == 3);
  CHECK(answer->auth_methods[0].type == "agent");
  CHECK(answer->auth_methods[0].description == "d");
  CHECK(answer->auth_methods[1].type == "terminal");
  CHECK(answer->auth_methods[1].name == "t");
  CHECK(answer->auth_methods[2].type == "env_var");
  CHECK(answer->agent->title == "Agent");
  CHECK(answer->raw.text() == text);
  const auto bare =
      reader.Initialized(Json(R"({"protocolVersion":1,"agentCapabilities":null,"authMethods":null})"));
  REQUIRE(bare.ok());
  CHECK(bare->auth_methods.empty());
  CHECK_FALSE(bare->agent.has_value());
  CHECK_FALSE(reader.Initialized(Json("null")).ok());
}

TEST_CASE("A1 sessions and prompts") {
  Reader reader;
  const auto asked = reader.NewSession(Json(R"({"cwd":"/x","mcpServers":[{"name":"m"}]})"));
  REQUIRE(asked.ok());
  CHECK(asked->cwd == "/x");
  CHECK(asked->mcp_servers.text() == R"([{"name":"m"}])");
  CHECK(reader.NewSession(Json(R"({"cwd":"/x","mcpServers":null})"))->mcp_servers.absent());
  CHECK(MessageOf(reader.NewSession(Json(R"({"cwd":5})")).status()) ==
        "session/new needs `cwd`: an absolute path");
  const auto made = reader.SessionMade(Json(R"({"sessionId":"s\"1","models":{}})"));
  REQUIRE(made.ok());
  CHECK(made->session == "s\"1");
  CHECK(made->raw.text() == R"({"sessionId":"s\"1","models":{}})");
  CHECK_FALSE(reader.SessionMade(Json(R"({"sessionId":null})")).ok());
  const auto prompt = reader.Prompt(Json(
      R"({"sessionId":"s","prompt":[{"type":"text","text":"hi"},7,{"text":"no type"},{"type":"resource","resource":{"uri":"file:///a","text":"t","mimeType":"text/plain"}},{"type":"resource_link","uri":"u","name":"n","size":5},{"type":"image","data":"QQ==","mimeType":"image/png"},{"type":"hologram","x":1}]})"));
  REQUIRE(prompt.ok());
  REQUIRE(prompt->prompt.size() == 5);
  CHECK(prompt->prompt[0].text == "hi");
  CHECK(prompt->prompt[1].uri == "file:///a");
  CHECK(prompt->prompt[1].text == "t");
  CHECK(prompt->prompt[1].mime_type == "text/plain");
  CHECK(prompt->prompt[2].name == "n");
  CHECK(prompt->prompt[3].mime_type == "image/png");
  CHECK_FALSE(prompt->prompt[3].text.has_value());
  CHECK(prompt->prompt[4].type == "hologram");
  CHECK(prompt->prompt[4].raw.text() == R"({"type":"hologram","x":1})");
  CHECK_FALSE(reader.Prompt(Json(R"({"sessionId":"s","prompt":"hi"})")).ok());
  CHECK(reader.Prompted(Json(R"({"stopReason":"new_reason"})"))->stop_reason == "new_reason");
  for (const char* bad : {"null", "{}", R"({"stopReason":null})", R"({"stopReason":""})"}) {
    CAPTURE(bad);
    CHECK_FALSE(reader.Prompted(Json(bad)).ok());
  }
  CHECK(*reader.Cancel(Json(R"({"sessionId":"s"})")) == "s");
  CHECK_FALSE(reader.Cancel(Json("{}")).ok());
}

TEST_CASE("A1 chunks of messages") {
  Reader reader;
  auto chunk = Body<Chunk>(
      reader,
      R"({"content":{"type":"text","text":"a\nb","annotations":null},"sessionUpdate":"agent_message_chunk"})");
  CHECK(chunk.from == Chunk::From::kAgent);
  CHECK(chunk.content.text == "a\nb");
  CHECK_FALSE(chunk.message_id.has_value());
  chunk = Body<Chunk>(
      reader,
      R"({"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":""},"messageId":"m1","timestamp":5})");
  CHECK(chunk.from == Chunk::From::kThought);
  CHECK(chunk.content.text == "");
  CHECK(chunk.message_id == "m1");
  chunk = Body<Chunk>(
      reader,
      R"({"sessionUpdate":"user_message_chunk","content":{"type":"audio","data":"QQ=="},"messageId":7})");
  CHECK(chunk.from == Chunk::From::kUser);
  CHECK(chunk.content.type == "audio");
  CHECK_FALSE(chunk.content.text.has_value());
  CHECK_FALSE(chunk.message_id.has_value());
  CHECK(Refusal(reader, R"({"sessionUpdate":"agent_message_chunk","content":null})") ==
        "agent_message_chunk needs `content`: the piece of the message");
}

TEST_CASE("A1 tool calls: null and absent are not said, bad elements are left out, lists may be empty") {
  Reader reader;
  auto tool = Body<ToolCallUpdate>(
      reader,
      R"({"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":"teleport","status":"pending","content":[{"type":"content","content":{"type":"text","text":"x"}},{"type":"diff","path":"/a","oldText":null,"newText":"n"},{"type":"diff","path":"/a"},{"type":"terminal","terminalId":"t1"},{"type":"terminal"},{"type":"content"},null,"x",{"type":"novel","a":1}],"locations":[{"path":"/a","line":3.0},{"line":4},{"path":"/b","line":null},{"path":"/c","line":-1},{"path":"/d","line":"9"}],"rawInput":{"a":[1.50]},"rawOutput":"s"})");
  CHECK(tool.is_new);
  CHECK(tool.id == "c");
  CHECK(tool.kind == "teleport");
  REQUIRE(tool.content.has_value());
  REQUIRE(tool.content->size() == 4);
  CHECK((*tool.content)[0].content.text == "x");
  CHECK((*tool.content)[1].new_text == "n");
  CHECK_FALSE((*tool.content)[1].old_text.has_value());
  CHECK((*tool.content)[2].terminal == "t1");
  CHECK((*tool.content)[3].type == "novel");
  REQUIRE(tool.locations.has_value());
  REQUIRE(tool.locations->size() == 4);
  CHECK((*tool.locations)[0].line == 3);
  for (size_t i = 1; i < 4; ++i) CHECK_FALSE((*tool.locations)[i].line.has_value());
  CHECK(tool.raw_input.text() == R"({"a":[1.50]})");
  CHECK(tool.raw_output.text() == "\"s\"");
  tool = Body<ToolCallUpdate>(
      reader,
      R"({"sessionUpdate":"tool_call_update","toolCallId":"c","title":null,"kind":7,"status":null,"content":null,"locations":"x","rawInput":null})");
  CHECK_FALSE(tool.is_new);
  CHECK_FALSE(tool.title.has_value());
  CHECK_FALSE(tool.kind.has_value());
  CHECK_FALSE(tool.status.has_value());
  CHECK_FALSE(tool.content.has_value());
  CHECK_FALSE(tool.locations.has_value());
  CHECK(tool.raw_input.absent());
  CHECK(tool.raw_output.absent());
  tool = Body<ToolCallUpdate>(
      reader,
      R"({"sessionUpdate":"tool_call_update","toolCallId":"c","content":[],"locations":[],"_meta":{}})");
  CHECK(tool.content->empty());
  CHECK(tool.locations->empty());
  CHECK(Refusal(reader, R"({"sessionUpdate":"tool_call","title":"t"})") ==
        "tool_call needs `toolCallId`: which tool call is meant");
  CHECK(Refusal(reader, R"({"sessionUpdate":"tool_call_update","toolCallId":5})").find("toolCallId") !=
        std::string::npos);
}

TEST_CASE("A1 plans and commands replace what was before, without their bad elements") {
  Reader reader;
  const auto plan = Body<Plan>(
      reader,
      R"({"sessionUpdate":"plan","entries":[{"content":"a","priority":"high","status":"completed"},{"priority":"low"},{"content":"b"},null,{"content":"c","priority":7,"status":"odd"}]})");
  REQUIRE(plan.entries.size() == 3);
  CHECK(plan.entries[0].priority == "high");
  CHECK(plan.entries[1].priority == "medium");
  CHECK(plan.entries[1].status == "pending");
  CHECK(plan.entries[2].priority == "medium");
  CHECK(plan.entries[2].status == "odd");
  CHECK(Body<Plan>(reader, R"({"sessionUpdate":"plan","entries":null})").entries.empty());
  const auto commands = Body<Commands>(
      reader,
      R"({"sessionUpdate":"available_commands_update","availableCommands":[{"name":"a","description":"d","input":{"hint":"h"}},{"name":"b","description":"d","input":null},{"description":"d"},{"name":""},[],{"name":"c","input":{"hint":5}}]})");
  REQUIRE(commands.commands.size() == 3);
  CHECK(commands.commands[0].hint == "h");
  CHECK_FALSE(commands.commands[1].hint.has_value());
  CHECK(commands.commands[2].description.empty());
  CHECK_FALSE(commands.commands[2].hint.has_value());
}

TEST_CASE("A1 usage: a number of any spelling and size; a cost that is half said keeps its half") {
  Reader reader;
  const auto usage = [&](const std::string& members) {
    return Body<Usage>(reader, R"({"sessionUpdate":"usage_update",)" + members + "}");
  };
  auto u = usage(R"("used":120,"size":258400,"cost":{"amount":0.25,"currency":"USD"})");
  CHECK(u.used == 120);
  CHECK(u.size == 258400);
  CHECK(u.cost == 0.25);
  CHECK(u.currency == "USD");
  u = usage(R"("used":120.0,"size":2.584e5,"cost":null)");
  CHECK(u.used == 120);
  CHECK(u.size == 258400);
  CHECK_FALSE(u.cost.has_value());
  u = usage(R"("used":18446744073709551615,"size":9223372036854775808)");
  CHECK(u.used == INT64_MAX);
  CHECK(u.size == INT64_MAX);
  u = usage(R"("used":9223372036854775807,"size":1e300)");
  CHECK(u.used == INT64_MAX);
  CHECK(u.size == INT64_MAX);
  u = usage(R"("used":1e16,"size":9007199254740993.0)");
  CHECK(u.used == 10'000'000'000'000'000);
  CHECK(u.size > 9'007'199'254'740'000);
  u = usage(R"("used":5,"size":null)");
  CHECK(u.size == 0);
  u = usage(R"("used":5,"size":-1)");
  CHECK(u.size == 0);
  u = usage(R"("used":5,"size":1,"cost":{"amount":"x","currency":"USD"})");
  CHECK_FALSE(u.cost.has_value());
  for (const char* bad : {"null", "\"5\"", "-1", "1.5"}) {
    CAPTURE(bad);
    CHECK(Refusal(reader, std::string(R"({"sessionUpdate":"usage_update","size":1,"used":)") + bad + "}") ==
          "usage_update needs `used`: a number of tokens");
  }
}

TEST_CASE("A1 an update of a kind that is not known is there, with all it holds") {
  Reader reader;
  const auto read = reader.Update(
      Json(R"({"sessionId":"s","update":{"sessionUpdate":"notice","title":"t","n":1.50},"_meta":{}})"));
  REQUIRE(read.ok());
  CHECK(read->kind == "notice");
  CHECK(std::holds_alternative<UnknownUpdate>(read->update));
  CHECK(read->raw.text() == R"({"sessionUpdate":"notice","title":"t","n":1.50})");
  CHECK_FALSE(reader.Update(Json(R"({"sessionId":"s","update":{}})")).ok());
  CHECK_FALSE(reader.Update(Json(R"({"sessionId":"s","update":{"sessionUpdate":7}})")).ok());
  CHECK_FALSE(reader.Update(Json(R"({"update":{"sessionUpdate":"plan"}})")).ok());
  CHECK_FALSE(reader.Update(JsonView()).ok());
}

TEST_CASE("A1 permissions, asked and answered") {
  Reader reader;
  const auto asked = reader.Permission(Json(
      R"({"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"o1","name":"Yes","kind":"allow_once"},{"name":"no id"},{"optionId":"o2"},5,{"optionId":"o3","name":"n","kind":"maybe"}]})"));
  REQUIRE(asked.ok());
  CHECK(asked->tool.id == "c");
  REQUIRE(asked->options.size() == 3);
  CHECK(Allows(asked->options[0].kind));
  CHECK(asked->options[1].name == "o2");
  CHECK_FALSE(Allows(asked->options[1].kind));
  CHECK_FALSE(Rejects(asked->options[1].kind));
  CHECK(asked->options[2].kind == "maybe");
  CHECK_FALSE(reader.Permission(Json(R"({"sessionId":"s","toolCall":null,"options":[]})")).ok());
  CHECK_FALSE(reader.Permission(Json(R"({"sessionId":"s","toolCall":{"toolCallId":"c"}})")).ok());
  CHECK_FALSE(reader.Permission(Json(R"({"toolCall":{"toolCallId":"c"},"options":[]})")).ok());
  CHECK(reader.Permission(Json(R"({"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]})"))
            ->options.empty());

  CHECK(**reader.PermissionAnswer(Json(R"({"outcome":{"outcome":"selected","optionId":"o1"}})")) == "o1");
  const auto cancelled = reader.PermissionAnswer(Json(R"({"outcome":{"outcome":"cancelled"}})"));
  REQUIRE(cancelled.ok());
  CHECK_FALSE(cancelled->has_value());
  for (const char* bad : {"null", "{}", R"({"outcome":"selected"})", R"({"outcome":{"outcome":"selected"}})",
                          R"({"outcome":{"outcome":"odd","optionId":"o1"}})"}) {
    CAPTURE(bad);
    CHECK_FALSE(reader.PermissionAnswer(Json(bad)).ok());
  }
}

TEST_CASE("A1 the kind decides what allows and what rejects") {
  CHECK(Allows("allow_once"));
  CHECK(Allows("allow_always"));
  CHECK_FALSE(Allows("reject_once"));
  CHECK(Rejects("reject_once"));
  CHECK(Rejects("reject_always"));
  CHECK_FALSE(Rejects("allow_once"));
  CHECK_FALSE(Allows(""));
  CHECK_FALSE(Rejects("other"));
}

}  // namespace
}  // namespace watchbill::acp
