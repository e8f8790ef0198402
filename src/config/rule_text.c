/* A rule in one line: NAME=LIMIT/PERIOD [ALGORITHM] [burst N] [cost N]. Used by the library too: knows no YAML. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "config/rule_draft.h"
#include "config/value.h"

#define FORM "NAME=LIMIT/PERIOD [ALGORITHM] [burst N] [cost N]"

typedef struct word {
  const char *text;
  size_t len;
} word;

/* The next run of non-spaces from `*at` on; empty at the end. */
static word next_word(const char **at) {
  *at += strspn(*at, " \t");
  word next = {*at, strcspn(*at, " \t")};
  *at += next.len;
  return next;
}

static bool is(word w, const char *text) {
  return strlen(text) == w.len && memcmp(w.text, text, w.len) == 0;
}

/* Puts the field's name before a complaint, of which the end may be lost. */
static void blame(laju_rule_field field, const char *complaint, char why[LAJU_TEXT_SIZE]) {
  const char *name = laju_rule_field_names[field];
  snprintf(why, LAJU_TEXT_SIZE, "%s: %.*s", name, (int)(LAJU_TEXT_SIZE - strlen(name) - 3), complaint);
}

static int set(laju_rule_draft *draft, laju_rule_field field, word value, char why[LAJU_TEXT_SIZE]) {
  char complaint[LAJU_TEXT_SIZE];
  if (laju_rule_draft_has(draft, field)) {
    laju_complain(complaint, value.text, value.len, "is given twice", NULL, FORM);
    blame(field, complaint, why);
    return LAJU_ERR_TEXT;
  }
  int error = laju_rule_draft_set(draft, field, value.text, value.len, complaint);
  if (error < 0) blame(field, complaint, why);
  return error;
}

/* NAME=LIMIT/PERIOD */
static int read_head(laju_rule_draft *draft, word head, char why[LAJU_TEXT_SIZE]) {
  const char *equals = memchr(head.text, '=', head.len);
  const char *slash = equals != NULL ? memchr(equals, '/', (size_t)(head.text + head.len - equals)) : NULL;
  if (slash == NULL) {
    char hint[LAJU_SHOWN_SIZE];
    bool guessed = equals != NULL && head.len < 32; /* a hint that is cut helps nobody */
    if (guessed) snprintf(hint, sizeof hint, "%.*s/1m", (int)head.len, head.text);
    laju_complain(why, head.text, head.len, "is not NAME=LIMIT/PERIOD", guessed ? hint : NULL, FORM);
    return LAJU_ERR_TEXT;
  }
  word name = {head.text, (size_t)(equals - head.text)};
  word limit = {equals + 1, (size_t)(slash - equals - 1)};
  word period = {slash + 1, (size_t)(head.text + head.len - slash - 1)};
  int error = set(draft, LAJU_FIELD_NAME, name, why);
  if (error == 0) error = set(draft, LAJU_FIELD_LIMIT, limit, why);
  if (error == 0) error = set(draft, LAJU_FIELD_PER, period, why);
  return error;
}

/* `burst N`, `cost N` or an algorithm. */
static int read_option(laju_rule_draft *draft, word option, const char **at, char why[LAJU_TEXT_SIZE]) {
  if (is(option, "burst")) return set(draft, LAJU_FIELD_BURST, next_word(at), why);
  if (is(option, "cost")) return set(draft, LAJU_FIELD_COST, next_word(at), why);
  static const char *const words[] = {"burst", "cost"};
  const char *hint = laju_nearest(option.text, option.len, words, 2);
  if (hint == NULL) return set(draft, LAJU_FIELD_ALGORITHM, option, why);
  laju_complain(why, option.text, option.len, "is not known here", hint, FORM);
  return LAJU_ERR_TEXT;
}

int laju_rule_parse(laju_rule *out, const char *text, char why[LAJU_TEXT_SIZE]) {
  laju_rule_draft draft;
  laju_rule_draft_init(&draft);
  const char *at = text;
  int error = read_head(&draft, next_word(&at), why);
  for (word option = next_word(&at); error == 0 && option.len > 0; option = next_word(&at)) {
    error = read_option(&draft, option, &at, why);
  }
  if (error < 0) return error;
  char complaint[LAJU_TEXT_SIZE];
  laju_rule_field field;
  error = laju_rule_draft_finish(&draft, out, &field, complaint);
  if (error < 0) blame(field, complaint, why);
  return error;
}
