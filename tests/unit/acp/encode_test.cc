#include "watchbill/acp/encode.hpp"

#include <doctest/doctest.h>

#include "watchbill/acp/read.hpp"

namespace watchbill::acp {
namespace {

TEST_CASE("A1 what was not said is not written") {
  CHECK(
      Encode(InitializeRequest{}) ==
      R"({"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false}})");
  CHECK(
      Encode(InitializeResponse{}) ==
      R"({"protocolVersion":1,"agentCapabilities":{"loadSession":false,"promptCapabilities":{"image":false,"audio":false,"embeddedContext":false},"mcpCapabilities":{"http":false,"sse":false},"sessionCapabilities":{}},"authMethods":[]})");
  // Most agents refuse a session without the list.
  CHECK(Encode(NewSessionRequest{"/x", {}}) == R"({"cwd":"/x","mcpServers":[]})");
  CHECK(Encode(NewSessionResponse{"s", {}}) == R"({"sessionId":"s"})");
  CHECK(Encode(PromptRequest{"s", {}}) == R"({"sessionId":"s","prompt":[]})");
  CHECK(Encode(PromptResponse{"refusal"}) == R"({"stopReason":"refusal"})");
  CHECK(EncodePermission(std::nullopt) == R"({"outcome":{"outcome":"cancelled"}})");
  CHECK(EncodePermission("o\"1") == R"({"outcome":{"outcome":"selected","optionId":"o\"1"}})");
  CHECK(EncodeCancel("s") == R"({"sessionId":"s"})");
}

TEST_CASE("A1 the whole of each is read as it was written") {
  Reader reader;
  InitializeRequest asks;
  asks.capabilities = {true, false, true};
  asks.client = Implementation{"name", "1.0", "Title"};
  const auto asked = reader.Initialize(JsonView::Trusted(Encode(asks)));
  REQUIRE(asked.ok());
  CHECK(Encode(*asked) == Encode(asks));
  CHECK(asked->client->title == "Title");

  InitializeResponse answers;
  answers.capabilities = {true, true, false, true, true, false, true, false, true, true};
  answers.auth_methods = {{"a", "A", std::nullopt, "agent"}, {"t", "T", "d", "terminal"}};
  answers.agent = Implementation{"agent", "2", std::nullopt};
  const std::string written = Encode(answers);
  const auto answered = reader.Initialized(JsonView::Trusted(written));
  REQUIRE(answered.ok());
  CHECK(Encode(*answered) == written);
  CHECK(answered->capabilities.remove);
  CHECK(answered->auth_methods[1].type == "terminal");

  const NewSessionRequest session{"/a b",
                                  JsonView::Trusted(R"([{"name":"m","command":"/c","args":[],"env":[]}])")};
  const std::string opened = Encode(session);
  CHECK(Encode(*reader.NewSession(JsonView::Trusted(opened))) == opened);
}

TEST_CASE("A1 content: by its members, or as it came") {
  PromptRequest prompt{"s", {}};
  ContentBlock text, link, resource, image;
  text.text = "say \"hi\"\n";
  link.type = "resource_link";
  link.uri = "file:///a";
  link.name = "a";
  resource.type = "resource";
  resource.uri = "file:///b";
  resource.text = "t";
  resource.mime_type = "text/plain";
  image.type = "image";
  image.raw = JsonView::Trusted(R"({"type":"image","data":"QQ==","mimeType":"image/png"})");
  prompt.prompt = {text, link, resource, image};
  const std::string written = Encode(prompt);
  CHECK(
      written ==
      R"({"sessionId":"s","prompt":[{"type":"text","text":"say \"hi\"\n"},{"type":"resource_link","uri":"file:///a","name":"a"},{"type":"resource","resource":{"uri":"file:///b","text":"t","mimeType":"text/plain"}},{"type":"image","data":"QQ==","mimeType":"image/png"}]})");
  Reader reader;
  const auto read = reader.Prompt(JsonView::Trusted(written));
  REQUIRE(read.ok());
  CHECK(Encode(*read) == written);
}

TEST_CASE("A1 updates that a program makes itself") {
  SessionUpdate update;
  update.session = "s";
  Chunk chunk;
  chunk.from = Chunk::From::kThought;
  chunk.content.text = "hm";
  update.update = chunk;
  CHECK(
      Encode(update) ==
      R"({"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}})");
  ToolCallUpdate tool;
  tool.is_new = true;
  tool.id = "c";
  tool.title = "t";
  ToolContent diff;
  diff.type = "diff";
  diff.path = "/a";
  diff.new_text = "n";
  tool.content = {diff};
  tool.locations = {{"/a", 3}, {"/b", std::nullopt}};
  tool.raw_input = JsonView::Trusted("{}");
  update.update = tool;
  CHECK(
      Encode(update) ==
      R"({"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","content":[{"type":"diff","path":"/a","newText":"n"}],"locations":[{"path":"/a","line":3},{"path":"/b"}],"rawInput":{}}})");
  update.update = Usage{5, 10, 0.5, "EUR"};
  CHECK(
      Encode(update) ==
      R"({"sessionId":"s","update":{"sessionUpdate":"usage_update","used":5,"size":10,"cost":{"amount":0.5,"currency":"EUR"}}})");
  // An amount of nothing said is no cost.
  update.update = Usage{5, 10, 0.5, std::nullopt};
  CHECK(Encode(update) ==
        R"({"sessionId":"s","update":{"sessionUpdate":"usage_update","used":5,"size":10}})");
}

TEST_CASE("A1 an update that is not known is passed on with all it holds") {
  Reader reader;
  const std::string params =
      R"({"sessionId":"s","update":{"sessionUpdate":"notice","title":"t","n":[1.50]}})";
  const auto read = reader.Update(JsonView::Trusted(params));
  REQUIRE(read.ok());
  CHECK(Encode(*read) == params);
  SessionUpdate bare;
  bare.session = "s";
  bare.kind = "novel";
  CHECK(Encode(bare) == R"({"sessionId":"s","update":{"sessionUpdate":"novel"}})");
}

TEST_CASE("A1 a permission request") {
  PermissionRequest request;
  request.session = "s";
  request.tool.id = "c";
  request.options = {{"o1", "Yes", "allow_once"}, {"o2", "No", "reject_once"}};
  const std::string written = Encode(request);
  CHECK(
      written ==
      R"({"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"o1","name":"Yes","kind":"allow_once"},{"optionId":"o2","name":"No","kind":"reject_once"}]})");
  Reader reader;
  CHECK(Encode(*reader.Permission(JsonView::Trusted(written))) == written);
}

}  // namespace
}  // namespace watchbill::acp
