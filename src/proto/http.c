#include "proto/http.h"

#include <string.h>

#include "proto/codec.h"
#include "proto/http_auth.h"
#include "proto/http_body.h"
#include "proto/http_head.h"
#include "proto/http_problem.h"
#include "proto/http_reply.h"
#include "proto/target.h"

_Static_assert(LAJU_PROBLEM_MAX <= LAJU_NOTE_MAX, "a problem document fits a note");
_Static_assert(LAJU_BATCH_CHECKS >= LAJU_EACH_MAX, "an empty batch has room for any request");

#define ROUTES "POST /v1/check, POST /v1/batch, GET /healthz, GET /readyz, /auth"

typedef enum stage { IN_HEAD, IN_BODY, COMPLETE, CLOSED } stage;

typedef struct connection {
  laju_service *service;
  const laju_terms *terms; /* in force for the bytes being parsed; never used beyond the replies to them */
  laju_peer peer;
  laju_http_head head;
  laju_http_date date;
  stage stage;    /* of the request that is being read */
  bool continued; /* "100 Continue" was sent for it, or is not needed */
} connection;

/* How a step through one request's bytes ends. */
typedef enum outcome {
  WAITING,  /* more bytes must come */
  CROWDED,  /* the batch has no room for it */
  ANSWERED, /* its ask is in the batch */
  ALONE,    /* the same, and no other may come behind it */
  FINISHED, /* the same, and it was the connection's last */
} outcome;

/* ---- asks ---- */

static laju_ask *add_ask(laju_batch *batch, laju_ask_kind kind, uint16_t form, const laju_http_request *request) {
  laju_ask *ask = &batch->asks[batch->ask_count++];
  *ask = (laju_ask){.kind = kind, .form = form, .close = !request->keep_alive};
  if (request->old && request->keep_alive) ask->flags |= LAJU_HTTP_KEEP;
  if (request->method == HTTP_HEAD) ask->flags |= LAJU_HTTP_NO_BODY;
  return ask;
}

static laju_ask *add_note(laju_batch *batch, int status, const laju_http_request *request, const char *body,
                          size_t len) {
  laju_ask *ask = add_ask(batch, LAJU_ASK_NOTE, (uint16_t)status, request);
  ask->first = (uint32_t)batch->note_len;
  ask->count = (uint32_t)len;
  memcpy(batch->notes + batch->note_len, body, len);
  batch->note_len += len;
  return ask;
}

static laju_ask *add_problem(laju_batch *batch, const laju_http_request *request, const laju_problem *problem) {
  char text[LAJU_PROBLEM_MAX];
  size_t len = laju_problem_write(problem, text);
  laju_ask *ask = add_note(batch, problem->status, request, text, len);
  ask->failed = ask->counts = true;
  ask->flags |= LAJU_HTTP_PROBLEM;
  return ask;
}

static laju_problem plain_problem(int status, const char *detail) {
  return (laju_problem){.status = status, .detail = detail, .list = "", .index = LAJU_PROBLEM_NO_INDEX};
}

/* The connection cannot be read any further. What is wrong with a call of /auth is mostly what the proxy's client has sent, and a
 * proxy may let pass what it takes for our failure: so it is told no. */
static outcome refuse_connection(connection *c, laju_batch *batch) {
  laju_problem problem = plain_problem(laju_http_head_asks_auth(&c->head) ? 403 : c->head.status, c->head.why);
  laju_http_request last = {.keep_alive = false};
  add_problem(batch, &last, &problem);
  return FINISHED;
}

/* ---- answers to complete requests ---- */

static outcome answered(const laju_ask *ask) {
  return ask->close ? FINISHED : ANSWERED;
}

static outcome answer_check(connection *c, char *body, size_t len, laju_batch *batch) {
  const laju_http_request *request = &c->head.request;
  bool batched = request->route == LAJU_ROUTE_BATCH, is_list = false;
  if (!laju_batch_has_room(batch, batched ? LAJU_EACH_MAX : LAJU_CHECKS_MAX)) return CROWDED;
  laju_problem problem;
  size_t count = batched ? laju_http_read_batch(c->terms, batch, body, len, &problem)
                         : laju_http_read_check(c->terms, batch, body, len, &is_list, &problem);
  if (count == 0) return answered(add_problem(batch, request, &problem));
  uint16_t form = batched ? LAJU_HTTP_BATCH : is_list ? LAJU_HTTP_CHECKS : LAJU_HTTP_ONE;
  laju_ask *ask = add_ask(batch, batched ? LAJU_ASK_EACH : LAJU_ASK_ALL, form, request);
  ask->first = (uint32_t)batch->check_count;
  ask->count = (uint32_t)count;
  batch->check_count += count;
  return answered(ask);
}

