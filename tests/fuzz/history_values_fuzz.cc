// Any bytes as keys and values of a history: everything that reads it comes to an end with an answer.
//
// An input is records, each of a byte that says which letter its key begins with, by its lower four bits, and
// how the rest is made, by the upper ones: 16, the key goes on with a known channel; 32, then with a
// message's bytes, which are filled up; 64, the value has the version that is read before its bytes; 128, and
// the beginning of a JSON object with the right id. Then the length of the key and of the value, a byte each,
// and both.
#include "history_fuzz.hpp"
#include "keys.hpp"
#include "watchbill/history/ledger.hpp"
#include "watchbill/history/retention.hpp"
#include "watchbill/history/search.hpp"
#include "watchbill/history/trail.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::history;
using namespace watchbill::history::fuzz;

constexpr const char* kChannel = "01ARYZ6S41TSV4RRFFQ69G5FAV";

class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  bool empty() const { return rest_.empty(); }
  uint8_t Byte() {
    const std::string_view byte = Take(1);
    return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
  }
  std::string_view Take(size_t most) {
    const std::string_view taken = rest_.substr(0, most);
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

void Put(Input& input, Writes& writes) {
  const uint8_t how = input.Byte();
  const size_t key_bytes = input.Byte(), value_bytes = input.Byte();
  std::string key(1, "FCMASXNIDTRQHGLZ"[how & 15]);
  if ((how & 16) != 0) key = MessagesPrefix(*ParseUlid(kChannel)).replace(0, 1, key);
  std::string more(input.Take(key_bytes));
  if ((how & 32) != 0) more.resize(16, '\x11');
  key += more;
  std::string value;
  if ((how & 64) != 0) value.push_back(kValueVersion);
  if ((how & 128) != 0) {
    const auto id = key[0] == 'M' ? MessageOfKey(key) : ChannelOfKey(key);
    value += "{\"id\":\"" + UlidText(id.value_or(UlidBytes())) + "\"";
  }
  value += input.Take(value_bytes);
  writes.Put(key, value);
}

void ReadChannelOf(const Store& store, const std::string& channel) {
  const auto page = store.Last(channel, 3);
  if (!page.ok()) return;
  if (!page->messages.empty()) {
    const auto older = store.Before(channel, page->messages.front().id, 2);
    Require(older.ok());
    Require(older->messages.size() <= 2);
  }
  Require(store.Members(channel).ok());
  Require(store.ChannelBytes(channel).ok());
  std::string text;
  const Sink sink = [&](std::string_view piece) {
    text.append(piece);
    return absl::OkStatus();
  };
  for (const bool thoughts : {false, true}) {
    MarkdownOptions options;
    options.thoughts = thoughts;
    const auto written = ExportMarkdown(store, channel, options, sink);
    Require(written.ok() || absl::IsNotFound(written.status()));
  }
  const auto exported = Export(store, {.channel = channel}, sink);
  Require(exported.ok() || absl::IsNotFound(exported.status()));
}

void ReadLedger(const Store& store) {
  const Ledger ledger(store);
  for (uint8_t n = 0; n < 16; ++n) {
    const auto collection = static_cast<Collection>(n);
    size_t pages = 0;
    std::string after;
    for (bool more = true; more; ++pages) {
      const auto page = ledger.ByKey(collection, {.after = after}, 2);
      Require(page.ok());
      Require(pages < 300);
      more = page->more && !page->records.empty();
      if (page->records.empty()) break;
      after = page->records.back().key;
      (void)ledger.Get(collection, after);
    }
    const auto in_order = ledger.InOrder(collection, {}, 100);
    Require(in_order.ok());
  }
}

void ReadTrail(const Store& store) {
  const Trail trail(store);
  (void)trail.End();
  Require(trail.Verify().ok());
  TrailQuery query;
  query.limit = 1;
  for (size_t pages = 0;; ++pages) {
    const auto page = trail.Page(query);
    Require(page.ok());
    Require(pages < 300);
    if (page->next == 0) break;
    query.before = page->next;
  }
}

void ReadIndex(Store& store) {
  SearchQuery query;
  query.text = "a*";
  Require(Search(store).Find(query).ok());
  Index index(store);
  for (size_t steps = 0;; ++steps) {
    const auto step = index.Step(2, true);
    Require(step.ok());
    Require(steps < 1'000);
    if (step->done) break;
  }
  Require(Search(store).Find(query).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto engine = NewMemoryEngine();
  Writes writes;
  writes.Put(kFormatKey, "\x01{\"format\":2}");
  for (Input input(data, size); !input.empty();) Put(input, writes);
  Require(engine->Commit(writes, Sync::kNow).ok());
  const MemoryStore opened(std::move(engine));
  if (!opened.store) return 0;
  Store& store = *opened;

  const auto channels = store.Channels();
  Require(channels.ok());
  ReadChannelOf(store, kChannel);
  for (const Channel& channel : *channels) ReadChannelOf(store, channel.id);
  (void)store.HalfDeleted();
  (void)store.Bytes();
  (void)store.Commands("a");
  RequireComesBack(store);
  ReadLedger(store);
  ReadTrail(store);
  ReadIndex(store);
  (void)store.unreadable();

  // And what is written beside it.
  Batch batch;
  Require(batch.AppendToTrail(JsonView::Trusted("{}")).ok());
  (void)store.Commit(batch);
  Batch record;
  Require(record.Put(Collection::kPrices, "k", "o", JsonView::Trusted("{}")).ok());
  (void)store.Commit(record);
  (void)PruneTrail(store, 1, INT64_MAX, 2);
  (void)Prune(store, Collection::kPrices, "", 0, "", 3);
  for (size_t pieces = 0;; ++pieces) {
    const auto done = store.DeleteChannel(kChannel, 2);
    Require(done.ok());
    Require(pieces < 300);
    if (*done) break;
  }
  Require(store.Last(kChannel, 10)->messages.empty());
  RequireComesBack(store);
  return 0;
}
