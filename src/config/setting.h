/* Every setting that a file or the command line may hold: its name, and how its value is read. One table for both, and for
 * what a message says is allowed. Pure but for the config that is written; any thread with a config of its own. */
#ifndef LAJU_CONFIG_SETTING_H
#define LAJU_CONFIG_SETTING_H

#include "config/config.h"

typedef enum laju_setting_kind {
  LAJU_SETTING_GROUP, /* a mapping of the settings whose names begin with "KEY." */
  LAJU_SETTING_RULES, /* the list of rules */
  LAJU_SETTING_LIST,  /* values: `set` adds one */
  LAJU_SETTING_TEXT,  /* one value, in quotes or not */
  LAJU_SETTING_PLAIN, /* a number or true/false: not in quotes */
} laju_setting_kind;

typedef struct laju_setting {
  const char *key; /* in full: "listen.http" */
  laju_setting_kind kind;
  int (*set)(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]); /* 0, or -1 with `why` */
  void (*clear)(laju_config *config); /* takes the default out of a list */
} laju_setting;

#define LAJU_SETTINGS 52

extern const laju_setting laju_settings[LAJU_SETTINGS];

/* The setting named `word` in the group `prefix` ("" or "listen."), or NULL. */
const laju_setting *laju_setting_find(const char *prefix, const char *word, size_t len);

/* The names in the group `prefix`, without it; returns how many. */
size_t laju_setting_words(const char *prefix, const char *words[LAJU_SETTINGS]);

/* What several settings must keep together. 0, or -1 with `why`; `*key` is then the one to blame, which was set. */
int laju_setting_verify(const laju_config *config, const char **key, char why[LAJU_TEXT_SIZE]);

#endif
