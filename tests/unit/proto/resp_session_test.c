#include "resp_door.h"

static door on;

static int open_door(void **state) {
  (void)state;
  door_open(&on);
  return 0;
}

static int open_locked_door(void **state) {
  (void)state;
  door_open(&on);
  on.terms.resp_password = "sesame";
  door_reconnect(&on);
  return 0;
}

static int close_door(void **state) {
  (void)state;
  door_close(&on);
  return 0;
}

#define NOAUTH "-NOAUTH Authentication required."
#define WRONGPASS "-WRONGPASS invalid username-password pair or user is disabled."

/* ---- small talk ---- */

static void ping_and_echo_answer(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "PING"), "+PONG");
  assert_string_equal(door_ask(&on, "ping hello"), "$5 hello");
  assert_string_equal(door_ask(&on, "PING a b"), "-ERR wrong number of arguments for 'ping' command");
  assert_string_equal(door_ask(&on, "ECHO hello"), "$5 hello");
  assert_string_equal(door_ask(&on, "ECHO "), "$0 ");
  assert_string_equal(door_ask(&on, "ECHO"), "-ERR wrong number of arguments for 'echo' command");
  laju_buffer_clear(&on.replies);
  door_feed(&on, "*2\r\n$4\r\nECHO\r\n$5\r\n\0\r\n\xff!\r\n", 25);
  assert_memory_equal(on.replies.data, "$5\r\n\0\r\n\xff!\r\n", 11);
}

static void there_is_one_database(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "SELECT 0"), "+OK");
  assert_string_equal(door_ask(&on, "SELECT 1"), "-ERR DB index is out of range");
  assert_string_equal(door_ask(&on, "SELECT -1"), "-ERR DB index is out of range");
  assert_string_equal(door_ask(&on, "SELECT x"), "-ERR value is not an integer or out of range");
  assert_string_equal(door_ask(&on, "SELECT "), "-ERR value is not an integer or out of range");
}

static void quit_is_answered_and_ends_the_connection(void **state) {
  (void)state;
  assert_string_equal(door_say(&on, "PING\r\nQUIT\r\nPING\r\n"), "+PONG +OK");
  assert_true(on.closed);
}

static void an_unknown_command_is_named_with_its_first_arguments(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "GET key"), "-ERR unknown command 'GET', with args beginning with: 'key' ");
  assert_string_equal(door_ask(&on, "FOO"), "-ERR unknown command 'FOO', with args beginning with: ");
  assert_string_equal(door_ask(&on, "FOO a b c d"),
                      "-ERR unknown command 'FOO', with args beginning with: 'a' 'b' 'c' ");
  assert_string_equal(door_say(&on, "\"\\n\" \"\\r\"\r\n"),
                      "-ERR unknown command '\\x0a', with args beginning with: '\\x0d' ");
  assert_string_equal(door_say(&on,
                               "LAJU\x0e"
                               "CHECK api k\r\n"),
                      "-ERR unknown command 'LAJU\\x0eCHECK', with args beginning with: 'api' 'k' ");
  assert_string_equal(door_ask(&on, ""), "-ERR unknown command '', with args beginning with: ");
  assert_string_equal(door_ask(&on, "PING"), "+PONG");
}

/* ---- AUTH and HELLO ---- */

static void nothing_is_answered_before_the_password(void **state) {
  (void)state;
  static const char *const words[] = {
      "PING",      "LAJU.CHECK api k", "CL.THROTTLE u 1 1 1", "INFO",       "COMMAND",
      "CLIENT ID", "SELECT 0",         "LAJU.RESET api k",    "ECHO hello", "LAJU.MCHECK api 1 k"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) assert_string_equal(door_ask(&on, words[i]), NOAUTH);
  assert_string_equal(door_ask(&on, "AUTH sesam"), WRONGPASS);
  assert_string_equal(door_ask(&on, "AUTH sesame2"), WRONGPASS);
  assert_string_equal(door_ask(&on, "AUTH "), WRONGPASS);
  assert_string_equal(door_ask(&on, "AUTH admin sesame"), WRONGPASS);
  assert_string_equal(door_ask(&on, "PING"), NOAUTH);
  assert_string_equal(door_ask(&on, "AUTH sesame"), "+OK");
  assert_string_equal(door_ask(&on, "LAJU.PEEK api k"), "*6 :1 :10 :10 :0 :0 :0");
}

static void the_default_user_may_be_named(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "AUTH default sesame"), "+OK");
  assert_string_equal(door_ask(&on, "PING"), "+PONG");
  assert_string_equal(door_ask(&on, "AUTH default sesame x"), "-ERR wrong number of arguments for 'auth' command");
}

