/* The configuration: YAML and command line into settings and rules. Knows no store and no socket.
 *
 * A rule that does not say its mode is exact where there is a store, and embedded where there is none, in whatever order they
 * come.
 *
 * A bad file is refused whole. `why` then says where (file, line, column), what (the key and the value), what is allowed,
 * and the nearest known word.
 */
#ifndef LAJU_CONFIG_CONFIG_H
#define LAJU_CONFIG_CONFIG_H

#include "base/store_url.h"
#include "config/policy.h"

#define LAJU_ADDRESS_MAX 256 /* bytes of a listen address */
#define LAJU_PATH_MAX 1024   /* bytes of a path */
#define LAJU_WHY_SIZE 1024   /* room for a configuration error */

/* The limits of a configuration; beyond them it is refused. */
#define LAJU_CONFIG_FILE_MAX (4 << 20) /* bytes of a file */
#define LAJU_CONFIG_RULES_MAX 10000
#define LAJU_CONFIG_WORKERS_MAX 1024
#define LAJU_CONFIG_TRUSTED_MAX 1024       /* networks in trusted_proxies */
#define LAJU_CONFIG_SNAPSHOT_PATH_MAX 1000 /* leaves room for the names beside it */
#define LAJU_CONFIG_POOL_MAX 16
#define LAJU_CONFIG_INFLIGHT 10000 /* where the file does not say: what a server decides in some 50 ms */
#define LAJU_CONFIG_INFLIGHT_MAX 1000000
#define LAJU_CONFIG_NODES_MAX 100000
#define LAJU_CONFIG_INTERVAL_MIN_US INT64_C(100000)
#define LAJU_CONFIG_INTERVAL_MAX_US INT64_C(86400000000)

/* store: where the shared store is, and how long it may take. */
typedef struct laju_config_store {
  laju_store_url url;                     /* kind NONE: there is none. Its password is the file's where there is one */
  char password[LAJU_STORE_TEXT_MAX + 1]; /* of password_file; "": none */
  char tls_ca[LAJU_PATH_MAX], tls_cert[LAJU_PATH_MAX], tls_key[LAJU_PATH_MAX]; /* "": none */
  char tls_server_name[LAJU_STORE_HOST_MAX + 1];                               /* "": the host's name */
  int64_t timeout_us, connect_timeout_us;
  uint32_t pool;         /* connections of a worker to each server */
  uint32_t max_inflight; /* checks of a worker that may wait for it */
  char prefix[64 + 1];   /* of all keys' names */
  bool transaction;      /* atomicity: transaction */
  bool deny_cache;
  uint32_t nodes; /* how many share it; 0: counted from the store */
} laju_config_store;

/* tls: what doors show to whoever connects. Of unix sockets it is not asked. */
typedef struct laju_config_tls {
  char cert[LAJU_PATH_MAX], key[LAJU_PATH_MAX], client_ca[LAJU_PATH_MAX]; /* "": none; the key may be in cert */
  bool http, resp, admin; /* the doors that speak it, where there is a cert */
} laju_config_tls;

#define LAJU_CONFIG_HOSTS_MAX 32 /* names in admin.hosts */
#define LAJU_CONFIG_HOST_MAX 253 /* bytes of one */

/* admin: who may ask the admin door. */
typedef struct laju_config_admin {
  char token[256 + 1]; /* of token or token_file, whichever comes last; "": none is needed */
  bool reveal;         /* keys are shown whole */
  char hosts[LAJU_CONFIG_HOSTS_MAX][LAJU_CONFIG_HOST_MAX + 1]; /* names that it answers to, in lower case */
  size_t host_count;
} laju_config_admin;

/* log: what is written of decisions, and how. */
typedef enum laju_log_decisions { LAJU_LOG_NOTHING, LAJU_LOG_DENIED, LAJU_LOG_ALL } laju_log_decisions;

#define LAJU_CONFIG_SAMPLE_ALL 1000000u

typedef struct laju_config_log {
  bool json;
  laju_log_decisions decisions;
  uint32_t sample; /* so many of a million, 1 to LAJU_CONFIG_SAMPLE_ALL */
} laju_config_log;

