/* Errands to a real Redis that answers: requests of both kinds, the memory of denials, resets, many nodes on one store. */
#include "redis/node.h"

#include <signal.h>

#define ANSWERS_MAX 1000

static node n, other;

static int open_nodes(void **unused) {
  empty(unused);
  laju_store_options options = options_of(&server);
  open_node(&n, &options);
  open_node(&other, &options);
  return 0;
}

static int close_nodes(void **unused) {
  (void)unused;
  close_node(&n);
  close_node(&other);
  return 0;
}

static laju_rule every_of(laju_algorithm algorithm) {
  laju_rule rule = rule_of(algorithm, 10, 24 * 60 * MINUTE, 0);
  rule.mode = LAJU_EXACT;
  return rule;
}

/* ---- exact ---- */

static void two_nodes_count_as_one(void **unused) {
  (void)unused;
  for (size_t i = 0; i < LAJU_ALGORITHMS; i++) {
    laju_rule rule = every_of(every_algorithm[i]);
    for (uint32_t left = 10; left-- > 0;)
      assert_int_equal(ask(left % 2 ? &n : &other, &rule, "ann", 1).remaining, left);
    laju_decision refused = ask(&n, &rule, "ann", 1);
    assert_false(refused.allowed);
    assert_int_equal(refused.basis, LAJU_DECIDED);
    assert_true(refused.retry_after_us > 0);
    assert_false(ask(&other, &rule, "ann", 1).allowed);
    assert_int_equal(ask(&other, &rule, "ann", 0).remaining, 0);
    assert_int_equal(here(&n, &rule, "ann"), 10); /* nothing of it is in the table */
  }
}

#define CROWD 30
#define TRIES 20

/* All that all of them want at once: the store sees them mixed. */
static void thirty_nodes_admit_exactly_ten(void **unused) {
  (void)unused;
  static node crowd[CROWD];
  static laju_check checks[CROWD][TRIES];
  static laju_decision decisions[CROWD][TRIES];
  static laju_claim claims[CROWD][TRIES];
  laju_store_options options = options_of(&server);
  for (size_t i = 0; i < CROWD; i++) open_node(&crowd[i], &options);
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 10, 24 * 60 * MINUTE, 0);
    rule.mode = LAJU_EXACT;
    int admitted = 0;
    for (size_t i = 0; i < CROWD; i++) {
      for (size_t j = 0; j < TRIES; j++) {
        checks[i][j] = check_of(&rule, "ann", 1);
        claims[i][j] = claim_of(j % 2 ? LAJU_CLAIM_ALL : LAJU_CLAIM_EACH, &checks[i][j], 1, &decisions[i][j]);
      }
      assert_true(start_claims(&crowd[i], claims[i], TRIES));
    }
    for (size_t i = 0; i < CROWD; i++) {
      assert_true(COMES_TRUE(uv_default_loop(), crowd[i].done));
      for (size_t j = 0; j < TRIES; j++) admitted += decisions[i][j].allowed;
      assert_int_equal(ask(&crowd[i], &rule, "ann", 1).allowed, 0);
    }
    assert_int_equal(admitted, 10);
  }
  for (size_t i = 0; i < CROWD; i++) close_node(&crowd[i]);
}

static void names_are_what_every_node_makes_of_rule_key_and_group(void **unused) {
  (void)unused;
  laju_rule plain = exact_of("plain=10/1d"), secret = exact_of("secret=10/1d"), grouped = exact_of("grouped=10/1d");
  secret.secret = grouped.grouped = true;
  laju_check checks[] = {check_of(&plain, "ann", 1), check_of(&secret, "ann", 1), check_of(&grouped, "ann", 1)};
  laju_slice groups[] = {{"red", 3}, {"red", 3}, {"red", 3}};
  laju_decision d[3];
  laju_claim claim = claim_of(LAJU_CLAIM_EACH, checks, 3, d);
  claim.groups = groups;
  assert_true(decide_claim(&n, &claim));
  assert_int_equal(redis_integer(&server, "EXISTS %s", PREFIX ":{ann}:plain:sliding-window-counter:86400000000"), 1);
  assert_int_equal(redis_integer(&server, "EXISTS %s", PREFIX ":{red}:ann:grouped:sliding-window-counter:86400000000"),
                   1);
  assert_int_equal(redis_integer(&server, "EXISTS %s", PREFIX ":{ann}:secret:sliding-window-counter:86400000000"), 0);
  assert_int_equal(redis_integer(&server, "DBSIZE"), 3);
}

