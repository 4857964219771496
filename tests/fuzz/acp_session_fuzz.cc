// A client and an agent that does anything: what the agent writes and what the client's owner wants are a
// program, which the input is. It runs twice: once to see what the agent writes, line by line, and once with
// that cut into pieces. Both tell and write the same.
//
// An input: how it is cut (0: it runs once), what the owner does by itself, and then steps: a byte says
// which, with its highest bit that what the agent writes waits for more; what follows fills it in.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acp_fuzz.hpp"
#include "acp_session_lines.hpp"
#include "texts.hpp"
#include "watchbill/acp/client.hpp"
#include "watchbill/acp/encode.hpp"
#include "watchbill/acp/read.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::acp;
using namespace watchbill::acp::fuzz;

constexpr size_t kMostSteps = 32;

struct Owner {
  explicit Owner(uint8_t byte)
      : acts((byte & 1) != 0),
        quick((byte & 2) != 0),
        files((byte & 4) != 0),
        terminals((byte & 8) != 0),
        forms((byte & 16) != 0),
        urls((byte & 32) != 0),
        small((byte & 64) != 0),
        impatient((byte & 128) != 0) {}
  bool acts;   // opens, prompts and answers by itself
  bool quick;  // the handshake is done before the first step
  bool files, terminals, forms, urls;
  bool small;      // little is kept
  bool impatient;  // of what is no message; when it has had enough depends on the pieces
};

Client::Limits LimitsOf(const Owner& owner) {
  Client::Limits limits;
  limits.peer = {owner.small ? size_t{400} : size_t{4096}, 32};
  if (owner.small) {
    limits.early_updates = 2;
    limits.early_bytes = 300;
    limits.open_requests = 2;
    limits.tool_calls = 2;
    limits.tool_bytes = 120;
    limits.tool_bytes_at_rest = 40;
  }
  if (owner.impatient) {
    limits.stray_bytes = 100;
    limits.stray_lines = 3;
  }
  return limits;
}

// What the agent wrote in a step, and what of the input is left behind it.
struct Written {
  std::string bytes;
  Input rest{nullptr, 0};
};

class Conversation {
 public:
  Conversation(const Owner& owner, uint8_t how) : owner_(owner), how_(how), client_(LimitsOf(owner)) {}

  std::string account, out;
  std::string fed;  // by the agent

  // `script` is what the agent writes: filled where it is empty, and else followed.
  void Run(Input input, std::vector<Written>& script) {
    const bool follow = !script.empty();
    size_t at = 0;
    Begin();
    for (size_t steps = 0; !input.empty() && steps < kMostSteps && !ended_; ++steps) {
      const uint8_t byte = input.Byte();
      const size_t what = byte & 127;
      if (what >= std::size(kLines) + 1) {
        Flush();
        Act(what, input);
        Drain();
        continue;
      }
      if (follow) {
        input = script[at].rest;
      } else {
        std::string bytes = what == 0 ? std::string(input.TakeUntil('\n')) : Line(kLines[what - 1], input);
        if (what > 0 || byte < 128) bytes.push_back('\n');
        script.push_back({std::move(bytes), input});
      }
      held_.append(script[at++].bytes);
      if (byte < 128) Flush();
    }
    Flush();
    Finish();
  }

 private:
  enum class What { kPrompt, kOpen, kOther };
  struct Call {
    What what = What::kOther;
    std::string session;
  };

  void Begin() {
    InitializeRequest request;
    request.capabilities.fs.read_text_file = request.capabilities.fs.write_text_file = owner_.files;
    request.capabilities.terminal = owner_.terminals;
    if (owner_.forms || owner_.urls) {
      auto& offered = request.capabilities.elicitation.emplace();
      if (owner_.forms) offered.form.emplace();
      if (owner_.urls) offered.url.emplace();
    }
    Require(client_.Initialize(request, now_).ok());
    Require(!client_.Initialize(request, now_).ok());
    calls_.emplace(1, Call{});
    if (!owner_.quick) return;
    Input none(nullptr, 0);
    held_ = Line(kLines[0], none) + "\n";
    Flush();
    Asked(client_.NewSession({"/", {}, {}, {}}, now_), What::kOpen);
    held_ = Line(kLines[5], none) + "\n";
    Flush();
  }

