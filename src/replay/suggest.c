#include "replay/suggest.h"

#include <stdlib.h>
#include <string.h>

#include "core/decide.h"
#include "core/rule.h"

const int64_t laju_suggest_periods_us[LAJU_SUGGEST_PERIODS] = {INT64_C(1000000), INT64_C(60000000),
                                                               INT64_C(3600000000)};

/* How a rule's need is found. */
typedef enum way { BY_DECIDING, BY_COUNTING, BY_SEARCHING } way;

/* One rule under the period that is being looked at. */
typedef struct trial {
  laju_rule rule;
  way way;
  bool searching;      /* a bucket whose limit is not found yet */
  uint64_t low, high;  /* the limit is in low..high */
  size_t first, count; /* its keys among the sorted needs */
  uint64_t refused;
} trial;

typedef struct search {
  const laju_history *history;
  trial *trials;
  size_t count;
  laju_state *states; /* of each key */
  uint32_t *needs;    /* of each key: what refuses it nothing; LAJU_TOKENS_MAX also where nothing is enough */
  uint32_t *sorted;   /* the needs, rule by rule */
} search;

/* ---- what keys need ---- */

/* By deciding under a capacity that refuses nothing: what is then missing from it is what is needed. */
static void decide_all(search *s, bool searching) {
  laju_history_cursor cursor = {0};
  uint32_t key;
  memset(s->states, 0, s->history->key_count * sizeof *s->states);
  while (laju_history_next(s->history, &cursor, &key)) {
    const trial *t = &s->trials[s->history->rules[key]];
    laju_decision d;
    if (searching ? !t->searching : t->way != BY_DECIDING) continue;
    laju_decide(&t->rule, &s->states[key], cursor.now_us, t->rule.cost, &d);
    uint32_t need = d.allowed ? t->rule.capacity - d.remaining : LAJU_TOKENS_MAX;
    if (need > s->needs[key]) s->needs[key] = need;
  }
}

static void forget_needs(search *s) {
  for (uint32_t key = 0; key < s->history->key_count; key++) {
    if (s->trials[s->history->rules[key]].searching) s->needs[key] = 0;
  }
}

/* By counting what lies within one period: a second cursor takes off again what is a period old. All rules have the same one. */
static void count_all(search *s) {
  const laju_history *history = s->history;
  const laju_rule *any = &s->trials[0].rule;
  laju_history_cursor head = {0}, tail = {0};
  uint32_t key, old = 0;
  bool waiting = laju_history_next(history, &tail, &old);
  memset(s->states, 0, history->key_count * sizeof *s->states);
  while (laju_history_next(history, &head, &key)) {
    int64_t now = head.now_us / any->tick_us;
    for (; waiting && tail.now_us / any->tick_us <= now - any->period;
         waiting = laju_history_next(history, &tail, &old)) {
      s->states[old].words[0] -= s->trials[history->rules[old]].rule.cost;
    }
    const trial *t = &s->trials[history->rules[key]];
    uint64_t used = s->states[key].words[0] += t->rule.cost;
    if (used > LAJU_TOKENS_MAX) used = LAJU_TOKENS_MAX;
    if (t->way != BY_DECIDING && used > s->needs[key]) s->needs[key] = (uint32_t)used;
  }
}

/* ---- quantiles ---- */

