// Whatever a history holds, it is the same once it was exported and imported; and whatever happens to its
// files, what is salvaged of it was once in it.
#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include "folder_fixture.hpp"
#include "raw_files.hpp"
#include "seeded.hpp"
#include "transfer_fixture.hpp"
#include "watchbill/history/repair.hpp"

namespace watchbill::history {
namespace {

std::string RandomId(Seeded& random) {
  // Few of them, so that some stand twice, and ends of the range.
  UlidBytes bytes{};
  const size_t kind = random.Below(3);
  for (uint8_t& byte : bytes) byte = kind == 0 ? 0 : kind == 1 ? 255 : 0x5A;
  bytes[15] = static_cast<uint8_t>(random.Below(256));
  bytes[7] = static_cast<uint8_t>(random.Below(2));
  return UlidText(bytes);
}

std::string RandomBytes(Seeded& random, size_t most) {
  std::string bytes;
  for (size_t n = random.Below(most); n > 0; --n) {
    static const std::vector<std::string> kPieces = {
        std::string(1, '\0'), "\xFF", "a", "\"", "\\", "\n", "é", "\x7F",
        "\xF0\x9F\x99\x82",   "\xC3", "{", "}",  "[",  ",",  "\r"};
    bytes += random.Of(kPieces);
  }
  return bytes;
}

std::string RandomText(Seeded& random) {
  static const std::vector<std::string> kPieces = {"a",  "\"",     "\\",  "\n", std::string(1, '\0'),
                                                   "é",  "```",    "<b>", "]:", "# ",
                                                   "\r", "\u2028", "`",   "|",  "\xF0\x9F\x99\x82"};
  std::string text;
  for (size_t n = random.Below(10); n > 0; --n) text += random.Of(kPieces);
  if (random.OneIn(40)) text.append(random.Below(60'000), 'x');
  return text;
}

std::string RandomJson(Seeded& random, int depth = 0) {
  std::string json;
  JsonWriter w(json);
  switch (random.Below(depth > 3 ? 3 : 5)) {
    case 0:
      w.Int(static_cast<int64_t>(random.Below(1'000'000)));
      break;
    case 1:
      w.String(RandomText(random));
      break;
    case 2:
      json = random.Of(std::vector<std::string>{"null", "true", "1.50", "-0", "1e5"});
      break;
    default:
      w.Begin('{');
      for (size_t n = random.Below(3); n > 0; --n) {
        const std::string value = RandomJson(random, depth + 1);
        w.Key(RandomText(random)).Json(JsonView::Trusted(value));
      }
      w.End('}');
  }
  return json;
}

Message RandomMessage(Seeded& random, const std::vector<std::string>& channels) {
  Message m;
  m.id = RandomId(random);
  m.channel = random.Of(channels);
  m.created_ms = static_cast<int64_t>(random.Below(253'402'300'800'000));
  m.agent = RandomText(random);
  m.role = random.Of(std::vector<Role>{Role::kUser, Role::kAgent, Role::kSystem});
  m.error = RandomText(random);
  for (size_t n = random.Below(4); n > 0; --n) {
    if (random.OneIn(3)) {
      m.parts.push_back(ThoughtPart{RandomText(random)});
    } else if (random.OneIn(3)) {
      ToolCall tool;
      tool.title = RandomText(random);
      tool.diffs.push_back({RandomText(random), RandomText(random), RandomText(random), random.OneIn(2)});
      m.parts.push_back(ToolPart{tool});
    } else {
      m.parts.push_back(TextPart{RandomText(random)});
    }
  }
  return m;
}

// A commit of anything.
Batch RandomBatch(Seeded& random, const std::vector<std::string>& channels) {
  Batch batch;
  for (size_t n = random.Below(12); n > 0; --n) REQUIRE(batch.Put(RandomMessage(random, channels)).ok());
  if (random.OneIn(2))
    REQUIRE(batch.Put(Channel{random.Of(channels), RandomText(random), RandomText(random), "", {"a"}}).ok());
  if (random.OneIn(2))
    REQUIRE(batch.Put(random.Of(channels), {"a" + RandomBytes(random, 6), RandomText(random), ""}).ok());
  if (random.OneIn(2)) {
    const std::string json = RandomJson(random);
    REQUIRE(batch.PutCommands("a" + RandomBytes(random, 4), JsonView::Trusted(json)).ok());
  }
  for (size_t n = random.Below(4); n > 0; --n) {
    const auto collection = static_cast<Collection>(1 + random.Below(14));
    const std::string key = "k" + RandomBytes(random, 4), json = RandomJson(random);
    REQUIRE(batch.Put(collection, key, RandomBytes(random, 4), JsonView::Trusted(json)).ok());
    if (random.OneIn(5)) REQUIRE(batch.Delete(collection, key).ok());
  }
  for (size_t n = random.Below(3); n > 0; --n) {
    const std::string json = RandomJson(random);
    REQUIRE(batch.AppendToTrail(JsonView::Trusted(json)).ok());
  }
  return batch;
}

std::string Exported(const Store& store) {
  std::string text;
  const auto report = Export(store, {.ledger = true, .trail = true}, [&](std::string_view piece) {
    text.append(piece);
    return absl::OkStatus();
  });
  REQUIRE_MESSAGE(report.ok(), report.status().ToString());
  REQUIRE(report->unreadable == 0);
  return text;
}

ImportReport Imported(Store& store, std::string_view text, Seeded& random) {
  Importer importer(store, {});
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, 1 + random.Below(random.OneIn(2) ? 10 : 100'000));
    REQUIRE(importer.Feed(piece).ok());
    text.remove_prefix(piece.size());
  }
  REQUIRE(importer.End().ok());
  return importer.report();
}

TEST_CASE(
    "a history that was exported and imported is the same, whatever the pieces and the order of its lines") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> channels;
    for (int i = 0; i < 4; ++i) channels.push_back(RandomId(random));
    const MemoryStore store;
    for (size_t n = random.Below(15); n > 0; --n) REQUIRE(store->Commit(RandomBatch(random, channels)).ok());
    if (random.OneIn(2)) REQUIRE(store->DeleteChannel(random.Of(channels), 1 + random.Below(5)).ok());
    const std::string text = Exported(*store);

    const MemoryStore other;
    const ImportReport report = Imported(*other, text, random);
    CHECK(report.bad == 0);
    CHECK(report.cut == "");
    CHECK(report.already.total() + report.replaced.total() + report.refused.total() == 0);
    REQUIRE(Exported(*other) == text);
    const auto all = Everything(*other);
    const ImportReport again = Imported(*other, text, random);
    CHECK(again.kept.total() == 0);
    CHECK(again.already == report.kept);
    CHECK(Everything(*other) == all);

    // The lines between the first and the last in any order, but for the trail's among themselves.
    std::vector<std::string> lines, trail;
    for (const std::string& line : LinesOf(text))
      (line.starts_with("{\"entry\"") ? trail : lines).push_back(line + "\n");
    for (size_t i = lines.size() - 1; i-- > 2;) std::swap(lines[i], lines[1 + random.Below(i)]);
    // Each behind the one before, at any place before the last line.
    size_t at = 1;
    for (const std::string& line : trail) {
      at += random.Below(lines.size() - at);
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at++), line);
    }
    const std::string moved = std::accumulate(lines.begin(), lines.end(), std::string());
    REQUIRE(moved.size() == text.size());
    const MemoryStore third;
    CHECK(Imported(*third, moved, random).bad == 0);
    CHECK(Exported(*third) == text);

