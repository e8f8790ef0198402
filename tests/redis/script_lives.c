/* How long keys live: the rule for times to live, for every kind of admission. */
#include "redis/fixture.h"

#define MARK_MS INT64_C(77777000) /* a time to live that no rule here sets: kept where nothing sets another */

/* The PX that a command just sent must have set, within what the clock moved meanwhile. */
typedef struct life {
  int64_t least_ms, most_ms;
} life;

static int64_t clock_ms(void) {
  redisReply *reply = redis_command(&server, "TIME");
  int64_t ms = strtoll(reply->element[0]->str, NULL, 10) * 1000 + strtoll(reply->element[1]->str, NULL, 10) / 1000;
  freeReplyObject(reply);
  return ms;
}

static void mark(const char *name) {
  assert_int_equal(redis_integer(&server, "PEXPIRE %s %lld", name, (long long)MARK_MS), 1);
}

static life admit(const laju_rule *rule, const char *name, uint32_t cost, int64_t now_us) {
  int64_t before = clock_ms();
  laju_script_answer answer = ask_at(rule, name, cost, now_us);
  assert_null(answer.error);
  assert_true(answer.decision.allowed);
  int64_t ends = redis_integer(&server, "PEXPIRETIME %s", name);
  return (life){.least_ms = ends - clock_ms(), .most_ms = ends - before};
}

static void assert_life(life set, int64_t px_ms) {
  assert_in_range(px_ms, set.least_ms, set.most_ms);
}

/* Kept: the mark was set a moment before. */
static void assert_kept(life set) {
  assert_in_range(set.most_ms, MARK_MS - 60000, MARK_MS);
}

static void an_admission_that_finds_nothing_sets_two_periods(void **unused) {
  (void)unused;
  for (size_t i = 0; i < LAJU_ALGORITHMS; i++) {
    laju_rule rule = rule_of(every_algorithm[i], 10, MINUTE, 0);
    char name[16];
    snprintf(name, sizeof name, "key:%zu", i);
    bool counter = every_algorithm[i] == LAJU_SLIDING_WINDOW_COUNTER; /* it remembers for two periods */
    assert_life(admit(&rule, name, 1, NOON + SECOND), counter ? 240000 : 120000);
  }
}

static void the_same_slot_keeps_what_was_set(void **unused) {
  (void)unused;
  for (size_t i = 0; i < LAJU_ALGORITHMS; i++) {
    laju_rule rule = rule_of(every_algorithm[i], 10, MINUTE, 0);
    admit(&rule, "key", 1, NOON);
    mark("key");
    assert_kept(admit(&rule, "key", 1, NOON + MINUTE - 1000));
    empty(NULL);
  }
}

static void the_next_slot_sets_anew(void **unused) {
  (void)unused;
  for (size_t i = 0; i < LAJU_ALGORITHMS; i++) {
    laju_rule rule = rule_of(every_algorithm[i], 10, MINUTE, 0);
    bool counter = every_algorithm[i] == LAJU_SLIDING_WINDOW_COUNTER;
    admit(&rule, "key", 1, NOON + MINUTE - 1000);
    mark("key");
    life next = admit(&rule, "key", 1, NOON + MINUTE); /* the counter's slots are two windows: here still the first */
    if (counter) {
      assert_kept(next);
      assert_life(admit(&rule, "key", 1, NOON + 2 * MINUTE), 240000);
    } else {
      assert_life(next, 120000);
    }
    empty(NULL);
  }
}

static void a_burst_above_the_limit_sets_twice_its_refill_each_time(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_TOKEN_BUCKET, 7, MINUTE, 100); /* 100 tokens come back in 857.1428... s */
  assert_life(admit(&rule, "key", 1, NOON), 1714286);          /* twice 857142.9 ms: ticks of 100 us */
  mark("key");
  assert_life(admit(&rule, "key", 1, NOON + 1), 1714286);
}

static void a_state_ahead_of_the_clock_lives_that_much_longer(void **unused) {
  (void)unused;
  laju_rule bucket = rule_of(LAJU_TOKEN_BUCKET, 7, MINUTE, 70);
  admit(&bucket, "bucket", 1, NOON);
  assert_life(admit(&bucket, "bucket", 1, NOON - 5 * SECOND), 2 * 600000 + 5000);

  laju_rule log = rule_of(LAJU_SLIDING_WINDOW_LOG, 10, MINUTE, 0);
  admit(&log, "log", 1, NOON);
  mark("log");
  assert_kept(admit(&log, "log", 1, NOON - 5 * SECOND)); /* decided at noon: the same slot */
}

static void a_server_whose_clock_began_at_the_epoch_sets_lives_too(void **unused) {
  (void)unused;
  for (size_t i = 0; i < LAJU_ALGORITHMS; i++) {
    laju_rule rule = rule_of(every_algorithm[i], 10, MINUTE, 0);
    bool counter = every_algorithm[i] == LAJU_SLIDING_WINDOW_COUNTER;
    assert_life(admit(&rule, "key", 1, SECOND), counter ? 240000 : 120000);
    empty(NULL);
  }
}

static void repeats_that_make_a_key_give_it_a_life(void **unused) {
  (void)unused;
  for (size_t i = 0; i < LAJU_ALGORITHMS; i++) {
    laju_rule rule = rule_of(every_algorithm[i], 10, MINUTE, 0);
    laju_script_ask asks[] = {ask_of(&rule, "key", 1), ask_of(&rule, "key", 1)};
    asks[0].joined = true;
    laju_script_answer answers[2];
    redis_ask(&server, asks, 2, &(laju_script_pin){.now_us = NOON}, answers);
    bool counter = every_algorithm[i] == LAJU_SLIDING_WINDOW_COUNTER;
    assert_in_range(redis_integer(&server, "PTTL key"), 60000, counter ? 240000 : 120000);
    empty(NULL);
  }
}

