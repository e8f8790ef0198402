#include "proto/admin_own.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "proto/admin_body.h"
#include "proto/resolve.h"
#include "proto/target.h"

#define METRICS "text/plain; version=0.0.4; charset=utf-8"
#define JSON LAJU_ADMIN_JSON

typedef laju_admin_connection connection;
typedef laju_admin_content content;

/* One request: where it lies, and what it says. */
typedef struct call {
  connection *c;
  char *bytes;
  laju_batch *batch;
  const laju_admin_route *route;
  laju_slice path;
  laju_admin_query query;
  int64_t now_us;
} call;

/* ---- answers ---- */

static laju_ask *add_ask(connection *c, laju_batch *batch, laju_ask_kind kind) {
  laju_ask *ask = &batch->asks[batch->ask_count++];
  *ask = (laju_ask){.kind = kind, .close = c->reply.close};
  return ask;
}

void laju_admin_begin_reply(connection *c, int status, const char *type, content what) {
  const laju_http_request *request = &c->head.request;
  c->content = what;
  c->reply = (laju_admin_reply){.status = status,
                                .type = type,
                                .secure = c->admin->secure,
                                .no_body = request->method == HTTP_HEAD,
                                .keep = request->old && request->keep_alive,
                                .close = !request->keep_alive};
}

static void answer_view(call *r, const char *type, content what) {
  laju_admin_begin_reply(r->c, 200, type, what);
  add_ask(r->c, r->batch, LAJU_ASK_NOTE);
}

static laju_ask *add_note(connection *c, laju_batch *batch, const char *text, size_t len) {
  laju_ask *ask = add_ask(c, batch, LAJU_ASK_NOTE);
  ask->first = (uint32_t)batch->note_len;
  ask->count = (uint32_t)len;
  memcpy(batch->notes + batch->note_len, text, len);
  batch->note_len += len;
  return ask;
}

static void answer_text(call *r, int status, const char *type, const char *text) {
  laju_admin_begin_reply(r->c, status, type, TEXT);
  add_note(r->c, r->batch, text, strlen(text));
}

/* One that was not the right token is answered late, so that guessing takes long; it costs nobody else anything. */
void laju_admin_answer_problem(connection *c, laju_batch *batch, const laju_problem *problem, bool guessed) {
  char text[LAJU_PROBLEM_MAX];
  laju_admin_begin_reply(c, problem->status, LAJU_ADMIN_PROBLEM, TEXT);
  laju_ask *ask = add_note(c, batch, text, laju_problem_write(problem, text));
  ask->failed = true;
  ask->late_ms = guessed ? LAJU_ADMIN_GUESS_MS : 0;
}

laju_problem laju_admin_problem(int status, const char *detail) {
  return (laju_problem){.status = status, .detail = detail, .list = "", .index = LAJU_PROBLEM_NO_INDEX};
}

static void answer_plain_problem(call *r, int status, const char *detail) {
  laju_problem problem = laju_admin_problem(status, detail);
  laju_admin_answer_problem(r->c, r->batch, &problem, false);
}

/* ---- sessions ---- */

static laju_slice body_of(const call *r) {
  const laju_http_request *request = &r->c->head.request;
  size_t len = request->chunked ? r->c->head.body_len : request->content_length;
  return (laju_slice){r->bytes + request->head_len, len};
}

/* The token that a request brings, in its head or in its body. False where that cannot be read: it is answered. */
static bool read_guess(call *r, laju_slice *guess) {
  laju_fields fields = laju_http_head_fields(&r->c->head, r->bytes);
  laju_slice body = body_of(r);
  laju_problem problem;
  *guess = laju_admin_bearer(&fields);
  if (guess->at != NULL) return true;
  if (laju_admin_read_token(guess, r->bytes + (body.at - r->bytes), body.len, &problem)) return true;
  laju_admin_answer_problem(r->c, r->batch, &problem, false);
  return false;
}

