#include "server/keeper.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static uv_loop_t loop;
static laju_limiter *limiter;
static laju_overlay *overlay;
static laju_rule_names *names;
static laju_keeper keeper;
static laju_config config;
static laju_rule rule;
static char folder[32];

static int setup(void **state) {
  (void)state;
  char why[LAJU_TEXT_SIZE];
  snprintf(folder, sizeof folder, "/tmp/laju-keeper-XXXXXX");
  if (mkdtemp(folder) == NULL) return -1;
  laju_config_init(&config);
  config.memory_bytes = 1 << 20;
  snprintf(config.snapshot_path, sizeof config.snapshot_path, "%s/table.snap", folder);
  laju_limiter_options options = {.memory_bytes = config.memory_bytes};
  if (laju_limiter_new(&limiter, &options) < 0 || uv_loop_init(&loop) < 0) return -1;
  names = laju_rule_names_new();
  if (names == NULL || laju_overlay_new(&overlay) < 0) return -1;
  laju_service service = {.limiter = limiter, .overlay = overlay, .names = names};
  laju_keeper_init(&keeper, &loop, &service, &config);
  return laju_rule_parse(&rule, "day=10/1d token-bucket", why);
}

static int remove_folder(void) {
  DIR *listing = opendir(folder);
  if (listing == NULL) return -1;
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    char path[sizeof folder + sizeof entry->d_name];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.' && remove(path) < 0) return -1;
  }
  closedir(listing);
  return rmdir(folder);
}

static int teardown(void **state) {
  (void)state;
  laju_keeper_stop(&keeper);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop) < 0) return -1;
  laju_limiter_free(limiter);
  laju_overlay_free(overlay);
  laju_rule_names_free(names);
  laju_config_deinit(&config);
  return remove_folder();
}

static uint32_t remaining_after(uint32_t cost) {
  laju_check check = {.rule = &rule, .key = "k", .key_len = 1, .cost = cost};
  laju_decision decision;
  assert_int_equal(laju_limiter_check(limiter, &check, 1, &decision), 1);
  return decision.remaining;
}

/* As after a restart. */
static void begin_afresh(void) {
  laju_limiter_options options = {.memory_bytes = config.memory_bytes};
  laju_limiter_free(limiter);
  assert_int_equal(laju_limiter_new(&limiter, &options), 0);
  keeper.limiter = limiter;
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void what_was_saved_is_remembered(void **state) {
  (void)state;
  assert_int_equal(remaining_after(7), 3);
  assert_int_equal(laju_keeper_save(&keeper), 0);
  begin_afresh();
  assert_int_equal(laju_keeper_load(&keeper), 0);
  assert_int_equal(remaining_after(0), 3);
}

static void no_snapshot_is_a_beginning(void **state) {
  (void)state;
  assert_int_equal(laju_keeper_load(&keeper), 0);
  assert_int_equal(remaining_after(0), 10);
}

static void without_a_path_nothing_is_kept(void **state) {
  (void)state;
  config.snapshot_path[0] = 0;
  assert_int_equal(laju_keeper_save(&keeper), 0);
  assert_int_equal(laju_keeper_load(&keeper), 0);
}

static void a_damaged_snapshot_is_kept_aside_and_the_table_is_empty(void **state) {
  (void)state;
  write_text(config.snapshot_path, "not a snapshot at all, whatever its name says");
  assert_int_equal(laju_keeper_load(&keeper), 0);
  assert_int_equal(access(config.snapshot_path, F_OK), -1);
  assert_int_equal(remaining_after(0), 10);
  DIR *listing = opendir(folder);
  size_t kept = 0;
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    kept += strncmp(entry->d_name, "table.snap.corrupt-", strlen("table.snap.corrupt-")) == 0;
  }
  closedir(listing);
  assert_int_equal(kept, 1);
}

static void a_path_that_cannot_be_read_is_not_written_over(void **state) {
  (void)state;
  assert_int_equal(mkdir(config.snapshot_path, 0700), 0);
  assert_int_equal(laju_keeper_load(&keeper), -1);
}

static void a_failure_is_remembered_until_it_is_over(void **state) {
  (void)state;
  char moved[sizeof folder + 8];
  snprintf(moved, sizeof moved, "%s-moved", folder);
  assert_int_equal(rename(folder, moved), 0);
  assert_int_equal(laju_keeper_save(&keeper), -1);
  assert_string_not_equal(keeper.failing, "");
  assert_int_equal(rename(moved, folder), 0);
  assert_int_equal(laju_keeper_save(&keeper), 0);
  assert_string_equal(keeper.failing, "");
}

static void a_snapshot_is_taken_every_interval(void **state) {
  (void)state;
  config.snapshot_interval_us = 1000;
  assert_int_equal(remaining_after(7), 3);
  laju_keeper_start(&keeper);
  for (int taken = 0; taken < 2; taken++) {
    while (access(config.snapshot_path, F_OK) < 0) uv_run(&loop, UV_RUN_ONCE);
    while (keeper.saving) uv_run(&loop, UV_RUN_ONCE);
    assert_int_equal(keeper.save_result, 0);
    assert_int_equal(unlink(config.snapshot_path), 0);
  }
}

static void a_whole_sweep_frees_what_is_as_good_as_new(void **state) {
  (void)state;
  laju_table_stats stats;
  assert_int_equal(remaining_after(1), 9);
  int64_t day_later_us = laju_limiter_now_us(limiter) + INT64_C(86400) * 1000000;
  for (int i = 0; i < LAJU_SWEEP_TURNS; i++) laju_keeper_sweep(&keeper, day_later_us);
  laju_table_stats_read(laju_limiter_table(limiter), &stats);
  assert_int_equal(stats.keys, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_was_saved_is_remembered, setup, teardown),
      cmocka_unit_test_setup_teardown(no_snapshot_is_a_beginning, setup, teardown),
      cmocka_unit_test_setup_teardown(without_a_path_nothing_is_kept, setup, teardown),
      cmocka_unit_test_setup_teardown(a_damaged_snapshot_is_kept_aside_and_the_table_is_empty, setup, teardown),
      cmocka_unit_test_setup_teardown(a_path_that_cannot_be_read_is_not_written_over, setup, teardown),
      cmocka_unit_test_setup_teardown(a_failure_is_remembered_until_it_is_over, setup, teardown),
      cmocka_unit_test_setup_teardown(a_snapshot_is_taken_every_interval, setup, teardown),
      cmocka_unit_test_setup_teardown(a_whole_sweep_frees_what_is_as_good_as_new, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
