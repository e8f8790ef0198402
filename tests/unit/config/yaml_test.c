#include "config/yaml_fixture.h"

#include <unistd.h>

#include "base/buffer.h"

/* Refused with this very message, and the configuration is as it was. */
static void refused(const char *text, const char *message) {
  char why[LAJU_WHY_SIZE] = "";
  laju_config before = config;
  assert_int_equal(laju_config_parse(&config, "laju.yaml", text, strlen(text), why), -1);
  assert_string_equal(why, message);
  assert_memory_equal(&before, &config, sizeof config);
}

/* Refused with a message that begins so: what follows is libyaml's, or long. */
static void refused_as(const char *text, const char *beginning) {
  char why[LAJU_WHY_SIZE] = "";
  assert_int_equal(laju_config_parse(&config, "laju.yaml", text, strlen(text), why), -1);
  assert_null(strchr(why, '\n'));
  if (strncmp(why, beginning, strlen(beginning)) != 0) assert_string_equal(why, beginning);
}

static void every_key_is_read(void **state) {
  (void)state;
  accepted(
      "listen: {http: 0.0.0.0:80, resp: unix:/run/laju.sock}\n"
      "workers: 4\n"
      "memory: 1GiB\n"
      "memory_logs: 10%\n"
      "huge_pages: true\n"
      "snapshot: {path: /var/lib/laju/table.snap, interval: 30s}\n"
      "inline_limits: false\n"
      "resp_password: open sesame\n"
      "resp_admin: true\n"
      "rules:\n"
      "  - {name: api, limit: 100, per: 1m}\n"
      "  - {name: login, algorithm: token-bucket, limit: 5, per: 1m, burst: 10, cost: 2}\n");
  assert_string_equal(config.listen_http, "0.0.0.0:80");
  assert_string_equal(config.listen_resp, "unix:/run/laju.sock");
  assert_int_equal(config.workers, 4);
  assert_int_equal(config.memory_bytes, 1073741824);
  assert_int_equal(config.memory_logs_bytes, 107374182);
  assert_true(config.huge_pages);
  assert_string_equal(config.snapshot_path, "/var/lib/laju/table.snap");
  assert_int_equal(config.snapshot_interval_us, 30000000);
  assert_false(config.inline_limits);
  assert_true(config.resp_admin);
  assert_string_equal(config.resp_password, "open sesame");
  assert_int_equal(config.rule_count, 2);
  assert_string_equal(config.rules[0].rule.name, "api");
  assert_int_equal(config.rules[0].rule.algorithm, LAJU_SLIDING_WINDOW_COUNTER);
  assert_int_equal(config.rules[0].rule.limit, 100);
  assert_int_equal(config.rules[0].rule.capacity, 100);
  assert_int_equal(config.rules[0].rule.cost, 1);
  assert_int_equal(config.rules[0].rule.period * config.rules[0].rule.tick_us, 60000000);
  assert_string_equal(config.rules[1].rule.name, "login");
  assert_int_equal(config.rules[1].rule.algorithm, LAJU_TOKEN_BUCKET);
  assert_int_equal(config.rules[1].rule.capacity, 10);
  assert_int_equal(config.rules[1].rule.cost, 2);
}

static void an_empty_file_leaves_every_default(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    accepted((const char *[]){"", "# nothing but a comment\n", "---\n...\n", "{}"}[i]);
    assert_string_equal(config.listen_http, "127.0.0.1:8080");
    assert_string_equal(config.listen_resp, "127.0.0.1:6380");
    assert_int_equal(config.memory_bytes, 268435456);
    assert_int_equal(config.memory_logs_bytes, 67108864);
    assert_string_equal(config.snapshot_path, "");
    assert_int_equal(config.snapshot_interval_us, 10000000);
    assert_true(config.inline_limits);
    assert_int_equal(config.rule_count, 0);
  }
}