/* For the page, which cannot see its own cookie. */
static void answer_session(call *r) {
  connection *c = r->c;
  laju_fields fields = laju_http_head_fields(&c->head, r->bytes);
  const char *token = c->terms->admin_token;
  if (token == NULL) {
    answer_text(r, 200, JSON,
                c->admin->exposed ? "{\"needed\":false,\"open\":false}" : "{\"needed\":false,\"open\":true}");
    return;
  }
  bool open = laju_sessions_use(&c->admin->sessions, token, laju_fields_cookie(&fields, LAJU_ADMIN_COOKIE), r->now_us);
  answer_text(r, 200, JSON, open ? "{\"needed\":true,\"open\":true}" : "{\"needed\":true,\"open\":false}");
}

static void answer_login(call *r) {
  connection *c = r->c;
  laju_slice guess;
  if (c->terms->admin_token == NULL) {
    answer_plain_problem(r, 409, "no token is set (admin.token), and so none is needed");
    return;
  }
  if (!read_guess(r, &guess)) return;
  if (!laju_admin_is_token(c->admin, c->terms, guess)) {
    laju_problem problem = laju_admin_problem(401, "the token is not the right one");
    laju_admin_answer_problem(c, r->batch, &problem, true);
    return;
  }
  if (!laju_sessions_begin(&c->admin->sessions, c->terms->admin_token, r->now_us, c->session)) {
    answer_plain_problem(r, 500, "the system gave no random numbers");
    return;
  }
  answer_text(r, 200, JSON, "{\"idle_s\":43200}");
  c->reply.session = c->session;
}

static void answer_logout(call *r) {
  connection *c = r->c;
  laju_fields fields = laju_http_head_fields(&c->head, r->bytes);
  bool known = laju_sessions_end(&c->admin->sessions, laju_fields_cookie(&fields, LAJU_ADMIN_COOKIE));
  answer_text(r, 200, JSON, known ? "{\"known\":true}" : "{\"known\":false}");
  c->reply.session = "";
}

/* ---- keys ---- */

/* A look, or a reset. Of several rules with a group the key is another in each group. */
static void ask_key(call *r, laju_ask_kind kind, content what) {
  connection *c = r->c;
  laju_batch *batch = r->batch;
  const laju_terms *terms = c->terms;
  size_t at = batch->check_count++;
  laju_slice key = r->query.key;
  uint32_t cost;
  const laju_rule *rule = laju_ruleset_resolve(terms->rules, r->query.policy, key.at, key.len, NULL, &cost);
  rule = laju_terms_override(terms, rule, key.at, key.len, &batch->rules[at]);
  batch->checks[at] = (laju_check){.rule = rule, .key = key.at, .key_len = (uint32_t)key.len, .cost = 0};
  if (rule->grouped) batch->groups[at] = r->query.group;
  laju_admin_begin_reply(c, 200, JSON, what);
  laju_ask *ask = add_ask(c, batch, kind);
  ask->first = (uint32_t)at;
  ask->count = 1;
}

/* ---- overrides ---- */

/* Asks the server for it. Where that takes a while, the answer is pushed. */
static void begin_change(call *r, const laju_admin_change *wanted) {
  connection *c = r->c;
  laju_admin_change *change = malloc(sizeof *change);
  if (change == NULL) {
    answer_plain_problem(r, 503, "memory ran out");
    return;
  }
  *change = *wanted;
  memcpy(change->rule, r->query.policy->rule.name, sizeof change->rule);
  change->entry.number = r->query.policy->rule.number;
  change->entry.key_len =
      (uint32_t)laju_override_name(&r->query.policy->rule, r->query.key.at, r->query.key.len, change->entry.key);
  laju_admin_begin_reply(c, 200, JSON, CHANGED);
  c->change = change;
  c->admin->change(c->admin->owner, change);
  if (change->done) {
    add_ask(c, r->batch, LAJU_ASK_NOTE);
  } else {
    c->stage = CHANGING;
  }
}

