#include "proto/http_reply.h"

#include <string.h>
#include <time.h>

#include "proto/headers.h"

#define PUT(to, text) (memcpy(to, text, sizeof text - 1), (to) + sizeof text - 1)

#define HEAD_MAX (512 + LAJU_HEADERS_MAX) /* a response's head */
#define DECISION_MAX 320                  /* one decision's JSON: 115 bytes of names, a rule's name, five numbers */

/* ---- bodies ---- */

/* Microseconds as whole milliseconds, rounded up. */
static char *put_ms(char *to, int64_t us) {
  return to + laju_decimal(to, (us + 999) / 1000);
}

/* What it rests on, where that is not the key's state. */
static char *put_source(char *to, laju_basis basis) {
  if (basis == LAJU_FALLBACK) return PUT(to, ",\"source\":\"fallback\"");
  if (basis == LAJU_UNASKED) return PUT(to, ",\"source\":\"unasked\"");
  return to;
}

/* A decision's members, without the closing brace. One in shadow refuses nothing, and says what it would have done. */
static char *put_members(char *to, const laju_check *check, const laju_decision *decision) {
  bool shadow = check->rule->shadow;
  to = decision->allowed || shadow ? PUT(to, "{\"allowed\":true,\"rule\":\"")
                                   : PUT(to, "{\"allowed\":false,\"rule\":\"");
  size_t name_len = strlen(check->rule->name);
  memcpy(to, check->rule->name, name_len);
  to = PUT(to + name_len, "\",\"limit\":");
  to += laju_decimal(to, decision->limit);
  to = PUT(to, ",\"remaining\":");
  to += laju_decimal(to, decision->remaining);
  to = PUT(to, ",\"retry_after_ms\":");
  int64_t retry_after_us = shadow ? 0 : decision->retry_after_us;
  to = retry_after_us == LAJU_NEVER ? PUT(to, "null") : put_ms(to, retry_after_us);
  to = PUT(to, ",\"reset_after_ms\":");
  to = put_ms(to, decision->reset_after_us);
  to = PUT(to, ",\"delay_ms\":");
  to = put_ms(to, decision->delay_us);
  if (decision->basis != LAJU_DECIDED) to = put_source(to, decision->basis);
  if (!shadow) return to;
  return decision->allowed ? PUT(to, ",\"shadow\":\"allowed\"") : PUT(to, ",\"shadow\":\"denied\"");
}

static char *put_list(char *to, const laju_check *checks, const laju_decision *decisions, size_t count) {
  *to++ = '[';
  for (size_t i = 0; i < count; i++) {
    if (i > 0) *to++ = ',';
    to = put_members(to, &checks[i], &decisions[i]);
    *to++ = '}';
  }
  *to++ = ']';
  return to;
}

static char *put_body(char *to, const laju_batch *batch, const laju_ask *ask, size_t tightest) {
  const laju_check *checks = &batch->checks[ask->first];
  const laju_decision *decisions = &batch->decisions[ask->first];
  if (ask->form == LAJU_HTTP_BATCH) return put_list(to, checks, decisions, ask->count);
  to = put_members(to, &checks[tightest], &decisions[tightest]);
  if (ask->form == LAJU_HTTP_CHECKS) {
    to = PUT(to, ",\"decisions\":");
    to = put_list(to, checks, decisions, ask->count);
  }
  *to++ = '}';
  return to;
}

/* ---- heads ---- */

static void put_two(char *to, int value) {
  to[0] = (char)('0' + value / 10 % 10);
  to[1] = (char)('0' + value % 10);
}

static void format_date(laju_http_date *date, int64_t second) {
  static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  time_t seconds = (time_t)second;
  struct tm tm;
  gmtime_r(&seconds, &tm);
  memcpy(date->text, "Ddd, 00 Mmm 0000 00:00:00 GMT", sizeof date->text);
  memcpy(date->text, days + 3 * tm.tm_wday, 3);
  put_two(date->text + 5, tm.tm_mday);
  memcpy(date->text + 8, months + 3 * tm.tm_mon, 3);
  put_two(date->text + 12, (tm.tm_year + 1900) / 100);
  put_two(date->text + 14, tm.tm_year % 100);
  put_two(date->text + 17, tm.tm_hour);
  put_two(date->text + 20, tm.tm_min);
  put_two(date->text + 23, tm.tm_sec);
  date->second = second;
  date->known = true;
}

const char *laju_http_date_at(laju_http_date *date, int64_t now_us) {
  int64_t second = now_us / 1000000;
  if (!date->known || date->second != second) format_date(date, second);
  return date->text;
}

static char *put_status(char *to, int status) {
  if (status == 200) return PUT(to, "HTTP/1.1 200 OK\r\n");
  to = PUT(to, "HTTP/1.1 ");
  to += laju_decimal(to, status);
  *to++ = ' ';
  const char *reason = laju_http_reason(status);
  size_t len = strlen(reason);
  memcpy(to, reason, len);
  return PUT(to + len, "\r\n");
}