static void a_second_file_starts_from_the_defaults_again(void **state) {
  (void)state;
  accepted("workers: 4\nrules: [{name: a, limit: 1, per: 1s}]\n");
  accepted("rules: [{name: b, limit: 1, per: 1s}, {name: c, limit: 1, per: 1s}]\n");
  assert_int_equal(config.workers, 0);
  assert_int_equal(config.rule_count, 2);
  assert_string_equal(config.rules[0].rule.name, "b");
}

static void an_unknown_key_is_named_with_its_place_and_the_nearest(void **state) {
  (void)state;
  refused(
      "rules:\n  - {name: api, limit: 1, per: 1s}\n  - {name: web, limt: 5, per: 1m}\n",
      "laju.yaml:3:17: rules[1].limt: unknown key; did you mean \"limit\"? allowed: name, algorithm, limit, per, burst, cost, "
      "match, key, missing, secret, shadow, wait, mode, on_store_error, group, exempt, overrides");
  refused(
      "memroy: 1GiB\n",
      "laju.yaml:1:1: memroy: unknown key; did you mean \"memory\"? allowed: listen, workers, memory, memory_logs, huge_pages, snapshot, store, tls, admin, log, "
      "trusted_proxies, ip_prefix, headers, inline_limits, resp_password, resp_admin, rules");
  refused("listen: {htp: '127.0.0.1:1'}\n",
          "laju.yaml:1:10: listen.htp: unknown key; did you mean \"http\"? allowed: http, resp, admin");
  refused("snapshot:\n  colour: blue\n", "laju.yaml:2:3: snapshot.colour: unknown key; allowed: path, interval");
  refused_as("store: {url: 'redis://a'}\n", "laju.yaml:1:9: store.url: unknown key; did you mean \"redis\"? ");
  refused_as("rules: [{name: a, max_requests: 5, per: 1m}]\n",
             "laju.yaml:1:19: rules[0].max_requests: unknown key; did you mean \"limit\"? ");
  refused_as("rules: [{name: a, limit: 5, window: 1m}]\n",
             "laju.yaml:1:29: rules[0].window: unknown key; did you mean \"per\"? ");
  refused_as("\"me\\nmory\\x1b[2J\": 1\n", "laju.yaml:1:1: me?mory?[2J: unknown key;");
  refused_as("listen.http: 127.0.0.1:80\n", "laju.yaml:1:1: listen.http: unknown key;");
  refused_as("<<: {workers: 1}\n", "laju.yaml:1:1: <<: unknown key;");
}

static void an_unknown_algorithm_is_told_the_nearest(void **state) {
  (void)state;
  refused(
      "rules:\n- {name: a, limit: 1, per: 1s, algorithm: token_buket}\n",
      "laju.yaml:2:43: rules[0].algorithm: \"token_buket\" is not an algorithm; did you mean \"token-bucket\"? allowed: "
      "token-bucket, leaky-bucket, fixed-window, sliding-window-counter or sliding-window-log");
  refused_as("rules: [{name: a, limit: 1, per: 1s, algorithm: GCRA}]\n",
             "laju.yaml:1:49: rules[0].algorithm: \"GCRA\" is not an algorithm; did you mean \"token-bucket\"? ");
  refused_as("rules: [{name: a, limit: 1, per: 1s, on_store_error: fail_open}]\n",
             "laju.yaml:1:54: rules[0].on_store_error: \"fail_open\" is not known here; did you mean \"allow\"? ");
}

static void wrong_indentation_is_told_where_it_is(void **state) {
  (void)state;
  refused("rules:\n\t- {name: a, limit: 1, per: 1s}\n",
          "laju.yaml:2:1: not YAML: a tab; allowed: lines indented by spaces");
  refused_as("rules:\n  - name: a\n    limit: 5\n   per: 1m\n", "laju.yaml:4:4: not YAML: ");
}

