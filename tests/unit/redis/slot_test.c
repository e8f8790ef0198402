#include "redis/slot.h"

#include "redis/reply.h"

static uint16_t slot_of(const char *name) {
  return laju_slot_of(name, strlen(name));
}

/* The checksum's published check value, and what CLUSTER KEYSLOT answers. */
static void names_have_the_slots_that_redis_gives_them(void **unused) {
  (void)unused;
  assert_int_equal(slot_of("123456789"), 0x31c3);
  assert_int_equal(slot_of(""), 0);
  assert_int_equal(slot_of("foo"), 12182);
  assert_int_equal(slot_of("bar"), 5061);
  assert_int_equal(slot_of("laju:{user:42}:login:token-bucket:60000000"), slot_of("user:42"));
}

static void a_hash_tag_alone_decides(void **unused) {
  (void)unused;
  assert_int_equal(slot_of("foo{bar}baz"), slot_of("bar"));
  assert_int_equal(slot_of("{bar}"), slot_of("bar"));
  assert_int_equal(slot_of("foo{bar}{zap}"), slot_of("bar"));
  assert_int_equal(slot_of("foo{{bar}}zap"), slot_of("{bar"));
}

/* Without one, the whole name counts. */
static void empty_or_open_braces_are_no_tag(void **unused) {
  (void)unused;
  assert_int_equal(slot_of("foo{}{bar}"), 8363);
  assert_int_equal(slot_of("foo{bar"), 15278);
  assert_int_equal(slot_of("foo}bar{"), 11073);
  assert_int_equal(slot_of("{}"), 15257);
}

static void a_name_of_any_bytes_has_a_slot(void **unused) {
  (void)unused;
  char bytes[512];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 7);
  for (size_t len = 0; len < sizeof bytes; len++) assert_in_range(laju_slot_of(bytes, len), 0, LAJU_SLOTS - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_have_the_slots_that_redis_gives_them),
      cmocka_unit_test(a_hash_tag_alone_decides),
      cmocka_unit_test(empty_or_open_braces_are_no_tag),
      cmocka_unit_test(a_name_of_any_bytes_has_a_slot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
