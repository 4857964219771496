#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "crc32c.hpp"
#include "folder_files.hpp"
#include "leveldb/env.h"
#include "leveldb/options.h"
#include "leveldb/table.h"
#include "raw_files.hpp"
#include "raw_varint.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kTrailer = 5;  // behind a block: whether it is compressed, and its checksum
constexpr size_t kFooter = 48;
constexpr uint64_t kMagic = 0xDB4775248B80FB57;
constexpr uint64_t kGreatestSequence = (uint64_t{1} << 56) - 1;

// Where a block is; nothing where that is not within the file.
struct Handle {
  uint64_t at = 0, size = 0;
};
std::optional<Handle> TakeHandle(std::string_view& bytes, size_t file_size) {
  Handle handle;
  if (!TakeVarint(bytes, handle.at) || !TakeVarint(bytes, handle.size)) return std::nullopt;
  if (handle.at > file_size || handle.size > file_size || handle.at + handle.size + kTrailer > file_size)
    return std::nullopt;
  return handle;
}

// A block's bytes; nothing where its checksum is another.
std::optional<std::string_view> BlockAt(std::string_view file, const Handle& handle, bool& compressed) {
  const std::string_view bytes = file.substr(handle.at, handle.size + 1);
  Crc32c crc;
  crc.Add(bytes);
  if (crc.value() != UnmaskedCrc(Fixed32At(file, handle.at + handle.size + 1))) return std::nullopt;
  compressed = bytes.back() != 0;
  return bytes.substr(0, handle.size);
}

// Calls take(key, value) for each entry of a block until it says no; false: it is no block, or it said so. A
// key is given as what it has in common with the one before, and the rest; at its end are how often entries
// begin anew, and where.
bool EachOfBlock(std::string_view block,
                 const std::function<bool(std::string_view, std::string_view)>& take) {
  if (block.size() < 4) return false;
  const uint64_t restarts = Fixed32At(block, block.size() - 4);
  if (4 * restarts + 4 > block.size()) return false;
  std::string_view entries = block.substr(0, block.size() - 4 - 4 * restarts);
  std::string key;
  while (!entries.empty()) {
    uint64_t shared = 0, own = 0, size = 0;
    if (!TakeVarint(entries, shared) || !TakeVarint(entries, own) || !TakeVarint(entries, size)) return false;
    if (shared > key.size() || own > entries.size() || size > entries.size() - own) return false;
    key.resize(shared);
    key.append(entries.substr(0, own));
    if (!take(key, entries.substr(own, size))) return false;
    entries.remove_prefix(own + size);
  }
  return true;
}

// A key of a table ends with number and type in eight bytes.
bool ParseKey(std::string_view key, std::string_view value, RawEntry& entry) {
  if (key.size() < 8) return false;
  const uint64_t tag = Fixed64At(key, key.size() - 8);
  if ((tag & 0xFF) > 1) return false;
  entry = {key.substr(0, key.size() - 8), value, tag >> 8, (tag & 0xFF) == 0};
  return true;
}

class TableReading {
 public:
  TableReading(std::string_view file, const std::function<bool(const RawEntry&)>& take, RawReport& report,
               bool& compressed)
      : file_(file), take_(take), report_(report), compressed_(compressed) {}

  bool Run() {
    const std::optional<std::string_view> index = Index();
    if (index) {
      const bool whole = EachOfBlock(*index, [&](std::string_view, std::string_view value) {
        const std::optional<Handle> handle = TakeHandle(value, file_.size());
        if (!handle) return Damaged("its index names a block outside of it");
        return Data(*handle);
      });
      if (!whole && goes_on_) Damaged("its index cannot be read to its end");
    } else if (!compressed_) {
      Damaged("its index cannot be read");
      WithoutIndex();
    }
    return goes_on_;
  }

 private:
  bool Damaged(std::string how) {
    if (report_.damaged++ == 0) report_.how = std::move(how);
    return true;
  }
  bool Damaged(uint64_t at, std::string_view how) { return Damaged(fmt::format("byte {}: {}", at, how)); }

  std::optional<std::string_view> Index() {
    if (file_.size() < kFooter) return std::nullopt;
    std::string_view footer = file_.substr(file_.size() - kFooter);
    if (Fixed64At(footer, kFooter - 8) != kMagic || !TakeHandle(footer, file_.size())) return std::nullopt;
    const std::optional<Handle> handle = TakeHandle(footer, file_.size());
    if (!handle) return std::nullopt;
    const auto index = BlockAt(file_, *handle, compressed_);
    return compressed_ ? std::nullopt : index;
  }

