#include <map>
#include <mutex>
#include <utility>

#include "watchbill/history/engine.hpp"

namespace watchbill::history {
namespace {

using Map = std::map<std::string, std::string, std::less<>>;

// The keys as they were for some cursors, or are.
struct Version {
  Map map;
  size_t cursors = 0;  // under the engine's mutex
};

class MemoryCursor final : public Cursor {
 public:
  MemoryCursor(std::mutex& mutex, std::shared_ptr<Version> version, std::string_view from)
      : mutex_(mutex), version_(std::move(version)), at_(version_->map.lower_bound(from)) {
    ++version_->cursors;
  }
  ~MemoryCursor() override {
    const std::lock_guard guard(mutex_);
    --version_->cursors;
  }
  bool Valid() const override { return at_ != version_->map.end(); }
  std::string_view key() const override { return at_->first; }
  std::string_view value() const override { return at_->second; }
  void Next() override { ++at_; }
  void Seek(std::string_view key) override { at_ = version_->map.lower_bound(key); }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  std::mutex& mutex_;
  std::shared_ptr<Version> version_;
  Map::const_iterator at_;
};

class MemoryEngine final : public Engine {
 public:
  absl::Status Get(std::string_view key, std::string& value) const override {
    const std::lock_guard guard(mutex_);
    const Map& map = version_->map;
    const auto it = map.find(key);
    if (it == map.end()) return absl::NotFoundError("no such key");
    value = it->second;
    return absl::OkStatus();
  }
  std::unique_ptr<Cursor> Scan(std::string_view from) const override {
    const std::lock_guard guard(mutex_);
    return std::make_unique<MemoryCursor>(mutex_, version_, from);
  }
  absl::Status Commit(const Writes& writes, Sync) override {
    const std::lock_guard guard(mutex_);
    // What a cursor looks at stays as it is.
    if (version_->cursors > 0) version_ = std::make_shared<Version>(Version{version_->map, 0});
    Map& map = version_->map;
    writes.Each(
        [&](std::string_view key, std::string_view value) {
          const auto it = map.find(key);
          if (it == map.end()) {
            map.emplace(key, value);
          } else {
            it->second = value;
          }
        },
        [&](std::string_view key) {
          if (const auto it = map.find(key); it != map.end()) map.erase(it);
        });
    return absl::OkStatus();
  }
  uint64_t Bytes(std::string_view from, std::string_view to) const override {
    const std::lock_guard guard(mutex_);
    const Map& map = version_->map;
    uint64_t bytes = 0;
    for (auto it = map.lower_bound(from); it != map.end() && it->first < to; ++it)
      bytes += it->first.size() + it->second.size();
    return bytes;
  }
  absl::Status Compact() override { return absl::OkStatus(); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Version> version_ = std::make_shared<Version>();
};

}  // namespace

std::unique_ptr<Engine> NewMemoryEngine() { return std::make_unique<MemoryEngine>(); }

}  // namespace watchbill::history
