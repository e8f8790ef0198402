/* The store in front of a primary that sentinels name: found, followed when it moves, whatever a sentinel that is behind says, and
 * exact again, but for what a failover lost. */
#include "redis/load.h"
#include "redis/ports.h"
#include "redis/sentinels.h"

#define SHORT_US (SECOND / 5)

static struct {
  redis_server redis;
  uint16_t port;
  char port_text[8];
} servers[2];
static sentinel_process sentinel, behind;

static void start_server(size_t at) {
  servers[at].port = port_take();
  snprintf(servers[at].port_text, sizeof servers[at].port_text, "%u", servers[at].port);
  redis_start_with(&servers[at].redis, (const char *const[]){"--port", servers[at].port_text, "--bind", "127.0.0.1",
                                                             "--repl-diskless-sync-delay", "0", NULL});
  freeReplyObject(
      redis_command(&servers[at].redis, "ACL SETUSER watcher on >word ~* resetchannels -@all +ping +info +auth"));
}

/* On a connection of its own: sentinels close all others when a server's role changes. NULL where it does not answer. */
static redisReply *say_to(size_t at, const char *words) {
  redisContext *link = redisConnect("127.0.0.1", servers[at].port);
  redisReply *reply = link->err == 0 ? redisCommand(link, words) : NULL;
  redisFree(link);
  return reply;
}

static int64_t number_of(size_t at, const char *words) {
  redisReply *reply = say_to(at, words);
  assert_non_null(reply);
  assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
  int64_t number = reply->integer;
  freeReplyObject(reply);
  return number;
}

static void flush(size_t at) {
  freeReplyObject(say_to(at, "FLUSHALL"));
}

static bool is_replica_of(size_t at, size_t primary) {
  char wanted[32];
  snprintf(wanted, sizeof wanted, "master_port:%u", servers[primary].port);
  redisReply *reply = say_to(at, "INFO replication");
  bool is = reply != NULL && strstr(reply->str, wanted) != NULL && strstr(reply->str, "master_link_status:up") != NULL;
  if (reply != NULL) freeReplyObject(reply);
  return is;
}

static bool sentinel_says(sentinel_process *s, const char *field, unsigned number) {
  char text[64];
  sentinel_field(s, field, text);
  return strtoul(text, NULL, 10) == number;
}

/* It refuses a failover until it knows enough of the replica. */
static bool sentinel_takes(const char *command) {
  redisReply *reply = sentinel_command(&sentinel, command);
  bool takes = reply->type == REDIS_REPLY_STATUS;
  freeReplyObject(reply);
  return takes;
}

/* The second sentinel may neither hear nor tell of failovers, and can do none: it is behind after the first. */
static int start_all(void **unused) {
  (void)unused;
  loop = uv_default_loop();
  start_server(0);
  start_server(1);
  freeReplyObject(redis_command(&servers[1].redis, "REPLICAOF 127.0.0.1 %u", servers[0].port));
  WAIT_FOR(is_replica_of(1, 0));
  sentinel_start(&sentinel, servers[0].port, 1, "");
  sentinel_start(&behind, servers[0].port, 5, "sentinel auth-user primary watcher\nsentinel auth-pass primary word");
  WAIT_FOR(sentinel_says(&sentinel, "num-slaves", 1));
  return 0;
}

static int stop_all(void **unused) {
  (void)unused;
  sentinel_stop(&sentinel);
  sentinel_stop(&behind);
  redis_stop(&servers[0].redis);
  redis_stop(&servers[1].redis);
  return 0;
}

static void open_with(bool behind_first) {
  laju_store_options options = options_of("redis+sentinel://localhost,localhost/primary");
  options.url.places[behind_first ? 0 : 1].port = behind.port;
  options.url.places[behind_first ? 1 : 0].port = sentinel.port;
  options.timeout_us = SHORT_US;
  load_clear();
  open_and_wait(options);
}

static void run_alone(size_t rounds) {
  load_start();
  load_run(rounds);
  load_stop();
}

static void the_primary_is_found(void **unused) {
  (void)unused;
  for (int i = 0; i < 2; i++) {
    open_with(i == 0);
    run_alone(2);
    assert_int_equal(load.failed, 0);
    assert_int_equal(number_of(0, "DBSIZE"), LOAD_KEYS);
    load_assert_exact();
    close_store();
    flush(0);
  }
}

