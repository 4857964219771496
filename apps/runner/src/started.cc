#include "started.hpp"

#include <fmt/core.h>

#include <cstdio>

#include "json_document.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/files.hpp"
#include "watchbill/net/log.hpp"

namespace watchbill::runner {

absl::StatusOr<StartedFile> StartedFile::Load(std::string path) {
  StartedFile file;
  file.path_ = std::move(path);
  const auto text = net::ReadFile(file.path_);
  if (absl::IsNotFound(text.status())) return file;
  if (!text.ok()) return text.status();
  json::Document document({.bytes = 64 << 20, .depth = 8});
  if (absl::Status status = document.Parse(*text); !status.ok()) {
    const std::string aside = file.path_ + ".unreadable";
    std::rename(file.path_.c_str(), aside.c_str());
    net::Log(net::LogLevel::kWarn, "what was started earlier cannot be read and was set aside",
             {{"file", aside}, {"why", MessageOf(status)}});
    return file;
  }
  const json::Value list = document.root()["started"];
  for (json::Value entry = list.First(); !entry.absent(); entry = entry.Next()) {
    const auto folder = entry["folder"].AsString();
    StartedProcess process;
    process.process.pid = static_cast<pid_t>(entry["pid"].AsInt().value_or(0));
    process.process.started = static_cast<uint64_t>(entry["started"].AsInt().value_or(0));
    process.process.boot = entry["boot"].AsString().value_or("");
    process.at_wall_ms = entry["at"].AsInt().value_or(0);
    if (folder && process.process.pid > 1 && net::StillRuns(process.process)) {
      file.folders_[std::string(*folder)] = process;
    }
  }
  return file;
}

absl::Status StartedFile::Write(const std::map<std::string, StartedProcess>& folders) const {
  std::string text;
  JsonWriter w(text);
  w.Begin('{').Key("started").Begin('[');
  for (const auto& [folder, p] : folders) {
    w.Begin('{').Key("folder").String(folder).Key("pid").Int(p.process.pid);
    w.Key("started").Int(static_cast<int64_t>(p.process.started)).Key("boot").String(p.process.boot);
    w.Key("at").Int(p.at_wall_ms).End('}');
  }
  w.End(']').End('}');
  text.push_back('\n');
  return net::ReplaceFile(path_, text);
}

absl::Status StartedFile::Put(const std::string& folder, const StartedProcess& process) {
  auto next = folders_;
  next[folder] = process;
  if (absl::Status status = Write(next); !status.ok()) return status;
  folders_ = std::move(next);
  return absl::OkStatus();
}

absl::Status StartedFile::Remove(const std::string& folder) {
  auto next = folders_;
  if (next.erase(folder) == 0) return absl::OkStatus();
  if (absl::Status status = Write(next); !status.ok()) return status;
  folders_ = std::move(next);
  return absl::OkStatus();
}

}  // namespace watchbill::runner
