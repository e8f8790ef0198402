#include "table/denials.h"

#include "base/siphash.h"
#include "core/decide.h"
#include "table/spin.h"

/* An entry's words, unpacked. */
typedef struct record {
  int64_t until_us, sent_us;
  uint32_t limit, capacity;
  uint32_t cost;
  uint32_t remaining; /* of a log */
  union {
    struct {
      laju_state found;
      int64_t store_us;
    };
    struct { /* of a log: the waits when it was decided */
      int64_t retry_us, more_us, reset_us;
    };
  };
} record;

_Static_assert(sizeof(record) == LAJU_DENIALS_WORDS * sizeof(uint64_t), "a record fills an entry");

typedef union entry_bytes {
  record record;
  uint64_t words[LAJU_DENIALS_WORDS];
} entry_bytes;

void laju_denials_init(laju_denials *denials, void *memory, size_t bytes, const uint64_t hash_key[2]) {
  *denials = (laju_denials){
      .hash_key = {hash_key[0], hash_key[1]},
      .sets = memory,
      .set_count = bytes / sizeof(laju_denials_set),
  };
}

/* ---- where an entry stands ---- */

typedef struct place {
  laju_denials_set *set;
  uint64_t print;
} place;

static place place_of(const laju_denials *denials, const laju_check *check, laju_slice group) {
  const uint64_t *key = denials->hash_key;
  laju_hash hash = laju_siphash_prefixed(key[0], key[1], check->rule->id, check->key, check->key_len);
  if (group.len > 0) {
    hash = laju_siphash_prefixed(key[0], key[1], (const uint64_t[]){hash.lo, hash.hi}, group.at, group.len);
  }
  return (place){
      .set = &denials->sets[((hash.hi & UINT32_MAX) * denials->set_count) >> 32],
      .print = hash.lo != 0 ? hash.lo : 1,
  };
}

/* ---- reading and writing beside each other ----
 * A reader whose acquiring load sees a word of a write also sees, after that, the odd sequence that came before it, so it
 * notices; hence the words are stored with release. No fences, which ThreadSanitizer does not know. */

static uint64_t load(const _Atomic uint64_t *word) {
  return atomic_load_explicit(word, memory_order_acquire);
}

static void store(_Atomic uint64_t *word, uint64_t value) {
  atomic_store_explicit(word, value, memory_order_release);
}

static record read_entry(const laju_denials_entry *entry) {
  entry_bytes bytes;
  for (size_t i = 0; i < LAJU_DENIALS_WORDS; i++) bytes.words[i] = load(&entry->words[i]);
  return bytes.record;
}

static void write_entry(laju_denials_entry *entry, record m) {
  entry_bytes bytes = {.record = m};
  for (size_t i = 0; i < LAJU_DENIALS_WORDS; i++) store(&entry->words[i], bytes.words[i]);
}

static void lock(laju_denials_set *set) {
  unsigned turns = 0;
  for (;;) {
    uint64_t even = atomic_load_explicit(&set->sequence, memory_order_relaxed) & ~UINT64_C(1);
    if (atomic_compare_exchange_weak_explicit(&set->sequence, &even, even + 1, memory_order_acquire,
                                              memory_order_relaxed)) {
      return;
    }
    laju_spin_pause(&turns);
  }
}

static void unlock(laju_denials_set *set) {
  uint64_t odd = atomic_load_explicit(&set->sequence, memory_order_relaxed);
  atomic_store_explicit(&set->sequence, odd + 1, memory_order_release);
}

/* ---- remembering ---- */

static bool is_log(const laju_rule *rule) {
  return rule->algorithm == LAJU_SLIDING_WINDOW_LOG;
}

static int64_t until_of(const laju_denial *denial) {
  const laju_decision *decision = &denial->decision;
  if (decision->retry_after_us != LAJU_NEVER) return denial->sent_us + decision->retry_after_us;
  int64_t more_us = decision->more_after_us;
  bool sooner = is_log(denial->check->rule) && more_us > 0 && more_us < LAJU_DENIALS_NEVER_US;
  return denial->sent_us + (sooner ? more_us : LAJU_DENIALS_NEVER_US);
}

static record memory_of(const laju_denial *denial) {
  const laju_rule *rule = denial->check->rule;
  const laju_decision *decision = &denial->decision;
  record m = {
      .until_us = until_of(denial),
      .sent_us = denial->sent_us,
      .limit = rule->limit,
      .capacity = rule->capacity,
      .cost = denial->check->cost,
      .remaining = decision->remaining,
      .found = denial->found,
      .store_us = denial->store_us,
  };
  if (is_log(rule)) {
    m.retry_us = decision->retry_after_us;
    m.more_us = decision->more_after_us;
    m.reset_us = decision->reset_after_us;
  }
  return m;
}

static bool same_numbers(const record *a, const record *b) {
  return a->limit == b->limit && a->capacity == b->capacity;
}

