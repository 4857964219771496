#include "ask.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
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
    on.gone = [](const std::string&, const std::string&) {};
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
    (void)agents_->With(name_, [&](acp::Client& client) {
      return client.NewSession({options_.agent.cwd, {}}, net::ReadClocks()).status();
    });
  }

  void Told(const acp::ClientEvent& event) {
    if (const auto* made = std::get_if<acp::SessionMade>(&event)) {
      session_ = made->session.session;
      acp::ContentBlock block;
      block.text = options_.text;
      const acp::PromptRequest prompt{session_, {block}};
      (void)agents_->With(name_, [&](acp::Client& client) { return client.Prompt(prompt).status(); });
    } else if (const auto* updated = std::get_if<acp::Updated>(&event)) {
      Update(updated->update);
    } else if (const auto* asked = std::get_if<acp::PermissionAsked>(&event)) {
      Permission(*asked);
    } else if (const auto* closed = std::get_if<acp::PermissionClosed>(&event)) {
      if (question_ && question_->request == closed->request) question_.reset();
    } else if (const auto* ended = std::get_if<acp::PromptEnded>(&event)) {
      Ended(*ended);
    } else if (const auto* failed = std::get_if<acp::CallFailed>(&event)) {
      Fail(fmt::format("{} could not open a session: {}", name_, failed->failure), kAskUnavailable);
    } else if (const auto* skipped = std::get_if<acp::Skipped>(&event)) {
      Aside(fmt::format("{}: {}{}{}", name_, skipped->why, skipped->line.empty() ? "" : ": ",
                        acp::Printable(skipped->line)));
    }
  }

  void Update(const acp::SessionUpdate& u) {
    if (options_.json) {
      std::string line;
      JsonWriter(line).Begin('{').Key("event").String("update").Key("update").Json(u.raw).End('}');
      return Out(line + "\n");
    }
    if (const auto* chunk = std::get_if<acp::Chunk>(&u.update)) {
      if (chunk->from != acp::Chunk::From::kAgent || !chunk->content.text) return;
      // A terminal carries out what is written to it; a file takes the bytes as they are.
      Out(to_terminal_ ? acp::Printable(*chunk->content.text) : std::string(*chunk->content.text));
    } else if (const auto* tool = std::get_if<acp::ToolCallUpdate>(&u.update)) {
      std::string& title = titles_[std::string(tool->id)];
      if (tool->title) title = acp::Printable(*tool->title);
      if (tool->is_new || (tool->status && (*tool->status == "completed" || *tool->status == "failed"))) {
        Aside(fmt::format("· {} ({})", title, acp::Printable(tool->status.value_or("pending"))));
      }
    } else if (const auto* plan = std::get_if<acp::Plan>(&u.update)) {
      size_t done = 0;
      for (const acp::PlanEntry& entry : plan->entries) done += entry.status == "completed" ? 1 : 0;
      Aside(fmt::format("· plan: {} of {} steps done", done, plan->entries.size()));
    }
  }

  struct Question {
    uint64_t request = 0;
    std::vector<std::string> options;
  };

  void Permission(const acp::PermissionAsked& asked) {
    const std::string title = acp::Printable(asked.permission.tool.title.value_or(asked.permission.tool.id));
    std::string allow;
    for (const std::string_view kind : {"allow_once", "allow_always"}) {
      for (const acp::PermissionOption& o : asked.permission.options) {
        if (allow.empty() && o.kind == kind) allow = o.id;
      }
    }
    if (options_.json) {
      std::string line;
      JsonWriter w(line);
      w.Begin('{').Key("event").String("permission").Key("request").Json(asked.permission.raw);
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
    Question question{asked.request, {}};
    std::string lines = fmt::format("\n{} asks: {}\n", name_, title);
    if (asked.permission.tool.locations) {
      for (const acp::Location& l : *asked.permission.tool.locations)
        lines += "  " + acp::Printable(l.path) + "\n";
    }
    if (!asked.permission.tool.raw_input.absent()) {
      lines += "  " + acp::Printable(asked.permission.tool.raw_input.text().substr(0, 2000)) + "\n";
    }
    for (const acp::PermissionOption& o : asked.permission.options) {
      question.options.emplace_back(o.id);
      lines += fmt::format("  {}  {} ({})\n", question.options.size(), acp::Printable(o.name),
                           acp::Printable(o.kind));
    }
    lines += fmt::format("1 to {}, or Enter to refuse: ", question.options.size());
    question_ = std::move(question);
    fmt::print(stderr, "{}", lines);
  }

  void Typed(std::string_view bytes) {
    typed_.append(bytes);
    const size_t end = typed_.find('\n');
    if (end == std::string::npos) return;
    const std::string line = typed_.substr(0, end);
    typed_.erase(0, end + 1);
    if (!question_) return;
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) {
      const uint64_t request = std::exchange(question_, std::nullopt)->request;
      return Refuse(request);
    }
    size_t number = 0;
    for (const char c : line.substr(first)) {
      if (c < '0' || c > '9' || number > 1000) break;
      number = number * 10 + static_cast<size_t>(c - '0');
    }
    if (number < 1 || number > question_->options.size()) {
      fmt::print(stderr, "1 to {}, or Enter to refuse: ", question_->options.size());
      return;
    }
    const Question question = *std::exchange(question_, std::nullopt);
    Answer(question.request, question.options[number - 1]);
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
      return Fail(fmt::format("{} did not finish: {}", name_, acp::Printable(ended.failure)),
                  ended.code == 0 ? static_cast<int>(kAskUnavailable) : static_cast<int>(net::kExitFailed));
    }
    int code = net::kExitDone;
    if (reason == "cancelled" || interrupted_) {
      code = kAskInterrupted;
    } else if (denied_) {
      code = kAskDenied;
    } else if (reason != "end_turn") {
      code = kAskCutShort;
      Say(fmt::format("{} stopped before its answer was whole: {}", name_, acp::Printable(reason)));
    }
    if (!options_.json && to_terminal_) Out("\n");
    Finish(code, reason, {});
  }

  void Fail(std::string_view why, int code) {
    if (exit_) return;
    if (interrupted_) return Finish(kAskInterrupted, "cancelled", {});
    fmt::print(stderr, "{}: {}\n", kProgram, why);
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
  std::map<std::string, std::string> titles_;
  std::optional<Question> question_;
  std::optional<int> exit_;
  bool asked_ = false, denied_ = false, interrupted_ = false, stopped_ = false;
};

}  // namespace

int Ask(net::Loop& loop, AskOptions options) { return Asking(loop, std::move(options)).Run(); }

}  // namespace watchbill::supervisor