    // A cut anywhere is said, and a change anywhere is nothing worse than a bad line.
    for (int i = 0; i < 20; ++i) {
      const size_t first = text.find('\n') + 1;
      const std::string_view part =
          std::string_view(text).substr(0, first + random.Below(text.size() - first - 1));
      const MemoryStore cut;
      CHECK(Imported(*cut, part, random).cut != "");
      std::string changed = text;
      changed[first + random.Below(text.size() - first)] = static_cast<char>(random.Below(256));
      const MemoryStore damaged;
      const ImportReport told = Imported(*damaged, changed, random);
      CHECK(told.kept.total() + 3 + told.bad >= report.kept.total());
      (void)Exported(*damaged);
    }
  }
}

TEST_CASE(
    "what is salvaged of a history whose files were damaged was once in it, and without damage is all of "
    "it") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  const MemoryFolder folder;
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    const std::string db = fmt::format("{}/{}", folder.path, round);
    std::vector<std::string> channels;
    for (int i = 0; i < 4; ++i) channels.push_back(RandomId(random));
    // Every value that a key ever had.
    std::map<std::string, std::set<std::string>> ever;
    std::map<std::string, std::string> all;
    for (size_t opening = 1 + random.Below(4); opening > 0; --opening) {
      auto opened = Store::Open(db, {.write_buffer_bytes = random.OneIn(2) ? size_t{64} << 10 : 0});
      REQUIRE_MESSAGE(opened.ok(), opened.status().ToString());
      for (size_t n = 1 + random.Below(12); n > 0; --n) {
        REQUIRE((*opened)->Commit(RandomBatch(random, channels)).ok());
        for (const auto& [key, value] : Everything(**opened)) ever[key].insert(value);
      }
      all = Everything(**opened);
      if (opening > 1 || random.OneIn(2)) continue;
      // As if it had been killed.
      std::filesystem::copy(db, db + "-killed");
      opened->reset();
      std::filesystem::remove_all(db);
      std::filesystem::rename(db + "-killed", db);
    }
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(db)) {
      const std::string name = entry.path().filename().string();
      if (name != "LOCK" && name != "RESERVE") files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    for (int damage = 0; damage < 10; ++damage) {
      CAPTURE(damage);
      const std::string file = random.Of(files), good = ReadBytes(file);
      CAPTURE(file);
      bool harmed = damage > 0;
      if (!harmed || good.empty()) {
        harmed = false;
      } else if (random.OneIn(6)) {
        std::filesystem::remove(file);
      } else if (random.OneIn(4)) {
        WriteBytes(file, good.substr(0, random.Below(good.size())));
      } else {
        std::string bytes = good;
        for (size_t n = 1 + random.Below(3); n > 0; --n)
          bytes[random.Below(bytes.size())] ^= static_cast<char>(1 << random.Below(8));
        WriteBytes(file, bytes);
      }
      const std::string to = db + "-to";
      const auto inspected = Inspect(db, {.read_all = true});
      CHECK(inspected.ok());
      const auto report = Salvage(db, to);
      if (report.ok()) {
        const auto store = Store::Open(to);
        REQUIRE_MESSAGE(store.ok(), store.status().ToString());
        const auto found = Everything(**store);
        for (const auto& [key, value] : found) {
          if (key.starts_with('Q')) continue;  // made again
          REQUIRE(ever.contains(key));
          REQUIRE(ever[key].contains(value));
        }
        if (!harmed) {
          auto wanted = all;
          std::erase_if(wanted, [](const auto& entry) { return entry.first.starts_with('N'); });
          CHECK(found == wanted);
          CHECK(report->troubles.empty());
        }
      } else {
        CHECK(absl::IsDataLoss(report.status()));
        CHECK(harmed);
        CHECK(!std::filesystem::exists(to));
      }
      std::filesystem::remove_all(to);
      WriteBytes(file, good);
    }
    std::filesystem::remove_all(db);
  }
}

