#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "redis/store_parts.h"

/* ---- coming ---- */

bool laju_store_admit(laju_server *server) {
  if (!laju_breaker_is_open(&server->breaker)) return true;
  /* A probe that cannot be sent at once would only wait, and tell nothing. */
  if (laju_server_link(server) == NULL) return false;
  return laju_breaker_admit(&server->breaker, laju_store_now_us());
}

static size_t run_length(const laju_script_ask *asks, size_t count) {
  size_t len = 1;
  while (asks[len - 1].joined && len < count) len++;
  return len;
}

static bool push(laju_store *store, laju_server *server, const laju_piece *piece) {
  laju_piece *last = laju_pieces_last(&server->queue);
  store->dirty = true;
  if (last != NULL && last->slot == piece->slot && last->from + last->count == piece->from && piece->count > 0) {
    last->count = (uint16_t)(last->count + piece->count);
    return true;
  }
  return laju_pieces_push(&server->queue, piece);
}

static void set(laju_store_request *request, size_t from, size_t count, laju_store_outcome outcome) {
  for (size_t i = 0; i < count; i++) request->outcomes[from + i] = outcome;
}

static laju_store_outcome submit_run(laju_store *store, laju_store_request *request, size_t from, size_t len) {
  const laju_topology *topology = store->servers.topology;
  const laju_script_ask *asks = request->asks + from;
  if (len > 1 && topology->together != NULL && !topology->together(asks, len)) return LAJU_STORE_SPLIT;
  laju_server *server = topology->find(&store->servers, asks[0].name, asks[0].name_len);
  if (!laju_store_admit(server)) {
    laju_count_more(&store->counters.short_cuts, len);
    return LAJU_STORE_FAILED;
  }
  laju_piece piece = {.slot = request->slot, .from = (uint16_t)from, .count = (uint16_t)len};
  return len <= LAJU_CHECKS_MAX && push(store, server, &piece) ? LAJU_STORE_PENDING : LAJU_STORE_FAILED;
}

static bool has_room(laju_store *store, size_t count) {
  if (laju_count_read(&store->counters.inflight) + count <= store->servers.options.max_inflight) return true;
  laju_count_more(&store->counters.overflows, count);
  return false;
}

bool laju_store_submit(laju_store *store, laju_store_request *request) {
  int64_t now_us = laju_store_now_us();
  request->sent_us = now_us;
  request->pending = 0;
  request->slot = 0;
  if (!store->closing && request->count <= LAJU_SCRIPT_CHECKS_MAX && has_room(store, request->count)) {
    request->slot = laju_slots_add(&store->slots, request, now_us);
  }
  if (request->slot == 0) {
    set(request, 0, request->count, LAJU_STORE_FAILED);
    return false;
  }
  for (size_t i = 0, len; i < request->count; i += len) {
    len = run_length(request->asks + i, request->count - i);
    laju_store_outcome outcome = submit_run(store, request, i, len);
    set(request, i, len, outcome);
    if (outcome == LAJU_STORE_PENDING) request->pending += len;
  }
  if (request->pending == 0) {
    laju_slots_remove(&store->slots, request->slot);
    return false;
  }
  laju_count_more(&store->counters.inflight, request->pending);
  laju_store_watch(store);
  return true;
}

/* The slot has the bytes from here on. */
static bool keep_bytes(laju_store *store, const laju_store_command *command) {
  laju_slot *slot = laju_slots_find(&store->slots, command->slot);
  slot->bytes = malloc(command->len);
  if (slot->bytes == NULL) return false;
  memcpy(slot->bytes, command->bytes, command->len);
  slot->len = command->len;
  return true;
}

bool laju_store_send(laju_store *store, laju_store_command *command) {
  if (store->closing || command->len == 0 || !has_room(store, 1)) return false;
  laju_server *server = store->servers.topology->find(&store->servers, command->key, command->key_len);
  if (!laju_store_admit(server)) return false;
  command->slot = laju_slots_add(&store->slots, command, laju_store_now_us());
  if (command->slot == 0) return false;
  if (!keep_bytes(store, command) || !push(store, server, &(laju_piece){.slot = command->slot})) {
    laju_slots_remove(&store->slots, command->slot);
    return false;
  }
  laju_count(&store->counters.inflight);
  laju_store_watch(store);
  return true;
}

