#include "redis/slot_map.h"

#include "redis/reply.h"

static const laju_store_place asked = {.host = "seed.local", .port = 7000};
static laju_slot_map map;

static int fresh(void **unused) {
  (void)unused;
  laju_slot_map_init(&map);
  return 0;
}

static int over(void **unused) {
  (void)unused;
  laju_slot_map_deinit(&map);
  return 0;
}

static int read_map(const char *bytes, bool tls) {
  redisReply *reply = reply_of(bytes);
  laju_slot_map read;
  int rc = laju_slot_map_read(&read, reply, &asked, tls);
  freeReplyObject(reply);
  if (rc < 0) return rc;
  laju_slot_map_deinit(&map);
  map = read;
  return rc;
}

static void assert_served(uint16_t slot, const char *host, uint16_t port) {
  assert_in_range(map.of[slot], 0, map.count - 1);
  assert_string_equal(map.places[map.of[slot]].host, host);
  assert_int_equal(map.places[map.of[slot]].port, port);
}

static void assert_nobody(uint16_t slot) {
  assert_int_equal(map.of[slot], LAJU_SLOT_NOBODY);
}

/* A node as CLUSTER SHARDS tells it: `endpoint` as RESP. */
#define NODE(PORT, TLS, IP, ENDPOINT, ROLE, HEALTH)                                                               \
  "*14\r\n+id\r\n+abc\r\n+port\r\n:" PORT "\r\n+tls-port\r\n:" TLS "\r\n+ip\r\n+" IP "\r\n+endpoint\r\n" ENDPOINT \
  "+role\r\n+" ROLE "\r\n+health\r\n+" HEALTH "\r\n"

static void shards_tell_ranges_and_their_primary(void **unused) {
  (void)unused;
  assert_int_equal(read_map("*2\r\n"
                            "*4\r\n+slots\r\n*4\r\n:0\r\n:99\r\n:200\r\n:200\r\n+nodes\r\n*2\r\n" //
                            NODE("7003", "8003", "10.0.0.3", "+10.0.0.3\r\n", "replica", "online")
                                NODE("7000", "8000", "10.0.0.1", "+10.0.0.1\r\n", "master",
                                     "online") "*4\r\n+slots\r\n*2\r\n:100\r\n:199\r\n+nodes\r\n*1\r\n" //
                            NODE("7001", "8001", "10.0.0.2", "+redis-2\r\n", "master", "online"),
                            false),
                   0);
  assert_int_equal(map.count, 2);
  assert_served(0, "10.0.0.1", 7000);
  assert_served(99, "10.0.0.1", 7000);
  assert_served(100, "redis-2", 7001);
  assert_served(199, "redis-2", 7001);
  assert_served(200, "10.0.0.1", 7000);
  assert_nobody(201);
  assert_nobody(LAJU_SLOTS - 1);
}

static void with_tls_the_other_port_is_meant(void **unused) {
  (void)unused;
  assert_int_equal(read_map("*1\r\n*4\r\n+slots\r\n*2\r\n:0\r\n:16383\r\n+nodes\r\n*1\r\n" //
                            NODE("7001", "8001", "10.0.0.2", "+redis-2\r\n", "master", "online"),
                            true),
                   0);
  assert_served(16383, "redis-2", 8001);
}

static void of_two_primaries_the_one_that_is_well_serves(void **unused) {
  (void)unused;
  assert_int_equal(read_map("*1\r\n*4\r\n+slots\r\n*2\r\n:0\r\n:16383\r\n+nodes\r\n*2\r\n" //
                            NODE("7000", "8000", "10.0.0.1", "+10.0.0.1\r\n", "master", "fail")
                                NODE("7003", "8003", "10.0.0.4", "+10.0.0.4\r\n", "master", "online"),
                            false),
                   0);
  assert_served(5, "10.0.0.4", 7003);
}

static void a_shard_without_slots_or_primary_serves_nothing(void **unused) {
  (void)unused;
  assert_int_equal(read_map("*3\r\n"
                            "*4\r\n+slots\r\n*0\r\n+nodes\r\n*1\r\n" //
                            NODE("7000", "8000", "10.0.0.1", "+10.0.0.1\r\n", "master",
                                 "fail") "*4\r\n+slots\r\n*2\r\n:0\r\n:9\r\n+nodes\r\n*1\r\n" //
                            NODE("7001", "8001", "10.0.0.2", "+10.0.0.2\r\n", "replica",
                                 "online") "*4\r\n+slots\r\n*2\r\n:10\r\n:19\r\n+nodes\r\n*1\r\n" //
                            NODE("7002", "8002", "10.0.0.3", "+10.0.0.3\r\n", "master", "online"),
                            false),
                   0);
  assert_int_equal(map.count, 1);
  assert_nobody(0);
  assert_served(10, "10.0.0.3", 7002);
}

