#include "table/fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/snapshot.h"
#include "table/snapshot_format.h"
#include "table/store.h"

static char folder[] = "/tmp/laju-snapshot-XXXXXX";
static char path[64];
static char why[LAJU_TEXT_SIZE];

static int make_folder(void **unused) {
  (void)unused;
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/table.snap", folder);
  return 0;
}

static int remove_folder(void **unused) {
  (void)unused;
  unlink(path);
  return rmdir(folder);
}

static laju_table *another_table_of(uint64_t memory_bytes) {
  laju_table *table;
  laju_table_options options = {.memory_bytes = memory_bytes}; /* a random hash key: the file's must replace it */
  assert_int_equal(laju_table_new(&table, &options), 0);
  return table;
}

static void save(laju_table *table, int64_t now_us) {
  int error = laju_snapshot_save(table, path, now_us, NULL, why);
  if (error < 0) fail_msg("%s", why);
}

static laju_table *load_into(laju_table *table, int64_t expected_us) {
  int64_t taken_us = -1;
  int error = laju_snapshot_load(table, path, &taken_us, NULL, why);
  if (error < 0) fail_msg("%s", why);
  assert_int_equal(taken_us, expected_us);
  return table;
}

/* ---- what was known is known again ---- */

#define RULES 10

static void make_rules(laju_rule rules[RULES]) {
  for (size_t r = 0; r < RULES; r++) {
    rules[r] = rule_of("api", (laju_algorithm)(r % LAJU_ALGORITHMS), 10 + 7 * r, r < 5 ? 60 * SECOND : 7200 * SECOND);
  }
}

static void use(laju_table *table, const laju_rule rules[RULES], unsigned keys) {
  uint64_t random = 3;
  for (unsigned i = 0; i < 5 * keys; i++) {
    uint64_t x = random_next(&random);
    const laju_rule *rule = &rules[x % RULES];
    char key[24];
    snprintf(key, sizeof key, "user:%u", (unsigned)(x >> 8) % keys);
    decide(table, rule, key, (uint32_t)(x >> 40) % 20, NOON + i);
  }
}

static void assert_same_answers(laju_table *a, laju_table *b, const laju_rule rules[RULES], unsigned keys) {
  for (size_t r = 0; r < RULES; r++) {
    for (unsigned k = 0; k < keys; k++) {
      char key[24];
      snprintf(key, sizeof key, "user:%u", k);
      laju_decision in_a = decide(a, &rules[r], key, 3, NOON + 2 * SECOND);
      laju_decision in_b = decide(b, &rules[r], key, 3, NOON + 2 * SECOND);
      assert_memory_equal(&in_a, &in_b, offsetof(laju_decision, allowed));
      assert_int_equal(in_a.allowed, in_b.allowed);
    }
  }
}

static void a_restart_forgets_nothing(void **unused) {
  (void)unused;
  laju_rule rules[RULES];
  make_rules(rules);
  laju_table *before = table_of(16 * MIB);
  use(before, rules, 2000);
  save(before, NOON + SECOND);
  laju_table *after = load_into(another_table_of(16 * MIB), NOON + SECOND);
  assert_int_equal(stats_of(after).keys, stats_of(before).keys);
  assert_same_answers(before, after, rules, 2000);
  laju_table_free(before);
  laju_table_free(after);
}

static void a_larger_and_a_smaller_table_take_it_too(void **unused) {
  (void)unused;
  laju_rule rules[RULES];
  make_rules(rules);
  const uint64_t sizes[] = {5 * MIB, 7 * MIB, 16 * MIB + 4096, 40 * MIB};
  for (size_t i = 0; i < 4; i++) {
    laju_table *before = table_of(16 * MIB);
    use(before, rules, 1000);
    save(before, NOON + SECOND);
    laju_table *after = load_into(another_table_of(sizes[i]), NOON + SECOND);
    assert_int_equal(stats_of(after).evicted_used + stats_of(after).logs_evicted_used, 0);
    assert_same_answers(before, after, rules, 1000);
    laju_table_free(before);
    laju_table_free(after);
  }
}