/* ---- going ---- */

void laju_store_note_refusal(laju_store *store, const char *error, size_t checks) {
  laju_count_more(&store->counters.refusals, checks);
  snprintf(store->refusal, sizeof store->refusal, "%s", error);
}

static void finish(laju_store *store, laju_store_request *request) {
  laju_slot *slot = laju_slots_find(&store->slots, request->slot);
  laju_slot_text *texts = slot->texts;
  laju_slots_remove(&store->slots, request->slot);
  request->done(request);
  laju_slot_texts_free(texts);
}

/* An error's words are the reply's. Where the request waits for more, they must outlive it. */
static void keep_texts(laju_slot *slot, laju_script_answer *answers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (answers[i].error != NULL) answers[i].error = laju_slot_keep_text(slot, answers[i].error, "ERR no memory");
  }
}

void laju_store_conclude(laju_store *store, const laju_piece *piece, const laju_script_answer *answers) {
  laju_slot *slot = laju_slots_find(&store->slots, piece->slot);
  if (slot == NULL) return;
  laju_store_request *request = slot->owner;
  request->pending -= piece->count;
  laju_count_less(&store->counters.inflight, piece->count);
  set(request, piece->from, piece->count, answers != NULL ? LAJU_STORE_ANSWERED : LAJU_STORE_FAILED);
  if (answers != NULL) {
    laju_script_answer *to = request->answers + piece->from;
    memcpy(to, answers, piece->count * sizeof *to);
    if (request->pending > 0) keep_texts(slot, to, piece->count);
  }
  if (request->pending == 0) finish(store, request);
}

void laju_store_conclude_command(laju_store *store, uint64_t number, const redisReply *reply) {
  laju_slot *slot = laju_slots_find(&store->slots, number);
  if (slot == NULL) return;
  laju_store_command *command = slot->owner;
  laju_slots_remove(&store->slots, number);
  laju_count_less(&store->counters.inflight, 1);
  command->done(command, reply);
}

void laju_store_fail_piece(laju_store *store, const laju_piece *piece, const redisReply *reply) {
  if (piece->count == 0) {
    laju_store_conclude_command(store, piece->slot, reply);
    return;
  }
  if (laju_slots_find(&store->slots, piece->slot) == NULL) return;
  if (reply != NULL) {
    laju_store_note_refusal(store, reply->str, piece->count);
  } else {
    laju_count_more(&store->counters.failures, piece->count);
  }
  laju_store_conclude(store, piece, NULL);
}

void laju_store_requeue(laju_store *store, const laju_piece *piece, laju_server *server) {
  laju_slot *slot = laju_slots_find(&store->slots, piece->slot);
  if (slot == NULL) return;
  if (server == NULL || server->removed) {
    const laju_store_request *request = slot->owner;
    const laju_script_ask *ask = piece->count > 0 ? &request->asks[piece->from] : NULL;
    server = ask != NULL ? store->servers.topology->find(&store->servers, ask->name, ask->name_len) : NULL;
  }
  store->dirty = true;
  if (server == NULL || store->closing || !laju_pieces_push(&server->queue, piece))
    laju_store_fail_piece(store, piece, NULL);
}

static void expire_request(laju_store *store, laju_store_request *request) {
  for (size_t i = 0; i < request->count; i++) {
    if (request->outcomes[i] == LAJU_STORE_PENDING) request->outcomes[i] = LAJU_STORE_FAILED;
  }
  laju_count_more(&store->counters.timeouts, request->pending);
  laju_count_less(&store->counters.inflight, request->pending);
  request->pending = 0;
  finish(store, request);
}

void laju_store_expire(laju_store *store, int64_t now_us, bool all) {
  uint64_t number;
  const laju_slot *slot;
  while ((slot = laju_slots_oldest(&store->slots, &number)) != NULL) {
    if (!all && slot->since_us + store->servers.options.timeout_us > now_us) return;
    if (slot->bytes != NULL) {
      laju_store_conclude_command(store, number, NULL);
    } else {
      expire_request(store, slot->owner);
    }
  }
}
