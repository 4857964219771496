#include "watchbill/net/dotenv.hpp"

#include <doctest/doctest.h>

namespace watchbill::net {
namespace {

TEST_CASE("a .env file is read as dotenv has it") {
  const auto env = ParseDotEnv(
      "# comment\n\nA=1\n export B = two words \r\nC=\"quoted # not a comment\" # one\nD='x=y'\nE=\nF=a # "
      "b\n1G=no\nnot a line\nA=again\n");
  const std::map<std::string, std::string> expected{
      {"A", "again"}, {"B", "two words"}, {"C", "quoted # not a comment"},
      {"D", "x=y"},   {"E", ""},          {"F", "a"}};
  CHECK(env == expected);
}

}  // namespace
}  // namespace watchbill::net
