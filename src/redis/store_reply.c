#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "redis/store_parts.h"
#include "redis/transaction.h"

/* ---- errors of a whole command ---- */

static bool begins_with(const char *text, const char *word) {
  return strncmp(text, word, strlen(word)) == 0;
}

/* Who says so is no primary: another is to be found. */
static bool is_replicas(const char *error) {
  return begins_with(error, "READONLY") || begins_with(error, "MASTERDOWN");
}

static void on_loaded(laju_link_command *command, laju_link_fate fate, const redisReply *reply) {
  laju_server *server = (laju_server *)((char *)command - offsetof(laju_server, preparing));
  laju_store *store = server->all->store;
  server->is_preparing = false;
  store->dirty = true;
  if (fate == LAJU_LINK_REPLIED && reply->type == REDIS_REPLY_ERROR) laju_store_blame(server, reply->str);
}

/* Nothing is sent to the server until it has the script. */
static void load_script(laju_server *server) {
  laju_store *store = server->all->store;
  laju_link *link = server->is_preparing ? NULL : laju_server_link(server);
  if (link == NULL) return; /* a new connection loads it by itself */
  server->preparing = (laju_link_command){.done = on_loaded, .deadline_us = INT64_MAX, .replies = 1};
  laju_script_load(laju_link_out(link));
  if (!laju_link_add(link, &server->preparing)) return;
  server->is_preparing = true;
  laju_count(&store->counters.script_loads);
  laju_link_flush(link);
}

/* One hop more; a piece that has had too many fails. */
static void hop(laju_store *store, laju_piece *piece, laju_server *to, const redisReply *error) {
  if (piece->hops >= LAJU_REDIRECTS_MAX) {
    laju_store_fail_piece(store, piece, error);
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
      laju_store_fail_piece(store, piece, NULL);
      return;
    }
    store->later = all;
    store->later_size = size;
  }
  store->later[store->later_count++] = (laju_later){.piece = *piece, .server = to};
}

static void on_later(uv_timer_t *timer) {
  laju_store *store = timer->data;
  size_t count = store->later_count;
  for (size_t i = 0; i < count; i++) {
    laju_later later = store->later[i];
    laju_store_requeue(store, &later.piece, later.server);
  }
  store->later_count -= count;
  memmove(store->later, store->later + count, store->later_count * sizeof *store->later);
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
  bool is_replica = is_replicas(error), is_command = parcel->pieces[0].count == 0;
  /* A command of another's own may be wrong by itself; checks are not. */
  if (!is_command || is_replica) laju_store_blame(server, error);
  laju_parcel_fail(parcel, reply);
  if (is_replica && !server->removed) laju_server_drop(server, error);
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

/* A replica runs the script and refuses its commands: the whole is then no answer. */
static const char *replicas_error(const laju_script_answer *answers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (answers[i].error != NULL && is_replicas(answers[i].error)) return answers[i].error;
  }
  return NULL;
}

static void note_refusals(laju_store *store, const laju_script_answer *answers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (answers[i].error != NULL) laju_store_note_refusal(store, answers[i].error, 1);
  }
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
    note_refusals(store, answers, piece->count);
    laju_store_conclude(store, piece, answers);
    answers += piece->count;
  }
}

/* A reply that answers nothing, and why. */
static void take_nothing(laju_parcel *parcel, const char *why) {
  laju_store_blame(parcel->server, why);
  laju_parcel_fail(parcel, NULL);
}

static void take_script(laju_parcel *parcel, const redisReply *reply) {
  laju_server *server = parcel->server;
  laju_script_ask asks[LAJU_STORE_BATCH] = {0};
  laju_script_answer answers[LAJU_STORE_BATCH];
  size_t count = recall(parcel, asks);
  int64_t now_us;
  if (laju_script_read(reply, asks, count, answers, &now_us) < 0) {
    take_nothing(parcel, "a reply that is none of the script's");
    return;
  }
  const char *error = replicas_error(answers, count);
  if (error == NULL) {
    laju_store_praise(server);
    give_answers(parcel, answers);
    return;
  }
  take_nothing(parcel, error);
  if (!server->removed) laju_server_drop(server, error);
}

/* What was not admitted is taken back, on the same connection, before anything else goes there. */
static void take_back(laju_parcel *parcel, const laju_script_ask *asks, size_t count,
                      const laju_script_answer *answers) {
  laju_parcel *back = laju_parcel_new(parcel->store, parcel->server);
  if (back == NULL) return; /* it stays charged */
  uint32_t replies = laju_transaction_take_back(asks, count, answers, parcel->guess_us, laju_link_out(parcel->link));
  back->command = (laju_link_command){.done = laju_parcel_done, .deadline_us = INT64_MAX, .replies = replies};
  if (replies > 0 && laju_link_add(parcel->link, &back->command)) {
    laju_link_flush(parcel->link);
  } else {
    laju_parcel_free(back);
  }
}

static void take_transaction(laju_parcel *parcel, const redisReply *reply) {
  laju_store *store = parcel->store;
  laju_server *server = parcel->server;
  laju_script_ask asks[LAJU_STORE_BATCH] = {0};
  laju_script_answer answers[LAJU_STORE_BATCH] = {0};
  size_t count = recall(parcel, asks);
  int64_t now_us;
  laju_transaction_result result = laju_transaction_read(reply, asks, count, parcel->guess_us, answers, &now_us);
  if (result == LAJU_TRANSACTION_BROKEN) {
    take_nothing(parcel, "a reply that is none of the transaction's");
    return;
  }
  laju_store_praise(server);
  laju_store_take_time(server, now_us, parcel->sent_us);
  if (result == LAJU_TRANSACTION_DECIDED) {
    take_back(parcel, asks, count, answers);
    give_answers(parcel, answers);
    return;
  }
  take_back(parcel, asks, count, NULL);
  for (size_t i = 0; i < parcel->count; i++) hop(store, &parcel->pieces[i], server, NULL);
}

static void take_checks(laju_parcel *parcel, const redisReply *reply) {
  if (parcel->store->servers.options.transaction) {
    take_transaction(parcel, reply);
  } else {
    take_script(parcel, reply);
  }
}

static void take_reply(laju_parcel *parcel, const redisReply *reply) {
  laju_store *store = parcel->store;
  if (!laju_parcel_is_wanted(parcel)) {
    laju_count(&store->counters.late);
  } else if (reply->type == REDIS_REPLY_ERROR) {
    take_error(parcel, reply);
  } else if (parcel->pieces[0].count > 0) {
    take_checks(parcel, reply);
  } else {
    /* Checks may be refused all the same: what was closed to them is opened by one of them, or a probe. */
    if (!laju_breaker_is_open(&parcel->server->breaker)) laju_store_praise(parcel->server);
    laju_store_conclude_command(store, parcel->pieces[0].slot, reply);
  }
}

void laju_parcel_done(laju_link_command *command, laju_link_fate fate, const redisReply *reply) {
  laju_parcel *parcel = (laju_parcel *)command;
  laju_store *store = parcel->store;
  laju_parcel_unlist(parcel);
  if (parcel->count == 0) fate = LAJU_LINK_UNSENT; /* nobody waits for what took something back */
  switch (fate) {
    case LAJU_LINK_REPLIED: take_reply(parcel, reply); break;
    case LAJU_LINK_LOST: laju_parcel_fail(parcel, NULL); break;
    case LAJU_LINK_UNSENT: laju_parcel_requeue(parcel, parcel->server); break;
  }
  store->dirty = true; /* there may be room for more */
  laju_parcel_free(parcel);
}