static void independent_checks_are_each_for_themselves_and_in_their_order(void **unused) {
  (void)unused;
  static laju_check checks[ANSWERS_MAX];
  static laju_decision d[ANSWERS_MAX];
  laju_rule exact = exact_of("exact=400/1d fixed-window"), here_rule = embedded_of("here=300/1d fixed-window");
  for (size_t i = 0; i < ANSWERS_MAX; i++) checks[i] = check_of(i % 2 ? &exact : &here_rule, "ann", 1);
  laju_claim claim = claim_of(LAJU_CLAIM_EACH, checks, ANSWERS_MAX, d);
  assert_true(decide_claim(&n, &claim));
  for (size_t i = 0; i < ANSWERS_MAX; i++) assert_int_equal(d[i].allowed, i / 2 < (i % 2 ? 400 : 300));
  assert_int_equal(d[2 * 399 + 1].remaining, 0);
}

static void more_checks_than_one_command_takes_are_sent_in_several(void **unused) {
  (void)unused;
  static laju_check checks[3][ANSWERS_MAX];
  static laju_decision d[3][ANSWERS_MAX];
  laju_claim claims[3];
  laju_rule rule = exact_of("api=2500/1d token-bucket");
  for (size_t i = 0; i < 3; i++) {
    for (size_t j = 0; j < ANSWERS_MAX; j++) checks[i][j] = check_of(&rule, "ann", 1);
    claims[i] = claim_of(LAJU_CLAIM_EACH, checks[i], ANSWERS_MAX, d[i]);
  }
  for (int round = 0; round < 2; round++) { /* with the buffers that the first gave back */
    assert_int_equal(decide_claims(&n, claims, 3), round == 0);
    int admitted = 0;
    for (size_t i = 0; i < 3 * ANSWERS_MAX; i++) admitted += d[i / ANSWERS_MAX][i % ANSWERS_MAX].allowed;
    assert_int_equal(admitted, round == 0 ? 2500 : 0);
  }
}

/* ---- of both kinds ---- */

static void both_kinds_are_charged_where_both_allow(void **unused) {
  (void)unused;
  laju_rule mine = embedded_of("mine=5/1d"), ours = exact_of("ours=10/1d");
  laju_check checks[] = {check_of(&ours, "ann", 2), check_of(&mine, "ann", 1), check_of(&ours, "ben", 1)};
  laju_decision d[3];
  assert_true(request(&n, checks, 3, d));
  assert_int_equal(d[0].remaining, 8);
  assert_int_equal(d[1].remaining, 4);
  assert_int_equal(d[2].remaining, 9);
  assert_int_equal(here(&n, &mine, "ann"), 4);
  assert_int_equal(ask(&other, &ours, "ann", 0).remaining, 8);
}

