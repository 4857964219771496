#include "watchbill/acp/client.hpp"

#include "client_fixture.hpp"

namespace watchbill::acp {
namespace {

TEST_CASE("S3 the handshake") {
  Fixture f;
  CHECK_FALSE(f.client.ready());
  CHECK(f.NewSession().status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(f.client.Prompt({"s", {}, {}}).status().code() == absl::StatusCode::kFailedPrecondition);
  f.Initialize();
  CHECK(f.client.Initialize({}, f.now).code() == absl::StatusCode::kFailedPrecondition);
  CHECK(
      f.Written() ==
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,"auth":{"terminal":false}},"clientInfo":{"name":"test","version":"1"}}})"
      "\n");
  CHECK(f.client.Deadline() == f.now.mono_ns + 30 * kSecond);
  f.Line("");
  f.Line("Welcome!");
  f.Line(R"({"level":"info"})");
  f.Line(kHello);
  CHECK(f.Expect<Skipped>().line == "Welcome!");
  CHECK(f.Expect<Skipped>().why == "a JSON object on its standard output is neither a request nor an answer");
  const auto done = f.Expect<HandshakeDone>();
  CHECK(done.agent.agent->name == "a");
  CHECK(f.client.ready());
  CHECK(f.client.Deadline() == kNever);
  CHECK(f.client.stray_lines() == 2);
  f.Quiet();
}

TEST_CASE("S3 a handshake that fails says why") {
  using Why = HandshakeFailed::Why;
  Fixture f;
  f.Initialize();
  const auto fails = [&](Why why, std::string_view says) {
    const auto failed = f.Expect<HandshakeFailed>();
    CHECK(failed.why == why);
    CHECK(failed.says == says);
    CHECK_FALSE(f.client.ready());
    CHECK(f.NewSession().status().code() == absl::StatusCode::kFailedPrecondition);
  };
  SUBCASE("another version") {
    f.Line(R"({"id":1,"result":{"protocolVersion":2}})");
    fails(Why::kVersion, "speaks ACP version 2 alone; version 1 is what is spoken here");
  }
  SUBCASE("refused") {
    f.Line(R"({"id":1,"error":{"code":-32603,"message":"Internal error","data":{"details":"no key"}}})");
    fails(Why::kRefused, "refused `initialize`: Internal error: no key (code -32603)");
  }
  SUBCASE("something else is answered") {
    f.Line(R"({"id":1,"result":{"capabilities":{}}})");
    fails(Why::kNotAcp,
          "does not speak ACP: the answer to initialize needs `protocolVersion`: a whole number");
  }
  SUBCASE("nothing is answered") {
    f.client.Tick(Now{f.now.mono_ns + 30 * kSecond - 1, 0});
    f.Quiet();
    f.client.Tick(Now{f.now.mono_ns + 30 * kSecond, 0});
    fails(Why::kTimeout, "did not answer `initialize` within 30 seconds");
    f.Line(kHello);
    (void)f.Expect<Skipped>();
  }
  SUBCASE("time is up, and then it ends") {
    f.client.Tick(Now{f.now.mono_ns + 30 * kSecond, 0});
    f.client.End("signal 15");
    fails(Why::kTimeout, "did not answer `initialize` within 30 seconds");
  }
  SUBCASE("it ends") {
    f.client.End("exit code 127");
    fails(Why::kEnded, "ended before it answered: exit code 127");
  }
  SUBCASE("it ends, and nobody knows why") {
    f.client.End("");
    fails(Why::kEnded, "ended before it answered: the connection ended");
  }
  SUBCASE("an answer that holds nothing") {
    f.Line(R"({"id":1})");
    fails(Why::kNotAcp, "does not speak ACP: its answer holds neither a result nor an error");
  }
  f.Quiet();
}

