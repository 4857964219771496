// The records whose contents are known here: how runs ended, and what was spent.
#include <fmt/core.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "ledger_record.hpp"
#include "store_impl.hpp"
#include "watchbill/history/ledger.hpp"

namespace watchbill::history {
namespace {

using json::Value;

constexpr int kDigits = 9;
constexpr uint64_t kUnit = 1'000'000'000;

int64_t AddWithin(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

std::string TextOf(const Value& value) { return std::string(value.AsString().value_or("")); }

std::optional<Amount> AmountIn(const Value& value) {
  if (const auto text = value.AsString()) return Amount::Parse(*text);
  if (value.kind() != json::Kind::kNumber) return std::nullopt;
  // As it stands, where it does so plainly.
  if (const auto exact = Amount::Parse(value.text().text())) return exact;
  return Amount::Of(*value.AsDouble());
}

// Never 0, which stands for one that was lost.
uint64_t HashOf(std::string_view entry) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(entry.data()), entry.size(), hash.data());
  uint64_t first = 0;
  for (size_t i = 0; i < sizeof first; ++i) first = first << 8 | hash[i];
  return first == 0 ? 1 : first;
}

// All pieces of a window begin with it, and nothing else does.
std::string PiecesPrefix(std::string_view scope, int64_t start_ms, std::string_view source) {
  return WindowKey(scope, start_ms, Then(source));
}

}  // namespace

std::optional<Amount> Amount::Of(double value) {
  const double scaled = value * static_cast<double>(kUnit);
  // The ends of what fits are no doubles, but for the lower one.
  constexpr double kEnd = 9223372036854775808.0;
  if (!(scaled >= -kEnd && scaled < kEnd)) return std::nullopt;
  return Amount{std::llround(scaled)};
}

std::optional<Amount> Amount::Parse(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const size_t point = std::min(text.find('.'), text.size());
  std::string_view decimals;
  if (point < text.size()) {
    decimals = text.substr(point + 1);
    if (decimals.empty()) return std::nullopt;
  }
  if (point == 0) return std::nullopt;
  uint64_t sum = 0;
  const auto add = [&](char digit) {
    if (digit < '0' || digit > '9') return false;
    return !__builtin_mul_overflow(sum, uint64_t{10}, &sum) &&
           !__builtin_add_overflow(sum, static_cast<uint64_t>(digit - '0'), &sum);
  };
  for (const char digit : text.substr(0, point)) {
    if (!add(digit)) return std::nullopt;
  }
  for (size_t i = 0; i < std::max<size_t>(decimals.size(), kDigits); ++i) {
    const char digit = i < decimals.size() ? decimals[i] : '0';
    if (i < kDigits ? !add(digit) : digit != '0') return std::nullopt;
  }
  const uint64_t most = uint64_t{1} << 63;
  if (sum > most - (negative ? 0 : 1)) return std::nullopt;
  return Amount{static_cast<int64_t>(negative ? 0 - sum : sum)};
}