static void a_host_that_is_not_told_is_the_one_that_was_asked(void **unused) {
  (void)unused;
  static const char *const hosts[] = {"$-1\r\n", "$0\r\n\r\n"};
  for (size_t i = 0; i < 2; i++) {
    char bytes[512];
    snprintf(bytes, sizeof bytes, "*1\r\n*3\r\n:0\r\n:10\r\n*3\r\n%s:7004\r\n+id\r\n", hosts[i]);
    assert_int_equal(read_map(bytes, false), 0);
    assert_served(10, "seed.local", 7004);
  }
  assert_int_equal(read_map("*1\r\n*4\r\n+slots\r\n*2\r\n:0\r\n:16383\r\n+nodes\r\n*1\r\n" //
                            NODE("7001", "8001", "10.0.0.2", "$-1\r\n", "master", "online"),
                            false),
                   0);
  assert_served(0, "seed.local", 7001);
}

static void a_host_whose_name_is_unknown_has_its_address(void **unused) {
  (void)unused;
  assert_int_equal(read_map("*1\r\n*4\r\n+slots\r\n*2\r\n:0\r\n:16383\r\n+nodes\r\n*1\r\n" //
                            NODE("7001", "8001", "10.0.0.2", "+?\r\n", "master", "online"),
                            false),
                   0);
  assert_served(0, "10.0.0.2", 7001);
  assert_int_equal(read_map("*1\r\n*3\r\n:0\r\n:1\r\n*4\r\n+?\r\n:7004\r\n+id\r\n*2\r\n+ip\r\n+::1\r\n", false), 0);
  assert_served(0, "::1", 7004);
  assert_int_equal(read_map("*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n+?\r\n:7004\r\n+id\r\n", false), -1);
}

static void slots_tell_one_range_after_another(void **unused) {
  (void)unused;
  assert_int_equal(read_map("*3\r\n"
                            "*4\r\n:0\r\n:5460\r\n*3\r\n+10.0.0.1\r\n:7000\r\n+a\r\n*3\r\n+10.0.0.4\r\n:7003\r\n+b\r\n"
                            "*3\r\n:5461\r\n:10922\r\n*4\r\n+10.0.0.2\r\n:7001\r\n+c\r\n*0\r\n"
                            "*3\r\n:10923\r\n:16383\r\n*2\r\n+10.0.0.1\r\n:7000\r\n",
                            false),
                   0);
  assert_int_equal(map.count, 2);
  assert_served(5460, "10.0.0.1", 7000);
  assert_served(5461, "10.0.0.2", 7001);
  assert_served(16383, "10.0.0.1", 7000);
}

static void what_is_no_map_leaves_the_old_one(void **unused) {
  (void)unused;
  static const char *const replies[] = {
      "-ERR This instance has cluster support disabled\r\n",
      "$-1\r\n",
      "*-1\r\n",
      "*0\r\n",
      ":1\r\n",
      "*1\r\n:1\r\n",
      "*1\r\n*0\r\n",
      "*1\r\n*2\r\n:0\r\n:1\r\n",
      "*1\r\n*3\r\n:0\r\n:1\r\n+x\r\n",
      "*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n+h\r\n",
      "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n+h\r\n:1\r\n",
      "*1\r\n*3\r\n:-1\r\n:1\r\n*2\r\n+h\r\n:1\r\n",
      "*1\r\n*3\r\n:2\r\n:1\r\n*2\r\n+h\r\n:1\r\n",
      "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n+h\r\n:0\r\n",
      "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n+h\r\n:65536\r\n",
      "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n+h h\r\n:1\r\n",
      "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n:7\r\n:1\r\n",
      "*1\r\n*2\r\n+slots\r\n*2\r\n:0\r\n:1\r\n",
      "*1\r\n*4\r\n+slots\r\n*1\r\n:0\r\n+nodes\r\n*0\r\n",
      "*1\r\n*4\r\n+slots\r\n+x\r\n+nodes\r\n*0\r\n",
      "*1\r\n*4\r\n+slots\r\n*2\r\n:0\r\n:1\r\n+nodes\r\n*0\r\n",
      "*1\r\n*4\r\n+slots\r\n*2\r\n:0\r\n:1\r\n+nodes\r\n+x\r\n",
      "*1\r\n*4\r\n+slots\r\n*2\r\n:0\r\n:1\r\n+nodes\r\n*1\r\n*2\r\n+role\r\n+master\r\n",
      "*1\r\n*4\r\n+slots\r\n*2\r\n:0\r\n+1\r\n+nodes\r\n*1\r\n*4\r\n+role\r\n+master\r\n+port\r\n:1\r\n",
  };
  laju_slot_map_move(&map, 9, &asked);
  for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++) {
    assert_int_equal(read_map(replies[i], false), -1);
    assert_served(9, "seed.local", 7000);
  }
}

