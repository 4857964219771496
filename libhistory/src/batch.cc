// What is to be written, before it is known what is there.
#include <fmt/core.h>

#include <optional>
#include <utility>

#include "json.hpp"
#include "store_impl.hpp"

namespace watchbill::history {

absl::StatusOr<UlidBytes> Id(std::string_view what, std::string_view text) {
  const std::optional<UlidBytes> id = ParseUlid(text);
  if (!id) {
    std::string shown;
    AppendJsonString(shown, text.substr(0, 64));
    return absl::InvalidArgumentError(
        fmt::format("{} {}: expected a ULID, 26 characters of base 32 in capitals", what, shown));
  }
  return *id;
}

absl::Status CheckAgent(std::string_view agent) {
  if (!agent.empty() && agent.size() <= kMaxAgentBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("an agent's name of {} bytes: expected 1 to {}", agent.size(), kMaxAgentBytes));
}

namespace {

absl::Status CheckKey(std::string_view key) {
  if (!key.empty() && key.size() <= kMaxKeyBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("the key of a record has {} bytes: expected 1 to {}", key.size(), kMaxKeyBytes));
}

}  // namespace

absl::Status Batch::Impl::Add(std::string_view what, const std::string& key, const std::string& value) {
  if (value.size() > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        fmt::format("{} of {} bytes: {} are the most", what, value.size(), kMaxRecordBytes));
  }
  writes.Put(key, value);
  bytes += key.size() + value.size();
  return absl::OkStatus();
}

Batch::Batch() : impl_(std::make_unique<Impl>()) {}
Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

absl::Status Batch::Put(const Message& message) {
  const auto id = Id("message", message.id);
  if (!id.ok()) return id.status();
  const auto channel = Id("channel", message.channel);
  if (!channel.ok()) return channel.status();
  if (!message.done || message.queued) {
    return absl::InvalidArgumentError(fmt::format("message {} is {}: only finished ones are kept", message.id,
                                                  message.done ? "queued" : "not finished"));
  }
  ValueWriter record;
  Write(record.json, message);
  if (absl::Status status = impl_->Add("a message", MessageKey(*channel, *id), record.value); !status.ok())
    return status;
  impl_->arrivals.push_back({*channel, *id});
  return absl::OkStatus();
}

absl::Status Batch::Put(const Channel& channel) {
  const auto id = Id("channel", channel.id);
  if (!id.ok()) return id.status();
  ValueWriter record;
  Write(record.json, channel);
  if (absl::Status status = impl_->Add("a channel", ChannelKey(*id), record.value); !status.ok())
    return status;
  impl_->channels.push_back(*id);
  return absl::OkStatus();
}

absl::Status Batch::Put(std::string_view channel, const Member& member) {
  const auto id = Id("channel", channel);
  if (!id.ok()) return id.status();
  if (absl::Status status = CheckAgent(member.agent); !status.ok()) return status;
  ValueWriter record;
  Write(record.json, member);
  if (absl::Status status = impl_->Add("a member", MemberKey(*id, member.agent), record.value); !status.ok())
    return status;
  impl_->channels.push_back(*id);
  return absl::OkStatus();
}

absl::Status Batch::PutCommands(std::string_view agent, JsonView commands) {
  if (absl::Status status = CheckAgent(agent); !status.ok()) return status;
  if (commands.absent()) return absl::InvalidArgumentError("commands: expected JSON, and there is none");
  ValueWriter record;
  record.json.Json(commands);
  return impl_->Add("a list of commands", CommandsKey(agent), record.value);
}

absl::Status Batch::Put(Collection collection, std::string_view key, std::string_view order, JsonView value) {
  if (absl::Status status = CheckKey(key); !status.ok()) return status;
  if (order.size() > kMaxKeyBytes) {
    return absl::InvalidArgumentError(
        fmt::format("the order of a record has {} bytes: {} are the most", order.size(), kMaxKeyBytes));
  }
  if (value.absent()) return absl::InvalidArgumentError("a record: expected JSON, and there is none");
  if (value.text().size() > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        fmt::format("a record of {} bytes: {} are the most", value.text().size(), kMaxRecordBytes));
  }
  impl_->records.push_back({RecordChange::What::kPut, collection, std::string(key), std::string(order),
                            std::string(value.text())});
  impl_->bytes += 2 * key.size() + 2 * order.size() + value.text().size();
  return absl::OkStatus();
}

absl::Status Batch::Delete(Collection collection, std::string_view key) {
  if (absl::Status status = CheckKey(key); !status.ok()) return status;
  impl_->records.push_back({RecordChange::What::kDelete, collection, std::string(key), {}, {}});
  impl_->bytes += 2 * key.size();
  return absl::OkStatus();
}

absl::Status Batch::AppendToTrail(JsonView entry) {
  if (entry.absent())
    return absl::InvalidArgumentError("an entry of the trail: expected JSON, and there is none");
  if (entry.text().size() > kMaxRecordBytes) {
    return absl::InvalidArgumentError(fmt::format("an entry of the trail of {} bytes: {} are the most",
                                                  entry.text().size(), kMaxRecordBytes));
  }
  impl_->trail.emplace_back(entry.text());
  impl_->bytes += entry.text().size();
  return absl::OkStatus();
}

void Batch::Append(const Batch& more) {
  const auto add = [](auto& all, const auto& others) { all.insert(all.end(), others.begin(), others.end()); };
  impl_->writes.Append(more.impl_->writes);
  add(impl_->arrivals, more.impl_->arrivals);
  add(impl_->channels, more.impl_->channels);
  add(impl_->records, more.impl_->records);
  add(impl_->trail, more.impl_->trail);
  impl_->bytes += more.impl_->bytes;
}

bool Batch::empty() const {
  return impl_->writes.empty() && impl_->records.empty() && impl_->trail.empty() && !impl_->trail_after;
}
size_t Batch::bytes() const { return impl_->bytes; }

}  // namespace watchbill::history