TEST_CASE("S3 a program that says again what it is told fails at once") {
  Fixture f;
  f.Initialize();
  f.client.Feed(f.Written());
  const auto failed = f.Expect<HandshakeFailed>();
  CHECK(failed.why == HandshakeFailed::Why::kNotAcp);
  CHECK(
      failed.says ==
      "is no agent: it sent `initialize` itself, as a client does, or a program that repeats what it reads");
  f.Quiet();
  // Its request is answered, as every one; what it makes of that brings nothing new.
  for (int i = 0; i < 5; ++i) {
    f.client.Feed(f.Written());
    while (const auto event = f.client.Next()) CHECK(std::holds_alternative<Skipped>(*event));
  }
  CHECK(f.Written().empty());
  f.client.Tick(Now{f.now.mono_ns + 60 * kSecond, 0});
  f.Quiet();
}

TEST_CASE("S3 a program that floods is no agent, and that is said at once") {
  const auto flood = [](Fixture& f, const std::string& piece) {
    for (int i = 0; i < 100'000; ++i) {
      f.client.Feed(piece);
      while (const auto event = f.client.Next()) {
        if (const auto* failed = std::get_if<HandshakeFailed>(&*event)) {
          CHECK(failed->why == HandshakeFailed::Why::kNotAcp);
          CHECK(failed->says.starts_with("does not speak ACP: it wrote "));
          return true;
        }
      }
    }
    return false;
  };
  SUBCASE("many lines") {
    Fixture f;
    f.Initialize();
    CHECK(flood(f, "y\n"));
    CHECK(f.client.stray_lines() == 10'001);
    // Once.
    CHECK_FALSE(flood(f, "y\n"));
  }
  SUBCASE("long lines") {
    Fixture f;
    f.Initialize();
    CHECK(flood(f, std::string(100'000, 'y') + "\n"));
    CHECK(f.client.stray_lines() == 42);
  }
  SUBCASE("a line that never ends") {
    Client::Limits limits;
    limits.peer.line_bytes = 8 << 20;
    Fixture f(limits);
    f.Initialize();
    CHECK(flood(f, std::string(100'000, 'y')));
  }
  SUBCASE("after the handshake it is noise") {
    Fixture f;
    f.Ready();
    CHECK_FALSE(flood(f, "y\n"));
    CHECK(f.client.ready());
  }
}

TEST_CASE("A1 a session is made; what was told of it before its answer follows") {
  Fixture f;
  f.Ready();
  const auto call = f.NewSession();
  REQUIRE(call.ok());
  CHECK(f.Written() ==
        R"({"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/x","mcpServers":[]}})"
        "\n");
  CHECK(f.client.Deadline() == f.now.mono_ns + 120 * kSecond);
  f.Line(Chunk("new", "early"));
  f.Line(Chunk("other", "of nobody"));
  f.Quiet();
  f.Line(R"({"id":2,"result":{"sessionId":"new","modes":null}})");
  const auto made = f.Expect<SessionOpened>();
  CHECK(made.call == *call);
  CHECK(made.session == "new");
  CHECK(made.how == SessionOpened::How::kNew);
  CHECK(made.raw.text() == R"({"sessionId":"new","modes":null})");
  CHECK(f.client.has("new"));
  const auto early = f.Expect<Updated>();
  CHECK(early.session == "new");
  CHECK(WordsOf(std::get<ContentChunk>(early.update).content) == "early");
  CHECK(f.Expect<Skipped>().why == "it told of session other, which is not open (agent_message_chunk)");
  f.Quiet();
}

TEST_CASE("A1 a session that is not made") {
  Fixture f;
  f.Ready();
  const auto call = f.NewSession();
  SUBCASE("it wants to be signed in") {
    f.Line(
        R"({"id":2,"error":{"code":-32000,"message":"Authentication required","data":{"authMethods":[]}}})");
    const auto failed = f.Expect<CallFailed>();
    CHECK(failed.call == *call);
    CHECK(failed.method == "session/new");
    CHECK(failed.code == kAuthenticationRequired);
    CHECK(failed.failure == "it wants to be signed in first: Authentication required (code -32000)");
  }
  SUBCASE("an answer without a session") {
    f.Line(R"({"id":2,"result":null})");
    CHECK(f.Expect<CallFailed>().failure == "the answer to session/new needs `sessionId`: a text");
  }
  SUBCASE("no answer") {
    f.client.Tick(Now{f.now.mono_ns + 120 * kSecond, 0});
    const auto failed = f.Expect<CallFailed>();
    CHECK(failed.code == 0);
    CHECK(failed.failure == "it did not answer in time");
  }
  SUBCASE("the agent is gone") {
    f.client.End("signal 11");
    const auto failed = f.Expect<CallFailed>();
    CHECK(failed.code == 0);
    CHECK(failed.failure == "signal 11");
    CHECK_FALSE(f.client.ready());
  }
  f.Quiet();
}

TEST_CASE("A2 limits that are as long as one likes") {
  Client::Limits limits;
  limits.handshake_ns = limits.session_ns = limits.call_ns = kNever;
  Fixture f(limits);
  f.Initialize();
  CHECK(f.client.Deadline() == kNever);
}

TEST_CASE("A1 a turn: its updates, then its end, then what still comes") {
  Fixture f;
  f.Ready();
  const uint64_t call = f.Prompting();
  CHECK(f.client.prompting("s"));
  CHECK_FALSE(f.client.prompting("t"));
  CHECK(f.client.Prompt({"s", {}, {}}).status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(MessageOf(f.client.Prompt({"s", {}, {}}).status()) == "session s is answering: one prompt at a time");
  CHECK(f.Written().empty());
  const uint64_t other = f.Prompting("t");
  CHECK(f.client.Deadline() == kNever);
  f.Line(Chunk("s", "1"));
  f.Line(Chunk("nobody", "2"));
  f.Line(R"({"id":)" + std::to_string(call) + R"(,"result":{"stopReason":"end_turn","usage":{}}})");
  f.Line(Chunk("s", "3"));
  CHECK(f.Expect<Updated>().session == "s");
  CHECK(f.Expect<Skipped>().why == "it told of session nobody, which is not open (agent_message_chunk)");
  CHECK(f.client.prompting("s"));
  const auto over = f.Expect<PromptEnded>();
  CHECK(over.call == call);
  CHECK(over.session == "s");
  CHECK(over.stop_reason == "end_turn");
  CHECK(over.failure.empty());
  CHECK_FALSE(f.client.prompting("s"));
  CHECK(WordsOf(std::get<ContentChunk>(f.Expect<Updated>().update).content) == "3");
  CHECK(f.client.prompting("t"));
  CHECK(f.Prompting() != other);
}

TEST_CASE("A1 a turn that fails says what the agent says") {
  Fixture f;
  f.Ready();
  const uint64_t call = f.Prompting();
  const std::string head = R"({"id":)" + std::to_string(call) + ",";
  std::string says;
  SUBCASE("with details") {
    f.Line(head +
           R"("error":{"code":-32603,"message":"Internal error","data":{"details":"model is down"}}})");
    says = "Internal error: model is down (code -32603)";
  }
  SUBCASE("with a message beside it") {
    f.Line(head + R"("error":{"code":-32603,"message":"Internal error","data":{"message":"503","x":1}}})");
    says = "Internal error: 503 (code -32603)";
  }
  SUBCASE("with a text beside it") {
    f.Line(head + R"("error":{"code":-32603,"message":"Internal error","data":"503"}})");
    says = "Internal error: 503 (code -32603)";
  }
  SUBCASE("said twice") {
    f.Line(head + R"("error":{"code":7,"message":"it is down: 503","data":"503"}})");
    says = "it is down: 503 (code 7)";
  }
  SUBCASE("without a word") {
    f.Line(head + R"("error":{"code":-32603,"message":""}})");
    says = "it gave no reason (code -32603)";
  }
  SUBCASE("an answer without a reason") {
    f.Line(head + R"("result":{"stopReason":""}})");
    says = "the answer to session/prompt holds an empty stopReason";
  }
  SUBCASE("gone") {
    f.client.End("exit code 1");
    says = "exit code 1";
  }
  SUBCASE("gone after a cancel") {
    (void)f.client.Cancel("s");
    f.client.End("exit code 1");
    says = "exit code 1";
  }
  const auto over = f.Expect<PromptEnded>();
  CHECK(over.stop_reason.empty());
  CHECK(over.failure == says);
  f.Quiet();
}

TEST_CASE("A1 permissions: one of the options, once") {
  Fixture f;
  f.Ready();
  (void)f.Prompting();
  const uint64_t request = f.Asked("\"id-7\"");
  const absl::Status odd = f.client.AnswerPermission(request, "maybe");
  CHECK(odd.code() == absl::StatusCode::kInvalidArgument);
  CHECK(MessageOf(odd) == "\"maybe\" was not offered; these were: y, na, n");
  CHECK(f.Written().empty());
  REQUIRE(f.client.AnswerPermission(request, "y").ok());
  CHECK(f.Written() ==
        R"({"jsonrpc":"2.0","id":"id-7","result":{"outcome":{"outcome":"selected","optionId":"y"}}})"
        "\n");
  CHECK(f.client.AnswerPermission(request, "y").code() == absl::StatusCode::kNotFound);
  CHECK(f.client.RefusePermission(request).status().code() == absl::StatusCode::kNotFound);
  CHECK(f.client.AnswerPermission(999, "y").code() == absl::StatusCode::kNotFound);
  CHECK(f.Written().empty());
  f.Quiet();
}

TEST_CASE("A1 permissions: refused by the kind of the option") {
  Fixture f;
  f.Ready();
  (void)f.Prompting();
  const auto refused = [&](const std::string& options) {
    f.Line(
        R"({"id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[)" +
        options + "]}}");
    const auto chosen = f.client.RefusePermission(f.Expect<PermissionAsked>().request);
    REQUIRE(chosen.ok());
    CHECK(f.Written() ==
          (*chosen ? R"({"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":")" +
                         **chosen + "\"}}}\n"
                   : std::string(R"({"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"cancelled"}}})") +
                         "\n"));
    return chosen->value_or("-");
  };
  const std::string always = R"({"optionId":"ra","name":"","kind":"reject_always"})";
  const std::string once = R"({"optionId":"ro","name":"","kind":"reject_once"})";
  const std::string allow = R"({"optionId":"reject","name":"Reject","kind":"allow_once"})";
  CHECK(refused(allow + "," + always + "," + once) == "ro");
  CHECK(refused(allow + "," + always) == "ra");
  CHECK(refused(allow) == "-");
  CHECK(refused("") == "-");
  // One id for a yes and a no.
  CHECK(
      refused(
          R"({"optionId":"x","name":"","kind":"allow_once"},{"optionId":"x","name":"","kind":"reject_once"})") ==
      "-");
}

TEST_CASE("A1 permissions: one that cannot be read is answered with an error") {
  Fixture f;
  f.Ready();
  f.Line(
      R"({"id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"}}})");
  CHECK(f.Expect<Skipped>().why == "session/request_permission needs `options`: a list");
  CHECK(
      f.Written() ==
      R"({"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"session/request_permission needs `options`: a list"}})"
      "\n");
}

TEST_CASE("A1 permissions: the same id twice is two requests") {
  Fixture f;
  f.Ready();
  (void)f.Prompting();
  const uint64_t first = f.Asked("0"), second = f.Asked("0");
  CHECK(first != second);
  CHECK(f.client.AnswerPermission(second, "y").ok());
  CHECK(f.client.AnswerPermission(first, "n").ok());
  CHECK(f.Written() ==
        R"({"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"y"}}})"
        "\n"
        R"({"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"n"}}})"
        "\n");
}

