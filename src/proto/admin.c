#include "proto/admin.h"

#include <stdlib.h>
#include <string.h>

#include "proto/admin_own.h"
#include "proto/admin_view.h"
#include "proto/codec.h"

typedef laju_admin_connection connection;

/* ---- through the bytes ---- */

/* The connection cannot be read any further. */
static void refuse(connection *c, int status, const char *why, laju_batch *batch) {
  laju_problem problem = laju_admin_problem(status, why);
  c->head.request.keep_alive = false;
  laju_admin_answer_problem(c, batch, &problem, false);
  c->stage = CLOSED;
}

static const char too_long[] = "the body is longer than 4096 bytes";

static laju_http_step read_body(connection *c, char *bytes, size_t len) {
  laju_http_request *request = &c->head.request;
  if (!request->chunked) {
    return len - request->head_len >= request->content_length ? LAJU_HTTP_DONE : LAJU_HTTP_WAIT;
  }
  laju_http_step step = laju_http_chunks_read(&c->head, bytes, len);
  bool over = c->head.body_len > LAJU_ADMIN_BODY_MAX || c->head.seen > request->head_len + LAJU_ADMIN_CHUNKED_MAX;
  if (step == LAJU_HTTP_REFUSED || !over) return step;
  c->head.status = 413;
  c->head.why = too_long;
  return LAJU_HTTP_REFUSED;
}

/* True once the head is read. */
static bool step_head(connection *c, char *bytes, size_t len, laju_batch *batch) {
  laju_http_step read = laju_http_head_read(&c->head, bytes, len);
  if (read == LAJU_HTTP_WAIT) return false;
  if (read == LAJU_HTTP_REFUSED) {
    refuse(c, c->head.status, c->head.why, batch);
  } else if (c->head.request.content_length > LAJU_ADMIN_BODY_MAX) {
    refuse(c, 413, too_long, batch);
  } else {
    c->stage = IN_BODY;
  }
  return c->stage == IN_BODY;
}

/* Tells a client to send the body that it holds back. */
static void offer_continue(connection *c, size_t len, laju_batch *batch) {
  if (!c->head.request.expects || c->continued) return;
  c->continued = true;
  if (len > c->head.request.head_len) return;
  laju_ask *ask = &batch->asks[batch->ask_count++];
  *ask = (laju_ask){.kind = LAJU_ASK_NOTE, .form = LAJU_HTTP_CONTINUE};
}

/* The bytes that the request took; ready for the next one. */
static size_t leave_request(connection *c) {
  const laju_http_request *request = &c->head.request;
  size_t len = request->chunked ? c->head.seen : (size_t)request->head_len + request->content_length;
  laju_http_head_next(&c->head);
  c->continued = false;
  if (c->stage == IN_BODY) c->stage = IN_HEAD;
  return len;
}

/* Takes one request as far as its bytes go; returns how many it took. */
static size_t step(connection *c, char *bytes, size_t len, laju_batch *batch) {
  if (c->stage == IN_HEAD && !step_head(c, bytes, len, batch)) return 0;
  laju_http_step read = read_body(c, bytes, len);
  if (read == LAJU_HTTP_REFUSED) {
    refuse(c, c->head.status, c->head.why, batch);
    return 0;
  }
  if (read == LAJU_HTTP_WAIT) {
    offer_continue(c, len, batch);
    return 0;
  }
  bool closes = !c->head.request.keep_alive;
  laju_admin_answer(c, bytes, batch);
  size_t used = leave_request(c);
  if (closes && c->stage == IN_HEAD) c->stage = CLOSED;
  return used;
}

static bool unfinished(const void *state) {
  const connection *c = state;
  return c->stage == IN_BODY || (c->stage == IN_HEAD && c->head.seen > 0);
}

static size_t skip_blank(const connection *c, const char *bytes, size_t len) {
  size_t at = 0;
  if (unfinished(c)) return 0;
  while (at < len && (bytes[at] == '\r' || bytes[at] == '\n')) at++;
  return at;
}

