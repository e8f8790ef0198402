#include "resp_door.h"

static door on;

static int open_door(void **state) {
  (void)state;
  door_open(&on);
  return 0;
}

static int close_door(void **state) {
  (void)state;
  door_close(&on);
  return 0;
}

/* ---- LAJU.CHECK and LAJU.PEEK ---- */

static void a_check_answers_six_integers(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.CHECK api k"), "*6 :1 :10 :9 :0 :1000 :0");
  assert_string_equal(door_ask(&on, "laju.check api k 3"), "*6 :1 :10 :6 :0 :4000 :0");
  assert_string_equal(door_ask(&on, "Laju.Check api other"), "*6 :1 :10 :9 :0 :1000 :0");
}

static void the_eleventh_of_ten_is_refused_and_told_to_wait_a_second(void **state) {
  (void)state;
  for (int i = 0; i < 10; i++) door_ask(&on, "LAJU.CHECK api k");
  assert_string_equal(door_ask(&on, "LAJU.CHECK api k"), "*6 :0 :10 :0 :1000 :10000 :0");
  on.now_us += 999999;
  assert_string_equal(door_ask(&on, "LAJU.CHECK api k"), "*6 :0 :10 :0 :1 :9001 :0");
  on.now_us += 1;
  assert_string_equal(door_ask(&on, "LAJU.CHECK api k"), "*6 :1 :10 :0 :0 :10000 :0");
}

static void a_cost_above_the_capacity_never_passes(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.CHECK api k 11"), "*6 :0 :10 :10 :-1 :0 :0");
  assert_string_equal(door_ask(&on, "LAJU.CHECK none k"), "*6 :0 :0 :0 :-1 :0 :0");
}

static void a_peek_takes_nothing(void **state) {
  (void)state;
  door_ask(&on, "LAJU.CHECK api k 4");
  assert_string_equal(door_ask(&on, "LAJU.PEEK api k"), "*6 :1 :10 :6 :0 :4000 :0");
  assert_string_equal(door_ask(&on, "LAJU.CHECK api k 0"), "*6 :1 :10 :6 :0 :4000 :0");
  assert_string_equal(door_ask(&on, "LAJU.CHECK api k"), "*6 :1 :10 :5 :0 :5000 :0");
}

static void a_rule_has_its_own_cost_where_none_is_told(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.CHECK pair k"), "*6 :1 :10 :8 :0 :2000 :0");
  assert_string_equal(door_ask(&on, "LAJU.CHECK pair k 1"), "*6 :1 :10 :7 :0 :3000 :0");
}

static void a_leaky_bucket_tells_the_delay(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.CHECK queue k"), "*6 :1 :10 :9 :0 :1000 :0");
  assert_string_equal(door_ask(&on, "LAJU.CHECK queue k"), "*6 :1 :10 :8 :0 :2000 :1000");
}

static void bad_arguments_are_named_and_cost_nothing(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.CHECK nope k"),
                      "-ERR rule 'nope': no such rule; it must be one of the configuration's");
  assert_string_equal(door_ask(&on, "LAJU.CHECK API k"),
                      "-ERR rule 'API': no such rule; it must be one of the configuration's");
  assert_string_equal(door_ask(&on, "LAJU.CHECK ap k"),
                      "-ERR rule 'ap': no such rule; it must be one of the configuration's");
  assert_string_equal(door_ask(&on, "LAJU.CHECK api "), "-ERR key '': 1 to 1024 bytes");
  assert_string_equal(door_ask(&on, "LAJU.PEEK api "), "-ERR key '': 1 to 1024 bytes");
  static const char *const costs[] = {"", "-1", "1.5", "x", "01", "+1", "4294967296", "99999999999999999999"};
  for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
    char words[64], reply[128];
    snprintf(words, sizeof words, "LAJU.CHECK api k %s", costs[i]);
    snprintf(reply, sizeof reply, "-ERR cost '%s': 0 to 4294967295", costs[i]);
    assert_string_equal(door_ask(&on, words), reply);
  }
  assert_string_equal(door_ask(&on, "LAJU.PEEK api k"), "*6 :1 :10 :10 :0 :0 :0");
}

