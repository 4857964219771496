// Sign-in, sessions and their settings.
#include "client_fixture.hpp"

namespace watchbill::acp {
namespace {

// An agent that offers this.
struct With : Fixture {
  explicit With(const std::string& members) {
    Initialize();
    Line(R"({"id":1,"result":{"protocolVersion":1,)" + members + "}}");
    (void)Expect<HandshakeDone>();
    (void)Written();
  }
};

const std::string kAll =
    R"("agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true},"auth":{"logout":{}},"sessionCapabilities":{"list":{},"delete":{},"resume":{},"close":{}}})";

std::string Refused(const absl::StatusOr<uint64_t>& call) {
  return call.ok() ? "asked" : std::string(MessageOf(call.status()));
}
LoadSessionRequest Old(Text session = "old") {
  LoadSessionRequest request;
  request.session_id = session;
  request.cwd = "/x";
  return request;
}

TEST_CASE("A1 what an agent does not offer is not asked of it") {
  With f(R"("agentCapabilities":{"sessionCapabilities":{"list":null,"close":7}})");
  f.client.Adopt("s", {});
  CHECK(Refused(f.client.Logout(f.now)) == "the agent does not offer logout");
  CHECK(Refused(f.client.LoadSession(Old(), f.now)) == "the agent does not offer session/load");
  CHECK(Refused(f.client.ResumeSession(Old(), f.now)) == "the agent does not offer session/resume");
  CHECK(Refused(f.client.ListSessions({}, f.now)) == "the agent does not offer session/list");
  CHECK(Refused(f.client.CloseSession("s", f.now)) == "the agent does not offer session/close");
  CHECK(Refused(f.client.DeleteSession("s", f.now)) == "the agent does not offer session/delete");
  PromptRequest request;
  request.session_id = "s";
  for (const ContentBlock& block :
       {ContentBlock(ImageContent{}), ContentBlock(AudioContent{}), ContentBlock(EmbeddedResource{}),
        ContentBlock(UnknownContent{"hologram", {}})}) {
    request.prompt = {block};
    CHECK(Refused(f.client.Prompt(request)) ==
          "the agent does not take content of type " + std::string(TypeOf(block)) + " in prompts");
  }
  CHECK(f.Written().empty());
  request.prompt = {ResourceLink{"n", "file:///n", {}, {}, {}, {}, {}, {}}};
  CHECK(f.client.Prompt(request).ok());
}

TEST_CASE("A1 signing in: by a method of the agent, and never by one that is a command for a terminal") {
  With f(
      R"("authMethods":[{"id":"key","name":"Key"},{"type":"terminal","id":"tty","name":"T","args":["login"]},)"
      R"({"type":"env_var","id":"env","name":"E","vars":[{"name":"KEY"}]},{"name":"no id"}])");
  CHECK(Refused(f.client.Authenticate("tty")).find("a command to run at a terminal") != std::string::npos);
  CHECK(Refused(f.client.Authenticate("nope")) ==
        "\"nope\" is no way to sign in to this agent; those are: key, tty, env");
  const auto call = f.client.Authenticate("key");
  REQUIRE(call.ok());
  CHECK(f.Written() == R"({"jsonrpc":"2.0","id":2,"method":"authenticate","params":{"methodId":"key"}})"
                       "\n");
  CHECK(f.client.Deadline() == kNever);  // a person is part of it
  f.Line(R"({"id":2,"result":{}})");
  const auto done = f.Expect<CallDone>();
  CHECK(done.call == *call);
  CHECK(done.method == "authenticate");
  CHECK(f.client.Authenticate("env").ok());
}

