#include "json.hpp"

#include <doctest/doctest.h>

#include "history_fixture.hpp"

namespace watchbill::history {
namespace {

template <typename T>
std::string Written(const T& value) {
  std::string out;
  JsonWriter w(out);
  Write(w, value);
  return out;
}

TEST_CASE("a message of every kind of part is read as it was written") {
  const Message message = FullMessage(kChannelA, NthId(1));
  const auto read = ReadMessage(Written(message));
  REQUIRE_MESSAGE(read.ok(), read.status().ToString());
  CHECK(*read == message);
  CHECK(read->parts.size() == 4);
  for (const Role role : {Role::kUser, Role::kAgent, Role::kSystem}) {
    Message other;
    other.id = NthId(2);
    other.role = role;
    other.done = false;
    other.queued = true;
    CHECK(*ReadMessage(Written(other)) == other);
  }
}

TEST_CASE("the JSON is that of the protocol's page") {
  Message message = TextMessage(kChannelA, NthId(1), "hi");
  message.created_ms = 1'790'000'000'007;
  CHECK(
      Written(message) ==
      R"({"id":"01BX5ZZKBKACTAV9WEVGE00001","channel":"01ARYZ6S41TSV4RRFFQ69G5FAV","createdAt":"2026-09-21T14:13:20.007Z",)"
      R"("agent":"","role":"user","parts":[{"kind":"text","text":"hi"}],"done":true,"queued":false,"stopReason":"",)"
      R"("error":"","code":""})");
  ToolCall tool;
  tool.id = "t";
  tool.locations = {{"a", 3}, {"b", std::nullopt}};
  tool.diffs = {{"a", "x", "y", true}};
  CHECK(
      Written(Part(ToolPart{tool})) ==
      R"({"kind":"tool","tool":{"id":"t","title":"","kind":"other","status":"pending","input":"","output":"",)"
      R"("locations":[{"path":"a","line":3},{"path":"b"}],"diffs":[{"path":"a","oldText":"x","newText":"y","newFile":true}]}})");
  CHECK(Written(Part(PlanPart{{{"c", "high", "pending"}}})) ==
        R"({"kind":"plan","entries":[{"content":"c","priority":"high","status":"pending"}]})");
  Channel channel;
  channel.id = kChannelA;
  channel.name = "ops";
  channel.members = {"b", "a"};
  CHECK(
      Written(channel) ==
      R"({"id":"01ARYZ6S41TSV4RRFFQ69G5FAV","name":"ops","description":"","direct":"","members":["b","a"]})");
  CHECK(*ReadChannel(Written(channel)) == channel);
}

TEST_CASE("what is missing or of the wrong kind has its default, and parts that are not known are left out") {
  const auto read = ReadMessage(
      R"({"id":"x","channel":7,"createdAt":"yesterday","role":"king","done":"no","queued":1,"new":{"a":[]},"parts":[)"
      R"(1,null,"text",[],{},{"kind":"hologram","text":"?"},{"kind":"text"},{"kind":"thought","text":5},{"kind":"tool"},)"
      R"({"kind":"tool","tool":{"locations":{"path":"p"},"diffs":[1,{"path":"d"}],"status":7}},{"kind":"plan","entries":[2,{}]}]})");
  REQUIRE_MESSAGE(read.ok(), read.status().ToString());
  Message expected;
  expected.id = "x";
  ToolCall tool;
  tool.diffs = {{"d", "", "", false}};
  expected.parts = {TextPart{}, ThoughtPart{}, ToolPart{}, ToolPart{tool}, PlanPart{{PlanEntry{}}}};
  CHECK(*read == expected);
  CHECK(ReadMessage(R"({"id":"x","parts":{"kind":"text"}})")->parts.empty());
  CHECK(ReadChannel(R"({"id":"x","name":null,"members":["a",1,"b"]})")->members ==
        std::vector<std::string>{"a", "b"});
}

TEST_CASE("what is no object with an id is refused with what was expected") {
  for (const char* text :
       {"", "{", "[]", "null", "7", "{}", R"({"id":7})", R"({"id":""})", R"({"id":"x"} {})"}) {
    CHECK_MESSAGE(ReadMessage(text).status().code() == absl::StatusCode::kInvalidArgument, text);
    CHECK_MESSAGE(ReadChannel(text).status().code() == absl::StatusCode::kInvalidArgument, text);
  }
  CHECK(Says(ReadMessage("{}").status(), "expected \"id\""));
  CHECK(Says(ReadChannel("[]").status(), "expected a JSON object"));
  CHECK(!ReadMessage(std::string("{\"id\":\"x\0\"}", 10)).ok());
  CHECK(!ReadMessage("{\"id\":\"\xFF\"}").ok());
  const std::string deep = R"({"id":"x","parts":)" + std::string(100, '[') + std::string(100, ']') + "}";
  CHECK(!ReadMessage(deep).ok());
  CHECK(!ReadMessage(R"({"id":"x","error":")" + std::string(kMaxRecordBytes, 'a') + "\"}").ok());
}

TEST_CASE("bytes that are no text come back as text") {
  Message message = TextMessage(kChannelA, NthId(1), std::string("a\0b\xFF", 4));
  const auto read = ReadMessage(Written(message));
  REQUIRE(read.ok());
  CHECK(std::get<TextPart>(read->parts[0]).text == std::string("a\0b\xEF\xBF\xBD", 6));
}

TEST_CASE("times are whole milliseconds, also before 1970") {
  for (const int64_t ms :
       {int64_t{0}, int64_t{-1}, int64_t{1'790'000'000'999}, int64_t{253'402'300'799'999}}) {
    Message message;
    message.id = "x";
    message.created_ms = ms;
    CHECK(ReadMessage(Written(message))->created_ms == ms);
  }
}

TEST_CASE("a member is read as it was written") {
  const Member member{.agent = "codex", .session = "s-1", .last_seen = NthId(4)};
  json::Document document;
  CHECK(*ReadMember(document, Written(member)) == member);
  CHECK(*ReadMember(document, "{}") == Member());
  CHECK(!ReadMember(document, "[]").ok());
}

}  // namespace
}  // namespace watchbill::history