static void a_period_needs_its_unit_and_a_tick(void **state) {
  (void)state;
  refused(
      "rules:\n- {name: a, limit: 1, per: 60}\n",
      "laju.yaml:2:28: rules[0].per: \"60\" has no unit; did you mean \"60s\"? allowed: 1ms to 366d, a whole number and a "
      "unit: us, ms, s, m, h, d or w");
  refused(
      "rules:\n- {name: a, limit: 1, per: 2000001us}\n",
      "laju.yaml:2:28: rules[0].per: \"2000001us\" is divided by no tick (a power of ten of us, up to 100s, at most 1048576 "
      "in a period); did you mean \"2s\"? allowed: 1ms to 366d");
  refused_as("rules: [{name: a, limit: 1, per: 1h30m}]\n",
             "laju.yaml:1:34: rules[0].per: \"1h30m\" is not a duration; did you mean \"90m\"? ");
  refused_as("rules: [{name: a, limit: 1k, per: 1m}]\n",
             "laju.yaml:1:26: rules[0].limit: \"1k\" is not a whole number; did you mean \"1000\"? ");
  refused("rules:\n- {name: a, limit: 1, per: 367d}\n",
          "laju.yaml:2:28: rules[0].per: \"367d\" is out of range; allowed: 1ms to 366d");
}

static void a_burst_is_for_buckets(void **state) {
  (void)state;
  refused(
      "rules:\n- name: a\n  limit: 1\n  burst: 1\n  per: 1s\n",
      "laju.yaml:4:10: rules[0].burst: is not for sliding-window-counter; allowed: with token-bucket and leaky-bucket only");
  refused(
      "rules:\n- {name: a, limit: 1, per: 1s, algorithm: leaky-bucket, burst: 0}\n",
      "laju.yaml:2:64: rules[0].burst: \"0\" would refuse everything; allowed: 1 to 4294967295, for token-bucket and "
      "leaky-bucket only");
  accepted("rules:\n- {name: closed, limit: 0, per: 1s, algorithm: leaky-bucket, burst: 0}\n");
}

static void impossible_numbers_are_refused(void **state) {
  (void)state;
  refused(
      "rules:\n- {name: a, limit: 4294967296, per: 1s}\n",
      "laju.yaml:2:20: rules[0].limit: \"4294967296\" is out of range; allowed: 0 to 4294967295 (sliding-window-log: 0 to "
      "65536)");
  refused("rules:\n- {name: a, algorithm: sliding-window-log, limit: 65537, per: 1s}\n",
          "laju.yaml:2:51: rules[0].limit: \"65537\" is too many for a sliding-window-log; allowed: 0 to 65536");
  refused_as("rules:\n- {name: a, limit: -1, per: 1s}\n",
             "laju.yaml:2:20: rules[0].limit: \"-1\" is not a whole number;");
  refused_as("rules:\n- {name: a, limit: 1.5, per: 1s}\n",
             "laju.yaml:2:20: rules[0].limit: \"1.5\" is not a whole number;");
  refused_as("rules:\n- {name: a, limit: 1e3, per: 1s}\n",
             "laju.yaml:2:20: rules[0].limit: \"1e3\" is not a whole number;");
  refused_as("rules:\n- {name: a, limit: 010, per: 1s}\n",
             "laju.yaml:2:20: rules[0].limit: \"010\" has a leading zero;");
  refused_as("rules:\n- {name: a, limit: 99999999999999999999999, per: 1s}\n",
             "laju.yaml:2:20: rules[0].limit: \"99999999999999999999999\" is out of range;");
  refused_as("rules:\n- {name: a, limit: 1, per: 1s, cost: 4294967296}\n",
             "laju.yaml:2:38: rules[0].cost: \"4294967296\" is out of range;");
  refused("workers: 1025\n",
          "laju.yaml:1:10: workers: \"1025\" is out of range; allowed: 0 to 1024 (0: as many as CPUs allow)");
  accepted("workers: 1024\nrules: [{name: a, limit: 4294967295, per: 366d}, {name: b, limit: 0, per: 1ms}]\n");
}

