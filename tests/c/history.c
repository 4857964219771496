/* Conversations that last, in C, in real folders. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "history_fixture.h"

static char** command;

static void opening(void) {
  wb_history_options options;
  wb_history *history = NULL, *again = NULL;
  wb_error err = {0};
  const char* const folder = in_folder("opening");

  wb_history_options_init(&options);
  CHECK(options.struct_size == sizeof options && options.create == 1 && options.cache_bytes == 8 << 20);
  options.create = 0;
  CHECK(wb_history_open(str(folder), &options, &history, &err) == -WB_NOT_FOUND);
  CHECK(strstr(err.text, folder) != NULL);
  CHECK(access(folder, F_OK) != 0);
  CHECK(wb_history_open(str(""), NULL, &history, &err) < 0);

  history = opened("opening");
  CHECK(wb_history_open(str(in_folder("opening")), NULL, &again, &err) == -WB_FAILED_PRECONDITION);
  CHECK(strstr(err.text, "in use by this process already") != NULL);
  CHECK(again == NULL);
  wb_history_free(history);
  wb_history_free(opened("opening"));

  /* Older than the last member of the options. */
  wb_history_options_init(&options);
  options.struct_size = 8;
  options.write_buffer_bytes = 1;
  CHECK(wb_history_open(str(in_folder("opening")), &options, &history, &err) == WB_OK);
  wb_history_free(history);

  CHECK(mkdir(in_folder("file"), 0700) == 0 && rmdir(in_folder("file")) == 0);
  fclose(fopen(in_folder("file"), "w"));
  CHECK(wb_history_open(str(in_folder("file")), NULL, &history, &err) == -WB_FAILED_PRECONDITION);
  CHECK(strstr(err.text, "is a file") != NULL);
}

/* What is run as a program of its own: has the history until its input ends. */
static int hold(const char* folder) {
  wb_history* history = NULL;
  char byte = 'x';
  if (wb_history_open(str(folder), NULL, &history, NULL) != WB_OK) return 1;
  if (write(STDOUT_FILENO, &byte, 1) != 1) return 1;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  wb_history_free(history);
  return 0;
}

static void another_process(void) {
  int in[2], out[2], status = 1;
  char byte = 0, pid[32];
  wb_history* history = NULL;
  wb_error err = {0};
  pid_t child;
  const char* const folder = in_folder("another");
  CHECK(pipe(in) == 0 && pipe(out) == 0);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    dup2(in[0], STDIN_FILENO), dup2(out[1], STDOUT_FILENO);
    close(in[0]), close(in[1]), close(out[0]), close(out[1]);
    execl(command[0], command[0], "hold", folder, (char*)NULL);
    _exit(127);
  }
  close(in[0]), close(out[1]);
  CHECK(read(out[0], &byte, 1) == 1);
  CHECK(wb_history_open(str(folder), NULL, &history, &err) == -WB_FAILED_PRECONDITION);
  snprintf(pid, sizeof pid, "process %d", (int)child);
  CHECK(strstr(err.text, pid) != NULL);
  close(in[1]);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  close(out[0]);
  wb_history_free(opened("another"));
}

