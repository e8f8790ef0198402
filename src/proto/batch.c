#include "proto/batch.h"

#include <stdlib.h>

/* A batch and all its arrays, in one piece. */
typedef struct whole {
  laju_batch batch;
  laju_ask asks[LAJU_BATCH_ASKS];
  laju_check checks[LAJU_BATCH_CHECKS];
  laju_slice groups[LAJU_BATCH_CHECKS];
  laju_decision decisions[LAJU_BATCH_CHECKS];
  laju_rule rules[LAJU_BATCH_CHECKS];
  char notes[LAJU_BATCH_NOTES];
  char keys[LAJU_BATCH_KEYS];
  char scratch[LAJU_BATCH_SCRATCH];
} whole;

laju_batch *laju_batch_new(void) {
  whole *all = malloc(sizeof *all);
  if (all == NULL) return NULL;
  all->batch = (laju_batch){.asks = all->asks,
                            .checks = all->checks,
                            .groups = all->groups,
                            .decisions = all->decisions,
                            .rules = all->rules,
                            .notes = all->notes,
                            .keys = all->keys,
                            .scratch = all->scratch};
  return &all->batch;
}

void laju_batch_free(laju_batch *batch) {
  free(batch); /* it comes first in its piece */
}

void laju_batch_clear(laju_batch *batch) {
  batch->ask_count = 0;
  batch->check_count = 0;
  batch->note_len = 0;
  batch->key_len = 0;
  batch->hold_us = 0;
}

bool laju_batch_has_room(const laju_batch *batch, size_t checks) {
  return batch->ask_count < LAJU_BATCH_ASKS && checks <= LAJU_BATCH_CHECKS - batch->check_count &&
         LAJU_NOTE_MAX <= LAJU_BATCH_NOTES - batch->note_len && LAJU_DERIVED_MAX <= LAJU_BATCH_KEYS - batch->key_len;
}

/* A request of one check is decided alike alone and among independent ones, so runs of them go together. */
static bool independent(const laju_ask *ask) {
  return ask->kind == LAJU_ASK_EACH || (ask->kind == LAJU_ASK_ALL && ask->count == 1);
}

/* How many of its checks the store decides. */
static uint32_t count_exact(const laju_batch *batch, const laju_way *way, const laju_ask *ask) {
  uint32_t exact = 0;
  for (uint32_t i = 0; i < ask->count; i++) exact += laju_way_is_exact(way, &batch->checks[ask->first + i]);
  return exact;
}

/* Not a note, and none of its checks is the store's. */
static inline bool is_embedded(const laju_batch *batch, const laju_way *way, const laju_ask *ask) {
  return way->store == NULL || count_exact(batch, way, ask) == 0;
}

/* Decides the independent asks from `at` on, as one run; notes between them do not end it. Returns the ask after it. */
static size_t decide_run(laju_batch *batch, size_t at, laju_way *way) {
  size_t end = at;
  uint32_t first = batch->asks[at].first, after = first;
  for (; end < batch->ask_count; end++) {
    const laju_ask *ask = &batch->asks[end];
    if (ask->kind == LAJU_ASK_NOTE) continue;
    if (!independent(ask) || !is_embedded(batch, way, ask)) break;
    after = ask->first + ask->count;
  }
  laju_limiter_decide_each(way->limiter, &batch->checks[first], after - first, batch->now_us, &batch->decisions[first]);
  for (size_t i = at; i < end; i++) {
    laju_ask *ask = &batch->asks[i];
    if (ask->kind != LAJU_ASK_ALL) continue;
    ask->allowed = batch->decisions[ask->first].allowed || batch->checks[ask->first].rule->shadow;
  }
  return end;
}

/* An ask that the table alone decides. Returns the ask after it, and after those that were decided with it. */
static size_t decide_embedded(laju_batch *batch, size_t at, laju_way *way) {
  laju_ask *ask = &batch->asks[at];
  const laju_check *checks = batch->checks + ask->first;
  if (independent(ask)) return decide_run(batch, at, way);
  if (ask->kind == LAJU_ASK_ALL) {
    ask->allowed =
        laju_limiter_decide_all(way->limiter, checks, ask->count, batch->now_us, &batch->decisions[ask->first]);
  } else {
    ask->known = laju_limiter_forget(way->limiter, checks->rule, checks->key, checks->key_len, batch->now_us);
  }
  return at + 1;
}

laju_claim laju_batch_claim(const laju_batch *batch, const laju_ask *ask) {
  static const laju_claim_kind kinds[] = {
      [LAJU_ASK_ALL] = LAJU_CLAIM_ALL, [LAJU_ASK_EACH] = LAJU_CLAIM_EACH, [LAJU_ASK_RESET] = LAJU_CLAIM_RESET};
  return (laju_claim){.kind = kinds[ask->kind],
                      .count = ask->count,
                      .checks = &batch->checks[ask->first],
                      .groups = &batch->groups[ask->first],
                      .decisions = &batch->decisions[ask->first]};
}

void laju_ask_settle(laju_ask *ask, const laju_claim *claim) {
  ask->waiting = false;
  ask->allowed = claim->allowed;
  ask->known = claim->known;
  ask->split = claim->split;
  ask->failed = claim->failed;
}

static int64_t hold_of(const laju_batch *batch, const laju_ask *ask) {
  int64_t longest = 0;
  if (ask->kind == LAJU_ASK_NOTE) return INT64_C(1000) * ask->late_ms;
  if (ask->waits == 0 || !ask->allowed) return 0;
  for (uint32_t i = 0; i < ask->count; i++) {
    int64_t delay_us = batch->decisions[ask->first + i].delay_us;
    if ((ask->waits >> i & 1) != 0 && delay_us > longest) longest = delay_us;
  }
  return longest;
}

void laju_batch_settle(laju_batch *batch) {
  if (batch->ask_count > 0) batch->hold_us = hold_of(batch, &batch->asks[batch->ask_count - 1]);
}

/* An ask with checks of the store's, or one that must not overtake such a one. False: it waits. */
static bool decide_claim(laju_batch *batch, laju_ask *ask, laju_way *way, bool *mixed) {
  uint32_t exact = count_exact(batch, way, ask);
  laju_claim claim = laju_batch_claim(batch, ask);
  ask->waiting = exact == 0 || !laju_way_decide(way, &claim, batch->now_us);
  if (ask->waiting) {
    *mixed |= exact < ask->count;
  } else {
    laju_ask_settle(ask, &claim);
  }
  return !ask->waiting;
}

bool laju_batch_decide(laju_batch *batch, laju_way *way, int64_t now_us) {
  bool waits = false;
  bool mixed = false; /* one that waits has charges of the table to make: those behind it must not overtake them */
  batch->now_us = now_us;
  for (size_t i = 0; i < batch->ask_count;) {
    laju_ask *ask = &batch->asks[i];
    if (ask->kind == LAJU_ASK_NOTE) {
      i++;
    } else if (!mixed && is_embedded(batch, way, ask)) {
      i = decide_embedded(batch, i, way);
    } else {
      waits |= !decide_claim(batch, ask, way, &mixed);
      i++;
    }
  }
  if (!waits) laju_batch_settle(batch);
  return !waits;
}