TEST_CASE("A1 permissions: the agent takes one back") {
  Fixture f;
  f.Ready();
  (void)f.Prompting();
  const uint64_t kept = f.Asked("1"), taken = f.Asked("\"1\"");
  f.Line(R"({"method":"$/cancel_request","params":{"requestId":"1"}})");
  f.Line(R"({"method":"$/cancel_request","params":{"requestId":99}})");
  f.Line(R"({"method":"$/cancel_request"})");
  f.Line(R"({"method":"$/other","params":{"requestId":1}})");
  const auto closed = f.Expect<PermissionClosed>();
  CHECK(closed.request == taken);
  CHECK(closed.session == "s");
  f.Quiet();
  CHECK(f.Written() == R"({"jsonrpc":"2.0","id":"1","result":{"outcome":{"outcome":"cancelled"}}})"
                       "\n");
  CHECK(f.client.AnswerPermission(taken, "y").code() == absl::StatusCode::kNotFound);
  CHECK(f.client.AnswerPermission(kept, "y").ok());
}

TEST_CASE("A1 permissions: the agent is gone") {
  Fixture f;
  f.Ready();
  const uint64_t call = f.Prompting();
  const uint64_t first = f.Asked("0"), second = f.Asked("1");
  f.client.End("signal 9");
  CHECK(f.client.AnswerPermission(first, "y").code() == absl::StatusCode::kNotFound);
  CHECK(f.client.RefusePermission(first).status().code() == absl::StatusCode::kNotFound);
  CHECK(f.Expect<PromptEnded>().call == call);
  CHECK(f.Expect<PermissionClosed>().request == first);
  CHECK(f.Expect<PermissionClosed>().request == second);
  f.Quiet();
  CHECK(f.client.AnswerPermission(second, "y").code() == absl::StatusCode::kNotFound);
  CHECK(f.Written().empty());
}

