// The board's own list: agents.json, which people also edit by hand.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/board/events.hpp"

namespace watchbill::monitor {

// {"agents": [{"id": "…", "name": "…", "folder": "…", "host": "…", "note": "…"}], …}
// Keys that are not known here, and the order of all of them, are kept when it is written again.
class AgentsFile {
 public:
  // An empty list where there is no file. InvalidArgument says what is wrong, and at which line and column or
  // in which entry; the file is then left as it is.
  static absl::StatusOr<AgentsFile> Load(std::string path);

  AgentsFile(AgentsFile&&) noexcept;
  AgentsFile& operator=(AgentsFile&&) noexcept;
  ~AgentsFile();

  const std::vector<board::KeyedAgent>& agents() const { return agents_; }
  // Adds it, or changes the one with its id, and writes the file. Where that fails, nothing has changed.
  absl::Status Put(const board::KeyedAgent& agent);
  // NotFound where it is not on the list.
  absl::Status Remove(std::string_view id);
  // Whether somebody else has written the file since this was read or written.
  bool Changed() const;

 private:
  struct Text;
  AgentsFile();
  absl::Status Write(std::unique_ptr<Text> next);

  std::string path_;
  uint64_t version_ = 0;
  std::unique_ptr<Text> text_;
  std::vector<board::KeyedAgent> agents_;
};

// Whether this can be an agent's id: 8-4-4-4-12 hex digits.
bool IsFlowId(std::string_view id);

// What the body of POST /api/agents says. `field` is set to the member that is wrong.
absl::StatusOr<board::KeyedAgent> ReadKeyedAgent(std::string_view body, std::string& field);

// [{"id", "name", "folder", "host", "note"}], null where it is not said.
std::string WriteKeyedAgents(const std::vector<board::KeyedAgent>& agents);

}  // namespace watchbill::monitor
