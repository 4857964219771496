// One question to one agent, and its answer: `watchbill-supervisor ask`.
#pragma once

#include <map>
#include <string>

#include "config.hpp"
#include "watchbill/net/loop.hpp"

namespace watchbill::supervisor {

struct AskOptions {
  AgentConfig agent;
  std::string text;
  bool approve = false;  // allows whatever the agent asks for
  bool json = false;     // events on standard output, a line each
  bool quiet = false;    // nothing on standard error but failures
  std::map<std::string, std::string> environment;
};

// How it ended, beside those of every program.
enum AskExit : int {
  kAskDenied = 6,    // a permission was refused because nobody could be asked
  kAskCutShort = 7,  // the agent stopped before its answer was whole: max_tokens, max_turn_requests, refusal
  kAskUnavailable = 8,   // the agent could not be started, or ended
  kAskInterrupted = 130  // it was cancelled
};

// Runs the loop until the agent has answered and nothing of it is left. The answer goes to standard output as
// it comes, everything else to standard error.
int Ask(net::Loop& loop, AskOptions options);

}  // namespace watchbill::supervisor