static void what_a_client_sent_is_harmless_in_an_error(void **state) {
  (void)state;
  assert_string_equal(
      door_say(&on, "*3\r\n$10\r\nLAJU.CHECK\r\n$7\r\na\r\n'\\\x1b\xff\r\n$1\r\nk\r\n"),
      "-ERR rule 'a\\x0d\\x0a\\x27\\x5c\\x1b\\xff': no such rule; it must be one of the configuration's");
  char words[400], name[301] = "";
  memset(name, 'r', 300);
  snprintf(words, sizeof words, "LAJU.CHECK %s k", name);
  const char *reply = door_ask(&on, words);
  assert_non_null(strstr(reply, "rrr...': no such rule"));
  assert_true(strlen(reply) < 200);
}

static void a_zero_behind_a_name_makes_it_another_name(void **state) {
  (void)state;
  static const char both[] =
      "*3\r\n$9\r\nLAJU.PEEK\r\n$3\r\napi\r\n$1\r\nk\r\n"
      "*3\r\n$9\r\nLAJU.PEEK\r\n$4\r\napi\0\r\n$1\r\nk\r\n";
  laju_buffer_clear(&on.replies);
  door_feed(&on, both, sizeof both - 1);
  assert_string_equal(
      door_replies(&on),
      "*6 :1 :10 :10 :0 :0 :0 -ERR rule 'api\\x00': no such rule; it must be one of the configuration's");
  static const char command[] = "*3\r\n$10\r\nLAJU.PEEK\0\r\n$3\r\napi\r\n$1\r\nk\r\n";
  laju_buffer_clear(&on.replies);
  door_feed(&on, command, sizeof command - 1);
  assert_non_null(strstr(door_replies(&on), "-ERR unknown command 'LAJU.PEEK\\x00'"));
}

static void wrong_numbers_of_arguments_are_told_as_redis_tells_them(void **state) {
  (void)state;
  static const char *const words[] = {"LAJU.CHECK",        "LAJU.CHECK api",         "LAJU.CHECK api k 1 2",
                                      "LAJU.PEEK api",     "LAJU.PEEK api k 1",      "LAJU.ALL api k",
                                      "LAJU.MCHECK api 1", "LAJU.RESET api",         "LAJU.RESET api k 1",
                                      "CL.THROTTLE k 1 2", "CL.THROTTLE k 1 2 3 4 5"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    char name[32] = "", reply[128];
    for (size_t j = 0; words[i][j] != ' ' && words[i][j] != '\0'; j++) {
      name[j] = words[i][j] == '.' ? '.' : (char)(words[i][j] | 0x20);
    }
    snprintf(reply, sizeof reply, "-ERR wrong number of arguments for '%s' command", name);
    assert_string_equal(door_ask(&on, words[i]), reply);
  }
}

/* ---- LAJU.ALL ---- */

static void all_are_charged_together(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.ALL api k 3 queue k 1"),
                      "*13 :1 :1 :10 :7 :0 :3000 :0 :1 :10 :9 :0 :1000 :0");
  assert_string_equal(door_ask(&on, "LAJU.PEEK api k"), "*6 :1 :10 :7 :0 :3000 :0");
}

static void one_refusal_charges_none(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.ALL api k 3 none k 1"), "*13 :0 :1 :10 :7 :0 :3000 :0 :0 :0 :0 :-1 :0 :0");
  assert_string_equal(door_ask(&on, "LAJU.PEEK api k"), "*6 :1 :10 :10 :0 :0 :0");
}

static void repeats_in_one_request_are_decided_in_order(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.ALL api k 6 api k 6"),
                      "*13 :0 :1 :10 :4 :0 :6000 :0 :0 :10 :4 :2000 :6000 :0");
}

static void sixteen_checks_are_the_most_in_one_request(void **state) {
  (void)state;
  static const char eight[] = " api k 0 api k 0 api k 0 api k 0 api k 0 api k 0 api k 0 api k 0";
  char words[400];
  snprintf(words, sizeof words, "LAJU.ALL%s%s", eight, eight);
  assert_memory_equal(door_ask(&on, words), "*97 :1 :1 :10", 13);
  snprintf(words, sizeof words, "LAJU.ALL%s%s api k 0", eight, eight);
  assert_string_equal(door_ask(&on, words), "-ERR wrong number of arguments for 'laju.all' command");
}

static void a_bad_check_among_good_ones_charges_none(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.ALL api k 1 api k x"), "-ERR cost 'x': 0 to 4294967295");
  assert_string_equal(door_ask(&on, "LAJU.ALL api k 1 nope k 1"),
                      "-ERR rule 'nope': no such rule; it must be one of the configuration's");
  assert_string_equal(door_ask(&on, "LAJU.ALL api k 1 api  1"), "-ERR key '': 1 to 1024 bytes");
  assert_string_equal(door_ask(&on, "LAJU.ALL api k 1 api"),
                      "-ERR wrong number of arguments for 'laju.all' command: rule, key and cost for each check");
  assert_string_equal(door_ask(&on, "LAJU.PEEK api k"), "*6 :1 :10 :10 :0 :0 :0");
}

