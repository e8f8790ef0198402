/* The certificates of our doors, and their exchange when their files change.
 *
 * The files are looked at every LAJU_CERTS_LOOK_MS, in libuv's threads, and read once they have kept still for LAJU_CERTS_SETTLE_MS; also when the
 * configuration is reloaded. What cannot be used is told in the log, and the old certificate stays. The main thread's, but for the
 * laju_tls, which workers use.
 */
#ifndef LAJU_SERVER_CERTS_H
#define LAJU_SERVER_CERTS_H

#include <uv.h>

#include "config/config.h"
#include "server/tls.h"

#define LAJU_CERTS_LOOK_MS 1000
#define LAJU_CERTS_SETTLE_MS 500
#define LAJU_CERTS_FILES 3

typedef struct laju_certs {
  laju_tls_files files;
  laju_tls *http, *resp; /* of doors that speak HTTP, and of the other; NULL where there is no certificate */
  uv_fs_poll_t polls[LAJU_CERTS_FILES];
  uv_timer_t settle;
} laju_certs;

/* Reads the files, if there are any. 0, or an error with `why`. `config` outlives it. */
int laju_certs_init(laju_certs *certs, const laju_config_tls *config, char why[LAJU_TEXT_SIZE]);
void laju_certs_deinit(laju_certs *certs); /* when no worker uses them any more */

/* Begins and ends looking at the files. */
void laju_certs_start(laju_certs *certs, uv_loop_t *loop);
void laju_certs_stop(laju_certs *certs);

/* Reads the files again, now. */
void laju_certs_reload(laju_certs *certs);

#endif
