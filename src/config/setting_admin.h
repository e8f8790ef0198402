/* The settings of the group `admin`. As laju_setting's `set` has it: 0, or -1 with `why`. One thread with a config of its own. */
#ifndef LAJU_CONFIG_SETTING_ADMIN_H
#define LAJU_CONFIG_SETTING_ADMIN_H

#include "config/config.h"

int laju_admin_set_token(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_admin_set_token_file(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_admin_set_reveal(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* Adds a name that the door answers to; `clear` takes all out. */
int laju_admin_add_host(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
void laju_admin_clear_hosts(laju_config *config);

/* A door that others than this machine reach needs a token. 0, or -1 with `why`. */
int laju_admin_verify(const laju_config *config, char why[LAJU_TEXT_SIZE]);

#endif