/* One more check, of a key that the server is not told of otherwise. */
static bool goes_to(size_t at) {
  errand e;
  return check(&e, &load.rule, "laju:{mark}:x", 1) == LAJU_STORE_ANSWERED && number_of(at, "EXISTS laju:{mark}:x") == 1;
}

/* The old primary lives on, and for some seconds takes writes, too; the other sentinel still names it, and is asked after 5 s. */
static void a_primary_that_moves_is_followed_and_a_sentinel_that_is_behind_is_not(void **unused) {
  (void)unused;
  open_with(true);
  run_alone(5);
  freeReplyObject(
      redis_command(&servers[0].redis, "SET last 1")); /* WAIT is for what its own connection wrote, and before */
  assert_int_equal(redis_integer(&servers[0].redis, "WAIT 1 5000"), 1);
  WAIT_FOR(sentinel_takes("SENTINEL FAILOVER primary"));
  WAIT_FOR(sentinel_says(&sentinel, "port", servers[1].port));
  assert_true(sentinel_says(&behind, "port", servers[0].port));
  WAIT_FOR(goes_to(1));

  load_start();
  let_pass(loop, 6000);
  load_stop();
  assert_int_equal(load.failed, 0);
  assert_true(sentinel_says(&behind, "port", servers[0].port));
  load_assert_exact();
  close_store();
}

/* What the replica had not got when the primary died, because it was not let in any more, is admitted again, and no more. */
static void a_failover_admits_again_at_most_what_was_lost(void **unused) {
  (void)unused;
  WAIT_FOR(is_replica_of(0, 1));
  open_with(true);
  flush(1);
  WAIT_FOR(number_of(0, "DBSIZE") == 0);
  load_start();
  load_run(5);
  freeReplyObject(say_to(1, "ACL SETUSER default -psync -sync"));
  freeReplyObject(say_to(1, "CLIENT KILL TYPE replica"));
  load_run(5);
  redis_kill(&servers[1].redis);
  assert_true(COMES_TRUE(loop, load.failed > 0));
  load_stop();

  errand e;
  uint64_t lost = 0;
  WAIT_FOR(check(&e, &load.rule, load.keys[0].name, 0) == LAJU_STORE_ANSWERED);
  for (size_t i = 0; i < LOAD_KEYS; i++) {
    load_key *key = &load.keys[i];
    uint64_t kept = load_charged(key);
    assert_true(kept <= key->answered + key->failed);
    lost += kept < key->answered ? key->answered - kept : 0;
    key->answered = kept;
    key->failed = 0;
  }
  assert_in_range(lost, 1, load.answered);
  run_alone(5);
  load_assert_exact();
  assert_true(load.longest_us < 10 * SHORT_US);
  close_store();
}

/* A server of the test's own, and a sentinel that calls it the primary. */
typedef struct pair {
  redis_server redis;
  char port_text[8];
  sentinel_process sentinel;
} pair;

static void pair_start(pair *p, int quorum, const char *sentinel_lines) {
  uint16_t port = port_take();
  snprintf(p->port_text, sizeof p->port_text, "%u", port);
  redis_start_with(&p->redis, (const char *const[]){"--port", p->port_text, "--bind", "127.0.0.1", NULL});
  sentinel_start(&p->sentinel, port, quorum, sentinel_lines);
}

static void pair_stop(pair *p) {
  sentinel_stop(&p->sentinel);
  redis_stop(&p->redis);
}

/* The password is for the primary; a sentinel is told it if it asks. */
static void a_sentinel_that_wants_the_password_gets_it(void **unused) {
  (void)unused;
  pair locked;
  pair_start(&locked, 1, "requirepass word\nsentinel auth-pass primary word");
  freeReplyObject(redis_command(&locked.redis, "CONFIG SET requirepass word"));

  laju_store_options options = options_of("redis+sentinel://:word@localhost/primary");
  options.url.places[0].port = locked.sentinel.port;
  open_and_wait(options);
  errand e;
  assert_int_equal(check(&e, &load.rule, "laju:{x}:x", 1), LAJU_STORE_ANSWERED);
  assert_int_equal(redis_integer(&locked.redis, "DBSIZE"), 1);
  close_store();
  pair_stop(&locked);
}

