// Recorded conversations with agents that others wrote, where there are some: WATCHBILL_TRANSCRIPTS is a
// folder of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "json_document.hpp"
#include "seeded.hpp"
#include "watchbill/acp/client.hpp"
#include "watchbill/acp/encode.hpp"
#include "watchbill/acp/read.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp {
namespace {

const std::set<std::string, std::less<>> kTyped = {"user_message_chunk",        "agent_message_chunk",
                                                   "agent_thought_chunk",       "tool_call",
                                                   "tool_call_update",          "plan",
                                                   "available_commands_update", "usage_update"};

std::vector<std::filesystem::path> Transcripts() {
  const char* set = std::getenv("WATCHBILL_TRANSCRIPTS");
  const std::string folder = set != nullptr ? set : WATCHBILL_TRANSCRIPTS;
  std::vector<std::filesystem::path> files;
  std::error_code ec;
  for (std::filesystem::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->path().extension() == ".ndjson") files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr,
                 "SKIPPED: no transcripts of agents in \"%s\"; -DWATCHBILL_TRANSCRIPTS=<folder> names one\n",
                 folder.c_str());
  }
  return files;
}

// What the agent wrote, line by line, as it came.
std::vector<std::string> AgentLines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  json::Document document({.bytes = 64 << 20, .depth = 80});
  for (std::string line; std::getline(file, line);) {
    REQUIRE(document.Parse(line).ok());
    if (document.root()["dir"].AsString() != "agent->client") continue;
    const json::Value message = document.root()["msg"];
    lines.emplace_back(message.absent() ? document.root()["raw"].AsString().value_or("")
                                        : message.text().text());
  }
  return lines;
}

// What a client tells of it, in short.
std::vector<std::string> Told(std::string_view all, const std::vector<size_t>& cuts) {
  Client client;
  std::vector<std::string> told;
  size_t at = 0;
  const auto feed = [&](size_t to) {
    client.Feed(all.substr(at, to - at));
    at = to;
    while (const auto event = client.Next()) {
      std::string one = std::to_string(event->index()) + " ";
      if (const auto* update = std::get_if<Updated>(&*event)) one.append(Encode(update->update));
      if (const auto* asked = std::get_if<PermissionAsked>(&*event)) one.append(Encode(asked->permission));
      if (const auto* skipped = std::get_if<Skipped>(&*event)) one.append(skipped->why);
      told.push_back(std::move(one));
    }
  };
  for (const size_t cut : cuts) feed(cut);
  feed(all.size());
  return told;
}

TEST_CASE("A8 A1 what agents of others wrote is read: every update of a known kind, every answer") {
  size_t updates = 0, permissions = 0, answers = 0;
  std::set<std::string, std::less<>> kinds;
  Reader reader, again;
  json::Document document({.bytes = 64 << 20, .depth = 80});
  const auto files = Transcripts();
  for (const auto& path : files) {
    CAPTURE(path.filename().string());
    for (const std::string& line : AgentLines(path)) {
      if (!document.Parse(line).ok()) continue;
      const json::Value root = document.root();
      const auto method = root["method"].AsString();
      CAPTURE(line.substr(0, 2000));
      if (method == "session/update") {
        const auto update = reader.Update(root["params"].text());
        REQUIRE_MESSAGE(update.ok(), std::string(MessageOf(update.status())));
        const bool typed = kTyped.count(update->kind) > 0;
        CHECK(typed != std::holds_alternative<UnknownUpdate>(update->update));
        const std::string written = Encode(*update);
        const auto twice = again.Update(JsonView::Trusted(written));
        REQUIRE(twice.ok());
        CHECK(Encode(*twice) == written);
        if (!typed) CHECK(twice->raw == update->raw);
        kinds.emplace(update->kind);
        ++updates;
      } else if (method == "session/request_permission") {
        const auto permission = reader.Permission(root["params"].text());
        REQUIRE(permission.ok());
        CHECK_FALSE(permission->options.empty());
        const std::string written = Encode(*permission);
        const auto twice = again.Permission(JsonView::Trusted(written));
        REQUIRE(twice.ok());
        CHECK(Encode(*twice) == written);
        ++permissions;
      } else if (const json::Value result = root["result"]; !method && result.is_object()) {
        if (!result["protocolVersion"].absent()) CHECK(reader.Initialized(result.text()).ok());
        if (!result["sessionId"].absent()) CHECK(reader.SessionMade(result.text()).ok());
        if (!result["stopReason"].absent()) CHECK(reader.Prompted(result.text()).ok());
        ++answers;
      }
    }
  }
  if (files.empty()) return;
  MESSAGE(files.size(), " transcripts: ", updates, " updates of ", kinds.size(), " kinds, ", permissions,
          " permission requests, ", answers, " answers");
  CHECK(updates > 100);
  CHECK(permissions > 5);
  CHECK(kinds.size() >= kTyped.size());
}

TEST_CASE("A8 A3 what agents of others wrote is read the same in whatever pieces") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  for (const auto& path : Transcripts()) {
    CAPTURE(path.filename().string());
    std::string all;
    for (const std::string& line : AgentLines(path)) all.append(line).append("\n");
    if (all.empty()) continue;
    const auto whole = Told(all, {});
    for (const std::string& one : whole) {
      // The answers are to the recorded client's requests; no message of the agent's own may be let go.
      const bool of_another = one == "8 it answered a request that nobody waits for" ||
                              one.ends_with("which is not offered") ||
                              one == "8 a line on its standard output is no message";
      CHECK_MESSAGE((!one.starts_with("8 ") || of_another), one);
    }
    std::vector<size_t> bytes(all.size());
    for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = at;
    CHECK(Told(all, bytes) == whole);
    for (int i = 0; i < 50; ++i) {
      const size_t cut = random.Below(all.size() + 1);
      if (Told(all, {cut}) == whole) continue;
      CAPTURE(cut);
      FAIL_CHECK("another reading where it is split there");
    }
  }
}

}  // namespace
}  // namespace watchbill::acp
