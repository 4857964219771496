// Frames that nobody wrote: reading never fails but by an answer, and what was read once reads the same
// again.
#include <doctest/doctest.h>

#include <fstream>

#include "json_document.hpp"
#include "seeded.hpp"
#include "translate.hpp"
#include "watchbill/monitorproto/decoder.hpp"
#include "watchbill/monitorproto/encode.hpp"

namespace watchbill::monitorproto {
namespace {

std::vector<std::string> GoldenLines() {
  std::vector<std::string> lines;
  for (const char* name : {"agent", "monitor-to-agent", "runner", "monitor-to-runner", "dashboard"}) {
    std::ifstream file(std::string(WATCHBILL_GOLDEN_DIR) + "/frames/" + name + ".ndjson");
    for (std::string line; std::getline(file, line);) lines.push_back(line);
  }
  return lines;
}

TEST_CASE("P4 a frame that was changed anywhere is read or refused, and settles after one writing") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  const auto lines = GoldenLines();
  REQUIRE(lines.size() > 20);
  static const std::vector<std::string> kPieces = {"\"",
                                                   "{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   ":",
                                                   ",",
                                                   "null",
                                                   "1e999",
                                                   "-",
                                                   "0",
                                                   "\\u0000",
                                                   "\\ud800",
                                                   "\xff",
                                                   "true",
                                                   "\"type\":\"ok\",",
                                                   "\"ask\":\"x\",",
                                                   "\"agent\":",
                                                   "\n"};
  Decoder decoder;
  size_t accepted = 0;
  for (int i = 0; i < 40'000; ++i) {
    std::string text = random.Of(lines);
    for (size_t changes = 1 + random.Below(3); changes > 0; --changes) {
      const size_t at = random.Below(text.size());
      switch (random.Below(4)) {
        case 0:
          text[at] = static_cast<char>(random.Below(256));
          break;
        case 1:
          text.erase(at, 1 + random.Below(8));
          break;
        case 2:
          text.insert(at, random.Of(kPieces));
          break;
        case 3:
          text.insert(at, text.substr(random.Below(text.size()), random.Below(20)));
          break;
      }
      if (text.empty()) text = "x";
    }
    const auto once = decoder.ReadAgent(text);
    if (!once.ok()) continue;
    ++accepted;
    (void)monitor::EventFor(1, *once);
    const std::string written = Encode(*once, 0);
    const auto twice = decoder.ReadAgent(written);
    CAPTURE(text);
    CAPTURE(written);
    REQUIRE(twice.ok());
    CHECK(Encode(*twice, 0) == written);
  }
  CHECK(accepted > 1'000);
}

}  // namespace
}  // namespace watchbill::monitorproto
