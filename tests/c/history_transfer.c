/* Search, export and import, copies, and what is done about damage, in C. */
#define _XOPEN_SOURCE 700
#include "history_fixture.h"

static wb_history* filled(const char* name, int messages) {
  wb_history* history = opened(name);
  wb_history_batch* batch = NULL;
  CHECK(wb_history_batch_new(&batch, NULL) == WB_OK);
  CHECK(wb_history_batch_put_channel(
            batch, str("{\"id\":\"" CHANNEL "\",\"name\":\"Bridge\",\"members\":[\"codex\"]}"), NULL) ==
        WB_OK);
  CHECK(wb_history_batch_put_member(batch, str(CHANNEL), str("{\"agent\":\"codex\",\"session\":\"s\"}"),
                                    NULL) == WB_OK);
  CHECK(wb_history_batch_put_record(batch, WB_HISTORY_SETTINGS, str("k"), str(""), str("1"), NULL) == WB_OK);
  CHECK(wb_history_batch_append_trail(batch, str("{\"who\":\"mia\"}"), NULL) == WB_OK);
  CHECK(wb_history_commit(history, batch, NULL) == WB_OK);
  wb_history_batch_free(batch);
  keep_messages(history, CHANNEL, 1, messages);
  return history;
}

static int messages_in(wb_history* history) {
  wb_history_cursor* cursor = NULL;
  wb_str message;
  int count = 0;
  CHECK(wb_history_cursor_new(history, str(CHANNEL), 1, &cursor, NULL) == WB_OK);
  while (wb_history_cursor_next(cursor, &message, NULL) == WB_OK) ++count;
  wb_history_cursor_free(cursor);
  return count;
}

static void searching(void) {
  wb_history* history = opened("search");
  wb_history_batch* batch = NULL;
  wb_history_hits* hits = NULL;
  wb_history_hit hit = {0};
  wb_history_found found = {0};
  wb_history_indexed indexed = {0};
  wb_history_query query;
  wb_error err = {0};
  int seen = 0;
  CHECK(wb_history_batch_new(&batch, &err) == WB_OK);
  for (int n = 1; n <= 30; ++n)
    put_message(batch, CHANNEL, n, n % 3 == 0 ? "the berth \xC3\xA9t\xC3\xA9 is free" : "nothing");
  CHECK(wb_history_commit(history, batch, &err) == WB_OK);
  wb_history_batch_free(batch);

  indexed.struct_size = sizeof indexed;
  CHECK(wb_history_index_step(history, 10, 0, &indexed, &err) == 1 && indexed.messages == 10);
  while (wb_history_index_step(history, 1000, 1, NULL, &err) == 1) {
  }
  wb_history_query_init(&query);
  CHECK(query.limit == 20);
  query.text = str("ETE berth");
  query.limit = 4;
  hit.struct_size = sizeof hit;
  found.struct_size = sizeof found;
  for (;;) {
    char next[256];
    CHECK(wb_history_search(history, &query, &hits, &err) == WB_OK);
    for (uint64_t i = 0; i < wb_history_hits_count(hits); ++i, ++seen) {
      CHECK(wb_history_hits_at(hits, i, &hit) == WB_OK);
      CHECK(str_is(hit.channel, CHANNEL) && hit.role == WB_HISTORY_USER && hit.created_ms == 1790878320000);
      CHECK(hit.mark_count == 2 && hit.cut_before == 0);
      CHECK(memcmp(hit.snippet.data + hit.marks[0].begin, "berth", hit.marks[0].end - hit.marks[0].begin) ==
            0);
      CHECK(memcmp(hit.snippet.data + hit.marks[1].begin, "\xC3\xA9t\xC3\xA9", 5) == 0);
    }
    CHECK(wb_history_hits_at(hits, 99, &hit) == 1);
    wb_history_hits_about(hits, &found);
    CHECK(found.partial == 0 && found.unreadable == 0);
    CHECK(found.next.size < sizeof next);
    memcpy(next, found.next.data, found.next.size);
    query.after.data = next;
    query.after.size = found.next.size;
    if (found.more == 0) break;
    wb_history_hits_free(hits);
  }
  wb_history_hits_free(hits);
  CHECK(seen == 10);

  query.after = str("");
  query.channel = str(OTHER);
  CHECK(wb_history_search(history, &query, &hits, &err) == WB_OK && wb_history_hits_count(hits) == 0);
  wb_history_hits_free(hits);
  query.text = str("...");
  CHECK(wb_history_search(history, &query, &hits, &err) == -WB_INVALID_ARGUMENT);
  query.text = str("berth");
  query.limit = 0;
  CHECK(wb_history_search(history, &query, &hits, &err) == -WB_INVALID_ARGUMENT);

  query.limit = 20;
  query.channel = str("");
  CHECK(wb_history_index_rebuild(history, &err) == WB_OK);
  CHECK(wb_history_search(history, &query, &hits, &err) == WB_OK);
  wb_history_hits_about(hits, &found);
  CHECK(found.partial == 1);
  wb_history_hits_free(hits);
  while (wb_history_index_step(history, 1000, 1, NULL, &err) == 1) {
  }
  CHECK(wb_history_search(history, &query, &hits, &err) == WB_OK && wb_history_hits_count(hits) == 10);
  wb_history_hits_free(hits), wb_history_hits_free(NULL);
  wb_history_free(history);
}

