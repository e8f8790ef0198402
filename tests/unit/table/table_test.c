#include "decisions.h"
#include "table/fixture.h"
#include "table/shape.h"

#include <sys/mman.h>
#include <unistd.h>

#include "core/decide.h"
#include "core/log.h"
#include "table/store.h"

/* ---- making one ---- */

static void memory_outside_its_range_is_refused(void **unused) {
  (void)unused;
  laju_table *table = NULL;
  laju_table_options too_small = {.memory_bytes = MIB - 1}, too_large = {.memory_bytes = LAJU_TABLE_MEMORY_MAX + 1};
  laju_table_options only_logs = {.memory_bytes = 4 * MIB, .logs_bytes = 4 * MIB};
  laju_table_options more_logs = {.memory_bytes = 4 * MIB, .logs_bytes = 5 * MIB};
  assert_int_equal(laju_table_new(&table, &too_small), LAJU_ERR_MEMORY);
  assert_int_equal(laju_table_new(&table, &too_large), LAJU_ERR_MEMORY);
  assert_int_equal(laju_table_new(&table, &only_logs), LAJU_ERR_MEMORY);
  assert_int_equal(laju_table_new(&table, &more_logs), LAJU_ERR_MEMORY);
  assert_null(table);
}

static void memory_is_shared_out_and_never_more_than_asked_for(void **unused) {
  (void)unused;
  const uint64_t sizes[] = {MIB, 3 * MIB + 5, 64 * MIB, 256 * MIB, UINT64_C(1) << 40};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    laju_table *table = table_of(sizes[i]);
    laju_table_stats stats = stats_of(table);
    assert_true(stats.slots / 5 * 128 + stats.logs_bytes / 8 * 9 < sizes[i]);
    assert_true(stats.logs_bytes >= 512 * 1024);
    assert_true(stats.slots >= 10000);
    laju_table_free(table);
  }
}

static uint64_t resident_pages(laju_table *table) {
  size_t pages = table->mapped_bytes / LAJU_PAGE_BYTES, resident = 0;
  unsigned char *seen = malloc(pages);
  assert_int_equal(mincore(table, table->mapped_bytes, seen), 0);
  for (size_t i = 0; i < pages; i++) resident += seen[i] & 1;
  free(seen);
  return resident;
}

static void an_idle_table_of_256_mib_takes_less_than_100_kib(void **unused) {
  (void)unused;
  laju_table *table = table_of(256 * MIB);
  assert_int_equal(laju_table_sweep(table, 0, UINT64_MAX, NOON), 0);
  assert_true(resident_pages(table) < 25);
  laju_table_free(table);
}

static void a_thousand_keys_touch_little_of_a_large_table(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("api", LAJU_SLIDING_WINDOW_COUNTER, 10, 60 * SECOND);
  laju_table *table = table_of(256 * MIB);
  for (unsigned i = 0; i < 1000; i++) {
    char key[16];
    snprintf(key, sizeof key, "u:%u", i);
    assert_true(decide(table, &rule, key, 1, NOON).allowed);
  }
  uint64_t pages = resident_pages(table);
  assert_true(pages > 900 && pages < 2000 + 50); /* one for each bucket looked at, at most */
  assert_int_equal(laju_table_sweep(table, 0, UINT64_MAX, NOON), 0);
  assert_int_equal(resident_pages(table), pages);
  laju_table_free(table);
}

/* ---- deciding ---- */

static void the_eleventh_of_ten_is_refused_under_each_algorithm(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  for (unsigned algorithm = 0; algorithm < LAJU_ALGORITHMS; algorithm++) {
    laju_rule rule = rule_of("api", (laju_algorithm)algorithm, 10, 3600 * SECOND);
    for (unsigned i = 1; i <= 10; i++) {
      laju_decision decision = decide(table, &rule, "ann", 1, NOON);
      assert_true(decision.allowed);
      assert_int_equal(decision.remaining, 10 - i);
    }
    laju_decision refused = decide(table, &rule, "ann", 1, NOON);
    assert_false(refused.allowed);
    assert_true(refused.retry_after_us > 0);
    assert_true(decide(table, &rule, "ben", 1, NOON).allowed); /* another key is another matter */
  }
  assert_int_equal(stats_of(table).keys, 2 * LAJU_ALGORITHMS);
  laju_table_free(table);
}