static int compare_needs(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void sort_needs(search *s, bool searching) {
  for (size_t i = 0; i < s->count; i++) {
    if (s->trials[i].searching == searching) s->trials[i].count = 0;
  }
  for (uint32_t key = 0; key < s->history->key_count; key++) {
    trial *t = &s->trials[s->history->rules[key]];
    if (t->searching == searching) s->sorted[t->first + t->count++] = s->needs[key];
  }
  for (size_t i = 0; i < s->count; i++) {
    const trial *t = &s->trials[i];
    if (t->searching == searching) qsort(s->sorted + t->first, t->count, sizeof *s->sorted, compare_needs);
  }
}

/* The least that all keys but those that may be refused need no more than. */
static uint32_t quantile(const search *s, const trial *t) {
  return s->sorted[t->first + t->count - 1 - t->refused];
}

/* ---- buckets: the limit ---- */

/* With burst as limit. Whoever had w in one period needs more than w / 2, as a bucket gives less than twice its limit in one;
 * and w is enough. Between the two the limit is searched for, for all rules at once. */
static bool begin_search(search *s) {
  bool any = false;
  for (size_t i = 0; i < s->count; i++) {
    trial *t = &s->trials[i];
    t->searching = t->way == BY_SEARCHING && t->count > 0 && quantile(s, t) < LAJU_TOKENS_MAX;
    if (!t->searching) continue;
    t->high = quantile(s, t);
    t->low = t->high / 2 + 1;
    any = true;
  }
  return any;
}

/* Sets the limits to be tried; false where all are found. */
static bool halve(search *s) {
  bool open = false;
  for (size_t i = 0; i < s->count; i++) {
    trial *t = &s->trials[i];
    if (!t->searching) continue;
    t->rule.limit = (uint32_t)((t->low + t->high) / 2);
    open = open || t->low < t->high;
  }
  return open;
}

static void judge(search *s) {
  for (size_t i = 0; i < s->count; i++) {
    trial *t = &s->trials[i];
    if (!t->searching || t->low == t->high) continue;
    if (quantile(s, t) <= t->rule.limit) {
      t->high = t->rule.limit;
    } else {
      t->low = t->rule.limit + UINT64_C(1);
    }
  }
}

/* Leaves the limits in the rules, and the needs of burst at these limits sorted. */
static void search_limits(search *s) {
  for (bool open = true; open;) {
    open = halve(s);
    forget_needs(s);
    decide_all(s, true);
    sort_needs(s, true);
    judge(s);
  }
}

/* ---- all of it ---- */

/* Rules of one period that refuse nothing. The sliding log's only lends its cost and ticks. */
static void prepare(search *s, const laju_ruleset *rules, int64_t period_us) {
  for (size_t i = 0; i < s->count; i++) {
    const laju_rule *own = &laju_ruleset_at(rules, i)->rule;
    bool bucket = laju_algorithm_is_bucket(own->algorithm), log = own->algorithm == LAJU_SLIDING_WINDOW_LOG;
    trial *t = &s->trials[i];
    laju_rule_init(&t->rule, own->name, strlen(own->name), log ? LAJU_TOKEN_BUCKET : own->algorithm, LAJU_TOKENS_MAX,
                   period_us, 0);
    t->rule.cost = own->cost;
    t->way = bucket ? BY_SEARCHING : log ? BY_COUNTING : BY_DECIDING;
    t->searching = false;
  }
}

static laju_suggestion suggestion_of(const search *s, const trial *t, const laju_rule *own) {
  uint32_t need = quantile(s, t);
  uint32_t most = own->algorithm == LAJU_SLIDING_WINDOW_LOG ? LAJU_LOG_LIMIT_MAX : LAJU_TOKENS_MAX - 1;
  if (t->searching) return (laju_suggestion){.limit = t->rule.limit, .burst = need};
  return need > most ? (laju_suggestion){0, 0} : (laju_suggestion){need, need};
}

static void suggest_period(search *s, const laju_ruleset *rules, size_t period, laju_suggested *out) {
  prepare(s, rules, laju_suggest_periods_us[period]);
  memset(s->needs, 0, s->history->key_count * sizeof *s->needs);
  count_all(s);
  decide_all(s, false);
  sort_needs(s, false);
  if (begin_search(s)) search_limits(s);
  for (size_t i = 0; i < s->count; i++) {
    const trial *t = &s->trials[i];
    if (t->count > 0) out[i].periods[period] = suggestion_of(s, t, &laju_ruleset_at(rules, i)->rule);
  }
}

/* How many keys each rule has, and where they begin among the sorted needs. */
static void count_keys(search *s, uint32_t share, laju_suggested *out) {
  size_t first = 0;
  for (uint32_t key = 0; key < s->history->key_count; key++) out[s->history->rules[key]].keys++;
  for (size_t i = 0; i < s->count; i++) {
    out[i].refused = out[i].keys * share / LAJU_SHARE_WHOLE;
    s->trials[i].first = first;
    s->trials[i].refused = out[i].refused;
    first += out[i].keys;
  }
}

int laju_suggest(const laju_history *history, const laju_ruleset *rules, uint32_t share, laju_suggested *out) {
  search s = {.history = history, .count = laju_ruleset_count(rules)};
  s.trials = calloc(s.count + 1, sizeof *s.trials);
  s.states = malloc((history->key_count + 1) * sizeof *s.states);
  s.needs = malloc((history->key_count + 1) * sizeof *s.needs);
  s.sorted = malloc((history->key_count + 1) * sizeof *s.sorted);
  bool enough = s.trials != NULL && s.states != NULL && s.needs != NULL && s.sorted != NULL;
  if (enough) {
    memset(out, 0, s.count * sizeof *out);
    count_keys(&s, share, out);
    for (size_t i = 0; i < LAJU_SUGGEST_PERIODS && history->key_count > 0; i++) suggest_period(&s, rules, i, out);
  }
  free(s.trials);
  free(s.states);
  free(s.needs);
  free(s.sorted);
  return enough ? 0 : LAJU_ERR_MEMORY;
}

int laju_share_parse(const char *text, uint32_t *out_share) {
  uint32_t whole = 0, part = 0, unit = 1000;
  if (*text++ != 'p') return -1;
  size_t digits = strspn(text, "0123456789");
  if (digits < 2 || digits > 3) return -1;
  for (; digits > 0; digits--) whole = whole * 10 + (uint32_t)(*text++ - '0');
  if (*text == '.') {
    digits = strspn(++text, "0123456789");
    if (digits < 1 || digits > 4) return -1;
    for (; digits > 0; digits--, unit /= 10) part += unit * (uint32_t)(*text++ - '0');
  }
  uint32_t kept = whole * 10000 + part;
  if (*text != '\0' || kept < 500000 || kept > LAJU_SHARE_WHOLE) return -1;
  *out_share = LAJU_SHARE_WHOLE - kept;
  return 0;
}
