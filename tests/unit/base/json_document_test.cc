#include "json_document.hpp"

#include <doctest/doctest.h>
#include <malloc.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "json_bytes.hpp"
#include "seeded.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"

namespace {

// What this program has taken and holds, so that a test can ask what a text cost.
size_t allocations = 0;
size_t held_bytes = 0;

}  // namespace

void* operator new(size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  ++allocations;
  held_bytes += malloc_usable_size(memory);
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) held_bytes -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }
// A sanitizer's own of these do not call the above.
void* operator new[](size_t size) { return operator new(size); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, size_t) noexcept { operator delete(memory); }

namespace watchbill::json {
namespace {

constexpr const char* kChunk =
    R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":)"
    R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"some words of an answer, )"
    R"(with \n and a few \u00e9 and é letters"}}}})";
constexpr std::string_view kWords = "some words of an answer, with \n and a few é and é letters";

// kChunk's escape that need be none, written out.
std::string ChunkAsKept() {
  std::string text = kChunk;
  const size_t at = text.find("\\u00e9");
  return text.replace(at, 6, "é");
}

// The string as the writer writes it.
std::string Written(std::string_view string) {
  std::string out;
  AppendJsonString(out, string);
  return out;
}

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
  struct {
    const char *text, *string;
  } const cases[] = {
      {R"("a\ud83dz")", "a\xEF\xBF\xBDz"},
      {R"("\ude00")", "\xEF\xBF\xBD"},
      {R"("\uDFFF\uD800")", "\xEF\xBF\xBD\xEF\xBF\xBD"},
      {R"("\ud83d\ude00")", "\xF0\x9F\x98\x80"},
      {R"("\uDBFF\uDFFF")", "\xF4\x8F\xBF\xBF"},
      {R"("\ud83d\ud83d\ude00")", "\xEF\xBF\xBD\xF0\x9F\x98\x80"},
      {R"("\ud83d\n")", "\xEF\xBF\xBD\n"},
      {R"("\ud83du12")", "\xEF\xBF\xBDu12"},
      {R"("\\ud83d")", "\\ud83d"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    Document document;
    REQUIRE(document.Parse(c.text).ok());
    CHECK(document.root().AsString() == c.string);
    CHECK(document.root().text().text() == Written(c.string));
  }
  CHECK(Compact(R"("\ud83")").starts_with("refused"));
  CHECK(Compact(R"("\ud83d\ude0")").starts_with("refused"));
}