std::string Amount::Text() const {
  const bool negative = billionths < 0;
  const uint64_t sum = negative ? 0 - static_cast<uint64_t>(billionths) : static_cast<uint64_t>(billionths);
  std::string text = fmt::format("{}{}", negative ? "-" : "", sum / kUnit);
  if (sum % kUnit == 0) return text;
  text += fmt::format(".{:09}", sum % kUnit);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

Amount& Amount::operator+=(Amount more) {
  billionths = AddWithin(billionths, more.billionths);
  return *this;
}

bool CountedEntries::Has(std::string_view entry) const {
  return std::find(hashes_.begin(), hashes_.end(), HashOf(entry)) != hashes_.end();
}

bool CountedEntries::Add(std::string_view entry) {
  const uint64_t hash = HashOf(entry);
  if (std::find(hashes_.begin(), hashes_.end(), hash) != hashes_.end()) return false;
  hashes_.push_back(hash);
  ++total_;
  if (hashes_.size() > kMost)
    hashes_.erase(hashes_.begin(), hashes_.begin() + static_cast<std::ptrdiff_t>(kPiece));
  return true;
}

// What was counted, as it is kept: pieces of kPiece hashes, numbered from the first of all.
struct CountedPieces {
  static constexpr uint64_t kPiece = CountedEntries::kPiece;

  // The first piece that is known once so many were added.
  static uint64_t First(uint64_t total) {
    const uint64_t most = CountedEntries::kMost;
    return total <= most ? 0 : (total - most - 1) / kPiece + 1;
  }

  static std::string Text(const CountedEntries& counted, uint64_t piece) {
    const size_t begin = static_cast<size_t>((piece - First(counted.total_)) * kPiece);
    const size_t end = std::min<size_t>(begin + kPiece, counted.hashes_.size());
    std::string text = "\"";
    for (size_t i = begin; i < end; ++i) text += fmt::format("{:016x}", counted.hashes_[i]);
    return text.append(1, '"');
  }

  static CountedEntries Empty(uint64_t total) {
    CountedEntries counted;
    counted.total_ = total;
    counted.hashes_.resize(static_cast<size_t>(total - First(total) * kPiece));
    return counted;
  }

  static void Take(CountedEntries& counted, uint64_t piece, std::string_view text) {
    const uint64_t first = First(counted.total_);
    if (piece < first || (piece - first) * kPiece >= counted.hashes_.size()) return;
    size_t at = static_cast<size_t>((piece - first) * kPiece);
    for (; text.size() >= 16 && at < counted.hashes_.size(); text.remove_prefix(16), ++at) {
      uint64_t hash = 0;
      const auto [stopped, error] = std::from_chars(text.data(), text.data() + 16, hash, 16);
      if (error == std::errc() && stopped == text.data() + 16) counted.hashes_[at] = hash;
    }
  }
};

bool SpendingWindow::Count(std::string_view entry, std::optional<int64_t> spent,
                           std::optional<Amount> priced) {
  if (!counted.Add(entry)) return false;
  tokens = AddWithin(tokens, spent.value_or(0));
  if (priced) {
    cost += *priced;
    ++with_cost;
  }
  return true;
}

std::string OutcomeKey(std::string_view agent, std::string_view run) { return Then(agent).append(run); }
std::string WindowKey(std::string_view scope, int64_t start_ms, std::string_view source) {
  return Then(scope).append(OldestFirst(start_ms)).append(source);
}

void Write(JsonWriter& w, const RunOutcome& outcome) {
  w.Begin('{').Key("agent").String(outcome.agent).Key("run").String(outcome.run);
  w.Field("startedMs", outcome.started_ms).Key("endedMs").Int(outcome.ended_ms);
  w.Key("outcome").String(outcome.outcome).Field("ok", outcome.ok).Field("answered", outcome.answered);
  w.Key("failure").String(outcome.failure).Field("tokens", outcome.tokens);
  if (outcome.cost) w.Key("cost").String(outcome.cost->Text());
  w.End('}');
}

void Write(JsonWriter& w, const SpendingWindow& window) {
  w.Begin('{').Key("scope").String(window.scope).Key("source").String(window.source);
  w.Key("startMs").Int(window.start_ms).Key("lengthMs").Int(window.length_ms);
  w.Key("tokens").Int(window.tokens).Key("cost").String(window.cost.Text());
  w.Key("withCost").Int(window.with_cost);
  w.Key("counted").Int(static_cast<int64_t>(window.counted.total())).End('}');
}

absl::StatusOr<RunOutcome> ReadRunOutcome(std::string_view json) {
  json::Document document = NewDocument();
  const absl::StatusOr<Value> v = ObjectIn(document, json, "outcome of a run");
  if (!v.ok()) return v.status();
  RunOutcome outcome;
  outcome.agent = TextOf((*v)["agent"]);
  outcome.run = TextOf((*v)["run"]);
  outcome.started_ms = (*v)["startedMs"].AsInt();
  outcome.ended_ms = (*v)["endedMs"].AsInt().value_or(0);
  outcome.outcome = TextOf((*v)["outcome"]);
  outcome.ok = (*v)["ok"].AsBool();
  outcome.answered = (*v)["answered"].AsBool();
  outcome.failure = TextOf((*v)["failure"]);
  outcome.tokens = (*v)["tokens"].AsInt();
  outcome.cost = AmountIn((*v)["cost"]);
  return outcome;
}

absl::StatusOr<SpendingWindow> ReadSpendingWindow(std::string_view json) {
  json::Document document = NewDocument();
  const absl::StatusOr<Value> v = ObjectIn(document, json, "spending window");
  if (!v.ok()) return v.status();
  SpendingWindow window;
  window.scope = TextOf((*v)["scope"]);
  window.source = TextOf((*v)["source"]);
  window.start_ms = (*v)["startMs"].AsInt().value_or(0);
  window.length_ms = (*v)["lengthMs"].AsInt().value_or(0);
  window.tokens = (*v)["tokens"].AsInt().value_or(0);
  window.cost = AmountIn((*v)["cost"]).value_or(Amount());
  window.with_cost = (*v)["withCost"].AsInt().value_or(0);
  window.counted = CountedPieces::Empty((*v)["counted"].AsUint().value_or(0));
  return window;
}

absl::Status Put(Batch& batch, const RunOutcome& outcome) {
  std::string text;
  JsonWriter w(text);
  Write(w, outcome);
  return batch.Put(Collection::kOutcomes, OutcomeKey(outcome.agent, outcome.run),
                   NewestFirst(outcome.ended_ms), JsonView::Trusted(text));
}

absl::Status Put(Batch& batch, const SpendingWindow& window, uint64_t since) {
  Batch all;
  const std::string order = NewestFirst(window.start_ms);
  std::string text;
  JsonWriter w(text);
  Write(w, window);
  absl::Status status = all.Put(Collection::kWindows, WindowKey(window.scope, window.start_ms, window.source),
                                order, JsonView::Trusted(text));
  const std::string prefix = PiecesPrefix(window.scope, window.start_ms, window.source);
  const auto key = [&](uint64_t piece) {
    std::string bytes = prefix;
    AppendNumber(bytes, piece);
    return bytes;
  };
  const uint64_t total = window.counted.total();
  const uint64_t first = CountedPieces::First(total);
  for (uint64_t piece = CountedPieces::First(since); status.ok() && piece < first; ++piece)
    status = all.Delete(Collection::kCountedEntries, key(piece));
  for (uint64_t piece = std::max(first, since / CountedPieces::kPiece);
       status.ok() && piece * CountedPieces::kPiece < total; ++piece) {
    status = all.Put(Collection::kCountedEntries, key(piece), order,
                     JsonView::Trusted(CountedPieces::Text(window.counted, piece)));
  }
  if (status.ok()) batch.Append(all);
  return status;
}

absl::StatusOr<std::optional<SpendingWindow>> GetWindow(const Ledger& ledger, std::string_view scope,
                                                        int64_t start_ms, std::string_view source) {
  const auto record = ledger.Get(Collection::kWindows, WindowKey(scope, start_ms, source));
  if (!record.ok()) return record.status();
  if (!*record) return std::optional<SpendingWindow>();
  absl::StatusOr<SpendingWindow> window = ReadSpendingWindow((*record)->value.text());
  if (!window.ok()) return absl::DataLossError(window.status().message());
  const std::string prefix = PiecesPrefix(scope, start_ms, source);
  const auto pieces = ledger.ByKey(Collection::kCountedEntries, {.prefix = prefix}, CountedEntries::kMost);
  if (!pieces.ok()) return pieces.status();
  json::Document document = NewDocument();
  for (const Record& piece : pieces->records) {
    if (piece.key.size() != prefix.size() + 8 || !document.Parse(piece.value.text()).ok()) continue;
    CountedPieces::Take(window->counted, NumberAt(piece.key, prefix.size()),
                        document.root().AsString().value_or(""));
  }
  return std::optional(*std::move(window));
}

}  // namespace watchbill::history
