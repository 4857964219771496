#include "start_report.hpp"

#include <fmt/core.h>

#include <utility>

namespace watchbill::supervisor {
namespace {

std::string Quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out.append("'\\''");
    } else {
      out.push_back(c);
    }
  }
  return out + "'";
}

}  // namespace

std::string CommandLine(const std::string& command, const std::vector<std::string>& args) {
  std::string out = Quoted(command);
  for (const std::string& arg : args) out.append(" ").append(Quoted(arg));
  return out;
}

std::vector<std::string> SplitCommandLine(const std::string& line, bool* closed) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '\'') {
      if (c == '\'') {
        quote = 0;
      } else {
        word.push_back(c);
      }
    } else if (c == '\\' && i + 1 < line.size()) {
      // Between double quotes a backslash is itself, but before what is special there.
      const char next = line[i + 1];
      if (quote == '"' && next != '"' && next != '\\' && next != '$' && next != '`') word.push_back(c);
      word.push_back(next);
      in_word = true;
      ++i;
    } else if (quote == '"') {
      if (c == '"') {
        quote = 0;
      } else {
        word.push_back(c);
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word.push_back(c);
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  *closed = quote == 0;
  return words;
}

std::string Describe(const StartReport& r) {
  std::string out = fmt::format("{} {}.\nCommand: {}", r.agent, r.says, CommandLine(r.command, r.args));
  if (!r.program.empty() && r.program != r.command) out.append("\nFound at: ").append(r.program);
  out.append("\nFolder: ").append(r.folder);
  if (!r.path.empty()) out.append("\nPATH: ").append(r.path);
  if (!r.errors.empty()) {
    out.append("\nThe last lines of its standard error:\n").append(r.errors);
  } else if (!r.program.empty()) {
    out.append("\nIt wrote nothing on its standard error.");
  }
  if (!r.noise.empty())
    out.append("\nWhat it wrote on its standard output instead of messages:\n").append(r.noise);
  return out;
}

}  // namespace watchbill::supervisor