/* Everything before the body, but for the fields that tell limits: those are the caller's, behind this. */
static char *put_head(char *to, laju_http_date *date, int64_t now_us, int status, const laju_ask *ask,
                      size_t body_len) {
  to = put_status(to, status);
  to = PUT(to, "Date: ");
  memcpy(to, laju_http_date_at(date, now_us), sizeof date->text);
  to += sizeof date->text;
  if ((ask->flags & LAJU_HTTP_PROBLEM) != 0) {
    to = PUT(to, "\r\nContent-Type: application/problem+json\r\nContent-Length: ");
  } else if (body_len > 0) {
    to = PUT(to, "\r\nContent-Type: application/json\r\nContent-Length: ");
  } else {
    to = PUT(to, "\r\nContent-Length: ");
  }
  to += laju_decimal(to, (int64_t)body_len);
  to = PUT(to, "\r\n");
  if ((ask->flags & LAJU_HTTP_ALLOW_POST) != 0) to = PUT(to, "Allow: POST\r\n");
  if ((ask->flags & LAJU_HTTP_ALLOW_GET) != 0) to = PUT(to, "Allow: GET, HEAD\r\n");
  if (ask->close) return PUT(to, "Connection: close\r\n");
  return (ask->flags & LAJU_HTTP_KEEP) != 0 ? PUT(to, "Connection: keep-alive\r\n") : to;
}

/* ---- responses ---- */

static void reply_note(laju_http_date *date, int64_t now_us, const laju_ask *ask, const char *body, laju_buffer *out) {
  if (ask->form == LAJU_HTTP_CONTINUE) {
    laju_buffer_add_text(out, "HTTP/1.1 100 Continue\r\n\r\n");
    return;
  }
  char *to = laju_buffer_reserve(out, HEAD_MAX + ask->count);
  if (to == NULL) return;
  char *at = put_head(to, date, now_us, ask->form, ask, ask->count);
  at = PUT(at, "\r\n");
  if ((ask->flags & LAJU_HTTP_NO_BODY) == 0 && ask->count > 0) {
    memcpy(at, body, ask->count);
    at += ask->count;
  }
  out->len += (size_t)(at - to);
}

/* Was one refused because the store did not answer, and its rule says that then nothing passes? Not for its cost, which no
 * store would have let pass. */
static bool is_denied_unasked(const laju_check *checks, const laju_decision *decisions, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const laju_decision *decision = &decisions[i];
    if (decision->basis != LAJU_FALLBACK || decision->allowed || decision->retry_after_us == LAJU_NEVER) continue;
    if (checks[i].rule->on_store_error == LAJU_STORE_ERROR_DENY && !checks[i].rule->shadow) return true;
  }
  return false;
}

static int status_of(const laju_batch *batch, const laju_ask *ask) {
  if (ask->form == LAJU_HTTP_BATCH || ask->allowed) return 200;
  if (ask->form >= 400) return ask->form;
  return is_denied_unasked(&batch->checks[ask->first], &batch->decisions[ask->first], ask->count) ? 503 : 429;
}

/* Behind forward-auth it is the configuration that is wrong, and nobody else. */
static void reply_split(laju_http_date *date, int64_t now_us, const laju_ask *ask, laju_buffer *out) {
  laju_problem problem = {.status = ask->form >= 400 ? 500 : 400,
                          .detail = LAJU_SPLIT_DETAIL,
                          .list = "",
                          .index = LAJU_PROBLEM_NO_INDEX,
                          .allowed = LAJU_SPLIT_ALLOWED};
  char text[LAJU_PROBLEM_MAX];
  laju_ask note = *ask;
  note.form = (uint16_t)problem.status;
  note.flags |= LAJU_HTTP_PROBLEM;
  note.count = (uint32_t)laju_problem_write(&problem, text);
  reply_note(date, now_us, &note, text, out);
}

/* The head tells the body's length, so the body is written first, behind room for the head, and then moved up to it. */
static void reply_decisions(laju_http_date *date, const laju_terms *terms, const laju_batch *batch, const laju_ask *ask,
                            laju_buffer *out) {
  size_t count = ask->count;
  char *to = laju_buffer_reserve(out, HEAD_MAX + (count + 1) * DECISION_MAX);
  if (to == NULL) return;
  const laju_check *checks = &batch->checks[ask->first];
  const laju_decision *decisions = &batch->decisions[ask->first];
  bool batched = ask->form == LAJU_HTTP_BATCH, is_auth = ask->form >= 400;
  size_t tightest = batched ? 0 : laju_headers_tightest(checks, decisions, count);
  char *body = to + HEAD_MAX;
  size_t body_len = is_auth && ask->allowed ? 0 : (size_t)(put_body(body, batch, ask, tightest) - body);
  char *at = put_head(to, date, batch->now_us, status_of(batch, ask), ask, body_len);
  if (!batched) at += laju_headers_write(at, terms, checks, decisions, count, tightest, batch->now_us);
  at = PUT(at, "\r\n");
  if ((ask->flags & LAJU_HTTP_NO_BODY) != 0) body_len = 0;
  memmove(at, body, body_len);
  out->len += (size_t)(at - to) + body_len;
}

void laju_http_reply(laju_http_date *date, const laju_terms *terms, const laju_batch *batch, const laju_ask *ask,
                     laju_buffer *out) {
  if (ask->kind == LAJU_ASK_NOTE) {
    reply_note(date, batch->now_us, ask, batch->notes + ask->first, out);
  } else if (ask->split) {
    reply_split(date, batch->now_us, ask, out);
  } else {
    reply_decisions(date, terms, batch, ask, out);
  }
}

void laju_http_reply_problem(laju_http_date *date, int64_t now_us, const laju_problem *problem, laju_buffer *out) {
  char text[LAJU_PROBLEM_MAX];
  size_t len = laju_problem_write(problem, text);
  laju_ask ask = {.kind = LAJU_ASK_NOTE,
                  .form = (uint16_t)problem->status,
                  .flags = LAJU_HTTP_PROBLEM,
                  .close = true,
                  .count = (uint32_t)len};
  reply_note(date, now_us, &ask, text, out);
}