TEST_CASE("A1 a session is loaded: its past comes first, and is marked; an answer of null is one") {
  With f(kAll);
  const auto call = f.client.LoadSession(Old(), f.now);
  REQUIRE(call.ok());
  CHECK(Refused(f.client.LoadSession(Old(), f.now)).find("is in use") != std::string::npos);
  CHECK_FALSE(f.client.has("old"));
  CHECK(Refused(f.client.Prompt({"old", {}, {}})) == "no session old is open with this agent");
  CHECK(Refused(f.client.LoadSession(Old(""), f.now)) == "no session has an empty id");
  CHECK(Refused(f.client.ResumeSession(Old(""), f.now)) == "no session has an empty id");
  f.Line(Chunk("old", "said before"));
  CHECK(f.Expect<Updated>().past);
  SUBCASE("null") { f.Line(R"({"id":2,"result":null})"); }
  SUBCASE("an object") { f.Line(R"({"id":2,"result":{}})"); }
  const auto opened = f.Expect<SessionOpened>();
  CHECK(opened.how == SessionOpened::How::kLoaded);
  CHECK(opened.session == "old");
  CHECK(opened.call == *call);
  CHECK(f.client.has("old"));
  f.Line(Chunk("old", "news"));
  CHECK_FALSE(f.Expect<Updated>().past);
  // Again, as after a disagreement about what was said.
  CHECK(f.client.LoadSession(Old(), f.now).ok());
  CHECK(Refused(f.client.LoadSession(Old(), f.now)).find("is in use") != std::string::npos);
  CHECK(Refused(f.client.CloseSession("old", f.now)) == "session old is being loaded");
  CHECK(Refused(f.client.Prompt({"old", {}, {}})) == "session old is being loaded");
  f.Line(Chunk("old", "said before"));
  CHECK(f.Expect<Updated>().past);
  f.Line(R"({"id":3,"error":{"code":-32002,"message":"gone"}})");
  CHECK(f.Expect<CallFailed>().code == kResourceNotFound);
  CHECK(f.client.has("old"));  // it was open before
}

TEST_CASE("A1 a session that cannot be loaded or resumed is not there") {
  With f(kAll);
  bool load = false;
  SUBCASE("loaded") { load = true; }
  SUBCASE("resumed") {}
  const auto call = load ? f.client.LoadSession(Old(), f.now) : f.client.ResumeSession(Old(), f.now);
  REQUIRE(call.ok());
  f.Line(R"({"id":2,"error":{"code":-32002,"message":"Resource not found"}})");
  const auto failed = f.Expect<CallFailed>();
  CHECK(failed.session == "old");
  CHECK(failed.code == kResourceNotFound);
  CHECK_FALSE(f.client.has("old"));
  f.Line(Chunk("old", "late"));
  (void)f.Expect<Skipped>();
  CHECK(f.client.ResumeSession(Old(), f.now).ok());
  f.Line(R"({"id":3,"result":{"modes":{"currentModeId":"m","availableModes":[]}}})");
  CHECK(f.Expect<SessionOpened>().how == SessionOpened::How::kResumed);
  CHECK(f.client.mode("old") == "m");
  CHECK(Refused(f.client.ResumeSession(Old(), f.now)) == "session old is open already");
}

TEST_CASE("A1 early updates have a bound, and an agent may not give one id twice") {
  Client::Limits limits;
  limits.early_updates = 2;
  Fixture f(limits);
  f.Ready();
  REQUIRE(f.NewSession().ok());
  for (const char* text : {"1", "2", "3"}) f.Line(Chunk("n", text));
  CHECK(f.Expect<Skipped>().why.find("session n, which is not open") != std::string::npos);
  f.Line(R"({"id":2,"result":{"sessionId":"n"}})");
  (void)f.Expect<SessionOpened>();
  CHECK(WordsOf(std::get<ContentChunk>(f.Expect<Updated>().update).content) == "1");
  CHECK(WordsOf(std::get<ContentChunk>(f.Expect<Updated>().update).content) == "2");
  f.Quiet();
  for (const char* answer :
       {R"({"id":3,"result":{"sessionId":"n"}})", R"({"id":4,"result":{"sessionId":""}})"}) {
    REQUIRE(f.NewSession().ok());
    f.Line(answer);
    CHECK(f.Expect<CallFailed>().code == kInvalidParams);
  }
  CHECK(f.client.has("n"));
}

TEST_CASE("A1 sessions are listed page by page") {
  With f(kAll);
  ListSessionsRequest request;
  request.cursor = "next";
  REQUIRE(f.client.ListSessions(request, f.now).ok());
  CHECK(f.Written() == R"({"jsonrpc":"2.0","id":2,"method":"session/list","params":{"cursor":"next"}})"
                       "\n");
  CHECK(f.client.Deadline() == f.now.mono_ns + 60 * kSecond);
  f.Line(
      R"({"id":2,"result":{"sessions":[{"sessionId":"a","cwd":"/a","title":"A"},{"cwd":"/b"}],"nextCursor":"c"}})");
  const auto page = std::get<ListSessionsResponse>(f.Expect<CallDone>().says);
  REQUIRE(page.sessions.size() == 1);
  CHECK(page.sessions[0].title == "A");
  CHECK(page.next_cursor == "c");
}

