// Where the words of a search stand in the index, segment by segment, newest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "search_match.hpp"
#include "watchbill/history/engine.hpp"

namespace watchbill::history {

// How much may still be looked at for beginnings of words, by all of a search; in keys that are stepped over.
struct Effort {
  size_t left = 16'384;
  bool spent = false;  // something was left out
  // False: no more.
  bool Take(size_t much) {
    if (left < much) spent = true;
    left = spent ? 0 : left - much;
    return !spent;
  }
};

// Keys whose values could not be read, each once however often it is met.
using Damage = std::set<std::string, std::less<>>;

// Where a term stands in a segment.
struct Posting {
  uint32_t document = 0;
  Occurrences occurrences;
};

// One term on its way through the segments. One thread; not longer than the engine.
class TermWalk {
 public:
  virtual ~TermWalk() = default;
  // To the newest segment that is not newer than this one. False: there is none. Going back up takes a
  // Restart.
  virtual bool SkipTo(uint64_t segment) = 0;
  virtual void Restart() = 0;
  // The segment it is at, and where the term stands there, in the order of documents. False: it was not
  // looked for, and may stand in any of them.
  virtual uint64_t segment() const = 0;
  virtual bool Read(std::vector<Posting>& postings, Damage& damage) = 0;
  // As Cursor::status.
  virtual absl::Status status() const = 0;
};

// One for each term, in their order. With a whole word among them the effort for the beginnings may end, and
// they stand anywhere from then on; with none they stand nowhere more.
std::vector<std::unique_ptr<TermWalk>> WalksOf(const Engine& engine, const std::vector<Term>& terms,
                                               Effort& effort);

}  // namespace watchbill::history