typedef struct written {
  char* data;
  size_t size, stop_at;
  wb_history* history; /* that is committed to, and tried to be closed, meanwhile */
  int committed;
} written;

static int32_t take(void* user, const char* data, size_t size) {
  written* const to = user;
  if (to->stop_at > 0 && to->size + size > to->stop_at) return -1;
  to->data = realloc(to->data, to->size + size);
  memcpy(to->data + to->size, data, size);
  to->size += size;
  if (to->history != NULL) {
    wb_error err = {0};
    keep_messages(to->history, CHANNEL, 5000 + to->committed, 5000 + to->committed);
    ++to->committed;
    CHECK(wb_history_close(to->history, &err) == -WB_FAILED_PRECONDITION);
    CHECK(strstr(err.text, "calls back") != NULL);
  }
  return 0;
}

static void transfer(void) {
  wb_history *history = filled("from", 2000), *other = NULL;
  wb_history_export_options options;
  wb_history_import_options how;
  wb_history_import* import = NULL;
  wb_history_text* report = NULL;
  wb_error err = {0};
  written file = {0}, again = {0}, page = {0};
  wb_history_markdown_options markdown;
  uint64_t lines = 0, bytes = 0;
  wb_str piece;

  wb_history_export_options_init(&options);
  options.ledger = options.trail = 1;
  file.history = history;
  CHECK(wb_history_export(history, &options, take, &file, &report, &err) == WB_OK);
  CHECK(file.committed > 1);
  CHECK(told(report, "channels") == 1 && told(report, "messages") == 2000 && told(report, "records") == 1 &&
        told(report, "trail") == 1 && told(report, "unreadable") == 0);
  wb_history_text_free(report);

  other = opened("to");
  CHECK(wb_history_import_new(other, NULL, &import, &err) == WB_OK);
  for (size_t at = 0; at < file.size; at += piece.size) {
    piece.data = file.data + at;
    piece.size = file.size - at < 1000 ? file.size - at : 1000;
    CHECK(wb_history_import_feed(import, piece, &err) == WB_OK);
  }
  CHECK(wb_history_import_end(import, &err) == WB_OK);
  wb_history_import_progress(import, &lines, &bytes);
  // Before them all what it is, and behind them how many.
  CHECK(lines == 1 + 1 + 1 + 2000 + 1 + 1 + 1 && bytes == file.size);
  wb_history_import_progress(import, NULL, NULL);
  CHECK(wb_history_import_report(import, &report, &err) == WB_OK);
  CHECK(str_has(wb_history_text_get(report), "\"messages\":2000") && told(report, "bad") == 0);
  CHECK(str_has(wb_history_text_get(report), "\"cut\":\"\""));
  wb_history_text_free(report);
  CHECK(wb_history_import_feed(import, str("x"), &err) == -WB_FAILED_PRECONDITION);
  wb_history_import_free(import);
  CHECK(messages_in(other) == 2000);
  CHECK(wb_history_export(other, &options, take, &again, NULL, &err) == WB_OK);
  CHECK(again.size == file.size && memcmp(again.data, file.data, file.size) == 0);

  /* A bad line, and no end. */
  wb_history_import_options_init(&how);
  CHECK(wb_history_import_new(other, &how, &import, &err) == WB_OK);
  CHECK(wb_history_import_feed(import, str("{\"watchbill\":\"history\",\"format\":1}\n{\"message\":{}}\n"),
                               &err) == WB_OK);
  CHECK(wb_history_import_end(import, &err) == WB_OK);
  CHECK(wb_history_import_report(import, &report, &err) == WB_OK);
  CHECK(told(report, "bad") == 1 && told(report, "line") == 2);
  CHECK(!str_has(wb_history_text_get(report), "\"cut\":\"\""));
  wb_history_text_free(report);
  wb_history_import_free(import);
  how.strict = 1;
  CHECK(wb_history_import_new(other, &how, &import, &err) == WB_OK);
  CHECK(wb_history_import_feed(import, str("no export\n"), &err) == -WB_INVALID_ARGUMENT);
  CHECK(strstr(err.text, "this is no exported history") != NULL);
  /* What it was made of may go before it does. */
  wb_history_free(other);
  CHECK(wb_history_import_feed(import, str("{}\n"), &err) == -WB_FAILED_PRECONDITION);
  wb_history_import_free(import), wb_history_import_free(NULL);

  again.stop_at = again.size = 1000;
  CHECK(wb_history_export(history, NULL, take, &again, NULL, &err) == -WB_CANCELLED);
  options.channel = str(OTHER);
  CHECK(wb_history_export(history, &options, take, &again, NULL, &err) == -WB_INVALID_ARGUMENT);
  options.ledger = options.trail = 0;
  CHECK(wb_history_export(history, &options, take, &again, NULL, &err) == -WB_NOT_FOUND);

  wb_history_markdown_options_init(&markdown);
  markdown.words = str("{\"user\":\"Benutzer\"}");
  CHECK(wb_history_export_markdown(history, str(CHANNEL), &markdown, take, &page, &report, &err) == WB_OK);
  piece.data = page.data;
  piece.size = page.size;
  CHECK(str_has(piece, "# Bridge\n") && str_has(piece, "Benutzer") && str_has(piece, "number 2000"));
  CHECK(told(report, "messages") == 2000 + file.committed);
  wb_history_text_free(report);
  markdown.words = str("{\"users\":\"Benutzer\"}");
  CHECK(wb_history_export_markdown(history, str(CHANNEL), &markdown, take, &page, NULL, &err) ==
        -WB_INVALID_ARGUMENT);
  CHECK(strstr(err.text, "\"users\"") != NULL);
  free(file.data), free(again.data), free(page.data);
  wb_history_free(history);
}