  // What comes before End is heard; then all that is open is over.
  void Finish() {
    if (!ended_) End();
    Require(calls_.empty() && permissions_.empty() && hosted_.empty() && prompts_.empty());
    Require(handshake_over_ && !client_.ready());
    Require(client_.Deadline() == kNever);
    const size_t written = out.size();
    for (const std::string_view session : kSessions) {
      Require(!client_.prompting(session));
      PromptRequest request;
      request.session_id = session;
      Require(!client_.Prompt(request).ok());
      Require(client_.Cancel(session).empty());
    }
    client_.Feed("{\"id\":\"late\",\"method\":\"late\"}\n");
    client_.Tick(Now{kNever - 1, 0});
    Drain();
    Require(out.size() == written);
  }
  void End() {
    ended_ = true;
    client_.End("exit code 3");
    Drain();
  }

  void Flush() {
    fed.append(held_);
    InPieces(held_, how_, [&](std::string_view piece) {
      client_.Feed(piece);
      Drain();
    });
    held_.clear();
  }

  std::string Line(std::string_view pattern, Input& input) {
    std::string line;
    for (;;) {
      const size_t gap = pattern.find('%');
      line.append(pattern.substr(0, gap));
      if (gap == std::string_view::npos) return line;
      Fill(pattern[gap + 1], input, line);
      pattern.remove_prefix(gap + 2);
    }
  }
  void Fill(char gap, Input& input, std::string& line) {
    const size_t byte = input.Byte();
    const auto of = [&](const auto& list) { line.append(list[byte % std::size(list)]); };
    switch (gap) {
      case 'i': {
        // The newest first; now and then one that was never made.
        if (calls_.empty() || byte >= 250) {
          line.append(std::to_string(byte));
        } else {
          auto it = calls_.end();
          std::advance(it, -1 - static_cast<std::ptrdiff_t>(byte % calls_.size()));
          line.append(std::to_string(it->first));
        }
        return;
      }
      case 'k':
        ids_.push_back(line.substr(line.rfind('"')) + std::to_string(byte) + "\"");
        line.append(std::to_string(byte));
        return;
      case 'r':
        line.append(ids_.empty() ? "null" : ids_[ids_.size() - 1 - byte % ids_.size()]);
        return;
      case 's':
        return of(kSessions);
      case 't':
        return of(kTools);
      case 'w':
        return of(kWords);
      case 'n':
        return of(kNumbers);
      case 'c':
        return of(kContents);
      default:
        line.append(input.Take(byte < 240 ? byte % 16 : (byte - 239) * 16));
    }
  }

  // What the owner wants.
  void Act(size_t what, Input& input) {
    const size_t which = input.Byte();
    const std::string_view session = kSessions[which % std::size(kSessions)];
    const std::string_view word = kWords[(which / 8) % std::size(kWords)];
    switch (what % 24) {
      case 0:
        return Asked(client_.NewSession({"/a", {McpServerStdio{"m", "/m", {}, {}, {}}}, {}, {}}, now_),
                     What::kOpen);
      case 1:
        return Asked(client_.LoadSession({session, "/a", {}, {}, {}}, now_), What::kOpen, session);
      case 2:
        return Asked(client_.ResumeSession({session, "/a", {}, {}, {}}, now_), What::kOpen, session);
      case 3:
        return client_.Adopt(session, {});
      case 4:
        return Asked(client_.ListSessions({OptText("/a"), std::nullopt, {}}, now_), What::kOther);
      case 5:
        return Asked(client_.CloseSession(session, now_), What::kOther, session);
      case 6:
        return Asked(client_.DeleteSession(session, now_), What::kOther, session);
      case 7:
        return Asked(client_.SetMode(session, word, now_), What::kOther, session);
      case 8:
        return Asked(client_.SetConfigOption(session, word, kWords[input.Byte() % std::size(kWords)], now_),
                     What::kOther, session);
      case 9:
        return Asked(client_.SetConfigOption(session, "o2", (which & 128) != 0, now_), What::kOther, session);
      case 10:
        return Asked(client_.SetModel(session, word, now_), What::kOther, session);
      case 11:
        return Prompt(session, which / 8);
      case 12:
        return Cancel(session);
      case 13:
        return Asked(client_.Authenticate((which & 1) != 0 ? "a" : word), What::kOther);
      case 14:
        return Asked(client_.Logout(now_), What::kOther);
      case 15:
        return Asked(client_.Request("_own", "{\"a\":\n1}", which * kSecond, now_), What::kOther);
      case 16:
        account.push_back(client_.Notify("_own", "[]").ok() ? 'y' : 'n');
        return;
      case 17:
        return client_.CancelCall(which);
      case 18:
      case 19:
        if (permissions_.empty()) return;
        return AnswerPermission(*std::next(permissions_.begin(), which % permissions_.size()), which / 8);
      case 20:
      case 21: {
        if (hosted_.empty()) return;
        const auto it = std::next(hosted_.begin(), which % hosted_.size());
        return AnswerHost(it->first, it->second, which / 8);
      }
      case 22:
        now_.mono_ns += static_cast<int64_t>(which) * kSecond;
        client_.Tick(now_);
        Require(client_.Deadline() > now_.mono_ns);
        return;
      default:
        return which < 250 ? void() : End();
    }
  }