typedef struct laju_config {
  char listen_http[LAJU_ADDRESS_MAX]; /* "127.0.0.1:8080", ... as config/address.h reads it, never a name; "" is off */
  char listen_resp[LAJU_ADDRESS_MAX];
  char listen_admin[LAJU_ADDRESS_MAX];
  uint32_t workers; /* 0: as many as CPUs allow */
  uint64_t memory_bytes;
  uint64_t memory_logs_bytes;        /* the part of memory_bytes for sliding logs, never 0 */
  uint32_t memory_logs_percent;      /* memory_logs_bytes follows memory_bytes as this share of it; 0: it was a size */
  bool huge_pages;                   /* the memory is mapped in huge pages */
  char snapshot_path[LAJU_PATH_MAX]; /* "": no snapshot */
  int64_t snapshot_interval_us;
  bool inline_limits;
  bool resp_admin;
  char resp_password[256];                       /* "": none */
  laju_network trusted[LAJU_CONFIG_TRUSTED_MAX]; /* whose forwarding headers count */
  size_t trusted_count;
  bool trust_unix;                    /* "unix:" is among them */
  uint8_t ip_prefix_v4, ip_prefix_v6; /* bits of an address that make one client: 1 to 32, 1 to 128 */
  bool show_x_ratelimit, show_ratelimit;
  bool reset_is_delta; /* headers: {reset: delta} */
  laju_config_admin admin;
  laju_config_log log;
  laju_config_store store;
  laju_config_tls tls;
  laju_policy *rules; /* `rule_count`, owned */
  size_t rule_count;
} laju_config;

/* The defaults: no store, HTTP on 127.0.0.1:8080, RESP on 127.0.0.1:6380, admin on 127.0.0.1:8082, 256 MiB, a quarter of it for logs, inline limits allowed, no
 * snapshot (an interval of 10 s where there is a path), no password, proxies on this machine trusted, an IPv4 address or a
 * /64 a client, all headers with resets since the epoch, no rules. */
void laju_config_init(laju_config *config);
void laju_config_deinit(laju_config *config);

/* Reads a file over the defaults; what an initialised `config` held before is freed. 0, or -1 with `why`; `config` is then
 * unchanged. */
int laju_config_load(laju_config *config, const char *path, char why[LAJU_WHY_SIZE]);

/* The same from text in memory; `name` stands for the file in messages. */
int laju_config_parse(laju_config *config, const char *name, const char *text, size_t len, char why[LAJU_WHY_SIZE]);

/* Sets one setting by its name in YAML ("listen.http", "memory", ...), as the command line does over a file. 0, or -1 with
 * `why` (which does not repeat the name). Afterwards laju_config_verify. A store that is given or taken away here changes the
 * mode of the rules that do not say theirs. */
int laju_config_set(laju_config *config, const char *key, const char *text, char why[LAJU_WHY_SIZE]);

/* What several settings must keep together. 0, or -1 with `why`. */
int laju_config_verify(const laju_config *config, char why[LAJU_WHY_SIZE]);

/* Can the store decide rules of this algorithm? False where there is none. */
bool laju_config_store_can(const laju_config_store *store, laju_algorithm algorithm);

/* Adds a rule from a line such as "login=5/1m token-bucket burst 10". 0, or -1 with `why` (also where the name is taken). */
int laju_config_add_rule(laju_config *config, const char *text, char why[LAJU_WHY_SIZE]);

/* May what runs by `running` go on by `fresh`? 0, or 1 with `why` naming the first setting of which a change needs a restart:
 * listen, workers, memory, memory_logs, huge_pages, snapshot.path, all of store. Rules are not looked at. */
int laju_config_restart_needed(const laju_config *running, const laju_config *fresh, char why[LAJU_WHY_SIZE]);

/* Where no rule was given: `default`, 100 a minute per key, so that the first request works. 0, or -1 (memory). */
int laju_config_add_default_rule(laju_config *config);

/* What is allowed and probably not meant, a line at a time: calls `tell` once for each of the first LAJU_CONFIG_WARNINGS_MAX,
 * and where there are more once to say so; returns how many there are. */
#define LAJU_CONFIG_WARNINGS_MAX 100
typedef void (*laju_config_tell)(void *context, const char *warning);
size_t laju_config_warn(const laju_config *config, laju_config_tell tell, void *context);

#endif