static void sizes_are_within_their_range(void **state) {
  (void)state;
  accepted("memory: 1MiB\n");
  assert_int_equal(config.memory_logs_bytes, 262144);
  accepted("memory: 1TiB\n");
  accepted("memory: 1024KiB\nmemory_logs: 80%\n");
  refused("memory: 1048575B\n", "laju.yaml:1:9: memory: \"1048575B\" is out of range; allowed: 1MiB to 1TiB");
  refused("memory: 1025GiB\n", "laju.yaml:1:9: memory: \"1025GiB\" is out of range; allowed: 1MiB to 1TiB");
  refused(
      "memory: 256MB\n",
      "laju.yaml:1:9: memory: \"256MB\" is not a size; did you mean \"256MiB\"? allowed: 1MiB to 1TiB, a whole number and a "
      "unit: B, KiB, MiB, GiB or TiB");
  refused_as("memory: 268435456\n", "laju.yaml:1:9: memory: \"268435456\" has no unit; did you mean \"268435456B\"?");
  refused_as("memory: 256\n", "laju.yaml:1:9: memory: \"256\" has no unit; did you mean \"256MiB\"?");
}

static void logs_are_a_share_of_memory_or_a_size(void **state) {
  (void)state;
  accepted("memory_logs: 50%\nmemory: 1GiB\n");
  assert_int_equal(config.memory_logs_bytes, 536870912);
  accepted("memory_logs: 32MiB\nmemory: 1GiB\n");
  assert_int_equal(config.memory_logs_bytes, 33554432);
  refused("memory: 1MiB\nmemory_logs: 1MiB\n",
          "laju.yaml:2:1: memory_logs: is more than 80% of memory; allowed: 1% to 80% of memory, or a size from 4KiB");
  refused_as("memory_logs: 81%\n", "laju.yaml:1:14: memory_logs: \"81%\" is out of range;");
  refused_as("memory_logs: 0%\n", "laju.yaml:1:14: memory_logs: \"0%\" is out of range;");
  refused_as("memory_logs: 4095B\n", "laju.yaml:1:14: memory_logs: \"4095B\" is out of range;");
}

static void wrong_types_are_refused(void **state) {
  (void)state;
  refused("workers: '4'\n", "laju.yaml:1:10: workers: \"4\" is text; write it without quotes");
  refused("workers: [4]\n", "laju.yaml:1:10: workers: is a list; allowed: one value");
  refused("workers: {n: 4}\n", "laju.yaml:1:10: workers: is a mapping; allowed: one value");
  refused("workers:\n", "laju.yaml:1:9: workers: is empty; leave it out for its default");
  refused("memory: ~\n", "laju.yaml:1:9: memory: is empty; leave it out for its default");
  refused("inline_limits: yes\n",
          "laju.yaml:1:16: inline_limits: \"yes\" is neither; did you mean \"true\"? allowed: true or false");
  refused("listen: 127.0.0.1:80\n", "laju.yaml:1:9: listen: is not a mapping; allowed: the keys http, resp, admin");
  refused("rules: {name: a}\n", "laju.yaml:1:8: rules: is not a list; allowed: - {name: api, limit: 100, per: 1m}");
  refused("rules: [api]\n", "laju.yaml:1:9: rules[0]: is not a mapping; allowed: {name: api, limit: 100, per: 1m}");
  refused("rules:\n- {name: a, limit: \"5\", per: 1s}\n",
          "laju.yaml:2:20: rules[0].limit: \"5\" is text; write it without quotes");
  refused("rules:\n- {name: a, limit: [5], per: 1s}\n",
          "laju.yaml:2:20: rules[0].limit: is a list; allowed: one value");
  refused_as("- workers\n", "laju.yaml:1:1: the file is not a mapping; allowed: the keys listen, workers,");
  refused_as("hello\n", "laju.yaml:1:1: the file is not a mapping;");
  refused_as("? [workers]\n: 4\n", "laju.yaml:1:3:");
}

