#include "watchbill/history/store.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <optional>
#include <utility>

#include "files.hpp"
#include "json.hpp"
#include "keys.hpp"
#include "leveldb/iterator.h"
#include "log_tail.hpp"
#include "store_impl.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kWriteBuffer = 4 << 20;

leveldb::Slice ToSlice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view ToView(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

// LevelDB's own log would be one more file to keep and to turn over, also by an opening that is refused.
struct SilentLogger final : leveldb::Logger {
  void Logv(const char*, std::va_list) override {}
};

leveldb::ReadOptions Checked() {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  return options;
}

absl::Status Unusable(std::string_view folder, const leveldb::Status& status) {
  return absl::UnavailableError(fmt::format(
      "the history in {} cannot be read or written ({}); look at the disk's space and the folder's rights",
      folder, status.ToString()));
}

absl::Status Damaged(std::string_view folder, std::string_view how) {
  return absl::DataLossError(fmt::format(
      "the history in {} is damaged ({}); copy the folder aside before anything is tried on it, or name "
      "another folder",
      folder, how));
}

absl::Status Newer(std::string_view folder, int64_t format) {
  return absl::DataLossError(fmt::format(
      "the history in {} is of format {}, and this program reads up to {}; use the program that wrote it, "
      "or name another folder",
      folder, format, kFormat));
}

// What LevelDB would take for something harmless, and delete files over.
absl::Status CheckFiles(leveldb::Env* env, const std::string& folder) {
  std::vector<std::string> names;
  if (!env->GetChildren(folder, &names).ok()) return absl::OkStatus();
  const bool current = env->FileExists(folder + "/CURRENT");
  for (const std::string& name : names) {
    const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    const std::string_view end = digits == 0 ? std::string_view() : std::string_view(name).substr(digits);
    // Without CURRENT, which says what is the database, the folder would be a new one to it.
    if (!current && (end == ".ldb" || end == ".sst" || end == ".log"))
      return Damaged(folder, fmt::format("{} is there, but no CURRENT", name));
    if (end == ".log" || name.starts_with("MANIFEST-")) {
      const leveldb::Status tail = CheckLogTail(env, folder + "/" + name);
      if (tail.IsCorruption()) return Damaged(folder, tail.ToString());
      if (!tail.ok()) return Unusable(folder, tail);
    }
  }
  return absl::OkStatus();
}

// The JSON of a value, or nothing where it is of a version that is not known.
std::optional<std::string_view> JsonOf(std::string_view value) {
  if (value.empty() || value[0] != kValueVersion) return std::nullopt;
  return value.substr(1);
}

// A value in the making: its version, then whatever JSON is written.
struct Record {
  std::string value{kValueVersion};
  JsonWriter json{value};
};

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

}  // namespace

absl::Status Batch::Impl::Add(std::string_view what, const std::string& key, const std::string& value) {
  if (value.size() > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        fmt::format("{} of {} bytes: {} are the most", what, value.size(), kMaxRecordBytes));
  }
  writes.Put(key, value);
  empty = false;
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
  Record record;
  Write(record.json, message);
  return impl_->Add("a message", MessageKey(*channel, *id), record.value);
}

absl::Status Batch::Put(const Channel& channel) {
  const auto id = Id("channel", channel.id);
  if (!id.ok()) return id.status();
  Record record;
  Write(record.json, channel);
  return impl_->Add("a channel", ChannelKey(*id), record.value);
}

absl::Status Batch::Put(std::string_view channel, const Member& member) {
  const auto id = Id("channel", channel);
  if (!id.ok()) return id.status();
  if (absl::Status status = CheckAgent(member.agent); !status.ok()) return status;
  Record record;
  Write(record.json, member);
  return impl_->Add("a member", MemberKey(*id, member.agent), record.value);
}