static void what_the_store_refuses_is_given_back_here(void **unused) {
  (void)unused;
  for (size_t i = 0; i < LAJU_ALGORITHMS; i++) {
    laju_rule mine = rule_of(every_algorithm[i], 5, 24 * 60 * MINUTE, 0), ours = exact_of("ours=10/1d token-bucket");
    laju_check checks[] = {check_of(&mine, "ann", 2), check_of(&ours, "ann", 1), check_of(&mine, "ann", 1)};
    laju_decision d[3];
    ask(&other, &ours, "ann", 10);
    uint64_t before = sent(&n), given = n.way.counters.given_back;
    assert_false(request(&n, checks, 3, d));
    assert_int_equal(sent(&n) - before, i == 0); /* the first time: then it is remembered, and nothing is charged */
    assert_int_equal(n.way.counters.given_back - given, i == 0 ? 2 : 0);
    assert_true(d[0].allowed && !d[1].allowed && d[2].allowed);
    assert_int_equal(d[0].remaining, 3);
    assert_int_equal(d[2].remaining, 2);
    assert_int_equal(here(&n, &mine, "ann"), 5);
    n.way.deny_cache = false; /* and where it is asked again */
    assert_false(request(&n, checks, 3, d));
    assert_int_equal(here(&n, &mine, "ann"), 5);
    n.way.deny_cache = true;
  }
}

static void where_the_table_refuses_the_store_is_not_asked(void **unused) {
  (void)unused;
  laju_rule mine = embedded_of("mine=1/1d"), ours = exact_of("ours=10/1d");
  laju_check checks[] = {check_of(&ours, "ann", 1), check_of(&mine, "ann", 2)};
  laju_decision d[2];
  assert_false(request(&n, checks, 2, d));
  assert_true(d[0].allowed && !d[1].allowed);
  assert_int_equal(d[0].basis, LAJU_UNASKED);
  assert_int_equal(sent(&n), 0);
  assert_int_equal(redis_integer(&server, "DBSIZE"), 0);
}

static void a_shadow_stands_for_itself(void **unused) {
  (void)unused;
  laju_rule ours = exact_of("ours=1/1d"), shadow = exact_of("shadow=2/1d");
  shadow.shadow = true;
  laju_check checks[] = {check_of(&shadow, "ann", 1), check_of(&ours, "ann", 1)};
  laju_decision d[2];
  assert_true(request(&n, checks, 2, d));
  assert_false(request(&n, checks, 2, d)); /* refused by the one, charged to the other */
  assert_true(d[0].allowed);
  assert_int_equal(d[0].remaining, 0);
  reset(&n, &ours, "ann");
  assert_true(request(&n, checks, 2, d)); /* the other way about */
  assert_false(d[0].allowed);
  assert_int_equal(d[1].remaining, 0);
}

static void a_shadow_that_refuses_takes_nothing_from_the_table(void **unused) {
  (void)unused;
  laju_rule mine = embedded_of("mine=9/1d"), shadow = exact_of("shadow=1/1d");
  shadow.shadow = true;
  laju_check checks[] = {check_of(&mine, "ann", 1), check_of(&shadow, "ann", 1)};
  laju_decision d[2];
  for (uint32_t i = 0; i < 3; i++) {
    assert_true(request(&n, checks, 2, d));
    assert_int_equal(d[1].allowed, i == 0);
    assert_int_equal(here(&n, &mine, "ann"), 8 - i);
  }
}

static void a_repeat_is_decided_on_what_the_first_would_leave_and_not_remembered(void **unused) {
  (void)unused;
  for (size_t i = 0; i < LAJU_ALGORITHMS; i++) {
    laju_rule rule = every_of(every_algorithm[i]);
    laju_check checks[] = {check_of(&rule, "ann", 6), check_of(&rule, "ann", 6)};
    laju_decision d[2];
    for (int round = 0; round < 2; round++) {
      uint64_t before = sent(&n);
      assert_false(request(&n, checks, 2, d));
      assert_int_equal(sent(&n) - before, 2);
      assert_true(d[0].allowed && !d[1].allowed);
      assert_int_equal(d[1].remaining, 4);
    }
    assert_true(ask(&n, &rule, "ann", 6).allowed);
  }
}

#define RULES 6 /* three of this node's, three of the store's; the last of each kind in shadow */
#define KEYS 3
#define AT_ONCE 8 /* claims of an errand */
#define CHECKS 6

