// Patterns of permission rules. `*` stands for any run of characters, `?` for one, `\` takes the meaning from
// the character behind it; everything else is itself. A match costs at most pattern times subject.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace watchbill::acp {

// Wildcards of a guarded match never stand for what ends or starts a command in a shell.
enum class Wildcards { kFree, kGuarded };
bool GlobMatches(std::string_view pattern, std::string_view text, Wildcards wildcards);

// Whether a shell may read the byte as the end of a command, the start of another, or a redirection. Control
// characters, the tab apart, count too.
bool IsShellOperator(char c);

// "" for a pattern that can be used, else what is wrong with it.
std::string_view GlobProblem(std::string_view pattern);
bool IsLiteralGlob(std::string_view pattern);
std::string EscapeGlob(std::string_view text);
// What a literal pattern matches.
std::string UnescapeGlob(std::string_view pattern);

// A path without ".", ".." and empty components.
struct LexicalPath {
  std::vector<std::string> parts;
  bool absolute = false;  // else it was relative and no folder was known
  bool operator==(const LexicalPath&) const = default;
};
// `path`, from `folder` where it is relative and the folder is absolute. ".." at the root stays there.
LexicalPath NormalPath(std::string_view path, const LexicalPath& folder = {});
std::string TextOf(const LexicalPath& path);

// `**` as a whole component stands for any number of them, other wildcards stay within theirs. A relative
// pattern begins at the folder, and ".." may only stand at its beginning.
// Allowing: the whole path has to match, `**` at the end stands for at least one component, and a path or a
// pattern that is relative to no folder matches nothing. Refusing: what lies in a folder that matches,
// matches too, and what is relative to no folder matches anywhere.
enum class PathRule { kAllowing, kRefusing };
bool PathMatches(std::string_view pattern, const LexicalPath& path, const LexicalPath& folder, PathRule rule);
// Whether ".." stands where no path can match.
bool HasInnerParent(std::string_view pattern);

}  // namespace watchbill::acp