static void a_denial_and_a_peek_write_nothing(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  for (unsigned algorithm = 0; algorithm < LAJU_ALGORITHMS; algorithm++) {
    laju_rule rule = rule_of("api", (laju_algorithm)algorithm, 10, 3600 * SECOND);
    assert_int_equal(decide(table, &rule, "ann", 11, NOON).retry_after_us, LAJU_NEVER);
    assert_int_equal(decide(table, &rule, "ann", 0, NOON).remaining, 10);
  }
  assert_int_equal(stats_of(table).keys, 0);
  assert_int_equal(stats_of(table).logs_used_bytes, 0);
  laju_table_free(table);
}

static void a_changed_limit_keeps_what_was_used(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  for (unsigned algorithm = 0; algorithm < LAJU_ALGORITHMS; algorithm++) {
    laju_rule ten = rule_of("api", (laju_algorithm)algorithm, 10, 3600 * SECOND);
    laju_rule twelve = rule_of("api", (laju_algorithm)algorithm, 12, 3600 * SECOND);
    assert_int_equal(decide(table, &ten, "ann", 10, NOON).remaining, 0);
    assert_int_equal(decide(table, &twelve, "ann", 1, NOON).remaining, 1);
    assert_false(decide(table, &ten, "ann", 1, NOON).allowed);
  }
  laju_table_free(table);
}

static void another_name_algorithm_or_period_is_another_key(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  laju_rule rules[] = {
      rule_of("api", LAJU_FIXED_WINDOW, 10, 3600 * SECOND),       rule_of("web", LAJU_FIXED_WINDOW, 10, 3600 * SECOND),
      rule_of("api", LAJU_TOKEN_BUCKET, 10, 3600 * SECOND),       rule_of("api", LAJU_FIXED_WINDOW, 10, 60 * SECOND),
      rule_of("api", LAJU_SLIDING_WINDOW_LOG, 10, 3600 * SECOND),
  };
  for (size_t i = 0; i < 5; i++) assert_int_equal(decide(table, &rules[i], "ann", 3, NOON).remaining, 7);
  assert_int_equal(stats_of(table).keys, 5);
  laju_table_free(table);
}

static void taking_gives_what_remains(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  for (unsigned algorithm = 0; algorithm < LAJU_ALGORITHMS; algorithm++) {
    laju_rule rule = rule_of("api", (laju_algorithm)algorithm, 100, 3600 * SECOND);
    laju_check most = check_of(&rule, "ann", 60);
    laju_decision decision;
    assert_int_equal(laju_table_take(table, &most, NOON, &decision), 60);
    assert_int_equal(decision.remaining, 40);
    assert_int_equal(laju_table_take(table, &most, NOON, &decision), 40);
    assert_int_equal(laju_table_take(table, &most, NOON, &decision), 0);
    assert_int_equal(decision.remaining, 0);
  }
  laju_table_free(table);
}

static void independent_checks_are_decided_in_their_order(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  laju_rule rule = rule_of("api", LAJU_FIXED_WINDOW, 20, 3600 * SECOND);
  laju_check checks[41];
  laju_decision decisions[41];
  for (size_t i = 0; i < 41; i++) checks[i] = check_of(&rule, i % 2 == 0 ? "even" : "odd", 1);
  laju_table_decide_each(table, checks, 41, NOON, decisions);
  for (size_t i = 0; i < 40; i++) assert_int_equal(decisions[i].remaining, 19 - i / 2);
  assert_false(decisions[40].allowed);
  assert_true(decisions[39].allowed);
  laju_table_free(table);
}

