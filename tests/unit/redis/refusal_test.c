#include "redis/refusal.h"

#include "redis/reply.h"

static laju_refusal refusal_of(const char *text) {
  laju_refusal refusal;
  laju_refusal_read(text, strlen(text), &refusal);
  return refusal;
}

static void assert_place(laju_refusal refusal, laju_refusal_kind kind, uint16_t slot, const char *host, uint16_t port) {
  assert_int_equal(refusal.kind, kind);
  assert_int_equal(refusal.slot, slot);
  assert_string_equal(refusal.to.host, host);
  assert_int_equal(refusal.to.port, port);
}

static void moved_and_ask_name_a_slot_and_a_place(void **unused) {
  (void)unused;
  assert_place(refusal_of("MOVED 3999 127.0.0.1:6381"), LAJU_REFUSAL_MOVED, 3999, "127.0.0.1", 6381);
  assert_place(refusal_of("ASK 0 redis-2.svc.local:65535"), LAJU_REFUSAL_ASK, 0, "redis-2.svc.local", 65535);
}

static void an_ipv6_place_ends_at_its_last_colon(void **unused) {
  (void)unused;
  assert_place(refusal_of("MOVED 16383 ::1:7000"), LAJU_REFUSAL_MOVED, 16383, "::1", 7000);
  assert_place(refusal_of("MOVED 1 fe80::1%eth0:1"), LAJU_REFUSAL_MOVED, 1, "fe80::1%eth0", 1);
}

static void an_empty_host_is_who_said_so(void **unused) {
  (void)unused;
  assert_place(refusal_of("MOVED 7 :7001"), LAJU_REFUSAL_MOVED, 7, "", 7001);
}

static void other_words_are_told_by_their_first(void **unused) {
  (void)unused;
  assert_int_equal(refusal_of("TRYAGAIN Multiple keys request during rehashing of slot").kind, LAJU_REFUSAL_TRYAGAIN);
  assert_int_equal(refusal_of("CLUSTERDOWN Hash slot not served").kind, LAJU_REFUSAL_DOWN);
  assert_int_equal(refusal_of("MASTERDOWN Link with MASTER is down").kind, LAJU_REFUSAL_DOWN);
  assert_int_equal(refusal_of("READONLY You can't write against a read only replica.").kind, LAJU_REFUSAL_READONLY);
  assert_int_equal(refusal_of("LOADING").kind, LAJU_REFUSAL_LOADING);
  assert_int_equal(refusal_of("CROSSSLOT Keys in request don't hash to the same slot").kind, LAJU_REFUSAL_NONE);
  assert_int_equal(refusal_of("ERR unknown command").kind, LAJU_REFUSAL_NONE);
  assert_int_equal(refusal_of("").kind, LAJU_REFUSAL_NONE);
}

static void what_is_half_a_redirection_is_none(void **unused) {
  (void)unused;
  static const char *const texts[] = {
      "MOVED",         "MOVED 1",          "MOVED 16384 h:1", "MOVED -1 h:1",   "MOVED 1 h",
      "MOVED 1 h:",    "MOVED 1 h:0",      "MOVED 1 h:65536", "MOVED 1 h:1 ",   "MOVED 1 h:000001",
      "MOVED 1 a b:1", "MOVED  1 h:1",     "MOVED 1 ?:6379",  "ASK x h:1",      "MOVED 1 h:1x",
      "moved 1 h:1",   "MOVED 000001 h:1", "MOVED1 h:1",      "ASK 1 h/../x:1",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    assert_place(refusal_of(texts[i]), LAJU_REFUSAL_NONE, 0, "", 0);
  }
}

static void a_host_of_255_bytes_is_the_longest(void **unused) {
  (void)unused;
  char text[300];
  for (size_t len = LAJU_STORE_HOST_MAX; len <= LAJU_STORE_HOST_MAX + 1; len++) {
    int head = snprintf(text, sizeof text, "MOVED 5 ");
    memset(text + head, 'h', len);
    snprintf(text + head + len, sizeof text - (size_t)head - len, ":7000");
    laju_refusal refusal = refusal_of(text);
    assert_int_equal(refusal.kind, len <= LAJU_STORE_HOST_MAX ? LAJU_REFUSAL_MOVED : LAJU_REFUSAL_NONE);
    assert_int_equal(strlen(refusal.to.host), len <= LAJU_STORE_HOST_MAX ? len : 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moved_and_ask_name_a_slot_and_a_place), cmocka_unit_test(an_ipv6_place_ends_at_its_last_colon),
      cmocka_unit_test(an_empty_host_is_who_said_so),          cmocka_unit_test(other_words_are_told_by_their_first),
      cmocka_unit_test(what_is_half_a_redirection_is_none),    cmocka_unit_test(a_host_of_255_bytes_is_the_longest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
