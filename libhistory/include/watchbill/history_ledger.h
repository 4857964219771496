/* What is kept beside conversations, in C: records of named collections, each by its key and in a second
 * order, and a trail of who did what. The rules of watchbill/history.h hold here, its common failures too.
 */
#ifndef WATCHBILL_HISTORY_LEDGER_H_
#define WATCHBILL_HISTORY_LEDGER_H_

#include "watchbill/history.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the key and the order of each are to be is in watchbill/history/ledger.hpp. */
typedef enum wb_history_collection {
  WB_HISTORY_POLICIES = 1,
  WB_HISTORY_PRICES = 2,
  WB_HISTORY_WINDOWS = 3,  /* spending */
  WB_HISTORY_OUTCOMES = 4, /* how runs ended */
  WB_HISTORY_PEOPLE = 5,
  WB_HISTORY_ROLES = 6,
  WB_HISTORY_CATALOGUES = 7,
  WB_HISTORY_SUBSCRIPTIONS = 8,
  WB_HISTORY_KNOWLEDGE = 9, /* what happened to collections of knowledge */
  WB_HISTORY_SEEN = 10,     /* what a person has seen */
  WB_HISTORY_APPROVALS = 11,
  WB_HISTORY_ACKNOWLEDGEMENTS = 12,
  WB_HISTORY_ENGINE = 13, /* the policy engine's own state */
  WB_HISTORY_SETTINGS = 14,
  WB_HISTORY_COUNTED_ENTRIES = 15 /* the ids of those that spending windows have counted */
} wb_history_collection;

/* Bytes that compare as the times do, for orders and keys: newest first, or oldest first. 8 are written. */
WB_API void wb_history_order_newest_first(int64_t ms, char* out);
WB_API void wb_history_order_oldest_first(int64_t ms, char* out);
/* A text with something behind it: its bytes, and what keeps its range apart from any other text's. */
WB_API int32_t wb_history_order_then(wb_str text, wb_history_text** out, wb_error* err);

/* A record: `key` is 1 to 4,096 bytes, `order`, where it stands in the second order of its collection, up to
 * 4,096, and `value` is any JSON of up to 16 MiB. One that is there is replaced, and stands in its old place
 * no more; over one of a newer version the commit fails. */
WB_API int32_t wb_history_batch_put_record(wb_history_batch* batch, int32_t collection, wb_str key,
                                           wb_str order, wb_str value, wb_error* err);
/* Also where there is none. */
WB_API int32_t wb_history_batch_delete_record(wb_history_batch* batch, int32_t collection, wb_str key,
                                              wb_error* err);

typedef struct wb_history_records wb_history_records;

/* Borrowed from the records until they are freed. */
typedef struct wb_history_record {
  uint32_t struct_size; /* set by the caller */
  uint32_t reserved;
  wb_str key;
  wb_str order;
  wb_str value; /* JSON */
} wb_history_record;

WB_API uint64_t wb_history_records_count(const wb_history_records* records);
/* 0: *out is filled. 1: there is none of that index. */
WB_API int32_t wb_history_records_at(const wb_history_records* records, uint64_t index,
                                     wb_history_record* out);
/* 1: there are others behind them. */
WB_API int32_t wb_history_records_more(const wb_history_records* records);
/* As wb_history_page_unreadable counts. */
WB_API uint64_t wb_history_records_unreadable(const wb_history_records* records);
WB_API void wb_history_records_free(wb_history_records* records);

/* The one of this key. 1: there is none. WB_DATA_LOSS (negated): there is one that cannot be read. */
WB_API int32_t wb_history_record_get(const wb_history* history, int32_t collection, wb_str key,
                                     wb_history_records** out, wb_error* err);

typedef struct wb_history_key_range {
  uint32_t struct_size;
  uint32_t reserved;
  wb_str prefix; /* keys that begin with it */
  wb_str after;  /* behind this key, which need not be there; empty: from the first */
} wb_history_key_range;

typedef struct wb_history_order_range {
  uint32_t struct_size;
  int32_t behind; /* 1: behind the place of the next two, where no record need stand: the last one's of the
                   * page before */
  wb_str after_order;
  wb_str after_key;
  wb_str prefix; /* orders that begin with it, */
  wb_str from;   /* are not before this one */
  wb_str to;     /* and are before this one; empty: to the last */
} wb_history_order_range;

WB_API void wb_history_key_range_init(wb_history_key_range* range);
WB_API void wb_history_order_range_init(wb_history_order_range* range);