static void answer_put(call *r) {
  laju_slice body = body_of(r);
  laju_new_override fresh;
  laju_problem problem;
  const laju_rule *rule = &r->query.policy->rule;
  if (rule->number == 0) {
    answer_plain_problem(
        r, 409, "there have been too many rules of different names since the start: restart to override this one");
  } else if (laju_admin_read_override(&fresh, rule, r->bytes + (body.at - r->bytes), body.len, &problem)) {
    laju_admin_change change = {.entry = {.limit = fresh.limit, .burst = fresh.burst, .veils = rule->veils}};
    change.entry.expires_us = r->now_us + fresh.expires_in_us;
    begin_change(r, &change);
  } else {
    laju_admin_answer_problem(r->c, r->batch, &problem, false);
  }
}

static void answer_take_away(call *r) {
  laju_admin_change change = {.removes = true};
  begin_change(r, &change);
}

/* ---- files and events ---- */

static const char no_page[] =
    "This laju was built without its page. /v1/status and /metrics tell the same.\n"
    "\n"
    "The page is built where node, npm, clang and wasm-ld are; script/bootstrap installs them. A release's\n"
    "tarball carries it built, and so do its packages and image.\n";

static bool has_it(const call *r, const char *etag) {
  laju_fields fields = laju_http_head_fields(&r->c->head, r->bytes);
  size_t at = 0;
  laju_slice value;
  return laju_fields_next(&fields, "if-none-match", 13, &at, &value) &&
         memmem(value.at, value.len, etag, strlen(etag)) != NULL;
}

static void answer_file(call *r) {
  connection *c = r->c;
  laju_admin *admin = c->admin;
  const laju_slice index = {"/index.html", 11};
  laju_slice path = laju_slice_equal(r->path, (laju_slice){"/", 1}) ? index : r->path;
  bool found = admin->find_file(path.at, path.len, &c->file);
  if (!found && laju_slice_equal(path, index)) {
    answer_text(r, 404, "text/plain; charset=utf-8", no_page);
    return;
  }
  if (!found) {
    laju_problem problem = laju_admin_problem(404, "is not served here");
    problem.field = (laju_shown){"path", 4};
    problem.value = (laju_shown){r->path.at, r->path.len};
    laju_admin_answer_problem(c, r->batch, &problem, false);
    return;
  }
  answer_view(r, c->file.type, VIEW_FILE);
  c->reply.etag = c->file.etag;
  if (has_it(r, c->file.etag)) c->reply.status = 304;
}

/* Keeps what has let a subscriber in: it goes when that does. */
static void remember_leave(call *r) {
  connection *c = r->c;
  laju_fields fields = laju_http_head_fields(&c->head, r->bytes);
  laju_sessions_heed(&c->admin->sessions, c->terms->admin_token);
  memcpy(c->token, c->admin->sessions.token, sizeof c->token);
  c->by_session = c->terms->admin_token != NULL && laju_admin_bearer(&fields).at == NULL;
  if (c->by_session) memcpy(c->session, laju_fields_cookie(&fields, LAJU_ADMIN_COOKIE).at, LAJU_SESSION_LEN);
}

static void answer_events(call *r) {
  connection *c = r->c;
  if (c->head.request.method == HTTP_HEAD) {
    answer_text(r, 200, "text/event-stream", "");
  } else if (c->admin->subscribers >= LAJU_ADMIN_SUBSCRIBERS_MAX) {
    answer_plain_problem(r, 503, "there are 16 subscribers, which is all that there can be");
  } else {
    answer_view(r, "text/event-stream", EVENTS);
    c->reply.is_stream = true;
    c->reply.close = false;
    r->batch->asks[r->batch->ask_count - 1].close = false;
    remember_leave(r);
    c->stage = SUBSCRIBED;
    c->seen = c->admin->event_number;
    c->admin->subscribers++;
  }
}

/* ---- routes ---- */

