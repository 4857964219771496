// What an agent is told.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "watchbill/history/message.hpp"

namespace watchbill::channels {

// The text parts of a message.
std::string TextOf(const history::Message& message);

// "/command arguments" where the text is a command for this agent: it begins with a slash, and what it names
// before a colon, where it names something, is this agent. Commands are sent alone. (Reference, "Who answers
// a message"; in a direct conversation `/x:cmd` is text unless x is its agent.)
std::optional<std::string> CommandFor(std::string_view text, std::string_view agent);

// The messages that it has not seen, as one text; each cut at so many characters. Empty where there is none
// worth telling: system messages and those without text are not.
std::string Told(const std::vector<history::Message>& messages, size_t characters);

}  // namespace watchbill::channels
