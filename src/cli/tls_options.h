/* The options of every command that speaks TLS to a door: whom it believes, and what it shows. */
#ifndef LAJU_CLI_TLS_OPTIONS_H
#define LAJU_CLI_TLS_OPTIONS_H

#include "cli/command.h"
#include "load/door.h"
#include "tls/client.h"

enum { LAJU_TLS_CA, LAJU_TLS_CERT, LAJU_TLS_KEY, LAJU_TLS_SERVER_NAME, LAJU_TLS_INSECURE, LAJU_TLS_OPTIONS };

/* Their rows in a command's table, in this order: [FIRST] = LAJU_TLS_OPTION_ROWS. */
#define LAJU_TLS_OPTION_ROWS                                                          \
  {"ca", "FILE", "TLS: authorities to believe, in PEM (the system's)", 0},            \
      {"cert", "FILE", "TLS: our own certificate, in PEM (none)", 0},                 \
      {"key", "FILE", "TLS: its key, in PEM (in the same file)", 0},                  \
      {"server-name", "NAME", "TLS: whom its certificate must name (the host)", 0}, { \
    "insecure", NULL, "TLS: believe any certificate", 0                               \
  }

/* `option` counts from the first row. 0, or -1 with `why`. */
int laju_tls_option_read(laju_tls_client_options *to, int option, const char *value, char why[LAJU_WHY_SIZE]);

/* What they must keep together, and whether `door` speaks TLS at all: 0, or the exit code. */
int laju_tls_options_verify(const laju_command *command, const laju_tls_client_options *options,
                            const laju_load_door *door);

#endif
