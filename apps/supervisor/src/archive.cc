#include "archive.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "watchbill/base/status.hpp"
#include "watchbill/net/log.hpp"

namespace watchbill::supervisor {

Archive::Archive(const std::string& folder) {
  auto opened = history::Store::Open(folder);
  if (opened.ok()) {
    store_ = *std::move(opened);
    return;
  }
  problem_ = fmt::format("Conversations are kept in memory until the supervisor ends: {}",
                         MessageOf(opened.status()));
  net::Log(net::LogLevel::kError, "conversations are not kept", {{"why", MessageOf(opened.status())}});
}

// What cannot be read is said where people look: a list that is empty without a word looks like a loss.
void Archive::Unread(const absl::Status& why) {
  problem_ = fmt::format("What was said before cannot be read: {}", MessageOf(why));
  net::Log(net::LogLevel::kError, "what was said before cannot be read", {{"why", MessageOf(why)}});
}

std::vector<history::Channel> Archive::Channels() {
  if (!store_) return {};
  auto channels = store_->Channels();
  if (channels.ok()) return *std::move(channels);
  Unread(channels.status());
  return {};
}

std::vector<history::Member> Archive::Members(std::string_view channel) {
  if (!store_) return {};
  auto members = store_->Members(channel);
  if (members.ok()) return *std::move(members);
  Unread(members.status());
  return {};
}

void Archive::Keep(const channels::Outcome& outcome) {
  for (const auto& [agent, commands] : outcome.commands) commands_[agent] = commands;
  if (store_) {
    if (outcome.keep.empty() && backlog_.empty()) return;
    const absl::Status kept = TryToKeep(outcome.keep);
    if (kept.ok()) return;
    if (problem_.empty()) {
      net::Log(net::LogLevel::kError, "a conversation could not be written", {{"why", MessageOf(kept)}});
    }
    problem_ = fmt::format("What is said is in memory alone until it can be written: {}", MessageOf(kept));
  }
  for (const history::Message& message : outcome.messages) {
    std::vector<history::Message>& all = in_memory_[message.channel];
    const auto at =
        std::upper_bound(all.begin(), all.end(), message.id,
                         [](const std::string& id, const history::Message& m) { return id < m.id; });
    all.insert(at, message);
  }
}

// With all that could not be written before, which comes first.
absl::Status Archive::TryToKeep(const history::Batch& batch) {
  if (backlog_.empty()) {
    absl::Status kept = store_->Commit(batch);
    if (!kept.ok()) backlog_.Append(batch);
    return kept;
  }
  backlog_.Append(batch);
  if (absl::Status kept = store_->Commit(backlog_); !kept.ok()) return kept;
  backlog_ = history::Batch();
  in_memory_.clear();
  problem_.clear();
  net::Log(net::LogLevel::kInfo, "what was in memory alone is on the disk now");
  return absl::OkStatus();
}

history::Page Archive::Merged(std::string_view channel, std::string_view before, size_t limit) const {
  history::Page page;
  if (store_) {
    auto kept = before.empty() ? store_->Last(channel, limit) : store_->Before(channel, before, limit);
    if (kept.ok()) {
      page = *std::move(kept);
    } else {
      net::Log(net::LogLevel::kError, "a conversation could not be read",
               {{"why", MessageOf(kept.status())}});
    }
  }
  const auto memory = in_memory_.find(channel);
  if (memory == in_memory_.end()) return page;
  for (const history::Message& message : memory->second) {
    if (before.empty() || message.id < before) page.messages.push_back(message);
  }
  std::stable_sort(page.messages.begin(), page.messages.end(),
                   [](const history::Message& a, const history::Message& b) { return a.id < b.id; });
  if (page.messages.size() > limit) {
    page.messages.erase(page.messages.begin(), page.messages.end() - static_cast<ptrdiff_t>(limit));
    page.more = true;
  }
  return page;
}

std::vector<history::Message> Archive::Last(std::string_view channel, size_t limit) const {
  return Merged(channel, {}, limit).messages;
}
history::Page Archive::LastPage(std::string_view channel, size_t limit) const {
  return Merged(channel, {}, limit);
}
history::Page Archive::PageBefore(std::string_view channel, std::string_view id, size_t limit) const {
  return Merged(channel, id, limit);
}

std::string Archive::Commands(std::string_view agent) const {
  if (const auto it = commands_.find(agent); it != commands_.end()) return it->second;
  if (!store_) return "[]";
  const auto kept = store_->Commands(agent);
  return kept.ok() && !kept->absent() ? kept->text() : "[]";
}

}  // namespace watchbill::supervisor