static void where_it_does_not_fit_the_limited_stay(void **unused) {
  (void)unused;
  laju_table *before = table_of(16 * MIB);
  laju_rule rule = rule_of("api", LAJU_SLIDING_WINDOW_COUNTER, 10, 3600 * SECOND);
  laju_rule log = rule_of("api", LAJU_SLIDING_WINDOW_LOG, 10, 3600 * SECOND);
  char key[24];
  for (unsigned i = 0; i < 40000; i++) {
    snprintf(key, sizeof key, "user:%u", i);
    uint32_t cost = i % 100 == 0 ? 10 : 1;
    decide(before, i % 2 == 0 ? &rule : &log, key, cost, NOON);
  }
  save(before, NOON);
  laju_table *after = load_into(another_table_of(MIB), NOON);
  assert_true(stats_of(after).evicted_used + stats_of(after).logs_evicted_used > 20000);
  for (unsigned i = 0; i < 40000; i += 100) {
    snprintf(key, sizeof key, "user:%u", i);
    assert_false(decide(after, &rule, key, 1, NOON).allowed);
  }
  laju_table_free(before);
  laju_table_free(after);
}

static void the_largest_log_comes_back_whole(void **unused) {
  (void)unused;
  laju_table *before = table_of(4 * MIB);
  laju_rule log = rule_of("api", LAJU_SLIDING_WINDOW_LOG, 65536, 3600 * SECOND);
  decide(before, &log, "ann", 1, NOON);
  for (int i = 0; i < 65; i++) assert_true(decide(before, &log, "ann", 1000, NOON + i * SECOND).allowed);
  decide(before, &log, "ann", 535, NOON + 70 * SECOND);
  assert_int_equal(decide(before, &log, "ann", 1, NOON + 80 * SECOND).retry_after_us, (3600 - 80) * SECOND);
  save(before, NOON + 80 * SECOND);
  laju_table *after = load_into(another_table_of(4 * MIB), NOON + 80 * SECOND);
  for (int i = 80; i < 3700; i += 7) {
    laju_decision a = decide(before, &log, "ann", 5, NOON + i * SECOND),
                  b = decide(after, &log, "ann", 5, NOON + i * SECOND);
    assert_int_equal(a.remaining, b.remaining);
    assert_int_equal(a.retry_after_us, b.retry_after_us);
    assert_int_equal(a.reset_after_us, b.reset_after_us);
  }
  laju_table_free(before);
  laju_table_free(after);
}

static void what_is_as_good_as_new_is_not_written(void **unused) {
  (void)unused;
  laju_table *before = table_of(4 * MIB);
  laju_rule minute = rule_of("minute", LAJU_FIXED_WINDOW, 10, 60 * SECOND);
  laju_rule log = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 10, 60 * SECOND);
  laju_rule hour = rule_of("hour", LAJU_FIXED_WINDOW, 10, 3600 * SECOND);
  decide(before, &minute, "ann", 1, NOON);
  decide(before, &log, "ann", 1, NOON);
  decide(before, &hour, "ann", 1, NOON);
  save(before, NOON + 60 * SECOND);
  laju_table *after = load_into(another_table_of(4 * MIB), NOON + 60 * SECOND);
  assert_int_equal(stats_of(after).keys, 1);
  laju_table_free(before);
  laju_table_free(after);
}

static void more_shapes_than_there_are_ids_do_no_harm(void **unused) {
  (void)unused;
  laju_table *before = table_of(16 * MIB);
  for (unsigned i = 0; i < 9000; i++) {
    laju_algorithm algorithm = (laju_algorithm)(i % LAJU_ALGORITHMS);
    int64_t period_us = i % 7 == 0 ? 1000 : i % 7 == 1 ? 86400 * SECOND : (int64_t)(i % 50 + 1) * 60 * SECOND;
    laju_rule rule = rule_of("inline", algorithm, 10 + i, period_us);
    assert_true(decide(before, &rule, "ann", 10, NOON + i).allowed || i % 7 != 1);
  }
  save(before, NOON + SECOND);
  load_into(before = another_table_of(16 * MIB), NOON + SECOND);
  assert_true(stats_of(before).keys > 0);
  laju_table_free(before);
}