  // Says whether to go on.
  bool Data(const Handle& handle) {
    bool compressed = false;
    const auto block = BlockAt(file_, handle, compressed);
    if (!block) return Damaged(handle.at, "a block does not have its checksum");
    if (compressed) return compressed_ = true;
    const bool whole = EachOfBlock(*block, [&](std::string_view key, std::string_view value) {
      RawEntry entry;
      if (!ParseKey(key, value, entry)) return false;
      ++report_.entries;
      return goes_on_ = take_(entry);
    });
    return whole || !goes_on_ ? goes_on_ : Damaged(handle.at, "a block has entries of another kind");
  }

  // Blocks of entries stand from the beginning on, one behind the other: each ends where the checksum fits.
  // What stands behind them is no entries, or the index, whose keys go back behind the last.
  void WithoutIndex() {
    std::string last;
    for (size_t at = 0; goes_on_;) {
      const std::optional<size_t> size = SizeByChecksum(at);
      if (!size) return;
      std::vector<std::pair<std::string, std::string_view>> entries;
      const bool whole =
          EachOfBlock(file_.substr(at, *size), [&](std::string_view key, std::string_view value) {
            RawEntry entry;
            if (!ParseKey(key, value, entry) || entry.sequence >= kGreatestSequence || !IsBehind(key, last))
              return false;
            last = key;
            entries.emplace_back(key, value);
            return true;
          });
      if (!whole || entries.empty()) return;
      for (const auto& [key, value] : entries) {
        RawEntry entry;
        ParseKey(key, value, entry);
        ++report_.entries;
        if (!(goes_on_ = take_(entry))) return;
      }
      at += *size + kTrailer;
    }
  }

  static bool IsBehind(std::string_view key, std::string_view last) {
    if (last.empty()) return true;
    const std::string_view one = key.substr(0, key.size() - 8), before = last.substr(0, last.size() - 8);
    if (one != before) return one > before;
    return Fixed64At(key, one.size()) < Fixed64At(last, before.size());
  }

  std::optional<size_t> SizeByChecksum(size_t begin) const {
    Crc32c crc;
    for (size_t at = begin; at + kTrailer <= file_.size(); ++at) {
      // The byte behind a block is under its checksum, and 0.
      if (file_[at] == 0) {
        Crc32c whole = crc;
        whole.Add('\0');
        if (whole.value() == UnmaskedCrc(Fixed32At(file_, at + 1))) return at - begin;
      }
      crc.Add(file_[at]);
    }
    return std::nullopt;
  }

  const std::string_view file_;
  const std::function<bool(const RawEntry&)>& take_;
  RawReport& report_;
  bool& compressed_;
  bool goes_on_ = true;
};

// With LevelDB, for what is compressed: this library writes none, but reads it.
absl::Status ReadCompressed(const std::string& path, size_t size,
                            const std::function<bool(const RawEntry&)>& take, RawReport& report) {
  leveldb::RandomAccessFile* opened = nullptr;
  leveldb::Status status = leveldb::Env::Default()->NewRandomAccessFile(path, &opened);
  const std::unique_ptr<leveldb::RandomAccessFile> file(opened);
  leveldb::Options options;
  options.paranoid_checks = true;
  leveldb::Table* made = nullptr;
  if (status.ok()) status = leveldb::Table::Open(options, file.get(), size, &made);
  const std::unique_ptr<leveldb::Table> table(made);
  if (status.ok()) {
    leveldb::ReadOptions checked;
    checked.verify_checksums = true;
    const std::unique_ptr<leveldb::Iterator> it(table->NewIterator(checked));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      RawEntry entry;
      if (!ParseKey({it->key().data(), it->key().size()}, {it->value().data(), it->value().size()}, entry))
        continue;
      ++report.entries;
      if (!take(entry)) return absl::OkStatus();
    }
    status = it->status();
  }
  if (!status.ok() && report.damaged++ == 0) report.how = status.ToString();
  return absl::OkStatus();
}

}  // namespace

bool ReadTable(std::string_view file, const std::function<bool(const RawEntry&)>& take, RawReport& report,
               bool& compressed) {
  return TableReading(file, take, report, compressed).Run();
}

absl::Status ReadTableFile(const std::string& path, const TakeEntry& take, RawReport& report) {
  std::string file;
  if (absl::Status status = ReadWhole(path, file); !status.ok()) return status;
  absl::Status status;
  const auto take_entry = [&](const RawEntry& entry) {
    status = take(entry);
    return status.ok();
  };
  bool compressed = false;
  if (!ReadTable(file, take_entry, report, compressed)) return status;
  if (!compressed) return absl::OkStatus();
  report = {};
  const absl::Status read = ReadCompressed(path, file.size(), take_entry, report);
  return status.ok() ? read : status;
}

}  // namespace watchbill::history
