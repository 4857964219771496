// Where the configuration file is and how it begins.
#include <fmt/core.h>
#include <openssl/evp.h>

#include <array>
#include <filesystem>
#include <stdexcept>

#include "config.hpp"
#include "watchbill/base/json_writer.hpp"

namespace watchbill::supervisor {
namespace {

std::string Absolute(const std::map<std::string, std::string>& environment, const char* name) {
  const auto found = environment.find(name);
  return found != environment.end() && found->second.starts_with('/') ? found->second : std::string();
}

}  // namespace

std::string Describe(const std::string& path, const Problem& problem) {
  return fmt::format("{}:{}:{}: {}{}", path, problem.line, problem.column, problem.warning ? "warning: " : "",
                     problem.message);
}

Places PlacesFor(const std::map<std::string, std::string>& environment) {
  Places places{.folder = {}, .config = {}, .home = Absolute(environment, "HOME")};
  // A relative one is to be ignored, says the XDG specification.
  std::filesystem::path settings = Absolute(environment, "XDG_CONFIG_HOME");
  if (settings.empty() && !places.home.empty()) settings = std::filesystem::path(places.home) / ".config";
  if (settings.empty()) return places;
  places.folder = (settings / "sidekicks").lexically_normal().string();
  places.config = places.folder + "/config.yaml";
  return places;
}

std::string HistoryKey(const std::string& absolute_path) {
  const std::string path = std::filesystem::path(absolute_path).lexically_normal().string();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  if (EVP_Digest(path.data(), path.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL gives no SHA-256");  // any other key would hide the history
  }
  std::string key;
  for (size_t i = 0; i < 8; ++i) key += fmt::format("{:02x}", digest[i]);
  return key;
}

std::string StarterConfig(const std::string& example_agent) {
  std::string text =
      "# What watchbill-supervisor runs. It is read when the supervisor starts.\n"
      "\n"
      "# theme: system       # system, light or dark\n"
      "# language: system    # system, en or fr\n"
      "\n"
      "# An agent is a program that speaks the Agent Client Protocol on its standard input and output:\n"
      "#\n"
      "# agents:\n"
      "#   - name: helper                  # how it is called\n"
      "#     title: Helper\n"
      "#     description: Answers questions about this folder.\n"
      "#     command: ~/bin/helper         # one program; its arguments go in args\n"
      "#     args: [--acp]\n"
      "#     env: {LOG_LEVEL: info}        # beside the supervisor's own environment\n"
      "#     cwd: ~/project                # this file's folder, where it is not said\n";
  if (example_agent.empty()) return text + "\nagents: []\n";
  text +=
      "\n"
      "agents:\n"
      "  - name: example\n"
      "    title: Example\n"
      "    description: Comes with the supervisor, to try it out.\n"
      "    command: ";
  AppendJsonString(text, example_agent);  // which YAML reads as it is
  return text + "\n    args: [--acp]\n";
}

}  // namespace watchbill::supervisor
