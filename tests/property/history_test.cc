// Whatever is kept, in whatever order, over however many openings: pages are what a sorted list would give.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "json.hpp"
#include "keys.hpp"
#include "seeded.hpp"
#include "temp_folder.hpp"
#include "watchbill/history/store.hpp"

namespace watchbill::history {
namespace {

UlidBytes RandomId(Seeded& random) {
  UlidBytes bytes{};
  // Ends of the range, long equal beginnings and neighbours are what goes wrong.
  const size_t kind = random.Below(4);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t any = kind == 0 ? random.Below(256) : kind == 1 ? 255 : kind == 2 ? 0 : 0x5A;
    bytes[i] = static_cast<uint8_t>(i + 2 < bytes.size() ? any : random.OneIn(2) ? any : random.Below(256));
  }
  return bytes;
}

std::string RandomText(Seeded& random) {
  static const std::vector<std::string> kPieces = {"a",
                                                   "\"",
                                                   "\\",
                                                   "\n",
                                                   std::string(1, '\0'),
                                                   "\x7F",
                                                   "é",
                                                   "\u2028",
                                                   "\xF0\x9F\x99\x82",
                                                   "{}",
                                                   ",",
                                                   "/",
                                                   "\t",
                                                   "\\u0041",
                                                   " ",
                                                   "Z"};
  std::string text;
  for (size_t n = random.Below(8); n > 0; --n) text += random.Of(kPieces);
  return text;
}

Message RandomMessage(Seeded& random) {
  Message m;
  m.id = UlidText(RandomId(random));
  m.channel = UlidText(RandomId(random));
  m.created_ms = static_cast<int64_t>(random.Below(253'402'300'800'000));
  m.agent = RandomText(random);
  m.role = random.Of(std::vector<Role>{Role::kUser, Role::kAgent, Role::kSystem});
  m.stop_reason = RandomText(random);
  m.error = RandomText(random);
  m.code = RandomText(random);
  for (size_t n = random.Below(5); n > 0; --n) {
    switch (random.Below(4)) {
      case 0:
        m.parts.push_back(TextPart{RandomText(random)});
        break;
      case 1:
        m.parts.push_back(ThoughtPart{RandomText(random)});
        break;
      case 2: {
        PlanPart plan;
        for (size_t k = random.Below(3); k > 0; --k)
          plan.entries.push_back({RandomText(random), RandomText(random), RandomText(random)});
        m.parts.push_back(plan);
        break;
      }
      default: {
        ToolCall tool{RandomText(random),
                      RandomText(random),
                      RandomText(random),
                      RandomText(random),
                      RandomText(random),
                      RandomText(random),
                      {},
                      {}};
        for (size_t k = random.Below(3); k > 0; --k) {
          std::optional<int64_t> line;
          if (random.OneIn(2)) line = static_cast<int64_t>(random.Below(1u << 31));
          tool.locations.push_back({RandomText(random), line});
          tool.diffs.push_back({RandomText(random), RandomText(random), RandomText(random), random.OneIn(2)});
        }
        m.parts.push_back(ToolPart{tool});
      }
    }
  }
  return m;
}

std::string Written(const Message& message) {
  std::string out;
  JsonWriter w(out);
  Write(w, message);
  return out;
}

TEST_CASE(
    "keys of messages are newest first within their channel, and no channel's prefix takes in another's") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  struct Entry {
    UlidBytes channel, message;
    std::string key;
  };
  std::vector<Entry> entries;
  for (int i = 0; i < 400; ++i) {
    Entry e{RandomId(random), RandomId(random), {}};
    e.key = MessageKey(e.channel, e.message);
    REQUIRE(ParseUlid(UlidText(e.message)) == e.message);
    REQUIRE(MessageOfKey(e.key) == e.message);
    entries.push_back(e);
  }
  for (const Entry& a : entries) {
    const std::string prefix = MessagesPrefix(a.channel);
    for (const Entry& b : entries) {
      const bool older = a.channel != b.channel ? a.channel < b.channel : b.message < a.message;
      REQUIRE((a.key < b.key) == older);
      REQUIRE(b.key.starts_with(prefix) == (a.channel == b.channel));
      // Ids as text have the order of their bytes.
      REQUIRE((UlidText(a.message) < UlidText(b.message)) == (a.message < b.message));
    }
    for (const std::string& other :
         {ChannelKey(a.channel), MemberKey(a.channel, "agent"), CommandsKey("agent")})
      REQUIRE(!other.starts_with(prefix));
  }
}

