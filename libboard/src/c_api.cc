#include "c_handle.hpp"
#include "watchbill/base/c_support.hpp"
#include "watchbill/board.h"

namespace bd = watchbill::board;
using watchbill::c::Fail;
using watchbill::c::Guard;
using watchbill::c::Str;
using watchbill::c::Time;

namespace {

bd::OptText Opt(wb_str s) { return s.data == nullptr ? bd::OptText() : bd::OptText(watchbill::c::View(s)); }
std::optional<int64_t> Opt(int64_t n) { return n < 0 ? std::nullopt : std::optional(n); }

int32_t ApplyTo(wb_board* board, const bd::Event& event, wb_now now, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    board->Apply(event, Time(now));
    return WB_OK;
  });
}

}  // namespace

extern "C" {

void wb_board_options_init(wb_board_options* options) {
  const bd::BoardOptions defaults;
  options->struct_size = sizeof *options;
  options->push_every_ms = static_cast<uint32_t>(defaults.push_every_ns / watchbill::kMillisecond);
  options->here = {nullptr, 0};
  options->settling_ms = defaults.settling_ns / watchbill::kMillisecond;
}

void wb_board_agent_init(wb_board_agent* agent) {
  *agent = wb_board_agent{};
  agent->struct_size = sizeof *agent;
  agent->pid = agent->port = -1;
}

int32_t wb_board_new(const wb_board_options* options, wb_now start, wb_board** out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    wb_board_options all;
    wb_board_options_init(&all);
    if (options != nullptr) watchbill::c::CopyKnown(&all, *options, options->struct_size);
    if (all.settling_ms < 0) return Fail(err, absl::StatusCode::kInvalidArgument, "settling_ms is 0 or more");
    bd::BoardOptions chosen;
    chosen.here = watchbill::c::View(all.here);
    chosen.push_every_ns = all.push_every_ms * watchbill::kMillisecond;
    chosen.settling_ns = all.settling_ms * watchbill::kMillisecond;
    *out = new wb_board(std::move(chosen), Time(start));
    return WB_OK;
  });
}

void wb_board_free(wb_board* board) { delete board; }

int32_t wb_board_agent_registered(wb_board* board, uint64_t connection, const wb_board_agent* agent,
                                  wb_now now, wb_error* err) {
  if (connection == 0) return Fail(err, absl::StatusCode::kInvalidArgument, "a connection's number is not 0");
  wb_board_agent all;
  wb_board_agent_init(&all);
  watchbill::c::CopyKnown(&all, *agent, agent->struct_size);
  bd::AgentRegistered e;
  e.connection = connection;
  e.id = Opt(all.id);
  e.name = Opt(all.name);
  e.version = Opt(all.version);
  e.host = Opt(all.host);
  e.cwd = Opt(all.cwd);
  e.protocol = Opt(all.protocol);
  e.pid = Opt(all.pid);
  e.port = Opt(all.port);
  return ApplyTo(board, e, now, err);
}

int32_t wb_board_agent_heard(wb_board* board, uint64_t connection, wb_now now, wb_error* err) {
  return ApplyTo(board, bd::AgentHeard{connection}, now, err);
}
int32_t wb_board_agent_closed(wb_board* board, uint64_t connection, wb_now now, wb_error* err) {
  return ApplyTo(board, bd::AgentClosed{connection}, now, err);
}
int32_t wb_board_watcher_joined(wb_board* board, uint64_t watcher, wb_now now, wb_error* err) {
  return ApplyTo(board, bd::WatcherJoined{watcher}, now, err);
}
int32_t wb_board_watcher_named(wb_board* board, uint64_t watcher, int32_t rows, wb_now now, wb_error* err) {
  return ApplyTo(board, bd::WatcherNamed{watcher, rows != 0}, now, err);
}
int32_t wb_board_watcher_drained(wb_board* board, uint64_t watcher, wb_now now, wb_error* err) {
  return ApplyTo(board, bd::WatcherDrained{watcher}, now, err);
}
int32_t wb_board_watcher_left(wb_board* board, uint64_t watcher, wb_now now, wb_error* err) {
  return ApplyTo(board, bd::WatcherLeft{watcher}, now, err);
}

int32_t wb_board_tick(wb_board* board, wb_now now, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    bd::Actions fresh;
    board->board.Tick(Time(now), fresh);
    for (auto& action : fresh) board->actions.push_back(std::move(action));
    return WB_OK;
  });
}

int64_t wb_board_deadline(const wb_board* board) { return board->board.Deadline(); }

int32_t wb_board_next_action(wb_board* board, wb_board_action* out) {
  if (board->actions.empty()) return 1;
  board->current = std::move(board->actions.front());
  board->actions.pop_front();
  wb_board_action filled{};
  if (const auto* push = std::get_if<bd::Push>(&board->current)) {
    filled.kind = WB_BOARD_PUSH;
    filled.watchers = push->to.data();
    filled.watcher_count = push->to.size();
    filled.bytes = Str(std::string_view(*push->bytes));
  } else if (const auto* ping = std::get_if<bd::PingAgent>(&board->current)) {
    filled.kind = WB_BOARD_PING;
    filled.connection = ping->connection;
  } else if (const auto* drop = std::get_if<bd::DropAgent>(&board->current)) {
    filled.kind = WB_BOARD_DROP;
    filled.connection = drop->connection;
  } else if (const auto* copy = std::get_if<bd::TellDuplicate>(&board->current)) {
    filled.kind = WB_BOARD_DUPLICATE;
    filled.connection = copy->connection;
  } else if (const auto* back = std::get_if<bd::TellMayReturn>(&board->current)) {
    filled.kind = WB_BOARD_MAY_RETURN;
    filled.connection = back->connection;
  }
  watchbill::c::CopyKnown(out, filled, out->struct_size);
  return WB_OK;
}

int32_t wb_board_frame(wb_board* board, wb_now now, wb_str* out, wb_error* err) {
  return Guard(err, [&]() -> int32_t {
    board->frame = board->board.Frame(Time(now));
    *out = Str(std::string_view(board->frame));
    return WB_OK;
  });
}

size_t wb_board_rows(const wb_board* board) { return board->board.rows(); }

}  // extern "C"
