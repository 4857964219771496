#include "words.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace watchbill::history {
namespace {

// Of one run without spaces between them no more is folded than can matter.
constexpr size_t kMostFoldedBytes = 512;
// Two of them are a word.
constexpr size_t kMostCharacterBytes = kMostWordBytes / 2;

// What an ASCII byte is in a word: itself in small letters, or 0.
constexpr std::array<char, 256> kInWord = [] {
  std::array<char, 256> bytes{};
  for (char c = '0'; c <= '9'; ++c) bytes[static_cast<uint8_t>(c)] = c;
  for (char c = 'a'; c <= 'z'; ++c) {
    bytes[static_cast<uint8_t>(c)] = c;
    bytes[static_cast<uint8_t>(c - 'a' + 'A')] = c;
  }
  bytes['_'] = '_';
  return bytes;
}();

char InWord(char c) { return kInWord[static_cast<uint8_t>(c)]; }
bool IsAscii(char c) { return static_cast<uint8_t>(c) < 0x80; }

struct Range {
  int32_t first, last;
};
// Scripts that are split into pairs, in their order.
constexpr Range kSpaceless[] = {
    {0x0E00, 0x0EFF},    // Thai, Lao
    {0x1000, 0x109F},    // Burmese
    {0x1100, 0x11FF},    // Hangul letters
    {0x1780, 0x17FF},    // Khmer
    {0x2E80, 0x2FDF},    // parts of Han characters
    {0x3005, 0x3007},    // Han: again, closing, zero
    {0x3021, 0x303C},    // Hangzhou numerals, kana: again
    {0x3041, 0x31FF},    // kana, bopomofo, Hangul letters, raised Han
    {0x3220, 0x3229},    // Han in parentheses: numerals
    {0x3280, 0x3289},    // Han in circles: numerals
    {0x3400, 0x4DBF},    // Han
    {0x4E00, 0x9FFF},    // Han
    {0xA960, 0xA97F},    // Hangul letters
    {0xA9E0, 0xA9FF},    // Burmese
    {0xAA60, 0xAA7F},    // Burmese
    {0xAC00, 0xD7FF},    // Hangul
    {0xF900, 0xFAFF},    // Han, for compatibility
    {0xFF66, 0xFFDC},    // kana and Hangul letters of half width
    {0x1AFF0, 0x1B16F},  // kana
    {0x20000, 0x3FFFF},  // Han
};

bool IsSpaceless(int32_t code) {
  if (code < kSpaceless[0].first) return false;
  const Range* const behind =
      std::upper_bound(std::begin(kSpaceless), std::end(kSpaceless), code,
                       [](int32_t value, const Range& range) { return value < range.first; });
  return code <= std::prev(behind)->last;
}

// Letters that stand upon the one before them in a script without spaces: vowels and finals of Hangul in
// pieces, the voice marks of half width, and the vowel am of Thai and Lao, which is a mark and a letter.
bool IsUponSpaceless(int32_t code) {
  return code == 0x0E33 || code == 0x0EB3 || (code >= 0x1160 && code <= 0x11FF) ||
         (code >= 0xD7B0 && code <= 0xD7FF) || code == 0xFF9E || code == 0xFF9F;
}

// Most of what is written in these scripts: folding leaves it as it is.
bool IsFolded(int32_t code) {
  return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
         (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0x3041 && code <= 0x3096) ||
         (code >= 0x30A1 && code <= 0x30FA) || code == 0x30FC;
}

bool IsLetterOrDigit(int32_t code) {
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

// That vowel in its two pieces.
bool IsVowelAm(int32_t before, int32_t code) {
  return (before == 0x0E4D && code == 0x0E32) || (before == 0x0ECD && code == 0x0EB2);
}

bool IsMark(int32_t code) {
  const utf8proc_category_t category = utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

// Accents and points that a reader would leave out: those above, below and across (from 200 on, and 1), of
// Hebrew and Arabic (10 to 36). The others make another letter of theirs.
bool IsAccent(int32_t code) {
  if (utf8proc_category(code) == UTF8PROC_CATEGORY_ME) return true;
  const int where = utf8proc_get_property(code)->combining_class;
  return where == 1 || (where >= 10 && where <= 36) || where >= 200;
}

// Bytes of the character there, and its code; nothing of what is not UTF-8.
size_t Decode(std::string_view text, size_t at, int32_t& code) {
  const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                                 static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  return size > 0 ? static_cast<size_t>(size) : 0;
}

}  // namespace

size_t CharacterBoundary(std::string_view text, size_t at) {
  if (at >= text.size()) return text.size();
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

Words::Script Words::ScriptOf(int32_t code) {
  // A space of no width, where a script has no others.
  if (code == 0x200B) return Script::kNone;
  // The one mark that folds to a letter.
  if (code == 0x0345) return Script::kSpaced;
  if (IsMark(code) || IsUponSpaceless(code) || utf8proc_category(code) == UTF8PROC_CATEGORY_CF)
    return Script::kMark;
  if (!IsLetterOrDigit(code)) return Script::kNone;
  return IsSpaceless(code) ? Script::kSpaceless : Script::kSpaced;
}

const std::vector<Word>& Words::Split(std::string_view text) {
  text_ = text;
  words_.clear();
  used_ = 0;
  // ASCII needs no more: a word once, and once more within an identifier.
  if (folded_.size() < 2 * text.size()) folded_.resize(2 * text.size());
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && InWord(text[end]) != 0) ++end;
    if (end < text.size() && !IsAscii(text[end])) {
      at = MixedRun(at);
      continue;
    }
    if (end > at) AsciiRun(at, end);
    at = end + 1;
  }
  return words_;
}

char* Words::Room(size_t bytes) {
  if (used_ + bytes > folded_.size()) {
    std::string more(std::max<size_t>(64, 2 * (used_ + bytes)), '\0');
    std::copy_n(folded_.data(), used_, more.data());
    for (Word& word : words_)
      word.folded = {more.data() + (word.folded.data() - folded_.data()), word.folded.size()};
    // Short ones move when they are swapped, and these are not.
    folded_.swap(more);
  }
  return folded_.data() + used_;
}

void Words::Add(Word::Kind kind, size_t begin, size_t end, size_t at, size_t size) {
  words_.push_back({std::string_view(folded_.data() + at, size), static_cast<uint32_t>(begin),
                    static_cast<uint32_t>(end), kind});
}

void Words::AsciiWord(size_t begin, size_t end) {
  const size_t size = std::min(end - begin, kMostWordBytes);
  char* const out = Room(size);
  for (size_t i = 0; i < size; ++i) out[i] = InWord(text_[begin + i]);
  Add(Word::Kind::kWord, begin, end, used_, size);
  used_ += size;
}

void Words::AsciiRun(size_t begin, size_t end) {
  const size_t first_word = words_.size();
  for (size_t at = begin; at < end;) {
    if (text_[at] == '_') {
      ++at;
      continue;
    }
    const size_t from = at;
    while (at < end && text_[at] != '_') ++at;
    AsciiWord(from, at);
  }
  if (words_.size() > first_word + 1) Join(first_word);
}

size_t Words::MixedRun(size_t begin) {
  run_.clear();
  size_t at = begin;
  for (int32_t before = 0; at < text_.size();) {
    if (IsAscii(text_[at])) {
      if (InWord(text_[at]) == 0) break;
      run_.push_back({static_cast<uint32_t>(at++), Script::kSpaced});
      continue;
    }
    int32_t code = 0;
    const size_t size = Decode(text_, at, code);
    const Script script = size == 0                 ? Script::kNone
                          : IsVowelAm(before, code) ? Script::kMark
                                                    : ScriptOf(code);
    before = code;
    if (script == Script::kNone) {
      if (at == begin) return at + std::max<size_t>(size, 1);
      break;
    }
    run_.push_back({static_cast<uint32_t>(at), script});
    at += size;
  }
  const size_t characters = run_.size();
  if (characters == at - begin) {
    AsciiRun(begin, at);
    return at;
  }
  run_.push_back({static_cast<uint32_t>(at), Script::kNone});

  const size_t first_word = words_.size();
  for (size_t first = 0; first < characters;) {
    if (text_[run_[first].begin] == '_') {
      ++first;
      continue;
    }
    const bool spaceless = run_[first].script == Script::kSpaceless;
    size_t last = first + 1;
    // Marks go with what is before them.
    while (last < characters && text_[run_[last].begin] != '_' &&
           (run_[last].script == Script::kMark || (run_[last].script == Script::kSpaceless) == spaceless))
      ++last;
    spaceless ? Spaceless(first, last) : Spaced(first, last);
    first = last;
  }
  if (words_.size() > first_word + 1) Join(first_word);
  return at;
}

void Words::Fold(size_t begin, size_t end) {
  constexpr auto kFolding = static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text_.data()) + begin;
  utf8proc_ssize_t size = 0;
  for (size_t room = 4 * (end - begin);; room = static_cast<size_t>(size)) {
    codes_.resize(room);
    size = utf8proc_decompose(bytes, static_cast<utf8proc_ssize_t>(end - begin), codes_.data(),
                              static_cast<utf8proc_ssize_t>(room), kFolding);
    if (size <= static_cast<utf8proc_ssize_t>(room)) break;
  }
  codes_.resize(static_cast<size_t>(std::max<utf8proc_ssize_t>(size, 0)));
  size_t kept = 0;
  for (const int32_t code : codes_) {
    if (IsMark(code)) {
      if (!IsAccent(code)) codes_[kept++] = code;
    } else {
      codes_[kept++] = IsLetterOrDigit(code) ? code : 0;
    }
  }
  codes_.resize(kept);
}

