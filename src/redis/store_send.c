#include <string.h>

#include "base/count.h"
#include "redis/store_parts.h"
#include "redis/transaction.h"

#define FLUSH_SIZE (64 << 10) /* bytes that are gathered for one write; then it is seen whether the socket takes them */
#define IDLE_US (2 * LAJU_BREAKER_PROBE_MS * INT64_C(1000))

#define ASKING "*1\r\n$6\r\nASKING\r\n"
#define TIME "*1\r\n$4\r\nTIME\r\n"

/* ---- sending ---- */

/* As many of the piece's asks as one more command may hold: whole runs. */
static size_t portion_of(const laju_store *store, const laju_piece *piece, const laju_script_ask *asks, size_t room) {
  size_t taken = 0;
  while (taken < piece->count) {
    size_t len = 1;
    while (asks[taken + len - 1].joined && taken + len < piece->count) len++;
    if (taken + len > room) break;
    taken += len;
    if (!store->servers.topology->batches) break;
  }
  return taken;
}

static size_t width_of(const laju_store *store, const laju_script_ask *asks, size_t count) {
  return store->servers.options.transaction ? laju_transaction_width(asks, count) : laju_script_width(asks, count);
}

/* Moves the first of a queue's pieces, or a part of it, to a parcel whose asks so far are `count`. False: it does not fit. */
static bool pack_piece(laju_parcel *parcel, laju_piece *first, const laju_slot *slot, laju_script_ask *asks,
                       size_t *count) {
  const laju_store *store = parcel->store;
  laju_piece *piece = &parcel->pieces[parcel->count];
  if (parcel->count > 0 && (first->count == 0 || first->asking != parcel->pieces[0].asking)) return false;
  *piece = *first;
  if (first->count > 0) {
    const laju_script_ask *from = ((const laju_store_request *)slot->owner)->asks + first->from;
    piece->count = (uint16_t)portion_of(store, first, from, LAJU_STORE_BATCH - *count);
    if (piece->count == 0) return false;
    piece->width = (uint16_t)width_of(store, from, piece->count);
    memcpy(&asks[*count], from, piece->count * sizeof *asks);
    *count += piece->count;
    first->from = (uint16_t)(first->from + piece->count);
    first->count = (uint16_t)(first->count - piece->count);
  }
  int64_t due_us = slot->since_us + store->servers.options.timeout_us;
  if (parcel->due_us > due_us) parcel->due_us = due_us;
  parcel->count++;
  return true;
}

/* Returns how many asks there are; 0 of a command's parcel, and of one that is empty. */
static size_t pack(laju_parcel *parcel, laju_script_ask *asks) {
  laju_store *store = parcel->store;
  laju_pieces *queue = &parcel->server->queue;
  laju_piece *first;
  size_t count = 0;
  while (parcel->count < store->parcel_size && (first = laju_pieces_first(queue)) != NULL) {
    const laju_slot *slot = laju_slots_find(&store->slots, first->slot);
    if (slot != NULL && !pack_piece(parcel, first, slot, asks, &count)) break;
    bool is_command = slot != NULL && slot->bytes != NULL;
    if (slot == NULL || first->count == 0) laju_pieces_pop(queue);
    if (is_command) break;
  }
  return count;
}

static void write_parcel(laju_parcel *parcel, const laju_script_ask *asks, size_t count, laju_buffer *out) {
  laju_store *store = parcel->store;
  parcel->command = (laju_link_command){.done = laju_parcel_done, .deadline_us = parcel->due_us, .replies = 1};
  if (parcel->pieces[0].asking) {
    laju_buffer_add_text(out, ASKING);
    parcel->command.replies++;
  }
  if (count > 0) {
    if (store->servers.options.transaction) {
      parcel->guess_us = parcel->sent_us + parcel->server->ahead_us;
      parcel->command.replies += laju_transaction_call(asks, count, parcel->guess_us, out) - 1;
    } else {
      laju_script_call(&store->script, asks, count, NULL, out);
    }
    laju_count_more(&store->counters.checks, count);
    laju_count(&store->counters.commands);
  } else {
    const laju_slot *slot = laju_slots_find(&store->slots, parcel->pieces[0].slot);
    const laju_store_command *command = slot->owner;
    laju_buffer_add(out, slot->bytes, slot->len);
    if (command->replies > 1) parcel->command.replies += command->replies - 1;
  }
}

/* One command. False: no memory for it; its checks have failed. */
static bool send_parcel(laju_store *store, laju_server *server, laju_link *link) {
  laju_script_ask asks[LAJU_STORE_BATCH] = {0};
  laju_parcel *parcel = laju_parcel_new(store, server);
  if (parcel == NULL) return false;
  size_t count = pack(parcel, asks);
  if (parcel->count == 0) {
    laju_parcel_free(parcel);
    return true;
  }
  parcel->link = link;
  parcel->sent_us = server->asked_us = laju_store_now_us();
  write_parcel(parcel, asks, count, laju_link_out(link));
  if (laju_link_add(link, &parcel->command)) {
    laju_parcel_list(parcel);
    return true;
  }
  laju_parcel_fail(parcel, NULL);
  laju_parcel_free(parcel);
  return false;
}