/* While draining, the answer to a request is the connection's last. */
static void drain(connection *c, laju_batch *batch) {
  if (atomic_load_explicit(&c->service->stage, memory_order_relaxed) != LAJU_DRAINING) return;
  if (c->stage != IN_HEAD || batch->ask_count == 0) return;
  c->reply.close = true;
  batch->asks[batch->ask_count - 1].close = true;
  c->stage = CLOSED;
}

/* What a subscriber says is not listened to. */
static laju_parsed parse(void *state, char *bytes, size_t len, laju_batch *batch) {
  connection *c = state;
  c->terms = laju_service_terms(c->service);
  size_t at = c->stage == CLOSED || c->stage == SUBSCRIBED ? len : skip_blank(c, bytes, len);
  if (at < len) at += step(c, bytes + at, len - at, batch);
  drain(c, batch);
  bool answered = batch->ask_count > 0 && c->stage == IN_HEAD && c->head.seen == 0;
  return (laju_parsed){
      .consumed = c->stage == CLOSED ? len : at,
      .closed = c->stage == CLOSED,
      .waits = c->stage == CHANGING,
      .more = answered && at < len,
  };
}

/* ---- replies ---- */

static laju_problem problem_of(laju_change_result result) {
  if (result == LAJU_CHANGE_FULL)
    return laju_admin_problem(409, "there are 10000 overrides, which is all that there can be");
  return laju_admin_problem(503, "the shared store did not answer; whether this has been done is not known");
}

/* The answer to a change that is done. */
static void write_changed(connection *c, laju_buffer *out) {
  laju_admin_change *change = c->change;
  char text[LAJU_PROBLEM_MAX];
  c->terms = laju_service_terms(c->service); /* others may be in force since it was asked for */
  if (change->result == LAJU_CHANGE_FULL || change->result == LAJU_CHANGE_UNANSWERED) {
    laju_problem problem = problem_of(change->result);
    c->reply.status = problem.status;
    c->reply.type = LAJU_ADMIN_PROBLEM;
    laju_buffer_add(out, text, laju_problem_write(&problem, text));
  } else if (change->removes) {
    laju_buffer_add_text(out, change->result == LAJU_CHANGE_DONE ? "{\"known\":true}" : "{\"known\":false}");
  } else {
    laju_admin_view_override(out, c->admin, c->terms, &change->entry, change->rule);
  }
  free(change);
  c->change = NULL;
}

static void write_event(connection *c, laju_slice event, laju_buffer *out) {
  laju_buffer_add_text(out, "event: status\ndata: ");
  if (event.at != NULL) {
    laju_buffer_add(out, event.at, event.len);
  } else {
    c->admin->write_status(c->admin->owner, out);
  }
  laju_buffer_add_text(out, "\n\n");
}

static void write_reset(connection *c, const laju_ask *ask, laju_buffer *out) {
  char text[LAJU_PROBLEM_MAX];
  if (!ask->failed) {
    laju_buffer_add_text(out, ask->known ? "{\"known\":true}" : "{\"known\":false}");
    return;
  }
  laju_problem problem =
      laju_admin_problem(503, "the shared store did not answer; whether it has done this is not known");
  c->reply.status = problem.status;
  c->reply.type = LAJU_ADMIN_PROBLEM;
  laju_buffer_add(out, text, laju_problem_write(&problem, text));
}

static void write_body(connection *c, const laju_batch *batch, const laju_ask *ask, laju_buffer *out) {
  const laju_admin *admin = c->admin;
  switch (c->content) {
    case TEXT: laju_buffer_add(out, batch->notes + ask->first, ask->count); break;
    case VIEW_METRICS: admin->write_metrics(admin->owner, out); break;
    case VIEW_STATUS: admin->write_status(admin->owner, out); break;
    case VIEW_RULES: laju_admin_view_rules(out, admin, c->terms); break;
    case VIEW_TOP: laju_admin_view_top(out, admin, c->terms, c->top, batch->now_us); break;
    case VIEW_OVERRIDES: laju_admin_view_overrides(out, admin, c->terms, batch->now_us); break;
    case VIEW_KEY:
      laju_admin_view_key(out, admin, c->terms, &batch->checks[ask->first], &batch->decisions[ask->first],
                          batch->now_us);
      break;
    case VIEW_RESET: write_reset(c, ask, out); break;
    case VIEW_FILE: laju_buffer_add(out, c->file.bytes, c->file.len); break;
    case CHANGED: write_changed(c, out); break;
    case EVENTS: write_event(c, (laju_slice){NULL, 0}, out); break;
  }
}

