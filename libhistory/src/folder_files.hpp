// A history's folder as files: looked at, copied, put in place, removed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace watchbill::history {

struct FolderFile {
  std::string name;
  uint64_t bytes = 0;
  bool database = false;  // by its name LevelDB's; LOCK and RESERVE are not meant
};

// CURRENT, MANIFEST-000001, 000002.log, 000003.ldb and what else LevelDB makes, but for LOCK.
bool IsDatabaseFile(std::string_view name);
// LOCK and RESERVE: of an opening, and not of the history.
bool IsOfAnOpening(std::string_view name);
// The number in the name of a table or a log.
uint64_t NumberOfFile(std::string_view name);

// What the system said, with what was tried on what and what to do.
absl::Status FileError(int error, std::string_view path, std::string_view tried);

// What is in a folder but for LOCK and RESERVE, by name; folders in it are among them, as no database's.
// NotFound, FailedPrecondition (a file), PermissionDenied, Unavailable.
absl::StatusOr<std::vector<FolderFile>> FilesOf(const std::string& folder);

// The path without slashes at its end, so that something can stand behind it. InvalidArgument: no path.
absl::StatusOr<std::string> FolderName(const std::string& folder);
// Whether one is the other or in it, by any name.
bool IsWithin(const std::string& inner, const std::string& outer);

// FailedPrecondition: something is there that is no empty folder.
absl::Status CheckFree(const std::string& folder);
// Makes a folder for something that is not whole yet; what an earlier attempt left there is removed first.
// FailedPrecondition: somebody is at it, or it is something else.
absl::Status MakePart(const std::string& part);
// Gives what is whole its name, where nothing or an empty folder is, for certain.
absl::Status PutInPlace(const std::string& part, const std::string& folder);
// Removes a database's files, LOCK and RESERVE, and the folder if nothing else is in it. OK too where it is
// not there.
absl::Status RemoveDatabase(const std::string& folder);

// What is in a folder's database files is on the disk when this returns OK.
absl::Status SyncFiles(const std::string& folder);
// Copies one file for its user alone, and syncs it. The bytes.
absl::StatusOr<uint64_t> CopyFileSynced(const std::string& from, const std::string& to);
// Whether every database file of the first folder is in the second one, byte for byte; and no others, if
// `exactly`.
bool IsCopied(const std::string& folder, const std::string& copy, bool exactly);

}  // namespace watchbill::history
