// Export, import and backup, in C.
#include <fmt/core.h>

#include "c_handles.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/history/transfer.hpp"
#include "watchbill/history_transfer.h"

namespace history = watchbill::history;
namespace json = watchbill::json;
using history::c::Number;
using history::c::Result;
using history::c::With;
using watchbill::JsonWriter;
using watchbill::MessageOf;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::View;

struct wb_history_import {
  wb_history_import(std::shared_ptr<history::c::Shared> into, history::Store& store,
                    const history::ImportOptions& options)
      : shared(std::move(into)), importer(store, options) {}

  const std::shared_ptr<history::c::Shared> shared;
  // It looks at the store in what the functions below call with it alone.
  history::Importer importer;
};

namespace {

void WriteCounts(JsonWriter& w, const history::TransferCounts& counts) {
  w.Begin('{');
  Number(w.Key("channels"), counts.channels);
  Number(w.Key("members"), counts.members);
  Number(w.Key("messages"), counts.messages);
  Number(w.Key("commands"), counts.commands);
  Number(w.Key("records"), counts.records);
  Number(w.Key("trail"), counts.trail).End('}');
}

std::string WriteReport(const history::ExportReport& report) {
  std::string text;
  JsonWriter w(text);
  WriteCounts(w.Begin('{').Key("written"), report.written);
  Number(w.Key("unreadable"), report.unreadable).End('}');
  return text;
}

std::string WriteReport(const history::ImportReport& report) {
  std::string text;
  JsonWriter w(text);
  WriteCounts(w.Begin('{').Key("kept"), report.kept);
  WriteCounts(w.Key("replaced"), report.replaced);
  WriteCounts(w.Key("already"), report.already);
  WriteCounts(w.Key("refused"), report.refused);
  Number(w.Key("bad"), report.bad).Key("badLines").Begin('[');
  for (const history::BadLine& bad : report.bad_lines) {
    Number(w.Begin('{').Key("line"), bad.line);
    Number(w.Key("column"), bad.column).Key("what").String(bad.what).End('}');
  }
  w.End(']').Key("cut").String(report.cut).End('}');
  return text;
}

std::string WriteReport(const history::BackupReport& report) {
  std::string text;
  JsonWriter w(text);
  Number(w.Begin('{').Key("keys"), report.keys);
  Number(w.Key("bytes"), report.bytes).Key("damaged").Bool(report.damaged).End('}');
  return text;
}

template <typename Report>
int32_t GiveReport(const absl::StatusOr<Report>& report, wb_history_text** out, wb_error* err) {
  if (!report.ok()) return Fail(err, report.status());
  history::c::Give(out, WriteReport(*report));
  return WB_OK;
}

history::Sink SinkOf(wb_history_sink sink, void* user) {
  return [sink, user](std::string_view piece) {
    if (sink(user, piece.data(), piece.size()) >= 0) return absl::OkStatus();
    return absl::CancelledError("the writing was stopped by the one that it was written for");
  };
}

absl::Status ReadWords(std::string_view text, history::MarkdownWords& words) {
  if (text.empty()) return absl::OkStatus();
  json::Document document;
  if (const absl::Status status = document.Parse(text); !status.ok())
    return absl::InvalidArgumentError(fmt::format("words: {}", MessageOf(status)));
  if (!document.root().is_object()) return absl::InvalidArgumentError("words: expected an object of texts");
  const std::pair<std::string_view, std::string*> all[] = {
      {"user", &words.user},
      {"system", &words.system},
      {"direct", &words.direct},
      {"members", &words.members},
      {"id", &words.id},
      {"thought", &words.thought},
      {"tools", &words.tools},
      {"newFile", &words.new_file},
      {"plan", &words.plan},
      {"inProgress", &words.in_progress},
      {"error", &words.error},
      {"stopped", &words.stopped},
      {"agentJoined", &words.agent_joined},
      {"agentLeft", &words.agent_left},
      {"agentUnavailable", &words.agent_unavailable},
      {"noRecipient", &words.no_recipient},
      {"unreadable", &words.unreadable},
  };
  for (json::Value v = document.root().First(); !v.absent(); v = v.Next()) {
    std::string* word = nullptr;
    for (const auto& [name, place] : all) {
      if (name == v.Key()) word = place;
    }
    const auto said = v.AsString();
    if (word == nullptr || !said)
      return absl::InvalidArgumentError(fmt::format("words: \"{}\" is no word of them, or no text", v.Key()));
    *word = *said;
  }
  return absl::OkStatus();
}

}  // namespace

