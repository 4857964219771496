// What it costs to take a text of JSON in, checked whole: our reader beside Boost.JSON and, where it is
// there, simdjson. CPU time of this process; medians of interleaved rounds.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "json_document.hpp"
#include "watchbill/base/json_writer.hpp"

#ifdef WATCHBILL_SIMDJSON
#include <simdjson.h>
#endif

namespace {

using namespace watchbill;

double CpuNanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

void Must(bool ok) {
  if (ok) return;
  std::fputs("bench_json: a text was refused\n", stderr);
  std::exit(1);
}

std::string Chunk() {
  return R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":)"
         R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"some words of an answer, )"
         R"(with \n and a few \u00e9 and é letters"}}}})";
}

// Source code on both sides: line ends, tabs and quotes are escapes.
std::string ToolCall() {
  std::string before, after;
  for (int i = 0; i < 36; ++i) {
    const std::string line =
        fmt::format("\t\tif (name == \"field_{}\") {{\n\t\t\treturn \"{}\";\n\t\t}}\n", i, i * 7);
    before += line;
    after += i % 6 == 0 ? "\t\t// é changed\n" : line;
  }
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("jsonrpc").String("2.0").Key("method").String("session/update").Key("params").Begin('{');
  w.Key("sessionId").String("sess_0123456789abcdef").Key("update").Begin('{');
  w.Key("sessionUpdate").String("tool_call_update").Key("toolCallId").String("call_7");
  w.Key("status").String("completed").Key("locations").Begin('[').Begin('{');
  w.Key("path").String("/srv/project/src/names.go").Key("line").Int(120).End('}').End(']');
  w.Key("content").Begin('[').Begin('{').Key("type").String("diff");
  w.Key("path").String("/srv/project/src/names.go");
  w.Key("oldText").String(before).Key("newText").String(after);
  w.End('}').End(']').End('}').End('}').End('}');
  return out;
}

std::string Commands() {
  std::string out;
  JsonWriter w(out);
  w.Begin('[');
  for (int i = 0; out.size() < 500'000; ++i) {
    w.Begin('{').Key("name").String(fmt::format("command-{}", i)).Key("description");
    w.String("Says in a sentence or two what the command is for, and what it leaves alone.");
    w.Key("input").Begin('{').Key("hint").String("[file] [--all]").End('}');
    w.Key("uses").Int(i * 31).Key("weight").Double(i / 8.0).Key("hidden").Bool(i % 5 == 0).End('}');
  }
  w.End(']');
  return out;
}

struct Reader {
  const char* name;
  std::function<void(std::string_view)> read;
  bool alike = false;  // texts that begin as the one before did
  std::vector<double> ns = {};
};

void Compare(const char* what, const std::string& text, std::vector<Reader> readers) {
  // A round of each takes about two milliseconds.
  const int times = std::max(1, static_cast<int>(1'000'000 / text.size()));
  // Of the same length and the same values, under another first name.
  std::string other = text;
  other[2] ^= 1;
  for (int round = 0; round < 41; ++round) {
    for (Reader& reader : readers) {
      const double before = CpuNanoseconds();
      for (int i = 0; i < times; ++i) reader.read(i % 2 == 0 || reader.alike ? text : other);
      reader.ns.push_back((CpuNanoseconds() - before) / times);
    }
  }
  fmt::print("{}, {} bytes\n", what, text.size());
  double ours = 0;
  for (Reader& reader : readers) {
    std::sort(reader.ns.begin(), reader.ns.end());
    const double ns = reader.ns[reader.ns.size() / 2];
    if (ours == 0) ours = ns;
    fmt::print("  {:44} {:10.0f} ns {:8.0f} MB/s {:6.2f} x\n", reader.name, ns,
               static_cast<double>(text.size()) * 1e3 / ns, ns / ours);
  }
}

}  // namespace

int main() {
  json::Document document;
  std::vector<unsigned char> memory(8 << 20);
  boost::json::parser kept;
  std::vector<Reader> readers;
  const auto ours = [&](std::string_view text) { Must(document.Parse(text).ok()); };
  readers.push_back({"ours", ours});
  readers.push_back({"ours, of texts that begin alike", ours, true});
  readers.push_back({"Boost.JSON, parse()", [](std::string_view text) {
                       Must(!boost::json::parse({text.data(), text.size()}).is_null());
                     }});
  readers.push_back({"Boost.JSON, one parser, monotonic memory", [&](std::string_view text) {
                       boost::json::monotonic_resource resource(memory.data(), memory.size());
                       kept.reset(&resource);
                       kept.write({text.data(), text.size()});
                       Must(!kept.release().is_null());
                     }});
#ifdef WATCHBILL_SIMDJSON
  simdjson::dom::parser simd;
  readers.push_back({"simdjson, dom", [&](std::string_view text) {
                       Must(simd.parse(text.data(), text.size()).error() == simdjson::SUCCESS);
                     }});
#endif
  Compare("a piece of an answer", Chunk(), readers);
  Compare("a tool call with a diff", ToolCall(), readers);
  Compare("a list of commands", Commands(), readers);
  return 0;
}
