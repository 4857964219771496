// The configuration file: one YAML document (JSON is read too).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace watchbill::supervisor {

// Something wrong at a place of the file. Lines and columns count from 1, columns in characters.
struct Problem {
  int line = 1, column = 1;
  std::string message;   // a sentence: what, and what was expected
  bool warning = false;  // the file can be used all the same
};

struct AgentConfig {
  std::string name;  // [A-Za-z0-9][A-Za-z0-9_-]{0,63}, unique whatever the case
  std::string title, icon, description;
  std::string command;  // the program: a name to be found, or a path as it was said, but for "~/"
  std::vector<std::string> args;
  std::map<std::string, std::string> env;  // beside the supervisor's own; "${NAME}" is not expanded
  std::string cwd;                         // absolute; of the file's folder where it was relative or not said
  friend bool operator==(const AgentConfig&, const AgentConfig&) = default;
};

struct Config {
  std::string theme = "system";     // system light dark
  std::string language = "system";  // system en fr
  int max_running_agents = 0;       // 0: no limit
  std::int64_t stop_idle_ms = 0;    // 0: never
  std::vector<AgentConfig> agents;  // in the file's order
};

struct ReadConfig {
  Config config;  // what could be understood; to be used only where `valid`
  // In the file's order, warnings among them. The first hundred; an error is never cut off by warnings.
  std::vector<Problem> problems;
  bool valid() const;  // no problem but warnings
};

// `folder`: the file's own, absolute. `home`: for a leading "~/"; may be empty. Touches no file. Never fails
// and never throws: what is wrong is a Problem at the key or value that is meant. No message shows a token or
// a variable's value. Bounds: 1 MiB, 10,000 values (what an alias stands for counts each time), 32 levels.
ReadConfig ParseConfig(std::string_view text, const std::string& folder, const std::string& home);

// "config.yaml:3:5: sentence", or "config.yaml:3:5: warning: sentence", for people.
std::string Describe(const std::string& path, const Problem& problem);

// Where things are, made from the environment (XDG_CONFIG_HOME where it is absolute, else HOME). What neither
// of them says is empty.
struct Places {
  std::string folder;  // "~/.config/sidekicks"
  std::string config;  // "~/.config/sidekicks/config.yaml", the default
  std::string home;
};
Places PlacesFor(const std::map<std::string, std::string>& environment);

// The 16 hex digits under which the history of a configuration file is kept: the first of the SHA-256 of its
// absolute, lexically normal path.
std::string HistoryKey(const std::string& absolute_path);

// What a first start writes, itself valid: comments that explain the file, and one agent where
// `example_agent` (a path) is not empty.
std::string StarterConfig(const std::string& example_agent);

}  // namespace watchbill::supervisor