/* No rule applies. */
static outcome answer_unlimited(const laju_http_request *request, laju_batch *batch) {
  laju_ask *ask = add_note(batch, 200, request, "", 0);
  ask->counts = true;
  return answered(ask);
}

/* An answer that may be held back is alone in its batch. Where others are before it, it is read once more when they are out. */
static outcome answer_auth(connection *c, const char *bytes, laju_batch *batch) {
  const laju_http_request *request = &c->head.request;
  if (!laju_batch_has_room(batch, LAJU_CHECKS_MAX)) return CROWDED;
  laju_auth auth;
  laju_problem problem;
  bool readable = laju_auth_read(&auth, c->terms, &c->peer, &c->head, bytes, batch, &problem);
  if (readable && auth.matched.waits != 0 && batch->ask_count > 0) return CROWDED;
  if (auth.untrusted) atomic_fetch_add_explicit(&c->service->untrusted_forwards, 1, memory_order_relaxed);
  if (!readable) return answered(add_problem(batch, request, &problem));
  if (auth.matched.count == 0) return answer_unlimited(request, batch);
  laju_ask *ask = add_ask(batch, LAJU_ASK_ALL, auth.deny, request);
  ask->first = (uint32_t)batch->check_count;
  ask->count = (uint32_t)auth.matched.count;
  ask->waits = auth.matched.waits;
  batch->check_count += auth.matched.count;
  batch->key_len += auth.matched.key_len;
  return ask->waits != 0 && !ask->close ? ALONE : answered(ask);
}

static outcome answer_text(connection *c, int status, const char *text, laju_batch *batch) {
  return answered(add_note(batch, status, &c->head.request, text, strlen(text)));
}

/* Checks are answered without the store, too: whoever wants it up asks for that. */
static outcome answer_serving(connection *c, bool wants_store, laju_batch *batch) {
  const laju_service *service = c->service;
  if (service->stores == 0) return answer_text(c, 200, "{\"status\":\"ready\",\"store\":\"embedded\"}", batch);
  bool up = atomic_load_explicit(&service->stores_up, memory_order_relaxed) == service->stores;
  if (up) return answer_text(c, 200, "{\"status\":\"ready\",\"store\":\"up\"}", batch);
  if (wants_store) return answer_text(c, 503, "{\"status\":\"degraded\",\"store\":\"down\"}", batch);
  return answer_text(c, 200, "{\"status\":\"ready\",\"store\":\"down\"}", batch);
}

/* "store=1" in the query of /readyz; 0 and nothing are alike. False where it says something else. */
static bool read_wants_store(laju_slice query, bool *wants, laju_slice *said) {
  *wants = false;
  while (query.at != NULL) {
    laju_slice pair = laju_slice_cut(query, '&', &query);
    laju_slice name = laju_slice_cut(pair, '=', said);
    if (!laju_slice_equal(name, (laju_slice){"store", 5})) continue;
    *wants = laju_slice_equal(*said, (laju_slice){"1", 1});
    if (!*wants && !laju_slice_equal(*said, (laju_slice){"0", 1})) return false;
  }
  return true;
}

static outcome answer_ready(connection *c, const char *bytes, laju_batch *batch) {
  const laju_http_request *request = &c->head.request;
  laju_target target = laju_target_split((laju_slice){bytes + request->url_at, request->url_len});
  laju_slice said;
  bool wants_store;
  if (!read_wants_store(target.query, &wants_store, &said)) {
    laju_problem problem = plain_problem(400, "is out of range");
    problem.field = (laju_shown){"store", 5};
    problem.value = (laju_shown){said.at != NULL ? said.at : "", said.len};
    problem.allowed = "0 or 1";
    return answered(add_problem(batch, request, &problem));
  }
  switch (atomic_load_explicit(&c->service->stage, memory_order_relaxed)) {
    case LAJU_SERVING: return answer_serving(c, wants_store, batch);
    case LAJU_DRAINING: return answer_text(c, 503, "{\"status\":\"draining\"}", batch);
    default: return answer_text(c, 503, "{\"status\":\"starting\"}", batch);
  }
}

