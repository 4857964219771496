// What pages are told.
#include <utility>

#include "channels_impl.hpp"
#include "watchbill/base/json_writer.hpp"

namespace watchbill::channels {

using history::Message;

void Write(JsonWriter& w, const OpenPermission& p) {
  w.Begin('{').Key("id").String(p.id).Key("channel").String(p.channel).Key("agent").String(p.agent);
  w.Key("messageId").String(p.message).Key("toolCall");
  Write(w, p.tool);
  w.Key("options").Begin('[');
  for (const OpenPermission::Option& o : p.options) {
    w.Begin('{').Key("optionId").String(o.id).Key("name").String(o.name).Key("kind").String(o.kind).End('}');
  }
  w.End(']').Key("rejections").Int(p.rejections).End('}');
}

void Channels::Send(std::string_view event, std::string params, Outcome& out) {
  Flush(out);  // in the order in which things happened
  out.actions.push_back(Emit{event, std::move(params)});
}

void Channels::Flush(Outcome& out) {
  const auto pending = std::exchange(pending_, nullptr);
  if (pending == nullptr) return;
  std::string params;
  JsonWriter w(params);
  w.Begin('{').Key("channel").String(pending->channel).Key("messageId").String(pending->message);
  w.Key("index")
      .Int(static_cast<int64_t>(pending->index))
      .Key("kind")
      .String(pending->thought ? "thought" : "text");
  w.Key("text").String(pending->text).End('}');
  out.actions.push_back(Emit{"message:delta", std::move(params)});
}

void Channels::ShowPart(State& state, size_t index, Outcome& out) {
  const history::Part& part = state.turn->answer.parts[index];
  std::string params;
  JsonWriter w(params);
  w.Begin('{').Key("channel").String(state.channel.id).Key("messageId").String(state.turn->answer.id);
  w.Key("index").Int(static_cast<int64_t>(index));
  w.Key("kind").String(std::holds_alternative<history::PlanPart>(part) ? "plan" : "tool").Key("part");
  Write(w, part);
  w.End('}');
  Send("message:delta", std::move(params), out);
}

void Channels::Show(const Message& message, Outcome& out) {
  std::string params;
  JsonWriter w(params);
  w.Begin('{').Key("channel").String(message.channel).Key("message");
  Write(w, message);
  w.End('}');
  Send("message:updated", std::move(params), out);
}

void Channels::ShowTurn(const State& state, Outcome& out) {
  std::string params;
  JsonWriter w(params);
  w.Begin('{').Key("channel").String(state.channel.id).Key("busy").Bool(state.turn.has_value());
  w.Key("queued").Int(static_cast<int64_t>(state.queue.size()));
  w.Key("answering").String(state.turn ? std::string_view(state.turn->agent) : std::string_view()).End('}');
  Send("turn:changed", std::move(params), out);
}

void Channels::ShowChannels(Outcome& out) {
  std::string params;
  JsonWriter w(params);
  w.Begin('{').Key("channels").Begin('[');
  for (const auto& [id, state] : channels_) Write(w, state->channel);
  w.End(']').End('}');
  Send("channels:changed", std::move(params), out);
}

void Channels::Keep(const Message& message, Outcome& out) {
  if (out.keep.Put(message).ok()) out.messages.push_back(message);
}

}  // namespace watchbill::channels
