/* A7 A6 S4 S5 S6: the pool of agents through the C API. */
#include "watchbill/acp_pool.h"

#include "check.h"

static const int64_t kSecond = 1000000000;
static wb_now now = {1000000000, 0};

static void expect(wb_acp_pool* pool, int32_t kind, const char* agent) {
  wb_acp_pool_action action = {0};
  action.struct_size = sizeof action;
  CHECK(wb_acp_pool_next_action(pool, &action, NULL) == 0);
  if (action.kind != kind) fprintf(stderr, "%d where %d was expected\n", action.kind, kind);
  CHECK(action.kind == kind && str_is(action.agent, agent));
  CHECK(action.state == 0 && action.error.data == NULL);
}

static void changed(wb_acp_pool* pool, const char* agent, int32_t state, const char* error) {
  wb_acp_pool_action action = {0};
  action.struct_size = sizeof action;
  CHECK(wb_acp_pool_next_action(pool, &action, NULL) == 0);
  CHECK(action.kind == WB_ACP_POOL_CHANGED && str_is(action.agent, agent) && action.state == state);
  if (error == NULL) {
    CHECK(action.error.data == NULL);
  } else {
    CHECK(str_is(action.error, error));
  }
  CHECK(wb_acp_pool_state(pool, str(agent)) != -WB_NOT_FOUND);
}

static void quiet(wb_acp_pool* pool) {
  wb_acp_pool_action action = {0};
  action.struct_size = sizeof action;
  CHECK(wb_acp_pool_next_action(pool, &action, NULL) == 1);
}

static void tick_at_deadline(wb_acp_pool* pool) {
  now.mono_ns = wb_acp_pool_deadline(pool);
  CHECK(now.mono_ns != INT64_MAX);
  CHECK(wb_acp_pool_tick(pool, now, NULL) == WB_OK);
}

static void ready(wb_acp_pool* pool, const char* agent) {
  CHECK(wb_acp_pool_start(pool, str(agent), now, NULL) == WB_OK);
  changed(pool, agent, WB_ACP_AGENT_STARTING, NULL);
  expect(pool, WB_ACP_POOL_SPAWN, agent);
  CHECK(wb_acp_pool_handshake_done(pool, str(agent), now, NULL) == WB_OK);
  changed(pool, agent, WB_ACP_AGENT_READY, NULL);
  quiet(pool);
}

static void run_words(void) {
  CHECK(str_is(wb_acp_agent_state_word(WB_ACP_AGENT_STOPPED), "stopped"));
  CHECK(str_is(wb_acp_agent_state_word(WB_ACP_AGENT_STARTING), "starting"));
  CHECK(str_is(wb_acp_agent_state_word(WB_ACP_AGENT_READY), "ready"));
  CHECK(str_is(wb_acp_agent_state_word(WB_ACP_AGENT_BUSY), "busy"));
  CHECK(str_is(wb_acp_agent_state_word(WB_ACP_AGENT_ERROR), "error"));
  CHECK(wb_acp_agent_state_word(0).data == NULL && wb_acp_agent_state_word(6).data == NULL);
}

static void run_options(void) {
  wb_acp_pool_options options;
  wb_acp_pool* pool = NULL;
  wb_error err = {0};
  wb_acp_pool_options_init(&options);
  CHECK(options.struct_size == sizeof options && options.max_running == 0 && options.stop_idle_after_ms == 0);
  CHECK(options.input_closed_ms == 5000 && options.terminated_ms == 3000);
  options.stop_idle_after_ms = -1;
  CHECK(wb_acp_pool_new(&options, &pool, &err) == -WB_INVALID_ARGUMENT && pool == NULL);
  CHECK(strstr(err.text, "stop_idle_after_ms") != NULL);
  options.stop_idle_after_ms = 0;
  options.terminated_ms = INT64_MAX;
  CHECK(wb_acp_pool_new(&options, &pool, NULL) == -WB_INVALID_ARGUMENT);
  /* An older caller's structure is read as far as it goes. */
  options.struct_size = 8;
  options.max_running = 1;
  CHECK(wb_acp_pool_new(&options, &pool, &err) == WB_OK);
  CHECK(wb_acp_pool_add(pool, str("a"), &err) == WB_OK);
  CHECK(wb_acp_pool_add(pool, str("b"), &err) == WB_OK);
  ready(pool, "a");
  CHECK(wb_acp_pool_use(pool, str("a"), now, &err) == WB_OK);
  CHECK(wb_acp_pool_start(pool, str("b"), now, &err) == -WB_FAILED_PRECONDITION);
  CHECK(strcmp(err.text, "too many agents running: 1 agent(s) busy (a), the limit is 1") == 0);
  CHECK(wb_acp_pool_set_limits(pool, 1, -1, now, &err) == -WB_INVALID_ARGUMENT);
  CHECK(wb_acp_pool_set_limits(pool, 2, 1, now, &err) == WB_OK);
  changed(pool, "a", WB_ACP_AGENT_BUSY, NULL);
  ready(pool, "b");
  wb_acp_pool_free(pool);
  wb_acp_pool_free(NULL);
}

