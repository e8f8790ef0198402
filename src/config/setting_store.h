/* The settings of the group `store`, each read and checked by itself, and what they must keep together. As laju_setting's `set`
 * has it: 0, or -1 with `why`. Pure but for the password's file, which is read; any thread with a config of its own. */
#ifndef LAJU_CONFIG_SETTING_STORE_H
#define LAJU_CONFIG_SETTING_STORE_H

#include "config/config.h"

int laju_store_set_redis(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_password_file(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_timeout(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_connect_timeout(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_pool(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_max_inflight(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_prefix(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_tls_ca(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_tls_cert(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_tls_key(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_tls_server_name(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_atomicity(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_deny_cache(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_store_set_nodes(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* The defaults: no store; 50 ms, 250 ms to connect, one connection, prefix "laju", scripts, denials remembered, nodes counted. */
void laju_store_init(laju_config_store *store);

/* 0, or -1 with `why`. */
int laju_store_verify(const laju_config_store *store, char why[LAJU_TEXT_SIZE]);

#endif