size_t Words::Compose(size_t first, size_t last, size_t most) {
  int32_t* const codes = codes_.data() + first;
  if (std::none_of(codes, codes + (last - first), IsLetterOrDigit)) return 0;
  const utf8proc_ssize_t size =
      utf8proc_normalize_utf32(codes, static_cast<utf8proc_ssize_t>(last - first),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  char* const out = Room(most);
  size_t written = 0;
  for (utf8proc_ssize_t i = 0; i < size; ++i) {
    utf8proc_uint8_t encoded[4];
    const auto bytes = static_cast<size_t>(utf8proc_encode_char(codes[i], encoded));
    if (written + bytes > most) break;
    std::copy_n(encoded, bytes, out + written);
    written += bytes;
  }
  return written;
}

void Words::Spaced(size_t first, size_t last) {
  const size_t begin = run_[first].begin, end = run_[last].begin;
  if (last - first == end - begin) {
    AsciiWord(begin, end);
    return;
  }
  Fold(begin, CharacterBoundary(text_, std::min(end, begin + kMostFoldedBytes)));
  for (size_t at = 0; at < codes_.size();) {
    const size_t behind = static_cast<size_t>(
        std::find(codes_.begin() + static_cast<std::ptrdiff_t>(at), codes_.end(), 0) - codes_.begin());
    const size_t size = Compose(at, behind, kMostWordBytes);
    if (size > 0) Add(Word::Kind::kWord, begin, end, used_, size);
    used_ += size;
    at = behind + 1;
  }
}

void Words::Spaceless(size_t first, size_t last) {
  // Where the character before begins, in the text and folded.
  size_t before = 0, before_place = 0;
  size_t characters = 0;
  size_t end = run_[first].begin;
  for (size_t at = first; at < last;) {
    size_t next = at + 1;
    while (next < last && run_[next].script == Script::kMark) ++next;
    const size_t begin = run_[at].begin, behind = run_[next].begin;
    at = next;
    int32_t code = 0;
    const size_t bytes = Decode(text_, begin, code);
    size_t size = behind - begin;
    if (bytes == size && IsFolded(code)) {
      std::copy_n(text_.data() + begin, size, Room(size));
    } else {
      Fold(begin, CharacterBoundary(text_, std::min(behind, begin + kMostFoldedBytes)));
      codes_.erase(std::remove(codes_.begin(), codes_.end(), 0), codes_.end());
      size = Compose(0, codes_.size(), kMostCharacterBytes);
      if (size == 0) continue;
    }
    if (characters++ > 0) Add(Word::Kind::kPair, before, behind, before_place, used_ + size - before_place);
    before = begin;
    before_place = used_;
    used_ += size;
    end = behind;
  }
  if (characters == 0) return;
  Add(characters == 1 ? Word::Kind::kSingle : Word::Kind::kLast, before, end, before_place,
      used_ - before_place);
}

void Words::Join(size_t first_word) {
  const auto between = [&](size_t word) {
    return text_.substr(words_[word].end, words_[word + 1].begin - words_[word].end);
  };
  const size_t behind = words_.size();
  for (size_t word = first_word; word < behind; ++word) {
    if (words_[word].kind != Word::Kind::kWord) return;
    // Those that one run of letters was folded to have the same place.
    if (word + 1 == behind) break;
    if (words_[word + 1].begin <= words_[word].end) return;
    if (between(word).find_first_not_of('_') != std::string_view::npos) return;
  }
  // All of it but what is beyond a word's length.
  char* const out = Room(kMostWordBytes);
  size_t size = 0;
  const auto append = [&](std::string_view part) {
    const std::string_view cut = part.substr(0, CharacterBoundary(part, kMostWordBytes - size));
    std::copy_n(cut.data(), cut.size(), out + size);
    size += cut.size();
    return cut.size() == part.size();
  };
  for (size_t word = first_word; word < behind && append(words_[word].folded); ++word) {
    if (word + 1 < behind && !append(between(word))) break;
  }
  Add(Word::Kind::kJoined, words_[first_word].begin, words_[behind - 1].end, used_, size);
  used_ += size;
}

std::vector<std::string_view> SearchedTexts(const Message& message) {
  std::vector<std::string_view> texts;
  size_t left = kMostTextBytes;
  const auto add = [&](std::string_view text) {
    const std::string_view cut = text.substr(0, CharacterBoundary(text, left));
    if (cut.empty()) return;
    left -= cut.size();
    texts.push_back(cut);
  };
  for (const Part& part : message.parts) {
    if (const auto* text = std::get_if<TextPart>(&part)) {
      add(text->text);
    } else if (const auto* plan = std::get_if<PlanPart>(&part)) {
      for (const PlanEntry& entry : plan->entries) add(entry.content);
    } else if (const auto* call = std::get_if<ToolPart>(&part)) {
      add(call->tool.title);
      for (const Location& location : call->tool.locations) add(location.path);
      for (const Diff& diff : call->tool.diffs) add(diff.path);
    }
  }
  add(message.error);
  return texts;
}

WordLimit::WordLimit(const std::vector<std::string_view>& texts) {
  size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  counts_ = bytes > kMostDifferentWords;
}

bool WordLimit::Counts(std::string_view word) {
  if (words_.find(word) != words_.end()) return true;
  if (words_.size() >= kMostDifferentWords) return false;
  words_.emplace(word);
  return true;
}

}  // namespace watchbill::history
