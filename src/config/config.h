/* The configuration: YAML and command line into settings and rules. Knows no store and no socket.
 *
 * A bad file is refused whole. `why` then says where (file, line, column), what (the key and the value), what is allowed,
 * and the nearest known word.
 */
#ifndef LAJU_CONFIG_CONFIG_H
#define LAJU_CONFIG_CONFIG_H

#include <laju/laju.h>

#define LAJU_ADDRESS_MAX 256 /* bytes of a listen address */
#define LAJU_PATH_MAX 1024   /* bytes of a path */
#define LAJU_WHY_SIZE 1024   /* room for a configuration error */

typedef struct laju_config {
  char listen_http[LAJU_ADDRESS_MAX]; /* "127.0.0.1:8080", "[::1]:8080", "unix:/path"; "" is off */
  char listen_resp[LAJU_ADDRESS_MAX];
  uint32_t workers; /* 0: as many as CPUs allow */
  uint64_t memory_bytes;
  uint64_t memory_logs_bytes;
  char snapshot_path[LAJU_PATH_MAX]; /* "": no snapshot */
  int64_t snapshot_interval_us;
  bool inline_limits;
  bool resp_admin;
  char resp_password[256]; /* "": none */
  laju_rule *rules;        /* `rule_count`, owned */
  size_t rule_count;
} laju_config;

/* The defaults: HTTP on 127.0.0.1:8080, RESP on 127.0.0.1:6380, 256 MiB, no snapshot, no rules. */
void laju_config_init(laju_config *config);
void laju_config_deinit(laju_config *config);

/* Reads a file over the defaults. 0, or -1 with `why`; `config` is then unchanged. */
int laju_config_load(laju_config *config, const char *path, char why[LAJU_WHY_SIZE]);

/* The same from text in memory; `name` stands for the file in messages. */
int laju_config_parse(laju_config *config, const char *name, const char *text, size_t len, char why[LAJU_WHY_SIZE]);

/* Adds a rule from a line such as "login=5/1m token-bucket burst 10". 0, or -1 with `why` (also where the name is taken). */
int laju_config_add_rule(laju_config *config, const char *text, char why[LAJU_WHY_SIZE]);

/* Where no rule was given: `default`, 100 a minute per key, so that the first request works. 0, or -1 (memory). */
int laju_config_add_default_rule(laju_config *config);

#endif
