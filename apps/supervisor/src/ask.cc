#include "ask.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <memory>
#include <utility>

#include "agents.hpp"
#include "watchbill/acp/log_tail.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/options.hpp"
#include "watchbill/net/stdio.hpp"

namespace watchbill::supervisor {
namespace {

constexpr int64_t kCancelPatienceNs = 10 * kSecond;

// What an agent calls something, where a line break could pass for a line of ours.
std::string OneLine(std::string_view text) {
  std::string line = acp::Printable(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

// One conversation, from the start of the agent to its end.
class Asking {
 public:
  Asking(net::Loop& loop, AskOptions options)
      : loop_(loop),
        options_(std::move(options)),
        name_(options_.agent.name),
        to_terminal_(isatty(STDOUT_FILENO) == 1),
        // Both: it must be read and seen, and what is piped in belongs to somebody else.
        can_ask_(!options_.approve && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1),
        patience_(loop) {}

  int Run() {
    if (can_ask_) {
      net::StandardStreamsEvents on;
      on.bytes = [this](std::string_view bytes) { Typed(bytes); };
      on.output_closed = [this](std::string_view) { Interrupt(); };
      on.drained = [this] {
        if (stopped_) loop_.Stop();
      };
      auto streams = net::StandardStreams::Take(loop_, std::move(on));
      if (!streams.ok()) return net::Complain(kProgram, MessageOf(streams.status()), net::kExitFailed);
      streams_ = *std::move(streams);
    }
    AgentEvents on;
    on.changed = [this](const std::string&, acp::AgentState state, const std::string&) {
      if (state == acp::AgentState::kReady && !asked_) Open();
    };
    on.logged = [this](const std::string&, const std::string& line) {
      Aside(fmt::format("{}: {}", name_, line));
    };
    on.told = [this](const std::string&, const acp::ClientEvent& event) { Told(event); };
    // One that ended with its last answer could not be asked any more, so no call of ours has failed.
    on.gone = [this](const std::string&, const std::string& why) {
      if (asked_) Fail(why, kAskUnavailable);
    };
    on.start_failed = [this](const std::string&, const std::string& why) { Fail(why, kAskUnavailable); };
    agents_ = std::make_unique<Agents>(loop_, std::vector<AgentConfig>{options_.agent}, std::move(on),
                                       options_.environment);
    loop_.OnSignals([this](int signal) { Signalled(signal); });
    (void)agents_->Start(name_);
    loop_.Run();
    agents_.reset();
    return exit_.value_or(net::kExitFailed);
  }

 private:
  static constexpr const char* kProgram = "watchbill-supervisor";

  void Open() {
    asked_ = true;
    acp::NewSessionRequest request;
    request.cwd = options_.agent.cwd;
    (void)agents_->With(
        name_, [&](acp::Client& client) { return client.NewSession(request, net::ReadClocks()).status(); });
  }

  void Told(const acp::ClientEvent& event) {
    if (exit_) return Late(event);
    if (const auto* made = std::get_if<acp::SessionOpened>(&event)) {
      session_ = made->session;
      acp::PromptRequest prompt;
      prompt.session_id = session_;
      prompt.prompt.push_back(acp::TextContent{options_.text, std::nullopt, {}});
      (void)agents_->With(name_, [&](acp::Client& client) { return client.Prompt(prompt).status(); });
    } else if (const auto* updated = std::get_if<acp::Updated>(&event)) {
      Update(*updated);
    } else if (const auto* asked = std::get_if<acp::PermissionAsked>(&event)) {
      Permission(*asked);
    } else if (const auto* closed = std::get_if<acp::PermissionClosed>(&event)) {
      Closed(closed->request);
    } else if (const auto* ended = std::get_if<acp::PromptEnded>(&event)) {
      Ended(*ended);
    } else if (const auto* failed = std::get_if<acp::CallFailed>(&event)) {
      Fail(fmt::format("{} could not open a session: {}", name_, failed->failure), kAskUnavailable);
    } else if (const auto* skipped = std::get_if<acp::Skipped>(&event)) {
      Aside(fmt::format("{}: {}{}{}", name_, OneLine(skipped->why), skipped->line.empty() ? "" : ": ",
                        acp::Printable(skipped->line)));
    }
  }

  // The end was said already: nothing comes behind it, and nobody is asked.
  void Late(const acp::ClientEvent& event) {
    if (const auto* asked = std::get_if<acp::PermissionAsked>(&event)) Refuse(asked->request);
  }

  void Update(const acp::Updated& u) {
    if (options_.json) {
      std::string line;
      JsonWriter(line).Begin('{').Key("event").String("update").Key("update").Json(u.raw).End('}');
      return Out(line + "\n");
    }
    if (const auto* chunk = std::get_if<acp::ContentChunk>(&u.update)) {
      const auto words = acp::WordsOf(chunk->content);
      if (chunk->from != acp::ContentChunk::From::kAgent || !words) return;
      // A terminal carries out what is written to it; a file takes the bytes as they are.
      Out(to_terminal_ ? acp::Printable(*words) : std::string(*words));
    } else if (const auto* tool = std::get_if<acp::ToolCallUpdate>(&u.update)) {
      if (tool->is_new || (tool->status && (*tool->status == "completed" || *tool->status == "failed"))) {
        Aside(fmt::format("· {} ({})", TitleOf(*u.tool_call), OneLine(tool->status.value_or("pending"))));
      }
    } else if (const auto* plan = std::get_if<acp::Plan>(&u.update)) {
      size_t done = 0;
      for (const acp::PlanEntry& entry : plan->entries) done += entry.status == "completed" ? 1 : 0;
      Aside(fmt::format("· plan: {} of {} steps done", done, plan->entries.size()));
    }
  }

  static std::string TitleOf(const acp::ToolCallUpdate& call) {
    return OneLine(call.title && !call.title->empty() ? *call.title : call.tool_call_id);
  }

  struct Question {
    uint64_t request = 0;
    std::vector<std::string> options;
    std::string lines;
  };

  void Permission(const acp::PermissionAsked& asked) {
    const std::string title = TitleOf(*asked.tool_call);
    std::string allow;
    for (const std::string_view kind : {"allow_once", "allow_always"}) {
      for (const acp::PermissionOption& o : asked.permission.options) {
        if (allow.empty() && o.kind == kind) allow = o.option_id;
      }
    }
    if (options_.json) {
      std::string line;
      JsonWriter w(line);
      w.Begin('{').Key("event").String("permission").Key("request").Json(asked.raw);
      w.Key("answered")
          .String(options_.approve && !allow.empty() ? "allowed"
                  : can_ask_                         ? "asking"
                                                     : "refused");
      Out(line + "}\n");
    }
    if (options_.approve && !allow.empty()) {
      Aside(fmt::format("· allowed: {}", title));
      return Answer(asked.request, allow);
    }
    if (!can_ask_) {
      denied_ = true;
      Say(fmt::format("refused: {} ({})", title,
                      options_.approve
                          ? "it offers nothing that allows it"
                          : "there is no terminal to ask at; --approve allows what it asks for"));
      return Refuse(asked.request);
    }
    Question question{asked.request, {}, fmt::format("\n{} asks: {}\n", name_, title)};
    std::string& lines = question.lines;
    if (asked.permission.tool_call.locations) {
      for (const acp::ToolCallLocation& l : *asked.permission.tool_call.locations)
        lines += "  " + OneLine(l.path) + "\n";
    }
    if (!asked.permission.tool_call.raw_input.absent()) {
      lines += "  " + acp::Printable(asked.permission.tool_call.raw_input.text().substr(0, 2000)) + "\n";
    }
    for (const acp::PermissionOption& o : asked.permission.options) {
      question.options.emplace_back(o.option_id);
      lines += fmt::format("  {}  {} ({})\n", question.options.size(), OneLine(o.name), OneLine(o.kind));
    }
    questions_.push_back(std::move(question));
    ShowNext();
  }

  // One at a time.
  void ShowNext() {
    if (questions_.empty() || exit_ || questions_.front().request == shown_) return;
    shown_ = questions_.front().request;
    Show(questions_.front().lines);
  }
  void Show(std::string_view lines) {
    const size_t options = questions_.front().options.size();
    fmt::print(stderr, "{}{}Enter to refuse: ", lines,
               options == 0 ? "" : fmt::format("1 to {}, or ", options));
  }
  void Closed(uint64_t request) {
    std::erase_if(questions_, [&](const Question& q) { return q.request == request; });
    // The end of a turn closes them all, one after the other.
    loop_.Post([this] { ShowNext(); });
  }

  void Typed(std::string_view bytes) {
    typed_.append(bytes);
    const size_t end = typed_.find('\n');
    if (end == std::string::npos) return;
    const std::string line = typed_.substr(0, end);
    typed_.erase(0, end + 1);
    if (questions_.empty() || questions_.front().request != shown_) return;
    const uint64_t request = shown_;
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) {
      Refuse(request);
      return Closed(request);
    }
    size_t number = 0;
    for (const char c : line.substr(first)) {
      if (c < '0' || c > '9' || number > 1000) break;
      number = number * 10 + static_cast<size_t>(c - '0');
    }
    if (number < 1 || number > questions_.front().options.size()) return Show({});
    Answer(request, std::string(questions_.front().options[number - 1]));
    Closed(request);
  }

  void Answer(uint64_t request, const std::string& option) {
    (void)agents_->With(name_, [&](acp::Client& client) { return client.AnswerPermission(request, option); });
  }
  void Refuse(uint64_t request) {
    (void)agents_->With(name_,
                        [&](acp::Client& client) { return client.RefusePermission(request).status(); });
  }

  void Ended(const acp::PromptEnded& ended) {
    const std::string reason(ended.stop_reason);
    if (!ended.failure.empty()) {
      const std::string why = fmt::format("{} did not finish: {}", name_, ended.failure);
      const bool runs = agents_->With(name_, [](acp::Client&) { return absl::OkStatus(); }).ok();
      return Fail(why, runs ? static_cast<int>(net::kExitFailed) : static_cast<int>(kAskUnavailable));
    }
    int code = net::kExitDone;
    if (interrupted_) {
      code = kAskInterrupted;
    } else if (denied_) {
      code = kAskDenied;
    } else if (reason != "end_turn") {
      code = kAskCutShort;
      Say(fmt::format("{} stopped before its answer was whole: {}", name_, OneLine(reason)));
    }
    if (!options_.json && to_terminal_) Out("\n");
    Finish(code, reason, {});
  }

  void Fail(std::string_view why, int code) {
    if (exit_) return;
    if (interrupted_) return Finish(kAskInterrupted, "cancelled", {});
    Say(fmt::format("{}: {}", kProgram, acp::Printable(why)));
    Finish(code, {}, why);
  }

  void Finish(int code, std::string_view reason, std::string_view why) {
    if (exit_) return;
    exit_ = code;
    if (options_.json) {
      std::string line;
      JsonWriter w(line);
      w.Begin('{').Key("event").String("end").Key("stopReason").String(reason).Key("error").String(why);
      w.Key("exit").Int(code).End('}');
      Out(line + "\n");
    }
    agents_->StopAll([this] {
      stopped_ = true;
      if (!streams_ || streams_->unwritten() == 0) loop_.Stop();
    });
  }

  void Signalled(int signal) {
    if (interrupted_ || exit_) {
      // Again: nobody wants to wait any more. What runs is killed with its agents.
      exit_ = exit_.value_or(128 + signal);
      return loop_.Stop();
    }
    Interrupt();
  }

  void Interrupt() {
    interrupted_ = true;
    questions_.clear();
    const absl::Status cancelled = agents_->With(name_, [&](acp::Client& client) {
      if (session_.empty() || !client.prompting(session_))
        return absl::FailedPreconditionError("nothing runs");
      client.Cancel(session_);
      return absl::OkStatus();
    });
    if (!cancelled.ok()) return Finish(kAskInterrupted, "cancelled", {});
    patience_.At(net::ReadClocks().mono_ns + kCancelPatienceNs, [this] {
      Say(fmt::format("{} does not end its turn; it is ended itself.", name_));
      Finish(kAskInterrupted, "cancelled", {});
    });
  }

  void Out(std::string_view bytes) {
    if (streams_) return streams_->Write(bytes);
    // Without a terminal nothing else waits: a reader that is slow slows the agent down, as a pipe should.
    while (!bytes.empty()) {
      const ssize_t n = write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        if (!interrupted_) Interrupt();
        return;
      }
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  void Say(std::string_view line) { fmt::print(stderr, "{}\n", line); }
  void Aside(std::string_view line) {
    // What comes while it is being ended says nothing about the answer.
    if (!options_.quiet && !options_.json && !exit_) Say(line);
  }

  net::Loop& loop_;
  AskOptions options_;
  const std::string name_;
  const bool to_terminal_, can_ask_;
  std::unique_ptr<net::StandardStreams> streams_;
  std::unique_ptr<Agents> agents_;
  net::Timer patience_;
  std::string session_, typed_;
  std::deque<Question> questions_;
  uint64_t shown_ = 0;  // the request of the question that was shown last
  std::optional<int> exit_;
  bool asked_ = false, denied_ = false, interrupted_ = false, stopped_ = false;
};

}  // namespace

int Ask(net::Loop& loop, AskOptions options) { return Asking(loop, std::move(options)).Run(); }

}  // namespace watchbill::supervisor
