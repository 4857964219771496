// A history in memory of which chosen keys are in damaged blocks: each is passed over, and told.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "watchbill/history/engine.hpp"

namespace watchbill::history {

class DamagedEngine final : public Engine {
 public:
  std::set<std::string, std::less<>> damaged;

  absl::Status Get(std::string_view key, std::string& value) const override {
    return damaged.contains(key) ? Lost() : memory_->Get(key, value);
  }
  std::unique_ptr<Cursor> Scan(std::string_view from) const override {
    return std::make_unique<Passing>(*this, memory_->Scan(from));
  }
  absl::Status Commit(const Writes& writes, Sync sync) override {
    writes.Each([&](std::string_view key, std::string_view) { Mend(key); },
                [&](std::string_view key) { Mend(key); });
    return memory_->Commit(writes, sync);
  }
  uint64_t Bytes(std::string_view from, std::string_view to) const override {
    return memory_->Bytes(from, to);
  }
  absl::Status Compact() override { return memory_->Compact(); }

 private:
  class Passing final : public Cursor {
   public:
    Passing(const DamagedEngine& of, std::unique_ptr<Cursor> cursor) : of_(of), cursor_(std::move(cursor)) {
      Pass();
    }
    bool Valid() const override { return cursor_->Valid(); }
    std::string_view key() const override { return cursor_->key(); }
    std::string_view value() const override { return cursor_->value(); }
    void Next() override {
      cursor_->Next();
      Pass();
    }
    void Seek(std::string_view key) override {
      cursor_->Seek(key);
      Pass();
    }
    absl::Status status() const override { return passed_ ? Lost() : cursor_->status(); }

   private:
    void Pass() {
      for (; cursor_->Valid() && of_.damaged.contains(cursor_->key()); cursor_->Next()) passed_ = true;
    }
    const DamagedEngine& of_;
    std::unique_ptr<Cursor> cursor_;
    bool passed_ = false;
  };

  static absl::Status Lost() { return absl::DataLossError("a damaged block"); }
  void Mend(std::string_view key) {
    if (const auto it = damaged.find(key); it != damaged.end()) damaged.erase(it);
  }

  std::unique_ptr<Engine> memory_ = NewMemoryEngine();
};

}  // namespace watchbill::history
