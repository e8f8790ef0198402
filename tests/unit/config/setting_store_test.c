#include "config/yaml_fixture.h"

#include <unistd.h>

static char why[LAJU_WHY_SIZE];

static void set(const char *key, const char *text) {
  why[0] = '\0';
  int error = laju_config_set(&config, key, text, why);
  assert_string_equal(why, "");
  assert_int_equal(error, 0);
}

static void refused(const char *key, const char *text, const char *message) {
  assert_int_equal(laju_config_set(&config, key, text, why), -1);
  assert_string_equal(why, message);
}

static void unfit(const char *message) {
  assert_int_equal(laju_config_verify(&config, why), -1);
  assert_string_equal(why, message);
}

static void fit(void) {
  why[0] = '\0';
  assert_int_equal(laju_config_verify(&config, why), 0);
  assert_string_equal(why, "");
}

static void without_a_word_there_is_no_store(void **state) {
  (void)state;
  accepted("rules: []");
  assert_int_equal(config.store.url.kind, LAJU_STORE_NONE);
  assert_int_equal(config.store.timeout_us, 50000);
  assert_int_equal(config.store.connect_timeout_us, 250000);
  assert_int_equal(config.store.pool, 1);
  assert_int_equal(config.store.max_inflight, 10000);
  assert_string_equal(config.store.prefix, "laju");
  assert_false(config.store.transaction);
  assert_true(config.store.deny_cache);
  assert_int_equal(config.store.nodes, 0);
}

static void every_key_of_it_is_read(void **state) {
  (void)state;
  accepted(
      "store:\n"
      "  redis: rediss+sentinel://app:s3cret@s1,s2/main/2\n"
      "  timeout: 20ms\n"
      "  connect_timeout: 1s\n"
      "  pool: 2\n"
      "  max_inflight: 500\n"
      "  prefix: prod:laju\n"
      "  tls_ca: /etc/ca.pem\n"
      "  tls_cert: /etc/cert.pem\n"
      "  tls_key: /etc/key.pem\n"
      "  tls_server_name: redis.example.com\n"
      "  atomicity: transaction\n"
      "  deny_cache: false\n"
      "  nodes: 30\n");
  const laju_config_store *store = &config.store;
  assert_int_equal(store->url.kind, LAJU_STORE_SENTINEL);
  assert_true(store->url.tls);
  assert_int_equal(store->url.place_count, 2);
  assert_string_equal(store->url.password, "s3cret");
  assert_int_equal(store->url.database, 2);
  assert_int_equal(store->timeout_us, 20000);
  assert_int_equal(store->connect_timeout_us, 1000000);
  assert_int_equal(store->pool, 2);
  assert_int_equal(store->max_inflight, 500);
  assert_string_equal(store->prefix, "prod:laju");
  assert_string_equal(store->tls_ca, "/etc/ca.pem");
  assert_string_equal(store->tls_cert, "/etc/cert.pem");
  assert_string_equal(store->tls_key, "/etc/key.pem");
  assert_string_equal(store->tls_server_name, "redis.example.com");
  assert_true(store->transaction);
  assert_false(store->deny_cache);
  assert_int_equal(store->nodes, 30);
}

static void its_numbers_have_their_ranges(void **state) {
  (void)state;
  set("store.timeout", "1ms");
  set("store.timeout", "10s");
  refused("store.timeout", "999us", "\"999us\" is out of range; allowed: 1ms to 10s");
  refused("store.timeout", "11s", "\"11s\" is out of range; allowed: 1ms to 10s");
  refused("store.connect_timeout", "2m", "\"2m\" is out of range; allowed: 1ms to 1m");
  set("store.pool", "16");
  refused("store.pool", "0", "\"0\" is out of range; allowed: 1 to 16");
  refused("store.pool", "17", "\"17\" is out of range; allowed: 1 to 16");
  set("store.max_inflight", "1000000");
  refused("store.max_inflight", "0", "\"0\" is out of range; allowed: 1 to 1000000");
  set("store.nodes", "100000");
  set("store.nodes", "0");
  refused("store.nodes", "100001", "\"100001\" is out of range; allowed: 0 to 100000 (0: counted from the store)");
  refused("store.prefix", "a{b}", "\"a{b}\" is not a prefix; allowed: 1 to 64 of A-Z a-z 0-9 _ . : @ -");
  refused("store.atomicity", "scripts",
          "\"scripts\" is not known here; did you mean \"script\"? allowed: script, transaction");
  refused("store.deny_cache", "no", "\"no\" is neither; did you mean \"false\"? allowed: true or false");
}

