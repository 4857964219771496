// The agent of the Agent Client Protocol on this process's standard input and output.
#pragma once

#include "acp_agent.hpp"

namespace watchbill::example {

// Speaks until standard input ends, standard output is closed, or a signal asks it to end; gives the exit
// code, with a line on standard error where it is not 0. To be called before a net::Loop is made. One call a
// process.
int SpeakAcp(AcpOptions options);

}  // namespace watchbill::example
