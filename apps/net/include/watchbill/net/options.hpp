// The command line of a program.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace watchbill::net {

// Exit codes, the same in every program.
enum ExitCode : int {
  kExitDone = 0,
  kExitFailed = 1,   // whatever has no code of its own
  kExitUsage = 2,    // the command line was not understood
  kExitAddress = 3,  // the address cannot be listened on
  kExitData = 4,     // a file or folder cannot be read, written or understood
  kExitRefused = 5,  // the other side refused: a wrong token, a host without one
};

struct OptionSpec {
  std::string name;      // "port"
  std::string argument;  // "PORT"; empty: a switch
  std::string help;
  bool repeats = false;
};

// A word that is no option. Where a program or command has any, words that begin with - come behind `--`,
// which ends the options.
struct ArgumentSpec {
  std::string name;  // "FILE"
  std::string help;
  bool optional = false;  // those behind it are too
  bool repeats = false;   // takes what is left, the last of them
  std::string unless;     // where this option is given, the argument is not: "command"
};

struct ProgramSpec {
  std::string name;     // "watchbill-monitor"
  std::string summary;  // one sentence
  std::string usage;    // "watchbill-monitor [options]"
  std::vector<OptionSpec> options;
  std::string more;  // below the options: what else there is to say, such as exit codes of its own
  std::vector<ArgumentSpec> arguments = {};
};

// One of the things that a program can be asked to do, as its first words.
struct CommandSpec {
  std::string name;     // "ask", "config check"
  std::string summary;  // one sentence; its first words are all that the program's help has room for
  std::string usage;    // "watchbill-supervisor ask [options] AGENT TEXT..."
  std::vector<OptionSpec> options = {};
  std::vector<ArgumentSpec> arguments = {};
  std::string more = {};
};

class Options {
 public:
  bool has(std::string_view name) const;
  // The last that was given; nothing where none was.
  std::optional<std::string> value(std::string_view name) const;
  const std::vector<std::string>& values(std::string_view name) const;
  // InvalidArgument names the option and the range.
  absl::StatusOr<int64_t> number(std::string_view name, int64_t otherwise, int64_t least, int64_t most) const;

  // The words that are no options, in their order.
  const std::vector<std::string>& arguments() const { return arguments_; }
  // Those of one argument, by its name: one, or more where it repeats; none where it was left out.
  const std::vector<std::string>& arguments(std::string_view name) const;

 private:
  friend absl::StatusOr<Options> ParseOptions(const ProgramSpec&, int, char**);
  std::map<std::string, std::vector<std::string>, std::less<>> given_;
  std::vector<std::string> arguments_;
  std::map<std::string, std::vector<std::string>, std::less<>> named_arguments_;
};

// InvalidArgument is one sentence that names the argument and says where help is.
absl::StatusOr<Options> ParseOptions(const ProgramSpec& program, int argc, char** argv);
std::string HelpText(const ProgramSpec& program);

// Parses, with the options that every program has: --log-format, which is carried out, --help and --version.
// Where it was one of the latter two, or the line is wrong, prints and gives the exit code instead.
struct Parsed {
  Options options;
  std::optional<int> exit;
};
Parsed ParseOrExplain(const ProgramSpec& program, int argc, char** argv);

// The same for a program whose first words are a command. `name` is that of one of `commands`, or empty where
// --help or --version stands in its place. The program's own options are not read: each command has its own.
struct Command {
  std::string name;
  Options options;
};
absl::StatusOr<Command> ParseCommands(const ProgramSpec& program, const std::vector<CommandSpec>& commands,
                                      int argc, char** argv);
// Of the program, with every command and its summary.
std::string HelpText(const ProgramSpec& program, const std::vector<CommandSpec>& commands);
std::string HelpText(const ProgramSpec& program, const CommandSpec& command);

struct ParsedCommand {
  std::string command;
  Options options;
  std::optional<int> exit;
};
ParsedCommand ParseCommandOrExplain(const ProgramSpec& program, const std::vector<CommandSpec>& commands,
                                    int argc, char** argv);

// The one of `names` that somebody who wrote `word` is likely to have meant; nothing where none is near
// enough.
std::optional<std::string> NearestName(std::string_view word, const std::vector<std::string>& names);

// "watchbill-monitor: sentence" on standard error; gives `code`.
int Complain(std::string_view program, std::string_view sentence, int code);

}  // namespace watchbill::net
