#include <laju/laju.h>

#include "base/bytes.h"
#include "base/siphash.h"
#include "core/rule.h"

#define TICKS_MAX (INT64_C(1) << 20) /* so limit * period stays below 2^52: exact in int64 and in a double */

static const char *const names[LAJU_ALGORITHMS] = {
    [LAJU_TOKEN_BUCKET] = "token-bucket",
    [LAJU_LEAKY_BUCKET] = "leaky-bucket",
    [LAJU_FIXED_WINDOW] = "fixed-window",
    [LAJU_SLIDING_WINDOW_COUNTER] = "sliding-window-counter",
    [LAJU_SLIDING_WINDOW_LOG] = "sliding-window-log",
};

static size_t text_length(const char *text) {
  size_t len = 0;
  while (text[len] != '\0') len++;
  return len;
}

static bool same_text(const char *a, const char *b, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

const char *laju_algorithm_name(laju_algorithm algorithm) {
  return (unsigned)algorithm < LAJU_ALGORITHMS ? names[algorithm] : NULL;
}

int laju_algorithm_find(const char *name, size_t len, laju_algorithm *out) {
  for (unsigned i = 0; i < LAJU_ALGORITHMS; i++) {
    if (text_length(names[i]) == len && same_text(names[i], name, len)) {
      *out = (laju_algorithm)i;
      return 0;
    }
  }
  return LAJU_ERR_ALGORITHM;
}

bool laju_name_valid(const char *name, size_t len) {
  if (len < 1 || len > LAJU_NAME_MAX) return false;
  for (size_t i = 0; i < len; i++) {
    char c = name[i];
    bool ok =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    if (!ok) return false;
  }
  return true;
}

/* 0 where no tick divides the period into few enough parts. */
static int64_t tick_of(int64_t period_us) {
  for (int64_t tick = 1; tick <= LAJU_TICK_MAX_US; tick *= 10) {
    if (period_us % tick == 0 && period_us / tick <= TICKS_MAX) return tick;
  }
  return 0;
}

int64_t laju_period_nearest(int64_t period_us) {
  if (period_us <= LAJU_PERIOD_MIN_US) return LAJU_PERIOD_MIN_US;
  if (period_us >= LAJU_PERIOD_MAX_US) return LAJU_PERIOD_MAX_US;
  /* The finest tick that leaves few enough parts: a coarser one's multiples are among its own. */
  int64_t tick = 1;
  while (period_us / tick > TICKS_MAX) tick *= 10;
  int64_t nearest = (period_us + tick / 2) / tick * tick;
  while (nearest / tick > TICKS_MAX) nearest -= tick; /* rounding up may step over the bound */
  if (nearest > LAJU_PERIOD_MAX_US) nearest -= tick;
  int64_t finer_most = TICKS_MAX * (tick / 10); /* just above it, a finer tick's longest period is nearer */
  int64_t away = nearest > period_us ? nearest - period_us : period_us - nearest;
  return period_us - finer_most < away ? finer_most : nearest;
}

/* What a state belongs to, beside its key. Not keyed: names come from operators, and the store's own hash is keyed. */
static void identify(laju_rule *rule, size_t name_len) {
  struct {
    int64_t period_us;
    uint32_t algorithm;
    char name[LAJU_NAME_MAX];
  } identity;
  __builtin_memset(&identity, 0, sizeof identity);
  identity.period_us = rule->period * rule->tick_us;
  identity.algorithm = (uint32_t)rule->algorithm;
  __builtin_memcpy(identity.name, rule->name, name_len);
  laju_hash hash = laju_siphash(0, 0, &identity, sizeof identity);
  rule->id[0] = hash.lo;
  rule->id[1] = hash.hi;
}

int laju_rule_init(laju_rule *out, const char *name, size_t name_len, laju_algorithm algorithm, uint64_t limit,
                   int64_t period_us, uint64_t burst) {
  if (!laju_name_valid(name, name_len)) return LAJU_ERR_NAME;
  if ((unsigned)algorithm >= LAJU_ALGORITHMS) return LAJU_ERR_ALGORITHM;
  if (limit > LAJU_TOKENS_MAX) return LAJU_ERR_LIMIT;
  if (algorithm == LAJU_SLIDING_WINDOW_LOG && limit > LAJU_LOG_LIMIT_MAX) return LAJU_ERR_LIMIT;
  if (period_us < LAJU_PERIOD_MIN_US || period_us > LAJU_PERIOD_MAX_US) return LAJU_ERR_PERIOD;
  int64_t tick_us = tick_of(period_us);
  if (tick_us == 0) return LAJU_ERR_PERIOD_TICK;
  if (burst > LAJU_TOKENS_MAX) return LAJU_ERR_BURST;
  if (burst != 0 && burst != limit && !laju_algorithm_is_bucket(algorithm)) return LAJU_ERR_BURST;

  laju_rule rule;
  __builtin_memset(&rule, 0, sizeof rule);
  rule.algorithm = algorithm;
  rule.limit = (uint32_t)limit;
  rule.capacity = limit == 0 ? 0 : (uint32_t)(burst != 0 ? burst : limit);
  rule.tick_us = tick_us;
  rule.period = period_us / tick_us;
  rule.cost = 1;
  __builtin_memcpy(rule.name, name, name_len);
  identify(&rule, name_len);
  *out = rule;
  return 0;
}