static void what_is_only_judged_is_answered_alike_and_not_charged(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of("api", (laju_algorithm)a, 10, 3600 * SECOND);
    laju_check checks[] = {check_of(&rule, "ann", 4), check_of(&rule, "ben", 1), check_of(&rule, "ann", 4)};
    laju_decision judged[3], decided[3];
    assert_true(laju_table_judge(table, checks, 3, NOON, judged));
    assert_true(laju_table_judge(table, checks, 1, NOON, judged));
    assert_int_equal(stats_of(table).keys, 2 * a); /* nothing new */
    laju_table_judge(table, checks, 3, NOON, judged);
    assert_true(laju_table_decide_all(table, checks, 3, NOON, decided));
    for (size_t i = 0; i < 3; i++) assert_same_decision(&judged[i], &decided[i]);
    assert_false(laju_table_judge(table, checks, 3, NOON, judged));
    assert_false(judged[0].allowed || judged[2].allowed);
    assert_int_equal(judged[1].remaining, 8);
    assert_int_equal(decide(table, &rule, "ben", 0, NOON).remaining, 9);
  }
  laju_table_free(table);
}

/* ---- giving back ---- */

static void what_a_request_charged_is_given_back(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of("api", (laju_algorithm)a, 100, 3600 * SECOND);
    decide(table, &rule, "ann", 20, NOON - SECOND);
    laju_check checks[] = {check_of(&rule, "ann", 30), check_of(&rule, "ben", 7), check_of(&rule, "ann", 0),
                           check_of(&rule, "ann", 1)};
    laju_decision decisions[4];
    int64_t before = decide(table, &rule, "ann", 0, NOON).remaining;
    assert_true(laju_table_decide_all(table, checks, 4, NOON, decisions));
    decide(table, &rule, "ann", 3, NOON);
    laju_table_give_back(table, checks, 4, NOON);
    assert_int_equal(decide(table, &rule, "ann", 0, NOON).remaining, before - 3);
    assert_int_equal(decide(table, &rule, "ben", 0, NOON).remaining, 100);
  }
  laju_table_free(table);
}

static void a_key_that_is_gone_has_nothing_to_give(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 10, 3600 * SECOND);
  laju_check check = check_of(&rule, "ann", 3);
  laju_table_give_back(table, &check, 1, NOON);
  assert_int_equal(stats_of(table).keys, 0);
  laju_table_free(table);
}

/* ---- the table and the bare law agree ---- */

#define MODEL_KEYS 3000
#define MODEL_RULES 10
#define MODEL_STEPS 200000

typedef struct model {
  laju_state states[MODEL_RULES][MODEL_KEYS];
  laju_log logs[MODEL_RULES][MODEL_KEYS];
} model;

static void model_decide(model *m, const laju_rule *rule, size_t r, size_t k, int64_t now_us, uint32_t cost,
                         laju_decision *out) {
  if (rule->algorithm != LAJU_SLIDING_WINDOW_LOG) {
    laju_decide(rule, &m->states[r][k], now_us, cost, out);
    return;
  }
  laju_log *log = &m->logs[r][k];
  laju_log_decide(rule, log, now_us, cost, out);
  if (!out->allowed || cost == 0) return;
  uint32_t capacity = laju_log_need(rule, log, now_us, cost);
  if (capacity > log->capacity) {
    uint64_t *stamps = malloc(capacity * sizeof *stamps), *old = log->stamps;
    laju_log_move(log, stamps, capacity);
    free(old);
  }
  laju_log_admit(rule, log, now_us, cost);
}

static void assert_same(const laju_decision *a, const laju_decision *b) {
  assert_int_equal(a->allowed, b->allowed);
  assert_int_equal(a->limit, b->limit);
  assert_int_equal(a->remaining, b->remaining);
  assert_int_equal(a->retry_after_us, b->retry_after_us);
  assert_int_equal(a->more_after_us, b->more_after_us);
  assert_int_equal(a->reset_after_us, b->reset_after_us);
  assert_int_equal(a->delay_us, b->delay_us);
}