typedef struct errand_of {
  node *by;
  size_t which[AT_ONCE][CHECKS][2]; /* rule and key */
  laju_check checks[AT_ONCE][CHECKS];
  laju_decision decisions[AT_ONCE][CHECKS];
  laju_claim claims[AT_ONCE];
} errand_of;

static const char *const key_names[KEYS] = {"ann", "ben", "cat"};

static void draw(errand_of *e, const laju_rule *rules, uint64_t *seed) {
  for (size_t i = 0; i < AT_ONCE; i++) {
    size_t count = 1 + random_below(seed, CHECKS);
    for (size_t j = 0; j < count; j++) {
      size_t r = e->which[i][j][0] = random_below(seed, RULES), k = e->which[i][j][1] = random_below(seed, KEYS);
      e->checks[i][j] = check_of(&rules[r], key_names[k], (uint32_t)random_below(seed, 4));
    }
    e->claims[i] = claim_of(LAJU_CLAIM_ALL, e->checks[i], count, e->decisions[i]);
  }
}

/* Adds up what was admitted, and holds each answer against its decisions. */
static void add_up(const errand_of *e, const laju_rule *rules, uint32_t admitted[RULES][KEYS]) {
  for (size_t i = 0; i < AT_ONCE; i++) {
    const laju_claim *claim = &e->claims[i];
    bool allowed = true;
    for (size_t j = 0; j < claim->count; j++) {
      if (!rules[e->which[i][j][0]].shadow) allowed &= claim->decisions[j].allowed;
    }
    assert_int_equal(claim->allowed, allowed);
    for (size_t j = 0; j < claim->count; j++) {
      bool counts = rules[e->which[i][j][0]].shadow ? claim->decisions[j].allowed : allowed;
      if (counts) admitted[e->which[i][j][0]][e->which[i][j][1]] += claim->checks[j].cost;
    }
  }
}

/* Random requests of both kinds from two nodes at once: nothing is charged that was not admitted, and the other way about. */
static void what_is_used_in_table_and_store_is_what_was_admitted(void **unused) {
  (void)unused;
  laju_rule rules[RULES] = {
      embedded_of("m1=60/1d fixed-window"),     embedded_of("m2=50/1d sliding-window-log"),
      embedded_of("m3=40/1d fixed-window"),     exact_of("o1=90/1d fixed-window"),
      exact_of("o2=100/1d sliding-window-log"), exact_of("o3=80/1d fixed-window"),
  };
  rules[2].shadow = rules[5].shadow = true;
  static errand_of errands[2];
  uint32_t mine[2][RULES][KEYS] = {{{0}}};
  errands[0].by = &n;
  errands[1].by = &other;
  uint64_t seed = 11;
  for (int round = 0; round < 80; round++) {
    for (size_t i = 0; i < 2; i++) {
      draw(&errands[i], rules, &seed);
      errands[i].by->way.deny_cache = random_below(&seed, 2);
      errands[i].by->done = !start_claims(errands[i].by, errands[i].claims, AT_ONCE);
    }
    assert_true(COMES_TRUE(uv_default_loop(), n.done && other.done));
    for (size_t i = 0; i < 2; i++) add_up(&errands[i], rules, mine[i]);
  }
  for (size_t r = 0; r < RULES; r++) {
    for (size_t k = 0; k < KEYS; k++) {
      uint32_t both = mine[0][r][k] + mine[1][r][k];
      bool exact = rules[r].mode == LAJU_EXACT;
      assert_int_equal(rules[r].limit - here(&n, &rules[r], key_names[k]), exact ? 0 : mine[0][r][k]);
      assert_int_equal(rules[r].limit - here(&other, &rules[r], key_names[k]), exact ? 0 : mine[1][r][k]);
      if (exact) assert_int_equal(rules[r].limit - ask(&n, &rules[r], key_names[k], 0).remaining, both);
      assert_true(both > 20);
    }
  }
  assert_true(n.way.counters.given_back > 10 && n.way.counters.remembered > 10);
}

