#include "proto/admin_reply.h"

#include <string.h>

#include "proto/admin_gate.h"
#include "proto/http_problem.h"

#define HEAD_MAX 2048 /* all fields that there may be, with the longest values of ours */

typedef struct writer {
  char text[HEAD_MAX];
  size_t len;
} writer;

static void put_bytes(writer *w, const char *text, size_t len) {
  memcpy(w->text + w->len, text, len);
  w->len += len;
}

static void put(writer *w, const char *text) {
  put_bytes(w, text, strlen(text));
}

static void put_number(writer *w, int64_t number) {
  w->len += laju_decimal(w->text + w->len, number);
}

static void put_field(writer *w, const char *name, const char *value) {
  put(w, name);
  put(w, ": ");
  put(w, value);
  put(w, "\r\n");
}

static void put_status(writer *w, int status) {
  put(w, "HTTP/1.1 ");
  put_number(w, status);
  put(w, " ");
  put(w, laju_http_reason(status));
  put(w, "\r\n");
}

/* SameSite=Strict: no other site's page makes a browser send it. */
static void put_cookie(writer *w, const char *session, bool secure) {
  put(w, "Set-Cookie: " LAJU_ADMIN_COOKIE "=");
  put_bytes(w, session, session[0] != '\0' ? LAJU_SESSION_LEN : 0);
  if (secure) put(w, "; Secure");
  put(w, "; Path=/; HttpOnly; SameSite=Strict; Max-Age=");
  put_number(w, session[0] != '\0' ? LAJU_SESSION_IDLE_US / 1000000 : 0);
  put(w, "\r\n");
}

static void put_guards(writer *w) {
  put_field(w, "Content-Security-Policy", LAJU_ADMIN_POLICY);
  put_field(w, "X-Content-Type-Options", "nosniff");
  put_field(w, "X-Frame-Options", "DENY");
  put_field(w, "Referrer-Policy", "no-referrer");
  put_field(w, "Cross-Origin-Opener-Policy", "same-origin");
  put_field(w, "Cross-Origin-Resource-Policy", "same-origin");
}

static void put_connection(writer *w, const laju_admin_reply *reply) {
  if (reply->close || reply->is_stream) {
    put_field(w, "Connection", "close");
  } else if (reply->keep) {
    put_field(w, "Connection", "keep-alive");
  }
}

static void put_head(writer *w, const laju_admin_reply *reply, size_t body_len, const char *date) {
  put_status(w, reply->status);
  put(w, "Date: ");
  put_bytes(w, date, sizeof((laju_http_date){0}.text));
  put(w, "\r\n");
  if (reply->type != NULL) put_field(w, "Content-Type", reply->type);
  if (!reply->is_stream && reply->status != 304) {
    put(w, "Content-Length: ");
    put_number(w, (int64_t)body_len);
    put(w, "\r\n");
  }
  if (reply->etag != NULL) put_field(w, "ETag", reply->etag);
  put_field(w, "Cache-Control", reply->etag != NULL ? "no-cache" : "no-store");
  if (reply->allow != NULL) put_field(w, "Allow", reply->allow);
  if (reply->status == 401) put_field(w, "WWW-Authenticate", "Bearer realm=\"laju\"");
  if (reply->session != NULL) put_cookie(w, reply->session, reply->secure);
  put_guards(w);
  put_connection(w, reply);
  put(w, "\r\n");
}

void laju_admin_reply_head(laju_buffer *out, size_t body_at, const laju_admin_reply *reply, laju_http_date *date,
                           int64_t now_us) {
  writer w = {.len = 0};
  if (out->failed) return;
  size_t body_len = out->len - body_at;
  put_head(&w, reply, body_len, laju_http_date_at(date, now_us));
  if (reply->no_body || reply->status == 304) body_len = 0;
  if (laju_buffer_reserve(out, w.len) == NULL) return;
  memmove(out->data + body_at + w.len, out->data + body_at, body_len);
  memcpy(out->data + body_at, w.text, w.len);
  out->len = body_at + w.len + body_len;
}
