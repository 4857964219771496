// A replay in other pieces: the same account is wanted of each.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "acp_replay.hpp"
#include "seeded.hpp"

namespace watchbill::acp::golden {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Lines beyond `kEnormous` are few: they come in blocks of 61 bytes instead of single ones, and are split at
// 2,000 random places instead of at every one. So is every line beyond `kLong` of whose length one was split
// everywhere: agents tell each session the same list of commands. Under sanitizers only lines that are short
// are split everywhere.
inline constexpr size_t kEnormous = 64 << 10;
inline constexpr size_t kBlock = 61;
inline constexpr size_t kLong = kSanitized ? 500 : 4 << 10;
inline constexpr size_t kSplitsOfLong = kSanitized ? 250 : 2'000;

// Where it is cut so that every byte comes alone.
inline std::vector<size_t> EveryByte(const Replay& replay) {
  std::vector<size_t> cuts;
  for (const Replay::Line& line : replay.lines()) {
    const size_t step = line.end - line.begin > kEnormous ? kBlock : 1;
    for (size_t at = line.begin; at < line.end; at += step) cuts.push_back(at);
    cuts.push_back(line.end - 1);  // the newline alone, also behind a block
  }
  return cuts;
}

inline std::vector<size_t> RandomCuts(const Replay& replay, size_t count, Seeded& random) {
  std::vector<size_t> cuts;
  for (size_t i = 0; i < count; ++i) cuts.push_back(random.Below(replay.stream().size()));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

// Cuts every line in two, each time at another place, until every line was cut everywhere.
class Splits {
 public:
  explicit Splits(Seeded& random) : random_(random) {}
  size_t count() const { return count_; }

  void Check(const Replay& replay) {
    const std::vector<Replay::Line>& lines = replay.lines();
    std::vector<std::vector<size_t>> places;
    size_t rounds = 0;
    for (const Replay::Line& line : lines) {
      places.push_back(Places(line));
      count_ += places.back().size();
      rounds = std::max(rounds, places.back().size());
    }
    for (size_t round = 0; round < rounds; ++round) {
      std::vector<size_t> cuts;
      size_t upto = 0;
      for (size_t i = 0; i < lines.size(); ++i) {
        if (round < places[i].size()) {
          cuts.push_back(places[i][round]);
          upto = i + 1;
        }
        cuts.push_back(lines[i].end);
      }
      const std::string differs = replay.Differs(cuts, upto);
      if (differs.empty()) continue;
      FAIL_CHECK("split ", round, " of each line: ", differs);
      return;
    }
  }

 private:
  std::vector<size_t> Places(const Replay::Line& line) {
    std::vector<size_t> places;
    const size_t inner = line.end - line.begin - 1;  // places between two of its bytes
    const bool sample = inner > kEnormous || (inner > kLong && (kSanitized || !seen_.insert(inner).second));
    if (sample) {
      for (size_t n = 0; n < kSplitsOfLong; ++n) places.push_back(line.begin + 1 + random_.Below(inner));
    } else {
      for (size_t at = 1; at <= inner; ++at) places.push_back(line.begin + at);
    }
    return places;
  }

  Seeded& random_;
  std::set<size_t> seen_;  // lengths of long lines that were split everywhere
  size_t count_ = 0;
};

}  // namespace watchbill::acp::golden