  void Asked(const absl::StatusOr<uint64_t>& call, What what, std::string_view session = {}) {
    account.push_back(call.ok() ? 'y' : static_cast<char>('a' + static_cast<int>(call.status().code())));
    if (call.ok()) Require(calls_.emplace(*call, Call{what, std::string(session)}).second);
  }
  void Prompt(std::string_view session, size_t which) {
    PromptRequest request;
    request.session_id = session;
    request.prompt.emplace_back(TextContent{"t", {}, {}});
    if (which == 1) request.prompt.emplace_back(ImageContent{"QUJD", "image/png", {}, {}, {}});
    if (which == 2) request.prompt.emplace_back(AudioContent{"QUJD", "audio/wav", {}, {}});
    const bool runs = client_.prompting(session);
    const auto call = client_.Prompt(request);
    Require(!call.ok() || (!runs && client_.has(session) && client_.prompting(session)));
    if (call.ok()) Require(prompts_.emplace(session, *call).second);
    Asked(call, What::kPrompt, session);
  }
  void Cancel(std::string_view session) {
    for (const uint64_t request : client_.Cancel(session)) {
      Require(permissions_.erase(request) + hosted_.erase(request) == 1);
    }
  }
  void AnswerPermission(uint64_t request, size_t which) {
    static constexpr std::string_view kOptions[] = {"y", "n", "x"};
    const bool done = which % 4 < 3 ? client_.AnswerPermission(request, kOptions[which % 4]).ok()
                                    : client_.RefusePermission(request).ok();
    Require(done || which % 4 != 3);
    if (!done) return;
    Require(permissions_.erase(request) == 1);
    Require(!client_.RefusePermission(request).ok());
  }
  // `kind` is which of HostRequest it is.
  void AnswerHost(uint64_t request, size_t kind, size_t which) {
    absl::Status status;
    const TerminalExitStatus exit{1, "KILL", {}};
    if (which % 4 == 3) {
      status = client_.RefuseHost(request, kInternalError, "no \"such\" thing");
    } else if (which % 4 == 2) {
      // What goes with another request is not taken for this one.
      Require(!client_.Respond(request, CreateTerminalResponse{"t", {}}).ok() || kind == 2);
      if (kind == 2) hosted_.erase(request);
      return;
    } else if (kind == 0) {
      status = client_.Respond(request, ReadTextFileResponse{"text", {}});
    } else if (kind == 1 || kind == 5 || kind == 6) {
      status = client_.Respond(request, EmptyResponse{});
    } else if (kind == 2) {
      status = client_.Respond(request, CreateTerminalResponse{"t", {}});
    } else if (kind == 3) {
      status = client_.Respond(request, TerminalOutputResponse{"o", true, exit, {}});
    } else if (kind == 4) {
      status = client_.Respond(request, exit);
    } else {
      status = client_.Respond(request, CreateElicitationResponse{"accept", {{"a", 1.5}, {"b", "w"}}, {}});
    }
    Require(status.ok());
    Require(hosted_.erase(request) == 1);
  }

  // What is heard.
  void Drain() {
    while (auto event = client_.Next()) {
      account.push_back(static_cast<char>('A' + event->index()));
      std::visit([this](auto& one) { On(one); }, *event);
      account.push_back('\n');
    }
    const std::string_view written = client_.Output();
    out.append(written);
    client_.Consume(written.size());
  }

