// Messages of an agent, one a line, with what the client makes of them (see README.md).
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "acp_again.hpp"
#include "acp_pieces.hpp"
#include "acp_recording.hpp"
#include "acp_replay.hpp"
#include "acp_words.hpp"
#include "json_document.hpp"
#include "seeded.hpp"
#include "watchbill/acp/client.hpp"
#include "watchbill/acp/encode.hpp"

namespace watchbill::acp {
namespace {

using Lines = std::vector<std::string>;

struct Golden {
  std::string in;  // the bytes of the agent, newlines included
  Lines reads;     // what the client says of them, in order
};

Golden Conversation(const std::string& name) {
  std::ifstream file(std::string(WATCHBILL_GOLDEN_DIR) + "/acp/" + name);
  Golden golden;
  json::Document document;
  for (std::string line; std::getline(file, line);) {
    CAPTURE(line);
    REQUIRE(document.Parse(line).ok());
    golden.in.append(*document.root()["in"].AsString()).append("\n");
    const json::Value reads = document.root()["reads"];
    for (json::Value v = reads.First(); !v.absent(); v = v.Next()) golden.reads.emplace_back(*v.AsString());
  }
  REQUIRE(golden.reads.size() > 3);
  return golden;
}

// A client that has asked for a handshake, a session and, once it has it, a turn.
struct Listener {
  Client client;
  Lines says;
  Listener() { REQUIRE(client.Initialize({}, Now{}).ok()); }
  void Drain() {
    while (const auto event = client.Next()) {
      says.push_back(golden::InWords(*event));
      if (std::holds_alternative<HandshakeDone>(*event)) {
        NewSessionRequest request;
        request.cwd = "/project";
        REQUIRE(client.NewSession(request, Now{}).ok());
      } else if (const auto* made = std::get_if<SessionOpened>(&*event)) {
        const std::string session(made->session);
        PromptRequest request;
        request.session_id = session;
        REQUIRE(client.Prompt(request).ok());
      }
    }
  }
};

Lines Heard(const std::vector<std::string_view>& pieces) {
  Listener listener;
  for (const std::string_view piece : pieces) {
    listener.client.Feed(piece);
    listener.Drain();
  }
  return listener.says;
}

TEST_CASE("A1 A3 a golden conversation is read as it is meant, whatever its pieces") {
  const Golden golden = Conversation("conversation.ndjson");
  const std::string_view all = golden.in;
  CHECK(Heard({all}) == golden.reads);
  std::vector<std::string_view> bytes;
  for (size_t at = 0; at < all.size(); ++at) bytes.push_back(all.substr(at, 1));
  CHECK(Heard(bytes) == golden.reads);
  for (size_t at = 0; at < all.size(); ++at) {
    if (Heard({all.substr(0, at), all.substr(at)}) == golden.reads) continue;
    CAPTURE(at);
    FAIL_CHECK("another reading where it is split there");
  }
}

TEST_CASE("A3 bytes behind a golden conversation wait, and a part of it says a part") {
  const Golden golden = Conversation("conversation.ndjson");
  Listener listener;
  listener.client.Feed(golden.in + "{\"jsonrpc\":\"2.0\",\"met");
  listener.Drain();
  CHECK(listener.says == golden.reads);
  listener.client.Feed("hod\":\"session/update\"}\n");
  listener.Drain();
  REQUIRE(listener.says.size() == golden.reads.size() + 1);
  CHECK(listener.says.back() == "skipped: session/update needs `sessionId`: a text");
  for (size_t n = 0; n < golden.in.size(); n += 7) {
    const Lines part = Heard({std::string_view(golden.in).substr(0, n)});
    REQUIRE(part.size() <= golden.reads.size());
    CHECK(std::equal(part.begin(), part.end(), golden.reads.begin()));
  }
}

TEST_CASE("A1 every golden update is read and written as it stands") {
  std::ifstream file(std::string(WATCHBILL_GOLDEN_DIR) + "/acp/updates.ndjson");
  size_t lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    CAPTURE(line);
    Client client;
    json::Document document;
    REQUIRE(document.Parse(line).ok());
    client.Adopt(*document.root()["sessionId"].AsString(), {});
    client.Feed(R"({"jsonrpc":"2.0","method":"session/update","params":)" + line + "}\n");
    const auto event = client.Next();
    REQUIRE(event.has_value());
    REQUIRE(std::holds_alternative<Updated>(*event));
    CHECK(golden::InWords(*event) == "update " + line);
  }
  CHECK(lines >= 14);
}

// What of the talks is not played as it was written down: a client tried what it may not, or was late.
const std::map<std::string, size_t> kNotes = {
    {"refused, session/list: the agent does not offer session/list", 1},
    {"refused, session/set_mode: \"sleep\" is no mode of session …", 1},
    {"the Client has answered by itself: noisy/queue", 1},
    {"the cancel has answered already: session/request_permission", 2}};

TEST_CASE("A1 A2 the golden talks are heard as they are meant, entry by entry") {
  std::map<std::string, size_t> notes;
  const auto talks = golden::Talks();
  CHECK(talks.size() >= 5);
  for (const golden::Recording& talk : talks) {
    CAPTURE(talk.name);
    const golden::Replay replay(talk);
    for (const auto& [note, count] : replay.notes()) notes[note] += count;
    size_t told = 0;
    const auto until = [&](size_t upto) {
      const auto begin = replay.words().begin();
      const Lines part(begin + static_cast<long>(told), begin + static_cast<long>(upto));
      told = upto;
      return part;
    };
    for (size_t at = 0; at < talk.entries.size(); ++at) {
      CAPTURE(talk.entries[at].line);
      const Lines heard = until(replay.told_after()[at]);
      CHECK_MESSAGE(heard == talk.entries[at].reads, (heard.empty() ? "" : heard.back()));
    }
    CHECK(until(replay.words().size()) == talk.ends);
  }
  CHECK(notes == kNotes);
}

TEST_CASE("A1 every message of the golden talks is read, written and read again as the same") {
  size_t messages = 0;
  for (const golden::Recording& talk : golden::Talks()) {
    CAPTURE(talk.name);
    for (const golden::Entry& entry : talk.entries) {
      const golden::MessageType* type = golden::TypeOf(entry);
      // One of them is there because it cannot be read, which its `reads` says.
      const bool broken =
          entry.reads.size() == 1 && entry.reads[0].starts_with("skipped: session/update needs");
      if (type == nullptr || broken) continue;
      CAPTURE(entry.line);
      // A word that is in no list is heard, and not written.
      const bool own_word = entry.line.find(R"("status":"someday")") != std::string::npos;
      const std::string problem = own_word ? "another structure the second time" : "";
      CHECK(type->again(JsonView::Trusted(golden::BodyOf(entry))).problem == problem);
      ++messages;
    }
  }
  CHECK(messages > 150);
}

TEST_CASE("A3 the golden talks are heard as the same, whatever their pieces") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  golden::Splits splits(random);
  for (const golden::Recording& talk : golden::Talks()) {
    CAPTURE(talk.name);
    const golden::Replay replay(talk);
    CHECK(replay.Differs({}) == "");
    CHECK(replay.Differs(golden::EveryByte(replay)) == "");
    for (int i = 0; i < 20; ++i) {
      CHECK(replay.Differs(golden::RandomCuts(replay, 1 + random.Below(1'000), random)) == "");
    }
    splits.Check(replay);
  }
  CHECK(splits.count() > 10'000);
}

}  // namespace
}  // namespace watchbill::acp