extern "C" {

void wb_history_export_options_init(wb_history_export_options* options) {
  *options = {};
  options->struct_size = sizeof *options;
}

int32_t wb_history_export(const wb_history* h, const wb_history_export_options* options, wb_history_sink sink,
                          void* user, wb_history_text** report, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) {
    wb_history_export_options all;
    wb_history_export_options_init(&all);
    if (options != nullptr) watchbill::c::CopyKnown(&all, *options, options->struct_size);
    const history::ExportOptions chosen{std::string(View(all.channel)), all.ledger != 0, all.trail != 0};
    return GiveReport(history::Export(store, chosen, SinkOf(sink, user)), report, err);
  });
}

void wb_history_markdown_options_init(wb_history_markdown_options* options) {
  *options = {};
  options->struct_size = sizeof *options;
}

int32_t wb_history_export_markdown(const wb_history* h, wb_str channel,
                                   const wb_history_markdown_options* options, wb_history_sink sink,
                                   void* user, wb_history_text** report, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    wb_history_markdown_options all;
    wb_history_markdown_options_init(&all);
    if (options != nullptr) watchbill::c::CopyKnown(&all, *options, options->struct_size);
    history::MarkdownOptions chosen;
    chosen.thoughts = all.thoughts != 0;
    if (absl::Status status = ReadWords(View(all.words), chosen.words); !status.ok())
      return Fail(err, status);
    return GiveReport(history::ExportMarkdown(store, View(channel), chosen, SinkOf(sink, user)), report, err);
  });
}

void wb_history_import_options_init(wb_history_import_options* options) {
  *options = {};
  options->struct_size = sizeof *options;
}

int32_t wb_history_import_new(wb_history* h, const wb_history_import_options* options,
                              wb_history_import** out, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) -> int32_t {
    wb_history_import_options all;
    wb_history_import_options_init(&all);
    if (options != nullptr) watchbill::c::CopyKnown(&all, *options, options->struct_size);
    *out = new wb_history_import(h->shared, store, {all.strict != 0, all.replace != 0});
    return WB_OK;
  });
}

int32_t wb_history_import_feed(wb_history_import* i, wb_str bytes, wb_error* err) {
  return With(i->shared, err, [&](history::Store&) { return Result(err, i->importer.Feed(View(bytes))); });
}

int32_t wb_history_import_end(wb_history_import* i, wb_error* err) {
  return With(i->shared, err, [&](history::Store&) { return Result(err, i->importer.End()); });
}

int32_t wb_history_import_report(const wb_history_import* i, wb_history_text** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    history::c::Give(out, WriteReport(i->importer.report()));
    return WB_OK;
  });
}

void wb_history_import_progress(const wb_history_import* i, uint64_t* lines, uint64_t* bytes) {
  const history::Importer::Progress progress = i->importer.progress();
  if (lines != nullptr) *lines = progress.lines;
  if (bytes != nullptr) *bytes = progress.bytes;
}

void wb_history_import_free(wb_history_import* import) { delete import; }

int32_t wb_history_backup(const wb_history* h, wb_str folder, wb_history_progress progress, void* user,
                          wb_history_text** report, wb_error* err) {
  return With(h->shared, err, [&](history::Store& store) {
    history::BackupProgress told;
    if (progress != nullptr)
      told = [&](uint64_t done, uint64_t about) { return progress(user, done, about) >= 0; };
    return GiveReport(history::Backup(store, std::string(View(folder)), told), report, err);
  });
}

}  // extern "C"
