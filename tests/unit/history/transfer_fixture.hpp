// Histories in memory, and what goes in and out of them as text.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "history_fixture.hpp"
#include "store_impl.hpp"
#include "watchbill/history/transfer.hpp"

namespace watchbill::history {

struct MemoryStore {
  explicit MemoryStore(std::unique_ptr<Engine> made = NewMemoryEngine()) : engine(made.get()) {
    auto opened = Store::Open(std::move(made), "memory");
    REQUIRE_MESSAGE(opened.ok(), opened.status().ToString());
    store = *std::move(opened);
  }
  Store& operator*() const { return *store; }
  Store* operator->() const { return store.get(); }

  Engine* engine;
  std::unique_ptr<Store> store;
};

// Every key and value.
inline std::map<std::string, std::string> Everything(const Engine& engine) {
  std::map<std::string, std::string> all;
  const auto cursor = engine.Scan({});
  for (; cursor->Valid(); cursor->Next()) all.emplace(cursor->key(), cursor->value());
  REQUIRE(cursor->status().ok());
  return all;
}

inline std::map<std::string, std::string> Everything(const Store& store) {
  return Everything(*Inside::Of(store).engine);
}

inline void MustCommit(Store& store, const Batch& batch) {
  const absl::Status status = store.Commit(batch);
  REQUIRE_MESSAGE(status.ok(), status.ToString());
}

inline std::string MustExport(const Store& store,
                              const ExportOptions& options = {.ledger = true, .trail = true}) {
  std::string text;
  const auto report = Export(store, options, [&](std::string_view piece) {
    text.append(piece);
    return absl::OkStatus();
  });
  REQUIRE_MESSAGE(report.ok(), report.status().ToString());
  return text;
}

inline std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Messages from one number to before another, in one commit.
inline void KeepMany(Store& store, size_t from, size_t to, size_t bytes) {
  Batch batch;
  for (size_t i = from; i < to; ++i)
    REQUIRE(
        batch.Put(TextMessage(kChannelA, NthId(i), fmt::format("{} {}", i, std::string(bytes, 'x')))).ok());
  MustCommit(store, batch);
}

struct Imported {
  absl::Status status;
  ImportReport report;
};

inline Imported Import(Store& store, std::string_view text, const ImportOptions& options = {},
                       size_t piece = std::string_view::npos) {
  Importer importer(store, options);
  absl::Status status;
  while (status.ok() && !text.empty()) {
    const std::string_view bytes = text.substr(0, piece);
    text.remove_prefix(bytes.size());
    status = importer.Feed(bytes);
  }
  if (status.ok()) status = importer.End();
  return {status, importer.report()};
}

inline std::string MessageLine(const Message& message) {
  std::string line;
  JsonWriter w(line);
  w.Begin('{').Key("message");
  Write(w, message);
  w.End('}');
  return line;
}

// The lines between a right first and a right last one.
inline std::string Framed(const std::vector<std::string>& lines) {
  std::string text = "{\"watchbill\":\"history\",\"format\":1}\n";
  for (const std::string& line : lines) text += line + "\n";
  return text + fmt::format("{{\"end\":{{\"lines\":{}}}}}\n", lines.size() + 1);
}

// A little of everything that a history can have.
inline void FillWithAll(Store& store) {
  Batch batch;
  REQUIRE(batch.Put(Channel{kChannelA, "ops", "what goes on", "", {"codex", "claude"}}).ok());
  REQUIRE(batch.Put(Channel{kChannelB, "", "", "codex", {"codex"}}).ok());
  REQUIRE(batch.Put(kChannelA, {"codex", "session-1", NthId(2)}).ok());
  REQUIRE(batch.Put(kChannelA, {std::string("\0\xFF", 2), "session-2", ""}).ok());
  REQUIRE(batch.Put(TextMessage(kChannelA, NthId(1), "one\nline")).ok());
  REQUIRE(batch.Put(FullMessage(kChannelA, NthId(2))).ok());
  REQUIRE(batch.Put(TextMessage(kChannelB, NthId(3), "three")).ok());
  REQUIRE(batch.PutCommands("codex", JsonView::Trusted(R"([{"name":"plan"}])")).ok());
  REQUIRE(batch.Put(Collection::kPrices, "gpt", "2026", JsonView::Trusted(R"({"input":1.25})")).ok());
  REQUIRE(batch
              .Put(Collection::kWindows, std::string("\x80\x00", 2), std::string("\0\0\xFF", 3),
                   JsonView::Trusted("[]"))
              .ok());
  REQUIRE(batch.AppendToTrail(JsonView::Trusted(R"({"did":"first"})")).ok());
  REQUIRE(batch.AppendToTrail(JsonView::Trusted(R"({"did":"second"})")).ok());
  MustCommit(store, batch);
}

}  // namespace watchbill::history