absl::Status Batch::PutCommands(std::string_view agent, JsonView commands) {
  if (absl::Status status = CheckAgent(agent); !status.ok()) return status;
  if (commands.absent()) return absl::InvalidArgumentError("commands: expected JSON, and there is none");
  Record record;
  record.json.Json(commands);
  return impl_->Add("a list of commands", CommandsKey(agent), record.value);
}

bool Batch::empty() const { return impl_->empty; }

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& folder) {
  return Open(folder, Options());
}

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& folder, Options options) {
  if (folder.empty() || folder.find('\0') != std::string::npos)
    return absl::InvalidArgumentError("the history's folder: expected a path");
  auto env = std::make_unique<FolderEnv>();
  if (options.create) {
    if (absl::Status status = MakeFolder(folder); !status.ok()) return status;
  }
  absl::StatusOr<std::unique_ptr<Store>> store = Impl::Open(env.get(), folder, options, kWriteBuffer);
  if (store.ok()) {
    (*store)->impl_->own_env = std::move(env);
  } else if (const std::optional<int> holder = env->holder()) {
    return absl::FailedPreconditionError(
        fmt::format("the history in {} is in use by {}; end that one, or name another folder", folder,
                    *holder == ::getpid() ? "this process already"
                    : *holder == 0        ? std::string("another process")
                                          : fmt::format("process {}", *holder)));
  }
  return store;
}