static void run_life(void) {
  wb_acp_pool* pool = NULL;
  wb_error err = {0};
  CHECK(wb_acp_pool_new(NULL, &pool, NULL) == WB_OK);
  CHECK(wb_acp_pool_state(pool, str("a")) == -WB_NOT_FOUND);
  CHECK(wb_acp_pool_start(pool, str("a"), now, &err) == -WB_NOT_FOUND);
  CHECK(strstr(err.text, "\"a\"") != NULL);
  CHECK(wb_acp_pool_add(pool, str("a"), NULL) == WB_OK);
  CHECK(wb_acp_pool_state(pool, str("a")) == WB_ACP_AGENT_STOPPED);
  CHECK(wb_acp_pool_release(pool, str("a"), now, &err) == -WB_FAILED_PRECONDITION);
  quiet(pool);
  ready(pool, "a");
  CHECK(wb_acp_pool_use(pool, str("a"), now, NULL) == WB_OK);
  CHECK(wb_acp_pool_use(pool, str("a"), now, NULL) == WB_OK);
  CHECK(wb_acp_pool_release(pool, str("a"), now, NULL) == WB_OK);
  changed(pool, "a", WB_ACP_AGENT_BUSY, NULL);
  quiet(pool);
  CHECK(wb_acp_pool_idle(pool) == 0 && wb_acp_pool_deadline(pool) == INT64_MAX);

  /* The ladder, to its end. */
  CHECK(wb_acp_pool_stop(pool, str("a"), now, NULL) == WB_OK);
  expect(pool, WB_ACP_POOL_CLOSE_INPUT, "a");
  CHECK(wb_acp_pool_deadline(pool) == now.mono_ns + 5 * kSecond);
  CHECK(wb_acp_pool_use(pool, str("a"), now, &err) == -WB_FAILED_PRECONDITION);
  tick_at_deadline(pool);
  expect(pool, WB_ACP_POOL_TERMINATE, "a");
  tick_at_deadline(pool);
  expect(pool, WB_ACP_POOL_KILL, "a");
  tick_at_deadline(pool);
  expect(pool, WB_ACP_POOL_KILL, "a");
  CHECK(wb_acp_pool_exited(pool, str("a"), str("signal 9"), 1, now, NULL) == WB_OK);
  quiet(pool);
  CHECK(wb_acp_pool_tree_gone(pool, str("a"), now, NULL) == WB_OK);
  changed(pool, "a", WB_ACP_AGENT_STOPPED, NULL);
  CHECK(wb_acp_pool_idle(pool) == 1);

  /* A start that fails, a restart, a crash, and a removal. */
  CHECK(wb_acp_pool_start(pool, str("a"), now, NULL) == WB_OK);
  changed(pool, "a", WB_ACP_AGENT_STARTING, NULL);
  expect(pool, WB_ACP_POOL_SPAWN, "a");
  CHECK(wb_acp_pool_start_failed(pool, str("a"), str("speaks ACP version 2"), 1, now, NULL) == WB_OK);
  changed(pool, "a", WB_ACP_AGENT_ERROR, "speaks ACP version 2");
  expect(pool, WB_ACP_POOL_CLOSE_INPUT, "a");
  CHECK(str_is(wb_acp_pool_error(pool, str("a")), "speaks ACP version 2"));
  CHECK(wb_acp_pool_exited(pool, str("a"), str("exit code 0"), 0, now, NULL) == WB_OK);
  quiet(pool);
  ready(pool, "a");
  CHECK(wb_acp_pool_error(pool, str("a")).size == 0);
  CHECK(wb_acp_pool_restart(pool, str("a"), now, NULL) == WB_OK);
  CHECK(wb_acp_pool_waiting(pool, str("a")) == 1);
  expect(pool, WB_ACP_POOL_CLOSE_INPUT, "a");
  CHECK(wb_acp_pool_exited(pool, str("a"), str("exit code 0"), 0, now, NULL) == WB_OK);
  changed(pool, "a", WB_ACP_AGENT_STOPPED, NULL);
  changed(pool, "a", WB_ACP_AGENT_STARTING, NULL);
  expect(pool, WB_ACP_POOL_SPAWN, "a");
  CHECK(wb_acp_pool_waiting(pool, str("a")) == 0);
  CHECK(wb_acp_pool_handshake_done(pool, str("a"), now, NULL) == WB_OK);
  changed(pool, "a", WB_ACP_AGENT_READY, NULL);
  CHECK(wb_acp_pool_exited(pool, str("a"), str("signal 11"), 0, now, NULL) == WB_OK);
  changed(pool, "a", WB_ACP_AGENT_ERROR, "signal 11");
  CHECK(wb_acp_pool_exited(pool, str("a"), str("signal 11"), 0, now, &err) == -WB_FAILED_PRECONDITION);
  CHECK(wb_acp_pool_remove(pool, str("a"), now, NULL) == WB_OK);
  expect(pool, WB_ACP_POOL_REMOVED, "a");
  quiet(pool);
  CHECK(wb_acp_pool_state(pool, str("a")) == -WB_NOT_FOUND);
  wb_acp_pool_free(pool);
}

