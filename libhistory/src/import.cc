#include <fmt/core.h>

#include <atomic>
#include <charconv>
#include <optional>
#include <unordered_set>
#include <utility>

#include "export_lines.hpp"
#include "ledger_record.hpp"
#include "store_impl.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/history/transfer.hpp"

namespace watchbill::history {
namespace {

using json::Value;

constexpr size_t kBatchBytes = 1 << 20;
constexpr size_t kMostDescribed = 100;

absl::Status Bad(std::string what) { return absl::InvalidArgumentError(std::move(what)); }

std::optional<std::string> FromHex(std::string_view text) {
  std::string bytes;
  if (text.size() % 2 != 0) return std::nullopt;
  for (size_t at = 0; at < text.size(); at += 2) {
    unsigned byte = 0;
    const char* const end = text.data() + at + 2;
    const auto [stopped, error] = std::from_chars(text.data() + at, end, byte, 16);
    if (error != std::errc() || stopped != end) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

// Where in its line the JSON reader stopped, from 1; 0 where it does not say.
uint64_t ColumnOf(const absl::Status& status) {
  const std::string_view text = MessageOf(status);
  constexpr std::string_view kBefore = " at byte ";
  const size_t at = text.rfind(kBefore);
  uint64_t byte = 0;
  if (at == std::string_view::npos) return 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data() + at + kBefore.size(), end, byte);
  return error == std::errc() && stopped == end ? byte + 1 : 0;
}

// A value as it is kept. What a reader does not know of it goes on as well: a newer program may have written
// it.
std::string Kept(const Value& value) { return std::string(1, kValueVersion).append(value.text().text()); }

// Whether it can be kept and read again: within a line it may be a little longer and deeper.
absl::Status CheckJson(json::Document& document, const Value& value, std::string_view what) {
  const std::string_view text = value.text().text();
  if (text.size() >= kMaxRecordBytes)
    return Bad(fmt::format("{} of {} bytes: {} are the most", what, text.size(), kMaxRecordBytes - 1));
  if (const absl::Status status = document.Parse(text); !status.ok())
    return Bad(fmt::format("{}: {}", what, MessageOf(status)));
  return absl::OkStatus();
}

absl::Status CheckObject(json::Document& document, const Value& value, std::string_view what) {
  if (!value.is_object()) return Bad(fmt::format("{}: expected a JSON object", what));
  return CheckJson(document, value, what);
}

absl::StatusOr<UlidBytes> IdIn(const Value& value, std::string_view name, std::string_view what) {
  const auto text = value[name].AsString();
  if (!text) return Bad(fmt::format("{}: expected \"{}\", a ULID", what, name));
  return Id(what, *text);
}

// What one line comes to.
struct Item {
  uint64_t line = 0;
  uint64_t TransferCounts::*kind = nullptr;
  bool replaces = false;
  std::string key, value;            // as they stand in the database
  std::optional<UlidBytes> channel;  // nothing is kept for one that was deleted
  std::optional<UlidBytes> message;
  struct Record {
    Collection collection;
    std::string key, order, json;
  };
  std::optional<Record> record;
  std::optional<std::string> entry;  // of the trail
};

}  // namespace

struct Importer::Impl {
  Impl(Store& into, const ImportOptions& chosen) : store(into), inside(Inside::Of(into)), options(chosen) {}

  // Calls take(text, length), which says whether to go on, for each line; one that is too long has no text.
  template <typename Take>
  void Cut(std::string_view bytes, const Take& take) {
    while (!bytes.empty()) {
      const size_t newline = bytes.find('\n');
      const bool ends = newline != std::string_view::npos;
      const std::string_view piece = bytes.substr(0, ends ? newline : bytes.size());
      bytes.remove_prefix(piece.size() + (ends ? 1 : 0));
      if (ends && begun == 0 && piece.size() <= kMaxLineBytes) {
        if (!take(piece, piece.size())) return;
        continue;
      }
      begun += piece.size();
      if (begun <= kMaxLineBytes) {
        part.append(piece);
      } else {
        std::string().swap(part);
      }
      if (ends && !TakePart(take)) return;
    }
  }
  template <typename Take>
  bool TakePart(const Take& take) {
    const bool goes_on = take(part, begun);
    begun = 0;
    part.clear();
    return goes_on;
  }

