/* The store in front of a real cluster: checks go to their slots' servers, follow slots that move, and are exact again after a
 * failover. */
#include "redis/cluster_nodes.h"
#include "redis/load.h"
#include "redis/slot.h"

#define SHORT_US (SECOND / 5)

static cluster_nodes nodes;

static int start_nodes(void **unused) {
  (void)unused;
  cluster_start(&nodes, true, NULL);
  return 0;
}

static int stop_nodes(void **unused) {
  (void)unused;
  cluster_stop(&nodes);
  return 0;
}

static void open_with(int64_t timeout_us) {
  laju_store_options options = options_of("redis+cluster://127.0.0.1");
  options.url.places[0].port = nodes.nodes[0].port;
  options.timeout_us = timeout_us;
  load_clear();
  open_and_wait(options);
}

static int open_patient(void **unused) {
  (void)unused;
  open_with(2 * SECOND);
  return 0;
}

static int open_impatient(void **unused) {
  (void)unused;
  open_with(SHORT_US);
  return 0;
}

static int close_and_flush(void **unused) {
  (void)unused;
  close_store();
  for (size_t i = 0; i < nodes.count; i++) {
    if (nodes.nodes[i].server.link != NULL) freeReplyObject(redis_command(&nodes.nodes[i].server, "FLUSHALL"));
  }
  return 0;
}

static uint16_t slot_of(const char *name) {
  return laju_slot_of(name, strlen(name));
}

/* A primary that does not serve it. */
static size_t not_owner(uint16_t slot) {
  return (cluster_owner(&nodes, slot) + 1) % PRIMARIES;
}

static void one_seed_is_enough_for_checks_in_all_slots(void **unused) {
  (void)unused;
  load_start();
  load_run(20);
  load_stop();
  assert_int_equal(load.failed, 0);
  assert_int_equal(counters->servers, PRIMARIES);
  assert_int_equal(counters->servers_up, PRIMARIES);
  load_assert_exact();
}

static void forbid(const char *rights) {
  for (size_t i = 0; i < nodes.count; i++) {
    freeReplyObject(redis_command(&nodes.nodes[i].server, "ACL SETUSER default %s", rights));
  }
}

/* Seeds in turn: one where nobody is, then one that does not know CLUSTER SHARDS. */
static void a_seed_may_be_gone_and_servers_may_know_slots_alone(void **unused) {
  (void)unused;
  forbid("-cluster|shards");
  laju_store_options options = options_of("redis+cluster://127.0.0.1:1,127.0.0.1");
  options.url.places[1].port = nodes.nodes[4].port; /* a replica */
  load_clear();
  open_and_wait(options);
  assert_true(COMES_TRUE(loop, counters->servers_up == 1));
  let_pass(loop, 250); /* the map is asked for again after 100 ms */
  uint64_t before = counters->redirects;
  load_start();
  load_run(5);
  load_stop();
  assert_int_equal(load.failed, 0);
  assert_int_equal(counters->redirects, before);
  load_assert_exact();
  forbid("+cluster|shards");
}

/* Two keys, together; the one may be taken once. */
static void a_request_in_one_slot_is_decided_as_one(void **unused) {
  (void)unused;
  laju_rule two = rule_of(LAJU_FIXED_WINDOW, 2, LAJU_PERIOD_MAX_US, 0);
  laju_rule one = rule_of(LAJU_TOKEN_BUCKET, 1, LAJU_PERIOD_MAX_US, 0);
  errand e = {.asks = {ask_of(&two, "laju:{tag}:a", 1), ask_of(&one, "laju:{tag}:b", 1)}};
  e.asks[0].joined = true;
  for (int i = 0; i < 3; i++) {
    assert_true(begin_errand(&e, 2));
    assert_true(COMES_TRUE(loop, e.done));
    assert_int_equal(e.outcomes[0], LAJU_STORE_ANSWERED);
    assert_int_equal(e.outcomes[1], LAJU_STORE_ANSWERED);
    assert_int_equal(e.answers[1].decision.allowed, i == 0);
    assert_int_equal(remaining_of(&two, "laju:{tag}:a"), 1);
  }
}

