/* What is kept beside conversations, in C: records and the trail. */
#define _XOPEN_SOURCE 700
#include "history_fixture.h"

static wb_str bytes(const char* data, size_t size) {
  wb_str s;
  s.data = data;
  s.size = size;
  return s;
}

static void put_record(wb_history* history, const char* key, wb_str order, const char* value) {
  wb_history_batch* batch = NULL;
  wb_error err = {0};
  CHECK(wb_history_batch_new(&batch, &err) == WB_OK);
  CHECK(wb_history_batch_put_record(batch, WB_HISTORY_OUTCOMES, str(key), order, str(value), &err) == WB_OK);
  CHECK(wb_history_commit(history, batch, &err) == WB_OK);
  wb_history_batch_free(batch);
}

static int record_is(wb_history_records* records, uint64_t index, const char* key, const char* value) {
  wb_history_record record = {0};
  record.struct_size = sizeof record;
  return wb_history_records_at(records, index, &record) == WB_OK && str_is(record.key, key) &&
         str_is(record.value, value);
}

static void records(void) {
  wb_history* history = opened("records");
  wb_history_records* read = NULL;
  wb_history_batch* batch = NULL;
  wb_history_record record = {0};
  wb_history_key_range keys;
  wb_history_order_range orders;
  wb_error err = {0};
  char old_order[8], new_order[8], newest[8];
  wb_history_order_newest_first(1000, old_order);
  wb_history_order_newest_first(2000, new_order);
  wb_history_order_newest_first(3000, newest);

  CHECK(wb_history_record_get(history, WB_HISTORY_OUTCOMES, str("a"), &read, &err) == 1 && read == NULL);
  put_record(history, "a", bytes(old_order, 8), "{\"n\": 1}");
  put_record(history, "b", bytes(new_order, 8), "[true]");
  put_record(history, "c", bytes(newest, 8), "\"x\"");
  CHECK(wb_history_record_get(history, WB_HISTORY_OUTCOMES, str("a"), &read, &err) == WB_OK);
  CHECK(wb_history_records_count(read) == 1 && record_is(read, 0, "a", "{\"n\":1}"));
  record.struct_size = sizeof record;
  CHECK(wb_history_records_at(read, 0, &record) == WB_OK);
  CHECK(record.order.size == 8 && memcmp(record.order.data, old_order, 8) == 0);
  CHECK(wb_history_records_at(read, 1, &record) == 1);
  wb_history_records_free(read);
  CHECK(wb_history_record_get(history, WB_HISTORY_PEOPLE, str("a"), &read, &err) == 1);

  CHECK(wb_history_records_by_key(history, WB_HISTORY_OUTCOMES, NULL, 2, &read, &err) == WB_OK);
  CHECK(wb_history_records_count(read) == 2 && wb_history_records_more(read) == 1);
  CHECK(wb_history_records_unreadable(read) == 0);
  wb_history_records_free(read);
  wb_history_key_range_init(&keys);
  keys.after = str("b");
  CHECK(wb_history_records_by_key(history, WB_HISTORY_OUTCOMES, &keys, 2, &read, &err) == WB_OK);
  CHECK(wb_history_records_count(read) == 1 && wb_history_records_more(read) == 0);
  CHECK(record_is(read, 0, "c", "\"x\""));
  wb_history_records_free(read);

  CHECK(wb_history_records_in_order(history, WB_HISTORY_OUTCOMES, NULL, 2, &read, &err) == WB_OK);
  CHECK(record_is(read, 0, "c", "\"x\"") && record_is(read, 1, "b", "[true]"));
  CHECK(wb_history_records_more(read) == 1);
  CHECK(wb_history_records_at(read, 1, &record) == WB_OK);
  wb_history_order_range_init(&orders);
  orders.behind = 1;
  orders.after_order = record.order;
  orders.after_key = record.key;
  {
    wb_history_records* rest = NULL;
    CHECK(wb_history_records_in_order(history, WB_HISTORY_OUTCOMES, &orders, 2, &rest, &err) == WB_OK);
    CHECK(wb_history_records_count(rest) == 1 && record_is(rest, 0, "a", "{\"n\":1}"));
    wb_history_records_free(rest);
  }
  wb_history_records_free(read);
  wb_history_order_range_init(&orders);
  orders.from = bytes(new_order, 8);
  orders.to = bytes(old_order, 8);
  CHECK(wb_history_records_in_order(history, WB_HISTORY_OUTCOMES, &orders, 9, &read, &err) == WB_OK);
  CHECK(wb_history_records_count(read) == 1 && record_is(read, 0, "b", "[true]"));
  wb_history_records_free(read);

  /* A record that moves stands in one place. */
  put_record(history, "a", bytes(newest, 8), "2");
  CHECK(wb_history_records_in_order(history, WB_HISTORY_OUTCOMES, NULL, 9, &read, &err) == WB_OK);
  CHECK(wb_history_records_count(read) == 3 && record_is(read, 0, "a", "2") &&
        record_is(read, 2, "b", "[true]"));
  wb_history_records_free(read);

  CHECK(wb_history_records_prune(history, WB_HISTORY_OUTCOMES, str(""), 0, bytes(new_order, 8), 9, &err) ==
        0);
  CHECK(wb_history_record_get(history, WB_HISTORY_OUTCOMES, str("b"), &read, &err) == 1);
  CHECK(wb_history_records_prune(history, WB_HISTORY_OUTCOMES, str(""), 0, str(""), 1, &err) == 1);
  CHECK(wb_history_records_prune(history, WB_HISTORY_OUTCOMES, str(""), 0, str(""), 0, &err) ==
        -WB_INVALID_ARGUMENT);

  CHECK(wb_history_batch_new(&batch, &err) == WB_OK);
  CHECK(wb_history_batch_put_record(batch, 0, str("k"), str(""), str("1"), &err) == -WB_INVALID_ARGUMENT);
  CHECK(strstr(err.text, "collection 0: expected 1 to 15") != NULL);
  CHECK(wb_history_batch_put_record(batch, 16, str("k"), str(""), str("1"), &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_batch_put_record(batch, WB_HISTORY_SETTINGS, str(""), str(""), str("1"), &err) ==
        -WB_INVALID_ARGUMENT);
  CHECK(wb_history_batch_put_record(batch, WB_HISTORY_SETTINGS, str("k"), str(""), str("{1}"), &err) ==
        -WB_INVALID_ARGUMENT);
  CHECK(strstr(err.text, "record: ") != NULL);
  CHECK(wb_history_batch_bytes(batch) == 0);
  CHECK(wb_history_batch_put_record(batch, WB_HISTORY_SETTINGS, str("k"), str(""), str("1"), &err) == WB_OK);
  CHECK(wb_history_batch_delete_record(batch, WB_HISTORY_OUTCOMES, str("c"), &err) == WB_OK);
  CHECK(wb_history_batch_delete_record(batch, WB_HISTORY_OUTCOMES, str("never"), &err) == WB_OK);
  CHECK(wb_history_batch_delete_record(batch, 99, str("c"), &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_commit(history, batch, &err) == WB_OK);
  CHECK(wb_history_record_get(history, WB_HISTORY_OUTCOMES, str("c"), &read, &err) == 1);
  CHECK(wb_history_record_get(history, WB_HISTORY_SETTINGS, str("k"), &read, &err) == WB_OK);
  CHECK(record_is(read, 0, "k", "1"));
  wb_history_records_free(read);
  wb_history_records_free(NULL);
  wb_history_batch_free(batch);
  wb_history_free(history);
}

static void orders(void) {
  char early[8], late[8], before_1970[8];
  wb_history_text *a = NULL, *ab = NULL;
  wb_str first, second;
  wb_history_order_oldest_first(1, early), wb_history_order_oldest_first(2, late);
  wb_history_order_oldest_first(-1, before_1970);
  CHECK(memcmp(early, late, 8) < 0 && memcmp(before_1970, early, 8) < 0);
  CHECK(wb_history_order_then(str("a"), &a, NULL) == WB_OK &&
        wb_history_order_then(str("ab"), &ab, NULL) == WB_OK);
  first = wb_history_text_get(a), second = wb_history_text_get(ab);
  CHECK(first.size == 3 && second.size == 4 && memcmp(first.data, second.data, 3) < 0);
  wb_history_text_free(a), wb_history_text_free(ab);
}

static void append(wb_history* history, int n) {
  wb_history_batch* batch = NULL;
  wb_error err = {0};
  char entry[128];
  snprintf(entry, sizeof entry,
           "{\"atMs\":%d,\"who\":\"%s\",\"what\":\"started\",\"about\":\"news\",\"detail\":{\"n\": %d}}",
           1000 * n, n % 2 == 0 ? "mia" : "noa", n);
  CHECK(wb_history_batch_new(&batch, &err) == WB_OK);
  CHECK(wb_history_batch_append_trail(batch, str(entry), &err) == WB_OK);
  CHECK(wb_history_commit(history, batch, &err) == WB_OK);
  wb_history_batch_free(batch);
}

static int32_t stop(void* user, uint64_t done, uint64_t of) {
  CHECK(done <= of);
  ++*(int*)user;
  return -1;
}

static int32_t go_on(void* user, uint64_t done, uint64_t of) {
  CHECK(done <= of);
  ++*(int*)user;
  return 0;
}

static void trail(void) {
  wb_history* history = opened("trail");
  wb_history_batch* batch = NULL;
  wb_history_page* page = NULL;
  wb_history_text* report = NULL;
  wb_history_trail_place end = {0}, kept = {0};
  wb_history_trail_query query;
  wb_error err = {0};
  uint64_t next = 7;
  int calls = 0;
  end.struct_size = kept.struct_size = sizeof end;
  CHECK(wb_history_trail_end(history, &end, &err) == WB_OK && end.number == 0);
  for (int n = 1; n <= 20; ++n) append(history, n);
  CHECK(wb_history_trail_end(history, &end, &err) == WB_OK);
  CHECK(end.number == 20 && strlen(end.hash) == 64);

  CHECK(wb_history_trail_page(history, NULL, &page, &next, &err) == WB_OK);
  CHECK(wb_history_page_count(page) == 20 && next == 0 && wb_history_page_more(page) == 0);
  CHECK(str_is(wb_history_page_at(page, 0),
               "{\"number\":20,\"atMs\":20000,\"who\":\"mia\",\"what\":\"started\","
               "\"about\":\"news\",\"detail\":{\"n\":20}}"));
  wb_history_page_free(page);
  wb_history_trail_query_init(&query);
  query.who = str("noa");
  query.limit = 3;
  query.from_ms = 5000;
  query.before_ms = 18000;
  CHECK(wb_history_trail_page(history, &query, &page, &next, &err) == WB_OK);
  CHECK(wb_history_page_count(page) == 3 && wb_history_page_more(page) == 1);
  CHECK(str_has(wb_history_page_at(page, 0), "\"number\":17,"));
  wb_history_page_free(page);
  query.before = next;
  query.limit = 100;
  CHECK(wb_history_trail_page(history, &query, &page, &next, &err) == WB_OK && next == 0);
  CHECK(wb_history_page_count(page) == 4);
  wb_history_page_free(page);

  CHECK(wb_history_trail_verify(history, &end, go_on, &calls, &report, &err) == WB_OK && calls > 0);
  CHECK(told(report, "entries") == 20 && told(report, "first") == 1);
  CHECK(str_has(wb_history_text_get(report), "\"fault\":null,\"keptIsThere\":true"));
  wb_history_text_free(report);
  CHECK(wb_history_trail_verify(history, NULL, stop, &calls, NULL, &err) == -WB_CANCELLED);
  /* Another trail than the one whose end was kept. */
  kept = end;
  kept.hash[0] = kept.hash[0] == '0' ? '1' : '0';
  CHECK(wb_history_trail_verify(history, &kept, NULL, NULL, &report, &err) == 1);
  CHECK(str_has(wb_history_text_get(report), "\"kind\":\"other\""));
  wb_history_text_free(report);
  strcpy(kept.hash, "no hash");
  CHECK(wb_history_trail_verify(history, &kept, NULL, NULL, NULL, &err) == -WB_INVALID_ARGUMENT);

  CHECK(wb_history_trail_prune(history, 5, INT64_MAX, 10, &err) == 1);
  CHECK(wb_history_trail_prune(history, 5, INT64_MAX, 10, &err) == 0);
  CHECK(wb_history_trail_verify(history, &end, NULL, NULL, &report, &err) == WB_OK);
  CHECK(told(report, "first") == 16 && told(report, "entries") == 5);
  wb_history_text_free(report);

  CHECK(wb_history_batch_new(&batch, &err) == WB_OK);
  CHECK(wb_history_batch_append_trail(batch, str("{\"when\":1}"), &err) == -WB_INVALID_ARGUMENT);
  CHECK(strstr(err.text, "when is 1") != NULL);
  CHECK(wb_history_batch_append_trail(batch, str("{\"atMs\":\"now\"}"), &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_batch_append_trail(batch, str("7"), &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_history_batch_append_trail(batch, str("{\"detail\":{\"a\":1,\"a\":2}}"), &err) == WB_OK);
  CHECK(wb_history_commit(history, batch, &err) == WB_OK);
  CHECK(wb_history_trail_end(history, &end, &err) == WB_OK && end.number == 21);
  wb_history_batch_free(batch);
  wb_history_free(history);
}

int main(void) {
  fixture_begin();
  records();
  orders();
  trail();
  puts("ok");
  return 0;
}
