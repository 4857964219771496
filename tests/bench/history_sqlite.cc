#include "history_sqlite.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

namespace watchbill::history::bench {
namespace {

void Bind(sqlite3_stmt* statement, int at, std::string_view text) {
  sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

}  // namespace

void Sqlite::Run(const char* sql) {
  char* error = nullptr;
  if (sqlite3_exec(db_, sql, nullptr, nullptr, &error) == SQLITE_OK) return;
  fmt::print(stderr, "bench_history: SQLite: {}\n", error);
  std::exit(1);
}

sqlite3_stmt* Sqlite::Prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr) == SQLITE_OK) return statement;
  fmt::print(stderr, "bench_history: SQLite: {}\n", sqlite3_errmsg(db_));
  std::exit(1);
}

Sqlite::Sqlite(const std::string& file, bool full_text) {
  if (sqlite3_open(file.c_str(), &db_) != SQLITE_OK) {
    fmt::print(stderr, "bench_history: SQLite: {}\n", sqlite3_errmsg(db_));
    std::exit(1);
  }
  Run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-8192;");
  Run("CREATE TABLE IF NOT EXISTS message (channel TEXT, id TEXT, json TEXT, PRIMARY KEY (channel, id)) "
      "WITHOUT ROWID;");
  put_ = Prepare("INSERT INTO message VALUES (?, ?, ?)");
  last_ = Prepare("SELECT json FROM message WHERE channel = ? ORDER BY id DESC LIMIT ?");
  if (!full_text) return;
  Run("CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, tokenize = 'unicode61 remove_diacritics "
      "2');");
  put_text_ = Prepare("INSERT INTO words (text) VALUES (?)");
  search_ = Prepare(
      "SELECT snippet(words, 0, '[', ']', '...', 20) FROM words WHERE words MATCH ? ORDER BY rowid DESC "
      "LIMIT 20");
}

Sqlite::~Sqlite() {
  for (sqlite3_stmt* statement : {put_, put_text_, last_, search_}) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

void Sqlite::Begin() { Run("BEGIN IMMEDIATE"); }
void Sqlite::Commit() { Run("COMMIT"); }

void Sqlite::Put(std::string_view channel, std::string_view id, std::string_view json,
                 std::string_view text) {
  Bind(put_, 1, channel);
  Bind(put_, 2, id);
  Bind(put_, 3, json);
  sqlite3_step(put_);
  sqlite3_reset(put_);
  if (put_text_ == nullptr) return;
  Bind(put_text_, 1, text);
  sqlite3_step(put_text_);
  sqlite3_reset(put_text_);
}

std::vector<std::string> Sqlite::Last(std::string_view channel, int limit) {
  std::vector<std::string> found;
  Bind(last_, 1, channel);
  sqlite3_bind_int(last_, 2, limit);
  while (sqlite3_step(last_) == SQLITE_ROW)
    found.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(last_, 0)),
                       static_cast<size_t>(sqlite3_column_bytes(last_, 0)));
  sqlite3_reset(last_);
  std::reverse(found.begin(), found.end());
  return found;
}

size_t Sqlite::Search(std::string_view words) {
  size_t found = 0;
  Bind(search_, 1, words);
  while (sqlite3_step(search_) == SQLITE_ROW) found += sqlite3_column_bytes(search_, 0) > 0 ? 1 : 0;
  sqlite3_reset(search_);
  return found;
}

}  // namespace watchbill::history::bench