static int32_t stop(void* user, uint64_t done, uint64_t of) {
  (void)done, (void)of;
  ++*(int*)user;
  return -1;
}

static void copies(void) {
  wb_history *history = filled("copied", 100), *copy = NULL;
  wb_history_text* report = NULL;
  wb_error err = {0};
  int calls = 0;
  CHECK(wb_history_backup(history, str(in_folder("copy")), stop, &calls, NULL, &err) == -WB_CANCELLED);
  CHECK(calls == 1 && access(in_folder("copy"), F_OK) != 0);
  CHECK(wb_history_backup(history, str(in_folder("copied")), NULL, NULL, NULL, &err) ==
        -WB_FAILED_PRECONDITION);
  CHECK(wb_history_backup(history, str(in_folder("copy")), NULL, NULL, &report, &err) == WB_OK);
  CHECK(told(report, "keys") > 100 && str_has(wb_history_text_get(report), "\"damaged\":false"));
  wb_history_text_free(report);
  copy = opened("copy");
  CHECK(messages_in(copy) == 100);

  /* Somebody has it. */
  CHECK(wb_history_inspect(str(in_folder("copy")), 0, &report, &err) == WB_OK);
  CHECK(told(report, "holder") == (long)getpid() && told(report, "code") == WB_FAILED_PRECONDITION);
  CHECK(str_has(wb_history_text_get(report), "\"records\":null"));
  wb_history_text_free(report);
  CHECK(wb_history_repair(str(in_folder("copy")), NULL, &err) == -WB_FAILED_PRECONDITION);
  wb_history_free(copy);
  wb_history_free(history);

  CHECK(wb_history_inspect(str(in_folder("copy")), 1, &report, &err) == WB_OK);
  CHECK(str_has(wb_history_text_get(report), "\"holder\":null") && told(report, "code") == WB_OK);
  CHECK(str_has(wb_history_text_get(report), "\"messages\":{\"readable\":100,\"unreadable\":0}"));
  wb_history_text_free(report);
  CHECK(wb_history_inspect(str(in_folder("nothing")), 0, &report, &err) == WB_OK);
  CHECK(str_has(wb_history_text_get(report), "\"there\":false"));
  wb_history_text_free(report);
  CHECK(wb_history_repair(str(in_folder("copy")), &report, &err) == 1);
  CHECK(str_has(wb_history_text_get(report), "\"needed\":false"));
  wb_history_text_free(report);
}

static void damage(void) {
  wb_history* history = filled("damaged", 100);
  wb_history_text* report = NULL;
  wb_error err = {0};
  char path[160];
  wb_history_free(history);
  snprintf(path, sizeof path, "%s/CURRENT", in_folder("damaged"));
  CHECK(remove(path) == 0);
  CHECK(wb_history_open(str(in_folder("damaged")), NULL, &history, &err) == -WB_DATA_LOSS);
  CHECK(strstr(err.text, in_folder("damaged")) != NULL);
  CHECK(wb_history_inspect(str(in_folder("damaged")), 0, &report, &err) == WB_OK);
  CHECK(told(report, "code") == WB_DATA_LOSS);
  wb_history_text_free(report);

  CHECK(wb_history_salvage(str(in_folder("nothing")), str(in_folder("saved")), NULL, &err) == -WB_NOT_FOUND);
  CHECK(wb_history_salvage(str(in_folder("damaged")), str(in_folder("saved")), &report, &err) == WB_OK);
  CHECK(str_has(wb_history_text_get(report), "\"messages\":{\"readable\":100,\"unreadable\":0}"));
  CHECK(str_has(wb_history_text_get(report), "\"trail\":{\"first\":1,"));
  wb_history_text_free(report);
  history = opened("saved");
  CHECK(messages_in(history) == 100);
  wb_history_free(history);

  CHECK(wb_history_repair(str(in_folder("damaged")), &report, &err) == WB_OK);
  CHECK(str_has(wb_history_text_get(report), "\"needed\":true") &&
        str_has(wb_history_text_get(report), ".damaged-1"));
  wb_history_text_free(report);
  history = opened("damaged");
  CHECK(messages_in(history) == 100);
  wb_history_free(history);
}

int main(void) {
  fixture_begin();
  searching();
  transfer();
  copies();
  damage();
  puts("ok");
  return 0;
}
