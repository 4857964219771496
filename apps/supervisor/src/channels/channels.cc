#include "channels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "channels_impl.hpp"
#include "prompt.hpp"
#include "tool_call.hpp"
#include "watchbill/base/json_writer.hpp"

namespace watchbill::channels {

using history::Message;
using history::Role;

namespace {

int64_t Clamped(uint64_t tokens) { return static_cast<int64_t>(std::min<uint64_t>(tokens, INT64_MAX)); }

}  // namespace

Channels::Channels(const Past& past, uint64_t seed, Limits limits)
    : past_(past), limits_(limits), ids_(seed) {}
Channels::~Channels() = default;

void Channels::Load(std::vector<std::string> agents, std::vector<history::Channel> kept) {
  agents_ = std::move(agents);
  for (history::Channel& channel : kept) {
    auto state = std::make_unique<State>();
    std::string id = channel.id;
    state->channel = std::move(channel);
    channels_.emplace(std::move(id), std::move(state));
  }
}

void Channels::LoadMember(std::string_view channel, history::Member member) {
  if (State* state = Find(channel)) {
    std::string agent = member.agent;
    state->members[std::move(agent)] = std::move(member);
  }
}

Channels::State* Channels::Find(std::string_view channel) {
  const auto it = channels_.find(channel);
  return it == channels_.end() ? nullptr : it->second.get();
}

Channels::State* Channels::OfSession(std::string_view agent, std::string_view session) {
  for (auto& [id, state] : channels_) {
    const auto it = state->sessions.find(agent);
    if (it != state->sessions.end() && it->second == session) return state.get();
  }
  return nullptr;
}

Message Channels::Make(std::string_view channel, Role role, Now now) {
  Message message;
  message.id = ids_.Next(now.wall_ms);
  message.channel = channel;
  message.created_ms = now.wall_ms;
  message.role = role;
  return message;
}

std::vector<history::Channel> Channels::List() const {
  std::vector<history::Channel> out;  // ids sort by age
  for (const auto& [id, state] : channels_) out.push_back(state->channel);
  return out;
}

absl::StatusOr<history::Channel> Channels::Direct(std::string_view agent, Now now, Outcome& out) {
  for (const auto& [id, state] : channels_) {
    if (state->channel.direct == agent) return state->channel;
  }
  if (std::find(agents_.begin(), agents_.end(), agent) == agents_.end()) {
    return absl::NotFoundError(fmt::format("There is no agent named \"{}\".", agent));
  }
  auto state = std::make_unique<State>();
  state->channel.id = ids_.Next(now.wall_ms);
  state->channel.direct = agent;
  state->channel.members = {std::string(agent)};
  const history::Channel made = state->channel;
  channels_.emplace(made.id, std::move(state));
  if (out.keep.Put(made).ok()) out.channels.push_back(made);
  ShowChannels(out);
  return made;
}

absl::StatusOr<std::string> Channels::Send(std::string_view channel, std::string_view text, Now now,
                                           Outcome& out) {
  State* state = Find(channel);
  if (state == nullptr) return absl::NotFoundError(fmt::format("There is no channel {}.", channel));
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return absl::InvalidArgumentError("There is nothing to send: the text is empty.");
  }
  if (text.size() > limits_.text_bytes) {
    return absl::OutOfRangeError(
        fmt::format("The text has {} bytes; {} are the most.", text.size(), limits_.text_bytes));
  }
  if (state->queue.size() >= limits_.queued) {
    return absl::ResourceExhaustedError(fmt::format("{} messages wait here already.", limits_.queued));
  }
  Message message = Make(channel, Role::kUser, now);
  message.parts.push_back(history::TextPart{std::string(text)});
  const std::string id = message.id;
  if (state->turn) {
    message.queued = true;
    Show(message, out);
    state->queue.push_back(std::move(message));
    ShowTurn(*state, out);
  } else {
    Keep(message, out);
    Show(message, out);
    Begin(*state, std::move(message), now, out);
  }
  return id;
}

void Channels::Begin(State& state, Message message, Now, Outcome& out) {
  Turn turn;
  turn.agent = state.channel.direct;
  turn.asked = std::move(message);
  state.turn = std::move(turn);
  ShowTurn(state, out);
  out.actions.push_back(NeedAgent{state.turn->agent});
}