static bool is_check(const laju_http_request *request) {
  return request->route == LAJU_ROUTE_CHECK || request->route == LAJU_ROUTE_BATCH;
}

static bool method_fits(const laju_http_request *request) {
  if (request->route == LAJU_ROUTE_AUTH) return true;
  if (is_check(request)) return request->method == HTTP_POST;
  return request->method == HTTP_GET || request->method == HTTP_HEAD;
}

/* What is wrong with a head that could be read: false where nothing is. */
static bool misdirected(const laju_http_request *request, const char *bytes, laju_problem *problem) {
  laju_shown target = {bytes + request->url_at, request->url_len};
  if (request->route == LAJU_ROUTE_NONE) {
    *problem = plain_problem(404, "is not served here");
    problem->field = (laju_shown){"path", 4};
    problem->value = target;
    problem->allowed = ROUTES;
  } else if (!method_fits(request)) {
    const char *name = llhttp_method_name(request->method);
    *problem = plain_problem(405, "is not for this path");
    problem->field = (laju_shown){"method", 6};
    problem->value = (laju_shown){name, strlen(name)};
    problem->allowed = is_check(request) ? "POST" : "GET, HEAD";
  } else if (request->query && is_check(request)) {
    *problem = plain_problem(400, "is not for this path: everything is in the body");
    problem->field = (laju_shown){"query", 5};
    problem->value = target;
    problem->allowed = "none";
  } else {
    return false;
  }
  return true;
}

static outcome answer_misdirected(connection *c, const laju_problem *problem, laju_batch *batch) {
  laju_ask *ask = add_problem(batch, &c->head.request, problem);
  if (problem->status == 405) {
    ask->flags |= is_check(&c->head.request) ? LAJU_HTTP_ALLOW_POST : LAJU_HTTP_ALLOW_GET;
  }
  return answered(ask);
}

static outcome answer(connection *c, char *bytes, laju_batch *batch) {
  const laju_http_request *request = &c->head.request;
  laju_problem problem;
  if (misdirected(request, bytes, &problem)) return answer_misdirected(c, &problem, batch);
  switch (request->route) {
    case LAJU_ROUTE_HEALTH: return answer_text(c, 200, "{\"status\":\"ok\"}", batch);
    case LAJU_ROUTE_READY: return answer_ready(c, bytes, batch);
    case LAJU_ROUTE_AUTH: return answer_auth(c, bytes, batch);
    default: {
      size_t len = request->chunked ? c->head.body_len : request->content_length;
      return answer_check(c, bytes + request->head_len, len, batch);
    }
  }
}

/* ---- through the bytes ---- */

static laju_http_step read_body(connection *c, char *bytes, size_t len) {
  const laju_http_request *request = &c->head.request;
  if (request->chunked) return laju_http_chunks_read(&c->head, bytes, len);
  return len - request->head_len >= request->content_length ? LAJU_HTTP_DONE : LAJU_HTTP_WAIT;
}

/* Tells a client to send the body that it holds back; one that has begun to send it does not wait. */
static void offer_continue(connection *c, size_t len, laju_batch *batch) {
  if (!c->head.request.expects || c->continued) return;
  c->continued = true;
  if (len > c->head.request.head_len) return;
  add_ask(batch, LAJU_ASK_NOTE, LAJU_HTTP_CONTINUE, &c->head.request)->close = false;
}

/* Where a client waits for "100 Continue" and its request is hopeless, it is told so at once. Whether it sends the body all
 * the same is not to be known, so the connection ends. */
static bool refuse_expectation(connection *c, const char *bytes, laju_batch *batch) {
  laju_problem problem;
  if (!c->head.request.expects || !misdirected(&c->head.request, bytes, &problem)) return false;
  c->head.request.keep_alive = false;
  answer_misdirected(c, &problem, batch);
  return true;
}