static void a_rule_in_shadow_refuses_nothing(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.CHECK ghost k"), "*6 :1 :1 :0 :0 :10000 :0");
  assert_string_equal(door_ask(&on, "LAJU.CHECK ghost k"), "*6 :1 :1 :0 :0 :10000 :0");
  assert_string_equal(door_ask(&on, "LAJU.CHECK ghost k 2"), "*6 :1 :1 :0 :0 :10000 :0"); /* "never" else */
  assert_string_equal(door_ask(&on, "LAJU.ALL ghost k 1 api k 3"),
                      "*13 :1 :1 :1 :0 :0 :10000 :0 :1 :10 :7 :0 :3000 :0");
  assert_string_equal(door_ask(&on, "LAJU.MCHECK ghost 1 k j k"), "*3 :0 :0 :0");
}

/* ---- LAJU.MCHECK ---- */

static void many_keys_are_answered_with_one_integer_each(void **state) {
  (void)state;
  door_ask(&on, "LAJU.CHECK api b 9");
  on.now_us += 500;
  assert_string_equal(door_ask(&on, "LAJU.MCHECK api 2 a b a"), "*3 :8 :-1000 :6");
  on.now_us += 999499; /* a microsecond is left: still a whole millisecond, never none */
  assert_string_equal(door_ask(&on, "LAJU.MCHECK api 2 b"), "*1 :-1");
  on.now_us += 1;
  assert_string_equal(door_ask(&on, "LAJU.MCHECK api 2 b"), "*1 :0");
}

static void nil_where_waiting_cannot_help_in_either_protocol(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.MCHECK none 1 a b"), "*2 $-1 $-1");
  door_ask(&on, "HELLO 3");
  assert_string_equal(door_ask(&on, "LAJU.MCHECK none 1 a b"), "*2 _ _");
}

static void a_pipelined_hello_changes_what_follows_it_only(void **state) {
  (void)state;
  const char *reply = door_pipeline(&on, "LAJU.MCHECK none 1 a\nHELLO 3\nLAJU.MCHECK none 1 a");
  assert_memory_equal(reply, "*1 $-1 %7 $6 server", 19);
  assert_string_equal(reply + strlen(reply) - 4, "*1 _");
}

static void a_thousand_keys_are_the_most_in_one_call(void **state) {
  (void)state;
  laju_buffer words = {0};
  laju_buffer_add_text(&words, "LAJU.MCHECK api 1");
  for (int i = 0; i < 1000; i++) laju_buffer_add_format(&words, " key%d", i);
  laju_buffer_add(&words, "", 1);
  assert_memory_equal(door_ask(&on, words.data), "*1000 :9 :9", 11);
  words.len--;
  laju_buffer_add_text(&words, " key0");
  laju_buffer_add(&words, "", 1);
  assert_string_equal(door_ask(&on, words.data),
                      "-ERR wrong number of arguments for 'laju.mcheck' command: 1004, at most 1003 are allowed");
  assert_string_equal(door_ask(&on, "LAJU.PEEK api key0"), "*6 :1 :10 :9 :0 :1000 :0");
  laju_buffer_deinit(&words);
}

static void a_bad_key_among_many_charges_none(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "LAJU.MCHECK api 1 a  b"), "-ERR key '': 1 to 1024 bytes");
  assert_string_equal(door_ask(&on, "LAJU.MCHECK api -1 a"), "-ERR cost '-1': 0 to 4294967295");
  assert_string_equal(door_ask(&on, "LAJU.PEEK api a"), "*6 :1 :10 :10 :0 :0 :0");
}

static void a_refused_list_between_others_of_a_pipeline_charges_nothing(void **state) {
  (void)state;
  static const char refused[] = "-ERR key '': 1 to 1024 bytes";
  char expected[200];
  snprintf(expected, sizeof expected, "*6 :1 :10 :9 :0 :1000 :0 %s %s *6 :1 :10 :8 :0 :2000 :0", refused, refused);
  assert_string_equal(
      door_pipeline(&on, "LAJU.CHECK api k\nLAJU.ALL api k 4 api  1\nLAJU.MCHECK api 3 k \nLAJU.CHECK api k"),
      expected);
}

/* ---- LAJU.RESET ---- */