static void what_a_rule_needs_is_named(void **state) {
  (void)state;
  refused("rules:\n  - {limit: 5, per: 1m}\n",
          "laju.yaml:2:5: rules[0].name: is missing; allowed: 1 to 64 of A-Z a-z 0-9 _ . -");
  refused("rules:\n  - {name: a, per: 1m}\n",
          "laju.yaml:2:5: rules[0].limit: is missing; allowed: 0 to 4294967295 (sliding-window-log: 0 to 65536)");
  refused("rules:\n  - {name: a, limit: 5}\n", "laju.yaml:2:5: rules[0].per: is missing; allowed: 1ms to 366d");
  refused("rules:\n- {}\n", "laju.yaml:2:3: rules[0].name: is missing; allowed: 1 to 64 of A-Z a-z 0-9 _ . -");
}

static void names_are_checked_and_stand_once(void **state) {
  (void)state;
  refused("rules:\n- {name: a b, limit: 5, per: 1m}\n",
          "laju.yaml:2:10: rules[0].name: \"a b\" is not a name; allowed: 1 to 64 of A-Z a-z 0-9 _ . -");
  refused("rules:\n- {name: a, limit: 5, per: 1m}\n- {name: b, limit: 5, per: 1m}\n- {limit: 5, per: 1s, name: a}\n",
          "laju.yaml:4:29: rules[2].name: \"a\" is the name of rules[0] already; allowed: each name once");
  refused("rules:\n- {name: inline, limit: 5, per: 1m}\n",
          "laju.yaml:2:10: rules[0].name: \"inline\" is reserved; allowed: any name but inline and cl.throttle");
  refused_as("rules:\n- {name: cl.throttle, limit: 5, per: 1m}\n",
             "laju.yaml:2:10: rules[0].name: \"cl.throttle\" is reserved;");
  accepted("rules: [{name: a, limit: 5, per: 1m}, {name: A, limit: 5, per: 1m}, {name: 42, limit: 5, per: 1m}]\n");
}

static void a_key_given_twice_is_refused(void **state) {
  (void)state;
  refused("workers: 1\nmemory: 1MiB\nworkers: 2\n", "laju.yaml:3:1: workers: is given twice; the first is in line 1");
  refused("listen: {http: ''}\nlisten: {resp: ''}\n", "laju.yaml:2:1: listen: is given twice; the first is in line 1");
  refused("listen:\n  http: 127.0.0.1:1\n  http: 127.0.0.1:2\n",
          "laju.yaml:3:3: listen.http: is given twice; the first is in line 2");
  refused("rules:\n- {name: a, limit: 5, per: 1m, limit: 6}\n",
          "laju.yaml:2:32: rules[0].limit: is given twice; the first is in line 2");
}

static void doors_are_addresses_or_off(void **state) {
  (void)state;
  accepted("listen: {http: '[::1]:0', resp: off}\n");
  assert_string_equal(config.listen_http, "[::1]:0");
  assert_string_equal(config.listen_resp, "");
  accepted("listen:\n  http:\n  resp: '*:6380'\n");
  assert_string_equal(config.listen_http, "");
  refused(
      "listen: {http: localhost:8080}\n",
      "laju.yaml:1:16: listen.http: \"localhost:8080\" has a host name; did you mean \"127.0.0.1:8080\"? allowed: HOST:PORT "
      "with an IPv4 address, an IPv6 address in [ ] or * for all; unix:/PATH; off");
  refused("listen: {http: off, resp: off}\n",
          "laju.yaml:1:1: listen: both http and resp are off; allowed: one of them, or both");
  refused("listen: {http: 127.0.0.1:6380}\n",
          "laju.yaml:1:1: listen: \"127.0.0.1:6380\" is taken by http and by resp; allowed: an address each");
  refused_as("listen: {resp: '*:8080'}\n", "laju.yaml:1:1: listen: \"127.0.0.1:8080\" is taken by http and by resp;");
  accepted("listen: {http: 127.0.0.1:0, resp: 127.0.0.1:0}\n");
}

