/* The store by TLS: who is believed, and who is not. Certificates are made by the test, by openssl. */
#include "redis/store_fixture.h"

#include "redis/certificates.h"

#define MANY 10000

static certificates files;
static const char *port;

static int start_tls(void **unused) {
  (void)unused;
  if (certificates_make(&files) < 0) return -1;
  port = redis_free_port();
  redis_start_with(&server, (const char *const[]){"--tls-port", port, "--tls-cert-file", files.server_cert,
                                                  "--tls-key-file", files.server_key, "--tls-ca-cert-file", files.ca,
                                                  "--tls-auth-clients", "no", NULL});
  return 0;
}

static int stop_tls(void **unused) {
  stop(unused);
  certificates_remove(&files);
  return 0;
}

static laju_store_options options_at(const char *host) {
  char url[64];
  snprintf(url, sizeof url, "rediss://%s:%s", host, port);
  laju_store_options options = options_of(url);
  options.tls_ca = files.ca;
  options.timeout_us = 5 * SECOND;
  options.connect_timeout_us = 5 * SECOND;
  return options;
}

static void assert_refused(laju_store_options options, const char *why) {
  open_store(options);
  assert_true(COMES_TRUE(loop, counters->connect_failures > 0));
  assert_string_equal(laju_store_why(the_store), why);
  assert_int_equal(counters->connects, 0);
  close_store();
}

static void assert_ok(redisReply *reply) {
  assert_string_equal(reply->str, "OK");
  freeReplyObject(reply);
}

static void serve_as(const char *cert, const char *key) {
  assert_ok(redis_command(&server, "CONFIG SET tls-cert-file %s tls-key-file %s", cert, key));
}

static void a_certificate_of_a_known_authority_for_this_host_is_believed(void **unused) {
  (void)unused;
  static const char *const hosts[] = {"localhost", "127.0.0.1"};
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 10, 7200 * SECOND, 0);
  for (size_t i = 0; i < 2; i++) {
    open_and_wait(options_at(hosts[i]));
    assert_int_equal(remaining_of(&rule, "key"), 10);
    close_store();
  }
}

static void ten_thousand_checks_pass_whole(void **unused) {
  (void)unused;
  static errand many[MANY];
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 1000000, 7200 * SECOND, 0);
  open_and_wait(options_at("localhost"));
  errands_done = 0;
  for (int i = 0; i < MANY; i++) assert_true(begin_check(&many[i], &rule, "key", 1));
  assert_true(COMES_TRUE(loop, errands_done == MANY));
  for (int i = 0; i < MANY; i++) assert_int_equal(many[i].answers[0].decision.remaining, 999999 - i);
  close_store();
  empty(NULL);
}

static void what_the_socket_does_not_take_goes_when_it_does(void **unused) {
  (void)unused;
  static errand many[MANY];
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 1000000, 7200 * SECOND, 0);
  open_and_wait(options_at("localhost"));
  static char name[1000];
  memset(name, 'x', sizeof name - 1);
  kill(server.pid, SIGSTOP);
  errands_done = 0;
  for (int i = 0; i < MANY; i++) assert_true(begin_check(&many[i], &rule, name, 1));
  let_pass(loop, 50);
  assert_in_range(counters->checks, 1, MANY - 1);
  kill(server.pid, SIGCONT);
  assert_true(COMES_TRUE(loop, errands_done == MANY));
  for (int i = 0; i < MANY; i++) assert_int_equal(many[i].answers[0].decision.remaining, 999999 - i);
  assert_int_equal(counters->connects, 1);
  close_store();
  empty(NULL);
}

static void another_authority_is_not_believed(void **unused) {
  (void)unused;
  laju_store_options options = options_at("localhost");
  options.tls_ca = files.other;
  assert_refused(options, "TLS: self-signed certificate in certificate chain");
}

static void a_certificate_for_another_host_is_not_believed(void **unused) {
  (void)unused;
  serve_as(files.client_cert, files.client_key);
  laju_store_options options = options_at("localhost");
  assert_refused(options, "TLS: hostname mismatch");
  assert_refused(options_at("127.0.0.1"), "TLS: IP address mismatch");
  options.tls_server_name = "client"; /* what it is to be called, wherever it is */
  open_and_wait(options);
  close_store();
  serve_as(files.server_cert, files.server_key);
}

static void a_server_that_wants_a_certificate_gets_it(void **unused) {
  (void)unused;
  assert_ok(redis_command(&server, "CONFIG SET tls-auth-clients yes"));
  laju_store_options options = options_at("localhost");
  open_store(options);
  assert_true(COMES_TRUE(loop, counters->connect_failures > 0));
  assert_memory_equal(laju_store_why(the_store), "TLS: ", 5);
  close_store();
  options.tls_cert = files.client_cert;
  options.tls_key = files.client_key;
  open_and_wait(options);
  close_store();
  assert_ok(redis_command(&server, "CONFIG SET tls-auth-clients no"));
}

static void a_server_without_tls_is_told_so(void **unused) {
  (void)unused;
  const char *plain = redis_free_port();
  assert_ok(redis_command(&server, "CONFIG SET port %s", plain));
  laju_store_options options = options_at("localhost");
  options.url.places[0].port = (uint16_t)strtol(plain, NULL, 10);
  options.connect_timeout_us = 50000; /* Redis takes a greeting by TLS for a line that does not end */
  assert_refused(options, "TLS: no answer in time");
}

static void files_that_cannot_be_used_are_named(void **unused) {
  (void)unused;
  char why[LAJU_TEXT_SIZE], wanted[LAJU_TEXT_SIZE];
  laju_store_options options = options_at("localhost");
  options.tls_ca = "/nowhere/none.crt";
  assert_int_equal(laju_store_new(&the_store, uv_default_loop(), &options, why), LAJU_ERR_SYSTEM);
  snprintf(wanted, sizeof wanted, "certificate authorities %s: No such file or directory", options.tls_ca);
  assert_string_equal(why, wanted);

  options.tls_ca = NULL;
  options.tls_cert = files.client_cert;
  options.tls_key = files.server_key;
  assert_int_equal(laju_store_new(&the_store, uv_default_loop(), &options, why), LAJU_ERR_SYSTEM);
  snprintf(wanted, sizeof wanted, "key %s: key values mismatch", options.tls_key);
  assert_string_equal(why, wanted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_certificate_of_a_known_authority_for_this_host_is_believed),
      cmocka_unit_test(ten_thousand_checks_pass_whole),
      cmocka_unit_test(what_the_socket_does_not_take_goes_when_it_does),
      cmocka_unit_test(another_authority_is_not_believed),
      cmocka_unit_test(a_certificate_for_another_host_is_not_believed),
      cmocka_unit_test(a_server_that_wants_a_certificate_gets_it),
      cmocka_unit_test(a_server_without_tls_is_told_so),
      cmocka_unit_test(files_that_cannot_be_used_are_named),
  };
  return cmocka_run_group_tests(tests, start_tls, stop_tls);
}
