/* The settings of the group `tls`, each read and checked by itself, and what they must keep together. As laju_setting's `set`
 * has it: 0, or -1 with `why`. Pure; any thread with a config of its own. */
#ifndef LAJU_CONFIG_SETTING_TLS_H
#define LAJU_CONFIG_SETTING_TLS_H

#include "config/config.h"

int laju_tls_set_cert(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_tls_set_key(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_tls_set_client_ca(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* Adds a door to those that speak TLS, of which `clear` takes the default out. */
int laju_tls_add_door(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
void laju_tls_clear_doors(laju_config *config);

/* The defaults: no certificate; with one, every door. */
void laju_tls_init(laju_config_tls *tls);

/* 0, or -1 with `why`. */
int laju_tls_verify(const laju_config_tls *tls, char why[LAJU_TEXT_SIZE]);

#endif
