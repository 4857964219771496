// A database over whatever files it is given: the disk's, or a test's that fail.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "json_document.hpp"
#include "keys.hpp"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/write_batch.h"
#include "watchbill/history/store.hpp"

namespace watchbill::history {

// The first byte of every value: which way the rest is written.
inline constexpr char kValueVersion = 1;
// What the format record says: which keys there are and what they mean.
inline constexpr int64_t kFormat = 1;

struct Batch::Impl {
  absl::Status Add(std::string_view what, const std::string& key, const std::string& value);

  leveldb::WriteBatch writes;
  bool empty = true;
};

struct Store::Impl {
  // `env` is borrowed until the store is gone. Writes what was in memory to a table once that is
  // `write_buffer`.
  static absl::StatusOr<std::unique_ptr<Store>> Open(leveldb::Env* env, const std::string& folder,
                                                     const Options& options, size_t write_buffer);
  absl::Status CheckFormat();
  // From the key `first` on, towards older ones.
  absl::StatusOr<Page> Read(const UlidBytes& channel, std::string_view first, size_t limit);
  // Calls `each` with key and value of what begins with `prefix`, from `first` on, until it says false.
  // Damaged blocks are passed over and counted in `damaged`.
  template <typename Each>
  absl::Status Scan(std::string_view prefix, std::string_view first, size_t& damaged, Each each);

  std::string folder;
  // In the order in which they have to outlive each other.
  std::unique_ptr<leveldb::Env> own_env;
  std::unique_ptr<leveldb::Logger> silent;
  std::unique_ptr<const leveldb::FilterPolicy> filter;
  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<leveldb::DB> db;

  absl::Status failed;  // the first Commit that failed: none after it is tried
  size_t unreadable = 0;
  json::Document document{{.bytes = kMaxRecordBytes, .depth = 64}};
};

}  // namespace watchbill::history
