/* The store by TLS where there are several servers: Sentinel and the primary that it names, before and after a failover; a cluster
 * that tells its ports for both. All of them want a certificate of their clients. */
#include "redis/cluster_nodes.h"
#include "redis/load.h"
#include "redis/ports.h"
#include "redis/sentinels.h"
#include "redis/slot.h"

static certificates files;

static int make_files(void **unused) {
  (void)unused;
  loop = uv_default_loop();
  return certificates_make(&files);
}

static int remove_files(void **unused) {
  (void)unused;
  certificates_remove(&files);
  return 0;
}

static laju_store_options options_by_tls(const char *url, uint16_t port) {
  laju_store_options options = options_of(url);
  options.url.places[0].port = port;
  options.tls_ca = files.ca;
  options.tls_cert = files.client_cert;
  options.tls_key = files.client_key;
  options.timeout_us = 2 * SECOND;
  options.connect_timeout_us = 2 * SECOND;
  load_clear();
  return options;
}

/* Without a certificate of one's own nobody answers, nor is one believed whom another authority has signed. */
static void assert_kept_out(laju_store_options options) {
  laju_store_options stranger = options, doubter = options;
  stranger.tls_cert = stranger.tls_key = NULL;
  doubter.tls_ca = files.other;
  const laju_store_options *const wrong[] = {&stranger, &doubter};
  for (size_t i = 0; i < 2; i++) {
    open_store(*wrong[i]);
    let_pass(loop, 150);
    assert_int_equal(counters->servers_up, 0);
    assert_int_equal(counters->connects, 0);
    close_store();
  }
}

static void run_exact(size_t rounds) {
  load_start();
  load_run(rounds);
  load_stop();
  assert_int_equal(load.failed, 0);
  load_assert_exact();
}

/* ---- Sentinel ---- */

typedef struct watched {
  redis_server redis;
  char port[8];
} watched;

static void start_watched(watched *s, const char *primary) {
  snprintf(s->port, sizeof s->port, "%u", port_take());
  redis_start_with(&s->redis,
                   (const char *const[]){"--bind", "127.0.0.1", "--tls-port", s->port, "--tls-cert-file",
                                         files.server_cert, "--tls-key-file", files.server_key, "--tls-ca-cert-file",
                                         files.ca, "--tls-replication", "yes", "--repl-diskless-sync-delay", "0",
                                         primary != NULL ? "--replicaof" : NULL, "127.0.0.1", primary, NULL});
}

static bool is_replica(watched *s) {
  redisReply *reply = redis_command(&s->redis, "INFO replication");
  bool is = strstr(reply->str, "master_link_status:up") != NULL;
  freeReplyObject(reply);
  return is;
}

static bool has_field(sentinel_process *sentinel, const char *field, const char *value) {
  char text[64];
  sentinel_field(sentinel, field, text);
  return strcmp(text, value) == 0;
}

static bool fails_over(sentinel_process *sentinel) {
  redisReply *reply = sentinel_command(sentinel, "SENTINEL FAILOVER primary");
  bool does = reply->type == REDIS_REPLY_STATUS;
  freeReplyObject(reply);
  return does;
}

static bool answers(void) {
  errand e;
  return check(&e, &load.rule, load.keys[0].name, 0) == LAJU_STORE_ANSWERED;
}

static void a_primary_that_sentinel_names_is_followed_by_tls(void **unused) {
  (void)unused;
  watched servers[2];
  sentinel_process sentinel;
  char more[512];
  uint16_t port = (uint16_t)strtoul(redis_free_port(), NULL, 10);
  start_watched(&servers[0], NULL);
  start_watched(&servers[1], servers[0].port);
  snprintf(more, sizeof more,
           "tls-port %u\ntls-replication yes\ntls-cert-file %s\ntls-key-file %s\ntls-ca-cert-file %s", port,
           files.server_cert, files.server_key, files.ca);
  WAIT_FOR(is_replica(&servers[1]));
  sentinel_start(&sentinel, (uint16_t)strtoul(servers[0].port, NULL, 10), 1, more);
  WAIT_FOR(has_field(&sentinel, "num-slaves", "1"));

  laju_store_options options = options_by_tls("rediss+sentinel://localhost/primary", port);
  assert_kept_out(options);
  open_and_wait(options);
  run_exact(3);
  freeReplyObject(redis_command(&servers[0].redis, "SET last 1"));
  assert_int_equal(redis_integer(&servers[0].redis, "WAIT 1 5000"), 1);
  WAIT_FOR(fails_over(&sentinel));
  WAIT_FOR(has_field(&sentinel, "port", servers[1].port));
  redis_kill(&servers[0].redis); /* whoever answers now is the other */
  WAIT_FOR(answers());
  run_exact(3);
  close_store();
  sentinel_stop(&sentinel);
  redis_stop(&servers[0].redis);
  redis_stop(&servers[1].redis);
}

/* ---- cluster ---- */

static void a_cluster_is_reached_by_its_ports_for_tls(void **unused) {
  (void)unused;
  static const char name[] = "laju:{way}:x";
  static cluster_nodes nodes;
  uint16_t slot = laju_slot_of(name, strlen(name));
  errand e;
  cluster_start(&nodes, false, &files);
  laju_store_options options = options_by_tls("rediss+cluster://127.0.0.1", nodes.nodes[0].tls_port);
  assert_kept_out(options);
  open_and_wait(options);
  run_exact(3);
  assert_int_equal(counters->servers, PRIMARIES);
  assert_int_equal(counters->servers_up, PRIMARIES);

  size_t from = cluster_owner(&nodes, slot), to = (from + 1) % PRIMARIES;
  uint64_t before = counters->redirects;
  assert_int_equal(check(&e, &load.rule, name, 5), LAJU_STORE_ANSWERED);
  cluster_slot_begin(&nodes, slot, to);
  cluster_slot_move_keys(&nodes, slot, from, to);
  assert_int_equal(remaining_of(&load.rule, name), LOAD_LIMIT - 5); /* ASK */
  cluster_slot_end(&nodes, slot, to);
  assert_int_equal(remaining_of(&load.rule, name), LOAD_LIMIT - 5); /* MOVED */
  assert_true(counters->redirects >= before + 2);
  assert_int_equal(counters->servers, PRIMARIES);
  close_store();
  cluster_stop(&nodes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_primary_that_sentinel_names_is_followed_by_tls),
      cmocka_unit_test(a_cluster_is_reached_by_its_ports_for_tls),
  };
  return cmocka_run_group_tests(tests, make_files, remove_files);
}