static void a_reset_needs_a_password_set_or_the_operators_word(void **state) {
  (void)state;
  const char *refused = "-NOPERM 'laju.reset' needs a password set (resp_password) or resp_admin: true";
  assert_string_equal(door_ask(&on, "LAJU.RESET api k"), refused);
  on.terms.resp_admin = true;
  assert_string_equal(door_ask(&on, "LAJU.RESET api k"), ":0");
  on.terms.resp_admin = false;
  on.terms.resp_password = "sesame";
  door_reconnect(&on);
  door_ask(&on, "AUTH sesame");
  assert_string_equal(door_ask(&on, "LAJU.RESET api k"), ":0");
}

static void a_reset_key_is_as_good_as_new(void **state) {
  (void)state;
  on.terms.resp_admin = true;
  door_ask(&on, "LAJU.CHECK api k 10");
  assert_string_equal(door_pipeline(&on, "LAJU.RESET api k\nLAJU.PEEK api k\nLAJU.RESET api k"),
                      ":1 *6 :1 :10 :10 :0 :0 :0 :0");
  assert_string_equal(door_ask(&on, "LAJU.RESET nope k"),
                      "-ERR rule 'nope': no such rule; it must be one of the configuration's");
}

/* ---- CL.THROTTLE ---- */

static void throttle_answers_as_redis_cell_does(void **state) {
  (void)state;
  /* 3 at once, 30 in 60 s: one each 2 s */
  assert_string_equal(door_ask(&on, "CL.THROTTLE u 2 30 60"), "*5 :0 :3 :2 :-1 :2");
  assert_string_equal(door_ask(&on, "cl.throttle u 2 30 60 1"), "*5 :0 :3 :1 :-1 :4");
  assert_string_equal(door_ask(&on, "CL.THROTTLE u 2 30 60"), "*5 :0 :3 :0 :-1 :6");
  assert_string_equal(door_ask(&on, "CL.THROTTLE u 2 30 60"), "*5 :1 :3 :0 :2 :6");
  on.now_us += 500000; /* 1.5 s and 5.5 s are told as 2 and 6 */
  assert_string_equal(door_ask(&on, "CL.THROTTLE u 2 30 60"), "*5 :1 :3 :0 :2 :6");
}

static void a_quantity_of_none_peeks_and_one_too_large_never_passes(void **state) {
  (void)state;
  door_ask(&on, "CL.THROTTLE u 2 30 60 2");
  assert_string_equal(door_ask(&on, "CL.THROTTLE u 2 30 60 0"), "*5 :0 :3 :1 :-1 :4");
  assert_string_equal(door_ask(&on, "CL.THROTTLE u 2 30 60 4"), "*5 :1 :3 :1 :-1 :4");
  assert_string_equal(door_ask(&on, "CL.THROTTLE u 2 30 60 2"), "*5 :1 :3 :1 :2 :4");
}

static void no_burst_leaves_one_at_a_time(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "CL.THROTTLE u 0 1 1"), "*5 :0 :1 :0 :-1 :1");
  assert_string_equal(door_ask(&on, "CL.THROTTLE u 0 1 1"), "*5 :1 :1 :0 :1 :1");
}

static void throttles_of_different_limits_in_one_pipeline_do_not_mix(void **state) {
  (void)state;
  assert_string_equal(door_pipeline(&on,
                                    "CL.THROTTLE a 1 1 10\nCL.THROTTLE b 2 1 10\nCL.THROTTLE c 2 2 10\n"
                                    "CL.THROTTLE d 2 2 20\nCL.THROTTLE e 1 1 10\nCL.THROTTLE f 1 1 10"),
                      "*5 :0 :2 :1 :-1 :10 *5 :0 :3 :2 :-1 :10 *5 :0 :3 :2 :-1 :5 *5 :0 :3 :2 :-1 :10 "
                      "*5 :0 :2 :1 :-1 :10 *5 :0 :2 :1 :-1 :10");
}

static void throttle_keys_are_apart_from_rules_keys(void **state) {
  (void)state;
  door_ask(&on, "LAJU.CHECK api u 10");
  assert_string_equal(door_ask(&on, "CL.THROTTLE u 9 10 10"), "*5 :0 :10 :9 :-1 :1");
}

