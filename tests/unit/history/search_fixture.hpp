// Searching through all pages, and making the index in steps of any size.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "history_fixture.hpp"
#include "watchbill/history/search.hpp"

namespace watchbill::history {

inline IndexStep MustStep(Store& store, size_t most = 1000, bool force = true) {
  const auto step = Index(store).Step(most, force);
  REQUIRE_MESSAGE(step.ok(), step.status().ToString());
  return *step;
}

// Until nothing is left; gives how many messages were taken.
inline size_t IndexAll(Store& store, size_t most = 1000) {
  size_t messages = 0;
  for (;;) {
    const IndexStep step = MustStep(store, most);
    messages += step.messages;
    if (step.done) return messages;
  }
}

inline SearchPage MustFind(const Store& store, const SearchQuery& query) {
  auto page = Search(store).Find(query);
  REQUIRE_MESSAGE(page.ok(), page.status().ToString());
  REQUIRE(page->hits.size() <= query.limit);
  return *std::move(page);
}

// The hits of all pages, and that they are in order and none is there twice.
inline std::vector<SearchHit> AllHits(const Store& store, SearchQuery query) {
  std::vector<SearchHit> hits;
  std::set<std::pair<std::string, std::string>> seen;
  for (;;) {
    SearchPage page = MustFind(store, query);
    for (SearchHit& hit : page.hits) {
      REQUIRE_MESSAGE(seen.emplace(hit.channel, hit.id).second, hit.id);
      const bool ordered = hits.empty() || hits.back().score > hit.score ||
                           (hits.back().score == hit.score && hits.back().id >= hit.id);
      REQUIRE(ordered);
      hits.push_back(std::move(hit));
    }
    REQUIRE(page.more == !page.next.empty());
    if (!page.more) return hits;
    query.after = page.next;
  }
}

inline std::vector<std::string> IdsOf(const std::vector<SearchHit>& hits) {
  std::vector<std::string> ids;
  for (const SearchHit& hit : hits) ids.push_back(hit.id);
  return ids;
}

inline std::vector<std::string> Found(const Store& store, const std::string& text,
                                      const std::string& channel = {}) {
  return IdsOf(AllHits(store, {.text = text, .channel = channel, .limit = 7, .after = {}}));
}

}  // namespace watchbill::history