static void a_password_is_never_empty_and_never_shown(void **state) {
  (void)state;
  refused("resp_password: ''\n",
          "laju.yaml:1:16: resp_password: is empty; allowed: 1 to 255 bytes, no control characters");
  refused("resp_password:\n", "laju.yaml:1:15: resp_password: is empty; leave it out for its default");
  refused("resp_password: \"s3cret\\n\"\n",
          "laju.yaml:1:16: resp_password: holds a control character; allowed: 1 to 255 bytes, no control characters");
  accepted("resp_password: 12345\n");
  assert_string_equal(config.resp_password, "12345");
}

static void proxies_are_networks_and_unix_sockets(void **state) {
  (void)state;
  assert_int_equal(config.trusted_count, 2); /* 127.0.0.0/8 and ::1 */
  assert_true(config.trust_unix);
  accepted("trusted_proxies: [10.0.0.0/8, '2001:db8::/32', 192.0.2.1]\n");
  assert_int_equal(config.trusted_count, 3);
  assert_int_equal(config.trusted[0].prefix, 104);
  assert_false(config.trust_unix);
  accepted("trusted_proxies: []\n");
  assert_int_equal(config.trusted_count, 0);
  accepted("trusted_proxies: 'unix:'\n");
  assert_int_equal(config.trusted_count, 0);
  assert_true(config.trust_unix);
  refused("trusted_proxies: [10.0.0.1/8]\n",
          "laju.yaml:1:19: trusted_proxies[0]: \"10.0.0.1/8\" has bits beyond its prefix; did you mean \"10.0.0.0/8\"? "
          "allowed: an address, a network such as 10.0.0.0/8, or unix:");
  refused_as("trusted_proxies: unix\n",
             "laju.yaml:1:18: trusted_proxies: \"unix\" is not an address or a network; did you mean \"unix:\"?");
  refused_as("trusted_proxies:\n", "laju.yaml:1:17: trusted_proxies: is empty; leave it out for its default");
}

/* The text, with a 0 behind it that is no part of it. */
static const char *ended(laju_buffer *text) {
  char *end = laju_buffer_reserve(text, 1);
  assert_non_null(end);
  *end = '\0';
  return text->data;
}

static void a_thousand_proxies_are_taken_and_one_more_is_refused(void **state) {
  (void)state;
  laju_buffer text = {.data = NULL};
  laju_buffer_add_text(&text, "trusted_proxies:\n");
  for (int i = 0; i < LAJU_CONFIG_TRUSTED_MAX; i++) laju_buffer_add_text(&text, "- 192.0.2.1\n");
  accepted(ended(&text));
  laju_buffer_add_text(&text, "- 192.0.2.1\n");
  refused(ended(&text), "laju.yaml:1026:3: trusted_proxies[1024]: too many; allowed: at most 1024");
  laju_buffer_deinit(&text);
}

static void prefixes_are_of_at_least_one_bit(void **state) {
  (void)state;
  assert_int_equal(config.ip_prefix_v4, 32);
  assert_int_equal(config.ip_prefix_v6, 64);
  accepted("ip_prefix: {v4: 1, v6: 128}\n");
  assert_int_equal(config.ip_prefix_v4, 1);
  assert_int_equal(config.ip_prefix_v6, 128);
  refused("ip_prefix: {v4: 33}\n", "laju.yaml:1:17: ip_prefix.v4: \"33\" is out of range; allowed: 1 to 32");
  refused("ip_prefix: {v6: 0}\n", "laju.yaml:1:17: ip_prefix.v6: \"0\" would make all clients one; allowed: 1 to 128");
}

static void headers_are_chosen(void **state) {
  (void)state;
  assert_true(config.show_x_ratelimit && config.show_ratelimit && !config.reset_is_delta);
  accepted("headers: {x_ratelimit: false, ratelimit: false, reset: delta}\n");
  assert_true(!config.show_x_ratelimit && !config.show_ratelimit && config.reset_is_delta);
  refused("headers: {reset: detla}\n",
          "laju.yaml:1:18: headers.reset: \"detla\" is not known here; did you mean \"delta\"? allowed: epoch, delta");
  refused_as("headers: true\n", "laju.yaml:1:10: headers: is not a mapping; allowed: the keys x_ratelimit, ratelimit,");
}