static void a_throttle_that_the_store_cannot_decide_is_refused(void **state) {
  (void)state;
  on.terms.default_mode = LAJU_EXACT;
  on.terms.exact_algorithms = 1 << LAJU_FIXED_WINDOW;
  assert_string_equal(door_say(&on, "CL.THROTTLE k 4 5 60\r\n"),
                      "-ERR CL.THROTTLE is a token bucket, which the shared store cannot decide without scripts");
  on.terms.exact_algorithms = 1 << LAJU_TOKEN_BUCKET;
  assert_string_equal(door_say(&on, "CL.THROTTLE k 4 5 60\r\n"), "*5 :0 :5 :4 :-1 :12");
  on.terms.default_mode = LAJU_EMBEDDED;
}

static void bad_throttle_arguments_are_named(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"CL.THROTTLE  1 1 1", "-ERR key '': 1 to 1024 bytes"},
      {"CL.THROTTLE u -1 1 1", "-ERR max_burst '-1': 0 to 4294967294"},
      {"CL.THROTTLE u 4294967295 1 1", "-ERR max_burst '4294967295': 0 to 4294967294"},
      {"CL.THROTTLE u 1 0 1", "-ERR count '0': 1 to 4294967295"},
      {"CL.THROTTLE u 1 -5 1", "-ERR count '-5': 1 to 4294967295"},
      {"CL.THROTTLE u 1 x 1", "-ERR count 'x': 1 to 4294967295"},
      {"CL.THROTTLE u 1 1 0", "-ERR period '0': 1 to 31622400 seconds"},
      {"CL.THROTTLE u 1 1 -1", "-ERR period '-1': 1 to 31622400 seconds"},
      {"CL.THROTTLE u 1 1 31622401", "-ERR period '31622401': 1 to 31622400 seconds"},
      {"CL.THROTTLE u 1 1 1048577",
       "-ERR period '1048577': it cannot be counted in whole ticks; the nearest that can is "
       "1048576"},
      {"CL.THROTTLE u 1 1 1 -1", "-ERR quantity '-1': 0 to 4294967295"},
      {"CL.THROTTLE u 4294967294 4294967295 31622400 1", "*5 :0 :4294967295 :4294967294 :-1 :100"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_string_equal(door_ask(&on, cases[i][0]), cases[i][1]);
}

#define DOOR_TEST(name) cmocka_unit_test_setup_teardown(name, open_door, close_door)

int main(void) {
  const struct CMUnitTest tests[] = {
      DOOR_TEST(a_check_answers_six_integers),
      DOOR_TEST(the_eleventh_of_ten_is_refused_and_told_to_wait_a_second),
      DOOR_TEST(a_cost_above_the_capacity_never_passes),
      DOOR_TEST(a_peek_takes_nothing),
      DOOR_TEST(a_rule_has_its_own_cost_where_none_is_told),
      DOOR_TEST(a_leaky_bucket_tells_the_delay),
      DOOR_TEST(bad_arguments_are_named_and_cost_nothing),
      DOOR_TEST(what_a_client_sent_is_harmless_in_an_error),
      DOOR_TEST(a_zero_behind_a_name_makes_it_another_name),
      DOOR_TEST(wrong_numbers_of_arguments_are_told_as_redis_tells_them),
      DOOR_TEST(all_are_charged_together),
      DOOR_TEST(one_refusal_charges_none),
      DOOR_TEST(repeats_in_one_request_are_decided_in_order),
      DOOR_TEST(sixteen_checks_are_the_most_in_one_request),
      DOOR_TEST(a_bad_check_among_good_ones_charges_none),
      DOOR_TEST(a_rule_in_shadow_refuses_nothing),
      DOOR_TEST(many_keys_are_answered_with_one_integer_each),
      DOOR_TEST(nil_where_waiting_cannot_help_in_either_protocol),
      DOOR_TEST(a_pipelined_hello_changes_what_follows_it_only),
      DOOR_TEST(a_thousand_keys_are_the_most_in_one_call),
      DOOR_TEST(a_bad_key_among_many_charges_none),
      DOOR_TEST(a_refused_list_between_others_of_a_pipeline_charges_nothing),
      DOOR_TEST(a_reset_needs_a_password_set_or_the_operators_word),
      DOOR_TEST(a_reset_key_is_as_good_as_new),
      DOOR_TEST(throttle_answers_as_redis_cell_does),
      DOOR_TEST(a_quantity_of_none_peeks_and_one_too_large_never_passes),
      DOOR_TEST(no_burst_leaves_one_at_a_time),
      DOOR_TEST(throttles_of_different_limits_in_one_pipeline_do_not_mix),
      DOOR_TEST(throttle_keys_are_apart_from_rules_keys),
      DOOR_TEST(a_throttle_that_the_store_cannot_decide_is_refused),
      DOOR_TEST(bad_throttle_arguments_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
