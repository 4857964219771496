#include "acp_replay.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "acp_words.hpp"
#include "json_document.hpp"
#include "watchbill/acp/client.hpp"
#include "watchbill/acp/read.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::acp::golden {

using From = Entry::From;
using What = Entry::What;

namespace {

constexpr Now kThen{kSecond, 0};

// A line with another id in it.
std::string WithId(std::string_view line, uint64_t id) {
  json::Document document({.bytes = 64 << 20, .depth = 80});
  if (!document.Parse(line).ok()) return std::string(line);
  const std::string_view all = document.root().text().text(), old = document.root()["id"].text().text();
  std::string out(all);
  out.replace(static_cast<size_t>(old.data() - all.data()), old.size(), std::to_string(id));
  return out;
}

}  // namespace

// The Client, and what joins it to the recording.
class Replay::Player {
 public:
  // With an account, events are held against it; without, they make one.
  explicit Player(const std::vector<std::string>* account) : account_(account) {}

  void Do(const Entry& entry) {
    switch (entry.what) {
      case What::kRequest:
        return Ask(entry);
      case What::kNotification:
        return Notify(entry);
      case What::kAnswer:
        return Answer(entry);
      case What::kNoise:
        return Note("a line of the recorded client that is no message");
    }
  }
  // What is fed for a line of the agent; nothing where it answers what was not asked.
  std::optional<std::string> LineFor(const Entry& entry) {
    if (entry.what != What::kAnswer || entry.id.empty() || entry.id == "null") return entry.line;
    if (refused_.contains(entry.id)) return std::nullopt;
    const auto call = calls_.find(entry.id);
    if (call == calls_.end() || entry.id == std::to_string(call->second)) return entry.line;
    return WithId(entry.line, call->second);
  }
  // It will come, maybe in pieces.
  void Expect(const Entry& entry) {
    if (entry.what == What::kRequest) coming_.push_back(&entry);
  }
  void Feed(std::string_view bytes) {
    client_.Feed(bytes);
    Drain();
  }
  void End() {
    client_.End("the conversation is over");
    Drain();
  }
  void Drain() {
    while (const auto event = client_.Next()) {
      std::string full = InFull(*event);
      if (account_ != nullptr) {
        if (problem.empty() && (told >= account_->size() || (*account_)[told] != full)) {
          problem = fmt::format("event {} is {}", told, full);
        }
      } else {
        words.push_back(InWords(*event));
        all.push_back(std::move(full));
      }
      ++told;
      React(*event);
    }
    output.append(client_.Output());
    client_.Consume(client_.Output().size());
  }

  size_t told = 0;
  std::string problem, output;
  std::vector<std::string> all, words, notes;

 private:
  // A request of the agent's that the Client has handed on.
  struct Open {
    uint64_t number = 0;
    bool permission = false;
    std::string method;
  };

  void Note(std::string note) {
    if (account_ == nullptr) notes.push_back(std::move(note));
  }

