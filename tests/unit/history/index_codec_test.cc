#include "index_codec.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "history_fixture.hpp"
#include "store_impl.hpp"

namespace watchbill::history {
namespace {

UlidBytes IdOf(size_t n) { return *ParseUlid(NthId(n)); }

using Postings = std::vector<std::pair<uint32_t, uint32_t>>;

Postings PostingsOf(std::string_view value) {
  Postings postings;
  const bool whole = EachPosting(
      value, [&](uint32_t document, uint32_t occurrences) { postings.emplace_back(document, occurrences); });
  if (!whole) postings.clear();
  return postings;
}

TEST_CASE("how far the index is is read as it was written, and any other byte is noticed") {
  IndexState state;
  CHECK(ReadIndexState(WriteIndexState(state)) == state);
  state = {IndexState::Phase::kWalking, 77, 1'000'000'007, MessageKey(IdOf(1), IdOf(2))};
  const std::string value = WriteIndexState(state);
  CHECK(ReadIndexState(value) == state);
  for (size_t at = 0; at < value.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string wrong = value;
      wrong[at] = static_cast<char>(wrong[at] ^ 1 << bit);
      CHECK_MESSAGE(!ReadIndexState(wrong), at);
    }
    CHECK(!ReadIndexState(value.substr(0, at)));
  }
  CHECK(!ReadIndexState(value + "x"));
}

TEST_CASE("an index of another version is none of ours") {
  std::string value = WriteIndexState(IndexState());
  value.resize(value.size() - 8);
  value[1] = static_cast<char>(kIndexVersion + 1);
  uint64_t hash = 0xCBF29CE484222325;
  for (const char byte : value) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001B3;
  AppendNumber(value, hash);
  CHECK(!ReadIndexState(value));
  // The same with our version is one: it is the version that makes the difference.
  value.resize(value.size() - 8);
  value[1] = static_cast<char>(kIndexVersion);
  hash = 0xCBF29CE484222325;
  for (const char byte : value) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001B3;
  AppendNumber(value, hash);
  CHECK(ReadIndexState(value) == IndexState());
}

TEST_CASE("a segment has its channels, times and ids, also from before the first year and of one time") {
  const int64_t kEarliest = -62'167'219'200'000, kLatest = 253'402'300'799'999;
  const std::vector<std::vector<int64_t>> kTimes = {
      {1'790'000'000'000},
      {5, 5, 5},
      {kEarliest, -1, 0, 1, kLatest},
      {1'000, 1'255, 1'256},
      {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}};
  for (const std::vector<int64_t>& times : kTimes) {
    for (const size_t channels : {size_t{1}, size_t{2}, times.size()}) {
      std::vector<Document> documents;
      for (size_t i = 0; i < times.size(); ++i)
        documents.push_back({IdOf(100 + i % channels), IdOf(i), times[i]});
      const auto head = SegmentHead::Read(WriteSegmentHead(documents));
      const auto ids = SegmentIds::Read(WriteSegmentIds(documents), documents.size());
      REQUIRE(head);
      REQUIRE(ids);
      REQUIRE(head->size() == documents.size());
      for (size_t i = 0; i < documents.size(); ++i) {
        CHECK(head->created_ms(i) == documents[i].created_ms);
        CHECK(head->channels()[head->channel(i)] == documents[i].channel);
        CHECK((*ids)[i] == documents[i].message);
      }
      CHECK(Summarize(documents).newest_ms == times.back());
      for (const Document& document : documents)
        CHECK((Summarize(documents).channels & ChannelBit(document.channel)) != 0);
      CHECK(ReadSegmentSummary(WriteSegmentSummary(Summarize(documents))) == Summarize(documents));
    }
  }
}

TEST_CASE("a segment of many channels") {
  std::vector<Document> documents;
  for (size_t i = 0; i < 1000; ++i) documents.push_back({IdOf(i % 300), IdOf(i), static_cast<int64_t>(i)});
  const auto head = SegmentHead::Read(WriteSegmentHead(documents));
  REQUIRE(head);
  CHECK(head->channels().size() == 300);
  for (size_t i = 0; i < 1000; ++i) REQUIRE(head->channels()[head->channel(i)] == IdOf(i % 300));
}

TEST_CASE("what is cut, too long or of another version is nothing") {
  const std::vector<Document> documents = {{IdOf(1), IdOf(2), 5}, {IdOf(3), IdOf(4), 500}};
  const std::string head = WriteSegmentHead(documents), ids = WriteSegmentIds(documents),
                    summary = WriteSegmentSummary(Summarize(documents));
  std::string arrival(1, kValueVersion);
  arrival.append(32, 'x');
  CHECK(ReadArrival(arrival));
  for (size_t size = 0; size < head.size(); ++size) CHECK(!SegmentHead::Read(head.substr(0, size)));
  for (size_t size = 0; size < ids.size(); ++size) CHECK(!SegmentIds::Read(ids.substr(0, size), 2));
  for (size_t size = 0; size < summary.size(); ++size) CHECK(!ReadSegmentSummary(summary.substr(0, size)));
  for (size_t size = 0; size < arrival.size(); ++size) CHECK(!ReadArrival(arrival.substr(0, size)));
  const auto other = [](std::string value, size_t at, char byte) {
    value[at] = byte;
    return value;
  };
  CHECK(!SegmentHead::Read(head + "x"));
  CHECK(!SegmentIds::Read(ids, 1));
  CHECK(!ReadSegmentSummary(summary + "x"));
  CHECK(!ReadArrival(arrival + "x"));
  CHECK(!SegmentHead::Read(other(head, 0, 2)));
  CHECK(!SegmentIds::Read(other(ids, 0, 2), 2));
  CHECK(!ReadSegmentSummary(other(summary, 0, 2)));
  CHECK(!ReadArrival(other(arrival, 0, 2)));
  // A channel that is none of the segment's.
  CHECK(!SegmentHead::Read(other(head, head.size() - 3, 9)));
}

TEST_CASE("postings are read as they were written") {
  const std::vector<Postings> kLists = {{{0, 1}},
                                        {{4095, 1}},
                                        {{0, 1}, {1, 2}, {2, 1}, {500, 129}, {4095, 100'000}},
                                        {{63, 1}, {64, 3}, {200, 2}}};
  for (const Postings& list : kLists) {
    PostingsWriter writer;
    for (const auto& [document, occurrences] : list) writer.Add(document, occurrences);
    CHECK(PostingsOf(writer.value()) == list);
  }
  PostingsWriter small;
  small.Add(7, 1);
  CHECK(small.value().size() == 2);
}

TEST_CASE("postings that are cut, beyond a segment or of another version are nothing") {
  PostingsWriter writer;
  writer.Add(100, 1'000);
  const std::string value = writer.value();
  for (const std::string& wrong :
       {std::string(), std::string("\x02\x02"), value.substr(0, 2), value.substr(0, 3), value + "\x80",
        std::string("\x01\xFF\xFF\xFF\xFF\xFF", 6), std::string("\x01\xFF\xFF\xFF\xFF\x0F", 6),
        std::string("\x01\x80\x80\x01", 4), std::string("\x01\x01\xFF\xFF\xFF\xFF\x0F", 7)}) {
    CHECK(!EachPosting(wrong, [](uint32_t, uint32_t) {}));
  }
  CHECK(EachPosting("\x01", [](uint32_t, uint32_t) {}));
}

TEST_CASE("numbers of any size are read as they were written") {
  for (const uint32_t number :
       {0u, 1u, 127u, 128u, 16'383u, 16'384u, 0x0FFFFFFFu, 0x10000000u, 0xFFFFFFFFu}) {
    std::string bytes;
    AppendVarint(bytes, number);
    size_t at = 0;
    CHECK(VarintAt(bytes, at) == number);
    CHECK(at == bytes.size());
    at = 0;
    CHECK(!VarintAt(std::string_view(bytes).substr(0, bytes.size() - 1), at));
  }
}

}  // namespace
}  // namespace watchbill::history