/* In the order of the bytes of their keys, at most `limit`. `range` may be NULL: all. As things were at the
 * moment of the call. */
WB_API int32_t wb_history_records_by_key(const wb_history* history, int32_t collection,
                                         const wb_history_key_range* range, uint64_t limit,
                                         wb_history_records** out, wb_error* err);
/* In the second order, those of one order in the order of their keys. */
WB_API int32_t wb_history_records_in_order(const wb_history* history, int32_t collection,
                                           const wb_history_order_range* range, uint64_t limit,
                                           wb_history_records** out, wb_error* err);

/* Deletes records whose order begins with `prefix`, up to `most` at a time, 1 or more. The first `keep` of
 * them in that order stay, and those before the order `behind`. 0: nothing is left that can go. 1: there is
 * more, call it again. */
WB_API int32_t wb_history_records_prune(wb_history* history, int32_t collection, wb_str prefix, uint64_t keep,
                                        wb_str behind, uint64_t most, wb_error* err);

/* The trail: entries that are numbered without a hole, each with a hash that takes in all before it. An entry
 * is {"atMs": 0, "who": "", "what": "", "about": "", "detail": any JSON}; all may be missing. It comes behind
 * all that there are when its batch is committed. */
WB_API int32_t wb_history_batch_append_trail(wb_history_batch* batch, wb_str entry, wb_error* err);

/* The last entry, with all before it: what makes two trails one. Who can write the whole database can write a
 * whole new trail: against that, keep this somewhere else. */
typedef struct wb_history_trail_place {
  uint32_t struct_size; /* set by the caller */
  uint32_t reserved;
  uint64_t number; /* 0: there never was one */
  char hash[72];   /* 64 hexadecimal digits, NUL-terminated */
} wb_history_trail_place;

/* WB_DATA_LOSS (negated): it cannot be read. */
WB_API int32_t wb_history_trail_end(const wb_history* history, wb_history_trail_place* out, wb_error* err);

/* All that are told have to fit. One whose data is NULL is not told. */
typedef struct wb_history_trail_query {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t before;         /* entries of lesser numbers; 0: from the newest */
  uint64_t limit;          /* 100 */
  uint64_t most_looked_at; /* 10,000, and 16 MiB together: few may fit */
  wb_str who;
  wb_str what;
  wb_str about;
  int64_t from_ms;   /* INT64_MIN: of any time */
  int64_t before_ms; /* INT64_MAX: of any time */
} wb_history_trail_query;

WB_API void wb_history_trail_query_init(wb_history_trail_query* query);
/* Entries as above, each with its "number", newest first. *next, which may be NULL: `before` of the next
 * page; 0: that was all. `query` may be NULL. */
WB_API int32_t wb_history_trail_page(const wb_history* history, const wb_history_trail_query* query,
                                     wb_history_page** out, uint64_t* next, wb_error* err);

/* Looks at all of the trail; some 3 seconds for a million entries of 200 bytes. `kept` is what
 * wb_history_trail_end said at some time, or NULL; `progress` may be NULL. 0: it is as it was. 1: it is not.
 * *report, which may be NULL, is JSON:
 * {"first", "end": {"number", "hash"}, "entries", "fault": null or {"kind", "first", "last", "says"},
 *  "keptIsThere": null, true or false}
 * with the numbers of the first entry that is there and of how many were looked at, and the fault of the
 * least number: all before it are as they were. Kinds: missing changed moved unreadable endMissing end begin
 * foreign other. keptIsThere is null where nothing was kept, or that entry was taken off since.
 * WB_INVALID_ARGUMENT (negated): the hash that was kept is none. */
WB_API int32_t wb_history_trail_verify(const wb_history* history, const wb_history_trail_place* kept,
                                       wb_history_progress progress, void* user, wb_history_text** report,
                                       wb_error* err);

/* Takes entries off the trail's old end, up to `most` at a time, 1 or more, up to the first that stays: the
 * newest `keep` stay, and those that are not from before `before_ms`, or say no time; INT64_MAX: only `keep`
 * counts. It can be verified from there on. 0: nothing is left that can go. 1: there is more. WB_DATA_LOSS
 * (negated): what would go is not as it was; nothing goes. */
WB_API int32_t wb_history_trail_prune(wb_history* history, uint64_t keep, int64_t before_ms, uint64_t most,
                                      wb_error* err);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_HISTORY_LEDGER_H_ */
