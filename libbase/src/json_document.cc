#include "json_document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

#include "json_bytes.hpp"

// For the steps of a loop: called, they would need its registers in memory.
#if defined(__GNUC__)
#define WB_INLINE __attribute__((always_inline))
#else
#define WB_INLINE
#endif

namespace watchbill::json {
namespace {

// Places are 32 bits wide.
constexpr size_t kLongest = UINT32_MAX - 4 * kPadding;
constexpr uint32_t kNone = UINT32_MAX;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What is kept of the text closes up: the piece that ends at `end` moves to the front.
void Move(char* piece, size_t squeezed, const char* end) {
  if (squeezed > 0 && piece != end) std::memmove(piece - squeezed, piece, static_cast<size_t>(end - piece));
}

// The piece ends with the white space at `at`, if there is any. Gives the end of that.
[[gnu::noinline]] char* Squeeze(char* piece, size_t squeezed, char* at) {
  Move(piece, squeezed, at);
  while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') ++at;
  return at;
}

// Whether a number of the grammar is finite. A double ends within the numbers of 309 digits: all others are
// told by where their first digit stands that is not 0, and only those are read.
bool IsFinite(const char* begin, const char* end) {
  const char* at = *begin == '-' ? begin + 1 : begin;
  const char* const whole = at;
  while (IsDigit(*at)) ++at;
  int64_t magnitude = at - whole;  // the number is below 10 to this
  if (*whole == '0') {
    magnitude = 0;
    const char* const fraction = *at == '.' ? at + 1 : at;
    for (at = fraction; *at == '0'; ++at) {
    }
    if (!IsDigit(*at)) return true;  // nothing but zeros
    magnitude = fraction - at;
  }
  while (IsDigit(*at) || *at == '.') ++at;
  if (at != end) {
    ++at;
    const bool less = *at == '-';
    if (less || *at == '+') ++at;
    int64_t exponent = 0;
    for (; at != end; ++at) exponent = std::min<int64_t>(exponent * 10 + (*at - '0'), int64_t{1} << 40);
    magnitude += less ? -exponent : exponent;
  }
  if (magnitude != 309) return magnitude < 309;
  double value = 0;
  return std::from_chars(begin, end, value).ec == std::errc();
}

// The escape \u at `at`: writes what it means, gives how long it is; 0 for none.
size_t Unicode(const char* at, char*& out) {
  const int unit = HexUnit(at + 2);
  if (unit < 0) return 0;
  uint32_t point = static_cast<uint32_t>(unit);
  size_t length = 6;
  if (unit >= 0xD800 && unit <= 0xDFFF) {
    const int second = at[6] == '\\' && at[7] == 'u' ? HexUnit(at + 8) : -1;
    if (unit <= 0xDBFF && second >= 0xDC00 && second <= 0xDFFF) {
      point = 0x10000 + ((point - 0xD800) << 10) + (static_cast<uint32_t>(second) - 0xDC00);
      length = 12;
    } else {
      // JSON.stringify writes half a pair where a string was cut in one; it is not worth the whole text.
      point = 0xFFFD;
    }
  }
  out += WriteUtf8(point, out);
  return length;
}

// The text with U+FFFD for each piece that is no UTF-8; padding is behind it.
std::string Mended(const char* at, const char* end) {
  std::string out;
  out.reserve(static_cast<size_t>(end - at) * 9 / 8);
  const char* kept = at;
  while (at < end) {
    const int length = Utf8At(at);
    if (length < 0) out.append(kept, at).append("\xEF\xBF\xBD");
    at += std::abs(length);
    if (length < 0) kept = at;
  }
  return out.append(kept, end);
}

}  // namespace

// Reads the text of its document in one pass and in place.
class Document::Scanner {
 public:
  Scanner(Document& document, size_t size)
      : d_(document),
        base_(document.text_.items.get()),
        end_(base_ + size),
        mend_(document.limits_.mend_utf8) {}

  bool Run();

