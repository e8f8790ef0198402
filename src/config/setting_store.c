#include "config/setting_store.h"

#include <string.h>

#include "base/plain.h"
#include "config/secret_file.h"
#include "config/value.h"

#define MS INT64_C(1000)
#define S INT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

void laju_store_init(laju_config_store *store) {
  *store = (laju_config_store){
      .timeout_us = 50 * MS,
      .connect_timeout_us = 250 * MS,
      .pool = 1,
      .max_inflight = LAJU_CONFIG_INFLIGHT,
      .prefix = "laju",
      .deny_cache = true,
  };
}

/* ---- where it is --------------------------------------------------------------------------------------------------- */

/* The file's password goes over the URL's, whichever of the two is read first. */
static void place_password(laju_config_store *store) {
  if (store->url.kind == LAJU_STORE_NONE || store->password[0] == '\0') return;
  memcpy(store->url.password, store->password, sizeof store->password);
}

int laju_store_set_redis(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  _Static_assert(LAJU_STORE_WHY_SIZE <= LAJU_TEXT_SIZE, "what is said of a URL has room");
  if (len == 3 && memcmp(text, "off", 3) == 0) {
    config->store.url = (laju_store_url){0};
    return 0;
  }
  if (laju_store_url_parse(&config->store.url, text, len, why) < 0) return -1;
  place_password(&config->store);
  return 0;
}

int laju_store_set_password_file(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  laju_config_store *store = &config->store;
  if (laju_secret_file_read(store->password, LAJU_STORE_TEXT_MAX, "password", text, len, why) < 0) return -1;
  place_password(store);
  return 0;
}

/* ---- how long, how much -------------------------------------------------------------------------------------------- */

int laju_store_set_timeout(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_duration(text, len, MS, 10 * S, "1ms to 10s", &config->store.timeout_us, why);
}

int laju_store_set_connect_timeout(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_duration(text, len, MS, 60 * S, "1ms to 1m", &config->store.connect_timeout_us, why);
}

static int set_number(uint32_t *to, uint32_t min, uint32_t max, const char *text, size_t len, const char *allowed,
                      char why[LAJU_TEXT_SIZE]) {
  uint64_t value;
  if (laju_value_count(text, len, max, allowed, &value, why) < 0) return -1;
  if (value < min) return laju_complain(why, text, len, "is out of range", NULL, allowed);
  *to = (uint32_t)value;
  return 0;
}

int laju_store_set_pool(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_number(&config->store.pool, 1, LAJU_CONFIG_POOL_MAX, text, len, "1 to 16", why);
}

int laju_store_set_max_inflight(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_number(&config->store.max_inflight, 1, LAJU_CONFIG_INFLIGHT_MAX, text, len, "1 to 1000000", why);
}

int laju_store_set_nodes(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  const char *allowed = "0 to 100000 (0: counted from the store)";
  return set_number(&config->store.nodes, 0, LAJU_CONFIG_NODES_MAX, text, len, allowed, why);
}

/* ---- how ----------------------------------------------------------------------------------------------------------- */

int laju_store_set_prefix(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  _Static_assert(sizeof config->store.prefix > LAJU_PLAIN_MAX, "a prefix has room");
  if (!laju_plain(text, len)) return laju_complain(why, text, len, "is not a prefix", NULL, LAJU_PLAIN_ALLOWED);
  memcpy(config->store.prefix, text, len);
  config->store.prefix[len] = '\0';
  return 0;
}

static int set_path(char to[LAJU_PATH_MAX], const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_text(text, len, 1, LAJU_PATH_MAX - 1, to, why);
}

int laju_store_set_tls_ca(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_path(config->store.tls_ca, text, len, why);
}

int laju_store_set_tls_cert(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_path(config->store.tls_cert, text, len, why);
}

int laju_store_set_tls_key(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_path(config->store.tls_key, text, len, why);
}

int laju_store_set_tls_server_name(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_text(text, len, 1, LAJU_STORE_HOST_MAX, config->store.tls_server_name, why);
}

int laju_store_set_atomicity(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  static const char *const words[] = {"script", "transaction"};
  size_t found;
  if (laju_value_word(text, len, words, COUNT(words), &found, why) < 0) return -1;
  config->store.transaction = found == 1;
  return 0;
}

int laju_store_set_deny_cache(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_bool(text, len, &config->store.deny_cache, why);
}

/* ---- together ------------------------------------------------------------------------------------------------------ */

int laju_store_verify(const laju_config_store *store, char why[LAJU_TEXT_SIZE]) {
  const laju_store_url *url = &store->url;
  if (url->user[0] != '\0' && url->password[0] == '\0') {
    return laju_complain(why, NULL, 0, "redis names a user and no password", NULL, "USER:PASSWORD@, or password_file");
  }
  if ((store->tls_cert[0] == '\0') != (store->tls_key[0] == '\0')) {
    return laju_complain(why, NULL, 0, "tls_cert and tls_key are one pair", NULL, "both, or neither");
  }
  bool tls = store->tls_ca[0] != '\0' || store->tls_cert[0] != '\0' || store->tls_server_name[0] != '\0';
  if (url->kind == LAJU_STORE_NONE || url->tls || !tls) return 0;
  return laju_complain(why, NULL, 0, "redis is a URL without TLS, and tls_ca, tls_cert or tls_server_name is given",
                       NULL, "rediss://, rediss+sentinel:// or rediss+cluster://");
}