static void a_wrong_password_later_changes_nothing(void **state) {
  (void)state;
  door_ask(&on, "AUTH sesame");
  assert_string_equal(door_ask(&on, "AUTH wrong"), WRONGPASS);
  assert_string_equal(door_ask(&on, "PING"), "+PONG");
}

static void auth_without_a_password_set_is_told_so(void **state) {
  (void)state;
  assert_memory_equal(door_ask(&on, "AUTH x"), "-ERR AUTH <password> called without any password configured", 59);
  assert_string_equal(door_ask(&on, "AUTH default x"), "+OK");
  assert_string_equal(door_ask(&on, "AUTH other x"), WRONGPASS);
}

static void reset_and_quit_need_no_password(void **state) {
  (void)state;
  door_ask(&on, "AUTH sesame");
  assert_string_equal(door_ask(&on, "RESET"), "+RESET");
  assert_string_equal(door_ask(&on, "PING"), NOAUTH);
  assert_string_equal(door_ask(&on, "QUIT"), "+OK");
  assert_true(on.closed);
}

static void strangers_may_send_only_a_little(void **state) {
  (void)state;
  assert_string_equal(door_say(&on, "*11\r\n"), "-ERR Protocol error: unauthenticated multibulk length");
  assert_true(on.closed);
  door_reconnect(&on);
  assert_string_equal(door_say(&on, "*2\r\n$4\r\nAUTH\r\n$16385\r\n"),
                      "-ERR Protocol error: unauthenticated bulk length");
  assert_true(on.closed);
}

static void hello_tells_of_the_server_in_either_protocol(void **state) {
  (void)state;
  unsigned long long id = strtoull(door_ask(&on, "CLIENT ID") + 1, NULL, 10);
  static const char *const starts[] = {"*14", "%7"};
  for (int protocol = 2; protocol <= 3; protocol++) {
    char words[32], reply[256];
    snprintf(
        reply, sizeof reply,
        "%s $6 server $4 laju $7 version $%zu %s $5 proto :%d $2 id :%llu $4 mode $10 standalone $4 role $6 master "
        "$7 modules *0",
        starts[protocol - 2], strlen(LAJU_VERSION), LAJU_VERSION, protocol, id);
    snprintf(words, sizeof words, "HELLO %d", protocol);
    assert_string_equal(door_ask(&on, words), reply);
    assert_string_equal(door_ask(&on, "HELLO"), reply);
  }
}

static void hello_may_bring_password_and_name(void **state) {
  (void)state;
  assert_memory_equal(door_ask(&on, "HELLO 3"), "-NOAUTH HELLO must be called with the client already authenticated",
                      66);
  assert_string_equal(door_ask(&on, "HELLO 3 AUTH default wrong SETNAME x"), WRONGPASS);
  assert_string_equal(door_ask(&on, "PING"), NOAUTH);
  assert_memory_equal(door_ask(&on, "HELLO 3 auth default sesame setname worker-1"), "%7 ", 3);
  assert_string_equal(door_ask(&on, "CLIENT GETNAME"), "$8 worker-1");
}

static void a_wrong_hello_changes_nothing(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "HELLO 4"), "-NOPROTO unsupported protocol version");
  assert_string_equal(door_ask(&on, "HELLO 1"), "-NOPROTO unsupported protocol version");
  assert_string_equal(door_ask(&on, "HELLO 33"), "-NOPROTO unsupported protocol version");
  assert_string_equal(door_ask(&on, "HELLO x"), "-ERR Protocol version is not an integer or out of range");
  assert_string_equal(door_ask(&on, "HELLO 3 SETNAME"), "-ERR Syntax error in HELLO option 'SETNAME'");
  assert_string_equal(door_ask(&on, "HELLO 3 AUTH default"), "-ERR Syntax error in HELLO option 'AUTH'");
  assert_string_equal(door_ask(&on, "HELLO 3 WHAT ever"), "-ERR Syntax error in HELLO option 'WHAT'");
  assert_string_equal(door_ask(&on, "HELLO 3 SETNAME a AUTH other x"), WRONGPASS);
  assert_string_equal(door_ask(&on, "CLIENT GETNAME"), "$-1");
}

static void reset_makes_a_connection_as_it_was(void **state) {
  (void)state;
  door_ask(&on, "HELLO 3 SETNAME me");
  assert_string_equal(door_ask(&on, "RESET"), "+RESET");
  assert_string_equal(door_ask(&on, "CLIENT GETNAME"), "$-1");
}

/* ---- CLIENT ---- */

static void a_name_is_kept_and_shown(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "CLIENT GETNAME"), "$-1");
  assert_string_equal(door_ask(&on, "CLIENT SETNAME worker-1"), "+OK");
  assert_string_equal(door_ask(&on, "CLIENT GETNAME"), "$8 worker-1");
  assert_string_equal(door_ask(&on, "CLIENT SETNAME "), "+OK");
  assert_string_equal(door_ask(&on, "CLIENT GETNAME"), "$-1");
  door_ask(&on, "HELLO 3");
  assert_string_equal(door_ask(&on, "CLIENT GETNAME"), "_");
}