  void Ask(const Entry& entry) {
    const auto call = Call(entry);
    if (call.ok()) {
      calls_[entry.id] = *call;
      refused_.erase(entry.id);
    } else {
      refused_.insert(entry.id);
      Note(fmt::format("refused, {}: {}", entry.method, MessageOf(call.status())));
    }
  }
  template <typename Message, typename Make>
  absl::StatusOr<uint64_t> Typed(const Entry& entry, Make make) {
    const auto request = reader_.Read<Message>(JsonView::Trusted(entry.body));
    if (request.ok()) return make(*request);
    Note(fmt::format("as it stands, {}: {}", entry.method, MessageOf(request.status())));
    return client_.Request(entry.method, entry.body, kNever, kThen);
  }
  absl::StatusOr<uint64_t> Call(const Entry& entry) {
    const std::string_view m = entry.method;
    if (m == "initialize") {
      return Typed<InitializeRequest>(entry, [&](const auto& r) -> absl::StatusOr<uint64_t> {
        if (absl::Status status = client_.Initialize(r, kThen); !status.ok()) return status;
        return 1;
      });
    }
    if (m == "authenticate") {
      return Typed<AuthenticateRequest>(entry,
                                        [&](const auto& r) { return client_.Authenticate(r.method_id); });
    }
    if (m == "logout") return client_.Logout(kThen);
    if (m == "session/new") {
      return Typed<NewSessionRequest>(entry, [&](const auto& r) { return client_.NewSession(r, kThen); });
    }
    if (m == "session/load") {
      return Typed<LoadSessionRequest>(entry, [&](const auto& r) { return client_.LoadSession(r, kThen); });
    }
    if (m == "session/resume") {
      return Typed<ResumeSessionRequest>(entry,
                                         [&](const auto& r) { return client_.ResumeSession(r, kThen); });
    }
    if (m == "session/list") {
      return Typed<ListSessionsRequest>(entry, [&](const auto& r) { return client_.ListSessions(r, kThen); });
    }
    if (m == "session/close") {
      return Typed<CloseSessionRequest>(
          entry, [&](const auto& r) { return client_.CloseSession(r.session_id, kThen); });
    }
    if (m == "session/delete") {
      return Typed<DeleteSessionRequest>(
          entry, [&](const auto& r) { return client_.DeleteSession(r.session_id, kThen); });
    }
    if (m == "session/set_mode") {
      return Typed<SetSessionModeRequest>(
          entry, [&](const auto& r) { return client_.SetMode(r.session_id, r.mode_id, kThen); });
    }
    if (m == "session/set_config_option") {
      return Typed<SetSessionConfigOptionRequest>(entry, [&](const auto& r) {
        return client_.SetConfigOption(r.session_id, r.config_id, r.value, kThen);
      });
    }
    if (m == "session/set_model") {
      return Typed<SetSessionModelRequest>(
          entry, [&](const auto& r) { return client_.SetModel(r.session_id, r.model_id, kThen); });
    }
    if (m == "session/prompt") {
      return Typed<PromptRequest>(entry, [&](const auto& r) { return client_.Prompt(r); });
    }
    return client_.Request(m, entry.body, kNever, kThen);
  }

  void Notify(const Entry& entry) {
    if (entry.method == "session/cancel") {
      const auto cancel = reader_.Read<CancelNotification>(JsonView::Trusted(entry.body));
      if (!cancel.ok()) return Note(fmt::format("session/cancel: {}", MessageOf(cancel.status())));
      for (const uint64_t request : client_.Cancel(cancel->session_id)) {
        for (auto it = open_.begin(); it != open_.end(); ++it) {
          if (it->second.number != request) continue;
          cancelled_.insert(it->first);
          open_.erase(it);
          break;
        }
      }
    } else if (entry.method == "$/cancel_request") {
      const auto cancel = reader_.Read<CancelRequestNotification>(JsonView::Trusted(entry.body));
      const auto call = cancel.ok() ? calls_.find(std::string(cancel->request_id.text())) : calls_.end();
      if (call == calls_.end()) return Note("$/cancel_request for what was not asked");
      client_.CancelCall(call->second);
    } else if (absl::Status status = client_.Notify(entry.method, entry.body); !status.ok()) {
      Note(fmt::format("refused, {}: {}", entry.method, MessageOf(status)));
    }
  }

