// Our reader of JSON beside Boost.JSON: both take the same texts and see the same values, but for what is
// meant to differ: lone surrogates, numbers beyond a double, and how strict the other's rounding is. And what
// was taken reads again as itself.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "json_document.hpp"
#include "watchbill/base/json_writer.hpp"

namespace {

using namespace watchbill;

constexpr size_t kDepth = 20;

void Require(bool holds) {
  if (!holds) std::abort();
}

// Whether a text has what Boost.JSON refuses and we take, or the other way round, said roughly: such a text
// is held against the rest of the rules alone.
bool MeantToDiffer(std::string_view text) {
  for (size_t at = 0; at + 3 < text.size(); ++at) {
    if (text[at] != '\\' || text[at + 1] != 'u') continue;
    if ((text[at + 2] == 'd' || text[at + 2] == 'D') &&
        std::string_view("89abcdefABCDEF").find(text[at + 3]) != std::string_view::npos)
      return true;
  }
  return false;
}

// False where Boost.JSON made an infinity of a number.
bool Finite(const boost::json::value& value) {
  if (value.is_double()) return std::isfinite(value.get_double());
  if (value.is_array()) {
    for (const auto& element : value.get_array()) {
      if (!Finite(element)) return false;
    }
  }
  if (value.is_object()) {
    for (const auto& member : value.get_object()) {
      if (!Finite(member.value())) return false;
    }
  }
  return true;
}

bool Close(double ours, double theirs) {
  // Theirs is not always rounded correctly, and is rough where numbers are hardly above nothing.
  return std::fabs(ours - theirs) <= std::fabs(ours) * 1e-14 + 1e-300;
}

void RequireSame(const json::Value& ours, const boost::json::value& theirs) {
  switch (theirs.kind()) {
    case boost::json::kind::null:
      return Require(ours.kind() == json::Kind::kNull);
    case boost::json::kind::bool_:
      return Require(ours.AsBool() == theirs.get_bool());
    case boost::json::kind::int64:
      Require(ours.AsDouble().has_value());
      return Require(ours.AsInt() == theirs.get_int64());
    case boost::json::kind::uint64:
      return Require(ours.AsUint() == theirs.get_uint64() && !ours.AsInt());
    case boost::json::kind::double_:
      return Require(Close(ours.AsDouble().value(), theirs.get_double()));
    case boost::json::kind::string: {
      const auto& s = theirs.get_string();
      return Require(ours.AsString() == std::string_view(s.data(), s.size()));
    }
    case boost::json::kind::array: {
      Require(ours.kind() == json::Kind::kArray);
      json::Value v = ours.First();
      for (const auto& element : theirs.get_array()) {
        RequireSame(v, element);
        v = v.Next();
      }
      return Require(v.absent());
    }
    case boost::json::kind::object: {
      Require(ours.kind() == json::Kind::kObject);
      // Of names that stand twice both keep the last.
      for (const auto& member : theirs.get_object())
        RequireSame(ours[{member.key().data(), member.key().size()}], member.value());
      for (json::Value v = ours.First(); !v.absent(); v = v.Next()) {
        const std::string_view name = v.Key();
        Require(theirs.get_object().contains({name.data(), name.size()}));
        Require(!ours.Members({name, ""})[0].absent());
      }
      return;
    }
  }
}

// Every string is written as the writer would, and every value's text is longer than what it holds.
void RequireWhole(const json::Value& value) {
  Require(!value.absent() && !value.text().absent());
  if (const auto s = value.AsString()) {
    std::string written;
    AppendJsonString(written, *s);
    Require(value.text().text() == written);
  }
  size_t inside = 0;
  for (json::Value v = value.First(); !v.absent(); v = v.Next()) {
    RequireWhole(v);
    inside += v.text().text().size() + 1;
  }
  Require(inside < value.text().text().size() || inside == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static json::Document document({.bytes = 1 << 20, .depth = kDepth});
  static json::Document mending({.bytes = 1 << 20, .depth = kDepth, .mend_utf8 = true});
  static json::Document again({.bytes = 4 << 20, .depth = kDepth});
  // In memory of just its size, so that a read beyond it is seen.
  const std::vector<char> bytes(data, data + size);
  const std::string_view text(bytes.data(), bytes.size());
  const bool taken = document.Parse(text).ok();
  Require(taken != document.root().absent());
  if (taken) {
    const std::string_view compact = document.root().text().text();
    Require(compact.size() <= size);
    Require(again.Parse(compact).ok());
    Require(again.root().text().text() == compact);
    RequireWhole(document.root());
  }
  // What was read before changes nothing: a text that begins alike, and goes on in another way.
  json::Document anew({.bytes = 1 << 20, .depth = kDepth});
  const std::string other =
      std::string(text.substr(0, size == 0 ? 0 : static_cast<uint8_t>(text.back()) % size)) + "{\"a\":1}}}]";
  Require(document.Parse(other).ok() == anew.Parse(other).ok());
  Require(document.root().text() == anew.root().text());
  json::Document first({.bytes = 1 << 20, .depth = kDepth});
  Require(document.Parse(text).ok() == taken && first.Parse(text).ok() == taken);
  Require(document.root().text() == first.root().text());
  const bool mended = mending.Parse(text).ok();
  Require(mended || !taken);
  if (mended) {
    Require(again.Parse(mending.root().text().text()).ok());
    Require(again.root().text() == mending.root().text());
    if (taken) Require(mending.root().text() == document.root().text());
    RequireWhole(mending.root());
  }
  if (MeantToDiffer(text)) return 0;
  boost::json::parse_options options;
  options.max_depth = kDepth;
  boost::json::error_code ec;
  const boost::json::value theirs = boost::json::parse({text.data(), text.size()}, ec, {}, options);
  if (!taken) {
    Require(ec || !Finite(theirs));
  } else if (ec) {
    // It refuses exponents of more digits than an int holds, though the number may be small.
    Require(ec == boost::json::error::exponent_overflow);
  } else if (Finite(theirs)) {
    RequireSame(document.root(), theirs);
  }
  return 0;
}