  bool TakeLine(std::string_view text, uint64_t length);
  absl::Status ReadLine();
  absl::Status ReadFirst(std::string_view text);
  absl::Status ReadEnd(const Value& end);
  absl::StatusOr<std::string> Bytes(std::string_view name);
  absl::StatusOr<TrailHash> Hash();
  absl::StatusOr<Item> ReadChannelLine(const Value& value);
  absl::StatusOr<Item> ReadMessageLine(const Value& value);
  absl::StatusOr<Item> ReadMemberLine(const Value& value);
  absl::StatusOr<Item> ReadCommandsLine(const Value& value);
  absl::StatusOr<Item> ReadRecordLine(const Value& value);
  absl::Status ReadTrailStart(const Value& value);
  absl::Status BeginTrail();
  absl::Status ReadEntry(const Value& value);
  absl::Status CheckTrailEntry(uint64_t entry_number, const std::string& key, const std::string& value);

  // Whether it is to be put, or was counted.
  absl::Status Take(Item item);
  absl::Status Queue(Item item);
  absl::Status Commit();
  void Describe(uint64_t line, uint64_t column, std::string what);
  void Finish();

  Store& store;
  Store::Impl& inside;
  const ImportOptions options;
  ImportReport report;
  absl::Status failure;  // for good
  bool ended = false;

  std::string part;    // of a line that is not whole yet
  uint64_t begun = 0;  // its bytes so far, also those that were let go
  uint64_t number = 0;
  uint64_t lines = 1;  // that are not blank, with the first
  TransferCounts seen;
  bool has_first = false, has_last = false;
  json::Document line{{.bytes = kMaxLineBytes, .depth = 66}};
  json::Document record = NewDocument();

  std::vector<Item> items;
  size_t item_bytes = 0;
  std::unordered_set<std::string> keys;  // of the items
  // The end of the trail with what is among the items; read when it is first needed.
  std::optional<TrailHead> trail;
  std::optional<TrailHead> trail_start;   // what the file says was taken off
  std::optional<TrailHead> trail_before;  // the first entry among the items