/* The entry that makes way for `m`: that of the same check; else a free one, or that which ends, or has ended, first. -1: the
 * one that stands there says more. */
static int choose(const laju_denials_set *set, uint64_t print, const record *m, int64_t now_us, bool *displaces) {
  int chosen = -1;
  int64_t first_us = INT64_MAX;
  for (int i = 0; i < LAJU_DENIALS_WAYS; i++) {
    uint64_t held = load(&set->prints[i]);
    record other = read_entry(&set->entries[i]);
    if (held == print && same_numbers(&other, m)) {
      *displaces = false;
      return other.until_us > now_us && other.cost < m->cost ? -1 : i;
    }
    int64_t ends_us = held == 0 ? INT64_MIN : other.until_us;
    if (ends_us >= first_us) continue;
    first_us = ends_us;
    chosen = i;
  }
  *displaces = first_us > now_us;
  return chosen;
}

void laju_denials_remember(laju_denials *denials, const laju_denial *denial, int64_t now_us) {
  record m = memory_of(denial);
  if (m.until_us <= now_us) return;
  place at = place_of(denials, denial->check, denial->group);
  bool displaces = false;
  lock(at.set);
  bool counts = denial->sent_us > atomic_load_explicit(&at.set->forgotten_us, memory_order_relaxed);
  int chosen = counts ? choose(at.set, at.print, &m, now_us, &displaces) : -1;
  if (chosen >= 0) {
    store(&at.set->prints[chosen], at.print);
    write_entry(&at.set->entries[chosen], m);
  }
  unlock(at.set);
  if (chosen >= 0 && displaces) atomic_fetch_add_explicit(&denials->displaced, 1, memory_order_relaxed);
}

void laju_denials_forget(laju_denials *denials, const laju_check *check, laju_slice group, int64_t now_us) {
  place at = place_of(denials, check, group);
  lock(at.set);
  if (now_us > atomic_load_explicit(&at.set->forgotten_us, memory_order_relaxed)) {
    atomic_store_explicit(&at.set->forgotten_us, now_us, memory_order_relaxed);
  }
  for (int i = 0; i < LAJU_DENIALS_WAYS; i++) {
    if (load(&at.set->prints[i]) == at.print) store(&at.set->prints[i], 0);
  }
  unlock(at.set);
}

/* ---- finding ---- */

static int64_t after(int64_t wait_us, int64_t elapsed_us) {
  return wait_us > elapsed_us ? wait_us - elapsed_us : 0;
}

/* How much became free meanwhile nobody knows, but not enough: `remaining` stays at what it was at least, and where its time to
 * grow has passed it is surely more when the cost passes. */
static laju_decision count_down(const record *m, const laju_check *check, int64_t elapsed_us) {
  bool never = check->cost > m->capacity;
  int64_t retry_us = after(m->retry_us, elapsed_us), more_us = after(m->more_us, elapsed_us);
  if (more_us == 0 && m->remaining < m->capacity) more_us = retry_us;
  return (laju_decision){
      .limit = m->capacity,
      .remaining = m->remaining,
      .retry_after_us = never ? LAJU_NEVER : retry_us,
      .more_after_us = more_us,
      .reset_after_us = after(m->reset_us, elapsed_us),
  };
}

/* What the law says of the state found, a while later. */
static laju_decision decide_later(const record *m, const laju_check *check, int64_t elapsed_us) {
  laju_state state = m->found;
  laju_decision decision;
  int64_t at_us = LAJU_TIME_MAX_US - m->store_us > elapsed_us ? m->store_us + elapsed_us : LAJU_TIME_MAX_US;
  laju_decide(check->rule, &state, at_us, check->cost, &decision);
  return decision;
}

/* False where it says nothing about this check. */
static bool tell(const record *m, const laju_check *check, int64_t now_us, laju_decision *out) {
  const laju_rule *rule = check->rule;
  if (m->limit != rule->limit || m->capacity != rule->capacity) return false;
  if (check->cost < m->cost || now_us >= m->until_us) return false;
  int64_t elapsed_us = after(now_us, m->sent_us);
  laju_decision decision = is_log(rule) ? count_down(m, check, elapsed_us) : decide_later(m, check, elapsed_us);
  if (decision.allowed) return false; /* the wait's last tick had begun before the state was found */
  *out = decision;
  return true;
}

bool laju_denials_find(const laju_denials *denials, const laju_check *check, laju_slice group, int64_t now_us,
                       laju_decision *out) {
  place at = place_of(denials, check, group);
  uint64_t sequence = load(&at.set->sequence);
  if (sequence % 2 != 0) return false;
  for (int i = 0; i < LAJU_DENIALS_WAYS; i++) {
    if (load(&at.set->prints[i]) != at.print) continue;
    record m = read_entry(&at.set->entries[i]);
    if (atomic_load_explicit(&at.set->sequence, memory_order_relaxed) != sequence) return false;
    if (tell(&m, check, now_us, out)) return true;
  }
  return false;
}
