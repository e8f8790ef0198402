#include "limiter/selection.h"

#include <stdlib.h>

#include "base/siphash.h"

#define ANCHOR_MAX 64 /* bytes of an anchor; of a longer text only these count */
#define ALL_MAX 8     /* with so few policies, asking each is faster */

typedef enum side { HOST_END, PATH_BEGIN, SIDES } side;

/* A policy under one of its anchors: texts that a request's host must end in or its path begin with. */
typedef struct entry {
  laju_slice anchor;
  uint32_t policy; /* its index */
  uint32_t next;   /* of the same place: an index + 1, or 0 */
  uint8_t side;
} entry;

struct laju_selection {
  const laju_policy *policies;
  uint32_t *places; /* of entries: an index + 1, or 0 */
  uint32_t mask;
  entry *entries;
  size_t entry_count, loose_count;
  uint32_t *loose;         /* policies without an anchor */
  uint64_t lengths[SIDES]; /* bit n - 1: there are anchors of n bytes */
};

/* ---- what a policy asks for ---- */

static bool takes_any(const laju_pattern *patterns, size_t count, laju_slice text) {
  for (size_t i = 0; i < count; i++) {
    if (laju_pattern_takes(&patterns[i], text.at, text.len)) return true;
  }
  return count == 0;
}

static bool takes_method(const laju_match *match, laju_slice method) {
  for (size_t i = 0; i < match->method_count; i++) {
    if (laju_slice_equal(method, (laju_slice){match->methods[i], strlen(match->methods[i])})) return true;
  }
  return match->method_count == 0;
}

bool laju_match_takes(const laju_match *match, const laju_request_line *request) {
  return !match->none && takes_method(match, request->method) &&
         takes_any(match->hosts, match->host_count, request->host) &&
         takes_any(match->paths, match->path_count, request->path);
}

/* ---- anchors ---- */

static const laju_pattern *patterns_of(const laju_match *match, side which, size_t *count) {
  *count = which == HOST_END ? match->host_count : match->path_count;
  return which == HOST_END ? match->hosts : match->paths;
}

/* What every text that the pattern takes ends in, or begins with; may be empty. */
static laju_slice anchor_of(const laju_pattern *pattern, side which) {
  laju_slice anchor = {pattern->text, pattern->len};
  const char *star = pattern->literal    ? NULL
                     : which == HOST_END ? memrchr(pattern->text, '*', pattern->len)
                                         : memchr(pattern->text, '*', pattern->len);
  if (star != NULL && which == HOST_END) {
    anchor = (laju_slice){star + 1, pattern->len - (size_t)(star + 1 - pattern->text)};
  } else if (star != NULL) {
    anchor.len = (size_t)(star - pattern->text);
  }
  if (anchor.len > ANCHOR_MAX && which == HOST_END) anchor.at += anchor.len - ANCHOR_MAX;
  if (anchor.len > ANCHOR_MAX) anchor.len = ANCHOR_MAX;
  return anchor;
}

/* The operator chose the texts, so no secret is needed. */
static uint32_t place_of(const laju_selection *s, side which, laju_slice anchor) {
  return (uint32_t)laju_siphash((uint64_t)which, anchor.len, anchor.at, anchor.len).lo & s->mask;
}

/* Can the policy be entered under this side, that is, has it patterns there, each with an anchor? */
static bool has_anchors(const laju_policy *policy, side which) {
  size_t count;
  const laju_pattern *patterns = patterns_of(&policy->match, which, &count);
  for (size_t i = 0; i < count; i++) {
    if (anchor_of(&patterns[i], which).len == 0) return false;
  }
  return count > 0;
}

/* ---- making ---- */

static void count_anchors(const laju_selection *s, const laju_policy *policy, uint32_t *counts) {
  for (side which = 0; which < SIDES; which++) {
    size_t count;
    const laju_pattern *patterns = patterns_of(&policy->match, which, &count);
    for (size_t i = 0; i < count; i++) counts[place_of(s, which, anchor_of(&patterns[i], which))]++;
  }
}

/* How many entries the fullest of the policy's places on this side would hold; more than any where it has none. */
static uint32_t crowd(const laju_selection *s, const laju_policy *policy, side which, const uint32_t *counts) {
  if (!has_anchors(policy, which)) return UINT32_MAX;
  uint32_t most = 0;
  size_t count;
  const laju_pattern *patterns = patterns_of(&policy->match, which, &count);
  for (size_t i = 0; i < count; i++) {
    uint32_t here = counts[place_of(s, which, anchor_of(&patterns[i], which))];
    if (here > most) most = here;
  }
  return most;
}

