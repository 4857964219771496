#include "watchbill/net/options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <charconv>
#include <cstdio>
#include <utility>

#include "watchbill/base/status.hpp"
#include "watchbill/net/log.hpp"

namespace watchbill::net {

namespace po = boost::program_options;

namespace {

const OptionSpec kHelp{"help", "", "show this and end", false};
const OptionSpec kLogFormat{"log-format", "json|text",
                            "how lines on standard error are written (default: text)", false};
const OptionSpec kVersion{"version", "", "show the version and end", false};

std::vector<OptionSpec> AllOptions(const ProgramSpec& program) {
  std::vector<OptionSpec> all = program.options;
  all.push_back(kLogFormat);
  all.push_back(kHelp);
  all.push_back(kVersion);
  return all;
}

void AddLine(std::string& out, const std::string& left, std::string_view help) {
  out.append(fmt::format("  {:<22}", left)).append(left.size() > 21 ? "\n" + std::string(24, ' ') : "");
  for (bool first = true; !help.empty(); first = false) {
    const size_t end = help.find('\n');
    if (!first) out.append(24, ' ');
    out.append(help.substr(0, end)).append("\n");
    help = end == std::string_view::npos ? std::string_view() : help.substr(end + 1);
  }
}

void AddOption(std::string& out, const OptionSpec& option) {
  AddLine(out,
          option.argument.empty() ? "--" + option.name : fmt::format("--{} {}", option.name, option.argument),
          option.help);
}

void AddEnd(std::string& out, const std::string& more) {
  if (!more.empty()) out.append("\n").append(more).append("\n");
  out.append(
      "\nExit codes: 0 done, 1 failed, 2 the command line is wrong, 3 the address cannot be listened on,\n"
      "4 a file or folder cannot be used, 5 refused by the other side or for want of a token.\n");
}

// The last words of a command line, behind the first `--`.
size_t WordsBehindDashes(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") return static_cast<size_t>(argc - i - 1);
  }
  return 0;
}

std::string ListOf(const std::vector<std::string>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i)
    out.append(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ").append(words[i]);
  return out;
}

// As many changes, or neighbours that changed places, as make one of the other.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, row);
  }
  return last[b.size()];
}

ProgramSpec AsProgram(const ProgramSpec& program, const CommandSpec& command) {
  return {program.name + " " + command.name,
          command.summary,
          command.usage,
          command.options,
          command.more,
          command.arguments};
}

// What every program does with the options that every program has; the exit code where that is all there is
// to do.
std::optional<int> CarryOut(const Options& options, std::string_view program, const std::string& help) {
  if (options.has(kHelp.name)) {
    std::fputs(help.c_str(), stdout);
    return kExitDone;
  }
  if (options.has(kVersion.name)) {
    fmt::print("{} {}\n", program, WATCHBILL_VERSION);
    return kExitDone;
  }
  const std::string format = options.value(kLogFormat.name).value_or("text");
  SetLogFormat(format == "json" ? LogFormat::kJson : LogFormat::kText);
  if (format == "json" || format == "text") return std::nullopt;
  return Complain(program, "--log-format is json or text", kExitUsage);
}

}  // namespace

bool Options::has(std::string_view name) const { return given_.find(name) != given_.end(); }

std::optional<std::string> Options::value(std::string_view name) const {
  const auto it = given_.find(name);
  if (it == given_.end() || it->second.empty()) return std::nullopt;
  return it->second.back();
}

const std::vector<std::string>& Options::values(std::string_view name) const {
  static const std::vector<std::string> kNone;
  const auto it = given_.find(name);
  return it == given_.end() ? kNone : it->second;
}

const std::vector<std::string>& Options::arguments(std::string_view name) const {
  static const std::vector<std::string> kNone;
  const auto it = named_arguments_.find(name);
  return it == named_arguments_.end() ? kNone : it->second;
}

absl::StatusOr<int64_t> Options::number(std::string_view name, int64_t otherwise, int64_t least,
                                        int64_t most) const {
  const auto text = value(name);
  if (!text) return otherwise;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < least || number > most) {
    return absl::InvalidArgumentError(
        fmt::format("--{} is a number from {} to {}, not \"{}\"", name, least, most, *text));
  }
  return number;
}

