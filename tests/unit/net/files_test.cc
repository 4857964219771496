#include "watchbill/net/files.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "temp_folder.hpp"
#include "watchbill/base/status.hpp"

namespace watchbill::net {
namespace {

using Folder = TempFolder;

TEST_CASE("a file is replaced whole, and nothing is left beside it") {
  const Folder folder;
  const std::string path = folder.path + "/x";
  REQUIRE(ReplaceFile(path, "one").ok());
  const uint64_t version = FileVersion(path);
  REQUIRE(ReplaceFile(path, std::string(1 << 20, 'x')).ok());
  CHECK(FileVersion(path) != version);
  CHECK(ReadFile(path)->size() == 1 << 20);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
  CHECK(ReadFile(path, 100).status().code() == absl::StatusCode::kOutOfRange);
  CHECK(ReadFile(folder.path + "/no").status().code() == absl::StatusCode::kNotFound);
  CHECK(FileVersion(folder.path + "/no") == 0);
}

TEST_CASE("a failure says what and where") {
  const absl::Status status = ReplaceFile("/nonexistent-folder/x", "y");
  CHECK(MessageOf(status).find("/nonexistent-folder/x") != std::string_view::npos);
  CHECK(MessageOf(status).find("No such file") != std::string_view::npos);
}

TEST_CASE("folders are made for their user alone, and a file in the way is said") {
  const Folder folder;
  const std::string deep = folder.path + "/a/b/c";
  REQUIRE(EnsureFolder(deep).ok());
  struct stat info {};
  REQUIRE(stat(deep.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  CHECK(EnsureFolder(deep).ok());
  REQUIRE(ReplaceFile(folder.path + "/file", "").ok());
  CHECK_FALSE(EnsureFolder(folder.path + "/file").ok());
  CHECK_FALSE(EnsureFolder(folder.path + "/file/below").ok());
  CHECK_FALSE(EnsureFolder("/proc/watchbill").ok());
}

TEST_CASE("a folder is one process's at a time") {
  const Folder folder;
  auto first = FolderLock::Take(folder.path, "monitor");
  REQUIRE(first.ok());
  const auto second = FolderLock::Take(folder.path, "monitor");
  CHECK(second.status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(MessageOf(second.status()).find(std::to_string(getpid())) != std::string_view::npos);
  first->reset();
  CHECK(FolderLock::Take(folder.path, "monitor").ok());
}

TEST_CASE("a secret is the first line of its file, and an empty one is none") {
  const Folder folder;
  REQUIRE(ReplaceFile(folder.path + "/token", "s3cret\nrest").ok());
  CHECK(*ReadSecret(folder.path + "/token") == "s3cret");
  REQUIRE(ReplaceFile(folder.path + "/empty", "\n").ok());
  CHECK_FALSE(ReadSecret(folder.path + "/empty").ok());
}

// Sets one, or takes it away, and puts it back.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    Set(value);
  }
  ~Variable() { Set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void Set(const std::optional<std::string>& value) {
    value ? setenv(name_, value->c_str(), 1) : unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST_CASE("the folders are where the XDG variables say, when they say it absolutely") {
  const Variable home("HOME", "/home/ann");
  {
    const Variable config("XDG_CONFIG_HOME", "/settings"), data("XDG_DATA_HOME", "/data");
    const Variable state("XDG_STATE_HOME", "/state");
    CHECK(ConfigFolder() == "/settings");
    CHECK(DefaultDataFolder() == "/data/watchbill");
    CHECK(DefaultStateFolder() == "/state/watchbill");
  }
  for (const std::optional<std::string>& value :
       {std::optional<std::string>(), std::optional<std::string>(""), std::optional<std::string>("here")}) {
    const Variable config("XDG_CONFIG_HOME", value), data("XDG_DATA_HOME", value);
    const Variable state("XDG_STATE_HOME", value);
    CHECK(ConfigFolder() == "/home/ann/.config");
    CHECK(DefaultDataFolder() == "/home/ann/.local/share/watchbill");
    CHECK(DefaultStateFolder() == "/home/ann/.local/state/watchbill");
  }
}

TEST_CASE("the folder for what lasts as long as its user is there has to be one that can be used") {
  const Folder folder;
  REQUIRE(ReplaceFile(folder.path + "/file", "").ok());
  const auto given = [](const std::optional<std::string>& value) {
    const Variable runtime("XDG_RUNTIME_DIR", value);
    return RuntimeFolder();
  };
  CHECK(given(folder.path) == folder.path);
  CHECK(given(std::nullopt).empty());
  CHECK(given("").empty());
  CHECK(given(".").empty());
  CHECK(given(folder.path + "/none").empty());
  CHECK(given(folder.path + "/file").empty());
  const std::string closed = folder.path + "/closed";
  REQUIRE(mkdir(closed.c_str(), 0500) == 0);
  // Root may write anywhere.
  CHECK(given(closed) == (geteuid() == 0 ? closed : ""));
}

}  // namespace
}  // namespace watchbill::net
