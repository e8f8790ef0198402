#include "cli/tls_options.h"

#include <string.h>

#include "config/value.h"

#define NAME_MAX_BYTES 255 /* of a host, as the DNS has it */

static int read_name(const char **to, const char *value, char why[LAJU_WHY_SIZE]) {
  size_t len = strlen(value);
  if (len < 1 || len > NAME_MAX_BYTES) {
    return laju_complain(why, value, len, "is no name", NULL, "a host's name or address, 1 to 255 bytes");
  }
  *to = value;
  return 0;
}

static int read_file(const char **to, const char *value, char why[LAJU_WHY_SIZE]) {
  if (value[0] == '\0') return laju_complain(why, value, 0, "is no file", NULL, "a PEM file");
  *to = value;
  return 0;
}

int laju_tls_option_read(laju_tls_client_options *to, int option, const char *value, char why[LAJU_WHY_SIZE]) {
  switch (option) {
    case LAJU_TLS_CA: return read_file(&to->ca, value, why);
    case LAJU_TLS_CERT: return read_file(&to->cert, value, why);
    case LAJU_TLS_KEY: return read_file(&to->key, value, why);
    case LAJU_TLS_SERVER_NAME: return read_name(&to->server_name, value, why);
    default: to->insecure = true; return 0;
  }
}

static const char *first_given(const laju_tls_client_options *options) {
  if (options->ca != NULL) return "ca";
  if (options->cert != NULL) return "cert";
  if (options->key != NULL) return "key";
  if (options->server_name != NULL) return "server-name";
  return options->insecure ? "insecure" : NULL;
}

int laju_tls_options_verify(const laju_command *command, const laju_tls_client_options *options,
                            const laju_load_door *door) {
  const char *given = first_given(options);
  if (given != NULL && !door->tls) {
    return laju_command_fail(command, "--%s: %s does not speak TLS; allowed: with %s://ADDR", given,
                             door->protocol == LAJU_LOAD_HTTP ? "http://" : "resp://",
                             door->protocol == LAJU_LOAD_HTTP ? "https" : "rediss");
  }
  if (options->key != NULL && options->cert == NULL) {
    return laju_command_fail(command, "--key has no use without its certificate; allowed: with --cert FILE");
  }
  if (options->insecure && (options->ca != NULL || options->server_name != NULL)) {
    return laju_command_fail(command, "--insecure believes any certificate; allowed: without --ca and --server-name");
  }
  return 0;
}
