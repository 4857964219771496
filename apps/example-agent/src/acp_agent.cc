#include "acp_agent.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "json_document.hpp"
#include "watchbill/acp/encode.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::example {
namespace {

constexpr int64_t kContextTokens = 200'000;
constexpr double kDollarsPerToken = 3e-6;
constexpr int64_t kComplaintsApart = kSecond;

// What a text would cost a model, roughly.
int64_t TokensOf(std::string_view text) { return static_cast<int64_t>(text.size()) / 4 + 1; }

// A name from outside, as it may stand in a sentence.
std::string_view Shown(std::string_view name) { return name.substr(0, 100); }

acp::ContentBlock TextBlock(std::string_view text) { return acp::TextContent{text, std::nullopt, {}}; }

acp::ToolCallUpdate CallOf(const EditFile& edit, std::string_view id, std::string_view title) {
  acp::ToolCallUpdate call;
  call.tool_call_id = id;
  call.title = title;
  call.kind = "edit";
  call.status = "pending";
  call.content.emplace().push_back(acp::Diff{edit.path, edit.after, edit.before, {}});
  call.locations.emplace().push_back({edit.path, 4, {}});
  return call;
}

constexpr acp::PermissionOption kChoices[] = {
    {"allow-once", "Allow once", "allow_once", {}},
    {"allow-always", "Always allow", "allow_always", {}},
    {"reject-once", "Reject", "reject_once", {}},
    {"reject-always", "Never allow", "reject_always", {}},
};

// The text of a prompt: what was written, and where links lead. InvalidArgument names a block that cannot be
// taken.
absl::StatusOr<std::string> TextOf(const acp::PromptRequest& prompt) {
  std::string text;
  for (const acp::ContentBlock& block : prompt.prompt) {
    if (!text.empty()) text += '\n';
    if (const auto* words = std::get_if<acp::TextContent>(&block)) {
      text.append(words->text);
    } else if (const auto* link = std::get_if<acp::ResourceLink>(&block)) {
      text.append(fmt::format("{} <{}>", link->name, link->uri));
    } else {
      return absl::InvalidArgumentError(fmt::format(
          "session/prompt: this agent takes text and resource_link, no {}, as its capabilities say",
          Shown(acp::TypeOf(block))));
    }
  }
  return text;
}

}  // namespace

AcpAgent::AcpAgent(AcpOptions options) : options_(std::move(options)), ids_(options_.seed) {}

void AcpAgent::Feed(std::string_view bytes, Now now) {
  peer_.Feed(bytes);
  while (const auto event = peer_.Next()) {
    if (const auto* request = std::get_if<acp::IncomingRequest>(&*event)) {
      OnRequest(*request, now);
    } else if (const auto* notification = std::get_if<acp::IncomingNotification>(&*event)) {
      OnNotification(*notification);
    } else if (const auto* ended = std::get_if<acp::CallEnded>(&*event)) {
      OnPermission(*ended, now);
    } else {
      OnStray(std::get<acp::StrayLine>(*event), now);
    }
  }
}

void AcpAgent::End(Now now) {
  // Not the peer's own End, behind which nothing can be answered any more.
  Feed("\n", now);
  for (auto it = turns_.begin(); it != turns_.end();) it = EndTurn(it, "cancelled");
}

void AcpAgent::Consume(size_t bytes) {
  peer_.Consume(bytes);
  if (peer_.Output().empty()) paused_ = false;
}

int64_t AcpAgent::Deadline() const {
  int64_t first = kNever;
  if (paused_) return first;
  for (const auto& [session, turn] : turns_) {
    if (!turn.asked) first = std::min(first, turn.due_ns);
  }
  return first;
}

void AcpAgent::Tick(Now now) {
  if (paused_) return;
  for (auto it = turns_.begin(); it != turns_.end();) {
    Turn& turn = it->second;
    const bool goes_on = turn.asked || turn.due_ns > now.mono_ns || Advance(it->first, turn, now);
    it = goes_on ? std::next(it) : EndTurn(it, "end_turn");
  }
  // Only here, so that each answer has had its turn: the first sessions cannot keep the last ones from
  // speaking.
  paused_ = peer_.Output().size() > kMostWaiting;
}