/* ---- denials ---- */

static void a_flood_of_refused_checks_costs_the_store_one_command(void **unused) {
  (void)unused;
  for (size_t i = 0; i < LAJU_ALGORITHMS; i++) {
    laju_rule rule = every_of(every_algorithm[i]);
    assert_true(ask(&other, &rule, "ann", 8).allowed);
    laju_decision first = ask(&n, &rule, "ann", 3);
    assert_false(first.allowed);
    int64_t before = evalshas();
    uint64_t remembered = n.way.counters.remembered;
    laju_decision last = first;
    for (uint32_t j = 0; j < 1000; j++) {
      last = ask(&n, &rule, "ann", 3 + j % 8);
      assert_false(last.allowed);
    }
    last = ask(&n, &rule, "ann", 3);
    assert_int_equal(evalshas(), before);
    assert_int_equal(n.way.counters.remembered - remembered, 1001);
    assert_int_equal(last.remaining, first.remaining);
    assert_true(last.retry_after_us <= first.retry_after_us &&
                last.retry_after_us > first.retry_after_us - 60 * SECOND);
    assert_true(ask(&n, &rule, "ann", 2).allowed); /* a lesser cost asks */
    assert_int_equal(evalshas(), before + 1);
  }
}

static void when_the_wait_is_over_the_store_is_asked_again(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=10/5s token-bucket"); /* a token in half a second */
  assert_true(ask(&n, &rule, "ann", 10).allowed);
  laju_decision refused = ask(&n, &rule, "ann", 1);
  assert_false(refused.allowed);
  let_pass(uv_default_loop(), (uint64_t)refused.retry_after_us / 1000 + 1);
  assert_true(ask(&n, &rule, "ann", 1).allowed);
}

/* Redis decides when it comes to it, but nobody is to be refused for the time that the question was under way. */
static void a_wait_is_remembered_from_when_the_question_went_out(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=10/1m token-bucket"); /* a token in six seconds */
  assert_true(ask(&n, &rule, "ann", 10).allowed);
  laju_check check = check_of(&rule, "ann", 1);
  laju_decision refused, again;
  laju_claim claim = claim_of(LAJU_CLAIM_ALL, &check, 1, &refused);
  kill(server.pid, SIGSTOP);
  int64_t asked_us = laju_limiter_now_us(n.limiter);
  assert_true(start_claims(&n, &claim, 1));
  let_pass(uv_default_loop(), 200);
  kill(server.pid, SIGCONT);
  assert_true(COMES_TRUE(uv_default_loop(), n.done));
  assert_false(refused.allowed);
  laju_claim known = claim_of(LAJU_CLAIM_ALL, &check, 1, &again);
  assert_true(laju_way_decide(&n.way, &known, asked_us + refused.retry_after_us - 100000));
  assert_false(again.allowed);
  assert_false(laju_way_decide(&n.way, &known, asked_us + refused.retry_after_us + 100000));
}

static void what_is_refused_for_ever_is_not_asked_for_a_while(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=10/1d");
  for (int i = 0; i < 5; i++) assert_int_equal(ask(&n, &rule, "ann", 11).retry_after_us, LAJU_NEVER);
  assert_int_equal(sent(&n), 1);
}

static void without_the_memory_each_refusal_is_the_store_s(void **unused) {
  (void)unused;
  n.way.deny_cache = false;
  laju_rule rule = exact_of("api=1/1d");
  ask(&n, &rule, "ann", 1);
  for (int i = 0; i < 5; i++) assert_false(ask(&n, &rule, "ann", 1).allowed);
  assert_int_equal(sent(&n), 6);
}

