#include "watchbill/monitorproto/decoder.hpp"

#include <fmt/core.h>

#include "entry.hpp"
#include "json_document.hpp"
#include "watchbill/base/json_writer.hpp"

namespace watchbill::monitorproto {
namespace {

absl::Status Missing(std::string_view type, std::string_view member, std::string_view expected) {
  return absl::InvalidArgumentError(fmt::format("a {} frame needs `{}`: {}", type, member, expected));
}

// Empty text is as good as none where a name is meant.
OptText NonEmpty(const json::Value& value) {
  const OptText text = value.AsString();
  return text && !text->empty() ? text : std::nullopt;
}

Register ReadRegister(const json::Value& agent) {
  Register f;
  f.id = NonEmpty(agent["id"]);
  f.name = NonEmpty(agent["name"]);
  f.version = agent["version"].AsString();
  f.host = NonEmpty(agent["host"]);
  f.cwd = NonEmpty(agent["cwd"]);
  f.protocol = agent["protocol"].AsString();
  f.pid = agent["pid"].AsInt();
  f.port = agent["port"].AsInt();
  if (agent["inputs"].kind() == json::Kind::kArray) f.inputs = agent["inputs"].text();
  if (agent["outputs"].kind() == json::Kind::kArray) f.outputs = agent["outputs"].text();
  if (const json::Value words = agent["capabilities"]; words.kind() == json::Kind::kArray) {
    f.capabilities.emplace();
    for (json::Value word = words.First(); !word.absent(); word = word.Next()) {
      if (const auto text = word.AsString()) f.capabilities->push_back(*text);
    }
  }
  return f;
}

absl::StatusOr<Run> ReadRun(const json::Value& root) {
  Run f;
  const OptText phase = root["phase"].AsString();
  if (phase == "enter") {
    f.phase = Run::Phase::kEnter;
  } else if (phase == "exit") {
    f.phase = Run::Phase::kExit;
  } else {
    return Missing("run", "phase", "enter or exit");
  }
  const OptText run_id = NonEmpty(root["runId"]);
  if (!run_id) return Missing("run", "runId", "a text");
  f.run_id = *run_id;
  f.parent_run_id = NonEmpty(root["parentRunId"]);
  f.agent = NonEmpty(root["agent"]);
  f.started_by = NonEmpty(root["startedBy"]);
  f.trigger_id = NonEmpty(root["triggerId"]);
  f.thread = NonEmpty(root["thread"]);
  f.at = root["at"].AsString();
  f.duration_ms = root["durationMs"].AsInt();
  if (!f.duration_ms) {
    if (const auto fraction = root["durationMs"].AsDouble(); fraction && *fraction >= 0 && *fraction < 1e15) {
      f.duration_ms = static_cast<int64_t>(*fraction);
    }
  }
  f.outcome = NonEmpty(root["outcome"]);
  f.ok = root["ok"].AsBool();
  f.error = root["error"].AsString();
  f.failure = NonEmpty(root["failure"]);
  f.node = NonEmpty(root["node"]);
  f.answered = root["answered"].AsBool();
  if (root["chain"].kind() == json::Kind::kArray) f.chain = root["chain"].text();
  return f;
}

absl::StatusOr<Log> ReadLog(const json::Value& root) {
  Log f;
  const json::Value entry = root["entry"];
  if (entry.is_object()) {
    f.entry = entry.text();
    f.facts = FactsOf(entry);
  }
  if (const auto dropped = root["dropped"].AsInt(); dropped && *dropped > 0 && *dropped < 1'000'000'000'000) {
    f.dropped = dropped;
  }
  if (f.entry.absent() && !f.dropped) return Missing("log", "entry", "an object, or `dropped` with a number");
  return f;
}

}  // namespace

struct Decoder::State {
  explicit State(const Limits& limits) : document({.bytes = limits.bytes, .depth = limits.depth}) {}

  // The frame's object, or why it is none.
  absl::StatusOr<json::Value> Read(std::string_view text) {
    if (absl::Status status = document.Parse(text); !status.ok()) return status;
    const json::Value root = document.root();
    if (!root.is_object())
      return absl::InvalidArgumentError("a frame is a JSON object; this is another value");
    if (!root["type"].AsString()) return absl::InvalidArgumentError("a frame needs `type`: a text");
    return root;
  }

  // What an answer holds beside its own members: the object as it came, without them.
  JsonView Rest(const json::Value& root) {
    rest.clear();
    JsonWriter w(rest);
    w.Begin('{');
    for (json::Value member = root.First(); !member.absent(); member = member.Next()) {
      const std::string_view key = member.Key();
      if (key == "type" || key == "at" || key == "ask" || key == "of" || key == "error") continue;
      w.Key(key).Json(member.text());
    }
    w.End('}');
    return JsonView::Trusted(rest);
  }