static void a_clock_that_was_wrong_is_forgotten_with_its_life(void **unused) {
  (void)unused;
  for (size_t i = 0; i < LAJU_ALGORITHMS; i++) {
    laju_rule rule = rule_of(every_algorithm[i], 10, MINUTE, 0);
    bool counter = every_algorithm[i] == LAJU_SLIDING_WINDOW_COUNTER;
    admit(&rule, "key", 1, NOON + 600 * SECOND);
    mark("key");
    assert_life(admit(&rule, "key", 1, NOON), counter ? 240000 : 120000);
    empty(NULL);
  }
}

static void a_life_in_microseconds_is_rounded_up(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 10, 60000100, 0);
  assert_life(admit(&rule, "key", 1, NOON), 120001);
}

static void no_life_is_longer_than_285_years(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_TOKEN_BUCKET, 1, LAJU_PERIOD_MAX_US, LAJU_TOKENS_MAX);
  assert_life(admit(&rule, "key", 1, NOON), INT64_C(9007199254740));
}

static void denials_and_peeks_leave_the_life_alone(void **unused) {
  (void)unused;
  for (size_t i = 0; i < LAJU_ALGORITHMS; i++) {
    laju_rule rule = rule_of(every_algorithm[i], 10, MINUTE, 0);
    admit(&rule, "key", 10, NOON + MINUTE - 1000);
    mark("key");
    assert_false(ask_at(&rule, "key", 11, NOON + MINUTE).decision.allowed);
    assert_true(ask_at(&rule, "key", 0, NOON + MINUTE).decision.allowed);
    assert_in_range(redis_integer(&server, "PTTL key"), MARK_MS - 60000, MARK_MS);
    empty(NULL);
  }
}

static laju_rule any_rule(uint64_t *seed) {
  static const uint64_t limits[] = {1, 2, 7, 100};
  static const int64_t periods[] = {MINUTE, 60000100, 90 * SECOND, 7 * MINUTE, 86400 * SECOND};
  laju_algorithm algorithm = every_algorithm[random_below(seed, LAJU_ALGORITHMS)];
  uint64_t limit = limits[random_below(seed, 4)];
  uint64_t burst = algorithm > LAJU_LEAKY_BUCKET || random_below(seed, 2) ? 0 : random_below(seed, 4 * limit) + 1;
  return rule_of(algorithm, limit, periods[random_below(seed, 5)], burst);
}

/* A key's life as it would go if the clock were the trace's: never over before the key is as good as new. */
static void one_trace(uint64_t *seed) {
  laju_rule rule = any_rule(seed);
  int64_t period_us = rule.period * rule.tick_us, now_us = NOON + (int64_t)random_below(seed, 10000000);
  int64_t ends_us = 0;
  for (int i = 0; i < 25; i++) {
    int64_t step = (int64_t)random_below(seed, (uint64_t)period_us) - period_us / 4;
    if (random_below(seed, 8) == 0)
      step = (now_us / period_us + 1) * period_us - now_us - (int64_t)random_below(seed, 2);
    now_us += step;
    if (ends_us > 0 && now_us > ends_us) freeReplyObject(redis_command(&server, "DEL key"));
    redis_integer(&server, "PEXPIRE key %lld", (long long)MARK_MS * 1000);
    int64_t before = clock_ms();
    laju_script_answer answer = ask_at(&rule, "key", (uint32_t)random_below(seed, rule.capacity) + 1, now_us);
    if (!answer.decision.allowed) continue;
    int64_t px_ms = redis_integer(&server, "PEXPIRETIME key") - before;
    bool kept = px_ms > MARK_MS * 1000 - 60000 && px_ms <= MARK_MS * 1000;
    if (!kept) ends_us = now_us + px_ms * 1000;
    /* Redis' clock counts whole milliseconds and lets the last one pass. */
    assert_true(ends_us + 1000 >= now_us + answer.decision.reset_after_us);
  }
  empty(NULL);
}

static void a_key_never_dies_before_it_is_as_good_as_new(void **unused) {
  (void)unused;
  uint64_t seed = 11;
  for (int i = 0; i < 200; i++) one_trace(&seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(an_admission_that_finds_nothing_sets_two_periods, empty),
      cmocka_unit_test_teardown(the_same_slot_keeps_what_was_set, empty),
      cmocka_unit_test_teardown(the_next_slot_sets_anew, empty),
      cmocka_unit_test_teardown(a_burst_above_the_limit_sets_twice_its_refill_each_time, empty),
      cmocka_unit_test_teardown(a_state_ahead_of_the_clock_lives_that_much_longer, empty),
      cmocka_unit_test_teardown(a_server_whose_clock_began_at_the_epoch_sets_lives_too, empty),
      cmocka_unit_test_teardown(repeats_that_make_a_key_give_it_a_life, empty),
      cmocka_unit_test_teardown(a_clock_that_was_wrong_is_forgotten_with_its_life, empty),
      cmocka_unit_test_teardown(a_life_in_microseconds_is_rounded_up, empty),
      cmocka_unit_test_teardown(no_life_is_longer_than_285_years, empty),
      cmocka_unit_test_teardown(denials_and_peeks_leave_the_life_alone, empty),
      cmocka_unit_test_teardown(a_key_never_dies_before_it_is_as_good_as_new, empty),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
