// What the fuzz targets of libhistory share: histories in memory, in and out of text.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "json_document.hpp"
#include "ledger_record.hpp"
#include "record_kinds.hpp"
#include "store_impl.hpp"
#include "watchbill/history/transfer.hpp"

namespace watchbill::history::fuzz {

inline void Require(bool holds) {
  if (!holds) std::abort();
}

struct MemoryStore {
  MemoryStore() : MemoryStore(NewMemoryEngine()) {}
  explicit MemoryStore(std::unique_ptr<Engine> made) : engine(made.get()) {
    auto opened = Store::Open(std::move(made), "memory");
    if (opened.ok()) store = *std::move(opened);
  }
  Store& operator*() const { return *store; }
  Engine* engine;
  std::unique_ptr<Store> store;  // nothing where it could not be opened
};

inline std::string Exported(const Store& store) {
  std::string text;
  const auto report = Export(store, {.ledger = true, .trail = true}, [&](std::string_view piece) {
    text.append(piece);
    return absl::OkStatus();
  });
  Require(report.ok());
  return text;
}

// What was exported is taken whole, but for what an importer is stricter about, and comes out again as it
// went in.
inline void RequireComesBack(const Store& store) {
  const std::string text = Exported(store);
  const MemoryStore other;
  Importer importer(*other, {});
  Require(importer.Feed(text).ok());
  Require(importer.End().ok());
  Require(importer.report().cut.empty());
  const std::string again = Exported(*other);
  if (importer.report().bad == 0) Require(again == text);
  const MemoryStore third;
  Importer once_more(*third, {});
  Require(once_more.Feed(again).ok());
  Require(once_more.End().ok());
  Require(once_more.report().bad == 0);
  Require(Exported(*third) == again);
}

}  // namespace watchbill::history::fuzz
