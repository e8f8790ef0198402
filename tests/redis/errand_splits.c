/* Errands to a real cluster, of one server that has all slots: requests whose keys live in different ones. */
#include "redis/node.h"

static node n;
static const char *port;

/* Comes back when the cluster takes commands. */
static int start_cluster(void **unused) {
  (void)unused;
  port = redis_free_port();
  const char *const arguments[] = {
      "--port", port, "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--cluster-port", redis_free_port(), NULL};
  redis_start_with(&server, arguments);
  freeReplyObject(redis_command(&server, "CLUSTER ADDSLOTSRANGE 0 16383"));
  for (int i = 0; i < 1000; i++) {
    redisReply *reply = redis_command(&server, "CLUSTER INFO");
    bool ok = strstr(reply->str, "cluster_state:ok") != NULL;
    freeReplyObject(reply);
    if (ok) break;
    usleep(10000);
  }
  return 0;
}

static int open_it(void **unused) {
  empty(unused);
  laju_store_options options = options_of(&server);
  char text[64], why[LAJU_STORE_WHY_SIZE];
  snprintf(text, sizeof text, "redis+cluster://127.0.0.1:%s", port);
  assert_int_equal(laju_store_url_parse(&options.url, text, strlen(text), why), 0);
  open_node(&n, &options);
  return 0;
}

static int close_it(void **unused) {
  (void)unused;
  close_node(&n);
  return 0;
}

static void a_request_of_two_slots_is_not_decided_and_charges_nothing(void **unused) {
  (void)unused;
  laju_rule mine = embedded_of("mine=10/1d"), user = exact_of("user=10/1d"), address = exact_of("address=10/1d");
  laju_check checks[] = {check_of(&mine, "ann", 3), check_of(&user, "ann", 1), check_of(&address, "10.0.0.1", 1)};
  laju_decision d[3];
  laju_claim claim = claim_of(LAJU_CLAIM_ALL, checks, 3, d);
  decide_claim(&n, &claim);
  assert_true(claim.split);
  assert_false(claim.allowed);
  assert_int_equal(here(&n, &mine, "ann"), 10);
  assert_int_equal(d[1].basis, LAJU_UNASKED);
  assert_int_equal(redis_integer(&server, "DBSIZE"), 0);
  assert_int_equal(n.way.counters.fallbacks_allowed + n.way.counters.fallbacks_denied, 0);
}

static void checks_of_one_key_or_one_group_are_decided_together(void **unused) {
  (void)unused;
  laju_rule user = exact_of("user=10/1d"), address = exact_of("address=10/1d"), each = exact_of("each=10/1d");
  laju_check same[] = {check_of(&user, "ann", 1), check_of(&each, "ann", 1)};
  laju_decision d[2];
  assert_true(request(&n, same, 2, d));

  user.grouped = address.grouped = true;
  laju_check checks[] = {check_of(&user, "ann", 1), check_of(&address, "10.0.0.1", 1)};
  laju_slice groups[] = {{"red", 3}, {"red", 3}};
  laju_claim claim = claim_of(LAJU_CLAIM_ALL, checks, 2, d);
  claim.groups = groups;
  assert_true(decide_claim(&n, &claim));
  assert_true(claim.allowed && !claim.split);
  assert_int_equal(d[1].remaining, 9);
}

static void independent_checks_go_each_to_its_slot(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=1/1d"), shadow = rule;
  shadow.shadow = true;
  laju_check checks[] = {check_of(&rule, "ann", 1), check_of(&rule, "ben", 1), check_of(&rule, "ann", 1)};
  laju_decision d[3];
  laju_claim claim = claim_of(LAJU_CLAIM_EACH, checks, 3, d);
  assert_true(decide_claim(&n, &claim));
  assert_true(d[0].allowed && d[1].allowed && !d[2].allowed);
  checks[0] = check_of(&shadow, "cat", 1); /* a request of its own */
  checks[1] = check_of(&rule, "dan", 1);
  assert_true(request(&n, checks, 2, d));
  assert_true(reset(&n, &rule, "dan"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_it, close_it)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_request_of_two_slots_is_not_decided_and_charges_nothing),
      TEST(checks_of_one_key_or_one_group_are_decided_together),
      TEST(independent_checks_go_each_to_its_slot),
  };
  return cmocka_run_group_tests(tests, start_cluster, stop);
}
