#include "log_tail.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace watchbill::history {
namespace {

// LevelDB's doc/log_format.md: blocks, in which records have a masked CRC-32C of type and payload in four
// bytes, a length in two, a type in one. No record crosses from one block into the next.
constexpr uint64_t kBlock = 32768;
constexpr size_t kHeader = 7;

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
    table[i] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = MakeCrcTable();

uint32_t ByteAt(std::string_view bytes, size_t at) { return static_cast<unsigned char>(bytes[at]); }

// Whether a record begins here whose checksum is right for fewer bytes than its length says.
bool WholeUnderAnotherLength(std::string_view record) {
  const uint32_t masked =
      ByteAt(record, 0) | ByteAt(record, 1) << 8 | ByteAt(record, 2) << 16 | ByteAt(record, 3) << 24;
  const uint32_t rotated = masked - 0xA282EAD8;
  const uint32_t wanted = rotated >> 17 | rotated << 15;
  uint32_t crc = 0xFFFFFFFF;
  for (size_t at = kHeader - 1; at < record.size(); ++at) {
    crc = kCrcTable[(crc ^ ByteAt(record, at)) & 0xFF] ^ crc >> 8;
    if (~crc == wanted) return true;
  }
  return false;
}

}  // namespace

leveldb::Status CheckLogTail(leveldb::Env* env, const std::string& name) {
  uint64_t size = 0;
  leveldb::SequentialFile* opened = nullptr;
  leveldb::Status status = env->GetFileSize(name, &size);
  if (status.ok()) status = env->NewSequentialFile(name, &opened);
  const std::unique_ptr<leveldb::SequentialFile> file(opened);
  if (status.IsNotFound() || !env->FileExists(name)) return leveldb::Status::OK();
  // Of blocks that are full LevelDB says what is wrong.
  const uint64_t begin = size - size % kBlock;
  if (status.ok()) status = file->Skip(begin);
  std::string buffer(kBlock, '\0');
  leveldb::Slice read;
  if (status.ok()) status = file->Read(buffer.size(), &read, buffer.data());
  if (!status.ok()) return status;

  const std::string_view block(read.data(), read.size());
  size_t at = 0;
  while (at + kHeader <= block.size()) {
    const size_t length = ByteAt(block, at + 4) | ByteAt(block, at + 5) << 8;
    if (at + kHeader + length > block.size()) {
      if (!WholeUnderAnotherLength(block.substr(at))) break;
      return leveldb::Status::Corruption(name,
                                         fmt::format("the record at byte {} has a wrong length", begin + at));
    }
    at += kHeader + length;
  }
  return leveldb::Status::OK();
}

}  // namespace watchbill::history
