// Any bytes as an exported history: whatever is in them, what is kept is what a store would keep, and comes
// out again as it went in.
//
// An input: a byte, and the text. In bits: 1 strict, 2 replace, 4 into a store that has something already, 8
// the first line is there, 16 with blanks between what are lines; and the pieces are as long as its three
// highest say.
#include "history_fuzz.hpp"
#include "keys.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::history;
using namespace watchbill::history::fuzz;

constexpr const char* kChannel = "01ARYZ6S41TSV4RRFFQ69G5FAV";
constexpr const char* kGone = "01ARYZ6S41TSV4RRFFQ69G5FAW";
constexpr const char* kMessage = "01BX5ZZKBKACTAV9WEVGE00001";

void Fill(Store& store) {
  Batch batch;
  Message message;
  message.id = kMessage;
  message.channel = kChannel;
  Require(batch.Put(message).ok());
  message.channel = kGone;
  Require(batch.Put(message).ok());
  Require(batch.Put(Channel{kChannel, "ops", "", "", {}}).ok());
  Require(batch.Put(Collection::kPrices, "k", "o", JsonView::Trusted("{}")).ok());
  Require(batch.AppendToTrail(JsonView::Trusted("{}")).ok());
  Require(store.Commit(batch).ok());
  Require(store.DeleteChannel(kGone, 10).ok());
}

// The text as it is kept: all keys and values, and what was told.
std::string Import(std::string_view text, const ImportOptions& options, bool filled, size_t piece) {
  const MemoryStore store;
  if (filled) Fill(*store);
  Importer importer(*store, options);
  absl::Status status;
  while (status.ok() && !text.empty()) {
    status = importer.Feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
  }
  if (status.ok()) status = importer.End();
  const ImportReport& report = importer.report();
  Require(report.bad_lines.size() == std::min<uint64_t>(report.bad, 100));
  Require(!options.strict || report.bad <= 1);

  std::string kept = status.ToString() + report.cut;
  for (const BadLine& bad : report.bad_lines) {
    Require(bad.line > 0);
    kept += bad.what + std::to_string(bad.line) + "," + std::to_string(bad.column) + "\n";
  }
  json::Document document = NewDocument();
  const auto cursor = store.engine->Scan({});
  for (; cursor->Valid(); cursor->Next()) {
    Require(CanBeRead(document, cursor->key(), cursor->value()));
    kept.append(cursor->key()).append(cursor->value()).append(1, '\n');
    // A record stands in its second order.
    if (KindOf(cursor->key()) == Kind::kRecord) {
      const auto record = ReadRecord(cursor->value());
      std::string nothing;
      Require(
          store.engine
              ->Get(OrderKey(static_cast<uint8_t>(cursor->key()[1]), record->order, cursor->key().substr(2)),
                    nothing)
              .ok());
    }
  }
  RequireComesBack(*store);
  return kept;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t how = data[0];
  std::string text;
  if ((how & 8) != 0) text = "{\"watchbill\":\"history\",\"format\":1}\n";
  if ((how & 16) != 0) text += "\r\n \n";
  text.append(reinterpret_cast<const char*>(data + 1), size - 1);
  const ImportOptions options{.strict = (how & 1) != 0, .replace = (how & 2) != 0};
  const bool filled = (how & 4) != 0;
  const size_t piece = how >> 5;
  const std::string kept = Import(text, options, filled, piece == 0 ? text.size() + 1 : 1 + 9 * (piece - 1));
  if (piece > 0) Require(Import(text, options, filled, text.size() + 1) == kept);
  return 0;
}
