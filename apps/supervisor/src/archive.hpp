// What is kept of the conversations: on disk, or in memory where the disk cannot be used.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "channels/channels.hpp"
#include "watchbill/history/store.hpp"

namespace watchbill::supervisor {

// (Reference, "History", Unavailable: the history lives in memory until the supervisor ends, and
// `historyProblem` says why.) One thread.
class Archive : public channels::Past {
 public:
  // Never fails: what is wrong is the problem.
  explicit Archive(const std::string& folder);

  // Empty: everything is on disk.
  const std::string& problem() const { return problem_; }

  // What was kept before. Where it cannot be read there is none, and the problem says why.
  std::vector<history::Channel> Channels();
  std::vector<history::Member> Members(std::string_view channel);

  // On the disk when it returns. Where that fails, it is in memory, and the problem says so until a later one
  // brings all of it to the disk.
  void Keep(const channels::Outcome& outcome);

  std::vector<history::Message> Last(std::string_view channel, size_t limit) const override;
  history::Page LastPage(std::string_view channel, size_t limit) const;
  history::Page PageBefore(std::string_view channel, std::string_view id, size_t limit) const;
  // JSON; "[]" where it never announced any.
  std::string Commands(std::string_view agent) const;

 private:
  void Unread(const absl::Status& why);
  history::Page Merged(std::string_view channel, std::string_view before, size_t limit) const;

  absl::Status TryToKeep(const history::Batch& batch);

  std::unique_ptr<history::Store> store_;
  std::string problem_;
  history::Batch backlog_;                                                       // what the disk did not take
  std::map<std::string, std::vector<history::Message>, std::less<>> in_memory_;  // by channel, oldest first
  std::map<std::string, std::string, std::less<>> commands_;
};

}  // namespace watchbill::supervisor