/* Whatever a sentinel says: who is there is asked, too. */
static void who_is_named_and_is_no_primary_is_not_believed(void **unused) {
  (void)unused;
  pair named;
  pair_start(&named, 1, "");
  freeReplyObject(redis_command(&named.redis, "REPLICAOF 127.0.0.1 1"));

  laju_store_options options = options_of("redis+sentinel://localhost/primary");
  options.url.places[0].port = named.sentinel.port;
  open_store(options);
  WAIT_FOR(strstr(laju_store_why(the_store), "is no primary") != NULL);
  errand e;
  assert_int_equal(check(&e, &load.rule, "laju:{x}:x", 1), LAJU_STORE_FAILED);
  freeReplyObject(redis_command(&named.redis, "REPLICAOF NO ONE"));
  WAIT_FOR(check(&e, &load.rule, "laju:{x}:x", 1) == LAJU_STORE_ANSWERED);
  close_store();
  pair_stop(&named);
}

/* One sentinel each calls a primary of its own by the same name; none can do a failover. */
static pair apart[2];

static void start_apart(const char *first_epoch, const char *second_epoch) {
  for (size_t i = 0; i < 2; i++) {
    char epoch[64];
    snprintf(epoch, sizeof epoch, "sentinel config-epoch primary %s", i == 0 ? first_epoch : second_epoch);
    pair_start(&apart[i], 5, epoch);
  }
  laju_store_options options = options_of("redis+sentinel://localhost,localhost/primary");
  for (size_t i = 0; i < 2; i++) options.url.places[i].port = apart[i].sentinel.port;
  open_and_wait(options);
}

static int stop_apart(void **unused) {
  (void)unused;
  close_store();
  for (size_t i = 0; i < 2; i++) pair_stop(&apart[i]);
  return 0;
}

static bool lands_at(size_t at, const char *name) {
  errand e;
  return check(&e, &load.rule, name, 1) == LAJU_STORE_ANSWERED &&
         redis_integer(&apart[at].redis, "EXISTS %s", name) == 1;
}

/* While the newest primary is down, an older one lives and says that it is one. */
static void an_older_primary_is_not_gone_back_to_while_the_newer_is_down(void **unused) {
  (void)unused;
  start_apart("5", "4");
  WAIT_FOR(lands_at(0, "laju:{found}:x"));
  redis_kill(&apart[0].redis);
  freeReplyObject(redis_command(&apart[1].redis, "FLUSHALL"));
  for (int i = 0; i < 3; i++) {
    errand e;
    let_pass(loop, 400); /* both are asked, several times */
    assert_int_equal(check(&e, &load.rule, "laju:{down}:x", 1), LAJU_STORE_FAILED);
  }
  assert_int_equal(redis_integer(&apart[1].redis, "DBSIZE"), 0);
  redis_start_again(&apart[0].redis);
  WAIT_FOR(lands_at(0, "laju:{back}:x"));
}

static void a_primary_is_not_left_for_one_of_the_same_failover(void **unused) {
  (void)unused;
  start_apart("5", "5");
  size_t first = lands_at(0, "laju:{first}:x") ? 0 : 1;
  for (int i = 0; i < 40; i++) {
    let_pass(loop, 10); /* the other sentinel is asked, too */
    assert_true(lands_at(first, "laju:{later}:x"));
  }
}

static void it_is_told_why_there_is_no_primary(void **unused) {
  (void)unused;
  laju_store_options options = options_of("redis+sentinel://localhost/other");
  options.url.places[0].port = sentinel.port;
  open_store(options);
  WAIT_FOR(strstr(laju_store_why(the_store), "knows no primary of that name") != NULL);
  errand e;
  assert_int_equal(check(&e, &load.rule, "laju:{x}:x", 1), LAJU_STORE_FAILED);
  close_store();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_primary_is_found),
      cmocka_unit_test(a_primary_that_moves_is_followed_and_a_sentinel_that_is_behind_is_not),
      cmocka_unit_test(a_failover_admits_again_at_most_what_was_lost),
      cmocka_unit_test(a_sentinel_that_wants_the_password_gets_it),
      cmocka_unit_test(who_is_named_and_is_no_primary_is_not_believed),
      cmocka_unit_test_teardown(an_older_primary_is_not_gone_back_to_while_the_newer_is_down, stop_apart),
      cmocka_unit_test_teardown(a_primary_is_not_left_for_one_of_the_same_failover, stop_apart),
      cmocka_unit_test(it_is_told_why_there_is_no_primary),
  };
  return cmocka_run_group_tests(tests, start_all, stop_all);
}