/* ---- the time, which transactions must know before ---- */

void laju_store_take_time(laju_server *server, int64_t server_us, int64_t sent_us) {
  server->ahead_us = server_us - sent_us; /* the way there included, as the next will need it again */
  server->knows_time = true;
}

static void on_time(laju_link_command *command, laju_link_fate fate, const redisReply *reply) {
  laju_server *server = (laju_server *)((char *)command - offsetof(laju_server, preparing));
  laju_store *store = server->all->store;
  server->is_preparing = false;
  store->dirty = true;
  if (fate != LAJU_LINK_REPLIED) return;
  int64_t time_us = laju_transaction_read_time(reply);
  if (time_us >= 0) {
    laju_store_take_time(server, time_us, server->asked_us);
  } else {
    laju_store_blame(server, reply->type == REDIS_REPLY_ERROR ? reply->str : "no time");
  }
}

static void ask_time(laju_server *server, laju_link *link) {
  server->preparing = (laju_link_command){.done = on_time, .deadline_us = INT64_MAX, .replies = 1};
  laju_buffer_add_text(laju_link_out(link), TIME);
  if (!laju_link_add(link, &server->preparing)) return;
  server->is_preparing = true;
  server->asked_us = laju_store_now_us();
  laju_link_flush(link);
}

/* NULL: nothing can be sent to it now. */
static laju_link *link_of(laju_store *store, laju_server *server) {
  laju_link *link = server->is_preparing ? NULL : laju_server_link(server);
  if (link == NULL || !store->servers.options.transaction || server->knows_time) return link;
  ask_time(server, link);
  return NULL;
}

/* ---- queues ---- */

static void send_queue(laju_store *store, laju_server *server) {
  laju_link *link = link_of(store, server);
  while (link != NULL && server->queue.count > 0) {
    if (!send_parcel(store, server, link)) break;
    if (laju_link_out(link)->len >= FLUSH_SIZE) laju_link_flush(link);
    if (laju_link_is_ready(link)) continue;
    laju_link_flush(link);
    link = laju_server_link(server);
  }
  if (link != NULL) laju_link_flush(link);
  server->turn++;
}

void laju_store_send_queues(laju_store *store) {
  store->dirty = false;
  for (laju_server *server = store->servers.first; server != NULL; server = server->next) {
    if (server->queue.count > 0) send_queue(store, server);
  }
}

/* ---- time ---- */

/* What was not sent in time is one failure more, however many there are: the server did not take them. */
static bool drop_late_pieces(laju_server *server, int64_t now_us) {
  laju_store *store = server->all->store;
  laju_piece *piece;
  bool dropped = false;
  while ((piece = laju_pieces_first(&server->queue)) != NULL) {
    const laju_slot *slot = laju_slots_find(&store->slots, piece->slot);
    if (slot != NULL && slot->since_us + store->servers.options.timeout_us > now_us) break;
    dropped = dropped || slot != NULL;
    laju_pieces_pop(&server->queue);
  }
  return dropped;
}

void laju_store_count_late(laju_server *server, int64_t now_us) {
  laju_parcel *parcel = server->oldest;
  while (parcel != NULL && parcel->due_us <= now_us) {
    laju_parcel *next = parcel->newer;
    laju_parcel_unlist(parcel);
    laju_store_blame(server, "no answer in time");
    parcel = next;
  }
  if (drop_late_pieces(server, now_us)) laju_store_blame(server, "not sent in time");
}

/* ---- probes ---- */

/* The script that is not there will be loaded with the first check. */
static bool is_well(const redisReply *reply) {
  return reply->type != REDIS_REPLY_ERROR || strncmp(reply->str, "NOSCRIPT", 8) == 0;
}

static void on_probed(laju_link_command *command, laju_link_fate fate, const redisReply *reply) {
  laju_server *server = (laju_server *)((char *)command - offsetof(laju_server, probe));
  laju_store *store = server->all->store;
  bool in_time = laju_store_now_us() - server->probed_us <= store->servers.options.timeout_us;
  server->is_probing = false;
  if (fate == LAJU_LINK_REPLIED && is_well(reply) && in_time) laju_store_praise(server);
}

/* What checks are asked by, without any: a PING may pass where they do not. */
static uint32_t write_probe(laju_store *store, laju_buffer *out) {
  if (store->servers.options.transaction) return laju_transaction_call(NULL, 0, 0, out);
  laju_script_call(&store->script, NULL, 0, NULL, out);
  return 1;
}

void laju_store_probe(laju_server *server) {
  laju_store *store = server->all->store;
  int64_t now_us = laju_store_now_us();
  laju_link *link = laju_server_link(server);
  if (link == NULL || server->is_probing || now_us - server->asked_us < IDLE_US) return;
  if (!laju_breaker_admit(&server->breaker, now_us)) return;
  server->probe = (laju_link_command){.done = on_probed, .deadline_us = INT64_MAX};
  server->probe.replies = write_probe(store, laju_link_out(link));
  if (!laju_link_add(link, &server->probe)) return;
  server->is_probing = true;
  server->asked_us = server->probed_us = now_us;
  laju_link_flush(link);
}
