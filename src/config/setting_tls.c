#include "config/setting_tls.h"

#include "config/value.h"

void laju_tls_init(laju_config_tls *tls) {
  *tls = (laju_config_tls){.http = true, .resp = true, .admin = true};
}

static int set_path(char path[LAJU_PATH_MAX], const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_text(text, len, 1, LAJU_PATH_MAX - 1, path, why);
}

int laju_tls_set_cert(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_path(config->tls.cert, text, len, why);
}

int laju_tls_set_key(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_path(config->tls.key, text, len, why);
}

int laju_tls_set_client_ca(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return set_path(config->tls.client_ca, text, len, why);
}

int laju_tls_add_door(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  static const char *const words[] = {"http", "resp", "admin"};
  bool *const doors[] = {&config->tls.http, &config->tls.resp, &config->tls.admin};
  size_t found;
  if (laju_value_word(text, len, words, 3, &found, why) < 0) return -1;
  *doors[found] = true;
  return 0;
}

void laju_tls_clear_doors(laju_config *config) {
  config->tls.http = config->tls.resp = config->tls.admin = false;
}

int laju_tls_verify(const laju_config_tls *tls, char why[LAJU_TEXT_SIZE]) {
  if (tls->cert[0] != '\0') return 0;
  if (tls->key[0] != '\0')
    return laju_complain(why, NULL, 0, "has a key and no cert", NULL, "cert with key, or neither");
  if (tls->client_ca[0] == '\0') return 0;
  return laju_complain(why, NULL, 0, "has a client_ca and no cert", NULL, "cert with client_ca, or neither");
}
