#include "proto/parked.h"

#include <stdlib.h>
#include <string.h>

struct laju_parked {
  laju_lot *lot;
  laju_parked *next, *prev;
  uint64_t number;
  laju_errand *errand;
  void (*done)(void *context); /* NULL: nobody waits */
  void *context;
  laju_batch batch;
  laju_claim *claims; /* of the asks that are waiting, in their order */
  size_t claim_count;
  char *block; /* all arrays */
  size_t block_size;
};

/* ---- a lot ---- */

static void destroy(laju_parked *parked) {
  laju_errand_free(parked->errand);
  free(parked->block);
  free(parked);
}

void laju_lot_deinit(laju_lot *lot) {
  while (lot->spares != NULL) {
    laju_parked *spare = lot->spares;
    lot->spares = spare->next;
    destroy(spare);
  }
  lot->spare_count = 0;
}

uint64_t laju_lot_oldest(const laju_lot *lot) {
  return lot->first != NULL ? lot->first->number : lot->taken;
}

static laju_parked *make(void) {
  laju_parked *parked = calloc(1, sizeof *parked);
  if (parked == NULL) return NULL;
  parked->errand = laju_errand_new();
  if (parked->errand != NULL) return parked;
  free(parked);
  return NULL;
}

static laju_parked *take_spare(laju_lot *lot) {
  laju_parked *spare = lot->spares;
  if (spare == NULL) return make();
  lot->spares = spare->next;
  lot->spare_count--;
  return spare;
}

/* A large one goes, and with it what its errand needed. */
static void put_spare(laju_lot *lot, laju_parked *parked) {
  if (parked->block_size > LAJU_PARKED_KEPT || lot->spare_count == LAJU_LOT_SPARES) {
    destroy(parked);
    return;
  }
  parked->next = lot->spares;
  lot->spares = parked;
  lot->spare_count++;
}

static void link_in(laju_lot *lot, laju_parked *parked) {
  parked->lot = lot;
  parked->number = lot->taken++;
  parked->next = NULL;
  parked->prev = lot->last;
  *(lot->last != NULL ? &lot->last->next : &lot->first) = parked;
  lot->last = parked;
}

static void link_out(laju_lot *lot, laju_parked *parked) {
  *(parked->prev != NULL ? &parked->prev->next : &lot->first) = parked->next;
  *(parked->next != NULL ? &parked->next->prev : &lot->last) = parked->prev;
}

/* ---- a copy ---- */

/* How much of a batch there is to copy. */
typedef struct extent {
  size_t claims, rules, texts; /* texts: bytes of keys and groups */
} extent;

static bool is_made(const laju_batch *batch, size_t check) {
  return batch->checks[check].rule == &batch->rules[check];
}

static extent measure(const laju_batch *batch) {
  extent of = {0};
  for (size_t i = 0; i < batch->ask_count; i++) of.claims += batch->asks[i].waiting;
  for (size_t i = 0; i < batch->check_count; i++) {
    of.rules += is_made(batch, i);
    of.texts += batch->checks[i].key_len;
    if (batch->checks[i].rule->grouped) of.texts += batch->groups[i].len;
  }
  return of;
}

static bool make_room(laju_parked *parked, size_t size) {
  size_t room = LAJU_PARKED_LEAST;
  if (parked->block_size >= size) return true;
  while (room < size) room *= 2;
  free(parked->block);
  parked->block = malloc(room);
  parked->block_size = parked->block != NULL ? room : 0;
  return parked->block != NULL;
}

/* Lays the arrays out in the block, those with the strictest alignment first. False: no memory. */
static bool lay_out(laju_parked *parked, const laju_batch *from, const extent *of) {
  size_t checks = from->check_count;
  size_t size = checks * (sizeof(laju_decision) + sizeof(laju_check) + sizeof(laju_slice)) +
                of->claims * sizeof(laju_claim) + of->rules * sizeof(laju_rule) + from->ask_count * sizeof(laju_ask) +
                of->texts + from->note_len;
  if (!make_room(parked, size)) return false;
  laju_batch *to = &parked->batch;
  *to = *from;
  to->scratch = NULL;
  to->decisions = (laju_decision *)parked->block;
  to->checks = (laju_check *)(to->decisions + checks);
  to->groups = (laju_slice *)(to->checks + checks);
  parked->claims = (laju_claim *)(to->groups + checks);
  to->rules = (laju_rule *)(parked->claims + of->claims);
  to->asks = (laju_ask *)(to->rules + of->rules);
  to->keys = (char *)(to->asks + from->ask_count);
  to->notes = to->keys + of->texts;
  return true;
}