  void Answer(const Entry& entry) {
    const auto found = open_.find(entry.id);
    if (found == open_.end()) {
      // The Client answered it when the turn was cancelled, or by itself, or a cancelled turn took it back.
      return Note(cancelled_.erase(entry.id) > 0 ? "the cancel has answered already: " + entry.method
                                                 : "the Client has answered by itself: " + entry.method);
    }
    const Open open = std::move(found->second);
    open_.erase(found);
    const absl::Status status = open.permission ? AnswerPermission(entry, open) : AnswerHost(entry, open);
    if (!status.ok()) Note(fmt::format("not answered, {}: {}", open.method, MessageOf(status)));
  }
  absl::Status AnswerPermission(const Entry& entry, const Open& open) {
    const auto answer = reader_.Read<RequestPermissionResponse>(JsonView::Trusted(entry.body));
    if (answer.ok() && answer->option_id) return client_.AnswerPermission(open.number, *answer->option_id);
    Note("refused by its kind instead of cancelled");
    return client_.RefusePermission(open.number).status();
  }
  absl::Status AnswerHost(const Entry& entry, const Open& open) {
    if (!entry.error.empty()) {
      const auto error = reader_.Read<RpcError>(JsonView::Trusted(entry.error));
      if (!error.ok()) return error.status();
      return client_.RefuseHost(open.number, error->code, error->message);
    }
    if (open.method == "fs/read_text_file") return Respond<ReadTextFileResponse>(entry, open);
    if (open.method == "terminal/create") return Respond<CreateTerminalResponse>(entry, open);
    if (open.method == "terminal/output") return Respond<TerminalOutputResponse>(entry, open);
    if (open.method == "terminal/wait_for_exit") return Respond<TerminalExitStatus>(entry, open);
    if (open.method == "elicitation/create") return Respond<CreateElicitationResponse>(entry, open);
    return Respond<EmptyResponse>(entry, open);
  }
  template <typename Response>
  absl::Status Respond(const Entry& entry, const Open& open) {
    const auto response = reader_.Read<Response>(JsonView::Trusted(entry.body));
    return response.ok() ? client_.Respond(open.number, *response) : response.status();
  }

  void React(const ClientEvent& event) {
    if (const auto* asked = std::get_if<PermissionAsked>(&event)) {
      HandedOn(asked->request, true, asked->raw);
    } else if (const auto* host = std::get_if<HostAsked>(&event)) {
      HandedOn(host->request, false, host->raw);
    } else if (const auto* permission = std::get_if<PermissionClosed>(&event)) {
      Closed(permission->request);
    } else if (const auto* closed = std::get_if<HostClosed>(&event)) {
      Closed(closed->request);
    } else if (const auto* done = std::get_if<CallDone>(&event); done && done->method == "session/fork") {
      // It makes a session, which the Client hears of in this way alone.
      const std::string result(done->result.text());
      if (const auto made = reader_.Read<NewSessionResponse>(JsonView::Trusted(result)); made.ok()) {
        const std::string session(made->session_id);
        const LoadSessionResponse says{made->modes, made->config_options, made->models, made->meta};
        client_.Adopt(session, says);
      }
    }
  }
  // Those that the Client refused itself came before, and are let go.
  void HandedOn(uint64_t number, bool permission, JsonView raw) {
    while (!coming_.empty()) {
      const Entry& entry = *coming_.front();
      coming_.pop_front();
      if (entry.body != raw.text()) continue;
      open_[entry.id] = {number, permission, entry.method};
      return;
    }
    problem = "a request was handed on that the agent did not make";
  }
  void Closed(uint64_t number) {
    const auto here = std::find_if(open_.begin(), open_.end(),
                                   [&](const auto& one) { return one.second.number == number; });
    if (here == open_.end()) return;
    cancelled_.insert(here->first);
    open_.erase(here);
  }

  const std::vector<std::string>* account_;
  Client client_;
  Reader reader_;
  std::map<std::string, uint64_t> calls_;  // ours by the recorded ids
  std::set<std::string> refused_;
  std::deque<const Entry*> coming_;
  std::map<std::string, Open> open_;
  std::set<std::string> cancelled_;
};