/* ---- files ---- */

static void the_file_is_for_its_owner_only_and_nothing_stays_beside_it(void **unused) {
  (void)unused;
  laju_table *table = table_of(MIB);
  char temporary[80];
  snprintf(temporary, sizeof temporary, "%s.tmp", path);
  FILE *left = fopen(temporary, "w"); /* what a killed save left behind */
  fputs("half", left);
  fclose(left);
  chmod(temporary, 0666);
  save(table, NOON);
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
  assert_int_equal(access(temporary, F_OK), -1);
  laju_table_free(table);
}

static void a_save_that_fails_leaves_what_stood_there(void **unused) {
  (void)unused;
  laju_table *table = table_of(MIB);
  laju_rule rule = rule_of("api", LAJU_FIXED_WINDOW, 10, 3600 * SECOND);
  decide(table, &rule, "ann", 4, NOON);
  save(table, NOON);
  char temporary[80];
  snprintf(temporary, sizeof temporary, "%s.tmp", path);
  assert_int_equal(mkdir(temporary, 0700), 0); /* in the way of the new file */
  assert_int_equal(laju_snapshot_save(table, path, NOON + 1, NULL, why), LAJU_ERR_SYSTEM);
  assert_non_null(strstr(why, temporary));
  assert_int_equal(rmdir(temporary), 0);
  laju_table *after = load_into(another_table_of(MIB), NOON);
  assert_int_equal(decide(after, &rule, "ann", 0, NOON).remaining, 6);
  assert_int_equal(laju_snapshot_save(table, "/nowhere/at/all", NOON, NULL, why), LAJU_ERR_SYSTEM);
  assert_int_equal(errno, ENOENT);
  assert_non_null(strstr(why, "/nowhere/at/all"));
  laju_table_free(after);
  laju_table_free(table);
}

static void a_missing_file_says_so(void **unused) {
  (void)unused;
  laju_table *table = table_of(MIB);
  int64_t taken_us = 5;
  unlink(path);
  assert_int_equal(laju_snapshot_load(table, path, &taken_us, NULL, why), LAJU_ERR_SYSTEM);
  assert_int_equal(errno, ENOENT);
  assert_int_equal(taken_us, 5);
  assert_non_null(strstr(why, path));
  laju_table_free(table);
}

static void what_is_no_regular_file_is_neither_read_nor_replaced(void **unused) {
  (void)unused;
  laju_table *table = table_of(MIB);
  struct stat file;
  int64_t taken_us;
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes into it: reading it would wait for ever */
  assert_int_equal(laju_snapshot_load(table, path, &taken_us, NULL, why), LAJU_ERR_SYSTEM);
  assert_int_equal(errno, EINVAL);
  assert_non_null(strstr(why, "not a regular file"));
  assert_int_equal(laju_snapshot_save(table, path, NOON, NULL, why), LAJU_ERR_SYSTEM);
  assert_int_equal(errno, EINVAL);
  assert_non_null(strstr(why, "not a regular file"));
  assert_int_equal(lstat(path, &file), 0);
  assert_true(S_ISFIFO(file.st_mode));
  assert_int_equal(unlink(path), 0);
  laju_table_free(table);
}

/* ---- what travels along ---- */

