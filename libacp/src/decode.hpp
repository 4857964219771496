// Values of a parsed text in, structures of views into it out. What Reader, Peer and Client share.
#pragma once

#include "absl/status/statusor.h"
#include "json_document.hpp"
#include "watchbill/acp/messages.hpp"

namespace watchbill::acp::wire {

// The messages of WATCHBILL_ACP_MESSAGES. InvalidArgument says which member is missing or wrong, and what was
// expected.
template <typename Message>
absl::StatusOr<Message> Read(const json::Value& value);

// The params of `session/update` into what is there, since it is read most often; `raw` is the update as it
// came.
absl::Status ReadUpdate(const json::Value& params, Text& session, SessionUpdate& update, Meta& meta,
                        JsonView& raw);

}  // namespace watchbill::acp::wire