static void a_request_in_two_slots_is_split_and_charges_nothing(void **unused) {
  (void)unused;
  errand e = {.asks = {ask_of(&load.rule, "laju:{a}:x", 1), ask_of(&load.rule, "laju:{b}:x", 1),
                       ask_of(&load.rule, "laju:{c}:x", 1)}};
  e.asks[0].joined = true;
  assert_true(begin_errand(&e, 3)); /* the third stands for itself */
  assert_int_equal(e.outcomes[0], LAJU_STORE_SPLIT);
  assert_int_equal(e.outcomes[1], LAJU_STORE_SPLIT);
  assert_true(COMES_TRUE(loop, e.done));
  assert_int_equal(e.outcomes[0], LAJU_STORE_SPLIT);
  assert_int_equal(e.outcomes[2], LAJU_STORE_ANSWERED);
  assert_int_equal(remaining_of(&load.rule, "laju:{a}:x"), LOAD_LIMIT);
  assert_int_equal(remaining_of(&load.rule, "laju:{b}:x"), LOAD_LIMIT);
  assert_int_equal(remaining_of(&load.rule, "laju:{c}:x"), LOAD_LIMIT - 1);
  assert_false(begin_errand(&e, 2));
  assert_int_equal(e.outcomes[1], LAJU_STORE_SPLIT);
}

/* Step by step: MIGRATING answers ASK for what is not there; then the keys are taken over; then MOVED. */
static void a_slot_on_its_way_is_followed(void **unused) {
  (void)unused;
  static const char name[] = "laju:{way}:x";
  uint16_t slot = slot_of(name);
  size_t from = cluster_owner(&nodes, slot), to = not_owner(slot);
  errand e;
  assert_int_equal(check(&e, &load.rule, name, 5), LAJU_STORE_ANSWERED);
  uint64_t before = counters->redirects;

  cluster_slot_begin(&nodes, slot, to);
  assert_int_equal(check(&e, &load.rule, name, 1), LAJU_STORE_ANSWERED); /* still where it was */
  assert_int_equal(counters->redirects, before);
  cluster_slot_move_keys(&nodes, slot, from, to);
  assert_int_equal(remaining_of(&load.rule, name), LOAD_LIMIT - 6); /* by ASK, each time */
  assert_int_equal(check(&e, &load.rule, name, 1), LAJU_STORE_ANSWERED);
  assert_int_equal(counters->redirects, before + 2);

  cluster_slot_end(&nodes, slot, to);
  assert_int_equal(remaining_of(&load.rule, name), LOAD_LIMIT - 7); /* by MOVED, once */
  assert_int_equal(remaining_of(&load.rule, name), LOAD_LIMIT - 7);
  assert_int_equal(counters->redirects, before + 3);
}

/* Two keys of one request, one of them moved: TRYAGAIN, until the other has moved, too. */
static void a_request_whose_keys_are_on_both_sides_waits_for_them(void **unused) {
  (void)unused;
  errand e = {.asks = {ask_of(&load.rule, "laju:{both}:a", 1), ask_of(&load.rule, "laju:{both}:b", 1)}};
  e.asks[0].joined = true;
  uint16_t slot = slot_of("laju:{both}:a");
  size_t from = cluster_owner(&nodes, slot), to = not_owner(slot);
  assert_true(begin_errand(&e, 2));
  assert_true(COMES_TRUE(loop, e.done));

  cluster_slot_begin(&nodes, slot, to);
  freeReplyObject(redis_command(&nodes.nodes[from].server, "MIGRATE 127.0.0.1 %u laju:{both}:a 0 5000",
                                (unsigned)nodes.nodes[to].port));
  uint64_t before = counters->redirects;
  assert_true(begin_errand(&e, 2));
  let_pass(loop, 50);
  assert_false(e.done);
  assert_in_range(counters->redirects - before, 2, 50);
  cluster_slot_move_keys(&nodes, slot, from, to);
  assert_true(COMES_TRUE(loop, e.done));
  assert_int_equal(e.outcomes[1], LAJU_STORE_ANSWERED);
  assert_int_equal(e.answers[0].decision.remaining, LOAD_LIMIT - 2);
  assert_int_equal(e.answers[1].decision.remaining, LOAD_LIMIT - 2);
  cluster_slot_end(&nodes, slot, to);
}

