/* The program of keep-conversations.md: a notebook that loses nothing. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "watchbill/watchbill.h"

#define NOTEBOOK "01J0000000000000000000000N"

static wb_str str(const char* text) {
  wb_str s;
  s.data = text;
  s.size = strlen(text);
  return s;
}

static void say(wb_str text) { fwrite(text.data, 1, text.size, stdout); }

static int failed(const wb_error* err) { return fprintf(stderr, "%s\n", err->text), 1; }

/* Of this moment: 48 bits of the time, 80 that nobody else has. */
static int new_id(const struct timespec* now, char id[27]) {
  static const char kDigits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  unsigned char chance[16];
  wb_history_first_id_at((int64_t)now->tv_sec * 1000 + now->tv_nsec / 1000000, id);
  if (getentropy(chance, sizeof chance) != 0) return -1;
  for (int i = 0; i < 16; ++i) id[10 + i] = kDigits[chance[i] & 31];
  return 0;
}

/* A text as JSON has it. */
static void write_json(FILE* to, const char* text) {
  fputc('"', to);
  for (; *text != '\0'; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c < 0x20) {
      fprintf(to, "\\u%04x", c);
    } else {
      if (c == '"' || c == '\\') fputc('\\', to);
      fputc(c, to);
    }
  }
  fputc('"', to);
}

static int keep(wb_history* history, const char* text) {
  wb_history_batch* batch = NULL;
  wb_error err = {0};
  struct timespec now;
  char id[27], when[32], *json = NULL;
  size_t size = 0;
  FILE* to = open_memstream(&json, &size);
  int result = 1;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to == NULL || new_id(&now, id) != 0) return perror("a new message"), 1;
  strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now.tv_sec));
  fprintf(to,
          "{\"id\":\"%s\",\"channel\":\"" NOTEBOOK "\",\"createdAt\":\"%s\",\"parts\":[{\"kind\":\"text\",",
          id, when);
  fprintf(to, "\"text\":");
  write_json(to, text);
  fprintf(to, "}]}");
  fclose(to);
  if (wb_history_batch_new(&batch, &err) == 0 &&
      wb_history_batch_put_channel(batch, str("{\"id\":\"" NOTEBOOK "\",\"name\":\"Notebook\"}"), &err) ==
          0 &&
      wb_history_batch_put_message(batch, str(json), &err) == 0 &&
      wb_history_commit(history, batch, &err) == 0) {
    result = printf("kept %s\n", id) < 0; /* it is on the disk now */
  } else {
    failed(&err);
  }
  wb_history_batch_free(batch);
  free(json);
  return result;
}

static int find(wb_history* history, const char* words) {
  wb_history_query query;
  wb_history_hits* hits = NULL;
  wb_history_hit hit = {0};
  wb_error err = {0};
  int32_t more;
  while ((more = wb_history_index_step(history, 1000, 0, NULL, &err)) == 1) {
  }
  wb_history_query_init(&query);
  query.text = str(words);
  if (more < 0 || wb_history_search(history, &query, &hits, &err) < 0) return failed(&err);
  hit.struct_size = sizeof hit;
  for (uint64_t n = 0; wb_history_hits_at(hits, n, &hit) == 0; ++n) {
    say(hit.id);
    printf("  ");
    say(hit.snippet); /* what was kept is data: a terminal would need it cleaned */
    printf("\n");
  }
  wb_history_hits_free(hits);
  return 0;
}

static int32_t to_file(void* file, const char* data, size_t size) {
  return fwrite(data, 1, size, file) == size ? 0 : -1;
}

static int all(wb_history* history) {
  wb_history_cursor* cursor = NULL;
  wb_str message;
  wb_error err = {0};
  int32_t result = wb_history_cursor_new(history, str(NOTEBOOK), 0, &cursor, &err);
  while (result == 0 && (result = wb_history_cursor_next(cursor, &message, &err)) == 0) {
    say(message);
    printf("\n");
  }
  wb_history_cursor_free(cursor);
  return result < 0 ? failed(&err) : 0;
}

int main(int argc, char** argv) {
  const char* const verb = argc > 2 ? argv[2] : "";
  wb_history* history = NULL;
  wb_error err = {0};
  int result = 2;
  if (argc < 2)
    return fprintf(stderr, "usage: %s FOLDER keep TEXT | find WORDS | all | export\n", argv[0]), 2;
  if (wb_history_open(str(argv[1]), NULL, &history, &err) < 0) return failed(&err);
  if (strcmp(verb, "keep") == 0 && argc == 4) result = keep(history, argv[3]);
  if (strcmp(verb, "find") == 0 && argc == 4) result = find(history, argv[3]);
  if (strcmp(verb, "all") == 0) result = all(history);
  if (strcmp(verb, "export") == 0)
    result = wb_history_export(history, NULL, to_file, stdout, NULL, &err) < 0 ? failed(&err) : 0;
  wb_history_free(history);
  return result;
}