TEST_CASE("A1 a session that is closed or deleted is no more: its turn and its questions end with it") {
  With f(kAll);
  bool close = false;
  SUBCASE("closed") { close = true; }
  SUBCASE("deleted") {}
  const uint64_t prompt = f.Prompting();
  const uint64_t asked = f.Asked("\"p\"");
  const auto call = close ? f.client.CloseSession("s", f.now) : f.client.DeleteSession("s", f.now);
  REQUIRE(call.ok());
  const std::string name = close ? "close" : "delete";
  CHECK(f.Written() == R"({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}})"
                       "\n"
                       R"({"jsonrpc":"2.0","id":"p","result":{"outcome":{"outcome":"cancelled"}}})"
                       "\n"
                       R"({"jsonrpc":"2.0","id":3,"method":"session/)" +
                           name +
                           R"(","params":{"sessionId":"s"}})"
                           "\n");
  CHECK(f.Expect<PermissionClosed>().request == asked);
  CHECK(Refused(f.client.Prompt({"s", {}, {}})) == "session s is being closed");
  SUBCASE("done") {
    f.Line(R"({"id":3,"result":{}})");
    const auto done = f.Expect<CallDone>();
    CHECK(done.session == "s");
    CHECK(done.method == "session/" + name);
    const auto over = f.Expect<PromptEnded>();
    CHECK(over.call == prompt);
    CHECK(over.session == "s");
    CHECK(over.stop_reason == "cancelled");
    CHECK_FALSE(f.client.has("s"));
    f.Line(R"({"id":2,"result":{"stopReason":"cancelled"}})");
    f.Quiet();
  }
  SUBCASE("refused") {
    f.Line(R"({"id":3,"error":{"code":-32603,"message":"busy"}})");
    CHECK(f.Expect<CallFailed>().session == "s");
    f.Line(R"({"id":2,"error":{"code":-32603,"message":"aborted"}})");
    CHECK(f.Expect<PromptEnded>().stop_reason == "cancelled");
    CHECK(f.client.Prompt({"s", {}, {}}).ok());
  }
}

TEST_CASE("A1 one that is not open can be deleted, and not closed") {
  With f(kAll);
  CHECK(Refused(f.client.CloseSession("x", f.now)) == "no session x is open with this agent");
  CHECK(f.client.DeleteSession("x", f.now).ok());
}

TEST_CASE("A1 a session that is deleted and loaded at once is there when both were answered") {
  With f(kAll);
  REQUIRE(f.client.DeleteSession("old", f.now).ok());
  REQUIRE(f.client.LoadSession(Old(), f.now).ok());
  f.Line(R"({"id":2,"result":null})");
  CHECK(f.Expect<CallDone>().session == "old");
  f.Line(R"({"id":3,"result":null})");
  CHECK(f.Expect<SessionOpened>().session == "old");
  CHECK(f.client.has("old"));
}

TEST_CASE("A1 a new session with the id of another fails by itself") {
  With f(kAll);
  f.client.Adopt("old", {});
  REQUIRE(f.NewSession().ok());
  f.Line(R"({"id":2,"result":{"sessionId":"old"}})");
  const auto failed = f.Expect<CallFailed>();
  CHECK(failed.session == "");
  CHECK(failed.failure.find("which another one has") != std::string::npos);
  CHECK(f.client.has("old"));
}

