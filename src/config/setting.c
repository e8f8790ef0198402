#include "config/setting.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "config/address.h"
#include "config/policy_text.h"
#include "config/setting_admin.h"
#include "config/setting_log.h"
#include "config/setting_store.h"
#include "config/setting_tls.h"
#include "config/value.h"

#define MEMORY_MIN (UINT64_C(1) << 20)
#define MEMORY_MAX (UINT64_C(1) << 40)
#define MEMORY_ALLOWED "1MiB to 1TiB"
#define LOGS_PERCENT_MAX 80 /* the keys themselves must go somewhere */
#define LOGS_MIN UINT64_C(4096)
#define LOGS_ALLOWED "1% to 80% of memory, or a size from 4KiB"
#define TRUSTED_ALLOWED "an address, a network such as 10.0.0.0/8, or unix:"
#define PASSWORD_MAX (sizeof((laju_config){0}.resp_password) - 1)

/* A door: stored as it was written, so that messages show it so. */
static int set_door(char *door, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  laju_address address;
  if (laju_address_parse(text, len, &address, why) < 0) return -1;
  if (address.kind == LAJU_ADDRESS_NAME) {
    char hint[32];
    snprintf(hint, sizeof hint, "127.0.0.1:%u", address.port);
    bool local = laju_address_is_local(&address);
    return laju_complain(why, text, len, "has a host name", local ? hint : NULL, LAJU_ADDRESS_ALLOWED);
  }
  if (address.kind == LAJU_ADDRESS_OFF) len = 0;
  memcpy(door, text, len); /* shorter than LAJU_ADDRESS_MAX: each part was checked */
  door[len] = '\0';
  return 0;
}

static int set_http(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_door(config->listen_http, text, len, why);
}

static int set_resp(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_door(config->listen_resp, text, len, why);
}

static int set_admin(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_door(config->listen_admin, text, len, why);
}

static int set_workers(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  uint64_t workers;
  const char *allowed = "0 to 1024 (0: as many as CPUs allow)";
  if (laju_value_count(text, len, LAJU_CONFIG_WORKERS_MAX, allowed, &workers, why) < 0) return -1;
  config->workers = (uint32_t)workers;
  return 0;
}

/* Logs that are a share of the memory move with it, whichever of the two comes first. */
static void share_logs(laju_config *config) {
  if (config->memory_logs_percent > 0) {
    config->memory_logs_bytes = config->memory_bytes * config->memory_logs_percent / 100;
  }
}

static int set_memory(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  if (laju_value_size(text, len, MEMORY_MIN, MEMORY_MAX, MEMORY_ALLOWED, &config->memory_bytes, why) < 0) return -1;
  share_logs(config);
  return 0;
}

static int set_memory_logs(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  if (len == 0 || text[len - 1] != '%') {
    uint64_t bytes;
    if (laju_value_size(text, len, LOGS_MIN, MEMORY_MAX, LOGS_ALLOWED, &bytes, why) < 0) return -1;
    config->memory_logs_bytes = bytes;
    config->memory_logs_percent = 0;
    return 0;
  }
  uint64_t percent = 0;
  bool good = laju_value_count(text, len - 1, LOGS_PERCENT_MAX, LOGS_ALLOWED, &percent, why) == 0 && percent > 0;
  if (!good) return laju_complain(why, text, len, "is out of range", NULL, LOGS_ALLOWED);
  config->memory_logs_percent = (uint32_t)percent;
  share_logs(config);
  return 0;
}

static int set_huge_pages(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_bool(text, len, &config->huge_pages, why);
}

static int set_snapshot_path(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_text(text, len, 0, LAJU_CONFIG_SNAPSHOT_PATH_MAX, config->snapshot_path, why);
}

static int set_snapshot_interval(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_duration(text, len, LAJU_CONFIG_INTERVAL_MIN_US, LAJU_CONFIG_INTERVAL_MAX_US, "100ms to 1d",
                             &config->snapshot_interval_us, why);
}

static int set_inline_limits(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_bool(text, len, &config->inline_limits, why);
}

static int set_resp_admin(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_bool(text, len, &config->resp_admin, why);
}

/* Empty is refused: a template whose variable was not set must not open the door. Messages never show it. */
static int set_resp_password(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_text(text, len, 1, PASSWORD_MAX, config->resp_password, why);
}

static void clear_trusted_proxies(laju_config *config) {
  config->trusted_count = 0;
  config->trust_unix = false;
}

static int add_trusted_proxy(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  if (len == 5 && memcmp(text, "unix:", 5) == 0) {
    config->trust_unix = true;
    return 0;
  }
  laju_network network;
  static const char *const unix_word = "unix:";
  const char *hint = laju_nearest(text, len, &unix_word, 1);
  if (laju_network_read(&network, text, len, hint, TRUSTED_ALLOWED, why) < 0) return -1;
  if (config->trusted_count >= LAJU_CONFIG_TRUSTED_MAX) {
    return laju_complain(why, NULL, 0, "too many", NULL, "at most 1024");
  }
  config->trusted[config->trusted_count++] = network;
  return 0;
}

