#include "watchbill/monitorproto/encode.hpp"

#include <doctest/doctest.h>

#include "watchbill/monitorproto/decoder.hpp"

namespace watchbill::monitorproto {
namespace {

constexpr int64_t kAt = 1'790'878'320'000;

TEST_CASE("every frame is stamped by its sender") {
  CHECK(Encode(Leaving{}, kAt) == R"({"at":"2026-10-01T18:12:00.000Z","type":"leaving"})");
  Run again;
  again.run_id = "r";
  again.at = "2026-10-01T18:00:00.000Z";
  CHECK(Encode(again, kAt) ==
        R"({"at":"2026-10-01T18:00:00.000Z","type":"run","phase":"enter","runId":"r"})");
}

TEST_CASE("an agent without an id says null, and one that names no capability says nothing") {
  Register hello;
  hello.name = "X";
  CHECK(Encode(hello, kAt).find(R"("agent":{"type":"agent","id":null,"name":"X"})") != std::string::npos);
}

TEST_CASE("a did spreads what the far end said, and cannot be made to lie by it") {
  Did did;
  did.of = "journal";
  did.id = "x";
  did.ask = JsonView::Trusted("7");
  did.ok = true;
  did.rest = JsonView::Trusted(R"({"entries":[1],"ok":false,"type":"board","ask":"other","error":"e"})");
  CHECK(
      Encode(did, kAt) ==
      R"({"at":"2026-10-01T18:12:00.000Z","type":"did","of":"journal","id":"x","ask":7,"ok":true,"entries":[1]})");
}

TEST_CASE("a refusal carries a sentence, and what a page needs to say it in its language") {
  Did did;
  did.of = "run";
  did.error = "No runner is connected on ODETA-PC.";
  did.code = "no-runner";
  did.arg_key = "host";
  did.arg_value = "ODETA-PC";
  CHECK(
      Encode(did, kAt) ==
      R"({"at":"2026-10-01T18:12:00.000Z","type":"did","of":"run","ok":false,"error":"No runner is connected on ODETA-PC.","code":"no-runner","args":{"host":"ODETA-PC"}})");
}

}  // namespace
}  // namespace watchbill::monitorproto