void AcpAgent::OnRequest(const acp::IncomingRequest& request, Now now) {
  if (request.method == "initialize") {
    if (const auto asked = reader_.Read<acp::InitializeRequest>(request.params); !asked.ok()) {
      return peer_.Refuse(request.id, acp::kInvalidParams, MessageOf(asked.status()));
    }
    acp::InitializeResponse response;
    response.agent = acp::Implementation{"watchbill-example-agent", options_.version, "Example agent", {}};
    peer_.Respond(request.id, acp::Encode(response));
    initialized_ = true;
  } else if (!initialized_) {
    peer_.Refuse(request.id, acp::kInvalidRequest,
                 fmt::format("{} came before initialize, which has to be first", Shown(request.method)));
  } else if (request.method == "session/new") {
    OnNewSession(request);
  } else if (request.method == "session/prompt") {
    OnPrompt(request, now);
  } else {
    peer_.Refuse(request.id, acp::kMethodNotFound,
                 fmt::format("this agent has no method {}", Shown(request.method)));
  }
}

void AcpAgent::OnNewSession(const acp::IncomingRequest& request) {
  const auto asked = reader_.Read<acp::NewSessionRequest>(request.params);
  if (!asked.ok()) return peer_.Refuse(request.id, acp::kInvalidParams, MessageOf(asked.status()));
  if (!asked->cwd.starts_with('/')) {
    return peer_.Refuse(
        request.id, acp::kInvalidParams,
        fmt::format("session/new: `cwd` is an absolute path, which begins with a slash, not \"{}\"",
                    Shown(asked->cwd)));
  }
  if (sessions_.size() >= kMostSessions) {
    return peer_.Refuse(
        request.id, acp::kInvalidRequest,
        fmt::format("session/new: there are {} sessions already, which is the most", kMostSessions));
  }
  std::string id = ids_.NextId();
  while (sessions_.count(id) > 0) id = ids_.NextId();
  sessions_[id].folder = asked->cwd;
  acp::NewSessionResponse response;
  response.session_id = id;
  peer_.Respond(request.id, acp::Encode(response));
  acp::AvailableCommandsUpdate commands;
  for (const OfferedCommand& one : OfferedCommands()) {
    acp::AvailableCommand command{one.name, one.description, std::nullopt, {}};
    if (!one.hint.empty()) command.input = acp::UnstructuredCommandInput{one.hint, {}};
    commands.available_commands.push_back(command);
  }
  Tell(id, std::move(commands));
}

void AcpAgent::OnPrompt(const acp::IncomingRequest& request, Now now) {
  const auto prompt = reader_.Read<acp::PromptRequest>(request.params);
  if (!prompt.ok()) return peer_.Refuse(request.id, acp::kInvalidParams, MessageOf(prompt.status()));
  const auto session = sessions_.find(prompt->session_id);
  if (session == sessions_.end()) {
    return peer_.Refuse(request.id, acp::kResourceNotFound,
                        fmt::format("session/prompt: there is no session \"{}\"", Shown(prompt->session_id)));
  }
  if (turns_.find(prompt->session_id) != turns_.end()) {
    return peer_.Refuse(
        request.id, acp::kInvalidRequest,
        "session/prompt: the session is answering another prompt; cancel that, or wait for its end");
  }
  const auto text = TextOf(*prompt);
  if (!text.ok()) return peer_.Refuse(request.id, acp::kInvalidParams, MessageOf(text.status()));
  Turn turn;
  turn.request = request.id.text();
  turn.story = StoryOf(*text, session->second.folder);
  turn.due_ns = now.mono_ns;
  session->second.tokens += TokensOf(*text);
  turns_.emplace(session->first, std::move(turn));
  if (options_.prompted) {
    std::string_view command;
    const auto invoked = CommandOf(*text);
    for (const OfferedCommand& one : OfferedCommands()) {
      if (invoked && invoked->name == one.name) command = one.name;
    }
    options_.prompted(session->first, command, text->size());
  }
}

