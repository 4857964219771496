// All of a channel, one by one, whatever happens meanwhile.
#include "conversation_walk.hpp"

#include <algorithm>
#include <set>

#include "damaged_engine.hpp"
#include "history_fixture.hpp"

namespace watchbill::history {
namespace {

// Fails each scan, or each cursor behind so many steps.
class FailingEngine final : public Engine {
 public:
  bool fails = false;

  absl::Status Get(std::string_view key, std::string& value) const override {
    return memory_->Get(key, value);
  }
  std::unique_ptr<Cursor> Scan(std::string_view from) const override {
    return std::make_unique<Failing>(memory_->Scan(from), fails);
  }
  absl::Status Commit(const Writes& writes, Sync sync) override { return memory_->Commit(writes, sync); }
  uint64_t Bytes(std::string_view from, std::string_view to) const override {
    return memory_->Bytes(from, to);
  }
  absl::Status Compact() override { return memory_->Compact(); }

 private:
  class Failing final : public Cursor {
   public:
    Failing(std::unique_ptr<Cursor> cursor, bool fails)
        : cursor_(std::move(cursor)), left_(fails ? 10 : -1) {}
    bool Valid() const override { return left_ != 0 && cursor_->Valid(); }
    std::string_view key() const override { return cursor_->key(); }
    std::string_view value() const override { return cursor_->value(); }
    void Next() override {
      if (left_ > 0) --left_;
      cursor_->Next();
    }
    void Seek(std::string_view key) override { cursor_->Seek(key); }
    absl::Status status() const override {
      return left_ == 0 ? absl::UnavailableError("the disk is gone") : cursor_->status();
    }

   private:
    std::unique_ptr<Cursor> cursor_;
    int left_;
  };

  std::unique_ptr<Engine> memory_ = NewMemoryEngine();
};

UlidBytes Channel() { return *ParseUlid(kChannelA); }
std::string KeyOf(size_t n) { return MessageKey(Channel(), *ParseUlid(NthId(n))); }

void KeepFrom(Store& store, size_t first, size_t last, size_t step = 1, const std::string& text = "text") {
  Batch batch;
  for (size_t n = first; n <= last; n += step)
    REQUIRE(batch.Put(TextMessage(kChannelA, NthId(n), text)).ok());
  REQUIRE(store.Commit(batch).ok());
}

std::vector<std::string> Ids(size_t first, size_t last, size_t step = 1) {
  std::vector<std::string> ids;
  for (size_t n = first; n <= last; n += step) ids.push_back(NthId(n));
  return ids;
}

// What is left of a walk.
std::vector<std::string> Rest(ConversationWalk& walk, const Store& store) {
  std::vector<std::string> ids;
  Message message;
  for (;;) {
    const auto more = walk.Next(store, message);
    REQUIRE(more.ok());
    if (!*more) return ids;
    CHECK(message.channel == kChannelA);
    ids.push_back(message.id);
  }
}

std::unique_ptr<Store> Over(std::unique_ptr<Engine> engine) {
  auto store = Store::Open(std::move(engine), "memory");
  REQUIRE(store.ok());
  return *std::move(store);
}

TEST_CASE("a walk meets every message once, in either direction, and no other channel's") {
  const auto store = Over(NewMemoryEngine());
  for (const size_t count : {0u, 1u, 255u, 256u, 257u, 1000u}) {
    if (count > 0) KeepFrom(*store, 1, count);
    Keep(*store, TextMessage(kChannelB, NthId(5), "another's"));
    ConversationWalk oldest(Channel(), false), newest(Channel(), true);
    CHECK(Rest(oldest, *store) == Ids(1, count));
    auto backwards = Ids(1, count);
    std::reverse(backwards.begin(), backwards.end());
    CHECK(Rest(newest, *store) == backwards);
    CHECK(oldest.unreadable() + newest.unreadable() == 0);
  }
}

TEST_CASE("a walk goes on among what comes and goes meanwhile") {
  const auto store = Over(NewMemoryEngine());
  KeepFrom(*store, 10, 6000, 10);
  for (const bool newest_first : {false, true}) {
    ConversationWalk walk(Channel(), newest_first);
    Message message;
    REQUIRE(walk.Next(*store, message).ok());
    // More than fits into the blocks that were found, with longer ones among them.
    KeepFrom(*store, newest_first ? 1 : 3, 6000, 5, std::string(2000, 'x'));
    std::vector<std::string> met = Rest(walk, *store);
    met.insert(met.begin(), message.id);
    CHECK(std::is_sorted(met.begin(), met.end(), [&](const std::string& a, const std::string& b) {
      return newest_first ? a > b : a < b;
    }));
    CHECK(std::adjacent_find(met.begin(), met.end()) == met.end());
    const std::set<std::string> all(met.begin(), met.end());
    for (const std::string& id : Ids(10, 6000, 10)) CHECK(all.contains(id));
  }
  ConversationWalk walk(Channel(), false);
  Message message;
  REQUIRE(walk.Next(*store, message).ok());
  REQUIRE(store->DeleteChannel(kChannelA, 1).ok());
  CHECK(Rest(walk, *store).empty());
}

TEST_CASE("a walk passes over what cannot be read, and counts it once") {
  auto engine = std::make_unique<DamagedEngine>();
  DamagedEngine& damaged = *engine;
  const auto store = Over(std::move(engine));
  KeepFrom(*store, 1, 600);
  Writes writes;
  writes.Put(KeyOf(3), "\x01no JSON");
  writes.Put(KeyOf(4), "\x02{}");                             // a newer version
  writes.Put(KeyOf(5), "");                                   // nothing
  writes.Put(MessagesPrefix(Channel()) + "short", "\x01{}");  // no message's key
  REQUIRE(damaged.Commit(writes, Sync::kNow).ok());
  for (const size_t n : {100, 101, 256, 257, 600}) damaged.damaged.insert(KeyOf(n));
  for (const bool newest_first : {false, true}) {
    ConversationWalk walk(Channel(), newest_first);
    const size_t before = store->unreadable();
    CHECK(Rest(walk, *store).size() == 600 - 3 - 5);
    CHECK(walk.unreadable() == 4 + 1);
    CHECK(store->unreadable() - before == 4 + 1);
  }
}

TEST_CASE("a walk that the disk stopped goes on where it was") {
  auto engine = std::make_unique<FailingEngine>();
  FailingEngine& failing = *engine;
  const auto store = Over(std::move(engine));
  KeepFrom(*store, 1, 1000);
  for (const bool newest_first : {false, true}) {
    ConversationWalk walk(Channel(), newest_first);
    std::vector<std::string> met;
    Message message;
    for (;;) {
      // Each block is tried twice.
      failing.fails = true;
      auto more = walk.Next(*store, message);
      failing.fails = false;
      if (absl::IsUnavailable(more.status())) more = walk.Next(*store, message);
      REQUIRE(more.ok());
      if (!*more) break;
      met.push_back(message.id);
    }
    if (newest_first) std::reverse(met.begin(), met.end());
    CHECK(met == Ids(1, 1000));
  }
}

}  // namespace
}  // namespace watchbill::history