static int set_prefix(uint8_t *prefix, uint8_t max, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  uint64_t bits;
  char allowed[24];
  snprintf(allowed, sizeof allowed, "1 to %u", max);
  if (laju_value_count(text, len, max, allowed, &bits, why) < 0) return -1;
  if (bits == 0) return laju_complain(why, text, len, "would make all clients one", NULL, allowed);
  *prefix = (uint8_t)bits;
  return 0;
}

static int set_ip_prefix_v4(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_prefix(&config->ip_prefix_v4, 32, text, len, why);
}

static int set_ip_prefix_v6(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_prefix(&config->ip_prefix_v6, 128, text, len, why);
}

static int set_x_ratelimit(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_bool(text, len, &config->show_x_ratelimit, why);
}

static int set_ratelimit(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_bool(text, len, &config->show_ratelimit, why);
}

static int set_reset(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  static const char *const words[] = {"epoch", "delta"};
  size_t found;
  if (laju_value_word(text, len, words, 2, &found, why) < 0) return -1;
  config->reset_is_delta = found == 1;
  return 0;
}

const laju_setting laju_settings[LAJU_SETTINGS] = {
    {"listen", LAJU_SETTING_GROUP, NULL, NULL},
    {"listen.http", LAJU_SETTING_TEXT, set_http, NULL},
    {"listen.resp", LAJU_SETTING_TEXT, set_resp, NULL},
    {"listen.admin", LAJU_SETTING_TEXT, set_admin, NULL},
    {"workers", LAJU_SETTING_PLAIN, set_workers, NULL},
    {"memory", LAJU_SETTING_TEXT, set_memory, NULL},
    {"memory_logs", LAJU_SETTING_TEXT, set_memory_logs, NULL},
    {"huge_pages", LAJU_SETTING_PLAIN, set_huge_pages, NULL},
    {"snapshot", LAJU_SETTING_GROUP, NULL, NULL},
    {"snapshot.path", LAJU_SETTING_TEXT, set_snapshot_path, NULL},
    {"snapshot.interval", LAJU_SETTING_TEXT, set_snapshot_interval, NULL},
    {"store", LAJU_SETTING_GROUP, NULL, NULL},
    {"store.redis", LAJU_SETTING_TEXT, laju_store_set_redis, NULL},
    {"store.password_file", LAJU_SETTING_TEXT, laju_store_set_password_file, NULL},
    {"store.timeout", LAJU_SETTING_TEXT, laju_store_set_timeout, NULL},
    {"store.connect_timeout", LAJU_SETTING_TEXT, laju_store_set_connect_timeout, NULL},
    {"store.pool", LAJU_SETTING_PLAIN, laju_store_set_pool, NULL},
    {"store.max_inflight", LAJU_SETTING_PLAIN, laju_store_set_max_inflight, NULL},
    {"store.prefix", LAJU_SETTING_TEXT, laju_store_set_prefix, NULL},
    {"store.tls_ca", LAJU_SETTING_TEXT, laju_store_set_tls_ca, NULL},
    {"store.tls_cert", LAJU_SETTING_TEXT, laju_store_set_tls_cert, NULL},
    {"store.tls_key", LAJU_SETTING_TEXT, laju_store_set_tls_key, NULL},
    {"store.tls_server_name", LAJU_SETTING_TEXT, laju_store_set_tls_server_name, NULL},
    {"store.atomicity", LAJU_SETTING_TEXT, laju_store_set_atomicity, NULL},
    {"store.deny_cache", LAJU_SETTING_PLAIN, laju_store_set_deny_cache, NULL},
    {"store.nodes", LAJU_SETTING_PLAIN, laju_store_set_nodes, NULL},
    {"tls", LAJU_SETTING_GROUP, NULL, NULL},
    {"tls.cert", LAJU_SETTING_TEXT, laju_tls_set_cert, NULL},
    {"tls.key", LAJU_SETTING_TEXT, laju_tls_set_key, NULL},
    {"tls.client_ca", LAJU_SETTING_TEXT, laju_tls_set_client_ca, NULL},
    {"tls.doors", LAJU_SETTING_LIST, laju_tls_add_door, laju_tls_clear_doors},
    {"admin", LAJU_SETTING_GROUP, NULL, NULL},
    {"admin.token", LAJU_SETTING_TEXT, laju_admin_set_token, NULL},
    {"admin.token_file", LAJU_SETTING_TEXT, laju_admin_set_token_file, NULL},
    {"admin.hosts", LAJU_SETTING_LIST, laju_admin_add_host, laju_admin_clear_hosts},
    {"admin.reveal", LAJU_SETTING_PLAIN, laju_admin_set_reveal, NULL},
    {"log", LAJU_SETTING_GROUP, NULL, NULL},
    {"log.format", LAJU_SETTING_TEXT, laju_log_set_format_text, NULL},
    {"log.decisions", LAJU_SETTING_TEXT, laju_log_set_decisions, NULL},
    {"log.sample", LAJU_SETTING_TEXT, laju_log_set_sample, NULL},
    {"trusted_proxies", LAJU_SETTING_LIST, add_trusted_proxy, clear_trusted_proxies},
    {"ip_prefix", LAJU_SETTING_GROUP, NULL, NULL},
    {"ip_prefix.v4", LAJU_SETTING_PLAIN, set_ip_prefix_v4, NULL},
    {"ip_prefix.v6", LAJU_SETTING_PLAIN, set_ip_prefix_v6, NULL},
    {"headers", LAJU_SETTING_GROUP, NULL, NULL},
    {"headers.x_ratelimit", LAJU_SETTING_PLAIN, set_x_ratelimit, NULL},
    {"headers.ratelimit", LAJU_SETTING_PLAIN, set_ratelimit, NULL},
    {"headers.reset", LAJU_SETTING_TEXT, set_reset, NULL},
    {"inline_limits", LAJU_SETTING_PLAIN, set_inline_limits, NULL},
    {"resp_password", LAJU_SETTING_TEXT, set_resp_password, NULL},
    {"resp_admin", LAJU_SETTING_PLAIN, set_resp_admin, NULL},
    {"rules", LAJU_SETTING_RULES, NULL, NULL},
};