/* Takes one request as far as its bytes go. `bytes` begins at its first. */
static outcome step(connection *c, char *bytes, size_t len, laju_batch *batch) {
  if (c->stage == IN_HEAD) {
    laju_http_step read = laju_http_head_read(&c->head, bytes, len);
    if (read == LAJU_HTTP_WAIT) return WAITING;
    if (read == LAJU_HTTP_REFUSED) return refuse_connection(c, batch);
    if (refuse_expectation(c, bytes, batch)) return FINISHED;
    c->stage = IN_BODY;
  }
  if (c->stage == IN_BODY) {
    laju_http_step read = read_body(c, bytes, len);
    if (read == LAJU_HTTP_REFUSED) return refuse_connection(c, batch);
    if (read == LAJU_HTTP_WAIT) {
      offer_continue(c, len, batch);
      return WAITING;
    }
    c->stage = COMPLETE;
  }
  return answer(c, bytes, batch);
}

/* The bytes that the request took; ready for the next one. */
static size_t leave_request(connection *c) {
  const laju_http_request *request = &c->head.request;
  size_t len = request->chunked ? c->head.seen : (size_t)request->head_len + request->content_length;
  laju_http_head_next(&c->head);
  c->stage = IN_HEAD;
  c->continued = false;
  return len;
}

static bool unfinished(const void *state) {
  const connection *c = state;
  return c->stage == IN_BODY || c->stage == COMPLETE || (c->stage == IN_HEAD && c->head.seen > 0);
}

/* Blank lines between requests are nothing (RFC 9112, section 2.2). */
static size_t skip_blank(const connection *c, const char *bytes, size_t at, size_t len) {
  if (unfinished(c)) return at;
  while (at < len && (bytes[at] == '\r' || bytes[at] == '\n')) at++;
  return at;
}

/* While draining, a connection ends with the answer after which nothing of it is pending. */
static void drain(connection *c, laju_batch *batch, laju_parsed *parsed) {
  if (atomic_load_explicit(&c->service->stage, memory_order_relaxed) != LAJU_DRAINING) return;
  if (parsed->more || parsed->closed || batch->ask_count == 0 || unfinished(c)) return;
  batch->asks[batch->ask_count - 1].close = true;
  parsed->closed = true;
}

static laju_parsed parse(void *state, char *bytes, size_t len, laju_batch *batch) {
  connection *c = state;
  c->terms = laju_service_terms(c->service);
  laju_parsed parsed = {.closed = c->stage == CLOSED};
  size_t at = 0;
  while (!parsed.closed && !parsed.more) {
    at = skip_blank(c, bytes, at, len);
    if (at == len) break;
    outcome end = laju_batch_has_room(batch, 1) ? step(c, bytes + at, len - at, batch) : CROWDED;
    if (end == WAITING) break;
    if (end == ANSWERED || end == ALONE) at += leave_request(c);
    parsed.more = end == CROWDED || (end == ALONE && at < len);
    if (end == ALONE) break;
    parsed.closed = end == FINISHED;
  }
  drain(c, batch, &parsed);
  if (parsed.closed) c->stage = CLOSED;
  parsed.consumed = parsed.closed ? len : at;
  return parsed;
}

static void encode(void *state, const laju_batch *batch, laju_buffer *out) {
  connection *c = state;
  for (size_t i = 0; i < batch->ask_count; i++) laju_http_reply(&c->date, c->terms, batch, &batch->asks[i], out);
}

static void give_up(void *state, laju_buffer *out) {
  connection *c = state;
  if (!unfinished(c)) return;
  laju_problem problem = plain_problem(408, "the request took too long to come");
  laju_http_reply_problem(&c->date, laju_limiter_now_us(c->service->limiter), &problem, out);
  c->stage = CLOSED;
}

static void init(void *state, laju_service *service, const laju_peer *peer) {
  connection *c = state;
  c->service = service;
  c->peer = *peer;
  c->stage = IN_HEAD;
  laju_http_head_init(&c->head);
}

const laju_codec laju_http_codec = {
    .name = "http",
    .door = LAJU_DOOR_HTTP,
    .connection_size = sizeof(connection),
    .input_max = LAJU_HTTP_HEAD_MAX + LAJU_HTTP_CHUNKED_MAX,
    .init = init,
    .parse = parse,
    .encode = encode,
    .unfinished = unfinished,
    .give_up = give_up,
};
