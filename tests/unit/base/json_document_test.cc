#include "json_document.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "watchbill/base/status.hpp"

namespace watchbill::json {
namespace {

std::string Compact(std::string_view text, Limits limits = {}) {
  Document document(limits);
  const absl::Status status = document.Parse(text);
  return status.ok() ? std::string(document.root().text().text())
                     : "refused: " + std::string(MessageOf(status));
}

TEST_CASE("numbers go on as the text they came as") {
  CHECK(
      Compact(" [ 0.1 , 1e-7,1E5, -0.0, 812.0, 18446744073709551616 , 3.141592653589793238462643383279 ]") ==
      "[0.1,1e-7,1E5,-0.0,812.0,18446744073709551616,3.141592653589793238462643383279]");
}

TEST_CASE("a number beyond a double is refused, so that no infinity goes on") {
  CHECK(Compact("1e999").starts_with("refused"));
  CHECK(Compact("{\"a\":[-1e999]}").starts_with("refused"));
  CHECK(Compact("1e-999") == "1e-999");
}

TEST_CASE("half a surrogate pair becomes U+FFFD and the frame survives") {
  CHECK(Compact(R"("a\ud83dz")") == "\"a\xEF\xBF\xBDz\"");
  CHECK(Compact(R"("\ude00")") == "\"\xEF\xBF\xBD\"");
  CHECK(Compact(R"("\ud83d\ude00")") == "\"\xF0\x9F\x98\x80\"");
  CHECK(Compact(R"("\ud83d\ud83d\ude00")") == "\"\xEF\xBF\xBD\xF0\x9F\x98\x80\"");
  CHECK(Compact(R"("\\ud83d")") == R"("\\ud83d")");
  CHECK(Compact(R"("\ud83")").starts_with("refused"));
}

TEST_CASE("what is no JSON is refused with the byte it is wrong at") {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\":}", "{} {}", "nul", "'a'", "[1] x", "\"\x01\"",
                           "\"\xff\"", "01", "+1", "{\"a\" 1}"}) {
    CAPTURE(text);
    CHECK(Compact(text).starts_with("refused: not JSON"));
  }
  CHECK(Compact("[1, x]").find("at byte 4") != std::string::npos);
}

TEST_CASE("nesting and length are bounded") {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') + std::string(static_cast<size_t>(depth), ']');
  };
  CHECK(Compact(nested(64)) == nested(64));
  CHECK(Compact(nested(65)).starts_with("refused"));
  CHECK(Compact(std::string(10'000, '[')).starts_with("refused"));
  CHECK(Compact("\"abcdef\"", {.bytes = 8}) == "\"abcdef\"");
  CHECK(Compact("\"abcdefg\"", {.bytes = 8}).starts_with("refused: the JSON text is 9 bytes long"));
}

TEST_CASE("members are found by name, the last of two, and none is made up") {
  Document document;
  REQUIRE(document.Parse(R"({"a":1,"":2,"b\n":{"c":[true,null,"x"]},"a":3})").ok());
  const Value root = document.root();
  CHECK(root["a"].AsInt() == 3);
  CHECK(root[""].AsInt() == 2);
  CHECK(root["b\n"]["c"].First().AsBool() == true);
  CHECK(root["constructor"].absent());
  CHECK(root["a"]["b"]["c"].absent());
  CHECK_FALSE(root["nothing"].AsString().has_value());
  std::string keys;
  for (Value member = root.First(); !member.absent(); member = member.Next())
    keys.append(member.Key()).append(";");
  CHECK(keys == "a;;b\n;a;");
  CHECK(root["b\n"].text().text() == R"({"c":[true,null,"x"]})");
}

TEST_CASE("whole numbers are read in every spelling, and only where they fit") {
  Document document;
  REQUIRE(document.Parse(R"([812,812.0,8.12e2,1.5,9223372036854775807,9223372036854775808,"812",-3])").ok());
  std::vector<std::optional<int64_t>> read;
  for (Value v = document.root().First(); !v.absent(); v = v.Next()) read.push_back(v.AsInt());
  CHECK(read == std::vector<std::optional<int64_t>>{812, 812, 812, std::nullopt, INT64_MAX, std::nullopt,
                                                    std::nullopt, -3});
}

TEST_CASE("doubles are read correctly rounded") {
  Document document;
  REQUIRE(document.Parse("0.1000000000000000055511151231257827").ok());
  CHECK(document.root().AsDouble() == 0.1);
  REQUIRE(document.Parse("9007199254740993.0").ok());
  CHECK(document.root().AsDouble() == 9007199254740992.0);
}

TEST_CASE("long strings, read in pieces, come out whole") {
  Document document;
  const std::string plain(100'000, 'x');
  std::string escaped;
  for (int i = 0; i < 5'000; ++i) escaped += "ab\\n\\u00e9";
  REQUIRE(document.Parse("[\"" + plain + "\",\"" + escaped + "\",\"end\"]").ok());
  const Value first = document.root().First();
  CHECK(first.AsString() == plain);
  CHECK(first.Next().AsString()->size() == 5'000 * 5);
  CHECK(first.Next().Next().AsString() == "end");
}

TEST_CASE("after a failure the document is empty, and reads the next text") {
  Document document;
  REQUIRE(document.Parse("{\"a\":\"x\\ny\"}").ok());
  REQUIRE_FALSE(document.Parse("{\"a\":\"x\\ny\",").ok());
  CHECK(document.root().absent());
  CHECK(document.root().text().absent());
  REQUIRE(document.Parse("{\"b\":[\"1\\t\"]}").ok());
  CHECK(document.root()["b"].First().AsString() == "1\t");
}

}  // namespace
}  // namespace watchbill::json
