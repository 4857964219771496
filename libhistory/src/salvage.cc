#include "salvage.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "folder_files.hpp"
#include "keys.hpp"
#include "ledger_record.hpp"
#include "raw_files.hpp"
#include "says.hpp"
#include "store_impl.hpp"
#include "unchanged_env.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/history/trail.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kMostTroubles = 100;

// All that was once written, sorted: each key with a 0 as 0 FF and 0 0 behind it, then its number
// complemented, so that the newest comes first. A value is whether it deletes, and the bytes.
std::string SortedPrefix(std::string_view key) {
  std::string sorted;
  sorted.reserve(key.size() + 10);
  for (const char c : key) {
    sorted.push_back(c);
    if (c == '\0') sorted.push_back('\xFF');
  }
  return sorted.append(2, '\0');
}

// The keys that hold, over the engine in which everything was sorted.
class Newest final : public Cursor {
 public:
  explicit Newest(const Engine& sorted) : it_(sorted.Scan({})) { Settle(); }
  bool Valid() const override { return valid_; }
  std::string_view key() const override { return key_; }
  std::string_view value() const override { return it_->value().substr(1); }
  void Next() override {
    PassOver();
    Settle();
  }
  void Seek(std::string_view key) override {
    std::string from = SortedPrefix(key);
    from.resize(from.size() - 2);
    it_->Seek(from);
    Settle();
  }
  absl::Status status() const override { return it_->status(); }

 private:
  // To the first key from here on whose newest entry puts something.
  void Settle() {
    for (valid_ = false; it_->Valid(); PassOver()) {
      Read();
      if (it_->value().starts_with('P')) {
        valid_ = true;
        return;
      }
    }
  }
  void Read() {
    prefix_ = it_->key().substr(0, it_->key().size() - 8);
    key_.clear();
    for (size_t at = 0; at + 2 < prefix_.size(); ++at) {
      key_.push_back(prefix_[at]);
      if (prefix_[at] == '\0') ++at;
    }
  }
  void PassOver() {
    while (it_->Valid() && it_->key().size() == prefix_.size() + 8 && it_->key().starts_with(prefix_))
      it_->Next();
  }

  std::unique_ptr<Cursor> it_;
  std::string prefix_, key_;
  bool valid_ = false;
};

class Salvaging {
 public:
  Salvaging(const std::string& folder, const std::string& name, SalvageReport& report)
      : folder_(folder), name_(name), report_(report) {}

  // Everything that any of the files that matter says, sorted.
  absl::Status ReadFiles(FreshCopy& sorted) {
    const auto files = FilesOf(folder_);
    if (!files.ok()) return files.status();
    const std::optional<LiveFiles> live = Live(*files);
    std::set<uint64_t> missing = live ? live->tables : std::set<uint64_t>();
    for (const FolderFile& file : *files) {
      if (!file.database) continue;
      const bool table = file.name.ends_with(".ldb") || file.name.ends_with(".sst");
      if (!table && !file.name.ends_with(".log")) continue;
      const uint64_t number = NumberOfFile(file.name);
      missing.erase(number);
      // What the manifest does not name was replaced, and had only to be deleted yet.
      if (live &&
          !(table ? live->tables.contains(number) : number >= live->log || number == live->log_before))
        continue;
      RawReport read;
      absl::Status taken;
      const auto take = [&](const RawEntry& entry) {
        std::string key = SortedPrefix(entry.key);
        AppendNumber(key, ~(entry.sequence << 8 | (entry.deleted ? 0 : 1)));
        value_.assign(1, entry.deleted ? 'D' : 'P').append(entry.value);
        return taken = sorted.Put(key, value_);
      };
      const std::string path = folder_ + "/" + file.name;
      const absl::Status status = table ? ReadTableFile(path, take, read) : ReadLogFile(path, take, read);
      if (!taken.ok()) return taken;
      ++report_.files;
      report_.bytes += file.bytes;
      if (!status.ok()) {
        Trouble(std::string(MessageOf(status)));
      } else if (read.damaged > 0) {
        Trouble(fmt::format("{} is damaged in {} ({}); {} entries of it could be read", file.name,
                            read.damaged == 1 ? "one place" : fmt::format("{} places", read.damaged),
                            read.how, read.entries));
      }
    }
    for (const uint64_t number : missing) Trouble(fmt::format("{:06}.ldb is missing", number));
    return sorted.Flush();
  }

