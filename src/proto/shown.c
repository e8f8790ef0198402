#include "proto/shown.h"

#include <stdio.h>

#include "base/utf8.h"

#define ELLIPSIS "\xe2\x80\xa6"

typedef struct writer {
  char *to;
  size_t len;
  const uint64_t *id;
} writer;

static void put(writer *w, const char *text, size_t len) {
  memcpy(w->to + w->len, text, len);
  w->len += len;
}

/* A byte that is no UTF-8 is a character. */
static size_t character(laju_slice text, size_t at) {
  size_t len = laju_utf8_length(text.at + at, text.len - at);
  return len > 0 ? len : 1;
}

static void put_hidden(writer *w, laju_slice text) {
  char digits[9];
  size_t characters = 0, shown = 0;
  for (size_t at = 0; at < text.len; at += character(text, at)) characters++;
  size_t most = characters / 4 < LAJU_SHOWN_CHARACTERS ? characters / 4 : LAJU_SHOWN_CHARACTERS;
  while (most-- > 0) shown += character(text, shown);
  put(w, text.at, shown);
  put(w, ELLIPSIS, sizeof ELLIPSIS - 1);
  snprintf(digits, sizeof digits, "%08x", (unsigned)(w->id[0] >> 32));
  put(w, digits, 8);
}

static bool has_other_veils(const laju_policy *policy, const laju_shown_key *key) {
  return key->veils != 0 && (policy == NULL || laju_policy_veils(policy) != key->veils);
}

/* What stands in for a part that a request did not have (key.h) is no secret. */
static bool is_mark(laju_slice part) {
  return laju_slice_equal(part, (laju_slice){"%shared", 7}) || (part.len >= 4 && memcmp(part.at, "%ip=", 4) == 0);
}

static size_t count_parts(laju_slice key) {
  size_t parts = 1;
  for (size_t i = 0; i < key.len; i++) parts += key.at[i] == ':';
  return parts;
}

/* Are these the parts of such a key, as far as it goes? A hash of them all has one, and no colon. */
static bool is_of(const laju_policy *policy, const laju_shown_key *key) {
  size_t parts = count_parts(key->key);
  return policy->part_count > 1 && (parts == policy->part_count || (key->cut && parts < policy->part_count));
}

static void put_parts(writer *w, const laju_policy *policy, laju_slice key) {
  for (size_t i = 0; key.at != NULL; i++) {
    laju_slice part = laju_slice_cut(key, ':', &key);
    if (i > 0) put(w, ":", 1);
    if (laju_part_is_veiled(&policy->parts[i]) && !is_mark(part)) {
      put_hidden(w, part);
    } else {
      put(w, part.at, part.len);
    }
  }
}

size_t laju_key_show(char to[LAJU_SHOWN_MAX], const laju_terms *terms, const laju_shown_key *key, bool *masked) {
  writer w = {.to = to, .id = key->id};
  const laju_policy *policy = laju_ruleset_find(terms->rules, key->rule, strlen(key->rule));
  bool known = policy != NULL || key->number == 0; /* 0: no rule of the configuration, then or now */
  bool secret = key->secret || (policy != NULL && policy->secret) || has_other_veils(policy, key);
  *masked = !terms->admin_reveal && (secret || !known || (policy != NULL && laju_policy_veils(policy) != 0));
  bool has_parts = !secret && policy != NULL && is_of(policy, key);
  bool stands_in = !secret && policy != NULL && is_mark(key->key);
  if (*masked && has_parts) {
    put_parts(&w, policy, key->key);
  } else if (!*masked || stands_in) {
    put(&w, key->key.at, key->key.len);
  } else {
    put_hidden(&w, key->key);
  }
  return w.len;
}