static void bytes_of_the_caller_s_travel_along_whatever_their_number(void **unused) {
  (void)unused;
  static const size_t lengths[] = {1, 8, 9, 1 << 20, (1 << 20) + 1, 3 << 20};
  laju_table *table = table_of(MIB);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    laju_buffer there = {0}, back = {0};
    int64_t taken_us;
    char *bytes = laju_buffer_reserve(&there, lengths[i]);
    for (size_t at = 0; at < lengths[i]; at++) bytes[at] = (char)(at * 31 + i);
    there.len = lengths[i];
    assert_int_equal(laju_snapshot_save(table, path, NOON, &there, why), 0);
    assert_int_equal(laju_snapshot_load(table, path, &taken_us, &back, why), 0);
    assert_int_equal(back.len, there.len);
    assert_memory_equal(back.data, there.data, there.len);
    load_into(table, NOON); /* nobody has to look at them */
    laju_buffer_deinit(&there);
    laju_buffer_deinit(&back);
  }
  assert_int_equal(unlink(path), 0);
  laju_table_free(table);
}

static void more_than_may_travel_is_not_written(void **unused) {
  (void)unused;
  laju_table *table = table_of(MIB);
  save(table, NOON);
  laju_buffer rider = {.data = (char[]){""}, .len = LAJU_SNAPSHOT_RIDER_MAX + 1};
  assert_int_equal(laju_snapshot_save(table, path, NOON + 1, &rider, why), LAJU_ERR_MEMORY);
  load_into(table, NOON);
  assert_int_equal(unlink(path), 0);
  laju_table_free(table);
}

/* ---- damage ---- */

static size_t small_file(unsigned char *bytes, size_t room) {
  laju_table *table = table_of(MIB);
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of("api", (laju_algorithm)a, 10, 3600 * SECOND);
    decide(table, &rule, "ann", 4, NOON);
  }
  laju_buffer rider = {.data = (char[]){"rides along"}, .len = 11};
  assert_int_equal(laju_snapshot_save(table, path, NOON, &rider, why), 0);
  laju_table_free(table);
  FILE *file = fopen(path, "r");
  size_t len = fread(bytes, 1, room, file);
  fclose(file);
  assert_true(len > 300 && len < room);
  return len;
}

static int decode(laju_table *table, const void *bytes, size_t len) {
  int64_t taken_us;
  return laju_snapshot_decode(table, bytes, len, &taken_us, NULL, why);
}

static void a_file_cut_off_anywhere_is_refused(void **unused) {
  (void)unused;
  unsigned char bytes[1024];
  size_t len = small_file(bytes, sizeof bytes);
  laju_table *table = another_table_of(MIB);
  for (size_t cut = 0; cut < len; cut++) {
    assert_int_equal(decode(table, bytes, cut), LAJU_ERR_SNAPSHOT);
    assert_non_null(strstr(why, "truncated"));
    assert_int_equal(stats_of(table).keys, 0);
  }
  assert_int_equal(decode(table, bytes, len), 0);
  assert_int_equal(stats_of(table).keys, 5);
  laju_table_free(table);
}

static void one_flipped_bit_anywhere_is_refused(void **unused) {
  (void)unused;
  unsigned char bytes[1024];
  size_t len = small_file(bytes, sizeof bytes);
  laju_table *table = another_table_of(MIB);
  for (size_t bit = 0; bit < len * 8; bit++) {
    bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    assert_int_equal(decode(table, bytes, len), LAJU_ERR_SNAPSHOT);
    assert_int_equal(stats_of(table).keys, 0);
    bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  laju_table_free(table);
}

static void bytes_after_the_end_are_refused(void **unused) {
  (void)unused;
  unsigned char bytes[1024] = {0};
  size_t len = small_file(bytes, sizeof bytes);
  laju_table *table = another_table_of(MIB);
  assert_int_equal(decode(table, bytes, len + 1), LAJU_ERR_SNAPSHOT);
  assert_non_null(strstr(why, "after its end"));
  laju_table_free(table);
}

static void a_table_whose_load_failed_is_empty_and_works(void **unused) {
  (void)unused;
  unsigned char bytes[1024];
  size_t len = small_file(bytes, sizeof bytes);
  laju_table *table = table_of(MIB);
  assert_int_equal(decode(table, bytes, len - 8), LAJU_ERR_SNAPSHOT); /* all keys are read before that */
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of("api", (laju_algorithm)a, 10, 3600 * SECOND);
    assert_int_equal(decide(table, &rule, "ann", 1, NOON).remaining, 9);
  }
  assert_int_equal(stats_of(table).logs_used_bytes, 64);
  laju_table_free(table);
}