static void thousands_of_keys_get_what_the_law_alone_gives(void **unused) {
  (void)unused;
  laju_table *table = table_of(64 * MIB);
  model *m = calloc(1, sizeof *m);
  assert_non_null(m);
  uint64_t random = 7;
  laju_rule rules[MODEL_RULES];
  for (size_t r = 0; r < MODEL_RULES; r++) {
    rules[r] = rule_of(r % 2 == 0 ? "a" : "b", (laju_algorithm)(r % LAJU_ALGORITHMS), 1 + r * r * 5,
                       r < 5 ? 10 * SECOND : 7000 * SECOND);
  }
  int64_t now_us = NOON;
  for (int step = 0; step < MODEL_STEPS; step++) {
    uint64_t x = random_next(&random);
    size_t r = x % MODEL_RULES, k = (x >> 8) % (step % 3 == 0 ? 30 : MODEL_KEYS);
    uint32_t cost = (uint32_t)((x >> 32) % 4 == 0 ? (x >> 40) % (rules[r].limit + 2) : (x >> 40) % 3);
    if ((x >> 60) == 0) now_us += (int64_t)((x >> 20) % (20 * SECOND));
    if ((x >> 56) == 3) now_us -= (int64_t)((x >> 20) % SECOND);
    char key[24];
    snprintf(key, sizeof key, "k%zu", k);
    laju_decision expected, got = decide(table, &rules[r], key, cost, now_us);
    model_decide(m, &rules[r], r, k, now_us, cost, &expected);
    assert_same(&got, &expected);
  }
  laju_table_stats stats = stats_of(table);
  assert_int_equal(stats.evicted_fresh + stats.evicted_used + stats.logs_evicted_fresh + stats.logs_evicted_used, 0);
  for (size_t r = 0; r < MODEL_RULES; r++) {
    for (size_t k = 0; k < MODEL_KEYS; k++) free(m->logs[r][k].stamps);
  }
  free(m);
  laju_table_free(table);
}

/* ---- forgetting ---- */

static void a_forgotten_key_starts_anew(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  for (unsigned algorithm = 0; algorithm < LAJU_ALGORITHMS; algorithm++) {
    laju_rule rule = rule_of("api", (laju_algorithm)algorithm, 10, 3600 * SECOND);
    assert_false(laju_table_forget(table, &rule, "ann", 3, NOON));
    decide(table, &rule, "ann", 10, NOON);
    assert_true(laju_table_forget(table, &rule, "ann", 3, NOON));
    assert_false(laju_table_forget(table, &rule, "ann", 3, NOON));
    assert_int_equal(decide(table, &rule, "ann", 4, NOON).remaining, 6);
    assert_false(laju_table_forget(table, &rule, "ann", 3, NOON + 3 * 3600 * SECOND)); /* as good as new by then */
  }
  assert_int_equal(stats_of(table).keys, 0);
  assert_int_equal(stats_of(table).logs_used_bytes, 0);
  laju_table_free(table);
}

static void a_sweep_frees_what_is_as_good_as_new_and_nothing_else(void **unused) {
  (void)unused;
  laju_table *table = table_of(16 * MIB);
  laju_rule minute = rule_of("minute", LAJU_FIXED_WINDOW, 10, 60 * SECOND);
  laju_rule log = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 10, 60 * SECOND);
  laju_rule hour = rule_of("hour", LAJU_TOKEN_BUCKET, 10, 3600 * SECOND);
  for (unsigned i = 0; i < 1000; i++) {
    char key[16];
    snprintf(key, sizeof key, "%u", i);
    decide(table, &minute, key, 1, NOON);
    decide(table, &log, key, 1, NOON);
    decide(table, &hour, key, 10, NOON);
  }
  assert_int_equal(stats_of(table).keys, 3000);
  assert_int_equal(stats_of(table).logs_used_bytes, 1000 * 64);
  unsigned turns = 0;
  for (uint64_t from = 0; (from = laju_table_sweep(table, from, 500, NOON + 60 * SECOND)) != 0;) turns++;
  assert_true(turns > 2);
  assert_int_equal(stats_of(table).keys, 1000);
  assert_int_equal(stats_of(table).logs_used_bytes, 0);
  assert_int_equal(stats_of(table).evicted_fresh, 0);
  assert_int_equal(decide(table, &hour, "7", 0, NOON).remaining, 0);
  laju_table_free(table);
}

