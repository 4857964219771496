// Why an agent does not run, so that a person can do something about it.
#pragma once

#include <string>
#include <vector>

namespace watchbill::supervisor {

struct StartReport {
  std::string agent;
  std::string says;  // goes on from the agent's name: "ended before it answered: exit code 127"
  std::string command;
  std::vector<std::string> args;
  std::string program;  // where the command was found; empty: it was not
  std::string folder;
  std::string path;    // where programs are looked for; empty: it does not matter here
  std::string errors;  // the last lines of its standard error, indented; empty: it wrote none
  std::string noise;   // lines on its standard output that are no messages, indented
};

// Several lines: what happened, what was run, where it was found, in which folder, what it said last.
std::string Describe(const StartReport& report);

// The words of a command line, quoted where a shell would need it.
std::string CommandLine(const std::string& command, const std::vector<std::string>& args);
// The same the other way: words of a line, as a shell splits them with its quotes and backslashes alone.
// Nothing where a quote is not closed.
std::vector<std::string> SplitCommandLine(const std::string& line, bool* closed);

}  // namespace watchbill::supervisor
