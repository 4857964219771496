#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "crc32c.hpp"
#include "folder_files.hpp"
#include "raw_files.hpp"
#include "raw_varint.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kHeader = 7;  // checksum in four bytes, length in two, type in one
constexpr char kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4;

// The length under which the record at the beginning is whole by its checksum; nothing where it is so under
// none.
std::optional<size_t> LengthByChecksum(std::string_view record) {
  if (record.size() < kHeader || record[6] < kFull || record[6] > kLast) return std::nullopt;
  const uint32_t wanted = UnmaskedCrc(Fixed32At(record, 0));
  Crc32c crc;
  for (size_t at = kHeader - 1; at < record.size(); ++at) {
    crc.Add(record[at]);
    if (crc.value() == wanted) return at + 1 - kHeader;
  }
  return std::nullopt;
}

size_t SaidLength(std::string_view block, size_t at) {
  return static_cast<size_t>(static_cast<unsigned char>(block[at + 4])) |
         static_cast<size_t>(static_cast<unsigned char>(block[at + 5])) << 8;
}

bool IsWhole(std::string_view block, size_t at) {
  if (at + kHeader > block.size() || block[at + 6] < kFull || block[at + 6] > kLast) return false;
  const size_t length = SaidLength(block, at);
  if (at + kHeader + length > block.size()) return false;
  Crc32c crc;
  crc.Add(block.substr(at + kHeader - 1, 1 + length));
  return crc.value() == UnmaskedCrc(Fixed32At(block, at));
}

// Puts and deletes that were written together: the number of the first in eight bytes, how many in four.
bool EachOfBatch(std::string_view batch, const std::function<bool(const RawEntry&)>& take) {
  if (batch.size() < 12) return false;
  RawEntry entry;
  entry.sequence = Fixed64At(batch, 0);
  uint32_t left = Fixed32At(batch, 8);
  std::string_view rest = batch.substr(12);
  for (; left > 0 && !rest.empty(); --left, ++entry.sequence) {
    const char type = rest[0];
    rest.remove_prefix(1);
    entry.deleted = type == 0;
    entry.value = {};
    if ((type != 0 && type != 1) || !TakeCounted(rest, entry.key)) return false;
    if (type == 1 && !TakeCounted(rest, entry.value)) return false;
    if (!take(entry)) return true;
  }
  return left == 0 && rest.empty();
}

// Calls block(bytes) for each of a file's.
absl::Status EachBlock(const std::string& path, const std::function<bool(std::string_view)>& block) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) return FileError(errno, path, "read");
  const auto bytes = std::make_unique<char[]>(LogRecords::kBlock);
  for (;;) {
    errno = 0;
    const size_t got = std::fread(bytes.get(), 1, LogRecords::kBlock, file.get());
    if (got > 0 && !block({bytes.get(), got})) return absl::OkStatus();
    if (got == LogRecords::kBlock) continue;
    return std::ferror(file.get()) ? FileError(errno, path, "read") : absl::OkStatus();
  }
}

}  // namespace

void LogRecords::Damaged(size_t at, std::string_view how) {
  if (damaged_++ == 0) how_ = fmt::format("byte {}: {}", (blocks_ - 1) * kBlock + at, how);
  within_ = false;
  lost_ = true;
}

void LogRecords::Fragment(char type, std::string_view bytes) {
  const bool begins = type == kFull || type == kFirst;
  if (begins && within_) {
    ++damaged_;
    if (how_.empty()) how_ = "a record has no end";
  }
  if (begins) {
    lost_ = false;
    record_.assign(bytes);
  } else if (within_) {
    record_.append(bytes);
  } else {
    // The end of one whose beginning was lost.
    if (!std::exchange(lost_, true)) {
      ++damaged_;
      if (how_.empty()) how_ = "a record has no beginning";
    }
    if (type == kLast) lost_ = false;
    return;
  }
  within_ = type == kFirst || type == kMiddle;
  if (!within_) take_(record_);
}

void LogRecords::Block(std::string_view block) {
  ++blocks_;
  const bool is_last = block.size() < kBlock;
  for (size_t at = 0; at + kHeader <= block.size();) {
    if (IsWhole(block, at)) {
      const size_t length = SaidLength(block, at);
      Fragment(block[at + 6], block.substr(at + kHeader, length));
      at += kHeader + length;
      continue;
    }
    const std::string_view rest = block.substr(at);
    // What a file system made longer before the machine stopped.
    if (rest.find_first_not_of('\0') == std::string_view::npos) return;
    if (const std::optional<size_t> length = LengthByChecksum(rest)) {
      // All that is wrong is the length that it says.
      Fragment(block[at + 6], block.substr(at + kHeader, *length));
      at += kHeader + *length;
      continue;
    }
    const size_t next = at + kHeader + SaidLength(block, at);
    if (next > block.size() && is_last) return;  // its writer died
    Damaged(at, "a record does not have its checksum");
    if (!IsWhole(block, next)) return;
    at = next;
  }
}

absl::Status ReadLogFile(const std::string& path, const TakeEntry& take, RawReport& report) {
  absl::Status status;
  const auto take_entry = [&](const RawEntry& entry) {
    ++report.entries;
    status = take(entry);
    return status.ok();
  };
  LogRecords records([&](std::string_view record) {
    if (!status.ok() || EachOfBatch(record, take_entry)) return;
    if (report.damaged++ == 0) report.how = "a record is no batch of writes";
  });
  const absl::Status read = EachBlock(path, [&](std::string_view block) {
    records.Block(block);
    return status.ok();
  });
  report.damaged += records.damaged();
  if (report.how.empty()) report.how = records.how();
  return status.ok() ? read : status;
}

std::optional<LiveFiles> ReadManifest(const std::string& path) {
  LiveFiles live;
  bool known = true, any = false;
  const auto take_edit = [&](std::string_view edit) {
    any = true;
    while (known && !edit.empty()) {
      uint64_t tag = 0, number = 0, level = 0, size = 0;
      std::string_view text, more;
      const bool has_tag = TakeVarint(edit, tag);
      switch (has_tag ? tag : 0) {
        case 1:  // the name of the order of keys
          known = TakeCounted(edit, text) && text == "leveldb.BytewiseComparator";
          break;
        case 2:
          known = TakeVarint(edit, live.log);
          break;
        case 3:  // the next file's number
        case 4:  // the last sequence
          known = TakeVarint(edit, number);
          break;
        case 5:  // where the next compaction begins
          known = TakeVarint(edit, level) && TakeCounted(edit, text);
          break;
        case 6:
          known = TakeVarint(edit, level) && TakeVarint(edit, number);
          if (known) live.tables.erase(number);
          break;
        case 7:
          known = TakeVarint(edit, level) && TakeVarint(edit, number) && TakeVarint(edit, size) &&
                  TakeCounted(edit, text) && TakeCounted(edit, more);
          if (known) live.tables.insert(number);
          break;
        case 9:
          known = TakeVarint(edit, live.log_before);
          break;
        default:
          known = false;
      }
    }
  };
  LogRecords records(take_edit);
  const absl::Status read = EachBlock(path, [&](std::string_view block) {
    records.Block(block);
    return true;
  });
  if (!read.ok() || records.damaged() > 0 || !known || !any) return std::nullopt;
  return live;
}

absl::Status ReadWhole(const std::string& path, std::string& bytes) {
  bytes.clear();
  return EachBlock(path, [&](std::string_view block) {
    bytes.append(block);
    return true;
  });
}

}  // namespace watchbill::history