void Channels::AgentReady(std::string_view agent, Now now, Outcome& out) {
  for (auto& [id, state] : channels_) {
    if (!state->turn || state->turn->agent != agent || state->turn->stage != Turn::Stage::kStarting) continue;
    const auto session = state->sessions.find(agent);
    if (session != state->sessions.end()) {
      SendPrompt(*state, now, out);
    } else {
      state->turn->stage = Turn::Stage::kOpening;
      out.actions.push_back(OpenSession{std::string(agent), id});
    }
  }
}

void Channels::SessionOpened(std::string_view agent, std::string_view channel, std::string_view session,
                             Now now, Outcome& out) {
  State* state = Find(channel);
  if (state == nullptr) return;
  state->sessions[std::string(agent)] = session;
  history::Member& member = state->members[std::string(agent)];
  member = {std::string(agent), std::string(session), {}};
  (void)out.keep.Put(channel, member);
  if (state->turn && state->turn->agent == agent && state->turn->stage == Turn::Stage::kOpening) {
    SendPrompt(*state, now, out);
  }
}

void Channels::SessionFailed(std::string_view agent, std::string_view channel, std::string_view why, Now now,
                             Outcome& out) {
  State* state = Find(channel);
  if (state == nullptr || !state->turn || state->turn->agent != agent) return;
  if (state->turn->stage == Turn::Stage::kOpening) Unavailable(*state, why, now, out);
}

void Channels::SendPrompt(State& state, Now now, Outcome& out) {
  Turn& turn = *state.turn;
  turn.stage = Turn::Stage::kPrompting;
  turn.session = state.sessions[turn.agent];
  const history::Member& member = state.members[turn.agent];
  const std::string said = TextOf(turn.asked);
  Prompt prompt{turn.agent, turn.session, {}};
  if (const auto command = CommandFor(said, turn.agent)) {
    prompt.texts.push_back(*command);  // alone
  } else {
    std::vector<Message> before = past_.Last(state.channel.id, limits_.told + 1);
    // The question itself is among them, being kept already.
    std::erase_if(before,
                  [&](const Message& m) { return m.id >= turn.asked.id || m.id <= member.last_seen; });
    if (before.size() > limits_.told) {
      before.erase(before.begin(), before.end() - static_cast<ptrdiff_t>(limits_.told));
    }
    if (std::string told = Told(before, limits_.told_characters); !told.empty()) {
      prompt.texts.push_back(std::move(told));
    }
    prompt.texts.push_back(said);
  }
  turn.answer = Make(state.channel.id, Role::kAgent, now);
  turn.answer.agent = turn.agent;
  turn.answer.done = false;
  Show(turn.answer, out);
  ShowTurn(state, out);
  out.actions.push_back(std::move(prompt));
}