TEST_CASE("A1 permissions: there is a bound to how many are open") {
  Fixture f;
  f.Ready();
  (void)f.Prompting();
  for (int i = 0; i < 1000; ++i) (void)f.Asked(std::to_string(i));
  f.Line(R"({"jsonrpc":"2.0","id":1000,)" + std::string(kAsk) + "}");
  CHECK(f.Expect<Skipped>().why ==
        "it asked for session/request_permission while 1000 of its requests are open");
  CHECK(f.Written() ==
        R"({"jsonrpc":"2.0","id":1000,"error":{"code":-32603,"message":"1000 requests are open already"}})"
        "\n");
  CHECK(f.client.AnswerPermission(1, "y").ok());
  (void)f.Asked("1001");
}

TEST_CASE("A1 cancel: the agent is told first, then its open requests are answered") {
  Fixture f;
  f.Ready();
  const uint64_t call = f.Prompting();
  (void)f.Prompting("t");
  const uint64_t one = f.Asked("0"), two = f.Asked("\"b\"");
  f.Line(
      R"({"id":9,"method":"session/request_permission","params":{"sessionId":"t","toolCall":{"toolCallId":"c"},"options":[]}})");
  const uint64_t elsewhere = f.Expect<PermissionAsked>().request;
  CHECK(f.client.Cancel("s") == std::vector<uint64_t>{one, two});
  CHECK(f.Written() == R"({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}})"
                       "\n"
                       R"({"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}})"
                       "\n"
                       R"({"jsonrpc":"2.0","id":"b","result":{"outcome":{"outcome":"cancelled"}}})"
                       "\n");
  f.Quiet();
  CHECK(f.client.AnswerPermission(one, "y").code() == absl::StatusCode::kNotFound);
  CHECK(f.client.prompting("s"));
  const std::string head = R"({"id":)" + std::to_string(call) + ",";
  f.Line(Chunk("s", "last words"));
  SUBCASE("cancelled") { f.Line(head + R"("result":{"stopReason":"cancelled"}})"); }
  SUBCASE("an error is taken for it") { f.Line(head + R"("error":{"code":-32603,"message":"aborted"}})"); }
  SUBCASE("so is an answer that says nothing") { f.Line(head + R"("result":null})"); }
  SUBCASE("and one that holds nothing") { f.Line(head + R"("error":null})"); }
  CHECK(f.Expect<Updated>().session == "s");
  const auto over = f.Expect<PromptEnded>();
  CHECK(over.stop_reason == "cancelled");
  CHECK(over.failure.empty());
  CHECK(f.client.RefusePermission(elsewhere).ok());
}

