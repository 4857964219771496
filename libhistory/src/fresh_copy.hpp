// A new database that is filled once and then put in place whole.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "files.hpp"
#include "watchbill/history/engine.hpp"

namespace watchbill::history {

// One thread. What was not put in place is removed when this goes.
class FreshCopy {
 public:
  // In the folder `part`, which is made (MakePart).
  explicit FreshCopy(std::string part) : part_(std::move(part)) {}
  ~FreshCopy();
  FreshCopy(const FreshCopy&) = delete;
  FreshCopy& operator=(const FreshCopy&) = delete;

  absl::Status Open();
  // ResourceExhausted also where little room would be left on the disk: others need it too.
  absl::Status Put(std::string_view key, std::string_view value);
  // What was put can be read from here on.
  absl::Status Flush();
  Engine& engine() { return *engine_; }
  // On the disk, and closed; then nothing more can be put.
  absl::Status Close();
  void Keep() { kept_ = true; }

 private:
  absl::Status Write(Sync sync);

  const std::string part_;
  FolderEnv env_;
  std::unique_ptr<Engine> engine_;
  Writes writes_;
  bool made_ = false, kept_ = false;
};

}  // namespace watchbill::history