absl::StatusOr<Options> ParseOptions(const ProgramSpec& program, int argc, char** argv) {
  po::options_description known;
  for (const OptionSpec& option : AllOptions(program)) {
    if (option.argument.empty()) {
      known.add_options()(option.name.c_str(), option.help.c_str());
    } else {
      known.add_options()(option.name.c_str(), po::value<std::string>(), option.help.c_str());
    }
  }
  const auto wrong = [&](std::string_view what) {
    return absl::InvalidArgumentError(fmt::format("{}; see {} --help", what, program.name));
  };
  // A text that is only meant to be passed on may look like an option.
  const auto unknown = [&](std::string_view word) {
    return wrong(fmt::format("there is no option {}{}", word,
                             program.arguments.empty() ? "" : " (what is no option goes behind --)"));
  };
  Options out;
  try {
    const po::positional_options_description none;
    // No guessing: --por is not --port, and a later version may have another --por….
    const int style = po::command_line_style::allow_long | po::command_line_style::long_allow_next |
                      po::command_line_style::long_allow_adjacent;
    po::command_line_parser parser(argc, argv);
    parser.options(known).style(style);
    if (program.arguments.empty()) parser.positional(none);
    const auto parsed = parser.run();
    for (const auto& option : parsed.options) {
      if (option.string_key.empty()) {
        out.arguments_.insert(out.arguments_.end(), option.value.begin(), option.value.end());
        continue;
      }
      auto& values = out.given_[option.string_key];
      values.insert(values.end(), option.value.begin(), option.value.end());
    }
  } catch (const po::unknown_option& e) {
    return unknown(e.get_option_name());
  } catch (const po::too_many_positional_options_error&) {
    return wrong("every argument is an option that begins with --");
  } catch (const po::invalid_command_line_syntax& e) {
    return wrong(fmt::format("{} is not given as it should be: {}", e.get_option_name(), e.what()));
  } catch (const po::error& e) {
    return wrong(e.what());
  }
  for (const OptionSpec& option : AllOptions(program)) {
    const auto& values = out.values(option.name);
    if (!option.repeats && values.size() > 1)
      return wrong(fmt::format("--{} is given more than once", option.name));
    for (const std::string& value : values) {
      if (value.empty()) return wrong(fmt::format("--{} needs {}", option.name, option.argument));
    }
  }
  const size_t checked =
      out.arguments_.size() - std::min(out.arguments_.size(), WordsBehindDashes(argc, argv));
  for (size_t i = 0; i < checked; ++i) {
    if (out.arguments_[i].size() > 1 && out.arguments_[i].starts_with('-')) return unknown(out.arguments_[i]);
  }
  // Who asks for help does not know yet what is needed.
  if (out.has(kHelp.name) || out.has(kVersion.name)) return out;
  auto word = out.arguments_.begin();
  for (const ArgumentSpec& argument : program.arguments) {
    if (!argument.unless.empty() && out.has(argument.unless)) continue;
    if (word == out.arguments_.end()) {
      if (argument.optional) break;
      return wrong(fmt::format("it needs {}", argument.name));
    }
    const auto end = argument.repeats ? out.arguments_.end() : word + 1;
    out.named_arguments_[argument.name].assign(word, end);
    word = end;
  }
  if (word != out.arguments_.end()) return wrong(fmt::format("\"{}\" is one argument too many", *word));
  return out;
}

std::string HelpText(const ProgramSpec& program) {
  std::string out = fmt::format("{}\n\nUsage: {}\n\n", program.summary, program.usage);
  for (const ArgumentSpec& argument : program.arguments) AddLine(out, argument.name, argument.help);
  if (!program.arguments.empty()) out.append("\n");
  for (const OptionSpec& option : AllOptions(program)) AddOption(out, option);
  AddEnd(out, program.more);
  return out;
}

std::string HelpText(const ProgramSpec& program, const std::vector<CommandSpec>& commands) {
  std::string out = fmt::format("{}\n\nUsage: {}\n\nCommands:\n", program.summary, program.usage);
  for (const CommandSpec& command : commands) AddLine(out, command.name, command.summary);
  out.append(fmt::format("\n{} COMMAND --help says what a command takes.\n\n", program.name));
  AddOption(out, kHelp);
  AddOption(out, kVersion);
  AddEnd(out, program.more);
  return out;
}

