#include "keys.hpp"

#include <doctest/doctest.h>

#include "history_fixture.hpp"
#include "watchbill/base/ulid.hpp"

namespace watchbill::history {
namespace {

TEST_CASE("an id is 16 bytes and back, up to the greatest there is") {
  UlidGenerator ids(3);
  for (const std::string& text :
       {std::string("00000000000000000000000000"), std::string("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
        std::string("01ARYZ6S41TSV4RRFFQ69G5FAV"), ids.Next(1'790'000'000'000), ids.Next(0)}) {
    const auto bytes = ParseUlid(text);
    REQUIRE_MESSAGE(bytes.has_value(), text);
    CHECK(UlidText(*bytes) == text);
  }
  CHECK((*ParseUlid("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"))[0] == 0xFF);
  CHECK((*ParseUlid("00000000000000000000000001"))[15] == 1);
  // The example of the ULID specification: its first 48 bits are the milliseconds.
  const UlidBytes bytes = *ParseUlid("01ARYZ6S41TSV4RRFFQ69G5FAV");
  uint64_t ms = 0;
  for (size_t i = 0; i < 6; ++i) ms = ms << 8 | bytes[i];
  CHECK(ms == 1'469'918'176'385);
}

TEST_CASE("what is no id is not taken for one") {
  for (const char* text :
       {"", "01ARYZ6S41TSV4RRFFQ69G5FA", "01ARYZ6S41TSV4RRFFQ69G5FAVV", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "01aryz6s41tsv4rrffq69g5fav", "01ARYZ6S41TSV4RRFFQ69G5FAI", "01ARYZ6S41TSV4RRFFQ69G5FAL",
        "01ARYZ6S41TSV4RRFFQ69G5FAO", "01ARYZ6S41TSV4RRFFQ69G5FAU", "01ARYZ6S41TSV4RRFFQ69G5FA-",
        "01ARYZ6S41TSV4RRFFQ69G5\xC3\xA9 "}) {
    CHECK_MESSAGE(!ParseUlid(text), text);
  }
  CHECK(!ParseUlid(std::string("01ARYZ6S41TSV4RRFFQ69G5FA\0", 26)));
}

TEST_CASE("keys are a letter, ids as bytes, and a name as it is") {
  const UlidBytes channel = *ParseUlid(kChannelA), message = *ParseUlid(NthId(1));
  const std::string id(reinterpret_cast<const char*>(channel.data()), channel.size());
  CHECK(ChannelKey(channel) == "C" + id);
  CHECK(MessagesPrefix(channel) == "M" + id);
  CHECK(MemberKey(channel, "codex") == "A" + id + "codex");
  CHECK(CommandsKey("codex") == "Scodex");
  const std::string key = MessageKey(channel, message);
  CHECK(key.size() == 33);
  CHECK(key.substr(0, 17) == "M" + id);
  for (size_t i = 0; i < 16; ++i) CHECK((static_cast<unsigned char>(key[17 + i]) ^ message[i]) == 0xFF);
}

TEST_CASE("a key says what it is of, and one of another length says nothing") {
  const UlidBytes channel = *ParseUlid(kChannelA), message = *ParseUlid(NthId(1));
  CHECK(MessageOfKey(MessageKey(channel, message)) == message);
  CHECK(ChannelOfKey(ChannelKey(channel)) == channel);
  CHECK(AgentOfMemberKey(MemberKey(channel, "codex")) == "codex");
  CHECK(!MessageOfKey(MessageKey(channel, message) + "x"));
  CHECK(!MessageOfKey(MessagesPrefix(channel)));
  CHECK(!ChannelOfKey("C"));
}

}  // namespace
}  // namespace watchbill::history
