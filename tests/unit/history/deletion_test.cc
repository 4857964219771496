// A channel that is deleted in pieces, whatever comes between them.
#include <thread>

#include "failing_env.hpp"
#include "history_fixture.hpp"
#include "keys.hpp"
#include "temp_folder.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kMessages = 25;

void FillBoth(Store& store) {
  for (const char* channel : {kChannelA, kChannelB}) {
    Batch batch;
    Channel record;
    record.id = channel;
    record.name = "name";
    REQUIRE(batch.Put(record).ok());
    REQUIRE(batch.Put(channel, {"codex", "session", NthId(1)}).ok());
    REQUIRE(batch.Put(channel, {"claude", "session", NthId(2)}).ok());
    for (size_t n = 0; n < kMessages; ++n) REQUIRE(batch.Put(TextMessage(channel, NthId(n), "text")).ok());
    REQUIRE(store.Commit(batch).ok());
  }
}

void CheckGone(const Store& store) {
  const auto channels = store.Channels();
  REQUIRE(channels.ok());
  REQUIRE(channels->size() == 1);
  CHECK((*channels)[0].id == kChannelB);
  CHECK(store.Last(kChannelA, 100)->messages.empty());
  CHECK(!store.Last(kChannelA, 0)->more);
  CHECK(store.Before(kChannelA, NthId(9), 100)->messages.empty());
  CHECK(store.Members(kChannelA)->empty());
  CHECK(store.Last(kChannelB, 100)->messages.size() == kMessages);
  CHECK(store.Members(kChannelB)->size() == 2);
}

// How many keys are left that begin with it.
size_t Left(leveldb::Env& env) {
  auto engine = OpenLevelDb(&env, "/db", {}, nullptr);
  REQUIRE(engine.ok());
  size_t left = 0;
  for (const std::string& prefix : {ChannelKey(*ParseUlid(kChannelA)), MessagesPrefix(*ParseUlid(kChannelA)),
                                    MembersPrefix(*ParseUlid(kChannelA))}) {
    for (const auto it = (*engine)->Scan(prefix); it->Valid() && it->key().starts_with(prefix); it->Next())
      ++left;
  }
  return left;
}

TEST_CASE("a channel goes in pieces, is gone from the first on, and takes nothing any more") {
  FailingEnv env;
  size_t pieces = 0;
  for (bool done = false; !done; ++pieces) {
    // Each piece in an opening of its own.
    auto store = OpenOver(env, 1 << 20);
    REQUIRE(store.ok());
    if (pieces == 0) FillBoth(**store);
    if (pieces > 0) CheckGone(**store);
    const auto deleted = (*store)->DeleteChannel(kChannelA, 4);
    REQUIRE(deleted.ok());
    done = *deleted;
    CheckGone(**store);
    CHECK((*store)->HalfDeleted() ==
          (done ? std::vector<std::string>{} : std::vector<std::string>{kChannelA}));
    Batch batch;
    REQUIRE(batch.Put(TextMessage(kChannelA, NthId(99), "late")).ok());
    const absl::Status late = (*store)->Commit(batch);
    CHECK(absl::IsFailedPrecondition(late));
    CHECK(Says(late, kChannelA));
    Batch member;
    REQUIRE(member.Put(kChannelA, {"codex", "", ""}).ok());
    CHECK(absl::IsFailedPrecondition((*store)->Commit(member)));
    Channel record;
    record.id = kChannelA;
    Batch channel;
    REQUIRE(channel.Put(record).ok());
    CHECK(absl::IsFailedPrecondition((*store)->Commit(channel)));
  }
  CHECK(pieces == (kMessages + 2) / 4 + 1);
  CHECK(Left(env) == 0);
  auto store = OpenOver(env, 1 << 20);
  REQUIRE(store.ok());
  CHECK((*store)->DeleteChannel(kChannelA, 1).value());
  CHECK((*store)->HalfDeleted().empty());
}

TEST_CASE(
    "a deletion that fails at any operation can be gone on with, and takes nothing of another channel") {
  for (const auto then : {FailingEnv::Then::kWorksAgain, FailingEnv::Then::kStaysBroken}) {
    bool failed = true;
    for (size_t n = 0; failed; ++n) {
      CAPTURE(n);
      FailingEnv env;
      {
        auto store = OpenOver(env, 64 << 10);
        REQUIRE(store.ok());
        FillBoth(**store);
        env.FailAfter(n, then);
        for (int piece = 0; piece < 10; ++piece) {
          const auto deleted = (*store)->DeleteChannel(kChannelA, 7);
          if (!deleted.ok() || *deleted) break;
        }
      }
      failed = env.failed();
      env.Heal();
      auto store = OpenOver(env, 64 << 10);
      REQUIRE_MESSAGE(store.ok(), store.status().ToString());
      CHECK((*store)->Last(kChannelB, 100)->messages.size() == kMessages);
      for (;;) {
        const auto deleted = (*store)->DeleteChannel(kChannelA, 7);
        REQUIRE(deleted.ok());
        CheckGone(**store);
        if (*deleted) break;
      }
      store->reset();
      CHECK(Left(env) == 0);
    }
  }
}

TEST_CASE("nothing is left of what others put into a channel while it is being deleted") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path + "/db");
  FillBoth(*store);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t n = 0;; ++n) {
        Batch batch;
        if (!batch.Put(TextMessage(kChannelA, NthId(1'000 * (t + 1) + n), "text")).ok()) return;
        if (!store->Commit(batch).ok()) return;
      }
    });
  }
  while (store->Last(kChannelA, 100)->messages.size() < 40) {
  }
  for (;;) {
    const auto deleted = store->DeleteChannel(kChannelA, 10);
    REQUIRE(deleted.ok());
    if (*deleted) break;
  }
  for (std::thread& thread : threads) thread.join();
  CheckGone(*store);
  // What was put is not merely hidden.
  CHECK(store->ChannelBytes(kChannelA).ok());
}

TEST_CASE("what cannot be deleted says why") {
  const TempFolder folder;
  const auto store = MustOpen(folder.path + "/db");
  CHECK(absl::IsInvalidArgument(store->DeleteChannel("x", 1).status()));
  CHECK(absl::IsInvalidArgument(store->DeleteChannel(kChannelA, 0).status()));
  // One that is not known: nothing will be put there either.
  CHECK(store->DeleteChannel(kChannelA, 1).value());
}

}  // namespace
}  // namespace watchbill::history
