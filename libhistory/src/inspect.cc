#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "files.hpp"
#include "folder_files.hpp"
#include "level_db.hpp"
#include "repair_steps.hpp"
#include "salvage.hpp"
#include "says.hpp"
#include "store_impl.hpp"
#include "unchanged_env.hpp"

namespace watchbill::history {
namespace {

constexpr size_t kWriteBuffer = 4 << 20;

// The format of what is there; nothing where it cannot be told.
std::optional<int64_t> FormatIn(const Engine& engine) {
  std::string value;
  if (!engine.Get(kFormatKey, value).ok() || value.empty()) return std::nullopt;
  const auto version = static_cast<unsigned char>(value[0]);
  if (version > kValueVersion) return version;
  json::Document document = NewDocument();
  const auto text = JsonOf(value);
  return text && document.Parse(*text).ok() ? document.root()["format"].AsInt() : std::nullopt;
}

absl::Status Open(const std::string& folder, bool read_all, Inspection& found) {
  UnchangedEnv env;
  auto engine = OpenLevelDb(&env, folder, {.create = false, .write_buffer_bytes = kWriteBuffer}, nullptr);
  if (!engine.ok()) return engine.status();
  found.format = FormatIn(**engine);
  auto store = Store::Open(*std::move(engine), folder);
  if (!store.ok()) return store.status();
  env.Seal();
  return read_all ? CountRecords(*Inside::Of(**store).engine, found.records, found.damaged)
                  : absl::OkStatus();
}

absl::StatusOr<Inspection> Look(const std::string& folder, const InspectOptions& options, bool held) {
  const auto name = FolderName(folder);
  if (!name.ok()) return name.status();
  Inspection found;
  const auto files = FilesOf(*name);
  if (absl::IsNotFound(files.status()) || absl::IsFailedPrecondition(files.status())) {
    found.opens =
        absl::NotFoundError(fmt::format("there is no folder {}; name the folder of a history", *name));
    return found;
  }
  if (!files.ok()) return files.status();
  found.there = true;
  for (const FolderFile& file : *files) {
    if (!file.database) {
      found.others.push_back(file.name);
      continue;
    }
    ++found.files;
    found.bytes += file.bytes;
    if (file.name.ends_with(".ldb") || file.name.ends_with(".sst")) ++found.tables;
    if (file.name.ends_with(".log")) {
      ++found.logs;
      found.log_bytes += file.bytes;
    }
  }
  found.history = found.files > 0;
  const std::string lock = *name + "/LOCK";
  if (!held) found.holder = HolderOf(lock);
  if (!found.holder) {
    found.opens = Open(*name, options.read_all, found);
    // Whoever came meanwhile has changed what was looked at.
    if (!held) found.holder = HolderOf(lock);
  }
  if (found.holder) found.opens = InUse(*name, *found.holder, *found.holder == ::getpid());
  return found;
}

}  // namespace

absl::StatusOr<Inspection> Inspect(const std::string& folder, const InspectOptions& options) {
  return Look(folder, options, false);
}

absl::StatusOr<Inspection> InspectUnheld(const std::string& folder, const InspectOptions& options) {
  return Look(folder, options, true);
}

}  // namespace watchbill::history