/* ---- a file that is sound in form and wrong in substance ---- */

typedef struct forged {
  unsigned char bytes[4096];
  size_t len;
  laju_snapshot_header header;
} forged;

static forged forge(void) {
  forged f = {
      .header = {
          .magic = LAJU_SNAPSHOT_MAGIC, .version = 1, .hash_key = {1, 2}, .taken_us = (uint64_t)NOON, .buckets = 2048}};
  return f;
}

static void forge_header(forged *f) {
  f->header.checksum = laju_snapshot_header_checksum(&f->header);
  memcpy(f->bytes, &f->header, sizeof f->header);
  f->len = sizeof f->header;
}

static void forge_chunk(forged *f, uint64_t number, uint32_t kind, const uint64_t *words, size_t count) {
  laju_snapshot_chunk chunk = {.kind = kind, .length = (uint32_t)count * 8};
  uint64_t checksum = laju_snapshot_chunk_checksum(f->header.hash_key, number, chunk, words);
  memcpy(f->bytes + f->len, &chunk, 8);
  memcpy(f->bytes + f->len + 8, words, count * 8);
  memcpy(f->bytes + f->len + 8 + count * 8, &checksum, 8);
  f->len += count * 8 + 16;
}

static int load_records(const uint64_t *words, size_t count, uint64_t keys) {
  forged f = forge();
  forge_header(&f);
  forge_chunk(&f, 0, LAJU_SNAPSHOT_RECORDS, words, count);
  const uint64_t end[] = {1, keys};
  forge_chunk(&f, 1, LAJU_SNAPSHOT_END, end, 2);
  laju_table *table = another_table_of(MIB);
  int error = decode(table, f.bytes, f.len);
  if (error < 0) assert_int_equal(stats_of(table).keys, 0);
  laju_table_free(table);
  return error;
}

#define SHAPE(id) laju_snapshot_word(LAJU_SNAPSHOT_TAG_SHAPE, id, 0)
#define STATE(id, bucket) laju_snapshot_word(LAJU_SNAPSHOT_TAG_STATE, id, bucket)
#define LOG(id, bucket) laju_snapshot_word(LAJU_SNAPSHOT_TAG_LOG, id, bucket)
#define LOG_ID 0xe00
#define LOAD(keys, ...) load_records((const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8, keys)