/* The flags that the kernel keeps for the mapping of this address, or "" where it tells none. */
static void mapping_flags(const void *at, char *flags, size_t size) {
  FILE *file = fopen("/proc/self/smaps", "r");
  char line[512];
  bool inside = false;
  flags[0] = '\0';
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    unsigned long long from, to;
    if (sscanf(line, "%llx-%llx ", &from, &to) == 2) inside = (uintptr_t)at >= from && (uintptr_t)at < to;
    if (inside && strncmp(line, "VmFlags:", 8) == 0) snprintf(flags, size, "%s", line + 8);
  }
  if (file != NULL) fclose(file);
}

static void huge_pages_are_asked_for_only_where_wanted(void **unused) {
  (void)unused;
  if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) < 0) return; /* this kernel has none to ask for */
  for (int wanted = 0; wanted <= 1; wanted++) {
    laju_table_options options = {.memory_bytes = 8 * MIB, .huge_pages = wanted == 1};
    laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 1, SECOND);
    laju_table *table;
    char flags[512];
    assert_int_equal(laju_table_new(&table, &options), 0);
    mapping_flags(table, flags, sizeof flags);
    assert_true((strstr(flags, " hg") != NULL) == (wanted == 1));
    assert_true((strstr(flags, " nh") != NULL) == (wanted == 0));
    assert_true(decide(table, &rule, "ann", 1, NOON).allowed);
    assert_false(decide(table, &rule, "ann", 1, NOON).allowed);
    laju_table_free(table);
  }
}

/* More different limits than there are ids for: the first rule's id is another's by then, by whose measure its key looks as
 * good as new. */
static void a_limited_key_stays_limited_when_its_shapes_id_is_recycled(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  laju_rule daily = rule_of("daily", LAJU_TOKEN_BUCKET, 1, 86400 * SECOND);
  assert_true(decide(table, &daily, "ann", 1, NOON).allowed);
  for (uint64_t i = 0; i < 2 * LAJU_SHAPE_MAX; i++) {
    laju_rule other = rule_of("other", LAJU_TOKEN_BUCKET, 10 + i, SECOND);
    assert_true(decide(table, &other, "bob", 1, NOON + 10 * SECOND).allowed);
  }
  for (uint64_t at = 0; (at = laju_table_sweep(table, at, 1000, NOON + 20 * SECOND)) != 0;) continue;
  assert_false(decide(table, &daily, "ann", 1, NOON + 20 * SECOND).allowed);
  laju_table_free(table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(huge_pages_are_asked_for_only_where_wanted),
      cmocka_unit_test(a_limited_key_stays_limited_when_its_shapes_id_is_recycled),
      cmocka_unit_test(memory_outside_its_range_is_refused),
      cmocka_unit_test(memory_is_shared_out_and_never_more_than_asked_for),
      cmocka_unit_test(an_idle_table_of_256_mib_takes_less_than_100_kib),
      cmocka_unit_test(a_thousand_keys_touch_little_of_a_large_table),
      cmocka_unit_test(the_eleventh_of_ten_is_refused_under_each_algorithm),
      cmocka_unit_test(a_denial_and_a_peek_write_nothing),
      cmocka_unit_test(a_changed_limit_keeps_what_was_used),
      cmocka_unit_test(another_name_algorithm_or_period_is_another_key),
      cmocka_unit_test(taking_gives_what_remains),
      cmocka_unit_test(independent_checks_are_decided_in_their_order),
      cmocka_unit_test(what_is_only_judged_is_answered_alike_and_not_charged),
      cmocka_unit_test(what_a_request_charged_is_given_back),
      cmocka_unit_test(a_key_that_is_gone_has_nothing_to_give),
      cmocka_unit_test(thousands_of_keys_get_what_the_law_alone_gives),
      cmocka_unit_test(a_forgotten_key_starts_anew),
      cmocka_unit_test(a_sweep_frees_what_is_as_good_as_new_and_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
