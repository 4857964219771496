// The work of the example agent: made up, the same for the same seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace watchbill::example {

// One thing that happens in a run, so many milliseconds after the one before.
struct Beat {
  enum class Kind {
    kEnter,  // a run begins; `parent` where it is delegated
    kEntry,  // a journal line: a call that has returned
    kExit,   // a run ends, or waits
  };
  Kind kind = Kind::kEnter;
  int64_t after_ms = 0;
  bool delegated = false;  // of the desk's run, not the agent's own
  // kEntry
  std::string entry_kind, name;
  int64_t took_ms = 0;
  std::optional<int64_t> tokens_in, tokens_out;
  bool ok = true;
  // kExit
  std::string outcome;  // "done", "error", "waiting: question"
  std::string error, failure, node;
};

class Work {
 public:
  explicit Work(uint64_t seed) : state_(seed) {}

  // The beats of the next run, first to last.
  std::vector<Beat> NextRun();
  // "Dispatch desk": whom the agent delegates to.
  static constexpr const char* kDesk = "Dispatch desk";
  // An id for a run: 8-4-4-4-12 hex.
  std::string NextId();

 private:
  uint64_t Random();
  int64_t Between(int64_t least, int64_t most);

  uint64_t state_;
};

}  // namespace watchbill::example
