#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/reload.h"

/* A configuration in memory that stands for the file, and what became of it. */
typedef struct world {
  uv_loop_t loop;
  laju_config running;
  laju_source source;
  laju_reload reload;
  const char *text;
  laju_terms *published;
  laju_rule_names *names;
  int64_t interval_us; /* published with them */
  bool no_memory;
} world;

static int load(void *context, laju_config *out, char why[LAJU_WHY_SIZE]) {
  const world *w = context;
  return laju_config_parse(out, "laju.yaml", w->text, strlen(w->text), why);
}

static bool publish(laju_reload *reload, laju_terms *fresh, const laju_config *settings) {
  world *w = reload->owner;
  if (w->no_memory) return false;
  laju_terms_free(w->published);
  w->published = fresh;
  w->interval_us = settings->snapshot_interval_us;
  return true;
}

static int set_up(void **state) {
  static world w;
  w = (world){.text = "snapshot: {path: /tmp/x, interval: 10s}\nrules: [{name: api, limit: 5, per: 1m}]"};
  char why[LAJU_WHY_SIZE];
  laju_config_init(&w.running);
  if (load(&w, &w.running, why) < 0 || uv_loop_init(&w.loop) < 0) return -1;
  w.source = (laju_source){.load = load, .context = &w};
  w.names = laju_rule_names_new();
  laju_reload_init(&w.reload, &w.loop, &w.source, &w.running, w.names);
  w.reload.publish = publish;
  w.reload.owner = &w;
  *state = &w;
  return 0;
}

static int tear_down(void **state) {
  world *w = *state;
  laju_reload_stop(&w->reload);
  uv_run(&w->loop, UV_RUN_DEFAULT);
  laju_terms_free(w->published);
  laju_config_deinit(&w->running);
  laju_rule_names_free(w->names);
  return uv_loop_close(&w->loop);
}

static void new_rules_are_published(void **state) {
  world *w = *state;
  w->text =
      "snapshot: {path: /tmp/x, interval: 3s}\nrules: [{name: api, limit: 7, per: 1m}, {name: b, limit: 1, per: 1s}]";
  assert_true(laju_reload_now(&w->reload, "test"));
  assert_int_equal(laju_ruleset_count(w->published->rules), 2);
  assert_int_equal(laju_ruleset_find(w->published->rules, "api", 3)->rule.limit, 7);
  assert_int_equal(w->interval_us, 3000000);
  assert_int_equal(w->reload.done, 1);
}

static void a_rule_is_counted_under_the_same_number_as_before(void **state) {
  world *w = *state;
  assert_true(laju_reload_now(&w->reload, "test"));
  uint32_t number = laju_ruleset_find(w->published->rules, "api", 3)->rule.number;
  assert_int_not_equal(number, 0);
  w->text =
      "snapshot: {path: /tmp/x, interval: 10s}\n"
      "rules: [{name: b, limit: 1, per: 1s}, {name: api, limit: 7, per: 1h, overrides: [{key: a, limit: 1}]}]";
  assert_true(laju_reload_now(&w->reload, "test"));
  const laju_policy *api = laju_ruleset_find(w->published->rules, "api", 3);
  assert_int_equal(api->rule.number, number);
  assert_int_equal(api->overrides[0].rule.number, number);
  assert_int_not_equal(laju_ruleset_find(w->published->rules, "b", 1)->rule.number, number);
}

static void a_bad_file_changes_nothing_and_is_counted(void **state) {
  world *w = *state;
  w->text = "snapshot: {interval: 3s}\nrules: [{name: api, limit: -7, per: 1m}]";
  assert_false(laju_reload_now(&w->reload, "test"));
  assert_null(w->published);
  assert_int_equal(w->running.snapshot_interval_us, 10000000);
  assert_int_equal(w->reload.refused, 1);
  assert_int_equal(w->reload.done, 0);
}

static void what_needs_a_restart_is_refused(void **state) {
  world *w = *state;
  static const char *const texts[] = {
      "memory: 64MiB\nsnapshot: {path: /tmp/x}",
      "workers: 3\nsnapshot: {path: /tmp/x}",
      "listen: {http: 127.0.0.1:8999}\nsnapshot: {path: /tmp/x}",
      "snapshot: {path: /tmp/y}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    w->text = texts[i];
    assert_false(laju_reload_now(&w->reload, "test"));
    assert_int_equal(w->reload.refused, i + 1);
  }
  assert_null(w->published);
}

static void without_memory_the_old_terms_stay(void **state) {
  world *w = *state;
  w->no_memory = true;
  assert_false(laju_reload_now(&w->reload, "test"));
  assert_int_equal(w->reload.refused, 1);
}

static void what_is_no_file_is_not_read(void **state) {
  world *w = *state;
  static const char *const paths[] = {"/dev/null", "/", "/nowhere/laju.yaml"};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    w->source.path = paths[i];
    assert_false(laju_reload_now(&w->reload, "test"));
    assert_int_equal(w->reload.refused, i + 1);
  }
  assert_null(w->published);
}

static void without_a_source_there_is_nothing_to_read(void **state) {
  world *w = *state;
  w->reload.source = NULL;
  assert_false(laju_reload_now(&w->reload, "test"));
  assert_int_equal(w->reload.refused, 1);
  laju_reload_start(&w->reload);
  assert_false(uv_is_active((uv_handle_t *)&w->reload.look));
}

/* A file that is there, and stands for the configuration. */
static int make_file(world *w) {
  static char path[] = "/tmp/laju-reload-XXXXXX";
  memcpy(path + sizeof path - 7, "XXXXXX", 6);
  int fd = mkstemp(path);
  assert_true(fd >= 0 && close(fd) == 0);
  w->source.path = path;
  return 0;
}

/* Turns the loop until `turns` looks were taken and what they set off is over. */
static void look(world *w, size_t turns) {
  for (size_t i = 0; i < turns; i++) {
    uv_timer_start(&w->reload.look, w->reload.look.timer_cb, 0, 0);
    uv_run(&w->loop, UV_RUN_DEFAULT);
  }
}

static void a_change_while_we_were_starting_is_seen(void **state) {
  world *w = *state;
  make_file(w);
  w->source.seen = laju_sighting_of(w->source.path);
  w->source.seen.size++; /* it was another when it was read */
  w->text = "snapshot: {path: /tmp/x, interval: 10s}\nrules: [{name: api, limit: 6, per: 1m}]";
  laju_reload_start(&w->reload);
  look(w, 2);
  unlink(w->source.path);
  assert_int_equal(w->reload.done, 1); /* and once is enough */
}

static void a_file_that_stays_is_not_read_again(void **state) {
  world *w = *state;
  make_file(w);
  w->source.seen = laju_sighting_of(w->source.path);
  laju_reload_start(&w->reload);
  look(w, 2);
  unlink(w->source.path);
  look(w, 1);
  assert_int_equal(w->reload.done + w->reload.refused, 0);
}

#define CLAIM(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(new_rules_are_published),
      CLAIM(a_rule_is_counted_under_the_same_number_as_before),
      CLAIM(a_bad_file_changes_nothing_and_is_counted),
      CLAIM(what_needs_a_restart_is_refused),
      CLAIM(without_memory_the_old_terms_stay),
      CLAIM(what_is_no_file_is_not_read),
      CLAIM(without_a_source_there_is_nothing_to_read),
      CLAIM(a_change_while_we_were_starting_is_seen),
      CLAIM(a_file_that_stays_is_not_read_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
