/* Folders that are gone again, and what is put into them. */
#ifndef WATCHBILL_TESTS_HISTORY_FIXTURE_H_
#define WATCHBILL_TESTS_HISTORY_FIXTURE_H_

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "watchbill/watchbill.h"

#include "check.h"

#define CHANNEL "01J00000000000000000000001"
#define OTHER "01J00000000000000000000002"

static char fixture_folder[64];

static inline int fixture_remove(const char* path, const struct stat* s, int kind, struct FTW* at) {
  (void)s, (void)kind, (void)at;
  return remove(path);
}

static inline void fixture_clear(void) { nftw(fixture_folder, fixture_remove, 16, FTW_DEPTH | FTW_PHYS); }

/* A folder of the test's own, gone when it ends. */
static inline const char* fixture_begin(void) {
  strcpy(fixture_folder, "/tmp/watchbill_c_XXXXXX");
  CHECK(mkdtemp(fixture_folder) != NULL);
  atexit(fixture_clear);
  return fixture_folder;
}

/* A path in it, good until this thread's fourth next call. */
static inline const char* in_folder(const char* name) {
  static _Thread_local char paths[4][128];
  static _Thread_local int next = 0;
  char* const path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", fixture_folder, name);
  return path;
}

/* The nth id, good until this thread's fourth next call. */
static inline const char* id(int n) {
  static _Thread_local char ids[4][27];
  static _Thread_local int next = 0;
  char* const text = ids[next++ % 4];
  snprintf(text, sizeof ids[0], "01J%023d", n);
  return text;
}

static inline wb_history* opened(const char* name) {
  wb_history* history = NULL;
  wb_error err = {0};
  const int32_t result = wb_history_open(str(in_folder(name)), NULL, &history, &err);
  if (result != WB_OK) fprintf(stderr, "%s\n", err.text);
  CHECK(result == WB_OK && history != NULL);
  return history;
}

static inline void put_message(wb_history_batch* batch, const char* channel, int n, const char* text) {
  char json[512];
  wb_error err = {0};
  snprintf(json, sizeof json,
           "{\"id\":\"%s\",\"channel\":\"%s\",\"createdAt\":\"2026-10-01T18:12:00.000Z\",\"role\":\"user\","
           "\"parts\":[{\"kind\":\"text\",\"text\":\"%s %d\"}]}",
           id(n), channel, text, n);
  if (wb_history_batch_put_message(batch, str(json), &err) != WB_OK) {
    fprintf(stderr, "%s\n", err.text);
    CHECK(!"a message that is put");
  }
}

/* Messages of these numbers, all in one commit. */
static inline void keep_messages(wb_history* history, const char* channel, int from, int to) {
  wb_history_batch* batch = NULL;
  CHECK(wb_history_batch_new(&batch, NULL) == WB_OK);
  for (int n = from; n <= to; ++n) put_message(batch, channel, n, "number");
  CHECK(wb_history_commit(history, batch, NULL) == WB_OK);
  wb_history_batch_free(batch);
}

/* The number at the end of a message's id; -1: it has none. */
static inline int number_of(wb_str message) {
  const char* const before = "{\"id\":\"01J";
  char digits[24] = {0};
  if (message.size < 40 || memcmp(message.data, before, strlen(before)) != 0) return -1;
  memcpy(digits, message.data + strlen(before), 23);
  return atoi(digits);
}

/* The n of "key":n in a report; -1: it is not there. */
static inline long told(wb_history_text* report, const char* key) {
  char wanted[64];
  const wb_str text = wb_history_text_get(report);
  snprintf(wanted, sizeof wanted, "\"%s\":", key);
  for (size_t i = 0; i + strlen(wanted) <= text.size; ++i) {
    if (memcmp(text.data + i, wanted, strlen(wanted)) == 0)
      return strtol(text.data + i + strlen(wanted), NULL, 10);
  }
  return -1;
}

#endif
