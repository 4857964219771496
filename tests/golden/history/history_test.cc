// A database that was made when its format was new can be read for ever, and so can its records.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "temp_folder.hpp"
#include "watchbill/history/store.hpp"

namespace watchbill::history {
namespace {

const std::string kFolder = std::string(WATCHBILL_GOLDEN_DIR) + "/history/";

std::vector<std::string> Lines(const std::string& name) {
  std::ifstream in(kFolder + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  REQUIRE(lines.size() >= 5);
  return lines;
}

std::string Written(const Message& message) {
  std::string out;
  JsonWriter w(out);
  Write(w, message);
  return out;
}

TEST_CASE("a message's JSON of version 1 is read and written again as it is") {
  for (const std::string& line : Lines("v1.ndjson")) {
    const auto message = ReadMessage(line);
    REQUIRE_MESSAGE(message.ok(), message.status().ToString());
    CHECK(Written(*message) == line);
  }
}

TEST_CASE("a database of version 1 has all that was kept in it, and takes more") {
  const TempFolder folder;
  const std::string path = folder.path + "/db";
  // LevelDB writes where it opens.
  std::filesystem::copy(kFolder + "v1", path);
  const std::vector<std::string> lines = Lines("v1.ndjson");
  const char* const channel = "01ARYZ6S41TSV4RRFFQ69G5FAV";
  for (size_t opening = 0; opening < 2; ++opening) {
    const auto store = Store::Open(path);
    REQUIRE_MESSAGE(store.ok(), store.status().ToString());
    const auto page = (*store)->Last(channel, 100);
    REQUIRE(page.ok());
    CHECK(page->unreadable == 0);
    CHECK(!page->more);
    REQUIRE(page->messages.size() == lines.size() + opening);
    for (size_t i = 0; i < lines.size(); ++i) CHECK(Written(page->messages[i]) == lines[i]);
    CHECK(*(*store)->Channels() ==
          std::vector<Channel>{{channel, "ops", "what goes on", "", {"codex", "claude"}},
                               {"01ARYZ6S41TSV4RRFFQ69G5FAW", "", "", "codex", {"codex"}}});
    CHECK(*(*store)->Members(channel) ==
          std::vector<Member>{{"claude", "session-2", ""},
                              {"codex", "session-1", "01BX5ZZKBKACTAV9WEVGE00003"}});
    CHECK((*store)->Commands("codex")->text() == R"([{"name":"plan","description":"Plan it","hint":""}])");
    CHECK((*store)->unreadable() == 0);
    Message more;
    more.id = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ";
    more.channel = channel;
    Batch batch;
    REQUIRE(batch.Put(more).ok());
    CHECK((*store)->Commit(batch).ok());
  }
}

}  // namespace
}  // namespace watchbill::history