static void what_is_put(void) {
  static const struct {
    const char* json;
    const char* says;
  } refused[] = {
      {"", "not JSON"},
      {"[]", "expected a JSON object"},
      {"{}", "expected \"id\""},
      {"{\"id\":\"a\",\"channel\":\"" CHANNEL "\"}", "message \"a\": expected a ULID"},
      {"{\"id\":\"01j00000000000000000000009\",\"channel\":\"" CHANNEL "\"}", "in capitals"},
      {"{\"id\":\"" OTHER "\",\"channel\":\"\"}", "channel \"\": expected a ULID"},
      {"{\"id\":\"" OTHER "\",\"channel\":\"" CHANNEL "\",\"done\":false}", "is not finished"},
      {"{\"id\":\"" OTHER "\",\"channel\":\"" CHANNEL "\",\"queued\":true}", "is queued"},
      {"{\"id\":\"" OTHER "\",\"channel\":\"" CHANNEL "\",\"role\":\"agnet\"}", "role is \"agnet\""},
      {"{\"id\":\"" OTHER "\",\"channel\":\"" CHANNEL "\",\"extra\":1}", "extra is 1"},
      {"{\"id\":\"" OTHER "\",\"channel\":\"" CHANNEL "\",\"createdAt\":\"yesterday\"}",
       "createdAt is \"yesterday\""},
      {"{\"id\":\"" OTHER "\",\"channel\":\"" CHANNEL
       "\",\"parts\":[{\"kind\":\"text\",\"text\":\"a\"},{\"kind\":\"txet\",\"text\":\"b\"}]}",
       "parts[1]"},
      {"{\"id\":\"" OTHER "\",\"channel\":\"" CHANNEL
       "\",\"parts\":[{\"kind\":\"txet\",\"text\":\"a\"},{\"kind\":\"text\",\"text\":\"b\"}]}",
       "parts[0].kind is \"txet\""},
      {"{\"id\":\"" OTHER "\",\"channel\":\"" CHANNEL "\",\"parts\":[null]}", "parts[0] is null"},
      {"{\"id\":\"" OTHER "\",\"channel\":\"" CHANNEL "\",\"agent\":\"\xFF\"}", "UTF-8"},
  };
  wb_history* history = opened("put");
  wb_history_batch* batch = NULL;
  wb_history_page* page = NULL;
  wb_error err = {0};
  CHECK(wb_history_batch_new(&batch, &err) == WB_OK);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
    err.text[0] = '\0';
    CHECK(wb_history_batch_put_message(batch, str(refused[i].json), &err) == -WB_INVALID_ARGUMENT);
    if (strstr(err.text, refused[i].says) == NULL) {
      fprintf(stderr, "%s: %s\n", refused[i].says, err.text);
      CHECK(!"the sentence that was expected");
    }
  }
  CHECK(wb_history_batch_bytes(batch) == 0);
  CHECK(wb_history_commit(history, batch, &err) == WB_OK);

  /* The same moment in another spelling, null for nothing, a number in another spelling, half a surrogate. */
  CHECK(wb_history_batch_put_message(
            batch,
            str("{\"id\":\"" OTHER "\",\"channel\":\"" CHANNEL
                "\",\"createdAt\":\"2026-10-01T20:12:00.1234+02:00\",\"stopReason\":null,\"role\":\"agent\","
                "\"agent\":\"cod\\ud800x\",\"parts\":[{\"kind\":\"tool\",\"tool\":{\"id\":\"1\","
                "\"locations\":[{\"path\":\"a\",\"line\":1.2e1}]}}]}"),
            &err) == WB_OK);
  CHECK(wb_history_commit(history, batch, &err) == WB_OK);
  CHECK(wb_history_last(history, str(CHANNEL), 10, &page, &err) == WB_OK);
  CHECK(wb_history_page_count(page) == 1);
  CHECK(str_has(wb_history_page_at(page, 0), "\"createdAt\":\"2026-10-01T18:12:00.123Z\""));
  CHECK(str_has(wb_history_page_at(page, 0), "\"agent\":\"cod\xEF\xBF\xBDx\""));
  CHECK(str_has(wb_history_page_at(page, 0), "\"line\":12"));
  CHECK(str_has(wb_history_page_at(page, 0), "\"stopReason\":\"\""));
  CHECK(wb_history_page_at(page, 1).data == NULL);
  wb_history_page_free(page);
  wb_history_batch_free(batch);
  wb_history_free(history);
}