TEST_CASE("any message is read as it was written, and written as it was read") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  for (int i = 0; i < 3'000; ++i) {
    const Message message = RandomMessage(random);
    const std::string text = Written(message);
    CAPTURE(text);
    const auto read = ReadMessage(text);
    REQUIRE(read.ok());
    REQUIRE(*read == message);
    REQUIRE(Written(*read) == text);
    // Cut or changed anywhere it is an error or a message, never anything worse.
    std::string damaged = text.substr(0, random.Below(text.size()));
    CHECK(!ReadMessage(damaged).ok());
    damaged = text;
    damaged[random.Below(damaged.size())] = static_cast<char>(random.Below(256));
    if (const auto other = ReadMessage(damaged); other.ok()) CHECK(ReadMessage(Written(*other)).ok());
  }
}

TEST_CASE("pages over random histories are what a sorted list gives") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  const TempFolder folder;
  std::vector<std::string> channels;
  for (int i = 0; i < 4; ++i) channels.push_back(UlidText(RandomId(random)));
  std::map<std::string, std::map<std::string, Message>> kept;
  std::map<std::string, std::map<std::string, Member>> members;
  for (int opening = 0; opening < 4; ++opening) {
    auto opened = Store::Open(folder.path);
    REQUIRE_MESSAGE(opened.ok(), opened.status().ToString());
    Store& store = **opened;
    for (int commit = 0; commit < 15; ++commit) {
      Batch batch;
      for (size_t n = random.Below(12); n > 0; --n) {
        Message m = RandomMessage(random);
        m.channel = random.Of(channels);
        REQUIRE(batch.Put(m).ok());
        kept[m.channel][m.id] = m;
      }
      const Member member{fmt::format("agent {}", random.Below(5)), RandomText(random),
                          UlidText(RandomId(random))};
      const std::string& channel = random.Of(channels);
      REQUIRE(batch.Put(channel, member).ok());
      members[channel][member.agent] = member;
      REQUIRE(store.Commit(batch).ok());
    }
    for (int question = 0; question < 200; ++question) {
      const std::string& channel = random.Of(channels);
      const auto& all = kept[channel];
      const size_t limit = random.Below(40);
      auto end = all.end();
      absl::StatusOr<Page> page;
      if (random.OneIn(4)) {
        page = store.Last(channel, limit);
      } else {
        std::string before = UlidText(RandomId(random));
        if (random.OneIn(2) && !all.empty())
          before = std::next(all.begin(), static_cast<std::ptrdiff_t>(random.Below(all.size())))->first;
        page = store.Before(channel, before, limit);
        end = all.lower_bound(before);
      }
      REQUIRE(page.ok());
      const auto older = static_cast<size_t>(std::distance(all.begin(), end));
      std::vector<Message> expected;
      for (auto it = std::prev(end, static_cast<std::ptrdiff_t>(std::min(older, limit))); it != end; ++it)
        expected.push_back(it->second);
      REQUIRE(page->messages == expected);
      REQUIRE(page->more == (older > limit));
      REQUIRE(page->unreadable == 0);
    }
    for (const std::string& channel : channels) {
      const auto found = store.Members(channel);
      REQUIRE(found.ok());
      std::vector<Member> expected;
      for (const auto& [name, member] : members[channel]) expected.push_back(member);
      REQUIRE(*found == expected);
    }
  }
}

}  // namespace
}  // namespace watchbill::history