void AcpAgent::OnNotification(const acp::IncomingNotification& notification) {
  if (notification.method == "session/cancel") {
    const auto cancel = reader_.Read<acp::CancelNotification>(notification.params);
    if (!cancel.ok()) return;
    // The client answers a permission that is open by itself; that answer is let go when it comes.
    if (const auto turn = turns_.find(cancel->session_id); turn != turns_.end()) EndTurn(turn, "cancelled");
  } else if (notification.method == "$/cancel_request") {
    json::Document document({.bytes = acp::LineFramer::kLongestLine, .depth = 64});
    if (notification.params.absent() || !document.Parse(notification.params.text()).ok()) return;
    const JsonView request = document.root()["requestId"].text();
    const auto turn = std::find_if(turns_.begin(), turns_.end(),
                                   [&](const auto& one) { return one.second.request == request.text(); });
    if (request.absent() || turn == turns_.end()) return;
    // Here the client does not know that a question of this turn is closed.
    if (const auto asked = turn->second.asked) {
      std::string params;
      JsonWriter(params).Begin('{').Key("requestId").Int(static_cast<int64_t>(*asked)).End('}');
      peer_.Notify("$/cancel_request", params);
    }
    EndTurn(turn, "cancelled");
  }
}

void AcpAgent::OnPermission(const acp::CallEnded& ended, Now now) {
  const auto asked = asked_.extract(ended.call);
  if (asked.empty()) return;  // of a turn that has ended
  const auto at = turns_.find(asked.mapped());
  Turn& turn = at->second;
  turn.asked.reset();
  turn.due_ns = now.mono_ns;
  // Only what says so allows: an error or an option that was not offered refuses.
  std::string_view kind;
  if (!ended.error && ended.failure.empty()) {
    const auto option = reader_.Read<acp::RequestPermissionResponse>(ended.result);
    if (option.ok() && !option->option_id) {
      EndTurn(at, "cancelled");
      return;
    }
    for (const acp::PermissionOption& choice : kChoices) {
      if (option.ok() && option->option_id == choice.option_id) kind = choice.kind;
    }
  }
  if (kind == "allow_always") sessions_[at->first].edits = Policy::kAllow;
  if (kind == "reject_always") sessions_[at->first].edits = Policy::kReject;
  EndTool(at->first, turn, acp::Allows(kind));
}

void AcpAgent::OnStray(const acp::StrayLine& stray, Now now) {
  // Answers to what was an answer could go round for ever.
  if (stray.why != acp::StrayLine::Why::kNotJson && stray.why != acp::StrayLine::Why::kTooLong) return;
  if (now.mono_ns < no_complaint_before_ns_) return;
  no_complaint_before_ns_ = now.mono_ns + kComplaintsApart;
  peer_.Refuse(JsonView::Trusted("null"), acp::kParseError,
               stray.why == acp::StrayLine::Why::kTooLong
                   ? fmt::format("a line of {} bytes is too long; the most is {}", stray.bytes,
                                 acp::LineFramer::kLongestLine)
                   : "a line is not one JSON object");
}

