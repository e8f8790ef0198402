/* The admin door for tests: the codec over real rules, ledgers and overrides; of the server it has a page of one file, metrics and a
 * status that are told apart, and changes that are made at once, or when the test says so. */
#ifndef LAJU_TESTS_ADMIN_DOOR_H
#define LAJU_TESTS_ADMIN_DOOR_H

#include <stdarg.h>
#include <stdio.h>

#include "proto/admin.h"
#include "http_door.h"

typedef struct desk {
  door d;
  laju_admin admin;
  laju_rule_names *names;
  laju_ledger *ledger;
  laju_top *top;
  bool waits; /* a change is not done at once */
  laju_admin_change *pending;
} desk;

static inline void desk_metrics(void *owner, laju_buffer *out) {
  (void)owner;
  laju_buffer_add_text(out, "laju_rules 3\n");
}

static inline void desk_status(void *owner, laju_buffer *out) {
  (void)owner;
  laju_buffer_add_text(out, "{\"version\":\"0\"}");
}

static inline bool desk_file(const char *path, size_t len, laju_admin_file *out) {
  if (len != 11 || memcmp(path, "/index.html", 11) != 0) return false;
  *out = (laju_admin_file){.type = "text/html", .etag = "\"abc\"", .bytes = "<p>", .len = 3};
  return true;
}

static inline void desk_finish(desk *k, laju_admin_change *change) {
  int64_t now_us = laju_limiter_now_us(k->d.service.limiter);
  const laju_overlay_entry *entry = &change->entry;
  if (change->removes) {
    bool known = laju_overlay_remove(k->admin.overlay, entry->number, entry->key, entry->key_len, now_us);
    change->result = known ? LAJU_CHANGE_DONE : LAJU_CHANGE_UNKNOWN;
  } else {
    change->result = laju_overlay_put(k->admin.overlay, entry, now_us) == 0 ? LAJU_CHANGE_DONE : LAJU_CHANGE_FULL;
  }
  change->done = true;
  if (change->abandoned) free(change);
  k->pending = NULL;
}

static inline void desk_change(void *owner, laju_admin_change *change) {
  desk *k = owner;
  k->pending = change;
  if (!k->waits) desk_finish(k, change);
}

/* Rules: `login` (5 in 1 m, burst 10), `api` (by header:x-key), `vault` (secret). */
static inline void desk_open(desk *k) {
  static const uint64_t hash_key[2] = {1, 2};
  *k = (desk){.waits = false};
  k->names = laju_rule_names_new();
  laju_policy policies[] = {
      made_policy("login=5/1m token-bucket burst 10", "ip", NULL, NULL),
      made_policy("api=3/1m fixed-window", "header:x-key", "api.example", "/api/*"),
      made_policy("vault=3/1m", "ip header:x-key", NULL, NULL),
  };
  policies[2].secret = policies[2].rule.secret = true;
  for (size_t i = 0; i < 3; i++) {
    policies[i].rule.number = laju_rule_names_number(k->names, policies[i].rule.name);
  }
  door_open_with(&k->d, &laju_http_codec, policies, 3); /* whose connection goes at once */
  k->ledger = laju_ledger_new();
  k->top = laju_top_new(hash_key);
  door_must(k->names != NULL && k->ledger != NULL && k->top != NULL && laju_overlay_new(&k->admin.overlay) == 0);
  k->admin.owner = k;
  k->admin.write_metrics = desk_metrics;
  k->admin.write_status = desk_status;
  k->admin.find_file = desk_file;
  k->admin.change = desk_change;
  k->admin.ledgers = &k->ledger;
  k->admin.tops = &k->top;
  k->admin.account_count = 1;
  k->admin.names = k->names;
  k->admin.hash_key[0] = 1;
  k->admin.hash_key[1] = 2;
  k->d.service.admin = &k->admin;
  k->d.terms.overlay = k->admin.overlay;
  door_reconnect(&k->d, &laju_admin_codec);
}

static inline void desk_shut(desk *k) {
  laju_admin_codec.leave(k->d.connection);
  if (k->pending != NULL) desk_finish(k, k->pending);
  door_shut(&k->d);
  laju_overlay_free(k->admin.overlay);
  laju_ledger_free(k->ledger);
  laju_top_free(k->top);
  laju_rule_names_free(k->names);
  laju_buffer_deinit(&k->admin.event);
}

/* Another connection, in the place of the one that there was. */
static inline void desk_reconnect(desk *k) {
  laju_admin_codec.leave(k->d.connection);
  door_reconnect(&k->d, &laju_admin_codec);
}

/* All replies so far, as text; the next ones begin anew. */
static inline const char *desk_replies(desk *k) {
  laju_buffer_add(&k->d.out, "", 1);
  laju_buffer_clear(&k->d.out);
  return k->d.out.data;
}

static inline const char *desk_fed(desk *k, const char *text) {
  door_feed(&k->d, &laju_admin_codec, text, strlen(text));
  return desk_replies(k);
}

/* A request with these header lines (each ended by CRLF) and this body (NULL: none). */
static inline const char *desk_asked(desk *k, const char *line, const char *fields, const char *body) {
  static char text[16384];
  char length[64] = "";
  if (body != NULL) snprintf(length, sizeof length, "Content-Length: %zu\r\n", strlen(body));
  bool has_host = strcasestr(fields, "host:") != NULL;
  snprintf(text, sizeof text, "%s HTTP/1.1\r\n%s%s%s\r\n%s", line, has_host ? "" : "Host: 127.0.0.1:8082\r\n", fields,
           length, body != NULL ? body : "");
  return desk_fed(k, text);
}

#endif