static void answer_route(call *r) {
  connection *c = r->c;
  uint8_t method = c->head.request.method;
  switch (r->route->name) {
    case LAJU_ADMIN_METRICS: answer_view(r, METRICS, VIEW_METRICS); break;
    case LAJU_ADMIN_HEALTH: answer_text(r, 200, JSON, "{\"status\":\"ok\"}"); break;
    case LAJU_ADMIN_STATUS: answer_view(r, JSON, VIEW_STATUS); break;
    case LAJU_ADMIN_EVENTS: answer_events(r); break;
    case LAJU_ADMIN_RULES: answer_view(r, JSON, VIEW_RULES); break;
    case LAJU_ADMIN_OVERRIDES:
      if (method == HTTP_DELETE) {
        answer_take_away(r);
      } else {
        answer_view(r, JSON, VIEW_OVERRIDES);
      }
      break;
    case LAJU_ADMIN_TOP_KEYS:
      c->top = r->query.limit > 0 ? r->query.limit : LAJU_ADMIN_TOP;
      answer_view(r, JSON, VIEW_TOP);
      break;
    case LAJU_ADMIN_KEYS:
      if (method == HTTP_PUT) {
        answer_put(r);
      } else if (method == HTTP_DELETE) {
        ask_key(r, LAJU_ASK_RESET, VIEW_RESET);
      } else {
        ask_key(r, LAJU_ASK_EACH, VIEW_KEY);
      }
      break;
    case LAJU_ADMIN_SESSION:
      if (method == HTTP_POST) {
        answer_login(r);
      } else if (method == HTTP_DELETE) {
        answer_logout(r);
      } else {
        answer_session(r);
      }
      break;
    default: answer_file(r); break;
  }
}

static void answer_wrong_method(call *r) {
  const char *name = llhttp_method_name(r->c->head.request.method);
  laju_problem problem = laju_admin_problem(405, "is not for this path");
  problem.field = (laju_shown){"method", 6};
  problem.value = (laju_shown){name, strlen(name)};
  problem.allowed = r->route->allow;
  laju_admin_answer_problem(r->c, r->batch, &problem, false);
  r->c->reply.allow = r->route->allow;
}

static bool is_let_in(const call *r, laju_problem *problem, bool *guessed) {
  connection *c = r->c;
  laju_admin_knock knock = {.admin = c->admin,
                            .terms = c->terms,
                            .peer = &c->peer,
                            .request = &c->head.request,
                            .fields = laju_http_head_fields(&c->head, r->bytes),
                            .is_open = r->route->is_open,
                            .is_free = r->route->name == LAJU_ADMIN_HEALTH,
                            .now_us = r->now_us};
  uint64_t before = laju_count_read(&c->admin->guesses);
  bool admits = laju_admin_admits(&knock, problem);
  *guessed = laju_count_read(&c->admin->guesses) != before;
  return admits;
}

/* A request that is complete. Who is not let in learns nothing else, and nothing of its query is looked at. */
void laju_admin_answer(connection *c, char *bytes, laju_batch *batch) {
  const laju_http_request *request = &c->head.request;
  laju_target target = laju_target_split((laju_slice){bytes + request->url_at, request->url_len});
  call r = {.c = c,
            .bytes = bytes,
            .batch = batch,
            .path = target.path,
            .route = laju_admin_find_route(target.path),
            .now_us = laju_limiter_now_us(c->service->limiter)};
  laju_problem problem;
  bool guessed;
  if (!is_let_in(&r, &problem, &guessed)) {
    laju_admin_answer_problem(c, batch, &problem, guessed);
  } else if (!laju_admin_takes(r.route, request->method)) {
    answer_wrong_method(&r);
  } else if (!laju_admin_read_query(&r.query, r.route, request->method, target.query, c->terms, batch, &problem)) {
    laju_admin_answer_problem(c, batch, &problem, false);
  } else {
    answer_route(&r);
  }
}
