// A client and an agent that does anything: what the agent writes and what the client's owner wants are a
// program, which the input is. For some inputs it runs twice: with what the agent writes cut into pieces, and
// whole. Both tell and write the same.
//
// An input: how it is cut, what the owner does by itself, and then steps: a byte says which, with its highest
// bit that what the agent writes waits for more; what follows fills it in.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acp_fuzz.hpp"
#include "acp_session_lines.hpp"
#include "acp_session_written.hpp"
#include "texts.hpp"
#include "watchbill/acp/client.hpp"

namespace {

using namespace watchbill;
using namespace watchbill::acp;
using namespace watchbill::acp::fuzz;

constexpr size_t kMostSteps = 12;

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

class Conversation {
 public:
  std::string account, out;
  std::string fed;  // by the agent

  // As if nothing had been before; what was kept of the last run is room.
  void Run(const Owner& owner, uint8_t how, Input input, bool late) {
    owner_ = owner;
    how_ = how;
    client_ = Client(LimitsOf(owner));
    now_ = {1, 0};
    account.clear();
    out.clear();
    fed.clear();
    held_.clear();
    calls_.clear();
    prompts_.clear();
    permissions_.clear();
    hosted_.clear();
    ids_.clear();
    handshake_over_ = ended_ = false;
    Begin();
    for (size_t steps = 0; !input.empty() && steps < kMostSteps && !ended_;) {
      const uint8_t byte = input.Byte();
      const size_t what = byte & 127;
      // What the input itself holds is short, and does not count.
      if (what > 0) ++steps;
      if (what > std::size(kLines)) {
        Flush();
        Act(what, input);
        Drain();
        continue;
      }
      if (what == 0) {
        held_.append(input.TakeUntil('\n'));
      } else {
        Line(kLines[what - 1], input);
      }
      if (what > 0 || byte < 128) held_.push_back('\n');
      if (byte < 128) Flush();
    }
    Flush();
    if (!ended_) End();
    Require(calls_.empty() && permissions_.empty() && hosted_.empty() && prompts_.empty());
    Require(handshake_over_ && !client_.ready());
    Require(client_.Deadline() == kNever);
    if (late) BeLate();
  }

 private:
  enum class What { kPrompt, kOpen, kOther };
  struct Call {
    uint64_t number = 0;
    What what = What::kOther;
    std::string session;
  };
  struct Prompted {
    uint64_t call = 0;
    std::string session;
  };
  struct Hosted {
    uint64_t request = 0;
    size_t kind = 0;  // which of HostRequest it is
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
    calls_.push_back({1, What::kOther, {}});
    if (!owner_.quick) return;
    Input none(nullptr, 0);
    Line(kLines[0], none);
    held_.push_back('\n');
    Flush();
    Asked(client_.NewSession({"/", {}, {}, {}}, now_), What::kOpen);
    Line(kLines[5], none);
    held_.push_back('\n');
    Flush();
  }

  // When all that was open is over, nothing more begins.
  void BeLate() {
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
    InPieces(held_, how_, 24, [&](std::string_view piece) {
      client_.Feed(piece);
      Drain();
    });
    held_.clear();
  }

