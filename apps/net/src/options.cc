#include "watchbill/net/options.hpp"

#include <fmt/core.h>

#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <charconv>
#include <cstdio>

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
  Options out;
  try {
    const po::positional_options_description none;
    // No guessing: --por is not --port, and a later version may have another --por….
    const int style = po::command_line_style::allow_long | po::command_line_style::long_allow_next |
                      po::command_line_style::long_allow_adjacent;
    const auto parsed =
        po::command_line_parser(argc, argv).options(known).positional(none).style(style).run();
    for (const auto& option : parsed.options) {
      auto& values = out.given_[option.string_key];
      values.insert(values.end(), option.value.begin(), option.value.end());
    }
  } catch (const po::unknown_option& e) {
    return wrong(fmt::format("there is no option {}", e.get_option_name()));
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
  return out;
}

std::string HelpText(const ProgramSpec& program) {
  std::string out = fmt::format("{}\n\nUsage: {}\n\n", program.summary, program.usage);
  for (const OptionSpec& option : AllOptions(program)) {
    const std::string left =
        option.argument.empty() ? "--" + option.name : fmt::format("--{} {}", option.name, option.argument);
    std::string_view rest = option.help;
    out.append(fmt::format("  {:<22}", left))
        .append(left.size() > 21 ? "\n" + std::string(24, ' ') : std::string());
    for (bool first = true; !rest.empty(); first = false) {
      const size_t end = rest.find('\n');
      if (!first) out.append(24, ' ');
      out.append(rest.substr(0, end)).append("\n");
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  if (!program.more.empty()) out.append("\n").append(program.more).append("\n");
  out.append(
      "\nExit codes: 0 done, 1 failed, 2 the command line is wrong, 3 the address cannot be listened on,\n"
      "4 a file or folder cannot be used, 5 refused by the other side or for want of a token.\n");
  return out;
}

Parsed ParseOrExplain(const ProgramSpec& program, int argc, char** argv) {
  Parsed parsed;
  auto options = ParseOptions(program, argc, argv);
  if (!options.ok()) {
    parsed.exit = Complain(program.name, MessageOf(options.status()), kExitUsage);
  } else if (options->has("help")) {
    std::fputs(HelpText(program).c_str(), stdout);
    parsed.exit = kExitDone;
  } else if (options->has("version")) {
    fmt::print("{} {}\n", program.name, WATCHBILL_VERSION);
    parsed.exit = kExitDone;
  } else {
    parsed.options = *std::move(options);
    const std::string format = parsed.options.value(kLogFormat.name).value_or("text");
    SetLogFormat(format == "json" ? LogFormat::kJson : LogFormat::kText);
    if (format != "json" && format != "text") {
      parsed.exit = Complain(program.name, "--log-format is json or text", kExitUsage);
    }
  }
  return parsed;
}

int Complain(std::string_view program, std::string_view sentence, int code) {
  fmt::print(stderr, "{}: {}\n", program, sentence);
  return code;
}

}  // namespace watchbill::net
