// Which file a command names, and why one cannot be started.
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "processes.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/child.hpp"
#include "watchbill/net/files.hpp"

namespace watchbill::net {
namespace {

std::string WithFolder(std::string_view path, const std::string& folder) {
  if (path.starts_with('/')) return std::string(path);
  while (path.starts_with("./")) path.remove_prefix(2);
  if (path.empty() || path == ".") return folder;
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", path);
}

// What is wrong with a file that is to be executed; nothing where it can be. `shown` stands before it.
absl::Status CheckProgram(const std::string& path, std::string_view shown) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return absl::NotFoundError(fmt::format("{} does not exist", shown));
    return absl::PermissionDeniedError(
        fmt::format("{} cannot be looked at: {}", shown, std::strerror(errno)));
  }
  if (S_ISDIR(info.st_mode))
    return absl::PermissionDeniedError(fmt::format("{} is a folder, not a program", shown));
  if (!S_ISREG(info.st_mode))
    return absl::PermissionDeniedError(fmt::format("{} is not a file that can be executed", shown));
  if (access(path.c_str(), X_OK) == 0) return absl::OkStatus();
  const auto mode = static_cast<unsigned>(info.st_mode & 07777);
  if ((mode & 0111) == 0) {
    return absl::PermissionDeniedError(
        fmt::format("{} is not executable (mode {:04o}): chmod +x makes it so", shown, mode));
  }
  return absl::PermissionDeniedError(fmt::format("{} may not be executed by this user (mode {:04o}): {}",
                                                 shown, mode, std::strerror(errno)));
}

// The first line of a file that is a script, without its end; nothing where it is none.
std::string ScriptLine(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  char line[256];
  if (file == nullptr || std::fgets(line, sizeof line, file.get()) == nullptr) return "";
  std::string_view text = line;
  if (!text.starts_with("#!")) return "";
  return std::string(text.substr(0, text.find('\n')));
}

// A file's bytes are not for a terminal to obey.
std::string Printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\r') {
      out += "\\r";
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      out += '?';
    } else {
      out += c;
    }
  }
  return out;
}

std::string ListOf(const std::vector<std::string>& folders) {
  std::string out;
  for (const std::string& folder : folders) out.append(out.empty() ? "" : ", ").append(folder);
  return out;
}

}  // namespace

absl::StatusOr<std::string> ResolveProgram(std::string_view command,
                                           const std::map<std::string, std::string>& environment,
                                           const std::string& folder) {
  if (command.empty()) return absl::NotFoundError("there is no program to start: the command is empty");
  if (command.find('\0') != std::string_view::npos)
    return absl::NotFoundError("the name of a program holds no zero byte");
  if (command.find('/') != std::string_view::npos) {
    std::string path = WithFolder(command, folder);
    if (absl::Status status = CheckProgram(path, path); !status.ok()) return status;
    return path;
  }
  const auto found = environment.find("PATH");
  if (found == environment.end() || found->second.empty()) {
    return absl::NotFoundError(fmt::format("\"{}\" was not found: PATH is {}", command,
                                           found == environment.end() ? "not set" : "empty"));
  }
  std::vector<std::string> looked;
  absl::Status unusable;
  std::string_view rest = found->second;
  for (bool more = true; more;) {
    const size_t colon = rest.find(':');
    // An empty entry is the folder that the program starts in, as for execvp.
    const std::string entry = WithFolder(rest.substr(0, colon), folder);
    more = colon != std::string_view::npos;
    if (more) rest.remove_prefix(colon + 1);
    looked.push_back(entry.size() > 1 && entry.ends_with('/') ? entry.substr(0, entry.size() - 1) : entry);
    std::string path = fmt::format("{}/{}", looked.back() == "/" ? "" : looked.back(), command);
    absl::Status status = CheckProgram(path, path);
    if (status.ok()) return path;
    // Such a one is passed over, but is worth more than "not found" where nothing better comes. A folder of
    // that name is not what was meant.
    struct stat info {};
    if (unusable.ok() && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode))
      unusable = std::move(status);
  }
  if (!unusable.ok()) return unusable;
  return absl::NotFoundError(fmt::format("\"{}\" was not found in PATH ({})", command, ListOf(looked)));
}

absl::Status ExplainExec(const std::string& program, const std::string& folder, int error) {
  const std::string where = fmt::format("cannot start {} in {}", program, folder);
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) {
    const int why = errno;
    if (why == ENOENT || why == ENOTDIR)
      return absl::NotFoundError(
          fmt::format("cannot start {}: the folder {} does not exist", program, folder));
    return absl::PermissionDeniedError(fmt::format("cannot start {}: the folder {} cannot be used: {}",
                                                   program, folder, std::strerror(why)));
  }
  if (!S_ISDIR(info.st_mode))
    return absl::NotFoundError(fmt::format("cannot start {}: {} is not a folder", program, folder));
  if (access(folder.c_str(), X_OK) != 0) {
    return absl::PermissionDeniedError(fmt::format("cannot start {}: the folder {} cannot be entered: {}",
                                                   program, folder, std::strerror(errno)));
  }
  if (const absl::Status status = CheckProgram(program, "it"); !status.ok())
    return absl::Status(status.code(), ToAbsl(fmt::format("{}: {}", where, MessageOf(status))));

  if (const std::string line = ScriptLine(program); !line.empty()) {
    const size_t from = line.find_first_not_of(" \t", 2);
    const std::string interpreter =
        from == std::string::npos ? "" : line.substr(from, line.find_first_of(" \t", from) - from);
    const std::string path = WithFolder(interpreter, folder);
    const absl::Status status =
        interpreter.empty() ? absl::OkStatus() : CheckProgram(path, Printable(interpreter));
    if (!status.ok()) {
      return absl::Status(
          status.code(),
          ToAbsl(fmt::format("{}: its interpreter {} (first line \"{}\"){}{}", where, Printable(interpreter),
                             Printable(line), MessageOf(status).substr(Printable(interpreter).size()),
                             line.ends_with('\r')
                                 ? "; that line ends in a carriage return, which belongs to the name"
                                 : "")));
    }
  }
  if (error == ENOENT) {
    return absl::NotFoundError(fmt::format(
        "{}: the file is there, but the loader that it names is not (is it made for another system?)",
        where));
  }
  if (error == ENOEXEC) {
    return absl::FailedPreconditionError(fmt::format(
        "{}: it is neither a program for this machine nor a script that begins with #! and its interpreter",
        where));
  }
  const std::string text = fmt::format("{}: {}", where, std::strerror(error));
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
  return absl::UnavailableError(text);
}

}  // namespace watchbill::net
