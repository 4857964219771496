// Recorded conversations with agents that others wrote, where there are some (acp_recording.hpp).
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "acp_again.hpp"
#include "acp_pieces.hpp"
#include "acp_recording.hpp"
#include "acp_replay.hpp"
#include "seeded.hpp"
#include "watchbill/acp/peer.hpp"
#include "watchbill/acp/read.hpp"

namespace watchbill::acp::golden {
namespace {

using From = Entry::From;
using What = Entry::What;
using Counts = std::map<std::string, size_t, std::less<>>;

// Once for all cases: half a megabyte of them is one line.
const std::vector<Recording>& All() {
  static const std::vector<Recording> all = Transcripts();
  return all;
}

std::string Table(const Counts& counts) {
  std::string out;
  for (const auto& [what, count] : counts) out.append("\n  " + std::to_string(count) + "  " + what);
  return out;
}

std::string Code(const std::string& error) {
  Reader reader;
  return std::to_string(reader.Read<RpcError>(JsonView::Trusted(error))->code);
}

// The recordings of which the counts below are; of others the reasons have to be the same.
constexpr size_t kRecordings = 46;

// Those that somebody made up, and those that are not stable: JSON, as it came.
const std::set<std::string, std::less<>> kUntyped = {
    "_auth/status_update",     "_probe/ext", "_probe/ext2",  "$/unknown",
    "craft/drainMidTurnQueue", "foo/bar",    "session/fork", "qwen/notify/session/mode-update"};
// What is not read as what it says it is: a probe of the recorded client's.
const Counts kUnreadable = {{"session/new needs `cwd`: a text", 7}};

TEST_CASE("A8 A1 every message of both directions is read, written and read again as the same") {
  if (All().empty()) return;
  Counts types, kinds, unreadable, untyped;
  Reader reader;
  for (const Recording& recording : All()) {
    CAPTURE(recording.name);
    for (const Entry& entry : recording.entries) {
      CAPTURE(entry.line.substr(0, 2'000));
      if (entry.what == What::kNoise) continue;
      const MessageType* type = TypeOf(entry);
      if (type == nullptr) {
        ++untyped[entry.method];
        CHECK_MESSAGE((kUntyped.contains(entry.method)), entry.method);
        continue;
      }
      const Again again = type->again(JsonView::Trusted(BodyOf(entry)));
      if (!again.problem.empty()) {
        ++unreadable[again.problem];
        CHECK_MESSAGE(kUnreadable.contains(again.problem), again.problem);
        continue;
      }
      ++types[std::string(type->name)];
      if (entry.method != "session/update") continue;
      const auto told = reader.Read<SessionNotification>(JsonView::Trusted(entry.body));
      REQUIRE(told.ok());
      CHECK_FALSE(std::holds_alternative<UnknownUpdate>(told->update));
      ++kinds[std::string(KindOf(told->update))];
    }
  }
  MESSAGE(All().size(), " transcripts, types:", Table(types), "\nkinds of updates:", Table(kinds),
          "\nwithout a type:", Table(untyped), "\nnot what they say:", Table(unreadable));
  if (All().size() == kRecordings) {
    CHECK(unreadable == kUnreadable);
    CHECK(types.size() >= 30);
    CHECK(kinds.size() >= 11);
    CHECK(untyped.size() == kUntyped.size());
  }
}

// What one side of a recording wrote, as the other end of the connection hears it.
void CheckDelivered(const Recording& recording, From from) {
  Peer peer;
  for (const Entry& entry : recording.entries) {
    if (entry.from != from) continue;
    CAPTURE(entry.line.substr(0, 2'000));
    peer.Feed(entry.line + "\n");
    const auto event = peer.Next();
    REQUIRE(event.has_value());
    if (entry.what == What::kRequest) {
      const auto* request = std::get_if<IncomingRequest>(&*event);
      REQUIRE(request != nullptr);
      CHECK(request->id.text() == entry.id);
      CHECK(request->method == entry.method);
      CHECK(request->params.text() == entry.body);
    } else if (entry.what == What::kNotification) {
      const auto* notification = std::get_if<IncomingNotification>(&*event);
      REQUIRE(notification != nullptr);
      CHECK(notification->method == entry.method);
      CHECK(notification->params.text() == entry.body);
    } else {
      const auto* stray = std::get_if<StrayLine>(&*event);
      REQUIRE(stray != nullptr);
      CHECK(stray->why ==
            (entry.what == What::kAnswer ? StrayLine::Why::kUnknownAnswer : StrayLine::Why::kNotJson));
    }
    CHECK_FALSE(peer.Next().has_value());
  }
}

TEST_CASE("A8 A2 whatever was asked or told comes with its method, id and params, known or not") {
  for (const Recording& recording : All()) {
    CAPTURE(recording.name);
    CheckDelivered(recording, From::kClient);
    CheckDelivered(recording, From::kAgent);
  }
}

// How the Client's calls and answers stand beside the recorded ones: the same, in the same order, but those
// that it refuses. Gives how many there are.
size_t CheckWritten(const Recording& recording, const Replay& replay) {
  std::map<std::string, const Entry*> answers;
  std::vector<const Entry*> calls;
  for (const Entry& entry : recording.entries) {
    if (entry.from != From::kClient || entry.what == What::kNoise) continue;
    if (entry.what == What::kAnswer) {
      answers[entry.id] = &entry;
    } else {
      calls.push_back(&entry);
    }
  }
  const auto same = [](const Entry& recorded, const Entry& written) {
    const MessageType* type = TypeOf(recorded);
    if (type == nullptr) return recorded.body == written.body;
    const Again again = type->again(JsonView::Trusted(BodyOf(recorded)));
    return (again.problem.empty() ? again.written : recorded.body) == written.body;
  };
  size_t refused = 0;
  auto call = calls.begin();
  for (const Entry& written : replay.written()) {
    CAPTURE(written.line.substr(0, 2'000));
    if (written.what == What::kAnswer) {
      const auto answer = answers.find(written.id);
      if (answer == answers.end()) continue;  // the recorded client was gone before it answered
      const Entry& recorded = *answer->second;
      if (written.error.empty()) {
        CHECK(same(recorded, written));
      } else {
        // A recorded client did what it had not offered to do.
        CHECK(Code(written.error) == (recorded.error.empty() ? "-32601" : Code(recorded.error)));
      }
      continue;
    }
    const auto next =
        std::find_if(call, calls.end(), [&](const Entry* one) { return one->method == written.method; });
    // A session whose turn runs is closed by a Client with a cancel before it.
    if (next == calls.end() && written.method == "session/cancel") continue;
    REQUIRE(next != calls.end());
    for (; call != next; ++call) ++refused;
    // Of "$/cancel_request" the id is another.
    if (written.method != "$/cancel_request") CHECK(same(**call, written));
    ++call;
  }
  refused += static_cast<size_t>(calls.end() - call);
  size_t noted = 0;
  for (const auto& [note, count] : replay.notes()) noted += note.starts_with("refused, ") ? count : 0;
  CHECK(refused == noted);
  return replay.written().size();
}

// What is not played as it was recorded: the recorded clients tried what agents do not offer, loaded or
// resumed what was open, and wrote lines that are no messages.
const Counts kNotes = {{"a line of the recorded client that is no message", 6},
                       {"as it stands, session/new: session/new needs `cwd`: a text", 7},
                       {"refused, session/close: the agent does not offer session/close", 1},
                       {"refused, session/list: the agent does not offer session/list", 2},
                       {"refused, session/load: session … is in use, and is not loaded meanwhile", 2},
                       {"refused, session/load: the agent does not offer session/load", 1},
                       {"refused, session/resume: session … is open already", 4},
                       {"refused, session/resume: the agent does not offer session/resume", 1},
                       {"refused, session/set_config_option: \"mode\" is no option of session …", 1},
                       {"refused, session/set_config_option: \"nope\" is no option of session …", 1},
                       {"the Client has answered by itself: craft/drainMidTurnQueue", 4},
                       {"the Client has answered by itself: fs/write_text_file", 4},
                       {"the answer to what was refused, left out: session/close", 1},
                       {"the answer to what was refused, left out: session/list", 2},
                       {"the answer to what was refused, left out: session/load", 3},
                       {"the answer to what was refused, left out: session/resume", 5},
                       {"the answer to what was refused, left out: session/set_config_option", 2},
                       {"the cancel has answered already: session/request_permission", 6}};
// What the Client lets go of the agents' messages.
const Counts kSkipped = {
    // The answers to what is no message have no id, or null.
    {"skipped: it answered a request that nobody waits for", 5},
    {"skipped: it asked for craft/drainMidTurnQueue, which is not offered", 4},
    {"skipped: it asked for fs/write_text_file, which is not offered", 4},
    // Behind the answer to session/close.
    {"skipped: it told of session …, which is not open (available_commands_update)", 2},
    {"skipped: it told of session …, which is not open (usage_update)", 1}};

TEST_CASE("A8 A2 the recorded calls made again: whole, byte by byte, the agents are heard as the same") {
  if (All().empty()) return;
  Counts notes, skipped, notified, told;
  size_t written = 0, unknown = 0;
  for (const Recording& recording : All()) {
    CAPTURE(recording.name);
    const Replay replay(recording);
    for (const auto& [note, count] : replay.notes()) {
      notes[note] += count;
      CHECK_MESSAGE(kNotes.contains(note), note);
    }
    for (const std::string& words : replay.words()) {
      ++told[words.substr(0, words.find_first_of(" :"))];
      if (words.starts_with("notified ")) ++notified[words.substr(0, words.find(' ', 9))];
      if (!words.starts_with("skipped: ")) continue;
      const std::string reason = replay.Plain(words);
      ++skipped[reason];
      CHECK_MESSAGE(kSkipped.contains(reason), reason);
    }
    for (const Entry& entry : recording.entries) {
      const bool notification = entry.from == From::kAgent && entry.what == What::kNotification;
      if (notification && kUntyped.contains(entry.method)) ++unknown;
    }
    written += CheckWritten(recording, replay);
    CHECK(replay.Differs({}) == "");
    CHECK(replay.Differs(EveryByte(replay)) == "");
  }
  size_t delivered = 0;
  for (const auto& [what, count] : notified) delivered += count;
  CHECK(delivered == unknown);
  MESSAGE(All().size(), " transcripts, ", written, " lines written, events:", Table(told), Table(notified),
          "\nlet go:", Table(skipped), "\nnot as recorded:", Table(notes));
  if (All().size() == kRecordings) {
    CHECK(notes == kNotes);
    CHECK(skipped == kSkipped);
  }
}

TEST_CASE("A8 A3 what an agent writes is heard as the same, cut at a thousand random places") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  for (const Recording& recording : All()) {
    CAPTURE(recording.name);
    const Replay replay(recording);
    CHECK(replay.Differs(RandomCuts(replay, 1'000, random)) == "");
    for (int i = 0; i < 20; ++i) {
      CHECK(replay.Differs(RandomCuts(replay, 1 + random.Below(1'000), random)) == "");
    }
  }
}

TEST_CASE("A8 A3 each message of an agent is heard as the same, split at every place") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  Splits splits(random);
  for (const Recording& recording : All()) {
    CAPTURE(recording.name);
    splits.Check(Replay(recording));
  }
  MESSAGE(splits.count(), " splits, at random places of the longest lines with the seed ", seed);
  if (All().size() == kRecordings) CHECK(splits.count() > (kSanitized ? 100'000u : 500'000u));
}

}  // namespace
}  // namespace watchbill::acp::golden