  WATCHBILL_NOT_FOLLOWED void Line(std::string_view pattern, Input& input) {
    for (;;) {
      const size_t gap = pattern.find('%');
      held_.append(pattern.substr(0, gap));
      if (gap == std::string_view::npos) return;
      Fill(pattern[gap + 1], input);
      pattern.remove_prefix(gap + 2);
    }
  }
  void Hold(uint64_t number) {
    char digits[20];
    held_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }
  WATCHBILL_NOT_FOLLOWED void Fill(char gap, Input& input) {
    const size_t byte = input.Byte();
    const auto of = [&](const auto& list) { held_.append(list[byte % std::size(list)]); };
    switch (gap) {
      case 'i':
        // The newest first; now and then one that was never made.
        if (calls_.empty() || byte >= 250) return Hold(byte);
        return Hold(calls_[calls_.size() - 1 - byte % calls_.size()].number);
      case 'k': {
        const size_t begin = held_.rfind('"');
        Hold(byte);
        ids_.push_back(held_.substr(begin) + '"');
        return;
      }
      case 'r':
        held_.append(ids_.empty() ? "null" : ids_[ids_.size() - 1 - byte % ids_.size()]);
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
        held_.append(input.Take(byte < 240 ? byte % 16 : (byte - 239) * 16));
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
        return AnswerPermission(permissions_[which % permissions_.size()], which / 8);
      case 20:
      case 21: {
        if (hosted_.empty()) return;
        const Hosted it = hosted_[which % hosted_.size()];
        return AnswerHost(it.request, it.kind, which / 8);
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
    if (!call.ok()) return;
    Require(calls_.empty() || calls_.back().number < *call);
    calls_.push_back({*call, what, std::string(session)});
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
    if (call.ok()) {
      for (const Prompted& one : prompts_) Require(one.session != session);
      prompts_.push_back({*call, std::string(session)});
    }
    Asked(call, What::kPrompt, session);
  }
  void Cancel(std::string_view session) {
    for (const uint64_t request : client_.Cancel(session)) {
      Require(TakePermission(request) != TakeHosted(request));
    }
  }
  // Whether it was open, which it is no more.
  bool TakePermission(uint64_t request) { return std::erase(permissions_, request) == 1; }
  bool TakeHosted(uint64_t request) {
    return std::erase_if(hosted_, [&](const Hosted& one) { return one.request == request; }) == 1;
  }
  void AnswerPermission(uint64_t request, size_t which) {
    static constexpr std::string_view kOptions[] = {"y", "n", "x"};
    const bool done = which % 4 < 3 ? client_.AnswerPermission(request, kOptions[which % 4]).ok()
                                    : client_.RefusePermission(request).ok();
    Require(done || which % 4 != 3);
    if (!done) return;
    Require(TakePermission(request));
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
      if (kind == 2) Require(TakeHosted(request));
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
    Require(TakeHosted(request));
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

  void Tell(uint64_t number) { fuzz::Tell(account, number); }
  void Tell(std::string_view text) { account.append(text).append(1, ' '); }
  void Tell(JsonView json) { account.append(json.text()).append(1, ' '); }
  // All that a structure has views of.
  template <typename Message>
  void TellAll(Message& message) {
    const auto tell = [this](const auto& view) { this->Tell(view); };
    wire::TextFields fields(tell);
    fields.Go(message);
  }
  Call Ended(uint64_t call) {
    Tell(call);
    const auto it =
        std::find_if(calls_.begin(), calls_.end(), [&](const Call& one) { return one.number == call; });
    Require(it != calls_.end());
    Call ended = std::move(*it);
    calls_.erase(it);
    return ended;
  }

  void On(HandshakeDone& done) {
    (void)Ended(1);
    Require(!std::exchange(handshake_over_, true) && client_.ready() != ended_);
    TellAll(done.agent);
    Tell(done.raw);
    if (owner_.acts) Asked(client_.NewSession({"/", {}, {}, {}}, now_), What::kOpen);
  }
  void On(HandshakeFailed& failed) {
    std::erase_if(calls_, [](const Call& one) { return one.number == 1; });
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
    Require(std::erase_if(prompts_, [&](const Prompted& one) {
              return one.session == call.session && one.call == over.call;
            }) == 1);
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
    Require(permissions_.empty() || permissions_.back() < asked.request);
    permissions_.push_back(asked.request);
    Tell(asked.request);
    TellAll(asked.permission);
    Tell(asked.raw);
    Know(asked.permission.session_id, *asked.tool_call, asked.permission.tool_call);
    if (owner_.acts && asked.request % 4 < 2) return AnswerPermission(asked.request, asked.request % 4 * 3);
    if (owner_.acts && asked.request % 4 == 2) Cancel(std::string(asked.permission.session_id));
  }
  void On(PermissionClosed& closed) {
    Require(TakePermission(closed.request));
    Tell(closed.request);
    Tell(closed.session);
  }
  void On(HostAsked& asked) {
    const size_t kind = asked.what.index();
    Require(hosted_.empty() || hosted_.back().request < asked.request);
    hosted_.push_back({asked.request, kind});
    Require(kind < 2 ? owner_.files : kind < 7 ? owner_.terminals : owner_.forms || owner_.urls);
    Tell(asked.request);
    TellAll(asked.what);
    Tell(asked.raw);
    if (owner_.acts && asked.request % 3 < 2) AnswerHost(asked.request, kind, asked.request % 3 * 3);
  }
  void On(HostClosed& closed) {
    Require(TakeHosted(closed.request));
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

  Owner owner_{0};
  uint8_t how_ = 0;
  Client client_;
  Now now_{1, 0};
  std::string held_;         // written, and not fed yet
  std::vector<Call> calls_;  // that are open, the oldest first, as in all of these
  std::vector<Prompted> prompts_;
  std::vector<uint64_t> permissions_;
  std::vector<Hosted> hosted_;
  std::vector<std::string> ids_;  // of the agent's requests
  bool handshake_over_ = false, ended_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Conversation cut, whole;
  Input input(data, size);
  const uint8_t how = input.Byte();
  const Owner owner(input.Byte());
  // Each for some of the inputs: they cost as much as the run.
  const uint32_t chance = Sum(input.rest()) % 4;
  cut.Run(owner, how, input, chance == 1);
  if (chance == 2 && how != 0 && !owner.impatient) {
    whole.Run(owner, 0, input, false);
    Require(cut.account == whole.account);
    Require(cut.out == whole.out);
  }
  if (chance == 3) RequireWritten(cut.fed, cut.out);
  return 0;
}