static void a_name_is_bounded_and_printable(void **state) {
  (void)state;
  char name[66] = "", words[128];
  memset(name, 'n', 64);
  snprintf(words, sizeof words, "CLIENT SETNAME %s", name);
  assert_string_equal(door_ask(&on, words), "+OK");
  name[64] = 'n';
  snprintf(words, sizeof words, "CLIENT SETNAME %s", name);
  assert_string_equal(door_ask(&on, words), "-ERR Client names cannot be longer than 64 bytes.");
  assert_string_equal(door_say(&on, "CLIENT SETNAME \"a b\"\r\n"),
                      "-ERR Client names cannot contain spaces, newlines or special characters.");
  assert_string_equal(door_say(&on, "CLIENT SETNAME \"a\\nb\"\r\n"),
                      "-ERR Client names cannot contain spaces, newlines or special characters.");
}

static void connections_have_different_numbers(void **state) {
  (void)state;
  unsigned long long first = strtoull(door_ask(&on, "CLIENT ID") + 1, NULL, 10);
  door_reconnect(&on);
  unsigned long long second = strtoull(door_ask(&on, "CLIENT ID") + 1, NULL, 10);
  assert_true(first >= 1 && second > first);
}

static void what_client_libraries_say_at_first_is_accepted(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "CLIENT SETINFO LIB-NAME redis-py"), "+OK");
  assert_string_equal(door_ask(&on, "CLIENT SETINFO lib-ver 5.0"), "+OK");
  assert_string_equal(door_ask(&on, "CLIENT SETINFO x y"), "-ERR Unrecognized option 'x'");
  assert_string_equal(door_ask(&on, "CLIENT NO-EVICT on"), "+OK");
  assert_string_equal(door_ask(&on, "CLIENT NO-TOUCH off"), "+OK");
  assert_string_equal(door_ask(&on, "CLIENT NO-TOUCH x"), "-ERR syntax error");
  assert_string_equal(door_ask(&on, "CLIENT REPLY ON"), "+OK");
  assert_string_equal(door_ask(&on, "CLIENT REPLY OFF"), "-ERR only ON is supported");
  assert_string_equal(door_ask(&on, "CLIENT TRACKING off"), "+OK");
  assert_string_equal(door_ask(&on, "CLIENT TRACKING on"), "-ERR only OFF is supported");
  assert_string_equal(door_ask(&on, "CLIENT SETNAME"), "-ERR wrong number of arguments for 'client|SETNAME' command");
  assert_string_equal(door_ask(&on, "CLIENT KILL x"),
                      "-ERR unknown subcommand 'KILL' of 'client'. Try COMMAND DOCS client.");
}

static void a_connection_is_described_in_redis_words(void **state) {
  (void)state;
  door_ask(&on, "HELLO 3 SETNAME me");
  const char *reply = door_ask(&on, "CLIENT INFO");
  assert_non_null(strstr(reply, "id="));
  assert_non_null(strstr(reply, " name=me db=0 resp=3 user=default"));
}

/* ---- COMMAND and INFO ---- */

static void commands_are_counted_and_listed(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "COMMAND COUNT"), ":16");
  const char *reply = door_ask(&on, "COMMAND LIST");
  assert_memory_equal(reply, "*16 +laju.check +cl.throttle ", 29);
  assert_non_null(strstr(reply, "+hello"));
}

static void a_command_is_described(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "COMMAND INFO laju.check get"),
                      "*2 *10 $10 laju.check :-3 *2 +write +fast :2 :2 :1 *1 +@fast *0 *0 *0 *-1");
  door_ask(&on, "HELLO 3");
  assert_string_equal(door_ask(&on, "COMMAND INFO AUTH get"),
                      "*2 *10 $4 auth :-2 ~3 +readonly +fast +no_auth :0 :0 :0 ~1 +@fast *0 *0 *0 _");
  assert_memory_equal(door_ask(&on, "COMMAND"), "*16 *10 $10 laju.check", 22);
}

static void a_commands_arguments_are_told_for_help(void **state) {
  (void)state;
  assert_string_equal(door_ask(&on, "COMMAND DOCS laju.peek get"),
                      "*2 $9 laju.peek *8 $7 summary $90 What stands for a key under a rule, in LAJU.CHECK's six "
                      "integers, without taking anything. $5 since $5 " LAJU_VERSION
                      " $5 group $4 laju $9 arguments *2 "
                      "*4 $4 name $4 rule $4 type $6 string *4 $4 name $3 key $4 type $3 key");
  door_ask(&on, "HELLO 3");
  const char *reply = door_ask(&on, "COMMAND DOCS laju.all");
  assert_non_null(strstr(reply,
                         "$9 arguments *1 %4 $4 name $5 check $4 type $5 block $5 flags ~1 +multiple $9 arguments *3 "
                         "%2 $4 name $4 rule"));
  assert_memory_equal(door_ask(&on, "COMMAND DOCS"), "%16 $10 laju.check %4 ", 22);
  assert_memory_equal(door_ask(&on, "COMMAND WHAT"), "-ERR unknown subcommand", 23);
}

