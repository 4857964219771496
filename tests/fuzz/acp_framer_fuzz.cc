// Bytes into lines: what an agent writes, and what stands on its standard error. Whatever the pieces, the
// lines are those that a look at the whole finds.
//
// An input: how it is cut, the longest line, what is done with it, and then the bytes. What is done, in bits:
// 1 and 2 together, it is made long, so that what begins after kilobytes is reached without an input of that
// size; 4, it is a log; 8, lines are asked for at the end only. What costs much is done for some of the
// inputs.
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
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kWide = "\xF0\x9F\x98\x80";  // one character

void TellLine(std::string& out, uint64_t too_long, std::string_view text, std::string_view tail) {
  if (too_long > 0) {
    Tell(out, too_long);
    out.append(tail).append(1, '\n');
  }
  out.append(text).append(1, '\n');
}

// The lines of the whole, found in the plainest way.
WATCHBILL_NOT_FOLLOWED void Model(std::string_view bytes, size_t longest, std::string& out) {
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
    TellLine(out, too_long, text, tail);
  }
}

void Frame(std::string_view bytes, uint8_t how, size_t longest, bool at_once, std::string& out) {
  LineFramer framer(longest);
  const auto drain = [&] {
    while (const auto line = framer.Next()) TellLine(out, line->too_long, line->text, line->tail);
    Require(framer.waiting() <= longest);
  };
  InPieces(bytes, how, 128, [&](std::string_view piece) {
    framer.Feed(piece);
    if (at_once) drain();
  });
  framer.End();
  drain();
  Require(framer.waiting() == 0);
}

WATCHBILL_NOT_FOLLOWED void RequirePrintable(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = json_detail::Utf8Length(text.substr(at));
    Require(length > 0);
    const auto c = static_cast<unsigned char>(text[at]);
    const bool c1 = c == 0xC2 && static_cast<unsigned char>(text[at + 1]) <= 0x9F;
    Require(length > 1 ? !c1 : (c >= 0x20 && c != 0x7F) || c == '\t' || c == '\n');
    at += length;
  }
}

// All of it is characters, and none stands for what is none.
WATCHBILL_NOT_FOLLOWED bool IsWhole(std::string_view text) {
  if (text.find(kReplacement) != std::string_view::npos) return false;
  while (!text.empty()) {
    const size_t length = json_detail::Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void Log(std::string_view bytes, uint8_t how, std::string& out) {
  LogTail log(4);
  const auto told = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) out.append(line).append(1, '\n');
  };
  InPieces(bytes, how, 128, [&](std::string_view piece) { told(log.Feed(piece)); });
  told(log.End());
  Require(log.lines().size() <= 4);
  const bool whole = IsWhole(bytes);
  for (const std::string& line : log.lines()) {
    // A line that is cut is cut between characters.
    if (whole) Require(line.find(kReplacement) == std::string::npos);
    Require(line.size() <= 3 * LogTail::kLongestLine + 8);
    RequirePrintable(line);
  }
  out.append(log.Last(3));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::string longer, one, other;
  Input input(data, size);
  const uint8_t how = input.Byte(), limit = input.Byte(), what = input.Byte();
  one.clear();
  other.clear();
  std::string_view bytes = input.rest();
  const uint32_t chance = Sum(bytes);
  if ((what & 4) != 0) {
    // They stand where a line becomes too long. Kilobytes take their time.
    const bool make_long = (what & 3) == 3 && chance % 32 == 0;
    if (make_long) {
      const size_t before = LogTail::kLongestLine - limit;
      longer.assign(before % kWide.size(), 'x');
      while (longer.size() < before) longer.append(kWide);
      bytes = longer.append(bytes);
    }
    Log(bytes, how, one);
    if (how != 0 && (make_long || chance % 2 == 0)) {
      Log(bytes, 0, other);
      Require(one == other);
    }
    if (make_long || chance % 4 != 0) return 0;
    const std::string shown = Printable(bytes);
    RequirePrintable(shown);
    Require(Printable(shown) == shown);
    return 0;
  }
  const size_t longest = limit < 128 ? limit : 1000 + 8 * (limit - 128u);
  if ((what & 3) == 3 && limit >= 128) {
    longer.clear();
    while (longer.size() <= longest && !bytes.empty()) longer.append(bytes);
    bytes = longer.append(bytes);
  }
  Model(bytes, longest, other);
  Frame(bytes, how, longest, (what & 8) == 0, one);
  Require(one == other);
  if (how == 0 || chance % 4 != 0) return 0;
  one.clear();
  Frame(bytes, 0, longest, true, one);
  Require(one == other);
  return 0;
}
