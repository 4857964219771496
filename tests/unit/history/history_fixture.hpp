// Messages to keep, and folders to look at.
#pragma once

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "watchbill/base/status.hpp"
#include "watchbill/history/message.hpp"
#include "watchbill/history/store.hpp"

namespace watchbill::history {

inline constexpr const char* kChannelA = "01ARYZ6S41TSV4RRFFQ69G5FAV";
inline constexpr const char* kChannelB = "01ARYZ6S41TSV4RRFFQ69G5FAW";

// The nth id: they grow with n.
inline std::string NthId(size_t n) { return fmt::format("01BX5ZZKBKACTAV9WEVGE{:05}", n); }

inline Message TextMessage(const std::string& channel, const std::string& id, const std::string& text) {
  Message message;
  message.channel = channel;
  message.id = id;
  message.created_ms = 1'790'000'000'000;
  message.parts.push_back(TextPart{text});
  return message;
}

// One that uses everything a message can have.
inline Message FullMessage(const std::string& channel, const std::string& id) {
  Message message = TextMessage(channel, id, "# Déjà vu\n\n\"quoted\" \\ and \xF0\x9F\x99\x82");
  message.created_ms = 1'790'000'000'123;
  message.agent = "codex";
  message.role = Role::kAgent;
  message.parts.push_back(ThoughtPart{"so\tit\x01 goes"});
  ToolCall tool;
  tool.id = "call-1";
  tool.title = "Edit a file";
  tool.kind = "edit";
  tool.status = "completed";
  tool.input = R"({"path":"a.txt"})";
  tool.output = "done\n";
  tool.locations = {{"a.txt", 12}, {"b.txt", std::nullopt}};
  tool.diffs = {{"a.txt", "old", "new", false}, {"c.txt", "", "all new", true}};
  message.parts.push_back(ToolPart{tool});
  message.parts.push_back(PlanPart{{{"look", "high", "completed"}, {"do", "low", "in_progress"}}});
  message.stop_reason = "end_turn";
  message.error = "none";
  message.code = "agent-joined";
  return message;
}

inline void Keep(Store& store, const Message& message) {
  Batch batch;
  REQUIRE(batch.Put(message).ok());
  const absl::Status status = store.Commit(batch);
  REQUIRE_MESSAGE(status.ok(), status.ToString());
}

inline std::unique_ptr<Store> MustOpen(const std::string& folder) {
  auto store = Store::Open(folder);
  REQUIRE_MESSAGE(store.ok(), store.status().ToString());
  return *std::move(store);
}

inline std::string ReadBytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteBytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Every file of a folder by its name, but for the room that is kept free.
inline std::map<std::string, std::string> Contents(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != "RESERVE") files[name] = ReadBytes(entry.path());
  }
  return files;
}

// Closes a store, and leaves its folder as if its process had been killed: what was written last is a log.
inline void CloseAsKilled(std::unique_ptr<Store> store, const std::string& folder) {
  const auto files = Contents(folder);
  store.reset();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  for (const auto& [name, bytes] : files) WriteBytes(folder + "/" + name, bytes);
}

inline bool Says(const absl::Status& status, std::string_view part) {
  return MessageOf(status).find(part) != std::string_view::npos;
}

}  // namespace watchbill::history