static void a_key_is_a_word(void **state) {
  (void)state;
  refused("listen: {[http]: off}\n", "laju.yaml:1:10: listen: has a key that is no word");
  refused("[a]: b\n", "laju.yaml:1:1: the file has a key that is no word");
}

static void intervals_are_within_their_range(void **state) {
  (void)state;
  accepted("snapshot: {interval: 100ms}\n");
  accepted("snapshot: {interval: 1d}\n");
  refused("snapshot: {interval: 99ms}\n",
          "laju.yaml:1:22: snapshot.interval: \"99ms\" is out of range; allowed: 100ms to 1d");
  refused_as("snapshot: {interval: 25h}\n", "laju.yaml:1:22: snapshot.interval: \"25h\" is out of range;");
  refused_as("snapshot: {interval: 10}\n",
             "laju.yaml:1:22: snapshot.interval: \"10\" has no unit; did you mean \"10s\"?");
}

static void anchors_aliases_and_tags_are_refused(void **state) {
  (void)state;
  refused_as("workers: &n 4\n", "laju.yaml:1:10: anchors (&) and aliases (*) are not taken;");
  refused_as("workers: *n\n", "laju.yaml:1:10: anchors (&) and aliases (*) are not taken;");
  refused_as("rules: &r []\n", "laju.yaml:1:8: anchors (&) and aliases (*) are not taken;");
  refused_as("&x {}\n", "laju.yaml:1:1: anchors (&) and aliases (*) are not taken;");
  refused_as("listen: {http: *:80}\n", "laju.yaml:1:16: anchors (&) and aliases (*) are not taken;");
  refused_as("workers: !!int 4\n", "laju.yaml:1:10: tags (!) are not taken;");
  refused_as("rules: !x []\n", "laju.yaml:1:8: tags (!) are not taken;");
}

static void only_one_document_is_taken(void **state) {
  (void)state;
  refused("workers: 1\n---\nworkers: 2\n", "laju.yaml:2:1: a second document begins; allowed: one a file");
  accepted("--- {workers: 1}\n...\n");
}

static void broken_text_is_named_with_its_place(void **state) {
  (void)state;
  refused_as("rules:\n  - {name: a, limit: 5\n", "laju.yaml:3:1: not YAML: ");
  refused_as("workers: 1\n\tmemory: 1MiB\n", "laju.yaml:2:1: not YAML: ");
  refused_as("listen: 'open\n", "laju.yaml:2:1: not YAML: ");
  refused_as("# good\nworkers: \xff\n", "laju.yaml:2:10: not UTF-8 text: ");
  refused_as("# \xc3\xa9\xc3\xa9 \x01\n", "laju.yaml:1:6: not UTF-8 text: ");
}

static void depth_is_bounded_by_the_shape(void **state) {
  (void)state;
  enum { DEPTH = 100000 };
  laju_buffer text = {.data = NULL};
  laju_buffer_add_text(&text, "workers: ");
  for (int i = 0; i < DEPTH; i++) laju_buffer_add_text(&text, "[");
  refused("rules: [[[[]]]]\n", "laju.yaml:1:9: rules[0]: is not a mapping; allowed: {name: api, limit: 100, per: 1m}");
  refused(ended(&text), "laju.yaml:1:10: workers: is a list; allowed: one value");
  laju_buffer_deinit(&text);
}

static char *rules_of(size_t count) {
  laju_buffer text = {.data = NULL};
  laju_buffer_add_text(&text, "rules:\n");
  for (size_t i = 0; i < count; i++) laju_buffer_add_format(&text, "- {name: r%zu, limit: 1, per: 1s}\n", i);
  ended(&text);
  return text.data;
}

static void ten_thousand_rules_are_taken_and_one_more_is_refused(void **state) {
  (void)state;
  char *text = rules_of(LAJU_CONFIG_RULES_MAX);
  accepted(text);
  assert_int_equal(config.rule_count, 10000);
  assert_string_equal(config.rules[9999].rule.name, "r9999");
  free(text);
  text = rules_of(LAJU_CONFIG_RULES_MAX + 1);
  refused(text, "laju.yaml:10002:10: rules[10000].name: too many rules; allowed: at most 10000");
  free(text);
}

