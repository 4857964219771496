// What is old goes: in pieces, so that others are not kept waiting. Each is called until it says true, may be
// broken off at any time and begun again, and leaves everything whole in between.
//
// What is to be kept is told in two ways, and what either of them keeps stays. Where what either of them lets
// go is to go, they are two calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "watchbill/history/store.hpp"

namespace watchbill::history {

// Each takes `most`, 1 or more, of what goes at a time; true once nothing is left that can go. They fail as
// Store::Commit does, with nothing lost, and with InvalidArgument: `most` is 0. What is to be kept by its
// number is counted anew by each call. Any thread.

// Records of those whose order begins with `prefix`. The first `keep` of them in that order stay, and those
// before the order `behind`; what is put meanwhile at a place before them stays too. Where orders are
// NewestFirst, that keeps the newest `keep`, and those that are newer than `behind`. One whose record cannot
// be read stays.
absl::StatusOr<bool> Prune(Store& store, Collection collection, std::string_view prefix, size_t keep,
                           std::string_view behind, size_t most);

// Entries of the trail, from its old end up to the first that stays: the newest `keep` stay, and those that
// are not from before `before_ms`, or say no time; INT64_MAX: only `keep` counts. Where the trail begins then
// is kept with it, so that it can be verified from there on. DataLoss: what would go is not as it was;
// nothing goes, and Trail::Verify says what.
absl::StatusOr<bool> PruneTrail(Store& store, uint64_t keep, int64_t before_ms, size_t most);

// Messages of a channel: the newest `keep` stay, and those whose ids are not less than `before`; empty: only
// `keep` counts. A member's last_seen may be of a message that is gone. InvalidArgument: an id that is no
// ULID.
absl::StatusOr<bool> PruneChannel(Store& store, std::string_view channel, size_t keep,
                                  std::string_view before, size_t most);

// The least id that a message of that time can have, for PruneChannel. Times before 1970 are taken for it.
std::string FirstIdAt(int64_t ms);

}  // namespace watchbill::history