  // Before Run: what is before the last mark of the document was read already.
  void GoOnFromMark();

  // After a failure.
  const char* fault() const { return fault_; }
  size_t fault_at() const { return static_cast<size_t>(fault_at_ - base_); }
  // After a success: how long the compact text is, and whether it is to be mended.
  size_t size() const { return static_cast<size_t>(end_ - base_) - squeezed_; }
  bool bad_utf8() const { return bad_utf8_; }
  size_t decoded() const { return decoded_; }

 private:
  char* Fail(const char* what, char* at) {
    fault_ = what;
    fault_at_ = at;
    return nullptr;
  }
  // Marks that the object which has just been opened begins with the name at `at`.
  void MarkAt(const char* at, const char* origin);
  char* Utf8End(char* at);
  char* PlainEnd(char* at);
  char* Escaped(char* begin, char* at, char*& piece, char*& origin);
  size_t Respell(char* at, std::string_view meant, char* piece, size_t squeezed);
  char* Number(char* at);

  Document& d_;
  char* const base_;
  char* begin_ = base_;  // where Run begins
  char* const end_;      // a NUL stands here, which nothing takes: so no step needs to ask for the end
  const bool mend_;
  bool bad_utf8_ = false;
  size_t squeezed_ = 0;
  size_t decoded_ = 0;
  uint32_t open_ = kNone;  // the innermost bracket, whose `next` is the one around it until it closes
  size_t depth_ = 0;
  const char* fault_ = "";
  char* fault_at_ = nullptr;
};

// The end of the bytes beyond ASCII at `at`, or of those of them that are UTF-8.
[[gnu::noinline]] char* Document::Scanner::Utf8End(char* at) {
  while (static_cast<signed char>(*at) < 0) {
    const int length = Utf8At(at);
    if (length < 0) {
      if (!mend_) return at;
      bad_utf8_ = true;
    }
    at += std::abs(length);
  }
  return at;
}

// Behind the opening quote: the closing quote, a backslash, or what may not stand in a string.
inline char* Document::Scanner::PlainEnd(char* at) {
  for (;;) {
    const auto stops = StopsInBlock(at);
    if (stops == 0) {
      at += kBlock;  // a step that waits for nothing
      continue;
    }
    at += PlainBefore(stops);
    if (*at == '"' || static_cast<signed char>(*at) >= 0) return at;
    at = Utf8End(at);
    if (static_cast<signed char>(*at) < 0) return at;
  }
}

// The escape at `at` becomes what it means, as AppendJsonString writes that. Gives how long it is then: never
// longer than it was.
size_t Document::Scanner::Respell(char* at, std::string_view meant, char* piece, size_t squeezed) {
  Move(piece, squeezed, at);
  char* const out = at - squeezed;
  const auto first = static_cast<unsigned char>(meant[0]);
  if (first < 0x20 || first == '"' || first == '\\') return WriteEscape(meant[0], out);
  std::memcpy(out, meant.data(), meant.size());
  return meant.size();
}

// A string from `begin` on, behind its quote, whose first byte that is not plain is at `at`: decodes it,
// spells its escapes as AppendJsonString does, and gives its closing quote or null. `piece` and `origin` are
// as in Run.
char* Document::Scanner::Escaped(char* const begin, char* at, char*& piece, char*& origin) {
  // What is decoded is shorter than its text by a byte and two quotes at least, and something stands behind
  // every string but the last: so the sizes before the strings find room in that of the whole text.
  const size_t need = static_cast<size_t>(end_ - base_) + 2 * kPadding;
  if (d_.decoded_.size < need) d_.decoded_.MakeAnew(need);
  uint32_t size = static_cast<uint32_t>(at - begin);
  char* const start = d_.decoded_.items.get() + decoded_ + sizeof size;
  std::memcpy(start, begin, size);
  char* out = start + size;
  for (;;) {
    if (*at == '\\') {
      const char meant = kEscapes[static_cast<unsigned char>(at[1])];
      size_t length = 2;
      bool ours = meant != '/';
      char* const unit = out;
      if (meant != 0) {
        *out++ = meant;
      } else if (at[1] != 'u') {
        return Fail("one of \\ \" / b f n r t u was expected behind a backslash", at + 1);
      } else {
        length = Unicode(at, out);
        if (length == 0) return Fail("four hexadecimal digits were expected", at + 2);
        ours = IsOurSpelling(at);
      }
      if (!ours) {
        const std::string_view means(unit, static_cast<size_t>(out - unit));
        origin += length - Respell(at, means, piece, static_cast<size_t>(origin - base_));
        piece = at + length;
      }
      at += length;
      if (*at == '\\') continue;
    } else if (*at == '"') {
      break;
    } else if (static_cast<signed char>(*at) < 0) {
      const int length = Utf8At(at);
      if (length < 0) {
        if (!mend_) return Fail("a string holds bytes that are no UTF-8", at);
        bad_utf8_ = true;
      }
      std::memcpy(out, at, 4);
      out += std::abs(length);
      at += std::abs(length);
    } else if (at == end_) {
      return Fail("a closing quote was expected", at);
    } else {
      return Fail("an escape was expected where a control character stands", at);
    }
    for (;;) {
      std::memcpy(out, at, kBlock);
      if (const auto stops = StopsInBlock(at); stops != 0) {
        out += PlainBefore(stops);
        at += PlainBefore(stops);
        break;
      }
      out += kBlock;
      at += kBlock;
    }
  }
  size = static_cast<uint32_t>(out - start);
  std::memcpy(start - sizeof size, &size, sizeof size);
  decoded_ += sizeof size + size;
  return at;
}

// The end of the number at `at`, or null.
[[gnu::noinline]] char* Document::Scanner::Number(char* at) {
  char* const begin = at;
  if (*at == '-') ++at;
  char* const whole = at;
  if (!IsDigit(*at)) return Fail("a digit was expected", at);
  if (*at == '0') {
    ++at;
  } else {
    while (IsDigit(*at)) ++at;
  }
  bool look = at - whole > 308;
  if (*at == '.') {
    ++at;
    if (!IsDigit(*at)) return Fail("a digit was expected", at);
    while (IsDigit(*at)) ++at;
  }
  if (*at == 'e' || *at == 'E') {
    ++at;
    if (*at == '+' || *at == '-') ++at;
    if (!IsDigit(*at)) return Fail("a digit was expected", at);
    while (IsDigit(*at)) ++at;
    look = true;
  }
  if (look && !IsFinite(begin, at)) return Fail("a number is beyond a double", begin);
  return at;
}

inline void Document::Scanner::MarkAt(const char* at, const char* origin) {
  const size_t used = d_.marks_used_;
  // As it came: nothing was squeezed out, decoded or to be mended. And within the object of the last mark.
  if (used == d_.marks_.size() || *at != '"' || origin != base_ || decoded_ > 0 || bad_utf8_) return;
  if (used > 0 && d_.nodes_.items[open_].next != d_.marks_[used - 1].node) return;
  d_.marks_[used] = {static_cast<uint32_t>(at - base_), open_};
  d_.marks_used_ = used + 1;
}

void Document::Scanner::GoOnFromMark() {
  // Only what closes later tells where its brackets end: as they were while they were open.
  for (size_t i = 0; i < d_.marks_used_; ++i) {
    d_.nodes_.items[d_.marks_[i].node].next = open_;
    open_ = d_.marks_[i].node;
  }
  depth_ = d_.marks_used_;
  begin_ = base_ + d_.marks_[depth_ - 1].at;
}

bool Document::Scanner::Run() {
  char* at = begin_;
  // Locals, for the loop lives in registers: bytes written may be anything to the compiler, members too.
  char* piece = base_;   // the text from here to `at` has not moved yet
  char* origin = base_;  // ahead of base_ by what was squeezed out: places in the compact text count from it
  Node* node = d_.nodes_.items.get() + (open_ == kNone ? 0 : open_ + 1);
  Node* room = d_.nodes_.items.get() + d_.nodes_.size;
  char close = open_ == kNone
                   ? '\0'
                   : '}';  // what ends where `at` is: the innermost bracket's other half, or the text's NUL

  const auto white = [&]() WB_INLINE {
    if (static_cast<unsigned char>(*at) > ' ') [[likely]]
      return;
    char* const end = Squeeze(piece, static_cast<size_t>(origin - base_), at);
    origin += end - at;
    piece = at = end;
  };
  const auto place = [&](const Node* n) { return static_cast<uint32_t>(n - d_.nodes_.items.get()); };
  // A node for what stands from `begin` to `at`.
  const auto add = [&](const char* begin, uint32_t next, Kind kind, bool decoded, bool member) WB_INLINE {
    if (node == room) [[unlikely]] {
      node = d_.MoreNodes(place(node));
      room = d_.nodes_.items.get() + d_.nodes_.size;
    }
    node->begin = static_cast<uint32_t>(begin - origin);
    node->end = static_cast<uint32_t>(at - origin);
    node->next = next;
    node->kind = kind;
    node->decoded = decoded;
    node->member = member;
    ++node;
  };
  const auto string = [&](bool member) WB_INLINE {
    char* const begin = at;
    at = PlainEnd(at + 1);
    if (*at == '"') [[likely]] {
      ++at;
      add(begin, 0, Kind::kString, false, member);
      return true;
    }
    const auto decoded = static_cast<uint32_t>(decoded_);
    // Copies, so that the others need no place in memory.
    char *moved_piece = piece, *moved_origin = origin;
    at = Escaped(begin + 1, at, moved_piece, moved_origin);
    if (at == nullptr) return false;
    ++at;
    const char* const start = begin + (moved_origin - origin);
    piece = moved_piece;
    origin = moved_origin;
    add(start, decoded, Kind::kString, true, member);
    return true;
  };
  const auto word = [&](std::string_view letters, Kind kind) WB_INLINE {
    if (std::memcmp(at, letters.data(), letters.size()) != 0) return false;
    char* const begin = at;
    at += letters.size();
    add(begin, 0, kind, false, close == '}');
    return true;
  };
  constexpr const char* kValue = "a value was expected";

  // Each step looks for what it needs first, and for white space where that is not there.
  for (;;) {
    const bool member = close == '}';
    if (member) {
      if (*at != '"') white();
      if (*at != '"') return Fail("a name in quotes was expected", at);
      if (!string(false)) return false;
      if (*at != ':') white();
      if (*at != ':') return Fail("a colon was expected", at);
      ++at;
    }
    if (*at != '"') white();
    switch (*at) {
      case '"':
        if (!string(member)) return false;
        break;
      case '{':
      case '[': {
        if (depth_ == d_.limits_.depth) return Fail("arrays and objects are nested too deep", at);
        ++depth_;
        const bool object = *at == '{';
        const char* const begin = at++;
        add(begin, open_, object ? Kind::kObject : Kind::kArray, false, member);
        open_ = place(node) - 1;
        close = object ? '}' : ']';
        white();
        if (*at == close) break;  // an empty one closes like any other
        if (object && depth_ == d_.marks_used_ + 1) MarkAt(at, origin);
        continue;
      }
      case 't':
        if (!word("true", Kind::kBool)) return Fail(kValue, at);
        break;
      case 'f':
        if (!word("false", Kind::kBool)) return Fail(kValue, at);
        break;
      case 'n':
        if (!word("null", Kind::kNull)) return Fail(kValue, at);
        break;
      default: {
        if (*at != '-' && !IsDigit(*at)) return Fail(kValue, at);
        char* const begin = at;
        at = Number(at);
        if (at == nullptr) return false;
        add(begin, 0, Kind::kNumber, false, member);
      }
    }
    // Behind a value: brackets close, until a comma says that another follows.
    for (;;) {
      if (*at != ',' && *at != close) white();
      if (*at == ',' && close != '\0') {
        ++at;
        break;
      }
      if (*at != close || (close == '\0' && at != end_)) {
        return Fail(close == '}'   ? "a comma or } was expected"
                    : close == ']' ? "a comma or ] was expected"
                                   : "nothing more was expected",
                    at);
      }
      if (close == '\0') {
        squeezed_ = static_cast<size_t>(origin - base_);
        Move(piece, squeezed_, at);
        d_.nodes_used_ = place(node);
        return true;
      }
      ++at;
      --depth_;
      Node& closed = d_.nodes_.items[open_];
      open_ = closed.next;
      closed.next = place(node);
      closed.end = static_cast<uint32_t>(at - origin);
      close = open_ == kNone ? '\0' : d_.nodes_.items[open_].kind == Kind::kObject ? '}' : ']';
    }
  }
}

Document::Node* Document::MoreNodes(uint32_t used) {
  Room<Node> more;
  more.size = std::max<size_t>(64, nodes_.size * 2);
  more.items = std::make_unique_for_overwrite<Node[]>(more.size);
  std::copy(nodes_.items.get(), nodes_.items.get() + used, more.items.get());
  nodes_ = std::move(more);
  return nodes_.items.get() + used;
}

// So that one enormous text does not hold its memory for ever, and texts that take turns do not thrash.
void Document::LetGoOfMuch() {
  constexpr size_t kAlwaysKept = 64 << 10;
  const size_t held = text_.size + decoded_.size + nodes_.size * sizeof(Node);
  if (held <= kAlwaysKept || used_ > held / 8) {
    small_texts_ = 0;
  } else if (++small_texts_ == 8) {
    small_texts_ = 0;
    text_ = {};
    decoded_ = {};
    nodes_ = {};
    marks_used_ = 0;
  }
}

size_t Document::MarksWithin(std::string_view text) const {
  size_t marks = marks_used_;
  // With the quote that stands there: without it the object might be an empty one.
  while (marks > 0 && (text.size() <= marks_[marks - 1].at ||
                       std::memcmp(text.data(), text_.items.get(), marks_[marks - 1].at + 1) != 0)) {
    --marks;
  }
  return marks;
}

absl::Status Document::Parse(std::string_view text) {
  LetGoOfMuch();
  nodes_used_ = 0;
  used_ = 0;
  const size_t most = std::min(limits_.bytes, kLongest);
  if (text.size() > most) {
    return absl::InvalidArgumentError(
        fmt::format("the JSON text is {} bytes long; {} are the most", text.size(), most));
  }
  return Read(text);
}

absl::Status Document::Read(std::string_view text) {
  if (const size_t need = text.size() + kPadding; text_.size < need) {
    text_.MakeAnew(need);
    marks_used_ = 0;
  }
  char* const copy = text_.items.get();
  marks_used_ = MarksWithin(text);
  const size_t same = marks_used_ == 0 ? 0 : marks_[marks_used_ - 1].at;
  if (!text.empty()) std::memcpy(copy + same, text.data() + same, text.size() - same);
  std::memset(copy + text.size(), 0, kPadding);

  Scanner scanner(*this, text.size());
  if (marks_used_ > 0) scanner.GoOnFromMark();
  const bool read = scanner.Run();
  used_ = text.size() + scanner.decoded() + nodes_used_ * sizeof(Node);
  if (!read) {
    return absl::InvalidArgumentError(
        fmt::format("not JSON: {} at byte {}", scanner.fault(), scanner.fault_at()));
  }
  if (!scanner.bad_utf8()) return absl::OkStatus();
  // All else is as it should be: once mended it is read again, and cannot come here again.
  nodes_used_ = 0;
  std::memset(copy + scanner.size(), 0, kPadding);
  const std::string mended = Mended(copy, copy + scanner.size());
  if (mended.size() > kLongest) return absl::InvalidArgumentError("the JSON text is too long once mended");
  return Read(mended);
}

}  // namespace watchbill::json
