// Bytes into lines: what an agent writes, and what stands on its standard error. Whatever the pieces, the
// lines are those that a look at the whole finds.
//
// An input: how it is cut, the longest line, what is done with it, and then the bytes.
#include <cstdint>
#include <string>
#include <string_view>

#include "acp_fuzz.hpp"
#include "watchbill/acp/framer.hpp"
#include "watchbill/acp/log_tail.hpp"
#include "watchbill/base/json_writer.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::acp;
using namespace watchbill::acp::fuzz;

constexpr size_t kHead = 1024, kTail = 64;
constexpr std::string_view kMark = "\xEF\xBB\xBF";

void Tell(std::string& out, uint64_t too_long, std::string_view text, std::string_view tail) {
  out.append(std::to_string(too_long))
      .append(1, ' ')
      .append(text)
      .append(1, '\n')
      .append(tail)
      .append(1, '\n');
}

// The lines of the whole, found in the plainest way.
void Model(std::string_view bytes, size_t longest, std::string& out) {
  for (bool at_start = true; !bytes.empty(); at_start = false) {
    const size_t newline = std::min(bytes.find('\n'), bytes.size());
    std::string_view text = bytes.substr(0, newline), tail;
    const uint64_t too_long = text.size() > longest ? text.size() : 0;
    bytes.remove_prefix(std::min(newline + 1, bytes.size()));
    if (too_long > 0) {
      const std::string_view behind = text.substr(std::min(longest, kHead));
      text = text.substr(0, std::min(longest, kHead));
      tail = behind.substr(behind.size() - std::min(behind.size(), kTail));
    }
    if (at_start && text.starts_with(kMark)) text.remove_prefix(kMark.size());
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (too_long == 0 && text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Tell(out, too_long, text, tail);
  }
}

void Frame(std::string_view bytes, uint8_t how, size_t longest, bool at_once, std::string& out) {
  LineFramer framer(longest);
  const auto drain = [&] {
    while (const auto line = framer.Next()) Tell(out, line->too_long, line->text, line->tail);
    Require(framer.waiting() <= longest);
  };
  InPieces(bytes, how, [&](std::string_view piece) {
    framer.Feed(piece);
    if (at_once) drain();
  });
  framer.End();
  drain();
  Require(framer.waiting() == 0);
}

void RequirePrintable(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = json_detail::Utf8Length(text.substr(at));
    Require(length > 0);
    const auto c = static_cast<unsigned char>(text[at]);
    Require(length > 1 ? text.substr(at, 2) < "\xC2\x80" || text.substr(at, 2) > "\xC2\x9F"
                       : (c >= 0x20 && c != 0x7F) || c == '\t' || c == '\n');
    at += length;
  }
}

void Log(std::string_view bytes, uint8_t how, std::string& out) {
  LogTail log(4);
  const auto told = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) out.append(line).append(1, '\n');
  };
  InPieces(bytes, how, [&](std::string_view piece) { told(log.Feed(piece)); });
  told(log.End());
  Require(log.lines().size() <= 4);
  for (const std::string& line : log.lines()) {
    Require(line.size() <= 3 * LogTail::kLongestLine + 8);
    RequirePrintable(line);
  }
  out.append(log.Last(3));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::string repeated, one, other;
  Input input(data, size);
  const uint8_t how = input.Byte(), limit = input.Byte(), what = input.Byte();
  one.clear();
  other.clear();
  std::string_view bytes = input.rest();
  // So that lines of some kilobytes need no input of that size.
  if (const int times = what & 3; times > 0) {
    repeated.clear();
    for (int i = 0; i <= times; ++i) repeated.append(bytes);
    bytes = repeated;
  }
  if ((what & 4) != 0) {
    Log(bytes, how, one);
    Log(bytes, 0, other);
    Require(one == other);
    const std::string shown = Printable(bytes);
    RequirePrintable(shown);
    Require(Printable(shown) == shown);
    return 0;
  }
  const size_t longest = limit < 128 ? limit : 1000 + 8 * (limit - 128u);
  Model(bytes, longest, other);
  Frame(bytes, how, longest, (what & 8) == 0, one);
  Require(one == other);
  if (how == 0) return 0;
  one.clear();
  Frame(bytes, 0, longest, true, one);
  Require(one == other);
  return 0;
}
