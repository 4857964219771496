#include "watchbill/monitorproto/encode.hpp"

#include "json_document.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/now.hpp"

namespace watchbill::monitorproto {
namespace {

// Opens the frame, lets `rest` write its members, closes it.
template <typename Rest>
std::string Frame(std::string_view type, std::string_view at, const Rest& rest) {
  std::string out;
  JsonWriter w(out);
  w.Begin('{').Key("at").String(at).Key("type").String(type);
  rest(w);
  w.End('}');
  return out;
}

template <typename Rest>
std::string Frame(std::string_view type, int64_t at_ms, const Rest& rest) {
  return Frame(type, IsoFromWallMs(at_ms), rest);
}

// The members of an object, as members of the frame. Names the frame has already are the frame's.
void Spread(JsonWriter& w, JsonView object) {
  if (object.absent()) return;
  json::Document document({.bytes = SIZE_MAX, .depth = 64});
  if (!document.Parse(object.text()).ok()) return;
  for (auto member = document.root().First(); !member.absent(); member = member.Next()) {
    const auto key = member.Key();
    if (key == "type" || key == "at" || key == "ask" || key == "of" || key == "ok" || key == "error")
      continue;
    w.Key(key).Json(member.text());
  }
}

}  // namespace

std::string Encode(const Register& f, int64_t at_ms) {
  return Frame("register", at_ms, [&](JsonWriter& w) {
    w.Key("agent").Begin('{').Key("type").String("agent").Key("id").OptString(f.id);
    w.Field("name", f.name).Field("version", f.version).Field("inputs", f.inputs).Field("outputs", f.outputs);
    w.Field("pid", f.pid).Field("port", f.port).Field("host", f.host).Field("cwd", f.cwd);
    w.Field("protocol", f.protocol);
    if (f.capabilities) {
      w.Key("capabilities").Begin('[');
      for (const Text word : *f.capabilities) w.String(word);
      w.End(']');
    }
    w.End('}');
  });
}

std::string Encode(const Run& f, int64_t at_ms) {
  const std::string stamp = f.at ? std::string(*f.at) : IsoFromWallMs(at_ms);
  return Frame("run", stamp, [&](JsonWriter& w) {
    w.Key("phase").String(f.phase == Run::Phase::kEnter ? "enter" : "exit");
    w.Key("runId").String(f.run_id).Field("parentRunId", f.parent_run_id).Field("agent", f.agent);
    w.Field("startedBy", f.started_by).Field("triggerId", f.trigger_id).Field("thread", f.thread);
    w.Field("durationMs", f.duration_ms).Field("outcome", f.outcome).Field("ok", f.ok);
    w.Field("error", f.error).Field("failure", f.failure).Field("node", f.node);
    w.Field("answered", f.answered).Field("chain", f.chain);
  });
}

std::string Encode(const Log& f, int64_t at_ms) {
  return Frame("log", at_ms, [&](JsonWriter& w) { w.Field("entry", f.entry).Field("dropped", f.dropped); });
}

std::string Encode(const Leaving&, int64_t at_ms) {
  return Frame("leaving", at_ms, [](JsonWriter&) {});
}

std::string Encode(const Ok& f, int64_t at_ms) {
  return Frame("ok", at_ms, [&](JsonWriter& w) {
    w.Field("of", f.of).Key("ask").String(f.ask);
    Spread(w, f.rest);
  });
}

std::string Encode(const Error& f, int64_t at_ms) {
  return Frame("error", at_ms, [&](JsonWriter& w) {
    w.Field("of", f.of).Key("ask").String(f.ask).Key("error").String(f.error);
    Spread(w, f.rest);
  });
}

std::string Encode(const Terminate& f, int64_t at_ms) {
  return Frame("terminate", at_ms, [&](JsonWriter& w) { w.Key("ask").String(f.ask); });
}
std::string Encode(const Duplicate&, int64_t at_ms) {
  return Frame("duplicate", at_ms, [](JsonWriter&) {});
}
std::string Encode(const MayReturn&, int64_t at_ms) {
  return Frame("may-return", at_ms, [](JsonWriter&) {});
}

std::string Encode(const RunnerRegister& f, int64_t at_ms) {
  return Frame("register", at_ms, [&](JsonWriter& w) {
    w.Key("runner")
        .Begin('{')
        .Key("host")
        .String(f.host)
        .Field("pid", f.pid)
        .Field("version", f.version)
        .End('}');
  });
}
std::string Encode(const RunnerStarted& f, int64_t at_ms) {
  const std::string stamp = f.at ? std::string(*f.at) : IsoFromWallMs(at_ms);
  return Frame("started", stamp, [&](JsonWriter& w) {
    w.Key("folder").String(f.folder);
    if (f.again) w.Key("again").Bool(true);
  });
}
std::string Encode(const RunnerStart& f, int64_t at_ms) {
  return Frame("start", at_ms,
               [&](JsonWriter& w) { w.Key("ask").String(f.ask).Key("folder").String(f.folder); });
}
std::string Encode(const RunnerKill& f, int64_t at_ms) {
  return Frame("kill", at_ms,
               [&](JsonWriter& w) { w.Key("ask").String(f.ask).Key("folder").String(f.folder); });
}

std::string Encode(const Watch& f, int64_t at_ms) {
  return Frame("watch", at_ms, [&](JsonWriter& w) {
    w.Key("capabilities").Begin('[');
    for (const Text word : f.capabilities) w.String(word);
    w.End(']');
  });
}
std::string Encode(const DashboardCommand& f, int64_t at_ms) {
  return Frame(f.type, at_ms, [&](JsonWriter& w) { w.Field("id", f.id).Field("ask", f.ask); });
}
std::string Encode(const Did& f, int64_t at_ms) {
  return Frame("did", at_ms, [&](JsonWriter& w) {
    w.Key("of")
        .String(f.of)
        .Field("id", f.id)
        .Field("ask", f.ask)
        .Key("ok")
        .Bool(f.ok)
        .Field("error", f.error);
    if (f.code) {
      w.Key("code").String(*f.code).Key("args").Begin('{');
      if (!f.arg_key.empty()) w.Key(f.arg_key).String(f.arg_value);
      w.End('}');
    }
    Spread(w, f.rest);
  });
}
std::string Encode(const UnknownFrame& f, int64_t at_ms) {
  return Frame(f.type, at_ms, [&](JsonWriter& w) { w.Field("ask", f.ask); });
}
std::string EncodeSignIn(int64_t at_ms) {
  return Frame("signIn", at_ms, [](JsonWriter&) {});
}

}  // namespace watchbill::monitorproto