static void a_url_that_is_none_is_refused_without_its_password(void **state) {
  (void)state;
  refused("store.redis", "redis://:hunter2@h:port", "host \"h\" has a port that is none; allowed: 1 to 65535");
  const char *text = "rules: []\nstore: {redis: 'redis://:hunter2@h/x'}";
  assert_int_equal(laju_config_parse(&config, "laju.yaml", text, strlen(text), why), -1);
  assert_string_equal(why, "laju.yaml:2:16: store.redis: the database after the / is none; allowed: 0 to 65535");
}

static void the_command_line_can_take_the_store_away(void **state) {
  (void)state;
  accepted("store: {redis: 'redis://h'}\nrules: [{name: a, limit: 1, per: 1s}]");
  assert_int_equal(config.rules[0].rule.mode, LAJU_EXACT);
  set("store.redis", "off");
  assert_int_equal(config.store.url.kind, LAJU_STORE_NONE);
  assert_int_equal(config.rules[0].rule.mode, LAJU_EMBEDDED);
}

static void a_user_needs_a_password(void **state) {
  (void)state;
  set("store.redis", "redis://app@h");
  unfit("store: redis names a user and no password; allowed: USER:PASSWORD@, or password_file");
  set("store.redis", "redis://app:p@h");
  fit();
}

static void a_certificate_and_its_key_are_a_pair_for_tls(void **state) {
  (void)state;
  set("store.redis", "rediss://h");
  set("store.tls_cert", "/c");
  unfit("store: tls_cert and tls_key are one pair; allowed: both, or neither");
  set("store.tls_key", "/k");
  fit();
  set("store.redis", "redis://h");
  unfit(
      "store: redis is a URL without TLS, and tls_ca, tls_cert or tls_server_name is given; "
      "allowed: rediss://, rediss+sentinel:// or rediss+cluster://");
}

/* ---- the password's file ---- */

#define PATH "/tmp/laju_setting_store_test_XXXXXX"

static char path[] = PATH;

static int make_file(void **state) {
  memcpy(path, PATH, sizeof path);
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  return init(state);
}

static int remove_file(void **state) {
  unlink(path);
  return deinit(state);
}

static void write_file(const void *bytes, size_t len) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, len, file), len);
  assert_int_equal(fclose(file), 0);
}

static void read_as(const char *bytes, const char *password) {
  write_file(bytes, strlen(bytes));
  set("store.password_file", path);
  assert_string_equal(config.store.url.password, password);
}

static void a_password_may_stand_in_a_file_of_its_own(void **state) {
  (void)state;
  set("store.redis", "redis://app:old@h");
  read_as("s3cret", "s3cret");
  read_as("s3cret\n", "s3cret");
  read_as("s3cret\r\n", "s3cret");
  read_as(" spaces are its own \n\n", " spaces are its own \n");
  set("store.redis", "redis://app@h");
  assert_string_equal(config.store.url.password, " spaces are its own \n");
  fit();
}

static void a_file_without_a_password_is_refused(void **state) {
  (void)state;
  char message[LAJU_WHY_SIZE], much[LAJU_STORE_TEXT_MAX + 2];
  snprintf(message, sizeof message, "\"%s\" holds no password; allowed: a file of 1 to 256 bytes, none of them zero",
           path);
  write_file("", 0);
  refused("store.password_file", path, message);
  write_file("\n", 1);
  refused("store.password_file", path, message);
  write_file("a\0b", 3);
  refused("store.password_file", path, message);
  memset(much, 'x', sizeof much);
  write_file(much, LAJU_STORE_TEXT_MAX + 1);
  refused("store.password_file", path, message);
  write_file(much, LAJU_STORE_TEXT_MAX);
  set("store.password_file", path);
  refused("store.password_file", "/no/such",
          "\"/no/such\" cannot be read: No such file or directory; allowed: a file that holds the password");
  refused("store.password_file", "/dev/zero",
          "\"/dev/zero\" cannot be read: no regular file; allowed: a file that holds the password");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(without_a_word_there_is_no_store, init, deinit),
      cmocka_unit_test_setup_teardown(every_key_of_it_is_read, init, deinit),
      cmocka_unit_test_setup_teardown(its_numbers_have_their_ranges, init, deinit),
      cmocka_unit_test_setup_teardown(a_url_that_is_none_is_refused_without_its_password, init, deinit),
      cmocka_unit_test_setup_teardown(the_command_line_can_take_the_store_away, init, deinit),
      cmocka_unit_test_setup_teardown(a_user_needs_a_password, init, deinit),
      cmocka_unit_test_setup_teardown(a_certificate_and_its_key_are_a_pair_for_tls, init, deinit),
      cmocka_unit_test_setup_teardown(a_password_may_stand_in_a_file_of_its_own, make_file, remove_file),
      cmocka_unit_test_setup_teardown(a_file_without_a_password_is_refused, make_file, remove_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