static void enter_anchors(laju_selection *s, uint32_t index, side which) {
  size_t count;
  const laju_pattern *patterns = patterns_of(&s->policies[index].match, which, &count);
  for (size_t i = 0; i < count; i++) {
    laju_slice anchor = anchor_of(&patterns[i], which);
    uint32_t *place = &s->places[place_of(s, which, anchor)];
    s->entries[s->entry_count] = (entry){.anchor = anchor, .policy = index, .next = *place, .side = (uint8_t)which};
    *place = (uint32_t)++s->entry_count;
    s->lengths[which] |= UINT64_C(1) << (anchor.len - 1);
  }
}

static void enter(laju_selection *s, uint32_t index, const uint32_t *counts) {
  const laju_policy *policy = &s->policies[index];
  if (policy->match.none) return;
  uint32_t hosts = crowd(s, policy, HOST_END, counts), paths = crowd(s, policy, PATH_BEGIN, counts);
  if (hosts == UINT32_MAX && paths == UINT32_MAX) {
    s->loose[s->loose_count++] = index;
  } else {
    enter_anchors(s, index, paths < hosts ? PATH_BEGIN : HOST_END);
  }
}

static int index_all(laju_selection *s, size_t count, size_t patterns) {
  uint32_t size = 4;
  while (size < 2 * patterns) size *= 2;
  s->mask = size - 1;
  s->places = calloc(size, sizeof *s->places);
  s->entries = calloc(patterns + 1, sizeof *s->entries);
  s->loose = calloc(count + 1, sizeof *s->loose);
  uint32_t *counts = calloc(size, sizeof *counts);
  bool enough = s->places != NULL && s->entries != NULL && s->loose != NULL && counts != NULL;
  for (size_t i = 0; enough && i < count; i++) count_anchors(s, &s->policies[i], counts);
  for (size_t i = 0; enough && i < count; i++) {
    if (count <= ALL_MAX) {
      s->loose[s->loose_count++] = (uint32_t)i;
    } else {
      enter(s, (uint32_t)i, counts);
    }
  }
  free(counts);
  return enough ? 0 : LAJU_ERR_MEMORY;
}

int laju_selection_new(laju_selection **out, const laju_policy *policies, size_t count) {
  laju_selection *selection = calloc(1, sizeof *selection);
  size_t patterns = 0;
  if (selection == NULL) return LAJU_ERR_MEMORY;
  selection->policies = policies;
  for (size_t i = 0; i < count; i++) patterns += policies[i].match.host_count + policies[i].match.path_count;
  int error = index_all(selection, count, patterns);
  if (error < 0) {
    laju_selection_free(selection);
    return error;
  }
  *out = selection;
  return 0;
}

void laju_selection_free(laju_selection *selection) {
  if (selection == NULL) return;
  free(selection->places);
  free(selection->entries);
  free(selection->loose);
  free(selection);
}

/* ---- asking ---- */

typedef struct asking {
  const laju_selection *selection;
  const laju_request_line *request;
  bool (*take)(void *context, const laju_policy *policy);
  void *context;
} asking;

static bool ask(const asking *a, uint32_t index) {
  const laju_policy *policy = &a->selection->policies[index];
  return !laju_match_takes(&policy->match, a->request) || a->take(a->context, policy);
}

/* All that are entered under this text. */
static bool ask_anchor(const asking *a, side which, laju_slice text) {
  const laju_selection *s = a->selection;
  for (uint32_t at = s->places[place_of(s, which, text)]; at != 0; at = s->entries[at - 1].next) {
    const entry *e = &s->entries[at - 1];
    if (e->side != which || !laju_slice_equal(e->anchor, text)) continue;
    if (!ask(a, e->policy)) return false;
  }
  return true;
}

static bool ask_side(const asking *a, side which, laju_slice text) {
  for (uint64_t left = a->selection->lengths[which]; left != 0; left &= left - 1) {
    size_t len = (size_t)__builtin_ctzll(left) + 1;
    if (len > text.len) break;
    laju_slice anchor = {which == HOST_END ? text.at + text.len - len : text.at, len};
    if (!ask_anchor(a, which, anchor)) return false;
  }
  return true;
}

void laju_selection_each(const laju_selection *selection, const laju_request_line *request,
                         bool (*take)(void *context, const laju_policy *policy), void *context) {
  asking a = {.selection = selection, .request = request, .take = take, .context = context};
  for (size_t i = 0; i < selection->loose_count; i++) {
    if (!ask(&a, selection->loose[i])) return;
  }
  if (ask_side(&a, HOST_END, request->host)) ask_side(&a, PATH_BEGIN, request->path);
}