TEST_CASE("what is no JSON is refused with what was expected, and the byte") {
  struct {
    std::string_view text;
    const char* why;
  } const cases[] = {
      {"", "a value was expected at byte 0"},
      {" ", "a value was expected at byte 1"},
      {"\xEF\xBB\xBF{}", "a value was expected at byte 0"},
      {"{", "a name in quotes was expected at byte 1"},
      {"[1, x]", "a value was expected at byte 4"},
      {"[1,]", "a value was expected at byte 3"},
      {"[,1]", "a value was expected at byte 1"},
      {"[1", "a comma or ] was expected at byte 2"},
      {"[1}", "a comma or ] was expected at byte 2"},
      {"[[1] 2]", "a comma or ] was expected at byte 5"},
      {"{\"a\":}", "a value was expected at byte 5"},
      {"{\"a\" 1}", "a colon was expected at byte 5"},
      {"{\"a\":1,}", "a name in quotes was expected at byte 7"},
      {"{a:1}", "a name in quotes was expected at byte 1"},
      {"{\"a\":[]]", "a comma or } was expected at byte 7"},
      {"{} {}", "nothing more was expected at byte 3"},
      {"[1] x", "nothing more was expected at byte 4"},
      {"01", "nothing more was expected at byte 1"},
      {{"1\0", 2}, "nothing more was expected at byte 1"},
      {{"[\0]", 3}, "a value was expected at byte 1"},
      {"nul", "a value was expected at byte 0"},
      {"True", "a value was expected at byte 0"},
      {"'a'", "a value was expected at byte 0"},
      {"/**/1", "a value was expected at byte 0"},
      {"[1,\x0b 2]", "a value was expected at byte 3"},
      {"+1", "a value was expected at byte 0"},
      {".5", "a value was expected at byte 0"},
      {"-", "a digit was expected at byte 1"},
      {"[-x]", "a digit was expected at byte 2"},
      {"1.", "a digit was expected at byte 2"},
      {"1.e5", "a digit was expected at byte 2"},
      {"1e", "a digit was expected at byte 2"},
      {"1e+", "a digit was expected at byte 3"},
      {"[1, 1e999]", "a number is beyond a double at byte 4"},
      {"\"", "a closing quote was expected at byte 1"},
      {"\"\\n", "a closing quote was expected at byte 3"},
      {"\"\x01\"", "an escape was expected where a control character stands at byte 1"},
      {{"\"a\0\"", 4}, "an escape was expected where a control character stands at byte 2"},
      {"\"\\n\n\"", "an escape was expected where a control character stands at byte 3"},
      {"\"\\x\"", "one of \\ \" / b f n r t u was expected behind a backslash at byte 2"},
      {"\"\\", "one of \\ \" / b f n r t u was expected behind a backslash at byte 2"},
      {"\"\\u12g4\"", "four hexadecimal digits were expected at byte 3"},
      {"\"\\u12", "four hexadecimal digits were expected at byte 3"},
      {"\"\xff\"", "a string holds bytes that are no UTF-8 at byte 1"},
      {"\"\\n\xff\"", "a string holds bytes that are no UTF-8 at byte 3"},
      {"[\xC3\xA9]", "a value was expected at byte 1"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(Compact(c.text) == "refused: not JSON: " + std::string(c.why));
  }
}

TEST_CASE("every beginning of a text is refused, and every text with one byte behind") {
  const std::string sample = std::string(R"( [ {"a":"\u00e9é\n","b":[-1.5e3,true,false,null,{}]} , "x" ] )");
  Document document;
  REQUIRE(document.Parse(sample).ok());
  for (const std::string& text : {sample.substr(0, sample.size() - 1), std::string(kChunk)}) {
    for (size_t size = 0; size < text.size(); ++size) {
      CAPTURE(size);
      // In memory of its own, so that a sanitizer sees a read beyond it.
      const std::vector<char> part(text.begin(), text.begin() + static_cast<ptrdiff_t>(size));
      CHECK_FALSE(document.Parse({part.data(), part.size()}).ok());
      CHECK(document.root().absent());
    }
    for (const char c : {'x', '0', ',', ']', '}', '"', '\0', '\xff'})
      CHECK_FALSE(document.Parse(text + c).ok());
  }
}

TEST_CASE("white space is squeezed out wherever it may stand, and nowhere else") {
  const std::vector<std::string> tokens = {"{", "\"a \\n b\"", ":", "[",     "1", ",",    "true",
                                           ",", "\"é\"",       ",", "{",     "}", ",",    "[",
                                           "]", "]",           ",", "\"c\"", ":", "null", "}"};
  std::string compact, sparse;
  for (const std::string& token : tokens) compact += token;
  REQUIRE(Compact(compact) == compact);
  for (const std::string white : {" ", "\n", "\t\r\n ", "                                  "}) {
    for (size_t only = 0; only <= tokens.size() + 1; ++only) {
      std::string text = only == tokens.size() || only > tokens.size() ? white : "";
      for (size_t i = 0; i < tokens.size(); ++i) {
        text += tokens[i];
        if (i == only || only > tokens.size()) text += white;
      }
      CAPTURE(text);
      CHECK(Compact(text) == compact);
      Document document;
      REQUIRE(document.Parse(text).ok());
      const auto [a, c] = document.root().Members({"a \n b", "c"});
      CHECK(a.text().text() == "[1,true,\"é\",{},[]]");
      CHECK(a.First().Next().Next().AsString() == "é");
      CHECK(c.kind() == Kind::kNull);
    }
  }
  CHECK(Compact("tr ue").starts_with("refused"));
  CHECK(Compact("[1 2]").starts_with("refused"));
  CHECK(Compact("- 1").starts_with("refused"));
}

TEST_CASE("the plain part of a string ends at the first byte that is not plain, whatever stands behind it") {
  for (int first = 0; first < 256; ++first) {
    const bool stops = first < 0x20 || first >= 0x80 || first == '"' || first == '\\';
    for (size_t at = 0; at < 16; ++at) {
      for (const char rest : {'a', '"', '\\', '\0', '\x7f', '\xff', '\x1f', '!', '#', '[', ']'}) {
        char block[16 + kPadding] = {};
        std::memset(block, '~', at);
        std::memset(block + at, rest, 16 - at);
        block[at] = static_cast<char>(first);
        const bool rest_stops =
            rest != 'a' && rest != '\x7f' && rest != '!' && rest != '#' && rest != '[' && rest != ']';
        const auto expected = [&](size_t size) {
          if (at >= size) return size;
          if (stops) return at;
          return rest_stops && at + 1 < size ? at + 1 : size;
        };
        const uint64_t word = StopsInWord(block);
        CHECK((word == 0 ? 8 : PlainBeforeInWord(word)) == expected(8));
        const auto whole = StopsInBlock(block);
        CHECK((whole == 0 ? kBlock : PlainBefore(whole)) == expected(kBlock));
      }
    }
  }
}

// Pieces that are no UTF-8, each with how many U+FFFD stand for it.
struct BadPiece {
  std::string_view bytes;
  size_t mended;
};
constexpr BadPiece kBadPieces[] = {
    {"\x80", 1},                  // a tail alone
    {"\xBF\xBF", 2},              //
    {"\xC0\xAF", 2},              // overlong
    {"\xC1\xBF", 2},              //
    {"\xE0\x9F\xBF", 3},          //
    {"\xF0\x8F\xBF\xBF", 4},      //
    {"\xED\xA0\x80", 3},          // surrogates
    {"\xED\xBF\xBF", 3},          //
    {"\xF4\x90\x80\x80", 4},      // beyond U+10FFFF
    {"\xF5\x80\x80\x80", 4},      //
    {"\xFE", 1},                  //
    {"\xFF", 1},                  //
    {"\xC3", 1},                  // cut short
    {"\xE2\x82", 1},              //
    {"\xE2", 1},                  //
    {"\xF0\x9F\x98", 1},          //
    {"\xF0\x9F", 1},              //
    {"\xF0\x9F\xC3", 2},          //
    {"\xE2\x82\xF0\x9F\x98", 2},  //
    {"\xE2\xE2\x82\xAC\x80", 3},  // one of them is good: see below
};

TEST_CASE("bytes that are no UTF-8 are refused wherever they stand, or mended where that is asked for") {
  Document strict, mending({.mend_utf8 = true});
  for (const BadPiece& bad : kBadPieces) {
    for (const std::string escape : {"", "\\n"}) {
      for (size_t at = 0; at < 36; ++at) {
        for (const std::string behind : {"", "z", "\\t", "é", "                                    "}) {
          CAPTURE(at);
          CAPTURE(behind);
          const std::string before = escape + std::string(at, 'x');
          const std::string text = "[\"" + before + std::string(bad.bytes) + behind + "\" , 1]";
          const absl::Status status = strict.Parse(text);
          REQUIRE_FALSE(status.ok());
          CHECK(MessageOf(status) == "not JSON: a string holds bytes that are no UTF-8 at byte " +
                                         std::to_string(2 + before.size()));
          std::string replaced;
          if (bad.bytes == "\xE2\xE2\x82\xAC\x80") {
            replaced = "\xEF\xBF\xBD\xE2\x82\xAC\xEF\xBF\xBD";
          } else {
            for (size_t i = 0; i < bad.mended; ++i) replaced += "\xEF\xBF\xBD";
          }
          REQUIRE(mending.Parse(text).ok());
          CHECK(mending.root().text().text() == "[\"" + before + replaced + behind + "\",1]");
          CHECK(strict.Parse(mending.root().text().text()).ok());
          CHECK(strict.root().First().AsString() == mending.root().First().AsString());
        }
      }
    }
  }
}

TEST_CASE("the first and last character of each length is taken at every place") {
  for (const std::string good : {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                                 "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    for (size_t at = 0; at < 36; ++at) {
      const std::string inside = std::string(at, 'x') + good + good + "y" + good;
      Document document;
      REQUIRE(document.Parse("\"" + inside + "\"").ok());
      CHECK(document.root().AsString() == inside);
      REQUIRE(document.Parse("\"\\t" + inside + "\"").ok());
      CHECK(document.root().AsString() == "\t" + inside);
    }
  }
}

TEST_CASE("mending is for strings alone, and other faults are told at their own byte") {
  const Limits limits{.bytes = 24, .mend_utf8 = true};
  CHECK(Compact("{\"\xff\":\"\xff\\ud83d\"}", limits) == "{\"\xEF\xBF\xBD\":\"\xEF\xBF\xBD\xEF\xBF\xBD\"}");
  CHECK(Compact("[ \"\xff\xff\xff\" , x]", limits) == "refused: not JSON: a value was expected at byte 10");
  CHECK(Compact("[\xff]", limits) == "refused: not JSON: a value was expected at byte 1");
  CHECK(Compact("\xff", limits).starts_with("refused"));
  // A text may be longer mended than it might have come.
  CHECK(Compact("\"" + std::string(22, '\xff') + "\"", limits).size() == 2 + 22 * 3);
}

TEST_CASE("escapes are read at every place, each of them, and stand in the text as the writer writes them") {
  const std::string escapes =
      R"(\"\\\/\b\f\n\r\t\u0000\u00e9\u20AC\ud83d\ude00\u0022\u005C\u000a\u001F\u001f\u007f)";
  const std::string meant("\"\\/\b\f\n\r\t\0\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"\\\n\x1f\x1f\x7f", 24);
  Document document;
  for (const std::string_view escape : {"", "\\/", "\\u0061"}) {
    for (size_t at = 0; at < 36; ++at) {
      const std::string x(at, 'x');
      const std::string text = "{\"" + x + escapes + "\" :[ \"" + x + escapes + x + "\",\"" +
                               std::string(escape) + "é" + x + std::string(escape) + "\" , 1]}";
      const std::string sign = escape.empty() ? "" : escape == "\\/" ? "/" : "a";
      REQUIRE(document.Parse(text).ok());
      CHECK(document.root().text().text() == "{" + Written(x + meant) + ":[" + Written(x + meant + x) + "," +
                                                 Written(sign + "é" + x + sign) + ",1]}");
      CHECK(document.root().First().Key() == x + meant);
      const Value list = document.root()[x + meant];
      CHECK(list.First().AsString() == x + meant + x);
      CHECK(list.First().Next().AsString() == sign + "é" + x + sign);
      CHECK(list.First().Next().text().text() == Written(sign + "é" + x + sign));
      CHECK(list.First().Next().Next().AsInt() == 1);
    }
  }
}

TEST_CASE("nesting and length are bounded") {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') + std::string(static_cast<size_t>(depth), ']');
  };
  CHECK(Compact(nested(64)) == nested(64));
  CHECK(Compact(nested(65)).starts_with("refused"));
  CHECK(Compact(std::string(10'000, '[')).starts_with("refused"));
  const std::string objects = "{\"a\":[{\"b\":1}]}";
  CHECK(Compact(objects, {.depth = 3}) == objects);
  CHECK(Compact(objects, {.depth = 2}) ==
        "refused: not JSON: arrays and objects are nested too deep at byte 6");
  CHECK(Compact("[[],[],[]]", {.depth = 2}) == "[[],[],[]]");
  CHECK(Compact("7", {.depth = 0}) == "7");
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

TEST_CASE("whole numbers without a sign go as far as 64 bits do") {
  Document document;
  REQUIRE(
      document.Parse(R"([0,-0,812.0,8.12e2,-1,1.5,18446744073709551615,18446744073709551616,"1",-0.0,1e20])")
          .ok());
  std::vector<std::optional<uint64_t>> read;
  for (Value v = document.root().First(); !v.absent(); v = v.Next()) read.push_back(v.AsUint());
  CHECK(read == std::vector<std::optional<uint64_t>>{0, 0, 812, 812, std::nullopt, std::nullopt, UINT64_MAX,
                                                     std::nullopt, std::nullopt, 0, std::nullopt});
  CHECK_FALSE(Value().AsUint().has_value());
}

TEST_CASE("a number is finite or not by its worth, however it is spelt") {
  const std::string zeros(400, '0');
  for (const std::string& finite : std::vector<std::string>{
           "1.7976931348623157e308", "1" + zeros.substr(0, 308), "0.00001e313", "123e306", "0e99999999999",
           "0." + zeros + "1e400", "1" + zeros + "e-400", "-0.0e400", "1e-99999999999999999999"}) {
    CAPTURE(finite);
    CHECK(Compact(finite) == finite);
  }
  for (const std::string& beyond : std::vector<std::string>{
           "1.7976931348623159e308", "1" + zeros.substr(0, 309), "-" + std::string(309, '9'),
           std::string("0.1e310"), "0." + zeros + "1e800", "1e99999999999999999999"}) {
    CAPTURE(beyond);
    CHECK(Compact(beyond) == "refused: not JSON: a number is beyond a double at byte 0");
  }
}

TEST_CASE("several members are found in one pass, each as it is found alone") {
  Document document;
  REQUIRE(document.Parse(R"({"id":1,"method":"m","i\u0064":2,"params":{"id":9},"method":null})").ok());
  const auto [id, method, params, none] = document.root().Members({"id", "method", "params", "error"});
  CHECK(id.AsInt() == 2);
  CHECK(method.kind() == Kind::kNull);
  CHECK(params["id"].AsInt() == 9);
  CHECK(none.absent());
  CHECK(id.Next().Key() == "params");
  CHECK(Value().Members({"a"})[0].absent());
  // Names of every length: that of the same length with another end is another.
  for (size_t size = 1; size < 40; ++size) {
    const std::string name(size, 'n');
    for (size_t other = 0; other < size; ++other) {
      std::string changed = name;
      changed[other] = 'm';
      REQUIRE(document.Parse("{\"" + changed + "\":1,\"" + name + "n\":2}").ok());
      CHECK(document.root()[name].absent());
      CHECK(document.root()[changed].AsInt() == 1);
    }
  }
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

TEST_CASE("values stay good when the text is gone") {
  Document document;
  {
    std::vector<char> text(kChunk, kChunk + std::strlen(kChunk));
    REQUIRE(document.Parse({text.data(), text.size()}).ok());
    text.assign(text.size(), '#');
  }
  const Value update = document.root()["params"]["update"];
  CHECK(update["sessionUpdate"].AsString() == "agent_message_chunk");
  CHECK(update["content"]["text"].AsString() == kWords);
  CHECK(document.root().text().text() == ChunkAsKept());
}

TEST_CASE("a text like those before it is read without an allocation") {
  Document document;
  REQUIRE(document.Parse(kChunk).ok());
  const size_t before = allocations;
  for (int i = 0; i < 100; ++i) {
    if (!document.Parse(kChunk).ok()) FAIL("refused");
    if (document.root()["params"]["update"]["content"]["text"].AsString()->size() != kWords.size())
      FAIL("another text");
  }
  CHECK(allocations == before);
}

// All that can be asked of a document: whether it took the text, each value and each name.
std::string Seen(const Value& value) {
  std::string seen(value.text().text());
  for (Value v = value.First(); !v.absent(); v = v.Next()) seen.append("\n").append(v.Key()).append(Seen(v));
  if (const auto string = value.AsString()) seen.append("\n=").append(*string);
  return seen;
}
std::string Seen(Document& document, std::string_view text) {
  const absl::Status status = document.Parse(text);
  return status.ok() ? Seen(document.root()) : "refused: " + std::string(MessageOf(status));
}

TEST_CASE("what is read depends on nothing that was read before it") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  const std::vector<std::string> pieces = {
      R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"kind":)",
      R"({"a":{"b":{"c":{"d":{"e":{"f":)",
      R"({"a":1,"b":{"c":[{"d":)",
      R"([{"a":{"b":)",
      R"({"a" : {"b":)",
      R"({"\u0061":{"b":{)",
      R"({"\n":{"b":{"\t":{"c":)",
      R"({"a":{"x":1},"b":{"c":{"d":)",
      R"({"é":{"b":{)",
      "{\"a\xFF\":{\"b\":",
      R"({"a":{},"b":{"c":)",
      R"("x","y":{"z":[1,2,{"w":)",
      R"("text with \n and \u00e9")",
      R"("é\/")",
      "12",
      "-0.5e3",
      "true",
      "nul",
      "null",
      "}",
      "]",
      "}}",
      "}]}",
      "}}}}",
      ",",
      R"(,"k":)",
      " ",
      "\xC3",
      "{",
      "[",
      "{}",
      "[]",
  };
  for (const bool mend : {false, true}) {
    const Limits limits{.bytes = 4096, .depth = 7, .mend_utf8 = mend};
    for (int round = 0; round < 200; ++round) {
      Document document(limits);
      std::string text;
      for (int n = 0; n < 100; ++n) {
        // Mostly what the last one began with, cut at any byte, and something else behind it.
        text.resize(random.OneIn(10) ? 0 : random.Below(text.size() + 1));
        for (size_t more = 1 + random.Below(6); more > 0; --more) text += pieces[random.Below(pieces.size())];
        if (random.OneIn(3)) {
          // What is open closes, so that it is whole more often than not.
          std::string open;
          bool quoted = false;
          for (size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\\')
              ++i;
            else if (text[i] == '"')
              quoted = !quoted;
            else if (!quoted && (text[i] == '{' || text[i] == '['))
              open += text[i] == '{' ? '}' : ']';
            else if (!quoted && !open.empty() && text[i] == open.back())
              open.pop_back();
          }
          text.append(open.rbegin(), open.rend());
        }
        Document anew(limits);
        const std::string seen = Seen(document, text);
        REQUIRE_MESSAGE(seen == Seen(anew, text), text);
      }
    }
  }
}

TEST_CASE("the same beginning with another end is another text") {
  Document document;
  const std::string beginning = R"({"a":{"b":{"c":{"d":)";
  for (const std::string end :
       {"1}}}}", "{\"e\":2}}}}}", "1", "x", "1}}}},", "\"\\u00e9\"}}}}", "[1,2]}}}}", ""}) {
    CAPTURE(end);
    Document anew;
    CHECK(Seen(document, beginning + end) == Seen(anew, beginning + end));
  }
  CHECK(document.Parse(beginning + R"(1}},"b":3}})").ok());
  CHECK(document.root()["a"]["b"].AsInt() == 3);
  CHECK(document.Parse(R"({"a":{"b":4}})").ok());
  CHECK(document.root()["a"]["b"].AsInt() == 4);
}

TEST_CASE("what an enormous text made large is let go when small texts follow, and not before") {
  std::string enormous = "[\"\\n\"";
  for (int i = 0; i < 500'000; ++i) enormous += ",\"\\n\"";
  enormous += "]";
  const size_t outside = held_bytes;
  Document document({.bytes = 8 << 20});
  REQUIRE(document.Parse(enormous).ok());
  CHECK(held_bytes > outside + enormous.size());
  // Turn and turn about nothing is let go, and nothing is taken.
  const size_t taken = allocations;
  for (int turn = 0; turn < 5; ++turn) {
    for (int i = 0; i < 7; ++i) {
      if (!document.Parse("[1]").ok()) FAIL("refused");
    }
    if (!document.Parse(enormous).ok()) FAIL("refused");
  }
  CHECK(allocations == taken);
  for (int i = 0; i < 9; ++i) {
    if (!document.Parse(kChunk).ok()) FAIL("refused");
  }
  CHECK(held_bytes < outside + (64 << 10));
  CHECK(document.root().text().text() == ChunkAsKept());
  // And it can all be had again.
  REQUIRE(document.Parse(enormous).ok());
  CHECK(document.root().text().text() == enormous);
}

}  // namespace
}  // namespace watchbill::json
