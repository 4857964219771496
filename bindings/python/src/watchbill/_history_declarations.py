"""The part of the C API that watchbill.history uses, as _library.py has the rest."""

# As the headers have it, without comments and in their order; the tests compare the two.
HISTORY = """
typedef struct wb_history wb_history;
typedef struct wb_history_batch wb_history_batch;
typedef struct wb_history_page wb_history_page;
typedef struct wb_history_cursor wb_history_cursor;
typedef struct wb_history_text wb_history_text;
typedef int32_t (*wb_history_progress)(void* user, uint64_t done, uint64_t of);

typedef struct wb_history_options {
  uint32_t struct_size;
  int32_t create;
  uint64_t cache_bytes;
  uint64_t write_buffer_bytes;
} wb_history_options;

void wb_history_options_init(wb_history_options* options);
int32_t wb_history_open(wb_str folder, const wb_history_options* options, wb_history** out, wb_error* err);
int32_t wb_history_new_in_memory(wb_history** out, wb_error* err);
int32_t wb_history_close(wb_history* history, wb_error* err);
void wb_history_free(wb_history* history);
int32_t wb_history_batch_new(wb_history_batch** out, wb_error* err);
void wb_history_batch_free(wb_history_batch* batch);
int32_t wb_history_batch_put_message(wb_history_batch* batch, wb_str message, wb_error* err);
int32_t wb_history_batch_put_channel(wb_history_batch* batch, wb_str channel, wb_error* err);
int32_t wb_history_batch_put_member(wb_history_batch* batch, wb_str channel, wb_str member, wb_error* err);
int32_t wb_history_batch_put_commands(wb_history_batch* batch, wb_str agent, wb_str commands, wb_error* err);
int32_t wb_history_batch_append(wb_history_batch* batch, const wb_history_batch* more, wb_error* err);
int32_t wb_history_batch_clear(wb_history_batch* batch, wb_error* err);
uint64_t wb_history_batch_bytes(const wb_history_batch* batch);
int32_t wb_history_commit(wb_history* history, const wb_history_batch* batch, wb_error* err);
wb_str wb_history_text_get(const wb_history_text* text);
void wb_history_text_free(wb_history_text* text);
uint64_t wb_history_page_count(const wb_history_page* page);
wb_str wb_history_page_at(const wb_history_page* page, uint64_t index);
int32_t wb_history_page_more(const wb_history_page* page);
uint64_t wb_history_page_unreadable(const wb_history_page* page);
void wb_history_page_free(wb_history_page* page);
int32_t wb_history_channels(const wb_history* history, wb_history_page** out, wb_error* err);
int32_t wb_history_members(const wb_history* history, wb_str channel, wb_history_page** out, wb_error* err);
int32_t wb_history_commands(const wb_history* history, wb_str agent, wb_history_text** out, wb_error* err);
int32_t wb_history_last(const wb_history* history, wb_str channel, uint64_t limit, wb_history_page** out,
                        wb_error* err);
int32_t wb_history_before(const wb_history* history, wb_str channel, wb_str id, uint64_t limit,
                          wb_history_page** out, wb_error* err);
int32_t wb_history_cursor_new(const wb_history* history, wb_str channel, int32_t newest_first,
                              wb_history_cursor** out, wb_error* err);
int32_t wb_history_cursor_next(wb_history_cursor* cursor, wb_str* out, wb_error* err);
uint64_t wb_history_cursor_unreadable(const wb_history_cursor* cursor);
void wb_history_cursor_free(wb_history_cursor* cursor);
int32_t wb_history_channel_delete(wb_history* history, wb_str channel, uint64_t most, wb_error* err);
int32_t wb_history_half_deleted(const wb_history* history, wb_history_page** out, wb_error* err);
int32_t wb_history_channel_prune(wb_history* history, wb_str channel, uint64_t keep, wb_str before,
                                 uint64_t most, wb_error* err);
void wb_history_first_id_at(int64_t ms, char* out);

typedef struct wb_history_sizes {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t conversations, index, ledger, trail;
} wb_history_sizes;

int32_t wb_history_measure(const wb_history* history, wb_history_sizes* out, wb_error* err);
int32_t wb_history_channel_bytes(const wb_history* history, wb_str channel, uint64_t* out, wb_error* err);
int32_t wb_history_compact(wb_history* history, wb_error* err);
uint64_t wb_history_unreadable(const wb_history* history);

typedef enum wb_history_collection {
  WB_HISTORY_POLICIES = 1,
  WB_HISTORY_PRICES = 2,
  WB_HISTORY_WINDOWS = 3,
  WB_HISTORY_OUTCOMES = 4,
  WB_HISTORY_PEOPLE = 5,
  WB_HISTORY_ROLES = 6,
  WB_HISTORY_CATALOGUES = 7,
  WB_HISTORY_SUBSCRIPTIONS = 8,
  WB_HISTORY_KNOWLEDGE = 9,
  WB_HISTORY_SEEN = 10,
  WB_HISTORY_APPROVALS = 11,
  WB_HISTORY_ACKNOWLEDGEMENTS = 12,
  WB_HISTORY_ENGINE = 13,
  WB_HISTORY_SETTINGS = 14,
  WB_HISTORY_COUNTED_ENTRIES = 15
} wb_history_collection;

void wb_history_order_newest_first(int64_t ms, char* out);
void wb_history_order_oldest_first(int64_t ms, char* out);
int32_t wb_history_order_then(wb_str text, wb_history_text** out, wb_error* err);
int32_t wb_history_batch_put_record(wb_history_batch* batch, int32_t collection, wb_str key, wb_str order,
                                    wb_str value, wb_error* err);
int32_t wb_history_batch_delete_record(wb_history_batch* batch, int32_t collection, wb_str key,
                                       wb_error* err);
typedef struct wb_history_records wb_history_records;

typedef struct wb_history_record {
  uint32_t struct_size;
  uint32_t reserved;
  wb_str key;
  wb_str order;
  wb_str value;
} wb_history_record;

uint64_t wb_history_records_count(const wb_history_records* records);
int32_t wb_history_records_at(const wb_history_records* records, uint64_t index, wb_history_record* out);
int32_t wb_history_records_more(const wb_history_records* records);
uint64_t wb_history_records_unreadable(const wb_history_records* records);
void wb_history_records_free(wb_history_records* records);
int32_t wb_history_record_get(const wb_history* history, int32_t collection, wb_str key,
                              wb_history_records** out, wb_error* err);

typedef struct wb_history_key_range {
  uint32_t struct_size;
  uint32_t reserved;
  wb_str prefix;
  wb_str after;
} wb_history_key_range;

typedef struct wb_history_order_range {
  uint32_t struct_size;
  int32_t behind;
  wb_str after_order;
  wb_str after_key;
  wb_str prefix;
  wb_str from;
  wb_str to;
} wb_history_order_range;

void wb_history_key_range_init(wb_history_key_range* range);
void wb_history_order_range_init(wb_history_order_range* range);
int32_t wb_history_records_by_key(const wb_history* history, int32_t collection,
                                  const wb_history_key_range* range, uint64_t limit, wb_history_records** out,
                                  wb_error* err);
int32_t wb_history_records_in_order(const wb_history* history, int32_t collection,
                                    const wb_history_order_range* range, uint64_t limit,
                                    wb_history_records** out, wb_error* err);
int32_t wb_history_records_prune(wb_history* history, int32_t collection, wb_str prefix, uint64_t keep,
                                 wb_str behind, uint64_t most, wb_error* err);
int32_t wb_history_batch_append_trail(wb_history_batch* batch, wb_str entry, wb_error* err);

typedef struct wb_history_trail_place {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t number;
  char hash[72];
} wb_history_trail_place;

int32_t wb_history_trail_end(const wb_history* history, wb_history_trail_place* out, wb_error* err);

typedef struct wb_history_trail_query {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t before;
  uint64_t limit;
  uint64_t most_looked_at;
  wb_str who;
  wb_str what;
  wb_str about;
  int64_t from_ms;
  int64_t before_ms;
} wb_history_trail_query;

void wb_history_trail_query_init(wb_history_trail_query* query);
int32_t wb_history_trail_page(const wb_history* history, const wb_history_trail_query* query,
                              wb_history_page** out, uint64_t* next, wb_error* err);
int32_t wb_history_trail_verify(const wb_history* history, const wb_history_trail_place* kept,
                                wb_history_progress progress, void* user, wb_history_text** report,
                                wb_error* err);
int32_t wb_history_trail_prune(wb_history* history, uint64_t keep, int64_t before_ms, uint64_t most,
                               wb_error* err);

typedef struct wb_history_indexed {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t messages;
  uint64_t unreadable;
} wb_history_indexed;

int32_t wb_history_index_step(wb_history* history, uint64_t most, int32_t force, wb_history_indexed* out,
                              wb_error* err);
int32_t wb_history_index_rebuild(wb_history* history, wb_error* err);

typedef struct wb_history_query {
  uint32_t struct_size;
  uint32_t limit;
  wb_str text;
  wb_str channel;
  wb_str after;
} wb_history_query;

typedef struct wb_history_hits wb_history_hits;

typedef struct wb_history_mark {
  uint64_t begin;
  uint64_t end;
} wb_history_mark;

typedef enum wb_history_role {
  WB_HISTORY_USER = 0,
  WB_HISTORY_AGENT = 1,
  WB_HISTORY_SYSTEM = 2
} wb_history_role;

typedef struct wb_history_hit {
  uint32_t struct_size;
  int32_t role;
  wb_str channel;
  wb_str id;
  wb_str agent;
  int64_t created_ms;
  double score;
  wb_str snippet;
  const wb_history_mark* marks;
  uint64_t mark_count;
  int32_t cut_before;
  int32_t cut_after;
} wb_history_hit;

typedef struct wb_history_found {
  uint32_t struct_size;
  int32_t more;
  wb_str next;
  int32_t partial;
  int32_t bounded;
  uint64_t unreadable;
  uint64_t tail;
  uint64_t tail_left_out;
} wb_history_found;

void wb_history_query_init(wb_history_query* query);
int32_t wb_history_search(const wb_history* history, const wb_history_query* query, wb_history_hits** out,
                          wb_error* err);
uint64_t wb_history_hits_count(const wb_history_hits* hits);
int32_t wb_history_hits_at(const wb_history_hits* hits, uint64_t index, wb_history_hit* out);
void wb_history_hits_about(const wb_history_hits* hits, wb_history_found* out);
void wb_history_hits_free(wb_history_hits* hits);
typedef int32_t (*wb_history_sink)(void* user, const char* data, size_t size);

typedef struct wb_history_export_options {
  uint32_t struct_size;
  int32_t ledger;
  int32_t trail;
  int32_t reserved;
  wb_str channel;
} wb_history_export_options;

void wb_history_export_options_init(wb_history_export_options* options);
int32_t wb_history_export(const wb_history* history, const wb_history_export_options* options,
                          wb_history_sink sink, void* user, wb_history_text** report, wb_error* err);

typedef struct wb_history_markdown_options {
  uint32_t struct_size;
  int32_t thoughts;
  wb_str words;
} wb_history_markdown_options;

void wb_history_markdown_options_init(wb_history_markdown_options* options);
int32_t wb_history_export_markdown(const wb_history* history, wb_str channel,
                                   const wb_history_markdown_options* options, wb_history_sink sink,
                                   void* user, wb_history_text** report, wb_error* err);
typedef struct wb_history_import wb_history_import;

typedef struct wb_history_import_options {
  uint32_t struct_size;
  int32_t strict;
  int32_t replace;
  int32_t reserved;
} wb_history_import_options;

void wb_history_import_options_init(wb_history_import_options* options);
int32_t wb_history_import_new(wb_history* history, const wb_history_import_options* options,
                              wb_history_import** out, wb_error* err);
int32_t wb_history_import_feed(wb_history_import* import, wb_str bytes, wb_error* err);
int32_t wb_history_import_end(wb_history_import* import, wb_error* err);
int32_t wb_history_import_report(const wb_history_import* import, wb_history_text** out, wb_error* err);
void wb_history_import_progress(const wb_history_import* import, uint64_t* lines, uint64_t* bytes);
void wb_history_import_free(wb_history_import* import);
int32_t wb_history_backup(const wb_history* history, wb_str folder, wb_history_progress progress, void* user,
                          wb_history_text** report, wb_error* err);
int32_t wb_history_inspect(wb_str folder, int32_t read_all, wb_history_text** out, wb_error* err);
int32_t wb_history_salvage(wb_str folder, wb_str into, wb_history_text** report, wb_error* err);
int32_t wb_history_repair(wb_str folder, wb_history_text** report, wb_error* err);"""