static void refusals_of_transactions_are_not_remembered(void **unused) {
  (void)unused;
  node plain;
  laju_store_options options = options_of(&server);
  options.transaction = true;
  open_node(&plain, &options);
  laju_rule rule = exact_of("api=3/1d fixed-window");
  for (int i = 0; i < 3; i++) assert_true(ask(&plain, &rule, "ann", 1).allowed);
  for (int i = 0; i < 3; i++) assert_false(ask(&plain, &rule, "ann", 1).allowed);
  assert_int_equal(sent(&plain), 6);
  assert_true(reset(&plain, &rule, "ann"));
  assert_int_equal(redis_integer(&server, "DBSIZE"), 0);
  assert_true(ask(&plain, &rule, "ann", 1).allowed);
  close_node(&plain);
}

static void a_denial_is_remembered_of_its_group_alone(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=1/1d");
  rule.grouped = true;
  laju_check check = check_of(&rule, "ann", 1);
  laju_slice red = {"red", 3}, blue = {"blue", 4};
  laju_decision d;
  laju_claim claim = claim_of(LAJU_CLAIM_ALL, &check, 1, &d);
  claim.groups = &red;
  assert_true(decide_claim(&n, &claim) && claim.allowed);
  assert_true(decide_claim(&n, &claim) && !claim.allowed);
  assert_false(decide_claim(&n, &claim) || claim.allowed); /* the store is not asked */
  claim.groups = &blue;
  assert_true(decide_claim(&n, &claim) && claim.allowed);
}

/* ---- resets ---- */

static void a_reset_forgets_in_the_store_and_in_this_node_s_memory(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=1/1d");
  assert_false(reset(&n, &rule, "ann"));
  ask(&n, &rule, "ann", 1);
  assert_false(ask(&n, &rule, "ann", 1).allowed);
  assert_false(ask(&other, &rule, "ann", 1).allowed);
  assert_true(reset(&n, &rule, "ann"));
  assert_int_equal(redis_integer(&server, "DBSIZE"), 0);
  assert_false(ask(&other, &rule, "ann", 1).allowed); /* which remembers, until its time */
  assert_true(ask(&n, &rule, "ann", 1).allowed);
}

static void a_reset_takes_what_transactions_keep_too(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=1/1d fixed-window");
  long long day = laju_limiter_now_us(n.limiter) / (86400 * INT64_C(1000000));
  freeReplyObject(redis_command(&server, "SET %s:%lld:t 1", PREFIX ":{ann}:api:fixed-window:86400000000", day));
  freeReplyObject(redis_command(&server, "SET %s:%lld:t 1", PREFIX ":{ann}:api:fixed-window:86400000000", day - 1));
  assert_true(reset(&n, &rule, "ann"));
  assert_int_equal(redis_integer(&server, "DBSIZE"), 0);
}

static void claims_before_and_behind_a_reset_keep_their_places(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=1/1d");
  laju_check check = check_of(&rule, "ann", 1);
  laju_decision d[5];
  laju_claim claims[] = {
      claim_of(LAJU_CLAIM_ALL, &check, 1, &d[0]),   claim_of(LAJU_CLAIM_ALL, &check, 1, &d[1]),
      claim_of(LAJU_CLAIM_RESET, &check, 1, &d[2]), claim_of(LAJU_CLAIM_ALL, &check, 1, &d[3]),
      claim_of(LAJU_CLAIM_ALL, &check, 1, &d[4]),
  };
  assert_true(decide_claims(&n, claims, 5));
  assert_true(claims[0].allowed && !claims[1].allowed && claims[3].allowed && !claims[4].allowed);
  assert_true(claims[2].known && !claims[2].failed);
  assert_true(reset(&n, &rule, "ann")); /* and the refusal under way while it was reset is not remembered */
  assert_true(ask(&n, &rule, "ann", 1).allowed);
}