static void write_reply(connection *c, const laju_batch *batch, const laju_ask *ask, laju_buffer *out) {
  size_t body_at = out->len;
  write_body(c, batch, ask, out);
  laju_admin_reply_head(out, body_at, &c->reply, &c->date, batch->now_us);
}

static void encode(void *state, const laju_batch *batch, laju_buffer *out) {
  connection *c = state;
  for (size_t i = 0; i < batch->ask_count; i++) {
    if (batch->asks[i].form == LAJU_HTTP_CONTINUE) {
      laju_buffer_add_text(out, "HTTP/1.1 100 Continue\r\n\r\n");
    } else {
      write_reply(c, batch, &batch->asks[i], out); /* the only one */
      return;
    }
  }
}

/* Is the token, or the session, that let this subscriber in still one? */
static bool is_still_let_in(connection *c) {
  laju_sessions *sessions = &c->admin->sessions;
  const char *token = laju_service_terms(c->service)->admin_token;
  laju_sessions_heed(sessions, token);
  if (memcmp(c->token, sessions->token, sizeof c->token) != 0) return false;
  if (!c->by_session) return true;
  laju_slice name = {c->session, sizeof c->session};
  return laju_sessions_use(sessions, token, name, laju_limiter_now_us(c->service->limiter));
}

static laju_pushed push(void *state, laju_buffer *out) {
  connection *c = state;
  laju_admin *admin = c->admin;
  if (c->stage == CHANGING && c->change->done) {
    size_t body_at = out->len;
    write_changed(c, out);
    laju_admin_reply_head(out, body_at, &c->reply, &c->date, laju_limiter_now_us(c->service->limiter));
    c->stage = c->reply.close ? CLOSED : IN_HEAD;
    return c->reply.close ? LAJU_PUSHED_LAST : LAJU_PUSHED_ANSWER;
  }
  if (c->stage != SUBSCRIBED || c->seen == admin->event_number) return LAJU_PUSHED_NOTHING;
  c->seen = admin->event_number;
  if (!is_still_let_in(c)) {
    admin->subscribers--;
    c->stage = CLOSED;
    return LAJU_PUSHED_LAST;
  }
  write_event(c, (laju_slice){admin->event.data, admin->event.len}, out);
  return LAJU_PUSHED_NEWS;
}

static void give_up(void *state, laju_buffer *out) {
  connection *c = state;
  if (!unfinished(c)) return;
  char text[LAJU_PROBLEM_MAX];
  laju_problem problem = laju_admin_problem(408, "the request took too long to come");
  size_t body_at = out->len;
  c->head.request = (laju_http_request){.keep_alive = false};
  laju_admin_begin_reply(c, problem.status, LAJU_ADMIN_PROBLEM, TEXT);
  laju_buffer_add(out, text, laju_problem_write(&problem, text));
  laju_admin_reply_head(out, body_at, &c->reply, &c->date, laju_limiter_now_us(c->service->limiter));
  c->stage = CLOSED;
}

static void init(void *state, laju_service *service, const laju_peer *peer) {
  connection *c = state;
  c->service = service;
  c->admin = service->admin;
  c->peer = *peer;
  laju_http_head_init(&c->head);
}

static void leave(void *state) {
  connection *c = state;
  if (c->stage == SUBSCRIBED) c->admin->subscribers--;
  if (c->change == NULL) return;
  if (c->change->done) {
    free(c->change);
  } else {
    c->change->abandoned = true;
  }
  c->change = NULL;
}

const laju_codec laju_admin_codec = {
    .name = "admin",
    .door = LAJU_DOOR_NAMES, /* its requests are no client's: they are not counted */
    .connection_size = sizeof(connection),
    .input_max = LAJU_HTTP_HEAD_MAX + LAJU_ADMIN_CHUNKED_MAX,
    .init = init,
    .parse = parse,
    .encode = encode,
    .unfinished = unfinished,
    .give_up = give_up,
    .push = push,
    .leave = leave,
};
