// The same messages in SQLite, as it is used where nothing may be lost: WAL, synchronous FULL.
#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>
#include <vector>

namespace watchbill::history::bench {

class Sqlite {
 public:
  // `full_text`: with an FTS5 table over the texts, kept in the same transaction. Ends the program where
  // anything fails.
  Sqlite(const std::string& file, bool full_text);
  ~Sqlite();
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  void Begin();
  void Put(std::string_view channel, std::string_view id, std::string_view json, std::string_view text);
  void Commit();
  // The JSON of the newest ones, oldest first.
  std::vector<std::string> Last(std::string_view channel, int limit);
  // How many of the newest 20 that hold all words were found, with a snippet of each.
  size_t Search(std::string_view words);

 private:
  void Run(const char* sql);
  sqlite3_stmt* Prepare(const char* sql);

  sqlite3* db_ = nullptr;
  sqlite3_stmt *put_ = nullptr, *put_text_ = nullptr, *last_ = nullptr, *search_ = nullptr;
};

}  // namespace watchbill::history::bench