TEST_CASE("any bytes are a log or a table, or none") {
  const uint64_t seed = TestSeed();
  CAPTURE(seed);
  Seeded random(seed);
  size_t entries = 0;
  for (int i = 0; i < 3'000; ++i) {
    std::string bytes;
    const std::vector<size_t> lengths = {1, 8, 60, 300, 33'000};
    for (size_t n = random.Below(random.Of(lengths)); n > 0; --n)
      bytes.push_back(random.OneIn(3) ? '\0' : static_cast<char>(random.Below(256)));
    if (random.OneIn(2) && bytes.size() >= 8) {
      // The end of a table, with whatever handles.
      static constexpr std::string_view kMagic = "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
      bytes.replace(bytes.size() - 8, 8, kMagic);
    }
    RawReport report;
    bool compressed = false;
    ReadTable(
        bytes, [&](const RawEntry&) { return ++entries > 0; }, report, compressed);
    LogRecords records([&](std::string_view) { ++entries; });
    for (std::string_view rest = bytes; !rest.empty();
         rest.remove_prefix(std::min(rest.size(), LogRecords::kBlock)))
      records.Block(rest.substr(0, LogRecords::kBlock));
    const bool told = report.damaged > 0 || compressed || report.entries > 0;
    CHECK(told);
  }
  // A checksum is hardly ever right by chance.
  CHECK(entries < 10);
}

}  // namespace
}  // namespace watchbill::history
