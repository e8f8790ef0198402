#include "vectors/keeper.h"

#include <stdlib.h>
#include <string.h>

#include "core/decide.h"

void keeper_deinit(keeper *k) {
  free(k->log.stamps);
}

void keeper_admit(keeper *k, const laju_rule *rule, int64_t now_us, uint32_t tokens) {
  uint32_t need = laju_log_need(rule, &k->log, now_us, tokens);
  if (need > k->log.capacity) {
    uint64_t *old = k->log.stamps;
    uint64_t *stamps = calloc(need, sizeof *stamps);
    if (stamps == NULL) abort();
    laju_log_move(&k->log, stamps, need);
    free(old);
  }
  laju_log_admit(rule, &k->log, now_us, tokens);
}

void keeper_check(keeper *k, const laju_rule *rule, int64_t now_us, uint32_t cost, laju_decision *out) {
  bool is_log = rule->algorithm == LAJU_SLIDING_WINDOW_LOG;
  if (is_log) {
    laju_log_decide(rule, &k->log, now_us, cost, out);
  } else {
    laju_decide(rule, &k->state, now_us, cost, out);
  }
  if (!out->allowed || cost == 0) return;
  if (is_log) keeper_admit(k, rule, now_us, cost);
  k->known = true;
}

unsigned char *keeper_bytes(const keeper *k, const laju_rule *rule, size_t *len) {
  const laju_log *log = &k->log;
  bool is_log = rule->algorithm == LAJU_SLIDING_WINDOW_LOG;
  uint32_t head[4] = {log->capacity, log->head, log->count, 0};
  size_t stamps = is_log ? 8 * (size_t)log->capacity : 0;
  unsigned char *bytes = malloc(sizeof head + stamps);
  if (bytes == NULL) abort();
  memcpy(bytes, is_log ? (const void *)head : (const void *)&k->state, sizeof head);
  if (stamps > 0) memcpy(bytes + sizeof head, log->stamps, stamps);
  *len = k->known ? sizeof head + stamps : 0;
  return bytes;
}
