// The JSON of what is kept, for the store: a Document is handed in, whose buffers serve a whole page.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "json_document.hpp"
#include "watchbill/base/json_writer.hpp"
#include "watchbill/history/message.hpp"

namespace watchbill::history {

// Into one as it is by default; whatever is in it behind a failure.
absl::Status ReadMessage(json::Document& document, std::string_view json, Message& message);
absl::StatusOr<Message> ReadMessage(json::Document& document, std::string_view json);
absl::StatusOr<Channel> ReadChannel(json::Document& document, std::string_view json);

// {"agent","session","lastSeen"}; this one is never on a socket.
void Write(JsonWriter& w, const Member& member);
// InvalidArgument: no object.
absl::StatusOr<Member> ReadMember(json::Document& document, std::string_view json);

}  // namespace watchbill::history
