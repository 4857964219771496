// A message read, written, read again and written again: the way from its method to its structure.
#pragma once

#include <string>
#include <string_view>

#include "acp_recording.hpp"
#include "watchbill/base/json_text.hpp"

namespace watchbill::acp::golden {

struct Again {
  std::string problem;  // empty: read, written, read again as the same, written again as the same
  std::string written;
};

// A type of the schema, under its name there.
struct MessageType {
  std::string_view name;
  Again (*again)(JsonView json);
};

// The type of the params of a request or notification, or of the answer to it, as `from` sends it; of an
// error, whatever it answers. nullptr: no structure goes with it.
const MessageType* TypeOf(const Entry& entry);
// The JSON that is of that type.
std::string_view BodyOf(const Entry& entry);

}  // namespace watchbill::acp::golden
