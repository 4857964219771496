// Bytes to frames and back, as files (see README.md).
#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "json_document.hpp"
#include "watchbill/base/now.hpp"
#include "watchbill/monitorproto/decoder.hpp"
#include "watchbill/monitorproto/encode.hpp"

namespace watchbill::monitorproto {
namespace {

std::vector<std::string> Lines(const std::string& name) {
  std::ifstream file(std::string(WATCHBILL_GOLDEN_DIR) + "/frames/" + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The frame written again, or nothing where it is none.
using Rewrite = std::function<std::optional<std::string>(Decoder&, std::string_view)>;

template <typename Read>
Rewrite Rewriter(Read read) {
  return [read](Decoder& decoder, std::string_view text) -> std::optional<std::string> {
    const auto frame = (decoder.*read)(text);
    if (!frame.ok()) return std::nullopt;
    return Encode(*frame, decoder.at() ? WallMsFromIso(*decoder.at()).value_or(0) : 0);
  };
}

const std::map<std::string, Rewrite> kSpeakers = {
    {"agent", Rewriter(&Decoder::ReadAgent)},
    {"monitor-to-agent", Rewriter(&Decoder::ReadAgentCommand)},
    {"runner", Rewriter(&Decoder::ReadRunner)},
    {"monitor-to-runner", Rewriter(&Decoder::ReadRunnerCommand)},
    {"dashboard", Rewriter(&Decoder::ReadDashboard)},
};

TEST_CASE("P1 P2 every golden frame is read and written as it stands") {
  Decoder decoder;
  for (const auto& [speaker, rewrite] : kSpeakers) {
    const auto lines = Lines(speaker + ".ndjson");
    REQUIRE(lines.size() >= 3);
    for (const std::string& line : lines) {
      CAPTURE(line);
      CHECK(rewrite(decoder, line) == line);
    }
  }
}

TEST_CASE("P1 frames of other hands are read as they are meant") {
  Decoder decoder;
  json::Document document;
  const auto lines = Lines("agent.read.ndjson");
  REQUIRE_FALSE(lines.empty());
  for (const std::string& line : lines) {
    REQUIRE(document.Parse(line).ok());
    const std::string in(*document.root()["in"].AsString());
    CAPTURE(in);
    CHECK(kSpeakers.at("agent")(decoder, in) == document.root()["out"].AsString());
  }
}

TEST_CASE("P4 no part of a frame is a frame, and nothing may follow one") {
  Decoder decoder;
  for (const auto& [speaker, rewrite] : kSpeakers) {
    for (const std::string& line : Lines(speaker + ".ndjson")) {
      CAPTURE(line);
      for (size_t n = 0; n < line.size(); ++n) {
        if (rewrite(decoder, std::string_view(line).substr(0, n))) {
          CAPTURE(n);
          FAIL_CHECK("a part was taken for the whole");
        }
        if (n > 0 && rewrite(decoder, std::string_view(line).substr(n))) {
          // What stands inside a frame may be one itself only where it is an object with a type.
          CAPTURE(n);
          FAIL_CHECK("a tail was taken for the whole");
        }
      }
      CHECK_FALSE(rewrite(decoder, line + "x").has_value());
      CHECK_FALSE(rewrite(decoder, line + line).has_value());
      CHECK(rewrite(decoder, " " + line + "\r\n") == line);
    }
  }
}

}  // namespace
}  // namespace watchbill::monitorproto