static void channels_and_members(void) {
  wb_history* history = opened("channels");
  wb_history_batch *batch = NULL, *more = NULL;
  wb_history_page* page = NULL;
  wb_history_text* commands = NULL;
  wb_error err = {0};
  const char* const channel =
      "{\"id\":\"" CHANNEL
      "\",\"name\":\"Bridge\",\"description\":\"\",\"direct\":\"\",\"members\":[\"codex\"]}";
  const char* const member = "{\"agent\":\"codex\",\"session\":\"s-1\",\"lastSeen\":\"\"}";
  CHECK(wb_history_batch_new(&batch, &err) == WB_OK && wb_history_batch_new(&more, &err) == WB_OK);
  CHECK(wb_history_batch_put_channel(batch, str(channel), &err) == WB_OK);
  CHECK(wb_history_batch_put_member(more, str(CHANNEL), str(member), &err) == WB_OK);
  CHECK(wb_history_batch_put_member(more, str("nowhere"), str(member), &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_batch_put_member(more, str(CHANNEL), str("{\"agent\":\"\"}"), &err) ==
        -WB_INVALID_ARGUMENT);
  CHECK(strstr(err.text, "an agent's name") != NULL);
  CHECK(wb_history_batch_put_member(more, str(CHANNEL), str("{\"agent\":7}"), &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_batch_put_channel(more, str("{\"id\":\"" OTHER "\",\"members\":[1]}"), &err) ==
        -WB_INVALID_ARGUMENT);
  CHECK(strstr(err.text, "members[0] is 1") != NULL);
  CHECK(wb_history_batch_put_commands(more, str("codex"), str("[{\"name\": \"plan\"}]"), &err) == WB_OK);
  CHECK(wb_history_batch_put_commands(more, str("codex"), str("[nothing]"), &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_batch_append(batch, batch, &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_batch_append(batch, more, &err) == WB_OK);
  CHECK(wb_history_batch_bytes(batch) > wb_history_batch_bytes(more));
  CHECK(wb_history_commit(history, batch, &err) == WB_OK);
  CHECK(wb_history_batch_clear(batch, &err) == WB_OK && wb_history_batch_bytes(batch) == 0);

  CHECK(wb_history_channels(history, &page, &err) == WB_OK);
  CHECK(wb_history_page_count(page) == 1 && str_is(wb_history_page_at(page, 0), channel));
  CHECK(wb_history_page_more(page) == 0 && wb_history_page_unreadable(page) == 0);
  wb_history_page_free(page);
  CHECK(wb_history_members(history, str(CHANNEL), &page, &err) == WB_OK);
  CHECK(wb_history_page_count(page) == 1 && str_is(wb_history_page_at(page, 0), member));
  wb_history_page_free(page);
  CHECK(wb_history_members(history, str("x"), &page, &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_commands(history, str("codex"), &commands, &err) == WB_OK);
  CHECK(str_is(wb_history_text_get(commands), "[{\"name\":\"plan\"}]"));
  wb_history_text_free(commands);
  commands = NULL;
  CHECK(wb_history_commands(history, str("other"), &commands, &err) == 1 && commands == NULL);
  wb_history_batch_free(batch), wb_history_batch_free(more);
  wb_history_free(history);
}

static void walk(wb_history* history, int newest_first, int from, int to) {
  wb_history_cursor* cursor = NULL;
  wb_str message;
  int expected = newest_first ? to : from;
  CHECK(wb_history_cursor_new(history, str(CHANNEL), newest_first, &cursor, NULL) == WB_OK);
  while (wb_history_cursor_next(cursor, &message, NULL) == WB_OK) {
    CHECK(number_of(message) == expected);
    expected += newest_first ? -1 : 1;
  }
  CHECK(expected == (newest_first ? from - 1 : to + 1));
  CHECK(wb_history_cursor_next(cursor, &message, NULL) == 1);
  CHECK(wb_history_cursor_unreadable(cursor) == 0);
  wb_history_cursor_free(cursor);
}

static void pages_and_cursors(void) {
  enum { kMessages = 1000 };
  wb_history* history = opened("pages");
  wb_history_page* page = NULL;
  wb_history_cursor* cursor = NULL;
  wb_str message = {0};
  wb_error err = {0};
  int n;
  walk(history, 0, 1, 0);
  walk(history, 1, 1, 0);
  keep_messages(history, CHANNEL, 1, kMessages);
  keep_messages(history, OTHER, kMessages + 1, kMessages + 5);

  CHECK(wb_history_last(history, str(CHANNEL), 100, &page, &err) == WB_OK);
  CHECK(wb_history_page_count(page) == 100 && wb_history_page_more(page) == 1);
  for (n = 0; n < 100; ++n) CHECK(number_of(wb_history_page_at(page, (uint64_t)n)) == kMessages - 99 + n);
  wb_history_page_free(page);
  CHECK(wb_history_before(history, str(CHANNEL), str(id(51)), 100, &page, &err) == WB_OK);
  CHECK(wb_history_page_count(page) == 50 && wb_history_page_more(page) == 0);
  CHECK(number_of(wb_history_page_at(page, 49)) == 50);
  wb_history_page_free(page);
  CHECK(wb_history_before(history, str(CHANNEL), str("?"), 1, &page, &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_cursor_new(history, str("?"), 0, &cursor, &err) == -WB_INVALID_ARGUMENT);

  walk(history, 0, 1, kMessages);
  walk(history, 1, 1, kMessages);

  /* What comes and goes meanwhile: nothing is met twice, and what stays is met. */
  CHECK(wb_history_cursor_new(history, str(CHANNEL), 0, &cursor, &err) == WB_OK);
  CHECK(wb_history_cursor_next(cursor, &message, &err) == WB_OK && number_of(message) == 1);
  keep_messages(history, CHANNEL, kMessages + 1, 2 * kMessages);
  n = 1;
  while (wb_history_cursor_next(cursor, &message, &err) == WB_OK) CHECK(number_of(message) == ++n);
  CHECK(n >= kMessages);
  wb_history_cursor_free(cursor);
  CHECK(wb_history_cursor_new(history, str(CHANNEL), 0, &cursor, &err) == WB_OK);
  CHECK(wb_history_cursor_next(cursor, &message, &err) == WB_OK && number_of(message) == 1);
  while (wb_history_channel_delete(history, str(CHANNEL), 100, &err) == 1) {
  }
  CHECK(wb_history_cursor_next(cursor, &message, &err) == 1);
  wb_history_cursor_free(cursor);
  wb_history_free(history);
}

static void what_goes(void) {
  wb_history* history = opened("goes");
  wb_history_batch* batch = NULL;
  wb_history_page* page = NULL;
  wb_history_sizes sizes = {0};
  wb_error err = {0};
  uint64_t bytes = 0;
  char first[27];
  keep_messages(history, CHANNEL, 1, 100);
  keep_messages(history, OTHER, 101, 110);
  CHECK(wb_history_channel_prune(history, str(CHANNEL), 30, str(""), 50, &err) == 1);
  CHECK(wb_history_channel_prune(history, str(CHANNEL), 30, str(""), 50, &err) == 0);
  walk(history, 1, 71, 100);
  CHECK(wb_history_channel_prune(history, str(CHANNEL), 0, str(id(90)), 50, &err) == 0);
  walk(history, 0, 90, 100);
  wb_history_first_id_at(0, first);
  CHECK(strcmp(first, "00000000000000000000000000") == 0);
  wb_history_first_id_at(1790000000000, first);
  CHECK(strlen(first) == 26 && strcmp(first, CHANNEL) > 0);

  CHECK(wb_history_channel_delete(history, str(CHANNEL), 0, &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_channel_delete(history, str(CHANNEL), 5, &err) == 1);
  CHECK(wb_history_half_deleted(history, &page, &err) == WB_OK);
  CHECK(wb_history_page_count(page) == 1 && str_is(wb_history_page_at(page, 0), CHANNEL));
  wb_history_page_free(page);
  CHECK(wb_history_channel_delete(history, str(CHANNEL), 50, &err) == 0);
  CHECK(wb_history_batch_new(&batch, &err) == WB_OK);
  put_message(batch, CHANNEL, 120, "late");
  CHECK(wb_history_commit(history, batch, &err) == -WB_FAILED_PRECONDITION);
  CHECK(strstr(err.text, "was deleted") != NULL);
  wb_history_batch_free(batch);

  CHECK(wb_history_compact(history, &err) == WB_OK);
  sizes.struct_size = sizeof sizes;
  CHECK(wb_history_measure(history, &sizes, &err) == WB_OK && sizes.struct_size == sizeof sizes);
  CHECK(sizes.conversations > 0 && sizes.ledger == 0);
  CHECK(wb_history_channel_bytes(history, str(OTHER), &bytes, &err) == WB_OK && bytes > 0);
  CHECK(wb_history_channel_bytes(history, str("x"), &bytes, &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_unreadable(history) == 0);
  wb_history_free(history);
}

enum { kThreads = 4, kEach = 50 };
static wb_history* shared;
static atomic_int refused;

static void* keep_some(void* number) {
  const int first = 1 + kEach * (int)(intptr_t)number;
  for (int n = first; n < first + kEach; ++n) keep_messages(shared, CHANNEL, n, n);
  return NULL;
}

static void* read_until_closed(void* none) {
  wb_history_page* page = NULL;
  wb_error err = {0};
  (void)none;
  for (;;) {
    const int32_t result = wb_history_last(shared, str(CHANNEL), 10, &page, &err);
    if (result != WB_OK) {
      CHECK(result == -WB_FAILED_PRECONDITION && strstr(err.text, "is closed") != NULL);
      atomic_fetch_add(&refused, 1);
      return NULL;
    }
    CHECK(wb_history_page_count(page) == 10);
    wb_history_page_free(page);
  }
}

static void threads(void) {
  pthread_t thread[kThreads];
  shared = opened("threads");
  for (intptr_t i = 0; i < kThreads; ++i) CHECK(pthread_create(&thread[i], NULL, keep_some, (void*)i) == 0);
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(thread[i], NULL) == 0);
  walk(shared, 0, 1, kThreads * kEach);

  for (int i = 0; i < kThreads; ++i) CHECK(pthread_create(&thread[i], NULL, read_until_closed, NULL) == 0);
  CHECK(wb_history_close(shared, NULL) == WB_OK);
  /* All that it held is let go when that returns. */
  wb_history_free(opened("threads"));
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(thread[i], NULL) == 0);
  CHECK(refused == kThreads);
  wb_history_free(shared);
}

static void closing(void) {
  wb_history* history = opened("closing");
  wb_history_cursor* cursor = NULL;
  wb_history_batch* batch = NULL;
  wb_history_page* page = NULL;
  wb_str message;
  wb_error err = {0};
  keep_messages(history, CHANNEL, 1, 3);
  CHECK(wb_history_cursor_new(history, str(CHANNEL), 0, &cursor, &err) == WB_OK);
  CHECK(wb_history_batch_new(&batch, &err) == WB_OK);
  CHECK(wb_history_last(history, str(CHANNEL), 1, &page, &err) == WB_OK);
  CHECK(wb_history_close(history, &err) == WB_OK && wb_history_close(history, &err) == WB_OK);
  put_message(batch, CHANNEL, 4, "late");
  CHECK(wb_history_commit(history, batch, &err) == -WB_FAILED_PRECONDITION);
  CHECK(wb_history_cursor_next(cursor, &message, &err) == -WB_FAILED_PRECONDITION);
  CHECK(number_of(wb_history_page_at(page, 0)) == 3);
  CHECK(wb_history_unreadable(history) == 0);
  wb_history_free(history);
  CHECK(wb_history_cursor_next(cursor, &message, &err) == -WB_FAILED_PRECONDITION);
  wb_history_cursor_free(cursor);
  wb_history_page_free(page);

  /* The same batch goes into another one. */
  history = opened("closing");
  CHECK(wb_history_commit(history, batch, &err) == WB_OK);
  walk(history, 0, 1, 4);
  wb_history_batch_free(batch);
  wb_history_free(history);
}

static void forks(void) {
  wb_history* history = opened("forks");
  int status = 1;
  pid_t child;
  keep_messages(history, CHANNEL, 1, 2);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    wb_history_page* page = NULL;
    wb_history* another = NULL;
    wb_error err = {0};
    CHECK(wb_history_last(history, str(CHANNEL), 1, &page, &err) == -WB_FAILED_PRECONDITION);
    CHECK(strstr(err.text, "was opened by process") != NULL);
    CHECK(wb_history_open(str(in_folder("forked")), NULL, &another, &err) == -WB_FAILED_PRECONDITION);
    CHECK(strstr(err.text, "was forked from one") != NULL);
    wb_history_free(history);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  keep_messages(history, CHANNEL, 3, 4);
  wb_history_free(history);
  history = opened("forks");
  walk(history, 0, 1, 4);
  wb_history_free(history);
}

static void in_memory(void) {
  wb_history* history = NULL;
  CHECK(wb_history_new_in_memory(&history, NULL) == WB_OK);
  keep_messages(history, CHANNEL, 1, 10);
  walk(history, 1, 1, 10);
  wb_history_free(history);
  wb_history_free(NULL), wb_history_batch_free(NULL), wb_history_page_free(NULL);
  wb_history_text_free(NULL), wb_history_cursor_free(NULL);
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "hold") == 0) return hold(argv[2]);
  command = argv;
  fixture_begin();
  another_process();
  opening();
  what_is_put();
  channels_and_members();
  pages_and_cursors();
  what_goes();
  threads();
  closing();
  forks();
  in_memory();
  puts("ok");
  return 0;
}