  std::atomic<uint64_t> lines_told{0}, bytes_told{0};
};

void Importer::Impl::Describe(uint64_t at, uint64_t column, std::string what) {
  ++report.bad;
  if (report.bad_lines.size() < kMostDescribed) report.bad_lines.push_back({at, column, std::move(what)});
}

bool Importer::Impl::TakeLine(std::string_view text, uint64_t length) {
  ++number;
  lines_told = number;
  if (number == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.ends_with('\r')) text.remove_suffix(1);
  const bool too_long = length > kMaxLineBytes;
  if (!too_long && text.find_first_not_of(" \t\r") == std::string_view::npos) return true;
  if (!has_first) {
    failure = ReadFirst(too_long ? std::string_view() : text);
    has_first = failure.ok();
    return has_first;
  }
  absl::Status status =
      too_long ? Bad(fmt::format("{} bytes long: {} are the most", length, kMaxLineBytes)) : line.Parse(text);
  const uint64_t column = status.ok() || too_long ? 0 : ColumnOf(status);
  if (status.ok()) status = ReadLine();
  ++lines;
  if (status.ok()) return true;
  if (!absl::IsInvalidArgument(status)) {
    failure = status;
    return false;
  }
  Describe(number, column, std::string(MessageOf(status)));
  if (!options.strict) return true;
  failure = Commit();
  if (failure.ok()) {
    failure = Bad(fmt::format("line {}{}: {}", number, column > 0 ? fmt::format(", column {}", column) : "",
                              MessageOf(status)));
  }
  return false;
}

absl::Status Importer::Impl::ReadFirst(std::string_view text) {
  std::optional<int64_t> format;
  if (line.Parse(text).ok() && line.root()[kSuite].AsString() == kHistory)
    format = line.root()["format"].AsInt();
  if (!format || *format < 1) {
    return Bad(
        fmt::format("line {}: this is no exported history; expected {{\"{}\":\"{}\",\"format\":{}}} first",
                    number, kSuite, kHistory, kExportFormat));
  }
  if (*format <= kExportFormat) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("the file is of format {}, and this program reads up to {}; use the program that wrote it",
                  *format, kExportFormat));
}

absl::Status Importer::Impl::ReadLine() {
  if (has_last) return Bad("it stands behind the last line");
  if (!line.root().is_object()) return Bad("expected a JSON object");
  const auto [suite, channel, member, message, commands, record_value, start, entry, end] =
      line.root().Members({kSuite, kLineChannel, kLineMember, kLineMessage, kLineCommands, kLineRecord,
                           kLineTrailStart, kLineEntry, kLineEnd});
  const auto take = [&](absl::StatusOr<Item> item, uint64_t TransferCounts::*kind) {
    if (!item.ok()) return item.status();
    ++(seen.*kind);
    item->kind = kind;
    item->line = number;
    return Take(*std::move(item));
  };
  if (!message.absent()) return take(ReadMessageLine(message), &TransferCounts::messages);
  if (!member.absent()) return take(ReadMemberLine(member), &TransferCounts::members);
  if (!commands.absent()) return take(ReadCommandsLine(commands), &TransferCounts::commands);
  if (!record_value.absent()) return take(ReadRecordLine(record_value), &TransferCounts::records);
  if (!entry.absent()) return ReadEntry(entry);
  if (!start.absent()) return ReadTrailStart(start);
  if (!end.absent()) return ReadEnd(end);
  if (!suite.absent()) return Bad("another first line; import one file at a time");
  if (!channel.absent()) return take(ReadChannelLine(channel), &TransferCounts::channels);
  return Bad(
      "expected one of channel, member, message, commands, record, trailStart, entry and end, and it has "
      "none");
}

absl::Status Importer::Impl::ReadEnd(const Value& end) {
  if (!end.is_object() || !end["lines"].AsUint()) return Bad("end: expected an object with \"lines\"");
  has_last = true;
  if (const uint64_t said = *end["lines"].AsUint(); said != lines) {
    report.cut =
        fmt::format("the last line says that {} lines stand before it, and there are {}", said, lines);
    return absl::OkStatus();
  }
  if (report.bad > 0) return absl::OkStatus();
  for (const auto& [name, kind] :
       {std::pair("channels", &TransferCounts::channels), std::pair("members", &TransferCounts::members),
        std::pair("messages", &TransferCounts::messages), std::pair("commands", &TransferCounts::commands),
        std::pair("records", &TransferCounts::records), std::pair("trail", &TransferCounts::trail)}) {
    const std::optional<uint64_t> said = end[name].AsUint();
    if (report.cut.empty() && said && *said != seen.*kind)
      report.cut = fmt::format("the last line says {} {}, and there are {}", *said, name, seen.*kind);
  }
  return absl::OkStatus();
}

// Bytes under this name, or as digits under the name with Hex.
absl::StatusOr<std::string> Importer::Impl::Bytes(std::string_view name) {
  if (const auto text = line.root()[name].AsString()) return std::string(*text);
  const std::string hex_name = std::string(name) + "Hex";
  if (const auto digits = line.root()[hex_name].AsString()) {
    if (auto bytes = FromHex(*digits)) return *std::move(bytes);
    return Bad(fmt::format("{}: expected pairs of hexadecimal digits", hex_name));
  }
  return Bad(fmt::format("expected \"{}\", a text", name));
}

absl::StatusOr<TrailHash> Importer::Impl::Hash() {
  if (const auto hash = ParseHash(line.root()["hash"].AsString().value_or(""))) return *hash;
  return Bad("hash: expected 64 hexadecimal digits");
}

absl::StatusOr<Item> Importer::Impl::ReadChannelLine(const Value& value) {
  if (absl::Status status = CheckObject(record, value, "channel"); !status.ok()) return status;
  const auto id = IdIn(value, "id", "channel");
  if (!id.ok()) return id.status();
  Item item;
  item.channel = *id;
  item.key = ChannelKey(*id);
  item.value = Kept(value);
  return item;
}

absl::StatusOr<Item> Importer::Impl::ReadMessageLine(const Value& value) {
  if (absl::Status status = CheckObject(record, value, "message"); !status.ok()) return status;
  const auto id = IdIn(value, "id", "message");
  if (!id.ok()) return id.status();
  const auto channel = IdIn(value, "channel", "channel of a message");
  if (!channel.ok()) return channel.status();
  if (!value["done"].AsBool().value_or(true) || value["queued"].AsBool().value_or(false))
    return Bad("message: it is queued or not finished, and only finished ones are kept");
  Item item;
  item.channel = *channel;
  item.message = *id;
  item.key = MessageKey(*channel, *id);
  item.value = Kept(value);
  return item;
}

absl::StatusOr<Item> Importer::Impl::ReadMemberLine(const Value& value) {
  if (absl::Status status = CheckObject(record, value, "member"); !status.ok()) return status;
  const auto channel = IdIn(line.root(), "of", "channel of a member");
  if (!channel.ok()) return channel.status();
  const auto agent = Bytes("agent");
  if (!agent.ok()) return agent.status();
  if (absl::Status status = CheckAgent(*agent); !status.ok()) return status;
  Item item;
  item.channel = *channel;
  item.key = MemberKey(*channel, *agent);
  item.value = Kept(value);
  return item;
}

absl::StatusOr<Item> Importer::Impl::ReadCommandsLine(const Value& value) {
  const auto agent = Bytes("agent");
  if (!agent.ok()) return agent.status();
  if (absl::Status status = CheckAgent(*agent); !status.ok()) return status;
  if (absl::Status status = CheckJson(record, value, "commands"); !status.ok()) return status;
  Item item;
  item.key = CommandsKey(*agent);
  item.value = Kept(value);
  return item;
}

absl::StatusOr<Item> Importer::Impl::ReadRecordLine(const Value& value) {
  const auto collection = line.root()["collection"].AsInt();
  if (!collection || *collection < 1 || *collection > 255)
    return Bad("collection: expected a number from 1 to 255");
  auto key = Bytes("key");
  if (!key.ok()) return key.status();
  auto order = Bytes("order");
  if (!order.ok()) return order.status();
  if (absl::Status status = CheckJson(record, value, "record"); !status.ok()) return status;
  if (absl::Status status = Batch().Put(static_cast<Collection>(*collection), *key, *order, value.text());
      !status.ok())
    return status;
  Item item;
  item.key = RecordKey(static_cast<uint8_t>(*collection), *key);
  item.value = WriteRecord(*order, value.text().text());
  item.record = {static_cast<Collection>(*collection), *std::move(key), *std::move(order),
                 std::string(value.text().text())};
  return item;
}

absl::Status Importer::Impl::ReadTrailStart(const Value& value) {
  const auto hash = Hash();
  if (!hash.ok()) return hash.status();
  if (!value.AsUint() || *value.AsUint() == 0) return Bad("trailStart: expected a number from 1");
  trail_start = {*value.AsUint(), *hash};
  return absl::OkStatus();
}

absl::Status Importer::Impl::ReadEntry(const Value& value) {
  const auto hash = Hash();
  if (!hash.ok()) return hash.status();
  const auto entry_number = line.root()["number"].AsUint();
  if (!entry_number || *entry_number == 0) return Bad("entry: expected \"number\", from 1");
  if (absl::Status status = CheckJson(record, value, "entry"); !status.ok()) return status;
  ++seen.trail;
  if (!trail) {
    auto head = EndOfTrail(*inside.engine);
    if (absl::IsDataLoss(head.status())) return Bad(std::string(MessageOf(head.status())));
    if (!head.ok()) return head.status();
    trail = *head;
  }
  const std::string json(value.text().text());
  Item item;
  item.kind = &TransferCounts::trail;
  item.line = number;
  item.key = TrailKey(*entry_number);
  item.value = std::string(1, kValueVersion);
  item.value.append(hash->begin(), hash->end()).append(json);
  if (*entry_number <= trail->number) return CheckTrailEntry(*entry_number, item.key, item.value);
  TrailHead before = *trail;
  if (before.number == 0 && trail_start) before = *trail_start;
  if (*entry_number != before.number + 1) {
    return Bad(fmt::format("entry: expected the trail's entry {} next, and this is {}", before.number + 1,
                           *entry_number));
  }
  if (HashEntry(before.hash, *entry_number, json) != *hash) {
    return Bad(
        fmt::format("entry: the hash of entry {} does not follow from the one before it: it was changed, or "
                    "this history has a trail of its own",
                    *entry_number));
  }
  item.entry = json;
  if (!trail_before) trail_before = before;
  trail = {*entry_number, *hash};
  return Queue(std::move(item));
}

// Of an entry whose number the trail has already.
absl::Status Importer::Impl::CheckTrailEntry(uint64_t entry_number, const std::string& key,
                                             const std::string& value) {
  if (keys.contains(key)) {
    if (absl::Status status = Commit(); !status.ok()) return status;
  }
  std::string there;
  const absl::Status got = inside.engine->Get(key, there);
  if (absl::IsNotFound(got)) {
    const auto start = ReadTrailHead(*inside.engine, kTrailAnchorKey);
    if (start.ok() && entry_number <= start->number) there = value;
  } else if (!got.ok() && !absl::IsDataLoss(got)) {
    return got;
  }
  if (there != value)
    return Bad(fmt::format("entry: this history has another entry {} in its trail", entry_number));
  ++report.already.trail;
  return absl::OkStatus();
}

absl::Status Importer::Impl::Take(Item item) {
  if (item.channel && inside.IsDeleted(*item.channel)) {
    ++(report.refused.*item.kind);
    return absl::OkStatus();
  }
  if (keys.contains(item.key)) {
    if (absl::Status status = Commit(); !status.ok()) return status;
  }
  std::string there;
  const absl::Status got = inside.engine->Get(item.key, there);
  if (got.ok()) {
    if (!options.replace || OfNewerVersion(there) || there == item.value) {
      ++(report.already.*item.kind);
      return absl::OkStatus();
    }
    item.replaces = true;
  } else if (!absl::IsNotFound(got) && !absl::IsDataLoss(got)) {
    return got;
  }
  return Queue(std::move(item));
}

absl::Status Importer::Impl::Queue(Item item) {
  item_bytes += item.key.size() + item.value.size();
  keys.insert(item.key);
  items.push_back(std::move(item));
  return item_bytes < kBatchBytes ? absl::OkStatus() : Commit();
}

absl::Status Importer::Impl::Commit() {
  while (!items.empty()) {
    Batch batch;
    auto& inner = Inside::Of(batch);
    for (const Item& item : items) {
      absl::Status put;
      if (item.record) {
        put = batch.Put(item.record->collection, item.record->key, item.record->order,
                        JsonView::Trusted(item.record->json));
      } else if (item.entry) {
        put = batch.AppendToTrail(JsonView::Trusted(*item.entry));
      } else {
        put = inner.Add("a record", item.key, item.value);
        if (item.message) {
          inner.arrivals.push_back({*item.channel, *item.message});
        } else if (item.channel) {
          inner.channels.push_back(*item.channel);
        }
      }
      if (!put.ok()) return put;
    }
    inner.trail_after = trail_before;
    const absl::Status status = store.Commit(batch);
    if (absl::IsFailedPrecondition(status)) {
      // A channel was deleted since it was looked at.
      const size_t before = items.size();
      std::erase_if(items, [&](const Item& item) {
        if (!item.channel || !inside.IsDeleted(*item.channel)) return false;
        ++(report.refused.*item.kind);
        return true;
      });
      if (items.size() == before) return status;
      continue;
    }
    if (absl::IsAborted(status)) {
      std::erase_if(items, [&](const Item& item) {
        if (!item.entry) return false;
        Describe(item.line, 0, fmt::format("entry: {}", MessageOf(status)));
        return true;
      });
      trail.reset();
      trail_before.reset();
      continue;
    }
    if (!status.ok()) return status;
    for (const Item& item : items) {
      TransferCounts& counts = item.replaces ? report.replaced : report.kept;
      ++(counts.*item.kind);
    }
    break;
  }
  items.clear();
  keys.clear();
  item_bytes = 0;
  trail_before.reset();
  return absl::OkStatus();
}

// All of its entries were taken off: the next one has the number that it would have had there.
absl::Status Importer::Impl::BeginTrail() {
  const auto end = EndOfTrail(*inside.engine);
  if (absl::IsDataLoss(end.status()) || (end.ok() && end->number != 0)) return absl::OkStatus();
  if (!end.ok()) return end.status();
  Batch batch;
  Inside::Of(batch).trail_after = trail_start;
  const absl::Status status = store.Commit(batch);
  // Somebody else began it meanwhile.
  return absl::IsAborted(status) ? absl::OkStatus() : status;
}

void Importer::Impl::Finish() {
  if (!has_first) {
    failure = Bad("the file is empty");
    return;
  }
  failure = Commit();
  if (failure.ok() && trail_start && seen.trail == 0) failure = BeginTrail();
  if (!has_last)
    report.cut =
        fmt::format("the file has no last line: it was cut behind line {}, or is being written", number);
  if (failure.ok() && options.strict && !report.cut.empty()) failure = absl::DataLossError(report.cut);
}

Importer::Importer(Store& store, const ImportOptions& options)
    : impl_(std::make_unique<Impl>(store, options)) {}
Importer::~Importer() = default;

absl::Status Importer::Feed(std::string_view bytes) {
  if (!impl_->failure.ok()) return impl_->failure;
  if (impl_->ended) return absl::FailedPreconditionError("the import has ended");
  impl_->bytes_told += bytes.size();
  impl_->Cut(bytes, [&](std::string_view text, uint64_t length) { return impl_->TakeLine(text, length); });
  return impl_->failure;
}

absl::Status Importer::End() {
  if (!impl_->failure.ok()) return impl_->failure;
  if (impl_->ended) return absl::FailedPreconditionError("the import has ended");
  impl_->ended = true;
  const auto take = [&](std::string_view text, uint64_t length) { return impl_->TakeLine(text, length); };
  if (impl_->begun > 0) impl_->TakePart(take);
  if (impl_->failure.ok()) impl_->Finish();
  return impl_->failure;
}

const ImportReport& Importer::report() const { return impl_->report; }

Importer::Progress Importer::progress() const { return {impl_->lines_told, impl_->bytes_told}; }

}  // namespace watchbill::history