std::string HelpText(const ProgramSpec& program, const CommandSpec& command) {
  return HelpText(AsProgram(program, command));
}

absl::StatusOr<Command> ParseCommands(const ProgramSpec& program, const std::vector<CommandSpec>& commands,
                                      int argc, char** argv) {
  const auto wrong = [&](std::string_view what) {
    return absl::InvalidArgumentError(fmt::format("{}; see {} --help", what, program.name));
  };
  std::vector<std::string> names;
  for (const CommandSpec& command : commands) names.push_back(command.name);
  if (argc < 2) return wrong(fmt::format("it needs a command: {}", ListOf(names)));
  std::vector<std::string> words;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) words.emplace_back(argv[i]);
  if (words.empty()) {
    const std::string_view first = argv[1];
    if (first != "--help" && first != "--version")
      return wrong(fmt::format("the command comes before its options, not behind {}", first));
    Command out;
    auto options = ParseOptions({program.name, "", "", {}, ""}, argc, argv);
    if (!options.ok()) return options.status();
    out.options = *std::move(options);
    return out;
  }
  // A name of two words before one of one.
  for (const size_t count : {2, 1}) {
    if (words.size() < count) continue;
    const std::string name = count == 2 ? words[0] + " " + words[1] : words[0];
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) continue;
    const CommandSpec& command = commands[static_cast<size_t>(found - names.begin())];
    // What stands where the program's name did is not read.
    auto options = ParseOptions(AsProgram(program, command), argc - static_cast<int>(count), argv + count);
    if (!options.ok()) return options.status();
    return Command{name, *std::move(options)};
  }
  // `config` alone, or `config chek`: those that begin so are all that can be meant.
  std::vector<std::string> begun;
  for (const std::string& name : names) {
    if (name.starts_with(words[0] + " ")) begun.push_back(name);
  }
  if (!begun.empty() && words.size() == 1)
    return wrong(fmt::format("{} needs another word: {}", words[0], ListOf(begun)));
  const std::string word = begun.empty() ? words[0] : words[0] + " " + words[1];
  const auto near = NearestName(word, begun.empty() ? names : begun);
  return wrong(fmt::format("there is no command \"{}\"{}", word,
                           near ? fmt::format(" (did you mean {}?)", *near) : ""));
}

std::optional<std::string> NearestName(std::string_view word, const std::vector<std::string>& names) {
  std::optional<std::string> nearest;
  // A third of it may be wrong, and of a short one a letter. What is much longer than any name is none
  // misspelt.
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : names) {
    if (word.size() > 2 * name.size() + 1) continue;
    const size_t distance = Distance(word, name);
    if (distance < least && distance < name.size()) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

Parsed ParseOrExplain(const ProgramSpec& program, int argc, char** argv) {
  Parsed parsed;
  auto options = ParseOptions(program, argc, argv);
  if (!options.ok()) {
    parsed.exit = Complain(program.name, MessageOf(options.status()), kExitUsage);
    return parsed;
  }
  parsed.options = *std::move(options);
  parsed.exit = CarryOut(parsed.options, program.name, HelpText(program));
  return parsed;
}

ParsedCommand ParseCommandOrExplain(const ProgramSpec& program, const std::vector<CommandSpec>& commands,
                                    int argc, char** argv) {
  ParsedCommand parsed;
  auto command = ParseCommands(program, commands, argc, argv);
  if (!command.ok()) {
    parsed.exit = Complain(program.name, MessageOf(command.status()), kExitUsage);
    return parsed;
  }
  parsed.command = std::move(command->name);
  parsed.options = std::move(command->options);
  std::string help = HelpText(program, commands);
  for (const CommandSpec& one : commands) {
    if (one.name == parsed.command) help = HelpText(program, one);
  }
  parsed.exit = CarryOut(parsed.options, program.name, help);
  return parsed;
}

int Complain(std::string_view program, std::string_view sentence, int code) {
  fmt::print(stderr, "{}: {}\n", program, sentence);
  return code;
}

}  // namespace watchbill::net
