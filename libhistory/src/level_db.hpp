// LevelDB as an Engine, over whatever files it is given: the disk's, or a test's that fail.
#pragma once

#include <memory>
#include <string>

#include "leveldb/env.h"
#include "watchbill/history/engine.hpp"

namespace watchbill::history {

// Room on the disk that is given up when the rest of it is full: LevelDB cannot be opened without some, and a
// disk that is full for good would have nothing left to read from.
class Reserve {
 public:
  virtual ~Reserve() = default;
  // False: there is no room for it.
  virtual bool Take() = 0;
  virtual void Give() = 0;
  // Whether less is free than it takes, besides itself.
  virtual bool IsShort() const = 0;
};

// `env` is borrowed until the engine is gone. Without a reserve a full disk is an error as any other.
absl::StatusOr<std::unique_ptr<Engine>> OpenLevelDb(leveldb::Env* env, const std::string& folder,
                                                    const EngineOptions& options,
                                                    std::unique_ptr<Reserve> reserve);

}  // namespace watchbill::history
