#include "limiter/limiter.h"

#include <stdlib.h>

#include "base/clock.h"
#include "table/snapshot.h"

#define DENIALS_PART 16 /* of the memory */

struct laju_limiter {
  laju_table *table;
  laju_clock clock;
};

static int new_over(laju_limiter **out, const laju_table_options *table) {
  laju_limiter *limiter = malloc(sizeof *limiter);
  if (limiter == NULL) return LAJU_ERR_MEMORY;
  int error = laju_table_new(&limiter->table, table);
  if (error < 0) {
    free(limiter);
    return error;
  }
  laju_clock_init(&limiter->clock);
  *out = limiter;
  return 0;
}

static laju_table_options table_options(const laju_limiter_options *options) {
  if (options == NULL) return (laju_table_options){.memory_bytes = 0};
  return (laju_table_options){
      .memory_bytes = options->memory_bytes,
      .logs_bytes = options->memory_logs_bytes,
      .huge_pages = options->huge_pages,
  };
}

int laju_limiter_new(laju_limiter **out, const laju_limiter_options *options) {
  laju_table_options table = table_options(options);
  return new_over(out, &table);
}

int laju_limiter_new_shared(laju_limiter **out, const laju_limiter_options *options) {
  laju_table_options table = table_options(options);
  uint64_t bytes = table.memory_bytes > 0 ? table.memory_bytes : LAJU_TABLE_MEMORY_DEFAULT;
  table.denials_bytes = bytes / DENIALS_PART;
  return new_over(out, &table);
}

void laju_limiter_free(laju_limiter *limiter) {
  if (limiter == NULL) return;
  laju_table_free(limiter->table);
  free(limiter);
}

int64_t laju_limiter_now_us(const laju_limiter *limiter) {
  return laju_clock_now_us(&limiter->clock);
}

laju_table *laju_limiter_table(laju_limiter *limiter) {
  return limiter->table;
}

laju_denials *laju_limiter_denials(laju_limiter *limiter) {
  return laju_table_denials(limiter->table);
}

/* ---- with the caller's clock ---- */

static bool any_shadow(const laju_check *checks, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (checks[i].rule->shadow) return true;
  }
  return false;
}

/* Those under shadow rules by themselves, the others as the request that they are. */
static bool decide_apart(laju_limiter *limiter, const laju_check *checks, size_t count, int64_t now_us,
                         laju_decision *decisions) {
  laju_check enforced[LAJU_CHECKS_MAX];
  laju_decision found[LAJU_CHECKS_MAX];
  size_t enforced_count = 0, next = 0;
  for (size_t i = 0; i < count; i++) {
    if (!checks[i].rule->shadow) enforced[enforced_count++] = checks[i];
  }
  bool allowed = enforced_count == 0 || laju_table_decide_all(limiter->table, enforced, enforced_count, now_us, found);
  for (size_t i = 0; i < count; i++) {
    if (checks[i].rule->shadow) {
      laju_table_decide_all(limiter->table, &checks[i], 1, now_us, &decisions[i]);
    } else {
      decisions[i] = found[next++];
    }
  }
  return allowed;
}

bool laju_limiter_decide_all(laju_limiter *limiter, const laju_check *checks, size_t count, int64_t now_us,
                             laju_decision *decisions) {
  if (any_shadow(checks, count)) return decide_apart(limiter, checks, count, now_us, decisions);
  return laju_table_decide_all(limiter->table, checks, count, now_us, decisions);
}

void laju_limiter_decide_each(laju_limiter *limiter, const laju_check *checks, size_t count, int64_t now_us,
                              laju_decision *decisions) {
  laju_table_decide_each(limiter->table, checks, count, now_us, decisions);
}

bool laju_limiter_forget(laju_limiter *limiter, const laju_rule *rule, const char *key, size_t key_len,
                         int64_t now_us) {
  return laju_table_forget(limiter->table, rule, key, key_len, now_us);
}

/* ---- with its own clock: the public library ---- */

static bool key_valid(size_t key_len) {
  return key_len >= 1 && key_len <= LAJU_KEY_MAX;
}

static int validate(const laju_check *checks, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!key_valid(checks[i].key_len)) return LAJU_ERR_KEY;
  }
  return 0;
}

int laju_limiter_check(laju_limiter *limiter, const laju_check *checks, size_t count, laju_decision *decisions) {
  if (count < 1 || count > LAJU_CHECKS_MAX) return LAJU_ERR_CHECKS;
  int error = validate(checks, count);
  if (error < 0) return error;
  return laju_limiter_decide_all(limiter, checks, count, laju_limiter_now_us(limiter), decisions);
}

int laju_limiter_check_each(laju_limiter *limiter, const laju_check *checks, size_t count, laju_decision *decisions) {
  if (count < 1) return LAJU_ERR_CHECKS;
  int error = validate(checks, count);
  if (error < 0) return error;
  laju_limiter_decide_each(limiter, checks, count, laju_limiter_now_us(limiter), decisions);
  return 0;
}

int laju_limiter_reset(laju_limiter *limiter, const laju_rule *rule, const char *key, size_t key_len) {
  if (!key_valid(key_len)) return LAJU_ERR_KEY;
  return laju_limiter_forget(limiter, rule, key, key_len, laju_limiter_now_us(limiter));
}

int laju_limiter_save_with(laju_limiter *limiter, const char *path, const laju_buffer *rider,
                           char why[LAJU_TEXT_SIZE]) {
  return laju_snapshot_save(limiter->table, path, laju_limiter_now_us(limiter), rider, why);
}

int laju_limiter_save(laju_limiter *limiter, const char *path, char why[LAJU_TEXT_SIZE]) {
  return laju_limiter_save_with(limiter, path, NULL, why);
}

int laju_limiter_load(laju_limiter *limiter, const char *path, char why[LAJU_TEXT_SIZE]) {
  return laju_limiter_load_with(limiter, path, NULL, why);
}

int laju_limiter_load_with(laju_limiter *limiter, const char *path, laju_buffer *rider, char why[LAJU_TEXT_SIZE]) {
  int64_t taken_us;
  int error = laju_snapshot_load(limiter->table, path, &taken_us, rider, why);
  if (error < 0) return error;
  laju_clock_not_before(&limiter->clock, taken_us);
  return 0;
}

const char *laju_version(void) {
  return LAJU_VERSION;
}
