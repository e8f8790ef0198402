#include "server/certs.h"

#include "base/log.h"

static const char *path_or_none(const char *path) {
  return path[0] != '\0' ? path : NULL;
}

int laju_certs_init(laju_certs *certs, const laju_config_tls *config, char why[LAJU_TEXT_SIZE]) {
  *certs = (laju_certs){.files = {.cert = path_or_none(config->cert),
                                  .key = path_or_none(config->key),
                                  .client_ca = path_or_none(config->client_ca)}};
  if (certs->files.cert == NULL) return 0;
  int error = laju_tls_new(&certs->http, &certs->files, true, why);
  if (error == 0) error = laju_tls_new(&certs->resp, &certs->files, false, why);
  if (error < 0) laju_certs_deinit(certs);
  return error;
}

void laju_certs_deinit(laju_certs *certs) {
  laju_tls_free(certs->http);
  laju_tls_free(certs->resp);
  certs->http = certs->resp = NULL;
}

void laju_certs_reload(laju_certs *certs) {
  char why[LAJU_TEXT_SIZE];
  if (certs->files.cert == NULL) return;
  int error = laju_tls_replace(certs->http, &certs->files, why);
  if (error == 0) error = laju_tls_replace(certs->resp, &certs->files, why);
  if (error == 0) {
    laju_log(LAJU_LOG_INFO, "the certificate is read again", "cert", certs->files.cert, NULL);
  } else {
    laju_log(LAJU_LOG_ERROR, "the certificate cannot be used: the one before stays", "why", why, NULL);
  }
}

static void on_settled(uv_timer_t *timer) {
  laju_certs_reload(timer->data);
}

/* A file that is gone for a moment is about to come back: then it is another one. */
static void on_changed(uv_fs_poll_t *poll, int status, const uv_stat_t *before, const uv_stat_t *now) {
  laju_certs *certs = poll->data;
  (void)before;
  (void)now;
  if (status == 0) uv_timer_start(&certs->settle, on_settled, LAJU_CERTS_SETTLE_MS, 0);
}

void laju_certs_start(laju_certs *certs, uv_loop_t *loop) {
  const char *const paths[LAJU_CERTS_FILES] = {certs->files.cert, certs->files.key, certs->files.client_ca};
  uv_timer_init(loop, &certs->settle);
  certs->settle.data = certs;
  for (size_t i = 0; i < LAJU_CERTS_FILES; i++) {
    uv_fs_poll_init(loop, &certs->polls[i]);
    certs->polls[i].data = certs;
    if (paths[i] != NULL) uv_fs_poll_start(&certs->polls[i], on_changed, paths[i], LAJU_CERTS_LOOK_MS);
  }
}

void laju_certs_stop(laju_certs *certs) {
  for (size_t i = 0; i < LAJU_CERTS_FILES; i++) uv_close((uv_handle_t *)&certs->polls[i], NULL);
  uv_close((uv_handle_t *)&certs->settle, NULL);
}
