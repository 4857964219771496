#include "agents_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "temp_folder.hpp"
#include "watchbill/base/status.hpp"
#include "watchbill/net/files.hpp"

namespace watchbill::monitor {
namespace {

constexpr const char* kId = "bbed7a48-0000-4000-8000-000000000001";

struct Folder : TempFolder {
  std::string File() const { return path + "/agents.json"; }
};

std::string Refusal(const std::string& content) {
  const Folder folder;
  REQUIRE(net::ReplaceFile(folder.File(), content).ok());
  const auto file = AgentsFile::Load(folder.File());
  const std::string kept = *net::ReadFile(folder.File());
  CHECK(kept == content);
  return file.ok() ? "" : std::string(MessageOf(file.status()));
}

TEST_CASE("M10 no file is an empty list; what is put is on disk, whole, for its user alone") {
  const Folder folder;
  auto file = AgentsFile::Load(folder.File());
  REQUIRE(file.ok());
  CHECK(file->agents().empty());
  REQUIRE(file->Put({kId, "Name", "/srv/x", "", "note"}).ok());
  struct stat info {};
  REQUIRE(stat(folder.File().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const auto again = AgentsFile::Load(folder.File());
  REQUIRE(again.ok());
  REQUIRE(again->agents().size() == 1);
  CHECK(again->agents()[0].folder == "/srv/x");
  CHECK_FALSE(file->Changed());
  REQUIRE(file->Remove(kId).ok());
  CHECK(file->Remove(kId).code() == absl::StatusCode::kNotFound);
  CHECK(AgentsFile::Load(folder.File())->agents().empty());
}

TEST_CASE("M10 keys that are not known here, and the order of all, are kept") {
  const Folder folder;
  const std::string content =
      "{\n  \"runaway\": {\n    \"tokens\": 50000,\n    \"share\": 0.1\n  },\n  \"agents\": [\n    {\n      "
      "\"note\": \"old\",\n"
      "      \"colour\": \"blue\",\n      \"id\": \"bbed7a48-0000-4000-8000-000000000001\",\n      \"name\": "
      "\"A\"\n    }\n  ],\n  \"z\": null\n}\n";
  REQUIRE(net::ReplaceFile(folder.File(), content).ok());
  auto file = AgentsFile::Load(folder.File());
  REQUIRE(file.ok());
  REQUIRE(file->Put({kId, "B", "/srv/b", "", ""}).ok());
  CHECK(*net::ReadFile(folder.File()) ==
        "{\n  \"runaway\": {\n    \"tokens\": 50000,\n    \"share\": 0.1\n  },\n  \"agents\": [\n    {\n"
        "      \"colour\": \"blue\",\n      \"id\": \"bbed7a48-0000-4000-8000-000000000001\",\n      "
        "\"name\": \"B\",\n      \"folder\": \"/srv/b\"\n    }\n  ],\n  \"z\": null\n}\n");
}

TEST_CASE("M10 what cannot be read is refused aloud, with its place, and left as it is") {
  CHECK(Refusal("{\n  \"agents\": [,]\n}").find("line 2, column 14") != std::string::npos);
  CHECK(Refusal("").find("line 1") != std::string::npos);
  CHECK(Refusal("[]").find("a list `agents`") != std::string::npos);
  CHECK(Refusal("{\"agents\": 7}").find("a list `agents`") != std::string::npos);
  CHECK(Refusal(
            R"({"agents":[{"id":"bbed7a48-0000-4000-8000-000000000001","name":"A"},{"id":"x","name":"B"}]})")
            .find("agent 2 of the list: `id`") != std::string::npos);
  CHECK(Refusal(R"({"agents":[{"id":"bbed7a48-0000-4000-8000-000000000001","name":" "}]})")
            .find("`name` is missing") != std::string::npos);
  CHECK(Refusal(R"({"agents":[{"id":"bbed7a48-0000-4000-8000-000000000001","name":7}]})")
            .find("`name` is a text") != std::string::npos);
  CHECK(
      Refusal(
          R"({"agents":[{"id":"bbed7a48-0000-4000-8000-000000000001","name":"A"},{"id":"bbed7a48-0000-4000-8000-000000000001","name":"A"}]})")
          .find("stands there twice") != std::string::npos);
}

TEST_CASE("M10 a file that somebody else wrote is seen") {
  const Folder folder;
  auto file = AgentsFile::Load(folder.File());
  REQUIRE(file.ok());
  CHECK_FALSE(file->Changed());
  REQUIRE(net::ReplaceFile(folder.File(), "{\"agents\":[]}").ok());
  CHECK(file->Changed());
}

TEST_CASE("a list that cannot be written is as it was") {
  const Folder folder;
  auto file = AgentsFile::Load(folder.path + "/gone/agents.json");
  REQUIRE(file.ok());
  CHECK_FALSE(file->Put({kId, "Name", "", "", ""}).ok());
  CHECK(file->agents().empty());
}

TEST_CASE("M7 what is posted is checked, and the member that is wrong is named") {
  const auto wrong = [](const char* body) {
    std::string field;
    return ReadKeyedAgent(body, field).ok() ? std::string("accepted") : field;
  };
  CHECK(wrong(R"({"id":"bbed7a48-0000-4000-8000-000000000001","name":"A"})") == "accepted");
  CHECK(wrong(R"({"name":"A"})") == "id");
  CHECK(wrong(R"({"id":"bbed7a48-0000-4000-8000-000000000001"})") == "name");
  CHECK(wrong(R"({"id":"bbed7a48-0000-4000-8000-000000000001","name":"A","folder":7})") == "folder");
  CHECK(wrong("not JSON") == "");
  CHECK_FALSE(IsFlowId("bbed7a48-0000-4000-8000-00000000000g"));
  CHECK_FALSE(IsFlowId("bbed7a480000-4000-8000-0000000000001"));
}

}  // namespace
}  // namespace watchbill::monitor