TEST_CASE("A1 cancel: the turn ended otherwise meanwhile, or there is none") {
  Fixture f;
  f.Ready();
  CHECK(f.client.Cancel("s").empty());
  CHECK(f.Written().empty());
  const uint64_t call = f.Prompting();
  (void)f.client.Cancel("s");
  f.Line(R"({"id":)" + std::to_string(call) + R"(,"result":{"stopReason":"end_turn"}})");
  CHECK(f.Expect<PromptEnded>().stop_reason == "end_turn");
  (void)f.Written();
  CHECK(f.client.Cancel("s").empty());
  CHECK(f.Written().empty());
}

TEST_CASE("A1 cancel: what is asked in a turn that was cancelled is cancelled too") {
  Fixture f;
  f.Ready();
  const uint64_t call = f.Prompting();
  (void)f.client.Cancel("s");
  (void)f.Written();
  f.Line(R"({"jsonrpc":"2.0","id":4,)" + std::string(kAsk) + "}");
  CHECK(f.Expect<Skipped>().why == "it asked for permission in a turn that was cancelled");
  CHECK(f.Written() == R"({"jsonrpc":"2.0","id":4,"result":{"outcome":{"outcome":"cancelled"}}})"
                       "\n");
  f.Line(R"({"id":)" + std::to_string(call) + R"(,"result":{"stopReason":"cancelled"}})");
  (void)f.Expect<PromptEnded>();
  (void)f.Prompting();
  (void)f.Asked("5");
}