  absl::Status Rebuild(const Engine& sorted, FreshCopy& into) {
    json::Document document = NewDocument();
    Newest it(sorted), records(sorted);
    std::set<UlidBytes> deleted;
    for (it.Seek(kDeletedPrefix); it.Valid() && it.key().starts_with(kDeletedPrefix); it.Next()) {
      if (const auto id = DeletedOfKey(it.key())) deleted.insert(*id);
    }
    bool has_format = false, any = false;
    absl::Status status = it.status();
    for (it.Seek({}); status.ok() && it.Valid(); it.Next()) {
      const std::string_view key = it.key(), value = it.value();
      const Kind kind = KindOf(key);
      const bool readable = CanBeRead(document, key, value);
      if (kind == Kind::kFormat) {
        if (status = CheckFormat(value, readable, document); !status.ok()) break;
        if (!readable) continue;
        has_format = any = true;
      }
      const bool of_channel = kind == Kind::kChannel || kind == Kind::kMessage || kind == Kind::kMember;
      const std::optional<UlidBytes> channel =
          of_channel ? ChannelOfKey(key.substr(0, 17)) : std::optional<UlidBytes>();
      if (channel && deleted.contains(*channel)) {
        ++report_.deleted;
        continue;
      }
      any = any || (readable && kind != Kind::kIndex && kind != Kind::kOrder);
      if (kind != Kind::kFormat && kind != Kind::kTrailEnd) {
        Readability& count = ReadabilityOf(report_.records, kind);
        ++(readable ? count.readable : count.unreadable);
      }
      if (kind == Kind::kIndex) continue;
      if (kind == Kind::kOrder && !OfUnreadable(records, key)) continue;
      if (const auto record = ReadRecord(value); kind == Kind::kRecord && record && key.size() > 2) {
        const std::string order = OrderKey(static_cast<uint8_t>(key[1]), record->order, key.substr(2));
        if (status = into.Put(order, {}); !status.ok()) break;
      }
      status = into.Put(key, value);
    }
    if (status.ok()) status = it.status();
    if (!status.ok()) return status;
    if (!any) {
      return Damaged(name_, "no record of a history could be read in it, and it is left as it is");
    }
    if (!has_format) {
      ValueWriter format;
      format.json.Begin('{').Key("format").Int(kFormat).End('}');
      status = into.Put(kFormatKey, format.value);
    }
    return status;
  }

 private:
  void Trouble(std::string what) {
    if (report_.troubles.size() < kMostTroubles) report_.troubles.push_back(std::move(what));
  }

  // By the manifest that CURRENT names, or else the newest; nothing where no manifest can be read.
  std::optional<LiveFiles> Live(const std::vector<FolderFile>& files) {
    std::string named;
    const absl::Status read = ReadWhole(folder_ + "/CURRENT", named);
    if (named.ends_with('\n')) named.pop_back();
    std::string newest;
    for (const FolderFile& file : files) {
      if (file.database && file.name.starts_with("MANIFEST-") &&
          (newest.empty() || Number(file.name) > Number(newest)))
        newest = file.name;
    }
    if (!read.ok()) {
      Trouble("CURRENT is missing");
    } else if (!IsDatabaseFile(named) || !named.starts_with("MANIFEST-")) {
      Trouble("CURRENT is damaged");
      named.clear();
    }
    for (const std::string& manifest : {named, newest}) {
      if (manifest.empty()) continue;
      if (std::optional<LiveFiles> live = ReadManifest(folder_ + "/" + manifest)) return live;
      Trouble(fmt::format("{} is missing or damaged", manifest));
      if (named == newest) break;
    }
    if (newest.empty()) Trouble("there is no manifest");
    return std::nullopt;
  }
  static uint64_t Number(std::string_view manifest) {
    return NumberOfFile(manifest.substr(manifest.find('-') + 1));
  }