Replay::Replay(const Recording& recording) : recording_(recording) {
  Listener listener;
  Player player(nullptr);
  size_t taken = 0;
  const auto note_written = [&] {
    for (size_t end; (end = player.output.find('\n', taken)) != std::string::npos; taken = end + 1) {
      written_.push_back(
          listener.Hear(From::kClient, std::string_view(player.output).substr(taken, end - taken)));
    }
  };
  json::Document document({.bytes = 64 << 20, .depth = 80});
  for (size_t at = 0; at < recording.entries.size(); ++at) {
    const Entry& entry = recording.entries[at];
    if (document.Parse(entry.body).ok()) {
      const auto id = document.root()["sessionId"].AsString();
      if (id && std::find(sessions_.begin(), sessions_.end(), *id) == sessions_.end())
        sessions_.emplace_back(*id);
    }
    if (entry.from == From::kClient) {
      player.Do(entry);
      player.Drain();
    } else if (auto line = player.LineFor(entry)) {
      (void)listener.Hear(From::kAgent, *line);
      player.Expect(entry);
      const size_t begin = stream_.size();
      stream_.append(*line).push_back('\n');
      player.Feed(std::string_view(stream_).substr(begin));
      lines_.push_back({at, begin, stream_.size(), player.told});
    } else {
      player.notes.push_back("the answer to what was refused, left out: " + entry.method);
    }
    told_after_.push_back(player.told);
    note_written();
  }
  player.End();
  note_written();
  told_ = std::move(player.all);
  words_ = std::move(player.words);
  output_ = std::move(player.output);
  if (!player.problem.empty()) ++notes_["PROBLEM: " + player.problem];
  // The longest first: one id may be the beginning of another.
  std::stable_sort(sessions_.begin(), sessions_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  for (std::string& note : player.notes) ++notes_[Plain(std::move(note))];
}

std::string Replay::Plain(std::string text) const {
  for (const std::string& session : sessions_) {
    for (size_t at; !session.empty() && (at = text.find(session)) != std::string::npos;) {
      text.replace(at, session.size(), "…");
    }
  }
  if (const size_t list = text.find("; those are: "); list != std::string::npos) text.resize(list);
  return text;
}

std::string Replay::Differs(const std::vector<size_t>& cuts, size_t lines) const {
  Player player(&told_);
  const size_t last = std::min(lines, lines_.size());
  size_t line = 0;
  size_t entry = 0;
  auto cut = cuts.begin();
  while (line < last) {
    for (; entry < lines_[line].entry; ++entry) {
      if (recording_.entries[entry].from != From::kClient) continue;
      player.Do(recording_.entries[entry]);
      player.Drain();
    }
    // The lines until the client's next call.
    size_t behind = line;
    size_t told = entry == 0 ? 0 : told_after_[entry - 1];
    while (behind < last &&
           (entry == lines_[behind].entry || recording_.entries[entry].from == From::kAgent)) {
      if (entry == lines_[behind].entry) player.Expect(recording_.entries[lines_[behind++].entry]);
      ++entry;
    }
    for (size_t at = lines_[line].begin; at < lines_[behind - 1].end;) {
      while (cut != cuts.end() && *cut <= at) ++cut;
      const size_t to = std::min(cut == cuts.end() ? stream_.size() : *cut, lines_[behind - 1].end);
      player.Feed(std::string_view(stream_).substr(at, to - at));
      at = to;
      for (; line < behind && lines_[line].end <= at; ++line) told = lines_[line].told;
      if (player.problem.empty() && player.told != told) {
        player.problem = fmt::format("{} events are told where {} were", player.told, told);
      }
      if (!player.problem.empty()) return fmt::format("at byte {}: {}", at, player.problem);
    }
  }
  if (lines == SIZE_MAX) {
    for (; entry < recording_.entries.size(); ++entry) {
      if (recording_.entries[entry].from != From::kClient) continue;
      player.Do(recording_.entries[entry]);
      player.Drain();
    }
    player.End();
    if (player.told != told_.size()) return fmt::format("{} events, not {}", player.told, told_.size());
    if (player.output != output_) return "the client wrote something else";
  } else if (!output_.starts_with(player.output)) {
    return "the client wrote something else";
  }
  return player.problem;
}

}  // namespace watchbill::acp::golden
