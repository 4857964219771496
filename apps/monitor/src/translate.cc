#include "translate.hpp"

namespace watchbill::monitor {
namespace {

namespace mp = monitorproto;

board::Event From(board::ConnectionId c, const mp::Register& f) {
  board::AgentRegistered e;
  e.connection = c;
  e.id = f.id;
  e.name = f.name;
  e.version = f.version;
  e.host = f.host;
  e.cwd = f.cwd;
  e.protocol = f.protocol;
  e.pid = f.pid;
  e.port = f.port;
  if (f.capabilities) e.capabilities = *f.capabilities;
  return e;
}

void FillRun(board::RunEntered& e, board::ConnectionId c, const mp::Run& f) {
  e.connection = c;
  e.run_id = f.run_id;
  e.parent_run_id = f.parent_run_id;
  e.agent = f.agent;
  e.started_by = f.started_by;
  e.trigger_id = f.trigger_id;
  e.thread = f.thread;
  e.at = f.at;
}

board::Event From(board::ConnectionId c, const mp::Run& f) {
  if (f.phase == mp::Run::Phase::kEnter) {
    board::RunEntered e;
    FillRun(e, c, f);
    return e;
  }
  board::RunExited e;
  FillRun(e, c, f);
  e.duration_ms = f.duration_ms;
  e.outcome = f.outcome;
  e.ok = f.ok;
  e.error = f.error;
  e.failure = f.failure;
  e.node = f.node;
  e.answered = f.answered;
  return e;
}

board::Event From(board::ConnectionId c, const mp::Log& f) {
  board::LogArrived e;
  e.connection = c;
  e.entry = f.entry;
  e.dropped = f.dropped;
  e.id = f.facts.id;
  e.kind = f.facts.kind;
  e.at = f.facts.at;
  e.name = f.facts.name;
  e.run_id = f.facts.run_id;
  e.parent_run_id = f.facts.parent_run_id;
  e.started_by = f.facts.started_by;
  e.agent = f.facts.agent;
  e.ok = f.facts.ok;
  e.duration_ms = f.facts.duration_ms;
  e.tokens = f.facts.tokens;
  e.cost = f.facts.cost;
  return e;
}

board::Event From(board::ConnectionId c, const mp::Leaving&) { return board::AgentLeft{c}; }
board::Event From(board::ConnectionId c, const mp::Ok&) { return board::AgentHeard{c}; }
board::Event From(board::ConnectionId c, const mp::Error&) { return board::AgentHeard{c}; }
board::Event From(board::ConnectionId c, const mp::UnknownFrame&) { return board::AgentHeard{c}; }

}  // namespace

board::Event EventFor(board::ConnectionId connection, const mp::AgentFrame& frame) {
  return std::visit([&](const auto& f) { return From(connection, f); }, frame);
}

std::optional<board::Event> EventFor(board::ConnectionId connection, const mp::RunnerFrame& frame) {
  if (const auto* f = std::get_if<mp::RunnerRegister>(&frame)) {
    return board::RunnerRegistered{connection, f->host, f->pid};
  }
  if (const auto* f = std::get_if<mp::RunnerStarted>(&frame)) {
    return board::FolderStarted{connection, f->folder, f->again, f->at};
  }
  return std::nullopt;
}

}  // namespace watchbill::monitor
