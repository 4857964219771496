// What is written, in C. JSON comes in: what of it would be lost is refused.
#include <fmt/core.h>

#include <optional>

#include "c_handles.hpp"
#include "json.hpp"
#include "watchbill/base/now.hpp"
#include "watchbill/base/status.hpp"

namespace history = watchbill::history;
namespace json = watchbill::json;
using history::c::Result;
using watchbill::JsonWriter;
using watchbill::MessageOf;
using watchbill::c::Guard;
using watchbill::c::View;

namespace watchbill::history::c {
namespace {

constexpr size_t kMostShown = 60;

// What was given and is not in what is kept of it.
struct Lost {
  std::string place;
  json::Value given;
};

bool IsSame(const json::Value& given, const json::Value& kept, std::string_view place) {
  if (given.kind() != kept.kind()) return false;
  if (given.kind() == json::Kind::kNumber && given.AsInt()) return given.AsInt() == kept.AsInt();
  if (place != "createdAt" || given.kind() != json::Kind::kString) return false;
  // A moment may be written in several ways.
  const auto moment = WallMsFromIso(*given.AsString());
  return moment && moment == WallMsFromIso(*kept.AsString());
}

std::optional<Lost> FirstLost(const json::Value& given, const json::Value& kept, const std::string& place) {
  if (given.text() == kept.text()) return std::nullopt;
  if (given.is_object() && kept.is_object()) {
    for (json::Value v = given.First(); !v.absent(); v = v.Next()) {
      if (v.kind() == json::Kind::kNull) continue;
      const std::string name = fmt::format("{}{}{}", place, place.empty() ? "" : ".", v.Key());
      if (auto lost = FirstLost(v, kept[v.Key()], name)) return lost;
    }
    return std::nullopt;
  }
  if (given.kind() == json::Kind::kArray && kept.kind() == json::Kind::kArray) {
    // One that is not known is left out: the next one stands in its place, or nothing.
    json::Value other = kept.First();
    size_t index = 0;
    for (json::Value v = given.First(); !v.absent(); v = v.Next(), other = other.Next(), ++index) {
      if (auto lost = FirstLost(v, other, fmt::format("{}[{}]", place, index))) return lost;
    }
    return std::nullopt;
  }
  if (IsSame(given, kept, place)) return std::nullopt;
  return Lost{place, given};
}

std::string Shown(const json::Value& value) {
  std::string_view text = value.text().text();
  if (text.size() <= kMostShown) return std::string(text);
  size_t end = kMostShown;
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("{}...", text.substr(0, end));
}

}  // namespace

absl::Status CheckNothingIsLost(wb_history_batch* batch, std::string_view what) {
  if (absl::Status status = batch->kept.Parse(batch->text); !status.ok()) return status;
  const std::optional<Lost> lost = FirstLost(batch->given.root(), batch->kept.root(), {});
  if (!lost) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{}: {} is {}, and would be lost: it is not known by this name, or as this kind or value",
                  what, lost->place, Shown(lost->given)));
}

absl::StatusOr<JsonView> AnyJson(wb_history_batch* batch, wb_str text, std::string_view what) {
  if (const absl::Status status = batch->given.Parse(View(text)); !status.ok())
    return absl::InvalidArgumentError(fmt::format("{}: {}", what, MessageOf(status)));
  return batch->given.root().text();
}

}  // namespace watchbill::history::c

namespace {

// Reads, makes sure that all of it was, and puts.
template <typename Read, typename Put>
int32_t PutWhole(wb_history_batch* b, wb_error* err, std::string_view what, const Read& read,
                 const Put& put) {
  return Guard(err, [&]() -> int32_t {
    const auto thing = read();
    if (!thing.ok()) return Result(err, thing.status());
    b->text.clear();
    JsonWriter w(b->text);
    history::Write(w, *thing);
    if (absl::Status status = history::c::CheckNothingIsLost(b, what); !status.ok())
      return Result(err, status);
    return Result(err, put(*thing));
  });
}

}  // namespace

extern "C" {

int32_t wb_history_batch_new(wb_history_batch** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return *out = new wb_history_batch, WB_OK; });
}

void wb_history_batch_free(wb_history_batch* batch) { delete batch; }

int32_t wb_history_batch_put_message(wb_history_batch* b, wb_str message, wb_error* err) {
  return PutWhole(
      b, err, "message", [&] { return history::ReadMessage(b->given, View(message)); },
      [&](const history::Message& read) { return b->batch.Put(read); });
}

int32_t wb_history_batch_put_channel(wb_history_batch* b, wb_str channel, wb_error* err) {
  return PutWhole(
      b, err, "channel", [&] { return history::ReadChannel(b->given, View(channel)); },
      [&](const history::Channel& read) { return b->batch.Put(read); });
}

int32_t wb_history_batch_put_member(wb_history_batch* b, wb_str channel, wb_str member, wb_error* err) {
  return PutWhole(
      b, err, "member", [&] { return history::ReadMember(b->given, View(member)); },
      [&](const history::Member& read) { return b->batch.Put(View(channel), read); });
}

int32_t wb_history_batch_put_commands(wb_history_batch* b, wb_str agent, wb_str commands, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    const auto json = history::c::AnyJson(b, commands, "commands");
    if (!json.ok()) return Result(err, json.status());
    return Result(err, b->batch.PutCommands(View(agent), *json));
  });
}

int32_t wb_history_batch_append(wb_history_batch* b, const wb_history_batch* more, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    if (b == more) {
      return watchbill::c::Fail(err, absl::StatusCode::kInvalidArgument,
                                "a batch cannot be put behind itself");
    }
    return b->batch.Append(more->batch), WB_OK;
  });
}

int32_t wb_history_batch_clear(wb_history_batch* b, wb_error* err) {
  return Guard(err, [&]() -> int32_t { return b->batch = history::Batch(), WB_OK; });
}

uint64_t wb_history_batch_bytes(const wb_history_batch* b) { return b->batch.bytes(); }

}  // extern "C"