  absl::Status CheckFormat(std::string_view value, bool readable, const json::Document& document) const {
    int64_t format = 0;
    if (readable) format = document.root()["format"].AsInt().value_or(0);
    if (OfNewerVersion(value)) format = static_cast<unsigned char>(value[0]);
    return format > kFormat ? NewerFormat(name_, format, kFormat) : absl::OkStatus();
  }

  // Whether a place in the second order is one that cannot be made again: its record is there, and not for
  // us.
  bool OfUnreadable(Newest& records, std::string_view key) const {
    const std::optional<OrderAndKey> place = OrderOfKey(key);
    if (!place) return false;
    const std::string record = RecordKey(static_cast<uint8_t>(key[1]), place->key);
    records.Seek(record);
    return records.Valid() && records.key() == record && !ReadRecord(records.value());
  }

  const std::string& folder_;
  const std::string& name_;
  SalvageReport& report_;
  std::string value_;
};

// That what was made opens, and whether its trail holds. Nothing of it is changed.
absl::Status CheckMade(const std::string& part, const std::string& name, SalvageReport& report) {
  const absl::Status status = [&]() -> absl::Status {
    UnchangedEnv env;
    const auto store = OpenUnchanged(env, part);
    if (!store.ok()) return store.status();
    const auto end = Trail(**store).End();
    if (end.ok() && end->number == 0) return absl::OkStatus();
    auto verified = Trail(**store).Verify();
    if (!verified.ok()) return verified.status();
    report.trail = *std::move(verified);
    return absl::OkStatus();
  }();
  if (status.ok()) return status;
  return Damaged(name, fmt::format("what was made of it cannot be used: {}", MessageOf(status)));
}

}  // namespace

Readability& ReadabilityOf(RecordReport& report, Kind kind) {
  switch (kind) {
    case Kind::kChannel:
      return report.channels;
    case Kind::kMessage:
      return report.messages;
    case Kind::kMember:
      return report.members;
    case Kind::kCommands:
      return report.commands;
    case Kind::kDeletion:
      return report.deletions;
    case Kind::kIndex:
      return report.index;
    case Kind::kRecord:
      return report.records;
    case Kind::kOrder:
      return report.orders;
    case Kind::kTrailEntry:
      return report.trail;
    case Kind::kFormat:
    case Kind::kTrailEnd:
    case Kind::kOther:
      return report.others;
  }
  return report.others;
}

absl::Status CountRecords(const Engine& engine, RecordReport& report, bool& damaged) {
  json::Document document = NewDocument();
  const std::unique_ptr<Cursor> it = engine.Scan({});
  for (; it->Valid(); it->Next()) {
    const Kind kind = KindOf(it->key());
    if (kind == Kind::kFormat || kind == Kind::kTrailEnd) continue;
    Readability& count = ReadabilityOf(report, kind);
    ++(CanBeRead(document, it->key(), it->value()) ? count.readable : count.unreadable);
  }
  const absl::Status status = it->status();
  damaged = absl::IsDataLoss(status);
  return damaged ? absl::OkStatus() : status;
}

absl::Status SalvageFiles(const std::string& folder, const std::string& name, const std::string& into,
                          SalvageReport& report) {
  Salvaging salvaging(folder, name, report);
  FreshCopy made(into + ".part");
  if (absl::Status status = made.Open(); !status.ok()) return status;
  {
    FreshCopy sorted(into + ".sorting");
    if (absl::Status status = sorted.Open(); !status.ok()) return status;
    if (absl::Status status = salvaging.ReadFiles(sorted); !status.ok()) return status;
    if (absl::Status status = salvaging.Rebuild(sorted.engine(), made); !status.ok()) return status;
  }
  if (absl::Status status = made.Close(); !status.ok()) return status;
  if (absl::Status status = CheckMade(into + ".part", name, report); !status.ok()) return status;
  if (absl::Status status = PutInPlace(into + ".part", into); !status.ok()) return status;
  made.Keep();
  return absl::OkStatus();
}

}  // namespace watchbill::history