  void Tell(uint64_t number) { account.append(std::to_string(number)).append(1, ' '); }
  void Tell(std::string_view text) { account.append(text).append(1, ' '); }
  void Tell(JsonView json) { account.append(json.text()).append(1, ' '); }
  // All that a structure has views of.
  template <typename Message>
  void TellAll(Message& message) {
    const auto tell = [this](const auto& view) { Tell(view); };
    wire::TextFields fields(tell);
    fields.Go(message);
  }
  Call Ended(uint64_t call) {
    const auto node = calls_.extract(call);
    Require(!node.empty());
    Tell(call);
    return node.mapped();
  }

  void On(HandshakeDone& done) {
    (void)Ended(1);
    Require(!std::exchange(handshake_over_, true) && client_.ready() != ended_);
    TellAll(done.agent);
    Tell(done.raw);
    if (owner_.acts) Asked(client_.NewSession({"/", {}, {}, {}}, now_), What::kOpen);
  }
  void On(HandshakeFailed& failed) {
    calls_.erase(1);
    Require(!std::exchange(handshake_over_, true) && !client_.ready());
    Tell(failed.says);
  }
  void On(SessionOpened& opened) {
    const Call call = Ended(opened.call);
    Require(call.what == What::kOpen && client_.has(opened.session) && !opened.session.empty());
    Require((opened.how == SessionOpened::How::kNew) == call.session.empty() ||
            call.session == opened.session);
    Tell(opened.session);
    TellAll(opened.says);
    Tell(opened.raw);
    if (owner_.acts) Prompt(std::string(opened.session), 0);
  }
  void On(PromptEnded& over) {
    const Call call = Ended(over.call);
    Require(call.what == What::kPrompt && call.session == over.session);
    const auto prompt = prompts_.find(call.session);
    Require(prompt != prompts_.end() && prompt->second == over.call);
    prompts_.erase(prompt);
    Require(!client_.prompting(over.session));
    Require(over.stop_reason.empty() != over.failure.empty());
    Tell(over.stop_reason);
    Tell(over.failure);
    Tell(over.usage);
  }
  void On(CallDone& done) {
    const Call call = Ended(done.call);
    Require(call.what == What::kOther && call.session == done.session);
    Tell(done.method);
    std::visit([this](auto& says) { TellAll(says); }, done.says);
    Tell(done.result);
    if (done.method == "session/close" || done.method == "session/delete")
      Require(!client_.has(done.session));
  }
  void On(CallFailed& failed) {
    const Call call = Ended(failed.call);
    Require(call.what != What::kPrompt && call.session == failed.session && !failed.failure.empty());
    Tell(failed.method);
    Tell(failed.failure);
    Tell(failed.data);
  }
  void On(Updated& told) {
    Tell(told.session);
    TellAll(told.update);
    Tell(told.meta);
    Tell(told.raw);
    account.push_back(told.past ? 'p' : ' ');
    Require((told.tool_call != nullptr) == std::holds_alternative<ToolCallUpdate>(told.update));
    if (told.tool_call != nullptr) Know(told.session, *told.tool_call, told.update);
  }
  void Know(std::string_view session, const ToolCallUpdate& known, const SessionUpdate& update) {
    Require(known.tool_call_id == std::get<ToolCallUpdate>(update).tool_call_id);
    Require(client_.tool_call(session, known.tool_call_id) == &known);
    ToolCallUpdate copy = known;
    TellAll(copy);
  }
  void On(PermissionAsked& asked) {
    Require(permissions_.insert(asked.request).second);
    Tell(asked.request);
    TellAll(asked.permission);
    Tell(asked.raw);
    Know(asked.permission.session_id, *asked.tool_call, asked.permission.tool_call);
    if (owner_.acts && asked.request % 4 < 2) return AnswerPermission(asked.request, asked.request % 4 * 3);
    if (owner_.acts && asked.request % 4 == 2) Cancel(std::string(asked.permission.session_id));
  }
  void On(PermissionClosed& closed) {
    Require(permissions_.erase(closed.request) == 1);
    Tell(closed.request);
    Tell(closed.session);
  }
  void On(HostAsked& asked) {
    const size_t kind = asked.what.index();
    Require(hosted_.emplace(asked.request, kind).second);
    Require(kind < 2 ? owner_.files : kind < 7 ? owner_.terminals : owner_.forms || owner_.urls);
    Tell(asked.request);
    TellAll(asked.what);
    Tell(asked.raw);
    if (owner_.acts && asked.request % 3 < 2) AnswerHost(asked.request, kind, asked.request % 3 * 3);
  }
  void On(HostClosed& closed) {
    Require(hosted_.erase(closed.request) == 1);
    Tell(closed.request);
  }
  void On(ElicitationCompleted& done) { Tell(done.elicitation_id); }
  void On(Notified& told) {
    Tell(told.method);
    Tell(told.params);
  }
  void On(Skipped& skipped) {
    Require(!skipped.why.empty());
    Tell(skipped.why);
    Tell(skipped.line);
  }

