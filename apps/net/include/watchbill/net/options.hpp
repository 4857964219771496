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

struct ProgramSpec {
  std::string name;     // "watchbill-monitor"
  std::string summary;  // one sentence
  std::string usage;    // "watchbill-monitor [options]"
  std::vector<OptionSpec> options;
  std::string more;  // below the options
};

class Options {
 public:
  bool has(std::string_view name) const;
  // The last that was given; nothing where none was.
  std::optional<std::string> value(std::string_view name) const;
  const std::vector<std::string>& values(std::string_view name) const;
  // InvalidArgument names the option and the range.
  absl::StatusOr<int64_t> number(std::string_view name, int64_t otherwise, int64_t least, int64_t most) const;

 private:
  friend absl::StatusOr<Options> ParseOptions(const ProgramSpec&, int, char**);
  std::map<std::string, std::vector<std::string>, std::less<>> given_;
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

// "watchbill-monitor: sentence" on standard error; gives `code`.
int Complain(std::string_view program, std::string_view sentence, int code);

}  // namespace watchbill::net