TEST_CASE("A1 modes, options and models: only what the agent named, and by the way that it offers") {
  With f(kAll);
  REQUIRE(f.NewSession().ok());
  f.Line(
      R"({"id":2,"result":{"sessionId":"n","modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"},{"id":"b","name":"B"}]},)"
      R"("models":{"currentModelId":"m","availableModels":[{"modelId":"m"},{"modelId":"n","name":"N"}]},)"
      R"("configOptions":[{"id":"deep","name":"Deep","type":"boolean","currentValue":false},)"
      R"({"id":"odd","name":"Odd","type":"slider"},)"
      R"({"id":"pace","name":"Pace","type":"select","currentValue":"slow","options":[{"group":"g","name":"G","options":[{"value":"slow","name":"S"},{"value":"fast","name":"F"}]}]}]}})");
  CHECK(f.Expect<SessionOpened>().says.config_options->size() == 2);
  CHECK(f.client.mode("n") == "a");
  CHECK(Refused(f.client.SetMode("n", "c", f.now)) == "\"c\" is no mode of session n; those are: a, b");
  CHECK(Refused(f.client.SetModel("n", "x", f.now)) == "\"x\" is no model of session n; those are: m, n");
  CHECK(Refused(f.client.SetConfigOption("n", "x", true, f.now)) ==
        "\"x\" is no option of session n; those are: deep, pace");
  CHECK(Refused(f.client.SetConfigOption("n", "deep", Text("fast"), f.now)) ==
        "option \"deep\" is true or false");
  CHECK(Refused(f.client.SetConfigOption("n", "pace", true, f.now)) == "option \"pace\" is one of a list");
  CHECK(Refused(f.client.SetConfigOption("n", "pace", Text("x"), f.now)) ==
        "\"x\" is no value of option \"pace\"; those are: slow, fast");
  (void)f.Written();
  REQUIRE(f.client.SetMode("n", "b", f.now).ok());
  REQUIRE(f.client.SetModel("n", "n", f.now).ok());
  REQUIRE(f.client.SetConfigOption("n", "deep", true, f.now).ok());
  CHECK(
      f.Written() ==
      R"({"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{"sessionId":"n","modeId":"b"}})"
      "\n"
      R"({"jsonrpc":"2.0","id":4,"method":"session/set_model","params":{"sessionId":"n","modelId":"n"}})"
      "\n"
      R"({"jsonrpc":"2.0","id":5,"method":"session/set_config_option","params":{"sessionId":"n","configId":"deep","type":"boolean","value":true}})"
      "\n");
  f.Line(R"({"id":3,"result":null})");
  CHECK(f.Expect<CallDone>().result.absent());
  CHECK(f.client.mode("n") == "b");
  f.Line(
      R"({"method":"session/update","params":{"sessionId":"n","update":{"sessionUpdate":"current_mode_update","currentModeId":"a"}}})");
  (void)f.Expect<Updated>();
  CHECK(f.client.mode("n") == "a");
  f.Line(R"({"id":4,"result":{}})");
  (void)f.Expect<CallDone>();
  // All of them, each time; there is one for the model now.
  f.Line(
      R"({"id":5,"result":{"configOptions":[{"id":"model","category":"model","name":"M","type":"select","currentValue":"m","options":[{"value":"m","name":"M"}]}]}})");
  CHECK(std::get<SetSessionConfigOptionResponse>(f.Expect<CallDone>().says).config_options.size() == 1);
  CHECK(Refused(f.client.SetConfigOption("n", "deep", true, f.now)).find("those are: model") !=
        std::string::npos);
  CHECK(Refused(f.client.SetModel("n", "m", f.now)).find("has an option for its model") != std::string::npos);
  f.Line(
      R"({"method":"session/update","params":{"sessionId":"n","update":{"sessionUpdate":"config_option_update","configOptions":[]}}})");
  (void)f.Expect<Updated>();
  CHECK(f.client.SetModel("n", "m", f.now).ok());
  f.client.Adopt("bare", {});
  CHECK(Refused(f.client.SetMode("bare", "a", f.now)) == "session bare has no modes");
  CHECK(Refused(f.client.SetModel("bare", "a", f.now)) == "session bare offers no models");
  CHECK(Refused(f.client.SetConfigOption("bare", "a", true, f.now)) == "session bare has no options to set");
}

TEST_CASE("A2 requests and notifications of the caller's own; a call whose time is up is taken back") {
  With f(kAll);
  const auto call = f.client.Request("session/fork", R"({"sessionId":"s"})", 5 * kSecond, f.now);
  REQUIRE(call.ok());
  REQUIRE(f.client.Notify("_wind", "{}").ok());
  f.client.CancelCall(*call);
  CHECK(f.Written() == R"({"jsonrpc":"2.0","id":2,"method":"session/fork","params":{"sessionId":"s"}})"
                       "\n"
                       R"({"jsonrpc":"2.0","method":"_wind","params":{}})"
                       "\n"
                       R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}})"
                       "\n");
  SUBCASE("answered") {
    f.Line(Chunk("fork", "early"));
    f.Line(R"({"id":2,"result":{"sessionId":"fork"}})");
    CHECK(f.Expect<CallDone>().result.text() == R"({"sessionId":"fork"})");
    f.client.Adopt("fork", {});
    CHECK(f.Expect<Updated>().session == "fork");
  }
  SUBCASE("late") {
    f.client.Tick(Now{f.now.mono_ns + 5 * kSecond, 0});
    CHECK(f.Expect<CallFailed>().failure == "it did not answer in time");
    CHECK(f.Written() == R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}})"
                         "\n");
    f.Line(R"({"id":2,"result":{}})");
    CHECK(f.Expect<Skipped>().why == "it answered a request that nobody waits for");
  }
}

}  // namespace
}  // namespace watchbill::acp
