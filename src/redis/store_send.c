#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "redis/store_parts.h"

#define FLUSH_SIZE (64 << 10) /* bytes that are gathered for one write; then it is seen whether the socket takes them */
#define IDLE_US (2 * LAJU_BREAKER_PROBE_MS * INT64_C(1000))

#define ASKING "*1\r\n$6\r\nASKING\r\n"
#define PING "*1\r\n$4\r\nPING\r\n"

/* ---- parcels ---- */

static laju_parcel *new_parcel(laju_store *store, laju_server *server) {
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

static void put_back(laju_parcel *parcel) {
  parcel->newer = parcel->store->spare;
  parcel->store->spare = parcel;
}

static void list_last(laju_parcel *parcel) {
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

static void unlist(laju_parcel *parcel) {
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

static void requeue_all(laju_parcel *parcel, laju_server *server) {
  for (size_t i = 0; i < parcel->count; i++) laju_store_requeue(parcel->store, &parcel->pieces[i], server);
}

static void fail_piece(laju_store *store, const laju_piece *piece, const redisReply *reply) {
  if (piece->count > 0) {
    laju_store_conclude(store, piece, NULL);
  } else {
    laju_store_conclude_command(store, piece->slot, reply);
  }
}

/* `reply` is an error, or NULL: a command's owner is told it. */
static void fail_all(laju_parcel *parcel, const redisReply *reply) {
  for (size_t i = 0; i < parcel->count; i++) fail_piece(parcel->store, &parcel->pieces[i], reply);
}

static bool is_wanted(laju_parcel *parcel) {
  for (size_t i = 0; i < parcel->count; i++) {
    if (laju_slots_find(&parcel->store->slots, parcel->pieces[i].slot) != NULL) return true;
  }
  return false;
}

/* ---- errors of a whole command ---- */

static bool begins_with(const char *text, const char *word) {
  return strncmp(text, word, strlen(word)) == 0;
}

static void on_loaded(laju_link_command *command, laju_link_fate fate, const redisReply *reply) {
  laju_server *server = (laju_server *)((char *)command - offsetof(laju_server, loading));
  laju_store *store = server->all->store;
  server->is_loading = false;
  store->dirty = true;
  if (fate == LAJU_LINK_REPLIED && reply->type == REDIS_REPLY_ERROR) laju_store_blame(server, reply->str);
}

/* Nothing is sent to the server until it has the script. */
static void load_script(laju_server *server) {
  laju_store *store = server->all->store;
  laju_link *link = server->is_loading ? NULL : laju_server_link(server);
  if (link == NULL) return; /* a new connection loads it by itself */
  server->loading = (laju_link_command){.done = on_loaded, .deadline_us = INT64_MAX, .replies = 1};
  laju_script_load(laju_link_out(link));
  if (!laju_link_add(link, &server->loading)) return;
  server->is_loading = true;
  laju_count(&store->counters.script_loads);
  laju_link_flush(link);
}

/* One hop more; a piece that has had too many fails. */
static void hop(laju_store *store, laju_piece *piece, laju_server *to, const redisReply *error) {
  if (piece->hops >= LAJU_REDIRECTS_MAX) {
    fail_piece(store, piece, error);
  } else {
    piece->hops++;
    laju_store_requeue(store, piece, to);
  }
}

static void keep_for_later(laju_store *store, const laju_piece *piece, laju_server *to) {
  if (store->later_count == store->later_size) {
    size_t size = store->later_size > 0 ? 2 * store->later_size : 16;
    laju_later *all = realloc(store->later, size * sizeof *all);
    if (all == NULL) {
      fail_piece(store, piece, NULL);
      return;
    }
    store->later = all;
    store->later_size = size;
  }
  store->later[store->later_count++] = (laju_later){.piece = *piece, .server = to};
}

static void on_later(uv_timer_t *timer) {
  laju_store_send_later(timer->data);
}

static void redirect_all(laju_parcel *parcel, const laju_redirect *redirect, const redisReply *error) {
  laju_store *store = parcel->store;
  laju_count(&store->counters.redirects);
  for (size_t i = 0; i < parcel->count; i++) {
    laju_piece *piece = &parcel->pieces[i];
    if (redirect->later) {
      keep_for_later(store, piece, redirect->to);
    } else {
      piece->asking = redirect->asking;
      hop(store, piece, redirect->to, error);
    }
  }
  if (store->later_count > 0 && !uv_is_active((uv_handle_t *)&store->later_timer)) {
    uv_timer_start(&store->later_timer, on_later, LAJU_REDIRECT_LATER_MS, 0);
  }
}

void laju_store_send_later(laju_store *store) {
  size_t count = store->later_count;
  for (size_t i = 0; i < count; i++) {
    laju_later later = store->later[i];
    laju_store_requeue(store, &later.piece, later.server);
  }
  store->later_count -= count;
  memmove(store->later, store->later + count, store->later_count * sizeof *store->later);
}

/* It has not run where it is sent elsewhere or again; otherwise it may have. */
static void take_error(laju_parcel *parcel, const redisReply *reply) {
  laju_store *store = parcel->store;
  laju_server *server = parcel->server;
  const laju_topology *topology = store->servers.topology;
  const char *error = reply->str;
  laju_redirect redirect = {0};
  if (begins_with(error, "NOSCRIPT")) {
    load_script(server);
    for (size_t i = 0; i < parcel->count; i++) hop(store, &parcel->pieces[i], server, reply);
    return;
  }
  if (topology->redirect != NULL) redirect = topology->redirect(&store->servers, server, error);
  if (redirect.to != NULL) {
    laju_store_praise(server);
    redirect_all(parcel, &redirect, reply);
    return;
  }
  bool is_readonly = begins_with(error, "READONLY"), is_command = parcel->pieces[0].count == 0;
  /* A command of another's own may be wrong by itself; checks are not. */
  if (!is_command || is_readonly) laju_store_blame(server, error);
  fail_all(parcel, reply);
  if (is_readonly && !server->removed) laju_server_drop(server, error);
}

/* ---- replies ---- */

/* The asks that a parcel's reply is read by. Of those whose owner has gone only their width is left. */
static size_t recall(laju_parcel *parcel, laju_script_ask *asks) {
  size_t count = 0;
  for (size_t i = 0; i < parcel->count; i++) {
    const laju_piece *piece = &parcel->pieces[i];
    const laju_slot *slot = laju_slots_find(&parcel->store->slots, piece->slot);
    if (slot == NULL) {
      asks[count++] = (laju_script_ask){.cost = piece->width};
      continue;
    }
    const laju_store_request *request = slot->owner;
    memcpy(&asks[count], request->asks + piece->from, piece->count * sizeof *asks);
    count += piece->count;
  }
  return count;
}

/* A replica runs the script and refuses its writes: the whole is then no answer, and another server is to be found. */
static const char *readonly_error(const laju_script_answer *answers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (answers[i].error != NULL && begins_with(answers[i].error, "READONLY")) return answers[i].error;
  }
  return NULL;
}

static void give_answers(laju_parcel *parcel, const laju_script_answer *answers) {
  laju_store *store = parcel->store;
  int64_t now_us = laju_store_now_us();
  for (size_t i = 0; i < parcel->count; i++) {
    const laju_piece *piece = &parcel->pieces[i];
    const laju_slot *slot = laju_slots_find(&store->slots, piece->slot);
    if (slot == NULL) {
      answers++;
      continue;
    }
    laju_histogram_add_times(&store->counters.latency, now_us - slot->since_us, piece->count);
    laju_store_conclude(store, piece, answers);
    answers += piece->count;
  }
}

static void take_checks(laju_parcel *parcel, const redisReply *reply) {
  laju_server *server = parcel->server;
  laju_script_ask asks[LAJU_STORE_BATCH] = {0};
  laju_script_answer answers[LAJU_STORE_BATCH];
  size_t count = recall(parcel, asks);
  int64_t now_us;
  if (laju_script_read(reply, asks, count, answers, &now_us) < 0) {
    laju_store_blame(server, "a reply that is none of the script's");
    fail_all(parcel, NULL);
    return;
  }
  const char *error = readonly_error(answers, count);
  if (error == NULL) {
    laju_store_praise(server);
    give_answers(parcel, answers);
    return;
  }
  laju_store_blame(server, error);
  fail_all(parcel, NULL);
  if (!server->removed) laju_server_drop(server, error);
}

static void take_reply(laju_parcel *parcel, const redisReply *reply) {
  laju_store *store = parcel->store;
  if (!is_wanted(parcel)) {
    laju_count(&store->counters.late);
  } else if (reply->type == REDIS_REPLY_ERROR) {
    take_error(parcel, reply);
  } else if (parcel->pieces[0].count > 0) {
    take_checks(parcel, reply);
  } else {
    laju_store_praise(parcel->server);
    laju_store_conclude_command(store, parcel->pieces[0].slot, reply);
  }
}

static void on_parcel_done(laju_link_command *command, laju_link_fate fate, const redisReply *reply) {
  laju_parcel *parcel = (laju_parcel *)command;
  laju_store *store = parcel->store;
  unlist(parcel);
  switch (fate) {
    case LAJU_LINK_REPLIED: take_reply(parcel, reply); break;
    case LAJU_LINK_LOST: fail_all(parcel, NULL); break;
    case LAJU_LINK_UNSENT: requeue_all(parcel, parcel->server); break;
  }
  store->dirty = true; /* there may be room for more */
  put_back(parcel);
}

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
    piece->width = (uint16_t)laju_script_width(from, piece->count);
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
  parcel->command = (laju_link_command){.done = on_parcel_done, .deadline_us = parcel->due_us, .replies = 1};
  if (parcel->pieces[0].asking) {
    laju_buffer_add_text(out, ASKING);
    parcel->command.replies++;
  }
  if (count > 0) {
    laju_script_call(&store->script, asks, count, NULL, out);
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
  laju_parcel *parcel = new_parcel(store, server);
  if (parcel == NULL) return false;
  size_t count = pack(parcel, asks);
  if (parcel->count == 0) {
    put_back(parcel);
    return true;
  }
  write_parcel(parcel, asks, count, laju_link_out(link));
  server->asked_us = laju_store_now_us();
  if (laju_link_add(link, &parcel->command)) {
    list_last(parcel);
    return true;
  }
  fail_all(parcel, NULL);
  put_back(parcel);
  return false;
}

static void send_queue(laju_store *store, laju_server *server) {
  laju_link *link = server->is_loading ? NULL : laju_server_link(server);
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
    unlist(parcel);
    laju_store_blame(server, "no answer in time");
    parcel = next;
  }
  if (drop_late_pieces(server, now_us)) laju_store_blame(server, "not sent in time");
}

/* ---- probes ---- */

static void on_probed(laju_link_command *command, laju_link_fate fate, const redisReply *reply) {
  laju_server *server = (laju_server *)((char *)command - offsetof(laju_server, probe));
  laju_store *store = server->all->store;
  bool in_time = laju_store_now_us() - server->asked_us <= store->servers.options.timeout_us;
  server->is_probing = false;
  if (fate == LAJU_LINK_REPLIED && reply->type != REDIS_REPLY_ERROR && in_time) laju_store_praise(server);
}

void laju_store_probe(laju_server *server) {
  int64_t now_us = laju_store_now_us();
  laju_link *link = laju_server_link(server);
  if (link == NULL || server->is_probing || now_us - server->asked_us < IDLE_US) return;
  if (!laju_breaker_admit(&server->breaker, now_us)) return;
  server->probe = (laju_link_command){.done = on_probed, .deadline_us = INT64_MAX, .replies = 1};
  laju_buffer_add_text(laju_link_out(link), PING);
  if (!laju_link_add(link, &server->probe)) return;
  server->is_probing = true;
  server->asked_us = now_us;
  laju_link_flush(link);
}
