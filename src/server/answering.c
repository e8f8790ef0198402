#include <string.h>

#include "server/connection_own.h"
#include "server/decisions.h"

/* ---- answers that have to wait --------------------------------------------------------------------------------------- */

static void drop_held(laju_connection *connection) {
  laju_held_answer_free(connection->held);
  connection->held = NULL;
  connection->all->held_count--;
}

void laju_connection_stop_waiting(laju_connection *connection) {
  if (connection->parked != NULL && connection->due) {
    laju_parked_free(connection->parked);
  } else if (connection->parked != NULL) {
    laju_parked_abandon(connection->parked);
  }
  connection->parked = NULL;
  if (connection->held != NULL) drop_held(connection);
  connection->due = false;
}

static void on_waited(void *context) {
  laju_connection *connection = context;
  connection->due = true;
  laju_connection_settle(connection);
}

/* Takes the output from `from` on back, until its time has come. Where that cannot be, it goes at once. */
static void hold(laju_connection *connection, size_t from, int64_t hold_us) {
  laju_connections *all = connection->all;
  int64_t hold_ms = (hold_us + 999) / 1000;
  if (hold_ms > LAJU_HOLD_MAX_MS) {
    laju_count(&all->counters.unheld);
    hold_ms = LAJU_HOLD_MAX_MS;
  }
  if (all->held_count < LAJU_HELD_MAX && !all->out.failed) {
    connection->held = laju_held_answer_new(all->loop, all->out.data + from, all->out.len - from, (uint64_t)hold_ms,
                                            on_waited, connection);
  }
  if (connection->held == NULL) {
    laju_count(&all->counters.unheld);
    return;
  }
  all->out.len = from;
  all->held_count++;
}

/* The batch's time is when it was read; what is decided at once and what waited for the store are timed alike. */
static void account_for(const laju_connection *connection, const laju_batch *batch) {
  laju_connections *all = connection->all;
  if (all->account == NULL) return;
  int64_t took_us = laju_limiter_now_us(all->service->limiter) - batch->now_us;
  laju_door_name door_name = laju_connection_codec(connection)->door;
  laju_account_batch(all->account, door_name, batch, took_us);
  const laju_terms *terms = laju_service_terms(all->service);
  if (terms->log_decisions == LAJU_LOG_NOTHING) return;
  laju_decisions_write(all->service->decisions, terms, door_name, batch, &all->random);
}

/* Writes the replies of a decided batch to the output. */
static void reply(laju_connection *connection, const laju_batch *batch) {
  laju_connections *all = connection->all;
  size_t before = all->out.len;
  laju_connection_codec(connection)->encode(connection->codec, batch, &all->out);
  account_for(connection, batch);
  if (batch->hold_us > 0) hold(connection, before, batch->hold_us);
  if (batch->asks[batch->ask_count - 1].close) connection->ending = true;
}

/* Asks the store for what is not decided of a batch. */
static void park(laju_connection *connection, const laju_batch *batch) {
  laju_connections *all = connection->all;
  laju_parked *parked = laju_parked_new(&all->lot, batch);
  if (parked == NULL) {
    laju_connection_count_and_close(connection, &all->counters.starved);
  } else if (laju_parked_start(parked, all->way, on_waited, connection)) {
    connection->parked = parked;
  } else {
    reply(connection, laju_parked_batch(parked));
    laju_parked_free(parked);
  }
}

/* With an answer that was waited for in the output: what came behind it. */
static void go_on(laju_connection *connection) {
  if (connection->input.len > 0) connection->more = true;
  if (connection->more && laju_connection_can_answer(connection)) {
    laju_connection_answer_input(connection);
  } else {
    laju_connection_flush_late(connection);
  }
}

void laju_connection_release(laju_connection *connection) {
  connection->due = false;
  if (connection->parked != NULL) {
    laju_parked *parked = connection->parked;
    connection->parked = NULL;
    reply(connection, laju_parked_batch(parked));
    laju_parked_free(parked);
  } else {
    laju_buffer_add(&connection->all->out, connection->held->bytes, connection->held->len);
    drop_held(connection);
  }
  go_on(connection);
}

bool laju_connection_push(laju_connection *connection) {
  const laju_codec *codec = laju_connection_codec(connection);
  bool waits = connection->parked != NULL || connection->held != NULL;
  if (codec->push == NULL || waits || connection->ending || connection->lingering) return false;
  if (connection->late) laju_connections_send_late(connection->all);
  if (connection->unsent != NULL || uv_is_closing(&connection->io.handle)) return false;
  laju_pushed pushed = codec->push(connection->codec, &connection->all->out);
  if (pushed == LAJU_PUSHED_NOTHING) return false;
  if (pushed != LAJU_PUSHED_NEWS) connection->promised = false;
  if (pushed == LAJU_PUSHED_LAST) connection->ending = true;
  go_on(connection);
  return true;
}

/* ---- requests ------------------------------------------------------------------------------------------------------ */

static int64_t now_us(laju_connections *all) {
  if (all->now_us < 0) all->now_us = laju_limiter_now_us(all->service->limiter);
  return all->now_us;
}

/* One batch: parse, decide, encode. Returns the bytes consumed. */
static size_t answer_batch(laju_connection *connection, char *bytes, size_t len) {
  laju_connections *all = connection->all;
  laju_batch *batch = all->batch;
  laju_batch_clear(batch);
  laju_parsed parsed = laju_connection_codec(connection)->parse(connection->codec, bytes, len, batch);
  connection->more = parsed.more;
  connection->promised = parsed.waits;
  if (parsed.closed) connection->ending = true;
  if (batch->ask_count == 0) return parsed.consumed;
  connection->timed = false;
  if (laju_batch_decide(batch, all->way, now_us(all))) {
    reply(connection, batch);
  } else {
    park(connection, batch);
  }
  return parsed.consumed;
}

/* Answers all that is complete in the bytes, as long as the peer takes the replies. Returns the bytes consumed. */
static size_t answer(laju_connection *connection, char *bytes, size_t len) {
  size_t used = 0;
  do {
    used += answer_batch(connection, bytes + used, len - used);
    if (connection->all->out.len >= LAJU_OUTPUT_FLUSH) laju_connection_flush(connection);
  } while (connection->more && laju_connection_can_answer(connection));
  laju_connection_flush_late(connection);
  return used;
}

/* Keeps the bytes of a request that is not complete. */
static void keep_input(laju_connection *connection, const char *bytes, size_t len) {
  laju_buffer_add(&connection->input, bytes, len);
  if (connection->input.failed) laju_connection_count_and_close(connection, &connection->all->counters.starved);
}

void laju_connection_answer_input(laju_connection *connection) {
  laju_buffer *input = &connection->input;
  char none[1]; /* a codec may have more to say though all bytes are consumed */
  size_t used = answer(connection, input->data != NULL ? input->data : none, input->len);
  input->len -= used;
  if (input->len == 0) {
    laju_buffer_deinit(input);
  } else if (used > 0) {
    memmove(input->data, input->data + used, input->len);
  }
}

void laju_connection_feed(laju_connection *connection, char *bytes, size_t len) {
  if (connection->input.len > 0 || laju_connection_waits(connection) || connection->unsent != NULL) {
    keep_input(connection, bytes, len);
    if (connection->unsent != NULL) connection->more = true;
    if (laju_connection_can_answer(connection)) laju_connection_answer_input(connection);
    return;
  }
  size_t used = answer(connection, bytes, len);
  if (used < len && !uv_is_closing(&connection->io.handle)) keep_input(connection, bytes + used, len - used);
}
