/* Which messages have these words, in C: an index beside the conversations, and a search in it. What a word
 * is and what of a message is searched is in watchbill/history/search.hpp. The rules of watchbill/history.h
 * hold here, its common failures too.
 */
#ifndef WATCHBILL_HISTORY_SEARCH_H_
#define WATCHBILL_HISTORY_SEARCH_H_

#include "watchbill/history.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_history_indexed {
  uint32_t struct_size; /* set by the caller */
  uint32_t reserved;
  uint64_t messages; /* that are in the index since */
  uint64_t unreadable;
} wb_history_indexed;

/* Makes the index follow what was put: takes up to `most` messages (1 to 4,096; 1,000 is well), oldest first.
 * Fewer than that are left to wait for more, as a search reads those by themselves; `force` takes them as
 * they are. *out, which may be NULL, is filled. 0: nothing is left to do. 1: there is more, call it again.
 * One at a time: others wait. Fails as wb_history_commit does, and the next call does the same again. */
WB_API int32_t wb_history_index_step(wb_history* history, uint64_t most, int32_t force,
                                     wb_history_indexed* out, wb_error* err);
/* Lets the steps that follow make it anew. Until they have done so a search finds less. */
WB_API int32_t wb_history_index_rebuild(wb_history* history, wb_error* err);

typedef struct wb_history_query {
  uint32_t struct_size;
  uint32_t limit; /* 20; 1 to 200 */
  /* Words that a message has to have, all of them, in up to 1,000 bytes. One with a * behind it stands for
   * all words that begin with it, and so does the last one if the text ends with it. Words in "quotes" have
   * to stand one behind the other. */
  wb_str text;
  wb_str channel; /* that one alone; empty: all */
  wb_str after;   /* `next` of the page before; empty: the first page */
} wb_history_query;

typedef struct wb_history_hits wb_history_hits;

/* Bytes from begin to before end, of a snippet. */
typedef struct wb_history_mark {
  uint64_t begin;
  uint64_t end;
} wb_history_mark;

/* What a message was written by. */
typedef enum wb_history_role {
  WB_HISTORY_USER = 0,
  WB_HISTORY_AGENT = 1,
  WB_HISTORY_SYSTEM = 2
} wb_history_role;

/* Borrowed from the hits until they are freed. */
typedef struct wb_history_hit {
  uint32_t struct_size; /* set by the caller */
  int32_t role;         /* wb_history_role */
  wb_str channel;
  wb_str id;
  wb_str agent;
  int64_t created_ms;
  double score; /* how well it matches and how new it is; only differences say anything */
  /* Up to some 200 bytes of the text of the message that has the most of the words, whole characters, as they
   * were written; and where the words are in it, in order, not overlapping. */
  wb_str snippet;
  const wb_history_mark* marks;
  uint64_t mark_count;
  int32_t cut_before; /* there is more of that text before the snippet, */
  int32_t cut_after;  /* or behind it */
} wb_history_hit;

/* What a page of hits says beside them. */
typedef struct wb_history_found {
  uint32_t struct_size;   /* set by the caller */
  int32_t more;           /* there are others, or may be: `next` leads to them */
  wb_str next;            /* borrowed until the hits are freed */
  int32_t partial;        /* the index is not made yet: what is missing in it is not found */
  int32_t bounded;        /* not all was looked at: the text says too little, or its quotes fit too seldom */
  uint64_t unreadable;    /* records, damaged blocks, parts of the index */
  uint64_t tail;          /* messages that were read one by one, as the index has not got them yet, */
  uint64_t tail_left_out; /* and about how many more there are, which were left out */
} wb_history_found;

WB_API void wb_history_query_init(wb_history_query* query);
/* Best first: by score, then by id, newest first. WB_INVALID_ARGUMENT (negated): no word, a text that is too
 * long, a limit or an `after` that is none. What comes while it runs may be found or not. */
WB_API int32_t wb_history_search(const wb_history* history, const wb_history_query* query,
                                 wb_history_hits** out, wb_error* err);
WB_API uint64_t wb_history_hits_count(const wb_history_hits* hits);
/* 0: *out is filled. 1: there is none of that index. */
WB_API int32_t wb_history_hits_at(const wb_history_hits* hits, uint64_t index, wb_history_hit* out);
WB_API void wb_history_hits_about(const wb_history_hits* hits, wb_history_found* out);
WB_API void wb_history_hits_free(wb_history_hits* hits);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_HISTORY_SEARCH_H_ */
