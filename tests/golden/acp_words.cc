#include "acp_words.hpp"

#include <fmt/core.h>

#include "watchbill/acp/encode.hpp"

namespace watchbill::acp::golden {

namespace {

struct Say {
  std::string operator()(const HandshakeDone& e) const { return "handshake " + Encode(e.agent); }
  std::string operator()(const HandshakeFailed& e) const {
    static constexpr std::string_view kWhy[] = {"version", "refused", "timeout", "not ACP", "ended"};
    return fmt::format("handshake failed ({}): {}", kWhy[static_cast<size_t>(e.why)], e.says);
  }
  std::string operator()(const SessionOpened& e) const {
    static constexpr std::string_view kHow[] = {"", " loaded", " resumed"};
    const std::string says = Encode(e.says);
    return fmt::format("session {} {}{}{}", e.call, e.session, kHow[static_cast<size_t>(e.how)],
                       says == "{}" ? "" : " " + says);
  }
  std::string operator()(const PromptEnded& e) const {
    return fmt::format("prompt {} of {}: {}{}", e.call, e.session, e.stop_reason, e.failure);
  }
  std::string operator()(const CallDone& e) const {
    const std::string says = std::visit([](const auto& it) { return Encode(it); }, e.says);
    return fmt::format("done {} {}{}{}: {}", e.call, e.method, e.session.empty() ? "" : " of ", e.session,
                       says);
  }
  std::string operator()(const CallFailed& e) const {
    return fmt::format("failed {} {}{}{}: {}", e.call, e.method, e.session.empty() ? "" : " of ", e.session,
                       e.failure);
  }
  std::string operator()(const Updated& e) const {
    SessionNotification told;
    told.session_id = e.session;
    told.update = e.update;
    told.meta = e.meta;
    return (e.past ? "past " : "update ") + Encode(told);
  }
  std::string operator()(const PermissionAsked& e) const { return "permission " + Encode(e.permission); }
  std::string operator()(const PermissionClosed& e) const { return fmt::format("closed {}", e.request); }
  std::string operator()(const HostAsked& e) const {
    static constexpr std::string_view kWhat[] = {
        "fs/read_text_file",      "fs/write_text_file", "terminal/create",  "terminal/output",
        "terminal/wait_for_exit", "terminal/kill",      "terminal/release", "elicitation/create"};
    return fmt::format("asked {} {} {}", e.request, kWhat[e.what.index()],
                       std::visit([](const auto& it) { return Encode(it); }, e.what));
  }
  std::string operator()(const HostClosed& e) const { return fmt::format("host closed {}", e.request); }
  std::string operator()(const ElicitationCompleted& e) const {
    return fmt::format("completed {}", e.elicitation_id);
  }
  std::string operator()(const Notified& e) const {
    return fmt::format("notified {} {}", e.method, e.params.text());
  }
  std::string operator()(const Skipped& e) const { return fmt::format("skipped: {}", e.why); }
};

std::string Tool(const ToolCallUpdate* tool) {
  return tool == nullptr ? "" : "\n  tool call " + Encode(*tool);
}

struct SayMore {
  std::string operator()(const HandshakeDone& e) const { return "\n  raw " + std::string(e.raw.text()); }
  std::string operator()(const SessionOpened& e) const { return "\n  raw " + std::string(e.raw.text()); }
  std::string operator()(const PromptEnded& e) const {
    return fmt::format("\n  code {} usage {}", e.code, e.usage.text());
  }
  std::string operator()(const CallDone& e) const { return "\n  raw " + std::string(e.result.text()); }
  std::string operator()(const CallFailed& e) const {
    return fmt::format("\n  code {} data {}", e.code, e.data.text());
  }
  std::string operator()(const Updated& e) const {
    return "\n  raw " + std::string(e.raw.text()) + Tool(e.tool_call);
  }
  std::string operator()(const PermissionAsked& e) const {
    return fmt::format("\n  request {} raw {}", e.request, e.raw.text()) + Tool(e.tool_call);
  }
  std::string operator()(const PermissionClosed& e) const { return "\n  session " + std::string(e.session); }
  std::string operator()(const HostAsked& e) const { return "\n  raw " + std::string(e.raw.text()); }
  std::string operator()(const Skipped& e) const { return "\n  line " + std::string(e.line); }
  template <typename Other>
  std::string operator()(const Other&) const {
    return {};
  }
};

}  // namespace

std::string InWords(const ClientEvent& event) { return std::visit(Say{}, event); }
std::string InFull(const ClientEvent& event) { return InWords(event) + std::visit(SayMore{}, event); }

}  // namespace watchbill::acp::golden
