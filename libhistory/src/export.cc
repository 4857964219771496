#include <fmt/core.h>

#include <optional>
#include <set>
#include <utility>

#include "export_lines.hpp"
#include "ledger_record.hpp"
#include "look.hpp"
#include "record_kinds.hpp"
#include "store_impl.hpp"
#include "watchbill/history/transfer.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kPieceBytes = 64 << 10;

bool IsUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = json_detail::Utf8Length(text.substr(at));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string Hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

void Field(JsonWriter& w, std::string_view name, std::string_view bytes) {
  if (IsUtf8(bytes)) {
    w.Key(name).String(bytes);
  } else {
    w.Key(std::string(name) + "Hex").String(Hex(bytes));
  }
}

class Exporting {
 public:
  Exporting(const Store::Impl& store, const ExportOptions& options, const Sink& sink)
      : look_(*store.engine), name_(store.name), options_(options), sink_(sink) {}

  absl::StatusOr<ExportReport> Run() {
    absl::Status status = look_.ReadDeleted(deleted_);
    if (status.ok()) status = options_.channel.empty() ? Everything() : OneChannel();
    if (status.ok()) status = Last();
    if (status.ok() && !out_.empty()) status = sink_(out_);
    if (!status.ok()) return status;
    if (look_.damaged()) ++report_.unreadable;
    return report_;
  }

 private:
  // Calls write(w, key, value) for what can be read of these, each on a line of its own.
  template <typename Write>
  auto Lines(uint64_t& count, const Write& write) {
    return [this, &count, write](std::string_view key, std::string_view value) {
      if (!CanBeRead(document_, key, value)) {
        ++report_.unreadable;
        return absl::OkStatus();
      }
      ++count;
      return Line([&](JsonWriter& w) { write(w, key, value); });
    };
  }

  template <typename Write>
  absl::Status Line(const Write& write) {
    ++lines_;
    JsonWriter w(out_);
    w.Begin('{');
    write(w);
    w.End('}');
    out_.push_back('\n');
    if (out_.size() < kPieceBytes) return absl::OkStatus();
    absl::Status status = sink_(out_);
    // A buffer that one enormous line made is not kept for the small ones that follow.
    if (out_.capacity() > 16 * kPieceBytes) std::string().swap(out_);
    out_.clear();
    return status;
  }

  // Leaves out what belongs to a channel that was deleted.
  template <typename Each>
  auto OfLiving(const Each& each) {
    return [this, each](std::string_view key, std::string_view value) {
      const std::optional<UlidBytes> channel = ChannelOfKey(key.substr(0, 17));
      return channel && deleted_.contains(*channel) ? absl::OkStatus() : each(key, value);
    };
  }

  absl::Status First() {
    return Line([&](JsonWriter& w) {
      w.Key(kSuite).String(kHistory).Key("format").Int(kExportFormat);
      if (!options_.channel.empty()) w.Key("channel").String(options_.channel);
    });
  }

  absl::Status Last() {
    const auto before = static_cast<int64_t>(lines_);
    return Line([&](JsonWriter& w) {
      const TransferCounts& n = report_.written;
      w.Key(kLineEnd).Begin('{').Key("lines").Int(before);
      for (const auto& [name, count] : {std::pair("channels", n.channels), std::pair("members", n.members),
                                        std::pair("messages", n.messages), std::pair("commands", n.commands),
                                        std::pair("records", n.records), std::pair("trail", n.trail)})
        w.Key(name).Int(static_cast<int64_t>(count));
      w.End('}');
    });
  }

  absl::Status Channels(std::string_view prefix) {
    const auto line = Lines(report_.written.channels, [&](JsonWriter& w, std::string_view, std::string_view) {
      w.Key(kLineChannel).Json(document_.root().text());
    });
    return look_.Upwards(prefix, OfLiving(line));
  }

  absl::Status Members(std::string_view prefix) {
    const auto line =
        Lines(report_.written.members, [&](JsonWriter& w, std::string_view key, std::string_view) {
          w.Key(kLineMember)
              .Json(document_.root().text())
              .Key("of")
              .String(UlidText(*ChannelOfKey(key.substr(0, 17))));
          Field(w, "agent", AgentOfMemberKey(key));
        });
    return look_.Upwards(prefix, OfLiving(line));
  }

