/* A RESP connection without a socket, driven as the server drives it, for tests. Time stands still until a test moves it. */
#ifndef LAJU_TESTS_RESP_DOOR_H
#define LAJU_TESTS_RESP_DOOR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/codec.h"

#define DOOR_TIME_US INT64_C(1700000000000000)

typedef struct door {
  laju_service service;
  laju_terms terms;
  laju_peer peer;
  laju_way way;
  laju_ruleset *rules;
  laju_batch *batch;
  void *connection;
  int64_t now_us;
  char *kept; /* bytes not consumed, in a block of exactly their size, so that a sanitizer sees a byte too far */
  size_t kept_len;
  laju_buffer replies;
  bool closed;
} door;

/* api: 10 in 10 s, a token back each second; pair: the same, costing 2 by itself; queue: leaky, 10 in 10 s; none: nothing;
 * ghost: 1 in 10 s, in shadow. */
static inline void door_open(door *on) {
  static const char *const lines[] = {"api=10/10s token-bucket", "pair=10/10s token-bucket",
                                      "queue=10/10s leaky-bucket", "none=0/10s token-bucket",
                                      "ghost=1/10s token-bucket"};
  laju_rule rules[5];
  laju_policy policies[5];
  *on = (door){.now_us = DOOR_TIME_US};
  for (size_t i = 0; i < 5; i++) {
    const char *end = strchr(lines[i], '=');
    bool leaky = strstr(lines[i], "leaky") != NULL;
    assert_int_equal(
        laju_rule_init(&rules[i], lines[i], (size_t)(end - lines[i]), leaky ? LAJU_LEAKY_BUCKET : LAJU_TOKEN_BUCKET,
                       strtoull(end + 1, NULL, 10), 10000000, 0),
        0);
  }
  rules[1].cost = 2;
  rules[4].shadow = true;
  for (size_t i = 0; i < 5; i++) laju_policy_init(&policies[i], &rules[i]);
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  assert_int_equal(laju_limiter_new(&on->way.limiter, &options), 0);
  assert_int_equal(laju_ruleset_new(&on->rules, policies, 5), 0);
  on->batch = laju_batch_new();
  on->connection = calloc(1, laju_resp_codec.connection_size);
  assert_non_null(on->batch);
  assert_non_null(on->connection);
  on->service.limiter = on->way.limiter;
  on->terms.rules = on->rules;
  atomic_store(&on->service.terms, &on->terms);
  atomic_store(&on->service.stage, LAJU_SERVING);
  laju_resp_codec.init(on->connection, &on->service, &on->peer);
}

/* Another connection to the same service, with whatever it asks for by now. */
static inline void door_reconnect(door *on) {
  memset(on->connection, 0, laju_resp_codec.connection_size);
  laju_resp_codec.init(on->connection, &on->service, &on->peer);
  free(on->kept);
  on->kept = NULL;
  on->kept_len = 0;
  on->closed = false;
  laju_buffer_clear(&on->replies);
}

static inline void door_close(door *on) {
  laju_limiter_free(on->way.limiter);
  laju_ruleset_free(on->rules);
  laju_batch_free(on->batch);
  free(on->connection);
  free(on->kept);
  laju_buffer_deinit(&on->replies);
}

/* `len` bytes of `from`, behind the kept ones from `gone` on, in a block of their own. */
static inline void door_keep(door *on, size_t gone, const char *from, size_t len) {
  size_t left = on->kept_len - gone;
  char *kept = left + len > 0 ? malloc(left + len) : NULL;
  if (left > 0) memcpy(kept, on->kept + gone, left);
  if (len > 0) memcpy(kept + left, from, len);
  free(on->kept);
  on->kept = kept;
  on->kept_len = left + len;
}

static inline void door_feed(door *on, const char *bytes, size_t len) {
  if (on->closed) return;
  door_keep(on, 0, bytes, len);
  bool more = true;
  while (more && !on->closed) {
    laju_batch_clear(on->batch);
    laju_parsed parsed = laju_resp_codec.parse(on->connection, on->kept, on->kept_len, on->batch);
    laju_batch_decide(on->batch, &on->way, on->now_us);
    laju_resp_codec.encode(on->connection, on->batch, &on->replies);
    assert_true(parsed.consumed <= on->kept_len);
    assert_true(!parsed.more || on->batch->ask_count > 0);
    door_keep(on, parsed.consumed, NULL, 0);
    more = parsed.more;
    on->closed = parsed.closed;
  }
  assert_true(on->kept_len <= laju_resp_codec.input_max);
}

/* The replies so far, line ends shown as single spaces ("*2 :1 :2"). */
static inline const char *door_replies(door *on) {
  static char *shown;
  free(shown);
  shown = malloc(on->replies.len + 1);
  size_t len = 0;
  for (size_t i = 0; i < on->replies.len; i++) {
    if (on->replies.data[i] != '\r') shown[len++] = on->replies.data[i] == '\n' ? ' ' : on->replies.data[i];
  }
  if (len > 0 && shown[len - 1] == ' ') len--;
  shown[len] = '\0';
  return shown;
}

/* What these bytes are answered. */
static inline const char *door_say(door *on, const char *bytes) {
  laju_buffer_clear(&on->replies);
  door_feed(on, bytes, strlen(bytes));
  return door_replies(on);
}

/* Appends one command, an array of bulk strings, made of the words between single spaces; "\0" words are not possible. */
static inline void door_command(laju_buffer *to, const char *words) {
  size_t count = 1;
  for (const char *at = words; *at != '\0'; at++) count += *at == ' ';
  laju_buffer_add_format(to, "*%zu\r\n", count);
  for (const char *at = words; count > 0; count--) {
    size_t len = strcspn(at, " ");
    laju_buffer_add_format(to, "$%zu\r\n", len);
    laju_buffer_add(to, at, len);
    laju_buffer_add_text(to, "\r\n");
    at += len;
    if (*at == ' ') at++;
  }
}

/* What these commands, one a line, are answered. They come together as arrays, so they share a batch; inline commands, which
 * door_say takes, have one each. */
static inline const char *door_pipeline(door *on, const char *lines) {
  laju_buffer bytes = {0};
  char words[256];
  for (const char *at = lines; *at != '\0'; at += *at == '\n') {
    size_t len = strcspn(at, "\n");
    assert_true(len < sizeof words);
    memcpy(words, at, len);
    words[len] = '\0';
    door_command(&bytes, words);
    at += len;
  }
  laju_buffer_clear(&on->replies);
  door_feed(on, bytes.data, bytes.len);
  laju_buffer_deinit(&bytes);
  return door_replies(on);
}

/* What this command is answered. */
static inline const char *door_ask(door *on, const char *words) {
  laju_buffer bytes = {0};
  door_command(&bytes, words);
  laju_buffer_clear(&on->replies);
  door_feed(on, bytes.data, bytes.len);
  laju_buffer_deinit(&bytes);
  return door_replies(on);
}

#endif