static void info_tells_what_clients_look_for(void **state) {
  (void)state;
  const char *reply = door_ask(&on, "INFO");
  assert_non_null(strstr(reply, "redis_version:7.0.0 "));
  assert_non_null(strstr(reply, "laju_version:" LAJU_VERSION " "));
  assert_non_null(strstr(reply, "loading:0 "));
  assert_non_null(strstr(reply, "role:master "));
  assert_non_null(strstr(reply, "rules:5 keys:0 "));
  atomic_store(&on.service.stage, LAJU_STARTING);
  assert_string_equal(door_ask(&on, "INFO persistence"), "$26 # Persistence loading:1 ");
  assert_string_equal(door_ask(&on, "INFO nothing"), "$0 ");
  assert_non_null(strstr(door_ask(&on, "INFO table"), "# Table "));
  assert_null(strstr(door_ask(&on, "INFO table"), "# Server "));
}

static void info_counts_what_came_before_it_in_a_pipeline(void **state) {
  (void)state;
  assert_non_null(strstr(door_ask(&on, "INFO table"), "keys:0 "));
  laju_buffer bytes = {0};
  door_command(&bytes, "LAJU.CHECK api a");
  door_command(&bytes, "LAJU.CHECK api b");
  door_command(&bytes, "INFO table");
  door_command(&bytes, "LAJU.CHECK api c");
  door_feed(&on, bytes.data, bytes.len);
  assert_non_null(strstr(door_replies(&on), "keys:2 "));
  laju_buffer_deinit(&bytes);
}

static void many_large_replies_fill_several_batches_and_all_arrive(void **state) {
  (void)state;
  laju_buffer bytes = {0};
  for (int i = 0; i < 300; i++) door_command(&bytes, i % 2 == 0 ? "INFO" : "COMMAND DOCS laju.check");
  door_command(&bytes, "PING");
  laju_buffer_clear(&on.replies);
  door_feed(&on, bytes.data, bytes.len);
  laju_buffer_deinit(&bytes);
  assert_int_equal(on.kept_len, 0);
  assert_memory_equal(on.replies.data + on.replies.len - 7, "+PONG\r\n", 7);
  size_t summaries = 0;
  const char *replies = door_replies(&on);
  for (const char *at = replies; (at = strstr(at, "$7 summary")) != NULL; at++) summaries++;
  assert_int_equal(summaries, 150);
}

#define DOOR_TEST(name) cmocka_unit_test_setup_teardown(name, open_door, close_door)
#define LOCKED_TEST(name) cmocka_unit_test_setup_teardown(name, open_locked_door, close_door)

int main(void) {
  const struct CMUnitTest tests[] = {
      DOOR_TEST(ping_and_echo_answer),
      DOOR_TEST(there_is_one_database),
      DOOR_TEST(quit_is_answered_and_ends_the_connection),
      DOOR_TEST(an_unknown_command_is_named_with_its_first_arguments),
      LOCKED_TEST(nothing_is_answered_before_the_password),
      LOCKED_TEST(the_default_user_may_be_named),
      LOCKED_TEST(a_wrong_password_later_changes_nothing),
      DOOR_TEST(auth_without_a_password_set_is_told_so),
      LOCKED_TEST(reset_and_quit_need_no_password),
      LOCKED_TEST(strangers_may_send_only_a_little),
      DOOR_TEST(hello_tells_of_the_server_in_either_protocol),
      LOCKED_TEST(hello_may_bring_password_and_name),
      DOOR_TEST(a_wrong_hello_changes_nothing),
      DOOR_TEST(reset_makes_a_connection_as_it_was),
      DOOR_TEST(a_name_is_kept_and_shown),
      DOOR_TEST(a_name_is_bounded_and_printable),
      DOOR_TEST(connections_have_different_numbers),
      DOOR_TEST(what_client_libraries_say_at_first_is_accepted),
      DOOR_TEST(a_connection_is_described_in_redis_words),
      DOOR_TEST(commands_are_counted_and_listed),
      DOOR_TEST(a_command_is_described),
      DOOR_TEST(a_commands_arguments_are_told_for_help),
      DOOR_TEST(info_tells_what_clients_look_for),
      DOOR_TEST(info_counts_what_came_before_it_in_a_pipeline),
      DOOR_TEST(many_large_replies_fill_several_batches_and_all_arrive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