static void records_are_taken_only_as_the_law_can_have_written_them(void **unused) {
  (void)unused;
  laju_rule window = rule_of("w", LAJU_FIXED_WINDOW, 10, SECOND), bucket = rule_of("b", LAJU_TOKEN_BUCKET, 10, SECOND);
  laju_rule log = rule_of("l", LAJU_SLIDING_WINDOW_LOG, 10, SECOND);
  laju_shape w = laju_shape_of(&window), b = laju_shape_of(&bucket), l = laju_shape_of(&log);
  uint64_t late = (uint64_t)LAJU_TIME_MAX_US;
  assert_int_equal(LOAD(2, SHAPE(1), b.tokens, b.time, STATE(1, 0), 7, 5, 5, STATE(1, 2047), 7, 5, 5), 0);
  assert_int_equal(LOAD(1, SHAPE(LOG_ID), l.tokens, l.time, LOG(LOG_ID, 9), 7, 2, 4, 4), 0);
  assert_int_equal(LOAD(2, SHAPE(1), b.tokens, b.time, STATE(1, 0), 7, 5, 5), LAJU_ERR_SNAPSHOT); /* one key fewer */
  assert_int_equal(LOAD(1, SHAPE(1), b.tokens, b.time, STATE(1, 2048), 7, 5, 5),
                   LAJU_ERR_SNAPSHOT);                                                            /* no such bucket */
  assert_int_equal(LOAD(1, SHAPE(1), b.tokens, b.time, STATE(2, 0), 7, 5, 5), LAJU_ERR_SNAPSHOT); /* unknown shape */
  assert_int_equal(LOAD(1, SHAPE(0), b.tokens, b.time, STATE(0, 0), 7, 5, 5), LAJU_ERR_SNAPSHOT); /* no id */
  assert_int_equal(LOAD(1, SHAPE(LOG_ID), b.tokens, b.time), LAJU_ERR_SNAPSHOT);                  /* wrong kind */
  assert_int_equal(LOAD(1, SHAPE(1), l.tokens, l.time), LAJU_ERR_SNAPSHOT);
  assert_int_equal(LOAD(1, SHAPE(1), b.tokens, w.time | 1u << 20, STATE(1, 0), 7, 5, 5),
                   LAJU_ERR_SNAPSHOT); /* no such period */
  assert_int_equal(LOAD(1, SHAPE(1), w.tokens + (UINT64_C(1) << 32), w.time),
                   LAJU_ERR_SNAPSHOT); /* burst of a window */
  assert_int_equal(LOAD(1, SHAPE(1), b.tokens, b.time, STATE(1, 0), 7, UINT64_C(1) << 52, 5), LAJU_ERR_SNAPSHOT);
  assert_int_equal(LOAD(1, SHAPE(1), b.tokens, b.time, STATE(1, 0), 7, 5, late + 1), LAJU_ERR_SNAPSHOT);
  assert_int_equal(LOAD(1, SHAPE(1), w.tokens, w.time, STATE(1, 0), 7, late, 5), LAJU_ERR_SNAPSHOT);
  assert_int_equal(LOAD(1, SHAPE(1), w.tokens, w.time, STATE(1, 0), 7, 5, UINT64_C(1) << 32), LAJU_ERR_SNAPSHOT);
  assert_int_equal(LOAD(1, SHAPE(1), b.tokens, b.time, STATE(1, 0), 7, 5), LAJU_ERR_SNAPSHOT); /* half a record */
  assert_int_equal(LOAD(1, SHAPE(1), b.tokens), LAJU_ERR_SNAPSHOT);
  assert_int_equal(LOAD(1, SHAPE(1), b.tokens, b.time, LOG(1, 0), 7, 1, 5),
                   LAJU_ERR_SNAPSHOT); /* a state read as a log */
  assert_int_equal(LOAD(1, SHAPE(LOG_ID), l.tokens, l.time, STATE(LOG_ID, 0), 7, 5, 5), LAJU_ERR_SNAPSHOT);
  assert_int_equal(LOAD(1, SHAPE(LOG_ID), l.tokens, l.time, LOG(LOG_ID, 0), 7, 0), LAJU_ERR_SNAPSHOT);
  assert_int_equal(LOAD(1, SHAPE(LOG_ID), l.tokens, l.time, LOG(LOG_ID, 0), 7, 2, 4), LAJU_ERR_SNAPSHOT);
  assert_int_equal(LOAD(1, SHAPE(LOG_ID), l.tokens, l.time, LOG(LOG_ID, 0), 7, 2, 5, 4), LAJU_ERR_SNAPSHOT);
  assert_int_equal(LOAD(1, SHAPE(LOG_ID), l.tokens, l.time, LOG(LOG_ID, 0), 7, 1, late + 1), LAJU_ERR_SNAPSHOT);
  assert_int_equal(LOAD(0, laju_snapshot_word(9, 1, 0), 1, 2, 3), LAJU_ERR_SNAPSHOT);
}

