#include "acp_recording.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "json_document.hpp"

namespace watchbill::acp::golden {

using From = Entry::From;
using What = Entry::What;

Entry Listener::Hear(From from, std::string_view line, bool as_is) {
  Entry entry;
  entry.from = from;
  entry.line = line;
  entry.as_is = as_is;
  json::Document document({.bytes = 64 << 20, .depth = 80});
  if (!document.Parse(line).ok() || !document.root().is_object()) return entry;
  const json::Value root = document.root();
  const auto method = root["method"].AsString();
  auto& mine = asked_[from == From::kClient ? 0 : 1];
  const auto& theirs = asked_[from == From::kClient ? 1 : 0];
  entry.id = root["id"].text().text();
  if (method) {
    entry.what = entry.id.empty() ? What::kNotification : What::kRequest;
    entry.method = *method;
    entry.body = root["params"].text().text();
    if (!entry.id.empty()) mine[entry.id] = entry.method;
  } else if (!root["result"].absent() || !root["error"].absent()) {
    entry.what = What::kAnswer;
    entry.body = root["result"].text().text();
    entry.error = root["error"].text().text();
    if (const auto asked = theirs.find(entry.id); asked != theirs.end()) entry.method = asked->second;
  }
  if (!as_is) entry.line = root.text().text();
  return entry;
}

namespace {

std::vector<std::string> Texts(const json::Value& list) {
  std::vector<std::string> texts;
  for (json::Value v = list.First(); !v.absent(); v = v.Next()) texts.emplace_back(v.AsString().value_or(""));
  return texts;
}

}  // namespace

Recording ReadRecording(const std::filesystem::path& path) {
  Recording recording{path.stem().string(), {}, {}};
  std::ifstream file(path);
  json::Document document({.bytes = 64 << 20, .depth = 80});
  Listener listener;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!document.Parse(line).ok()) {
      throw std::runtime_error(fmt::format("{}:{} is no JSON", path.string(), number));
    }
    const json::Value root = document.root();
    const auto dir = root["dir"].AsString();
    if (dir == "end") recording.ends = Texts(root["reads"]);
    if (dir != "client->agent" && dir != "agent->client") continue;
    const json::Value message = root["msg"];
    const std::string_view text =
        message.absent() ? root["raw"].AsString().value_or("") : message.text().text();
    Entry entry =
        listener.Hear(dir == "client->agent" ? From::kClient : From::kAgent, text, message.absent());
    entry.reads = Texts(root["reads"]);
    recording.entries.push_back(std::move(entry));
  }
  if (recording.entries.empty()) {
    throw std::runtime_error(fmt::format("{} holds no conversation", path.string()));
  }
  return recording;
}

std::vector<std::filesystem::path> RecordingsIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code ec;
  for (std::filesystem::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->path().extension() == ".ndjson") files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Recording> Transcripts() {
  const char* set = std::getenv("WATCHBILL_TRANSCRIPTS");
  const std::string folder = set != nullptr ? set : WATCHBILL_TRANSCRIPTS;
  std::vector<Recording> all;
  for (const auto& path : RecordingsIn(folder)) all.push_back(ReadRecording(path));
  if (all.empty()) {
    std::fprintf(stderr,
                 "SKIPPED: no transcripts of agents in \"%s\"; -DWATCHBILL_TRANSCRIPTS=<folder> names one\n",
                 folder.c_str());
  }
  return all;
}

std::vector<Recording> Talks() {
  std::vector<Recording> all;
  for (const auto& path : RecordingsIn(WATCHBILL_GOLDEN_DIR "/acp/talks")) all.push_back(ReadRecording(path));
  return all;
}

}  // namespace watchbill::acp::golden
