#include "config/setting_admin.h"

#include <string.h>

#include "config/address.h"
#include "config/secret_file.h"
#include "config/value.h"

#define HOST_ALLOWED "a host name without a port: letters, digits, '-', '_' and dots"

/* Empty is refused: a template whose variable was not set must not open the door. Messages never show it. */
int laju_admin_set_token(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_text(text, len, 1, LAJU_SECRET_MAX, config->admin.token, why);
}

int laju_admin_set_token_file(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_secret_file_read(config->admin.token, LAJU_SECRET_MAX, "token", text, len, why);
}

int laju_admin_set_reveal(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_bool(text, len, &config->admin.reveal, why);
}

static bool is_host(const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) {
    char c = text[i];
    bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
              (c == '.' && i > 0 && i + 1 < len);
    if (!ok) return false;
  }
  return len > 0;
}

int laju_admin_add_host(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  laju_config_admin *admin = &config->admin;
  if (!is_host(text, len)) return laju_complain(why, text, len, "is not a host name", NULL, HOST_ALLOWED);
  if (len > LAJU_CONFIG_HOST_MAX) return laju_complain(why, text, len, "is too long", NULL, "at most 253 bytes");
  if (admin->host_count >= LAJU_CONFIG_HOSTS_MAX) return laju_complain(why, NULL, 0, "too many", NULL, "at most 32");
  char *host = admin->hosts[admin->host_count++];
  for (size_t i = 0; i < len; i++) host[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
  host[len] = '\0';
  return 0;
}

void laju_admin_clear_hosts(laju_config *config) {
  config->admin.host_count = 0;
}

int laju_admin_verify(const laju_config *config, char why[LAJU_TEXT_SIZE]) {
  const char *text = config->listen_admin;
  laju_address address;
  if (laju_address_parse(text, strlen(text), &address, why) < 0) return -1;
  if (laju_address_is_local(&address) || config->admin.token[0] != '\0') return 0;
  return laju_complain(why, text, strlen(text),
                       "is listen.admin, which others than this machine reach, and there is no token", NULL,
                       "admin.token or admin.token_file, or an address of this machine alone such as 127.0.0.1:8082");
}
