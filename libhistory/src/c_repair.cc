// What can be done about a folder that nobody has open, in C.
#include "c_handles.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/history/repair.hpp"
#include "watchbill/history_transfer.h"

namespace history = watchbill::history;
using history::c::Number;
using watchbill::JsonWriter;
using watchbill::MessageOf;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::View;

namespace {

void WriteRecords(JsonWriter& w, const history::RecordReport& records) {
  w.Begin('{');
  const auto kind = [&](std::string_view name, const history::Readability& of) {
    Number(w.Key(name).Begin('{').Key("readable"), of.readable);
    Number(w.Key("unreadable"), of.unreadable).End('}');
  };
  kind("channels", records.channels);
  kind("messages", records.messages);
  kind("members", records.members);
  kind("commands", records.commands);
  kind("deletions", records.deletions);
  kind("records", records.records);
  kind("trail", records.trail);
  kind("orders", records.orders);
  kind("index", records.index);
  kind("others", records.others);
  w.End('}');
}

void WriteSalvage(JsonWriter& w, const history::SalvageReport& report) {
  Number(w.Begin('{').Key("files"), report.files);
  Number(w.Key("bytes"), report.bytes).Key("troubles").Begin('[');
  for (const std::string& trouble : report.troubles) w.String(trouble);
  WriteRecords(w.End(']').Key("records"), report.records);
  Number(w.Key("deleted"), report.deleted).Key("trail");
  if (report.trail) {
    history::c::Write(w, *report.trail);
  } else {
    w.Null();
  }
  w.End('}');
}

std::string WriteInspection(const history::Inspection& found, bool read_all) {
  std::string text;
  JsonWriter w(text);
  w.Begin('{').Key("there").Bool(found.there).Key("history").Bool(found.history);
  Number(w.Key("files"), found.files);
  Number(w.Key("bytes"), found.bytes);
  Number(w.Key("tables"), found.tables);
  Number(w.Key("logs"), found.logs);
  Number(w.Key("logBytes"), found.log_bytes).Key("others").Begin('[');
  for (const std::string& other : found.others) w.String(other);
  w.End(']').Key("format").OptInt(found.format).Key("holder").OptInt(found.holder);
  w.Key("opens").Begin('{').Key("code").Int(static_cast<int64_t>(found.opens.code()));
  w.Key("text").String(MessageOf(found.opens)).End('}').Key("damaged").Bool(found.damaged).Key("records");
  if (read_all && found.opens.ok()) {
    WriteRecords(w, found.records);
  } else {
    w.Null();
  }
  w.End('}');
  return text;
}

}  // namespace

extern "C" {

int32_t wb_history_inspect(wb_str folder, int32_t read_all, wb_history_text** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    if (absl::Status status = history::c::CheckProcess(); !status.ok()) return Fail(err, status);
    const auto found = history::Inspect(std::string(View(folder)), {.read_all = read_all != 0});
    if (!found.ok()) return Fail(err, found.status());
    history::c::Give(out, WriteInspection(*found, read_all != 0));
    return WB_OK;
  });
}

int32_t wb_history_salvage(wb_str folder, wb_str into, wb_history_text** report, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    if (absl::Status status = history::c::CheckProcess(); !status.ok()) return Fail(err, status);
    const auto made = history::Salvage(std::string(View(folder)), std::string(View(into)));
    if (!made.ok()) return Fail(err, made.status());
    std::string text;
    JsonWriter w(text);
    WriteSalvage(w, *made);
    history::c::Give(report, std::move(text));
    return WB_OK;
  });
}

int32_t wb_history_repair(wb_str folder, wb_history_text** report, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    if (absl::Status status = history::c::CheckProcess(); !status.ok()) return Fail(err, status);
    const auto made = history::Repair(std::string(View(folder)));
    if (!made.ok()) return Fail(err, made.status());
    std::string text;
    JsonWriter w(text);
    w.Begin('{').Key("needed").Bool(made->needed).Key("why").String(made->why);
    WriteSalvage(w.Key("copy").String(made->copy).Key("salvage"), made->salvage);
    w.End('}');
    history::c::Give(report, std::move(text));
    return made->needed ? WB_OK : 1;
  });
}

}  // extern "C"