  absl::Status Messages(const UlidBytes& channel) {
    const auto line = Lines(report_.written.messages, [&](JsonWriter& w, std::string_view, std::string_view) {
      w.Key(kLineMessage);
      const json::Value message = document_.root();
      if (!message["channel"].AsString().value_or("").empty()) {
        w.Json(message.text());
        return;
      }
      // An old one says it by its key alone. What stands last of one name is what holds.
      std::string text(message.text().text());
      text.back() = ',';
      AppendJsonString(text, "channel");
      text.push_back(':');
      AppendJsonString(text, UlidText(channel));
      text.push_back('}');
      w.Json(JsonView::Trusted(text));
    });
    return look_.Downwards(MessagesPrefix(channel), line);
  }

  absl::Status OneChannel() {
    const auto id = Id("channel", options_.channel);
    if (!id.ok()) return id.status();
    if (deleted_.contains(*id) || !look_.HasChannel(*id)) {
      const absl::Status status = look_.Status();
      return status.ok() ? NoChannel(options_.channel, name_) : status;
    }
    absl::Status status = First();
    if (status.ok()) status = Channels(ChannelKey(*id));
    if (status.ok()) status = Members(MembersPrefix(*id));
    if (status.ok()) status = Messages(*id);
    return status;
  }

  absl::Status AllMessages() {
    for (std::string key(kMessagesLetter); !(key = look_.First(key, kMessagesLetter)).empty();) {
      const std::optional<UlidBytes> channel = ChannelOfKey(std::string_view(key).substr(0, 17));
      if (!channel) {
        ++report_.unreadable;
        key.push_back('\0');
        continue;
      }
      if (!deleted_.contains(*channel)) {
        if (absl::Status status = Messages(*channel); !status.ok()) return status;
      }
      key = AfterPrefix(MessagesPrefix(*channel));
    }
    return look_.Status();
  }

  absl::Status Commands() {
    return look_.Upwards(
        "S", Lines(report_.written.commands, [&](JsonWriter& w, std::string_view key, std::string_view) {
          w.Key(kLineCommands).Json(document_.root().text());
          Field(w, "agent", key.substr(1));
        }));
  }

  absl::Status Ledger() {
    return look_.Upwards(
        "R", Lines(report_.written.records, [&](JsonWriter& w, std::string_view key, std::string_view value) {
          w.Key(kLineRecord).Json(document_.root().text());
          w.Key("collection").Int(static_cast<unsigned char>(key[1]));
          Field(w, "key", key.substr(2));
          Field(w, "order", ReadRecord(value)->order);
        }));
  }

  absl::Status Trail() {
    const auto write_head = [](JsonWriter& w, std::string_view name, const TrailHead& head) {
      w.Key(name).Json(JsonView::Trusted(fmt::format("{}", head.number)));
      w.Key("hash").String(HashText(head.hash));
    };
    absl::Status status = look_.Upwards(kTrailAnchorKey, [&](std::string_view key, std::string_view value) {
      if (key != kTrailAnchorKey) return absl::OkStatus();
      const std::optional<TrailHead> start = ParseTrailHead(value);
      if (start) return Line([&](JsonWriter& w) { write_head(w, kLineTrailStart, *start); });
      ++report_.unreadable;
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    const auto line =
        Lines(report_.written.trail, [&](JsonWriter& w, std::string_view key, std::string_view value) {
          w.Key(kLineEntry).Json(document_.root().text());
          write_head(w, "number", {*NumberOfTrailKey(key), ParseEntry(value)->hash});
        });
    return look_.Downwards(kTrailPrefix, line);
  }

  absl::Status Everything() {
    absl::Status status = First();
    if (status.ok()) status = Channels(kChannelsPrefix);
    if (status.ok()) status = Members("A");
    if (status.ok()) status = AllMessages();
    if (status.ok()) status = Commands();
    if (status.ok() && options_.ledger) status = Ledger();
    if (status.ok() && options_.trail) status = Trail();
    return status;
  }

  Look look_;
  const std::string& name_;
  const ExportOptions& options_;
  const Sink& sink_;
  std::set<UlidBytes> deleted_;
  json::Document document_ = NewDocument();
  std::string out_;
  uint64_t lines_ = 0;
  ExportReport report_;
};

}  // namespace

absl::StatusOr<ExportReport> Export(const Store& store, const ExportOptions& options, const Sink& sink) {
  if (!options.channel.empty() && (options.ledger || options.trail)) {
    return absl::InvalidArgumentError(
        "a channel is exported without ledger and trail, which are of the whole history; leave one of both "
        "out");
  }
  return Exporting(Inside::Of(store), options, sink).Run();
}

}  // namespace watchbill::history
