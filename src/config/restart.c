/* What only a start can change: addresses that are bound, threads that run, memory that is mapped, the store that is
 * asked. */
#include <stdio.h>
#include <string.h>

#include "config/config.h"

static const char *first_changed_of_store_tls(const laju_config_store *running, const laju_config_store *fresh) {
  if (strcmp(running->tls_ca, fresh->tls_ca) != 0) return "store.tls_ca";
  if (strcmp(running->tls_cert, fresh->tls_cert) != 0) return "store.tls_cert";
  if (strcmp(running->tls_key, fresh->tls_key) != 0) return "store.tls_key";
  if (strcmp(running->tls_server_name, fresh->tls_server_name) != 0) return "store.tls_server_name";
  return NULL;
}

static const char *first_changed_of_store(const laju_config_store *running, const laju_config_store *fresh) {
  if (strcmp(running->password, fresh->password) != 0) return "store.password_file";
  if (!laju_store_url_same(&running->url, &fresh->url)) return "store.redis";
  if (running->timeout_us != fresh->timeout_us) return "store.timeout";
  if (running->connect_timeout_us != fresh->connect_timeout_us) return "store.connect_timeout";
  if (running->pool != fresh->pool) return "store.pool";
  if (running->max_inflight != fresh->max_inflight) return "store.max_inflight";
  if (strcmp(running->prefix, fresh->prefix) != 0) return "store.prefix";
  if (running->transaction != fresh->transaction) return "store.atomicity";
  if (running->deny_cache != fresh->deny_cache) return "store.deny_cache";
  if (running->nodes != fresh->nodes) return "store.nodes";
  return first_changed_of_store_tls(running, fresh);
}

/* What is in the files may change while we run; which files these are, not. */
static const char *first_changed_of_doors_tls(const laju_config_tls *running, const laju_config_tls *fresh) {
  if (strcmp(running->cert, fresh->cert) != 0) return "tls.cert";
  if (strcmp(running->key, fresh->key) != 0) return "tls.key";
  if (strcmp(running->client_ca, fresh->client_ca) != 0) return "tls.client_ca";
  bool same = running->http == fresh->http && running->resp == fresh->resp && running->admin == fresh->admin;
  return same ? NULL : "tls.doors";
}

static const char *first_changed(const laju_config *running, const laju_config *fresh) {
  if (strcmp(running->listen_http, fresh->listen_http) != 0) return "listen.http";
  if (strcmp(running->listen_resp, fresh->listen_resp) != 0) return "listen.resp";
  if (strcmp(running->listen_admin, fresh->listen_admin) != 0) return "listen.admin";
  if (running->workers != fresh->workers) return "workers";
  if (running->memory_bytes != fresh->memory_bytes) return "memory";
  if (running->memory_logs_bytes != fresh->memory_logs_bytes) return "memory_logs";
  if (running->huge_pages != fresh->huge_pages) return "huge_pages";
  if (strcmp(running->snapshot_path, fresh->snapshot_path) != 0) return "snapshot.path";
  const char *of_store = first_changed_of_store(&running->store, &fresh->store);
  return of_store != NULL ? of_store : first_changed_of_doors_tls(&running->tls, &fresh->tls);
}

int laju_config_restart_needed(const laju_config *running, const laju_config *fresh, char why[LAJU_WHY_SIZE]) {
  const char *key = first_changed(running, fresh);
  if (key == NULL) return 0;
  snprintf(why, LAJU_WHY_SIZE, "%s: needs a restart", key);
  return 1;
}
