// What the client of the session target wrote, judged by what the agent had written.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "acp_fuzz.hpp"
#include "watchbill/acp/read.hpp"

namespace watchbill::acp::fuzz {

template <typename Message>
void RequireReads(JsonView json) {
  static Reader reader;
  Require(reader.Read<Message>(json).ok());
}

struct Named {
  std::string_view name;
  void (*reads)(JsonView);
};
inline constexpr Named kWritten[] = {
    {"initialize", RequireReads<InitializeRequest>},
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
inline constexpr Named kAnswers[] = {{"perm", RequireReads<RequestPermissionResponse>},
                                     {"read", RequireReads<ReadTextFileResponse>},
                                     {"none", RequireReads<EmptyResponse>},
                                     {"term", RequireReads<CreateTerminalResponse>},
                                     {"outp", RequireReads<TerminalOutputResponse>},
                                     {"exit", RequireReads<TerminalExitStatus>},
                                     {"form", RequireReads<CreateElicitationResponse>}};

WATCHBILL_NOT_FOLLOWED inline size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The lines as they are read, where they can be: an id may be spelled in another way, or mended.
inline std::string AsRead(std::string_view fed) {
  static json::Document document({.bytes = 1 << 20, .depth = 70, .mend_utf8 = true});
  std::string out;
  while (!fed.empty()) {
    const std::string_view line = fed.substr(0, fed.find('\n'));
    fed.remove_prefix(std::min(fed.size(), line.size() + 1));
    out.append(document.Parse(line).ok() ? document.root().text().text() : line).append(1, '\n');
  }
  return out;
}

// All that was written can be read by who it is for, and nothing is answered more often than it was asked.
inline void RequireWritten(std::string_view fed, std::string_view out) {
  static json::Document document({.bytes = 1 << 20, .depth = 70});
  std::map<std::string, size_t> answers;
  const std::string as_read = AsRead(fed);
  ForLines(out, [&](std::string_view line) {
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
    const size_t as_it_came = Count(fed, id), when_read = Count(as_read, id);
    const std::string_view asking = as_it_came < when_read ? as_read : fed;
    const size_t asked = std::max(as_it_came, when_read);
    Require(++answers[id] <= asked);
    // An id that bytes of the input's own say too may be that of any request.
    const std::string_view request = asking.substr(0, asking.find('\n', asking.find(id)));
    if (asked > 1 || root["result"].absent() ||
        Count(request.substr(request.rfind('\n') + 1), "\"method\"") != 1) {
      return;
    }
    for (const Named& one : kAnswers) {
      if (std::string_view(id).substr(1).starts_with(one.name)) one.reads(root["result"].text());
    }
  });
}

}  // namespace watchbill::acp::fuzz
