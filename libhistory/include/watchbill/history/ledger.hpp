// What else is kept beside conversations: records of named collections, each by its key and in a second
// order. They are written with Batch::Put and Batch::Delete (store.hpp), and what is old goes with Prune
// (retention.hpp). What is in a record is its writer's, but for the two that are here. (Reference
// "agent monitoring", Monitor restart.)
//
// What the key and the order of each collection are to be. A part that is followed by another is Then(part),
// and times are NewestFirst unless said otherwise; order "" is the order of the keys.
//
//   collection         key                             order
//   kPolicies          the policy's id                 its name
//   kPrices            the model                       ""
//   kWindows           WindowKey                       its start
//   kCountedEntries    what Put gives the pieces       the start of their window
//   kOutcomes          OutcomeKey                      when the run ended
//   kPeople            the person's id                 their name
//   kRoles             the role's name                 ""
//   kCatalogues        kind, server or provider, tool  kind, when it was last heard of
//   kSubscriptions     agent, kind, server             kind, server, agent
//   kKnowledge         collection, time, event's id    time
//   kSeen              person, thing                   when it was seen
//   kApprovals         the request's id                when it was asked for
//   kAcknowledgements  the alert's key                 when it was acknowledged
//   kEngine            policy, then what it is about   ""
//   kSettings          the setting's name              ""
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "watchbill/base/json_text.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/history/store.hpp"

namespace watchbill::history {

// Orders, and parts of keys: bytes that compare as what they are made of does. Of any time there is, also one
// before 1970; 8 bytes.
std::string NewestFirst(int64_t ms);
std::string OldestFirst(int64_t ms);
// A text with something behind it, which may be anything: Then(agent) + NewestFirst(ms). Compares as the
// texts do, and no text's range takes in another's.
std::string Then(std::string_view text);

struct Record {
  std::string key, order;
  JsonText value;
};

struct RecordPage {
  std::vector<Record> records;
  bool more = false;  // there are others behind them
  // Records that could not be read on the way, of a newer version too, or damaged blocks of several. The
  // others are here.
  size_t unreadable = 0;
};

// In the order of keys.
struct KeyRange {
  std::string_view prefix = {};  // those that begin with it
  std::string_view after = {};   // behind this key, which need not be there; empty: from the first
};

// In the second order, records of one order in the order of their keys.
struct OrderRange {
  struct Place {
    std::string order, key;
  };
  std::string_view prefix = {};  // orders that begin with it,
  std::string_view from = {};    // are not before this one
  std::string_view to = {};      // and are before this one; empty: to the last
  // Behind this place, where no record need stand: the last of the page before, as it was there.
  std::optional<Place> after = {};
};

// Every function is as things were at the moment of the call, and fails with Unavailable: the disk. Any
// thread.
class Ledger {
 public:
  // The store has to be there as long.
  explicit Ledger(const Store& store) : store_(&store) {}

  // Nothing where there is none. DataLoss: there is one that cannot be read, damaged or of a newer version.
  absl::StatusOr<std::optional<Record>> Get(Collection collection, std::string_view key) const;
  absl::StatusOr<RecordPage> ByKey(Collection collection, const KeyRange& range, size_t limit) const;
  // A place that the record is not at any more, as may be left where one could not be read, is passed over.
  absl::StatusOr<RecordPage> InOrder(Collection collection, const OrderRange& range, size_t limit) const;

 private:
  const Store* store_;
};

// Money, in billionths of its unit, so that sums are exact: a token may cost less than a millionth.
struct Amount {
  int64_t billionths = 0;

