// A structure in, the text of its frame out: compact JSON, members in the document's order, stamped with `at`
// (milliseconds since 1970; the sender stamps every frame). Never fails: what is not UTF-8 becomes U+FFFD.
#pragma once

#include <string>
#include <variant>

#include "watchbill/monitorproto/agent_frames.hpp"
#include "watchbill/monitorproto/dashboard_frames.hpp"
#include "watchbill/monitorproto/runner_frames.hpp"

namespace watchbill::monitorproto {

std::string Encode(const Register& frame, int64_t at_ms);
// Stamped with its own `at` where it has one: when it happened, not when it was sent again.
std::string Encode(const Run& frame, int64_t at_ms);
std::string Encode(const Log& frame, int64_t at_ms);
std::string Encode(const Leaving& frame, int64_t at_ms);
std::string Encode(const Ok& frame, int64_t at_ms);
std::string Encode(const Error& frame, int64_t at_ms);

std::string Encode(const Terminate& frame, int64_t at_ms);
std::string Encode(const Duplicate& frame, int64_t at_ms);
std::string Encode(const MayReturn& frame, int64_t at_ms);

std::string Encode(const RunnerRegister& frame, int64_t at_ms);
std::string Encode(const RunnerStarted& frame, int64_t at_ms);
std::string Encode(const RunnerStart& frame, int64_t at_ms);
std::string Encode(const RunnerKill& frame, int64_t at_ms);

std::string Encode(const Watch& frame, int64_t at_ms);
std::string Encode(const DashboardCommand& frame, int64_t at_ms);
std::string Encode(const Did& frame, int64_t at_ms);
std::string EncodeSignIn(int64_t at_ms);

std::string Encode(const UnknownFrame& frame, int64_t at_ms);

// Whichever frame it is.
template <typename... Frames>
std::string Encode(const std::variant<Frames...>& frame, int64_t at_ms) {
  return std::visit([at_ms](const auto& one) { return Encode(one, at_ms); }, frame);
}

}  // namespace watchbill::monitorproto