  // `ok` and `error`, the same on every socket. An answer without `ask` answers nothing.
  template <typename Frame>
  absl::StatusOr<Frame> ReadAnswer(const json::Value& root, std::string_view type) {
    const OptText ask = root["ask"].AsString();
    if (!ask) return Missing(type, "ask", "the text that the question carried");
    const OptText of = root["of"].AsString();
    if (type == "ok") return Frame(Ok{*ask, of, Rest(root)});
    const OptText sentence = root["error"].AsString();
    return Frame(Error{*ask, of, sentence.value_or("It could not, and did not say why."), Rest(root)});
  }

  json::Document document;
  std::string rest;
};

Decoder::Decoder(Limits limits) : state_(std::make_unique<State>(limits)) {}
Decoder::~Decoder() = default;

OptText Decoder::at() const { return state_->document.root()["at"].AsString(); }

absl::StatusOr<AgentFrame> Decoder::ReadAgent(std::string_view text) {
  const auto read = state_->Read(text);
  if (!read.ok()) return read.status();
  const json::Value& root = *read;
  const Text type = *root["type"].AsString();
  if (type == "log") {
    auto frame = ReadLog(root);
    if (!frame.ok()) return frame.status();
    return AgentFrame(*frame);
  }
  if (type == "run") {
    auto frame = ReadRun(root);
    if (!frame.ok()) return frame.status();
    return AgentFrame(*frame);
  }
  if (type == "register") {
    const json::Value agent = root["agent"];
    if (!agent.is_object()) return Missing(type, "agent", "an object");
    return AgentFrame(ReadRegister(agent));
  }
  if (type == "leaving") return AgentFrame(Leaving{});
  if (type == "ok" || type == "error") return state_->ReadAnswer<AgentFrame>(root, type);
  return AgentFrame(UnknownFrame{type, root["ask"].AsString()});
}

absl::StatusOr<AgentCommand> Decoder::ReadAgentCommand(std::string_view text) {
  const auto read = state_->Read(text);
  if (!read.ok()) return read.status();
  const Text type = *(*read)["type"].AsString();
  const OptText ask = (*read)["ask"].AsString();
  if (type == "terminate" && ask) return AgentCommand(Terminate{*ask});
  if (type == "duplicate") return AgentCommand(Duplicate{});
  if (type == "may-return") return AgentCommand(MayReturn{});
  return AgentCommand(UnknownFrame{type, ask});
}

absl::StatusOr<RunnerFrame> Decoder::ReadRunner(std::string_view text) {
  const auto read = state_->Read(text);
  if (!read.ok()) return read.status();
  const json::Value& root = *read;
  const Text type = *root["type"].AsString();
  if (type == "register") {
    const json::Value runner = root["runner"];
    const OptText host = NonEmpty(runner["host"]);
    if (!host) return Missing(type, "runner.host", "the machine's name");
    return RunnerFrame(RunnerRegister{*host, runner["pid"].AsInt(), runner["version"].AsString()});
  }
  if (type == "started") {
    const OptText folder = NonEmpty(root["folder"]);
    if (!folder) return Missing(type, "folder", "a path");
    return RunnerFrame(RunnerStarted{*folder, root["at"].AsString(), root["again"].AsBool().value_or(false)});
  }
  if (type == "ok" || type == "error") return state_->ReadAnswer<RunnerFrame>(root, type);
  return RunnerFrame(UnknownFrame{type, root["ask"].AsString()});
}

absl::StatusOr<RunnerCommand> Decoder::ReadRunnerCommand(std::string_view text) {
  const auto read = state_->Read(text);
  if (!read.ok()) return read.status();
  const json::Value& root = *read;
  const Text type = *root["type"].AsString();
  const OptText ask = root["ask"].AsString();
  if ((type == "start" || type == "kill") && ask) {
    const Text folder = root["folder"].AsString().value_or("");
    if (type == "start") return RunnerCommand(RunnerStart{*ask, folder});
    return RunnerCommand(RunnerKill{*ask, folder});
  }
  return RunnerCommand(UnknownFrame{type, ask});
}

absl::StatusOr<DashboardFrame> Decoder::ReadDashboard(std::string_view text) {
  const auto read = state_->Read(text);
  if (!read.ok()) return read.status();
  const json::Value& root = *read;
  const Text type = *root["type"].AsString();
  if (type == "watch") {
    Watch watch;
    for (json::Value word = root["capabilities"].First(); !word.absent(); word = word.Next()) {
      if (const auto name = word.AsString()) watch.capabilities.push_back(*name);
    }
    return DashboardFrame(std::move(watch));
  }
  return DashboardFrame(DashboardCommand{type, root["id"].AsString(), root["ask"].text()});
}

}  // namespace watchbill::monitorproto