static void a_claim_behind_a_reset_is_not_answered_from_what_was_remembered_before(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=1/1d");
  laju_check check = check_of(&rule, "ann", 1);
  laju_decision d[2];
  ask(&n, &rule, "ann", 1);
  assert_false(ask(&n, &rule, "ann", 1).allowed);
  laju_claim claims[] = {claim_of(LAJU_CLAIM_RESET, &check, 1, d), claim_of(LAJU_CLAIM_ALL, &check, 1, d + 1)};
  int64_t now_us = laju_limiter_now_us(n.limiter);
  for (size_t i = 0; i < 2; i++) assert_false(laju_way_decide(&n.way, &claims[i], now_us));
  assert_true(decide_claims(&n, claims, 2));
  assert_true(claims[1].allowed);
}

/* Starts a claim. The server has carried it out when this comes back, and its answer lies unread. */
static void have_carried_out(node *by, laju_claim *claim, int64_t now_us) {
  const _Atomic uint64_t *bytes_out = &laju_store_read_counters(by->store)->bytes_out;
  uint64_t before = atomic_load(bytes_out);
  int64_t calls = evalshas();
  by->done = false;
  kill(server.pid, SIGSTOP);
  assert_true(laju_errand_start(by->errand, &by->way, claim, 1, now_us, on_errand_done, by));
  for (int i = 0; i < 1000 && atomic_load(bytes_out) == before; i++) let_pass(uv_default_loop(), 1);
  kill(server.pid, SIGCONT);
  for (int i = 0; i < 10000 && evalshas() == calls; i++) usleep(1000);
  assert_false(by->done);
}

/* Two workers of one limiter: the one's reset begins when the other's check was refused already, though it was sent later. */
static void a_refusal_from_before_a_reset_is_not_remembered_after_it(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=1/1d");
  laju_check check = check_of(&rule, "ann", 1);
  laju_decision d;
  laju_claim asks = claim_of(LAJU_CLAIM_ALL, &check, 1, &d), resets = claim_of(LAJU_CLAIM_RESET, &check, 1, NULL);
  ask(&n, &rule, "ann", 1);
  laju_limiter *own = other.way.limiter;
  other.way.limiter = n.way.limiter;
  int64_t now_us = laju_limiter_now_us(n.limiter);
  have_carried_out(&other, &asks, now_us + 1);
  n.done = false;
  assert_true(laju_errand_start(n.errand, &n.way, &resets, 1, now_us, on_errand_done, &n));
  assert_true(COMES_TRUE(uv_default_loop(), n.done && other.done));
  assert_true(!asks.allowed && resets.known);
  assert_true(ask(&n, &rule, "ann", 1).allowed);
  other.way.limiter = own;
}

static void a_claim_of_the_table_waits_its_turn_behind_one_of_both_kinds(void **unused) {
  (void)unused;
  laju_rule mine = embedded_of("mine=1/1d"), ours = exact_of("ours=10/1d");
  laju_check both[] = {check_of(&mine, "ann", 1), check_of(&ours, "ann", 1)}, alone = check_of(&mine, "ann", 1);
  laju_decision d[4];
  laju_claim claims[] = {claim_of(LAJU_CLAIM_ALL, both, 2, d), claim_of(LAJU_CLAIM_ALL, &alone, 1, d + 2),
                         claim_of(LAJU_CLAIM_RESET, &alone, 1, d + 3)};
  assert_true(decide_claims(&n, claims, 3));
  assert_true(claims[0].allowed && !claims[1].allowed && claims[2].known);
  assert_int_equal(here(&n, &mine, "ann"), 1);
}

/* ---- errors of one key ---- */