static void headers_of_others_are_refused_by_name(void **unused) {
  (void)unused;
  laju_table *table = another_table_of(MIB);
  forged f = forge();
  f.header.version = 2;
  forge_header(&f);
  assert_int_equal(decode(table, f.bytes, f.len), LAJU_ERR_SNAPSHOT);
  assert_non_null(strstr(why, "format 2; this laju reads format 1"));
  f = forge();
  f.header.magic++;
  forge_header(&f);
  assert_int_equal(decode(table, f.bytes, f.len), LAJU_ERR_SNAPSHOT);
  assert_non_null(strstr(why, "not a snapshot"));
  const uint64_t buckets[] = {0, 1023, (UINT64_C(1) << 32) + 1};
  for (size_t i = 0; i < 3; i++) {
    f = forge();
    f.header.buckets = buckets[i];
    forge_header(&f);
    assert_int_equal(decode(table, f.bytes, f.len), LAJU_ERR_SNAPSHOT);
    assert_non_null(strstr(why, "header"));
  }
  laju_table_free(table);
}

/* ---- while others decide ---- */

typedef struct traffic {
  laju_table *table;
  laju_rule rules[LAJU_ALGORITHMS];
  _Atomic bool stop;
} traffic;

static void *drive(void *argument) {
  traffic *t = argument;
  uint64_t random = (uint64_t)(uintptr_t)&random;
  while (!t->stop) {
    uint64_t x = random_next(&random);
    char key[24];
    snprintf(key, sizeof key, "user:%u", (unsigned)(x >> 8) % 500);
    decide(t->table, &t->rules[x % LAJU_ALGORITHMS], key, 2, NOON);
  }
  return NULL;
}

static void a_snapshot_taken_under_way_holds_each_key_whole(void **unused) {
  (void)unused;
  traffic t = {.table = table_of(8 * MIB)};
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) t.rules[a] = rule_of("api", (laju_algorithm)a, 200, 3600 * SECOND);
  pthread_t threads[2];
  for (unsigned i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, drive, &t), 0);
  for (int round = 0; round < 10; round++) {
    save(t.table, NOON);
    laju_table *after = load_into(another_table_of(8 * MIB), NOON);
    for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
      for (unsigned k = 0; k < 500; k++) {
        char key[24];
        snprintf(key, sizeof key, "user:%u", k);
        uint32_t kept = decide(after, &t.rules[a], key, 0, NOON).remaining;
        assert_int_equal(kept % 2, 0);
        assert_true(decide(t.table, &t.rules[a], key, 0, NOON).remaining <= kept);
      }
    }
    laju_table_free(after);
  }
  t.stop = true;
  for (unsigned i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  laju_table_free(t.table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_restart_forgets_nothing),
      cmocka_unit_test(a_larger_and_a_smaller_table_take_it_too),
      cmocka_unit_test(where_it_does_not_fit_the_limited_stay),
      cmocka_unit_test(the_largest_log_comes_back_whole),
      cmocka_unit_test(what_is_as_good_as_new_is_not_written),
      cmocka_unit_test(more_shapes_than_there_are_ids_do_no_harm),
      cmocka_unit_test(the_file_is_for_its_owner_only_and_nothing_stays_beside_it),
      cmocka_unit_test(a_save_that_fails_leaves_what_stood_there),
      cmocka_unit_test(a_missing_file_says_so),
      cmocka_unit_test(what_is_no_regular_file_is_neither_read_nor_replaced),
      cmocka_unit_test(bytes_of_the_caller_s_travel_along_whatever_their_number),
      cmocka_unit_test(more_than_may_travel_is_not_written),
      cmocka_unit_test(a_file_cut_off_anywhere_is_refused),
      cmocka_unit_test(one_flipped_bit_anywhere_is_refused),
      cmocka_unit_test(bytes_after_the_end_are_refused),
      cmocka_unit_test(a_table_whose_load_failed_is_empty_and_works),
      cmocka_unit_test(records_are_taken_only_as_the_law_can_have_written_them),
      cmocka_unit_test(headers_of_others_are_refused_by_name),
      cmocka_unit_test(a_snapshot_taken_under_way_holds_each_key_whole),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