static void four_mebibytes_are_taken_and_one_byte_more_is_refused(void **state) {
  (void)state;
  char why[LAJU_WHY_SIZE] = "";
  char *text = malloc(LAJU_CONFIG_FILE_MAX + 1);
  assert_non_null(text);
  memset(text, '\n', LAJU_CONFIG_FILE_MAX + 1);
  assert_int_equal(laju_config_parse(&config, "laju.yaml", text, LAJU_CONFIG_FILE_MAX, why), 0);
  assert_int_equal(laju_config_parse(&config, "laju.yaml", text, LAJU_CONFIG_FILE_MAX + 1, why), -1);
  assert_string_equal(why, "laju.yaml:1:1: the file is too large; allowed: up to 4MiB");
  free(text);
}

static void a_long_file_name_keeps_its_end(void **state) {
  (void)state;
  char name[2000], why[LAJU_WHY_SIZE];
  memset(name, 'd', sizeof name);
  memcpy(name + sizeof name - 6, ".yaml", 6);
  assert_int_equal(laju_config_parse(&config, name, "x: 1", 4, why), -1);
  assert_non_null(strstr(why, "dddd.yaml:1:1: x: unknown key;"));
  assert_non_null(strstr(why, "resp_admin, rules"));
}

static void a_file_is_read_and_a_missing_one_is_named(void **state) {
  (void)state;
  char path[] = "/tmp/laju-config-XXXXXX", why[LAJU_WHY_SIZE];
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, "workers: 3\n", 11), 11);
  assert_int_equal(laju_config_load(&config, path, why), 0);
  assert_int_equal(config.workers, 3);
  close(fd);
  unlink(path);
  assert_int_equal(laju_config_load(&config, path, why), -1);
  assert_non_null(strstr(why, ": cannot be read: No such file or directory"));
  assert_int_equal(config.workers, 3);
  assert_int_equal(laju_config_load(&config, "/tmp", why), -1);
  assert_string_equal(why, "/tmp: cannot be read: Is a directory");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, init, deinit)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_key_is_read),
      TEST(an_empty_file_leaves_every_default),
      TEST(a_second_file_starts_from_the_defaults_again),
      TEST(an_unknown_key_is_named_with_its_place_and_the_nearest),
      TEST(an_unknown_algorithm_is_told_the_nearest),
      TEST(wrong_indentation_is_told_where_it_is),
      TEST(a_period_needs_its_unit_and_a_tick),
      TEST(a_burst_is_for_buckets),
      TEST(impossible_numbers_are_refused),
      TEST(sizes_are_within_their_range),
      TEST(logs_are_a_share_of_memory_or_a_size),
      TEST(wrong_types_are_refused),
      TEST(what_a_rule_needs_is_named),
      TEST(names_are_checked_and_stand_once),
      TEST(a_key_given_twice_is_refused),
      TEST(doors_are_addresses_or_off),
      TEST(a_password_is_never_empty_and_never_shown),
      TEST(proxies_are_networks_and_unix_sockets),
      TEST(a_thousand_proxies_are_taken_and_one_more_is_refused),
      TEST(prefixes_are_of_at_least_one_bit),
      TEST(headers_are_chosen),
      TEST(a_key_is_a_word),
      TEST(intervals_are_within_their_range),
      TEST(anchors_aliases_and_tags_are_refused),
      TEST(only_one_document_is_taken),
      TEST(broken_text_is_named_with_its_place),
      TEST(depth_is_bounded_by_the_shape),
      TEST(ten_thousand_rules_are_taken_and_one_more_is_refused),
      TEST(four_mebibytes_are_taken_and_one_byte_more_is_refused),
      TEST(a_long_file_name_keeps_its_end),
      TEST(a_file_is_read_and_a_missing_one_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