static void run_limits(void) {
  wb_acp_pool_options options;
  wb_acp_pool* pool = NULL;
  wb_acp_pool_action action = {0};
  now.mono_ns = 10 * kSecond;
  wb_acp_pool_options_init(&options);
  options.max_running = 1;
  options.stop_idle_after_ms = 60000;
  CHECK(wb_acp_pool_new(&options, &pool, NULL) == WB_OK);
  CHECK(wb_acp_pool_add(pool, str("a"), NULL) == WB_OK);
  CHECK(wb_acp_pool_add(pool, str("b"), NULL) == WB_OK);
  ready(pool, "a");
  CHECK(wb_acp_pool_start(pool, str("b"), now, NULL) == WB_OK);
  CHECK(wb_acp_pool_waiting(pool, str("b")) == 1);
  CHECK(wb_acp_pool_state(pool, str("b")) == WB_ACP_AGENT_STOPPED);
  expect(pool, WB_ACP_POOL_CLOSE_INPUT, "a");
  CHECK(wb_acp_pool_exited(pool, str("a"), str("exit code 0"), 0, now, NULL) == WB_OK);
  changed(pool, "a", WB_ACP_AGENT_STOPPED, NULL);
  changed(pool, "b", WB_ACP_AGENT_STARTING, NULL);
  expect(pool, WB_ACP_POOL_SPAWN, "b");
  CHECK(wb_acp_pool_handshake_done(pool, str("b"), now, NULL) == WB_OK);

  /* An older caller's structure is filled as far as it goes; what it names may be given back. */
  action.struct_size = 24;
  action.state = 77;
  CHECK(wb_acp_pool_next_action(pool, &action, NULL) == 0);
  CHECK(action.kind == WB_ACP_POOL_CHANGED && action.state == 77);
  CHECK(wb_acp_pool_use(pool, action.agent, now, NULL) == WB_OK);
  CHECK(wb_acp_pool_release(pool, action.agent, now, NULL) == WB_OK);
  CHECK(str_is(action.agent, "b"));
  changed(pool, "b", WB_ACP_AGENT_BUSY, NULL);
  changed(pool, "b", WB_ACP_AGENT_READY, NULL);

  /* The third look is the first that finds it idle for a minute. */
  tick_at_deadline(pool);
  CHECK(now.mono_ns % (30 * kSecond) == 0);
  quiet(pool);
  tick_at_deadline(pool);
  tick_at_deadline(pool);
  expect(pool, WB_ACP_POOL_CLOSE_INPUT, "b");
  CHECK(wb_acp_pool_stop_all(pool, now, NULL) == WB_OK);
  quiet(pool);
  CHECK(wb_acp_pool_exited(pool, str("b"), str("exit code 0"), 0, now, NULL) == WB_OK);
  changed(pool, "b", WB_ACP_AGENT_STOPPED, NULL);
  CHECK(wb_acp_pool_idle(pool) == 1);
  wb_acp_pool_free(pool);
}

int main(void) {
  run_words();
  run_options();
  run_life();
  run_limits();
  puts("ok");
  return 0;
}
