/* A check that says where it failed. */
#ifndef WATCHBILL_TESTS_CHECK_H_
#define WATCHBILL_TESTS_CHECK_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

static inline int str_is(wb_str s, const char* text) {
  return s.data != NULL && s.size == strlen(text) && memcmp(s.data, text, s.size) == 0;
}

static inline int str_has(wb_str s, const char* text) {
  const size_t n = strlen(text);
  for (size_t i = 0; i + n <= s.size; ++i) {
    if (memcmp(s.data + i, text, n) == 0) return 1;
  }
  return 0;
}

static inline wb_str str(const char* text) {
  wb_str s;
  s.data = text;
  s.size = strlen(text);
  return s;
}

#endif
