/* What a configuration may hold though it is probably not what was meant. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/duration.h"
#include "config/config.h"
#include "core/rule.h"

typedef struct teller {
  laju_config_tell tell;
  void *context;
  size_t told;
} teller;

__attribute__((format(printf, 2, 3))) static void warn(teller *to, const char *format, ...) {
  char text[LAJU_WHY_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  to->tell(to->context, text);
  to->told++;
}

/* A bucket's refill is whole at each tick: where that is much of the burst, it comes in gulps. In units of a period-th of a
 * token a tick brings `limit` and the burst is capacity * period, below 2^52. */
static void warn_of_gulps(teller *to, size_t i, const laju_rule *rule) {
  if (!laju_algorithm_is_bucket(rule->algorithm) || rule->limit == 0) return;
  uint64_t burst_units = (uint64_t)rule->capacity * (uint64_t)rule->period;
  if (UINT64_C(100) * rule->limit <= burst_units) return;
  char tick[24];
  laju_duration_format(tick, sizeof tick, rule->tick_us);
  uint64_t enough = (UINT64_C(100) * rule->limit + (uint64_t)rule->period - 1) / (uint64_t)rule->period;
  warn(to,
       "rules[%zu] (%s): burst: each tick of %s brings more than a hundredth of the burst of %" PRIu32
       ", so it refills in gulps; a burst of %" PRIu64 " or more refills evenly",
       i, rule->name, tick, rule->capacity, enough);
}

static void warn_of_cost(teller *to, size_t i, const laju_rule *rule) {
  if (rule->cost == 0) {
    warn(to,
         "rules[%zu] (%s): cost: 0 makes every check that brings no cost of its own a peek, which is always allowed", i,
         rule->name);
  } else if (rule->cost > rule->capacity && rule->limit > 0) {
    warn(to, "rules[%zu] (%s): cost: %" PRIu32 " is more than can ever be taken at once (%" PRIu32 ")", i, rule->name,
         rule->cost, rule->capacity);
  }
}

/* A log doubles from 8 stamps of 8 bytes, so that one at its limit takes up to twice its stamps. */
static void warn_of_logs(teller *to, size_t i, const laju_rule *rule, uint64_t logs_bytes) {
  if (rule->algorithm != LAJU_SLIDING_WINDOW_LOG || UINT64_C(16) * rule->limit <= logs_bytes) return;
  warn(to,
       "rules[%zu] (%s): limit: the log of one key at its limit of %" PRIu32 " takes up to %" PRIu64
       " bytes, and memory_logs is %" PRIu64,
       i, rule->name, rule->limit, UINT64_C(16) * rule->limit, logs_bytes);
}

size_t laju_config_warn(const laju_config *config, laju_config_tell tell, void *context) {
  teller to = {.tell = tell, .context = context};
  for (size_t i = 0; i < config->rule_count; i++) {
    warn_of_gulps(&to, i, &config->rules[i].rule);
    warn_of_cost(&to, i, &config->rules[i].rule);
    warn_of_logs(&to, i, &config->rules[i].rule, config->memory_logs_bytes);
  }
  return to.told;
}