/* The part of the setting's key that stands in the group `prefix`, or NULL. */
static const char *word_in(const laju_setting *setting, const char *prefix) {
  size_t prefix_len = strlen(prefix);
  if (strncmp(setting->key, prefix, prefix_len) != 0) return NULL;
  const char *word = setting->key + prefix_len;
  return strchr(word, '.') == NULL ? word : NULL;
}

const laju_setting *laju_setting_find(const char *prefix, const char *word, size_t len) {
  for (size_t i = 0; i < LAJU_SETTINGS; i++) {
    const char *known = word_in(&laju_settings[i], prefix);
    if (known != NULL && strlen(known) == len && memcmp(known, word, len) == 0) return &laju_settings[i];
  }
  return NULL;
}

size_t laju_setting_words(const char *prefix, const char *words[LAJU_SETTINGS]) {
  size_t count = 0;
  for (size_t i = 0; i < LAJU_SETTINGS; i++) {
    const char *word = word_in(&laju_settings[i], prefix);
    if (word != NULL) words[count++] = word;
  }
  return count;
}

static bool is_every_interface(const laju_address *address) {
  return address->kind == LAJU_ADDRESS_ALL || strcmp(address->host, "0.0.0.0") == 0 || strcmp(address->host, "::") == 0;
}

/* With SO_REUSEPORT the kernel would let both doors bind and share the connections out between them. */
static bool collide(const laju_address *a, const laju_address *b) {
  if (a->kind == LAJU_ADDRESS_OFF || b->kind == LAJU_ADDRESS_OFF) return false;
  bool a_unix = a->kind == LAJU_ADDRESS_UNIX, b_unix = b->kind == LAJU_ADDRESS_UNIX;
  if (a_unix || b_unix) return a_unix && b_unix && strcmp(a->host, b->host) == 0;
  if (a->port != b->port || a->port == 0) return false;
  return strcmp(a->host, b->host) == 0 || is_every_interface(a) || is_every_interface(b);
}

static int verify_doors(const laju_config *config, char why[LAJU_TEXT_SIZE]) {
  if (config->listen_http[0] == '\0' && config->listen_resp[0] == '\0') {
    return laju_complain(why, NULL, 0, "both http and resp are off", NULL, "one of them, or both");
  }
  const struct {
    const char *name, *text;
  } doors[] = {{"http", config->listen_http}, {"resp", config->listen_resp}, {"admin", config->listen_admin}};
  laju_address addresses[3];
  for (size_t i = 0; i < 3; i++) {
    if (laju_address_parse(doors[i].text, strlen(doors[i].text), &addresses[i], why) < 0) return -1;
    for (size_t k = 0; k < i; k++) {
      if (!collide(&addresses[k], &addresses[i])) continue;
      char problem[64];
      snprintf(problem, sizeof problem, "is taken by %s and by %s", doors[k].name, doors[i].name);
      return laju_complain(why, doors[k].text, strlen(doors[k].text), problem, NULL, "an address each");
    }
  }
  return 0;
}

int laju_setting_verify(const laju_config *config, const char **key, char why[LAJU_TEXT_SIZE]) {
  if (config->memory_logs_bytes * 100 > config->memory_bytes * LOGS_PERCENT_MAX) {
    *key = "memory_logs";
    return laju_complain(why, NULL, 0, "is more than 80% of memory", NULL, LOGS_ALLOWED);
  }
  *key = "store";
  if (laju_store_verify(&config->store, why) < 0) return -1;
  *key = "tls";
  if (laju_tls_verify(&config->tls, why) < 0) return -1;
  *key = "admin";
  if (laju_admin_verify(config, why) < 0) return -1;
  *key = "listen";
  return verify_doors(config, why);
}
