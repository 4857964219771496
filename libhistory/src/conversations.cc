// What is read of conversations, and how a channel is deleted.
#include <algorithm>
#include <optional>
#include <utility>

#include "json.hpp"
#include "store_impl.hpp"

namespace watchbill::history {

absl::StatusOr<std::vector<Channel>> Store::Channels() const {
  std::vector<Channel> channels;
  json::Document document = NewDocument();
  size_t damaged = 0;
  const absl::Status status = impl_->Scan(
      kChannelsPrefix, kChannelsPrefix, damaged, [&](std::string_view key, std::string_view value) {
        const std::optional<UlidBytes> id = ChannelOfKey(key);
        if (!id) {
          ++damaged;
          return true;
        }
        if (impl_->IsDeleted(*id)) return true;
        std::string text = UlidText(*id);
        const std::optional<std::string_view> json = JsonOf(value);
        absl::StatusOr<Channel> channel =
            json ? ReadChannel(document, *json) : absl::InvalidArgumentError("a version that is not known");
        if (channel.ok() && channel->id == text) {
          channels.push_back(*std::move(channel));
        } else {
          ++damaged;
          channels.push_back(
              {.id = std::move(text), .name = {}, .description = {}, .direct = {}, .members = {}});
        }
        return true;
      });
  impl_->unreadable += damaged;
  if (!status.ok()) return status;
  return channels;
}

absl::StatusOr<Page> Store::Last(std::string_view channel, size_t limit) const {
  const auto id = Id("channel", channel);
  if (!id.ok()) return id.status();
  return impl_->Read(*id, MessagesPrefix(*id), limit);
}

absl::StatusOr<Page> Store::Before(std::string_view channel, std::string_view id, size_t limit) const {
  const auto of = Id("channel", channel);
  if (!of.ok()) return of.status();
  const auto before = Id("message", id);
  if (!before.ok()) return before.status();
  // The first key behind that of the message, whether there is such a message or not.
  return impl_->Read(*of, MessageKey(*of, *before) + '\0', limit);
}

absl::StatusOr<Page> Store::Impl::Read(const UlidBytes& channel, std::string_view first, size_t limit) {
  Page page;
  if (IsDeleted(channel)) return page;
  json::Document document = NewDocument();
  const std::string channel_text = UlidText(channel);
  page.messages.reserve(std::min<size_t>(limit, 128));
  const auto take = [&](std::string_view key, std::string_view value) {
    const std::optional<UlidBytes> id = MessageOfKey(key);
    const std::optional<std::string_view> json = JsonOf(value);
    if (!id || !json) return false;
    Message& message = page.messages.emplace_back();
    bool right = ReadMessage(document, *json, message).ok() && IsUlidText(message.id, *id);
    if (message.channel.empty()) message.channel = channel_text;
    right = right && message.channel == channel_text;
    if (!right) page.messages.pop_back();
    return right;
  };
  const absl::Status status = Scan(MessagesPrefix(channel), first, page.unreadable,
                                   [&](std::string_view key, std::string_view value) {
                                     page.more = page.messages.size() == limit;
                                     if (page.more) return false;
                                     if (!take(key, value)) ++page.unreadable;
                                     return true;
                                   });
  unreadable += page.unreadable;
  if (!status.ok()) return status;
  std::reverse(page.messages.begin(), page.messages.end());
  return page;
}

absl::StatusOr<std::vector<Member>> Store::Members(std::string_view channel) const {
  const auto id = Id("channel", channel);
  if (!id.ok()) return id.status();
  std::vector<Member> members;
  if (impl_->IsDeleted(*id)) return members;
  json::Document document = NewDocument();
  size_t damaged = 0;
  const std::string prefix = MembersPrefix(*id);
  const absl::Status status =
      impl_->Scan(prefix, prefix, damaged, [&](std::string_view key, std::string_view value) {
        const std::optional<std::string_view> json = JsonOf(value);
        absl::StatusOr<Member> read =
            json ? ReadMember(document, *json) : absl::InvalidArgumentError("a version that is not known");
        if (!read.ok()) ++damaged;
        Member& member = members.emplace_back(read.ok() ? *std::move(read) : Member());
        // The key has the name as it was given, whatever bytes it is made of.
        member.agent = AgentOfMemberKey(key);
        return true;
      });
  impl_->unreadable += damaged;
  if (!status.ok()) return status;
  return members;
}

absl::StatusOr<JsonText> Store::Commands(std::string_view agent) const {
  if (absl::Status status = CheckAgent(agent); !status.ok()) return status;
  std::string value;
  const absl::Status got = impl_->engine->Get(CommandsKey(agent), value);
  if (absl::IsNotFound(got)) return JsonText();
  if (!got.ok() && !absl::IsDataLoss(got)) return got;
  json::Document document = NewDocument();
  const std::optional<std::string_view> json = got.ok() ? JsonOf(value) : std::nullopt;
  if (!json || !document.Parse(*json).ok()) {
    ++impl_->unreadable;
    return JsonText();
  }
  return JsonText(document.root().text());
}

bool Store::Impl::IsDeleted(const UlidBytes& channel) const {
  const std::lock_guard guard(deleted_mutex);
  return deleted.contains(channel);
}

absl::StatusOr<bool> Store::DeleteChannel(std::string_view channel, size_t most) {
  const auto id = Id("channel", channel);
  if (!id.ok()) return id.status();
  if (most == 0)
    return absl::InvalidArgumentError("a piece of a channel to delete: expected 1 message or more");
  {
    const std::lock_guard guard(impl_->deleted_mutex);
    if (const auto it = impl_->deleted.find(*id); it != impl_->deleted.end() && it->second) return true;
  }
  Batch batch;
  Writes& writes = batch.impl_->writes;
  const auto put_mark = [&](char done) { writes.Put(DeletedKey(*id), std::string{kValueVersion, done}); };
  const bool begun = impl_->IsDeleted(*id);
  if (!begun) {
    // Before anything is deleted, so that nothing is put behind what was looked at.
    put_mark(0);
    writes.Delete(ChannelKey(*id));
    batch.impl_->closes = *id;
    if (absl::Status status = Commit(batch); !status.ok()) return status;
    batch.impl_->closes.reset();
    writes.Clear();
  }
  size_t left = most, damaged = 0;
  const auto take = [&](std::string_view key, std::string_view) {
    if (left == 0) return false;
    --left;
    writes.Delete(key);
    return true;
  };
  for (const std::string& prefix : {MembersPrefix(*id), MessagesPrefix(*id)}) {
    if (absl::Status status = impl_->Scan(prefix, prefix, damaged, take); !status.ok()) return status;
  }
  // What cannot be read cannot be deleted one by one: it is gone for whoever asks, and its room with it once
  // the damage is repaired.
  const bool done = left > 0;
  if (done) put_mark(1);
  if (absl::Status status = Commit(batch); !status.ok()) return status;
  if (done) {
    const std::lock_guard guard(impl_->deleted_mutex);
    impl_->deleted[*id] = true;
  }
  return done;
}

std::vector<std::string> Store::HalfDeleted() const {
  std::vector<std::string> half;
  const std::lock_guard guard(impl_->deleted_mutex);
  for (const auto& [id, done] : impl_->deleted) {
    if (!done) half.push_back(UlidText(id));
  }
  return half;
}

absl::StatusOr<uint64_t> Store::ChannelBytes(std::string_view channel) const {
  const auto id = Id("channel", channel);
  if (!id.ok()) return id.status();
  const std::string prefix = MessagesPrefix(*id);
  return impl_->engine->Bytes(prefix, AfterPrefix(prefix));
}

size_t Store::unreadable() const { return impl_->unreadable; }

}  // namespace watchbill::history