void Channels::Updated(std::string_view agent, const acp::Updated& u, Now, Outcome& out) {
  if (const auto* commands = std::get_if<acp::AvailableCommandsUpdate>(&u.update)) {
    std::string list;
    JsonWriter w(list);
    w.Begin('[');
    for (const acp::AvailableCommand& c : commands->available_commands) {
      w.Begin('{').Key("name").String(c.name).Key("description").String(c.description);
      w.Key("hint").String(c.input ? c.input->hint : "").End('}');
    }
    w.End(']');
    const JsonView view = JsonView::Trusted(list);
    (void)out.keep.PutCommands(agent, view);
    std::string params;
    JsonWriter(params).Begin('{').Key("agent").String(agent).Key("commands").Json(view).End('}');
    out.commands.emplace_back(agent, list);
    return Send("commands:changed", std::move(params), out);
  }
  State* state = OfSession(agent, u.session);
  if (state == nullptr) return;
  if (const auto* usage = std::get_if<acp::UsageUpdate>(&u.update)) {
    const Usage known{Clamped(usage->used), Clamped(usage->size)};
    state->usage[std::string(agent)] = known;
    std::string params;
    JsonWriter w(params);
    w.Begin('{').Key("channel").String(state->channel.id).Key("agent").String(agent).Key("usage").Begin('{');
    w.Key("used").Int(known.used).Key("size").Int(known.size).End('}').End('}');
    return Send("usage:changed", std::move(params), out);
  }
  if (!state->turn || state->turn->stage != Turn::Stage::kPrompting || state->turn->agent != agent) return;
  std::vector<history::Part>& parts = state->turn->answer.parts;
  if (const auto* chunk = std::get_if<acp::ContentChunk>(&u.update)) {
    if (chunk->from == acp::ContentChunk::From::kUser) return;  // what the person said, which is known here
    const bool thought = chunk->from == acp::ContentChunk::From::kThought;
    if (const auto words = acp::WordsOf(chunk->content)) {
      Append(*state, thought, *words, out);
    } else if (const auto uri = acp::UriOf(chunk->content)) {
      Append(*state, thought, fmt::format("<{}>", *uri), out);
    }
  } else if (const auto* tool = std::get_if<acp::ToolCallUpdate>(&u.update)) {
    if (Room(*state, u.raw.text().size())) ShowPart(*state, MergeTool(*state, *tool), out);
  } else if (const auto* plan = std::get_if<acp::Plan>(&u.update)) {
    if (!Room(*state, u.raw.text().size())) return;
    history::PlanPart part;
    for (const acp::PlanEntry& e : plan->entries) {
      part.entries.push_back({std::string(e.content), std::string(e.priority), std::string(e.status)});
    }
    auto at = std::find_if(parts.begin(), parts.end(),
                           [](const auto& p) { return std::holds_alternative<history::PlanPart>(p); });
    if (at == parts.end()) at = parts.insert(parts.end(), history::PlanPart{});
    *at = std::move(part);
    ShowPart(*state, static_cast<size_t>(at - parts.begin()), out);
  }
}

bool Channels::Room(State& state, size_t bytes) {
  Turn& turn = *state.turn;
  if (turn.cut || turn.bytes + bytes > limits_.message_bytes) {
    turn.cut = true;
    return false;
  }
  turn.bytes += bytes;
  return true;
}

void Channels::Append(State& state, bool thought, std::string_view text, Outcome& out) {
  if (text.empty() || !Room(state, text.size())) return;
  Message& answer = state.turn->answer;
  const auto* last = answer.parts.empty() ? nullptr : &answer.parts.back();
  const bool goes_on = last != nullptr && (thought ? std::holds_alternative<history::ThoughtPart>(*last)
                                                   : std::holds_alternative<history::TextPart>(*last));
  if (!goes_on) {
    if (thought) {
      answer.parts.emplace_back(history::ThoughtPart{});
    } else {
      answer.parts.emplace_back(history::TextPart{});
    }
  }
  const size_t index = answer.parts.size() - 1;
  if (thought) {
    std::get<history::ThoughtPart>(answer.parts[index]).text.append(text);
  } else {
    std::get<history::TextPart>(answer.parts[index]).text.append(text);
  }
  if (pending_ != nullptr && (pending_->message != answer.id || pending_->index != index)) Flush(out);
  if (pending_ == nullptr) {
    pending_ = std::make_unique<Pending>(Pending{state.channel.id, answer.id, {}, index, thought});
  }
  pending_->text.append(text);
}

size_t Channels::MergeTool(State& state, const acp::ToolCallUpdate& update) {
  std::vector<history::Part>& parts = state.turn->answer.parts;
  auto at = std::find_if(parts.begin(), parts.end(), [&](const history::Part& p) {
    const auto* tool = std::get_if<history::ToolPart>(&p);
    return tool != nullptr && tool->tool.id == update.tool_call_id;
  });
  // An update for a call that was never announced announces it.
  if (at == parts.end()) at = parts.insert(parts.end(), history::ToolPart{});
  Merge(update, std::get<history::ToolPart>(*at).tool);
  return static_cast<size_t>(at - parts.begin());
}