TEST_CASE("A1 what is not offered is refused, what is not known is let go") {
  Fixture f;
  f.Ready();
  for (const char* method :
       {"fs/read_text_file", "terminal/create", "craft/drainMidTurnQueue", "initialize"}) {
    f.Line(R"({"id":"u","params":{},"method":")" + std::string(method) + "\"}");
    CHECK(f.Expect<Skipped>().why == "it asked for " + std::string(method) + ", which is not offered");
    CHECK(f.Written() == R"({"jsonrpc":"2.0","id":"u","error":{"code":-32601,"message":"Method not found: )" +
                             std::string(method) + "\"}}\n");
  }
  f.Line(R"({"method":"_auth/status_update","params":{}})");
  const auto notified = f.Expect<Notified>();
  CHECK(notified.method == "_auth/status_update");
  CHECK(notified.params.text() == "{}");
  f.Line(
      R"({"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan_v9","x":[1.50]}}})");
  const auto told = f.Expect<Updated>();
  CHECK(KindOf(told.update) == "plan_v9");
  CHECK(told.raw.text() == R"({"sessionUpdate":"plan_v9","x":[1.50]})");
  f.Line(R"({"method":"session/update","params":{"sessionId":"s"}})");
  const auto skipped = f.Expect<Skipped>();
  CHECK(skipped.why == "session/update needs `update.sessionUpdate`: the kind of the update");
  CHECK(skipped.line.empty());
  f.Line(R"({"id":null,"error":{"code":-32700,"message":"Parse error"}})");
  CHECK(f.Expect<Skipped>().why == "it answered a request that nobody waits for");
  CHECK(f.client.ready());
  f.Quiet();
  CHECK(f.Written().empty());
}

TEST_CASE("A3 a line that is too long is named with its length, and the next one is read") {
  Client::Limits limits;
  limits.peer.line_bytes = 1000;
  Fixture f(limits);
  f.Ready();
  f.Line(Chunk("s", std::string(2000, 'x')));
  f.Line(Chunk("s", "small"));
  CHECK(f.Expect<Skipped>().why.ends_with(" bytes is longer than the 1000 that are taken"));
  CHECK(f.Expect<Updated>().session == "s");
  // Three megabytes are not too long.
  Fixture g;
  g.Ready();
  g.Line(Chunk("s", std::string(3 << 20, 'x')));
  g.Line(Chunk("s", "small"));
  CHECK(WordsOf(std::get<ContentChunk>(g.Expect<Updated>().update).content)->size() == 3 << 20);
  CHECK(WordsOf(std::get<ContentChunk>(g.Expect<Updated>().update).content) == "small");
}

}  // namespace
}  // namespace watchbill::acp