/* A child's end, seen from the loop. */
static void on_exit_of(uv_process_t *process, int64_t status, int signal) {
  assert_int_equal(signal, 0);
  *(int64_t *)process->data = status;
  uv_close((uv_handle_t *)process, NULL);
}

static void reshard(size_t from, size_t to, const char *slots) {
  char place[32];
  snprintf(place, sizeof place, "127.0.0.1:%u", nodes.nodes[0].port);
  const char *arguments[] = {
      "redis-cli",    "--cluster",        "reshard",         place, "--cluster-from", nodes.nodes[from].id,
      "--cluster-to", nodes.nodes[to].id, "--cluster-slots", slots, "--cluster-yes",  NULL};
  int64_t status = -1;
  uv_process_t process = {.data = &status};
  uv_process_options_t options = {.file = "redis-cli", .args = (char **)arguments, .exit_cb = on_exit_of};
  assert_int_equal(uv_spawn(loop, &process, &options), 0);
  assert_true(COMES_TRUE(loop, status >= 0));
  assert_int_equal(status, 0);
}

static void a_range_of_slots_moves_under_load_and_no_check_is_lost_or_charged_twice(void **unused) {
  (void)unused;
  load_start();
  load_run(10);
  reshard(0, 1, "500");
  load_run(10);
  load_stop();
  assert_int_equal(load.failed, 0);
  assert_true(counters->redirects > 0);
  load_assert_exact();
}

/* The replica has all when its primary dies: so nothing is admitted again, and what was not charged there never was. */
static void a_primary_that_dies_is_followed_by_its_replica_and_checks_are_exact_again(void **unused) {
  (void)unused;
  const size_t dies = 2;
  const load_key *gone = load.keys;
  while (cluster_owner(&nodes, slot_of(gone->name)) != dies) gone++;
  load_start();
  load_run(10);
  load_stop();
  assert_int_equal(load.failed, 0);
  freeReplyObject(
      redis_command(&nodes.nodes[dies].server, "SET %s:last 1", gone->name)); /* WAIT is for what was before */
  assert_int_equal(redis_integer(&nodes.nodes[dies].server, "WAIT 1 5000"), 1);

  redis_kill(&nodes.nodes[dies].server);
  uint64_t before = gone->answered;
  size_t then = load.answered;
  load_start();
  assert_true(COMES_TRUE(loop, load.failed > 0 && load.answered > then)); /* the others go on */
  assert_true(COMES_TRUE(loop, gone->answered > before));
  let_pass(loop, 300); /* checks that were under way meanwhile, and the breaker's next probe */
  uint64_t failed = load.failed;
  load_run(10);
  load_stop();
  assert_int_equal(load.failed, failed);
  load_assert_exact();
  assert_true(load.longest_us < 10 * SHORT_US);
  assert_true(COMES_TRUE(loop, counters->servers == PRIMARIES)); /* the dead one is forgotten */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(one_seed_is_enough_for_checks_in_all_slots, open_patient, close_and_flush),
      cmocka_unit_test_teardown(a_seed_may_be_gone_and_servers_may_know_slots_alone, close_and_flush),
      cmocka_unit_test_setup_teardown(a_request_in_one_slot_is_decided_as_one, open_patient, close_and_flush),
      cmocka_unit_test_setup_teardown(a_request_in_two_slots_is_split_and_charges_nothing, open_patient,
                                      close_and_flush),
      cmocka_unit_test_setup_teardown(a_slot_on_its_way_is_followed, open_patient, close_and_flush),
      cmocka_unit_test_setup_teardown(a_request_whose_keys_are_on_both_sides_waits_for_them, open_patient,
                                      close_and_flush),
      cmocka_unit_test_setup_teardown(a_range_of_slots_moves_under_load_and_no_check_is_lost_or_charged_twice,
                                      open_patient, close_and_flush),
      cmocka_unit_test_setup_teardown(a_primary_that_dies_is_followed_by_its_replica_and_checks_are_exact_again,
                                      open_impatient, close_and_flush),
  };
  return cmocka_run_group_tests(tests, start_nodes, stop_nodes);
}