void Channels::PermissionAsked(std::string_view agent, uint64_t request,
                               const acp::RequestPermissionRequest& asked, Now now, Outcome& out) {
  State* state = OfSession(agent, asked.session_id);
  if (state == nullptr || !state->turn || state->turn->stage != Turn::Stage::kPrompting ||
      state->turn->agent != agent) {
    // Nobody is there to be asked.
    out.actions.push_back(AnswerPermission{std::string(agent), request, std::nullopt});
    return;
  }
  Turn& turn = *state->turn;
  const size_t index = MergeTool(*state, asked.tool_call);
  ShowPart(*state, index, out);
  OpenPermission open;
  open.id = ids_.Next(now.wall_ms);
  open.channel = state->channel.id;
  open.agent = agent;
  open.message = turn.answer.id;
  open.request = request;
  open.tool = std::get<history::ToolPart>(turn.answer.parts[index]).tool;
  for (const acp::PermissionOption& o : asked.options) {
    open.options.push_back({std::string(o.option_id), std::string(o.name), std::string(o.kind)});
  }
  open.rejections = turn.rejections;
  std::string params;
  JsonWriter w(params);
  Write(w, open);
  std::string id = open.id;
  permissions_.emplace(std::move(id), std::move(open));
  Send("permission:requested", std::move(params), out);
}

void Channels::PermissionClosed(std::string_view agent, uint64_t request, Outcome& out) {
  for (const auto& [id, open] : permissions_) {
    if (open.agent != agent || open.request != request) continue;
    const std::string closed = id;
    return Resolve(closed, out);
  }
}

absl::Status Channels::Answer(std::string_view permission, std::string_view option, Now, Outcome& out) {
  const auto it = permissions_.find(permission);
  if (it == permissions_.end()) return absl::NotFoundError("That request is not open any more.");
  const OpenPermission& open = it->second;
  const auto chosen = std::find_if(open.options.begin(), open.options.end(),
                                   [&](const OpenPermission::Option& o) { return o.id == option; });
  if (chosen == open.options.end()) {
    return absl::InvalidArgumentError(fmt::format("\"{}\" is not one of the options.", option));
  }
  State* state = Find(open.channel);
  if (state != nullptr && state->turn && !acp::Allows(chosen->kind)) ++state->turn->rejections;
  out.actions.push_back(AnswerPermission{open.agent, open.request, std::string(option)});
  const std::string id = open.id;
  Resolve(id, out);
  return absl::OkStatus();
}

void Channels::Resolve(std::string_view id, Outcome& out) {
  const auto it = permissions_.find(id);
  if (it == permissions_.end()) return;
  std::string params;
  JsonWriter(params).Begin('{').Key("id").String(id).Key("channel").String(it->second.channel).End('}');
  permissions_.erase(it);
  Send("permission:resolved", std::move(params), out);
}

absl::Status Channels::Cancel(std::string_view channel, Now now, Outcome& out) {
  State* state = Find(channel);
  if (state == nullptr) return absl::NotFoundError(fmt::format("There is no channel {}.", channel));
  for (Message& message : std::exchange(state->queue, {})) {
    message.queued = false;
    message.error = "cancelled";
    Keep(message, out);
    Show(message, out);
  }
  if (!state->turn) return absl::OkStatus();
  if (state->turn->stage == Turn::Stage::kPrompting) {
    // To the agent first: its open questions are answered behind that, by the same connection.
    out.actions.push_back(CancelTurn{state->turn->agent, state->turn->session});
    std::vector<std::string> open;
    for (const auto& [id, permission] : permissions_) {
      if (permission.channel == channel) open.push_back(id);
    }
    for (const std::string& id : open) Resolve(id, out);
    ShowTurn(*state, out);
  } else {
    Over(*state, now, out);
  }
  return absl::OkStatus();
}

void Channels::PromptEnded(std::string_view agent, std::string_view session, std::string_view stop_reason,
                           std::string_view failure, Now now, Outcome& out) {
  State* state = OfSession(agent, session);
  if (state == nullptr || !state->turn || state->turn->stage != Turn::Stage::kPrompting) return;
  if (state->turn->agent != agent) return;
  Finish(*state, stop_reason, failure, now, out);
}