  // The nearest; nothing where it is not finite or beyond what fits, which is some nine thousand million.
  static std::optional<Amount> Of(double value);
  // "12.5", with at most nine digits behind the point that are not 0. Nothing for any other text.
  static std::optional<Amount> Parse(std::string_view text);
  // With no more digits than are needed: "12.5", "-0.000000001", "3".
  std::string Text() const;
  // Beyond what fits it stays at the end.
  Amount& operator+=(Amount more);
  friend bool operator==(const Amount&, const Amount&) = default;
};

// How a run ended.
struct RunOutcome {
  std::string agent, run;
  std::optional<int64_t> started_ms;
  int64_t ended_ms = 0;
  std::string outcome;           // done, error, stopped, ...: the agent's word
  std::optional<bool> ok;        // nothing: it waits, or nobody said
  std::optional<bool> answered;  // nothing: nobody said, which is no
  std::string failure;           // the kind of its failure; empty: none was told
  std::optional<int64_t> tokens;
  std::optional<Amount> cost;
  friend bool operator==(const RunOutcome&, const RunOutcome&) = default;
};

// All outcomes of an agent begin with Then(agent).
std::string OutcomeKey(std::string_view agent, std::string_view run);

// The ids of the entries that a window has counted, as 8 bytes of a hash each: of the last kMost or up to
// kPiece fewer. An agent's journal keeps 2,000, so that an older one is not read again.
class CountedEntries {
 public:
  static constexpr size_t kMost = 4096;
  static constexpr size_t kPiece = 256;

  bool Has(std::string_view entry) const;
  // Whether it is new, in which case it is here from now on.
  bool Add(std::string_view entry);
  // How many were added, also those that are not known any more.
  uint64_t total() const { return total_; }
  friend bool operator==(const CountedEntries&, const CountedEntries&) = default;

 private:
  friend struct CountedPieces;
  uint64_t total_ = 0;
  std::vector<uint64_t> hashes_;  // oldest first, from a multiple of kPiece on; 0: one that was lost
};

// What was spent within a stretch of time. One for each source of entries, so that those of one push out no
// other's: a budget adds up the windows of its scope.
struct SpendingWindow {
  std::string scope;   // what a budget is for: an agent, say. Windows of another length are another scope
  std::string source;  // whose entries: of one journal
  int64_t start_ms = 0, length_ms = 0;
  int64_t tokens = 0;
  Amount cost;            // of the entries that told one
  int64_t with_cost = 0;  // how many did
  CountedEntries counted;

  // Adds an entry, known by its id and whatever else tells it apart within its source, such as its run.
  // False, and nothing is added: it was counted already. Tokens stay at the end beyond what fits.
  bool Count(std::string_view entry, std::optional<int64_t> spent, std::optional<Amount> priced);
  friend bool operator==(const SpendingWindow&, const SpendingWindow&) = default;
};

// All windows of a scope begin with Then(scope), and stand oldest first; those of one start begin with
// WindowKey(scope, start, "").
std::string WindowKey(std::string_view scope, int64_t start_ms, std::string_view source);

// The JSON of a record. What was written is read as the same, but for bytes that are not UTF-8, which are
// written as U+FFFD, and what a window has counted, which stands in records beside it. A member that is
// missing or of the wrong kind has its default, one that is not known is kept out. InvalidArgument: no JSON,
// longer than kMaxRecordBytes, or no object.
void Write(JsonWriter& w, const RunOutcome& outcome);
void Write(JsonWriter& w, const SpendingWindow& window);
absl::StatusOr<RunOutcome> ReadRunOutcome(std::string_view json);
absl::StatusOr<SpendingWindow> ReadSpendingWindow(std::string_view json);

// Under its key and in its order. InvalidArgument as Batch::Put has it.
absl::Status Put(Batch& batch, const RunOutcome& outcome);
// With what it has counted, but for what was kept with an earlier Put: `since` is what counted.total() was
// then, and 0 keeps all of it. Some 4 KB for each 256 entries, or part of them.
absl::Status Put(Batch& batch, const SpendingWindow& window, uint64_t since = 0);
// With what it has counted, as far as it can be read. Nothing where there is none. Fails as Ledger::Get does.
absl::StatusOr<std::optional<SpendingWindow>> GetWindow(const Ledger& ledger, std::string_view scope,
                                                        int64_t start_ms, std::string_view source);

}  // namespace watchbill::history