static void a_slot_can_move_alone(void **unused) {
  (void)unused;
  assert_int_equal(read_map("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n+a\r\n:7000\r\n", false), 0);
  assert_int_equal(laju_slot_map_move(&map, 77, &(laju_store_place){.host = "b", .port = 7000}), 1);
  assert_int_equal(laju_slot_map_move(&map, 78, &(laju_store_place){.host = "b", .port = 7000}), 1);
  assert_int_equal(laju_slot_map_move(&map, 79, &(laju_store_place){.host = "a", .port = 7000}), 0);
  assert_served(76, "a", 7000);
  assert_served(77, "b", 7000);
  assert_served(78, "b", 7000);
  assert_served(79, "a", 7000);
}

static void maps_are_equal_where_the_same_serve_the_same(void **unused) {
  (void)unused;
  static const laju_store_place a = {.host = "a", .port = 1}, b = {.host = "b", .port = 1};
  laju_slot_map other;
  laju_slot_map_init(&other);
  assert_true(laju_slot_map_equal(&map, &other));
  laju_slot_map_move(&map, 1, &a);
  assert_false(laju_slot_map_equal(&map, &other));
  assert_false(laju_slot_map_equal(&other, &map));
  laju_slot_map_move(&other, 2, &b);
  laju_slot_map_move(&other, 1, &a);
  laju_slot_map_move(&map, 2, &b);
  assert_true(laju_slot_map_equal(&map, &other)); /* told in another order */
  laju_slot_map_move(&other, 2, &a);
  assert_false(laju_slot_map_equal(&map, &other));
  laju_slot_map_deinit(&other);
}

static void there_are_at_most_a_thousand_places(void **unused) {
  (void)unused;
  laju_store_place place = {.host = "h"};
  for (uint16_t i = 0; i < LAJU_SLOT_PLACES_MAX; i++) {
    place.port = (uint16_t)(i + 1);
    assert_int_equal(laju_slot_map_move(&map, i, &place), i);
  }
  place.port = LAJU_SLOT_PLACES_MAX + 1;
  assert_int_equal(laju_slot_map_move(&map, 0, &place), -1);
  assert_served(0, "h", 1);
  place.port = 1;
  assert_int_equal(laju_slot_map_move(&map, 1, &place), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(shards_tell_ranges_and_their_primary, fresh, over),
      cmocka_unit_test_setup_teardown(with_tls_the_other_port_is_meant, fresh, over),
      cmocka_unit_test_setup_teardown(of_two_primaries_the_one_that_is_well_serves, fresh, over),
      cmocka_unit_test_setup_teardown(a_shard_without_slots_or_primary_serves_nothing, fresh, over),
      cmocka_unit_test_setup_teardown(a_host_that_is_not_told_is_the_one_that_was_asked, fresh, over),
      cmocka_unit_test_setup_teardown(a_host_whose_name_is_unknown_has_its_address, fresh, over),
      cmocka_unit_test_setup_teardown(slots_tell_one_range_after_another, fresh, over),
      cmocka_unit_test_setup_teardown(what_is_no_map_leaves_the_old_one, fresh, over),
      cmocka_unit_test_setup_teardown(a_slot_can_move_alone, fresh, over),
      cmocka_unit_test_setup_teardown(maps_are_equal_where_the_same_serve_the_same, fresh, over),
      cmocka_unit_test_setup_teardown(there_are_at_most_a_thousand_places, fresh, over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
