#include "watchbill/base/json_writer.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "json_document.hpp"

namespace watchbill {
namespace {

std::string Written(double value) {
  std::string out;
  JsonWriter(out).Double(value);
  return out;
}

TEST_CASE("commas look after themselves") {
  std::string out;
  JsonWriter w(out);
  w.Begin('{')
      .Key("a")
      .Int(1)
      .Key("b")
      .Begin('[')
      .String("x")
      .Null()
      .Begin('{')
      .End('}')
      .End(']')
      .Key("c")
      .Bool(false)
      .End('}');
  CHECK(out == R"({"a":1,"b":["x",null,{}],"c":false})");
}

TEST_CASE("doubles are printed as people expect, and never as infinity") {
  CHECK(Written(0.1) == "0.1");
  CHECK(Written(3) == "3");
  CHECK(Written(0.0021) == "0.0021");
  CHECK(Written(-0.000001) == "-0.000001");
  CHECK(Written(1e21) == "1e+21");
  CHECK(Written(123456789012.5) == "123456789012.5");
  CHECK(Written(std::numeric_limits<double>::infinity()) == "null");
  CHECK(Written(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("whatever bytes come, valid JSON goes out") {
  // Every pair of bytes, and every single one.
  for (int a = 0; a < 256; ++a) {
    for (int b = -1; b < 256; ++b) {
      std::string text(1, static_cast<char>(a));
      if (b >= 0) text.push_back(static_cast<char>(b));
      std::string out;
      AppendJsonString(out, text);
      json::Document document;
      if (!document.Parse(out).ok()) {
        CAPTURE(a);
        CAPTURE(b);
        FAIL("not JSON");
      }
    }
  }
  std::string out;
  AppendJsonString(out, "a\xC3\xA9\xED\xA0\x80z\xF4\x90\x80\x80\x1b\"\\\n");
  CHECK(out ==
        "\"a\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\\u0"
        "01b\\\"\\\\\\n\"");
}

TEST_CASE("fields that are not there are left out, and absent JSON is null") {
  std::string out;
  JsonWriter w(out);
  w.Begin('{')
      .Field("a", std::optional<std::string_view>())
      .Field("b", std::optional<int64_t>(2))
      .Field("c", JsonView());
  w.Key("d").Json(JsonView()).End('}');
  CHECK(out == R"({"b":2,"d":null})");
}

}  // namespace
}  // namespace watchbill