static const char *copy_text(laju_batch *to, const char *text, size_t len) {
  char *at = to->keys + to->key_len;
  memcpy(at, text, len);
  to->key_len += len;
  return at;
}

/* The rule of a check: one that was made for it is copied to `*made`, one made for an earlier check is that one's copy. */
static const laju_rule *copy_rule(const laju_batch *to, const laju_batch *from, size_t check, laju_rule **made) {
  const laju_rule *rule = from->checks[check].rule;
  uintptr_t at = (uintptr_t)rule, first = (uintptr_t)from->rules;
  if (at < first || at >= (uintptr_t)(from->rules + from->check_count)) return rule;
  if (rule != &from->rules[check]) return to->checks[rule - from->rules].rule;
  **made = *rule;
  return (*made)++;
}

static void copy_check(laju_batch *to, const laju_batch *from, size_t i, laju_rule **made) {
  const laju_check *check = &from->checks[i];
  to->checks[i] = *check;
  to->checks[i].rule = copy_rule(to, from, i, made);
  to->checks[i].key = copy_text(to, check->key, check->key_len);
  to->groups[i] = (laju_slice){NULL, 0};
  if (!check->rule->grouped || from->groups[i].len == 0) return;
  to->groups[i].len = from->groups[i].len;
  to->groups[i].at = copy_text(to, from->groups[i].at, from->groups[i].len);
}

static void copy(laju_parked *parked, const laju_batch *from) {
  laju_batch *to = &parked->batch;
  laju_rule *made = to->rules;
  to->key_len = 0;
  parked->claim_count = 0;
  for (size_t i = 0; i < from->ask_count; i++) to->asks[i] = from->asks[i];
  if (from->note_len > 0) memcpy(to->notes, from->notes, from->note_len);
  for (size_t i = 0; i < from->check_count; i++) copy_check(to, from, i, &made);
  for (size_t i = 0; i < from->ask_count; i++) {
    const laju_ask *ask = &from->asks[i];
    if (ask->waiting) {
      parked->claims[parked->claim_count++] = laju_batch_claim(to, ask);
    } else if (ask->kind != LAJU_ASK_NOTE) {
      memcpy(&to->decisions[ask->first], &from->decisions[ask->first], ask->count * sizeof *from->decisions);
    }
  }
}

laju_parked *laju_parked_new(laju_lot *lot, const laju_batch *batch) {
  laju_parked *parked = take_spare(lot);
  if (parked == NULL) return NULL;
  extent of = measure(batch);
  if (!lay_out(parked, batch, &of)) {
    put_spare(lot, parked);
    return NULL;
  }
  copy(parked, batch);
  link_in(lot, parked);
  return parked;
}

void laju_parked_free(laju_parked *parked) {
  if (parked == NULL) return;
  link_out(parked->lot, parked);
  put_spare(parked->lot, parked);
}

/* ---- its wait ---- */

static void settle(laju_parked *parked) {
  const laju_claim *claim = parked->claims;
  for (size_t i = 0; i < parked->batch.ask_count; i++) {
    laju_ask *ask = &parked->batch.asks[i];
    if (ask->waiting) laju_ask_settle(ask, claim++);
  }
  laju_batch_settle(&parked->batch);
}

static void on_decided(void *context) {
  laju_parked *parked = context;
  settle(parked);
  if (parked->done != NULL) {
    parked->done(parked->context);
  } else {
    laju_parked_free(parked);
  }
}

bool laju_parked_start(laju_parked *parked, laju_way *way, void (*done)(void *context), void *context) {
  parked->done = done;
  parked->context = context;
  bool under_way = laju_errand_start(parked->errand, way, parked->claims, parked->claim_count, parked->batch.now_us,
                                     on_decided, parked);
  if (!under_way) settle(parked);
  return under_way;
}

void laju_parked_abandon(laju_parked *parked) {
  parked->done = NULL;
}

const laju_batch *laju_parked_batch(const laju_parked *parked) {
  return &parked->batch;
}

size_t laju_parked_size(const laju_parked *parked) {
  return sizeof *parked + parked->block_size;
}
