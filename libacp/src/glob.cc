#include "glob.hpp"

#include <algorithm>

#include "watchbill/base/json_writer.hpp"

namespace watchbill::acp {
namespace {

size_t CharacterAt(std::string_view text, size_t at) {
  return std::max<size_t>(1, json_detail::Utf8Length(text.substr(at)));
}

std::vector<std::string_view> Components(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.push_back(part);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return parts;
}

// The components of a pattern. A backslash before a slash means nothing, and goes.
std::vector<std::string_view> PatternComponents(std::string_view pattern) {
  std::vector<std::string_view> parts = Components(pattern);
  for (std::string_view& part : parts) {
    const size_t last = part.find_last_not_of('\\');
    const size_t backslashes = part.size() - (last == std::string_view::npos ? 0 : last + 1);
    if (backslashes % 2 == 1) part.remove_suffix(1);
  }
  std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "."; });
  return parts;
}

bool Absolute(std::string_view path) { return path.starts_with('/'); }

void Append(std::vector<std::string>& parts, std::string_view path) {
  for (const std::string_view part : Components(path)) {
    if (part != "..") {
      parts.emplace_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
}

// Components against components. It goes back to the last `**` alone: what stands before it was matched as
// far left as it can be, which leaves the most for the rest.
bool ComponentsMatch(const std::vector<std::string_view>& pattern, const std::string* path, size_t size) {
  constexpr size_t kNone = SIZE_MAX;
  size_t p = 0, at = 0, star = kNone, star_at = 0;
  while (at < size) {
    if (p < pattern.size() && pattern[p] == "**") {
      star = ++p;
      star_at = at;
    } else if (p < pattern.size() && GlobMatches(pattern[p], path[at], Wildcards::kFree)) {
      ++p;
      ++at;
    } else if (star != kNone) {
      p = star;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == "**") ++p;
  return p == pattern.size();
}

}  // namespace

bool IsShellOperator(char c) {
  switch (c) {
    case ';':
    case '&':
    case '|':
    case '`':
    case '<':
    case '>':
    case '(':  // of "$(", and of what zsh runs in a file name
    case ')':
    case '\x7F':
      return true;
    case '\t':
      return false;
    default:
      return static_cast<unsigned char>(c) < 0x20;
  }
}

// As above, with characters. A guarded star that would have to take an operator ends the search: the operator
// would stand in the way of every other place for what comes before the star, too.
bool GlobMatches(std::string_view pattern, std::string_view text, Wildcards wildcards) {
  const bool guarded = wildcards == Wildcards::kGuarded;
  constexpr size_t kNone = SIZE_MAX;
  size_t p = 0, at = 0, star = kNone, star_at = 0;
  while (at < text.size()) {
    if (p < pattern.size()) {
      const char c = pattern[p];
      if (c == '*') {
        star = ++p;
        star_at = at;
        continue;
      }
      if (c == '?') {
        if (!guarded || !IsShellOperator(text[at])) {
          ++p;
          at += CharacterAt(text, at);
          continue;
        }
      } else {
        const size_t width = c == '\\' && p + 1 < pattern.size() ? 2 : 1;
        if (pattern[p + width - 1] == text[at]) {
          p += width;
          ++at;
          continue;
        }
      }
    }
    if (star == kNone || (guarded && IsShellOperator(text[star_at]))) return false;
    star_at += CharacterAt(text, star_at);
    at = star_at;
    p = star;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string_view GlobProblem(std::string_view pattern) {
  if (pattern.empty()) return "is empty";
  const size_t last = pattern.find_last_not_of('\\');
  const size_t backslashes = pattern.size() - (last == std::string_view::npos ? 0 : last + 1);
  return backslashes % 2 == 1 ? "ends in a backslash that nothing follows" : "";
}

bool IsLiteralGlob(std::string_view pattern) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '*' || pattern[i] == '?') return false;
    if (pattern[i] == '\\') ++i;
  }
  return true;
}

std::string EscapeGlob(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::string UnescapeGlob(std::string_view pattern) {
  std::string out;
  out.reserve(pattern.size());
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    out.push_back(pattern[i]);
  }
  return out;
}

LexicalPath NormalPath(std::string_view path, const LexicalPath& folder) {
  LexicalPath out;
  out.absolute = Absolute(path) || folder.absolute;
  if (!Absolute(path) && folder.absolute) out.parts = folder.parts;
  Append(out.parts, path);
  return out;
}

std::string TextOf(const LexicalPath& path) {
  std::string out;
  for (const std::string& part : path.parts) {
    if (path.absolute || !out.empty()) out.push_back('/');
    out.append(part);
  }
  return !out.empty() ? out : path.absolute ? "/" : ".";
}

bool HasInnerParent(std::string_view pattern) {
  const std::vector<std::string_view> parts = PatternComponents(pattern);
  size_t leading = 0;
  while (!Absolute(pattern) && leading < parts.size() && parts[leading] == "..") ++leading;
  return std::find(parts.begin() + static_cast<std::ptrdiff_t>(leading), parts.end(), "..") != parts.end();
}

bool PathMatches(std::string_view pattern, const LexicalPath& path, const LexicalPath& folder,
                 PathRule rule) {
  const bool allowing = rule == PathRule::kAllowing;
  if (HasInnerParent(pattern) || (allowing && !path.absolute)) return false;
  std::vector<std::string_view> parts = PatternComponents(pattern);
  size_t inside = 0;  // how many of the path's components are the folder's
  if (!Absolute(pattern)) {
    size_t up = 0;
    while (up < parts.size() && parts[up] == "..") ++up;
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(up));
    if (folder.absolute) {
      // The folder's names are names, whatever characters they have.
      inside = folder.parts.size() - std::min(up, folder.parts.size());
      const auto end = folder.parts.begin() + static_cast<std::ptrdiff_t>(inside);
      if (path.parts.size() < inside || !std::equal(folder.parts.begin(), end, path.parts.begin()))
        return false;
    } else if (allowing) {
      return false;
    } else {
      parts.insert(parts.begin(), "**");
    }
  }
  if (!allowing) {
    parts.push_back("**");
  } else if (!parts.empty() && parts.back() == "**") {
    parts.push_back("*");
  }
  return ComponentsMatch(parts, path.parts.data() + inside, path.parts.size() - inside);
}

}  // namespace watchbill::acp
