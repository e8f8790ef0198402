#include <stdlib.h>

#include "redis/store_parts.h"

laju_parcel *laju_parcel_new(laju_store *store, laju_server *server) {
  laju_parcel *parcel = store->spare;
  if (parcel != NULL) {
    store->spare = parcel->newer;
  } else {
    parcel = malloc(sizeof *parcel + store->parcel_size * sizeof parcel->pieces[0]);
    if (parcel == NULL) return NULL;
  }
  *parcel = (laju_parcel){.store = store, .server = server, .due_us = INT64_MAX};
  return parcel;
}

void laju_parcel_free(laju_parcel *parcel) {
  parcel->newer = parcel->store->spare;
  parcel->store->spare = parcel;
}

void laju_parcel_list(laju_parcel *parcel) {
  laju_server *server = parcel->server;
  parcel->older = server->newest;
  if (server->newest != NULL) {
    server->newest->newer = parcel;
  } else {
    server->oldest = parcel;
  }
  server->newest = parcel;
}

/* Those that were found late are in no list. */
static bool is_listed(const laju_parcel *parcel) {
  return parcel->older != NULL || parcel->server->oldest == parcel;
}

void laju_parcel_unlist(laju_parcel *parcel) {
  laju_server *server = parcel->server;
  if (!is_listed(parcel)) return;
  if (parcel->older != NULL) {
    parcel->older->newer = parcel->newer;
  } else {
    server->oldest = parcel->newer;
  }
  if (parcel->newer != NULL) {
    parcel->newer->older = parcel->older;
  } else {
    server->newest = parcel->older;
  }
  parcel->older = parcel->newer = NULL;
}

void laju_parcel_requeue(laju_parcel *parcel, laju_server *server) {
  for (size_t i = 0; i < parcel->count; i++) laju_store_requeue(parcel->store, &parcel->pieces[i], server);
}

void laju_parcel_fail(laju_parcel *parcel, const redisReply *reply) {
  for (size_t i = 0; i < parcel->count; i++) laju_store_fail_piece(parcel->store, &parcel->pieces[i], reply);
}

bool laju_parcel_is_wanted(laju_parcel *parcel) {
  for (size_t i = 0; i < parcel->count; i++) {
    if (laju_slots_find(&parcel->store->slots, parcel->pieces[i].slot) != NULL) return true;
  }
  return false;
}