static void a_key_of_another_type_is_answered_by_its_rule_s_on_store_error(void **unused) {
  (void)unused;
  laju_rule allow = exact_of("broken=10/1d"), deny = allow, local = allow, mine = embedded_of("mine=5/1d");
  laju_rule fine = exact_of("fine=5/1d");
  deny.on_store_error = LAJU_STORE_ERROR_DENY;
  local.on_store_error = LAJU_STORE_ERROR_LOCAL;
  freeReplyObject(redis_command(&server, "RPUSH %s x", PREFIX ":{ann}:broken:sliding-window-counter:86400000000"));
  laju_decision d[3];
  const laju_rule *rules[] = {&allow, &deny, &local};
  for (size_t i = 0; i < 3; i++) {
    laju_check checks[] = {check_of(&mine, "ann", 1), check_of(rules[i], "ann", 2), check_of(&fine, "ann", 1)};
    uint32_t before = here(&n, &mine, "ann");
    assert_int_equal(request(&n, checks, 3, d), rules[i] != &deny);
    assert_int_equal(d[1].basis, LAJU_FALLBACK);
    assert_int_equal(d[2].basis, LAJU_FALLBACK); /* the request was not decided */
    assert_int_equal(here(&n, &mine, "ann"), before - (rules[i] != &deny));
  }
  assert_int_equal(here(&n, &local, "ann"), 8);
  assert_int_equal(ask(&n, &fine, "ann", 0).remaining, 5);
}

static void a_shadow_that_fails_changes_no_answer(void **unused) {
  (void)unused;
  laju_rule shadow = exact_of("broken=10/1d"), ours = exact_of("ours=5/1d");
  shadow.shadow = true;
  shadow.on_store_error = LAJU_STORE_ERROR_DENY;
  freeReplyObject(redis_command(&server, "RPUSH %s x", PREFIX ":{ann}:broken:sliding-window-counter:86400000000"));
  laju_check checks[] = {check_of(&shadow, "ann", 1), check_of(&ours, "ann", 1)};
  laju_decision d[2];
  assert_true(request(&n, checks, 2, d));
  assert_false(d[0].allowed);
  assert_int_equal(d[0].basis, LAJU_FALLBACK);
  assert_int_equal(d[1].basis, LAJU_DECIDED);
  assert_int_equal(d[1].remaining, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_nodes, close_nodes)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(two_nodes_count_as_one),
      TEST(thirty_nodes_admit_exactly_ten),
      TEST(names_are_what_every_node_makes_of_rule_key_and_group),
      TEST(independent_checks_are_each_for_themselves_and_in_their_order),
      TEST(more_checks_than_one_command_takes_are_sent_in_several),
      TEST(both_kinds_are_charged_where_both_allow),
      TEST(what_the_store_refuses_is_given_back_here),
      TEST(where_the_table_refuses_the_store_is_not_asked),
      TEST(a_shadow_stands_for_itself),
      TEST(a_shadow_that_refuses_takes_nothing_from_the_table),
      TEST(a_repeat_is_decided_on_what_the_first_would_leave_and_not_remembered),
      TEST(what_is_used_in_table_and_store_is_what_was_admitted),
      TEST(a_flood_of_refused_checks_costs_the_store_one_command),
      TEST(when_the_wait_is_over_the_store_is_asked_again),
      TEST(a_wait_is_remembered_from_when_the_question_went_out),
      TEST(what_is_refused_for_ever_is_not_asked_for_a_while),
      TEST(without_the_memory_each_refusal_is_the_store_s),
      TEST(refusals_of_transactions_are_not_remembered),
      TEST(a_denial_is_remembered_of_its_group_alone),
      TEST(a_reset_forgets_in_the_store_and_in_this_node_s_memory),
      TEST(a_reset_takes_what_transactions_keep_too),
      TEST(claims_before_and_behind_a_reset_keep_their_places),
      TEST(a_claim_behind_a_reset_is_not_answered_from_what_was_remembered_before),
      TEST(a_refusal_from_before_a_reset_is_not_remembered_after_it),
      TEST(a_claim_of_the_table_waits_its_turn_behind_one_of_both_kinds),
      TEST(a_key_of_another_type_is_answered_by_its_rule_s_on_store_error),
      TEST(a_shadow_that_fails_changes_no_answer),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
