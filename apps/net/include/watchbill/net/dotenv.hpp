// A folder's .env file.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace watchbill::net {

// NAME=value lines; comments, blank lines, `export ` and quotes as dotenv has them. Lines that are none of it
// are passed over.
std::map<std::string, std::string> ParseDotEnv(std::string_view text);

// Letters, digits and underscores, not beginning with a digit.
bool IsVariableName(std::string_view name);

}  // namespace watchbill::net
