#include "watchbill/net/dotenv.hpp"

namespace watchbill::net {
namespace {

std::string_view Trim(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

bool IsVariableName(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
         std::string_view::npos;
}

std::map<std::string, std::string> ParseDotEnv(std::string_view text) {
  std::map<std::string, std::string> out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = Trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.starts_with("export ")) line = Trim(line.substr(7));
    const size_t equals = line.find('=');
    if (line.starts_with('#') || equals == std::string_view::npos) continue;
    const std::string_view name = Trim(line.substr(0, equals));
    std::string_view value = Trim(line.substr(equals + 1));
    if (!IsVariableName(name)) continue;
    if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') &&
        value.find(value[0], 1) != std::string_view::npos) {
      value = value.substr(1, value.find(value[0], 1) - 1);
    } else {
      const size_t comment = value.find(" #");
      value = Trim(value.substr(0, comment));
    }
    if (value.find('\0') == std::string_view::npos) out[std::string(name)] = value;
  }
  return out;
}

}  // namespace watchbill::net
