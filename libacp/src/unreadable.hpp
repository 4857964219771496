// What can still be told of a line that cannot be read: whether it was a request or an answer, and of which
// id.
#pragma once

#include <optional>
#include <string_view>

namespace watchbill::acp {

struct Address {
  std::string_view id;  // JSON: a number, a text or null; empty where it has none, or it is not to be seen
  bool is_request = false;  // else an answer
};

// `head` is the line, or its beginning; `tail` its last bytes where the middle is gone. Looks at the members
// of the outermost object alone, in time linear in what it is given. Nothing: it does not say, or no message
// was meant. (An `id` may stand first, as most write it, or last.)
std::optional<Address> AddressOf(std::string_view head, std::string_view tail);

}  // namespace watchbill::acp
