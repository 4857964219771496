#include "watchbill/net/files.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

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

}  // namespace
}  // namespace watchbill::net