absl::StatusOr<std::unique_ptr<Store>> Store::Impl::Open(leveldb::Env* env, const std::string& folder,
                                                         const Options& options, size_t write_buffer) {
  if (absl::Status status = CheckFiles(env, folder); !status.ok()) return status;
  if (!options.create && !env->FileExists(folder + "/CURRENT"))
    return absl::NotFoundError(fmt::format("there is no history in {}; name the folder of one", folder));

  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  impl->silent = std::make_unique<SilentLogger>();
  impl->filter.reset(leveldb::NewBloomFilterPolicy(10));
  impl->cache.reset(leveldb::NewLRUCache(options.cache_bytes));

  leveldb::Options how;
  how.env = env;
  how.create_if_missing = options.create;
  how.paranoid_checks = true;
  how.info_log = impl->silent.get();
  how.write_buffer_size = write_buffer;
  how.block_cache = impl->cache.get();
  how.compression = leveldb::kNoCompression;
  how.filter_policy = impl->filter.get();
  leveldb::DB* db = nullptr;
  const leveldb::Status opened = leveldb::DB::Open(how, folder, &db);
  impl->db.reset(db);
  if (opened.IsCorruption() || opened.IsInvalidArgument() || opened.IsNotFound())
    return Damaged(folder, opened.ToString());
  if (!opened.ok()) return Unusable(folder, opened);
  if (absl::Status status = impl->CheckFormat(); !status.ok()) return status;
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

absl::Status Store::Impl::CheckFormat() {
  std::string value;
  const leveldb::Status got = db->Get(Checked(), ToSlice(kFormatKey), &value);
  if (got.ok()) {
    if (!value.empty() && value[0] > kValueVersion) return Newer(folder, value[0]);
    const std::optional<std::string_view> text = JsonOf(value);
    const bool parsed = text && document.Parse(*text).ok();
    const int64_t format = parsed ? document.root()["format"].AsInt().value_or(0) : 0;
    if (format > kFormat) return Newer(folder, format);
    return format == kFormat ? absl::OkStatus() : Damaged(folder, "its format record cannot be read");
  }
  if (got.IsCorruption()) return Damaged(folder, got.ToString());
  if (!got.IsNotFound()) return Unusable(folder, got);

  const std::unique_ptr<leveldb::Iterator> all(db->NewIterator(Checked()));
  all->SeekToFirst();
  if (all->Valid() || all->status().IsCorruption())
    return Damaged(folder, "it has no format record: it is no history, or lost a part");
  if (!all->status().ok()) return Unusable(folder, all->status());
  Record record;
  record.json.Begin('{').Key("format").Int(kFormat).End('}');
  leveldb::WriteOptions synced;
  synced.sync = true;
  const leveldb::Status put = db->Put(synced, ToSlice(kFormatKey), record.value);
  return put.ok() ? absl::OkStatus() : Unusable(folder, put);
}

absl::Status Store::Commit(const Batch& batch) {
  if (!impl_->failed.ok()) return impl_->failed;
  if (batch.impl_->empty) return absl::OkStatus();
  leveldb::WriteOptions synced;
  synced.sync = true;
  const leveldb::Status put = impl_->db->Write(synced, &batch.impl_->writes);
  if (put.ok()) return absl::OkStatus();
  // The log may end within a record now. One more behind it would make all of it look damaged.
  impl_->failed = absl::UnavailableError(fmt::format(
      "the history in {} cannot be written any more ({}); what was kept before is there. Look at the disk's "
      "space, and open it again",
      impl_->folder, put.ToString()));
  return impl_->failed;
}

template <typename Each>
absl::Status Store::Impl::Scan(std::string_view prefix, std::string_view first, size_t& damaged, Each each) {
  const std::unique_ptr<leveldb::Iterator> it(db->NewIterator(Checked()));
  for (it->Seek(ToSlice(first)); it->Valid() && ToView(it->key()).starts_with(prefix); it->Next()) {
    if (!each(ToView(it->key()), ToView(it->value()))) break;
  }
  if (it->status().ok()) return absl::OkStatus();
  if (!it->status().IsCorruption()) return Unusable(folder, it->status());
  // LevelDB went on behind the damaged block and tells of the first only.
  ++damaged;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Channel>> Store::Channels() const {
  std::vector<Channel> channels;
  size_t damaged = 0;
  const absl::Status status = impl_->Scan(
      kChannelsPrefix, kChannelsPrefix, damaged, [&](std::string_view key, std::string_view value) {
        const std::optional<UlidBytes> id = ChannelOfKey(key);
        if (!id) {
          ++damaged;
          return true;
        }
        std::string text = UlidText(*id);
        const std::optional<std::string_view> json = JsonOf(value);
        absl::StatusOr<Channel> channel = json ? ReadChannel(impl_->document, *json)
                                               : absl::InvalidArgumentError("a version that is not known");
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
  const std::string channel_text = UlidText(channel);
  const auto take = [&](std::string_view key, std::string_view value) {
    const std::optional<UlidBytes> id = MessageOfKey(key);
    const std::optional<std::string_view> json = JsonOf(value);
    if (!id || !json) return false;
    absl::StatusOr<Message> message = ReadMessage(document, *json);
    if (!message.ok() || message->id != UlidText(*id)) return false;
    if (message->channel.empty()) message->channel = channel_text;
    if (message->channel != channel_text) return false;
    page.messages.push_back(*std::move(message));
    return true;
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
  size_t damaged = 0;
  const std::string prefix = MembersPrefix(*id);
  const absl::Status status =
      impl_->Scan(prefix, prefix, damaged, [&](std::string_view key, std::string_view value) {
        const std::optional<std::string_view> json = JsonOf(value);
        absl::StatusOr<Member> read = json ? ReadMember(impl_->document, *json)
                                           : absl::InvalidArgumentError("a version that is not known");
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
  const leveldb::Status got = impl_->db->Get(Checked(), CommandsKey(agent), &value);
  if (got.IsNotFound()) return JsonText();
  if (!got.ok() && !got.IsCorruption()) return Unusable(impl_->folder, got);
  const std::optional<std::string_view> json = got.ok() ? JsonOf(value) : std::nullopt;
  if (!json || !impl_->document.Parse(*json).ok()) {
    ++impl_->unreadable;
    return JsonText();
  }
  return JsonText(impl_->document.root().text());
}

size_t Store::unreadable() const { return impl_->unreadable; }

}  // namespace watchbill::history
