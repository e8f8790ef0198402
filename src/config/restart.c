/* What only a start can change: addresses that are bound, threads that run, memory that is mapped. */
#include <stdio.h>
#include <string.h>

#include "config/config.h"

static const char *first_changed(const laju_config *running, const laju_config *fresh) {
  if (strcmp(running->listen_http, fresh->listen_http) != 0) return "listen.http";
  if (strcmp(running->listen_resp, fresh->listen_resp) != 0) return "listen.resp";
  if (running->workers != fresh->workers) return "workers";
  if (running->memory_bytes != fresh->memory_bytes) return "memory";
  if (running->memory_logs_bytes != fresh->memory_logs_bytes) return "memory_logs";
  if (running->huge_pages != fresh->huge_pages) return "huge_pages";
  if (strcmp(running->snapshot_path, fresh->snapshot_path) != 0) return "snapshot.path";
  return NULL;
}

int laju_config_restart_needed(const laju_config *running, const laju_config *fresh, char why[LAJU_WHY_SIZE]) {
  const char *key = first_changed(running, fresh);
  if (key == NULL) return 0;
  snprintf(why, LAJU_WHY_SIZE, "%s: needs a restart", key);
  return 1;
}