void Channels::Finish(State& state, std::string_view stop_reason, std::string_view error, Now now,
                      Outcome& out) {
  Turn& turn = *state.turn;
  Flush(out);
  std::vector<std::string> open;
  for (const auto& [id, permission] : permissions_) {
    if (permission.message != turn.answer.id) continue;
    open.push_back(id);
    // Its turn is over: nobody will answer it any more, and the agent is not left waiting.
    out.actions.push_back(AnswerPermission{permission.agent, permission.request, std::nullopt});
  }
  for (const std::string& id : open) Resolve(id, out);
  Message& answer = turn.answer;
  answer.done = true;
  answer.stop_reason = stop_reason;
  answer.error = error;
  if (turn.cut) {
    answer.parts.emplace_back(history::TextPart{fmt::format(
        "\n\n[The answer was longer than {} MiB; the rest was let go.]", limits_.message_bytes >> 20)});
  }
  // A tool call of a turn that is over does not go on.
  for (history::Part& part : answer.parts) {
    auto* tool = std::get_if<history::ToolPart>(&part);
    if (tool == nullptr || stop_reason == "end_turn") continue;
    if (tool->tool.status == "pending" || tool->tool.status == "in_progress") tool->tool.status = "failed";
  }
  Keep(answer, out);
  history::Member& member = state.members[turn.agent];
  member.agent = turn.agent;
  member.last_seen = answer.id;
  (void)out.keep.Put(state.channel.id, member);
  Show(answer, out);
  out.actions.push_back(ReleaseAgent{turn.agent});
  Over(state, now, out);
}

void Channels::Over(State& state, Now now, Outcome& out) {
  state.turn.reset();
  if (state.queue.empty()) return ShowTurn(state, out);
  Message next = std::move(state.queue.front());
  state.queue.pop_front();
  next.queued = false;
  Keep(next, out);
  Show(next, out);
  Begin(state, std::move(next), now, out);
}

void Channels::Unavailable(State& state, std::string_view why, Now now, Outcome& out) {
  Message message = Make(state.channel.id, Role::kSystem, now);
  message.agent = state.turn->agent;
  message.code = "agent-unavailable";
  message.error = why;
  Keep(message, out);
  Show(message, out);
  // What waits would only fail the same way, one after the other: it is dropped, and can be sent again.
  for (Message& waiting : std::exchange(state.queue, {})) {
    waiting.queued = false;
    waiting.error = "cancelled";
    Keep(waiting, out);
    Show(waiting, out);
  }
  Over(state, now, out);
}

void Channels::AgentGone(std::string_view agent, std::string_view why, Now now, Outcome& out) {
  for (auto& [id, state] : channels_) {
    if (const auto it = state->sessions.find(agent); it != state->sessions.end()) state->sessions.erase(it);
    if (!state->turn || state->turn->agent != agent) continue;
    if (state->turn->stage == Turn::Stage::kPrompting) {
      Finish(*state, "", why, now, out);
    } else if (state->turn->stage == Turn::Stage::kOpening) {
      Unavailable(*state, why, now, out);
    }
  }
}

void Channels::StartFailed(std::string_view agent, std::string_view why, Now now, Outcome& out) {
  for (auto& [id, state] : channels_) {
    if (!state->turn || state->turn->agent != agent) continue;
    if (state->turn->stage == Turn::Stage::kStarting) Unavailable(*state, why, now, out);
  }
}

absl::StatusOr<Channels::Live> Channels::LiveOf(std::string_view channel) const {
  const auto it = channels_.find(channel);
  if (it == channels_.end()) return absl::NotFoundError(fmt::format("There is no channel {}.", channel));
  const State& state = *it->second;
  Live live;
  live.channel = &state.channel;
  live.busy = state.turn.has_value();
  live.queued = static_cast<int64_t>(state.queue.size());
  if (state.turn) live.answering = state.turn->agent;
  if (state.turn && state.turn->stage == Turn::Stage::kPrompting)
    live.messages.push_back(&state.turn->answer);
  for (const Message& message : state.queue) live.messages.push_back(&message);
  for (const auto& [agent, usage] : state.usage) live.usage[agent] = usage;
  for (const auto& [id, open] : permissions_) {
    if (open.channel == channel) live.permissions.push_back(&open);
  }
  return live;
}

}  // namespace watchbill::channels