  const Owner owner_;
  const uint8_t how_;
  Client client_;
  Now now_{1, 0};
  std::string held_;
  std::map<uint64_t, Call> calls_;  // that are open
  std::map<std::string, uint64_t, std::less<>> prompts_;
  std::set<uint64_t> permissions_;
  std::map<uint64_t, size_t> hosted_;
  std::vector<std::string> ids_;  // of the agent's requests
  bool handshake_over_ = false, ended_ = false;
};

template <typename Message>
void RequireReads(JsonView json) {
  static Reader reader;
  Require(reader.Read<Message>(json).ok());
}

struct Named {
  std::string_view name;
  void (*reads)(JsonView);
};
constexpr Named kWritten[] = {{"initialize", RequireReads<InitializeRequest>},
                              {"authenticate", RequireReads<AuthenticateRequest>},
                              {"logout", RequireReads<LogoutRequest>},
                              {"session/new", RequireReads<NewSessionRequest>},
                              {"session/load", RequireReads<LoadSessionRequest>},
                              {"session/resume", RequireReads<ResumeSessionRequest>},
                              {"session/list", RequireReads<ListSessionsRequest>},
                              {"session/close", RequireReads<CloseSessionRequest>},
                              {"session/delete", RequireReads<DeleteSessionRequest>},
                              {"session/set_mode", RequireReads<SetSessionModeRequest>},
                              {"session/set_config_option", RequireReads<SetSessionConfigOptionRequest>},
                              {"session/set_model", RequireReads<SetSessionModelRequest>},
                              {"session/prompt", RequireReads<PromptRequest>},
                              {"session/cancel", RequireReads<CancelNotification>},
                              {"$/cancel_request", RequireReads<CancelRequestNotification>},
                              {"_own", nullptr}};
// The answers, by how the ids begin.
constexpr Named kAnswers[] = {{"perm", RequireReads<RequestPermissionResponse>},
                              {"read", RequireReads<ReadTextFileResponse>},
                              {"none", RequireReads<EmptyResponse>},
                              {"term", RequireReads<CreateTerminalResponse>},
                              {"outp", RequireReads<TerminalOutputResponse>},
                              {"exit", RequireReads<TerminalExitStatus>},
                              {"form", RequireReads<CreateElicitationResponse>}};

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// All that was written can be read by who it is for, and nothing is answered more often than it was asked.
void RequireWritten(const Conversation& conversation) {
  static json::Document document({.bytes = 1 << 20, .depth = 70});
  std::map<std::string, size_t> answers;
  ForLines(conversation.out, [&](std::string_view line) {
    Require(document.Parse(line).ok());
    RequireMessage(document);
    const json::Value root = document.root();
    if (const auto method = root["method"].AsString()) {
      const auto named = std::find_if(std::begin(kWritten), std::end(kWritten),
                                      [&](const Named& one) { return one.name == *method; });
      Require(named != std::end(kWritten));
      if (named->reads != nullptr) named->reads(root["params"].text());
      return;
    }
    const std::string id(root["id"].text().text());
    const std::string_view fed = conversation.fed;
    const size_t asked = Count(fed, id);
    Require(++answers[id] <= asked);
    // An id that bytes of the input's own say too may be that of any request.
    const std::string_view request = fed.substr(0, fed.find('\n', fed.find(id)));
    if (asked > 1 || root["result"].absent() ||
        Count(request.substr(request.rfind('\n') + 1), "\"method\"") != 1) {
      return;
    }
    for (const Named& one : kAnswers) {
      if (std::string_view(id).substr(1).starts_with(one.name)) one.reads(root["result"].text());
    }
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const uint8_t how = input.Byte();
  const Owner owner(input.Byte());
  std::vector<Written> script;
  Conversation plain(owner, 0);
  plain.Run(input, script);
  RequireWritten(plain);
  if (how == 0 || owner.impatient) return 0;
  Conversation cut(owner, how);
  cut.Run(input, script);
  Require(cut.account == plain.account);
  Require(cut.out == plain.out);
  return 0;
}