// One word or one step. False: the story is over.
bool AcpAgent::Advance(const std::string& session, Turn& turn, Now now) {
  using When = Step::When;
  const auto told = [&](const Step& step) {
    return step.when == When::kAlways || (turn.allowed && *turn.allowed == (step.when == When::kAllowed));
  };
  while (turn.step < turn.story.size() && !told(turn.story[turn.step])) ++turn.step;
  if (turn.step == turn.story.size()) return false;
  turn.due_ns = now.mono_ns + options_.word_ms * kMillisecond;
  const Step& step = turn.story[turn.step];

  const auto say = [&](std::string_view text, acp::ContentChunk::From from) {
    const std::string_view word = NextWord(text.substr(turn.said));
    acp::ContentChunk chunk;
    chunk.from = from;
    chunk.content = TextBlock(word);
    Tell(session, std::move(chunk));
    sessions_[session].tokens += TokensOf(word);
    turn.said += word.size();
    return turn.said == text.size();
  };
  bool done = true;
  if (const auto* thought = std::get_if<Think>(&step.what)) {
    done = say(thought->text, acp::ContentChunk::From::kThought);
  } else if (const auto* words = std::get_if<Say>(&step.what)) {
    done = say(words->markdown, acp::ContentChunk::From::kAgent);
  } else if (const auto* shown = std::get_if<ShowPlan>(&step.what)) {
    acp::Plan plan;
    for (size_t i = 0; i < shown->entries.size(); ++i) {
      const bool is_next = i == shown->completed && shown->at_next;
      plan.entries.push_back({shown->entries[i],
                              i == 0   ? "high"
                              : i == 1 ? "medium"
                                       : "low",
                              i < shown->completed ? "completed"
                              : is_next            ? "in_progress"
                                                   : "pending",
                              {}});
    }
    Tell(session, std::move(plan));
  } else if (const auto* file = std::get_if<ReadFile>(&step.what)) {
    const std::string id = fmt::format("call-{}", ++tools_);
    const std::string title = fmt::format("Read {}", file->path);
    acp::ToolCallUpdate call;
    call.is_new = true;
    call.tool_call_id = id;
    call.title = title;
    call.kind = "read";
    call.status = "completed";
    call.content.emplace().push_back(acp::Content{TextBlock(file->content), {}});
    call.locations.emplace().push_back({file->path, static_cast<uint32_t>(file->line), {}});
    Tell(session, std::move(call));
  } else if (const auto* edit = std::get_if<EditFile>(&step.what)) {
    BeginEdit(session, turn, *edit);
  } else {
    const int64_t tokens = sessions_[session].tokens;
    acp::UsageUpdate usage;
    usage.used = static_cast<uint64_t>(std::min(tokens, kContextTokens));
    usage.size = kContextTokens;
    usage.cost = acp::Cost{kDollarsPerToken * static_cast<double>(tokens), "USD", {}};
    Tell(session, std::move(usage));
  }
  if (done) {
    ++turn.step;
    turn.said = 0;
  }
  return true;
}

void AcpAgent::BeginEdit(const std::string& session, Turn& turn, const EditFile& edit) {
  turn.tool = fmt::format("call-{}", ++tools_);
  const std::string title = fmt::format("Change {}", edit.path);
  acp::ToolCallUpdate call = CallOf(edit, turn.tool, title);
  call.is_new = true;
  Tell(session, call);
  const Policy policy = sessions_[session].edits;
  if (policy != Policy::kAsk) return EndTool(session, turn, policy == Policy::kAllow);
  acp::RequestPermissionRequest question;
  question.session_id = session;
  question.tool_call = CallOf(edit, turn.tool, title);
  question.options.assign(std::begin(kChoices), std::end(kChoices));
  turn.asked = peer_.Call("session/request_permission", acp::Encode(question));
  asked_.emplace(*turn.asked, session);
}

void AcpAgent::EndTool(const std::string& session, Turn& turn, bool allowed) {
  acp::ToolCallUpdate change;
  change.tool_call_id = turn.tool;
  if (allowed) {
    change.status = "in_progress";
    Tell(session, change);
  }
  change.status = allowed ? "completed" : "failed";
  Tell(session, change);
  turn.tool.clear();
  turn.allowed = allowed;
}

AcpAgent::Turns::iterator AcpAgent::EndTurn(Turns::iterator at, std::string_view reason) {
  Turn& turn = at->second;
  if (turn.asked) asked_.erase(*turn.asked);
  if (!turn.tool.empty()) EndTool(at->first, turn, false);
  acp::PromptResponse response;
  response.stop_reason = reason;
  peer_.Respond(JsonView::Trusted(turn.request), acp::Encode(response));
  return turns_.erase(at);
}

template <typename Update>
void AcpAgent::Tell(std::string_view session, Update update) {
  acp::SessionNotification message;
  message.session_id = session;
  message.update = std::move(update);
  peer_.Notify("session/update", acp::Encode(message));
}

}  // namespace watchbill::example
