// The machine stops at any byte that is written, with whatever part of what was not synced: what was
// confirmed is there, and of the rest a whole batch or nothing.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <optional>
#include <vector>

#include "failing_env.hpp"
#include "history_fixture.hpp"
#include "seeded.hpp"

namespace watchbill::history {
namespace {

// A batch of several messages, which are there together or not.
struct Kept {
  std::vector<Message> messages;
  std::string last;
};

Kept RandomBatch(Seeded& random, size_t& next, Batch& batch) {
  Kept kept;
  for (size_t n = 1 + random.Below(4); n > 0; --n) {
    const size_t size = random.OneIn(12) ? 40'000 : random.Below(900);
    kept.messages.push_back(TextMessage(kChannelA, NthId(next++), std::string(size, 'x')));
    REQUIRE(batch.Put(kept.messages.back()).ok());
  }
  kept.last = kept.messages.back().id;
  REQUIRE(batch.Put(kChannelA, {"codex", "", kept.last}).ok());
  return kept;
}

class History {
 public:
  explicit History(Seeded& random) : random_(random) {}

  // Writes until the machine stops, or for long enough.
  void Play(size_t stop) {
    env_.StopAfterBytes(stop);
    {
      auto store = OpenOver(env_, 64 << 10);
      for (int i = 0; store.ok() && i < 200; ++i) {
        Batch batch;
        const Kept tried = RandomBatch(random_, next_, batch);
        if (!(*store)->Commit(batch).ok()) {
          perhaps_ = tried;
          break;
        }
        confirmed_.push_back(tried);
      }
    }
    env_.Heal();
    const size_t way = random_.Below(3);
    env_.CutPower([&](size_t unsynced) {
      return way == 0 ? 0 : way == 1 ? unsynced : random_.Below(unsynced + 1);
    });
    Check();
  }

 private:
  void Check() {
    auto store = OpenOver(env_, 64 << 10);
    REQUIRE_MESSAGE(store.ok(), store.status().ToString());
    const auto page = (*store)->Last(kChannelA, 1'000'000);
    REQUIRE(page.ok());
    REQUIRE(page->unreadable == 0);
    std::vector<Message> wanted;
    for (const Kept& kept : confirmed_)
      wanted.insert(wanted.end(), kept.messages.begin(), kept.messages.end());
    REQUIRE(page->messages.size() >= wanted.size());
    if (page->messages.size() > wanted.size()) {
      REQUIRE(perhaps_);
      wanted.insert(wanted.end(), perhaps_->messages.begin(), perhaps_->messages.end());
      confirmed_.push_back(*perhaps_);
    }
    perhaps_.reset();
    REQUIRE(page->messages == wanted);
    const auto members = (*store)->Members(kChannelA);
    REQUIRE(members.ok());
    REQUIRE(members->size() == (confirmed_.empty() ? 0 : 1));
    if (!confirmed_.empty()) REQUIRE((*members)[0].last_seen == confirmed_.back().last);
  }

  Seeded& random_;
  FailingEnv env_;
  size_t next_ = 0;
  std::vector<Kept> confirmed_;
  std::optional<Kept> perhaps_;
};

TEST_CASE("a machine that stops at any byte takes nothing that was confirmed, and leaves nothing by half") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  for (int history = 0; history < 100; ++history) {
    History one(random);
    // Several times over the same one: what was saved once is not lost the next time.
    for (int stop = 0; stop < 8; ++stop)
      one.Play(random.OneIn(3) ? random.Below(600) : random.Below(400'000));
  }
}

}  // namespace
}  // namespace watchbill::history
